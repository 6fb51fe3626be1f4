//! Damaged streams: finds the damaged chunks, and decodes the others.

use crate::cpu::blocks::ChunkDecoder;
use crate::cpu::mapping::axes::Turn;
use crate::cpu::mapping::coded::decode_values;
use crate::cpu::mapping::conversion;
use crate::cpu::mapping::mask::MaskDecoder;
use crate::cpu::tiles;
use crate::cpu::{Progress, Version};
use crate::damage::{Damage, GridBox, Lost};
use crate::decompress::Decompressor;
use crate::error::Error;
use crate::memory::try_zeroed;
use crate::progress::SILENT;
use crate::stream_ref::StreamRef;
use crate::wavelet;
use bytemuck::cast_slice_mut;
use ferrosz_codec::container::grid::Grid;
use ferrosz_codec::container::layout::Family;
use ferrosz_codec::container::region::Region;
use ferrosz_codec::with_element;
use ferrosz_codec::{Element, FormatError, Value};

impl Decompressor {
    /// Decompresses the undamaged parts of a stream. Lost elements are NaN, or 0 in integer types, and the damaged chunks are listed in the
    /// order of their numbers. In a stream of interpolation, elements that depend on a damaged chunk are lost, too. The
    /// end of the stream may be missing. Runs on the CPU, whatever this decompressor's device.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Codec, Compressor, Decompressor, Part};
    ///
    /// let field: Vec<f32> = (0..20_000).map(|i| (i as f32).sqrt()).collect();
    /// let mut stream = Compressor::new(Codec::PLAIN, Bound::abs(0.1)?).compress(&field)?;
    /// *stream.last_mut().unwrap() ^= 1;
    /// let (values, damages) = Decompressor::new().salvage::<f32>(&stream)?;
    /// assert_eq!(damages[0].lost, [Part::Elements(16_384..20_000)]);
    /// assert!(values[..16_384].iter().zip(&field).all(|(x, y)| (x - y).abs() <= 0.11));
    /// assert!(values[16_384..].iter().all(|x| x.is_nan()));
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if nothing can be decoded: the header is damaged, the stream is not of `V`, its updates are
    /// damaged or cut off, or the prologue of a stream of tiles is damaged. [`Error::OutOfMemory`].
    pub fn salvage<V: Value>(&self, stream: &[u8]) -> Result<(Vec<V>, Vec<Damage>), Error> {
        self.salvaged(stream, SILENT)
    }

    pub(crate) fn salvaged<V: Value>(
        &self,
        stream: &[u8],
        progress: Progress<'_>,
    ) -> Result<(Vec<V>, Vec<Damage>), Error> {
        let stream = StreamRef::read_remains(stream)?;
        stream.header.check_values::<V>()?;
        let (coded, lost) = self.salvage_coded(&stream, progress)?;
        let mut values = conversion::to_values(&stream.conversion, coded)?;
        let damages = damages(&stream, lost);
        if stream.is_mended() {
            self.mend(&stream, None, &mut values)?;
            forget(&stream, &damages, &mut values);
        }
        Ok((values, damages))
    }

    /// The elements of a stream, in the order of the user's axes, and what is lost of them.
    fn salvage_coded<T: Element>(
        &self,
        stream: &StreamRef<'_>,
        progress: Progress<'_>,
    ) -> Result<(Vec<T>, Vec<Lost>), Error> {
        let mut values = try_zeroed::<T>(stream.header.elements())?;
        let verify = self.verifies_checksums();
        let lost = with_element!(T::DTYPE, E => {
            compiled_here!(salvage: Salvage<E> = salvage_of::<E>);
            salvage()(stream, verify, cast_slice_mut(&mut values), progress)
        })?;
        for lost in &lost {
            let lengths = grid_of(stream, lost.chunk).lengths();
            for position in &lost.positions {
                position.fill(lengths, &mut values, T::NAN);
            }
        }
        if let Some(turn) = Turn::to_user(stream.header.extents.lengths(), &stream.order) {
            let mut of_user = try_zeroed::<T>(values.len() as u64)?;
            turn.apply(&values, &mut of_user);
            values = of_user;
        }
        Ok((values, lost))
    }

    /// Decodes every chunk of a stream without output; returns the damaged chunks, in the order of their numbers; none
    /// if the stream is undamaged. The end of the stream may be missing. Needs memory for one chunk in each thread, and
    /// runs on the CPU.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if the damage is not in chunks, as for [`Decompressor::salvage`], or other bytes follow the
    /// stream.
    pub fn check(&self, stream: &[u8]) -> Result<Vec<Damage>, Error> {
        self.checked(stream, SILENT)
    }

    pub(crate) fn checked(
        &self,
        stream: &[u8],
        progress: Progress<'_>,
    ) -> Result<Vec<Damage>, Error> {
        let (read, cut_off) = match StreamRef::read(stream) {
            Ok(read) => (read, None),
            Err(error @ FormatError::Truncated { .. }) => {
                (StreamRef::read_remains(stream)?, Some(error))
            }
            Err(error) => return Err(error.into()),
        };
        let lost = with_element!(read.header.dtype, E => self.lost::<E>(&read, progress))?;
        match cut_off {
            // Missing bytes are an error even if they belong to no chunk.
            Some(error) if lost.is_empty() => Err(error.into()),
            None if lost.is_empty() => Ok(read.check_sections().map(|()| Vec::new())?),
            _ => Ok(damages(&read, lost)),
        }
    }

    fn lost<T: Element>(
        &self,
        stream: &StreamRef<'_>,
        progress: Progress<'_>,
    ) -> Result<Vec<Lost>, Error> {
        let verify = self.verifies_checksums();
        let mut lost = match stream.header.layout().family() {
            Family::Blocks(layout) => {
                let decoder = ChunkDecoder::<T>::new(Version::best(), stream, layout, verify)?;
                lost_chunks(stream, decoder.check(progress))
            }
            Family::Tiles(layout) => tiles::check::<T>(stream, &layout, verify, progress)?,
        };
        spread(stream, &mut lost);
        if let Some(mask) = MaskDecoder::new(stream, verify) {
            lost.extend(lost_of_mask(&mask, mask.check()));
        }
        Ok(lost)
    }
}

/// Makes lost values NaN, or 0 in integer types, which were mended.
fn forget<V: Value>(stream: &StreamRef<'_>, damages: &[Damage], values: &mut [V]) {
    let user = stream.order.user_extents(&stream.header.extents);
    let lost = V::from_number(f64::NAN).unwrap_or_default();
    for part in damages.iter().flat_map(|damage| &damage.lost) {
        for run in part.runs(user.lengths()) {
            values[run.start as usize..run.end as usize].fill(lost);
        }
    }
}

/// [`salvage_of`] an element type.
type Salvage<T> = fn(&StreamRef<'_>, bool, &mut [T], Progress<'_>) -> Result<Vec<Lost>, Error>;

/// Decodes all elements that are not lost; the `values` of lost elements are unspecified.
fn salvage_of<T: Element>(
    stream: &StreamRef<'_>,
    verify: bool,
    values: &mut [T],
    progress: Progress<'_>,
) -> Result<Vec<Lost>, Error> {
    let mut lost = match stream.header.layout().family() {
        Family::Blocks(layout) => {
            let decoder = ChunkDecoder::<T>::new(Version::best(), stream, layout, verify)?;
            let faults = decoder.faults(&Region::whole(&layout.grid), values, progress);
            lost_chunks(stream, faults)
        }
        Family::Tiles(layout) => tiles::salvage(stream, &layout, verify, values, progress)?,
    };
    if spread(stream, &mut lost) {
        values.fill(T::NAN);
    } else if let Some(wavelets) = &stream.wavelets {
        let field = wavelet::field_of(wavelets, &stream.header.extents, values)?;
        values.copy_from_slice(&field);
    }
    decode_values(&stream.mapping, values);
    if let Some(mask) = MaskDecoder::new(stream, verify) {
        let faults = mask.lay_over(&Region::whole(mask.grid()), values);
        lost.extend(lost_of_mask(&mask, faults));
    }
    Ok(lost)
}

/// The positions of faulty chunks of a mask: whether they are missing is not known.
fn lost_of_mask(mask: &MaskDecoder<'_>, faults: Vec<(u64, FormatError)>) -> Vec<Lost> {
    let lost = faults.into_iter().map(|(chunk, cause)| {
        let boxes = mask.boxes_of(chunk).unwrap_or_default();
        let positions = boxes.iter().map(|part| GridBox {
            origin: part.origin,
            size: part.extents.map(u64::from),
        });
        Lost {
            chunk,
            cause,
            positions: positions.collect(),
        }
    });
    lost.collect()
}

/// With coefficients of wavelets, any that are lost are lost with all values. Whether there are such.
fn spread(stream: &StreamRef<'_>, lost: &mut [Lost]) -> bool {
    let size = stream.header.grid().lengths();
    let is_spread = stream.wavelets.is_some() && !lost.is_empty();
    for lost in lost.iter_mut().filter(|_| is_spread) {
        let origin = [0; 3];
        lost.positions = vec![GridBox { origin, size }];
    }
    is_spread
}

/// The grid in whose dimensions the positions of a chunk are.
fn grid_of(stream: &StreamRef<'_>, chunk: u64) -> Grid {
    let layout = stream.header.layout();
    match layout.mask() {
        Some(mask) if chunk >= layout.field_entries() => mask.grid,
        _ => layout.grid(),
    }
}

/// The positions of faulty chunks of blocks, which lose only their own elements.
fn lost_chunks(stream: &StreamRef<'_>, faults: Vec<(u64, FormatError)>) -> Vec<Lost> {
    let grid = stream.header.grid();
    let lost = faults.into_iter().map(|(chunk, cause)| {
        let position = grid.chunk(chunk);
        let (origin, size) = (position.origin, position.extents.map(u64::from));
        Lost {
            chunk,
            cause,
            positions: vec![GridBox { origin, size }],
        }
    });
    lost.collect()
}

fn damages(stream: &StreamRef<'_>, lost: Vec<Lost>) -> Vec<Damage> {
    let extents = stream.header.extents;
    let damages = lost.into_iter().map(|lost| {
        let grid = grid_of(stream, lost.chunk);
        Damage {
            chunk: lost.chunk,
            cause: lost.cause,
            lost: (lost.positions.iter())
                .flat_map(|position| position.parts(&grid, &extents, &stream.order))
                .collect(),
        }
    });
    damages.collect()
}
