//! The cases of safeguards, statistics and wavelets.

use super::fields::Kind;
use super::{Case, Extra, bound, extents};
use ferrosz::codec::mapping::Keep;
use ferrosz::stream::Layout;
use ferrosz::{BoundMode, Codec, Dtype, Safeguard, Shape, ValueType};

/// A case of its name, type, codec, extents and number of fill values.
fn case(name: &str, dtype: ValueType, codec: Codec, lengths: &[u64], fills: usize) -> Case {
    let shape = Shape::ALL[lengths.len() - 1];
    Case {
        name: format!("{name}-{codec}-{shape}-{dtype}"),
        dtype,
        layout: Layout::new(codec, shape, extents(lengths)),
        axes: None,
        bound: bound(BoundMode::Abs, 0.5),
        kind: Kind::Noisy,
        updates: Vec::new(),
        tail: 0,
        fills,
        keep: Keep::default(),
        extra: Extra::default(),
    }
}

/// Each safeguard alone, and several beside a mask, of converted values, and of logarithms.
pub fn of_safeguards(cases: &mut Vec<Case>) {
    const SIDES: &[Safeguard] = &[Safeguard::KeepAbove(0.0), Safeguard::KeepAbove(1.5)];
    const SEVERAL: &[Safeguard] = &[
        Safeguard::KeepAbove(1.5),
        Safeguard::AbsSquare(4.0),
        Safeguard::Monotone(1),
    ];
    let (f32, f64) = (Dtype::F32.into(), Dtype::F64.into());
    let (line, plane, cube): (&[u64], &[u64], &[u64]) = (&[613], &[19, 37], &[6, 9, 13]);
    let mut add = |name, dtype, codec, lengths, fills, safeguards, mode: BoundMode| {
        let case = case(&format!("safeguards-{name}"), dtype, codec, lengths, fills);
        cases.push(Case {
            bound: bound(mode, [0.5, 0.1][usize::from(mode == BoundMode::Pwrel)]),
            extra: Extra {
                safeguards,
                has_bounds: safeguards.is_empty(),
                ..Extra::default()
            },
            ..case
        });
    };
    let (abs, pwrel) = (BoundMode::Abs, BoundMode::Pwrel);
    add("side", f32, Codec::PLAIN, line, 0, SIDES, abs);
    let limits = &[Safeguard::Limits(-15.5, 12.5)];
    add("limits", f64, Codec::LORENZO_RANS, plane, 0, limits, abs);
    let log = &[Safeguard::AbsLog(0.02)];
    add("log", f32, Codec::OUTLIER, line, 0, log, abs);
    let exp = &[Safeguard::AbsExp(0.05)];
    add("exp", f32, Codec::INTERP, cube, 0, exp, abs);
    let square = &[Safeguard::AbsSquare(0.5)];
    add("square", f64, Codec::FIXED, plane, 0, square, abs);
    let order = &[Safeguard::Monotone(0)];
    add("order", f32, Codec::LORENZO, cube, 0, order, abs);
    add("bounds", f32, Codec::STENCIL, plane, 0, &[], abs);
    add("mask", f32, Codec::LORENZO_RANS, cube, 2, SEVERAL, abs);
    add("i16", ValueType::I16, Codec::INTERP, plane, 1, SEVERAL, abs);
    add("pwrel", f64, Codec::LORENZO, cube, 0, SEVERAL, pwrel);
}

/// Statistics with codecs of blocks and of tiles, with masks, of converted values, and beside safeguards.
pub fn of_statistics(cases: &mut Vec<Case>) {
    let (f32, f64) = (Dtype::F32.into(), Dtype::F64.into());
    let mut add = |dtype, codec, lengths: &[u64], fills, safeguards| {
        let name = ["statistics", "statistics-mask"][usize::from(fills > 0)];
        cases.push(Case {
            extra: Extra {
                has_statistics: true,
                safeguards,
                ..Extra::default()
            },
            ..case(name, dtype, codec, lengths, fills)
        });
    };
    add(f32, Codec::PLAIN, &[20_011], 0, &[]);
    add(f64, Codec::LORENZO_RANS, &[259, 262], 0, &[]);
    add(f32, Codec::OUTLIER, &[27, 29, 31], 2, &[]);
    add(f32, Codec::INTERP, &[33, 35, 66], 1, &[]);
    add(ValueType::I16, Codec::FIXED, &[131, 153], 1, &[]);
    let side = &[Safeguard::KeepAbove(1.5)];
    add(f64, Codec::LAYERED, &[9001], 0, side);
}

/// Wavelets of one to four axes, in several boxes, with masks, values that are not finite, of converted values, of logarithms,
/// without loss, and with corrections of many values.
pub fn of_wavelets(cases: &mut Vec<Case>) {
    let (f32, f64) = (Dtype::F32.into(), Dtype::F64.into());
    let mut add = |name: &str, dtype, lengths: &[u64], fills, kind, (mode, value)| {
        let layout = Layout::new(Codec::DIRECT_RANS, Shape::Line, extents(lengths));
        cases.push(Case {
            layout,
            kind,
            bound: bound(mode, value),
            extra: Extra {
                has_wavelets: true,
                ..Extra::default()
            },
            ..case(
                &format!("wavelets-{name}"),
                dtype,
                Codec::DIRECT_RANS,
                &[1],
                fills,
            )
        });
    };
    let (abs, range, pwrel) = (BoundMode::Abs, BoundMode::Range, BoundMode::Pwrel);
    for dtype in [f32, f64] {
        add("line", dtype, &[9001], 0, Kind::Smooth, (range, 1e-3));
        add("plane", dtype, &[131, 153], 0, Kind::Smooth, (range, 0.03));
        add("cube", dtype, &[27, 29, 31], 0, Kind::Noisy, (abs, 0.5));
        add("boxes", dtype, &[2, 9, 700], 0, Kind::Smooth, (range, 0.01));
        add("bits", dtype, &[5, 7, 9], 0, Kind::Bits, (abs, 1e-3));
    }
    add("slabs", f32, &[700, 3, 9], 0, Kind::Noisy, (range, 0.02));
    add("mask", f32, &[27, 29, 31], 2, Kind::Smooth, (range, 0.01));
    add("axes", f64, &[3, 4, 5, 11], 0, Kind::Noisy, (abs, 0.5));
    add("i16", ValueType::I16, &[19, 37], 1, Kind::Noisy, (abs, 3.0));
    add(
        "f16",
        ValueType::F16,
        &[19, 37],
        0,
        Kind::Smooth,
        (range, 0.02),
    );
    add("pwrel", f64, &[6, 9, 13], 0, Kind::Noisy, (pwrel, 0.1));
    add("lossless", f32, &[6, 9, 13], 0, Kind::Noisy, (abs, 0.0));
    add("empty", f32, &[0, 5], 0, Kind::Smooth, (abs, 0.1));
}
