//! Measures streams without header: cuSZp's and AATROX's.

use super::agree::{Expected, time_verified};
use super::cases::Case;
use super::field::Subject;
use super::machine::{Format, Machine, Value, Work};
use super::row::Row;
use ferrosz_cli::failure::Failure;
use ferrosz_cuszp::{Bare, aatrox, cuszp};

/// Measures one kind of stream at one bound.
///
/// # Errors
///
/// If a result is wrong, or the machine fails.
pub fn measure<T: Value, M: Machine>(
    machine: &M,
    subject: &Subject<T>,
    case: &Case<T>,
    bare: Bare<T>,
) -> Result<Row, Failure> {
    let field = &subject.values;
    let (stream, values, error) = on_cpu(bare, field)?;
    let mut buffers = machine.buffers(field, Format::Bare(bare))?;
    let work = Work::CompressBare(bare);
    let compress = time_verified(&mut buffers, &work, Expected::Stream(&stream))?;
    let work = Work::DecompressBare(bare);
    let decompress = time_verified(&mut buffers, &work, Expected::Values(&values))?;
    Ok(Row {
        codec: case.codec.clone(),
        rank: case.rank,
        bound: case.bound,
        absolute_error: error.to_f64(),
        field_bytes: size_of_val(&field[..]) as u64,
        stream_bytes: stream.len() as u64,
        compress,
        call: None,
        decompress,
        part: None,
    })
}

/// The stream, the array that it decodes to, and the absolute error, computed on the CPU.
fn on_cpu<T: Value>(bare: Bare<T>, field: &[T]) -> Result<(Vec<u8>, Vec<T>, T), Failure> {
    match bare {
        Bare::Cuszp(params) => {
            let stream = cuszp::compress(&params, field).map_err(Failure::failed)?;
            let values = cuszp::decompress(&params, &stream).map_err(Failure::failed)?;
            Ok((stream, values, params.error))
        }
        Bare::Aatrox(params) => {
            let stream = aatrox::compress(&params, field).map_err(Failure::failed)?;
            let values = aatrox::decompress(&params, &stream).map_err(Failure::failed)?;
            Ok((stream, values, params.error))
        }
    }
}
