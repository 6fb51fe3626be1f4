//! Warps: the states of 32 lanes, and the results of collectives.

use core::fmt;
use std::{boxed::Box, format};

use corosensei::Coroutine;

use super::collective::{Call, Collective};
use super::event::Event;
use super::fault::{FaultKind, Problem};
use crate::WARP;

pub(super) const LANES: usize = WARP as usize;

/// The state of a thread.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum State {
    Ready,
    Waits(Call),
    Finished,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready => f.write_str("runs"),
            Self::Waits(call) => write!(f, "waits in {call}"),
            Self::Finished => f.write_str("has finished"),
        }
    }
}

/// The result of a thread's body: nothing, or its panic.
pub(super) type Ended = std::thread::Result<()>;

/// A thread in the scheduler.
pub(super) struct Lane {
    /// The coroutine; none before the thread first runs.
    pub(super) coroutine: Option<Coroutine<u32, Event, Ended>>,
    pub(super) state: State,
    /// The lane's operand of a collective, and then its result.
    pub(super) value: u32,
    /// The second operand of a shuffle.
    pub(super) operand: u32,
    /// Waits since the last change, which was number `change`.
    pub(super) waits: u64,
    pub(super) change: u64,
}

impl Lane {
    const NEW: Self = Self {
        coroutine: None,
        state: State::Ready,
        value: 0,
        operand: 0,
        waits: 0,
        change: 0,
    };

    /// Counts a wait; returns whether there were more than `limit` since change number `change`.
    pub(super) fn waits_too_long(&mut self, change: u64, limit: u64) -> bool {
        if self.change != change {
            self.change = change;
            self.waits = 0;
        }
        self.waits += 1;
        self.waits > limit
    }
}

pub(super) struct Warp {
    pub(super) lanes: [Lane; LANES],
    /// Bit *i* is set if lane *i* is in [`State::Ready`].
    pub(super) ready: u32,
}

/// The state of a warp without ready lanes.
pub(super) enum Rest {
    /// All lanes reached this collective, and can continue with its result.
    Completed(Collective),
    /// The lanes have finished or wait for other warps.
    Waits,
}

impl Warp {
    pub(super) const fn new() -> Self {
        Self {
            lanes: [const { Lane::NEW }; LANES],
            ready: u32::MAX,
        }
    }

    /// Makes every lane ready to run from its beginning.
    pub(super) fn restart(&mut self) {
        self.lanes = [const { Lane::NEW }; LANES];
        self.ready = u32::MAX;
    }

    /// Makes all lanes ready after a collective.
    pub(super) fn go_on(&mut self) {
        for lane in &mut self.lanes {
            lane.state = State::Ready;
        }
        self.ready = u32::MAX;
    }

    /// Completes the collective at which all lanes wait, if they do.
    ///
    /// # Errors
    ///
    /// If some lanes wait at a collective that the others do not reach: the first such lane, its call, and the problem.
    pub(super) fn settle(&mut self) -> Result<Rest, (usize, Call, Box<Problem>)> {
        let of_warp = |lane: &Lane| match lane.state {
            State::Waits(call) if !call.collective.is_of_block() => Some(call),
            _ => None,
        };
        let waiting = self.lanes.iter().position(|lane| of_warp(lane).is_some());
        let Some((lane, call)) = waiting.and_then(|i| Some((i, of_warp(&self.lanes[i])?))) else {
            return Ok(Rest::Waits);
        };
        let together = State::Waits(call);
        if let Some(other) = self.lanes.iter().position(|lane| lane.state != together) {
            let detail = format!(
                "lane {lane} waits in {call}, but lane {other} {}",
                self.lanes[other].state
            );
            let problem = Problem::new(FaultKind::DivergentCollective, detail);
            return Err((lane, call, problem));
        }
        self.complete(call.collective);
        self.go_on();
        Ok(Rest::Completed(call.collective))
    }

    /// Replaces each lane's operand by its result.
    fn complete(&mut self, collective: Collective) {
        let values: [u32; LANES] = core::array::from_fn(|lane| self.lanes[lane].value);
        let bits = || {
            (0..)
                .zip(values)
                .map(|(lane, value)| u32::from(value != 0) << lane)
        };
        let common = match collective {
            Collective::Ballot => bits().fold(0, |all, bit| all | bit),
            Collective::ReduceMax => values.into_iter().fold(0, u32::max),
            Collective::ReduceOr | Collective::Any => {
                values.into_iter().fold(0, |all, bits| all | bits)
            }
            Collective::ReduceAdd => values.into_iter().fold(0, u32::wrapping_add),
            _ => 0,
        };
        for (i, lane) in self.lanes.iter_mut().enumerate() {
            let operand = lane.operand as usize;
            lane.value = match collective {
                Collective::Shuffle => values[operand % LANES],
                Collective::ShuffleUp => values[i.checked_sub(operand).unwrap_or(i)],
                Collective::ShuffleDown => *values.get(i + operand).unwrap_or(&values[i]),
                Collective::ShuffleXor => values[i ^ operand],
                _ => common,
            };
        }
    }
}
