//! ferrosz's own streams as a stage: the codes are an array of integers, which comes back as it is.

use crate::error::Error;
use crate::order::CodeOrder;
use crate::stage::{CodeFormat, Codes, MachineStage, Stage};
use ferrosz_codec::container::header::Header;
use ferrosz_codec::{Bound, Codec, FormatError, ValueType};
use ferrosz_host::internals::try_zeroed;
use ferrosz_host::stream::StreamLayout;
use ferrosz_host::{Compressor, Decompressor, Device, Error as HostError};

/// Streams of the library. The bytes are a lossless stream of the codes without the radius, as an array of `i16`. It has the
/// dimensions of the field if the codes have its order; otherwise it is a line.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stream;

/// The name in containers.
const NAME: &str = "ferrosz";

/// The codec. Codes in the order of the field have patterns of its levels, which fitted stencils follow.
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
        checked_layout(bytes, format)?;
        let mut differences = try_zeroed::<i16>(format.count())?;
        let found = Decompressor::new()
            .device(Device::Cpu)
            .decompress_into(bytes, &mut differences);
        differences.truncate(found.map_err(|error| Error::from(error).of_stage(NAME))?);
        let codes = differences
            .iter()
            .map(|difference| format.radius.wrapping_add_signed((*difference).into()));
        format.bytes_of(codes)
    }

    fn on_machine(&self) -> Option<MachineStage> {
        Some(MachineStage::Stream)
    }
}

/// The layout of a stream, which must be that of streams of codes of this format.
pub(super) fn checked_layout(stream: &[u8], format: &CodeFormat) -> Result<StreamLayout, Error> {
    let failed = |reason: &str| Error::stage(NAME, reason);
    let of_stream = |error: FormatError| failed(&error.to_string());
    let layout = compressor(format)?.stream_layout(format.count(), ValueType::I16)?;
    if StreamLayout::of_start(stream).map_err(of_stream)? != layout {
        return Err(failed("its stream is not one of these codes"));
    }
    match Header::read(stream).map_err(of_stream)?.stream_bytes() == stream.len() as u64 {
        true => Ok(layout),
        false => Err(failed("its stream has another length")),
    }
}

/// The compressor of codes.
pub(super) fn compressor(format: &CodeFormat) -> Result<Compressor, Error> {
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
