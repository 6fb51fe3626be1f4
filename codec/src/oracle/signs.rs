//! The signs of parts in plain loops, bit by bit (FORMAT.md, section 23).

use alloc::vec;
use alloc::vec::Vec;

/// The numbers of the elements of a whole part in the order of bricks; `[row, slice]` are the elements of a row and of a
/// slice.
fn bricks([row, slice]: [usize; 2], count: usize) -> Vec<usize> {
    let lengths = [row, slice / row, count / slice];
    let mut order = vec![0; count];
    for element in 0..count {
        let mut at = [element % row, element % slice / row, element / slice];
        let mut left = lengths;
        let (mut place, mut weight) = (0, 1);
        while left != [1; 3] {
            for axis in 0..3 {
                if left[axis] > 1 {
                    place += weight * (at[axis] % 2);
                    weight *= 2;
                    at[axis] /= 2;
                    left[axis] /= 2;
                }
            }
        }
        order[place] = element;
    }
    order
}

/// Numbers of four bits, two to a byte, and zeros up to words.
fn packed(nibbles: &[u8]) -> Vec<u8> {
    let mut bytes: Vec<u8> = nibbles
        .chunks(2)
        .map(|pair| pair[0] | pair.get(1).unwrap_or(&0) << 4)
        .collect();
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// The number with these bits, at most eight, the lowest first.
fn number(bits: &[bool]) -> u8 {
    let bits = bits.iter().enumerate();
    bits.fold(0, |sum, (i, bit)| sum + (u8::from(*bit) << i))
}

/// The differences of booleans in an order, stored by three levels of bits.
fn differences(negative: &[bool], order: &[usize]) -> Vec<u8> {
    let mut before = false;
    let mut changes: Vec<bool> = Vec::new();
    for element in order {
        changes.push(negative[*element] != before);
        before = negative[*element];
    }
    changes.resize(8192, false);
    let has_any = |bits: &[bool]| bits.contains(&true);
    let top: Vec<bool> = changes.chunks(256).map(has_any).collect();
    let mut nibbles: Vec<u8> = top.chunks(4).map(number).collect();
    for unit in [32, 4] {
        for units in changes.chunks(8 * unit).filter(|units| has_any(units)) {
            let flags: Vec<bool> = units.chunks(unit).map(has_any).collect();
            nibbles.extend(flags.chunks(4).map(number));
        }
    }
    let used = changes.chunks(4).filter(|unit| has_any(unit));
    nibbles.extend(used.map(number));
    packed(&nibbles)
}

/// The head and the bytes of the signs of a part.
pub(super) fn encode(negative: &[bool], size: [usize; 2]) -> (u16, Vec<u8>) {
    if !negative.contains(&true) {
        return (0, Vec::new());
    }
    if !negative.contains(&false) {
        return (1, Vec::new());
    }
    let in_order: Vec<usize> = (0..negative.len()).collect();
    let mut best = (3, differences(negative, &in_order));
    if negative.len() == 8192 {
        let of_bricks = differences(negative, &bricks(size, 8192));
        if of_bricks.len() < best.1.len() {
            best = (4, of_bricks);
        }
    }
    let (kind, bytes) = best;
    match bytes.len() / 4 < negative.len().div_ceil(32) {
        true => (kind + 8 * (bytes.len() / 4) as u16, bytes),
        false => {
            let nibbles: Vec<u8> = negative.chunks(4).map(number).collect();
            (2, packed(&nibbles))
        }
    }
}

/// The words of the signs of a part of `count` elements with this head; none if there is no such head.
pub(super) fn words(head: u16, count: usize) -> Option<usize> {
    let (kind, words) = (head % 8, usize::from(head / 8));
    let raw = count.div_ceil(32);
    match kind {
        0 if words == 0 => Some(0),
        1 if words == 0 && count > 0 => Some(0),
        2 if words == 0 && count > 0 => Some(raw),
        3 if (1..raw).contains(&words) => Some(words),
        4 if (1..raw).contains(&words) && count == 8192 => Some(words),
        _ => None,
    }
}

/// Which elements of a part of `count` are negative, by its head and bytes.
pub(super) fn decode(head: u16, bytes: &[u8], count: usize, size: [usize; 2]) -> Vec<bool> {
    let bit = |bytes: &[u8], i: usize| {
        bytes
            .get(i / 8)
            .is_some_and(|byte| byte >> (i % 8) & 1 == 1)
    };
    match head % 8 {
        0 => return vec![false; count],
        1 => return vec![true; count],
        2 => return (0..count).map(|i| bit(bytes, i)).collect(),
        _ => {}
    }
    // Level by level: the units that have any, and the bits of these.
    let mut any: Vec<bool> = (0..32).map(|i| bit(bytes, i)).collect();
    let mut at = 32;
    for bits in [8, 8, 4] {
        let mut finer = Vec::new();
        for has_any in any {
            for i in 0..bits {
                finer.push(has_any && bit(bytes, at + i));
            }
            at += if has_any { bits } else { 0 };
        }
        any = finer;
    }
    let order = match head % 8 {
        4 => bricks(size, count),
        _ => (0..count).collect(),
    };
    let mut negative = vec![false; count];
    let mut last = false;
    for (element, change) in order.iter().zip(any) {
        last ^= change;
        negative[*element] = last;
    }
    negative
}
