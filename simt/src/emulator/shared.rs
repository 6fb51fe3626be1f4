//! A block's shared memory, and the shadow that finds races on it.
//!
//! The shadow of a word holds the last write (or the last atomic writes, which may be many) and
//! the reads, each group as an [`Accesses`] of at most two threads. Two are enough to say for
//! any third whether it conflicts with the group, so an access is checked in constant time.
//! The block's [`Clock`] says which of them are in order.
//!
//! A shadow knows for which block run it is, so that all older ones, and the words under them, are out of date when
//! another block takes over, without anything being cleared.

use std::{boxed::Box, format, vec, vec::Vec};

use super::accesses::{Access, Accesses};
use super::clock::{Clock, not_ordered_by};
use super::fault::{FaultKind, Problem};

#[derive(Clone, Copy)]
struct Shadow {
    /// When the block started whose accesses these are.
    started: u32,
    writes: Accesses,
    /// Whether `writes` were atomic, and thus in order among themselves.
    atomic: bool,
    reads: Accesses,
}

impl Shadow {
    const fn untouched(started: u32) -> Self {
        Self {
            started,
            writes: Accesses::NONE,
            atomic: false,
            reads: Accesses::NONE,
        }
    }
}

/// The shared memory of one resident block.
pub(super) struct BlockMemory {
    words: Vec<u32>,
    shadows: Vec<Shadow>,
}

type Checked<T> = Result<T, Box<Problem>>;

/// Accesses that happen `now`, by the clock of the block whose memory it is.
impl BlockMemory {
    pub(super) fn new(words: u32) -> Self {
        Self {
            words: vec![0; words as usize],
            // No block starts at time 0.
            shadows: vec![Shadow::untouched(0); words as usize],
        }
    }

    pub(super) fn load(&mut self, now: Access, clock: &Clock, word: u32) -> Checked<u32> {
        let is_before = |earlier: &Access| clock.orders_in_block(earlier, &now);
        let shadow = self.shadow(clock, word)?;
        if shadow.writes.any().is_none() {
            return Err(uninitialised(word, &now));
        }
        if let Some(writer) = shadow.writes.unordered(is_before) {
            return Err(race(word, "reads", &now, "wrote", &writer));
        }
        shadow.reads.add(now, is_before);
        Ok(self.words[word as usize])
    }

    pub(super) fn store(
        &mut self,
        now: Access,
        clock: &Clock,
        word: u32,
        value: u32,
    ) -> Checked<()> {
        let is_before = |earlier: &Access| clock.orders_in_block(earlier, &now);
        let shadow = self.shadow(clock, word)?;
        if let Some(writer) = shadow.writes.unordered(is_before) {
            return Err(race(word, "writes", &now, "wrote", &writer));
        }
        if let Some(reader) = shadow.reads.unordered(is_before) {
            return Err(race(word, "writes", &now, "read", &reader));
        }
        shadow.writes = Accesses::one(now);
        shadow.atomic = false;
        self.words[word as usize] = value;
        Ok(())
    }

    /// Replaces a word by the result of `change` for it, atomically.
    pub(super) fn atomic(
        &mut self,
        now: Access,
        clock: &Clock,
        word: u32,
        change: impl FnOnce(u32) -> u32,
    ) -> Checked<()> {
        let is_before = |earlier: &Access| clock.orders_in_block(earlier, &now);
        let shadow = self.shadow(clock, word)?;
        if shadow.writes.any().is_none() {
            return Err(uninitialised(word, &now));
        }
        if let Some(reader) = shadow.reads.unordered(is_before) {
            return Err(race(word, "atomically writes", &now, "read", &reader));
        }
        if shadow.atomic {
            shadow.writes.add(now, is_before);
        } else if let Some(writer) = shadow.writes.unordered(is_before) {
            return Err(race(word, "atomically writes", &now, "wrote", &writer));
        } else {
            shadow.writes = Accesses::one(now);
            shadow.atomic = true;
        }
        let value = &mut self.words[word as usize];
        *value = change(*value);
        Ok(())
    }

    pub(super) fn load4(&mut self, now: Access, clock: &Clock, word: u32) -> Checked<[u32; 4]> {
        check_four(word)?;
        let mut values = [0; 4];
        for (value, word) in values.iter_mut().zip(word..) {
            *value = self.load(now, clock, word)?;
        }
        Ok(values)
    }

    pub(super) fn store4(
        &mut self,
        now: Access,
        clock: &Clock,
        word: u32,
        values: [u32; 4],
    ) -> Checked<()> {
        check_four(word)?;
        for (value, word) in values.into_iter().zip(word..) {
            self.store(now, clock, word, value)?;
        }
        Ok(())
    }

    #[inline]
    fn shadow(&mut self, clock: &Clock, word: u32) -> Checked<&mut Shadow> {
        let len = self.shadows.len();
        let Some(shadow) = self.shadows.get_mut(word as usize) else {
            let detail = format!("word {word} of {len} words of shared memory");
            return Err(Problem::new(FaultKind::SharedOutOfBounds, detail));
        };
        if shadow.started != clock.started() {
            *shadow = Shadow::untouched(clock.started());
        }
        Ok(shadow)
    }
}

fn check_four(word: u32) -> Checked<()> {
    if word.is_multiple_of(4) {
        return Ok(());
    }
    Err(Problem::new(
        FaultKind::Misaligned,
        format!("four words from word {word} of shared memory, which is no multiple of 4"),
    ))
}

#[cold]
fn uninitialised(word: u32, now: &Access) -> Box<Problem> {
    Problem::new(
        FaultKind::UninitialisedShared,
        format!(
            "thread {} of block {} reads word {word} of shared memory here, and nothing has written it in this block; \
             a block's shared memory begins undefined, so store to the word first, or await the copy that does, and let a \
             barrier follow",
            now.thread, now.block
        ),
    )
}

#[cold]
fn race(word: u32, does: &str, now: &Access, did: &str, earlier: &Access) -> Box<Problem> {
    let detail = format!(
        "thread {} of block {} {does} word {word} of shared memory here; thread {} of block {} {did} it at {}, and {}",
        now.thread,
        now.block,
        earlier.thread,
        earlier.block,
        earlier.place,
        not_ordered_by(earlier, now),
    );
    Problem::between(FaultKind::SharedRace, detail, earlier.into())
}
