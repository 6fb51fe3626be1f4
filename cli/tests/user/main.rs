//! The command as its users meet it: what it replaces, what it leaves, what it says.

#[path = "../common/mod.rs"]
mod common;

mod advice;
mod bounds;
mod damage;
mod dimensions;
mod help;
mod json;
mod memory;
mod overwriting;
mod quality;
mod several;
#[cfg(unix)]
mod signals;
mod targets;
