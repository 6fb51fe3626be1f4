//! The choice of the presets, beside all that they choose from: the size of each candidate's stream, what was chosen, and
//! the time that a call with the preset takes more than one with what it chooses.
//!
//! ```text
//! choice [--known FILE] [--preset NAME] [--bounds 1e-2,1e-3] [--device NAME] FIELD.f32:Z,Y,X[:MISSING] ...
//! ```
//!
//! Fields are raw little-endian files of `f32` or, by their suffix, `f64`. Values equal to MISSING are read as NaN. Each
//! field is measured whole and in cuts of itself: as a line, a plane, a box, in four dimensions, with a part missing,
//! and one that is mostly constant. Candidates have chunks of the length that the choice would take for their sizes. FILE
//! keeps the sizes of the candidates' streams between runs; they do not depend on the choice. The device, the CPU without one,
//! compresses fields of the host.

use ferrosz::codec::tile::ChunkLength;
use ferrosz::stream::{Extents, Layout};
use ferrosz::{Bound, Choice, Compressor, Device, Element, Preset, Shape, info};
use std::collections::HashMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};
use std::{env, fs};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// A choice counts as right if its stream is at most this much longer than the shortest.
const RIGHT: f64 = 1.01;

/// Times are the least of this many calls, as others use the machine.
const CALLS: u32 = 5;

struct Options {
    known: Known,
    preset: Preset,
    bounds: Vec<f64>,
    device: Device,
}

/// Sizes of streams, by field, bound, codec and rank; a line of the file for each.
struct Known {
    path: Option<String>,
    sizes: HashMap<String, usize>,
}

/// The result of a field and a bound.
struct Row {
    field: String,
    bound: f64,
    chosen: String,
    bytes: usize,
    best: String,
    least: usize,
    choice: Duration,
    compression: Duration,
    field_bytes: usize,
}

fn main() -> Outcome<()> {
    let mut options = Options {
        known: Known::read(None),
        preset: Preset::Small,
        bounds: vec![3e-2, 1e-2, 3e-3, 1e-3, 1e-4, 3e-5],
        device: Device::Cpu,
    };
    let mut files = Vec::new();
    // `cargo bench` adds `--bench`.
    let mut arguments = env::args().skip(1).filter(|argument| argument != "--bench");
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument}: no value"));
        match argument.as_str() {
            "--known" => options.known = Known::read(Some(value()?)),
            "--preset" => options.preset = value()?.parse()?,
            "--device" => options.device = value()?.parse()?,
            "--bounds" => {
                let bounds = value()?;
                options.bounds = bounds
                    .split(',')
                    .map(str::parse)
                    .collect::<Result<_, _>>()?;
            }
            _ => files.push(argument),
        }
    }
    if files.is_empty() {
        println!("not measured: name at least one field, as FIELD.f32:Z,Y,X");
        return Ok(());
    }
    println!(
        "| field | bound | chosen | bytes | shortest | bytes | over it | choice, ms | compression, ms | choice / compression |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let mut rows = Vec::new();
    for file in &files {
        let (path, rest) = file.split_once(':').ok_or("no dimensions")?;
        match Path::new(path)
            .extension()
            .and_then(|suffix| suffix.to_str())
        {
            Some("f64") => of_file::<f64>(path, rest, &mut options, &mut rows),
            _ => of_file::<f32>(path, rest, &mut options, &mut rows),
        }
        .map_err(|error| format!("{file}: {error}"))?;
    }
    println!("\n{}", summary(&rows));
    Ok(())
}

/// Measures the fields that are made of a file.
fn of_file<T: Element>(
    path: &str,
    rest: &str,
    options: &mut Options,
    rows: &mut Vec<Row>,
) -> Outcome<()> {
    let (lengths, missing) = rest.split_once(':').unwrap_or((rest, ""));
    let lengths: Vec<usize> = lengths
        .split(',')
        .map(str::parse)
        .collect::<Result<_, _>>()?;
    let missing: Option<f64> = match missing {
        "" => None,
        value => Some(value.parse()?),
    };
    let mut values: Vec<T> = bytemuck::pod_collect_to_vec(&fs::read(path)?);
    if lengths.iter().product::<usize>() != values.len() {
        return Err("the dimensions are not the file's".into());
    }
    for value in &mut values {
        if missing.is_some_and(|missing| value.to_f64() == T::from_f64(missing).to_f64()) {
            *value = T::NAN;
        }
    }
    let stem = Path::new(path).file_stem().unwrap_or_default();
    let whole = Cut {
        name: stem.to_string_lossy().into(),
        lengths,
        values,
    };
    for cut in whole.cuts() {
        cut.measure(options, rows)?;
    }
    Ok(())
}

/// A field, or a part of it in another form.
#[derive(Clone)]
struct Cut<T> {
    name: String,
    lengths: Vec<usize>,
    values: Vec<T>,
}

impl<T: Element> Cut<T> {
    fn cuts(self) -> Vec<Self> {
        let mut cuts = vec![self.as_line()];
        if let [.., _, _, _] = self.lengths[..] {
            cuts.extend([self.plane(), self.boxed(), self.in_four(), self.masked()]);
        }
        cuts.push(self.mostly_constant());
        cuts.insert(0, self);
        cuts
    }

    fn named(&self, how: &str, lengths: Vec<usize>, values: Vec<T>) -> Self {
        let name = format!("{}, {how}", self.name);
        Self {
            name,
            lengths,
            values,
        }
    }

    fn as_line(&self) -> Self {
        let length = self.values.len().min(1 << 21);
        self.named("line", vec![length], self.values[..length].to_vec())
    }

    /// The middle of the slowest dimension.
    fn plane(&self) -> Self {
        let [.., height, width] = self.lengths[..] else {
            return self.clone();
        };
        let planes = self.values.len() / (height * width);
        let first = planes / 2 * height * width;
        let values = self.values[first..first + height * width].to_vec();
        self.named("plane", vec![height, width], values)
    }

    /// A box of about half of each of the last three dimensions, not at multiples of tiles.
    fn boxed(&self) -> Self {
        let [.., depth, height, width] = self.lengths[..] else {
            return self.clone();
        };
        let [from_z, from_y, from_x] = [depth / 5, height / 3, width / 4];
        let lengths = vec![(depth / 2).max(1), height / 2 + 1, width / 2 + 3];
        let mut values = Vec::new();
        for z in from_z..from_z + lengths[0] {
            for y in from_y..from_y + lengths[1] {
                let first = (z * height + y) * width + from_x;
                values.extend(&self.values[first..first + lengths[2]]);
            }
        }
        self.named("box", lengths, values)
    }

    /// The slowest of three dimensions as two, as times and levels often are.
    fn in_four(&self) -> Self {
        let mut lengths = self.lengths.clone();
        let first = [8, 6, 5, 4, 3, 2]
            .into_iter()
            .find(|part| lengths[0].is_multiple_of(*part));
        let first = first.unwrap_or(1);
        lengths.splice(..1, [first, lengths[0] / first]);
        self.named("four dimensions", lengths, self.values.clone())
    }

    /// A cylinder along the slowest dimension is missing, as land is in a field of the ocean.
    fn masked(&self) -> Self {
        let [.., height, width] = self.lengths[..] else {
            return self.clone();
        };
        let mut values = self.values.clone();
        for (i, value) in values.iter_mut().enumerate() {
            let (y, x) = (i / width % height, i % width);
            let [y, x] = [
                y as f64 / height as f64 - 0.4,
                x as f64 / width as f64 - 0.6,
            ];
            if y * y + x * x < 0.06 {
                *value = T::NAN;
            }
        }
        self.named("masked", self.lengths.clone(), values)
    }

    /// What is below the 90th percentile is raised to it.
    fn mostly_constant(&self) -> Self {
        let mut sample: Vec<f64> = (self.values.iter().step_by(97))
            .map(|value| value.to_f64())
            .collect();
        sample.sort_by(f64::total_cmp);
        let floor = T::from_f64(sample[sample.len() * 9 / 10]);
        let raised = |value: &T| match value.to_f64() < floor.to_f64() {
            true => floor,
            false => *value,
        };
        let values = self.values.iter().map(raised).collect();
        self.named("mostly constant", self.lengths.clone(), values)
    }

    fn compressor(
        &self,
        choice: impl Into<Choice>,
        bound: Bound,
        lengths: &[u64],
        device: Device,
    ) -> Outcome<Compressor> {
        let compressor = Compressor::new(choice, bound)
            .keep_none()
            .extents(lengths)?
            .device(device);
        let has_nan = self.values.iter().any(|value| value.to_f64().is_nan());
        match has_nan {
            true => Ok(compressor.fill(f64::NAN)?),
            false => Ok(compressor),
        }
    }

    fn measure(&self, options: &mut Options, rows: &mut Vec<Row>) -> Outcome<()> {
        let lengths: Vec<u64> = self.lengths.iter().map(|length| *length as u64).collect();
        let device = options.device;
        for relative in &options.bounds {
            let bound = Bound::range(*relative)?;
            let mut best = (usize::MAX, String::new());
            for layout in layouts(options.preset, &lengths)? {
                let name = format!("{} {}", layout.codec, layout.shape.rank());
                let key = format!("{}|{:?}|{relative:e}|{name}", self.name, self.lengths);
                let size = options.known.size(key, || {
                    let compressor = self.compressor(layout.codec, bound, &lengths, device)?;
                    let compressor = compressor.with_rank(layout.shape.rank())?;
                    let short = compressor.compress(&self.values)?.len();
                    let runs = layout.tiles().map_or(0, |tiles| tiles.runs());
                    let length = ChunkLength::of_size(short as u128, runs);
                    if layout.with_chunk(length) == layout {
                        return Ok(short);
                    }
                    Ok(compressor
                        .chunk_length(length)
                        .compress(&self.values)?
                        .len())
                })?;
                best = best.min((size, name));
            }
            let automatic = self.compressor(options.preset, bound, &lengths, device)?;
            let chosen = automatic.choose(&self.values)?;
            let stream = chosen.compress(&self.values)?;
            let [whole, compression] = timed([&automatic, &chosen], |compressor| {
                Ok(compressor.compress(&self.values)?)
            })?;
            let choice = whole.saturating_sub(compression);
            let codec = chosen.codec().ok_or("nothing chosen")?;
            let axes = info(&stream)?.axes;
            let row = Row {
                field: format!(
                    "{} {}",
                    self.name,
                    self.lengths
                        .iter()
                        .map(usize::to_string)
                        .collect::<Vec<_>>()
                        .join(" x ")
                ),
                bound: *relative,
                chosen: format!("{codec} {}, {axes}", chosen.rank().unwrap_or(1)),
                bytes: stream.len(),
                best: best.1,
                least: best.0,
                choice,
                compression,
                field_bytes: size_of_val(&self.values[..]),
            };
            println!("{}", row.line());
            rows.push(row);
        }
        options.known.write()
    }
}

/// What the preset chooses from, in the user's order of axes.
fn layouts(preset: Preset, lengths: &[u64]) -> Outcome<Vec<Layout>> {
    let extents = Extents::new(lengths).ok_or("bad dimensions")?;
    let mut layouts = Vec::new();
    for codec in preset.codecs() {
        for shape in Shape::ALL {
            let layout = Layout::new(*codec, shape, extents);
            if !layouts.contains(&layout) {
                layouts.push(layout);
            }
        }
    }
    Ok(layouts)
}

/// The least times of some calls for each of two arguments, which take turns.
fn timed<A: Copy, R>(
    arguments: [A; 2],
    mut call: impl FnMut(A) -> Outcome<R>,
) -> Outcome<[Duration; 2]> {
    let mut least = [Duration::MAX; 2];
    for _ in 0..CALLS {
        for (least, argument) in least.iter_mut().zip(arguments) {
            let start = Instant::now();
            call(argument)?;
            *least = start.elapsed().min(*least);
        }
    }
    Ok(least)
}

impl Known {
    fn read(path: Option<String>) -> Self {
        let text = path.as_ref().and_then(|path| fs::read_to_string(path).ok());
        let size = |line: &str| {
            let (key, size) = line.rsplit_once('=')?;
            Some((key.to_owned(), size.parse().ok()?))
        };
        let sizes = text.unwrap_or_default().lines().filter_map(size).collect();
        Self { path, sizes }
    }

    fn size(&mut self, key: String, size: impl FnOnce() -> Outcome<usize>) -> Outcome<usize> {
        if let Some(size) = self.sizes.get(&key) {
            return Ok(*size);
        }
        let size = size()?;
        self.sizes.insert(key, size);
        Ok(size)
    }

    fn write(&self) -> Outcome<()> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        let mut text = String::new();
        for (key, size) in &self.sizes {
            writeln!(text, "{key}={size}")?;
        }
        Ok(fs::write(path, text)?)
    }
}

impl Row {
    fn over(&self) -> f64 {
        self.bytes as f64 / self.least as f64
    }

    fn share(&self) -> f64 {
        self.choice.as_secs_f64() / self.compression.as_secs_f64()
    }

    fn line(&self) -> String {
        let over = match self.over() > RIGHT {
            true => format!("**{:.3}**", self.over()),
            false => format!("{:.3}", self.over()),
        };
        format!(
            "| {} | {:.0e} | {} | {} | {} | {} | {over} | {:.2} | {:.2} | {:.2} |",
            self.field,
            self.bound,
            self.chosen,
            self.bytes,
            self.best,
            self.least,
            1e3 * self.choice.as_secs_f64(),
            1e3 * self.compression.as_secs_f64(),
            self.share()
        )
    }
}

fn summary(rows: &[Row]) -> String {
    let right = rows.iter().filter(|row| row.over() <= RIGHT).count();
    let worst = rows.iter().map(Row::over).fold(0.0, f64::max);
    let mut text = format!(
        "{right} of {} rows ({:.1} %) within {:.0} % of the shortest; the worst is {worst:.2} of it.\n",
        rows.len(),
        100.0 * right as f64 / rows.len() as f64,
        100.0 * (RIGHT - 1.0)
    );
    for (least, most) in [
        (0, 1 << 20),
        (1 << 20, 8 << 20),
        (8 << 20, 32 << 20),
        (32 << 20, usize::MAX),
    ] {
        let within = |row: &&Row| (least..most).contains(&row.field_bytes);
        let mut shares: Vec<f64> = rows.iter().filter(within).map(Row::share).collect();
        shares.sort_by(f64::total_cmp);
        if let (Some(median), Some(worst)) = (shares.get(shares.len() / 2), shares.last()) {
            let _ = writeln!(
                text,
                "Fields of {} MB on: the choice takes {median:.2} of the time of the compression (median of {}), at most {worst:.2}.",
                least >> 20,
                shares.len()
            );
        }
    }
    text
}
