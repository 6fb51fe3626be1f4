//! The choice of the next lane to run, and the checks when none can run.
//!
//! A *turn* picks a resident block and in it a warp with a ready lane, and runs each ready lane to its next wait. If no
//! lane of the warp is ready afterwards, the warp's collective is completed, or the warp waits for its block. If no
//! warp of the block is ready, its barrier is completed, or the block has finished and the next one starts. A resident
//! block can therefore always run, and a thread can wait for ever only by spinning.

use core::{any::Any, cell::Cell, cell::RefCell, ops::Range, panic::AssertUnwindSafe};
use std::{format, panic::catch_unwind, rc::Rc, string::String, vec::Vec};

use corosensei::{Coroutine, CoroutineResult};

use super::clock::Clock;
use super::collective::{Call, Collective};
use super::event::Event;
use super::fault::{Fault, FaultKind, Place, Problem};
use super::launch::Launch;
use super::random::Random;
use super::shared::BlockMemory;
use super::stack;
use super::thread::{Context, EmulatorThread};
use super::warp::{Ended, LANES, Lane, Rest, State, Warp};
use super::{BlockOrder, Emulator};
use crate::WARP;

/// The parts of a launch that the turn of a block needs.
struct Machine<'a> {
    launch: &'a Launch,
    body: &'a dyn Fn(EmulatorThread<'_>),
    spin_limit: u64,
    random: Random,
}

/// The blocks that have not started, in order.
enum Upcoming {
    Ascending(Range<u32>),
    Descending(core::iter::Rev<Range<u32>>),
    Listed(std::vec::IntoIter<u32>),
}

impl Upcoming {
    fn new(order: BlockOrder, blocks: u32, random: &mut Random) -> Self {
        match order {
            BlockOrder::Ascending => Self::Ascending(0..blocks),
            BlockOrder::Descending => Self::Descending((0..blocks).rev()),
            BlockOrder::Shuffled => {
                let mut list: Vec<u32> = (0..blocks).collect();
                random.shuffle(&mut list);
                Self::Listed(list.into_iter())
            }
        }
    }

    fn next(&mut self) -> Option<u32> {
        match self {
            Self::Ascending(blocks) => blocks.next(),
            Self::Descending(blocks) => blocks.next(),
            Self::Listed(blocks) => blocks.next(),
        }
    }
}

/// A launch in progress.
pub(super) struct Scheduler<'a> {
    machine: Machine<'a>,
    upcoming: Upcoming,
    resident: Vec<Block>,
    resident_limit: usize,
    /// Finished blocks, whose memory is reused.
    retired: Vec<Block>,
}

impl<'a> Scheduler<'a> {
    pub(super) fn new(
        emulator: &Emulator,
        launch: &'a Launch,
        body: &'a dyn Fn(EmulatorThread<'_>),
    ) -> Self {
        let mut random = Random::new(emulator.seed);
        Self {
            upcoming: Upcoming::new(emulator.block_order, launch.blocks, &mut random),
            machine: Machine {
                launch,
                body,
                spin_limit: emulator.spin_limit,
                random,
            },
            resident: Vec::new(),
            resident_limit: emulator.resident_blocks,
            retired: Vec::new(),
        }
    }

    pub(super) fn run(mut self) -> Result<(), Fault> {
        loop {
            self.fill();
            if self.resident.is_empty() {
                return Ok(());
            }
            let picked = self.machine.random.below(self.resident.len() as u32) as usize;
            if self.resident[picked].turn(&mut self.machine)? {
                self.retired.push(self.resident.swap_remove(picked));
                self.machine.launch.note_change();
            }
        }
    }

    /// Starts blocks until the number of resident blocks is at its limit.
    fn fill(&mut self) {
        while self.resident.len() < self.resident_limit
            && let Some(index) = self.upcoming.next()
        {
            let retired = self.retired.pop();
            let mut block = retired.unwrap_or_else(|| Block::new(self.machine.launch));
            block.start(index);
            self.resident.push(block);
            self.machine.launch.note_change();
        }
    }
}

/// A resident block, or the memory of a finished one.
struct Block {
    index: u32,
    warps: Vec<Warp>,
    /// Bit *i* is set if warp *i* has a ready lane.
    ready: u32,
    clock: Rc<RefCell<Clock>>,
    shared: Rc<RefCell<BlockMemory>>,
}

impl Block {
    fn new(launch: &Launch) -> Self {
        Self {
            index: 0,
            warps: (0..launch.threads / WARP).map(|_| Warp::new()).collect(),
            ready: 0,
            clock: Rc::new(RefCell::new(Clock::new())),
            shared: Rc::new(RefCell::new(BlockMemory::new(launch.shared_words))),
        }
    }

    fn start(&mut self, index: u32) {
        self.index = index;
        self.warps.iter_mut().for_each(Warp::restart);
        self.ready = self.all_warps();
        self.clock.borrow_mut().start_block(index);
    }

    fn all_warps(&self) -> u32 {
        u32::MAX >> (WARP - self.warps.len() as u32)
    }

    /// Runs each ready lane of a random warp to its next wait; returns whether the block has finished.
    fn turn(&mut self, machine: &mut Machine<'_>) -> Result<bool, Fault> {
        let warp = machine.random.set_bit(self.ready);
        self.run_warp(warp, machine)?;
        if self.warps[warp as usize].ready != 0 {
            return Ok(false);
        }
        match self.warps[warp as usize].settle() {
            Ok(Rest::Completed(collective)) => {
                if collective == Collective::SyncWarp {
                    self.clock.borrow_mut().sync_warp(warp);
                }
            }
            Ok(Rest::Waits) => self.ready &= !(1 << warp),
            Err((lane, call, problem)) => {
                let thread = warp * WARP + lane as u32;
                return Err(self.fault(machine, thread, Some(call.place), *problem));
            }
        }
        match self.ready {
            0 => self.settle(machine),
            _ => Ok(false),
        }
    }

    /// Runs each ready lane once, in one of 512 random orders.
    fn run_warp(&mut self, warp: u32, machine: &mut Machine<'_>) -> Result<(), Fault> {
        let (start, step) = (
            machine.random.below(WARP),
            machine.random.below(WARP / 2) * 2 + 1,
        );
        let ready = self.warps[warp as usize].ready;
        for i in 0..WARP {
            let lane = (start + i * step) % WARP;
            if ready & (1 << lane) != 0 {
                self.run_lane(warp, lane, machine)?;
            }
        }
        Ok(())
    }

    fn run_lane(&mut self, warp: u32, lane: u32, machine: &Machine<'_>) -> Result<(), Fault> {
        let thread = warp * WARP + lane;
        if self.warps[warp as usize].lanes[lane as usize]
            .coroutine
            .is_none()
        {
            let coroutine = self.spawn(thread, machine)?;
            self.warps[warp as usize].lanes[lane as usize].coroutine = Some(coroutine);
        }
        let row = &mut self.warps[warp as usize];
        let this = &mut row.lanes[lane as usize];
        let place = match resume(this) {
            CoroutineResult::Yield(Event::Waits {
                call,
                value,
                operand,
            }) => {
                this.state = State::Waits(call);
                (this.value, this.operand) = (value, operand);
                row.ready &= !(1 << lane);
                call.place
            }
            CoroutineResult::Yield(Event::Spins(place)) => place,
            CoroutineResult::Yield(Event::Faults(fault)) => return Err(*fault),
            CoroutineResult::Return(ended) => {
                this.state = State::Finished;
                row.ready &= !(1 << lane);
                return ended.map_err(|payload| self.panicked(machine, thread, &*payload));
            }
        };
        if this.waits_too_long(machine.launch.changes.get(), machine.spin_limit) {
            return Err(self.endless(machine, thread, place));
        }
        Ok(())
    }

    /// Creates the coroutine of a thread.
    fn spawn(
        &self,
        thread: u32,
        machine: &Machine<'_>,
    ) -> Result<Coroutine<u32, Event, Ended>, Fault> {
        let stack = stack::take().map_err(|error| {
            let detail = format!("no stack for one more resident thread: {error}");
            let kind = FaultKind::OutOfStacks;
            self.fault(machine, thread, None, *Problem::new(kind, detail))
        })?;
        let (launch, body, block) = (machine.launch, machine.body, self.index);
        let (clock, shared) = (Rc::clone(&self.clock), Rc::clone(&self.shared));
        let run = move |yielder: &_, _| {
            let context = Context {
                launch,
                clock: &clock,
                shared: &shared,
                yielder,
                block,
                block_position: position(block, launch.blocks_along),
                thread,
                thread_position: position(thread, launch.threads_along),
                copies: RefCell::default(),
                fenced: Cell::new(None),
                seen: RefCell::default(),
            };
            catch_unwind(AssertUnwindSafe(|| body(EmulatorThread(&context))))
        };
        // SAFETY: `run` borrows `launch` and `body`, which outlive the scheduler. Only the scheduler's blocks hold the
        // coroutine, and it is dropped, and thereby unwound, with them.
        Ok(unsafe { Coroutine::with_stack_unchecked(stack, run) })
    }

    /// Completes the barrier at which all threads of the block wait; returns whether the block has finished instead.
    fn settle(&mut self, machine: &Machine<'_>) -> Result<bool, Fault> {
        let states = || {
            self.warps
                .iter()
                .flat_map(|warp| &warp.lanes)
                .map(|lane| lane.state)
        };
        let waiting = states().zip(0..).find_map(|(state, thread)| match state {
            State::Waits(call) => Some((call, thread)),
            _ => None,
        });
        let Some((call, thread)) = waiting else {
            return Ok(true);
        };
        if let Some((state, other)) = states().zip(0..).find(|(it, _)| *it != State::Waits(call)) {
            return Err(self.divergent(machine, (thread, call), (other, state)));
        }
        self.pass_barrier();
        Ok(false)
    }

    fn pass_barrier(&mut self) {
        self.clock.borrow_mut().barrier();
        let lanes = || self.warps.iter().flat_map(|warp| &warp.lanes);
        let any = lanes().any(|lane| lane.value != 0);
        for warp in &mut self.warps {
            for lane in &mut warp.lanes {
                lane.value = any.into();
            }
            warp.go_on();
        }
        self.ready = self.all_warps();
    }

    fn fault(
        &self,
        machine: &Machine<'_>,
        thread: u32,
        location: Option<Place>,
        problem: Problem,
    ) -> Fault {
        machine.launch.fault(self.index, thread, location, problem)
    }

    fn divergent(
        &self,
        machine: &Machine<'_>,
        (thread, call): (u32, Call),
        (other, state): (u32, State),
    ) -> Fault {
        let kind = FaultKind::DivergentBarrier;
        let detail = format!("thread {thread} waits in {call}, but thread {other} {state}");
        self.fault(
            machine,
            thread,
            Some(call.place),
            *Problem::new(kind, detail),
        )
    }

    fn endless(&self, machine: &Machine<'_>, thread: u32, place: Place) -> Fault {
        let kind = FaultKind::EndlessSpin;
        let limit = machine.spin_limit;
        let detail = format!("it waited more than {limit} times, and no memory changed");
        self.fault(machine, thread, Some(place), *Problem::new(kind, detail))
    }

    fn panicked(&self, machine: &Machine<'_>, thread: u32, payload: &(dyn Any + Send)) -> Fault {
        let kind = FaultKind::Panicked;
        let text = payload.downcast_ref::<&str>().copied();
        let detail = text
            .or_else(|| payload.downcast_ref().map(String::as_str))
            .unwrap_or("with no message")
            .into();
        self.fault(machine, thread, None, *Problem::new(kind, detail))
    }
}

/// The position of element `number` in a box, x first.
fn position(number: u32, extents: [u32; 3]) -> [u32; 3] {
    let [x, y, _] = extents;
    [number % x, number / x % y, number / x / y]
}

/// Runs a lane to its next wait, or to its end.
fn resume(lane: &mut Lane) -> CoroutineResult<Event, Ended> {
    let Some(coroutine) = &mut lane.coroutine else {
        unreachable!("a lane runs before it has a coroutine")
    };
    let result = coroutine.resume(lane.value);
    if coroutine.done()
        && let Some(coroutine) = lane.coroutine.take()
    {
        stack::give_back(coroutine.into_stack());
    }
    result
}

const _: () = assert!(
    LANES == 32,
    "the masks of ready lanes and warps are of 32 bits"
);
