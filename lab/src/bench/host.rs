//! The CPU: library calls on host memory, timed by the host's clock.

use super::machine::{About, Buffers, Format, Machine, Value, Work};
use super::row::Ceilings;
use super::times::{Times, sample};
use ferrosz::{Decompressor, Device};
use ferrosz_cli::failure::Failure;
use ferrosz_cuszp::{Bare, aatrox, cuszp};
use rayon::prelude::*;
use std::fs;
use std::hint::black_box;
use std::time::Instant;

/// Runs before the timed ones: the first accesses memory for the first time.
const WARM_UP: u32 = 1;

/// Elements that a thread copies or reads in one task.
const SHARE: usize = 1 << 16;

/// Bits that fill buffers before results are written to them.
const POISON: u64 = 0xA5A5_A5A5_A5A5_A5A5;

/// The CPU.
pub struct Host {
    repeat: u32,
    about: About,
}

impl Host {
    /// The CPU, which runs work `repeat` times.
    pub fn new(repeat: u32) -> Self {
        let about = About {
            device: Device::Cpu,
            name: processor(),
            driver: None,
            threads: Some(rayon::current_num_threads()),
        };
        Self { repeat, about }
    }

    fn time(&self, mut work: impl FnMut() -> Result<(), Failure>) -> Result<Times, Failure> {
        sample(WARM_UP, self.repeat, || {
            let start = Instant::now();
            work()?;
            Ok(start.elapsed().as_secs_f64())
        })
    }
}

/// The processor's name if the system tells it, otherwise its architecture.
fn processor() -> String {
    let known = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    (known.lines())
        .find_map(|line| line.strip_prefix("model name")?.split_once(':'))
        .map_or(std::env::consts::ARCH, |(_, name)| name.trim())
        .to_owned()
}

impl Machine for Host {
    type Buffers<'a, T: Value> = HostBuffers<'a, T>;

    fn about(&self) -> &About {
        &self.about
    }

    fn ceilings<T: Value>(&self, field: &[T]) -> Result<Ceilings, Failure> {
        let mut to = field.to_vec();
        let copy = self.time(|| {
            let shares = to.par_chunks_mut(SHARE).zip(field.par_chunks(SHARE));
            shares.for_each(|(to, from)| to.copy_from_slice(from));
            black_box(&mut to);
            Ok(())
        })?;
        let read = self.time(|| {
            let sum = |share: &[T]| {
                let bits = share.iter().map(|value| value.to_bits64());
                bits.fold(0, u64::wrapping_add)
            };
            let shares = field.par_chunks(SHARE).map(sum);
            black_box(shares.reduce(|| 0, u64::wrapping_add));
            Ok(())
        })?;
        Ok(Ceilings {
            bytes: size_of_val(field) as u64,
            copy,
            read,
        })
    }

    fn buffers<'a, T: Value>(
        &'a self,
        field: &'a [T],
        _: Format<T>,
    ) -> Result<HostBuffers<'a, T>, Failure> {
        Ok(HostBuffers {
            host: self,
            field,
            stream: Vec::new(),
            values: vec![T::ZERO; field.len()],
        })
    }
}

/// A field in the host's memory.
pub struct HostBuffers<'a, T> {
    host: &'a Host,
    field: &'a [T],
    /// The last stream. Each compression allocates a new one, and then drops the old one.
    stream: Vec<u8>,
    values: Vec<T>,
}

impl<T: Value> Buffers<T> for HostBuffers<'_, T> {
    fn ask(&mut self, work: &Work<'_, T>) -> Result<(), Failure> {
        let decoder = Decompressor::new().device(Device::Cpu);
        match *work {
            Work::Compress(compressor) => {
                self.stream = compressor.device(Device::Cpu).compress(self.field)?;
            }
            Work::Decompress(_) => {
                decoder.decompress_into(&self.stream, &mut self.values)?;
            }
            Work::DecompressPart(_, part) => {
                let values = decoder.decompress_part(&self.stream, part)?;
                self.values[..values.len()].copy_from_slice(&values);
            }
            Work::CompressBare(bare) => {
                self.stream = match bare {
                    Bare::Cuszp(params) => cuszp::compress_on(Device::Cpu, &params, self.field)?,
                    Bare::Aatrox(params) => aatrox::compress_on(Device::Cpu, &params, self.field)?,
                };
            }
            Work::DecompressBare(bare) => {
                self.values = match bare {
                    Bare::Cuszp(params) => {
                        cuszp::decompress_on(Device::Cpu, &params, &self.stream)?
                    }
                    Bare::Aatrox(params) => {
                        aatrox::decompress_on(Device::Cpu, &params, &self.stream)?
                    }
                };
            }
        }
        Ok(())
    }

    fn poison_stream(&mut self) -> Result<(), Failure> {
        self.stream.fill(POISON as u8);
        Ok(())
    }

    fn poison_values(&mut self) -> Result<(), Failure> {
        self.values.fill(T::from_bits64(POISON));
        Ok(())
    }

    fn stream(&mut self) -> Result<Vec<u8>, Failure> {
        Ok(self.stream.clone())
    }

    fn values(&mut self, count: usize) -> Result<Vec<T>, Failure> {
        Ok(self.values.iter().take(count).copied().collect())
    }

    fn time(&mut self, work: &Work<'_, T>) -> Result<Times, Failure> {
        let host = self.host;
        host.time(|| self.ask(work))
    }

    fn time_replayed(&mut self, _: &Work<'_, T>) -> Result<Option<Times>, Failure> {
        Ok(None)
    }
}
