//! All variants with one field: each is compared with the CPU before and after its timed runs.

use super::super::agree;
use super::super::field::Subject;
use super::super::gpu::OnDevice;
use super::super::machine::Machine;
use super::super::row::Ceilings;
use super::super::times::{Times, by_clock};
use super::measured::{Design, Measured};
use ferrosz::internals::{Backend, Call, Executor, Workload};
use ferrosz::{Device, Element};
use ferrosz_cli::failure::Failure;
use ferrosz_cuszp::aatrox::{self, LAYER};
use ferrosz_cuszp::cuszp::{self, Mode, Params, Quantizer};
use ferrosz_cuszp::{Error, Shape};
use ferrosz_lab_kernels::PACKAGE;
use ferrosz_lab_kernels::job::{Job, LayerVariant, PassVariant, cell_count, stream_room};
use ferrosz_lab_kernels::long_blocks::{assemble, encode};
use ferrosz_simt::View;
use rayon::prelude::*;

/// The byte that fills memory before results are written to it.
const POISON: u8 = 0xA5;

/// Bytes that are filled at once.
const PIECE: usize = 1 << 24;

/// A field of whole layers, and what the CPU makes of it.
pub struct Variants<'a, T> {
    machine: &'a Machine,
    subject: &'a Subject<T>,
    ceilings: Ceilings,
    error: T,
    /// The stream of cuSZp, and the one with blocks of 64.
    of_32: Vec<u8>,
    of_64: Vec<u8>,
    /// The stream of AATROX, and its values.
    layers: Vec<u8>,
    decoded: Vec<T>,
}

impl<'a, T: Element + OnDevice> Variants<'a, T> {
    /// For a field of whole layers.
    ///
    /// # Errors
    ///
    /// If the field is too large for cuSZp.
    pub fn new(machine: &'a Machine, subject: &'a Subject<T>, error: T) -> Result<Self, Failure> {
        let values = &subject.values[..];
        let elements = values.len() as u64;
        let dims = [1, 1, elements];
        let params = Params::new(Shape::Line, Mode::Plain, dims, error);
        let of_32 = cuszp::compress(&params, values).map_err(Error::from)?;
        let quantizer = Quantizer::new(error);
        let parts: Vec<_> = (values.par_chunks(LAYER))
            .map(|values| encode::<T, 2>(&quantizer, Mode::Plain, values))
            .collect();
        let params = aatrox::Params { elements, error };
        let layers = aatrox::compress(&params, values).map_err(Error::from)?;
        Ok(Self {
            ceilings: machine.ceilings(values)?,
            decoded: aatrox::decompress(&params, &layers).map_err(Error::from)?,
            of_64: assemble(&parts),
            machine,
            subject,
            error,
            of_32,
            layers,
        })
    }

    /// Measures all of them.
    ///
    /// # Errors
    ///
    /// If a result is wrong, or the machine fails.
    pub fn measure(&self) -> Result<Vec<Measured>, Failure> {
        let Some(at) = &self.machine.gpu else {
            let workload = Workload::at_rate(1.0, 0);
            return match Backend::of_package(&PACKAGE, Device::Emulator, workload)? {
                Backend::Gpu(gpu) => gpu.run(self),
                Backend::Cpu => Err(Failure::failed("the emulator is not here")),
            };
        };
        let mut rows = Ok(Vec::new());
        at.gpu.run(&at.stream, |executor| {
            rows = self.on(executor);
            Ok(())
        })?;
        rows
    }
}

impl<T: Element + OnDevice> Call for &Variants<'_, T> {
    type Output = Result<Vec<Measured>, Failure>;

    fn on<E: Executor>(self, executor: &E) -> Self::Output {
        let values = &self.subject.values[..];
        let count = (values.len() / LAYER) as u32;
        let elements = executor.allocate(size_of_val(values) as u64)?;
        let stream = executor.allocate(stream_room(count))?;
        let workspace = executor.allocate(8 * cell_count(count))?;
        let at = OnMachine {
            variants: self,
            executor,
            job: Job {
                elements: executor.view(&elements),
                stream: executor.view(&stream),
                cells: executor.view(&workspace),
                layers: count,
                quantizer: Quantizer::new(self.error),
            },
        };
        executor.upload(bytemuck::cast_slice(values), at.job.elements)?;
        let mut rows = Vec::new();
        for variant in PassVariant::ALL {
            rows.push(at.pass(variant)?);
        }
        for variant in LayerVariant::ALL {
            rows.push(at.compress_layers(variant)?);
        }
        for variant in LayerVariant::ALL {
            rows.push(at.decompress_layers(variant)?);
        }
        Ok(rows)
    }
}

/// The field in the memory of a machine.
struct OnMachine<'a, T, E> {
    variants: &'a Variants<'a, T>,
    executor: &'a E,
    job: Job<T>,
}

impl<T: Element + OnDevice, E: Executor> OnMachine<'_, T, E> {
    fn pass(&self, variant: PassVariant) -> Result<Measured, Failure> {
        let expected = match variant {
            PassVariant::Of64 => &self.variants.of_64,
            _ => &self.variants.of_32,
        };
        variant.prepare(self.executor, &self.job)?;
        self.stream(Design::Pass(variant), expected, || {
            Ok(variant.enqueue(self.executor, &self.job)?)
        })
    }

    fn compress_layers(&self, variant: LayerVariant) -> Result<Measured, Failure> {
        let expected = &self.variants.layers;
        self.stream(Design::Compress(variant), expected, || {
            Ok(variant.enqueue_compress(self.executor, &self.job)?)
        })
    }

    /// The elements are overwritten.
    fn decompress_layers(&self, variant: LayerVariant) -> Result<Measured, Failure> {
        let expected = &self.variants.decoded;
        let stream_bytes = self.variants.layers.len() as u64;
        self.executor
            .upload(&self.variants.layers, self.job.stream)?;
        let enqueue =
            || -> Result<(), Failure> { Ok(variant.enqueue_decompress(self.executor, &self.job)?) };
        let verify = || -> Result<(), Failure> {
            self.poison(self.job.elements, size_of_val(&expected[..]))?;
            enqueue()?;
            let mut found = vec![T::ZERO; expected.len()];
            let bytes = bytemuck::cast_slice_mut(&mut found);
            self.executor.download(self.job.elements, 0, bytes)?;
            agree::fields(&found, expected)
        };
        self.measured(Design::Decompress(variant), stream_bytes, enqueue, verify)
    }

    /// Measures a compression to an expected stream.
    fn stream(
        &self,
        design: Design,
        expected: &[u8],
        enqueue: impl Fn() -> Result<(), Failure>,
    ) -> Result<Measured, Failure> {
        let verify = || -> Result<(), Failure> {
            self.poison(self.job.stream, expected.len())?;
            enqueue()?;
            let mut found = vec![0; self.job.stream_bytes(self.executor)? as usize];
            self.executor.download(self.job.stream, 0, &mut found)?;
            agree::streams(&found, expected)
        };
        self.measured(design, expected.len() as u64, &enqueue, verify)
    }

    /// Times a variant between two comparisons.
    fn measured(
        &self,
        design: Design,
        stream_bytes: u64,
        enqueue: impl Fn() -> Result<(), Failure>,
        verify: impl Fn() -> Result<(), Failure>,
    ) -> Result<Measured, Failure> {
        let Variants {
            subject, ceilings, ..
        } = self.variants;
        let named = |failure: Failure| {
            Failure::failed(format_args!("{}, {design}: {failure}", subject.name))
        };
        verify().map_err(named)?;
        let times = self.time(enqueue).map_err(named)?;
        verify().map_err(named)?;
        let bytes = ceilings.bytes;
        let ratio = bytes as f64 / stream_bytes as f64;
        Ok(Measured {
            field: subject.name.clone(),
            dtype: T::DTYPE,
            bytes,
            design,
            ratio,
            times,
            copy_share: ceilings.floor(ratio) / times.median,
        })
    }

    fn time(&self, work: impl Fn() -> Result<(), Failure>) -> Result<Times, Failure> {
        let machine = self.variants.machine;
        match &machine.gpu {
            Some(at) => at.time(machine.repeat, 1, work),
            None => by_clock(0, machine.repeat, work),
        }
    }

    /// Fills the first bytes of a view, in whole words, with bytes that are no result.
    fn poison(&self, view: View<u32>, bytes: usize) -> Result<(), Failure> {
        let poison = vec![POISON; PIECE.min(bytes.next_multiple_of(4))];
        for start in (0..bytes).step_by(PIECE) {
            let piece = PIECE.min((bytes - start).next_multiple_of(4));
            let view = view.from(start as u64 / 4);
            self.executor.upload(&poison[..piece], view)?;
        }
        Ok(())
    }
}
