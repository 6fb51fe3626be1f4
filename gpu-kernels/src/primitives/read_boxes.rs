//! Copies boxes of a field to one place, so that the host gets all of them with one copy.

use crate::PACKAGE;
use crate::primitives::element::{load_element, store_element};
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_simt::{Kernel, Name, Package, Thread, View};

/// Thread blocks of a box. With one alone, each of its threads would wait for many elements, one after the other.
pub const BLOCKS_OF_BOX: u32 = 8;

/// Threads in a block.
const THREADS: u32 = 256;

/// A box of a field, of fewer than 2^31 elements.
#[derive(Clone, Copy)]
pub struct BoxToRead {
    /// The number of its first element in the field.
    pub from: u64,
    /// The place of that element in the output. The others follow row by row.
    pub to: u64,
    /// Its extents.
    pub extents: [u32; 3],
}

/// Numbers of a box in a list.
pub const BOX_NUMBERS: usize = 5;

impl BoxToRead {
    /// The box in a list.
    pub fn to_list(self) -> [u64; BOX_NUMBERS] {
        let [depth, height, width] = self.extents.map(u64::from);
        [self.from, self.to, depth, height, width]
    }

    /// Box `number` of a list.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(crate) fn load<T: Thread>(t: T, list: View<u64>, number: u32) -> Self {
        let first = u64::from(number) * BOX_NUMBERS as u64;
        let [from, to, depth, height, width] =
            core::array::from_fn(|i| t.load_u64(list, first + i as u64));
        Self {
            from,
            to,
            extents: [depth as u32, height as u32, width as u32],
        }
    }
}

/// Copies boxes of a field of `E`. Launched with [`BLOCKS_OF_BOX`] blocks for each box.
pub struct ReadBoxes<E>(PhantomData<E>);

/// Parameters of [`ReadBoxes`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ReadBoxesParams {
    /// The words of the field's elements.
    pub field: View<u32>,
    /// Elements of a slice of the field.
    pub slice: u64,
    /// Elements of a row of the field.
    pub row: u64,
    /// The boxes, as [`BoxToRead::to_list`] has them. In memory, not here: to find its box among parameters, a thread
    /// would need a copy of all of them.
    pub boxes: View<u64>,
    /// The output.
    pub output: View<u32>,
}

impl<E: Element> Kernel for ReadBoxes<E> {
    type Params = ReadBoxesParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_read_boxes", E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = 0;
    const RESIDENT_BLOCKS: u32 = 8;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &ReadBoxesParams) {
        let number = t.block_index() / BLOCKS_OF_BOX;
        let share = t.block_index() % BLOCKS_OF_BOX;
        let BoxToRead { from, to, extents } = BoxToRead::load(t, params.boxes, number);
        let elements: u32 = extents.iter().product();
        // A box with elements has no divisor of 0.
        let [_, height, width] = extents.map(|extent| extent.max(1));
        let mut at = share * THREADS + t.thread_index();
        while at < elements {
            let (row, x) = (at / width, at % width);
            let (z, y) = (row / height, row % height);
            let inside = u64::from(z) * params.slice + u64::from(y) * params.row + u64::from(x);
            let value: E = load_element(t, params.field, from + inside);
            store_element(t, params.output, to + u64::from(at), value);
            at += BLOCKS_OF_BOX * THREADS;
        }
    }
}
