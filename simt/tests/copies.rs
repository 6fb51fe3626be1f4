//! Copies from global to shared memory on the emulator: they come when they are awaited, and to others behind a barrier.

use ferrosz_simt::View;
use ferrosz_simt::emulator::{Emulator, EmulatorThread, FaultKind};
use ferrosz_simt::prelude::*;
use std::cell::RefCell;

fn run(is_awaited: bool, is_ordered: bool) -> Result<Vec<u32>, FaultKind> {
    let mut words: Vec<u32> = (100..164).collect();
    // SAFETY: the words outlive the launch, and nobody writes them.
    let view = unsafe { View::new(words.as_mut_ptr(), words.len() as u64) };
    let found = RefCell::new(vec![0; 64]);
    let kernel = |t: EmulatorThread<'_>| {
        let own = t.thread_index();
        t.copy_async(t.shared_address(own), view, u64::from(own));
        if is_awaited {
            t.await_copies();
        }
        if is_ordered {
            t.barrier();
        }
        let other = 63 - own;
        found.borrow_mut()[own as usize] = t.shared_load(other);
    };
    match Emulator::new().launch_with(1, 64, 64, kernel) {
        Ok(()) => Ok(found.take()),
        Err(fault) => Err(fault.kind),
    }
}

#[test]
fn copies_come_when_they_are_awaited() {
    assert_eq!(run(true, true), Ok((100..164).rev().collect()));
    assert_eq!(run(false, true), Err(FaultKind::UninitialisedShared));
    assert!(matches!(
        run(true, false),
        Err(FaultKind::UninitialisedShared | FaultKind::SharedRace)
    ));
}
