//! How a pass accesses the memory of the GPU: in vectors of 16 bytes or one element, and one word of the stream, at a
//! time; each thread the elements and bodies of its own block, or the threads together what lies side by side.

use crate::elements::{load_codes, of_vector, per_vector};
use crate::pass::{PassParams, SHARED, STAGED_GROUP, TILE_THREADS};
use ferrosz_codec::Element;
use ferrosz_codec::predict::group::Group;
use ferrosz_codec::shape::GROUP;
use ferrosz_simt::{Thread, View, WARP};

/// A kind of access.
pub trait Access: 'static {
    /// Its name in the names of kernels.
    const NAME: &'static str;
    /// Whether an access is of 16 bytes.
    const IS_VECTOR: bool;
    /// Whether a warp reads what lies side by side, and a thread block writes so.
    const IS_TOGETHER: bool;
}

/// cuSZp2's accesses (section IV-B, Figure 10, right, and Figure 11): a thread has a block of its own, and the threads of
/// a warp adjacent ones.
pub struct OwnVectors;

/// The same without vectors (Figure 10, left): a loop of a thread over single elements.
pub struct OwnScalars;

/// Coalesced vectors: adjacent threads access adjacent vectors, and exchange codes and bodies in shared memory.
pub struct WarpVectors;

/// Coalesced single elements and words.
pub struct WarpScalars;

impl Access for OwnVectors {
    const NAME: &'static str = "own_vectors";
    const IS_VECTOR: bool = true;
    const IS_TOGETHER: bool = false;
}

impl Access for OwnScalars {
    const NAME: &'static str = "own_scalars";
    const IS_VECTOR: bool = false;
    const IS_TOGETHER: bool = false;
}

impl Access for WarpVectors {
    const NAME: &'static str = "warp_vectors";
    const IS_VECTOR: bool = true;
    const IS_TOGETHER: bool = true;
}

impl Access for WarpScalars {
    const NAME: &'static str = "warp_scalars";
    const IS_VECTOR: bool = false;
    const IS_TOGETHER: bool = true;
}

/// The codes of this thread's elements in a tile. For whole warps.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn read_codes<T: Thread, E: Element, A: Access>(t: T, params: &PassParams, tile: u32) -> Group {
    let group = u64::from(tile * TILE_THREADS + t.thread_index());
    if A::IS_TOGETHER {
        let first = (group - u64::from(t.lane())) * GROUP as u64;
        stage_warp::<T, E, A>(t, params, first);
        t.sync_warp();
        staged_codes(t)
    } else if A::IS_VECTOR {
        let quantizer = params.quantizer::<E>();
        load_codes(t, params.elements, group * GROUP as u64, &quantizer)
    } else {
        let mut codes = [0; GROUP];
        for (element, code) in (group * GROUP as u64..).zip(&mut codes) {
            *code = load_code::<T, E>(t, params, element);
        }
        codes
    }
}

/// The code of one element.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn load_code<T: Thread, E: Element>(t: T, params: &PassParams, element: u64) -> i32 {
    let value = if E::WORDS == 1 {
        E::from_words([t.load(params.elements, element), 0])
    } else {
        E::from_bits64(t.load_u64(params.elements.pairs(), element))
    };
    params.quantizer::<E>().code(value)
}

/// Brings the codes of a warp's elements, from number `first` on, into shared memory.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn stage_warp<T: Thread, E: Element, A: Access>(t: T, params: &PassParams, first: u64) {
    let quantizer = params.quantizer::<E>();
    let per = if A::IS_VECTOR { per_vector::<E>() } else { 1 };
    for round in 0..GROUP / per {
        let unit = round as u32 * WARP + t.lane();
        let element = unit * per as u32;
        let word = staged_word(t, element);
        if !A::IS_VECTOR {
            let code = load_code::<T, E>(t, params, first + u64::from(element));
            SHARED.0.image.store(t, word, code.cast_unsigned());
            continue;
        }
        let words = t.load4(params.elements, first / per as u64 + u64::from(unit));
        let code = |i| quantizer.code(of_vector(&words, i)).cast_unsigned();
        if E::WORDS == 1 {
            let codes = [code(0), code(1), code(2), code(3)];
            SHARED.0.image.store4(t, word, codes);
        } else {
            SHARED.0.image.store(t, word, code(0));
            SHARED.0.image.store(t, word + 1, code(1));
        }
    }
}

/// The word of the code of an element of this warp.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn staged_word<T: Thread>(t: T, element: u32) -> u32 {
    let group = t.warp() * WARP + element / GROUP as u32;
    group * STAGED_GROUP + element % GROUP as u32
}

/// This thread's codes from shared memory.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn staged_codes<T: Thread>(t: T) -> Group {
    let mut codes = [0; GROUP];
    for quad in 0..GROUP / 4 {
        let word = t.thread_index() * STAGED_GROUP + 4 * quad as u32;
        let four = SHARED.0.image.load4(t, word);
        for i in 0..4 {
            codes[4 * quad + i] = four[i].cast_signed();
        }
    }
    codes
}

/// Words of the image, and where they go.
#[derive(Clone, Copy)]
pub struct Words {
    /// The first one in the image.
    pub from: u32,
    /// The word of the stream that it becomes.
    pub to: u64,
    /// How many there are.
    pub count: u32,
}

/// The threads that share words: number `first` of `step`.
#[derive(Clone, Copy)]
pub struct Sharers {
    /// This thread's number.
    pub first: u32,
    /// How many there are.
    pub step: u32,
}

/// Copies words of the image to the stream.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn copy_words<T: Thread, A: Access>(t: T, stream: View<u32>, words: Words, sharers: Sharers) {
    if !A::IS_VECTOR {
        return copy_single(t, stream, words, sharers);
    }
    // Vectors begin at multiples of 16 bytes of the stream.
    let head = ((4 - words.to % 4) % 4).min(u64::from(words.count)) as u32;
    let vectors = (words.count - head) / 4;
    copy_single(
        t,
        stream,
        Words {
            count: head,
            ..words
        },
        sharers,
    );
    copy_vectors(t, stream, words.behind(head), vectors, sharers);
    copy_single(t, stream, words.behind(head + 4 * vectors), sharers);
}

impl Words {
    /// The words behind the first ones.
    #[inline(always)]
    fn behind(self, first: u32) -> Self {
        Self {
            from: self.from + first,
            to: self.to + u64::from(first),
            count: self.count - first,
        }
    }
}

/// Copies words one by one.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn copy_single<T: Thread>(t: T, stream: View<u32>, words: Words, sharers: Sharers) {
    let image = SHARED.0.image.from(words.from);
    let mut word = sharers.first;
    while word < words.count {
        t.store(stream, words.to + u64::from(word), image.load(t, word));
        word += sharers.step;
    }
}

/// Copies so many vectors, which are aligned in the stream.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn copy_vectors<T: Thread>(t: T, stream: View<u32>, words: Words, vectors: u32, sharers: Sharers) {
    let image = SHARED.0.image.from(words.from);
    let mut vector = sharers.first;
    while vector < vectors {
        let four = [0, 1, 2, 3].map(|i| image.load(t, 4 * vector + i));
        t.store4(stream, words.to / 4 + u64::from(vector), four);
        vector += sharers.step;
    }
}
