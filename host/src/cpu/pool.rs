//! Scratch memory that tasks of any thread take and give back, so that it is allocated once for each thread.

use std::convert::Infallible;
use std::sync::{Mutex, PoisonError};

/// Scratch memory for tasks.
pub(crate) struct Pool<S> {
    free: Mutex<Vec<S>>,
}

impl<S> Default for Pool<S> {
    fn default() -> Self {
        Self {
            free: Mutex::default(),
        }
    }
}

impl<S> Pool<S> {
    /// All scratch memory that tasks have given back.
    pub(crate) fn into_all(self) -> Vec<S> {
        let free = self.free.into_inner();
        free.unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a task with scratch memory, which holds the contents of an earlier task; `new` allocates it if all of the pool
    /// is in use.
    pub(crate) fn with<R>(&self, new: impl FnOnce() -> S, task: impl FnOnce(&mut S) -> R) -> R {
        let Ok(result) = self.try_with(|| Ok::<S, Infallible>(new()), task);
        result
    }

    /// As [`Pool::with`], where `new` may fail.
    pub(crate) fn try_with<R, E>(
        &self,
        new: impl FnOnce() -> Result<S, E>,
        task: impl FnOnce(&mut S) -> R,
    ) -> Result<R, E> {
        let free = || self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let found = free().pop();
        let mut scratch = found.map_or_else(new, Ok)?;
        let result = task(&mut scratch);
        free().push(scratch);
        Ok(result)
    }
}
