//! A field that travels to another process over TCP: `ferrosz send` and `ferrosz receive`.
//!
//! The connection has no encryption and no passwords. The receiver trusts no byte of it.

mod fault;
mod greet;
mod limit;
mod message;
pub mod receive;
pub mod send;

use crate::failure::Failure;
pub use message::MOST_WINDOW_BYTES;
use std::io;
use std::net::TcpStream;
use std::time::Duration;

/// Bytes of the values of a window, if a field is large; a receiver takes larger windows only if it is told so.
pub const MOST_WINDOW: u64 = 64 << 20;

/// The fewest, if a field is divided.
const LEAST_WINDOW: u64 = 1 << 20;

/// Windows of a field of medium size: enough that the first and the last one cost little time.
const WINDOWS: u64 = 16;

/// The elements of a window of a field of so many elements: those of `size` bytes, or of a sixteenth of the field, but 1 to
/// 64 MiB.
pub fn window_elements(elements: u64, element_bytes: u64, size: Option<u64>) -> u64 {
    let bytes = elements.saturating_mul(element_bytes);
    let size = size.unwrap_or((bytes / WINDOWS).clamp(LEAST_WINDOW, MOST_WINDOW));
    (size / element_bytes).max(1)
}

/// Sets the limits of a connection.
///
/// # Errors
///
/// The errors of the operating system.
fn prepare(connection: &TcpStream, timeout: Duration) -> io::Result<()> {
    connection.set_nodelay(true)?;
    connection.set_read_timeout(Some(timeout))?;
    connection.set_write_timeout(Some(timeout))
}

/// A failure of a connection, with what its errors mean to a user.
fn broken(peer: &str, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => {
            Failure::failed(format_args!("{peer} ended before all had arrived"))
        }
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Failure::failed(format_args!(
            "{peer} is silent: nothing went through for the time that --timeout allows"
        )),
        _ => Failure::failed(format_args!("the connection to {peer} failed: {error}")),
    }
}
