//! Decodes the signs of the parts of a mask to their planes: a warp a part. Any words are signs.

use crate::PACKAGE;
use crate::mapping::mask::signs::{SHARED, SIGN_THREADS, SIGN_WARPS, SignWords};
use crate::mapping::parts::Planes;
use crate::primitives::scan::warp_inclusive_sum;
use ferrosz_codec::container::header::HEADER_WORDS;
use ferrosz_codec::container::table::{Entry, Split};
use ferrosz_codec::mapping::mask::part::PartBox;
use ferrosz_codec::mapping::mask::signs::{BrickOrder, GROUP, SignForm, SignSize, scatter, sums};
use ferrosz_codec::mapping::mask::{CHUNK_PARTS, MaskLayout};
use ferrosz_simt::{Kernel, Package, Thread, View, WARP};

/// Decodes the signs of the parts of a mask. Launched with at least as many warps as there are parts, behind
/// [`DecodeMask`](super::decode::DecodeMask).
pub struct DecodeSigns;

/// Parameters of [`DecodeSigns`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct DecodeSignsParams {
    /// The mask.
    pub mask: MaskLayout,
    /// The order of bricks of its whole parts.
    pub bricks: BrickOrder,
    /// The stream without its records, 16-byte aligned.
    pub stream: View<u32>,
    /// The chunk table, as [`DecodeMask`](super::decode::DecodeMask) has it.
    pub table: View<u32>,
    /// Entries of the chunk table.
    pub entries: u64,
    /// For each part, the head of its signs in the low half, and the first of their words in the chunk in the high half. 0 if
    /// they are not needed.
    pub places: View<u32>,
    /// The output: the plane of the signs of the parts that have negative elements.
    pub planes: Planes,
    /// How entries are divided.
    pub split: Split,
}

impl Kernel for DecodeSigns {
    type Params = DecodeSignsParams;
    const NAME: &'static str = "ferrosz_signs_decode";
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = SIGN_THREADS;
    const SHARED_WORDS: u32 = SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = 0;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &DecodeSignsParams) {
        let mask = &params.mask;
        let part = u64::from(t.block_index()) * u64::from(SIGN_WARPS) + u64::from(t.warp());
        if part >= mask.grid.chunk_count() {
            return;
        }
        let place = t.load(params.places, part);
        let of = PartBox::new(&mask.part(part));
        let form = match SignForm::from_head(place as u16, &of) {
            None | Some(SignForm::None) => return,
            Some(form) => form,
        };
        let number = params.entries - mask.chunks() + part / u64::from(CHUNK_PARTS);
        let entry = Entry::from_words(t.load4(params.table, number), params.split);
        let payload = params.stream.from(HEADER_WORDS as u64 + 4 * params.entries);
        let stored = StoredSigns {
            words: payload.from(entry.start / 4 + u64::from(place >> 16)),
            count: form.words(&of),
        };
        let words = SignWords::new(t, 0);
        let is_coded = matches!(form, SignForm::Rows(_) | SignForm::Bricks(_));
        if is_coded {
            Self::take(t, stored, words);
            t.sync_warp();
            if matches!(form, SignForm::Bricks(_)) {
                words.swap(params.bricks, true);
            }
        }
        let mut number = t.lane();
        while number < of.words() {
            let bits = match form {
                _ if is_coded => words.word(number),
                SignForm::Raw => stored.word(t, number),
                _ => u32::MAX,
            };
            (params.planes).store(t, part, mask.class_planes(), number, bits);
            number += WARP;
        }
    }
}

impl DecodeSigns {
    /// Makes the words of this lane's group from their differences. For a whole warp.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn take<T: Thread>(t: T, stored: StoredSigns, words: SignWords<T>) {
        let first = GROUP * t.lane();
        let lanes_below = (1 << t.lane()) - 1;
        let top = stored.word(t, 0);
        let mut flags = 0;
        if top >> t.lane() & 1 == 1 {
            flags = stored.byte(t, SignSize::GROUPS_AT + (top & lanes_below).count_ones());
        }
        let own = flags.count_ones();
        let behind = warp_inclusive_sum(t, own);
        let all = SignSize {
            groups: top.count_ones(),
            words: t.shuffle(behind, WARP - 1),
            nibbles: 0,
        };
        // First the flags of each word, and with them the number of its nibbles.
        let mut flags_at = all.words_at() + behind - own;
        let mut nibbles = 0;
        for i in 0..t.opaque(GROUP) {
            let mut word = 0;
            if flags >> i & 1 == 1 {
                word = stored.byte(t, flags_at);
                flags_at += 1;
            }
            nibbles += word.count_ones();
            words.set_word(first + i, word);
        }
        let mut at = all.nibbles_at() + warp_inclusive_sum(t, nibbles) - nibbles;
        let mut all_bits = 0;
        for number in first..first + t.opaque(GROUP) {
            let flags = words.word(number);
            if flags != 0 {
                let word = scatter(stored.nibbles(t, at), flags);
                at += flags.count_ones();
                all_bits ^= word;
                words.set_word(number, word);
            }
        }
        // The last bit before those of this lane.
        let is_odd = t.ballot(all_bits.count_ones() & 1 == 1);
        let mut last = (is_odd & lanes_below).count_ones() & 1;
        for number in first..first + t.opaque(GROUP) {
            let word = sums(words.word(number)) ^ 0u32.wrapping_sub(last);
            last = word >> 31;
            words.set_word(number, word);
        }
    }
}

/// The words of the signs of a part. Behind them there are zeros.
#[derive(Clone, Copy)]
struct StoredSigns {
    words: View<u32>,
    count: u32,
}

impl StoredSigns {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn word<T: Thread>(self, t: T, number: u32) -> u32 {
        match number < self.count {
            true => t.load(self.words, u64::from(number)),
            false => 0,
        }
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn byte<T: Thread>(self, t: T, at: u32) -> u32 {
        self.word(t, at / 4) >> (8 * (at % 4)) & 0xff
    }

    /// Eight nibbles from nibble `at` on.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn nibbles<T: Thread>(self, t: T, at: u32) -> u32 {
        let [low, high] = [at / 8, at / 8 + 1].map(|number| self.word(t, number));
        let words = u64::from(high) << 32 | u64::from(low);
        (words >> (4 * (at % 8))) as u32
    }
}
