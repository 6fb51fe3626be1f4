//! The cases of mappings: axes, masks, bounds relative to each value, and value types.

use super::fields::Kind;
use super::{Case, Extra, bound, extents};
use ferrosz::codec::mapping::Keep;
use ferrosz::stream::Layout;
use ferrosz::{Axes, BoundMode, Codec, Dtype, Part, Shape, ValueType};

/// Fields with a bound relative to each value, and fields whose zeros and signs are kept by a mask.
pub fn of_pwrel(cases: &mut Vec<Case>) {
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
            extra: Extra::default(),
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
pub fn of_types(cases: &mut Vec<Case>) {
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
                extra: Extra::default(),
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
            extra: Extra::default(),
        });
    }
}

/// Fields with fill values: one, two or three, in `f32` and `f64` in turn.
pub fn of_masks(cases: &mut Vec<Case>) {
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
    let shapes_of = |codec: Codec| {
        let shapes = Shape::ALL.into_iter();
        shapes.filter_map(move |shape| codec.takes(shape).then_some((codec, shape)))
    };
    // From 2, as in the streams of earlier days.
    for (number, (codec, shape)) in (2..).zip(codecs.into_iter().flat_map(shapes_of)) {
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
            extra: Extra::default(),
        });
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
            extra: Extra::default(),
        });
    }
}

/// Fields with slices, and with axes in another order.
pub fn of_axes(cases: &mut Vec<Case>) {
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
            extra: Extra::default(),
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
        Codec::INTERP_NARROW_HUFFMAN,
        Codec::INTERP_SQUARE,
        Codec::STENCIL_BITPLANE,
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
            extra: Extra::default(),
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

/// Complex numbers whose parts are slices, in front of a line, or neighbours; with a mask and with updates.
pub fn of_complex(cases: &mut Vec<Case>) {
    for (name, dtype, codec, shape, lengths, axes) in [
        (
            "apart",
            Dtype::F32,
            Codec::LORENZO,
            Shape::Cube,
            &[5, 9, 21, 2][..],
            "z,y,x,s",
        ),
        (
            "line",
            Dtype::F64,
            Codec::PLAIN,
            Shape::Line,
            &[700, 2],
            "x,s",
        ),
        (
            "pairs",
            Dtype::F64,
            Codec::OUTLIER,
            Shape::Line,
            &[350, 2],
            "y,x",
        ),
        (
            "mask",
            Dtype::F32,
            Codec::INTERP,
            Shape::Plane,
            &[19, 37, 2],
            "y,x,s",
        ),
    ] {
        let axes: Axes = axes.parse().expect("axes");
        let coded = axes.coded_extents(&extents(lengths)).expect("as many axes");
        let of_updates = match name {
            "line" => vec![Part::Box(vec![100..160, 0..2]), Part::Elements(1399..1400)],
            _ => Vec::new(),
        };
        cases.push(Case {
            name: format!("complex-{codec}-{shape}-{dtype}-{name}"),
            dtype: dtype.into(),
            layout: Layout::new(codec, shape, coded),
            axes: Some(axes),
            bound: bound(BoundMode::Range, 1e-3),
            kind: Kind::Smooth,
            updates: of_updates,
            tail: 0,
            fills: 2 * usize::from(name == "mask"),
            keep: Keep::default(),
            extra: Extra {
                is_complex: true,
                ..Extra::default()
            },
        });
    }
}
