//! Fields, and jobs on the emulator.

use ferrosz_codec::Element;
use ferrosz_cuszp::Device;
use ferrosz_cuszp::aatrox::LAYER;
use ferrosz_cuszp::cuszp::Quantizer;
use ferrosz_host::internals::{Backend, Call, Executor, Workload};
use ferrosz_lab_kernels::PACKAGE;
use ferrosz_lab_kernels::job::{Job, LayerVariant, PassVariant, cell_count, stream_room};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// The bound of all fields: codes are the integers next to the values.
pub const ERROR: f64 = 0.5;

/// Integers of up to so many bits: pieces of any length, each constant, a slope, or random with a number of bits of its
/// own.
pub fn field<T: Element>(seed: u64, layers: usize, most_bits: u32) -> Vec<T> {
    let mut rng = SmallRng::seed_from_u64(seed);
    let mut values = Vec::new();
    let mut base = 0i64;
    while values.len() < layers * LAYER {
        let most = 1 << rng.random_range(0..=most_bits);
        let kind = rng.random_range(0..3);
        base = if rng.random() {
            base
        } else {
            rng.random_range(-most..=most)
        };
        for i in 0..rng.random_range(1..400) {
            let value = match kind {
                0 => base,
                1 => base / 2 + i,
                _ => rng.random_range(-most..=most),
            };
            values.push(T::from_f64(value as f64));
        }
    }
    values.truncate(layers * LAYER);
    values
}

/// A job for the emulator.
pub enum Work<'a> {
    /// A stream of a pass.
    Pass(PassVariant),
    /// A stream of layers.
    Compress(LayerVariant),
    /// The bytes of the values of a stream of layers.
    Decompress(LayerVariant, &'a [u8]),
}

struct OnEmulator<'a, T> {
    values: &'a [T],
    work: Work<'a>,
}

/// The bytes that a job makes of a field of whole layers.
pub fn run<T: Element>(values: &[T], work: Work<'_>) -> Vec<u8> {
    let workload = Workload::at_rate(1.0, 0);
    let backend = Backend::of_package(&PACKAGE, Device::Emulator, workload);
    match backend.expect("the emulator") {
        Backend::Gpu(gpu) => gpu.run(OnEmulator { values, work }),
        Backend::Cpu => panic!("not the emulator"),
    }
}

impl<T: Element> Call for OnEmulator<'_, T> {
    type Output = Vec<u8>;

    fn on<E: Executor>(self, executor: &E) -> Vec<u8> {
        let layers = (self.values.len() / LAYER) as u32;
        let allocate = |bytes| executor.allocate(bytes).expect("memory");
        let elements = allocate(size_of_val(self.values) as u64);
        let stream = allocate(stream_room(layers));
        let workspace = allocate(8 * cell_count(layers));
        let job = Job {
            elements: executor.view(&elements),
            stream: executor.view(&stream),
            cells: executor.view(&workspace),
            layers,
            quantizer: Quantizer::new(T::from_f64(ERROR)),
        };
        let upload = |bytes: &[u8], to| executor.upload(bytes, to).expect("copies");
        match self.work {
            Work::Pass(variant) => {
                upload(bytemuck::cast_slice(self.values), job.elements);
                variant.prepare(executor, &job).expect("runs");
                variant.enqueue(executor, &job).expect("runs");
            }
            Work::Compress(variant) => {
                upload(bytemuck::cast_slice(self.values), job.elements);
                variant.enqueue_compress(executor, &job).expect("runs");
            }
            Work::Decompress(variant, bytes) => {
                upload(bytes, job.stream);
                variant.enqueue_decompress(executor, &job).expect("runs");
                let mut values = vec![0; size_of_val(self.values)];
                executor
                    .download(job.elements, 0, &mut values)
                    .expect("copies");
                return values;
            }
        }
        let length = job.stream_bytes(executor).expect("copies");
        let mut bytes = vec![0; length as usize];
        executor
            .download(job.stream, 0, &mut bytes)
            .expect("copies");
        bytes
    }
}
