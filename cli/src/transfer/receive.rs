//! `ferrosz receive`.

use crate::array::{ArrayType, Shape};
use crate::suffix::{self, Holds};
use crate::transfer::greet::{Guest, judge, refuse, welcome};
use crate::transfer::message::{Content, Greeting, Sum, VERSION, write_receipt, write_reply};
use crate::{
    args::Receive, common::Common, failure::Failure, field_file, json, location::Location, output,
    progress::Progress, report, temporary::TemporaryFolder, threads, transfer::broken,
    transfer::fault::Fault,
};
use ferrosz::codec::with_value;
use ferrosz::internals::overlapped;
use ferrosz::windows::Window;
use ferrosz::{Decompressor, Value};
use serde_json::json;
use std::fs;
use std::io::{self, BufReader};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::time::Instant;

/// Bytes that are read at once.
const BLOCK: usize = 1 << 20;

/// Receives a field for each output, one after the other; true if all were verified.
///
/// # Errors
///
/// If the address cannot be listened on, a transfer fails, or an output cannot be written.
pub fn run(args: &Receive, common: &Common) -> Result<bool, Failure> {
    for output in &args.outputs {
        match args.streams {
            false => {
                suffix::check(output, Holds::Array)?;
                output::check(output, None, args.replace.force)?;
            }
            true => check_folder(output)?,
        }
    }
    threads::need("a transfer")?;
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
        let guest = welcome(&listener, args, common.quiet).map_err(failed)?;
        receive(args, common, &guest, output)?;
    }
    Ok(true)
}

/// Refuses a folder of streams that can never be written.
fn check_folder(output: &Location) -> Result<(), Failure> {
    let Location::File(folder) = output else {
        return Err(Failure::usage("--streams: an output is a folder"));
    };
    if folder.exists() {
        return Err(Failure::failed(format_args!(
            "{output} exists, and folders are not replaced: name another one"
        )));
    }
    output::check_parent(folder)
}

/// Receives a field, and says to the sender whether it arrived.
fn receive(
    args: &Receive,
    common: &Common,
    guest: &Guest,
    output: &Location,
) -> Result<(), Failure> {
    let Guest {
        connection,
        peer,
        greeting,
    } = guest;
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
    match call.run(greeting) {
        Ok(sum) => {
            let mut connection = connection;
            let replied = write_receipt(&mut connection, sum);
            replied.map_err(|error| broken(peer, &error))
        }
        Err(Fault { failure, told }) => {
            refuse(connection, &told);
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
    /// The checksum of the values that arrived.
    fn run(mut self, greeting: &Greeting) -> Result<u32, Fault> {
        judge(greeting, self.args, self.output, self.peer)?;
        let mut connection = self.connection;
        let agreed = write_reply(&mut connection, None);
        agreed.map_err(|error| broken(self.peer, &error))?;
        let received = with_value!(greeting.value_type, V => match self.args.streams {
            true => self.streams::<V>(greeting),
            false => self.values::<V>(greeting),
        })?;
        received.print(&self, greeting)?;
        Ok(received.sum)
    }

    /// Writes the values to a file, or a pipe.
    fn values<V: Value>(&mut self, greeting: &Greeting) -> Result<Received, Fault> {
        let shape = Shape {
            of: ArrayType::real(V::TYPE),
            extents: greeting.windows.extents().to_vec(),
        };
        let header = field_file::header(self.output, &shape);
        let force = self.args.replace.force;
        let name = self.output.output_name();
        let mut received = None;
        let written = output::write(self.output, force, |writer| {
            writer.write_all(&header)?;
            let found = self.windows::<V>(greeting, |_, _, values| {
                let written = field_file::write_values(writer, values);
                written.map_err(|error| Failure::io("write", &name, &error).into())
            });
            match received.insert(found) {
                Ok(_) => Ok(()),
                // It removes the file; the failure is that of `received`.
                Err(_) => Err(io::Error::other("the transfer failed")),
            }
        });
        match received {
            Some(Ok(received)) => written.map(|()| received).map_err(Fault::from),
            Some(failed) => failed,
            // No file could be begun.
            None => Err(written
                .err()
                .unwrap_or_else(|| Failure::failed("nothing was received"))
                .into()),
        }
    }

    /// Writes the streams of the windows to a folder.
    fn streams<V: Value>(&mut self, greeting: &Greeting) -> Result<Received, Fault> {
        let Location::File(folder) = self.output else {
            return Err(self.output.is_no_file("an output is").into());
        };
        let failed = |error| Failure::io("write", folder.display(), &error);
        let temporary = TemporaryFolder::beside(folder).map_err(failed)?;
        let received = self.windows::<V>(greeting, |window, stream, _| {
            let name = format!("window-{:06}.fsz", window.number);
            Ok(fs::write(temporary.path().join(name), stream).map_err(failed)?)
        })?;
        temporary.finish(Path::new(folder)).map_err(failed)?;
        Ok(received)
    }

    /// Receives all windows and gives each with its bytes and its values to `deliver`; compares the sum of the values with
    /// the sender's.
    fn windows<V: Value>(
        &mut self,
        greeting: &Greeting,
        mut deliver: impl FnMut(&Window, &[u8], &[V]) -> Result<(), Fault>,
    ) -> Result<Received, Fault> {
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
            let content = content.map_err(|error| Fault::of_message(peer, error))?;
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
            .map_err(|error| Fault::of_message(peer, error))?;
        Ok(Received {
            field_bytes: greeting.field_bytes(),
            bytes,
            sum,
        })
    }
}

fn of_window(peer: &str, window: &Window, error: &ferrosz::Error) -> Fault {
    Fault::of_sender(peer, format_args!("window {}: {error}", window.number))
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
            let output = json::place("output", call.output);
            let object = json::join([json::begin("receive", &from), output, received]);
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
