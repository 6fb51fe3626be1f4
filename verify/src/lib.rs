//! Compares arrays with what their streams are decoded to: [`Comparison`].
//!
//! Whether a bound is kept is decided in exact arithmetic, by code that the library does not use: [`judge()`]. Figures
//! such as RMSE and SSIM are rounded sums: [`measure`], [`ssim()`].

mod comparison;
mod judge;
mod missing;
mod numbers;
mod quality;
mod safeguards;
mod ssim;

pub use comparison::{Claim, Comparison};
pub use judge::{Judgement, judge};
pub use quality::{Class, Kept, Quality, measure};
pub use safeguards::{Broken, Pair, Promise};
pub use ssim::ssim;
