//! Work for all processors.
//!
//! A parallel iterator of rayon compiles its machinery again for each closure that it is given: that was a quarter of this
//! crate's code. Here it is compiled once, and calls closures by reference. Items are tasks, of thousands of values.

use crate::threads;
use rayon::prelude::*;
use std::convert::Infallible;
use std::sync::{Mutex, PoisonError};

/// The threads that share the work.
pub(crate) fn thread_count() -> usize {
    match threads::are_there() {
        true => rayon::current_num_threads(),
        false => 1,
    }
}

/// Whether other threads can help this one.
fn are_others() -> bool {
    thread_count() > 1
}

/// The result of work that is shared out in several steps. It runs on one of the threads that the steps are shared among: to
/// hand a step to another thread, and to wait for it, takes longer than a short step.
pub(crate) fn in_steps<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    match are_others() {
        true => rayon::scope(|_| work()),
        false => work(),
    }
}

/// The results of two pieces of work.
pub(crate) fn join<A: Send, B: Send>(
    a: impl FnOnce() -> A + Send,
    b: impl FnOnce() -> B + Send,
) -> (A, B) {
    match are_others() {
        true => rayon::join(a, b),
        false => (a(), b()),
    }
}

/// Calls `work` with each number below `count`.
fn each_number(count: usize, work: &(dyn Fn(usize) + Sync)) {
    match count > 1 && are_others() {
        true => (0..count).into_par_iter().for_each(work),
        false => (0..count).for_each(work),
    }
}

/// Calls `work` with each item.
pub(crate) fn each<I: Send>(items: impl Iterator<Item = I>, work: impl Fn(I) + Sync) {
    map(items, work);
}

/// The results of `work` for all items, in their order.
pub(crate) fn map<I: Send, R: Send>(
    items: impl Iterator<Item = I>,
    work: impl Fn(I) -> R + Sync,
) -> Vec<R> {
    map_with(items, || (), |(), item| work(item))
}

/// As [`map`], where `work` also gets memory that it may leave to its next call, which `new` makes.
pub(crate) fn map_with<I: Send, S: Send, R: Send>(
    items: impl Iterator<Item = I>,
    new: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, I) -> R + Sync,
) -> Vec<R> {
    let Ok(results) = try_map_with(items, || Ok::<S, Infallible>(new()), work);
    results
}

/// As [`map_with`], where `new` may fail: then all fails, though not at once.
pub(crate) fn try_map_with<I: Send, S: Send, R: Send, E: Send>(
    items: impl Iterator<Item = I>,
    new: impl Fn() -> Result<S, E> + Sync,
    work: impl Fn(&mut S, I) -> R + Sync,
) -> Result<Vec<R>, E> {
    let failure = Mutex::new(None);
    let runs = Runs::of(items);
    let results: Vec<Mutex<Vec<R>>> = runs.0.iter().map(|_| Mutex::default()).collect();
    // As many as runs are worked on at once: to clear memory may take longer than the work.
    let idle: Mutex<Vec<S>> = Mutex::default();
    each_number(results.len(), &|number| {
        let known = locked(&idle).pop();
        let mut scratch = match known.map_or_else(&new, Ok) {
            Ok(scratch) => scratch,
            Err(error) => return *locked(&failure) = Some(error),
        };
        let found = runs.take(number).map(|item| work(&mut scratch, item));
        *locked(&results[number]) = found.collect();
        locked(&idle).push(scratch);
    });
    let results = results.into_iter().map(Mutex::into_inner);
    let results = results.map(|found| found.unwrap_or_else(PoisonError::into_inner));
    let failure = failure.into_inner();
    match failure.unwrap_or_else(PoisonError::into_inner) {
        None => Ok(results.flatten().collect()),
        Some(error) => Err(error),
    }
}

/// Runs of items, each for a task: few, and many enough for all threads.
struct Runs<I>(Vec<Mutex<Vec<I>>>);

/// Runs for each thread.
const RUNS: usize = 16;

/// Items of a run at most.
const LONGEST: usize = 64;

impl<I: Send> Runs<I> {
    fn of(items: impl Iterator<Item = I>) -> Self {
        let mut items: Vec<I> = items.collect();
        let longest = (items.len() / (RUNS * thread_count())).clamp(1, LONGEST);
        let mut runs = Vec::with_capacity(items.len().div_ceil(longest));
        while !items.is_empty() {
            let rest = items.len().saturating_sub(1) / longest * longest;
            runs.push(Mutex::new(items.split_off(rest)));
        }
        runs.reverse();
        Self(runs)
    }

    /// The items of a run, which are there once.
    fn take(&self, number: usize) -> impl Iterator<Item = I> {
        std::mem::take(&mut *locked(&self.0[number])).into_iter()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    #[test]
    fn results_are_in_the_order_of_the_items() {
        for count in [0, 1, 2, 63, 64, 65, 1000, 100_003] {
            let found = map(0..count, |item| 3 * item);
            assert!(found.into_iter().eq((0..count).map(|item| 3 * item)));
            let mut values = vec![1u32; count];
            each(values.chunks_mut(7).enumerate(), |(number, chunk)| {
                chunk.iter_mut().for_each(|value| *value += number as u32);
            });
            let expected = (0..count).map(|at| 1 + (at / 7) as u32);
            assert!(values.into_iter().eq(expected));
        }
    }

    #[test]
    fn scratch_memory_is_that_of_one_thread() {
        let made = AtomicUsize::new(0);
        let is_used = map_with(
            0..10_000,
            || {
                made.fetch_add(1, Ordering::Relaxed);
                AtomicBool::new(false)
            },
            |is_used, _| is_used.swap(true, Ordering::Relaxed),
        );
        let first = is_used.iter().filter(|is_used| !**is_used).count();
        assert_eq!(first, made.into_inner());
        assert!((1..=10_000 / RUNS).contains(&first), "{first}");
    }
}
