//! The cases of a field: kinds of streams and bounds.

use super::field::Subject;
use super::flags::{Flags, RANGES};
use ferrosz::stream::Layout;
use ferrosz::{Bound, Codec, Element, Shape};
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
            let layout = Layout::new(*codec, shape, subject.extents).with_levels(flags.levels);
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
        let error = subject.positive_error(*bound)?;
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
