//! A page about what ferrosz made of an array, to look at and to show to others: [`Report`].
//!
//! It shows slices of the original, the reconstruction and the error, isosurfaces of a volume, where the worst errors are, how
//! errors are distributed and go together, spectra, gradients, quality by slice, where a stream has its bits, and rate over
//! distortion. The page is one file of HTML without scripts; it needs no network.
//!
//! Figures of all values are taken in one pass, or are those of [`ferrosz_verify`]. What needs values together, such as
//! spectra, takes a sample; the page says which. So an array may be larger than memory if its slice is a mapped file.

mod autocorrelation;
mod axis;
#[doc(hidden)]
pub mod canvas;
mod chart;
mod chunk_bits;
mod colours;
mod curve;
mod gradients;
mod histogram;
mod html;
mod image;
mod isosurface;
mod lines;
mod originals;
mod pair;
#[doc(hidden)]
pub mod picture;
mod planes;
mod profile;
mod report;
mod section;
mod slices;
mod solid;
mod spectrum;
#[cfg(test)]
mod tests;
mod totals;
mod volume;
#[doc(hidden)]
pub mod words;

pub use canvas::Canvas;
pub use picture::picture;
pub use report::{Field, Report, Stream};
