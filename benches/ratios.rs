//! Compression ratios on the CPU. Nothing is timed: the numbers are the same on every machine.
//!
//! ```text
//! ratios [--json FILE] FIELD.f32:Z,Y,X[:MISSING] ...
//! ```
//!
//! Fields are raw little-endian `f32` files. Values equal to MISSING are read as NaN. For each field and range bound it
//! prints the following ratios as Markdown:
//!
//! * `CODEC RANK`: ferrosz's container with each codec and rank of blocks that the field can have, and the preset's
//!   choice. Each stream is decompressed, and the bound judged in `f64`; NaNs must come back bit for bit. A fault ends
//!   the program.
//! * `bare cuszp MODE RANK` and `bare aatrox`: cuSZp's and AATROX's own streams, with the absolute error as cuSZp's
//!   command computes it. These formats do not promise a bound, so their values beyond it are counted.
//! * `bare aatrox, short layers`: AATROX with layers of 8192 elements instead of 32,768.
//!
//! The JSON also has bytes, chunks and chunks with exceptions.

use ferrosz::stream::{Extents, Layout};
use ferrosz::{Bound, Codec, Compressor, Decompressor, Device, Preset, Shape, info};
use ferrosz_cuszp::aatrox;
use ferrosz_cuszp::cuszp::{self, Mode};
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

const RELATIVE: [f64; 3] = [1e-2, 1e-3, 1e-4];

/// Elements of a layer in ferrosz's container; bytes of the rates before the payload in AATROX's layers of 32,768
/// elements, and in short layers.
const SHORT_LAYER: usize = 8192;
const LONG_LAYER_RATES: usize = 1024;
const SHORT_LAYER_RATES: usize = 256;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// A field with its range.
struct Field {
    name: String,
    extents: Extents,
    values: Vec<f32>,
    lowest: f32,
    highest: f32,
}

/// The results of one stream.
struct Row {
    name: String,
    ratio: f64,
    json: String,
}

fn main() -> Outcome<()> {
    let mut json = None;
    let mut files = Vec::new();
    // `cargo bench` adds `--bench`.
    let mut arguments = env::args().skip(1).filter(|argument| argument != "--bench");
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--json" => json = Some(arguments.next().ok_or("--json FILE")?),
            _ => files.push(argument),
        }
    }
    if files.is_empty() {
        println!("not measured: name at least one field, as FIELD.f32:Z,Y,X");
        return Ok(());
    }
    let mut objects = Vec::new();
    for file in &files {
        let field = Field::read(file).map_err(|error| format!("{file}: {error}"))?;
        let mut rows = Vec::new();
        for relative in RELATIVE {
            field.containers(relative, &mut rows)?;
            field.bare(relative, &mut rows)?;
        }
        println!("{}", field.to_markdown(&rows)?);
        objects.extend(rows.into_iter().map(|row| row.json));
    }
    if let Some(path) = json {
        fs::write(path, format!("[\n{}\n]\n", objects.join(",\n")))?;
    }
    Ok(())
}

impl Field {
    /// Reads the file and the dimensions of an argument.
    fn read(argument: &str) -> Outcome<Self> {
        let mut parts = argument.split(':');
        let path = Path::new(parts.next().unwrap_or_default());
        let lengths = parts.next().ok_or("no dimensions")?;
        let lengths: Vec<u64> = lengths
            .split(',')
            .map(str::parse)
            .collect::<Result<_, _>>()?;
        let missing: Option<f32> = parts.next().map(str::parse).transpose()?;
        let mut values: Vec<f32> = bytemuck::pod_collect_to_vec(&fs::read(path)?);
        for value in &mut values {
            if Some(*value) == missing {
                *value = f32::NAN;
            }
        }
        let extents = Extents::new(&lengths).ok_or("bad dimensions")?;
        if extents.elements() != values.len() as u64 {
            return Err("the dimensions are not the file's".into());
        }
        let finite = || values.iter().copied().filter(|value| value.is_finite());
        Ok(Self {
            name: path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into(),
            extents,
            lowest: finite().fold(f32::INFINITY, f32::min),
            highest: finite().fold(f32::NEG_INFINITY, f32::max),
            values,
        })
    }

    /// The number of dimensions longer than 1: the highest rank of blocks.
    fn rank(&self) -> usize {
        let is_long = |length: &&u64| **length > 1;
        self.extents.lengths().iter().filter(is_long).count()
    }

    /// The container with every layout, and with the preset's choice.
    fn containers(&self, relative: f64, rows: &mut Vec<Row>) -> Outcome<()> {
        let bound = Bound::range(relative)?;
        let all = Codec::ALL.into_iter();
        for (codec, shape) in all.flat_map(|codec| Shape::ALL.map(|shape| (codec, shape))) {
            let layout = Layout::new(codec, shape, self.extents);
            // Other shapes repeat a layout of fewer dimensions.
            if layout.shape == shape {
                let compressor = Compressor::new(codec, bound).with_rank(shape.rank())?;
                let compressor = compressor.extents(self.extents.lengths())?;
                rows.push(self.container(
                    relative,
                    format!("{codec} {}", shape.rank()),
                    compressor,
                )?);
            }
        }
        let automatic = Compressor::new(Preset::Small, bound).extents(self.extents.lengths())?;
        let chosen = automatic.choose(&self.values)?;
        let codec = chosen.codec().ok_or("nothing chosen")?;
        let name = format!("auto: {codec} {}", chosen.rank().unwrap_or(1));
        rows.push(self.container(relative, name, automatic)?);
        Ok(())
    }

    /// One container, whose values are judged.
    fn container(&self, relative: f64, name: String, compressor: Compressor) -> Outcome<Row> {
        let stream = compressor.device(Device::Cpu).compress(&self.values)?;
        let decompressor = Decompressor::new().device(Device::Cpu);
        let over = self.over(relative, &decompressor.decompress::<f32>(&stream)?);
        if over > 0 {
            return Err(format!("{}, {name}, {relative:e}: {over} over", self.name).into());
        }
        let (chunks, forms) = info(&stream).map(|info| (info.chunks, info.forms))?;
        let forms = format!(
            ", \"chunks\": {chunks}, \"zero\": {}, \"raw\": {}, \"with_exceptions\": {}",
            forms.zero, forms.raw, forms.coded_with_exceptions
        );
        Ok(self.row(relative, name, stream.len(), over, &forms))
    }

    /// The number of values whose error exceeds the bound; a NaN does not count if it comes back bit for bit.
    fn over(&self, relative: f64, decoded: &[f32]) -> u64 {
        let bound = relative * (f64::from(self.highest) - f64::from(self.lowest));
        let is_kept = |(x, y): (&f32, &f32)| {
            x.to_bits() == y.to_bits() || (f64::from(*x) - f64::from(*y)).abs() <= bound
        };
        let kept = self
            .values
            .iter()
            .zip(decoded)
            .filter(|(x, y)| is_kept((x, y)))
            .count();
        (self.values.len() - kept) as u64
    }

    /// cuSZp's and AATROX's own streams.
    fn bare(&self, relative: f64, rows: &mut Vec<Row>) -> Outcome<()> {
        let error = relative as f32 * (self.highest - self.lowest);
        let mut push = |name: String, bytes: usize, decoded: &[f32]| {
            let over = self.over(relative, decoded);
            rows.push(self.row(relative, name, bytes, over, ""));
        };
        let mut dims = [1; 3];
        let lengths = self.extents.lengths();
        dims[3 - lengths.len()..].copy_from_slice(lengths);
        for mode in Mode::ALL {
            for rank in Shape::ALL.into_iter().take(self.rank().max(1)) {
                let params = cuszp::Params::new(rank, mode, dims, error);
                let stream = cuszp::compress(&params, &self.values)?;
                let name = format!("bare cuszp {} {}", mode.name(), rank.rank());
                push(name, stream.len(), &cuszp::decompress(&params, &stream)?);
            }
        }
        let elements = self.values.len() as u64;
        let params = aatrox::Params { elements, error };
        let stream = aatrox::compress(&params, &self.values)?;
        let decoded = aatrox::decompress(&params, &stream)?;
        push("bare aatrox".into(), stream.len(), &decoded);
        let bytes = self.short_layers(error)?;
        push("bare aatrox, short layers".into(), bytes, &decoded);
        Ok(())
    }

    /// Bytes of an AATROX stream with short layers: each layer is compressed alone, and the rates of the unused rest of
    /// its long layer are subtracted.
    fn short_layers(&self, error: f32) -> Outcome<usize> {
        let mut bytes = 0;
        for layer in self.values.chunks(SHORT_LAYER) {
            let elements = layer.len() as u64;
            let stream = aatrox::compress(&aatrox::Params { elements, error }, layer)?;
            bytes += stream.len() - (LONG_LAYER_RATES - SHORT_LAYER_RATES);
        }
        Ok(bytes)
    }

    fn row(&self, relative: f64, name: String, bytes: usize, over: u64, forms: &str) -> Row {
        let ratio = size_of_val(&self.values[..]) as f64 / bytes as f64;
        let json = format!(
            "{{\"field\": \"{}\", \"range\": {relative:e}, \"stream\": \"{name}\", \"ratio\": {ratio:.4}, \"bytes\": {bytes}, \"over\": {over}{forms}}}",
            self.name
        );
        Row { name, ratio, json }
    }

    /// A table of the ratios: a line for each stream, a column for each bound.
    fn to_markdown(&self, rows: &[Row]) -> Outcome<String> {
        let mut text = format!("| {} {:?}", self.name, self.extents.lengths());
        for relative in RELATIVE {
            write!(text, " | {relative:e}")?;
        }
        text.push_str(" |\n| --- | --- | --- | --- |\n");
        let per_bound = rows.len() / RELATIVE.len();
        for (i, first) in rows[..per_bound].iter().enumerate() {
            text.push_str("| ");
            text.push_str(first.name.split(':').next().unwrap_or_default());
            for row in rows[i..].iter().step_by(per_bound) {
                write!(text, " | {:.2}", row.ratio)?;
                if let Some((_, choice)) = row.name.split_once(": ") {
                    write!(text, " ({choice})")?;
                }
            }
            text.push_str(" |\n");
        }
        Ok(text)
    }
}
