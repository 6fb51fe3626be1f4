//! Lists the entries of the chunks of a stream with updates: those of the chunks that updates replaced are the last new ones.
//!
//! A thread finds the entry of a chunk, and so reads the heads of all updates. The warps share the checking of updates. No
//! access leaves the stream, whatever it holds; a wrong update and those behind it have no chunks, and it is reported.

use crate::PACKAGE;
use crate::pipeline::cells::{self, Fault};
use crate::primitives::scan::warp_sum_u64;
use core::array::from_fn;
use ferrosz_codec::container::checksum::term;
use ferrosz_codec::container::header::HEADER_WORDS;
use ferrosz_codec::container::header_words::Summary;
use ferrosz_codec::container::table::{Entry, Split};
use ferrosz_codec::container::update_words::{
    ENTRY_WORDS, HEAD_WORDS, SUMMED_WORDS, UpdateEntry, UpdateHead,
};
use ferrosz_simt::{Kernel, Package, Thread, View, WARP};

/// Lists entries. Launched with at least as many threads as the table has entries.
pub struct ListEntries;

/// Parameters of [`ListEntries`].
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ListEntriesParams {
    /// The header's words.
    pub header: View<u32>,
    /// The stream without its records, 16-byte aligned; its header is not read. Nothing behind its end is read.
    pub stream: View<u32>,
    /// Entries of the chunk table.
    pub entries: u64,
    /// Bytes of all updates.
    pub update_bytes: u64,
    /// The output: the entries, 16-byte aligned.
    pub list: View<u32>,
    /// The workspace. [`cells::FAULT`] is raised if an update is wrong.
    pub cells: View<u64>,
}

impl Kernel for ListEntries {
    type Params = ListEntriesParams;
    const NAME: &'static str = "ferrosz_list_entries";
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = 128;
    const SHARED_WORDS: u32 = 0;
    const RESIDENT_BLOCKS: u32 = 0;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &ListEntriesParams) {
        let threads = u64::from(Self::THREADS);
        let chunk = u64::from(t.block_index()) * threads + u64::from(t.thread_index());
        let table = params.stream.from(HEADER_WORDS as u64);
        let has_entry = chunk < params.entries && table.len() >= 4 * params.entries;
        let payload = table.from(4 * params.entries);
        let header = Summary::from_words(|word| t.load(params.header, word as u64));
        let mut found = match has_entry {
            true => t.load4(table, chunk),
            false => [0; 4],
        };
        let updates = Updates {
            words: payload.from(header.payload_bytes / 4),
            bytes: params.update_bytes,
        };
        let warps = u64::from(t.block_count()) * (threads / u64::from(WARP));
        let warp = chunk / u64::from(WARP);
        let (mut at, mut number) = (0, 0);
        while at < updates.bytes {
            let Some(update) = updates.at(t, at) else {
                Self::report(t, params, at);
                break;
            };
            if number % warps.max(1) == warp
                && !update.is_sound(t, header.identity.0, params.entries)
            {
                Self::report(t, params, at);
            }
            if let Some(entry) = update.entry_of(t, chunk) {
                let start = header.payload_bytes + update.chunks_at + entry.start;
                found = Entry { start, ..entry }.to_words(Split::SHORT);
            }
            (at, number) = (update.end, number + 1);
        }
        if has_entry {
            t.store4(params.list, chunk, found);
        }
    }
}

impl ListEntries {
    /// Reports the wrong update that starts at byte `at` of all updates. For a warp.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn report<T: Thread>(t: T, params: &ListEntriesParams, at: u64) {
        if t.lane() == 0 {
            t.atomic_max(params.cells, cells::FAULT, Fault::Update(at).to_cell());
        }
    }
}

/// The updates of a stream.
#[derive(Clone, Copy)]
struct Updates {
    words: View<u32>,
    bytes: u64,
}

/// An update of a stream.
#[derive(Clone, Copy)]
struct StoredUpdate {
    head: UpdateHead,
    /// Its words.
    words: View<u32>,
    /// Where its chunks start and where it ends, in bytes from the start of all updates.
    chunks_at: u64,
    end: u64,
}

impl Updates {
    /// The update at this byte, if its head is possible.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn at<T: Thread>(&self, t: T, at: u64) -> Option<StoredUpdate> {
        let words = self.words.from(at / 4);
        let bytes = (self.bytes - at).min(4 * words.len());
        if bytes < 4 * HEAD_WORDS as u64 {
            return None;
        }
        let head = UpdateHead::from_words(from_fn(|i| t.load(words, i as u64)));
        let [entries_end, end] = head.ends(bytes)?;
        head.has_magic.then_some(StoredUpdate {
            head,
            words,
            chunks_at: at + entries_end,
            end: at + end,
        })
    }
}

impl StoredUpdate {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn entry<T: Thread>(&self, t: T, number: u64) -> UpdateEntry {
        let first = HEAD_WORDS as u64 + number * ENTRY_WORDS as u64;
        UpdateEntry::from_words(from_fn(|i| t.load(self.words, first + i as u64)))
    }

    /// The entry of the chunk that replaces this one, if there is one.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn entry_of<T: Thread>(&self, t: T, chunk: u64) -> Option<Entry> {
        let (mut first, mut end) = (0, self.head.chunks);
        while first < end {
            let middle = first + (end - first) / 2;
            match self.entry(t, middle).chunk < chunk {
                true => first = middle + 1,
                false => end = middle,
            }
        }
        if first >= self.head.chunks {
            return None;
        }
        let found = self.entry(t, first);
        (found.chunk == chunk).then_some(found.entry)
    }

    /// Whether the update has its checksum, and its entries can follow each other, in a stream of so many chunks. For a warp.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn is_sound<T: Thread>(&self, t: T, identity: u64, chunks: u64) -> bool {
        let lane = u64::from(t.lane());
        let mut sum = 0u64;
        if lane < SUMMED_WORDS as u64 {
            sum = term(t.lane(), t.load(self.words, lane));
        }
        let of_entries = self.words.from(HEAD_WORDS as u64);
        let mut at = lane;
        while at < self.head.chunks * ENTRY_WORDS as u64 {
            sum = sum.wrapping_add(term(at as u32, t.load(of_entries, at)));
            at += u64::from(WARP);
        }
        let mut is_wrong = self.head.chunks == 0 && self.head.payload_bytes > 0;
        let mut number = lane;
        while number < self.head.chunks {
            let entry = self.entry(t, number);
            let before = number.checked_sub(1).map(|before| self.entry(t, before));
            let is_last = number + 1 == self.head.chunks;
            is_wrong |= !entry.follows(before.as_ref()) || entry.chunk >= chunks;
            is_wrong |= is_last && entry.entry.range().end != self.head.payload_bytes;
            number += u64::from(WARP);
        }
        let sum = warp_sum_u64(t, sum).wrapping_add(identity);
        !t.any(is_wrong || sum != self.head.checksum)
    }
}
