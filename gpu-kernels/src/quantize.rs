//! The quantiser on the GPU, as far as it is more than `ferrosz_codec::quantize`: a bound that needs the extremes of
//! the field.

pub mod extremes;
