//! How long a field takes through a link, from the measured times of its windows.

use crate::{
    array::Array, failure::Failure, report, transfer::window_elements, trial::Runs, units::Rate,
};
use ferrosz::windows::Windows;
use ferrosz::{Bound, Compressor, Decompressor, Device, Preset, Value};
use serde_json::json;

/// The time of a window in each stage of a transfer, but the link.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Window {
    compress: f64,
    /// Bytes of its stream.
    bytes: u64,
    decompress: f64,
}

/// The windows of a field, compressed within a bound by a preset.
pub struct Measured {
    preset: Preset,
    bound: Bound,
    field_bytes: u64,
    windows: Vec<Window>,
}

impl Measured {
    /// Compresses and decompresses each window of a field, on host memory.
    ///
    /// # Errors
    ///
    /// The library's errors.
    pub fn new<V: Value>(
        (preset, bound): (Preset, Bound),
        compressor: Compressor,
        device: Device,
        array: &Array<V>,
        runs: Runs,
    ) -> Result<Self, Failure> {
        let elements = array.values.len() as u64;
        let most = window_elements(elements, size_of::<V>() as u64, None);
        let compressor = compressor.absolute_for(&array.values)?;
        let decompressor = Decompressor::new().device(device);
        let measure = |window: ferrosz::windows::Window| {
            let own = window.of(&array.values)?;
            let compressor = compressor.for_window(&window)?;
            let (stream, compress) = runs.time(|| compressor.compress(own))?;
            let decode = || decompressor.decompress_window::<V>(&window, &stream);
            let (_, decompress) = runs.time(decode)?;
            Ok(Window {
                compress,
                bytes: stream.len() as u64,
                decompress,
            })
        };
        let windows = Windows::new(&array.extents, most)?;
        Ok(Self {
            preset,
            bound,
            field_bytes: size_of_val(&array.values[..]) as u64,
            windows: windows
                .iter()
                .map(measure)
                .collect::<Result<_, Failure>>()?,
        })
    }

    /// The seconds through a link.
    fn through(&self, link: Rate) -> f64 {
        through(&self.windows, link)
    }

    fn ratio(&self) -> f64 {
        let bytes: u64 = self.windows.iter().map(|window| window.bytes).sum();
        self.field_bytes as f64 / bytes as f64
    }
}

/// The seconds until all windows are decompressed: each is compressed, travels and is decompressed, in its order, while others
/// are in the other stages. As in [`Compressor::compress_windows`] and [`Decompressor::decompress_windows`], a stage is at
/// most two windows ahead of the next one.
fn through(windows: &[Window], link: Rate) -> f64 {
    let rate = link.bytes_per_second();
    let seconds = windows.iter().map(|window| {
        let travel = window.bytes as f64 / rate;
        [window.compress, travel, window.decompress]
    });
    // When the last two windows began and ended each stage.
    let (mut before, mut last) = ([[0.0; 2]; 3], [[0.0f64; 2]; 3]);
    for window in seconds {
        let mut now = [[0.0; 2]; 3];
        let mut arrived = 0.0f64;
        for stage in 0..3 {
            let is_free = last[stage][1];
            // A window waits in its stage until the one before it has left the place between the stages.
            let has_room = before.get(stage + 1).map_or(0.0, |[begin, _]| *begin);
            let begin = arrived.max(is_free).max(has_room);
            arrived = begin + window[stage];
            now[stage] = [begin, arrived];
        }
        (before, last) = (last, now);
    }
    last[2][1]
}

/// The seconds of the values as they are.
fn raw(field_bytes: u64, link: Rate) -> f64 {
    field_bytes as f64 / link.bytes_per_second()
}

/// The fastest way through a link within a bound: a preset, or none for the values as they are.
fn fastest(measured: &[Measured], bound: Bound, link: Rate) -> Option<&Measured> {
    let of_bound = measured.iter().filter(|measured| measured.bound == bound);
    let faster =
        of_bound.filter(|measured| measured.through(link) < raw(measured.field_bytes, link));
    faster.min_by(|one, other| one.through(link).total_cmp(&other.through(link)))
}

/// The name of a way through a link.
fn name(way: Option<&Measured>) -> &'static str {
    way.map_or("raw", |measured| measured.preset.name())
}

/// The bounds, each once, in their order.
fn bounds(measured: &[Measured]) -> Vec<Bound> {
    let mut bounds: Vec<Bound> = Vec::new();
    for measured in measured {
        if !bounds.contains(&measured.bound) {
            bounds.push(measured.bound);
        }
    }
    bounds
}

/// A table of the seconds through links, and which preset is the fastest where.
pub fn to_text(measured: &[Measured], links: &[Rate]) -> String {
    let Some(first) = measured.first() else {
        return String::new();
    };
    let of_links = links.iter();
    let names = of_links.map(|link| format!("{} GB/s", link.gigabytes_per_second()));
    let names: Vec<String> = names.collect();
    let heading: Vec<&str> = (["preset", "bound", "ratio"].into_iter())
        .chain(names.iter().map(String::as_str))
        .collect();
    let seconds = |seconds: f64| format!("{seconds:.4} s");
    let cells = |cells: [String; 3], seconds: Vec<String>| [cells.to_vec(), seconds].concat();
    let of_raw = links
        .iter()
        .map(|link| seconds(raw(first.field_bytes, *link)));
    let mut rows = vec![cells(
        ["raw", "-", "1.00"].map(str::to_owned),
        of_raw.collect(),
    )];
    for measured in measured {
        let of_links = links.iter().map(|link| seconds(measured.through(*link)));
        rows.push(cells(
            [
                measured.preset.to_string(),
                report::bound(measured.bound),
                format!("{:.2}", measured.ratio()),
            ],
            of_links.collect(),
        ));
    }
    let mut text = format!(
        "\nThrough a link, {} windows of up to {} each: computed from the\nmeasured times of each window, which is \
         compressed while earlier ones travel\nand are decompressed.\n{}",
        first.windows.len(),
        report::bytes(
            first
                .field_bytes
                .div_ceil(first.windows.len().max(1) as u64)
        ),
        report::table(&heading, &rows)
    );
    for bound in bounds(measured) {
        let ways = links.iter().zip(&names).map(|(link, name_of_link)| {
            let way = fastest(measured, bound, *link);
            format!("{name_of_link} {}", name(way))
        });
        let ways: Vec<String> = ways.collect();
        text += &format!(
            "Fastest with {}: {}\n",
            report::bound(bound),
            ways.join(", ")
        );
    }
    text
}

/// The same as [`to_text`], for programs.
pub fn to_json(measured: &[Measured], links: &[Rate]) -> serde_json::Value {
    let of_link = |link: &Rate| {
        let row = |measured: &Measured| {
            json!({
                "preset": measured.preset.name(),
                "bound_mode": measured.bound.mode().name(),
                "bound": measured.bound.value(),
                "ratio": measured.ratio(),
                "seconds": measured.through(*link),
            })
        };
        let fastest = |bound: &Bound| {
            json!({
                "bound_mode": bound.mode().name(),
                "bound": bound.value(),
                "preset": name(fastest(measured, *bound, *link)),
            })
        };
        json!({
            "gigabytes_per_second": link.gigabytes_per_second(),
            "raw_seconds": measured.first().map(|first| raw(first.field_bytes, *link)),
            "rows": measured.iter().map(row).collect::<Vec<_>>(),
            "fastest": bounds(measured).iter().map(fastest).collect::<Vec<_>>(),
        })
    };
    let windows = measured.first().map(|first| first.windows.len());
    json!({ "windows": windows, "links": links.iter().map(of_link).collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::rate;

    fn windows(count: usize, compress: f64, bytes: u64, decompress: f64) -> Vec<Window> {
        let window = Window {
            compress,
            bytes,
            decompress,
        };
        vec![window; count]
    }

    fn is_near(found: f64, wanted: f64) {
        assert!((found - wanted).abs() < 1e-9 * wanted, "{found} {wanted}");
    }

    #[test]
    fn the_slowest_stage_sets_the_pace() {
        // One GB takes a second; the other stages of the first or last window are seen.
        let link = rate("1").unwrap();
        is_near(
            through(&windows(10, 0.1, 1_000_000_000, 0.2), link),
            0.1 + 10.0 + 0.2,
        );
        is_near(
            through(&windows(10, 2.0, 1_000_000_000, 0.2), link),
            20.0 + 1.0 + 0.2,
        );
        is_near(
            through(&windows(10, 0.1, 1_000_000_000, 3.0), link),
            0.1 + 1.0 + 30.0,
        );
        is_near(through(&windows(1, 0.1, 1_000_000_000, 3.0), link), 4.1);
        is_near(through(&[], link) + 1.0, 1.0);
    }

    #[test]
    fn a_stage_is_two_windows_ahead_at_most() {
        let link = rate("1").unwrap();
        let [quick, slow] = [0.0, 10.0].map(|compress| Window {
            compress,
            bytes: 1_000_000_000,
            decompress: 0.0,
        });
        // Windows 0 to 4 travel one after the other, from 0 on. Window 5 is begun when window 3 begins to travel, at 3.
        let windows = [quick, quick, quick, quick, quick, slow];
        is_near(through(&windows, link), 3.0 + 10.0 + 1.0);
    }

    fn measured(preset: Preset, compress: f64, bytes: u64) -> Measured {
        Measured {
            preset,
            bound: Bound::range(1e-3).unwrap(),
            field_bytes: 10_000_000_000,
            windows: windows(10, compress, bytes, 0.01),
        }
    }

    #[test]
    fn the_fastest_way_depends_on_the_link() {
        let all = [
            measured(Preset::Fast, 0.05, 200_000_000),
            measured(Preset::Small, 1.0, 50_000_000),
        ];
        let fastest = |text| name(fastest(&all, all[0].bound, rate(text).unwrap()));
        assert_eq!(fastest("10MB/s"), "small");
        assert_eq!(fastest("1"), "fast");
        assert_eq!(fastest("55"), "raw");
        let links = ["10MB/s", "1", "55"].map(|text| rate(text).unwrap());
        let text = to_text(&all, &links);
        let words = "Fastest with range 1e-3: 0.01 GB/s small, 1 GB/s fast, 55 GB/s raw";
        assert!(text.contains(words), "{text}");
        let object = to_json(&all, &links);
        assert_eq!(object["links"][1]["fastest"][0]["preset"], "fast");
        assert_eq!(object["links"][1]["raw_seconds"], 10.0);
    }
}
