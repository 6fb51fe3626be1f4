//! The streams that the papers compare, by the papers' names.

use super::super::{coding::Coding, container::Container, field::Subject, gpu::OnDevice};
use ferrosz::{Bound, Codec, Compressor, Element, Preference, Shape};
use ferrosz_cli::failure::Failure;
use ferrosz_cuszp::cuszp::{self, Mode};
use ferrosz_cuszp::{Bare, aatrox};

/// A stream of a paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaperStream {
    /// Its name in the tables.
    pub name: &'static str,
    of: Of,
}

/// The stream that ferrosz makes for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Of {
    /// cuSZp's own.
    Cuszp(Mode, Shape),
    /// A bare stream of AATROX's.
    Aatrox,
    /// A container with the same kind of predictor and coder, and what it prefers.
    Codec(Codec, Preference),
}

/// All of them. The plain mode of cuSZp2 is cuSZp's: the paper's Table III leaves it out for that reason.
pub const STREAMS: [PaperStream; 11] = [
    kind("cuSZp", Of::Cuszp(Mode::Plain, Shape::Line)),
    kind("cuSZp2-O", Of::Cuszp(Mode::Outlier, Shape::Line)),
    kind("cuSZp2-O 2D", Of::Cuszp(Mode::Outlier, Shape::Plane)),
    kind("cuSZp2-O 3D", Of::Cuszp(Mode::Outlier, Shape::Cube)),
    kind("AATROX", Of::Aatrox),
    kind(
        "FZ-GPU",
        Of::Codec(Codec::LORENZO_BITPLANE, Preference::Ratio),
    ),
    kind("cuSZ", Of::Codec(Codec::LORENZO_HUFFMAN, Preference::Ratio)),
    kind(
        "cuSZ-i",
        Of::Codec(Codec::INTERP_NARROW_HUFFMAN, Preference::Ratio),
    ),
    kind(
        "cuSZ-i quality",
        Of::Codec(Codec::INTERP_NARROW_HUFFMAN, Preference::Quality),
    ),
    kind(
        "cuSZ-Hi",
        Of::Codec(Codec::INTERP_SQUARE_HUFFMAN, Preference::Ratio),
    ),
    kind("interp", Of::Codec(Codec::INTERP, Preference::Ratio)),
];

const fn kind(name: &'static str, of: Of) -> PaperStream {
    PaperStream { name, of }
}

/// Parses the name of a stream.
pub fn named(name: &str) -> Result<PaperStream, String> {
    let found = STREAMS.into_iter().find(|kind| kind.name == name);
    found.ok_or_else(|| {
        format!(
            "the streams are {}",
            STREAMS.map(|kind| kind.name).join(", ")
        )
    })
}

impl PaperStream {
    /// Whether fields of so many dimensions have such a stream.
    pub fn takes(self, dimensions: usize) -> bool {
        match self.of {
            Of::Cuszp(_, shape) => usize::from(shape.rank()) <= dimensions,
            Of::Aatrox | Of::Codec(..) => true,
        }
    }

    /// The calls that make it of a field.
    ///
    /// # Errors
    ///
    /// If the bound cannot be kept, or the field has no such stream.
    pub fn coding<T: Element + OnDevice>(
        self,
        subject: &Subject<T>,
        bound: Bound,
    ) -> Result<Box<dyn Coding<T>>, Failure> {
        let bare = |bare: Bare<T>| -> Box<dyn Coding<T>> { Box::new(bare) };
        Ok(match self.of {
            Of::Cuszp(mode, shape) => {
                let error = subject.positive_error(bound)?;
                bare(cuszp::Params::new(shape, mode, subject.dims(), error).into())
            }
            Of::Aatrox => {
                let error = subject.positive_error(bound)?;
                let elements = subject.extents.elements();
                bare(aatrox::Params { elements, error }.into())
            }
            Of::Codec(codec, preference) => {
                let compressor = Compressor::new(codec, bound)
                    .extents(subject.extents.lengths())?
                    .prefer(preference)?;
                Box::new(Container::new(&compressor, &subject.values)?)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_others_are_refused() {
        for kind in STREAMS {
            assert_eq!(named(kind.name), Ok(kind));
        }
        assert!(named("SZ3").unwrap_err().contains("AATROX"));
    }
}
