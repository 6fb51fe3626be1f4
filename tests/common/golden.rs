//! The golden streams of `tests/golden`, and the list of their cases.

mod fields;
mod mappings;
mod promises;

use super::{compressor_with_axes, order_of};
use ferrosz::codec::mapping::Keep;
use ferrosz::codec::oracle;
use ferrosz::codec::tile::ChunkLength;
use ferrosz::codec::with_value;
use ferrosz::stream::{Extents, Layout, TilePredictor, Update};
use ferrosz::{
    Axes, Bound, BoundMode, Codec, Device, Dtype, Element, Error, Fill, Part, Safeguard, Shape,
    Value, ValueType,
};
use fields::{Kind, field, mixed};
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::PathBuf;

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
    /// What it has besides.
    pub extra: Extra,
}

/// What few streams have.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extra {
    /// Whether the last axis has the parts of complex numbers.
    pub is_complex: bool,
    /// The safeguards.
    pub safeguards: &'static [Safeguard],
    /// Whether each value has a bound of its own.
    pub has_bounds: bool,
    /// Whether there are statistics.
    pub has_statistics: bool,
    /// Whether the coefficients of wavelets are coded.
    pub has_wavelets: bool,
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
        for codec in Codec::ALL.into_iter().filter(|codec| !is_later(*codec)) {
            for shape in Shape::ALL {
                if Layout::new(codec, shape, extents(small(shape))).shape == shape {
                    of_shape(&mut cases, dtype, codec, shape);
                }
            }
            of_codec(&mut cases, dtype, codec);
        }
    }
    mappings::of_axes(&mut cases);
    mappings::of_masks(&mut cases);
    mappings::of_pwrel(&mut cases);
    mappings::of_types(&mut cases);
    // Cases above depend on the number of those before.
    of_stencils(&mut cases);
    of_chunk_lengths(&mut cases);
    of_shifts(&mut cases);
    of_slices(&mut cases);
    mappings::of_complex(&mut cases);
    promises::of_safeguards(&mut cases);
    promises::of_statistics(&mut cases);
    of_levels(&mut cases);
    of_direct(&mut cases);
    promises::of_wavelets(&mut cases);
    cases
}

/// The bound of the value with this number, where each has one.
fn bound_of_value(number: u64) -> f64 {
    (1 + mixed(number) % 8) as f64 / 64.0
}

/// Whether the cases of a codec come after those of others, whose recipes depend on their number.
fn is_later(codec: Codec) -> bool {
    is_of_slices(codec) || codec == Codec::DIRECT_RANS
}

/// Values that nothing predicts.
fn of_direct(cases: &mut Vec<Case>) {
    for dtype in Dtype::ALL {
        of_shape(cases, dtype, Codec::DIRECT_RANS, Shape::Line);
        of_codec(cases, dtype, Codec::DIRECT_RANS);
    }
}

fn is_of_slices(codec: Codec) -> bool {
    let predictor = codec.tiles().map(|codec| codec.predictor);
    predictor == Some(TilePredictor::Slices)
}

/// Slices of all coders, empty fields and fields without cubes among them, which are those of stencils; fitted coefficients, long
/// chunks, and fields with slices that have tiles of their own.
fn of_slices(cases: &mut Vec<Case>) {
    for dtype in Dtype::ALL {
        for codec in Codec::ALL.into_iter().filter(|codec| is_of_slices(*codec)) {
            of_shape(cases, dtype, codec, Shape::Cube);
            of_codec(cases, dtype, codec);
        }
        let axes: Axes = "s,z,y,x".parse().expect("axes");
        let sliced = axes.coded_extents(&extents(&[3, 19, 18, 30]));
        let sliced = sliced.expect("as many axes");
        for (name, coded, axes, kind, error) in [
            ("fitted", extents(&[34, 19, 66]), None, Kind::Noisy, 0.02),
            ("shifts", extents(&[18, 19, 66]), None, Kind::Short, 1e-3),
            ("sliced", sliced, Some(axes), Kind::Smooth, 0.01),
        ] {
            let layout = Layout::new(Codec::SLICES, Shape::Cube, coded);
            cases.push(Case {
                name: format!("slices-{dtype}-{name}"),
                dtype: dtype.into(),
                layout: layout.with_chunk(match dtype {
                    Dtype::F32 => ChunkLength::default(),
                    Dtype::F64 => ChunkLength::SixtyFour,
                }),
                axes,
                bound: bound(BoundMode::Abs, error),
                kind,
                updates: Vec::new(),
                tail: 0,
                fills: 0,
                keep: Keep::default(),
                extra: Extra::default(),
            });
        }
    }
}

/// Levels that are coded apart, by all predictors and coders: some, all, and fields with slices, masks, raw values and chunks of
/// other lengths.
fn of_levels(cases: &mut Vec<Case>) {
    let axes: Axes = "s,z,y,x".parse().expect("axes");
    let sliced = axes.coded_extents(&extents(&[3, 19, 18, 30]));
    let sliced = sliced.expect("as many axes");
    for (name, codec, shape, coded, levels, kind) in [
        (
            "line",
            Codec::INTERP,
            Shape::Line,
            extents(&[40_001]),
            9,
            Kind::Noisy,
        ),
        (
            "line-some",
            Codec::STENCIL_HUFFMAN,
            Shape::Line,
            extents(&[17_001]),
            3,
            Kind::Short,
        ),
        (
            "plane",
            Codec::STENCIL,
            Shape::Plane,
            extents(&[3, 261, 70]),
            4,
            Kind::Smooth,
        ),
        (
            "plane-some",
            Codec::INTERP_SQUARE_BITPLANE,
            Shape::Plane,
            extents(&[40, 50]),
            2,
            Kind::Bits,
        ),
        (
            "cube",
            Codec::INTERP,
            Shape::Cube,
            extents(&[34, 19, 66]),
            4,
            Kind::Noisy,
        ),
        (
            "cube-some",
            Codec::INTERP_NARROW_HUFFMAN,
            Shape::Cube,
            extents(&[17, 18, 70]),
            1,
            Kind::Smooth,
        ),
        (
            "slices",
            Codec::SLICES,
            Shape::Cube,
            extents(&[34, 19, 66]),
            4,
            Kind::Short,
        ),
        (
            "slices-some",
            Codec::SLICES,
            Shape::Cube,
            sliced,
            2,
            Kind::Smooth,
        ),
        (
            "raw",
            Codec::STENCIL,
            Shape::Cube,
            extents(&[18, 19, 66]),
            3,
            Kind::Bits,
        ),
    ] {
        let dtype = Dtype::ALL[cases.len() % 2];
        let layout = Layout::new(codec, shape, coded).with_levels(levels);
        cases.push(Case {
            name: format!("levels-{name}-{dtype}"),
            dtype: dtype.into(),
            layout: layout.with_chunk(ChunkLength::ALL[cases.len() % 4]),
            axes: (coded == sliced).then_some(axes),
            bound: bound(BoundMode::Abs, 0.01),
            kind,
            updates: Vec::new(),
            tail: 0,
            fills: usize::from(name == "cube"),
            keep: Keep::default(),
            extra: Extra::default(),
        });
    }
}

/// Chunks of other lengths than four tiles, several of them, in planes and cubes whose slices have tiles of their own.
fn of_chunk_lengths(cases: &mut Vec<Case>) {
    for (codec, shape, lengths, fills) in [
        (Codec::LORENZO_RANS, Shape::Plane, [83, 3, 9], 0),
        (Codec::LORENZO_HUFFMAN, Shape::Plane, [83, 3, 9], 2),
        (Codec::INTERP, Shape::Plane, [83, 19, 9], 0),
        (Codec::INTERP, Shape::Cube, [33, 35, 150], 1),
        (Codec::INTERP_NARROW_HUFFMAN, Shape::Cube, [33, 35, 150], 0),
    ] {
        for chunk in [
            ChunkLength::One,
            ChunkLength::Sixteen,
            ChunkLength::SixtyFour,
        ] {
            let dtype = Dtype::ALL[usize::from(fills == 0)];
            cases.push(Case {
                name: format!("chunks-{}-{codec}-{shape}-{dtype}", chunk.tiles()),
                dtype: dtype.into(),
                layout: Layout::new(codec, shape, extents(&lengths)).with_chunk(chunk),
                axes: None,
                bound: bound(BoundMode::Range, 0.03),
                kind: [Kind::Smooth, Kind::Rough][usize::from(lengths[2] == 9)],
                updates: Vec::new(),
                tail: 0,
                fills,
                keep: Keep::default(),
                extra: Extra::default(),
            });
        }
    }
}

/// Noise above the bound, which stencils predict by means of many neighbours.
fn of_stencils(cases: &mut Vec<Case>) {
    for dtype in Dtype::ALL {
        for shape in Shape::ALL {
            let lengths: &[u64] = match shape {
                Shape::Line => &[17_001],
                Shape::Plane => &[131, 130],
                Shape::Cube => &[18, 19, 66],
            };
            cases.push(Case {
                name: format!("stencil-{shape}-{dtype}-fitted"),
                dtype: dtype.into(),
                layout: Layout::new(Codec::STENCIL, shape, extents(lengths)),
                axes: None,
                bound: bound(BoundMode::Abs, 0.02),
                kind: Kind::Noisy,
                updates: Vec::new(),
                tail: 0,
                fills: 0,
                keep: Keep::default(),
                extra: Extra::default(),
            });
        }
    }
}

/// Fields whose streams have shifts of contexts: large enough, and predicted differently well by oddness.
fn of_shifts(cases: &mut Vec<Case>) {
    for (codec, dtype, lengths) in [
        (Codec::STENCIL, Dtype::F32, &[131, 130][..]),
        (Codec::STENCIL, Dtype::F64, &[18, 19, 66]),
        (Codec::STENCIL_HUFFMAN, Dtype::F32, &[18, 19, 66]),
    ] {
        let shape = [Shape::Plane, Shape::Cube][usize::from(lengths.len() == 3)];
        cases.push(Case {
            name: format!("shifts-{codec}-{shape}-{dtype}"),
            dtype: dtype.into(),
            layout: Layout::new(codec, shape, extents(lengths)),
            axes: None,
            bound: bound(BoundMode::Abs, 1e-3),
            kind: Kind::Short,
            updates: Vec::new(),
            tail: 0,
            fills: 0,
            keep: Keep::default(),
            extra: Extra::default(),
        });
    }
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
        extra: Extra::default(),
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
            extra: Extra::default(),
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
            chunk,
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
        if chunk != ChunkLength::default() {
            let _ = write!(text, ", {} tiles a chunk", chunk.tiles());
        }
        if self.layout.levels > 0 {
            let _ = write!(text, ", {} levels apart", self.layout.levels);
        }
        if self.extra.is_complex {
            text += ", complex";
        }
        for safeguard in self.extra.safeguards {
            let _ = write!(text, ", {safeguard:?}");
        }
        if self.extra.has_bounds {
            text += ", bounds of values";
        }
        if self.extra.has_statistics {
            text += ", statistics";
        }
        if self.extra.has_wavelets {
            text += ", wavelets";
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

    /// The stream by the library on a device.
    pub fn of_library(&self, device: Device) -> Result<Vec<u8>, Error> {
        fn on<V: Value>(device: Device, case: &Case, field: &[V]) -> Result<Vec<u8>, Error> {
            let mut compressor = compressor_with_axes(case.layout, case.axes, case.bound, device)?;
            if case.extra.is_complex {
                compressor = compressor.complex();
            }
            if case.extra.has_statistics {
                compressor = compressor.statistics(true);
            }
            if case.extra.has_wavelets {
                compressor = compressor.wavelets();
            }
            if case.keep.zeros {
                compressor = compressor.keep_zeros();
            }
            if case.keep.signs {
                compressor = compressor.keep_signs();
            }
            for fill in case.fills::<V>() {
                compressor = compressor.fill(Fill::Bits(fill))?;
            }
            for safeguard in case.extra.safeguards {
                compressor = compressor.safeguard(*safeguard)?;
            }
            let bounds: Vec<f64> = (0..field.len() as u64).map(bound_of_value).collect();
            match case.extra.has_bounds {
                true => compressor.bounds_of_values(&bounds).compress(field),
                false => compressor.compress(field),
            }
        }
        with_value!(self.dtype, V => self.stream::<V>(|case, field| on(device, case, field)))
    }

    /// The stream by the reference; by the library if the reference does not write such streams.
    pub fn of_reference(&self) -> Vec<u8> {
        fn compress<T: Element>(case: &Case, field: &[T]) -> Result<Vec<u8>, Error> {
            let order = order_of(&case.layout, case.axes).with_complex(case.extra.is_complex);
            let (layout, bound, keep) = (case.layout, case.bound, case.keep);
            let fills = case.fills::<T>();
            Ok(oracle::compress_masked(
                layout, &order, bound, keep, &fills, field,
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
        let Extra {
            safeguards,
            has_bounds,
            has_statistics,
            has_wavelets,
            ..
        } = self.extra;
        let made = match self.dtype {
            _ if has_bounds || has_statistics || has_wavelets || !safeguards.is_empty() => {
                self.of_library(Device::Cpu)
            }
            ValueType::F32 => self.stream::<f32>(compress),
            ValueType::F64 => self.stream::<f64>(compress),
            other => with_value!(other, V => self.stream::<V>(convert)),
        };
        made.unwrap_or_else(|error| panic!("{}: {error}", self.name))
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
