//! A member's chunks on a GPU.
//!
//! Kernels compress slabs of whole chunks ([`slabs`](crate::slabs)), and a member may have any box. So each member gets a slab,
//! and first the values of it that others have: of a box that is a slab itself, at most those at its faces.

#[cfg(all(test, feature = "emulator"))]
mod tests;

use crate::backend::{Call, Gpu};
use crate::device::Device;
use crate::encoded::EncodedChunks;
use crate::error::Error;
use crate::gpu::executor::Executor;
use crate::memory;
use crate::parts::fetch::{Held, Lattice, Window, fetch};
use crate::peers::{Group, Message, Piece, agree};
use crate::slabs::compress::compress_slab;
use crate::slabs::machines::Machines;
use crate::slabs::{Slab, divide};
use crate::stream_layout::StreamLayout;
use crate::tolerance::Tolerance;
use ferrosz_codec::Element;
use ferrosz_codec::container::layout::Layout;
use std::ops::Range;

/// Bytes of values that members send each other at a time.
const BYTES_A_ROUND: u64 = 256 << 20;

/// A member with a GPU, and the slabs of all members.
pub(super) struct Member {
    gpu: Gpu,
    slabs: Vec<Slab>,
}

impl Member {
    /// None if the CPUs of the members compress the field: if one of them has no GPU, or if there are fewer slabs than members.
    ///
    /// # Errors
    ///
    /// [`Error::Group`].
    pub(super) fn new(
        group: &dyn Group,
        gpu: Option<Gpu>,
        layout: &Layout,
    ) -> Result<Option<Self>, Error> {
        let mut gpus = [u64::from(gpu.is_some())];
        group.sum(&mut gpus)?;
        let slabs = divide(layout, group.size());
        let is_shared = gpus[0] == group.size() as u64 && slabs.len() == group.size();
        Ok(gpu.filter(|_| is_shared).map(|gpu| Self { gpu, slabs }))
    }

    /// Encodes the chunks of the member's slab, given the tolerance of the whole field, which is absolute.
    ///
    /// # Errors
    ///
    /// [`Error::Group`]; [`Error::OutOfMemory`]; the machine's own.
    pub(super) fn encode<T: Element>(
        &self,
        group: &dyn Group,
        layout: &Layout,
        tolerance: Tolerance,
        held: &Held<'_, T>,
    ) -> Result<EncodedChunks, Error> {
        let slab = &self.slabs[group.rank()];
        // 1. The values of the slab, and those behind it that its prediction reads. In the dimensions of a line no box is one.
        let held = &Held { own: None, ..*held };
        let kept = kept(held, &slab.elements);
        let first = slab.elements.start + kept.len() as u64;
        let fetched = self.fetch(group, held, first, BYTES_A_ROUND)?;
        // 2. Its stream.
        let layout = &StreamLayout {
            value_type: T::TYPE,
            ..(*layout).into()
        };
        let stream = together(group, |group| {
            self.gpu.run(CompressSlab {
                group,
                slab,
                layout,
                tolerance,
                values: [kept, &fetched],
            })
        })?;
        // 3. Its chunks.
        agree(group, own_chunks(slab, group.rank() == 0, stream))
    }

    /// The values that the member's machine reads from element `first` on, sent in rounds of so many bytes.
    fn fetch<T: Element>(
        &self,
        group: &dyn Group,
        held: &Held<'_, T>,
        first: u64,
        bytes_a_round: u64,
    ) -> Result<Vec<T>, Error> {
        let read = |slab: &Slab| slab.elements.end + slab.read;
        let end = read(&self.slabs[group.rank()]);
        let mut values: Vec<T> = agree(group, memory::try_zeroed(end - first))?;
        let mut rest = &mut values[..];
        // All members call as often as the one with the longest slab.
        let most = bytes_a_round / T::BYTES as u64;
        let longest = (self.slabs.iter()).map(|slab| read(slab) - slab.elements.start);
        for round in 0..longest.max().unwrap_or(0).div_ceil(most) {
            let start = end.min(first + round * most);
            let window = window(start..end.min(start + most));
            let windows = (window.positions() > 0).then_some(window);
            for found in fetch(group, held, &line(), windows.as_slice())? {
                let (to, behind) = std::mem::take(&mut rest).split_at_mut(found.len());
                to.copy_from_slice(&found);
                rest = behind;
            }
        }
        Ok(values)
    }
}

/// The GPU of a member; none if its device is the CPU.
///
/// # Errors
///
/// [`Error::NoDevice`] and [`Error::OldGpu`].
pub(super) fn of_member(device: Device, rank: usize) -> Result<Option<Gpu>, Error> {
    let device = match device {
        Device::Auto | Device::Cpu => return Ok(None),
        Device::Gpus(gpus) => Machines::of_member(gpus, rank)?,
        device => device,
    };
    Gpu::of(device).map(Some)
}

/// The elements of the field as a line.
fn line() -> Lattice<'static> {
    Lattice {
        element: Box::new(|[_, _, x]| x),
        spacing: 1,
    }
}

/// Elements as a window of a line.
fn window(elements: Range<u64>) -> Window {
    Window {
        origin: [0, 0, elements.start],
        extents: [1, 1, elements.end - elements.start],
    }
}

/// The values of elements that follow each other in the member's box, too; nothing if they do not.
fn kept<'a, T: Element>(held: &Held<'a, T>, elements: &Range<u64>) -> &'a [T] {
    let mut place: Option<Range<usize>> = None;
    let mut is_kept = true;
    held.runs(&line(), &window(elements.clone()), |run| {
        let before = place.clone().unwrap_or(run.place..run.place);
        is_kept &= run.owner == held.rank && run.place == before.end;
        place = Some(before.start..run.place + run.count as usize);
    });
    match place.filter(|_| is_kept) {
        Some(place) => &held.values[place],
        None => &[],
    }
}

/// The compression of a member's slab.
struct CompressSlab<'a, T> {
    group: &'a dyn Group,
    slab: &'a Slab,
    layout: &'a StreamLayout,
    tolerance: Tolerance,
    values: [&'a [T]; 2],
}

impl<T: Element> Call for CompressSlab<'_, T> {
    type Output = Result<Vec<u8>, Error>;

    fn on<E: Executor>(self, executor: &E) -> Self::Output {
        let Self { slab, layout, .. } = self;
        let values = self.values.map(bytemuck::cast_slice);
        compress_slab::<T, E>(executor, self.group, slab, layout, self.tolerance, &values)
    }
}

/// The chunks of the slab's stream that become chunks of the field's.
fn own_chunks(slab: &Slab, is_first: bool, mut stream: Vec<u8>) -> Result<EncodedChunks, Error> {
    let EncodedChunks { listings, bytes } = slab.chunks_of(&stream, is_first)?;
    let start = stream.len() - bytes.len();
    // They are the end of the stream.
    stream.drain(..start);
    Ok(EncodedChunks {
        listings,
        bytes: stream,
    })
}

/// The result of work that calls the group as often as it does if it succeeds. If it fails on one member, it fails on all, and
/// none waits for it.
///
/// # Errors
///
/// The own error; [`Error::Group`] if only other members failed.
fn together<R>(
    group: &dyn Group,
    work: impl FnOnce(&dyn Group) -> Result<R, Error>,
) -> Result<R, Error> {
    match work(&Together(group)) {
        // A call has failed, so all members know.
        Err(error @ Error::Group { .. }) => Err(error),
        own => agree(group, own),
    }
}

/// A group whose members fail together: before each call each has told that it did not fail.
struct Together<'a>(&'a dyn Group);

impl Together<'_> {
    fn agreed(&self) -> Result<&dyn Group, Error> {
        agree(self.0, Ok(self.0))
    }
}

impl Group for Together<'_> {
    fn rank(&self) -> usize {
        self.0.rank()
    }

    fn size(&self) -> usize {
        self.0.size()
    }

    fn max(&self, numbers: &mut [u64]) -> Result<(), Error> {
        self.agreed()?.max(numbers)
    }

    fn sum(&self, numbers: &mut [u64]) -> Result<(), Error> {
        self.agreed()?.sum(numbers)
    }

    fn sum_before(&self, number: u64) -> Result<u64, Error> {
        self.agreed()?.sum_before(number)
    }

    fn exchange(&self, messages: Vec<Message>) -> Result<Vec<Message>, Error> {
        self.agreed()?.exchange(messages)
    }

    fn write(&self, pieces: &[Piece<'_>]) -> Result<(), Error> {
        self.agreed()?.write(pieces)
    }

    fn barrier(&self) -> Result<(), Error> {
        self.agreed()?.barrier()
    }
}
