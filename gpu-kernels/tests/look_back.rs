//! Decoupled look-back on its own, with tile states prepared by hand and blocks in bad orders.

use ferrosz_gpu_kernels::primitives::look_back::{LookBackState, sum_before};
use ferrosz_simt::emulator::{BlockOrder, Emulator, FaultKind};
use ferrosz_simt::{Kernel, Thread, View};

/// One warp looks back from a tile and stores what it finds.
struct LookBack;

#[derive(Clone, Copy)]
struct LookBackParams {
    states: View<u64>,
    first: u64,
    tile: u64,
    found: View<u64>,
}

impl Kernel for LookBack {
    type Params = LookBackParams;
    const NAME: &'static str = "test_look_back";
    const THREADS: u32 = 32;
    const SHARED_WORDS: u32 = 0;

    fn run<T: Thread>(t: T, params: &LookBackParams) {
        let sum = sum_before(t, params.states, params.first, params.tile);
        t.atomic_store(params.found, u64::from(t.lane()), sum);
    }
}

fn view(cells: &mut [u64]) -> View<u64> {
    // SAFETY: the slice outlives the launches of the test that borrows it.
    unsafe { View::new(cells.as_mut_ptr(), cells.len() as u64) }
}

/// What all lanes find from behind these states, which start at cell `first`.
fn find(states: &[LookBackState], first: usize) -> u64 {
    let mut cells = vec![u64::MAX; first];
    cells.extend(states.iter().map(|state| state.to_cell()));
    let mut found = [u64::MAX; 32];
    let params = LookBackParams {
        states: view(&mut cells),
        first: first as u64,
        tile: states.len() as u64,
        found: view(&mut found),
    };
    Emulator::new()
        .launch::<LookBack>(1, &params)
        .expect("no fault");
    assert!(found.iter().all(|sum| *sum == found[0]), "lanes disagree");
    found[0]
}

#[test]
fn tile_0_has_nothing_before_it() {
    assert_eq!(find(&[], 0), 0);
    assert_eq!(find(&[], 7), 0);
}

#[test]
fn the_nearest_inclusive_state_is_enough() {
    use LookBackState::{Empty, Inclusive, Partial};
    assert_eq!(find(&[Inclusive(5)], 3), 5);
    assert_eq!(find(&[Empty, Inclusive(5), Partial(2), Partial(3)], 0), 10);
    // What lies before it is neither waited for nor added.
    assert_eq!(
        find(&[Partial(100), Inclusive(1), Inclusive(7), Partial(1)], 1),
        8
    );
}

#[test]
fn more_partial_states_than_a_warp_has_lanes() {
    for count in [31, 32, 33, 63, 64, 65, 200, 1000] {
        let mut states = vec![LookBackState::Inclusive(1 << 40)];
        states.extend((1..=count).map(LookBackState::Partial));
        assert_eq!(
            find(&states, 0),
            (1 << 40) + count * (count + 1) / 2,
            "{count}"
        );
        // And without any inclusive state: down to before tile 0.
        assert_eq!(find(&states[1..], 2), count * (count + 1) / 2, "{count}");
    }
}

#[test]
fn values_may_have_62_bits() {
    let largest = (1 << 61) - 1;
    let states = [
        LookBackState::Inclusive(largest),
        LookBackState::Partial(largest),
    ];
    assert_eq!(find(&states, 0), 2 * largest);
}

#[test]
fn a_state_that_never_comes_is_an_endless_spin() {
    let mut cells = [
        LookBackState::Inclusive(1).to_cell(),
        0,
        LookBackState::Partial(1).to_cell(),
    ];
    let mut found = [0; 32];
    let params = LookBackParams {
        states: view(&mut cells),
        first: 0,
        tile: 3,
        found: view(&mut found),
    };
    let fault = Emulator::new()
        .launch::<LookBack>(1, &params)
        .expect_err("nobody fills tile 1");
    assert_eq!(fault.kind, FaultKind::EndlessSpin);
}

/// A whole chained scan: tile i adds i + 1.
struct ChainedScan;

#[derive(Clone, Copy)]
struct ChainedScanParams {
    ticket: View<u64>,
    states: View<u64>,
    found: View<u64>,
    /// Take tile numbers from the counter, as every kernel must; else the block's own number.
    takes_ticket: bool,
}

impl Kernel for ChainedScan {
    type Params = ChainedScanParams;
    const NAME: &'static str = "test_chained_scan";
    const THREADS: u32 = 64;
    const SHARED_WORDS: u32 = 1;

    fn run<T: Thread>(t: T, params: &ChainedScanParams) {
        if t.thread_index() == 0 {
            let tile = if params.takes_ticket {
                t.atomic_add(params.ticket, 0, 1)
            } else {
                u64::from(t.block_index())
            };
            t.shared_store(0, tile as u32);
            t.atomic_store(
                params.states,
                tile,
                LookBackState::Partial(tile + 1).to_cell(),
            );
        }
        t.barrier();
        if t.warp() == 1 {
            let tile = u64::from(t.shared_load(0));
            let sum = sum_before(t, params.states, 0, tile);
            if t.lane() == 0 {
                let inclusive = LookBackState::Inclusive(sum + tile + 1);
                t.atomic_store(params.states, tile, inclusive.to_cell());
                t.atomic_store(params.found, tile, sum);
            }
        }
    }
}

fn chained_scan(emulator: &Emulator, tiles: u64, takes_ticket: bool) -> Result<(), FaultKind> {
    let mut ticket = [0];
    let mut states = vec![0; tiles as usize];
    let mut found = vec![u64::MAX; tiles as usize];
    let params = ChainedScanParams {
        ticket: view(&mut ticket),
        states: view(&mut states),
        found: view(&mut found),
        takes_ticket,
    };
    emulator
        .launch::<ChainedScan>(tiles as u32, &params)
        .map_err(|fault| fault.kind)?;
    for (tile, sum) in (0u64..).zip(&found) {
        assert_eq!(*sum, tile * (tile + 1) / 2, "tile {tile}");
    }
    Ok(())
}

#[test]
fn chained_scans_in_every_order_of_blocks() {
    for seed in 0..6 {
        for order in [
            BlockOrder::Ascending,
            BlockOrder::Descending,
            BlockOrder::Shuffled,
        ] {
            for resident in [1, 3, 16, 200] {
                let emulator = Emulator::new()
                    .seed(seed)
                    .block_order(order)
                    .resident_blocks(resident);
                assert_eq!(chained_scan(&emulator, 200, true), Ok(()));
            }
        }
    }
}

#[test]
fn without_tickets_blocks_started_last_to_first_wait_for_ever() {
    let emulator = Emulator::new()
        .block_order(BlockOrder::Descending)
        .resident_blocks(8);
    assert_eq!(
        chained_scan(&emulator, 100, false),
        Err(FaultKind::EndlessSpin)
    );
}
