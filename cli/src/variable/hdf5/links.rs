//! The links of groups, and the object that a path leads to.

use super::File;
use super::header::{Message, damaged};
use crate::variable::visible;
use hdf5_reader::btree_v1::collect_btree_v1_leaves_storage;
use hdf5_reader::btree_v2::{BTreeV2Header, BTreeV2Record, collect_btree_v2_records_storage};
use hdf5_reader::checksum::jenkins_lookup3;
use hdf5_reader::error::Result;
use hdf5_reader::fractal_heap::FractalHeapDirectBlockCache;
use hdf5_reader::io::Cursor;
use hdf5_reader::local_heap::LocalHeap;
use hdf5_reader::messages::link::{self, LinkTarget};
use hdf5_reader::messages::{
    MSG_LINK, MSG_LINK_INFO, MSG_SYMBOL_TABLE, link_info, symbol_table_msg,
};
use hdf5_reader::symbol_table::{SymbolTableEntry, SymbolTableNode};

/// The most soft links on the way to an object, as in HDF5.
const MOST_SOFT_LINKS: usize = 16;

/// The most names on the way to an object.
const MOST_NAMES: usize = 1 << 12;

/// What a path leads to.
pub enum Found {
    /// The object at this address.
    Object(u64),
    /// No link has this name.
    Nothing,
    /// A link has this name, but there is no object of this file behind it, for this reason.
    NoObject(String),
}

/// A link of a group.
pub struct Link {
    /// Its name in the group.
    pub name: String,
    /// What it leads to.
    pub target: LinkTarget,
    /// Its number in the order of creation, if the group has one.
    pub order: Option<u64>,
}

impl File {
    /// The object that a path from the first group leads to.
    ///
    /// # Errors
    ///
    /// If a group on the way is damaged.
    pub fn find(&self, path: &str) -> Result<Found> {
        let root = self.superblock.root_object_header_address()?;
        self.find_from(root, path)
    }

    /// The object that a path from a group leads to; an absolute one starts at the first group.
    ///
    /// # Errors
    ///
    /// If a group on the way is damaged.
    pub fn find_from(&self, group: u64, path: &str) -> Result<Found> {
        let root = self.superblock.root_object_header_address()?;
        let mut object = if path.starts_with('/') { root } else { group };
        // The names that are still to be followed, the next one last.
        let mut names = Vec::new();
        let (mut soft_links, mut followed) = (0, 0);
        push_names(&mut names, path);
        while let Some(name) = names.pop() {
            followed += 1;
            if followed > MOST_NAMES {
                return Ok(Found::NoObject(format!("the path '{path}' is too long")));
            }
            match self.link(object, &name)? {
                None if soft_links == 0 => return Ok(Found::Nothing),
                None => return Ok(Found::NoObject(dangling(path, &name))),
                Some(LinkTarget::Hard { address }) => object = address,
                Some(LinkTarget::Soft { path: target }) => {
                    soft_links += 1;
                    if soft_links > MOST_SOFT_LINKS {
                        return Ok(Found::NoObject(format!(
                            "'{path}' leads through more than {MOST_SOFT_LINKS} soft links, or in a circle"
                        )));
                    }
                    if target.starts_with('/') {
                        object = root;
                    }
                    push_names(&mut names, &target);
                }
                Some(LinkTarget::External {
                    filename,
                    path: target,
                }) => {
                    return Ok(Found::NoObject(external(path, &filename, &target, &names)));
                }
            }
        }
        Ok(Found::Object(object))
    }

    /// The link of a group that has a name; none if there is none, or if the object is no group.
    fn link(&self, group: u64, name: &str) -> Result<Option<LinkTarget>> {
        let links = self.links(&self.messages(group)?, Some(name))?;
        let found = links.into_iter().find(|link| link.name == name);
        Ok(found.map(|link| link.target))
    }

    /// The links of a group, in their order of creation if the group knows it, otherwise by name. With a name, only links are read that may
    /// have it. Links that are not understood are left out.
    ///
    /// # Errors
    ///
    /// If what holds the links is damaged.
    pub fn links(&self, messages: &[Message], name: Option<&str>) -> Result<Vec<Link>> {
        let mut found = Vec::new();
        for message in messages {
            match message.kind {
                MSG_SYMBOL_TABLE => self.links_of_table(&self.contents(message)?, &mut found)?,
                MSG_LINK => found.extend(self.parse_link(&self.contents(message)?)),
                MSG_LINK_INFO => self.links_of_heap(&self.contents(message)?, name, &mut found)?,
                _ => {}
            }
        }
        match found.iter().all(|link| link.order.is_some()) {
            true => found.sort_by_key(|link| link.order),
            false => found.sort_by(|one, other| one.name.cmp(&other.name)),
        }
        Ok(found)
    }

    fn parse_link(&self, bytes: &[u8]) -> Option<Link> {
        let (offsets, lengths) = (self.offset_size(), self.length_size());
        let link = link::parse(&mut Cursor::new(bytes), offsets, lengths, bytes.len()).ok()?;
        Some(Link {
            name: link.name,
            target: link.target,
            order: link.creation_order,
        })
    }

    /// The links of a group of the first form.
    fn links_of_table(&self, message: &[u8], found: &mut Vec<Link>) -> Result<()> {
        let (offsets, lengths) = (self.offset_size(), self.length_size());
        let mut cursor = Cursor::new(message);
        let table = symbol_table_msg::parse(&mut cursor, offsets, lengths, message.len())?;
        let heap = LocalHeap::parse_at_storage(&*self.view, table.heap_address, offsets, lengths)?;
        let (root, view) = (table.btree_address, &*self.view);
        let leaves =
            collect_btree_v1_leaves_storage(view, root, offsets, lengths, None, &[], None)?;
        for (_, address) in leaves {
            let count = self.bytes(address, 8)?;
            let count = usize::from(u16::from_le_bytes([count[6], count[7]]));
            let bytes = self.bytes(address, 8 + count * (2 * usize::from(offsets) + 24))?;
            let node = SymbolTableNode::parse(&mut Cursor::new(&bytes), offsets, lengths)?;
            found
                .extend((node.entries.iter()).filter_map(|entry| self.link_of_entry(&heap, entry)));
        }
        Ok(())
    }

    fn link_of_entry(&self, heap: &LocalHeap, entry: &SymbolTableEntry) -> Option<Link> {
        /// The kind of an entry that is a soft link.
        const SOFT: u32 = 2;

        let text = |offset| heap.get_string_storage(offset, &*self.view).ok();
        let target = match entry.cache_type {
            SOFT => {
                let offset = entry.scratch.first_chunk().copied();
                let path = text(u32::from_le_bytes(offset?).into())?;
                LinkTarget::Soft { path }
            }
            _ => LinkTarget::Hard {
                address: entry.object_header_address,
            },
        };
        Some(Link {
            name: text(entry.link_name_offset)?,
            target,
            order: None,
        })
    }

    /// The links of a large group.
    fn links_of_heap(
        &self,
        message: &[u8],
        name: Option<&str>,
        found: &mut Vec<Link>,
    ) -> Result<()> {
        let (offsets, lengths) = (self.offset_size(), self.length_size());
        let info = link_info::parse(&mut Cursor::new(message), offsets, lengths, message.len())?;
        if self.is_none(info.fractal_heap_address) {
            return Ok(());
        }
        let heap = self.heap(info.fractal_heap_address)?;
        let hash_of_name = name.map(|name| jenkins_lookup3(name.as_bytes()));
        let mut blocks = FractalHeapDirectBlockCache::default();
        for record in self.records(info.btree_name_index_address)? {
            let BTreeV2Record::LinkNameHash { hash, heap_id } = record else {
                return Err(damaged("the index of a group's links has other entries"));
            };
            if hash_of_name.is_none_or(|wanted| wanted == hash) {
                let view = &*self.view;
                let link =
                    heap.get_object_storage_cached(&heap_id, view, offsets, lengths, &mut blocks)?;
                found.extend(self.parse_link(&link));
            }
        }
        Ok(())
    }

    /// The records of an index.
    ///
    /// # Errors
    ///
    /// If it is damaged.
    pub fn records(&self, address: u64) -> Result<Vec<BTreeV2Record>> {
        let (view, offsets, lengths) = (&*self.view, self.offset_size(), self.length_size());
        let header = BTreeV2Header::parse_at_storage(view, address, offsets, lengths)?;
        collect_btree_v2_records_storage(view, &header, offsets, lengths, None, &[], None)
    }
}

/// Puts the names of a path before those that are still to be followed.
fn push_names(names: &mut Vec<String>, path: &str) {
    let is_name = |name: &&str| !name.is_empty() && *name != ".";
    names.extend(path.split('/').filter(is_name).rev().map(str::to_owned));
}

fn dangling(path: &str, missing: &str) -> String {
    let missing = visible(missing);
    format!(
        "'{path}' is a soft link, or leads through one, to '{missing}', which is not in the file"
    )
}

fn external(path: &str, file: &str, target: &str, rest: &[String]) -> String {
    let names = (target.split('/').filter(|name| !name.is_empty()))
        .chain(rest.iter().rev().map(String::as_str));
    let target: Vec<&str> = names.collect();
    let (file, target) = (visible(file), visible(&target.join("/")));
    format!(
        "'{path}' is a link to another file, '{file}', which is not followed: read {file}:{target}"
    )
}
