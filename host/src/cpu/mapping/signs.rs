//! The signs of a part: a bit for each element, coded by differences (FORMAT.md, section 23).

use ferrosz_codec::mapping::mask::part::PartBox;
use ferrosz_codec::mapping::mask::signs::{
    BrickOrder, GROUP, SIGN_WORDS, SWAPS, SignForm, SignSize, differences, gather, inside,
    nibble_flags, scatter, sums,
};

/// SignWords of a part; those behind its end are 0.
type SignWords = [u32; SIGN_WORDS as usize];

/// Appends the signs of a part with these words to a chunk.
pub(super) fn encode(part: &PartBox, signs: &[u32], image: &mut Vec<u8>) -> SignForm {
    if signs.iter().all(|word| *word == 0) {
        return SignForm::None;
    }
    let is_all = (0..)
        .zip(signs)
        .all(|(number, word)| *word == inside(part, number));
    let mut words = [0; SIGN_WORDS as usize];
    words[..signs.len()].copy_from_slice(signs);
    let rows = differences_of(part, &words);
    if part.is_whole() {
        to_bricks(BrickOrder::new(part), &mut words);
    }
    let bricks = differences_of(part, &words);
    let form = SignForm::shortest(part, is_all, size_of(&rows), size_of(&bricks));
    match form {
        SignForm::None | SignForm::All => {}
        SignForm::Raw => image.extend(signs.iter().flat_map(|word| word.to_le_bytes())),
        SignForm::Rows(_) => put(&rows, image),
        SignForm::Bricks(_) => put(&bricks, image),
    }
    form
}

/// The words of the signs of a part of this form, from its bytes.
pub(super) fn decode(part: &PartBox, form: SignForm, bytes: &[u8], signs: &mut [u32]) {
    match form {
        SignForm::None => return,
        SignForm::All => signs.fill(u32::MAX),
        SignForm::Raw => {
            for (word, bytes) in signs.iter_mut().zip(bytes.as_chunks().0) {
                *word = u32::from_le_bytes(*bytes);
            }
        }
        SignForm::Rows(_) | SignForm::Bricks(_) => {
            let mut words = take(bytes);
            let mut before = 0;
            for word in &mut words {
                *word = sums(*word) ^ before;
                before = 0u32.wrapping_sub(*word >> 31);
            }
            if matches!(form, SignForm::Bricks(_)) {
                to_rows(BrickOrder::new(part), &mut words);
            }
            signs.copy_from_slice(&words[..signs.len()]);
        }
    }
    for (number, word) in (0..).zip(signs) {
        *word &= inside(part, number);
    }
}

/// The differences of the bits of a part.
fn differences_of(part: &PartBox, words: &SignWords) -> SignWords {
    let mut found = [0; SIGN_WORDS as usize];
    let mut before = 0;
    for ((number, word), found) in (0..).zip(words).zip(&mut found) {
        *found = differences(*word, before) & inside(part, number);
        before = *word;
    }
    found
}

/// The numbers of groups, words and nibbles that have differences.
fn size_of(differences: &SignWords) -> SignSize {
    let mut size = SignSize::default();
    for group in differences.chunks_exact(GROUP as usize) {
        let mut words = 0;
        for word in group {
            words += u32::from(*word != 0);
            size.nibbles += nibble_flags(*word).count_ones();
        }
        size.words += words;
        size.groups += u32::from(words > 0);
    }
    size
}

/// Appends differences.
fn put(differences: &SignWords, image: &mut Vec<u8>) {
    let start = image.len();
    let groups = differences.chunks_exact(GROUP as usize);
    let flags = groups.map(|group| {
        let has_any = (0..)
            .zip(group)
            .map(|(bit, word)| u32::from(*word != 0) << bit);
        has_any.sum::<u32>()
    });
    let flags: Vec<u32> = flags.collect();
    let top = (0..)
        .zip(&flags)
        .map(|(bit, flags)| u32::from(*flags != 0) << bit);
    image.extend(top.sum::<u32>().to_le_bytes());
    image.extend(
        flags
            .iter()
            .filter(|flags| **flags != 0)
            .map(|flags| *flags as u8),
    );
    let used = || differences.iter().filter(|word| **word != 0);
    image.extend(used().map(|word| nibble_flags(*word) as u8));
    let (mut waiting, mut count) = (0u64, 0);
    for word in used() {
        let flags = nibble_flags(*word);
        waiting |= u64::from(gather(*word, flags)) << count;
        count += 4 * flags.count_ones();
        while count >= 8 {
            image.push(waiting as u8);
            (waiting, count) = (waiting >> 8, count - 8);
        }
    }
    if count > 0 {
        image.push(waiting as u8);
    }
    image.resize(start + (image.len() - start).next_multiple_of(4), 0);
}

/// The differences that these bytes mean. Behind them there are zeros.
fn take(bytes: &[u8]) -> SignWords {
    let byte = |at: u32| u32::from(bytes.get(at as usize).copied().unwrap_or(0));
    let top = (0..4).fold(0, |top, i| top | byte(i) << (8 * i));
    let mut size = SignSize {
        groups: top.count_ones(),
        ..SignSize::default()
    };
    // First the flags of each word, then its differences.
    let mut words = [0; SIGN_WORDS as usize];
    let mut at = SignSize::GROUPS_AT;
    for (number, group) in words.chunks_exact_mut(GROUP as usize).enumerate() {
        if top >> number & 1 == 0 {
            continue;
        }
        let flags = byte(at);
        at += 1;
        for (bit, word) in group.iter_mut().enumerate() {
            if flags >> bit & 1 == 1 {
                *word = byte(size.words_at() + size.words);
                size.words += 1;
            }
        }
    }
    let mut at = size.nibbles_at();
    for word in words.iter_mut().filter(|word| **word != 0) {
        let pair = |i: u32| u64::from(byte(at / 2 + i)) << (8 * i);
        let nibbles = (0..5).map(pair).sum::<u64>() >> (4 * (at % 2));
        let flags = *word;
        *word = scatter(nibbles as u32, flags);
        at += flags.count_ones();
    }
    words
}

/// Brings the bits of a whole part from C order into that of bricks.
fn to_bricks(order: BrickOrder, words: &mut SignWords) {
    (0..SWAPS).for_each(|number| swap(order, number, words));
}

/// Brings the bits of a whole part from the order of bricks into C order.
fn to_rows(order: BrickOrder, words: &mut SignWords) {
    (0..SWAPS)
        .rev()
        .for_each(|number| swap(order, number, words));
}

fn swap(order: BrickOrder, number: u32, words: &mut SignWords) {
    let swap = order.swap(number);
    if swap.is_none() {
        return;
    }
    for pair in 0..SIGN_WORDS / 2 {
        let [first, second] = swap.pair(pair);
        let before = [words[first as usize], words[second as usize]];
        [words[first as usize], words[second as usize]] = swap.apply(first, before);
    }
}
