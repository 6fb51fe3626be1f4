//! A pool of stacks for coroutines, for the next block and the next launch of this OS thread.
//!
//! Mapping a stack and accessing its first page takes longer than most kernels' threads run.

use core::cell::RefCell;
use std::{io, vec::Vec};

use corosensei::stack::DefaultStack;

/// Enough to print a panic's backtrace; pages that are not accessed cost nothing.
const STACK_BYTES: usize = 256 * 1024;
/// Stacks in the pool of an OS thread at most.
const KEPT: usize = 8192;

std::thread_local! {
    static POOL: RefCell<Vec<DefaultStack>> = const { RefCell::new(Vec::new()) };
}

/// Takes a stack from the pool, or maps a new one.
pub(super) fn take() -> io::Result<DefaultStack> {
    match POOL.with_borrow_mut(Vec::pop) {
        Some(stack) => Ok(stack),
        None => DefaultStack::new(STACK_BYTES),
    }
}

/// Returns a stack to the pool.
pub(super) fn give_back(stack: DefaultStack) {
    POOL.with_borrow_mut(|pool| {
        if pool.len() < KEPT {
            pool.push(stack);
        }
    });
}
