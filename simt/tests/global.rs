//! Kernels that touch global memory without order, each beside its corrected twin: the emulator must find the first by
//! its shadow of global memory, whichever way the accesses fall, and let the second pass.

use ferrosz_simt::View;
use ferrosz_simt::emulator::{BlockOrder, Emulator, EmulatorThread, Fault, FaultKind};
use ferrosz_simt::prelude::*;

const SEEDS: core::ops::Range<u64> = 0..8;

fn view<W>(items: &mut [W]) -> View<W> {
    // SAFETY: each test keeps the items until its launches have ended, and leaves them alone.
    unsafe { View::new(items.as_mut_ptr(), items.len() as u64) }
}

/// Runs `body` over all seeds in `blocks` blocks of two warps, which start in any order; each launch gets zeros.
fn launches(
    blocks: u32,
    body: impl Fn(EmulatorThread<'_>, View<u32>),
) -> impl Iterator<Item = Result<(), Fault>> {
    SEEDS.map(move |seed| {
        // Four words at once must be aligned.
        let mut words = [0u128; 16];
        let words = view(&mut words).words();
        let emulator = Emulator::new().seed(seed).spin_limit(1000);
        let emulator = emulator.block_order(BlockOrder::Shuffled);
        emulator.launch_with(blocks, 64, 64, |t| body(t, words))
    })
}

#[track_caller]
fn passes(blocks: u32, body: impl Fn(EmulatorThread<'_>, View<u32>)) {
    for result in launches(blocks, body) {
        if let Err(fault) = result {
            panic!("the right kernel was stopped: {fault}");
        }
    }
}

/// The faults of a wrong kernel, each of which must be of one kind and name its other side.
#[track_caller]
fn faults(
    kind: FaultKind,
    blocks: u32,
    body: impl Fn(EmulatorThread<'_>, View<u32>),
) -> Vec<Fault> {
    let faults = launches(blocks, body).map(|result| {
        let fault = result.expect_err("the wrong kernel must be stopped");
        assert_eq!(fault.kind, kind, "{fault}");
        let other = fault.other.expect("another side");
        let both = [
            format!("thread {} of block {} ", fault.thread, fault.block),
            format!("; thread {} of block {} ", other.thread, other.block),
            format!("at {},", other.location),
        ];
        let message = fault.to_string();
        for part in &both {
            assert!(message.contains(part), "no {part:?} in: {message}");
        }
        fault
    });
    faults.collect()
}

/// Runs `body` wrong and right.
#[track_caller]
fn wrong_and_right(
    kind: FaultKind,
    blocks: u32,
    body: impl Fn(EmulatorThread<'_>, View<u32>, bool),
) -> Vec<Fault> {
    passes(blocks, |t, words| body(t, words, false));
    faults(kind, blocks, |t, words| body(t, words, true))
}

#[track_caller]
fn assert_all_say(faults: &[Fault], part: &str) {
    for fault in faults {
        let message = fault.to_string();
        assert!(message.contains(part), "no {part:?} in: {message}");
    }
}

type Access = fn(EmulatorThread<'_>, View<u32>);

const STORE: Access = |t, words| t.store(words, 5, 1);
const STORE4: Access = |t, words| t.store4(words, 1, [1; 4]);
const STORE_U64: Access = |t, words| t.store_u64(pairs(words), 2, 1);
const STORE_HALF: Access = |t, words| t.store_half(words, 10, 1);
const STORE_BYTE: Access = |t, words| t.store_byte(words, 21, 1);
const OWN_HALF: Access = |t, words| _ = t.load_own_half(words, 10);
const READ: Access = |t, words| _ = t.atomic_load(words, 5);
const ADD: Access = |t, words| _ = t.atomic_add(words, 5, 0);
const MAX: Access = |t, words| t.atomic_max(words, 5, 1);
const PUT: Access = |t, words| t.atomic_store(words, 5, 1);
const SWAP: Access = |t, words| _ = t.atomic_compare_exchange(words, 5, 0, 0);

/// The words two by two.
fn pairs(words: View<u32>) -> View<u64> {
    // SAFETY: the same memory, which is aligned for more.
    unsafe { View::new(words.address().cast(), words.len() / 2) }
}

/// Accesses that write some byte of item 5 without atomics; STORE_BYTE touches byte 1 of it, the half bytes 0 and 1.
const STORES: [Access; 5] = [STORE, STORE4, STORE_U64, STORE_HALF, STORE_BYTE];
const ATOMIC_WRITES: [Access; 4] = [ADD, MAX, PUT, SWAP];

/// The pairs of accesses that race if they are of two threads.
fn conflicts() -> Vec<[Access; 2]> {
    let mut conflicts = Vec::new();
    for store in STORES {
        let others = STORES.into_iter().chain(ATOMIC_WRITES);
        conflicts.extend(others.chain([OWN_HALF, READ]).map(|other| [store, other]));
    }
    conflicts.extend(ATOMIC_WRITES.map(|write| [write, OWN_HALF]));
    conflicts
}

// --- within a block ------------------------------------------------------------------------------

/// What stands between two accesses.
#[derive(Clone, Copy)]
enum Between {
    Nothing,
    Ballot,
    SyncWarp,
    Barrier,
}

impl Between {
    fn wait(self, t: EmulatorThread<'_>) {
        match self {
            Self::Nothing => {}
            Self::Ballot => _ = t.ballot(true),
            Self::SyncWarp => t.sync_warp(),
            Self::Barrier => t.barrier(),
        }
    }
}

#[test]
fn two_accesses_of_a_block_need_a_barrier_or_those_of_a_warp_a_sync() {
    for [first, second] in conflicts() {
        for other in [2, 33] {
            let run = |accesses: [Access; 2], between: Between| {
                move |t: EmulatorThread<'_>, words: View<u32>| {
                    if t.thread_index() == 1 {
                        accesses[0](t, words);
                    }
                    between.wait(t);
                    if t.thread_index() == other {
                        accesses[1](t, words);
                    }
                }
            };
            for accesses in [[first, second], [second, first]] {
                for between in [Between::Nothing, Between::Ballot] {
                    let found = faults(FaultKind::GlobalRace, 1, run(accesses, between));
                    for fault in found {
                        let mut threads = [fault.thread, fault.other.expect("it").thread];
                        threads.sort_unstable();
                        assert_eq!(threads, [1, other]);
                        let missing = match other {
                            2 => "neither a barrier nor a `sync_warp` stands between them",
                            _ => "and no barrier stands between them",
                        };
                        assert_all_say(&[fault], missing);
                    }
                }
                passes(1, run(accesses, Between::Barrier));
                match other {
                    2 => passes(1, run(accesses, Between::SyncWarp)),
                    _ => _ = faults(FaultKind::GlobalRace, 1, run(accesses, Between::SyncWarp)),
                }
            }
        }
    }
}

#[test]
fn what_others_stored_is_read_behind_a_barrier() {
    let body = |t: EmulatorThread<'_>, words: View<u32>, wrong: bool| {
        let own = u64::from(t.thread_index());
        t.store_half(words, own, own as u16);
        if !wrong {
            t.barrier();
        }
        let other = 63 - own;
        let found = t.load_own_half(words, other);
        assert!(wrong || u64::from(found) == other);
    };
    let found = wrong_and_right(FaultKind::GlobalRace, 1, body);
    assert_all_say(&found, " half ");
}

#[test]
fn a_thread_is_in_order_with_itself() {
    passes(1, |t, words| {
        if t.thread_index() == 7 {
            for access in STORES.into_iter().chain(ATOMIC_WRITES) {
                access(t, words);
                OWN_HALF(t, words);
                READ(t, words);
            }
        }
    });
}

/// A later access of the same thread must not hide an earlier one of another.
#[test]
fn races_with_one_of_many() {
    for (many, alone) in [
        (OWN_HALF, STORE),
        (READ, STORE),
        (ADD, STORE),
        (ADD, OWN_HALF),
    ] {
        wrong_and_right(FaultKind::GlobalRace, 1, |t, words, wrong| {
            if [3, 34, 35, 40].contains(&t.thread_index()) {
                many(t, words);
            }
            if !wrong {
                t.barrier();
            }
            if t.thread_index() == 40 {
                alone(t, words);
            }
        });
    }
}

// --- across blocks -------------------------------------------------------------------------------

#[test]
fn two_accesses_of_different_blocks_race() {
    for accesses in conflicts() {
        let found = wrong_and_right(FaultKind::GlobalRace, 2, |t, words, wrong| {
            if t.thread_index() == 40 {
                let words = words.from(if wrong {
                    0
                } else {
                    32 * u64::from(t.block_index())
                });
                accesses[t.block_index() as usize](t, words);
            }
        });
        assert_all_say(
            &found,
            "no fence and atomic stand between them, which are of different blocks",
        );
    }
}

#[test]
fn reads_and_atomics_do_not_race_among_themselves() {
    passes(3, |t, words| {
        for access in ATOMIC_WRITES {
            access(t, words);
        }
        READ(t, words);
        t.load_own_half(words, 0);
        t.load(words, 0);
        t.prefetch(words, 5);
    });
}

#[test]
fn parts_of_a_word_belong_to_different_threads() {
    let found = wrong_and_right(FaultKind::GlobalRace, 2, |t, words, wrong| {
        let (block, own) = (u64::from(t.block_index()), u64::from(t.thread_index()));
        t.store_byte(words, 2 * own + block, 1);
        if own < 32 {
            let own_half = if wrong { 2 * own } else { 2 * own + block };
            t.store_half(words.from(32), own_half, 1);
        }
    });
    assert_all_say(&found, "writes half ");
    passes(1, |t, words| match t.thread_index() {
        0 => t.store_half(words, 0, 1),
        1 => t.store_byte(words, 3, 1),
        40 => t.store_byte(words, 2, 1),
        _ => {}
    });
    // A store of other bytes makes the shadow finer, which must forget nothing.
    let wrong: Access = |t, words| match t.thread_index() {
        0 => t.store4(words, 0, [1; 4]),
        1 => t.store_byte(words, 16, 1),
        40 => t.store_byte(words, 10, 1),
        _ => {}
    };
    for fault in faults(FaultKind::GlobalRace, 1, wrong) {
        assert!([0, 40].contains(&fault.thread), "{fault}");
    }
}

/// Runs `body` in thread 0 of each block alone.
fn one_thread(
    body: impl Fn(EmulatorThread<'_>, View<u32>),
) -> impl Fn(EmulatorThread<'_>, View<u32>) {
    move |t, words| {
        if t.thread_index() == 0 {
            body(t, words);
        }
    }
}

fn wait_for(t: EmulatorThread<'_>, words: View<u32>, item: u64, value: u32) {
    while t.atomic_load(words, item) != value {
        t.spin_hint();
    }
}

/// Every block stores a half and takes a ticket; the one with the last ticket sums the halves, and clears them.
fn last_block_sums(t: EmulatorThread<'_>, words: View<u32>, is_released: bool, is_acquired: bool) {
    let halves = words.from(1);
    t.store_half(halves, t.block_index().into(), 7);
    if is_released {
        t.fence();
    }
    if t.atomic_add(words, 0, 1) + 1 < t.block_count() {
        return;
    }
    if is_acquired {
        t.fence();
    }
    let mut sum = 0;
    for half in 0..t.block_count().into() {
        sum += t.load_own_half(halves, half);
        t.store_half(halves, half, 0);
    }
    assert_eq!(sum, 7 * t.block_count());
}

#[test]
fn fences_and_an_atomic_order_blocks() {
    let body = |is_released, is_acquired| {
        one_thread(move |t, words| last_block_sums(t, words, is_released, is_acquired))
    };
    passes(5, body(true, true));
    for (is_released, is_acquired) in [(false, true), (true, false), (false, false)] {
        let found = faults(FaultKind::GlobalRace, 5, body(is_released, is_acquired));
        assert_all_say(&found, "no fence and atomic stand between them");
    }
}

#[test]
fn a_fence_releases_what_the_block_did_behind_a_barrier() {
    passes(2, |t, words| {
        if t.block_index() == 0 {
            t.store_byte(words.from(1), t.thread_index().into(), 1);
            t.barrier();
            if t.thread_index() == 0 {
                t.fence();
                t.atomic_store(words, 0, 1);
            }
        } else {
            if t.thread_index() == 40 {
                wait_for(t, words, 0, 1);
                t.fence();
            }
            t.barrier();
            assert_eq!(t.load_own_half(words.from(1), u64::from(t.lane())), 0x101);
        }
    });
}

#[test]
fn what_a_block_does_behind_its_fence_is_not_released() {
    wrong_and_right(FaultKind::GlobalRace, 2, |t, words, wrong| {
        if t.thread_index() != 0 {
            return;
        }
        if t.block_index() == 0 {
            if wrong {
                t.fence();
            }
            t.store(words, 5, 1);
            if !wrong {
                t.fence();
            }
            t.atomic_max(words, 0, 1);
        } else {
            wait_for(t, words, 0, 1);
            t.fence();
            OWN_HALF(t, words);
        }
    });
}

#[test]
fn an_atomic_that_tells_nothing_acquires_nothing() {
    wrong_and_right(FaultKind::GlobalRace, 2, |t, words, wrong| {
        if t.thread_index() != 0 {
            return;
        }
        if t.block_index() == 0 {
            t.store(words, 5, 1);
            t.fence();
            t.atomic_exchange(words, 0, 1);
        } else {
            if wrong {
                t.atomic_max(words, 0, 0);
            } else {
                wait_for(t, words, 0, 1);
            }
            t.fence();
            t.store(words, 5, 2);
        }
    });
}

/// Block 0 hands something to block 1, and that to block 2.
#[test]
fn order_is_handed_on() {
    wrong_and_right(FaultKind::GlobalRace, 3, |t, words, wrong| {
        match (t.thread_index(), t.block_index()) {
            (0, 0) => {
                t.store(words, 5, 1);
                t.fence();
                t.atomic_store(words, 0, 1);
            }
            (0, 1) => {
                wait_for(t, words, 0, 1);
                if !wrong {
                    t.fence();
                }
                t.atomic_store(words, 1, 1);
            }
            (0, 2) => {
                wait_for(t, words, 1, 1);
                t.fence();
                OWN_HALF(t, words);
            }
            _ => {}
        }
    });
}

/// What block 0 released to an item is lost where block 1 overwrites the item, but not where it adds to it.
#[test]
fn an_overwritten_item_hands_nothing_on() {
    wrong_and_right(FaultKind::GlobalRace, 3, |t, words, wrong| {
        match (t.thread_index(), t.block_index()) {
            (0, 0) => {
                t.store(words, 5, 1);
                t.fence();
                t.atomic_store(words, 0, 1);
            }
            (0, 1) => {
                wait_for(t, words, 0, 1);
                if wrong {
                    t.atomic_store(words, 0, 2);
                } else {
                    t.atomic_add(words, 0, 1);
                }
                t.atomic_store(words, 1, 1);
            }
            (0, 2) => {
                wait_for(t, words, 1, 1);
                assert_eq!(t.atomic_load(words, 0), 2);
                t.fence();
                OWN_HALF(t, words);
            }
            _ => {}
        }
    });
}

#[test]
fn fences_and_an_atomic_order_threads_of_a_block() {
    wrong_and_right(FaultKind::GlobalRace, 1, |t, words, wrong| {
        match t.thread_index() {
            0 => {
                t.store(words, 5, 1);
                if !wrong {
                    t.fence();
                }
                t.atomic_store(words, 0, 1);
            }
            40 => {
                wait_for(t, words, 0, 1);
                t.fence();
                OWN_HALF(t, words);
            }
            _ => {}
        }
    });
}

// --- loads of what nobody may write --------------------------------------------------------------

const LOADS: [Access; 5] = [
    |t, words| _ = t.load(words, 5),
    |t, words| _ = t.load_u64(pairs(words), 2),
    |t, words| _ = t.load4(words, 1),
    |t, words| _ = t.load_half(words, 10),
    |t, words| t.copy_async(t.shared_address(t.thread_index()), words, 5),
];

#[test]
fn loads_of_what_the_launch_writes() {
    for write in STORES.into_iter().chain(ATOMIC_WRITES) {
        for load in LOADS {
            for accesses in [[write, load], [load, write]] {
                // The same thread, another one behind a barrier, and another block.
                for (blocks, second) in [(1, 3), (1, 40), (2, 3)] {
                    let found = wrong_and_right(FaultKind::StaleRead, blocks, |t, words, wrong| {
                        let is_first = t.block_index() == 0 && t.thread_index() == 3;
                        let is_second = t.block_index() + 1 == blocks && t.thread_index() == second;
                        if is_first {
                            accesses[0](t, words);
                        }
                        t.barrier();
                        if is_second {
                            accesses[1](t, words.from(if wrong { 0 } else { 32 }));
                        }
                    });
                    assert_all_say(
                        &found,
                        "a load of memory that no thread of the launch may write",
                    );
                }
            }
        }
    }
}

/// An exchange that does not come about writes nothing.
#[test]
fn loads_of_what_atomics_only_read() {
    passes(2, |t, words| {
        t.load(words, 5);
        t.atomic_load(words, 5);
        t.atomic_compare_exchange(words, 5, 1, 2);
    });
}

// --- launches ------------------------------------------------------------------------------------

#[test]
fn each_launch_begins_anew() {
    let mut words = [0u32; 64];
    let words = view(&mut words);
    let launch = |body: Access| Emulator::new().launch_with(1, 64, 0, |t| body(t, words));
    for _ in 0..2 {
        launch(|t, words| t.store(words, t.thread_index().into(), 1)).expect("each its own");
        launch(|t, words| _ = t.load(words, 7)).expect("nobody writes");
        launch(|t, words| t.store(words, 63 - u64::from(t.thread_index()), 1))
            .expect("each its own");
        launch(|t, words| _ = t.atomic_add(words, 7, 1)).expect("atomics");
    }
}

/// The places must be the kernel's also where one method stands for another.
#[test]
fn methods_that_call_others_have_places_too() {
    let accesses: [Access; 5] = [
        |t, words| t.store_half_if(true, words, 10, 1),
        |t, words| t.store_f32(numbers(words), 5, 1.0),
        |t, words| _ = t.load_f32(numbers(words), 5),
        |t, words| t.store_f64(doubles(words), 2, 1.0),
        |t, words| _ = t.load_f64(doubles(words), 2),
    ];
    for access in accesses {
        for first_block in [0, 1] {
            for result in launches(2, |t, words| match t.thread_index() {
                0 if t.block_index() == first_block => access(t, words),
                40 if t.block_index() != first_block => STORE(t, words),
                _ => {}
            }) {
                let fault = result.expect_err("the wrong kernel must be stopped");
                assert_eq!(fault.location.expect("a place").file(), file!(), "{fault}");
                assert_eq!(
                    fault.other.expect("another side").location.file(),
                    file!(),
                    "{fault}"
                );
            }
        }
    }
}

fn numbers(words: View<u32>) -> View<f32> {
    // SAFETY: the same memory.
    unsafe { View::new(words.address().cast(), words.len()) }
}

fn doubles(words: View<u32>) -> View<f64> {
    // SAFETY: the same memory, which is aligned for more.
    unsafe { View::new(words.address().cast(), words.len() / 2) }
}

#[test]
fn the_shadow_can_be_turned_off() {
    let mut words = [0u32; 64];
    let words = view(&mut words);
    let emulator = Emulator::new().global_shadow(false);
    let result = emulator.launch_with(2, 64, 0, |t| {
        t.store(words, 5, 1);
        t.load(words, 5);
        t.fence();
        t.atomic_add(words, 5, 1);
    });
    result.expect("nobody looks");
}
