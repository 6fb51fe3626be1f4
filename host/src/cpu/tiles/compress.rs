//! Compression: the parameters and the coarse field, then the codes of the tiles that are counted, then all chunks in waves.
//!
//! Only the codes of counted tiles and of a wave are in memory at a time, whatever the size of the field.

use crate::cpu::code::image::ChunkTiles;
use crate::cpu::code::zones::ZoneMap;
use crate::cpu::mapping::mask::Mask;
use crate::cpu::pool::Pool;
use crate::cpu::predict::interp::{Model, Predictor, TileStore};
use crate::cpu::predict::tile_lorenzo;
use crate::cpu::predict::tune::tune;
use crate::cpu::sink::Sink;
use crate::cpu::tiles::coder::{self, Encoder, Scratch};
use crate::cpu::tiles::kept::{Kept, TilePlace};
use crate::cpu::tiles::rows::Rows;
use crate::cpu::tiles::strided::Strided;
use crate::cpu::writer::Writer;
use crate::cpu::{Progress, Version};
use crate::error::Error;
use crate::memory;
use ferrosz_codec::Element;
use ferrosz_codec::code::entropy::counts::{Counts, is_sample};
use ferrosz_codec::code::entropy::shifts::Shifts;
use ferrosz_codec::container::checksum::checksum;
use ferrosz_codec::container::chunk::Form;
use ferrosz_codec::container::header::Header;
use ferrosz_codec::container::tiles::{Prologue, TileLayout, max_prologue_bytes};
use ferrosz_codec::predict::fitted::Fitted;
use ferrosz_codec::predict::interp::resolved::Resolved;
use ferrosz_codec::predict::interp::tune::Tuning;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::tile::code::TileCodes;
use ferrosz_codec::tile::{self, ChunkLength, LANES, Part, TileBox, TileGrid};
use rayon::prelude::*;
use std::ops::Range;

/// Tiles for each thread in a wave: enough that little time is lost at the end of the wave, where threads wait, and few
/// enough that their codes stay in a cache until they are encoded.
const WAVE_TILES: u64 = 64;

/// An encoded chunk.
pub(super) struct Image {
    form: Form,
    pub(super) bytes: Vec<u8>,
    /// The checksum without a seed.
    sum: u64,
}

impl Image {
    fn new(form: Form, bytes: Vec<u8>) -> Self {
        Self {
            form,
            sum: checksum(0, &bytes),
            bytes,
        }
    }

    /// Replaces the contents, in the same memory.
    fn set(&mut self, form: Form, bytes: &[u8]) -> Result<(), Error> {
        self.bytes.clear();
        memory::append(&mut self.bytes, bytes)?;
        (self.form, self.sum) = (form, checksum(0, bytes));
        Ok(())
    }
}

/// Called with the images of a wave in the order of their chunks, and with the number of waves that have about as many
/// bytes, or 0 if that is not known.
pub(super) type Put<'a> = &'a mut (dyn FnMut(&[Image], u64) -> Result<(), Error> + Send);

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
    // 1. The parameters of the prediction, and the coarse field.
    let field = Strided::new(layout, values);
    let tuning = layout.codec.predictor.tuning();
    let start = tuning.map(|tuning| Start::new(version, layout, quantizer, &field, &tuning));
    let start = start.transpose()?;
    let tiles = match &start {
        None => Tiles::new(field, Predict::Lorenzo { version, quantizer }),
        Some(start) => Tiles::new(
            field,
            Predict::Interpolation {
                predictor: Predictor::new(version, &layout.fine, start.model(), Part::Fine),
                anchors: &start.known,
            },
        ),
    };
    // 2. The frequencies, from the codes of the tiles that are counted.
    let coder = layout.codec.coder;
    let counted = match coder::has_frequencies(coder) {
        true => Kept::new(Kept::counted(&layout.fine), |places| {
            tiles.encode(places, |_, _| {});
        })?,
        false => Kept::default(),
    };
    let shifts = (start.as_ref()).map_or(Shifts::NONE, |start| start.resolved.parameters.shifts);
    let map = ZoneMap::new(layout.codec.order(layout.shape()), shifts);
    let frequencies = coder::frequencies(coder, || {
        let mut counts = count(version, &map, &layout.fine, &counted);
        if let Some(Start { coarse, codes, .. }) = &start {
            counts.merge(&count(version, &map, &coarse.grid, codes));
        }
        counts.complete(is_sample(layout.fine.runs()));
        counts
    });
    // 3. The prologue.
    let prologue = Prologue {
        resolved: start.as_ref().map(|start| start.resolved),
        coefficients: start.as_ref().and_then(|start| start.coefficients),
        frequencies,
    };
    let mut bytes = memory::try_zeroed(max_prologue_bytes(layout, T::DTYPE))?;
    let anchors = start.iter().flat_map(|start| start.anchors.iter().copied());
    let sections = prologue.write(layout, anchors, &mut bytes);
    bytes.truncate(sections.bytes());
    put(&[Image::new(Form::Coded, bytes)], 0)?;
    // 4. The chunks of the coarse field, and those of the field.
    let chunks = Chunks {
        version,
        length: layout.chunk,
        encoder: Encoder::new(coder, prologue.frequencies.as_ref()),
        map: &map,
        scratch: Pool::default(),
    };
    if let Some(Start { coarse, codes, .. }) = &start {
        // All of its codes are kept.
        chunks.encode(coarse, codes, |_| {}, &|_| {}, put)?;
    }
    let predict = |places: Vec<TilePlace<'_>>| tiles.encode(places, |_, _| {});
    chunks.encode(&field, &counted, predict, progress, put)
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
        let tuned = tune(version, &field.grid, read, quantizer.error(), 0.0, tuning);
        let spacing = tuning.geometry.spacing(layout.shape());
        let coarse = field.coarse(layout, spacing);
        let resolved = Resolved::new(tuned.parameters, quantizer.error());
        let anchors = coarse.anchors(spacing);
        let mut known = memory::try_zeroed(coarse.grid.elements())?;
        let out = Rows::whole(&coarse.grid, &mut known);
        let predict = Predict::Interpolation {
            // The coarse field is predicted by splines alone, without coefficients.
            predictor: Predictor::new(version, &layout.fine, &resolved, Part::Coarse),
            anchors: &anchors,
        };
        let tiles = Tiles::new(coarse, predict);
        let codes = Kept::new((0..coarse.grid.tiles()).collect(), |places| {
            tiles.encode(places, |tile, store| {
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

    fn model(&self) -> Model<'_, T> {
        Model {
            resolved: &self.resolved,
            coefficients: self.coefficients.as_ref(),
        }
    }
}

/// The prediction of a part of a field.
enum Predict<'a, T> {
    Lorenzo {
        version: Version,
        quantizer: &'a Quantizer<T>,
    },
    Interpolation {
        predictor: Predictor<'a, T>,
        /// The anchors of the part, in C order.
        anchors: &'a [T],
    },
}

/// Makes codes of the tiles of a part of a field.
struct Tiles<'a, T> {
    field: Strided<'a, T>,
    predict: Predict<'a, T>,
    stores: Pool<TileStore<T>>,
}

impl<'a, T: Element> Tiles<'a, T> {
    fn new(field: Strided<'a, T>, predict: Predict<'a, T>) -> Self {
        Self {
            field,
            predict,
            stores: Pool::default(),
        }
    }

    /// Makes the codes of tiles. `known` is called with each tile and its decoded values, if they are interpolated.
    fn encode(&self, places: Vec<TilePlace<'_>>, known: impl Fn(&TileBox, &TileStore<T>) + Sync) {
        let grid = &self.field.grid;
        let read = |at, row: &mut [T]| self.field.read(at, row);
        places.into_par_iter().for_each(|(number, codes)| {
            let tile = grid.tile(number);
            match &self.predict {
                Predict::Lorenzo { version, quantizer } => apart(|| {
                    tile_lorenzo::encode_on(*version, grid.shape(), &tile, quantizer, read, codes);
                }),
                Predict::Interpolation { predictor, anchors } => {
                    let coarse = predictor.anchor_grid();
                    let anchor = |at| anchors[coarse.flat(at) as usize];
                    let store = || predictor.store();
                    self.stores.with(store, |store| {
                        apart(|| predictor.encode(&tile, read, anchor, store, codes));
                        known(&tile, store);
                    });
                }
            }
        });
    }
}

/// Runs `work` in its own stack frame. In the frames of rayon's recursion, its arrays would exist once for each depth,
/// which exceeds a thread's stack.
#[inline(never)]
pub(super) fn apart<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// The boxes of these tiles.
pub(super) fn boxes(grid: &TileGrid, tiles: Range<u64>) -> Vec<TileBox> {
    tiles.map(|tile| grid.tile(tile)).collect()
}

/// The counts of tiles whose codes are kept.
fn count(version: Version, map: &ZoneMap, grid: &TileGrid, kept: &Kept) -> Counts {
    let tiles = kept.numbers.par_iter().zip(&kept.codes);
    let counts = tiles.fold(Box::<Counts>::default, |mut counts, (number, codes)| {
        let tile = grid.tile(*number);
        apart(|| map.count(version, &tile, codes, &mut counts));
        counts
    });
    let merge = |mut counts: Box<Counts>, other: Box<Counts>| {
        counts.merge(&other);
        counts
    };
    *counts.reduce(Box::default, merge)
}

/// Encodes the chunks of a stream.
struct Chunks<'a> {
    version: Version,
    length: ChunkLength,
    encoder: Encoder,
    map: &'a ZoneMap,
    scratch: Pool<Scratch>,
}

impl Chunks<'_> {
    /// Encodes the chunks of a part of the field in waves. Codes that are not kept are made by `predict`.
    fn encode<T: Element>(
        &self,
        field: &Strided<'_, T>,
        kept: &Kept,
        predict: impl Fn(Vec<TilePlace<'_>>) + Sync,
        progress: Progress<'_>,
        put: Put<'_>,
    ) -> Result<(), Error> {
        let grid = &field.grid;
        let chunks = self.length.count(grid);
        let tiles = WAVE_TILES * rayon::current_num_threads() as u64;
        let wave = tiles.div_ceil(u64::from(self.length.tiles()));
        let waves = chunks.div_ceil(wave);
        let mut codes = Vec::new();
        let (mut now, mut before) = (Vec::new(), Vec::new());
        for number in 0..waves {
            let chunks = number * wave..chunks.min((number + 1) * wave);
            // While a wave is encoded, threads that are free put the wave before it into the stream.
            let (placed, encoded) = rayon::join(
                || put(&before, if number == 1 { waves } else { 0 }),
                || {
                    let tiles = self.tiles(grid, &chunks);
                    let codes = kept.of(grid, tiles, &predict, &mut codes)?;
                    self.encode_wave(field, chunks, codes, &mut now, progress)
                },
            );
            placed.and(encoded)?;
            std::mem::swap(&mut now, &mut before);
        }
        put(&before, 0)
    }

    /// The numbers of the tiles of these chunks.
    fn tiles(&self, grid: &TileGrid, chunks: &Range<u64>) -> Range<u64> {
        let tiles = u64::from(self.length.tiles());
        chunks.start * tiles..grid.tiles().min(chunks.end * tiles)
    }

    /// Encodes chunks from the codes of their tiles into images, whose memory is reused.
    fn encode_wave<T: Element>(
        &self,
        field: &Strided<'_, T>,
        chunks: Range<u64>,
        codes: &[TileCodes],
        images: &mut Vec<Image>,
        progress: Progress<'_>,
    ) -> Result<(), Error> {
        let grid = &field.grid;
        images.resize_with((chunks.end - chunks.start) as usize, || {
            Image::new(Form::Zero, Vec::new())
        });
        let codes = codes.par_chunks(self.length.tiles() as usize);
        let images = codes.zip(images).enumerate();
        images.try_for_each(|(index, (codes, image))| {
            let number = chunks.start + index as u64;
            let boxes = boxes(grid, self.length.of_chunk(grid, number));
            let tiles = ChunkTiles {
                map: self.map,
                tiles: &boxes,
            };
            let value = |tile: usize, at: usize| {
                let (step, lane) = (at as u32 / LANES, at as u32 % LANES);
                field.at(boxes[tile].at(tile::position(grid.shape(), step, lane)))
            };
            let scratch = || Scratch::new(self.length);
            let encode = |scratch: &mut Scratch| {
                let encode = || {
                    self.encoder
                        .encode(self.version, tiles, codes, value, scratch)
                };
                let (form, length) = apart(encode);
                image.set(form, &scratch.image[..length])
            };
            self.scratch.with(scratch, encode)?;
            let extents = boxes.iter().map(|tile| tile.extents(grid.shape()));
            progress(
                extents
                    .map(|extents| extents.map(u64::from).iter().product::<u64>())
                    .sum(),
            );
            Ok(())
        })
    }
}
