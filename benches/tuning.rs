//! The gain by tuning of the interpolation.
//!
//! `cargo bench --bench tuning -- FIELD.f32:Z,Y,X ...` prints a table in Markdown: bits a value of the codes without
//! tuning, by the order-0 entropy of each level; the change of them by each mode and preset; PSNR; and the time of
//! tuning relative to the time of prediction without tuning.

use ferrosz::Shape;
use ferrosz::codec::oracle;
use ferrosz::codec::predict::interp::geometry::{Geometry, MAX_LEVELS};
use ferrosz::codec::predict::interp::parameters::Parameters;
use ferrosz::codec::predict::interp::resolved::Resolved;

use ferrosz::codec::predict::interp::tune::{Preference, Tuning};
use ferrosz::codec::tile::Part;
use ferrosz::codec::tile::{self, TileGrid, TileOrder};
use ferrosz_host::cpu::Version;
use ferrosz_host::cpu::predict::interp::{Predictor, TileStore};
use ferrosz_host::cpu::predict::rows_of;
use ferrosz_host::cpu::predict::tune::tune;
use rayon::ThreadPoolBuilder;
use std::collections::HashMap;
use std::time::{Duration, Instant};

struct Field {
    name: String,
    grid: TileGrid,
    values: Vec<f32>,
    range: f64,
}

/// The result of prediction with some parameters.
struct Outcome {
    bits: f64,
    psnr: f64,
    time: Duration,
}

fn main() {
    println!(
        "| field | rank | bound | bits | 1 | 2 | 3 | 4 | ratio | quality | PSNR: none, ratio, quality | time |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for argument in std::env::args().skip(1).filter(|a| !a.starts_with("--")) {
        let field = read(&argument);
        for bound in [1e-2, 1e-3, 1e-4] {
            row(&field, bound);
        }
    }
}

fn row(field: &Field, bound: f64) {
    let mode = |number| Tuning::of_mode(number, Geometry::Wide, None).expect("a mode");
    let none = tuned(field, bound, &mode(0));
    let mut cells = Vec::new();
    for number in 1..=4 {
        cells.push(change(&tuned(field, bound, &mode(number)).0, &none.0));
    }
    let [ratio, quality] = [Preference::Ratio, Preference::Quality]
        .map(|preference| tuned(field, bound, &Tuning::preferring(preference)));
    println!(
        "| {} | {} | {bound:.0e} | {:.4} | {} | {} | {} | {:.1}, {:.1}, {:.1} | {:.1} % |",
        field.name,
        field.grid.shape().rank(),
        none.0.bits,
        cells.join(" | "),
        change(&ratio.0, &none.0),
        change(&quality.0, &none.0),
        none.0.psnr,
        ratio.0.psnr,
        quality.0.psnr,
        100.0 * ratio.1.as_secs_f64() / none.0.time.as_secs_f64(),
    );
}

fn change(of: &Outcome, from: &Outcome) -> String {
    format!("{:+.1} %", (of.bits / from.bits - 1.0) * 100.0)
}

/// The result with tuned parameters, and the duration of tuning.
fn tuned(field: &Field, bound: f64, tuning: &Tuning) -> (Outcome, Duration) {
    let error = (bound * field.range) as f32;
    let (version, read) = (Version::best(), rows_of(&field.grid, &field.values));
    let one_core = ThreadPoolBuilder::new().num_threads(1).build();
    let one_core = one_core.expect("a thread");
    let start = Instant::now();
    let tuned = one_core.install(|| tune(version, &field.grid, &read, error, bound, tuning));
    let time = start.elapsed();
    (predict(field, tuned.parameters, error), time)
}

fn predict(field: &Field, parameters: Parameters, error: f32) -> Outcome {
    let grid = &field.grid;
    let shape = grid.shape();
    let resolved = Resolved::new(parameters, error);
    let predictor = Predictor::new(Version::best(), grid, &resolved, Part::Fine);
    let spacing = parameters.geometry.spacing(shape);
    let anchors = oracle::interp::anchors(grid, spacing, &field.values);
    let coarse = grid.coarse(spacing);
    let order = TileOrder::levels(shape, spacing);
    let mut known = TileStore::new(shape);
    let mut codes = [0; tile::TILE];
    let mut counts = vec![HashMap::<u16, u64>::new(); MAX_LEVELS];
    let (mut squares, mut time) = (0.0, Duration::ZERO);
    for number in 0..grid.tiles() {
        let tile = grid.tile(number);
        let start = Instant::now();
        let value = |at| field.values[grid.flat(at) as usize];
        let anchor = |at| anchors[coarse.flat(at) as usize];
        predictor.encode(
            &tile,
            rows_of(grid, &field.values),
            anchor,
            &mut known,
            &mut codes,
        );
        time += start.elapsed();
        for (i, code) in (0..).zip(&codes) {
            let (step, lane) = (i / tile::LANES, i % tile::LANES);
            let position = tile::position(shape, step, lane);
            if tile.has(position) && order.zone(step, lane).is_some() {
                *counts[tile::level(shape, position) as usize]
                    .entry(*code)
                    .or_default() += 1;
                let difference = known.value(position) - value(tile.at(position));
                if difference.is_finite() {
                    squares += f64::from(difference).powi(2);
                }
            }
        }
    }
    let elements = grid.elements() as f64;
    Outcome {
        bits: counts.iter().map(entropy).sum::<f64>() / elements,
        psnr: 20.0 * (field.range / (squares / elements).sqrt()).log10(),
        time,
    }
}

/// The bits of symbols with these counts, by their entropy.
fn entropy(counts: &HashMap<u16, u64>) -> f64 {
    let all: u64 = counts.values().sum();
    (counts.values())
        .map(|count| *count as f64 * (all as f64 / *count as f64).log2())
        .sum()
}

fn read(argument: &str) -> Field {
    let (path, extents) = argument.rsplit_once(':').expect("FIELD:Z,Y,X");
    let extents: Vec<u64> = extents
        .split(',')
        .map(|n| n.parse().expect("a length"))
        .collect();
    let shape = Shape::of_rank(extents.len() as u8).expect("one to three extents");
    let mut lengths = [1; 3];
    lengths[3 - extents.len()..].copy_from_slice(&extents);
    let bytes = std::fs::read(path).expect("a field");
    let values: Vec<f32> = bytemuck::pod_collect_to_vec(&bytes);
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let (min, max) = (
        finite().fold(f32::MAX, f32::min),
        finite().fold(f32::MIN, f32::max),
    );
    let name = path.rsplit('/').next().unwrap_or(path);
    Field {
        name: name.trim_end_matches(".f32").to_owned(),
        grid: TileGrid::new(shape, lengths),
        range: f64::from(max) - f64::from(min),
        values,
    }
}
