//! The decoded values that values of a stream may have, by the bound that the stream keeps.

use crate::stream_ref::StreamRef;
use ferrosz_codec::container::statistics::GroupStatistics;
use ferrosz_codec::mapping::Scale;
use std::ops::{Bound, RangeBounds};

/// How far decoded values may be from those that were compressed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Reachable {
    /// By this much.
    Absolute(f64),
    /// By this share of the value, on the same side of 0.
    Relative(f64),
}

impl Reachable {
    /// That of a stream.
    pub(super) fn of(stream: &StreamRef<'_>) -> Self {
        let header = &stream.header;
        match stream.mapping.scale {
            Scale::Linear => Self::Absolute(stream.absolute_error()),
            Scale::Logarithm => Self::Relative(header.bound.value()),
        }
    }

    /// Whether a group may have a decoded value among these.
    pub(super) fn may_meet(self, group: &GroupStatistics, wanted: &impl RangeBounds<f64>) -> bool {
        let [low, high] = [self.lowest(group.min), -self.lowest_of_negated(group.max)];
        let is_above = match wanted.start_bound() {
            Bound::Included(start) => high >= *start,
            Bound::Excluded(start) => high > *start,
            Bound::Unbounded => true,
        };
        let is_below = match wanted.end_bound() {
            Bound::Included(end) => low <= *end,
            Bound::Excluded(end) => low < *end,
            Bound::Unbounded => true,
        };
        group.count > 0 && is_above && is_below
    }

    /// A number that is not above the decoded value of any value from this one on.
    fn lowest(self, value: f64) -> f64 {
        let off = match self {
            Self::Absolute(off) => off,
            // Beyond 1 it could be any number of the same sign.
            Self::Relative(share) if value > 0.0 && share >= 1.0 => return 0.0,
            Self::Relative(share) => (value.abs() * share).next_up(),
        };
        match value.is_finite() && off > 0.0 {
            true => (value - off).next_down(),
            false => value,
        }
    }

    /// [`Reachable::lowest`] of the value with the other sign: bounds are the same on both sides.
    fn lowest_of_negated(self, value: f64) -> f64 {
        self.lowest(-value)
    }
}
