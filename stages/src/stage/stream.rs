//! ferrosz's own streams as a stage: the codes are an array of integers, which comes back as it is.

use crate::error::Error;
use crate::kernels::recode::NumberKind;
use crate::order::CodeOrder;
use crate::stage::machine::{CodesOn, Encoded, MachineStage, OnMachine, bad_codes, failed};
use crate::stage::{CodeFormat, Codes, Stage};
use ferrosz_codec::container::header::Header;
use ferrosz_codec::{Bound, Codec, ValueType};
use ferrosz_host::internals::{Executor, compress_integers, decompress_integers, try_zeroed};
use ferrosz_host::stream::StreamLayout;
use ferrosz_host::{Compressor, Decompressor, Device, Error as HostError};
use ferrosz_simt::View;

/// Streams of the library. The bytes are a lossless stream of the codes without the radius, as an array of `i16`. It has the
/// dimensions of the field if the codes have its order; otherwise it is a line.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stream;

/// The name in containers.
const NAME: &str = "ferrosz";

/// The codec: the shortest of those in either order of codes. Codes in the order of the field have patterns of its levels,
/// which fitted stencils follow.
const CODEC: Codec = Codec::STENCIL;

impl Stage for Stream {
    fn name(&self) -> &'static str {
        NAME
    }

    fn encode(&self, codes: &Codes<'_>) -> Result<Vec<u8>, Error> {
        let mut differences = try_zeroed::<i16>(codes.format().count())?;
        for (place, difference) in differences.iter_mut().zip(codes.differences()) {
            *place = difference as i16;
        }
        Ok(compressor(codes.format())?
            .device(Device::Cpu)
            .compress(&differences)?)
    }

    fn decode(&self, bytes: &[u8], format: &CodeFormat) -> Result<Vec<u8>, Error> {
        checked_layout(bytes, bytes.len() as u64, format)?;
        let mut differences = try_zeroed::<i16>(format.count())?;
        let found = Decompressor::new()
            .device(Device::Cpu)
            .decompress_into(bytes, &mut differences);
        differences.truncate(found.map_err(|error| Error::stage(NAME, error.to_string()))?);
        let codes = differences
            .iter()
            .map(|difference| format.radius.wrapping_add_signed((*difference).into()));
        format.bytes_of(codes)
    }

    fn on_machine(&self) -> Option<MachineStage> {
        Some(MachineStage::Stream)
    }
}

/// Bytes of a stream that are read first: its header, and more records than the library writes.
const FIRST_BYTES: u64 = 1024;

impl OnMachine for Stream {
    fn encode_on<E: Executor>(on: &CodesOn<'_, E>, codes: View<u32>) -> Result<Encoded<E>, Error> {
        let differences = on.recoded(codes, [on.kind(), NumberKind::Integer])?;
        let (executor, compressor) = (on.executor, compressor(on.format)?);
        let array = executor.view(&differences);
        Ok(compress_integers(
            executor,
            &compressor,
            array,
            on.format.count(),
        )?)
    }

    fn decode_on<E: Executor>(
        on: &CodesOn<'_, E>,
        bytes: View<u32>,
        length: u64,
    ) -> Result<E::Memory, Error> {
        let count = on.format.count();
        let mut start = try_zeroed(length.min(FIRST_BYTES))?;
        on.executor.download(bytes, 0, &mut start)?;
        let layout = checked_layout(&start, length, on.format)?;
        let differences = on.executor.allocate(2 * count)?;
        let array = on.executor.view(&differences);
        let decoded = decompress_integers(on.executor, &layout, bytes, array);
        decoded.map_err(|error| failed(NAME, error))?;
        let codes = on.recoded(array, [NumberKind::Integer, on.kind()]);
        codes.map_err(|error| bad_codes(NAME, error))
    }
}

/// The layout of a stream of so many bytes, from its first ones: that of streams of codes of this format.
fn checked_layout(start: &[u8], length: u64, format: &CodeFormat) -> Result<StreamLayout, Error> {
    let of_stream = |error| failed(NAME, HostError::Format(error));
    let layout = compressor(format)?.stream_layout(format.count(), ValueType::I16)?;
    if StreamLayout::of_start(start).map_err(of_stream)? != layout {
        return Err(Error::stage(NAME, "its stream is not one of these codes"));
    }
    match Header::read(start).map_err(of_stream)?.stream_bytes() == length {
        true => Ok(layout),
        false => Err(Error::stage(NAME, "its stream has another length")),
    }
}

/// The compressor of codes.
fn compressor(format: &CodeFormat) -> Result<Compressor, Error> {
    let grid = &format.layout.grid;
    let (rank, lengths) = match format.layout.order {
        CodeOrder::Raster => (grid.shape().rank(), grid.lengths()),
        CodeOrder::Level => (1, [1, 1, format.count()]),
    };
    let lossless = Bound::abs(0.0).map_err(HostError::from)?;
    Ok(Compressor::new(CODEC, lossless)
        .extents(&lengths)?
        .with_rank(rank)?)
}
