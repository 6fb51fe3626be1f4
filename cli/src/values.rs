//! The values of an array: in memory, or in a mapped file, so that arrays may be larger than memory.

use bytemuck::{Pod, try_cast_slice};
use ferrosz::scratch::Scratch;
use memmap2::Mmap;
use std::fmt;
use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::ops::Deref;

/// The fewest bytes of values that are worth mapping.
const SMALLEST_MAPPED: u64 = 1 << 20;

/// The values of an array.
pub enum Values<V> {
    /// Values that were read or computed.
    Read(Scratch<V>),
    /// The values of a file.
    Mapped(Mapped<V>),
}

/// The values of a file, which the operating system reads when they are accessed.
pub struct Mapped<V> {
    bytes: Mmap,
    /// The bytes of the file before the values, after which they are aligned.
    before: usize,
    values: PhantomData<V>,
}

impl<V: Pod> Values<V> {
    /// Maps `count` values of this machine's byte order that lie behind the first bytes of a file; none if the file is
    /// small, or has no such values.
    ///
    /// # Errors
    ///
    /// The errors of the operating system.
    pub fn map(file: &File, before: u64, count: u64) -> io::Result<Option<Self>> {
        let bytes = count.saturating_mul(size_of::<V>() as u64);
        let is_file = file
            .metadata()
            .is_ok_and(|found| found.is_file() && found.len() == bytes.saturating_add(before));
        if !is_file || bytes < SMALLEST_MAPPED {
            return Ok(None);
        }
        let mapped = map(file)?;
        let before = before as usize;
        let is_aligned = try_cast_slice::<u8, V>(&mapped[before..]).is_ok();
        Ok(is_aligned.then_some(Self::Mapped(Mapped {
            bytes: mapped,
            before,
            values: PhantomData,
        })))
    }
}

/// Maps a file of an input.
///
/// # Errors
///
/// The errors of the operating system.
pub fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: the bytes must not change while they are mapped. This command does not change its inputs: an output is never
    // the input's file, and replaces files as a whole. If another program changes the file, values are coded that it
    // had at some time; if it truncates the file, a signal ends the process.
    unsafe { Mmap::map(file) }
}

impl<V: Pod> Deref for Values<V> {
    type Target = [V];

    fn deref(&self) -> &[V] {
        match self {
            Self::Read(values) => values,
            Self::Mapped(mapped) => {
                try_cast_slice(&mapped.bytes[mapped.before..]).unwrap_or_default()
            }
        }
    }
}

impl<V> From<Vec<V>> for Values<V> {
    fn from(values: Vec<V>) -> Self {
        Self::Read(values.into())
    }
}

impl<V> From<Scratch<V>> for Values<V> {
    fn from(values: Scratch<V>) -> Self {
        Self::Read(values)
    }
}

impl<V: Pod + PartialEq> PartialEq for Values<V> {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

impl<V: Pod + fmt::Debug> fmt::Debug for Values<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self[..].fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn values_are_those_of_the_file() {
        let values: Vec<f32> = (0..1 << 18).map(|i| (i as f32).sqrt()).collect();
        for before in [0usize, 2, 64] {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&vec![7; before]).unwrap();
            file.write_all(bytemuck::cast_slice(&values)).unwrap();
            let map = |before, count| Values::<f32>::map(&file, before, count).unwrap();
            let mapped = map(before as u64, values.len() as u64);
            match before {
                2 => assert!(mapped.is_none(), "not aligned"),
                _ => assert!(mapped.unwrap()[..] == values[..]),
            }
            assert!(map(before as u64, values.len() as u64 - 1).is_none());
            assert!(map(before as u64, u64::MAX / 2).is_none());
        }
    }
}
