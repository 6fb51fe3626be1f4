//! Those who work on one field together: members of a group, such as processes of MPI, threads, or the GPUs of a machine.

mod group;
mod threads;

pub(crate) use group::tell;
pub use group::{Group, Message, Piece, agree};
pub use threads::Threads;
