//! Statistics: the counts, the frequencies computed from them, and their bytes (FORMAT.md, section 12).

use crate::code::entropy::shifts::Shifts;
use crate::error::ChunkFault;
use crate::oracle::order::{self, Field, RUN_TILES};
use crate::tile::TileOrder;
use alloc::vec;
use alloc::vec::Vec;

/// A number for each of 112 symbols in each of 16 contexts.
pub(crate) type Contexts<N> = [[N; 112]; 16];

/// A token: its number, the number of its extra bits, and the extra bits.
pub(crate) type Token = (usize, u32, u32);

/// The token that is followed by all bits of the code.
const ESCAPE: usize = 111;

/// A code's token in a context; `has_frequency` says which tokens the context has.
pub(crate) fn token(z: u16, has_frequency: impl Fn(usize) -> bool) -> Token {
    let z = u32::from(z);
    let own = if z < 16 {
        (z as usize, 0, 0)
    } else {
        // Codes 16 to 31 have one extra bit, 32 to 63 two.
        let bits = z.ilog2() - 3;
        let number = (z >> bits) + 8 * bits;
        (number as usize, bits, z % (1 << bits))
    };
    if z < 61_440 && has_frequency(own.0) {
        own
    } else {
        (ESCAPE, 16, z)
    }
}

/// The number of extra bits of a token.
pub(crate) fn extra_bits(token: usize) -> u32 {
    match token {
        0..16 => 0,
        ESCAPE => 16,
        token => token as u32 / 8 - 1,
    }
}

/// The code of a token and its extra bits.
pub(crate) fn code_of_token(token: usize, extra: u32) -> u16 {
    match token {
        0..16 => token as u16,
        ESCAPE => extra as u16,
        token => {
            let bits = extra_bits(token);
            ((1 << bits) * (token as u32 - 8 * bits) + extra) as u16
        }
    }
}

/// A field whose symbols are counted. The codes of each tile are in order of steps and lanes.
pub(crate) struct Counted<'a> {
    pub(crate) order: TileOrder,
    pub(crate) shifts: Shifts,
    pub(crate) field: &'a Field,
    pub(crate) codes: &'a [Vec<u16>],
}

/// The counts of a stream's tiles: of all tiles of the coarse field, and of some of the others.
pub(crate) fn count(coarse: &[Counted<'_>], others: &[Counted<'_>]) -> Contexts<u32> {
    let mut counts = [[0u32; 112]; 16];
    let runs_of = |counted: &Counted<'_>| counted.codes.len().div_ceil(RUN_TILES);
    let runs = others.iter().map(runs_of).sum::<usize>() as u64;
    for counted in coarse {
        for (tile, codes) in counted.field.tiles().iter().zip(counted.codes) {
            count_tile(counted, tile, codes, &mut counts);
        }
    }
    let mut first = 0;
    for counted in others {
        for (number, (tile, codes)) in (counted.field.tiles().iter().zip(counted.codes)).enumerate()
        {
            if is_counted((first + number / RUN_TILES) as u64, runs) {
                count_tile(counted, tile, codes, &mut counts);
            }
        }
        first += runs_of(counted);
    }
    for (context, counts) in counts.iter_mut().enumerate() {
        let needed = if context == 0 { 0..16 } else { ESCAPE..112 };
        for count in &mut counts[needed] {
            if *count == 0 && (context == 0 || runs > 512) {
                *count = 1;
            }
        }
    }
    counts
}

fn is_counted(run: u64, runs: u64) -> bool {
    let bits = (0..64).filter(|bit| (runs - 1) >> bit != 0).count();
    let product = run.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    runs <= 512 || u128::from(product) < (1 << 64) >> (bits - 8)
}

fn count_tile(
    counted: &Counted<'_>,
    tile: &crate::tile::TileBox,
    codes: &[u16],
    counts: &mut Contexts<u32>,
) {
    let &Counted { order, shifts, .. } = counted;
    if codes.iter().all(|z| *z == 0) {
        return;
    }
    let classes = classes(order, tile, codes);
    for class in &classes {
        counts[0][*class] = counts[0][*class].saturating_add(1);
    }
    for (at, z) in codes.iter().enumerate() {
        let context = order::context(order, shifts, tile, at, &classes);
        if context > 0 {
            let (symbol, _, _) = token(*z, |_| true);
            counts[context][symbol] = counts[context][symbol].saturating_add(1);
        }
    }
}

/// The classes of a tile's zones.
pub(crate) fn classes(order: TileOrder, tile: &crate::tile::TileBox, codes: &[u16]) -> Vec<usize> {
    let mut sums = vec![0; order::zones(order)];
    for (at, z) in codes.iter().enumerate() {
        if let Some(zone) = order::zone(order, tile, at) {
            sums[zone] += order::magnitude(*z);
        }
    }
    let sums = sums.into_iter().enumerate();
    sums.map(|(zone, sum)| order::class(order.level_shape, zone, sum))
        .collect()
}

/// The frequencies of all contexts for rANS.
pub(crate) fn for_rans(counts: &Contexts<u32>) -> Contexts<u16> {
    counts.each_ref().map(|counts| {
        let sum: u128 = counts.iter().map(|count| u128::from(*count)).sum();
        let used = counts.iter().filter(|count| **count > 0).count() as u128;
        let excess = |count: &u32| (4096 * u128::from(*count)).saturating_sub(sum);
        let all: u128 = counts.iter().map(excess).sum();
        let mut before = 0;
        counts.each_ref().map(|count| {
            let dealt = |sum: u128| (sum * (4096 - used)).checked_div(all).unwrap_or(0);
            let start = before;
            before += excess(count);
            if *count == 0 {
                return 0;
            }
            (1 + dealt(before) - dealt(start)) as u16
        })
    })
}

/// The frequencies of all contexts for Huffman codes.
pub(crate) fn for_huffman(counts: &Contexts<u32>) -> Contexts<u16> {
    counts.each_ref().map(|counts| {
        let sum: u64 = counts.iter().map(|count| u64::from(*count)).sum();
        let bits = (0..64).filter(|bit| sum >> bit != 0).count() as u32;
        let cut = bits.saturating_sub(31);
        let weight = |count: u32| (u64::from(count) >> cut).max((sum >> cut) / 4096).max(1);
        let symbols = (0..112).filter(|symbol| counts[*symbol] > 0);
        let mut order: Vec<(u64, usize)> = symbols.map(|s| (weight(counts[s]), s)).collect();
        order.sort();
        let weights: Vec<u64> = order.iter().map(|(weight, _)| *weight).collect();
        let mut lengths = whole_code(&depths(&weights));
        lengths.sort();
        let mut frequencies = [0; 112];
        for ((_, symbol), length) in order.iter().zip(lengths.iter().rev()) {
            frequencies[*symbol] = 4096 >> length;
        }
        frequencies
    })
}

/// The depths of the leaves of the tree that results from joining the two lightest trees repeatedly. The leaves are
/// given in order of weight.
fn depths(weights: &[u64]) -> Vec<u32> {
    let mut depths = vec![0; weights.len()];
    // Each tree has its weight, the time at which it was made, and its leaves. Symbols are older than all joined trees.
    let leaves = weights.iter().enumerate();
    let mut trees: Vec<(u64, usize, Vec<usize>)> = leaves
        .map(|(leaf, weight)| (*weight, leaf, vec![leaf]))
        .collect();
    let mut age = weights.len();
    while trees.len() > 1 {
        trees.sort();
        let (first, second) = (trees.remove(0), trees.remove(0));
        let joined = [first.2, second.2].concat();
        for leaf in &joined {
            depths[*leaf] += 1;
        }
        trees.push((first.0 + second.0, age, joined));
        age += 1;
    }
    depths
}

/// The lengths of a valid code, from depths that are cut to 12.
fn whole_code(depths: &[u32]) -> Vec<u32> {
    let mut lengths: Vec<u32> = depths.iter().map(|depth| *depth.min(&12)).collect();
    while lengths.iter().map(|length| 4096 >> length).sum::<u32>() > 4096 {
        let shorter = lengths.iter().copied().filter(|length| *length < 12);
        let longest = shorter.max().unwrap_or(0);
        for (from, to) in [(longest, longest + 1), (12, longest + 1)] {
            if let Some(length) = lengths.iter_mut().find(|length| **length == from) {
                *length = to;
            }
        }
    }
    lengths
}

/// The number of bits of a frequency that are stored behind the lengths.
fn low_bits(frequency: u16, is_prefix: bool) -> u32 {
    if is_prefix || frequency == 0 {
        0
    } else {
        frequency.ilog2()
    }
}

fn bit_length(frequency: u16) -> u32 {
    u16::BITS - frequency.leading_zeros()
}

/// The frequencies as words of the prologue.
pub(crate) fn to_words(frequencies: &Contexts<u16>, is_prefix: bool) -> Vec<u32> {
    let (mut heads, mut bodies) = (Vec::new(), Vec::new());
    for frequencies in frequencies {
        let used = || (0..112).filter(|symbol| frequencies[*symbol] > 0);
        let range = match (used().min(), used().max()) {
            (Some(first), Some(last)) => first..last + 1,
            _ => 0..0,
        };
        let (first, symbols) = (range.start, range.len());
        let mut bits: Vec<bool> = Vec::new();
        let mut push =
            |value: u32, count: u32| bits.extend((0..count).map(|i| value >> i & 1 == 1));
        for frequency in &frequencies[range.clone()] {
            push(bit_length(*frequency), 4);
        }
        for frequency in &frequencies[range] {
            push(u32::from(*frequency), low_bits(*frequency, is_prefix));
        }
        for word in bits.chunks(32) {
            bodies.push(
                word.iter()
                    .rev()
                    .fold(0, |word, bit| word << 1 | u32::from(*bit)),
            );
        }
        heads.push(first as u32 | (symbols as u32) << 7 | (bodies.len() as u32) << 14);
    }
    heads.extend(bodies);
    heads.resize(heads.len().next_multiple_of(4), 0);
    heads
}

/// The frequencies in these words.
///
/// # Errors
///
/// [`ChunkFault::Prologue`] if [`to_words`] cannot have made them.
pub(crate) fn from_words(words: &[u32], is_prefix: bool) -> Result<Contexts<u16>, ChunkFault> {
    let fault = ChunkFault::Prologue;
    let (heads, bodies) = words.split_at_checked(16).ok_or(fault)?;
    let mut frequencies = [[0u16; 112]; 16];
    let mut start = 0;
    for (context, (head, frequencies)) in heads.iter().zip(&mut frequencies).enumerate() {
        let (first, symbols, end) = (head & 127, head >> 7 & 127, head >> 14);
        let most = if context == 0 { 16 } else { 112 };
        if first + symbols > most {
            return Err(fault);
        }
        let body = bodies.get(start..end as usize).ok_or(fault)?;
        start = end as usize;
        let mut at = 0;
        let mut pop = |count: u32| {
            let bit = |at: u32| {
                body.get(at as usize / 32)
                    .map_or(0, |word| word >> (at % 32) & 1)
            };
            let value = (0..count).fold(0, |value, i| value | bit(at + i) << i);
            at += count;
            value
        };
        let lengths: Vec<u32> = (0..symbols).map(|_| pop(4)).collect();
        for (symbol, length) in (first..).zip(&lengths) {
            let low = if is_prefix {
                0
            } else {
                length.saturating_sub(1)
            };
            let leading = if *length > 0 { 1u32 << (length - 1) } else { 0 };
            let frequency = leading | pop(low);
            frequencies[symbol as usize] = u16::try_from(frequency).map_err(|_| fault)?;
        }
    }
    // Everything else, sums and padding included, must be as it is written.
    let is_whole = |frequencies: &[u16; 112]| {
        let sum: u32 = frequencies
            .iter()
            .map(|frequency| u32::from(*frequency))
            .sum();
        sum == 0 || sum == 4096
    };
    let is_same = frequencies.iter().all(is_whole) && to_words(&frequencies, is_prefix) == words;
    is_same.then_some(frequencies).ok_or(fault)
}
