//! Ratios of cuSZp2's outlier mode with blocks of 64 values in one to three dimensions, as in its Table VI.

use super::super::field::Subject;
use ferrosz::{Bound, Dtype, Element, Shape};
use ferrosz_cli::failure::Failure;
use ferrosz_cuszp::aatrox::LAYER;
use ferrosz_cuszp::cuszp::{self, Mode, Params, Quantizer};
use ferrosz_lab_kernels::long_blocks::encode;
use rayon::prelude::*;

/// The ratios of a field at one bound.
pub struct BlockRatios {
    /// The field's name.
    pub field: String,
    /// Its type.
    pub dtype: Dtype,
    /// The bound.
    pub bound: Bound,
    /// In a line: blocks of 32, as cuSZp has them, and of 64.
    pub line: [f64; 2],
    /// Blocks of 8 x 8, and of 4 x 4 x 4.
    pub shaped: [f64; 2],
}

impl BlockRatios {
    /// Those of a field, on the CPU.
    ///
    /// # Errors
    ///
    /// If there is no positive bound, or the field is too large for cuSZp.
    pub fn of<T: Element>(subject: &Subject<T>, bound: Bound) -> Result<Self, Failure> {
        let error = subject.positive_error(bound)?;
        let values = &subject.values[..];
        let quantizer = Quantizer::new(error);
        let ratio = |bytes: usize| size_of_val(values) as f64 / bytes as f64;
        let of_64 = (values.par_chunks(LAYER)).map(|values| {
            let coded = encode::<T, 2>(&quantizer, Mode::Outlier, values);
            coded.rates.len() + coded.payload.len()
        });
        let of_64 = ratio(of_64.sum());
        let of = |shape| -> Result<f64, Failure> {
            let params = Params::new(shape, Mode::Outlier, subject.dims(), error);
            let stream = cuszp::compress(&params, values).map_err(ferrosz_cuszp::Error::from)?;
            Ok(ratio(stream.len()))
        };
        Ok(Self {
            field: subject.name.clone(),
            dtype: T::DTYPE,
            bound,
            line: [of(Shape::Line)?, of_64],
            shaped: [of(Shape::Plane)?, of(Shape::Cube)?],
        })
    }
}
