//! Half precision and integers: every codec on every machine, and the bound in exact arithmetic.

mod damage;
mod exhaustive;
pub(crate) mod fields;
#[cfg(feature = "emulator")]
mod kernels;
mod parts;

use crate::common::cases::takes_part;
use crate::common::judge::judge;
use crate::common::machine::Machine;
use ferrosz::codec::with_value;
use ferrosz::stream::{Extents, Layout};
use ferrosz::{Axes, Bound, BoundMode, Codec, Error, Shape, Value, ValueType, info};
use fields::{Kind, field, fill};
use rayon::prelude::*;

/// The types that are converted.
fn converted() -> impl Iterator<Item = ValueType> {
    ValueType::ALL
        .into_iter()
        .filter(|value_type| !value_type.is_coded_as_is())
}

/// Bounds that reach every conversion.
fn bounds() -> Vec<Bound> {
    [
        (BoundMode::Abs, 0.0),
        (BoundMode::Abs, 0.3),
        (BoundMode::Abs, 1.0),
        (BoundMode::Abs, 4.7),
        (BoundMode::Abs, 0.01),
        (BoundMode::Abs, 1e-6),
        (BoundMode::Abs, 1e30),
        (BoundMode::Range, 0.01),
        (BoundMode::Range, 0.0003),
        (BoundMode::Max, 0.02),
    ]
    .into_iter()
    .map(|(mode, value)| Bound::new(mode, value).expect("finite and not negative"))
    .collect()
}

/// Extents of a field whose blocks or tiles have this shape.
fn lengths(shape: Shape) -> &'static [u64] {
    match shape {
        Shape::Line => &[9001],
        Shape::Plane => &[70, 131],
        Shape::Cube => &[11, 21, 37],
    }
}

/// A field, how it is coded, and within which bound.
struct Case {
    layout: Layout,
    axes: Option<Axes>,
    bound: Bound,
    kind: Kind,
    has_fills: bool,
}

impl Case {
    /// Nothing, or the first fault of a machine.
    fn check<V: Value>(&self, machines: &[Machine]) -> Result<(), String> {
        let order = crate::common::order_of(&self.layout, self.axes);
        let lengths = order.user_extents(&self.layout.extents);
        let mut values: Vec<V> = field(self.kind, lengths.lengths());
        let mut fills = Vec::new();
        if self.has_fills {
            fills = vec![fill::<V>().to_value_bits()];
            for value in values.iter_mut().skip(50).step_by(7).take(900) {
                *value = fill();
            }
        }
        let compress = |machine: &Machine| {
            machine.compress_values(self.layout, self.axes, self.bound, &fills, &values)
        };
        let said = |error: Error| error.to_string();
        let stream = compress(&Machine::Reference).map_err(said)?;
        let decoded: Vec<V> = Machine::Reference.decompress(&stream).map_err(said)?;
        for machine in machines {
            let name = machine.name();
            if compress(machine).map_err(said)? != stream {
                return Err(format!("{name} writes other bytes"));
            }
            let found: Vec<V> = machine.decompress(&stream).map_err(said)?;
            if !is_same(&found, &decoded) {
                return Err(format!("{name} decodes to other values"));
            }
        }
        self.judge(
            &fills,
            &values,
            &decoded,
            info(&stream).map_err(said)?.absolute_error,
        )
    }

    /// Missing values come back bit for bit, and do not count in the bound.
    fn judge<V: Value>(
        &self,
        fills: &[u64],
        values: &[V],
        decoded: &[V],
        promise: f64,
    ) -> Result<(), String> {
        let is_missing = |value: &V| fills.contains(&value.to_value_bits());
        let (mut valid, mut back) = (Vec::new(), Vec::new());
        for (value, decoded) in values.iter().zip(decoded) {
            match is_missing(value) {
                true if value.to_value_bits() != decoded.to_value_bits() => {
                    return Err(format!("{value} is missing, and became {decoded}"));
                }
                true => {}
                false => {
                    valid.push(*value);
                    back.push(*decoded);
                }
            }
        }
        judge(self.bound, &valid, &back)?;
        let promised = Bound::abs(promise).map_err(|error| error.to_string())?;
        judge(promised, &valid, &back)?;
        match promise == 0.0 && !is_same(&valid, &back) {
            true => Err("a lossless stream changed bits".to_owned()),
            false => Ok(()),
        }
    }
}

/// Whether two arrays have the same bits.
fn is_same<V: Value>(one: &[V], other: &[V]) -> bool {
    let bits = |values: &[V]| {
        values
            .iter()
            .map(|value| value.to_value_bits())
            .collect::<Vec<_>>()
    };
    bits(one) == bits(other)
}

/// Every codec, shape and type with every bound: on the CPU with all of them, on the emulator with some.
#[test]
fn every_machine_makes_the_same_streams_within_the_bound() {
    let mut cases = Vec::new();
    for value_type in converted() {
        for codec in Codec::ALL {
            for shape in Shape::ALL.into_iter().filter(|shape| codec.takes(*shape)) {
                for bound in bounds() {
                    cases.push((value_type, codec, shape, bound));
                }
            }
        }
    }
    let count = cases.len();
    let faults: Vec<String> = (cases.into_par_iter().enumerate())
        .filter(|(number, _)| takes_part(*number as u64, 12))
        .filter_map(|(number, (value_type, codec, shape, bound))| {
            let case = Case {
                layout: Layout::new(codec, shape, Extents::new(lengths(shape)).expect("extents")),
                axes: None,
                bound,
                kind: Kind::ALL[number % Kind::ALL.len()],
                has_fills: number % 3 == 0,
            };
            // The emulator takes some, so that in a campaign each codec and each bound has one.
            let machines = match number % 13 == 0 && cfg!(feature = "emulator") {
                true => Machine::of_this_computer(),
                false => Machine::cpu(),
            };
            let fault = with_value!(value_type, V => case.check::<V>(&machines)).err()?;
            Some(format!(
                "{value_type} {codec} {shape} {bound:?} {:?}: {fault}",
                case.kind
            ))
        })
        .collect();
    assert!(
        faults.is_empty(),
        "{} of {count}: {faults:#?}",
        faults.len()
    );
}

#[test]
fn axes_may_be_turned() {
    let machines = Machine::of_this_computer();
    let mut number = 0;
    for value_type in converted() {
        for (codec, roles) in [(Codec::OUTLIER, "x,z,s,y"), (Codec::INTERP, "s,z,y,x")] {
            let axes: Axes = roles.parse().expect("axes");
            let user = Extents::new(&[3, 9, 14, 20]).expect("extents");
            let coded = axes.coded_extents(&user).expect("as many axes");
            for has_fills in [false, true] {
                number += 1;
                if !takes_part(number, 5) {
                    continue;
                }
                let case = Case {
                    layout: Layout::new(codec, Shape::Cube, coded),
                    axes: Some(axes),
                    bound: Bound::range(0.01).expect("a bound"),
                    kind: Kind::Smooth,
                    has_fills,
                };
                let found = with_value!(value_type, V => case.check::<V>(&machines));
                assert_eq!(found, Ok(()), "{value_type} {codec}");
            }
        }
    }
}
