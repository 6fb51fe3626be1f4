//! What a machine must do to be measured: written once for measuring, twice for machines.

use super::row::Ceilings;
use super::times::Times;
use crate::failure::Failure;
#[cfg(feature = "cuda")]
use ferrosz::cuda::cudarc::driver::{DeviceRepr, ValidAsZeroBits};
use ferrosz::{Compressor, Device, Element, Layout, Part};
use ferrosz_cuszp::Bare;

/// Elements that device memory can hold.
#[cfg(feature = "cuda")]
pub trait OnDevice: DeviceRepr + ValidAsZeroBits {}
#[cfg(feature = "cuda")]
impl<T: DeviceRepr + ValidAsZeroBits> OnDevice for T {}

/// There is no device memory.
#[cfg(not(feature = "cuda"))]
pub trait OnDevice {}
#[cfg(not(feature = "cuda"))]
impl<T> OnDevice for T {}

/// Elements that every machine can hold.
pub trait Value: Element + OnDevice {
    /// The value nearest to a number.
    fn nearest(number: f64) -> Self;
}

impl Value for f32 {
    fn nearest(number: f64) -> Self {
        number as Self
    }
}

impl Value for f64 {
    fn nearest(number: f64) -> Self {
        number
    }
}

/// What stream is made of a field, as far as buffers for it depend on that.
#[derive(Debug, Clone, Copy)]
pub enum Format<T> {
    /// Ferrosz's.
    Container(Layout),
    /// One without a header.
    Bare(Bare<T>),
}

/// Work that is timed.
#[cfg_attr(
    not(feature = "cuda"),
    expect(dead_code, reason = "only device memory must be told the layout")
)]
#[derive(Debug, Clone, Copy)]
pub enum Work<'a, T> {
    /// The field to a stream.
    Compress(&'a Compressor),
    /// The stream to a field.
    Decompress(Layout),
    /// The stream to a part of a field.
    DecompressPart(Layout, &'a Part),
    /// The field to a stream without header.
    CompressBare(Bare<T>),
    /// A stream without header to a field.
    DecompressBare(Bare<T>),
}

/// The machine, for whoever reads the numbers.
#[derive(Debug, Clone)]
pub struct About {
    /// As the command line names it.
    pub device: Device,
    /// The processor.
    pub name: String,
    /// The GPU's driver.
    pub driver: Option<String>,
    /// Threads of the CPU backend.
    pub threads: Option<usize>,
}

/// A machine on which codecs are timed.
pub trait Machine {
    /// Its memory for one field.
    type Buffers<'a, T: Value>: Buffers<T>
    where
        Self: 'a;

    /// What it is.
    fn about(&self) -> &About;

    /// How fast it copies and reads so much memory.
    ///
    /// # Errors
    ///
    /// The machine's own.
    fn ceilings<T: Value>(&self, field: &[T]) -> Result<Ceilings, Failure>;

    /// A field in the machine's memory, with room for the stream and for the field decoded.
    ///
    /// # Errors
    ///
    /// The machine's own.
    fn buffers<'a, T: Value>(
        &'a self,
        field: &'a [T],
        format: Format<T>,
    ) -> Result<Self::Buffers<'a, T>, Failure>;
}

/// A field in a machine's memory, with room for the stream and for the field decoded.
pub trait Buffers<T: Value> {
    /// Does work, or asks for it.
    ///
    /// # Errors
    ///
    /// The library's.
    fn ask(&mut self, work: &Work<'_, T>) -> Result<(), Failure>;

    /// Fills the stream's buffer with what no stream consists of.
    ///
    /// # Errors
    ///
    /// The machine's own.
    fn poison_stream(&mut self) -> Result<(), Failure>;

    /// Fills the decoded field's buffer with what no field consists of.
    ///
    /// # Errors
    ///
    /// The machine's own.
    fn poison_values(&mut self) -> Result<(), Failure>;

    /// The stream that was made last.
    ///
    /// # Errors
    ///
    /// The machine's own.
    fn stream(&mut self) -> Result<Vec<u8>, Failure>;

    /// The first values that were decoded last.
    ///
    /// # Errors
    ///
    /// What was wrong with the stream; the machine's own.
    fn values(&mut self, count: usize) -> Result<Vec<T>, Failure>;

    /// Times work, one run after the other.
    ///
    /// # Errors
    ///
    /// As [`Buffers::ask`].
    fn time(&mut self, work: &Work<'_, T>) -> Result<Times, Failure>;

    /// Times runs of work that was recorded before and is replayed many times, if the machine can do so
    /// and the field is so small that it makes a difference.
    ///
    /// # Errors
    ///
    /// As [`Buffers::ask`].
    fn time_replayed(&mut self, work: &Work<'_, T>) -> Result<Option<Times>, Failure>;
}
