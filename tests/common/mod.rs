//! Fields of every kind, and the judge of the bound.
#![allow(dead_code, reason = "each test file uses its part")]

pub mod fields;
pub mod judge;
pub mod vectors;

use ferrosz::{Bound, BoundMode};

/// Bounds that reach every path: coarse, fine, at the limit of the type, lossless.
pub fn bounds() -> Vec<Bound> {
    [
        (BoundMode::Abs, 0.5),
        (BoundMode::Abs, 1e-3),
        (BoundMode::Range, 1e-1),
        (BoundMode::Range, 1e-3),
        (BoundMode::Range, 1e-7),
        (BoundMode::Max, 1e-4),
        (BoundMode::Abs, 0.0),
        (BoundMode::Abs, 1e-40),
        (BoundMode::Abs, 1e30),
    ]
    .into_iter()
    .map(|(mode, value)| Bound::new(mode, value).expect("finite and not negative"))
    .collect()
}
