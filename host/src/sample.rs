//! Samples of a field: chunks and tiles from all of its parts.

/// `taken` of the numbers below `all`, or all if there are fewer: one from each of as many ranges of the same length.
/// The number within a range is pseudo-random, as chunks at equal distances could all be in the same rows of slices.
pub(crate) fn spread(all: u64, taken: u64) -> impl Iterator<Item = u64> {
    let start = move |i: u64| match i.checked_mul(all) {
        Some(product) => product / taken,
        None => (u128::from(i) * u128::from(all) / u128::from(taken)) as u64,
    };
    let starts = (0..taken).map(move |i| (i, [start(i), start(i + 1)]));
    starts.map(|(i, [start, end])| start + mixed(i) % (end - start))
}

/// A pseudo-random number for each number.
fn mixed(number: u64) -> u64 {
    let product = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (product ^ product >> 32).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 16
}
