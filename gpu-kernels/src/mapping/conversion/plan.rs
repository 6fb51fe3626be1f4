//! The conversion of a field of values of 16 bits, and the quantiser that follows from the values that it has.
//!
//! Each thread looks at four of all values; the block that ends last has the least of their rooms, and makes the plan.

use crate::PACKAGE;
use crate::mapping::conversion::SET_WORDS;
use crate::pipeline::cells;
use crate::primitives::scan::warp_max_u64;
use crate::quantize::extremes::resolve;
use core::marker::PhantomData;
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::container::checksum::term;
use ferrosz_codec::container::header_words::{Converted, error_term};
use ferrosz_codec::container::identity::Identity;
use ferrosz_codec::mapping::conversion::{MOST_ROOM, Plan, room};
use ferrosz_codec::{Bound, BoundMode, Element, Value};
use ferrosz_simt::{Kernel, Layout, Name, Package, Shared, Thread, View, WARP};

/// Plans the conversion of values of type `V`. Launched with [`BLOCKS`] blocks.
pub struct PlanConversion<V>(PhantomData<V>);

/// Parameters of [`PlanConversion`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct PlanParams {
    /// The set of the field's values.
    pub set: View<u32>,
    /// Two numbers that are 0 before: what is left above the least room, and the blocks that are done.
    pub rooms: View<u64>,
    /// The workspace. The output: the cells of the quantiser, the identity and the conversion.
    pub cells: View<u64>,
    /// The bound's number.
    pub bound: f64,
    /// The bound's mode.
    pub mode: u32,
    /// The sum of the words that make the header's identity, with 0 for the error, the conversion and the sum of records.
    pub header_sum: u64,
    /// The records' place of the error, and their sum.
    pub records: RecordsOf,
}

/// Records in which the absolute error of a conversion is 0.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct RecordsOf {
    /// The checksum of the records.
    pub sum: u64,
    /// The number of the error's first word among the records' words; 0 if there is no conversion.
    pub error_word: u32,
}

impl RecordsOf {
    /// Whether there is a conversion.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub const fn is_any(&self) -> bool {
        self.error_word != 0
    }

    /// The checksum of the records with an error of these bits.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn sum_with(&self, error_bits: u64) -> u64 {
        let low = term(self.error_word, error_bits as u32);
        let high = term(self.error_word + 1, (error_bits >> 32) as u32);
        self.sum.wrapping_add(low).wrapping_add(high)
    }
}

/// Threads in a block.
const THREADS: u32 = 256;

const WARPS: u32 = THREADS / WARP;

/// Values that a thread looks at.
const VALUES: u32 = 4;

/// Blocks of a launch.
pub const BLOCKS: u32 = (1 << 16) / (VALUES * THREADS);

/// Numbers of the warps: two of the extremes, one of the room.
const SHARED: (Shared<u64>, Layout) = {
    let mut layout = Layout::new();
    (layout.array("numbers of warps", 3 * WARPS), layout)
};

impl<V: Value<Coded = f32>> Kernel for PlanConversion<V> {
    type Params = PlanParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_plan_conversion", V::TYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = 0;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &PlanParams) {
        // 1. The extremes, which each block finds by itself.
        let cells = Self::extremes(t, params).to_cells();
        for (i, cell) in (0..).zip(&cells) {
            let largest = warp_max_u64(t, *cell);
            if t.lane() == 0 {
                SHARED.0.store(t, WARPS * i + t.warp(), largest);
            }
        }
        t.barrier();
        let extremes = Extremes::from_cells([largest_of_warps(t, 0), largest_of_warps(t, 1)]);
        // 2. The least room of this block's values.
        if V::TYPE.is_half() {
            let left = Self::left_above_room(t, params, &extremes);
            let left = warp_max_u64(t, left);
            if t.lane() == 0 {
                SHARED.0.store(t, 2 * WARPS + t.warp(), left);
            }
            t.barrier();
            let left = largest_of_warps(t, 2);
            if t.thread_index() == 0 {
                t.atomic_max(params.rooms, 0, left);
            }
        }
        // 3. The plan, by the last block.
        if t.thread_index() == 0 {
            t.fence();
            let done = t.atomic_add(params.rooms, 1, 1);
            if done + 1 == u64::from(t.block_count()) {
                t.fence();
                Self::leave(t, params, &extremes);
            }
        }
    }
}

impl<V: Value<Coded = f32>> PlanConversion<V> {
    /// The bound; a wrong one, which the host refuses, would be lossless.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn bound(params: &PlanParams) -> Bound {
        let mode = BoundMode::from_id(params.mode as u8).unwrap_or(BoundMode::Abs);
        Bound::new(mode, params.bound).unwrap_or_default()
    }

    /// The extremes of this thread's share of the set. Of the values in a word, which are in order or in reverse, one end is
    /// the least and the other the largest; infinities and NaNs begin with a word.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn extremes<T: Thread>(t: T, params: &PlanParams) -> Extremes<f32> {
        let mut extremes = Extremes::default();
        let mut word = t.thread_index();
        while word < SET_WORDS {
            let seen = t.load(params.set, u64::from(word));
            if seen != 0 {
                for bit in [seen.trailing_zeros(), u32::BITS - 1 - seen.leading_zeros()] {
                    let bits = u64::from(word * u32::BITS + bit);
                    extremes.see(V::from_value_bits(bits).widened());
                }
            }
            word += THREADS;
        }
        extremes
    }

    /// The complement of the bits of the least room of this thread's values, so that the largest is that of the least; 0 if
    /// none has a room.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn left_above_room<T: Thread>(t: T, params: &PlanParams, extremes: &Extremes<f32>) -> u64 {
        let absolute = Self::bound(params).absolute(extremes);
        let first = (t.block_index() * THREADS + t.thread_index()) * VALUES;
        let seen = t.load(params.set, u64::from(first / u32::BITS)) >> (first % u32::BITS);
        let mut left = 0;
        for i in 0..t.opaque(VALUES) {
            if seen >> i & 1 == 1 {
                let value = V::from_value_bits(u64::from(first + i));
                if let Some(room) = room(value, absolute) {
                    left = left.max(!room.to_bits());
                }
            }
        }
        left
    }

    /// Leaves the plan in the cells. For one thread.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn leave<T: Thread>(t: T, params: &PlanParams, extremes: &Extremes<f32>) {
        let left = t.atomic_load(params.rooms, 0);
        let least_room = || match left {
            0 => MOST_ROOM,
            left => f64::from_bits(!left),
        };
        let plan = Plan::of_extremes::<V>(Self::bound(params), extremes, least_room);
        let error = plan.error.to_f64();
        let quantizer = resolve::<f32>(
            u32::from(BoundMode::Abs.id()),
            error,
            &Extremes::<f32>::default(),
        );
        for (i, bits) in (0..).zip(&quantizer) {
            t.atomic_store(params.cells, cells::QUANTIZER + i, *bits);
        }
        let kind = u32::from(plan.conversion.kind().id());
        let absolute = plan
            .conversion
            .absolute_error()
            .unwrap_or_default()
            .to_bits();
        t.atomic_store(params.cells, cells::CONVERSION, u64::from(kind));
        t.atomic_store(params.cells, cells::CONVERSION_ERROR, absolute);
        let converted = Converted {
            kind,
            record_sum: params.records.sum_with(absolute),
        };
        // The first of the quantiser's numbers is the error.
        let sum = converted.identity_sum(params.header_sum);
        let identity = Identity::of_sum(sum.wrapping_add(error_term(quantizer[0])));
        t.atomic_store(params.cells, cells::IDENTITY, identity.0);
    }
}

/// The largest of numbers that all warps left, in every lane. For whole warps.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn largest_of_warps<T: Thread>(t: T, numbers: u32) -> u64 {
    let mut largest = 0;
    if t.lane() < WARPS {
        largest = SHARED.0.load(t, WARPS * numbers + t.lane());
    }
    warp_max_u64(t, largest)
}
