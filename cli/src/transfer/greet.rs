//! The beginning of a transfer: connections that are none are turned away, and what a sender asks is judged.

use crate::transfer::message::{Content, Greeting, MessageError, write_reply};
use crate::transfer::{MOST_WINDOW, prepare};
use crate::{
    args::Receive, failure::Failure, location::Location, output, report, room,
    transfer::fault::Fault,
};
use std::io::{self, Read};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// The most time of a greeting, whatever `--timeout` says: `ferrosz send` writes it at once.
const GREETING: Duration = Duration::from_secs(10);

/// What is read from a sender that is refused, so that it can finish writing and read the refusal.
const MOST_DRAINED: u64 = 1 << 26;

/// How long a refused sender is waited for.
const DRAINING: Duration = Duration::from_millis(300);

/// A sender that has said what will come.
pub struct Guest {
    /// The connection.
    pub connection: TcpStream,
    /// The sender's address.
    pub peer: String,
    /// What will come.
    pub greeting: Greeting,
}

/// Waits for a connection that begins with a greeting. Others are refused, with a note, and the next one is waited for.
///
/// # Errors
///
/// The errors of the listener.
pub fn welcome(listener: &TcpListener, args: &Receive, quiet: bool) -> io::Result<Guest> {
    loop {
        let (connection, peer) = match listener.accept() {
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => continue,
            accepted => accepted?,
        };
        let peer = peer.to_string();
        match greeting(&connection, args) {
            Ok(greeting) => {
                return Ok(Guest {
                    connection,
                    peer,
                    greeting,
                });
            }
            Err(error) => {
                let Fault { failure, told } = Fault::of_message(&peer, error);
                if !quiet {
                    output::note(&format!("note: {failure}; still listening"));
                }
                refuse(&connection, &told);
            }
        }
    }
}

/// Reads a greeting, whose bytes must all come in a limited time.
fn greeting(connection: &TcpStream, args: &Receive) -> Result<Greeting, MessageError> {
    prepare(connection, args.timeout())?;
    let mut reader = Until::new(connection, args.timeout().min(GREETING));
    let greeting = Greeting::read(&mut reader)?;
    prepare(connection, args.timeout())?;
    Ok(greeting)
}

/// Says why a sender is refused. The failure is reported here, whether the sender hears of it or not.
pub fn refuse(mut connection: &TcpStream, told: &str) {
    let _ = write_reply(&mut connection, Some(told));
    let _ = connection.shutdown(Shutdown::Write);
    let rest = Until::new(connection, DRAINING);
    let _ = io::copy(&mut rest.take(MOST_DRAINED), &mut io::sink());
}

/// Whether the field that a greeting names is taken: what windows carry, their size, the size of the whole, and whether the
/// disk has room for it.
///
/// # Errors
///
/// The refusal.
pub fn judge(
    greeting: &Greeting,
    args: &Receive,
    output: &Location,
    peer: &str,
) -> Result<(), Fault> {
    let (field, window) = (greeting.field_bytes(), greeting.window_bytes());
    if args.streams && greeting.content == Content::Values {
        let text = "--streams: the sender sends values that are not compressed";
        return Err(Fault::of_sender(peer, text));
    }
    let most = args.window.unwrap_or(MOST_WINDOW);
    if window > most {
        return Err(Fault::of_sender(
            peer,
            format_args!(
                "windows of {window} bytes are larger than the {most} that `ferrosz receive` takes: send with a smaller \
                 --window, or receive with a larger one"
            ),
        ));
    }
    if let Some(most) = args.most.filter(|most| field > *most) {
        return Err(Fault::of_sender(
            peer,
            format_args!("an array of {field} bytes is larger than the {most} of --most"),
        ));
    }
    match room_for(field, args, output) {
        None => Ok(()),
        Some(room) => Err(Fault {
            failure: Failure::failed(format_args!(
                "{peer}: an array of {} does not fit beside {output}: the disk has room for {}",
                report::bytes(field),
                report::bytes(room)
            )),
            told: format!("the receiver has no room for an array of {field} bytes"),
        }),
    }
}

/// The room of the output's disk, if it is too small for a field.
fn room_for(field: u64, args: &Receive, output: &Location) -> Option<u64> {
    // How long streams are is not known before they come.
    let path = output::seekable(output).filter(|_| !args.streams)?;
    room::available(&output::folder_of(path)).filter(|room| *room < field)
}

/// Reads from a connection for some time, however little comes at once.
struct Until<'a> {
    connection: &'a TcpStream,
    end: Instant,
}

impl<'a> Until<'a> {
    fn new(connection: &'a TcpStream, time: Duration) -> Self {
        Self {
            connection,
            end: Instant::now() + time,
        }
    }
}

impl Read for Until<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = self.end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.connection.set_read_timeout(Some(left))?;
        self.connection.read(bytes)
    }
}
