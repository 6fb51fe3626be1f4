//! Compression: the parameters and the coarse field, then the codes of the tiles that are counted, then all chunks in waves.
//!
//! Only the codes of counted tiles and of a wave are in memory at a time, whatever the size of the field.

use crate::cpu::code::zones::ZoneMap;
use crate::cpu::mapping::mask::Mask;
use crate::cpu::pool::Pool;
use crate::cpu::predict::interp::{Model, Predictor};
use crate::cpu::predict::tune::tune;
use crate::cpu::sink::Sink;
use crate::cpu::tiles::chunks::{Chunks, Image, Numbers, Put};
use crate::cpu::tiles::coder::{self, Encoder};
use crate::cpu::tiles::codes::{Predict, Tiles, count};
use crate::cpu::tiles::kept::{Kept, TilePlace};
use crate::cpu::tiles::rows::Rows;
use crate::cpu::tiles::strided::Strided;
use crate::cpu::writer::Writer;
use crate::cpu::{Progress, Version};
use crate::error::Error;
use crate::memory;
use ferrosz_codec::Element;
use ferrosz_codec::code::entropy::counts::is_sample;
use ferrosz_codec::code::entropy::shifts::Shifts;
use ferrosz_codec::container::chunk::Form;
use ferrosz_codec::container::header::Header;
use ferrosz_codec::container::tiles::{Prologue, TileLayout, max_prologue_bytes};
use ferrosz_codec::predict::fitted::Fitted;
use ferrosz_codec::predict::interp::resolved::Resolved;
use ferrosz_codec::predict::interp::tune::Tuning;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::tile::Part;

/// Compresses a coded field with this header, in which the payload's length is missing.
#[expect(
    clippy::too_many_arguments,
    reason = "the arguments of every compression, and the field's tiles"
)]
pub(crate) fn compress<T: Element>(
    version: Version,
    tiles: &TileLayout,
    header: Header,
    mask: &Mask,
    quantizer: &Quantizer<T>,
    values: &[T],
    sink: &mut dyn Sink,
    progress: Progress<'_>,
) -> Result<(), Error> {
    let mut writer = Writer::new(header, &mask.records, sink)?;
    if !values.is_empty() {
        let mut has_prologue = false;
        encode_all(
            version,
            tiles,
            quantizer,
            values,
            progress,
            &mut |images, waves| {
                for Image { form, bytes, sum } in images {
                    let length = bytes.len() as u64;
                    match has_prologue {
                        true => writer.enter(form.id(), length, *sum),
                        false => writer.enter_prologue(length, *sum),
                    }
                    has_prologue = true;
                }
                let parts: Vec<&[u8]> = images.iter().map(|image| &image.bytes[..]).collect();
                writer.append(&parts)?;
                let bytes: usize = parts.iter().map(|part| part.len()).sum();
                writer.expect(bytes as u64, waves);
                Ok(())
            },
        )?;
    }
    writer.append_chunks(&mask.chunks)?;
    writer.finish()
}

/// Encodes the prologue and all chunks of a field that has elements.
pub(super) fn encode_all<T: Element>(
    version: Version,
    layout: &TileLayout,
    quantizer: &Quantizer<T>,
    values: &[T],
    progress: Progress<'_>,
    put: Put<'_>,
) -> Result<(), Error> {
    let field = Field::new(version, layout, quantizer, values);
    let begun = field.begin()?;
    field.put_start(&begun, put)?;
    let all = Numbers::All(layout.fine_chunks());
    let (known, counted) = (begun.known(), &begun.counted);
    field.put_chunks(&begun.prologue, known, counted, all, progress, put)
}

/// A field that has elements, and how it is encoded.
pub(crate) struct Field<'a, T> {
    version: Version,
    layout: &'a TileLayout,
    quantizer: &'a Quantizer<T>,
    values: Strided<'a, T>,
}

/// What is known of a field before its chunks are encoded.
pub(crate) struct Begun<'a, T> {
    prologue: Prologue<T>,
    start: Option<Start<'a, T>>,
    /// The codes of the tiles that are counted.
    counted: Kept,
}

impl<T> Begun<'_, T> {
    /// The decoded values of the coarse field, in C order.
    fn known(&self) -> &[T] {
        self.start.as_ref().map_or(&[], |start| &start.known)
    }
}

impl<'a, T: Element> Field<'a, T> {
    pub(crate) fn new(
        version: Version,
        layout: &'a TileLayout,
        quantizer: &'a Quantizer<T>,
        values: &'a [T],
    ) -> Self {
        Self {
            version,
            layout,
            quantizer,
            values: Strided::new(layout, values),
        }
    }

    /// Decides the parameters and frequencies, and encodes the coarse field.
    pub(crate) fn begin(&self) -> Result<Begun<'a, T>, Error> {
        let &Self {
            version,
            layout,
            quantizer,
            values,
        } = self;
        // 1. The parameters of the prediction, and the coarse field.
        let tuning = layout.codec.predictor.tuning();
        let start = tuning.map(|tuning| Start::new(version, layout, quantizer, &values, &tuning));
        let start = start.transpose()?;
        let mut begun = Begun {
            prologue: Prologue {
                resolved: start.as_ref().map(|start| start.resolved),
                coefficients: start.as_ref().and_then(|start| start.coefficients),
                frequencies: None,
            },
            start,
            counted: Kept::default(),
        };
        // 2. The frequencies, from the codes of the tiles that are counted.
        let coder = layout.codec.coder;
        if coder::has_frequencies(coder) {
            let counted = Kept::counted(&layout.fine);
            begun.counted = self.with_tiles(&begun.prologue, begun.known(), |tiles| {
                Kept::new(counted, |places| tiles.encode(places, |_, _, _| {}))
            })?;
        }
        begun.prologue.frequencies = coder::frequencies(coder, || {
            let map = self.zones(&begun.prologue);
            let mut counts = count(version, &map, &layout.fine, &begun.counted);
            if let Some(Start { coarse, codes, .. }) = &begun.start {
                counts.merge(&count(version, &map, &coarse.grid, codes));
            }
            counts.complete(is_sample(layout.fine.runs()));
            counts
        });
        Ok(begun)
    }

    /// Puts the prologue and the chunks of the coarse field.
    pub(crate) fn put_start(&self, begun: &Begun<'_, T>, put: Put<'_>) -> Result<(), Error> {
        let Begun {
            prologue, start, ..
        } = begun;
        let anchors = start.as_ref().map_or(&[][..], |start| &start.anchors);
        put(&[prologue_image(self.layout, prologue, anchors)?], 0)?;
        let Some(Start { coarse, codes, .. }) = start else {
            return Ok(());
        };
        let all = Numbers::All(self.layout.coarse_chunks());
        let map = self.zones(prologue);
        // All of its codes are kept.
        self.chunks(prologue, &map)
            .encode(&coarse.grid, coarse, all, codes, |_| {}, &|_| {}, put)
    }

    /// Puts chunks of the field, given its prologue and the decoded values of the coarse field.
    pub(crate) fn put_chunks(
        &self,
        prologue: &Prologue<T>,
        known: &[T],
        counted: &Kept,
        numbers: Numbers<'_>,
        progress: Progress<'_>,
        put: Put<'_>,
    ) -> Result<(), Error> {
        let map = self.zones(prologue);
        let chunks = self.chunks(prologue, &map);
        let (grid, values) = (&self.layout.fine, &self.values);
        self.with_tiles(prologue, known, |tiles| {
            let predict = |places: Vec<TilePlace<'_>>| tiles.encode(places, |_, _, _| {});
            chunks.encode(grid, values, numbers, counted, predict, progress, put)
        })
    }

    /// Calls `work` with the tiles of the field.
    fn with_tiles<R>(
        &self,
        prologue: &Prologue<T>,
        known: &[T],
        work: impl FnOnce(&Tiles<'_, T>) -> R,
    ) -> R {
        let &Self {
            version,
            layout,
            quantizer,
            ..
        } = self;
        let coarse = layout.coarse.unwrap_or(layout.fine);
        let anchor = |_, at| known[coarse.flat(at) as usize];
        let predict = match &prologue.resolved {
            None => Predict::Lorenzo { version, quantizer },
            Some(resolved) => {
                let model = Model {
                    resolved,
                    coefficients: prologue.coefficients.as_ref(),
                };
                Predict::Interpolation {
                    predictor: Predictor::new(version, &layout.fine, model, Part::Fine),
                    anchor: &anchor,
                }
            }
        };
        work(&Tiles::new(&layout.fine, &self.values, predict))
    }

    fn zones(&self, prologue: &Prologue<T>) -> ZoneMap {
        let resolved = prologue.resolved.as_ref();
        let shifts = resolved.map_or(Shifts::NONE, |resolved| resolved.parameters.shifts);
        ZoneMap::new(self.layout.codec.order(self.layout.shape()), shifts)
    }

    fn chunks<'m>(&self, prologue: &Prologue<T>, map: &'m ZoneMap) -> Chunks<'m> {
        let coder = self.layout.codec.coder;
        Chunks {
            version: self.version,
            length: self.layout.chunk,
            encoder: Encoder::new(coder, prologue.frequencies.as_ref()),
            map,
            scratch: Pool::default(),
        }
    }
}

/// The prologue with these anchors of the coarse field.
///
/// # Errors
///
/// [`Error::OutOfMemory`].
pub(crate) fn prologue_image<T: Element>(
    layout: &TileLayout,
    prologue: &Prologue<T>,
    anchors: &[T],
) -> Result<Image, Error> {
    let mut bytes = memory::try_zeroed(max_prologue_bytes(layout, T::DTYPE))?;
    let sections = prologue.write(layout, anchors.iter().copied(), &mut bytes);
    bytes.truncate(sections.bytes());
    Ok(Image::new(Form::Coded, bytes))
}

/// The parameters of an interpolation, and the coarse field.
struct Start<'a, T> {
    resolved: Resolved<T>,
    coefficients: Option<Fitted>,
    /// The anchors of the coarse field.
    anchors: Vec<T>,
    coarse: Strided<'a, T>,
    /// The codes of all tiles of the coarse field.
    codes: Kept,
    /// The decoded values of the coarse field, in C order: the anchors of the field.
    known: Vec<T>,
}

impl<'a, T: Element> Start<'a, T> {
    fn new(
        version: Version,
        layout: &TileLayout,
        quantizer: &Quantizer<T>,
        field: &Strided<'a, T>,
        tuning: &Tuning,
    ) -> Result<Self, Error> {
        let read = |at, row: &mut [T]| field.read(at, row);
        let tuned = tune(version, &field.grid, &read, quantizer.error(), 0.0, tuning);
        let spacing = tuning.geometry.spacing(layout.shape());
        let coarse = field.coarse(layout, spacing);
        let resolved = Resolved::new(tuned.parameters, quantizer.error());
        let anchors = coarse.anchors(spacing);
        let mut known = memory::try_zeroed(coarse.grid.elements())?;
        let out = Rows::whole(&coarse.grid, &mut known);
        let of_anchors = coarse.grid.coarse(spacing);
        let predict = Predict::Interpolation {
            // The coarse field is predicted by splines alone, without coefficients.
            predictor: Predictor::new(version, &layout.fine, &resolved, Part::Coarse),
            anchor: &|_, at| anchors[of_anchors.flat(at) as usize],
        };
        let tiles = Tiles::new(&coarse.grid, &coarse, predict);
        let codes = Kept::new((0..coarse.grid.tiles()).collect(), |places| {
            tiles.encode(places, |_, tile, store| {
                out.put_tile(tile, store);
            });
        })?;
        Ok(Self {
            resolved,
            coefficients: tuned.coefficients,
            anchors,
            coarse,
            codes,
            known,
        })
    }
}
