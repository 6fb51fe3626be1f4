//! The ranks of a communicator as a group.

use crate::file::File;
use ferrosz::Error;
use ferrosz::parts::{Group, Message, Piece, agree};
use mpi::collective::SystemOperation;
use mpi::request::multiple_scope;
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;
use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

/// Counts of MPI are ints: messages and writes are cut into parts of this many bytes.
const MOST_BYTES: usize = 256 << 20;

/// The ranks of a communicator, which write a stream to a file by collective calls of MPI-IO.
///
/// It has a communicator of its own, and its file. Both are freed with it, which all ranks must do, before MPI is finalised.
pub struct Ranks {
    /// Closed before the communicator is freed.
    file: RefCell<Option<File>>,
    comm: SimpleCommunicator,
    path: PathBuf,
    most_bytes: usize,
}

impl Ranks {
    /// The ranks of a communicator, which open the file at their first write. All ranks call it.
    pub fn new(comm: &impl Communicator, path: &Path) -> Self {
        Self {
            file: RefCell::new(None),
            comm: comm.duplicate(),
            path: path.to_owned(),
            most_bytes: MOST_BYTES,
        }
    }

    /// Cuts messages and writes into parts of this many bytes, at least one, instead of 256 MiB. A write needs as much memory.
    /// All ranks give the same number.
    #[must_use]
    pub fn most_bytes(self, most_bytes: usize) -> Self {
        Self {
            most_bytes: most_bytes.clamp(1, MOST_BYTES),
            ..self
        }
    }

    /// Opens the file on all ranks, and empties it.
    fn open(&self) -> Result<File, Error> {
        // A file that some ranks could not open cannot be closed: all must do that.
        let opened = File::open(&self.comm, &self.path).map(ManuallyDrop::new);
        let file = ManuallyDrop::into_inner(agree(self, opened)?);
        file.empty()?;
        Ok(file)
    }
}

impl Group for Ranks {
    fn rank(&self) -> usize {
        self.comm.rank() as usize
    }

    fn size(&self) -> usize {
        self.comm.size() as usize
    }

    fn max(&self, numbers: &mut [u64]) -> Result<(), Error> {
        let own: Vec<i64> = numbers.iter().map(|number| signed(*number)).collect();
        let mut all = own.clone();
        self.comm
            .all_reduce_into(&own[..], &mut all[..], SystemOperation::max());
        for (number, largest) in numbers.iter_mut().zip(all) {
            *number = signed(largest as u64) as u64;
        }
        Ok(())
    }

    fn sum(&self, numbers: &mut [u64]) -> Result<(), Error> {
        let own = numbers.to_vec();
        self.comm
            .all_reduce_into(&own[..], numbers, SystemOperation::sum());
        Ok(())
    }

    fn sum_before(&self, number: u64) -> Result<u64, Error> {
        let mut before = 0;
        let sum = SystemOperation::sum();
        self.comm.exclusive_scan_into(&number, &mut before, sum);
        // What the first rank gets is undefined.
        Ok(if self.rank() == 0 { 0 } else { before })
    }

    fn exchange(&self, messages: Vec<Message>) -> Result<Vec<Message>, Error> {
        // 1. The lengths.
        let mut sent = vec![0; self.size()];
        for message in &messages {
            sent[message.rank] = message.bytes.len() as u64;
        }
        let mut coming = vec![0u64; self.size()];
        self.comm.all_to_all_into(&sent[..], &mut coming[..]);
        let coming = coming.into_iter().enumerate();
        let mut got: Vec<Message> = coming
            .filter(|(_, length)| *length > 0)
            .map(|(rank, length)| Message {
                rank,
                bytes: vec![0; length as usize],
            })
            .collect();
        // 2. The bytes. Messages between two ranks do not overtake each other, so parts come in their order.
        multiple_scope(got.len() + messages.len(), |scope, requests| {
            for message in &mut got {
                let from = self.comm.process_at_rank(message.rank as i32);
                for part in message.bytes.chunks_mut(self.most_bytes) {
                    requests.add(from.immediate_receive_into(scope, part));
                }
            }
            for message in &messages {
                let to = self.comm.process_at_rank(message.rank as i32);
                for part in message.bytes.chunks(self.most_bytes) {
                    requests.add(to.immediate_send(scope, part));
                }
            }
            requests.wait_all(&mut Vec::new());
        });
        Ok(got)
    }

    fn write(&self, pieces: &[Piece<'_>]) -> Result<(), Error> {
        let mut file = self.file.borrow_mut();
        let file = match &mut *file {
            Some(file) => file,
            none => none.insert(self.open()?),
        };
        let rounds = rounds(pieces, self.most_bytes);
        // All ranks write as often as the one with the most rounds, also after an error.
        let mut count = [rounds.len() as u64];
        self.max(&mut count)?;
        let of_round = |round: usize| rounds.get(round).map_or(&[][..], Vec::as_slice);
        let written: Vec<_> = (0..count[0] as usize)
            .map(|round| file.write(of_round(round)))
            .collect();
        written.into_iter().collect()
    }

    fn barrier(&self) -> Result<(), Error> {
        let flushed = (self.file.borrow().as_ref()).map_or(Ok(()), File::flush);
        self.comm.barrier();
        flushed
    }
}

/// A number whose order among signed ones is that of `number` among unsigned ones; twice it is the number again. Open MPI 4.1.4
/// compares unsigned numbers as signed ones.
fn signed(number: u64) -> i64 {
    (number ^ 1 << 63) as i64
}

/// Parts of pieces in ascending order of their positions, in each round as many bytes as one write can have.
fn rounds<'a>(pieces: &[Piece<'a>], most_bytes: usize) -> Vec<Vec<(u64, &'a [u8])>> {
    let mut pieces = pieces.to_vec();
    pieces.sort_by_key(|piece| piece.start);
    let mut rounds = Vec::new();
    let mut left = 0;
    for Piece {
        mut start,
        mut bytes,
    } in pieces
    {
        while !bytes.is_empty() {
            if left == 0 {
                rounds.push(Vec::new());
                left = most_bytes;
            }
            let (part, rest) = bytes.split_at(bytes.len().min(left));
            rounds
                .last_mut()
                .into_iter()
                .for_each(|round| round.push((start, part)));
            (start, bytes, left) = (start + part.len() as u64, rest, left - part.len());
        }
    }
    rounds
}
