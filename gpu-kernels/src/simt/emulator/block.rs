//! Running a block: its coroutines, what they wait for, and when they go on.

use super::fault::{Fault, FaultKind};
use super::order::Order;
use super::shared::SharedMemory;
use super::thread::{BlockState, Collective, EmulatorThread};
use crate::simt::{Kernel, WARP};
use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult};
use std::any::Any;
use std::boxed::Box;
use std::cell::{Cell, RefCell};
use std::format;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::string::{String, ToString};
use std::vec::Vec;

/// Bytes of a thread's stack: kernels hold a few arrays of 32 words, unoptimised builds several
/// copies of each.
const STACK_BYTES: usize = 256 * 1024;

const LANES: usize = WARP as usize;

type Place = &'static Location<'static>;

/// What a thread waits for when it is suspended.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wait {
    Collective(Collective, Place),
    /// With the thread's predicate.
    Barrier(bool, Place),
    Spin(Place),
    Fault,
}

/// What all blocks of a launch share.
pub(super) struct Launch {
    pub(super) kernel: &'static str,
    pub(super) blocks: u32,
    progress: Cell<u64>,
    fault: RefCell<Option<Fault>>,
    /// Who spun last: block, thread, place.
    last_spin: Cell<Option<(u32, u32, Place)>>,
}

impl Launch {
    pub(super) fn new(kernel: &'static str, blocks: u32) -> Self {
        Self {
            kernel,
            blocks,
            progress: Cell::new(0),
            fault: RefCell::new(None),
            last_spin: Cell::new(None),
        }
    }

    pub(super) fn progress(&self) -> u64 {
        self.progress.get()
    }

    pub(super) fn note_progress(&self) {
        self.progress.set(self.progress.get() + 1);
    }

    pub(super) fn report(&self, fault: Fault) {
        self.fault.borrow_mut().get_or_insert(fault);
    }

    pub(super) fn endless_spin(&self) -> Fault {
        let last = self.last_spin.get();
        let (block, thread) = last.map_or((0, 0), |(block, thread, _)| (block, thread));
        Fault {
            kind: FaultKind::EndlessSpin,
            kernel: self.kernel,
            block,
            thread,
            location: last.map(|(_, _, place)| place),
            detail: "it waits for what no running block will do".to_string(),
        }
    }
}

enum Status {
    /// To be resumed with this value.
    Ready(u32),
    Waiting(Wait),
    Done,
}

struct Lane {
    coroutine: Coroutine<u32, Wait, ()>,
    status: Status,
}

/// A block in flight.
pub(super) struct Block {
    // Before `state`: dropping a suspended coroutine unwinds it, and it borrows the state.
    lanes: Vec<Lane>,
    state: Box<BlockState>,
}

impl Block {
    /// Makes a block's coroutines, on stacks of retired ones where there are any.
    pub(super) fn start<K: Kernel>(
        launch: &Launch,
        index: u32,
        params: K::Params,
        stacks: &mut Vec<DefaultStack>,
    ) -> Result<Self, Fault> {
        let state = Box::new(BlockState {
            launch,
            index,
            shared: RefCell::new(SharedMemory::new(K::SHARED_WORDS)),
            barriers: Cell::new(1),
            warp_syncs: (0..K::THREADS / WARP).map(|_| Cell::new(1)).collect(),
        });
        let address: *const BlockState = &*state;
        let mut lanes = Vec::with_capacity(K::THREADS as usize);
        for thread in 0..K::THREADS {
            let stack = match stacks.pop() {
                Some(stack) => stack,
                None => DefaultStack::new(STACK_BYTES).map_err(|error| Fault {
                    kind: FaultKind::Panicked,
                    kernel: K::NAME,
                    block: index,
                    thread,
                    location: None,
                    detail: format!("no stack for the thread: {error}"),
                })?,
            };
            let coroutine = Coroutine::with_stack(stack, move |yielder, _| {
                let t = EmulatorThread {
                    // SAFETY: the block keeps the state until after its coroutines are gone.
                    block: unsafe { &*address },
                    yielder,
                    index: thread,
                };
                K::run(t, &params);
            });
            lanes.push(Lane {
                coroutine,
                status: Status::Ready(0),
            });
        }
        Ok(Self { lanes, state })
    }

    pub(super) fn is_done(&self) -> bool {
        self.lanes
            .iter()
            .all(|lane| matches!(lane.status, Status::Done))
    }

    /// Gives the stacks back.
    pub(super) fn retire(self, stacks: &mut Vec<DefaultStack>) {
        stacks.extend(
            self.lanes
                .into_iter()
                .map(|lane| lane.coroutine.into_stack()),
        );
    }

    /// Lets every warp advance to its next collective, and all past a barrier if all are there.
    pub(super) fn advance(&mut self, launch: &Launch, order: &mut Order) -> Result<(), Fault> {
        let warps = self.lanes.len() / LANES;
        for warp in order.cycle(warps.next_power_of_two()) {
            if warp < warps {
                self.run_warp(warp, launch, order)?;
                self.complete_collective(warp, launch)?;
            }
        }
        self.complete_barrier(launch)
    }

    fn run_warp(&mut self, warp: usize, launch: &Launch, order: &mut Order) -> Result<(), Fault> {
        for lane in order.cycle(LANES) {
            let thread = warp * LANES + lane;
            let lane = &mut self.lanes[thread];
            let input = match lane.status {
                Status::Ready(input) => input,
                Status::Waiting(Wait::Spin(_)) => 0,
                Status::Waiting(_) | Status::Done => continue,
            };
            let resumed = catch_unwind(AssertUnwindSafe(|| lane.coroutine.resume(input)));
            match resumed {
                Ok(CoroutineResult::Return(())) => lane.status = Status::Done,
                Ok(CoroutineResult::Yield(wait)) => {
                    if let Wait::Spin(place) = wait {
                        let spin = (self.state.index, thread as u32, place);
                        launch.last_spin.set(Some(spin));
                    }
                    lane.status = Status::Waiting(wait);
                    if let Some(fault) = launch.fault.borrow_mut().take() {
                        return Err(fault);
                    }
                }
                Err(panic) => {
                    lane.status = Status::Done;
                    let detail = panic_text(&*panic);
                    return Err(self.fault(FaultKind::Panicked, launch, thread, None, detail));
                }
            }
        }
        Ok(())
    }

    fn fault(
        &self,
        kind: FaultKind,
        launch: &Launch,
        thread: usize,
        location: Option<Place>,
        detail: String,
    ) -> Fault {
        Fault {
            kind,
            kernel: launch.kernel,
            block: self.state.index,
            thread: thread as u32,
            location,
            detail,
        }
    }

    /// Lets the warp go on if all of it has reached one collective.
    fn complete_collective(&mut self, warp: usize, launch: &Launch) -> Result<(), Fault> {
        let first = warp * LANES;
        let lanes = &self.lanes[first..first + LANES];
        let Some(at) = lanes
            .iter()
            .position(|lane| matches!(lane.status, Status::Waiting(Wait::Collective(..))))
        else {
            return Ok(());
        };
        let Status::Waiting(Wait::Collective(kind, place)) = lanes[at].status else {
            return Ok(());
        };
        let mut calls = [Collective::Sync; LANES];
        for (i, lane) in lanes.iter().enumerate() {
            let other = match lane.status {
                Status::Waiting(Wait::Collective(call, other))
                    if other == place && same_kind(&call, &kind) =>
                {
                    calls[i] = call;
                    continue;
                }
                // It has not come yet, and may.
                Status::Ready(_) | Status::Waiting(Wait::Spin(_) | Wait::Fault) => return Ok(()),
                Status::Waiting(Wait::Collective(_, other)) => format!("is at {other}"),
                Status::Waiting(Wait::Barrier(_, other)) => format!("is at the barrier {other}"),
                Status::Done => "has ended".to_string(),
            };
            let detail = format!("thread {} {other}", first + i);
            let kind = FaultKind::DivergentCollective;
            return Err(self.fault(kind, launch, first + at, Some(place), detail));
        }
        if kind == Collective::Sync {
            let syncs = &self.state.warp_syncs[warp];
            syncs.set(syncs.get() + 1);
        }
        for (lane, result) in self.lanes[first..].iter_mut().zip(results(&calls)) {
            lane.status = Status::Ready(result);
        }
        Ok(())
    }

    /// Lets the block go on if all of it has reached one barrier.
    fn complete_barrier(&mut self, launch: &Launch) -> Result<(), Fault> {
        let barrier = |lane: &Lane| match lane.status {
            Status::Waiting(Wait::Barrier(predicate, place)) => Some((predicate, place)),
            _ => None,
        };
        let Some(at) = self.lanes.iter().position(|lane| barrier(lane).is_some()) else {
            return Ok(());
        };
        let place = barrier(&self.lanes[at]).map(|(_, place)| place);
        let mut any = false;
        for (thread, lane) in self.lanes.iter().enumerate() {
            let other = match (barrier(lane), &lane.status) {
                (Some((predicate, other)), _) if Some(other) == place => {
                    any |= predicate;
                    continue;
                }
                (Some((_, other)), _) => format!("is at {other}"),
                (None, Status::Done) => "has ended".to_string(),
                // It has not come yet, and may.
                (None, _) => return Ok(()),
            };
            let detail = format!("thread {thread} {other}");
            return Err(self.fault(FaultKind::DivergentBarrier, launch, at, place, detail));
        }
        self.state.barriers.set(self.state.barriers.get() + 1);
        launch.note_progress();
        for lane in &mut self.lanes {
            lane.status = Status::Ready(u32::from(any));
        }
        Ok(())
    }
}

fn same_kind(a: &Collective, b: &Collective) -> bool {
    core::mem::discriminant(a) == core::mem::discriminant(b)
}

/// What each lane gets from a collective that all have reached.
fn results(calls: &[Collective; LANES]) -> [u32; LANES] {
    let value = |lane: usize| match calls[lane] {
        Collective::Shuffle { value, .. }
        | Collective::ShuffleUp { value, .. }
        | Collective::ShuffleXor { value, .. }
        | Collective::ReduceMax { value }
        | Collective::ReduceAdd { value } => value,
        Collective::Ballot { predicate } => u32::from(predicate),
        Collective::Sync => 0,
    };
    let all = |combine: fn(u32, u32) -> u32| (1..LANES).map(value).fold(value(0), combine);
    match calls[0] {
        Collective::ReduceMax { .. } => [all(u32::max); LANES],
        Collective::ReduceAdd { .. } => [all(u32::wrapping_add); LANES],
        Collective::Ballot { .. } => {
            [(0..LANES).fold(0, |bits, lane| bits | value(lane) << lane); LANES]
        }
        _ => core::array::from_fn(|lane| match calls[lane] {
            Collective::Shuffle { source, .. } => value(source as usize % LANES),
            Collective::ShuffleUp { delta, .. } => {
                value(lane.checked_sub(delta as usize).unwrap_or(lane))
            }
            Collective::ShuffleXor { mask, .. } => value((lane ^ mask as usize) % LANES),
            _ => 0,
        }),
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_string(),
        (_, Some(text)) => text.clone(),
        _ => "without a message".to_string(),
    }
}
