//! Safeguards on a machine that runs kernels: the corrections of decoded elements, and mended elements.

use crate::compress::Compressor;
use crate::error::Error;
use crate::gpu::executor::Executor;
use crate::gpu::in_memory::{compress_integers, decompress_integers};
use crate::gpu::mapping::tasks;
use crate::memory::try_zeroed;
use crate::stream_layout::StreamLayout;
use bytemuck::{cast_slice, cast_slice_mut};
use ferrosz_codec::Element;
use ferrosz_codec::safeguard::guard::Guard;
use ferrosz_codec::safeguard::mend::Mender;
use ferrosz_gpu_kernels::safeguard::THREADS;
use ferrosz_gpu_kernels::safeguard::find::{FindCorrections, FindCorrectionsParams};
use ferrosz_gpu_kernels::safeguard::mend::{MendValues, MendValuesParams};
use ferrosz_simt::View;

/// What mends the elements of a whole field after they are decoded.
pub(crate) struct Mending {
    pub(crate) mender: Mender,
    /// The stream of corrections, without records that kernels do not know, and its layout; none if all are 0.
    pub(crate) corrections: Option<(StreamLayout, Vec<u8>)>,
}

impl Mending {
    /// Mends so many elements where they are.
    ///
    /// # Errors
    ///
    /// [`Error::Format`]; [`Error::OutOfMemory`]; the machine's own.
    pub(crate) fn enqueue<T: Element, E: Executor>(
        &self,
        executor: &E,
        values: View<u32>,
        count: u64,
    ) -> Result<(), Error> {
        let array = executor.allocate((2 * count).next_multiple_of(16))?;
        let mut corrections = View::empty();
        if let Some((layout, bytes)) = &self.corrections {
            let stream = executor.allocate(bytes.len() as u64)?;
            let stream = executor.view(&stream);
            executor.upload(bytes, stream)?;
            corrections = executor.view(&array);
            decompress_integers(executor, layout, stream, corrections)?;
        }
        let params = MendValuesParams {
            values,
            count,
            corrections,
            mender: self.mender,
        };
        executor.launch_over::<MendValues<T>>(tasks(count, THREADS), &params)?;
        // The memory of the corrections is used until then.
        let mut first = [0; 4];
        executor.download(values, 0, &mut first)
    }
}

/// A field and what was decoded of it, in host memory.
pub(crate) struct FindOnDevice<'a, T> {
    pub(crate) guard: &'a Guard,
    pub(crate) values: &'a [T],
    pub(crate) bounds: Option<&'a [f64]>,
    pub(crate) decoded: &'a mut [T],
    /// The length of lines in which neighbours keep their order, and how many values apart neighbours are.
    pub(crate) lines: [u64; 2],
    /// What compresses corrections.
    pub(crate) coder: &'a Compressor,
}

/// What kernels found.
pub(crate) struct FoundOnDevice<T> {
    /// The stream of corrections; none if all are 0.
    pub(crate) corrections: Option<Vec<u8>>,
    pub(crate) replaced: Vec<(u64, T)>,
}

impl<T: Element> FindOnDevice<'_, T> {
    /// Finds the corrections. Waits.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`]; the machine's own.
    pub(crate) fn run<E: Executor>(self, executor: &E) -> Result<FoundOnDevice<T>, Error> {
        let count = self.values.len() as u64;
        let upload = |bytes: &[u8]| {
            let memory = executor.allocate((bytes.len() as u64).next_multiple_of(16))?;
            executor.upload(bytes, executor.view(&memory))?;
            Ok::<_, Error>(memory)
        };
        let zeros = |bytes: u64| {
            let memory = executor.allocate(bytes.next_multiple_of(16))?;
            executor.clear(executor.view(&memory))?;
            Ok::<_, Error>(memory)
        };
        let field = upload(cast_slice(self.values))?;
        let bounds = self
            .bounds
            .map(|bounds| upload(cast_slice(bounds)))
            .transpose()?;
        let decoded = upload(cast_slice(self.decoded))?;
        let [corrections, replaced] = [zeros(2 * count)?, zeros(count.div_ceil(8))?];
        let found = zeros(16)?;
        let [length, step] = self.lines;
        let params = FindCorrectionsParams {
            field: executor.view(&field),
            bounds: bounds
                .as_ref()
                .map_or(View::empty(), |bounds| executor.view(bounds)),
            decoded: executor.view(&decoded),
            corrections: executor.view(&corrections),
            replaced: executor.view(&replaced),
            found: executor.view(&found),
            lines: [count / length, length],
            step,
            guard: *self.guard,
        };
        executor.launch_over::<FindCorrections<T>>(tasks(count / length, THREADS), &params)?;
        let mut has = [0; 16];
        executor.download(params.found, 0, &mut has)?;
        let mut result = FoundOnDevice {
            corrections: None,
            replaced: Vec::new(),
        };
        if has[..8] != [0; 8] {
            let (stream, bytes) =
                compress_integers(executor, self.coder, params.corrections, count)?;
            let mut corrections = try_zeroed(bytes)?;
            executor.download(executor.view::<u32>(&stream), 0, &mut corrections)?;
            result.corrections = Some(corrections);
        }
        if has[8..] != [0; 8] {
            let mut bits = try_zeroed::<u8>(count.div_ceil(8))?;
            executor.download(params.replaced, 0, &mut bits)?;
            executor.download(params.decoded, 0, cast_slice_mut(self.decoded))?;
            let places = (0..count).filter(|at| bits[*at as usize / 8] >> (at % 8) & 1 == 1);
            result.replaced = places.map(|at| (at, self.decoded[at as usize])).collect();
        }
        Ok(result)
    }
}
