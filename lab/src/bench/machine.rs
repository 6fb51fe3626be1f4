//! The traits of a machine: measuring is written once, and each of the two machines implements them.

use super::row::Ceilings;
use super::times::Times;
use ferrosz::cuda::cudarc::driver::{DeviceRepr, ValidAsZeroBits};
use ferrosz::{Compressor, Device, Element, Layout, Part};
use ferrosz_cli::failure::Failure;
use ferrosz_cuszp::Bare;

/// Element types on all machines.
pub trait Value: Element + DeviceRepr + ValidAsZeroBits {
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

/// The kind of a field's stream, as far as the sizes of buffers depend on it.
#[derive(Debug, Clone, Copy)]
pub enum Format<T> {
    /// A ferrosz stream.
    Container(Layout),
    /// A stream without header.
    Bare(Bare<T>),
}

/// Work to time.
#[derive(Debug, Clone, Copy)]
pub enum Work<'a, T> {
    /// Compresses the field.
    Compress(&'a Compressor),
    /// Decompresses the stream.
    Decompress(Layout),
    /// Decompresses a part of the field.
    DecompressPart(Layout, &'a Part),
    /// Compresses the field to a stream without header.
    CompressBare(Bare<T>),
    /// Decompresses a stream without header.
    DecompressBare(Bare<T>),
}

/// The description of a machine in reports.
#[derive(Debug, Clone)]
pub struct About {
    /// The device, as on the command line.
    pub device: Device,
    /// The processor's name.
    pub name: String,
    /// The version of the GPU's driver.
    pub driver: Option<String>,
    /// Threads of the CPU backend; none for a GPU.
    pub threads: Option<usize>,
}

/// A machine on which codecs are timed.
pub trait Machine {
    /// The machine's memory for one field.
    type Buffers<'a, T: Value>: Buffers<T>
    where
        Self: 'a;

    /// The description of the machine.
    fn about(&self) -> &About;

    /// The times that the machine takes to copy and to read a field.
    ///
    /// # Errors
    ///
    /// The machine's errors.
    fn ceilings<T: Value>(&self, field: &[T]) -> Result<Ceilings, Failure>;

    /// Buffers with a field in the machine's memory, for its stream and for the decoded field.
    ///
    /// # Errors
    ///
    /// The machine's errors.
    fn buffers<'a, T: Value>(
        &'a self,
        field: &'a [T],
        format: Format<T>,
    ) -> Result<Self::Buffers<'a, T>, Failure>;
}

/// A field in a machine's memory, with buffers for the stream and for the decoded field.
pub trait Buffers<T: Value> {
    /// Does work, or enqueues it.
    ///
    /// # Errors
    ///
    /// The library's errors.
    fn ask(&mut self, work: &Work<'_, T>) -> Result<(), Failure>;

    /// Fills the stream's buffer with bytes that are no stream.
    ///
    /// # Errors
    ///
    /// The machine's errors.
    fn poison_stream(&mut self) -> Result<(), Failure>;

    /// Fills the decoded field's buffer with values that no field has.
    ///
    /// # Errors
    ///
    /// The machine's errors.
    fn poison_values(&mut self) -> Result<(), Failure>;

    /// The last compressed stream.
    ///
    /// # Errors
    ///
    /// The machine's errors.
    fn stream(&mut self) -> Result<Vec<u8>, Failure>;

    /// The first values of the last decompression.
    ///
    /// # Errors
    ///
    /// An error of the stream; the machine's errors.
    fn values(&mut self, count: usize) -> Result<Vec<T>, Failure>;

    /// Times work, one run after the other.
    ///
    /// # Errors
    ///
    /// The errors of [`Buffers::ask`].
    fn time(&mut self, work: &Work<'_, T>) -> Result<Times, Failure>;

    /// Records work, replays it many times, and times a run; none if the machine cannot record, or the field is too
    /// large for a difference.
    ///
    /// # Errors
    ///
    /// The errors of [`Buffers::ask`].
    fn time_replayed(&mut self, work: &Work<'_, T>) -> Result<Option<Times>, Failure>;
}
