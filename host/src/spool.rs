//! Fields that come through a reader: their values are kept until all are there, as compression reads them more than once.

use crate::compress::Compressor;
use crate::error::Error;
use crate::memory;
use crate::scratch::{self, Copies, LARGE, Scratch};
use ferrosz_codec::Value;
use std::io::{Read, Seek, Write};

/// Bytes that are taken from a reader at once.
const BLOCK: u64 = 1 << 20;

impl Compressor {
    /// Compresses the values that a reader gives, and writes the stream as [`Compressor::compress_seek`] does; returns its
    /// length. The bytes of the reader are values as they lie in memory. If extents were set, so many values are read as
    /// these have, and what follows stays in the reader; without extents the field ends with the reader.
    ///
    /// Fields of 64 MiB and more are kept in a temporary file without a name, in the folder of [`std::env::temp_dir`]. The
    /// memory is then bounded as that of [`Compressor::compress_seek`] is.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Compressor, Preset};
    /// use std::io::Cursor;
    ///
    /// let field: Vec<f32> = (0..6000).map(|i| (i as f32 * 0.01).sin()).collect();
    /// let reader: Vec<u8> = field.iter().flat_map(|value| value.to_ne_bytes()).collect();
    /// let compressor = Compressor::new(Preset::Small, Bound::range(1e-3)?).extents(&[60, 100])?;
    /// let mut file = Cursor::new(Vec::new());
    /// compressor.compress_read::<f32>(&reader[..], &mut file)?;
    /// assert_eq!(*file.get_ref(), compressor.compress(&field)?);
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::ReaderEnded`] if the reader ends before or within a value; [`Error::Io`] from the reader; as
    /// [`Compressor::compress_seek`].
    pub fn compress_read<V: Value>(
        &self,
        reader: impl Read,
        writer: impl Write + Seek + Send,
    ) -> Result<u64, Error> {
        let field = spool::<V>(reader, self.elements())?;
        self.compress_seek(&field, writer)
    }
}

/// Reads so many values, or all up to the end of the reader. Room is taken as bytes arrive: a number of values may be only
/// a claim.
///
/// # Errors
///
/// [`Error::ReaderEnded`]; [`Error::Io`] from the reader; [`Error::TemporaryFile`]; [`Error::OutOfMemory`].
pub fn spool<V: Value>(reader: impl Read, elements: Option<u64>) -> Result<Scratch<V>, Error> {
    let size = size_of::<V>() as u64;
    let most = elements.map_or(u64::MAX, |elements| elements.saturating_mul(size));
    let mut reader = reader.take(most);
    let mut start = Vec::new();
    let mut found = 0;
    while found < LARGE {
        let block = next_block(&mut reader)?;
        if block.is_empty() {
            check_end::<V>(found, elements)?;
            let mut values = Scratch::<V>::zeroed(Copies::InMemory, found / size)?;
            bytemuck::cast_slice_mut(&mut values).copy_from_slice(&start);
            return Ok(values);
        }
        memory::append(&mut start, &block)?;
        found += block.len() as u64;
    }
    let mut file = scratch::new_file()?;
    file.write_all(&start).map_err(scratch::fault)?;
    drop(start);
    loop {
        let block = next_block(&mut reader)?;
        if block.is_empty() {
            check_end::<V>(found, elements)?;
            return Scratch::map(&file);
        }
        file.write_all(&block).map_err(scratch::fault)?;
        found += block.len() as u64;
    }
}

/// The next bytes of a reader; none at its end.
fn next_block(reader: &mut impl Read) -> Result<Vec<u8>, Error> {
    let mut block = Vec::new();
    let read = reader.take(BLOCK).read_to_end(&mut block);
    read.map_err(Error::io("read the field"))?;
    Ok(block)
}

/// Checks that a reader that ended behind so many bytes gave all values, and whole ones.
fn check_end<V: Value>(found: u64, elements: Option<u64>) -> Result<(), Error> {
    let size = size_of::<V>() as u64;
    let elements = elements.unwrap_or(found.div_ceil(size));
    let needed = elements.saturating_mul(size);
    match found == needed {
        true => Ok(()),
        false => Err(Error::ReaderEnded {
            found,
            elements,
            value_type: V::TYPE,
            needed,
        }),
    }
}
