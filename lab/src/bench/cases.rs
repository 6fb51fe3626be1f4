//! The cases of a field: kinds of streams and bounds.

use super::field::Subject;
use super::flags::{Flags, RANGES};
use ferrosz::stream::Layout;
use ferrosz::{Bound, BoundMode, Codec, Element, Shape};
use ferrosz_cli::{failure::Failure, report};
use ferrosz_cuszp::cuszp::Mode;
use ferrosz_cuszp::{Bare, aatrox, cuszp};

/// One kind of stream at one bound.
pub struct Case<T> {
    /// The codec, or the kind of a bare stream.
    pub codec: String,
    /// The rank of its blocks or tiles.
    pub rank: u8,
    /// The bound of the command line.
    pub bound: Bound,
    /// The stream's format.
    pub format: Format<T>,
}

/// The kind of a stream.
#[derive(Debug, Clone, Copy)]
pub enum Format<T> {
    /// A ferrosz stream.
    Container(Layout),
    /// A stream without header.
    Bare(Bare<T>),
}

/// All cases that the flags select and that are possible for a field.
///
/// # Errors
///
/// If no case is possible, or a bound is invalid.
pub fn cases<T: Element>(flags: &Flags, subject: &Subject<T>) -> Result<Vec<Case<T>>, Failure> {
    let bounds = flags.bounds.all_or(&RANGES)?;
    let cases = match flags.bare {
        true => bare(&flags.shapes(), subject, &bounds)?,
        false => containers(flags, subject, &bounds),
    };
    match cases.is_empty() {
        true => Err(Failure::usage(format_args!(
            "{}: no selected codec has blocks of this --rank in an array of {}",
            subject.name,
            report::lengths(subject.extents.lengths())
        ))),
        false => Ok(cases),
    }
}

/// The cases of ferrosz's streams, by codec, shape and bound.
fn containers<T: Element>(flags: &Flags, subject: &Subject<T>, bounds: &[Bound]) -> Vec<Case<T>> {
    let codecs = match &flags.codec[..] {
        [] => &Codec::ALL[..],
        named => named,
    };
    let mut cases = Vec::new();
    for codec in codecs {
        for shape in flags.shapes() {
            let layout = Layout::new(*codec, shape, subject.extents);
            // Another codec stands for one that has no tiles of the shape.
            if (layout.codec, layout.shape) == (*codec, shape) {
                cases.extend(bounds.iter().map(|bound| Case {
                    codec: codec.name().to_owned(),
                    rank: shape.rank(),
                    bound: *bound,
                    format: Format::Container(layout.with_chunk(flags.chunk_tiles)),
                }));
            }
        }
    }
    cases
}

/// The cases of bare streams, by bound, shape and kind.
fn bare<T: Element>(
    shapes: &[Shape],
    subject: &Subject<T>,
    bounds: &[Bound],
) -> Result<Vec<Case<T>>, Failure> {
    let dims = subject.dims();
    let elements = subject.extents.elements();
    let mut cases = Vec::new();
    for bound in bounds {
        let error = positive_error(subject, *bound)?;
        let mut add = |codec: String, shape: Shape, format| {
            cases.push(Case {
                codec,
                rank: shape.rank(),
                bound: *bound,
                format: Format::Bare(format),
            });
        };
        for shape in shapes {
            for mode in Mode::ALL {
                let params = cuszp::Params::new(*shape, mode, dims, error);
                add(format!("cuSZp {}", mode.name()), *shape, params.into());
            }
        }
        if shapes.contains(&Shape::Line) {
            let params = aatrox::Params { elements, error };
            add("AATROX".to_owned(), Shape::Line, params.into());
        }
    }
    Ok(cases)
}

/// The absolute error of a bound, which streams without header need.
///
/// # Errors
///
/// If it is not positive.
pub fn positive_error<T: Element>(subject: &Subject<T>, bound: Bound) -> Result<T, Failure> {
    let error = absolute_error(&subject.values, bound);
    match error.is_finite() && error > T::ZERO {
        true => Ok(error),
        false => Err(Failure::failed(format_args!(
            "{}: the absolute error is {error} here, but streams without header need a positive one",
            subject.name
        ))),
    }
}

/// The absolute error of a bound, computed in the field's type as cuSZp's tools do; a ferrosz stream may promise
/// another one.
fn absolute_error<T: Element>(field: &[T], bound: Bound) -> T {
    let finite = || field.iter().copied().filter(|value| value.is_finite());
    let Some(first) = finite().next() else {
        return T::ZERO;
    };
    let (mut min, mut max) = (first, first);
    for value in finite() {
        min = if value < min { value } else { min };
        max = if value > max { value } else { max };
    }
    let value = T::from_f64(bound.value());
    match bound.mode() {
        BoundMode::Abs => value,
        BoundMode::Range => value * (max - min),
        BoundMode::Max if max.abs() > min.abs() => value * max.abs(),
        BoundMode::Max => value * min.abs(),
        // There is none.
        BoundMode::Pwrel => T::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_bounds_are_of_the_finite_values() {
        let field = [f32::NAN, 2.0, -6.0, f32::INFINITY, 1.0];
        let error = |bound: Result<Bound, _>| absolute_error(&field, bound.unwrap());
        assert_eq!(error(Bound::range(0.5)), 4.0);
        assert_eq!(error(Bound::max(0.5)), 3.0);
        assert_eq!(error(Bound::abs(0.5)), 0.5);
        assert_eq!(absolute_error(&[f64::NAN], Bound::range(0.5).unwrap()), 0.0);
    }
}
