//! Mends the values of a field one by one, along the lines in which neighbours keep their order.

use crate::safeguard::guard::{ANY, EXACT, Guard, NOTHING_FITS, Range};
use crate::value::Value;

/// A field and its decoded values, wherever they are.
pub trait Lines<V: Value> {
    /// How many values further the next one of a line is.
    fn step(&self) -> u64;
    /// A value.
    fn value(&self, at: u64) -> V;
    /// The bound of a value, if each has one.
    fn bound(&self, at: u64) -> Option<f64>;
    /// What was decoded, or what it was mended to.
    fn decoded(&self, at: u64) -> V;
    /// Puts a mended value, which is none of a correction if it replaces the decoded one.
    fn put(&mut self, at: u64, correction: Option<i16>, mended: V);
}

impl Guard {
    /// Mends a value that has so many before it in its line, all of which are mended.
    #[inline(always)]
    pub fn mend_at<V: Value>(&self, lines: &mut impl Lines<V>, at: u64, before: u64) {
        let range = match before {
            0 => ANY,
            _ => self.range(lines, at - lines.step()),
        };
        let value = lines.value(at);
        let mended = self.mended(value, lines.decoded(at), lines.bound(at), range);
        match mended.correction {
            NOTHING_FITS => self.replace(lines, at, before),
            EXACT => lines.put(at, None, mended.value),
            correction => lines.put(at, Some(correction as i16), mended.value),
        }
    }

    /// The range of the neighbour of a value that is mended.
    #[inline(always)]
    fn range<V: Value>(&self, lines: &impl Lines<V>, at: u64) -> Range {
        let [this, next] = [lines.value(at), lines.value(at + lines.step())];
        if self.mender.is_exempt(this) || self.mender.is_exempt(next) {
            return ANY;
        }
        let [value, next, mended] = [this, next, lines.decoded(at)].map(V::to_number);
        [
            if value <= next { mended } else { ANY[0] },
            if value >= next { mended } else { ANY[1] },
        ]
    }

    /// Replaces a value by itself, and those before it in its line as long as their order demands it.
    #[inline(always)]
    fn replace<V: Value>(&self, lines: &mut impl Lines<V>, at: u64, before: u64) {
        lines.put(at, None, lines.value(at));
        let (mut at, mut before) = (at, before);
        while before > 0 {
            let last = at - lines.step();
            let [low, high] = self.range(lines, last);
            let mended = lines.decoded(at).to_number();
            if low <= mended && mended <= high {
                return;
            }
            lines.put(last, None, lines.value(last));
            (at, before) = (last, before - 1);
        }
    }
}
