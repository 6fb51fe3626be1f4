//! A group whose members are threads of one process.

use crate::error::Error;
use crate::peers::{Group, Message, Piece};
use std::io::{Seek, SeekFrom, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A group whose members are threads of one process: for machines without MPI, for several GPUs, and for tests.
///
/// ```
/// # use ferrosz_host as ferrosz;
/// use ferrosz::parts::Threads;
/// use ferrosz::{Bound, Codec, Compressor};
/// use std::io::Cursor;
///
/// // A field of 6 x 100 x 100, of which each of three members has two slices.
/// let field: Vec<f32> = (0..60_000).map(|i| (i as f32 * 1e-3).sin()).collect();
/// let compressor = Compressor::new(Codec::INTERP, Bound::range(1e-3)?).extents(&[6, 100, 100])?;
/// let mut file = Cursor::new(Vec::new());
/// let lengths = Threads::run(3, &mut file, |group| {
///     let first = 2 * group.rank();
///     let own = [first as u64..first as u64 + 2, 0..100, 0..100];
///     compressor.compress_part(group, &own, &field[10_000 * first..][..20_000])
/// });
/// assert!(lengths.iter().all(|length| *length == Ok(file.get_ref().len() as u64)));
/// assert_eq!(file.into_inner(), compressor.compress(&field)?);
/// # use ferrosz::parts::Group;
/// # Ok::<(), ferrosz::Error>(())
/// ```
pub struct Threads<W> {
    rank: usize,
    shared: Arc<Shared<W>>,
}

/// How long a member polls before it sleeps.
const POLLING: Duration = Duration::from_micros(200);

struct Shared<W> {
    size: usize,
    round: Mutex<Round>,
    changed: Condvar,
    output: Mutex<Output<W>>,
}

struct Output<W> {
    writer: W,
    /// The position of the stream's first byte.
    start: u64,
}

/// The state of a call of all members.
#[derive(Default)]
struct Round {
    number: u64,
    /// The members that have come to this round.
    arrived: usize,
    /// The members that have still to read the results of the round before.
    reading: usize,
    /// Whether a member has ended.
    has_ended: bool,
    /// The numbers of each member.
    numbers: Vec<Vec<u64>>,
    /// The messages for each member.
    messages: Vec<Vec<Message>>,
}

impl<W: Write + Seek + Send> Threads<W> {
    /// The members of a group that write a stream from the writer's position on.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the writer's position cannot be found.
    pub fn members(size: usize, mut writer: W) -> Result<Vec<Self>, Error> {
        let start = writer.stream_position().map_err(WRITE)?;
        let shared = Arc::new(Shared {
            size,
            round: Mutex::new(Round {
                numbers: vec![Vec::new(); size],
                messages: vec![Vec::new(); size],
                ..Round::default()
            }),
            changed: Condvar::new(),
            output: Mutex::new(Output { writer, start }),
        });
        let member = |rank| Self {
            rank,
            shared: Arc::clone(&shared),
        };
        Ok((0..size).map(member).collect())
    }

    /// Runs the members of a group, the first on this thread and each other on one of its own, and returns their results in
    /// the order of their ranks. A member that panics ends the others with an error, and then the call with its panic.
    pub fn run<R: Send>(
        size: usize,
        writer: W,
        work: impl Fn(&Self) -> Result<R, Error> + Sync,
    ) -> Vec<Result<R, Error>> {
        let members = match Self::members(size, writer) {
            Ok(members) => members,
            Err(error) => return (0..size).map(|_| Err(error.clone())).collect(),
        };
        // The member ends with its work, so that the others do not wait for it.
        let work = &|member: Self| work(&member);
        std::thread::scope(|scope| {
            let mut members = members.into_iter();
            let first = members.next();
            let start = |member| scope.spawn(move || work(member));
            let threads: Vec<_> = members.map(start).collect();
            let first = first.map(work);
            let others = threads.into_iter().map(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            first.into_iter().chain(others).collect()
        })
    }

    fn round(&self) -> MutexGuard<'_, Round> {
        (self.shared.round.lock()).unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the round meets a condition, or a member has ended. Polls before it sleeps: two GPUs that share a field
    /// wait for each other up to four times in a call of milliseconds, and compress up to 5 % faster so.
    fn wait_until<'a>(
        &'a self,
        mut round: MutexGuard<'a, Round>,
        condition: impl Fn(&Round) -> bool,
    ) -> MutexGuard<'a, Round> {
        let start = Instant::now();
        while !condition(&round) && !round.has_ended {
            round = if start.elapsed() < POLLING {
                drop(round);
                std::thread::yield_now();
                self.round()
            } else {
                (self.shared.changed.wait(round)).unwrap_or_else(PoisonError::into_inner)
            };
        }
        round
    }

    /// Waits for all members, each with its numbers and messages; `read` gets all numbers and the messages for this
    /// member.
    fn meet<R>(
        &self,
        numbers: Vec<u64>,
        messages: Vec<Message>,
        read: impl FnOnce(&[Vec<u64>], Vec<Message>) -> R,
    ) -> Result<R, Error> {
        // 1. The round before ends.
        let mut round = self.wait_until(self.round(), |round| round.reading == 0);
        if round.has_ended {
            return Err(ended());
        }
        // 2. This member comes.
        let number = round.number;
        round.numbers[self.rank] = numbers;
        for Message { rank, bytes } in messages {
            let Some(of_member) = round.messages.get_mut(rank) else {
                return Err(Error::Group {
                    action: "send a message",
                    reason: format!("there is no member {rank} of {}", self.shared.size),
                });
            };
            of_member.push(Message {
                rank: self.rank,
                bytes,
            });
        }
        round.arrived += 1;
        if round.arrived == self.shared.size {
            round.number += 1;
            round.arrived = 0;
            round.reading = self.shared.size;
            self.shared.changed.notify_all();
        }
        // 3. All others come. A member that ends behind this round does not concern it.
        round = self.wait_until(round, |round| round.number != number);
        if round.number == number {
            return Err(ended());
        }
        // 4. The results.
        let mut own = std::mem::take(&mut round.messages[self.rank]);
        own.sort_by_key(|message| message.rank);
        let result = read(&round.numbers, own);
        round.reading -= 1;
        if round.reading == 0 {
            self.shared.changed.notify_all();
        }
        Ok(result)
    }

    /// Replaces numbers by those of all members, joined.
    fn reduce(&self, numbers: &mut [u64], join: impl Fn(u64, u64) -> u64) -> Result<(), Error> {
        self.meet(numbers.to_vec(), Vec::new(), |all, _| {
            // Both joins have an order of no consequence, so the own numbers may come first.
            let others = all
                .iter()
                .enumerate()
                .filter(|(rank, _)| *rank != self.rank);
            for (_, of_other) in others {
                for (number, of_other) in numbers.iter_mut().zip(of_other) {
                    *number = join(*number, *of_other);
                }
            }
        })
    }
}

impl<W> Drop for Threads<W> {
    /// A member that has ended cannot come to another round.
    fn drop(&mut self) {
        let mut round = (self.shared.round.lock()).unwrap_or_else(PoisonError::into_inner);
        round.has_ended = true;
        self.shared.changed.notify_all();
    }
}

impl<W: Write + Seek + Send> Group for Threads<W> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.shared.size
    }

    fn max(&self, numbers: &mut [u64]) -> Result<(), Error> {
        self.reduce(numbers, u64::max)
    }

    fn sum(&self, numbers: &mut [u64]) -> Result<(), Error> {
        self.reduce(numbers, u64::wrapping_add)
    }

    fn sum_before(&self, number: u64) -> Result<u64, Error> {
        let rank = self.rank;
        self.meet(vec![number], Vec::new(), |all, _| {
            let before = all[..rank].iter().flatten();
            before.fold(0, |sum: u64, number| sum.wrapping_add(*number))
        })
    }

    fn exchange(&self, messages: Vec<Message>) -> Result<Vec<Message>, Error> {
        self.meet(Vec::new(), messages, |_, messages| messages)
    }

    fn write(&self, pieces: &[Piece<'_>]) -> Result<(), Error> {
        let output = &self.shared.output;
        let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
        for Piece { start, bytes } in pieces {
            let position = SeekFrom::Start(output.start + start);
            let moved = output.writer.seek(position);
            (moved.and_then(|_| output.writer.write_all(bytes))).map_err(WRITE)?;
        }
        output.writer.flush().map_err(WRITE)
    }

    fn barrier(&self) -> Result<(), Error> {
        self.meet(Vec::new(), Vec::new(), |_, _| ())
    }
}

const WRITE: fn(std::io::Error) -> Error = |error| Error::io("write the stream")(error);

fn ended() -> Error {
    Error::Group {
        action: "wait for all members",
        reason: "a member has ended".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn calls_are_what_they_say() {
        let mut file = Cursor::new(vec![9; 3]);
        file.set_position(3);
        let found = Threads::run(4, &mut file, |group| {
            for round in 0..100u64 {
                let rank = group.rank() as u64;
                let mut numbers = [rank + round, 7 * rank];
                group.sum(&mut numbers)?;
                assert_eq!(numbers, [6 + 4 * round, 42]);
                let mut numbers = [100 - rank, rank];
                group.max(&mut numbers)?;
                assert_eq!(numbers, [100, 3]);
                assert_eq!(group.sum_before(rank + 1)?, rank * (rank + 1) / 2);
                // Each member writes to the two behind it.
                let to = |step: usize| Message {
                    rank: (group.rank() + step) % 4,
                    bytes: vec![group.rank() as u8; step],
                };
                let got = group.exchange(vec![to(2), to(1)])?;
                let mut expected = [1, 2].map(|step| Message {
                    rank: (group.rank() + 4 - step) % 4,
                    bytes: vec![((group.rank() + 4 - step) % 4) as u8; step],
                });
                expected.sort_by_key(|message| message.rank);
                assert_eq!(got, expected);
            }
            let bytes = [group.rank() as u8; 2];
            let start = 2 * group.rank() as u64;
            group.write(&[Piece {
                start,
                bytes: &bytes,
            }])?;
            group.barrier()
        });
        assert_eq!(found, [Ok(()), Ok(()), Ok(()), Ok(())]);
        assert_eq!(file.into_inner(), [9, 9, 9, 0, 0, 1, 1, 2, 2, 3, 3]);
    }

    #[test]
    fn a_member_that_ends_ends_the_others() {
        for end in 0..3 {
            let found = Threads::run(3, Cursor::new(Vec::new()), |group| {
                for round in 0..10 {
                    if group.rank() == end && round == 5 {
                        return Ok(round);
                    }
                    group.barrier()?;
                }
                Ok(10)
            });
            for (rank, result) in found.iter().enumerate() {
                match rank == end {
                    true => assert_eq!(*result, Ok(5)),
                    false => assert!(matches!(result, Err(Error::Group { .. }))),
                }
            }
        }
    }

    #[test]
    fn a_panic_of_a_member_is_that_of_the_call() {
        for rank in 0..3 {
            let call = || {
                Threads::run(3, Cursor::new(Vec::new()), |group| {
                    if group.rank() == rank {
                        std::panic::resume_unwind(Box::new(rank));
                    }
                    group.barrier()
                })
            };
            let panic = std::panic::catch_unwind(call).expect_err("a member panics");
            assert_eq!(panic.downcast_ref(), Some(&rank));
        }
    }

    #[test]
    fn a_message_to_nobody_is_an_error() {
        let found = Threads::run(1, Cursor::new(Vec::new()), |group| {
            group.exchange(vec![Message {
                rank: 1,
                bytes: Vec::new(),
            }])
        });
        assert!(matches!(found[0], Err(Error::Group { .. })));
    }
}
