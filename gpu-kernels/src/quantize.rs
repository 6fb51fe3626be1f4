//! The quantiser on the GPU, as far as it is more than `ferrosz_codec::quantize`: a bound that needs the extremes of
//! the field; and the census of a field.

pub mod census;
pub mod extremes;
