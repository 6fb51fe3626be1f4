//! Codes the signs of the parts of a mask: a warp a part, where its plane is.

use crate::PACKAGE;
use crate::mapping::mask::signs::{SHARED, SIGN_THREADS, SIGN_WARPS, SignWords};
use crate::mapping::parts::{Planes, SIGNS_FILLED};
use crate::primitives::scan::warp_inclusive_sum;
use ferrosz_codec::mapping::mask::MaskLayout;
use ferrosz_codec::mapping::mask::part::PartBox;
use ferrosz_codec::mapping::mask::signs::{
    BrickOrder, GROUP, SIGN_WORDS, SignForm, SignSize, differences, gather, inside, nibble_flags,
};
use ferrosz_simt::{Kernel, Package, Thread, View, WARP};

/// Codes the signs of the parts of a mask. Launched with at least as many warps as there are parts.
pub struct EncodeSigns;

/// Parameters of [`EncodeSigns`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct EncodeSignsParams {
    /// The mask.
    pub mask: MaskLayout,
    /// The order of bricks of its whole parts.
    pub bricks: BrickOrder,
    /// The planes of its parts. The output: the words that are stored of the signs, in place of their plane.
    pub planes: Planes,
    /// A word for each part, with the bit [`SIGNS_FILLED`] if it has negative elements.
    pub filled: View<u32>,
    /// The output: the head of the signs of each part.
    pub heads: View<u32>,
}

impl Kernel for EncodeSigns {
    type Params = EncodeSignsParams;
    const NAME: &'static str = "ferrosz_signs_encode";
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = SIGN_THREADS;
    const SHARED_WORDS: u32 = SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = 0;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &EncodeSignsParams) {
        let part = u64::from(t.block_index()) * u64::from(SIGN_WARPS) + u64::from(t.warp());
        if part >= params.mask.grid.chunk_count() {
            return;
        }
        let mut form = SignForm::None;
        if t.load(params.filled, part) & SIGNS_FILLED != 0 {
            form = Self::code(t, params, part);
        }
        if t.lane() == 0 {
            t.store(params.heads, part, u32::from(form.head()));
        }
    }
}

/// Where nibbles begin in counts of words and nibbles: there are at most 256 words.
const NIBBLES: u32 = 16;

impl EncodeSigns {
    /// Codes the signs of a part that has some; their form. For a whole warp.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn code<T: Thread>(t: T, params: &EncodeSignsParams, part: u64) -> SignForm {
        let of = PartBox::new(&params.mask.part(part));
        let (words, plane) = (SignWords::new(t, 0), params.mask.class_planes());
        let mut has_others = false;
        let mut number = t.lane();
        while number < SIGN_WORDS {
            let mut word = 0;
            if number < of.words() {
                word = params.planes.load_own(t, part, plane, number);
                has_others |= word != inside(&of, number);
            }
            words.set_word(number, word);
            number += WARP;
        }
        t.sync_warp();
        let rows = Self::find_differences(t, &of, words);
        let mut bricks = rows;
        if of.is_whole() {
            t.sync_warp();
            words.swap(params.bricks, false);
            bricks = Self::find_differences(t, &of, words);
        }
        let form = SignForm::shortest(&of, !t.any(has_others), rows, bricks);
        if matches!(form, SignForm::Rows(_)) && of.is_whole() {
            t.sync_warp();
            words.swap(params.bricks, true);
            Self::find_differences(t, &of, words);
        }
        if let SignForm::Rows(count) | SignForm::Bricks(count) = form {
            let is_bricks = matches!(form, SignForm::Bricks(_));
            Self::put(t, words, if is_bricks { bricks } else { rows });
            let mut number = t.lane();
            while number < count {
                (params.planes).store(t, part, plane, number, words.word(number));
                number += WARP;
            }
        }
        form
    }

    /// Finds the differences of the bits of a part, and counts those that are stored. For a whole warp.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn find_differences<T: Thread>(t: T, of: &PartBox, words: SignWords<T>) -> SignSize {
        let found = SignWords::new(t, 1);
        let first = GROUP * t.lane();
        let mut before = if first == 0 { 0 } else { words.word(first - 1) };
        for number in first..first + t.opaque(GROUP) {
            let word = words.word(number);
            found.set_word(number, differences(word, before) & inside(of, number));
            before = word;
        }
        let own = Self::counts(t);
        let all = t.reduce_add(own);
        SignSize {
            groups: t.ballot(own != 0).count_ones(),
            words: all & 0xffff,
            nibbles: all >> NIBBLES,
        }
    }

    /// The number of this lane's words with differences, and from bit [`NIBBLES`] on that of its nibbles with differences.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn counts<T: Thread>(t: T) -> u32 {
        let mut counts = 0;
        for number in GROUP * t.lane()..GROUP * t.lane() + t.opaque(GROUP) {
            let flags = nibble_flags(SignWords::new(t, 1).word(number));
            counts += u32::from(flags != 0) + (flags.count_ones() << NIBBLES);
        }
        counts
    }

    /// Puts the differences that were found last into words. For a whole warp.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn put<T: Thread>(t: T, words: SignWords<T>, size: SignSize) {
        let (found, first) = (SignWords::new(t, 1), GROUP * t.lane());
        t.sync_warp();
        let mut group_flags = 0;
        for i in 0..t.opaque(GROUP) {
            words.set_word(first + i, 0);
            group_flags |= u32::from(found.word(first + i) != 0) << i;
        }
        t.sync_warp();
        let top = t.ballot(group_flags != 0);
        if t.lane() == 0 {
            words.put(0, top);
        }
        if group_flags != 0 {
            let below = (top & ((1 << t.lane()) - 1)).count_ones();
            words.put(2 * (SignSize::GROUPS_AT + below), group_flags);
        }
        let own = Self::counts(t);
        let before = warp_inclusive_sum(t, own) - own;
        let mut flags_at = 2 * (size.words_at() + (before & 0xffff));
        let mut at = size.nibbles_at() + (before >> NIBBLES);
        for number in first..first + t.opaque(GROUP) {
            let word = found.word(number);
            let flags = nibble_flags(word);
            if flags != 0 {
                words.put(flags_at, flags);
                words.put(at, gather(word, flags));
                flags_at += 2;
                at += flags.count_ones();
            }
        }
        t.sync_warp();
    }
}
