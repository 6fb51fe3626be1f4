//! The arguments of `ferrosz cuszp` and `ferrosz aatrox`: the same commands, and the parameters that each format does not
//! hold.

use crate::args::{Dims, ShapeFlags, dtype, location, rank};
use crate::bounds::bound_value;
use crate::failure::Failure;
use crate::files::Replace;
use crate::location::Location;
use crate::part::PartFlags;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use ferrosz_cuszp::bound::Arithmetic;
use ferrosz_cuszp::cuszp::{self, Framing, Mode};
use ferrosz_cuszp::{Bound, BoundMode, Dtype, Element, Shape, aatrox};

/// A command for streams of other compressors; `W` are the parameters of a writer, `R` those of a reader.
#[derive(Debug, Args)]
pub struct Bare<W: Args, R: Args> {
    /// The step.
    #[command(subcommand)]
    pub action: BareAction<W, R>,
}

/// A command for a stream.
#[derive(Debug, Subcommand)]
pub enum BareAction<W: Args, R: Args> {
    /// Compress an array to a stream
    Compress(BareCompress<W>),
    /// Decompress a stream, or a part of its array
    Decompress(BareDecompress<R>),
    /// Replace a part of the array in its stream, if the lengths of its blocks stay as they are
    Update(BareUpdate<W>),
    /// Check that a stream's rate bytes are valid and its length is right
    Check(BareCheck<R>),
    /// Check that a stream keeps an error against the original array
    Verify(BareVerify<R>),
    /// Show the sizes of a stream and the forms of its blocks
    Info(BareInfo<R>),
}

/// `compress`.
#[derive(Debug, Args)]
pub struct BareCompress<W: Args> {
    /// Array to compress: .npy, a variable, raw values, or '-'
    #[arg(value_name = "IN", value_parser = location())]
    pub input: Location,
    /// Stream to write, or '-'
    #[arg(value_name = "OUT", value_parser = location())]
    pub output: Location,
    /// Whether the output may replace a file.
    #[command(flatten)]
    pub replace: Replace,
    /// Element type and dimensions of raw values.
    #[command(flatten)]
    pub shape: ShapeFlags,
    /// The parameters of the format.
    #[command(flatten)]
    pub format: W,
    /// The error bound.
    #[command(flatten)]
    pub bound: BareBound,
}

/// `decompress`.
#[derive(Debug, Args)]
pub struct BareDecompress<R: Args> {
    /// Stream to decompress, or '-'
    #[arg(value_name = "IN", value_parser = location())]
    pub input: Location,
    /// Array to write: .npy by its suffix, else raw values; or '-' for raw values
    #[arg(value_name = "OUT", value_parser = location())]
    pub output: Location,
    /// Whether the output may replace a file.
    #[command(flatten)]
    pub replace: Replace,
    /// The parameters that the stream does not hold.
    #[command(flatten)]
    pub told: Told<R>,
    /// The part of the array to decompress; all of it if not given.
    #[command(flatten)]
    pub part: PartFlags,
}

/// `update`.
#[derive(Debug, Args)]
#[command(mut_group("part", |group| group.required(true)))]
pub struct BareUpdate<W: Args> {
    /// File of the stream to change; however the command ends, the file holds the old stream or the new one
    #[arg(value_name = "STREAM", value_parser = location())]
    pub stream: Location,
    /// Array to put in: .npy, raw values of the stream's type, or '-'; as many values as the part has
    #[arg(value_name = "IN", value_parser = location())]
    pub input: Location,
    /// The parameters that the stream does not hold.
    #[command(flatten)]
    pub told: Told<W>,
    /// The part that is replaced.
    #[command(flatten)]
    pub part: PartFlags,
}

/// `verify`.
#[derive(Debug, Args)]
pub struct BareVerify<R: Args> {
    /// The original array: .npy, a variable, raw values, or '-'
    #[arg(value_name = "ORIGINAL", value_parser = location())]
    pub original: Location,
    /// The stream, or '-'
    #[arg(value_name = "STREAM", value_parser = location())]
    pub stream: Location,
    /// Element type and dimensions of raw values.
    #[command(flatten)]
    pub shape: ShapeFlags,
    /// The parameters of the format.
    #[command(flatten)]
    pub format: R,
    /// The error bound of the compression.
    #[command(flatten)]
    pub bound: BareBound,
}

/// `check`.
#[derive(Debug, Args)]
pub struct BareCheck<R: Args> {
    /// Stream, or '-'
    #[arg(value_name = "STREAM", value_parser = location())]
    pub stream: Location,
    /// The parameters that the stream does not hold.
    #[command(flatten)]
    pub told: ToldShape<R>,
}

/// `info`.
#[derive(Debug, Args)]
pub struct BareInfo<R: Args> {
    /// Stream, or '-'
    #[arg(value_name = "STREAM", value_parser = location())]
    pub stream: Location,
    /// The parameters that the stream does not hold.
    #[command(flatten)]
    pub told: ToldShape<R>,
}

/// All that a stream does not hold.
#[derive(Debug, Args)]
pub struct Told<F: Args> {
    /// Element type and dimensions of the array.
    #[command(flatten)]
    pub shape: StreamShape,
    /// The parameters of the format.
    #[command(flatten)]
    pub format: F,
    /// Absolute error that the compression printed, rounded to the element type
    #[arg(long, value_name = "E", allow_negative_numbers = true, value_parser = positive_bound)]
    pub abs: f64,
}

/// As [`Told`], where no value is decoded.
#[derive(Debug, Args)]
pub struct ToldShape<F: Args> {
    /// Element type and dimensions of the array.
    #[command(flatten)]
    pub shape: StreamShape,
    /// The parameters of the format.
    #[command(flatten)]
    pub format: F,
    /// Not needed; taken so that the options of decompress can be repeated
    #[arg(long, value_name = "E", allow_negative_numbers = true, value_parser = positive_bound)]
    pub abs: Option<f64>,
}

/// The error bound: exactly one of these.
#[derive(Debug, Args)]
#[group(id = "bare_bound", required = true, multiple = false)]
pub struct BareBound {
    /// Absolute error bound, rounded to the element type
    #[arg(long, value_name = "E", allow_negative_numbers = true, value_parser = positive_bound)]
    pub abs: Option<f64>,
    /// Error bound relative to the range: E * (max - min), as cuSZp's own command computes it; also --rel
    #[arg(long, visible_alias = "rel", value_name = "E", allow_negative_numbers = true, value_parser = positive_bound)]
    pub range: Option<f64>,
    /// Error bound relative to the largest magnitude: E * max|x|
    #[arg(long, value_name = "E", allow_negative_numbers = true, value_parser = positive_bound)]
    pub max: Option<f64>,
}

impl BareBound {
    /// The bound.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn get(&self) -> Result<Bound, Failure> {
        let given = [
            (BoundMode::Abs, self.abs),
            (BoundMode::Range, self.range),
            (BoundMode::Max, self.max),
        ];
        let (mode, value) = (given.into_iter())
            .find_map(|(mode, value)| Some((mode, value?)))
            .ok_or_else(|| Failure::usage("an error bound is needed: --abs, --range or --max"))?;
        Bound::new(mode, value).map_err(Failure::usage)
    }
}

/// Element type and dimensions of an array whose stream does not hold them.
#[derive(Debug, Args)]
pub struct StreamShape {
    /// Element type
    #[arg(long, value_name = "TYPE", value_parser = dtype())]
    pub dtype: Dtype,
    /// Dimensions, slowest first
    #[arg(long, value_name = "Z,Y,X")]
    pub dims: Dims,
}

/// The parameters of a format, as flags.
pub trait FormatFlags: Args {
    /// The name of the command.
    const COMMAND: &'static str;

    /// The type in which the error is computed.
    fn arithmetic(&self) -> Arithmetic;

    /// The format and its parameters, for an array of these dimensions.
    ///
    /// # Errors
    ///
    /// If the parameters do not fit each other.
    fn bare<T: Element>(
        &self,
        extents: &[u64],
        error: T,
    ) -> Result<ferrosz_cuszp::Bare<T>, Failure>;
}

/// The parameters that a cuSZp stream does not hold, without the shape.
#[derive(Debug, Args)]
pub struct CuszpFlags {
    /// How differences are stored: fixed, plain or outlier
    #[arg(long, value_name = "NAME", value_parser = cuszp_mode(), required_unless_present = "v1")]
    pub mode: Option<Mode>,
    /// Dimensions that the coder sees, 1 to 3; by default as many as --dims has. 2 with three dimensions:
    /// independent slices
    #[arg(long, value_name = "N", value_parser = rank)]
    pub rank: Option<Shape>,
    /// Compute the error of f64 data in f32, as cuSZp's own command does
    #[arg(long)]
    pub float_bound: bool,
    /// The framing of cuSZp 1: plain, 1D
    #[arg(long)]
    pub v1: bool,
}

impl CuszpFlags {
    fn params<T: Element>(&self, extents: &[u64], error: T) -> Result<cuszp::Params<T>, Failure> {
        elements_of(extents)?;
        let framing = if self.v1 { Framing::V1 } else { Framing::V3 };
        let params = cuszp::Params::of_array(extents, framing, self.mode(), error)
            .map_err(Failure::usage)?;
        let params = cuszp::Params {
            shape: self.rank.unwrap_or(params.shape),
            ..params
        };
        params.layout().map_err(Failure::failed)?;
        Ok(params)
    }

    fn arithmetic(&self) -> Arithmetic {
        match self.float_bound {
            true => Arithmetic::Floats,
            false => Arithmetic::Elements,
        }
    }

    fn mode(&self) -> Mode {
        self.mode.unwrap_or(Mode::Plain)
    }
}

/// The parameters of a writer of cuSZp's streams.
#[derive(Debug, Args)]
pub struct CuszpWriting {
    /// Those of both sides.
    #[command(flatten)]
    pub flags: CuszpFlags,
    /// Refuse an array that cuSZp would not decompress, or would decompress to values off by more than the bound
    #[arg(long)]
    pub strict: bool,
}

impl FormatFlags for CuszpWriting {
    const COMMAND: &'static str = "cuszp";

    fn arithmetic(&self) -> Arithmetic {
        self.flags.arithmetic()
    }

    fn bare<T: Element>(
        &self,
        extents: &[u64],
        error: T,
    ) -> Result<ferrosz_cuszp::Bare<T>, Failure> {
        let params = self.flags.params(extents, error)?;
        let strict = self.strict;
        Ok(cuszp::Params { strict, ..params }.into())
    }
}

/// The parameters of a reader of cuSZp's streams.
#[derive(Debug, Args)]
pub struct CuszpReading {
    /// Those of both sides.
    #[command(flatten)]
    pub flags: CuszpFlags,
    /// Read up to 3 missing last bytes as zero: the size that cuSZp returns leaves them out
    #[arg(long)]
    pub allow_missing: bool,
}

impl FormatFlags for CuszpReading {
    const COMMAND: &'static str = "cuszp";

    fn arithmetic(&self) -> Arithmetic {
        self.flags.arithmetic()
    }

    fn bare<T: Element>(
        &self,
        extents: &[u64],
        error: T,
    ) -> Result<ferrosz_cuszp::Bare<T>, Failure> {
        let params = self.flags.params(extents, error)?;
        let allow_missing = self.allow_missing;
        Ok(cuszp::Params {
            allow_missing,
            ..params
        }
        .into())
    }
}

/// The parameters of AATROX's streams: none but the shape and the error.
#[derive(Debug, Args)]
pub struct AatroxFlags {}

impl FormatFlags for AatroxFlags {
    const COMMAND: &'static str = "aatrox";

    fn arithmetic(&self) -> Arithmetic {
        Arithmetic::Elements
    }

    fn bare<T: Element>(
        &self,
        extents: &[u64],
        error: T,
    ) -> Result<ferrosz_cuszp::Bare<T>, Failure> {
        let elements = elements_of(extents)?;
        Ok(aatrox::Params { elements, error }.into())
    }
}

/// The number of elements of an array.
fn elements_of(extents: &[u64]) -> Result<u64, Failure> {
    (extents.iter())
        .try_fold(1u64, |product, length| product.checked_mul(*length))
        .ok_or_else(|| Failure::usage("no computer can hold an array of these dimensions"))
}

fn cuszp_mode() -> impl TypedValueParser<Value = Mode> {
    PossibleValuesParser::new(Mode::ALL.map(|mode| mode.name()))
        .try_map(|name| Mode::from_name(&name).ok_or("unknown mode"))
}

/// Parses the bound of a bare stream: a positive number.
fn positive_bound(text: &str) -> Result<f64, String> {
    match bound_value(text)? {
        0.0 => Err("a bound of 0 cannot be kept: give a positive number".to_owned()),
        value => Ok(value),
    }
}
