//! Values in place of decoded ones: the contents of the section `EXAC`.

use crate::part::Part;
use ferrosz_codec::{FormatError, Value};
use std::ops::Range;

/// Bytes of the head, and of a run.
const HEAD_BYTES: usize = 16;

/// The contents of the section for values at ascending places of the field.
pub(super) fn to_bytes<V: Value>(values: &[(u64, V)]) -> Vec<u8> {
    let mut runs: Vec<[u64; 2]> = Vec::new();
    let mut before = None;
    for (number, (at, _)) in (0..).zip(values) {
        if before != at.checked_sub(1) || *at == 0 {
            runs.push([*at, number]);
        }
        before = Some(*at);
    }
    let head = [runs.len() as u64, values.len() as u64];
    let words = std::iter::once(&head).chain(&runs).flatten();
    let mut bytes: Vec<u8> = words.flat_map(|word| word.to_le_bytes()).collect();
    for (_, value) in values {
        bytes.extend(&value.to_value_bits().to_le_bytes()[..size_of::<V>()]);
    }
    bytes
}

/// Values in runs.
pub(super) struct Exact<'a> {
    /// The first place of each run, and the number of its first value.
    runs: &'a [[u8; 16]],
    values: &'a [u8],
}

impl<'a> Exact<'a> {
    /// Reads the section of a field of so many values.
    pub(super) fn read<V: Value>(contents: &'a [u8], elements: u64) -> Result<Self, FormatError> {
        let invalid = FormatError::InvalidSections("the section EXAC contradicts itself");
        let parts = || {
            let (head, rest) = contents.split_first_chunk::<HEAD_BYTES>()?;
            let [runs, values] = pair(head).map(usize::try_from);
            let runs = runs.ok()?.checked_mul(HEAD_BYTES)?;
            let (runs, rest) = rest.split_at_checked(runs)?;
            let is_whole = values.ok()?.checked_mul(size_of::<V>())? == rest.len();
            is_whole.then_some(Self {
                runs: runs.as_chunks().0,
                values: rest,
            })
        };
        let exact = parts().ok_or(invalid)?;
        let count = (exact.values.len() / size_of::<V>()) as u64;
        let (mut end, mut number) = (0, 0);
        for at in 0..exact.runs.len() {
            let (first, values) = exact.run(at, count);
            let length = values.end.saturating_sub(number);
            let is_next = first >= end && values.start == number && length > 0;
            end = first.checked_add(length).ok_or(invalid)?;
            if !is_next || end > elements {
                return Err(invalid);
            }
            number = values.end;
        }
        match number == count {
            true => Ok(exact),
            false => Err(invalid),
        }
    }

    /// The first place of a run, and the numbers of its values; there are `count` values in all.
    fn run(&self, at: usize, count: u64) -> (u64, Range<u64>) {
        let [first, start] = pair(&self.runs[at]);
        let next = self.runs.get(at + 1);
        (first, start..next.map_or(count, |next| pair(next)[1]))
    }

    /// Puts the values to their places in a part of the field, which has these runs of places, one behind the other in
    /// `values`.
    pub(super) fn lay_over<V: Value>(&self, runs: &[Range<u64>], values: &mut [V]) {
        let count = (self.values.len() / size_of::<V>()) as u64;
        let mut start = 0;
        for of_part in runs {
            let next = self
                .runs
                .partition_point(|run| pair(run)[0] < of_part.start);
            for at in next.saturating_sub(1)..self.runs.len() {
                let (first, numbers) = self.run(at, count);
                if first >= of_part.end {
                    break;
                }
                for (place, number) in (first..of_part.end).zip(numbers) {
                    if place >= of_part.start {
                        let bytes = &self.values[number as usize * size_of::<V>()..];
                        let mut bits = [0; 8];
                        bits[..size_of::<V>()].copy_from_slice(&bytes[..size_of::<V>()]);
                        let value = V::from_value_bits(u64::from_le_bytes(bits));
                        values[(start + place - of_part.start) as usize] = value;
                    }
                }
            }
            start += of_part.end - of_part.start;
        }
    }
}

/// Two words.
fn pair(bytes: &[u8; 16]) -> [u64; 2] {
    let (words, _) = bytes.as_chunks::<8>();
    [0, 1].map(|at| u64::from_le_bytes(words[at]))
}

/// The places of a part of a field with these lengths, in the order of its elements.
pub(super) fn places(part: Option<&Part>, lengths: &[u64]) -> Vec<Range<u64>> {
    match part {
        Some(part) => part.runs(lengths),
        None => std::iter::once(0..lengths.iter().product()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_in_every_part() {
        let values: Vec<(u64, f32)> = [0, 1, 2, 7, 9, 10, 39]
            .map(|at| (at, 0.5 * at as f32))
            .to_vec();
        let bytes = to_bytes(&values);
        let exact = Exact::read::<f32>(&bytes, 40).expect("whole");
        assert!(Exact::read::<f32>(&bytes, 39).is_err());
        assert!(Exact::read::<f64>(&bytes, 40).is_err());
        for length in 0..bytes.len() {
            assert!(Exact::read::<f32>(&bytes[..length], 40).is_err());
        }
        let mut whole = vec![-1.0f32; 40];
        exact.lay_over(&places(None, &[4, 10]), &mut whole);
        for (at, value) in (0..).zip(&whole) {
            let own = values.iter().find(|(place, _)| *place == at);
            assert_eq!(*value, own.map_or(-1.0, |(_, value)| *value));
        }
        for (part, wanted) in [
            (Part::Elements(1..9), whole[1..9].to_vec()),
            (Part::Box(vec![0..4, 9..10]), vec![4.5, -1.0, -1.0, 19.5]),
            (
                Part::Box(vec![0..2, 0..3]),
                vec![0.0, 0.5, 1.0, 5.0, -1.0, -1.0],
            ),
        ] {
            let mut found = vec![-1.0f32; wanted.len()];
            exact.lay_over(&places(Some(&part), &[4, 10]), &mut found);
            assert_eq!(found, wanted);
        }
    }
}
