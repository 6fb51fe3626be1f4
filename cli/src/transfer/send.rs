//! `ferrosz send`.

use crate::array::{Array, Input};
use crate::transfer::message::{
    Content, Greeting, MessageError, Sum, VERSION, read_receipt, read_reply,
};
use crate::transfer::{broken, prepare, window_elements};
use crate::{
    args::Send, bounds::Aim, common::Common, failure::Failure, field_file, files, fills, json,
    location::Location, output, progress::Progress, report, threads, transfer::limit::Limited,
};
use ferrosz::internals::overlapped;
use ferrosz::windows::Windows;
use ferrosz::{Compressor, Decompressor, Value};
use serde_json::json;
use std::borrow::Cow;
use std::io::{self, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

/// The time between two attempts to connect.
const ATTEMPTS: Duration = Duration::from_millis(50);

/// Sends fields, each in a connection of its own; true if the receiver has verified all.
///
/// # Errors
///
/// If an array cannot be read, or a transfer fails.
pub fn run(args: &Send, common: &Common) -> Result<bool, Failure> {
    threads::need("a transfer")?;
    let fields: Vec<&Location> = args.fields.iter().collect();
    files::each(&fields, common, |location| {
        let input = field_file::read_input(location, &args.shape)?;
        let Input { field, fills, .. } = input;
        field.check_real("a transfer")?;
        with_field!(field, array => {
            let compressor = compressor(args, common, &array, &fills)?;
            send(args, common, location, &array, compressor)
        })?;
        Ok(true)
    })
}

/// The compressor of the windows of an array; none if its values are sent as they are.
fn compressor<V: Value>(
    args: &Send,
    common: &Common,
    array: &Array<V>,
    named: &[ferrosz::Fill],
) -> Result<Option<Compressor>, Failure> {
    if args.raw {
        return Ok(None);
    }
    let Aim::Bound(bound) = args.bound.aim()? else {
        return Err(Failure::usage(
            "send takes a bound, not a target: a target is one of a whole stream; --raw sends values as they are",
        ));
    };
    let compressor = Compressor::new(args.coding.choice(), bound).device(common.device);
    let compressor = fills::with_fills(&args.fill, compressor, &array.values, named)?;
    Ok(Some(compressor.absolute_for(&array.values)?))
}

fn send<V: Value>(
    args: &Send,
    common: &Common,
    location: &Location,
    array: &Array<V>,
    compressor: Option<Compressor>,
) -> Result<(), Failure> {
    let elements = array.values.len() as u64;
    let most = window_elements(elements, size_of::<V>() as u64, args.window);
    let greeting = Greeting {
        value_type: V::TYPE,
        content: match compressor {
            Some(_) => Content::Streams,
            None => Content::Values,
        },
        windows: Windows::new(&array.extents, most)?,
        most,
    };
    let connection = connect(args)?;
    let start = Instant::now();
    let mut sender = Sender {
        peer: &args.address,
        reader: &connection,
        writer: Limited::new(&connection, args.limit),
    };
    sender.write(|writer| writer.write_all(&greeting.to_bytes()))?;
    sender.agree(read_reply)?;
    let progress = Progress::new("sending", elements, size_of::<V>() as u64, common.quiet);
    let (sum, bytes) = sender.windows(&greeting, common, array, compressor, &progress)?;
    sender.write(|writer| greeting.write_end(writer, sum))?;
    sender.agree(|reader| read_receipt(reader, sum))?;
    drop(progress);
    let summary = Summary {
        args,
        greeting: &greeting,
        field_bytes: size_of_val(&array.values[..]) as u64,
        bytes,
        sum,
        seconds: start.elapsed().as_secs_f64(),
    };
    summary.print(common, location)
}

/// The bytes of values, as they lie in a file.
fn values_of<V: Value>(values: &[V]) -> Cow<'_, [u8]> {
    match cfg!(target_endian = "little") {
        true => Cow::Borrowed(bytemuck::cast_slice(values)),
        false => {
            let mut bytes = Vec::new();
            // A vector takes all bytes.
            let _ = field_file::write_values(&mut bytes, values);
            Cow::Owned(bytes)
        }
    }
}

/// Connects to the receiver, which may start a little later.
fn connect(args: &Send) -> Result<TcpStream, Failure> {
    let start = Instant::now();
    let failed = |error: &io::Error| Failure::io("connect to", &args.address, error);
    loop {
        match TcpStream::connect(&args.address) {
            Ok(connection) => {
                prepare(&connection, args.timeout()).map_err(|error| failed(&error))?;
                return Ok(connection);
            }
            Err(error) => {
                let may_come = error.kind() == io::ErrorKind::ConnectionRefused;
                if !may_come || start.elapsed() >= Duration::from_secs(args.wait) {
                    return Err(failed(&error));
                }
                thread::sleep(ATTEMPTS);
            }
        }
    }
}

/// The sender's side of a connection.
struct Sender<'a> {
    peer: &'a str,
    reader: &'a TcpStream,
    writer: Limited<&'a TcpStream>,
}

impl<'a> Sender<'a> {
    /// Sends the windows of an array, and codes each while the one before it is sent. Returns the sum of the values that the
    /// receiver gets, and the bytes of all windows.
    fn windows<V: Value>(
        &mut self,
        greeting: &Greeting,
        common: &Common,
        array: &Array<V>,
        compressor: Option<Compressor>,
        progress: &Progress,
    ) -> Result<(u32, u64), Failure> {
        let (mut sum, mut bytes) = (Sum::default(), 0);
        let mut windows = greeting.windows.iter();
        let decompressor = Decompressor::new().device(common.device);
        overlapped(
            || {
                let Some(window) = windows.next() else {
                    return Ok(None);
                };
                let own = window.of(&array.values)?;
                let content = match &compressor {
                    None => {
                        sum.add(own);
                        values_of(own)
                    }
                    Some(compressor) => {
                        let stream = compressor.for_window(&window)?.compress(own)?;
                        sum.add(&decompressor.decompress_window::<V>(&window, &stream)?);
                        Cow::Owned(stream)
                    }
                };
                Ok(Some((window, content)))
            },
            |(window, content): (ferrosz::windows::Window, Cow<'_, [u8]>)| {
                bytes += content.len() as u64;
                self.write(|writer| Greeting::write_window(writer, window.number, &content))?;
                progress.advance(window.count());
                Ok::<_, Failure>(())
            },
        )?;
        Ok((sum.value(), bytes))
    }

    /// Writes to the receiver. If it does not listen any more, it may have said why.
    fn write(
        &mut self,
        write: impl FnOnce(&mut Limited<&'a TcpStream>) -> io::Result<()>,
    ) -> Result<(), Failure> {
        write(&mut self.writer).map_err(|error| match read_reply(&mut self.reader) {
            Ok(Some(refusal)) => self.refused(&refusal),
            _ => broken(self.peer, &error),
        })
    }

    /// Waits for the receiver's consent.
    fn agree(
        &mut self,
        read: impl FnOnce(&mut &'a TcpStream) -> Result<Option<String>, MessageError>,
    ) -> Result<(), Failure> {
        match read(&mut self.reader) {
            Ok(None) => Ok(()),
            Ok(Some(refusal)) => Err(self.refused(&refusal)),
            Err(MessageError::Io(error)) => Err(broken(self.peer, &error)),
            Err(error) => Err(Failure::failed(format_args!("{}: {error}", self.peer))),
        }
    }

    fn refused(&self, refusal: &str) -> Failure {
        Failure::failed(format_args!("{} refused: {refusal}", self.peer))
    }
}

/// The report about a field that was sent.
struct Summary<'a> {
    args: &'a Send,
    greeting: &'a Greeting,
    field_bytes: u64,
    /// Bytes of the streams, or of the values.
    bytes: u64,
    sum: u32,
    seconds: f64,
}

impl Summary<'_> {
    fn print(&self, common: &Common, location: &Location) -> Result<(), Failure> {
        let ratio = self.field_bytes as f64 / self.bytes as f64;
        let speed = report::megabytes_per_second(self.field_bytes, self.seconds);
        if common.json {
            let sent = json!({
                "address": self.args.address,
                "protocol": VERSION,
                "dtype": self.greeting.value_type.name(),
                "dims": self.greeting.windows.extents(),
                "raw": self.args.raw,
                "windows": self.greeting.windows.len(),
                "field_bytes": self.field_bytes,
                "sent_bytes": self.bytes,
                "ratio": ratio,
                "checksum": self.sum,
                "verified": true,
                "device": common.device.to_string(),
                "seconds": self.seconds,
                "megabytes_per_second": speed,
            });
            let object = json::join([json::begin("send", location), sent]);
            return output::print(&format!("{object}\n"));
        }
        if !common.quiet {
            output::note(&format!(
                "{location} to {}: {} as {} in {} windows: ratio {ratio:.2}; {speed:.0} MB/s, {:.3} s; verified there",
                self.args.address,
                report::bytes(self.field_bytes),
                report::bytes(self.bytes),
                self.greeting.windows.len(),
                self.seconds,
            ));
        }
        Ok(())
    }
}
