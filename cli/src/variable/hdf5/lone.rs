//! A file that consists of one dataset of another file.
//!
//! The crate `hdf5-reader` opens a dataset only by its group, with all of its attributes. So it gets a file with a group of
//! one dataset without attributes: a superblock and two headers, made here. Every other address is one of the real file,
//! from which the chunks and their index are read.

use super::{File, View};
use hdf5_reader::checksum::jenkins_lookup3;
use hdf5_reader::error::{Error, Result};
use hdf5_reader::filters::FilterRegistry;
use hdf5_reader::messages::MSG_LINK;
use hdf5_reader::storage::{Storage, StorageBuffer};
use hdf5_reader::superblock::HDF5_MAGIC;
use hdf5_reader::{Dataset, Hdf5File, OpenOptions};
use std::sync::Arc;

/// The name of the dataset.
const NAME: &str = "d";

/// The bytes of the file.
pub struct Lone {
    /// The real file.
    view: Arc<View>,
    /// The superblock, in place of the real one.
    superblock: Vec<u8>,
    /// The headers, which lie behind the real file.
    headers: Arc<Vec<u8>>,
}

impl Lone {
    /// The file of a dataset with these messages.
    pub fn new(file: &File, messages: &[(u16, &[u8])]) -> Self {
        let (view, offset_size) = (file.view.clone(), usize::from(file.offset_size()));
        let address = |address: u64| address.to_le_bytes()[..offset_size.min(8)].to_vec();
        let mut headers = header(messages);
        let group = view.len() + headers.len() as u64;
        let mut link = vec![1, 0, NAME.len() as u8];
        link.extend(NAME.as_bytes());
        link.extend(address(view.len()));
        headers.extend(header(&[(MSG_LINK, &link)]));
        let mut superblock = HDF5_MAGIC.to_vec();
        superblock.extend([3, file.offset_size(), file.length_size(), 0]);
        for part in [0, u64::MAX, group, group] {
            superblock.extend(address(part));
        }
        superblock.extend(jenkins_lookup3(&superblock).to_le_bytes());
        Self {
            view,
            superblock,
            headers: Arc::new(headers),
        }
    }

    /// The dataset, with filters of its own. No chunk of it may have more than `most` bytes.
    ///
    /// # Errors
    ///
    /// If its messages are damaged.
    pub fn dataset(self, registry: FilterRegistry, most: usize) -> Result<Dataset> {
        let options = OpenOptions::default()
            .with_filter_registry(registry)
            .with_max_chunk_bytes(most);
        Hdf5File::from_storage_with_options(Arc::new(self), options)?.dataset(NAME)
    }
}

/// A header of these messages, in its second form.
fn header(messages: &[(u16, &[u8])]) -> Vec<u8> {
    /// The length of the messages has four bytes.
    const FLAGS: u8 = 2;

    let mut body = Vec::new();
    for (kind, bytes) in messages {
        body.push(*kind as u8);
        body.extend((bytes.len() as u16).to_le_bytes());
        body.push(0);
        body.extend(*bytes);
    }
    let mut header = b"OHDR".to_vec();
    header.extend([2, FLAGS]);
    header.extend((body.len() as u32).to_le_bytes());
    header.extend(body);
    header.extend(jenkins_lookup3(&header).to_le_bytes());
    header
}

impl Storage for Lone {
    fn len(&self) -> u64 {
        self.view.len() + self.headers.len() as u64
    }

    fn read_range(&self, offset: u64, len: usize) -> Result<StorageBuffer> {
        if offset == 0 {
            let mut start = self.superblock.clone();
            start.resize(len.max(start.len()).min(256), 0);
            start.truncate(len);
            return Ok(StorageBuffer::from_vec(start));
        }
        match offset.checked_sub(self.view.len()) {
            None => self.view.read_range(offset, len),
            Some(start) => {
                let start = usize::try_from(start).map_err(|_| Error::OffsetOutOfBounds(offset))?;
                StorageBuffer::from_shared_owner(self.headers.clone(), start, len)
            }
        }
    }
}
