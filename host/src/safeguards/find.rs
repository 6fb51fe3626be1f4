//! Finds what becomes of each decoded value.

use crate::parallel;
use crate::safeguards::TASK;
use ferrosz_codec::Value;
use ferrosz_codec::safeguard::guard::{ANY, Guard, Mended, Range};

/// In place of a correction: the value is replaced.
const REPLACED: i16 = i16::MIN;

/// A field, and what was decoded of it.
pub(super) struct Field<'a, V> {
    pub(super) values: &'a [V],
    /// The bound of each value.
    pub(super) bounds: Option<&'a [f64]>,
    /// The extents of the field.
    pub(super) lengths: &'a [u64],
}

/// The corrections of a field, and the values that replace decoded ones, with their places.
pub(super) struct Found<V> {
    pub(super) corrections: Vec<i16>,
    pub(super) replaced: Vec<(u64, V)>,
}

impl<V: Value> Field<'_, V> {
    /// Finds the corrections of decoded values, which become mended ones.
    pub(super) fn find(&self, guard: &Guard, decoded: &mut [V]) -> Found<V> {
        let mut corrections = vec![0; decoded.len()];
        let axis = guard.mender.safeguards.monotone.map(usize::from);
        let (length, step) = match axis.and_then(|axis| self.lengths.get(axis..)) {
            Some([length, faster @ ..]) => (*length as usize, faster.iter().product::<u64>()),
            _ => (1, TASK as u64),
        };
        let step = step as usize;
        let slabs = decoded
            .chunks_mut((length * step).max(1))
            .zip(corrections.chunks_mut((length * step).max(1)));
        parallel::each(slabs.enumerate(), |(number, (decoded, corrections))| {
            let first = number * length * step;
            let slab = Slab {
                guard,
                values: &self.values[first..],
                bounds: self.bounds.map(|bounds| &bounds[first..]),
                step,
                decoded,
                corrections,
            };
            slab.mend();
        });
        let mut replaced = Vec::new();
        for (at, correction) in corrections.iter_mut().enumerate() {
            if *correction == REPLACED {
                *correction = 0;
                replaced.push((at as u64, decoded[at]));
            }
        }
        Found {
            corrections,
            replaced,
        }
    }
}

/// Values of whole lines along the axis of order; each value has its neighbours `step` values away.
struct Slab<'a, V> {
    guard: &'a Guard,
    values: &'a [V],
    bounds: Option<&'a [f64]>,
    step: usize,
    decoded: &'a mut [V],
    corrections: &'a mut [i16],
}

impl<V: Value> Slab<'_, V> {
    fn mend(mut self) {
        for at in 0..self.decoded.len() {
            let bound = self.bounds.map(|bounds| bounds[at]);
            let range = at
                .checked_sub(self.step)
                .map_or(ANY, |before| self.range(before));
            let value = self.values[at];
            match (self.guard).mended(value, self.decoded[at], bound, range) {
                Some(Mended::Corrected(correction, mended)) => {
                    self.put(at, correction, mended);
                }
                Some(Mended::Exact(mended)) => self.put(at, REPLACED, mended),
                None => self.replace(at),
            }
        }
    }

    fn put(&mut self, at: usize, correction: i16, mended: V) {
        self.corrections[at] = correction;
        self.decoded[at] = mended;
    }

    /// The range of the neighbour of a value that is mended.
    fn range(&self, at: usize) -> Range {
        let values = [at, at + self.step].map(|at| self.values[at]);
        if values.map(|value| self.guard.mender.is_exempt(value)) != [false; 2] {
            return ANY;
        }
        let [value, next] = values.map(V::to_number);
        let mended = self.decoded[at].to_number();
        [
            if value <= next { mended } else { ANY[0] },
            if value >= next { mended } else { ANY[1] },
        ]
    }

    /// Replaces a value by itself, and those before it in its line as long as their order demands it.
    fn replace(&mut self, at: usize) {
        self.put(at, REPLACED, self.values[at]);
        let mut at = at;
        while let Some(before) = at.checked_sub(self.step) {
            let [low, high] = self.range(before);
            let mended = self.decoded[at].to_number();
            if low <= mended && mended <= high {
                return;
            }
            self.put(before, REPLACED, self.values[before]);
            at = before;
        }
    }
}
