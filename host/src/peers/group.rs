//! A group: the members that compress one field together, and what they tell each other.

use crate::error::Error;

/// The members that compress one field together, as one of them sees it: the ranks of an MPI communicator, threads, or
/// one member alone.
///
/// All members make the same calls in the same order. A call returns when the members that it depends on have made
/// theirs. If a member fails or ends, the calls of the others must fail, not wait for ever; most engines then end the
/// whole program.
pub trait Group {
    /// The number of this member, below [`Group::size`].
    fn rank(&self) -> usize;

    /// The number of members.
    fn size(&self) -> usize;

    /// Replaces each number by the largest of all members. All members give equally many.
    ///
    /// # Errors
    ///
    /// [`Error::Group`].
    fn max(&self, numbers: &mut [u64]) -> Result<(), Error>;

    /// Replaces each number by its sum over all members, modulo 2^64. All members give equally many.
    ///
    /// # Errors
    ///
    /// [`Error::Group`].
    fn sum(&self, numbers: &mut [u64]) -> Result<(), Error>;

    /// The sum of the numbers of the members with lower ranks: an exclusive scan.
    ///
    /// # Errors
    ///
    /// [`Error::Group`].
    fn sum_before(&self, number: u64) -> Result<u64, Error>;

    /// Sends messages, at most one to each member, and returns those for this member in ascending order of ranks.
    ///
    /// # Errors
    ///
    /// [`Error::Group`].
    fn exchange(&self, messages: Vec<Message>) -> Result<Vec<Message>, Error>;

    /// Writes pieces of the stream to their positions, in bytes from the start of the stream. The pieces of all members
    /// are different parts of the stream. All members call it, also those that have no pieces.
    ///
    /// # Errors
    ///
    /// [`Error::Group`]; [`Error::Io`].
    fn write(&self, pieces: &[Piece<'_>]) -> Result<(), Error>;

    /// Returns when all members have called it, and everything that they wrote before is visible to all.
    ///
    /// # Errors
    ///
    /// [`Error::Group`].
    fn barrier(&self) -> Result<(), Error>;
}

/// A message between two members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The rank of the member that it is for, or that it came from.
    pub rank: usize,
    /// Its contents.
    pub bytes: Vec<u8>,
}

/// A piece of a stream.
#[derive(Debug, Clone, Copy)]
pub struct Piece<'a> {
    /// The position of its first byte in the stream.
    pub start: u64,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// The result of a step, once all members have done it: an error of one member is an error of all, so that none waits for
/// a member that has given up. All members call it.
///
/// # Errors
///
/// The own error; [`Error::Group`] if only other members failed.
pub fn agree<R>(group: &dyn Group, own: Result<R, Error>) -> Result<R, Error> {
    let told = tell(group, own.is_err());
    let result = own?;
    told.map(|()| result)
}

/// Tells all members whether a step has failed here.
///
/// # Errors
///
/// [`Error::Group`] if it has failed somewhere.
pub(crate) fn tell(group: &dyn Group, has_failed: bool) -> Result<(), Error> {
    let mut failed = [u64::from(has_failed)];
    group.sum(&mut failed)?;
    match failed[0] {
        0 => Ok(()),
        members => Err(Error::Group {
            action: "compress a field together",
            reason: format!("{members} of {} members failed", group.size()),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::Threads;

    #[test]
    fn the_error_of_one_is_an_error_of_all() {
        let found = Threads::run(3, std::io::Cursor::new(Vec::new()), |group| {
            let own = match group.rank() {
                1 => Err(Error::BadRank(9)),
                _ => Ok(group.rank()),
            };
            agree(group, own)
        });
        assert!(matches!(found[0], Err(Error::Group { .. })), "{found:?}");
        assert_eq!(found[1], Err(Error::BadRank(9)));
        assert!(matches!(found[2], Err(Error::Group { .. })), "{found:?}");
    }
}
