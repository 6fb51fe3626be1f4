//! Compression in one kernel: one thread block a chunk, one thread a group: a coding block or half of
//! one.
//!
//! 1. Take a ticket: the chunk. Bring its elements into shared memory ([`StagedChunk`](crate::pipeline::blocks::staged_chunk::StagedChunk)).
//! 2. Each thread quantises its row, and computes the differences and the length of its body.
//! 3. A sum over the thread block gives every body its position in the chunk, and the chunk its form
//!    and length, which is published at once for the look-back.
//! 4. The chunk's image is built in shared memory, in the words of the elements.
//! 5. The look-back gives the chunk its position in the stream; the image is copied there, 16 bytes a
//!    thread.
//! 6. The checksum is computed during the copy, and is written to the chunk's table entry.
//!
//! The block of the last chunk completes the header. No result depends on the order in which blocks run.

pub(crate) mod field;
pub mod logarithms;
pub(crate) mod parameters;
pub mod short;
pub(crate) mod taken_chunk;

use crate::PACKAGE;
use crate::code::fixed_length::{Image, write_body};
use crate::pipeline::blocks::CHUNK_THREADS;
use crate::pipeline::blocks::CHUNK_WARPS;
use crate::pipeline::blocks::compress::field::{FieldOf, WholeField};
use crate::pipeline::blocks::compress::parameters::Scratch;
use crate::pipeline::blocks::compress::taken_chunk::TakenChunk;
use crate::pipeline::blocks::groups;
use crate::pipeline::cells::{self};
use crate::predict::{group, layer};
use crate::primitives::element::by_width;
use crate::primitives::look_back::{look_back, publish};
use crate::primitives::scan::{BlockSum, block_sum, store_warp_sum_u64, sum_of_warps};
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::code::fixed_length::block::{SignedGroup, choose_rate};
use ferrosz_codec::code::fixed_length::rate::RateByte;
use ferrosz_codec::container::chunk::{Form, Sections};
use ferrosz_codec::pipeline::{BlockCodec, StaticCodec};
use ferrosz_codec::predict::Predictor;
use ferrosz_codec::predict::difference;
use ferrosz_codec::predict::group::{Group, MAX_REACH};
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::shape::{Shape, StaticShape, WHOLE_GROUP};
use ferrosz_simt::{Kernel, Name, Package, Thread};

pub use parameters::CompressParams;

/// Compresses a field of `E` with codec `C` in blocks of shape `S`. Launched with one block a chunk.
pub struct Compress<E, C, S>(PhantomData<(E, C, S)>);

impl<E: Element, C: StaticCodec, S: StaticShape> Kernel for Compress<E, C, S> {
    type Params = CompressParams;
    const NAME: &'static str = const {
        &Name::of(&[
            "ferrosz_compress",
            C::CODEC.name(),
            S::SHAPE.name(),
            E::DTYPE.name(),
        ])
    }
    .as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = CHUNK_THREADS;
    const SHARED_WORDS: u32 = Scratch::<E>::SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = by_width::<E>(4, 3);

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &CompressParams) {
        Self::field(t, params);
    }
}

impl<E: Element, C: StaticCodec, S: StaticShape> Compress<E, C, S> {
    /// Compresses a field.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn field<T: Thread, P: WholeField<E>>(t: T, field: &P) {
        let shared = Scratch::<E>::SHARED.0;
        // 1. Take a chunk, and bring its elements in.
        let taken = TakenChunk::<&P, E, S>::take(t, field, shared);
        taken.stage(t);
        // 2. Code this thread's group.
        let coded = Stages::<E, S>::code(t, C::CODEC, &taken, shared);
        // 3. Find where each part goes in the chunk, the chunk's form and its length. The length is published.
        let positions = Stages::<E, S>::positions(t, &coded, shared);
        let taken = taken.again(t);
        let plan = Stages::<E, S>::plan(t, C::CODEC, &taken, &coded, positions);
        let states = (field.params().cells, cells::STATES);
        let bytes = 4 * u64::from(plan.words);
        if t.thread_index() == 0 {
            publish(t, states, taken.number, bytes);
        }
        t.barrier();
        // 4. Build the image, where the elements were.
        Self::build(t, &taken, coded, &plan, shared);
        // 5. Look back for the chunk's position in the payload, and copy the image there.
        let start = look_back(t, states, taken.number, bytes, shared.start, |start| start);
        let sum = taken.copy_image(t, start, plan.words);
        // 6. Sum the checksum up, and write the table's entry.
        Self::add_up(t, sum, shared, |sum| {
            taken.finish(t, start, plan.words, plan.form, sum);
        });
    }
}

/// The first stages, which find out how long a chunk will be; the codec may be one that is known only at run time. All
/// stages are for the whole block. `shared` is a parameter, though the chunk has it, so that it is a constant from the start:
/// otherwise kernels of planes and cubes spill registers.
pub(crate) struct Stages<E, S>(PhantomData<(E, S)>);

impl<E: Element, S: StaticShape> Stages<E, S> {
    /// This thread's part of the chunk: quantised, predicted, and how its block will be stored.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(crate) fn code<T: Thread, F: FieldOf<E>>(
        t: T,
        codec: BlockCodec,
        taken: &TakenChunk<F, E, S>,
        shared: Scratch<E>,
    ) -> Coded {
        let scratch = shared.layer;
        let (mut codes, missing) = taken.quantize(t);
        let has_code = taken.inside(t) & !missing;
        let bias = Quantizer::<E>::BIAS;
        let initial = predict_forward::<T, S>(t, codec, &mut codes, bias, has_code, scratch);
        // Without `opaque` LLVM computes the sign row where it is stored, and the codes stay live until then: 24 registers
        // more, and one block a multiprocessor less.
        let mut group = SignedGroup::split(&codes);
        group.signs = t.opaque(group.signs);
        let (first, others) = first_and_others::<T, S>(t, &group);
        Coded {
            group,
            rate: choose_rate(first, others, groups::<S>(), codec),
            mask: taken.exceptions(t, missing),
            initial,
        }
    }

    /// The sums of the bytes of bodies and, from bit 16 on, of exceptions. There is one barrier inside.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(crate) fn positions<T: Thread>(t: T, coded: &Coded, shared: Scratch<E>) -> BlockSum {
        let sizes = coded.own_bytes::<T, S>(t) | coded.mask.count_ones() << 16;
        block_sum::<T, CHUNK_WARPS>(t, sizes, shared.body_sums)
    }

    /// The chunk's form and length, and the positions of its parts.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(crate) fn plan<T: Thread, F: FieldOf<E>>(
        t: T,
        codec: BlockCodec,
        taken: &TakenChunk<F, E, S>,
        coded: &Coded,
        positions: BlockSum,
    ) -> Plan {
        let (sections, flags) = Self::sections(t, codec, taken, coded.mask, positions.total);
        let is_constant = taken.quantizer(t).is_lossless() && taken.is_constant(t);
        let elements = taken.chunk.elements();
        let (form, words) = sections.choose(elements, E::WORDS as u32, coded.initial, is_constant);
        Plan {
            form,
            words,
            sections,
            sizes_before: positions.before,
            flags_before: flags.before,
        }
    }

    /// The chunk's sections, `sizes` being the sum of all threads'; and, if there are exceptions, the groups
    /// that have any. For the whole block.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn sections<T: Thread, F: FieldOf<E>>(
        t: T,
        codec: BlockCodec,
        taken: &TakenChunk<F, E, S>,
        mask: u32,
        sizes: u32,
    ) -> (Sections, BlockSum) {
        let exceptions = sizes >> 16;
        let flags = if exceptions > 0 {
            block_sum::<T, CHUNK_WARPS>(t, u32::from(mask != 0), taken.shared.flag_sums)
        } else {
            BlockSum {
                before: 0,
                total: 0,
            }
        };
        let sections = Sections {
            body_bytes: sizes & 0xffff,
            flagged_groups: flags.total,
            exceptions,
            ..Sections::of(taken.chunk.block_count(S::SHAPE), S::SHAPE, codec)
        };
        (sections, flags)
    }
}

/// The stages that write, as other kernels need them, too.
impl<E: Element, C: StaticCodec, S: StaticShape> Compress<E, C, S> {
    /// Builds the chunk's image where the elements were, behind a barrier.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(crate) fn build<T: Thread, F: FieldOf<E>>(
        t: T,
        taken: &TakenChunk<F, E, S>,
        coded: Coded,
        plan: &Plan,
        shared: Scratch<E>,
    ) {
        match plan.form {
            Form::Zero => {}
            Form::Constant | Form::Raw => taken.write_elements(t, plan.form, plan.words),
            Form::Coded | Form::CodedWithExceptions => {
                let image = Image {
                    memory: shared.image,
                    sections: plan.sections,
                    words: plan.words,
                };
                Self::write_image(t, taken, &image, coded, plan);
            }
        }
    }

    /// The sum of all threads' parts of the checksum, for one thread, which does something `with` it. There is one
    /// barrier inside.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub(crate) fn add_up<T: Thread>(t: T, sum: u64, shared: Scratch<E>, with: impl FnOnce(u64)) {
        store_warp_sum_u64(t, sum, shared.checksums);
        t.barrier();
        if t.warp() == 0 {
            let sum = sum_of_warps::<T, CHUNK_WARPS>(t, shared.checksums);
            if t.lane() == 0 {
                with(sum);
            }
        }
    }

    /// Writes this thread's part of a coded chunk's image.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn write_image<T: Thread, F: FieldOf<E>>(
        t: T,
        taken: &TakenChunk<F, E, S>,
        image: &Image,
        coded: Coded,
        plan: &Plan,
    ) {
        let codec = C::CODEC;
        let (sizes_before, flags_before) = (plan.sizes_before, plan.flags_before);
        image.clear::<T, E>(t, codec);
        image.write_rate(t, S::SHAPE, coded.rate);
        if codec.is_layered() {
            image.write_initial(t, coded.initial);
        }
        let write_exceptions = || {
            if image.sections.exceptions > 0 {
                let input = |word| taken.slot_word(t, word);
                let values_before = sizes_before >> 16;
                image.write_exceptions::<T, E>(t, input, coded.mask, flags_before, values_before);
            }
        };
        // Where it costs fewer registers.
        let is_early = codec.stores_outliers() && E::WORDS == 1;
        if is_early {
            write_exceptions();
        }
        // The bytes before the second group's are those before its block and its block's.
        let block_bytes = if is_first::<T, S>(t) {
            0
        } else {
            coded.rate.body_bytes(groups::<S>())
        };
        let at = 4 * image.sections.bodies() + (sizes_before & 0xffff) - block_bytes;
        write_body(
            t,
            image.memory,
            S::SHAPE,
            coded.group,
            coded.rate,
            at,
            codec,
        );
        if !is_early {
            write_exceptions();
        }
    }
}

/// How a chunk is stored, as a thread sees it.
pub(crate) struct Plan {
    pub(crate) form: Form,
    /// Words of the whole chunk.
    pub(crate) words: u32,
    sections: Sections,
    /// The sums of the threads before: of bytes of bodies and, from bit 16 on, of exceptions.
    sizes_before: u32,
    /// The same of groups with exceptions.
    flags_before: u32,
}

/// A thread's part of a chunk, coded.
pub(crate) struct Coded {
    group: SignedGroup,
    /// The rate byte of its block.
    rate: RateByte,
    /// Its exceptions.
    mask: u32,
    /// The initial code of a layered chunk, else 0.
    initial: i32,
}

impl Coded {
    /// The bytes of its block's body, which the block's first group counts.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn own_bytes<T: Thread, S: StaticShape>(&self, t: T) -> u32 {
        if is_first::<T, S>(t) {
            self.rate.body_bytes(groups::<S>())
        } else {
            0
        }
    }
}

/// Whether this thread has the first group of its block.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn is_first<T: Thread, S: StaticShape>(t: T) -> bool {
    t.lane().is_multiple_of(groups::<S>())
}

/// Codes, each with `bias` on top, to differences, in which it cancels; the initial code of a layer, else
/// 0. For the whole block.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn predict_forward<T: Thread, S: StaticShape>(
    t: T,
    codec: BlockCodec,
    biased: &mut Group,
    bias: i32,
    has_code: u32,
    scratch: layer::Scratch,
) -> i32 {
    if codec.is_layered() {
        let found = layer::find(t, biased, has_code, scratch);
        if has_code != WHOLE_GROUP {
            let mut before = [0; MAX_REACH];
            before[0] = found.before;
            Predictor::Difference.fill(Shape::Line, biased, has_code, &before);
        }
        difference::forward(Shape::Line, biased, found.before);
        return found.initial.map_or(0, |code| code.wrapping_sub(bias));
    }
    let predictor = codec.predictor();
    let is_whole = has_code == WHOLE_GROUP;
    let is_filled = if groups::<S>() == 1 {
        is_whole
    } else {
        t.ballot(!is_whole) == 0
    };
    if !is_filled {
        difference::add(biased, bias.wrapping_neg());
        group::fill(t, predictor, S::SHAPE, biased, has_code);
        difference::add(biased, bias);
    }
    group::forward(t, predictor, S::SHAPE, biased);
    if matches!(predictor, Predictor::Zero) {
        difference::add(biased, bias.wrapping_neg());
    } else if is_first::<T, S>(t) {
        // The first of a block is predicted by 0, which has no bias.
        biased[0] = biased[0].wrapping_sub(bias);
    }
    0
}

/// The first magnitude of this thread's block, and all others or-ed together. For whole warps.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn first_and_others<T: Thread, S: StaticShape>(t: T, group: &SignedGroup) -> (u32, u32) {
    let (mut first, mut others) = group.first_and_others();
    if groups::<S>() == 2 {
        let other_first = t.shuffle_xor(first, 1);
        others |= t.shuffle_xor(others, 1);
        if is_first::<T, S>(t) {
            others |= other_first;
        } else {
            others |= first;
            first = other_first;
        }
    }
    (first, others)
}
