//! Stacks for coroutines, kept for the next block and the next launch of this OS thread.
//!
//! Mapping a stack and touching its first page costs more than most kernels' threads run for.

use core::cell::RefCell;
use std::{io, vec::Vec};

use corosensei::stack::DefaultStack;

/// Roomy enough to print a panic's backtrace; pages that are not touched cost nothing.
const STACK_BYTES: usize = 256 * 1024;
/// What an idle OS thread holds on to at most.
const KEPT: usize = 8192;

std::thread_local! {
    static POOL: RefCell<Vec<DefaultStack>> = const { RefCell::new(Vec::new()) };
}

/// A kept stack, or a new one.
pub(super) fn take() -> io::Result<DefaultStack> {
    match POOL.with_borrow_mut(Vec::pop) {
        Some(stack) => Ok(stack),
        None => DefaultStack::new(STACK_BYTES),
    }
}

/// Keeps a stack for later.
pub(super) fn give_back(stack: DefaultStack) {
    POOL.with_borrow_mut(|pool| {
        if pool.len() < KEPT {
            pool.push(stack);
        }
    });
}
