//! Safeguards: promises about each value beyond the bound. FORMAT.md, section 30.
//!
//! A codec keeps its bound alone. Where a decoded value breaks a safeguard, the encoder adds a correction, a small integer,
//! or the value itself; both lie in sections of the stream. [`mend`] applies them and [`guard`] finds them.

use crate::container::extents::MAX_RANK;
use crate::container::record;
use crate::container::record_kind::RecordKind;
use crate::error::FormatError;
use core::fmt;

pub mod exp;
pub mod guard;
pub mod lines;
pub mod mend;

/// The most numbers on whose side values stay.
pub const MOST_SIDES: usize = 8;

/// The most values that no safeguard touches.
pub const MOST_EXEMPT: usize = 15;

/// Bytes of an item of the record.
const ITEM_BYTES: usize = 24;

/// A promise about each value, beside the bound of the stream.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Safeguard {
    /// Values stay on their side of a number: those that are at least this number, and those below it.
    KeepAbove(f64),
    /// Decoded values lie within these limits, as the values do.
    Limits(f64, f64),
    /// The natural logarithm of a value is off by at most this much. Zeros stay zeros, negative values negative.
    AbsLog(f64),
    /// The exponential of a value is off by at most this much.
    AbsExp(f64),
    /// The square of a value is off by at most this much.
    AbsSquare(f64),
    /// Neighbours along an axis keep their order: where the first is at most the second, or at least the second, it is so
    /// in the decoded values, too. The first axis is 0.
    Monotone(u8),
}

impl fmt::Display for Safeguard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeepAbove(number) => write!(f, "keep-above {number}"),
            Self::Limits(low, high) => write!(f, "limits {low},{high}"),
            Self::AbsLog(bound) => write!(f, "abs-log {bound}"),
            Self::AbsExp(bound) => write!(f, "abs-exp {bound}"),
            Self::AbsSquare(bound) => write!(f, "abs-square {bound}"),
            Self::Monotone(axis) => write!(f, "monotone {axis}"),
        }
    }
}

/// The safeguards of a stream. All fields have a meaning whether or not they are set, so that kernels need no index.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Safeguards {
    /// Unused ones are below all numbers.
    sides: [f64; MOST_SIDES],
    limits: [f64; 2],
    bounds: [f64; 3],
    /// Unused ones are the bits of no value.
    exempt: [u64; MOST_EXEMPT],
    side_count: u32,
    exempt_count: u32,
    axis: u32,
    /// A bit for each kind of [`Has`].
    has: u32,
}

/// What may be there once.
#[derive(Clone, Copy)]
enum Has {
    Log,
    Exp,
    Square,
    Limits,
    Monotone,
    Bounds,
}

impl Default for Safeguards {
    fn default() -> Self {
        Self {
            sides: [f64::NEG_INFINITY; MOST_SIDES],
            limits: [f64::NEG_INFINITY, f64::INFINITY],
            bounds: [0.0; 3],
            exempt: [u64::MAX; MOST_EXEMPT],
            side_count: 0,
            exempt_count: 0,
            axis: 0,
            has: 0,
        }
    }
}

impl Safeguards {
    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.has == 0 && self.side_count == 0
    }

    /// The numbers on whose side values stay; those that are unused are below all numbers.
    #[inline(always)]
    pub const fn sides(&self) -> &[f64; MOST_SIDES] {
        &self.sides
    }

    /// The limits of values; infinite without any.
    #[inline(always)]
    pub const fn limits(&self) -> [f64; 2] {
        self.limits
    }

    /// See [`Safeguard::AbsLog`].
    #[inline(always)]
    pub fn log(&self) -> Option<f64> {
        self.has(Has::Log).then_some(self.bounds[0])
    }

    /// See [`Safeguard::AbsExp`].
    #[inline(always)]
    pub fn exp(&self) -> Option<f64> {
        self.has(Has::Exp).then_some(self.bounds[1])
    }

    /// See [`Safeguard::AbsSquare`].
    #[inline(always)]
    pub fn square(&self) -> Option<f64> {
        self.has(Has::Square).then_some(self.bounds[2])
    }

    /// See [`Safeguard::Monotone`].
    pub fn monotone(&self) -> Option<u8> {
        self.has(Has::Monotone).then_some(self.axis as u8)
    }

    /// Whether each value has a bound of its own, which the stream does not have.
    pub const fn has_bounds(&self) -> bool {
        self.has(Has::Bounds)
    }

    /// Whether no safeguard touches a value with these bits: a fill value.
    #[inline(always)]
    pub fn is_exempt(&self, bits: u64) -> bool {
        let mut is_exempt = false;
        if self.exempt_count > 0 {
            for exempt in &self.exempt {
                is_exempt |= *exempt == bits;
            }
        }
        is_exempt
    }

    #[inline(always)]
    const fn has(&self, what: Has) -> bool {
        self.has >> what as u32 & 1 == 1
    }

    /// Notes that something is there; none if it is there already.
    fn mark(&mut self, what: Has) -> Option<()> {
        let is_new = !self.has(what);
        self.has |= 1 << what as u32;
        is_new.then_some(())
    }

    /// Notes that each value has a bound of its own.
    #[must_use]
    pub fn with_bounds(mut self) -> Self {
        self.has |= 1 << Has::Bounds as u32;
        self
    }

    /// With other limits in place of its own.
    #[must_use]
    pub fn with_limits(self, limits: [f64; 2]) -> Self {
        Self { limits, ..self }
    }

    /// Adds a safeguard; none if it is impossible, or one of its kind is there and cannot be there twice.
    pub fn with(mut self, safeguard: Safeguard) -> Option<Self> {
        let (what, bound) = match safeguard {
            Safeguard::KeepAbove(number) if number.is_finite() => {
                *self.sides.get_mut(self.side_count as usize)? = number;
                self.side_count += 1;
                return Some(self);
            }
            Safeguard::Limits(low, high) if low <= high => {
                self.mark(Has::Limits)?;
                return Some(self.with_limits([low, high]));
            }
            Safeguard::Monotone(axis) if usize::from(axis) < MAX_RANK => {
                self.axis = axis.into();
                self.mark(Has::Monotone)?;
                return Some(self);
            }
            Safeguard::KeepAbove(_) | Safeguard::Limits(..) | Safeguard::Monotone(_) => {
                return None;
            }
            Safeguard::AbsLog(bound) => (Has::Log, bound),
            Safeguard::AbsExp(bound) => (Has::Exp, bound),
            Safeguard::AbsSquare(bound) => (Has::Square, bound),
        };
        self.mark(what)?;
        self.bounds[what as usize] = bound;
        (bound.is_finite() && bound >= 0.0).then_some(self)
    }

    /// Adds the bits of a value that no safeguard touches; none if there are too many.
    pub fn with_exempt(mut self, bits: u64) -> Option<Self> {
        *self.exempt.get_mut(self.exempt_count as usize)? = bits;
        self.exempt_count += 1;
        Some(self)
    }

    /// All safeguards but the bounds of each value, in the order of the record.
    pub fn list(&self) -> impl Iterator<Item = Safeguard> {
        let sides = self.sides.iter().take(self.side_count as usize);
        let [low, high] = self.limits;
        let limits = (self.has(Has::Limits)).then_some(Safeguard::Limits(low, high));
        (sides.copied().map(Safeguard::KeepAbove))
            .chain(limits)
            .chain(self.log().map(Safeguard::AbsLog))
            .chain(self.exp().map(Safeguard::AbsExp))
            .chain(self.square().map(Safeguard::AbsSquare))
            .chain(self.monotone().map(Safeguard::Monotone))
    }

    /// The record; no bytes without safeguards.
    #[cfg(feature = "alloc")]
    pub fn to_records(&self) -> alloc::vec::Vec<u8> {
        if self.is_empty() {
            return alloc::vec::Vec::new();
        }
        let mut contents = alloc::vec::Vec::new();
        let mut put = |kind: u8, [first, second]: [u64; 2]| {
            contents.extend(u64::from(kind).to_le_bytes());
            contents.extend(first.to_le_bytes());
            contents.extend(second.to_le_bytes());
        };
        for safeguard in self.list() {
            let (kind, first, second) = match safeguard {
                Safeguard::KeepAbove(number) => (1, number, 0.0),
                Safeguard::Limits(low, high) => (2, low, high),
                Safeguard::AbsLog(bound) => (3, bound, 0.0),
                Safeguard::AbsExp(bound) => (4, bound, 0.0),
                Safeguard::AbsSquare(bound) => (5, bound, 0.0),
                Safeguard::Monotone(axis) => (6, f64::from(axis), 0.0),
            };
            put(kind, [first.to_bits(), second.to_bits()]);
        }
        if self.has_bounds() {
            put(7, [0, 0]);
        }
        for bits in self.exempt.iter().take(self.exempt_count as usize) {
            put(8, [*bits, 0]);
        }
        record::to_bytes(&[record::Record {
            kind: RecordKind::SAFE,
            contents: &contents,
        }])
    }

    /// The safeguards of a stream with these records, which must be whole.
    ///
    /// # Errors
    ///
    /// [`FormatError::InvalidRecords`].
    pub fn of_records(mut records: &[u8]) -> Result<Self, FormatError> {
        let invalid = FormatError::InvalidRecords("the record SAFE has impossible safeguards");
        let mut found = None;
        while let Some(record) = record::take(&mut records) {
            if record.kind == RecordKind::SAFE && found.replace(record.contents).is_some() {
                return Err(FormatError::InvalidRecords("there are two records SAFE"));
            }
        }
        let Some(contents) = found else {
            return Ok(Self::default());
        };
        let mut all = Self::default();
        let (items, rest) = contents.as_chunks::<ITEM_BYTES>();
        for item in items {
            all = all.with_item(item).ok_or(invalid)?;
        }
        match rest.is_empty() && !all.is_empty() {
            true => Ok(all),
            false => Err(invalid),
        }
    }

    fn with_item(mut self, item: &[u8; ITEM_BYTES]) -> Option<Self> {
        let (words, _) = item.as_chunks::<8>();
        let [kind, first, second] = [0, 1, 2].map(|at| u64::from_le_bytes(words[at]));
        let [number, other] = [first, second].map(f64::from_bits);
        if kind != 2 && second != 0 {
            return None;
        }
        match kind {
            1 => self.with(Safeguard::KeepAbove(number)),
            2 => self.with(Safeguard::Limits(number, other)),
            3 => self.with(Safeguard::AbsLog(number)),
            4 => self.with(Safeguard::AbsExp(number)),
            5 => self.with(Safeguard::AbsSquare(number)),
            6 if f64::from(number as u8) == number => self.with(Safeguard::Monotone(number as u8)),
            7 if first == 0 => {
                self.mark(Has::Bounds)?;
                Some(self)
            }
            8 => self.with_exempt(first),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn safeguards_come_back_from_their_record_and_impossible_ones_are_refused() {
        let all = [
            Safeguard::KeepAbove(0.5),
            Safeguard::KeepAbove(-2.0),
            Safeguard::Limits(-1.0, f64::INFINITY),
            Safeguard::AbsLog(0.1),
            Safeguard::AbsExp(0.0),
            Safeguard::AbsSquare(3.0),
            Safeguard::Monotone(2),
        ];
        let mut set = Safeguards::default();
        for safeguard in all {
            set = set.with(safeguard).expect("possible");
        }
        assert!(set.list().eq(all));
        set = set.with_bounds().with_exempt(77).expect("room");
        assert_eq!(Safeguards::of_records(&set.to_records()), Ok(set));
        assert_eq!(Safeguards::of_records(&[]), Ok(Safeguards::default()));
        for refused in [
            Safeguard::KeepAbove(f64::NAN),
            Safeguard::Limits(0.0, 1.0),
            Safeguard::AbsLog(0.1),
            Safeguard::AbsSquare(-1.0),
            Safeguard::Monotone(0),
        ] {
            assert_eq!(set.with(refused), None, "{refused:?}");
        }
        let twice = [set.to_records(), set.to_records()].concat();
        assert!(Safeguards::of_records(&twice).is_err());
        let mut unknown = set.to_records();
        unknown[8] = 9;
        assert!(Safeguards::of_records(&unknown).is_err());
    }
}
