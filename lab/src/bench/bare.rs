//! Measures streams without header: cuSZp's and AATROX's.

use super::gpu::{OnDevice, OneGpu};
use super::{
    agree::time_both_ways, cases::Case, coding::Coding, device_memory::DeviceMemory,
    field::Subject, machine::Machine, memory::Memory, row::Row,
};
use ferrosz::cuda::Workspace;
use ferrosz::{Device, Element};
use ferrosz_cli::failure::Failure;
use ferrosz_cuszp::Bare;

impl<T: Element + OnDevice> Coding<T> for Bare<T> {
    fn compress(&self, field: &[T]) -> Result<Vec<u8>, Failure> {
        Ok(self.compress_on(Device::Cpu, field)?)
    }

    fn decompress(&self, stream: &[u8], values: &mut Vec<T>) -> Result<(), Failure> {
        *values = self.decompress_on(Device::Cpu, stream)?;
        Ok(())
    }

    fn room(&self) -> Result<u64, Failure> {
        Ok(self.max_len()?)
    }

    fn workspace(&self, at: &OneGpu) -> Result<Workspace, Failure> {
        Ok(Self::workspace(*self, &at.stream)?)
    }

    fn enqueue_compress(&self, at: &OneGpu, memory: &mut DeviceMemory<T>) -> Result<(), Failure> {
        let (input, bytes) = (&memory.input, &mut memory.bytes);
        Ok(Self::compress(
            *self,
            &at.gpu,
            &at.stream,
            input,
            bytes,
            &mut memory.workspace,
        )?)
    }

    fn enqueue_decompress(&self, at: &OneGpu, memory: &mut DeviceMemory<T>) -> Result<(), Failure> {
        let (bytes, output) = (&memory.bytes, &mut memory.output);
        Ok(Self::decompress(
            *self,
            &at.gpu,
            &at.stream,
            bytes,
            output,
            &mut memory.workspace,
        )?)
    }
}

/// Measures one kind of stream at one bound.
///
/// # Errors
///
/// If a result is wrong, or the machine fails.
pub fn measure<T: Element + OnDevice>(
    machine: &Machine,
    subject: &Subject<T>,
    case: &Case<T>,
    bare: Bare<T>,
) -> Result<Row, Failure> {
    let field = &subject.values[..];
    let coding: &dyn Coding<T> = &bare;
    let stream = coding.compress(field)?;
    let mut memory = Memory::new(machine, field, coding)?;
    let ([compress, decompress], _) = time_both_ways(&mut memory, coding, &stream)?;
    let error = match bare {
        Bare::Cuszp(params) => params.error,
        Bare::Aatrox(params) => params.error,
    };
    Ok(Row {
        codec: case.codec.clone(),
        rank: case.rank,
        bound: case.bound,
        absolute_error: error.to_f64(),
        field_bytes: size_of_val(field) as u64,
        stream_bytes: stream.len() as u64,
        compress,
        call: None,
        decompress,
        part: None,
    })
}
