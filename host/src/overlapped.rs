//! Two tasks that overlap: one makes items while another uses earlier ones.

use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{self, Scope};

/// Items that wait between the tasks, beside the one that each of them has.
const WAITING: usize = 1;

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
        let items = ahead(scope, make);
        items.into_iter().try_for_each(|item| use_(item?))
    })
}

/// The items of `make`, which is called on another thread of the scope, ahead of the receiver, until it gives no more or an
/// error, or the receiver is dropped.
pub fn ahead<'scope, T: Send + 'scope, E: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    mut make: impl FnMut() -> Result<Option<T>, E> + Send + 'scope,
) -> Receiver<Result<T, E>> {
    let (sender, receiver) = sync_channel(WAITING);
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
