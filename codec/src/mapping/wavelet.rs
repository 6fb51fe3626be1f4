//! Wavelets: boxes of a field become coefficients, and back. FORMAT.md, section 35.
//!
//! The wavelet is that of A. Cohen, I. Daubechies and J.-C. Feauveau (1992) with filters of 9 and 7 taps, computed by lifting
//! (I. Daubechies and W. Sweldens, 1998). Its levels have one of the two orders of S. Li et al., "SPERR" (IPDPS'23).

mod bands;
mod boxes;

pub use bands::{LevelOrder, each_run, line_levels, low_length};
pub use boxes::{FieldBox, FieldBoxes};

use crate::container::record;
#[cfg(feature = "alloc")]
use crate::container::record::Record;
use crate::container::record_kind::RecordKind;
use crate::element::Element;
use crate::error::FormatError;

/// The factors of the four lifting steps.
const FACTORS: [f64; 4] = [
    -1.586_134_342_059_924,
    -0.052_980_118_572_961,
    0.882_911_075_530_934,
    0.443_506_852_043_971,
];

/// What even positions are multiplied by behind the steps: then a level keeps the sum of squares of a constant line.
const SCALE: f64 = 1.149_604_398_860_241;

/// The lifting of lines.
#[derive(Debug, Clone, Copy)]
pub struct Lifting<T> {
    factors: [T; 4],
    scale: T,
    inverse: T,
}

/// Lines that lie side by side in memory: element `i` of line `l` is number `i * stride + l`.
#[derive(Debug, Clone, Copy)]
pub struct SideBySide {
    /// Elements of a line, at least 2.
    pub length: usize,
    /// The number of lines.
    pub lines: usize,
    /// The distance of a line's elements.
    pub stride: usize,
}

impl<T: Element> Default for Lifting<T> {
    fn default() -> Self {
        Self {
            factors: FACTORS.map(T::from_f64),
            scale: T::from_f64(SCALE),
            inverse: T::from_f64(1.0 / SCALE),
        }
    }
}

impl<T: Element> Lifting<T> {
    /// Lifts lines. The coefficients of even positions come to lie before those of odd ones. `spare` has room for `length * lines`.
    pub fn forward(&self, rows: &mut [T], of: SideBySide, spare: &mut [T]) {
        for (step, factor) in self.factors.into_iter().enumerate() {
            of.add(rows, (step + 1) % 2, factor);
        }
        for (i, row) in rows.chunks(of.stride).take(of.length).enumerate() {
            let factor = if i % 2 == 0 { self.scale } else { self.inverse };
            let to = spare.chunks_mut(of.lines).nth(of.place(i));
            let places = to.into_iter().flatten().zip(row);
            places.for_each(|(to, value)| *to = *value * factor);
        }
        of.copy_back(rows, spare);
    }

    /// The inverse of [`Lifting::forward`], up to rounding.
    pub fn inverse(&self, rows: &mut [T], of: SideBySide, spare: &mut [T]) {
        for (i, to) in spare.chunks_mut(of.lines).take(of.length).enumerate() {
            let factor = if i % 2 == 0 { self.inverse } else { self.scale };
            let row = rows.chunks(of.stride).nth(of.place(i)).unwrap_or_default();
            let places = to.iter_mut().zip(row);
            places.for_each(|(to, value)| *to = *value * factor);
        }
        of.copy_back(rows, spare);
        for (step, factor) in self.factors.into_iter().enumerate().rev() {
            of.add(rows, (step + 1) % 2, T::ZERO - factor);
        }
    }
}

impl SideBySide {
    /// Where the coefficient of a position lies.
    const fn place(self, at: usize) -> usize {
        at / 2 + at % 2 * self.length.div_ceil(2)
    }

    /// Adds to each position of a parity the sum of its neighbours, times a factor. At an end of a line the one neighbour counts
    /// twice.
    fn add<T: Element>(self, rows: &mut [T], parity: usize, factor: T) {
        let Self {
            length,
            lines,
            stride,
        } = self;
        for at in (parity..length).step_by(2) {
            let before = at.checked_sub(1).unwrap_or(at + 1);
            let after = if at + 1 < length { at + 1 } else { before };
            let (head, tail) = rows.split_at_mut(at * stride);
            let (row, behind) = tail.split_at_mut(stride.min(tail.len()));
            let neighbour = |of: usize| match of < at {
                true => head.get(of * stride..).unwrap_or_default(),
                false => &*behind,
            };
            let neighbours = neighbour(before).iter().zip(neighbour(after));
            for (value, (before, after)) in row.iter_mut().take(lines).zip(neighbours) {
                *value = *value + factor * (*before + *after);
            }
        }
    }

    /// Copies rows that lie one behind the other to theirs.
    fn copy_back<T: Copy>(self, rows: &mut [T], spare: &[T]) {
        let all = rows.chunks_mut(self.stride).zip(spare.chunks(self.lines));
        for (row, spare) in all.take(self.length) {
            row.iter_mut().zip(spare).for_each(|(to, from)| *to = *from);
        }
    }
}

/// The record of a stream whose coded field has the coefficients of wavelets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Wavelets {
    /// The absolute error that no element's error exceeds once its corrections are added.
    pub error: f64,
    /// The order of levels. It is the sign of the error in the record.
    pub order: LevelOrder,
}

impl Wavelets {
    /// Bytes of the record's contents.
    const BYTES: usize = 8;

    /// The record, for the end of a stream's records.
    #[cfg(feature = "alloc")]
    pub fn to_records(self) -> alloc::vec::Vec<u8> {
        let sign = u64::from(self.order == LevelOrder::ByTurns) << 63;
        record::to_bytes(&[Record {
            kind: RecordKind::WAVE,
            contents: &(self.error.to_bits() | sign).to_le_bytes(),
        }])
    }

    /// The record among records; none if the coded field has values.
    ///
    /// # Errors
    ///
    /// [`FormatError::InvalidRecords`] for other contents, and for a second one.
    pub fn of_records(mut records: &[u8]) -> Result<Option<Self>, FormatError> {
        let invalid = FormatError::InvalidRecords;
        let mut found = None;
        while let Some(record) = record::take(&mut records) {
            if record.kind != RecordKind::WAVE {
                continue;
            }
            let contents = <[u8; Self::BYTES]>::try_from(record.contents);
            let error = contents.map_or(f64::NAN, f64::from_le_bytes);
            if !error.is_finite() {
                return Err(invalid("the error of wavelets is impossible"));
            }
            let order = match error.is_sign_negative() {
                true => LevelOrder::ByTurns,
                false => LevelOrder::ZFirst,
            };
            let error = error.abs();
            if found.replace(Self { error, order }).is_some() {
                return Err(invalid("there are two records of wavelets"));
            }
        }
        Ok(found)
    }
}
