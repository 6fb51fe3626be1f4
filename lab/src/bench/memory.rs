//! A field in a machine's memory, and timed calls on it.

use super::coding::{Coding, Way};
use super::gpu::{self, OnDevice, OneGpu, failed};
use super::machine::{self, Machine};
use super::times::{Times, by_clock, sample};
use super::{device_memory::DeviceMemory, row::SMALL};
use ferrosz::cuda::cudarc::driver::{CudaGraph, sys};
use ferrosz_cli::failure::Failure;
use std::time::Instant;

/// Launches of a graph between two events.
const REPLAYS: u32 = 20;

/// Bits that fill the host's memory before results are written to it.
const POISON: u64 = 0xA5A5_A5A5_A5A5_A5A5;

/// A field in a machine's memory, with memory for the stream and for the decoded field.
pub struct Memory<'a, V> {
    machine: &'a Machine,
    place: Place<'a, V>,
}

/// Where the memory is.
enum Place<'a, V> {
    Host {
        field: &'a [V],
        /// The last stream. Each compression allocates a new one, and then drops the old one.
        stream: Vec<u8>,
        values: Vec<V>,
    },
    Gpu(&'a OneGpu, Box<DeviceMemory<V>>),
}

impl<'a, V: OnDevice> Memory<'a, V> {
    /// Memory for a field and its streams.
    ///
    /// # Errors
    ///
    /// If there is too little of it.
    pub fn new(
        machine: &'a Machine,
        field: &'a [V],
        coding: &dyn Coding<V>,
    ) -> Result<Self, Failure> {
        let place = match &machine.gpu {
            Some(at) => Place::Gpu(at, Box::new(DeviceMemory::new(at, field, coding)?)),
            None => Place::Host {
                field,
                stream: Vec::new(),
                values: vec![V::default(); field.len()],
            },
        };
        Ok(Self { machine, place })
    }

    /// Makes a call, or enqueues it.
    ///
    /// # Errors
    ///
    /// The library's and the machine's errors, here and below.
    pub fn call(&mut self, coding: &dyn Coding<V>, way: Way) -> Result<(), Failure> {
        match (&mut self.place, way) {
            (Place::Host { field, stream, .. }, Way::Compress) => {
                *stream = coding.compress(field)?;
                Ok(())
            }
            (Place::Host { stream, values, .. }, Way::Decompress) => {
                coding.decompress(stream, values)
            }
            (Place::Gpu(at, memory), Way::Compress) => coding.enqueue_compress(at, memory),
            (Place::Gpu(at, memory), Way::Decompress) => coding.enqueue_decompress(at, memory),
        }
    }

    /// Fills the memory of the result with bytes that are none.
    pub fn poison(&mut self, way: Way) -> Result<(), Failure> {
        match (&mut self.place, way) {
            (Place::Host { stream, .. }, Way::Compress) => stream.fill(POISON as u8),
            (Place::Host { values, .. }, Way::Decompress) => {
                values.fill(V::from_value_bits(POISON));
            }
            (Place::Gpu(at, memory), Way::Compress) => at.poison(&memory.bytes)?,
            (Place::Gpu(at, memory), Way::Decompress) => at.poison(&memory.output)?,
        }
        Ok(())
    }

    /// The last stream.
    pub fn stream(&self) -> Result<Vec<u8>, Failure> {
        match &self.place {
            Place::Host { stream, .. } => Ok(stream.clone()),
            Place::Gpu(at, memory) => memory.stream(at),
        }
    }

    /// The last decoded values, `count` of them.
    pub fn values(&self, count: usize) -> Result<Vec<V>, Failure> {
        match &self.place {
            Place::Host { values, .. } => Ok(values.clone()),
            Place::Gpu(at, memory) => memory.values(at, count),
        }
    }

    /// Times a call, one run after the other.
    pub fn time(&mut self, coding: &dyn Coding<V>, way: Way) -> Result<Times, Failure> {
        let Machine {
            repeat, by_host, ..
        } = *self.machine;
        match &self.machine.gpu {
            None => by_clock(machine::WARM_UP, repeat, || self.call(coding, way)),
            Some(at) if !by_host => at.time(repeat, 1, || self.call(coding, way)),
            Some(at) => sample(gpu::WARM_UP, repeat, || {
                // The GPU is idle before.
                at.wait()?;
                let start = Instant::now();
                self.call(coding, way)?;
                self.finish(way)?;
                Ok(start.elapsed().as_secs_f64())
            }),
        }
    }

    /// Waits until the length of a GPU's stream or the errors of its decompression are known.
    fn finish(&self, way: Way) -> Result<(), Failure> {
        match (&self.place, way) {
            (Place::Host { .. }, _) => {}
            (Place::Gpu(at, memory), Way::Compress) => {
                memory.workspace.stream_bytes(&at.stream)?;
            }
            (Place::Gpu(at, memory), Way::Decompress) => memory.workspace.check(&at.stream)?,
        }
        Ok(())
    }

    /// Records a call, replays it many times, and times a run; none if the machine cannot record, or the field is too
    /// large for a difference.
    pub fn time_replayed(
        &mut self,
        coding: &dyn Coding<V>,
        way: Way,
    ) -> Result<Option<Times>, Failure> {
        let bytes = match &self.place {
            Place::Gpu(_, memory) if !self.machine.by_host => memory.input.len() * size_of::<V>(),
            _ => return Ok(None),
        };
        match &self.machine.gpu {
            Some(at) if (bytes as u64) < SMALL => {
                let graph = self.record(at, coding, way)?;
                let launch = || graph.launch().map_err(failed("launch a graph"));
                let replay = || (0..REPLAYS).try_for_each(|_| launch());
                (at.time(self.machine.repeat, REPLAYS, replay)).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Records a call as a graph.
    fn record(
        &mut self,
        at: &OneGpu,
        coding: &dyn Coding<V>,
        way: Way,
    ) -> Result<CudaGraph, Failure> {
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL;
        (at.stream.begin_capture(mode)).map_err(failed("begin a graph"))?;
        let asked = self.call(coding, way);
        let flags = sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
        // Ends the recording after an error, too: a stream that records does nothing else.
        let graph = (at.stream.end_capture(flags)).map_err(failed("end a graph"));
        asked?;
        graph?.ok_or_else(|| Failure::failed("CUDA recorded an empty graph"))
    }
}
