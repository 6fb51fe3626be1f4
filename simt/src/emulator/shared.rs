//! A block's shared memory, and the shadow that finds races on it.
//!
//! Two accesses of different threads are ordered by a barrier between them or, within a warp, by
//! a [`sync_warp`](crate::Thread::sync_warp); by nothing else. So time is counted twice:
//! a *block epoch* ends at each barrier, a *warp epoch* at each `sync_warp` of that warp. An
//! earlier access is unordered with one that happens now if it is of another thread and of this
//! block epoch and, when the two threads share a warp, of the warp's present epoch as well.
//!
//! The shadow of a word holds the last write (or the last atomic writes, which may be many) and
//! the reads, each group as an [`Accesses`] of at most two threads. Two are enough to say for
//! any third whether it conflicts with the group, so an access is checked in constant time.
//!
//! Epochs never restart, so a new block run finds all older shadows out of date, and a word
//! uninitialised, without anything being cleared.

use std::{boxed::Box, format, vec, vec::Vec};

use super::fault::{FaultKind, Place, Problem};
use crate::WARP;

/// A thread and where it stands.
#[derive(Clone, Copy)]
pub(super) struct Actor {
    pub(super) thread: u32,
    pub(super) place: Place,
}

impl Actor {
    fn warp(self) -> u32 {
        self.thread / WARP
    }
}

/// When an access happens.
#[derive(Clone, Copy, PartialEq)]
struct Epoch {
    block: u32,
    warp: u32,
}

/// The unordered accesses of one sort to one word.
///
/// `first` and `second` are of the same warp and of `epoch`, or of two different warps and of
/// the same block epoch. In the second case every thread conflicts with one of the two, so
/// further ones need not be kept.
#[derive(Clone, Copy)]
struct Accesses {
    epoch: Epoch,
    first: Option<Actor>,
    second: Option<Actor>,
}

impl Accesses {
    /// Epoch 0 is before any block.
    const NONE: Self = Self {
        epoch: Epoch { block: 0, warp: 0 },
        first: None,
        second: None,
    };

    const fn one(actor: Actor, epoch: Epoch) -> Self {
        Self {
            epoch,
            first: Some(actor),
            second: None,
        }
    }

    fn add(&mut self, actor: Actor, now: Epoch) {
        let first = match self.first {
            Some(first) if self.epoch.block == now.block => first,
            _ => return *self = Self::one(actor, now),
        };
        if self
            .second
            .is_some_and(|second| second.warp() != first.warp())
        {
            return;
        }
        if first.warp() != actor.warp() {
            self.second = Some(actor);
        } else if self.epoch.warp != now.warp {
            // To other warps this read stands for the older ones, to its own they are ordered.
            *self = Self::one(actor, now);
        } else if first.thread != actor.thread && self.second.is_none() {
            self.second = Some(actor);
        }
    }

    /// One of these accesses that nothing orders before one that `actor` makes `now`.
    #[inline]
    fn unordered(&self, actor: Actor, now: Epoch) -> Option<Actor> {
        if self.epoch.block != now.block {
            return None;
        }
        [self.first, self.second]
            .into_iter()
            .flatten()
            .find(|other| {
                other.warp() != actor.warp()
                    || (other.thread != actor.thread && self.epoch.warp == now.warp)
            })
    }
}

#[derive(Clone, Copy)]
struct Shadow {
    writes: Accesses,
    /// Whether `writes` were atomic, and thus in order among themselves.
    atomic: bool,
    reads: Accesses,
}

impl Shadow {
    const UNTOUCHED: Self = Self {
        writes: Accesses::NONE,
        atomic: false,
        reads: Accesses::NONE,
    };
}

/// The shared memory of one resident block.
pub(super) struct BlockMemory {
    words: Vec<u32>,
    shadows: Vec<Shadow>,
    /// The epoch in which the present block run began.
    started: u32,
    block_epoch: u32,
    warp_epochs: [u32; WARP as usize],
}

type Checked<T> = Result<T, Box<Problem>>;

impl BlockMemory {
    pub(super) fn new(words: u32) -> Self {
        Self {
            words: vec![0; words as usize],
            shadows: vec![Shadow::UNTOUCHED; words as usize],
            started: 0,
            block_epoch: 0,
            warp_epochs: [0; WARP as usize],
        }
    }

    /// Another block takes over; what the last one left is gone.
    pub(super) fn start_block(&mut self) {
        self.block_epoch += 1;
        self.started = self.block_epoch;
    }

    pub(super) fn barrier(&mut self) {
        self.block_epoch += 1;
    }

    pub(super) fn sync_warp(&mut self, warp: u32) {
        self.warp_epochs[warp as usize] += 1;
    }

    pub(super) fn load(&mut self, actor: Actor, word: u32) -> Checked<u32> {
        let now = self.now(actor);
        let started = self.started;
        let shadow = self.shadow(word)?;
        if shadow.writes.epoch.block < started {
            return Err(uninitialised(word));
        }
        if let Some(writer) = shadow.writes.unordered(actor, now) {
            return Err(race(word, "reads", actor, "wrote", writer));
        }
        shadow.reads.add(actor, now);
        Ok(self.words[word as usize])
    }

    pub(super) fn store(&mut self, actor: Actor, word: u32, value: u32) -> Checked<()> {
        let now = self.now(actor);
        let shadow = self.shadow(word)?;
        if let Some(writer) = shadow.writes.unordered(actor, now) {
            return Err(race(word, "writes", actor, "wrote", writer));
        }
        if let Some(reader) = shadow.reads.unordered(actor, now) {
            return Err(race(word, "writes", actor, "read", reader));
        }
        shadow.writes = Accesses::one(actor, now);
        shadow.atomic = false;
        self.words[word as usize] = value;
        Ok(())
    }

    /// Replaces a word by what `change` makes of it, at once.
    pub(super) fn atomic(
        &mut self,
        actor: Actor,
        word: u32,
        change: impl FnOnce(u32) -> u32,
    ) -> Checked<()> {
        let now = self.now(actor);
        let started = self.started;
        let shadow = self.shadow(word)?;
        if shadow.writes.epoch.block < started {
            return Err(uninitialised(word));
        }
        if let Some(reader) = shadow.reads.unordered(actor, now) {
            return Err(race(word, "atomically writes", actor, "read", reader));
        }
        if shadow.atomic {
            shadow.writes.add(actor, now);
        } else if let Some(writer) = shadow.writes.unordered(actor, now) {
            return Err(race(word, "atomically writes", actor, "wrote", writer));
        } else {
            shadow.writes = Accesses::one(actor, now);
            shadow.atomic = true;
        }
        let value = &mut self.words[word as usize];
        *value = change(*value);
        Ok(())
    }

    pub(super) fn load4(&mut self, actor: Actor, word: u32) -> Checked<[u32; 4]> {
        check_four(word)?;
        let mut values = [0; 4];
        for (value, word) in values.iter_mut().zip(word..) {
            *value = self.load(actor, word)?;
        }
        Ok(values)
    }

    pub(super) fn store4(&mut self, actor: Actor, word: u32, values: [u32; 4]) -> Checked<()> {
        check_four(word)?;
        for (value, word) in values.into_iter().zip(word..) {
            self.store(actor, word, value)?;
        }
        Ok(())
    }

    fn now(&self, actor: Actor) -> Epoch {
        Epoch {
            block: self.block_epoch,
            warp: self.warp_epochs[actor.warp() as usize],
        }
    }

    fn shadow(&mut self, word: u32) -> Checked<&mut Shadow> {
        let len = self.shadows.len();
        self.shadows.get_mut(word as usize).ok_or_else(|| {
            Problem::new(
                FaultKind::SharedOutOfBounds,
                format!("word {word} of {len} words of shared memory"),
            )
        })
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
fn uninitialised(word: u32) -> Box<Problem> {
    Problem::new(
        FaultKind::UninitialisedShared,
        format!("nothing has written word {word} of shared memory in this block"),
    )
}

#[cold]
fn race(word: u32, does: &str, now: Actor, did: &str, earlier: Actor) -> Box<Problem> {
    Problem::new(
        FaultKind::SharedRace,
        format!(
            "thread {} {does} word {word} of shared memory, thread {} {did} it at {}, \
             and nothing orders the two",
            now.thread, earlier.thread, earlier.place
        ),
    )
}
