//! The command line.

use crate::array::ArrayType;
use crate::bare::args::{AatroxFlags, Bare, CuszpReading, CuszpWriting};
use crate::bounds::{BoundFlags, Bounds};
use crate::files::{Files, Replace};
use crate::fills::{FillFlag, fill_flag};
use crate::safeguards::SafeguardFlags;
use crate::units::{Rate, rate, size};
use crate::{
    codec_choice::CodingFlags,
    common::Common,
    location::Location,
    part::{OpenRange, PartFlags},
    transfer::MOST_WINDOW_BYTES,
    wanted::Wanted,
};
use clap::builder::{OsStringValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use ferrosz::codec::container::extents::MAX_RANK;
use ferrosz::{AxesSetting, Dtype, Preference, Shape, ValueType};
use std::str::FromStr;
use std::time::Duration;

const AFTER_HELP: &str = "\
.npy files and variables of NetCDF and HDF5 files (FILE.nc:NAME, FILE.h5:/GROUP/NAME) carry their type and dimensions;
other arrays are raw values, and need --dtype and --dims. '-' is standard input or output. --force replaces files.

Exit status: 0 success; 1 failure, damage, or a bound not kept; 2 a wrong command line.";

const COMPRESS_USAGE: &str = "ferrosz compress [OPTIONS] <BOUND or TARGET> IN [OUT]
       ferrosz compress [OPTIONS] <BOUND or TARGET> IN... --out-dir DIR";

const COMPRESS_AFTER: &str = "\
Without OUT, the stream of t.npy is t.npy.fsz. Examples:
  ferrosz compress era5.nc:t2m --range 1e-3     era5-t2m.fsz, errors within 0.1 % of max - min
  detector | ferrosz compress - t.fsf --frames --dtype f32 --dims 1024,1024 --abs 0.01";

const DECOMPRESS_USAGE: &str = "ferrosz decompress [OPTIONS] IN [OUT]
       ferrosz decompress [OPTIONS] IN... --out-dir DIR";

const DECOMPRESS_AFTER: &str = "\
Without OUT, t.npy.fsz gives t.npy, t.f32.fsz gives t.f32, and t.fsz gives t.npy. An output that ends in .npy
is an .npy file in C order, any other is raw little-endian values.";

const COMPACT_USAGE: &str = "ferrosz compact [OPTIONS] IN OUT
       ferrosz compact [OPTIONS] IN... --out-dir DIR";

const PART_AFTER: &str = "\
The stream has the bytes of `ferrosz compress --no-stats` with the same codec and dimensions. Each machine reads the
values of its parts only. Example, the second line on any machines:
  ferrosz part plan t.npy t.plan --parts 100 --range 1e-3
  ferrosz part run t.plan $I t.npy t.$I          for each I from 0 to 99
  ferrosz part join t.plan t.fsz t.{0..99}";

const REPORT_USAGE: &str = "ferrosz report [OPTIONS] FIELD [STREAM]...";

const REPORT_AFTER: &str = "\
The page is one file for any browser, without scripts or network. Examples:
  ferrosz report t.npy t.npy.fsz -o t.html      the stream against its original
  ferrosz report era5.nc:t2m --range 1e-2,1e-3  compresses the variable within two bounds, and shows both";

const STATS_AFTER: &str = "\
Missing values, which are NaNs and fill values, do not count. Example:
  ferrosz stats t2m.fsz --where '>310' --list 5";

const SEND_USAGE: &str = "ferrosz send [OPTIONS] <BOUND> HOST:PORT FIELD...
       ferrosz send [OPTIONS] --raw HOST:PORT FIELD...";

const SEND_AFTER: &str = "\
Windows of the array are compressed while earlier ones travel, and decompressed while later ones come. The receiver
compares the checksum of its values with the sender's. The connection has no encryption and no passwords: between
machines that do not trust the network, send through ssh -L.";

const RECEIVE_AFTER: &str = "\
An output appears under its name only when all has come, and the values are those that the sender has checked.
Example:
  ferrosz receive 0.0.0.0:7000 t.npy            on the one machine, and on the other
  ferrosz send --range 1e-3 that-machine:7000 t.npy";

/// Error-bounded lossy compression of scientific float arrays.
#[derive(Debug, Parser)]
#[command(name = "ferrosz", version, after_help = AFTER_HELP)]
pub struct CommandLine {
    /// Options of all commands.
    #[command(flatten)]
    pub common: Common,
    /// The command to run.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compress an array to a stream
    Compress(Compress),
    /// Decompress a stream, or a part of its array
    Decompress(Decompress),
    /// Replace a part of a compressed array, in place
    Update(Update),
    /// Write a stream without the chunks that updates replaced
    Compact(Compact),
    /// Check that streams are whole, without the original arrays
    Check(Check),
    /// Check that a stream keeps its error bound against the original array
    Verify(Verify),
    /// Show shape, codec, error bound and sizes of streams
    Info(Info),
    /// Show smallest and largest value and mean of a stream's array, or find values in it
    Stats(Stats),
    /// List presets and codecs, and the purpose of each
    Codecs(Codecs),
    /// Compress an array in parts, on as many machines as you like, and join them
    Part(Parts),
    /// Send arrays to another machine, compressed on the way
    Send(Send),
    /// Receive arrays that another machine sends
    Receive(Receive),
    /// Measure ratio, speed and error of every preset on arrays
    Bench(Bench),
    /// Write a page with pictures of an array, its streams and their errors
    Report(Report),
    /// Write, read and check cuSZp's own streams
    Cuszp(Bare<CuszpWriting, CuszpReading>),
    /// Write, read and check bare AATROX streams
    Aatrox(Bare<AatroxFlags, AatroxFlags>),
    /// Print the script with which a shell completes this command's words
    Completions(Completions),
    /// Print the manual page of this command, or of one of its commands
    Man(Man),
}

impl Command {
    /// Whether the command works on values, for which it starts threads.
    pub fn computes(&self) -> bool {
        !matches!(
            self,
            Self::Info(_) | Self::Codecs(_) | Self::Completions(_) | Self::Man(_)
        )
    }
}

/// `ferrosz codecs`.
#[derive(Debug, Args)]
pub struct Codecs {
    /// List what codecs with names of papers share with these papers, and what not
    #[arg(long)]
    pub papers: bool,
}

/// `ferrosz compress`.
#[derive(Debug, Args)]
#[command(override_usage = COMPRESS_USAGE, after_help = COMPRESS_AFTER)]
pub struct Compress {
    /// The arrays and streams.
    #[command(flatten)]
    pub files: Files,
    /// Element type and dimensions of raw values.
    #[command(flatten)]
    pub shape: ShapeFlags,
    /// The error bound, or the target of a search for it.
    #[command(flatten)]
    pub bound: BoundFlags,
    /// The preset or codec.
    #[command(flatten)]
    pub coding: CodingFlags,
    /// Value of missing elements, repeatable: a number, nan, none or auto (default)
    #[arg(long, value_name = "V", value_parser = fill_flag(), allow_negative_numbers = true)]
    pub fill: Vec<FillFlag>,
    /// Keep zeros or signs: zero, sign or none; by default a preset decides
    #[arg(
        long,
        value_name = "WHAT",
        value_enum,
        hide_possible_values = true,
        value_delimiter = ','
    )]
    pub keep: Vec<KeepFlag>,
    /// As --keep zero.
    #[arg(long, hide = true)]
    pub keep_zero: bool,
    /// As --keep sign.
    #[arg(long, hide = true)]
    pub keep_sign: bool,
    /// Promises about each value beside the bound.
    #[command(flatten)]
    pub safeguards: SafeguardFlags,
    /// Dimensions of blocks or tiles, 1 to 3; a preset chooses them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=3))]
    pub rank: Option<u8>,
    /// Tiles of a chunk of a codec of tiles: 4, 16 or 64; a preset chooses them. The help has no line for it, so that it
    /// fits a screen; docs/book/settings.md does.
    #[arg(long, value_name = "N", hide = true)]
    pub chunk_tiles: Option<u32>,
    /// Levels to code apart, for `decompress --level`; with splines. The help has no line for it, so that it fits a screen;
    /// docs/book/settings.md does.
    #[arg(long, value_name = "N", hide = true, value_parser = clap::value_parser!(u8).range(0..=9))]
    pub levels: Option<u8>,
    /// Code coefficients of wavelets, which have this absolute error, in place of values. The help has no line for it, so
    /// that it fits a screen; docs/book/settings.md does.
    #[arg(long, value_name = "ERROR", hide = true)]
    pub wavelets: Option<f64>,
    /// Roles of dimensions, as s,z,y,x: z, y and x together, s apart; auto searches
    #[arg(long, value_name = "ROLES")]
    pub axes: Option<AxesSetting>,
    /// ratio (default), or quality: a higher PSNR at the same bound, with splines
    #[arg(long, value_name = "WHAT")]
    pub prefer: Option<Preference>,
    /// Leave out the statistics of the array, which take a thousandth of the stream at most. The help has no line for it, so
    /// that it fits a screen; docs/book/settings.md does.
    #[arg(long, hide = true)]
    pub no_stats: bool,
    /// Write statistics even if they take more, as in a short stream.
    #[arg(long, hide = true, conflicts_with = "no_stats")]
    pub stats: bool,
    /// IN is raw frames of --dims each, without end: compress each as it comes. The help has an example in place of a line for
    /// it, so that it fits a screen.
    #[arg(long, hide = true)]
    pub frames: bool,
}

/// Zeros and signs that are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum KeepFlag {
    /// With a preset: signs of arrays without negative values, and zeros above 1 %.
    Auto,
    /// Neither by a preset.
    None,
    /// Zeros.
    Zero,
    /// Signs.
    Sign,
}

/// Element type and dimensions of an array; needed for raw values.
#[derive(Debug, Clone, Default, Args)]
pub struct ShapeFlags {
    /// The type of raw values. Clap's own list of the names takes a line more in `compress --help`.
    #[arg(long, value_name = "TYPE", value_parser = array_type(), hide_possible_values = true, help = types_of_raw_values())]
    pub dtype: Option<ArrayType>,
    /// Dimensions of raw values, slowest first
    #[arg(long, value_name = "Z,Y,X")]
    pub dims: Option<Dims>,
    /// Take integers of NetCDF as stored, without scale_factor and add_offset
    #[arg(long)]
    pub packed: bool,
}

/// `ferrosz decompress`.
#[derive(Debug, Args)]
#[command(override_usage = DECOMPRESS_USAGE, after_help = DECOMPRESS_AFTER)]
pub struct Decompress {
    /// The streams and arrays.
    #[command(flatten)]
    pub files: Files,
    /// Decompress a damaged stream: lost values become NaN, of integers 0, and the lost parts are listed
    #[arg(long, conflicts_with = "part")]
    pub salvage: bool,
    /// The part of the array to decompress; all of it if not given.
    #[command(flatten)]
    pub part: PartFlags,
    /// Every 2^K-th value along each dimension, of the array or of a box: quick where levels were compressed apart
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(0..64), conflicts_with_all = ["elements", "salvage", "frames"])]
    pub level: Option<u32>,
    /// Of a file of frames, these: a number or a range, its end not included; also --frame
    #[arg(long, alias = "frame", value_name = "FROM:TO")]
    pub frames: Option<OpenRange>,
}

/// `ferrosz update`.
#[derive(Debug, Args)]
#[command(mut_group("part", |group| group.required(true)))]
pub struct Update {
    /// File of the stream to change; however the command ends, the file holds the old stream or the new one
    #[arg(value_name = "STREAM", value_parser = location())]
    pub stream: Location,
    /// Array to put in: .npy, raw values of the stream's type, or '-'; as many values as the part has
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

/// `ferrosz part`.
#[derive(Debug, Args)]
#[command(after_help = PART_AFTER)]
pub struct Parts {
    /// Plan, run or join.
    #[command(subcommand)]
    pub action: PartsAction,
}

/// The steps of a compression in parts.
#[derive(Debug, Subcommand)]
pub enum PartsAction {
    /// Decide bound, codec and parameters, and write them to a plan
    Plan(PartPlan),
    /// Compress one part by a plan
    Run(PartRun),
    /// Join all parts to a stream
    Join(PartJoin),
}

/// `ferrosz part plan`.
#[derive(Debug, Args)]
pub struct PartPlan {
    /// Array to compress: .npy, a variable, or raw values
    #[arg(value_name = "ARRAY", value_parser = location())]
    pub array: Location,
    /// Plan to write
    #[arg(value_name = "PLAN", value_parser = location())]
    pub plan: Location,
    /// Number of parts
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub parts: u64,
    /// Whether the output may replace a file.
    #[command(flatten)]
    pub replace: Replace,
    /// Element type and dimensions of raw values.
    #[command(flatten)]
    pub shape: ShapeFlags,
    /// The error bound.
    #[command(flatten)]
    pub bound: BoundFlags,
    /// The preset or codec.
    #[command(flatten)]
    pub coding: CodingFlags,
    /// none: code missing elements like any values; without it, an array that has some is refused
    #[arg(long, value_name = "V", value_parser = fill_flag())]
    pub fill: Option<FillFlag>,
    /// Dimensions of blocks or tiles, 1 to 3; a preset chooses them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=3))]
    pub rank: Option<u8>,
    /// Roles of dimensions, as s,z,y,x: z, y and x together, s apart; auto searches
    #[arg(long, value_name = "ROLES")]
    pub axes: Option<AxesSetting>,
    /// ratio (default), or quality: a higher PSNR at the same bound, with splines
    #[arg(long, value_name = "WHAT")]
    pub prefer: Option<Preference>,
}

/// `ferrosz part run`.
#[derive(Debug, Args)]
pub struct PartRun {
    /// The plan
    #[arg(value_name = "PLAN", value_parser = location())]
    pub plan: Location,
    /// Number of the part, from 0 on
    #[arg(value_name = "NUMBER")]
    pub number: u64,
    /// The array of the plan; raw values without --dtype and --dims have those of the plan
    #[arg(value_name = "ARRAY", value_parser = location())]
    pub array: Location,
    /// Part to write
    #[arg(value_name = "PART", value_parser = location())]
    pub part: Location,
    /// Whether the output may replace a file.
    #[command(flatten)]
    pub replace: Replace,
    /// Element type and dimensions of raw values.
    #[command(flatten)]
    pub shape: ShapeFlags,
}

/// `ferrosz part join`.
#[derive(Debug, Args)]
pub struct PartJoin {
    /// The plan
    #[arg(value_name = "PLAN", value_parser = location())]
    pub plan: Location,
    /// Stream to write
    #[arg(value_name = "OUT", value_parser = location())]
    pub output: Location,
    /// The parts, in any order
    #[arg(value_name = "PART", required = true, value_parser = location())]
    pub parts: Vec<Location>,
    /// Whether the output may replace a file.
    #[command(flatten)]
    pub replace: Replace,
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
    /// The original array: .npy, a variable, raw values, or '-'
    #[arg(value_name = "ORIGINAL", value_parser = location())]
    pub original: Location,
    /// The stream, or '-'
    #[arg(value_name = "STREAM", value_parser = location())]
    pub stream: Location,
    /// Element type and dimensions of the original; those of the stream for raw values without flags.
    #[command(flatten)]
    pub shape: ShapeFlags,
    /// The bounds of values that were given to `compress`, which a stream does not have.
    #[arg(long, value_name = "FILE", hide = true, value_parser = location())]
    pub abs_field: Option<Location>,
    /// Also draw original, reconstruction and error, in the slice with the largest error
    #[arg(long, value_name = "PNG", value_parser = location())]
    pub picture: Option<Location>,
    /// Whether the picture may replace a file.
    #[command(flatten)]
    pub replace: Replace,
}

/// `ferrosz info`.
#[derive(Debug, Args)]
pub struct Info {
    /// Streams, or '-'
    #[arg(value_name = "STREAM", required = true, value_parser = location())]
    pub streams: Vec<Location>,
}

/// `ferrosz stats`.
#[derive(Debug, Args)]
#[command(after_help = STATS_AFTER)]
pub struct Stats {
    /// The stream, or '-'
    #[arg(value_name = "STREAM", value_parser = location())]
    pub stream: Location,
    /// Find values: '>N', '>=N', '<N', '<=N', or 'A..B', both included; reads only chunks that may have some
    #[arg(long = "where", value_name = "VALUES", allow_hyphen_values = true)]
    pub wanted: Option<Wanted>,
    /// List the first N places and values that are found
    #[arg(long, value_name = "N", requires = "wanted")]
    pub list: Option<usize>,
    /// Decode all of the array, and show what its decoded values are
    #[arg(long, conflicts_with = "wanted")]
    pub decode: bool,
}

/// `ferrosz send`.
#[derive(Debug, Args)]
#[command(
    override_usage = SEND_USAGE,
    after_help = SEND_AFTER,
    mut_group("BoundFlags", |group| group.arg("raw")),
    mut_arg("psnr", |target| target.hide(true)),
    mut_arg("rmse", |target| target.hide(true)),
    mut_arg("mae", |target| target.hide(true)),
    mut_arg("ratio", |target| target.hide(true))
)]
pub struct Send {
    /// Where `ferrosz receive` listens
    #[arg(value_name = "HOST:PORT")]
    pub address: String,
    /// Arrays: .npy, variables, raw values, or '-'; each is sent in a connection of its own
    #[arg(value_name = "FIELD", required = true, value_parser = location())]
    pub fields: Vec<Location>,
    /// Element type and dimensions of raw values.
    #[command(flatten)]
    pub shape: ShapeFlags,
    /// The error bound.
    #[command(flatten)]
    pub bound: BoundFlags,
    /// Send the values as they are, without compression
    #[arg(long)]
    pub raw: bool,
    /// The preset or codec.
    #[command(flatten)]
    pub coding: CodingFlags,
    /// Value of missing elements, repeatable: a number, nan, none or auto (default)
    #[arg(long, value_name = "V", value_parser = fill_flag(), allow_negative_numbers = true)]
    pub fill: Vec<FillFlag>,
    /// Bytes of the values of a window, such as 16MiB; by default a sixteenth of the array, but 1 to 64 MiB. The receiver
    /// takes more than 64 MiB only with its --window
    #[arg(long, value_name = "SIZE", value_parser = window)]
    pub window: Option<u64>,
    /// Send no faster than this, such as 1GB/s
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub limit: Option<Rate>,
    /// Seconds to wait for a receiver that does not listen yet
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub wait: u64,
    /// Seconds in which nothing goes through, after which the transfer has failed
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: u64,
}

impl Send {
    /// The time of `--timeout`.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout)
    }
}

/// `ferrosz receive`.
#[derive(Debug, Args)]
#[command(after_help = RECEIVE_AFTER)]
pub struct Receive {
    /// Port on this machine alone, or ADDRESS:PORT; 0.0.0.0:PORT for other machines
    #[arg(value_name = "PORT")]
    pub address: String,
    /// Outputs, one for each array that will come: .npy by its suffix, else raw values; or '-'
    #[arg(value_name = "OUT", required = true, value_parser = location())]
    pub outputs: Vec<Location>,
    /// Whether the outputs may replace files.
    #[command(flatten)]
    pub replace: Replace,
    /// Keep the streams of the windows, as files in the folder OUT, not the values
    #[arg(long)]
    pub streams: bool,
    /// Refuse an array of more bytes than this, such as 20GiB; one for which the disk has no room is refused anyway
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub most: Option<u64>,
    /// Bytes of the values of a window at most, such as 256MiB: a few windows are in memory; 64 MiB by default
    #[arg(long, value_name = "SIZE", value_parser = window)]
    pub window: Option<u64>,
    /// Seconds in which nothing comes from a sender, after which the transfer has failed; all of a greeting comes in so
    /// many, but 10 at most
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    pub timeout: u64,
}

impl Receive {
    /// The time of `--timeout`.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout)
    }
}

/// `ferrosz bench`.
#[derive(Debug, Args)]
#[command(
    override_usage = "ferrosz bench [OPTIONS] FIELD...",
    mut_arg("range", |range| range.help("Error bounds relative to the range; 1e-3 if no bounds are given"))
)]
pub struct Bench {
    /// Arrays: .npy, variables, raw values, or '-'
    #[arg(value_name = "FIELD", value_parser = location())]
    pub fields: Vec<Location>,
    /// Element type and dimensions of raw values.
    #[command(flatten)]
    pub shape: ShapeFlags,
    /// The error bounds.
    #[command(flatten)]
    pub bounds: Bounds,
    /// Value of missing elements, repeatable: a number, nan, none or auto (default)
    #[arg(long, value_name = "V", value_parser = fill_flag(), allow_negative_numbers = true)]
    pub fill: Vec<FillFlag>,
    /// Timed calls for each median, after one call that is not timed
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
    /// Also the time through links of these GB/s, raw and with every preset, as in 1,11.4,32,55
    #[arg(long, value_name = "RATE,...", value_delimiter = ',', value_parser = rate)]
    pub link: Vec<Rate>,
}

/// `ferrosz report`.
#[derive(Debug, Args)]
#[command(
    override_usage = REPORT_USAGE,
    after_help = REPORT_AFTER,
    mut_arg("range", |range| range.help("Error bounds relative to the range; 1e-2,1e-3,1e-4 if no bounds are given"))
)]
pub struct Report {
    /// The array: .npy, a variable, raw values, or '-'
    #[arg(value_name = "FIELD", value_parser = location())]
    pub field: Location,
    /// Streams of it; without any, it is compressed within each bound
    #[arg(value_name = "STREAM", value_parser = location())]
    pub streams: Vec<Location>,
    /// Page to write
    #[arg(long, short, value_name = "HTML", default_value = "report.html", value_parser = location())]
    pub output: Location,
    /// Whether the page may replace a file.
    #[command(flatten)]
    pub replace: Replace,
    /// Element type and dimensions of raw values; those of the first stream without flags.
    #[command(flatten)]
    pub shape: ShapeFlags,
    /// The error bounds.
    #[command(flatten)]
    pub bounds: Bounds,
    /// The preset or codec.
    #[command(flatten)]
    pub coding: CodingFlags,
    /// Value of missing elements, repeatable: a number, nan, none or auto (default)
    #[arg(long, value_name = "V", value_parser = fill_flag(), allow_negative_numbers = true)]
    pub fill: Vec<FillFlag>,
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

/// Parses a location.
pub fn location() -> impl TypedValueParser<Value = Location> {
    OsStringValueParser::new().map(Location::from)
}

/// NumPy's names of a type, beside ferrosz's own.
const NUMPY: [(&str, &[&str]); 10] = [
    ("f32", &["float32", "single", "f4", "<f4"]),
    ("f64", &["float64", "double", "f8", "<f8"]),
    ("f16", &["float16", "half", "f2", "<f2"]),
    ("bf16", &["bfloat16"]),
    ("i16", &["int16", "i2", "<i2"]),
    ("u16", &["uint16", "u2", "<u2"]),
    ("i32", &["int32", "i4", "<i4"]),
    ("u32", &["uint32", "u4", "<u4"]),
    ("c64", &["complex64", "c8", "<c8"]),
    ("c128", &["complex128", "c16", "<c16"]),
];

/// The values of `--dtype`: the names of types, and as hidden ones those of NumPy.
fn type_names(names: impl Iterator<Item = &'static str>) -> PossibleValuesParser {
    PossibleValuesParser::new(names.map(|name| {
        let aliases = NUMPY.iter().filter(|(own, _)| *own == name);
        PossibleValue::new(name).aliases(aliases.flat_map(|(_, aliases)| aliases.iter().copied()))
    }))
}

/// The own name of a type that may have NumPy's.
fn own_name(name: &str) -> &str {
    let known = NUMPY.iter().find(|(_, aliases)| aliases.contains(&name));
    known.map_or(name, |(own, _)| own)
}

/// All types of arrays.
fn array_types() -> Vec<ArrayType> {
    let complex = ArrayType::COMPLEX.map(|(_, dtype)| ArrayType {
        dtype,
        is_complex: true,
    });
    let real = ValueType::ALL.into_iter().map(ArrayType::real);
    real.chain(complex).collect()
}

fn types_of_raw_values() -> String {
    let names: Vec<_> = array_types().into_iter().map(ArrayType::name).collect();
    format!("Type of raw values: {}", names.join(", "))
}

fn array_type() -> impl TypedValueParser<Value = ArrayType> {
    let all = array_types();
    type_names(all.clone().into_iter().map(ArrayType::name)).try_map(move |name| {
        all.iter()
            .copied()
            .find(|of| of.name() == own_name(&name))
            .ok_or("unknown type of values")
    })
}

/// Parses an element type.
pub fn dtype() -> impl TypedValueParser<Value = Dtype> {
    type_names(Dtype::ALL.into_iter().map(|dtype| dtype.name())).try_map(|name| {
        Dtype::ALL
            .into_iter()
            .find(|dtype| dtype.name() == own_name(&name))
            .ok_or("unknown element type")
    })
}

/// Parses a rank: the shape of its blocks.
pub fn rank(text: &str) -> Result<Shape, String> {
    let number = text.parse().ok();
    (number.and_then(Shape::of_rank)).ok_or_else(|| "a rank is 1, 2 or 3".to_owned())
}

/// Parses the size of a window.
fn window(text: &str) -> Result<u64, String> {
    match size(text)? {
        bytes if bytes <= MOST_WINDOW_BYTES => Ok(bytes),
        _ => Err("a window has 1 GiB at most".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::bound_value;
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
