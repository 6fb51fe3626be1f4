//! Shared memory with a shadow: for every word, who touched it last and when.
//!
//! Time in a block is counted by its barriers, and in a warp by its `sync_warp`s. Two accesses of
//! different threads are in order if a barrier lies between them, or, within a warp, a `sync_warp`.
//! Shuffles and votes order nothing. Of the reads since the last barrier it is enough to know one
//! warp's last, whether several of its lanes read, and whether any other warp did: that tells
//! exactly whether a write by some thread is in order with all of them.

use super::fault::FaultKind;
use crate::simt::WARP;
use std::format;
use std::string::String;
use std::vec::Vec;

/// When: barriers of the block and `sync_warp`s of the accessing warp so far, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Time {
    /// Barriers.
    pub block: u32,
    /// `sync_warp`s.
    pub warp: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lanes {
    One(u32),
    Many,
}

#[derive(Debug, Clone, Copy)]
struct Write {
    time: Time,
    thread: u32,
    atomic: bool,
}

#[derive(Debug, Clone, Copy)]
struct Reads {
    time: Time,
    warp: u32,
    lanes: Lanes,
    other_warps: bool,
}

#[derive(Debug, Clone, Copy, Default)]
struct Word {
    value: u32,
    write: Option<Write>,
    reads: Option<Reads>,
}

/// What is wrong with an access.
pub type Wrong = (FaultKind, String);

/// How a thread touches a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
    Atomic,
}

/// A block's shared memory.
#[derive(Debug)]
pub struct SharedMemory {
    words: Vec<Word>,
}

impl SharedMemory {
    /// Memory that nobody has written.
    pub fn new(words: u32) -> Self {
        Self {
            words: std::vec![Word::default(); words as usize],
        }
    }

    /// Reads a word.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn load(&mut self, word: u32, thread: u32, now: Time) -> Result<u32, Wrong> {
        let entry = self.check(word, thread, now, Access::Read)?;
        entry.note_read(thread, now);
        Ok(entry.value)
    }

    /// Writes a word.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn store(&mut self, word: u32, value: u32, thread: u32, now: Time) -> Result<(), Wrong> {
        let entry = self.check(word, thread, now, Access::Write)?;
        entry.note_write(value, thread, now, false);
        Ok(())
    }

    /// Sets bits of a word atomically.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn or(&mut self, word: u32, bits: u32, thread: u32, now: Time) -> Result<(), Wrong> {
        let entry = self.check(word, thread, now, Access::Atomic)?;
        entry.note_write(entry.value | bits, thread, now, true);
        Ok(())
    }

    fn check(
        &mut self,
        word: u32,
        thread: u32,
        now: Time,
        access: Access,
    ) -> Result<&mut Word, Wrong> {
        let len = self.words.len();
        let Some(entry) = self.words.get_mut(word as usize) else {
            let text = format!("word {word} of {len}");
            return Err((FaultKind::SharedOutOfBounds, text));
        };
        if access != Access::Write && entry.write.is_none() {
            let text = format!("word {word} was never written");
            return Err((FaultKind::UninitialisedShared, text));
        }
        match entry.conflict(thread, now, access) {
            Some(other) => Err((FaultKind::SharedRace, format!("word {word}: {other}"))),
            None => Ok(entry),
        }
    }
}

impl Word {
    /// The access that this one is not in order with.
    fn conflict(&self, thread: u32, now: Time, access: Access) -> Option<String> {
        if let Some(write) = self.write {
            let both_atomic = write.atomic && access == Access::Atomic;
            if !both_atomic && !write.is_before(thread, now) {
                return Some(format!("thread {} has written it", write.thread));
            }
        }
        let reads = self.reads.filter(|_| access != Access::Read)?;
        if reads.are_before(thread, now) {
            return None;
        }
        Some(match reads.lanes {
            Lanes::One(lane) => format!("thread {} has read it", reads.warp * WARP + lane),
            Lanes::Many => format!("threads of warp {} have read it", reads.warp),
        })
    }

    fn note_read(&mut self, thread: u32, now: Time) {
        let (warp, lane) = (thread / WARP, thread % WARP);
        let fresh = Reads {
            time: now,
            warp,
            lanes: Lanes::One(lane),
            other_warps: false,
        };
        match &mut self.reads {
            Some(reads) if reads.time.block == now.block => {
                if reads.warp != warp {
                    reads.other_warps = true;
                } else if reads.time.warp != now.warp {
                    reads.time = now;
                    reads.lanes = Lanes::One(lane);
                } else if reads.lanes != Lanes::One(lane) {
                    reads.lanes = Lanes::Many;
                }
            }
            reads => *reads = Some(fresh),
        }
    }

    fn note_write(&mut self, value: u32, thread: u32, now: Time, atomic: bool) {
        self.value = value;
        self.write = Some(Write {
            time: now,
            thread,
            atomic,
        });
    }
}

impl Write {
    fn is_before(&self, thread: u32, now: Time) -> bool {
        let same_warp = self.thread / WARP == thread / WARP;
        self.thread == thread
            || self.time.block < now.block
            || same_warp && self.time.warp < now.warp
    }
}

impl Reads {
    fn are_before(&self, thread: u32, now: Time) -> bool {
        let of_this_warp = self.warp == thread / WARP && !self.other_warps;
        self.time.block < now.block
            || of_this_warp
                && (self.time.warp < now.warp || self.lanes == Lanes::One(thread % WARP))
    }
}
