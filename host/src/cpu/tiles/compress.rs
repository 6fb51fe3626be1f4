//! Compression: the parameters and the coarse field, then the codes of the tiles that are counted, then all chunks in waves.
//!
//! Only the codes of counted tiles and of a wave are in memory at a time, whatever the size of the field.

use crate::cpu::code::zones::ZoneMap;
use crate::cpu::numbers::Numbers;
use crate::cpu::pool::Pool;
use crate::cpu::predict::interp::{Model, Predictor};
use crate::cpu::tiles::chunks::{Chunks, Divided};
use crate::cpu::tiles::coder::{self, Encoder};
use crate::cpu::tiles::codes::{Predict, TileValues, Tiles, count};
use crate::cpu::tiles::holder::{CoarsePart, Holder, agreed};
use crate::cpu::tiles::kept::{Kept, TilePlace};
use crate::cpu::tiles::lines::{self, LineCodes, LineValues};
use crate::cpu::{Progress, Version};
use crate::encoded::{EncodedChunks, Put};
use crate::error::Error;
use crate::memory;
use ferrosz_codec::Element;
use ferrosz_codec::code::entropy::counts::{Counts, is_sample};
use ferrosz_codec::code::entropy::shifts::Shifts;
use ferrosz_codec::container::chunk::Form;
use ferrosz_codec::container::tiles::{FIRST_ENTRY, Prologue, TileLayout, max_prologue_bytes};
use ferrosz_codec::predict::fitted::Fitted;
use ferrosz_codec::predict::interp::resolved::Resolved;
use ferrosz_codec::predict::interp::tune::{TighteningChoice, Tuning};
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::tile::Part;

/// The number of the entry of a prologue.
const PROLOGUE: u64 = 0;

/// A field that has elements, and how it is encoded.
pub(crate) struct Field<'a, T> {
    pub(crate) version: Version,
    pub(crate) layout: &'a TileLayout,
    pub(crate) quantizer: &'a Quantizer<T>,
}

/// What is known of a field before its chunks are encoded.
pub(crate) struct Begun<'a, T> {
    prologue: Prologue<T>,
    start: Option<Start<'a, T>>,
    /// The codes of the tiles that are counted.
    counted: Kept,
    /// All codes, if levels are coded apart.
    lines: Option<LineCodes>,
}

impl<T: Element> Begun<'_, T> {
    /// The decoded value of the coarse field at a position of it. Without a coarse field nobody asks.
    fn known(&self, at: [u64; 3]) -> T {
        (self.start.as_ref()).map_or(T::ZERO, |start| start.coarse.known(at))
    }
}

/// The value of an anchor of a tile, at a position of the coarse field.
type AnchorOf<'a, T> = &'a (dyn Fn(u64, [u64; 3]) -> T + Sync);

/// What chunks are encoded from, beside their values.
#[derive(Clone, Copy)]
pub(crate) struct KnownStart<'a, T> {
    pub(crate) prologue: &'a Prologue<T>,
    pub(crate) anchor: AnchorOf<'a, T>,
    /// Codes that are kept.
    pub(crate) counted: &'a Kept,
    /// All codes, if levels are coded apart.
    pub(crate) lines: Option<&'a LineCodes>,
}

impl<T: Element> Field<'_, T> {
    /// Encodes the prologue and the chunks, those of this member: all of them, if it is alone.
    pub(crate) fn encode_all(
        &self,
        tightening: TighteningChoice,
        holder: &dyn Holder<T>,
        progress: Progress<'_>,
        put: Put<'_>,
    ) -> Result<(), Error> {
        let begun = self.begin(tightening, holder)?;
        let anchor = |_, at| begun.known(at);
        let known = KnownStart {
            prologue: &begun.prologue,
            anchor: &anchor,
            counted: &begun.counted,
            lines: begun.lines.as_ref(),
        };
        let encoded = self
            .put_start(holder, &begun, put)
            .and_then(|()| self.put_chunks(holder.values(), known, holder.chunks(), progress, put));
        agreed(holder, encoded)
    }

    /// Decides the parameters, given the choice of the levels' bounds, and the frequencies, and makes the codes of the coarse
    /// field.
    pub(crate) fn begin<'h>(
        &self,
        tightening: TighteningChoice,
        holder: &'h dyn Holder<T>,
    ) -> Result<Begun<'h, T>, Error> {
        let &Self {
            version, layout, ..
        } = self;
        // 1. The parameters of the prediction, and the coarse field.
        let tuning = layout.codec.predictor.tuning(tightening);
        let start = tuning
            .map(|tuning| Start::new(self, holder, &tuning))
            .transpose()?;
        let mut begun = Begun {
            prologue: Prologue {
                resolved: start.as_ref().map(|start| start.resolved),
                coefficients: start.as_ref().and_then(|start| start.coefficients),
                frequencies: None,
            },
            start,
            counted: Kept::default(),
            lines: None,
        };
        // 2. All codes, if levels are coded apart.
        let anchor = |_, at| begun.known(at);
        if layout.levels > 0 {
            let lines = self.with_tiles(holder.values(), &begun.prologue, &anchor, |tiles| {
                LineCodes::new(layout, tiles)
            });
            begun.lines = Some(agreed(holder, lines)?);
        }
        let coder = layout.codec.coder;
        if !coder.has_tables() {
            return Ok(begun);
        }
        // 3. The frequencies, from the codes of the tiles that are counted.
        let (mut counts, runs) = match &begun.lines {
            Some(lines) => (counts_of_lines(version, holder, lines)?, lines.runs()),
            None => {
                let anchor = |_, at| begun.known(at);
                let counted = self.with_tiles(holder.values(), &begun.prologue, &anchor, |tiles| {
                    let predict = |places: Vec<TilePlace<'_>>| tiles.encode(places, |_, _, _| {});
                    Kept::new(holder.counted(), predict)
                });
                begun.counted = agreed(holder, counted)?;
                let map = self.zones(&begun.prologue);
                let counts = count(version, &map, &layout.fine, &begun.counted);
                (counts, layout.fine.runs())
            }
        };
        if let Some(start) = &begun.start {
            let (map, coarse) = (self.zones(&begun.prologue), layout.grid(Part::Coarse));
            counts.merge(&count(version, &map, coarse, &start.codes));
        }
        holder.sum(&mut counts)?;
        counts.complete(is_sample(runs));
        begun.prologue.frequencies = coder::frequencies(coder, || counts);
        Ok(begun)
    }

    /// Puts the prologue, if this is the member that has it, and the chunks of the coarse field.
    pub(crate) fn put_start(
        &self,
        holder: &dyn Holder<T>,
        begun: &Begun<'_, T>,
        put: Put<'_>,
    ) -> Result<(), Error> {
        let Begun {
            prologue, start, ..
        } = begun;
        if holder.is_first() {
            let anchors = start
                .as_ref()
                .map_or(&[][..], |start| start.coarse.anchors());
            put(&[encoded_prologue(self.layout, prologue, anchors)?], 0)?;
        }
        let Some(Start { coarse, codes, .. }) = start else {
            return Ok(());
        };
        let map = self.zones(prologue);
        let chunks = self.chunks(prologue, &map, Part::Coarse)?;
        // All of its codes are kept.
        chunks.encode(
            coarse.values(),
            coarse.chunks(),
            codes,
            |_| {},
            &|_| {},
            put,
        )
    }

    /// Puts chunks of the field.
    pub(crate) fn put_chunks(
        &self,
        values: &dyn TileValues<T>,
        known: KnownStart<'_, T>,
        numbers: Numbers<'_>,
        progress: Progress<'_>,
        put: Put<'_>,
    ) -> Result<(), Error> {
        if let Some(lines) = known.lines {
            return self.put_lines(values, known.prologue, lines, progress, put);
        }
        let map = self.zones(known.prologue);
        let chunks = self.chunks(known.prologue, &map, Part::Fine)?;
        self.with_tiles(values, known.prologue, known.anchor, |tiles| {
            let predict = |places: Vec<TilePlace<'_>>| tiles.encode(places, |_, _, _| {});
            chunks.encode(values, numbers, known.counted, predict, progress, put)
        })
    }

    /// Puts the chunks of all lines.
    fn put_lines(
        &self,
        values: &dyn TileValues<T>,
        prologue: &Prologue<T>,
        lines: &LineCodes,
        progress: Progress<'_>,
        put: Put<'_>,
    ) -> Result<(), Error> {
        let (map, grid) = (lines::zones(), &self.layout.fine);
        for (line, codes) in lines.all() {
            let divided = line.divided(self.layout, &map);
            let chunks = self.chunks_of(prologue, divided)?;
            let values = LineValues { line, grid, values };
            let numbers = Numbers::Range(0..divided.length.count(divided.grid));
            let fill = |places: Vec<TilePlace<'_>>| lines::fill(codes, places);
            chunks.encode(&values, numbers, &Kept::default(), fill, progress, put)?;
        }
        // Anchors are in no line.
        let coded: u64 = lines.all().map(|(line, _)| line.grid.elements()).sum();
        progress(grid.elements() - coded);
        Ok(())
    }

    /// Calls `work` with the tiles of the field.
    fn with_tiles<R>(
        &self,
        values: &dyn TileValues<T>,
        prologue: &Prologue<T>,
        anchor: AnchorOf<'_, T>,
        work: impl FnOnce(&Tiles<'_, T>) -> R,
    ) -> R {
        let &Self {
            version,
            layout,
            quantizer,
        } = self;
        let predict = match &prologue.resolved {
            None => match layout.codec.predictor.is_direct() {
                true => Predict::Direct(quantizer),
                false => Predict::Lorenzo { version, quantizer },
            },
            Some(resolved) => {
                let model = Model {
                    resolved,
                    coefficients: prologue.coefficients.as_ref(),
                };
                Predict::Interpolation {
                    predictor: Predictor::new(version, &layout.fine, model, Part::Fine),
                    anchor,
                }
            }
        };
        work(&Tiles::new(&layout.fine, values, predict))
    }

    fn zones(&self, prologue: &Prologue<T>) -> ZoneMap {
        let resolved = prologue.resolved.as_ref();
        let shifts = resolved.map_or(Shifts::NONE, |resolved| resolved.parameters.shifts);
        ZoneMap::new(self.layout.codec.order(self.layout.shape()), shifts)
    }

    fn chunks<'m>(
        &'m self,
        prologue: &Prologue<T>,
        map: &'m ZoneMap,
        part: Part,
    ) -> Result<Chunks<'m>, Error> {
        let divided = Divided {
            grid: self.layout.grid(part),
            first_entry: match part {
                Part::Coarse => FIRST_ENTRY,
                Part::Fine => FIRST_ENTRY + self.layout.coarse_chunks(),
            },
            length: self.layout.chunk_length(part),
            map,
        };
        self.chunks_of(prologue, divided)
    }

    fn chunks_of<'m>(
        &self,
        prologue: &Prologue<T>,
        divided: Divided<'m>,
    ) -> Result<Chunks<'m>, Error> {
        let coder = self.layout.codec.coder;
        Ok(Chunks {
            version: self.version,
            divided,
            encoder: Encoder::new(coder, prologue.frequencies.as_ref())?,
            scratch: Pool::default(),
        })
    }
}

/// The counts of the tiles of all lines whose symbols are counted.
///
/// # Errors
///
/// [`Error::OutOfMemory`]; [`Error::Group`].
fn counts_of_lines<T: Element>(
    version: Version,
    holder: &dyn Holder<T>,
    lines: &LineCodes,
) -> Result<Counts, Error> {
    let (map, mut counts) = (lines::zones(), Counts::default());
    for (line, codes) in lines.all() {
        let counted = agreed(holder, lines.counted(line, codes))?;
        counts.merge(&count(version, &map, &line.grid, &counted));
    }
    Ok(counts)
}

/// The prologue with these anchors of the coarse field.
///
/// # Errors
///
/// [`Error::OutOfMemory`].
fn encoded_prologue<T: Element>(
    layout: &TileLayout,
    prologue: &Prologue<T>,
    anchors: &[T],
) -> Result<EncodedChunks, Error> {
    let mut bytes = memory::try_zeroed(max_prologue_bytes(layout, T::DTYPE))?;
    let sections = prologue.write(layout, anchors.iter().copied(), &mut bytes);
    let mut chunks = EncodedChunks::default();
    chunks.push(PROLOGUE, Form::Coded, &bytes[..sections.bytes()])?;
    Ok(chunks)
}

/// The parameters of an interpolation, and the member's part of the coarse field.
struct Start<'a, T> {
    resolved: Resolved<T>,
    coefficients: Option<Fitted>,
    coarse: Box<dyn CoarsePart<T> + 'a>,
    /// The codes of its tiles.
    codes: Kept,
}

impl<'a, T: Element> Start<'a, T> {
    fn new(
        field: &Field<'_, T>,
        holder: &'a dyn Holder<T>,
        tuning: &Tuning,
    ) -> Result<Self, Error> {
        let &Field {
            version,
            layout,
            quantizer,
        } = field;
        let (resolved, coefficients) = holder.tuned(version, quantizer, tuning)?;
        let coarse = holder.coarse(tuning.geometry.spacing(layout.shape()))?;
        let part = coarse.part();
        let predict = Predict::Interpolation {
            // The coarse field is predicted by splines alone, without coefficients.
            predictor: Predictor::new(version, &layout.fine, &resolved, Part::Coarse),
            anchor: &|tile, at| part.anchor(tile, at),
        };
        let tiles = Tiles::new(layout.grid(Part::Coarse), part.values(), predict);
        let codes = Kept::new(part.tiles(), |places| {
            tiles.encode(places, |number, tile, store| part.keep(number, tile, store));
        });
        let codes = agreed(holder, codes)?;
        Ok(Self {
            resolved,
            coefficients,
            coarse: coarse.complete()?,
            codes,
        })
    }
}
