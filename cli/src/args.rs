//! The command line.

use crate::bench::flags::Flags as Bench;
use crate::codec_choice::CodingFlags;
use crate::files::{Files, Replace};
use crate::location::Location;
use crate::part::PartFlags;
use clap::builder::{OsStringValueParser, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use ferrosz::codec::container::extents::MAX_RANK;
use ferrosz::{Bound, BoundMode, Device, Dtype, Shape};
use ferrosz_cuszp::cuszp::Mode;
use std::path::PathBuf;
use std::str::FromStr;

/// Over the options that all commands understand.
const EVERYWHERE: &str = "Everywhere";

const AFTER_HELP: &str = "\
.npy files carry their element type and dimensions. All other arrays are raw little-endian values, and need
--dtype and --dims. '-' is standard input or output. No file is replaced without --force.

Exit status: 0 success; 1 failure, damage, or a bound not kept; 2 a wrong command line.";

const COMPRESS_USAGE: &str = "ferrosz compress [OPTIONS] <BOUND> IN [OUT]
       ferrosz compress [OPTIONS] <BOUND> IN... --out-dir DIR";

const COMPRESS_AFTER: &str = "\
Without OUT, the stream is IN.fsz. Examples:
  ferrosz compress t.npy --range 1e-3                     t.npy.fsz, errors within 0.1 % of max - min
  ferrosz compress t.f32 t.fsz --dtype f32 --dims 26,1800,3600 --abs 0.01
  ferrosz compress *.npy --out-dir small --max 1e-4 --json";

const DECOMPRESS_USAGE: &str = "ferrosz decompress [OPTIONS] IN [OUT]
       ferrosz decompress [OPTIONS] IN... --out-dir DIR";

const DECOMPRESS_AFTER: &str = "\
Without OUT, t.npy.fsz gives t.npy, t.f32.fsz gives t.f32, and t.fsz gives t.npy. An output that ends in .npy
is an .npy file in C order, any other is raw little-endian values.";

const COMPACT_USAGE: &str = "ferrosz compact [OPTIONS] IN OUT
       ferrosz compact [OPTIONS] IN... --out-dir DIR";

/// Error-bounded lossy compression of scientific float arrays.
#[derive(Debug, Parser)]
#[command(name = "ferrosz", version, after_help = AFTER_HELP)]
pub struct CommandLine {
    /// What all commands understand.
    #[command(flatten)]
    pub common: Common,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What all commands understand.
#[derive(Debug, Clone, Args)]
pub struct Common {
    /// Where to run: auto, cpu, cuda, cuda:N or emulator; the bytes are the same everywhere
    #[arg(long, help_heading = EVERYWHERE, global = true, value_name = "DEVICE", default_value = "auto")]
    pub device: Device,
    /// Print a JSON object for each input to stdout, or to stderr where the data go to stdout
    #[arg(long, help_heading = EVERYWHERE, global = true)]
    pub json: bool,
    /// No progress bar, no summary, no notes
    #[arg(long, short, help_heading = EVERYWHERE, global = true)]
    pub quiet: bool,
}

impl Common {
    /// Whether notes for people are wanted: programs find them in the object.
    pub fn notes(&self) -> bool {
        !self.quiet && !self.json
    }
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compress an array to a stream
    Compress(Compress),
    /// Decompress a stream, or a part of its array
    Decompress(Decompress),
    /// Replace a part of a compressed array, in place
    Update(Update),
    /// Write a stream without what updates replaced
    Compact(Compact),
    /// Check that streams are whole, without the original arrays
    Check(Check),
    /// Check that a stream keeps its error bound against the original array
    Verify(Verify),
    /// Show what streams say of themselves
    Info(Info),
    /// List presets and codecs, and what each is for
    Codecs,
    /// Compress a real field with every codec, and draw it
    Demo(Demo),
    /// Measure how fast codecs are on this machine
    Bench(Bench),
    /// Write and read cuSZp's own streams
    Cuszp(Cuszp),
    /// Write and read bare AATROX streams
    Aatrox(Aatrox),
    /// Print what makes a shell complete this command's words
    Completions(Completions),
    /// Print the manual page of this command, or of one of its commands
    Man(Man),
}

/// `ferrosz compress`.
#[derive(Debug, Args)]
#[command(override_usage = COMPRESS_USAGE, after_help = COMPRESS_AFTER)]
pub struct Compress {
    /// The arrays and streams.
    #[command(flatten)]
    pub files: Files,
    /// What the array is.
    #[command(flatten)]
    pub shape: ShapeFlags,
    /// The error bound.
    #[command(flatten)]
    pub bound: BoundFlags,
    /// How values are coded.
    #[command(flatten)]
    pub coding: CodingFlags,
    /// Dimensions of blocks or tiles, 1 to 3; by default a preset chooses, and a codec takes those of the array
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=3))]
    pub rank: Option<u8>,
}

/// What the array is; needed for raw values.
#[derive(Debug, Clone, Default, Args)]
pub struct ShapeFlags {
    /// Element type of raw values
    #[arg(long, value_name = "TYPE", value_parser = dtype())]
    pub dtype: Option<Dtype>,
    /// Dimensions of raw values, slowest first
    #[arg(long, value_name = "Z,Y,X")]
    pub dims: Option<Dims>,
}

/// The error bound: just one of these.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct BoundFlags {
    /// Absolute error bound: |x - x'| <= E
    #[arg(long, value_name = "E", allow_negative_numbers = true, value_parser = bound_value)]
    pub abs: Option<f64>,
    /// Error bound relative to the range: |x - x'| <= E * (max - min)
    #[arg(long, value_name = "E", allow_negative_numbers = true, value_parser = bound_value)]
    pub range: Option<f64>,
    /// Error bound relative to the largest magnitude: |x - x'| <= E * max|x|
    #[arg(long, value_name = "E", allow_negative_numbers = true, value_parser = bound_value)]
    pub max: Option<f64>,
    /// As --range, which is what most compressors mean by REL
    #[arg(long, value_name = "E", allow_negative_numbers = true, value_parser = bound_value)]
    pub rel: Option<f64>,
}

impl BoundFlags {
    /// Mode and number; the command line has just one.
    pub fn given(&self) -> Option<(BoundMode, f64)> {
        [
            (BoundMode::Abs, self.abs),
            (BoundMode::Range, self.range.or(self.rel)),
            (BoundMode::Max, self.max),
        ]
        .into_iter()
        .find_map(|(mode, value)| Some((mode, value?)))
    }
}

/// `ferrosz decompress`.
#[derive(Debug, Args)]
#[command(override_usage = DECOMPRESS_USAGE, after_help = DECOMPRESS_AFTER)]
pub struct Decompress {
    /// The streams and arrays.
    #[command(flatten)]
    pub files: Files,
    /// Decompress a damaged stream: lost values become NaN, and the lost parts are listed
    #[arg(long, conflicts_with = "part")]
    pub salvage: bool,
    /// Only a part of the array.
    #[command(flatten)]
    pub part: PartFlags,
}

/// `ferrosz update`.
#[derive(Debug, Args)]
#[command(mut_group("part", |group| group.required(true)))]
pub struct Update {
    /// Stream to change: a file. Whatever ends the command early leaves the old stream or the new
    #[arg(value_name = "STREAM", value_parser = location())]
    pub stream: Location,
    /// Array to put in: .npy, raw values of the stream's type, or '-'; as many values as the part
    #[arg(value_name = "IN", value_parser = location())]
    pub input: Location,
    /// The part that is replaced.
    #[command(flatten)]
    pub part: PartFlags,
}

/// `ferrosz compact`.
#[derive(Debug, Args)]
#[command(override_usage = COMPACT_USAGE)]
pub struct Compact {
    /// The streams.
    #[command(flatten)]
    pub files: Files,
}

/// `ferrosz check`.
#[derive(Debug, Args)]
pub struct Check {
    /// Streams, or '-'
    #[arg(value_name = "STREAM", required = true, value_parser = location())]
    pub streams: Vec<Location>,
}

/// `ferrosz verify`.
#[derive(Debug, Args)]
pub struct Verify {
    /// The original array: .npy, raw values, or '-'
    #[arg(value_name = "ORIGINAL", value_parser = location())]
    pub original: Location,
    /// The stream, or '-'
    #[arg(value_name = "STREAM", value_parser = location())]
    pub stream: Location,
    /// What the array is; for raw values without it, what the stream says.
    #[command(flatten)]
    pub shape: ShapeFlags,
}

/// `ferrosz info`.
#[derive(Debug, Args)]
pub struct Info {
    /// Streams, or '-'
    #[arg(value_name = "STREAM", required = true, value_parser = location())]
    pub streams: Vec<Location>,
}

/// `ferrosz demo`.
#[derive(Debug, Args)]
pub struct Demo {
    /// Picture to write
    #[arg(long, value_name = "PNG", default_value = "ferrosz-demo.png")]
    pub out: PathBuf,
    /// The picture.
    #[command(flatten)]
    pub replace: Replace,
}

/// `ferrosz completions`.
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

/// `ferrosz man`.
#[derive(Debug, Args)]
pub struct Man {
    /// A command, as in `ferrosz man compress`
    #[arg(value_name = "COMMAND")]
    pub command: Option<String>,
}

/// `ferrosz cuszp`.
#[derive(Debug, Args)]
pub struct Cuszp {
    /// In which direction.
    #[command(subcommand)]
    pub action: CuszpAction,
}

/// A direction.
#[derive(Debug, Subcommand)]
pub enum CuszpAction {
    /// Compress an array to a stream of cuSZp's
    Compress(CuszpCompress),
    /// Decompress a stream of cuSZp's
    Decompress(CuszpDecompress),
}

/// `ferrosz cuszp compress`.
#[derive(Debug, Args)]
pub struct CuszpCompress {
    /// Array to compress: .npy, raw values, or '-'
    #[arg(value_name = "IN", value_parser = location())]
    pub input: Location,
    /// Stream to write, or '-'
    #[arg(value_name = "OUT", value_parser = location())]
    pub output: Location,
    /// The output.
    #[command(flatten)]
    pub replace: Replace,
    /// What the array is.
    #[command(flatten)]
    pub shape: ShapeFlags,
    /// What the stream does not say of itself.
    #[command(flatten)]
    pub stream: CuszpFlags,
    /// Refuse what cuSZp would not decompress, or not to values within the bound
    #[arg(long)]
    pub strict: bool,
}

/// `ferrosz cuszp decompress`.
#[derive(Debug, Args)]
pub struct CuszpDecompress {
    /// Stream to decompress, or '-'
    #[arg(value_name = "IN", value_parser = location())]
    pub input: Location,
    /// Array to write: .npy by its suffix, else raw values; or '-' for raw values
    #[arg(value_name = "OUT", value_parser = location())]
    pub output: Location,
    /// The output.
    #[command(flatten)]
    pub replace: Replace,
    /// What the array is.
    #[command(flatten)]
    pub shape: StreamShape,
    /// What the stream does not say of itself.
    #[command(flatten)]
    pub stream: CuszpFlags,
    /// Read the last 1 to 3 bytes as zero where the size that cuSZp returns lost them
    #[arg(long)]
    pub allow_missing: bool,
}

/// What a stream of cuSZp's does not say of itself, besides the shape.
#[derive(Debug, Args)]
pub struct CuszpFlags {
    /// How differences are stored: fixed, plain or outlier
    #[arg(long, value_name = "NAME", value_parser = cuszp_mode(), required_unless_present = "v1")]
    pub mode: Option<Mode>,
    /// Dimensions that the coder sees, 1 to 3; as many as --dims has, if not given. 2 with three
    /// dimensions: independent slices
    #[arg(long, value_name = "N", value_parser = rank)]
    pub rank: Option<Shape>,
    /// Absolute error bound, rounded to the element type
    #[arg(long, value_name = "E", allow_negative_numbers = true, value_parser = positive_bound)]
    pub abs: f64,
    /// Round the bound of f64 data to an f32, as cuSZp's own command does
    #[arg(long)]
    pub float_bound: bool,
    /// The framing of cuSZp 1: plain, 1D
    #[arg(long)]
    pub v1: bool,
}

/// `ferrosz aatrox`.
#[derive(Debug, Args)]
pub struct Aatrox {
    /// In which direction.
    #[command(subcommand)]
    pub action: AatroxAction,
}

/// A direction.
#[derive(Debug, Subcommand)]
pub enum AatroxAction {
    /// Compress an array to a bare AATROX stream
    Compress(AatroxCompress),
    /// Decompress a bare AATROX stream
    Decompress(AatroxDecompress),
}

/// `ferrosz aatrox compress`.
#[derive(Debug, Args)]
pub struct AatroxCompress {
    /// Array to compress: .npy, raw values, or '-'
    #[arg(value_name = "IN", value_parser = location())]
    pub input: Location,
    /// Stream to write, or '-'
    #[arg(value_name = "OUT", value_parser = location())]
    pub output: Location,
    /// The output.
    #[command(flatten)]
    pub replace: Replace,
    /// What the array is.
    #[command(flatten)]
    pub shape: ShapeFlags,
    /// Absolute error bound, rounded to the element type
    #[arg(long, value_name = "E", allow_negative_numbers = true, value_parser = positive_bound)]
    pub abs: f64,
}

/// `ferrosz aatrox decompress`.
#[derive(Debug, Args)]
pub struct AatroxDecompress {
    /// Stream to decompress, or '-'
    #[arg(value_name = "IN", value_parser = location())]
    pub input: Location,
    /// Array to write: .npy by its suffix, else raw values; or '-' for raw values
    #[arg(value_name = "OUT", value_parser = location())]
    pub output: Location,
    /// The output.
    #[command(flatten)]
    pub replace: Replace,
    /// What the array is.
    #[command(flatten)]
    pub shape: StreamShape,
    /// Absolute error bound, rounded to the element type
    #[arg(long, value_name = "E", allow_negative_numbers = true, value_parser = positive_bound)]
    pub abs: f64,
}

/// What the array of a stream is that does not say so itself.
#[derive(Debug, Args)]
pub struct StreamShape {
    /// Element type
    #[arg(long, value_name = "TYPE", value_parser = dtype())]
    pub dtype: Dtype,
    /// Dimensions, slowest first
    #[arg(long, value_name = "Z,Y,X")]
    pub dims: Dims,
}

/// One to [`MAX_RANK`] lengths, slowest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dims(pub Vec<u64>);

impl FromStr for Dims {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let lengths = text
            .split(',')
            .map(|length| length.trim().parse())
            .collect::<Result<Vec<u64>, _>>()
            .map_err(|_| "lengths must be whole numbers with commas between, as in 10,83,83")?;
        if lengths.len() > MAX_RANK {
            return Err(format!(
                "{} dimensions are too many: multiply the leading ones until {MAX_RANK} are left",
                lengths.len()
            ));
        }
        Ok(Self(lengths))
    }
}

fn location() -> impl TypedValueParser<Value = Location> {
    OsStringValueParser::new().map(Location::from)
}

fn dtype() -> impl TypedValueParser<Value = Dtype> {
    PossibleValuesParser::new(Dtype::ALL.map(|dtype| dtype.name())).try_map(|name| {
        Dtype::ALL
            .into_iter()
            .find(|dtype| dtype.name() == name)
            .ok_or("unknown element type")
    })
}

fn cuszp_mode() -> impl TypedValueParser<Value = Mode> {
    PossibleValuesParser::new(Mode::ALL.map(|mode| mode.name()))
        .try_map(|name| Mode::from_name(&name).ok_or("unknown mode"))
}

/// The shape of blocks of a rank.
pub fn rank(text: &str) -> Result<Shape, String> {
    let number = text.parse().ok();
    (number.and_then(Shape::of_rank)).ok_or_else(|| "a rank is 1, 2 or 3".to_owned())
}

/// A number that can be a bound of a bare stream.
fn positive_bound(text: &str) -> Result<f64, String> {
    match bound_value(text)? {
        0.0 => Err("a bound of 0 cannot be kept: give a positive number".to_owned()),
        value => Ok(value),
    }
}

/// A number that can be a bound in any mode.
pub fn bound_value(text: &str) -> Result<f64, String> {
    let value: f64 = text
        .parse()
        .map_err(|_| "a bound is a number, as in 1e-3".to_owned())?;
    Bound::abs(value).map_err(|error| error.to_string())?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn dims_are_some_lengths() {
        assert_eq!("10,83,84".parse(), Ok(Dims(vec![10, 83, 84])));
        assert_eq!("5".parse(), Ok(Dims(vec![5])));
        let many = |count| vec!["2"; count].join(",").parse::<Dims>();
        assert_eq!(many(MAX_RANK), Ok(Dims(vec![2; MAX_RANK])));
        assert!(many(MAX_RANK + 1).is_err());
        for bad in ["", "1,", "1x2", "-1", "1.5"] {
            assert!(bad.parse::<Dims>().is_err(), "{bad}");
        }
    }

    #[test]
    fn bounds_are_finite_and_not_negative() {
        assert_eq!(bound_value("1e-3"), Ok(1e-3));
        for bad in ["-1", "nan", "inf", "x", ""] {
            assert!(bound_value(bad).is_err(), "{bad}");
        }
    }
}
