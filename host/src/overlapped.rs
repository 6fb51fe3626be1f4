//! Two tasks that overlap: one makes items while another uses earlier ones.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope, ScopedJoinHandle};

/// Items that wait between the tasks, beside the one that each of them has.
pub const WAITING: usize = 1;

/// Calls `make` on another thread until it gives no more, and `use_` on this one with each item, in order. `make` is at most
/// two items ahead. The first error ends both.
///
/// # Errors
///
/// Those of `make` and `use_`.
pub fn overlapped<T: Send, E: Send>(
    make: impl FnMut() -> Result<Option<T>, E> + Send,
    mut use_: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    thread::scope(|scope| {
        // Dropped when `use_` fails, so that `make` is not called again.
        let items = ahead(scope, WAITING, make);
        items.into_iter().try_for_each(|item| use_(item?))
    })
}

/// The items of `make`, which is called on another thread of the scope, ahead of the receiver, until it gives no more or an
/// error, or the receiver is dropped. Up to so many items wait.
pub fn ahead<'scope, T: Send + 'scope, E: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    waiting: usize,
    mut make: impl FnMut() -> Result<Option<T>, E> + Send + 'scope,
) -> Receiver<Result<T, E>> {
    let (sender, receiver) = sync_channel(waiting);
    scope.spawn(move || {
        while let Some(item) = make().transpose() {
            let is_last = item.is_err();
            if sender.send(item).is_err() || is_last {
                break;
            }
        }
    });
    receiver
}

/// Items are used by a thread while others are made. There are two at most, which are made again: one is used meanwhile. Where
/// the system gives no thread, the one that makes them uses them, too.
pub struct Behind<'scope, T, E, F> {
    use_: &'scope Mutex<F>,
    thread: Option<User<'scope, T, E>>,
    made: usize,
    /// Without a thread: the item that was used, and what failed.
    used: Option<T>,
    failed: Option<E>,
}

/// The thread that uses items, and how they come and go.
struct User<'scope, T, E> {
    items: SyncSender<T>,
    used: Receiver<T>,
    thread: ScopedJoinHandle<'scope, Result<(), E>>,
}

impl<'scope, T, E, F> Behind<'scope, T, E, F>
where
    T: Send + 'scope,
    E: Send + 'scope,
    F: FnMut(&mut T) -> Result<(), E> + Send,
{
    /// Begins with the thread, which calls `use_` with each item, in order, up to the first error.
    pub fn begin(scope: &'scope Scope<'scope, '_>, use_: &'scope Mutex<F>) -> Self {
        let (items, handed) = sync_channel::<T>(0);
        let (back, used): (Sender<T>, _) = channel();
        let run = move || {
            let mut use_ = lock(use_);
            handed.into_iter().try_for_each(|mut item| {
                use_(&mut item)?;
                // Nobody waits for the last items.
                let _ = back.send(item);
                Ok(())
            })
        };
        let thread = thread::Builder::new().spawn_scoped(scope, run).ok();
        Self {
            use_,
            thread: thread.map(|thread| User {
                items,
                used,
                thread,
            }),
            made: 0,
            used: None,
            failed: None,
        }
    }

    /// An item to make again, as soon as it has been used; none if a new one must be made.
    pub fn spare(&mut self) -> Option<T> {
        self.made += 1;
        match &self.thread {
            None => self.used.take(),
            Some(user) if self.made > 2 => user.used.recv().ok(),
            Some(_) => None,
        }
    }

    /// Hands an item on; false if no more is used, which [`Behind::end`] explains.
    #[must_use]
    pub fn hand(&mut self, mut item: T) -> bool {
        if let Some(user) = &self.thread {
            return user.items.send(item).is_ok();
        }
        self.failed = lock(self.use_)(&mut item).err();
        self.used = Some(item);
        self.failed.is_none()
    }

    /// Waits until all items have been used.
    ///
    /// # Errors
    ///
    /// That of `use_`.
    pub fn end(self) -> Result<(), E> {
        let Some(User { items, thread, .. }) = self.thread else {
            return self.failed.map_or(Ok(()), Err);
        };
        drop(items);
        match thread.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

fn lock<F>(use_: &Mutex<F>) -> MutexGuard<'_, F> {
    use_.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::mpsc;

    fn numbers(end: u32) -> impl FnMut() -> Result<Option<u32>, String> {
        let mut next = 0;
        move || {
            next += 1;
            Ok((next <= end).then_some(next))
        }
    }

    /// Two items serve all; after an error no more is used. Also where there is no thread.
    #[test]
    fn what_is_used_is_made_again() {
        for (failing, has_thread) in [10, 0, 3, 9].map(|it| [(it, true), (it, false)]).concat() {
            let (mut made, mut used) = (0, Vec::new());
            let use_ = Mutex::new(|item: &mut Vec<u32>| {
                used.push(item[0]);
                match item[0] == failing {
                    true => Err(failing),
                    false => Ok(()),
                }
            });
            thread::scope(|scope| {
                let mut behind = Behind::begin(scope, &use_);
                if !has_thread {
                    behind.thread = None;
                }
                for number in 0..10 {
                    let mut item = behind.spare().unwrap_or_else(|| {
                        made += 1;
                        Vec::new()
                    });
                    item.clear();
                    item.push(number);
                    if !behind.hand(item) {
                        break;
                    }
                }
                assert_eq!(behind.end().err(), (failing < 10).then_some(failing));
            });
            assert_eq!(used, Vec::from_iter(0..=failing.min(9)));
            assert!(made <= 3, "{made}");
        }
    }

    #[test]
    fn items_come_in_order() {
        let mut seen = Vec::new();
        let used = overlapped(numbers(100), |item| {
            seen.push(item);
            Ok(())
        });
        assert_eq!((used, seen), (Ok(()), (1..=100).collect()));
    }

    #[test]
    fn an_item_is_made_while_the_one_before_is_used() {
        // `make` of item 2 and `use_` of item 1 wait for each other.
        let (begun, is_begun) = mpsc::channel();
        let mut made = numbers(2);
        let used = overlapped(
            move || {
                let item = made();
                if item == Ok(Some(2)) {
                    begun.send(()).expect("it is waited for");
                }
                item
            },
            |item| match item {
                1 => is_begun.recv().map_err(|error| error.to_string()),
                _ => Ok(()),
            },
        );
        assert_eq!(used, Ok(()));
    }

    #[test]
    fn errors_end_both() {
        let made = AtomicU32::new(0);
        let used = overlapped(
            || Ok(Some(made.fetch_add(1, Ordering::Relaxed))),
            |item| {
                if item == 3 {
                    Err("used".to_owned())
                } else {
                    Ok(())
                }
            },
        );
        assert_eq!(used, Err("used".to_owned()));
        assert!(made.into_inner() <= 8, "it went on");
        let mut seen = 0;
        let mut next = numbers(5);
        let used = overlapped(
            || match next()? {
                Some(4) => Err("made".to_owned()),
                item => Ok(item),
            },
            |item| {
                seen = item;
                Ok(())
            },
        );
        assert_eq!((used, seen), (Err("made".to_owned()), 3));
    }
}
