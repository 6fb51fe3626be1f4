//! The command as its users meet it: what it replaces, what it leaves, what it says.

mod advice;
mod bounds;
mod damage;
mod dimensions;
mod help;
mod json;
#[cfg(target_os = "linux")]
mod memory;
mod newcomer;
mod overwriting;
mod quality;
mod several;
#[cfg(unix)]
mod signals;
mod targets;
