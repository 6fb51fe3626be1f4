//! The command line of `ferrosz-lab bench`.

use super::synthetic::Kind;
use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};
use ferrosz::codec::tile::ChunkLength;
use ferrosz::{Codec, Shape};
use ferrosz_cli::args::{self, Dims, ShapeFlags};
use ferrosz_cli::{bounds::Bounds, codec_choice, location::Location, units::size};
use std::ffi::OsString;
use std::str::FromStr;

/// Bounds relative to the range if none are given.
pub const RANGES: [f64; 3] = [1e-2, 1e-3, 1e-4];

/// Edge of a synthetic field if none is given.
const EDGE: u64 = 256;

/// The fields that are measured.
#[derive(Debug, Args)]
pub struct Fields {
    /// Arrays to measure: .npy, raw values, or '-'; a raw array may carry its own dimensions
    #[arg(value_name = "FIELD[:Z,Y,X]", value_parser = file())]
    pub files: Vec<File>,
    /// Element type and dimensions of raw arrays.
    #[command(flatten)]
    pub shape: ShapeFlags,
    /// A synthetic field: waves (with noise), sparse (mostly zero), walk (random) or signs (random ones of waves); a cube
    /// of EDGE, by default 256. Without any FIELD: waves
    #[arg(long, value_name = "NAME[:EDGE]")]
    pub synthetic: Vec<Synthetic>,
}

/// A synthetic field, and the number of runs.
#[derive(Debug, Args)]
pub struct Cube {
    /// Elements along each of the three edges of the field
    #[arg(long, value_name = "N", default_value_t = 512, value_parser = clap::value_parser!(u64).range(1..=2048))]
    pub edge: u64,
    /// Timed runs, after some that are not timed
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
}

/// Codecs and bounds, and whether to measure on the host, too.
#[derive(Debug, Args)]
pub struct Sweep {
    /// Codecs
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = codec_choice::named)]
    pub codec: Vec<Codec>,
    /// Bounds relative to the range
    #[arg(long, value_name = "E,...", value_delimiter = ',')]
    pub range: Vec<f64>,
    /// Also calls on slices of the host
    #[arg(long)]
    pub host: bool,
}

/// `ferrosz-lab bench`.
#[derive(Debug, Args)]
#[command(mut_arg("range", |range| {
    range.help("Error bounds relative to the range; 1e-2,1e-3,1e-4 if no bounds are given")
}))]
pub struct Flags {
    /// The fields.
    #[command(flatten)]
    pub fields: Fields,
    /// Codecs; all, if not given
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = codec_choice::named, conflicts_with = "bare")]
    pub codec: Vec<Codec>,
    /// Dimensions of blocks or tiles; all that the array has, if not given
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = args::rank)]
    pub rank: Vec<Shape>,
    /// Tiles of a chunk, with codecs of tiles: 4, 16 or 64
    #[arg(long, value_name = "N", default_value = "4", value_parser = chunk_length)]
    pub chunk_tiles: ChunkLength,
    /// Levels that are coded apart, with codecs that have levels
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub levels: u8,
    /// The error bounds.
    #[command(flatten)]
    pub bounds: Bounds,
    /// Widen f32 arrays to f64
    #[arg(long)]
    pub f64: bool,
    /// Only the first N bytes of each array, as a line; units KiB, MiB and GiB are understood
    #[arg(long, value_name = "N", value_parser = size)]
    pub bytes: Vec<u64>,
    /// Timed runs, after some that are not timed
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
    /// Time calls on a GPU by the host's clock, from an idle GPU until length and errors are known, instead of between
    /// events
    #[arg(long)]
    pub host_clock: bool,
    /// Measure cuSZp's and AATROX's own streams instead of ferrosz's
    #[arg(long)]
    pub bare: bool,
}

/// The source of a field.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// A file.
    File(File),
    /// A synthetic field.
    Synthetic(Synthetic),
}

impl Fields {
    /// The sources of all fields; by default one synthetic field.
    pub fn sources(&self) -> Vec<Source> {
        let files = self.files.iter().cloned().map(Source::File);
        let made = self.synthetic.iter().copied().map(Source::Synthetic);
        let mut sources: Vec<Source> = files.chain(made).collect();
        if sources.is_empty() {
            let (kind, edge) = (Kind::Waves, EDGE);
            sources.push(Source::Synthetic(Synthetic { kind, edge }));
        }
        sources
    }
}

impl Flags {
    /// All ranks, or the default ones.
    pub fn shapes(&self) -> Vec<Shape> {
        match &self.rank[..] {
            [] => Shape::ALL.to_vec(),
            asked => asked.to_vec(),
        }
    }
}

fn chunk_length(text: &str) -> Result<ChunkLength, String> {
    let tiles = text.parse().ok();
    (tiles.and_then(ChunkLength::of_tiles))
        .ok_or_else(|| "a chunk has 4, 16 or 64 tiles".to_owned())
}

/// A file and its dimensions on the command line.
#[derive(Debug, Clone, PartialEq)]
pub struct File {
    /// The file.
    pub location: Location,
    /// Its dimensions.
    pub dims: Option<Dims>,
}

/// The parser of an array to measure.
pub fn file() -> impl TypedValueParser<Value = File> {
    OsStringValueParser::new().map(File::of)
}

impl File {
    /// The file of an argument that may end with dimensions.
    pub fn of(argument: OsString) -> Self {
        let split = argument.to_str().and_then(|text| {
            let (name, dims) = text.rsplit_once(':')?;
            Some((OsString::from(name), dims.parse().ok()?))
        });
        let (name, dims) = split.map_or((argument, None), |(name, dims)| (name, Some(dims)));
        let location = name.into();
        Self { location, dims }
    }
}

/// A synthetic field: a cube.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Synthetic {
    /// Its kind.
    pub kind: Kind,
    /// The cube's edge.
    pub edge: u64,
}

impl FromStr for Synthetic {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, edge) = match text.split_once(':') {
            Some((name, edge)) => (name, edge.parse().ok().filter(|edge| *edge <= 1 << 14)),
            None => (text, Some(EDGE)),
        };
        let kind = Kind::from_name(name).ok_or_else(|| {
            let names = Kind::ALL.map(Kind::name).join(", ");
            format!("'{name}' is no field that can be made: {names}")
        })?;
        match edge {
            Some(edge) if edge > 0 => Ok(Self { kind, edge }),
            _ => Err("an edge is a number from 1 to 16384, as in waves:128".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_fields_have_a_name_and_an_edge() {
        let (kind, edge) = (Kind::Walk, 10);
        assert_eq!("walk:10".parse(), Ok(Synthetic { kind, edge }));
        assert_eq!("walk".parse(), Ok(Synthetic { kind, edge: EDGE }));
        for bad in ["", "walk:", "walk:0", "walk:-1", "walk:99999", "talk"] {
            assert!(bad.parse::<Synthetic>().is_err(), "{bad}");
        }
    }

    #[test]
    fn files_may_carry_dimensions() {
        let parse = |text: &str| {
            let command = clap::Command::new("test");
            file().parse_ref(&command, None, text.as_ref()).unwrap()
        };
        let found = parse("a.f32:2,3");
        assert_eq!(found.location, Location::File("a.f32".into()));
        assert_eq!(found.dims, Some(Dims(vec![2, 3])));
        for name in ["a.npy", "b:c", "C:\\a.npy"] {
            let found = parse(name);
            assert_eq!(
                (found.location, found.dims),
                (Location::File(name.into()), None)
            );
        }
    }
}
