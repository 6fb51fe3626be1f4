//! `ferrosz receive`.

use crate::args::Receive;
use crate::common::Common;
use crate::failure::Failure;
use crate::location::Location;
use crate::progress::Progress;
use crate::temporary::TemporaryFolder;
use crate::transfer::message::{Content, Greeting, MessageError, Sum, VERSION, write_reply};
use crate::transfer::{broken, prepare};
use crate::{field_file, json, output, report};
use ferrosz::codec::with_value;
use ferrosz::internals::overlapped;
use ferrosz::{Decompressor, Value, Window};
use serde_json::json;
use std::fs;
use std::io::{self, BufReader, Read};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

/// Bytes that are read at once.
const BLOCK: usize = 1 << 20;

/// What is read from a sender that is refused, so that it can finish writing and read the refusal.
const MOST_DRAINED: u64 = 1 << 26;

/// How long a refused sender is waited for.
const DRAINING: Duration = Duration::from_millis(300);

/// Receives a field for each output, one after the other; true if all were verified.
///
/// # Errors
///
/// If the address cannot be listened on, a transfer fails, or an output cannot be written.
pub fn run(args: &Receive, common: &Common) -> Result<bool, Failure> {
    for output in &args.outputs {
        match (args.streams, output) {
            (false, output) => output::check(output, None, args.replace.force)?,
            (true, Location::File(folder)) if folder.exists() => {
                return Err(Failure::failed(format_args!(
                    "{output} exists, and folders are not replaced: name another one"
                )));
            }
            (true, Location::File(_)) => {}
            (true, _) => return Err(Failure::usage("--streams: an output is a folder")),
        }
    }
    let address = match args.address.contains(':') {
        true => args.address.clone(),
        false => format!("127.0.0.1:{}", args.address),
    };
    let failed = |error| Failure::io("listen on", &address, &error);
    let listener = TcpListener::bind(&address).map_err(failed)?;
    if !common.quiet {
        let address = listener.local_addr().map_err(failed)?;
        output::note(&format!("listening on {address}"));
    }
    for output in &args.outputs {
        let (connection, peer) = listener.accept().map_err(failed)?;
        let peer = peer.to_string();
        prepare(&connection, args.timeout()).map_err(|error| broken(&peer, &error))?;
        receive(args, common, &connection, &peer, output)?;
    }
    Ok(true)
}

/// Receives a field, and says to the sender whether it arrived.
fn receive(
    args: &Receive,
    common: &Common,
    connection: &TcpStream,
    peer: &str,
    output: &Location,
) -> Result<(), Failure> {
    let call = Call {
        args,
        common,
        output,
        peer,
        connection,
        // Messages are read here and on the thread that fetches windows, not at the same time.
        reader: BufReader::with_capacity(BLOCK, connection),
        start: Instant::now(),
    };
    let mut connection = connection;
    match call.run() {
        Ok(()) => {
            let replied = write_reply(&mut connection, None);
            replied.map_err(|error| broken(peer, &error))
        }
        Err(failure) => {
            // The failure is reported here, whether the sender hears of it or not.
            let _ = write_reply(&mut connection, Some(&failure.to_string()));
            let _ = connection.shutdown(Shutdown::Write);
            let _ = connection.set_read_timeout(Some(DRAINING));
            let _ = io::copy(&mut connection.take(MOST_DRAINED), &mut io::sink());
            Err(failure)
        }
    }
}

/// A field that is received.
struct Call<'a> {
    args: &'a Receive,
    common: &'a Common,
    output: &'a Location,
    peer: &'a str,
    connection: &'a TcpStream,
    reader: BufReader<&'a TcpStream>,
    start: Instant,
}

impl Call<'_> {
    fn run(mut self) -> Result<(), Failure> {
        let greeting = Greeting::read(&mut self.reader).map_err(|error| self.explain(error))?;
        if self.args.streams && greeting.content == Content::Values {
            return Err(Failure::failed(
                "--streams: the sender sends values that are not compressed",
            ));
        }
        let mut connection = self.connection;
        let agreed = write_reply(&mut connection, None);
        agreed.map_err(|error| broken(self.peer, &error))?;
        let received = with_value!(greeting.value_type, V => match self.args.streams {
            true => self.streams::<V>(&greeting),
            false => self.values::<V>(&greeting),
        })?;
        received.print(&self, &greeting)
    }

    /// Writes the values to a file, or a pipe.
    fn values<V: Value>(&mut self, greeting: &Greeting) -> Result<Received, Failure> {
        let header = field_file::header::<V>(self.output, greeting.windows.extents());
        let force = self.args.replace.force;
        let name = self.output.output_name();
        let mut received = Err(Failure::failed("nothing was received"));
        let written = output::write(self.output, force, |writer| {
            writer.write_all(&header)?;
            received = self.windows::<V>(greeting, |_, _, values| {
                let written = field_file::write_values(writer, values);
                written.map_err(|error| Failure::io("write", &name, &error))
            });
            match received {
                Ok(_) => Ok(()),
                // It removes the file; the failure is that of `received`.
                Err(_) => Err(io::Error::other("the transfer failed")),
            }
        });
        let received = received?;
        written.map(|()| received)
    }

    /// Writes the streams of the windows to a folder.
    fn streams<V: Value>(&mut self, greeting: &Greeting) -> Result<Received, Failure> {
        let Location::File(folder) = self.output else {
            return Err(self.output.is_no_file("an output is"));
        };
        let failed = |error| Failure::io("write", folder.display(), &error);
        let temporary = TemporaryFolder::beside(folder).map_err(failed)?;
        let received = self.windows::<V>(greeting, |window, stream, _| {
            let name = format!("window-{:06}.fsz", window.number);
            fs::write(temporary.path().join(name), stream).map_err(failed)
        })?;
        temporary.finish(Path::new(folder)).map_err(failed)?;
        Ok(received)
    }

    /// Receives all windows and gives each with its bytes and its values to `deliver`; compares the sum of the values with
    /// the sender's.
    fn windows<V: Value>(
        &mut self,
        greeting: &Greeting,
        mut deliver: impl FnMut(&Window, &[u8], &[V]) -> Result<(), Failure>,
    ) -> Result<Received, Failure> {
        let elements = greeting.windows.extents().iter().product();
        let quiet = self.common.quiet;
        let progress = Progress::new("receiving", elements, size_of::<V>() as u64, quiet);
        let (mut sum, mut bytes) = (Sum::default(), 0);
        let (reader, peer, connection) = (&mut self.reader, self.peer, self.connection);
        let decompressor = Decompressor::new().device(self.common.device);
        let mut windows = greeting.windows.iter();
        let fetch = || {
            let Some(window) = windows.next() else {
                return Ok(None);
            };
            let content = greeting.read_window(reader, window.number, window.count());
            let content = content.map_err(|error| explain(peer, error))?;
            Ok(Some((window, content)))
        };
        overlapped(fetch, |(window, content): (Window, Vec<u8>)| {
            let values = match greeting.content {
                Content::Streams => decompressor
                    .decompress_window(&window, &content)
                    .map_err(|error| of_window(peer, &window, &error)),
                Content::Values => Ok(values_of(&content)),
            };
            let delivered = values.and_then(|values: Vec<V>| {
                bytes += content.len() as u64;
                sum.add(&values);
                deliver(&window, &content, &values)
            });
            if delivered.is_err() {
                // Nobody reads what may still come.
                let _ = connection.shutdown(Shutdown::Read);
            }
            progress.advance(window.count());
            delivered
        })?;
        let sum = sum.value();
        greeting
            .read_end(&mut self.reader, sum)
            .map_err(|error| explain(peer, error))?;
        Ok(Received {
            field_bytes: elements * size_of::<V>() as u64,
            bytes,
            sum,
        })
    }

    fn explain(&self, error: MessageError) -> Failure {
        explain(self.peer, error)
    }
}

fn explain(peer: &str, error: MessageError) -> Failure {
    match error {
        MessageError::Io(error) => broken(peer, &error),
        error => Failure::failed(format_args!("{peer}: {error}")),
    }
}

fn of_window(peer: &str, window: &Window, error: &ferrosz::Error) -> Failure {
    Failure::failed(format_args!("{peer}: window {}: {error}", window.number))
}

/// Values from the bytes of a file.
fn values_of<V: Value>(bytes: &[u8]) -> Vec<V> {
    let bits = bytes.chunks_exact(size_of::<V>()).map(|bytes| {
        let mut all = [0; 8];
        all[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(all)
    });
    match cfg!(target_endian = "little") {
        true => bytemuck::pod_collect_to_vec(bytes),
        false => bits.map(V::from_value_bits).collect(),
    }
}

/// A field that arrived.
struct Received {
    field_bytes: u64,
    bytes: u64,
    sum: u32,
}

impl Received {
    fn print(&self, call: &Call<'_>, greeting: &Greeting) -> Result<(), Failure> {
        let seconds = call.start.elapsed().as_secs_f64();
        let speed = report::megabytes_per_second(self.field_bytes, seconds);
        if call.common.json {
            let received = json!({
                "output": call.output.output_name(),
                "protocol": VERSION,
                "dtype": greeting.value_type.name(),
                "dims": greeting.windows.extents(),
                "raw": greeting.content == Content::Values,
                "windows": greeting.windows.len(),
                "field_bytes": self.field_bytes,
                "received_bytes": self.bytes,
                "checksum": self.sum,
                "verified": true,
                "device": call.common.device.to_string(),
                "seconds": seconds,
                "megabytes_per_second": speed,
            });
            let from = Location::Url(call.peer.to_owned());
            let object = json::join([json::begin("receive", &from), received]);
            return output::print_json(&object, call.output);
        }
        if !call.common.quiet {
            output::note(&format!(
                "{}: {}, {} {} from {} in {} windows; verified; {speed:.0} MB/s, {seconds:.3} s",
                call.output.output_name(),
                report::bytes(self.field_bytes),
                report::lengths(greeting.windows.extents()),
                greeting.value_type,
                call.peer,
                greeting.windows.len(),
            ));
        }
        Ok(())
    }
}
