//! The golden streams of `tests/golden`: the list of cases, and the fields that they are made of.
//!
//! The fields are made by integers and the basic operations of IEEE 754 alone, so that every machine makes the same:
//! no function of a mathematical library, and no generator of random numbers that may change.

use super::order_of;
use ferrosz::codec::mapping::{Keep, ValueMapping};
use ferrosz::codec::oracle;
use ferrosz::codec::with_value;
use ferrosz::{
    Axes, Bound, BoundMode, Codec, Dtype, Element, Error, Extents, Layout, Part, Shape, Update,
    Value, ValueType,
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
    pub dtype: ValueType,
    pub layout: Layout,
    /// The roles of the axes, if they are not the default ones.
    pub axes: Option<Axes>,
    pub bound: Bound,
    pub kind: Kind,
    /// Parts that are replaced, one after the other, by a rough field.
    pub updates: Vec<Part>,
    /// Zeros behind the end.
    pub tail: usize,
    /// Fill values of the mask.
    pub fills: usize,
    /// What the mask keeps besides.
    pub keep: Keep,
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
pub fn bytes_of<V: Value>(values: &[V]) -> Vec<u8> {
    let bytes = |value: &V| {
        let bytes = value.to_value_bits().to_le_bytes();
        bytes.into_iter().take(V::TYPE.bytes())
    };
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
pub fn field<V: Value>(kind: Kind, lengths: &[u64]) -> Vec<V> {
    let count = lengths.iter().product::<u64>();
    (0..count)
        .map(|number| value(kind, number, lengths))
        .collect()
}

fn value<V: Value>(kind: Kind, number: u64, lengths: &[u64]) -> V {
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
    let bits = V::from_value_bits;
    match kind {
        Kind::Smooth => of_number(smooth),
        Kind::Noisy => of_number(smooth + 0.1 * noise),
        Kind::Rough => match random % 61 {
            0 => bits(nan_bits::<V>(mixed(random))),
            1 => of_number(f64::INFINITY),
            2 => of_number(f64::NEG_INFINITY),
            3 => of_number(-0.0),
            4 => of_number(0.0),
            5 => bits(mixed(random) % 1000),
            6 => of_number(largest::<V>() * noise),
            7 | 8 => of_number(1e4 * noise),
            _ => of_number(smooth),
        },
        Kind::Steps => of_number(0.01 * smooth + ((number / 32) * 37 % 101) as f64),
        Kind::Constant => of_number(-7.25),
        Kind::Bits => bits(mixed(random) & low_bits::<V>()),
    }
}

/// The value nearest to a number. Integers are those of its twentieths, above the middle of the type.
fn of_number<V: Value>(number: f64) -> V {
    let middle = match V::TYPE {
        ValueType::U16 => 30_000.0,
        ValueType::U32 => 3_000_000_000.0,
        _ => 0.0,
    };
    let twentieths = (20.0 * number).clamp(-1e6, 1e6).floor() + middle;
    let whole = || V::from_number(twentieths).unwrap_or_default();
    match V::TYPE.is_integer() {
        true => whole(),
        false => V::from_number(number).unwrap_or_default(),
    }
}

fn largest<V: Value>() -> f64 {
    match V::TYPE {
        ValueType::F32 => f64::from(f32::MAX),
        ValueType::F64 => f64::MAX,
        ValueType::F16 => 65_504.0,
        ValueType::Bf16 => f64::from(f32::from_bits(0x7f7f_0000)),
        ValueType::I16 | ValueType::U16 => 1500.0,
        ValueType::I32 | ValueType::U32 => 50_000.0,
    }
}

fn low_bits<V: Value>() -> u64 {
    u64::MAX >> (64 - 8 * V::TYPE.bytes())
}

/// A NaN of any sign and payload; of integers any bits.
fn nan_bits<V: Value>(random: u64) -> u64 {
    let exponent = match V::TYPE {
        ValueType::F32 => 0x7f80_0001,
        ValueType::F64 => 0x7ff0_0000_0000_0001,
        ValueType::F16 => 0x7c01,
        ValueType::Bf16 => 0x7f81,
        ValueType::I16 | ValueType::U16 | ValueType::I32 | ValueType::U32 => 0,
    };
    (random | exponent) & low_bits::<V>()
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
    of_axes(&mut cases);
    of_masks(&mut cases);
    of_pwrel(&mut cases);
    of_types(&mut cases);
    cases
}

/// Fields with a bound relative to each value, and fields whose zeros and signs are kept by a mask.
fn of_pwrel(cases: &mut Vec<Case>) {
    let lengths: [&[u64]; 3] = [&[1500], &[40, 50], &[5, 12, 30]];
    let mut add = |name: String, codec, shape: Shape, bound, fills, keep| {
        let number = cases.len();
        let lengths = lengths[shape.rank() as usize - 1];
        let part = Part::Box(
            lengths
                .iter()
                .map(|length| length / 4..length / 2)
                .collect(),
        );
        let has_updates = Codec::tiles(codec).is_none();
        cases.push(Case {
            name,
            dtype: Dtype::ALL[number % 2].into(),
            layout: Layout::new(codec, shape, extents(lengths)),
            axes: None,
            bound,
            kind: [Kind::Rough, Kind::Noisy][number / 2 % 2],
            updates: if has_updates { vec![part] } else { Vec::new() },
            tail: 0,
            fills,
            keep,
        });
    };
    let pwrel = |value| bound(BoundMode::Pwrel, value);
    for (codec, shape) in [
        (Codec::FIXED, Shape::Line),
        (Codec::PLAIN, Shape::Plane),
        (Codec::OUTLIER, Shape::Cube),
        (Codec::LORENZO, Shape::Cube),
        (Codec::LAYERED, Shape::Line),
        (Codec::LORENZO_RANS, Shape::Plane),
        (Codec::INTERP, Shape::Cube),
        (Codec::INTERP_NARROW_HUFFMAN, Shape::Plane),
    ] {
        let name = format!("pwrel-{codec}-{shape}");
        add(name, codec, shape, pwrel(0.01), 0, Keep::default());
    }
    for fills in [1, 2] {
        let name = format!("pwrel-{}-fills-{fills}", Codec::LORENZO);
        add(
            name,
            Codec::LORENZO,
            Shape::Cube,
            pwrel(0.3),
            fills,
            Keep::default(),
        );
    }
    // Too small a bound, which is lossless.
    add(
        "pwrel-lossless".to_owned(),
        Codec::PLAIN,
        Shape::Line,
        pwrel(1e-17),
        0,
        Keep::default(),
    );
    for (zeros, signs) in [(true, false), (false, true), (true, true)] {
        let keep = Keep { zeros, signs };
        let name = format!(
            "keep{}{}",
            if zeros { "-zeros" } else { "" },
            if signs { "-signs" } else { "" }
        );
        add(
            name,
            Codec::INTERP,
            Shape::Plane,
            bound(BoundMode::Range, 0.02),
            0,
            keep,
        );
    }
}

/// Half precision and integers: lossless and not, with a mask and updates, and with axes in another order.
fn of_types(cases: &mut Vec<Case>) {
    let types = ValueType::ALL.into_iter();
    for value_type in types.filter(|value_type| !value_type.is_coded_as_is()) {
        let mut add = |name: &str, codec: Codec, bound, kind, fills| {
            let shape = if codec == Codec::LAYERED {
                Shape::Line
            } else {
                Shape::Plane
            };
            let part = match shape {
                Shape::Line => Part::Elements(100..160),
                _ => Part::Box(vec![3..9, 5..20]),
            };
            let has_updates = fills > 0 && codec.tiles().is_none();
            cases.push(Case {
                name: format!("type-{value_type}-{name}"),
                dtype: value_type,
                layout: Layout::new(codec, shape, extents(&[19, 37])),
                axes: None,
                bound,
                kind,
                updates: if has_updates { vec![part] } else { Vec::new() },
                tail: 0,
                fills,
                keep: Keep::default(),
            });
        };
        let abs = |value| bound(BoundMode::Abs, value);
        add("lossless", Codec::PLAIN, abs(0.0), Kind::Rough, 0);
        add("bits", Codec::INTERP, abs(0.0), Kind::Bits, 0);
        add("lossy", Codec::LORENZO, abs(1.2), Kind::Rough, 0);
        add(
            "range",
            Codec::LORENZO_RANS,
            bound(BoundMode::Range, 0.01),
            Kind::Smooth,
            0,
        );
        add(
            "mask",
            Codec::OUTLIER,
            bound(BoundMode::Range, 0.02),
            Kind::Smooth,
            2,
        );
        add("tiles-mask", Codec::INTERP, abs(0.7), Kind::Noisy, 2);
        add(
            "line",
            Codec::LAYERED,
            bound(BoundMode::Max, 0.01),
            Kind::Steps,
            0,
        );
    }
    for value_type in [ValueType::F16, ValueType::U16, ValueType::U32] {
        let axes: Axes = "x,z,s,y".parse().expect("axes");
        let coded = axes
            .coded_extents(&extents(&[3, 5, 7, 9]))
            .expect("as many axes");
        cases.push(Case {
            name: format!("type-{value_type}-axes"),
            dtype: value_type,
            layout: Layout::new(Codec::OUTLIER, Shape::Cube, coded),
            axes: Some(axes),
            bound: bound(BoundMode::Abs, 1.0),
            kind: Kind::Noisy,
            updates: Vec::new(),
            tail: 0,
            fills: 1,
            keep: Keep::default(),
        });
    }
}

/// Fields with fill values: one, two or three, in `f32` and `f64` in turn.
fn of_masks(cases: &mut Vec<Case>) {
    let codecs = [
        Codec::FIXED,
        Codec::PLAIN,
        Codec::OUTLIER,
        Codec::LORENZO,
        Codec::LAYERED,
        Codec::LORENZO_RANS,
        Codec::LORENZO_BITPLANE,
        Codec::INTERP,
        Codec::INTERP_NARROW_HUFFMAN,
    ];
    for codec in codecs {
        for shape in Shape::ALL.into_iter().filter(|shape| codec.takes(*shape)) {
            let number = cases.len();
            let lengths: &[u64] = match shape {
                Shape::Line => &[5, 30, 70],
                Shape::Plane => &[70, 150],
                Shape::Cube => &[9, 22, 50],
            };
            let part = match shape {
                Shape::Plane => Part::Box(vec![30..41, 100..140]),
                Shape::Line | Shape::Cube => Part::Box(vec![2..4, 5..16, 20..33]),
            };
            let is_tiles = codec.tiles().is_some();
            cases.push(Case {
                name: format!("mask-{codec}-{shape}"),
                dtype: Dtype::ALL[number % 2].into(),
                layout: Layout::new(codec, shape, extents(lengths)),
                axes: None,
                bound: bound(BoundMode::Range, 0.02),
                kind: [Kind::Smooth, Kind::Noisy, Kind::Rough][number % 3],
                updates: if is_tiles { Vec::new() } else { vec![part] },
                tail: 0,
                fills: 1 + number % 3,
                keep: Keep::default(),
            });
        }
    }
    for (roles, codec) in [("s,z,y,x", Codec::INTERP), ("x,z,s,y", Codec::OUTLIER)] {
        let lengths = [3, 9, 14, 20];
        let axes: Axes = roles.parse().expect("axes");
        let coded = axes
            .coded_extents(&extents(&lengths))
            .expect("as many axes");
        cases.push(Case {
            name: format!("mask-{codec}-axes"),
            dtype: ValueType::F32,
            layout: Layout::new(codec, Shape::Cube, coded),
            axes: Some(axes),
            bound: bound(BoundMode::Abs, 0.02),
            kind: Kind::Smooth,
            updates: Vec::new(),
            tail: 0,
            fills: 2,
            keep: Keep::default(),
        });
    }
}

/// Fields with slices, and with axes in another order.
fn of_axes(cases: &mut Vec<Case>) {
    let coarse = bound(BoundMode::Range, 0.03);
    let mut add = |name: &str, codec: Codec, shape, lengths: &[u64], roles: &str, dtype: Dtype| {
        let axes: Axes = roles.parse().expect("axes");
        let coded = axes.coded_extents(&extents(lengths)).expect("as many axes");
        cases.push(Case {
            name: format!("axes-{codec}-{shape}-{dtype}-{name}"),
            dtype: dtype.into(),
            layout: Layout::new(codec, shape, coded),
            axes: Some(axes),
            bound: coarse,
            kind: Kind::Smooth,
            updates: Vec::new(),
            tail: 0,
            fills: 0,
            keep: Keep::default(),
        });
    };
    let (cube, plane, line) = (Shape::Cube, Shape::Plane, Shape::Line);
    for codec in [Codec::LORENZO, Codec::LORENZO_RANS, Codec::INTERP] {
        add(
            "slices",
            codec,
            cube,
            &[6, 10, 20, 30],
            "s,z,y,x",
            Dtype::F32,
        );
    }
    add(
        "slices",
        Codec::INTERP,
        cube,
        &[6, 10, 20, 30],
        "s,z,y,x",
        Dtype::F64,
    );
    // Tiles, and their far faces, that end with a slice.
    for codec in [
        Codec::INTERP_NARROW,
        Codec::INTERP_SQUARE,
        Codec::INTERP_BITPLANE,
    ] {
        add("deep", codec, cube, &[3, 33, 9, 20], "s,z,y,x", Dtype::F32);
    }
    for codec in [Codec::OUTLIER, Codec::LORENZO_HUFFMAN, Codec::INTERP] {
        add("turned", codec, plane, &[90, 140], "x,y", Dtype::F32);
        add("turned", codec, line, &[90, 140], "x,s", Dtype::F32);
        add(
            "five-axes",
            codec,
            cube,
            &[3, 4, 5, 7, 11],
            "s,z,y,y,x",
            Dtype::F64,
        );
        let eight = [2, 3, 2, 3, 2, 3, 2, 5];
        add(
            "eight-axes",
            codec,
            cube,
            &eight,
            "s,z,x,y,s,z,y,x",
            Dtype::F32,
        );
        add(
            "eight-axes",
            codec,
            plane,
            &eight,
            "x,s,s,y,y,s,s,x",
            Dtype::F64,
        );
    }
    let mut with_updates = |name: &str, shape, lengths: &[u64], roles: &str, parts| {
        let axes: Axes = roles.parse().expect("axes");
        let coded = axes.coded_extents(&extents(lengths)).expect("as many axes");
        cases.push(Case {
            name: format!("axes-{}-{shape}-f32-{name}", Codec::PLAIN),
            dtype: ValueType::F32,
            layout: Layout::new(Codec::PLAIN, shape, coded),
            axes: Some(axes),
            bound: bound(BoundMode::Range, 0.2),
            kind: Kind::Smooth,
            updates: parts,
            tail: 0,
            fills: 0,
            keep: Keep::default(),
        });
    };
    let lengths = [3, 9, 14, 20];
    let all = Part::Box(vec![1..3, 8..9, 3..12, 16..20]);
    with_updates(
        "slices-updates",
        cube,
        &lengths,
        "s,z,y,x",
        vec![all.clone(), Part::Elements(2519..2600)],
    );
    with_updates(
        "turned-updates",
        cube,
        &lengths,
        "z,x,s,y",
        vec![all, Part::Elements(2519..2600)],
    );
}

fn extents(lengths: &[u64]) -> Extents {
    Extents::new(lengths).expect("extents")
}

fn of_shape(cases: &mut Vec<Case>, dtype: Dtype, codec: Codec, shape: Shape) {
    let is_tiles = codec.tiles().is_some();
    let add = |name, lengths, bound, kind| Case {
        name: format!("{codec}-{shape}-{dtype}-{name}"),
        dtype: dtype.into(),
        layout: Layout::new(codec, shape, extents(lengths)),
        axes: None,
        bound,
        kind,
        updates: Vec::new(),
        tail: 0,
        fills: 0,
        keep: Keep::default(),
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
            dtype: dtype.into(),
            layout: Layout::new(codec, shape, extents(lengths)),
            axes: None,
            bound,
            kind,
            updates: Vec::new(),
            tail,
            fills: 0,
            keep: Keep::default(),
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
            ..
        } = self.layout;
        let bound = format!("{} {:e}", self.bound.mode(), self.bound.value());
        let mut text = format!(
            "{} {codec} {shape} {:?} {bound} {:?}",
            self.dtype,
            extents.lengths(),
            self.kind
        );
        if let Some(axes) = self.axes {
            let _ = write!(text, ", of {:?} with axes {axes}", self.lengths());
        }
        for part in &self.updates {
            let _ = write!(text, ", then {part:?} rough");
        }
        if self.fills > 0 {
            let _ = write!(text, ", {} fill values", self.fills);
        }
        if self.tail > 0 {
            let _ = write!(text, ", then {} zeros", self.tail);
        }
        text
    }

    /// The user's extents.
    pub fn lengths(&self) -> Vec<u64> {
        let order = order_of(&self.layout, self.axes);
        order.user_extents(&self.layout.extents).lengths().to_vec()
    }

    /// The stream, `compress` making the one without updates.
    pub fn stream<V: Value>(
        &self,
        compress: impl Fn(&Self, &[V]) -> Result<Vec<u8>, Error>,
    ) -> Result<Vec<u8>, Error> {
        let mut values = field(self.kind, &self.lengths());
        self.mask(&mut values);
        let mut stream = compress(self, &values)?;
        for part in &self.updates {
            let mut values = field::<V>(Kind::Rough, &part.extents());
            self.mask(&mut values);
            Update::new(&stream, part, &values)?.apply(&mut stream);
        }
        stream.resize(stream.len() + self.tail, 0);
        Ok(stream)
    }

    /// The bits of the fill values.
    pub fn fills<V: Value>(&self) -> Vec<u64> {
        let all = match V::TYPE.is_coded_as_is() {
            true => [1e20, -9999.0, 0.0],
            false => [9984.0, 0.0, 1.0],
        };
        let values = all[..self.fills]
            .iter()
            .filter_map(|fill| V::from_number(*fill));
        values.map(V::to_value_bits).collect()
    }

    /// Puts fill values in place of runs of elements, and of single ones in the second half.
    fn mask<V: Value>(&self, values: &mut [V]) {
        let fills = self.fills::<V>();
        let half = values.len() as u64 / 2;
        for (number, value) in (0u64..).zip(values) {
            let is_run = mixed(number / 45).is_multiple_of(4);
            let is_single = number > half && mixed(number).is_multiple_of(6);
            if !fills.is_empty() && (is_run || is_single) {
                let fill = mixed(number / 100) % fills.len() as u64;
                *value = V::from_value_bits(fills[fill as usize]);
            }
        }
    }

    /// The stream by the reference.
    pub fn of_reference(&self) -> Vec<u8> {
        fn compress<T: Element>(case: &Case, field: &[T]) -> Result<Vec<u8>, Error> {
            let order = order_of(&case.layout, case.axes);
            let mapping = ValueMapping::new::<T>(case.bound, case.keep, case.fills::<T>());
            let mapping = mapping.expect("few fill values");
            let layout = case.layout.with_classes(mapping.classes.count());
            Ok(oracle::compress_in_order(
                layout, &order, case.bound, &mapping, field,
            ))
        }
        fn convert<V: Value>(case: &Case, field: &[V]) -> Result<Vec<u8>, Error> {
            let order = order_of(&case.layout, case.axes);
            let fills = case.fills::<V>();
            Ok(oracle::compress_values(
                case.layout,
                &order,
                case.bound,
                &fills,
                field,
            ))
        }
        let made = match self.dtype {
            ValueType::F32 => self.stream::<f32>(compress),
            ValueType::F64 => self.stream::<f64>(compress),
            other => with_value!(other, V => self.stream::<V>(convert)),
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
