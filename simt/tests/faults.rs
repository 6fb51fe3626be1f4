//! Kernels that do one thing wrong, each beside its corrected twin: the emulator must stop the
//! first and name what is wrong, whatever the seed, and let the second pass.

use core::cell::{Cell, RefCell};

use ferrosz_simt::emulator::{BlockOrder, Emulator, EmulatorThread, Fault, FaultKind};
use ferrosz_simt::prelude::*;
use ferrosz_simt::{Kernel, View};

const SEEDS: core::ops::Range<u64> = 0..8;
const SHARED_WORDS: u32 = 64;

fn view<W>(items: &mut [W]) -> View<W> {
    // SAFETY: each test keeps the items until its launches have ended, and leaves them alone.
    unsafe { View::new(items.as_mut_ptr(), items.len() as u64) }
}

/// Runs `body` wrong and right, in one block of two warps, and hands each fault to `check`.
fn wrong_and_right(
    kind: FaultKind,
    body: impl Fn(EmulatorThread<'_>, bool),
    check: impl Fn(&Fault, &str),
) {
    for seed in SEEDS {
        let emulator = Emulator::new().seed(seed).spin_limit(1000);
        let launch = |wrong| emulator.launch_with(1, 64, SHARED_WORDS, |t| body(t, wrong));
        let fault = launch(true).expect_err("the wrong kernel must be stopped");
        let message = fault.to_string();
        assert_eq!(fault.kind, kind, "{message}");
        check(&fault, &message);
        if let Err(fault) = launch(false) {
            panic!("the right kernel was stopped: {fault}");
        }
    }
}

#[track_caller]
fn assert_says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "no {part:?} in: {message}");
    }
}

/// Both threads of a pair must be named, one as the stopped one.
#[track_caller]
fn assert_pair(fault: &Fault, pair: [u32; 2]) {
    let other = match pair {
        [a, b] if a == fault.thread => b,
        [a, b] if b == fault.thread => a,
        _ => panic!("stopped thread {}: {fault}", fault.thread),
    };
    let (fault, other) = (fault.to_string(), format!("thread {other} "));
    assert_says(&fault, &[&other]);
}

// --- collectives ---------------------------------------------------------------------------------

#[test]
fn lanes_that_finish_before_a_collective() {
    let body = |t: EmulatorThread<'_>, wrong: bool| {
        if wrong && t.thread_index() == 37 {
            return;
        }
        t.ballot(true);
    };
    wrong_and_right(FaultKind::DivergentCollective, body, |fault, message| {
        assert_eq!(fault.thread / 32, 1);
        assert_says(message, &["`ballot` at ", "lane 5 has finished"]);
    });
}

#[test]
#[expect(clippy::if_same_then_else, reason = "only the places differ")]
fn a_collective_in_two_places() {
    let lines = Cell::new([0; 2]);
    let body = |t: EmulatorThread<'_>, wrong: bool| {
        lines.set([line!() + 2, line!() + 4]);
        if wrong && t.lane() < 16 {
            t.reduce_add(1)
        } else {
            t.reduce_add(1)
        };
    };
    wrong_and_right(FaultKind::DivergentCollective, body, |fault, message| {
        for line in lines.get() {
            assert_says(message, &[&format!("faults.rs:{line}:")]);
        }
        let line = fault.location.expect("a place").line();
        assert!(lines.get().contains(&line));
    });
}

#[test]
fn different_collectives() {
    let body = |t: EmulatorThread<'_>, wrong: bool| {
        if wrong && t.lane() == 9 {
            t.shuffle_xor(0, 1);
        } else {
            t.sync_warp();
        }
        if wrong && t.lane() != 9 {
            t.shuffle_xor(0, 1);
        }
    };
    wrong_and_right(FaultKind::DivergentCollective, body, |_, message| {
        assert_says(message, &["`sync_warp`", "`shuffle_xor`", "lane 9 "]);
    });
}

#[test]
fn a_collective_against_a_barrier() {
    let body = |t: EmulatorThread<'_>, wrong: bool| {
        if t.lane() == 3 && wrong {
            t.barrier();
        } else {
            t.ballot(true);
        }
    };
    wrong_and_right(FaultKind::DivergentCollective, body, |_, message| {
        assert_says(message, &["`ballot`", "lane 3 waits in `barrier`"]);
    });
}

#[test]
fn shuffles_by_a_warp_or_more() {
    let by = |wrong| if wrong { 32 } else { 31 };
    let body = |t: EmulatorThread<'_>, wrong: bool| {
        t.shuffle_up(0, by(wrong));
    };
    wrong_and_right(FaultKind::ShuffleOutOfRange, body, |_, message| {
        assert_says(message, &["distance is 32"]);
    });
    let body = |t: EmulatorThread<'_>, wrong: bool| {
        t.shuffle_xor(0, by(wrong));
    };
    wrong_and_right(FaultKind::ShuffleOutOfRange, body, |_, message| {
        assert_says(message, &["distance is 32"]);
    });
}

#[test]
fn addresses_of_shared_memory_that_are_not_aligned() {
    let body = |t: EmulatorThread<'_>, wrong: bool| {
        t.shared_store(t.thread_index(), 0x0403_0201);
        t.sync_warp();
        let address = t.shared_address(t.thread_index() & !1);
        let odd = u32::from(wrong);
        assert_eq!(t.shared_load_byte_at(address + 3), 4);
        assert_eq!(t.shared_load_half_at(address + 2 + odd), 0x0403);
        assert_eq!(t.shared_load2_at(address), [0x0403_0201; 2]);
    };
    wrong_and_right(FaultKind::Misaligned, body, |_, message| {
        assert_says(message, &["2 bytes from byte", "no multiple of 2"]);
    });
}

#[test]
fn sums_in_shared_memory_that_others_read_too_early() {
    let body = |t: EmulatorThread<'_>, wrong: bool| {
        if t.thread_index() == 0 {
            t.shared_store(0, 5);
        }
        t.barrier();
        t.shared_add(0, t.thread_index());
        if !wrong {
            t.barrier();
        }
        let sum = t.shared_load(0);
        assert!(wrong || sum == 5 + 63 * 32);
        assert_eq!(t.reduce_or(1 << t.lane()), u32::MAX);
        assert!(t.any(t.lane() == 7) && !t.any(false));
    };
    wrong_and_right(FaultKind::SharedRace, body, |_, message| {
        assert_says(message, &["word 0 of shared memory"]);
    });
}

/// A set in shared memory: a bit is set if it is not known, which a load that is not atomic must not ask.
#[test]
fn bits_that_others_set_meanwhile() {
    let body = |t: EmulatorThread<'_>, wrong: bool| {
        if t.thread_index() == 0 {
            t.shared_store(0, 0);
        }
        t.barrier();
        let bit = 1 << (t.thread_index() % 8);
        let seen = match wrong {
            true => t.shared_load(0),
            false => t.shared_atomic_load(0),
        };
        if seen & bit == 0 {
            t.shared_or(0, bit);
        }
        t.barrier();
        assert_eq!(t.shared_load(0), 0xff);
    };
    wrong_and_right(FaultKind::SharedRace, body, |_, message| {
        assert_says(message, &["word 0 of shared memory"]);
    });
}

// --- barriers ------------------------------------------------------------------------------------

#[test]
fn threads_that_finish_before_a_barrier() {
    let body = |t: EmulatorThread<'_>, wrong: bool| {
        if wrong && t.thread_index() == 40 {
            return;
        }
        t.barrier();
    };
    wrong_and_right(FaultKind::DivergentBarrier, body, |_, message| {
        assert_says(message, &["`barrier` at ", "thread 40 has finished"]);
    });
}

#[test]
#[expect(clippy::if_same_then_else, reason = "only the places differ")]
fn barriers_in_two_places() {
    let body = |t: EmulatorThread<'_>, wrong: bool| {
        if wrong && t.warp() == 0 {
            t.barrier();
        } else {
            t.barrier();
        }
    };
    wrong_and_right(FaultKind::DivergentBarrier, body, |fault, message| {
        let files = message.matches("faults.rs:").count();
        assert_eq!(files, 3, "{message}");
        assert_eq!(fault.thread, 0);
        assert_says(message, &["thread 32 waits in `barrier`"]);
    });
}

#[test]
fn different_barriers() {
    let body = |t: EmulatorThread<'_>, wrong: bool| {
        if wrong && t.thread_index() == 0 {
            t.barrier();
        } else {
            t.barrier_or(false);
        }
    };
    wrong_and_right(FaultKind::DivergentBarrier, body, |_, message| {
        assert_says(message, &["`barrier` at", "`barrier_or` at"]);
    });
}

// --- shared memory -------------------------------------------------------------------------------

#[test]
fn shared_memory_out_of_bounds() {
    let body = |t: EmulatorThread<'_>, wrong: bool| {
        t.shared_store(t.thread_index() + u32::from(wrong), 0);
    };
    wrong_and_right(FaultKind::SharedOutOfBounds, body, |fault, message| {
        assert_eq!(fault.thread, 63);
        assert_says(message, &["word 64 of 64 words"]);
    });
    let body = |t: EmulatorThread<'_>, wrong: bool| {
        if t.thread_index() == 0 {
            t.shared_store4(if wrong { 64 } else { 60 }, [0; 4]);
        }
    };
    wrong_and_right(FaultKind::SharedOutOfBounds, body, |_, message| {
        assert_says(message, &["word 64 of 64 words"]);
    });
}

#[test]
fn uninitialised_shared_memory() {
    type Read = fn(EmulatorThread<'_>);
    let reads: [Read; 3] = [
        |t| _ = t.shared_load(7),
        |t| _ = t.shared_load4(4),
        |t| t.shared_or(7, 1),
    ];
    for read in reads {
        let body = |t: EmulatorThread<'_>, wrong: bool| {
            let untouched = if wrong { 7 } else { SHARED_WORDS };
            if t.thread_index() != untouched {
                t.shared_store(t.thread_index(), 0);
            }
            t.barrier();
            read(t);
        };
        wrong_and_right(FaultKind::UninitialisedShared, body, |_, message| {
            assert_says(message, &["word 7 of shared memory"]);
        });
    }
}

#[test]
fn shared_memory_of_an_earlier_block_is_uninitialised() {
    let emulator = Emulator::new().resident_blocks(1);
    let launch = |initialising_blocks: u32| {
        emulator.launch_with(2, 32, 1, |t| {
            if t.lane() == 0 && t.block_index() < initialising_blocks {
                t.shared_store(0, 1);
            }
            t.barrier();
            t.shared_load(0);
        })
    };
    let fault = launch(1).expect_err("block 1 reads what block 0 wrote");
    assert_eq!(
        (fault.kind, fault.block),
        (FaultKind::UninitialisedShared, 1)
    );
    launch(2).expect("each block initialises its own");
}

/// What may stand between an access and a later one of another thread.
#[derive(Clone, Copy, PartialEq)]
enum Between {
    Nothing,
    Ballot,
    SyncWarp,
    Barrier,
}

type Access = fn(EmulatorThread<'_>);

const LOAD: Access = |t| _ = t.shared_load(5);
const STORE: Access = |t| t.shared_store(5, 1);
const OR: Access = |t| t.shared_or(5, 1);

/// `first` by thread 1, `second` by thread `other`, with `between` between.
fn two_accesses(
    first: Access,
    second: Access,
    other: u32,
    between: Between,
) -> impl Fn(EmulatorThread<'_>) {
    move |t| {
        if t.thread_index() == 0 {
            t.shared_store(5, 0);
        }
        t.barrier();
        if t.thread_index() == 1 {
            first(t);
        }
        match between {
            Between::Nothing => {}
            Between::Ballot => _ = t.ballot(true),
            Between::SyncWarp => t.sync_warp(),
            Between::Barrier => t.barrier(),
        }
        if t.thread_index() == other {
            second(t);
        }
    }
}

#[test]
fn races_between_any_two_accesses() {
    let conflicts = [
        (LOAD, STORE),
        (STORE, LOAD),
        (STORE, STORE),
        (LOAD, OR),
        (OR, LOAD),
        (STORE, OR),
        (OR, STORE),
    ];
    for seed in SEEDS {
        for (first, second) in conflicts {
            for other in [2, 33] {
                let run = |between| {
                    let body = two_accesses(first, second, other, between);
                    Emulator::new().seed(seed).launch_with(1, 64, 8, body)
                };
                for between in [Between::Nothing, Between::Ballot] {
                    let fault = run(between).expect_err("a race");
                    assert_eq!(fault.kind, FaultKind::SharedRace, "{fault}");
                    assert_pair(&fault, [1, other]);
                    assert_says(&fault.to_string(), &["word 5 of shared memory"]);
                }
                assert_eq!(run(Between::SyncWarp).is_err(), other == 33);
                run(Between::Barrier).expect("a barrier orders the block");
            }
        }
    }
}

#[test]
fn reads_and_atomics_do_not_race_among_themselves() {
    for (first, second) in [(LOAD, LOAD), (OR, OR)] {
        for other in [2, 33] {
            let body = two_accesses(first, second, other, Between::Nothing);
            let result = Emulator::new().launch_with(1, 64, 8, body);
            result.expect("no race");
        }
    }
}

/// A later access of the same thread must not hide an earlier one of another.
#[test]
fn races_with_one_of_many() {
    for seed in SEEDS {
        for (shared, alone) in [(LOAD, STORE), (OR, LOAD), (OR, STORE), (LOAD, OR)] {
            let run = |ordered: bool| {
                Emulator::new().seed(seed).launch_with(1, 96, 8, |t| {
                    if t.thread_index() == 0 {
                        t.shared_store(5, 0);
                    }
                    t.barrier();
                    if [3, 34, 35, 70].contains(&t.thread_index()) {
                        shared(t);
                    }
                    if ordered {
                        t.barrier();
                    }
                    if t.thread_index() == 70 {
                        alone(t);
                    }
                })
            };
            let fault = run(false).expect_err("a race");
            assert_eq!(fault.kind, FaultKind::SharedRace, "{fault}");
            run(true).expect("a barrier orders the block");
        }
    }
}

#[test]
fn a_tile_is_reversed_through_shared_memory() {
    let body = |t: EmulatorThread<'_>, wrong: bool| {
        t.shared_store(t.thread_index(), t.thread_index());
        if !wrong {
            t.barrier();
        }
        assert_eq!(t.shared_load(63 - t.thread_index()), 63 - t.thread_index());
    };
    // Read before or after the other half wrote it: one fault or the other.
    for seed in SEEDS {
        let launch = |wrong| {
            let emulator = Emulator::new().seed(seed);
            emulator.launch_with(1, 64, SHARED_WORDS, |t| body(t, wrong))
        };
        let kind = launch(true).expect_err("no barrier").kind;
        assert!([FaultKind::SharedRace, FaultKind::UninitialisedShared].contains(&kind));
        launch(false).expect("with a barrier");
    }
}

// --- alignment and views -------------------------------------------------------------------------

#[test]
fn misaligned_shared_accesses() {
    let body = |t: EmulatorThread<'_>, wrong: bool| {
        if t.thread_index() == 0 {
            t.shared_store4(0, [1, 2, 3, 4]);
            t.shared_store4(4, [5, 6, 7, 8]);
            assert_eq!(t.shared_load4(if wrong { 2 } else { 4 }), [5, 6, 7, 8]);
        }
    };
    wrong_and_right(FaultKind::Misaligned, body, |_, message| {
        assert_says(message, &["word 2 of shared memory"]);
    });
    let body = |t: EmulatorThread<'_>, wrong: bool| {
        if t.thread_index() == 0 {
            t.shared_store4(8 + u32::from(wrong), [0; 4]);
        }
    };
    wrong_and_right(FaultKind::Misaligned, body, |_, message| {
        assert_says(message, &["word 9 of shared memory"]);
    });
}

#[repr(C, align(16))]
struct Aligned([u32; 12]);

#[test]
fn misaligned_views() {
    let mut items = Aligned(core::array::from_fn(|i| i as u32));
    let aligned = view(&mut items.0);
    // SAFETY: a part of the same items.
    let shifted = unsafe { View::new(aligned.address().add(1), 8) };
    let body = |t: EmulatorThread<'_>, wrong: bool| {
        let items = if wrong { shifted } else { aligned };
        if t.thread_index() == 5 {
            assert_eq!(t.load4(items, 1), [4, 5, 6, 7]);
        }
    };
    wrong_and_right(FaultKind::Misaligned, body, |fault, message| {
        assert_eq!(fault.thread, 5);
        assert_says(message, &["index 1 of a view", "no multiple of 16"]);
    });
    let body = |t: EmulatorThread<'_>, wrong: bool| {
        let items = if wrong { shifted } else { aligned };
        if t.thread_index() == 5 {
            t.store4(items, 0, [0, 1, 2, 3]);
        }
    };
    wrong_and_right(FaultKind::Misaligned, body, |_, message| {
        assert_says(message, &["index 0 of a view", "no multiple of 16"]);
    });
}

#[test]
fn views_out_of_bounds() {
    let mut items = Aligned([0; 12]);
    // Ten words are two whole groups of four; the third is only half inside.
    let items = view(&mut items.0[..10]);
    let mut cells = [0u64; 10];
    let cells = view(&mut cells);
    type Reach = (fn(EmulatorThread<'_>, View<u32>, View<u64>, u64), u64);
    let accesses: [Reach; 8] = [
        (|t, items, _, i| _ = t.load(items, i), 10),
        (|t, items, _, i| _ = t.load4(items, i), 2),
        (|t, items, _, i| t.store(items, i, 0), 10),
        (|t, items, _, i| t.store4(items, i, [0; 4]), 2),
        (|t, _, cells, i| _ = t.atomic_load(cells, i), 10),
        (|t, _, cells, i| t.atomic_store(cells, i, 0), 10),
        (|t, _, cells, i| _ = t.atomic_add(cells, i, 1), 10),
        (|t, _, cells, i| t.atomic_max(cells, i, 1), 10),
    ];
    for (access, end) in accesses {
        for outside in [end, u64::MAX, 1 << 62] {
            let body = |t: EmulatorThread<'_>, wrong: bool| {
                if t.thread_index() == 50 {
                    access(t, items, cells, if wrong { outside } else { end - 1 });
                }
            };
            wrong_and_right(FaultKind::ViewOutOfBounds, body, |fault, message| {
                assert_eq!(fault.thread, 50);
                assert_says(message, &[&outside.to_string(), "of a view of 10"]);
            });
        }
    }
    let result = Emulator::new().launch_with(1, 32, 0, |t| _ = t.load(View::empty(), 0));
    assert_eq!(result.expect_err("empty").kind, FaultKind::ViewOutOfBounds);
}

// --- waiting and panics --------------------------------------------------------------------------

/// Whatever a thread does while it waits, it changes nothing.
#[test]
fn a_wait_for_nothing() {
    type Wait = fn(EmulatorThread<'_>, View<u64>);
    let waits: [Wait; 4] = [
        |t, cells| {
            while t.ballot(t.atomic_load(cells, 0) == 1) == 0 {
                t.spin_hint();
            }
        },
        // No hint, but a collective.
        |t, cells| while t.ballot(t.atomic_load(cells, 0) == 1) == 0 {},
        |t, cells| {
            while !t.barrier_or(t.atomic_load(cells, 0) == 1) {
                t.spin_hint();
            }
        },
        |t, cells| {
            while t.atomic_load(cells, 0) == 0 {
                t.atomic_max(cells, 0, 0);
                t.atomic_add(cells, 0, 0);
                t.spin_hint();
            }
        },
    ];
    for wait in waits {
        let mut cells = [0u64; 1];
        let cells = view(&mut cells);
        let body = |t: EmulatorThread<'_>, wrong: bool| {
            if t.thread_index() == 0 {
                t.atomic_store(cells, 0, u64::from(!wrong));
            }
            t.barrier();
            wait(t, cells);
        };
        wrong_and_right(FaultKind::EndlessSpin, body, |fault, message| {
            assert_says(message, &["more than 1000 times"]);
            assert!(fault.location.is_some());
        });
    }
}

#[test]
fn a_thread_that_spins_alone_is_named() {
    let mut cells = [0u64; 1];
    let cells = view(&mut cells);
    let body = |t: EmulatorThread<'_>, wrong: bool| {
        if t.thread_index() == 17 && !wrong {
            t.atomic_add(cells, 0, 1);
        }
        if t.thread_index() == 42 {
            while t.atomic_load(cells, 0) == 0 {
                t.spin_hint();
            }
        }
        t.barrier();
        if t.thread_index() == 42 {
            t.atomic_store(cells, 0, 0);
        }
    };
    wrong_and_right(FaultKind::EndlessSpin, body, |fault, message| {
        assert_eq!(fault.thread, 42);
        assert_says(message, &["faults.rs:"]);
    });
}

#[test]
fn a_panic_is_a_fault() {
    let body = |t: EmulatorThread<'_>, wrong: bool| {
        t.barrier();
        assert!(!wrong || t.thread_index() != 33, "thirty-three");
        t.barrier();
    };
    wrong_and_right(FaultKind::Panicked, body, |fault, message| {
        assert_eq!(fault.thread, 33);
        assert_says(message, &["thirty-three"]);
    });
}

#[test]
fn a_fault_drops_what_other_threads_hold() {
    struct Held<'a>(&'a Cell<u32>);
    impl Drop for Held<'_> {
        fn drop(&mut self) {
            self.0.set(self.0.get() - 1);
        }
    }
    let held = Cell::new(0);
    let result = Emulator::new().launch_with(8, 64, 1, |t| {
        held.set(held.get() + 1);
        let _held = Held(&held);
        t.barrier();
        if t.thread_index() == 20 && t.block_index() == 5 {
            t.shared_load(1);
        }
        t.barrier();
    });
    let fault = result.expect_err("one word only");
    assert_eq!((fault.block, fault.thread), (5, 20));
    assert_eq!(held.get(), 0);
}

// --- kernels and their places --------------------------------------------------------------------

struct HalfBallot;

const HALF_BALLOT_LINE: u32 = line!() + 8;
impl Kernel for HalfBallot {
    type Params = u32;
    const NAME: &'static str = "half_ballot";
    const THREADS: u32 = 32;
    const SHARED_WORDS: u32 = 0;
    fn run<T: Thread>(t: T, lanes: &u32) {
        if t.lane() < *lanes {
            t.ballot(true);
        }
    }
}

/// The place must be the kernel's, although the kernel is generic over its machine.
#[test]
fn a_fault_names_the_kernel_and_its_line() {
    Emulator::new()
        .launch::<HalfBallot>(3, &32)
        .expect("all lanes");
    let fault = Emulator::new()
        .launch::<HalfBallot>(1, &16)
        .expect_err("half of them");
    let place = fault.location.expect("a place");
    assert_eq!(place.line(), HALF_BALLOT_LINE);
    assert_eq!(place.file(), file!());
    let message = fault.to_string();
    assert_says(
        &message,
        &["divergent collective in kernel half_ballot, block 0, thread "],
    );
}

// --- what collectives give -----------------------------------------------------------------------

fn mix(a: u32, b: u32) -> u32 {
    (a ^ 0x9e37_79b9).wrapping_mul(0x85eb_ca6b).rotate_left(b) ^ b.wrapping_mul(0xc2b2_ae35)
}

#[test]
fn collectives_give_what_they_promise() {
    for seed in SEEDS {
        let launch = Emulator::new().seed(seed).launch_with(3, 96, 0, |t| {
            let value = |lane: u32| mix(t.block_index() * 96 + t.warp() * 32 + lane, seed as u32);
            let (lane, mine) = (t.lane(), value(t.lane()));
            let source = mine % 77;
            assert_eq!(t.shuffle(mine, source), value(source % 32));
            for delta in [0, 1, 2, 16, 31] {
                let from = if lane < delta { lane } else { lane - delta };
                assert_eq!(t.shuffle_up(mine, delta), value(from));
                assert_eq!(t.shuffle_xor(mine, delta), value(lane ^ delta));
            }
            let odd = (0..32).fold(0, |bits, lane| bits | (value(lane) & 1) << lane);
            assert_eq!(t.ballot(mine & 1 == 1), odd);
            assert_eq!(Some(t.reduce_max(mine)), (0..32).map(value).max());
            let sum = (0..32).map(value).fold(0, u32::wrapping_add);
            assert_eq!(t.reduce_add(mine), sum);
            for round in 0..96 {
                assert!(t.barrier_or(t.thread_index() == round));
                assert!(!t.barrier_or(false));
            }
            assert_eq!(t.block_count(), 3);
        });
        launch.expect("every value as promised");
    }
}

#[test]
fn cells_count_and_rise() {
    let mut cells = [0u64, 5, 0, 0x100];
    let cells_view = view(&mut cells);
    let launch = Emulator::new().launch_with(7, 64, 0, |t| {
        t.atomic_add(cells_view, 0, 1);
        t.atomic_max(cells_view, 1, u64::from(t.thread_index()));
        t.atomic_max(cells_view, 2, u64::from(t.block_index()));
        t.atomic_or(cells_view, 3, 1 << (t.thread_index() % 8));
    });
    launch.expect("no fault");
    assert_eq!(cells, [7 * 64, 63, 6, 0x1ff]);
}

// --- chained scan --------------------------------------------------------------------------------

/// The sum of `values` up to each block, every block waiting for the one before it. With
/// `tickets`, blocks take their place in the chain as they start.
fn chained_scan(emulator: &Emulator, blocks: u32, tickets: bool) -> Result<Vec<u64>, Fault> {
    let mut ticket = [0u64; 1];
    let mut sums = vec![0u64; blocks as usize];
    let (ticket, cells) = (view(&mut ticket), view(&mut sums));
    emulator.launch_with(blocks, 64, 1, |t| {
        if t.thread_index() == 0 {
            let place = match tickets {
                true => t.atomic_add(ticket, 0, 1) as u32,
                false => t.block_index(),
            };
            t.shared_store(0, place);
        }
        t.barrier();
        let place = u64::from(t.shared_load(0));
        if t.warp() == 0 {
            let mut before = 0;
            while place > 0 && before == 0 {
                t.spin_hint();
                before = t.atomic_load(cells, place - 1);
                // The lanes may have looked at different times.
                before = u64::from(t.reduce_max(before as u32));
            }
            if t.lane() == 0 {
                t.atomic_store(cells, place, before + place + 1);
            }
        }
        t.barrier();
    })?;
    Ok(sums)
}

#[test]
fn chained_scan_in_any_order() {
    let expected: Vec<u64> = (1..=200).map(|n| n * (n + 1) / 2).collect();
    let orders = [
        BlockOrder::Ascending,
        BlockOrder::Descending,
        BlockOrder::Shuffled,
    ];
    for seed in 0..2 {
        for order in orders {
            for resident in [1, 3, 200] {
                let emulator = Emulator::new().seed(seed).block_order(order);
                let emulator = emulator.resident_blocks(resident);
                let sums = chained_scan(&emulator, 200, true).expect("no fault");
                assert_eq!(sums, expected);
            }
        }
    }
}

#[test]
fn chained_scan_without_tickets() {
    let emulator = Emulator::new().block_order(BlockOrder::Descending);
    let fault = chained_scan(&emulator.resident_blocks(8), 200, false);
    let fault = fault.expect_err("the first block cannot start");
    assert_eq!(fault.kind, FaultKind::EndlessSpin);
    assert!(fault.block >= 192, "{fault}");
    chained_scan(&emulator.resident_blocks(200), 200, false).expect("all are resident");
    let ascending = Emulator::new().resident_blocks(8);
    chained_scan(&ascending, 200, false).expect("predecessors start first");
}

// --- order ---------------------------------------------------------------------------------------

/// Who came when, over all threads of a few blocks.
fn arrivals(emulator: &Emulator) -> Vec<u32> {
    let mut next = [0u64; 1];
    let mut log = vec![u32::MAX; 3 * 6 * 64];
    let (next, entries) = (view(&mut next), view(&mut log));
    let launch = emulator.launch_with(6, 64, 0, |t| {
        for _ in 0..3 {
            let entry = t.atomic_add(next, 0, 1);
            t.store(entries, entry, t.block_index() * 64 + t.thread_index());
            t.sync_warp();
        }
    });
    launch.expect("no fault");
    log
}

#[test]
fn a_seed_draws_one_order() {
    let logs: Vec<_> = (0..20)
        .map(|seed| arrivals(&Emulator::new().seed(seed)))
        .collect();
    for (seed, log) in (0..).zip(&logs) {
        assert_eq!(*log, arrivals(&Emulator::new().seed(seed)));
        assert!(
            !logs[..seed as usize].contains(log),
            "seed {seed} is not the first"
        );
        let mut sorted = log.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq((0..6 * 64 * 3).map(|i| i / 3)));
    }
}

#[test]
fn blocks_start_in_the_order_asked_for() {
    let start_order = |order, seed| {
        let started = RefCell::new(Vec::new());
        let emulator = Emulator::new()
            .resident_blocks(1)
            .block_order(order)
            .seed(seed);
        let launch = emulator.launch_with(50, 32, 0, |t| {
            if t.lane() == 0 {
                started.borrow_mut().push(t.block_index());
            }
        });
        launch.expect("no fault");
        started.into_inner()
    };
    let ascending: Vec<u32> = (0..50).collect();
    let descending: Vec<u32> = (0..50).rev().collect();
    assert_eq!(start_order(BlockOrder::Ascending, 1), ascending);
    assert_eq!(start_order(BlockOrder::Descending, 1), descending);
    let shuffled = start_order(BlockOrder::Shuffled, 1);
    assert_ne!(shuffled, start_order(BlockOrder::Shuffled, 2));
    assert_ne!(shuffled, ascending);
    let mut sorted = shuffled;
    sorted.sort_unstable();
    assert_eq!(sorted, ascending);
}

#[test]
fn an_empty_grid_is_a_fault() {
    let launch = Emulator::new().launch_with(0, 32, 0, |_| panic!("there is no thread"));
    let fault = launch.expect_err("a GPU refuses it");
    assert_eq!(fault.kind, FaultKind::EmptyGrid);
    assert_eq!(fault.detail, "a launch has at least one block");
}
