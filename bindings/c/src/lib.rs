//! The C interface of ferrosz. `include/ferrosz.h` is made from this crate; docs/book/c.md says how to use and to build it.
//!
//! Every function that C calls
//!
//! * does its work within [`guard`], so that no panic leaves the library;
//! * checks its pointers by the functions of [`arguments`];
//! * reports a failure by its status or a null pointer, and the text by the [`error::Error`] of the caller.
//!
//! The crate has no state of its own.
//!
//! # Safety
//!
//! This is the contract of all pointers of all functions; the reasons for `unsafe` refer to it.
//!
//! * A pointer to an object is null, or is from the function that makes such objects and not yet freed.
//! * A pointer with a count points to so many items, which live and are not changed by others until the call ends. An
//!   output does not overlap an input.
//! * A text ends with a zero byte.
//! * An object that a call changes (its parameter is not `const`) is used by no other thread at the same time.
//! * A pointer to device memory is of the context of the GPU that the call names, and lives until the work on the CUDA
//!   stream is done. The CUDA stream is of this context, too.

mod arguments;
mod bare;
mod batch;
mod boxes;
mod buffer;
mod check;
mod compress;
mod compressor;
mod decompress;
mod decompressor;
mod error;
mod gpu;
mod group;
mod guard;
mod info;
mod level;
mod matches;
mod pipeline;
mod place;
mod salvage;
mod search;
mod statistics;
pub mod status;
pub mod types;
mod update;
mod verification;
mod version;
