//! A stream of one format or the other.

use crate::aatrox::params::Params as AatroxParams;
use crate::cuszp::params::Params as CuszpParams;
#[cfg(feature = "host")]
use crate::stream::{self, BareStream};
#[cfg(feature = "host")]
use crate::{aatrox, cuszp, error::Error, outline::Outline, part::Part};
#[cfg(feature = "host")]
use core::ops::Range;
#[cfg(feature = "host")]
use ferrosz_codec::Element;
#[cfg(feature = "host")]
use ferrosz_host::{Device, internals::Backend};

/// The format and the parameters of a stream without a header. Both sides must know them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bare<T> {
    /// A stream of cuSZp's.
    Cuszp(CuszpParams<T>),
    /// A bare stream of AATROX's.
    Aatrox(AatroxParams<T>),
}

impl<T> From<CuszpParams<T>> for Bare<T> {
    fn from(params: CuszpParams<T>) -> Self {
        Self::Cuszp(params)
    }
}

impl<T> From<AatroxParams<T>> for Bare<T> {
    fn from(params: AatroxParams<T>) -> Self {
        Self::Aatrox(params)
    }
}

#[cfg(feature = "host")]
impl<T: Element> Bare<T> {
    /// Compresses an array on a device.
    ///
    /// # Errors
    ///
    /// As [`cuszp::compress_on`](crate::cuszp::compress_on) and [`aatrox::compress_on`](crate::aatrox::compress_on).
    pub fn compress_on(&self, device: Device, values: &[T]) -> Result<Vec<u8>, Error> {
        match self {
            Self::Cuszp(params) => cuszp::compress_on(device, params, values),
            Self::Aatrox(params) => aatrox::compress_on(device, params, values),
        }
    }

    /// Decompresses a stream on a device.
    ///
    /// # Errors
    ///
    /// As [`cuszp::decompress_on`](crate::cuszp::decompress_on) and
    /// [`aatrox::decompress_on`](crate::aatrox::decompress_on).
    pub fn decompress_on(&self, device: Device, stream: &[u8]) -> Result<Vec<T>, Error> {
        match self {
            Self::Cuszp(params) => cuszp::decompress_on(device, params, stream),
            Self::Aatrox(params) => aatrox::decompress_on(device, params, stream),
        }
    }

    /// Decompresses a part of the array, on the CPU: of cuSZp's streams the blocks that hold it, of AATROX's the layers.
    ///
    /// # Errors
    ///
    /// As [`cuszp::decompress_part`](crate::cuszp::decompress_part) and
    /// [`aatrox::decompress_part`](crate::aatrox::decompress_part).
    pub fn decompress_part(&self, stream: &[u8], part: &Part) -> Result<Vec<T>, Error> {
        Ok(match self {
            Self::Cuszp(params) => cuszp::decompress_part(params, stream, part)?,
            Self::Aatrox(params) => aatrox::decompress_part(params, stream, part)?,
        })
    }

    /// Decompresses some units of a stream on a device: blocks of cuSZp's, layers of AATROX's. Gives the values of all
    /// positions of one unit after the other, 32 for a line, 64 for a plane or a cube, 32,768 for a layer; positions that
    /// hold no element have some value. Only the bodies of these units are read, and their rate bytes and those before.
    ///
    /// # Errors
    ///
    /// As [`Bare::decompress_on`]; [`Error::NoUnits`].
    pub fn read_units_on(
        &self,
        device: Device,
        bytes: &[u8],
        units: Range<u32>,
    ) -> Result<Vec<T>, Error> {
        let what = BareStream::of(*self)?;
        let blocks = what.blocks_of_units(&units)?;
        let gpu = match stream::backend_for::<T>(device, what.unit_elements(&units))? {
            Backend::Cpu => None,
            Backend::Gpu(gpu) => Some(gpu),
        };
        // Both check the rate bytes first.
        match (self, gpu) {
            (Self::Cuszp(params), None) => {
                Ok(cuszp::reference::Decoder::new(params, bytes)?.positions(blocks)?)
            }
            (Self::Aatrox(params), None) => {
                Ok(aatrox::reference::Decoder::new(params, bytes)?.positions(units)?)
            }
            (Self::Cuszp(params), Some(gpu)) => {
                cuszp::reference::Decoder::new(params, bytes)?;
                what.read(&gpu, bytes, &units)
            }
            (Self::Aatrox(params), Some(gpu)) => {
                aatrox::reference::Decoder::new(params, bytes)?;
                what.read(&gpu, bytes, &units)
            }
        }
    }

    /// Replaces some units of a stream in place, on a device, by the values of all their positions, as
    /// [`Bare::read_units_on`] gives them. The new blocks, or the blocks of each new layer together, must have the length of
    /// the old ones.
    ///
    /// # Errors
    ///
    /// As [`Bare::read_units_on`] and [`Bare::replace_part`]; [`Error::ElementCount`]; on a GPU [`Error::Ferrosz`] with the
    /// number of the first block or layer of another length. The stream is then unchanged.
    pub fn replace_units_on(
        &self,
        device: Device,
        bytes: &mut [u8],
        units: Range<u32>,
        values: &[T],
    ) -> Result<(), Error> {
        let what = BareStream::of(*self)?;
        let blocks = what.blocks_of_units(&units)?;
        what.check_unit_elements(&units, values.len() as u64)?;
        let gpu = match stream::backend_for::<T>(device, what.unit_elements(&units))? {
            Backend::Cpu => None,
            Backend::Gpu(gpu) => Some(gpu),
        };
        match (self, gpu) {
            (Self::Cuszp(params), None) => {
                cuszp::replace_positions(params, bytes, blocks, values)?;
            }
            (Self::Aatrox(params), None) => {
                aatrox::replace_positions(params, bytes, units, values)?;
            }
            (Self::Cuszp(params), Some(_)) if params.strict => {
                return Err(Error::StrictOnDevice);
            }
            (_, Some(gpu)) => {
                self.outline(bytes)?;
                what.replace(&gpu, bytes, &units, values)?;
            }
        }
        Ok(())
    }

    /// Replaces a part of the array in its stream, where the new blocks or layers have the lengths of the old ones. Returns
    /// their number.
    ///
    /// # Errors
    ///
    /// As [`cuszp::replace_part`](crate::cuszp::replace_part) and
    /// [`aatrox::replace_part`](crate::aatrox::replace_part). The stream is then unchanged.
    pub fn replace_part(&self, stream: &mut [u8], part: &Part, values: &[T]) -> Result<u64, Error> {
        Ok(match self {
            Self::Cuszp(params) => cuszp::replace_part(params, stream, part, values)?,
            Self::Aatrox(params) => aatrox::replace_part(params, stream, part, values)?,
        })
    }

    /// The sections and the forms of the blocks of a stream, which may be longer or shorter than it must be.
    ///
    /// # Errors
    ///
    /// If the parameters do not fit each other, a rate byte is corrupt, or the stream ends before its bodies.
    pub fn outline(&self, stream: &[u8]) -> Result<Outline, Error> {
        Ok(match self {
            Self::Cuszp(params) => cuszp::reference::outline(params, stream)?,
            Self::Aatrox(params) => aatrox::reference::outline(params, stream)?,
        })
    }

    /// Whether the bytes are a whole stream with these parameters, and nothing else: all rate bytes are valid, and the
    /// length is that of the bodies. The format has no checksums: damaged bodies and wrong bounds are not found.
    ///
    /// # Errors
    ///
    /// As [`Bare::decompress_on`]; [`CuszpError::Trailing`](crate::cuszp::CuszpError::Trailing) or
    /// [`AatroxError::Trailing`](crate::aatrox::AatroxError::Trailing).
    pub fn check(&self, stream: &[u8]) -> Result<(), Error> {
        let found = stream.len() as u64;
        match self {
            Self::Cuszp(params) => {
                let needed = cuszp::reference::Decoder::new(params, stream)?.stream_bytes();
                if found > needed {
                    return Err(cuszp::CuszpError::Trailing { needed, found }.into());
                }
            }
            Self::Aatrox(params) => {
                let needed = aatrox::reference::Decoder::new(params, stream)?.stream_bytes();
                if found > needed {
                    return Err(aatrox::AatroxError::Trailing { needed, found }.into());
                }
            }
        }
        Ok(())
    }
}
