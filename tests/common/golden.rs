//! The golden streams of `tests/golden`: the list of cases, and the fields that they are made of.
//!
//! The fields are made by integers and the basic operations of IEEE 754 alone, so that every machine makes the same:
//! no function of a mathematical library, and no generator of random numbers that may change.

use ferrosz::codec::oracle;
use ferrosz::{
    Bound, BoundMode, Codec, Dtype, Element, Error, Extents, Layout, Part, Shape, Update,
};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::PathBuf;

/// The kind of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Parabolas along every axis.
    Smooth,
    /// As smooth, with a little noise.
    Noisy,
    /// As smooth, with NaNs, infinities, zeros of both signs, subnormal and large numbers, and spikes.
    Rough,
    /// Steps, of which many begin a block.
    Steps,
    /// One value.
    Constant,
    /// Bit patterns of all kinds.
    Bits,
}

/// One stream.
#[derive(Debug, Clone)]
pub struct Case {
    pub name: String,
    pub dtype: Dtype,
    pub layout: Layout,
    pub bound: Bound,
    pub kind: Kind,
    /// Parts that are replaced, one after the other, by a rough field.
    pub updates: Vec<Part>,
    /// Zeros behind the end.
    pub tail: usize,
}

/// The folder of the golden streams: in the repository, or where the tests run.
pub fn folder() -> PathBuf {
    let here = PathBuf::from("tests/golden");
    if here.is_dir() {
        here
    } else {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(here)
    }
}

/// SHA-256 in hexadecimal.
pub fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}

/// The bytes of values.
pub fn bytes_of<T: Element>(values: &[T]) -> Vec<u8> {
    let bytes = |value: &T| value.to_bits64().to_le_bytes().into_iter().take(T::BYTES);
    values.iter().flat_map(bytes).collect()
}

/// Numbers without pattern: splitmix64.
fn mixed(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A wave of parabolas between -1 and 1.
fn wave(at: u64, half_period: u64) -> f64 {
    let t = at % half_period;
    let height = (4 * t * (half_period - t)) as f64 / (half_period * half_period) as f64;
    if (at / half_period).is_multiple_of(2) {
        height
    } else {
        -height
    }
}

/// The field of a case.
pub fn field<T: Element>(kind: Kind, lengths: &[u64]) -> Vec<T> {
    let count = lengths.iter().product::<u64>();
    (0..count)
        .map(|number| value(kind, number, lengths))
        .collect()
}

fn value<T: Element>(kind: Kind, number: u64, lengths: &[u64]) -> T {
    const HALF_PERIODS: [u64; 4] = [23, 37, 61, 11];
    let mut smooth = -2.5;
    let mut rest = number;
    for (axis, length) in lengths.iter().rev().enumerate() {
        let at = rest % length;
        rest /= length;
        smooth += 10.0 / (1 + axis) as f64 * wave(at, HALF_PERIODS[axis % 4] * 3);
        smooth += 0.25 * wave(at, HALF_PERIODS[axis % 4]);
    }
    let random = mixed(number);
    let noise = (random >> 11) as f64 / (1u64 << 53) as f64 - 0.5;
    let largest = T::MAX.to_f64();
    match kind {
        Kind::Smooth => T::from_f64(smooth),
        Kind::Noisy => T::from_f64(smooth + 0.1 * noise),
        Kind::Rough => match random % 61 {
            0 => T::from_bits64(nan_bits::<T>(mixed(random))),
            1 => T::from_f64(f64::INFINITY),
            2 => T::from_f64(f64::NEG_INFINITY),
            3 => T::from_f64(-0.0),
            4 => T::from_f64(0.0),
            5 => T::from_bits64(mixed(random) % 1000),
            6 => T::from_f64(largest * noise),
            7 | 8 => T::from_f64(1e4 * noise),
            _ => T::from_f64(smooth),
        },
        Kind::Steps => T::from_f64(0.01 * smooth + ((number / 32) * 37 % 101) as f64),
        Kind::Constant => T::from_f64(-7.25),
        Kind::Bits => T::from_bits64(mixed(random) & low_bits::<T>()),
    }
}

fn low_bits<T: Element>() -> u64 {
    u64::MAX >> (64 - 8 * T::BYTES)
}

/// A NaN of any sign and payload.
fn nan_bits<T: Element>(random: u64) -> u64 {
    let exponent = match T::DTYPE {
        Dtype::F32 => 0x7f80_0001,
        Dtype::F64 => 0x7ff0_0000_0000_0001,
    };
    (random | exponent) & low_bits::<T>()
}

fn bound(mode: BoundMode, value: f64) -> Bound {
    Bound::new(mode, value).expect("a bound")
}

/// Extents of a field of several chunks, whose blocks or tiles have this shape.
fn several_chunks(is_tiles: bool, shape: Shape) -> &'static [u64] {
    match (is_tiles, shape) {
        (false, Shape::Line) => &[20_011],
        (false, Shape::Plane) => &[131, 153],
        (false, Shape::Cube) => &[27, 29, 31],
        (true, Shape::Line) => &[70_001],
        (true, Shape::Plane) => &[259, 262],
        (true, Shape::Cube) => &[33, 35, 66],
    }
}

/// Extents of a small field, cut off in every dimension.
fn small(shape: Shape) -> &'static [u64] {
    match shape {
        Shape::Line => &[613],
        Shape::Plane => &[19, 37],
        Shape::Cube => &[6, 9, 13],
    }
}

/// All cases.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in Dtype::ALL {
        for codec in Codec::ALL {
            for shape in Shape::ALL {
                if Layout::new(codec, shape, extents(small(shape))).shape == shape {
                    of_shape(&mut cases, dtype, codec, shape);
                }
            }
            of_codec(&mut cases, dtype, codec);
        }
    }
    cases
}

fn extents(lengths: &[u64]) -> Extents {
    Extents::new(lengths).expect("extents")
}

fn of_shape(cases: &mut Vec<Case>, dtype: Dtype, codec: Codec, shape: Shape) {
    let is_tiles = codec.tiles().is_some();
    let add = |name, lengths, bound, kind| Case {
        name: format!("{codec}-{shape}-{dtype}-{name}"),
        dtype,
        layout: Layout::new(codec, shape, extents(lengths)),
        bound,
        kind,
        updates: Vec::new(),
        tail: 0,
    };
    let many = several_chunks(is_tiles, shape);
    let coarse = bound(BoundMode::Range, if is_tiles { 0.03 } else { 0.06 });
    cases.push(add("chunks", many, coarse, Kind::Smooth));
    cases.push(add(
        "rough",
        small(shape),
        bound(BoundMode::Abs, 0.01),
        Kind::Rough,
    ));
    cases.push(add(
        "noisy",
        small(shape),
        bound(BoundMode::Max, 1e-3),
        Kind::Noisy,
    ));
    if !is_tiles {
        cases.push(add(
            "steps",
            small(shape),
            bound(BoundMode::Range, 1e-4),
            Kind::Steps,
        ));
        let (lengths, parts): (&[u64], _) = match shape {
            Shape::Line => (
                &[9001],
                vec![Part::Elements(8150..8250), Part::Elements(8190..8193)],
            ),
            Shape::Plane => (
                &[97, 101],
                vec![
                    Part::Box(vec![60..70, 50..60]),
                    Part::Box(vec![0..1, 0..101]),
                ],
            ),
            Shape::Cube => (
                &[17, 19, 33],
                vec![
                    Part::Box(vec![14..17, 15..17, 30..33]),
                    Part::Elements(3..5),
                ],
            ),
        };
        cases.push(Case {
            updates: parts,
            ..add(
                "updates",
                lengths,
                bound(BoundMode::Range, 0.2),
                Kind::Smooth,
            )
        });
    }
}

fn of_codec(cases: &mut Vec<Case>, dtype: Dtype, codec: Codec) {
    let shape = if codec.takes(Shape::Cube) {
        Shape::Cube
    } else {
        Shape::Line
    };
    let mut add = |name: &str, lengths: &[u64], bound, kind, tail| {
        cases.push(Case {
            name: format!("{codec}-{dtype}-{name}"),
            dtype,
            layout: Layout::new(codec, shape, extents(lengths)),
            bound,
            kind,
            updates: Vec::new(),
            tail,
        });
    };
    let abs = |value| bound(BoundMode::Abs, value);
    add("empty", &[0, 5], abs(0.1), Kind::Smooth, 0);
    add("one", &[1], abs(0.1), Kind::Smooth, 32);
    add("constant", &[3, 7, 13], abs(0.0), Kind::Constant, 0);
    add("lossless", &[3, 5, 7], abs(0.0), Kind::Bits, 0);
    add("bits", &[5, 7, 9], abs(1e-3), Kind::Bits, 0);
    add(
        "four-axes",
        &[3, 4, 5, 11],
        bound(BoundMode::Range, 1e-3),
        Kind::Smooth,
        0,
    );
    add(
        "eight-axes",
        &[2, 1, 2, 2, 1, 3, 5, 7],
        bound(BoundMode::Range, 1e-2),
        Kind::Noisy,
        0,
    );
}

impl Case {
    /// Element, layout, bound, field and what is done to the stream, for people.
    pub fn recipe(&self) -> String {
        let Layout {
            codec,
            shape,
            extents,
        } = self.layout;
        let bound = format!("{} {:e}", self.bound.mode(), self.bound.value());
        let mut text = format!(
            "{} {codec} {shape} {:?} {bound} {:?}",
            self.dtype,
            extents.lengths(),
            self.kind
        );
        for part in &self.updates {
            let _ = write!(text, ", then {part:?} rough");
        }
        if self.tail > 0 {
            let _ = write!(text, ", then {} zeros", self.tail);
        }
        text
    }

    pub fn lengths(&self) -> &[u64] {
        self.layout.extents.lengths()
    }

    /// The stream, `compress` making the one without updates.
    pub fn stream<T: Element>(
        &self,
        compress: impl Fn(Layout, Bound, &[T]) -> Result<Vec<u8>, Error>,
    ) -> Result<Vec<u8>, Error> {
        let mut stream = compress(self.layout, self.bound, &field(self.kind, self.lengths()))?;
        for part in &self.updates {
            let lengths = part.extents();
            Update::new(&stream, part, &field::<T>(Kind::Rough, &lengths))?.apply(&mut stream);
        }
        stream.resize(stream.len() + self.tail, 0);
        Ok(stream)
    }

    /// The stream by the reference.
    pub fn of_reference(&self) -> Vec<u8> {
        let made = match self.dtype {
            Dtype::F32 => self.stream::<f32>(|l, b, f| Ok(oracle::compress(l, b, f))),
            Dtype::F64 => self.stream::<f64>(|l, b, f| Ok(oracle::compress(l, b, f))),
        };
        made.expect("a stream")
    }
}

/// A line of `index.txt`.
pub struct Row {
    pub name: String,
    /// The digest of the decoded elements.
    pub elements: String,
    /// The digest of the stream.
    pub stream: String,
}

/// The rows of `index.txt`.
pub fn index() -> Vec<Row> {
    let text = std::fs::read_to_string(folder().join("index.txt")).expect("the index");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let mut words = line.split(' ').map(str::to_owned);
            let mut next = || words.next().expect("name and two digests");
            Row {
                name: next(),
                elements: next(),
                stream: next(),
            }
        })
        .collect()
}

/// The stream of a row.
pub fn read(name: &str) -> Vec<u8> {
    let path = folder().join(format!("{name}.fsz"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
