//! The chunks of a stream: the bytes of each, and the elements that it holds.

use crate::error::Error;
use crate::part::Part;
use crate::statistics::parts_of_chunks;
use crate::stream_ref::StreamRef;
use ferrosz_codec::container::statistics::{chunks, first_entry};

/// The chunks of a stream's field: where its bits are. Those of a coarse field and of a mask are none of them.
///
/// ```
/// # use ferrosz_host as ferrosz;
/// use ferrosz::stream::ChunkMap;
/// use ferrosz::{Bound, Codec, Compressor};
///
/// let field: Vec<f32> = (0..20_000).map(|i| (i as f32 * 0.01).sin()).collect();
/// let stream = Compressor::new(Codec::PLAIN, Bound::abs(1e-3)?).compress(&field)?;
/// let map = ChunkMap::of(&stream)?.ok_or("levels are coded apart")?;
/// assert_eq!(map.count(), 3);
/// assert!((0..3).all(|chunk| map.bytes(chunk).is_ok_and(|bytes| bytes > 1000)));
/// assert_eq!(map.parts(2)[0].extents(), [20_000 - 2 * 8192]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ChunkMap<'a> {
    stream: StreamRef<'a>,
}

impl<'a> ChunkMap<'a> {
    /// Those of a stream; none if its levels are coded apart, so that elements that lie together are in several chunks.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if the stream is damaged.
    pub fn of(stream: &'a [u8]) -> Result<Option<Self>, Error> {
        let stream = StreamRef::read(stream)?;
        Ok((stream.header.levels == 0).then_some(Self { stream }))
    }

    /// The number of chunks.
    pub fn count(&self) -> u64 {
        chunks(&self.stream.header.layout())
    }

    /// The bytes of a chunk, or of the one that replaced it.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if there is no such chunk, or its entry in the chunk table is damaged.
    pub fn bytes(&self, chunk: u64) -> Result<u64, Error> {
        let entry = first_entry(&self.stream.header.layout()).saturating_add(chunk);
        Ok(self.stream.chunk(entry)?.bytes.len() as u64)
    }

    /// The elements of a chunk, as parts of the field; none if there is no such chunk. No element is in two parts.
    pub fn parts(&self, chunk: u64) -> Vec<Part> {
        let known = (chunk < self.count()).then_some(chunk);
        let layout = self.stream.header.layout();
        parts_of_chunks(&layout, &self.stream.order, known.into_iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bound, Codec, Compressor, info};

    #[test]
    fn every_element_is_in_one_chunk() {
        let extents = [3, 50, 70, 40];
        let field: Vec<f32> = (0..extents.iter().product())
            .map(|i: u64| (i as f32 * 0.01).sin())
            .collect();
        for codec in [Codec::PLAIN, Codec::LORENZO_RANS, Codec::STENCIL] {
            let compressor = Compressor::new(codec, Bound::abs(1e-3).unwrap());
            let compressor = compressor.extents(&extents).unwrap();
            let stream = compressor.compress(&field).unwrap();
            let map = ChunkMap::of(&stream).unwrap().unwrap();
            let mut seen = vec![0; field.len()];
            let mut bytes = 0;
            for chunk in 0..map.count() {
                bytes += map.bytes(chunk).unwrap();
                for part in map.parts(chunk) {
                    for ranges in part.boxes(&extents) {
                        see(&mut seen, &extents, &ranges);
                    }
                }
            }
            assert!(seen.iter().all(|times| *times == 1), "{codec}");
            let stream_bytes = info(&stream).unwrap().stream_bytes;
            assert!(bytes < stream_bytes && bytes > stream_bytes / 2, "{codec}");
            assert!(map.bytes(map.count()).is_err() && map.parts(map.count()).is_empty());
        }
    }

    /// Counts the elements of a box of four dimensions.
    fn see(seen: &mut [u32], [_, b, c, d]: &[u64; 4], ranges: &[std::ops::Range<u64>]) {
        let [w, z, y, x] = ranges else {
            panic!("not four dimensions")
        };
        for w in w.clone() {
            for z in z.clone() {
                for y in y.clone() {
                    for x in x.clone() {
                        seen[(((w * b + z) * c + y) * d + x) as usize] += 1;
                    }
                }
            }
        }
    }

    #[test]
    fn levels_apart_have_no_map() {
        let compressor = Compressor::new(Codec::STENCIL, Bound::abs(1e-3).unwrap());
        let compressor = compressor.levels_apart(2).unwrap();
        let compressor = compressor.extents(&[64, 64, 64]).unwrap();
        let stream = compressor.compress(&vec![1.0f32; 64 * 64 * 64]).unwrap();
        assert!(ChunkMap::of(&stream).unwrap().is_none());
    }
}
