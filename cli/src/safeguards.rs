//! Safeguards on a command line.

use crate::args::{ShapeFlags, location};
use crate::array::{ArrayType, Shape};
use crate::failure::Failure;
use crate::field_file::{self, Assumed, CHECK_FLAGS};
use crate::location::Location;
use clap::Args;
use ferrosz::{Compressor, Info, Safeguard, Value, ValueType};

/// Promises about each value beside the bound. The help has no lines for them, so that it fits a screen; docs/book/settings.md
/// does.
#[derive(Debug, Args)]
pub struct SafeguardFlags {
    /// A number on whose side values stay.
    #[arg(long, value_name = "V", hide = true, allow_negative_numbers = true)]
    pub keep_above: Vec<f64>,
    /// Limits of decoded values.
    #[arg(
        long,
        value_name = "LO,HI",
        hide = true,
        allow_hyphen_values = true,
        value_delimiter = ',',
        num_args = 1
    )]
    pub limits: Vec<f64>,
    /// A bound for each value.
    #[arg(long, value_name = "FILE", hide = true, value_parser = location())]
    pub abs_field: Option<Location>,
    /// A bound of the logarithms of values.
    #[arg(long, value_name = "E", hide = true)]
    pub abs_log: Option<f64>,
    /// A bound of the exponentials of values.
    #[arg(long, value_name = "E", hide = true)]
    pub abs_exp: Option<f64>,
    /// A bound of the squares of values.
    #[arg(long, value_name = "E", hide = true)]
    pub abs_square: Option<f64>,
    /// An axis along which neighbours keep their order; the first is 0.
    #[arg(long, value_name = "AXIS", hide = true)]
    pub monotone: Option<u8>,
}

impl SafeguardFlags {
    /// The compressor with the safeguards; the bounds of values belong to its calls.
    ///
    /// # Errors
    ///
    /// If a number of one is impossible.
    pub fn apply(&self, compressor: Compressor) -> Result<Compressor, Failure> {
        let limits = match self.limits[..] {
            [low, high] => Some(Safeguard::Limits(low, high)),
            [] => None,
            _ => {
                return Err(Failure::usage(
                    "--limits needs two numbers, as in --limits 0,1",
                ));
            }
        };
        let sides = self.keep_above.iter().copied().map(Safeguard::KeepAbove);
        let mut all = (sides.chain(limits))
            .chain(self.abs_log.map(Safeguard::AbsLog))
            .chain(self.abs_exp.map(Safeguard::AbsExp))
            .chain(self.abs_square.map(Safeguard::AbsSquare))
            .chain(self.monotone.map(Safeguard::Monotone));
        all.try_fold(compressor, |compressor, safeguard| {
            compressor.safeguard(safeguard).map_err(Failure::usage)
        })
    }

    /// The bounds of the values of an array, if a file has them.
    ///
    /// # Errors
    ///
    /// As [`bounds`].
    pub fn bounds(&self, of: &Shape) -> Result<Option<Vec<f64>>, Failure> {
        self.abs_field
            .as_ref()
            .map(|location| bounds(location, of))
            .transpose()
    }
}

/// The bounds in a file for an array: `.npy` of the same dimensions, or raw `f64`.
///
/// # Errors
///
/// If the file cannot be read, or has other dimensions.
pub fn bounds(location: &Location, of: &Shape) -> Result<Vec<f64>, Failure> {
    let shape = Shape {
        of: ArrayType {
            dtype: ValueType::F64,
            is_complex: false,
        },
        extents: of.extents.clone(),
    };
    let assumed = Assumed {
        shape,
        check: CHECK_FLAGS,
    };
    let field = field_file::read(location, &ShapeFlags::default(), Some(&assumed))?;
    if field.shape().extents != of.extents {
        return Err(Failure::failed(format_args!(
            "--abs-field {location} holds {}, which are not the bounds of {of}",
            field.shape()
        )));
    }
    Ok(with_field!(field, array => {
        array.values.iter().map(|value| value.to_number()).collect()
    }))
}

/// The safeguards of a stream in words; none if there are none.
pub fn describe(info: &Info) -> Option<String> {
    let mut all: Vec<String> = info.safeguards.iter().map(ToString::to_string).collect();
    if info.has_bounds_of_values {
        all.push("bounds of values".to_owned());
    }
    (!all.is_empty()).then(|| all.join("; "))
}
