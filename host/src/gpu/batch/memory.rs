//! The memory of a batch on a machine, and its lists, made from host slices.

use crate::error::Error;
use crate::gpu::executor::Executor;
use ferrosz_gpu_kernels::pipeline::batch::arrays::Arrays;
use ferrosz_simt::View;

/// Arrays start at multiples of this many bytes.
const ALIGNMENT: u64 = 16;

/// The number of lists: addresses and sizes of inputs and outputs, and the results.
const LISTS: u64 = 5;

/// What the lists say of the arrays of a batch.
pub(super) struct Sizes<'a> {
    /// The listed sizes of the inputs.
    pub(super) inputs: &'a [u64],
    /// The listed sizes of the outputs.
    pub(super) outputs: &'a [u64],
    /// The bytes of the outputs.
    pub(super) output_bytes: &'a [u64],
}

/// Where arrays lie in a piece of memory.
struct Places {
    starts: Vec<u64>,
    bytes: u64,
}

impl Places {
    /// Arrays of these lengths in bytes, one behind the other.
    fn new(lengths: impl Iterator<Item = u64>) -> Result<Self, Error> {
        let (mut starts, mut bytes) = (Vec::new(), 0u64);
        for length in lengths {
            starts.push(bytes);
            let end = bytes.checked_add(length);
            bytes = end
                .and_then(|end| end.checked_next_multiple_of(ALIGNMENT))
                .ok_or(Error::OutOfMemory { bytes: u64::MAX })?;
        }
        Ok(Self { starts, bytes })
    }
}

/// The memory of a batch.
pub(super) struct BatchMemory<'a, E: Executor> {
    executor: &'a E,
    /// Only held, as the lists have its addresses.
    _inputs: E::Memory,
    outputs: E::Memory,
    lists: E::Memory,
    places: Places,
    output_bytes: Vec<u64>,
    count: u64,
}

impl<'a, E: Executor> BatchMemory<'a, E> {
    /// Memory with these inputs.
    pub(super) fn new(executor: &'a E, inputs: &[&[u8]], sizes: &Sizes<'_>) -> Result<Self, Error> {
        let input_places = Places::new(inputs.iter().map(|input| input.len() as u64))?;
        let places = Places::new(sizes.output_bytes.iter().copied())?;
        let mut bytes = crate::memory::try_zeroed::<u8>(input_places.bytes)?;
        for (start, input) in input_places.starts.iter().zip(inputs) {
            let start = *start as usize;
            bytes[start..start + input.len()].copy_from_slice(input);
        }
        let count = inputs.len() as u64;
        let memory = Self {
            executor,
            outputs: executor.allocate(places.bytes)?,
            lists: executor.allocate(8 * LISTS * count)?,
            _inputs: executor.allocate(input_places.bytes)?,
            places,
            output_bytes: sizes.output_bytes.to_vec(),
            count,
        };
        executor.upload(&bytes, executor.view(&memory._inputs))?;
        let address = |memory: &E::Memory| executor.view::<u8>(memory).address() as u64;
        let of = |memory: &E::Memory, places: &Places| -> Vec<u64> {
            let first = address(memory);
            places.starts.iter().map(|start| first + start).collect()
        };
        let lists = [
            &of(&memory._inputs, &input_places)[..],
            sizes.inputs,
            &of(&memory.outputs, &memory.places),
            sizes.outputs,
        ];
        let lists = lists.concat();
        executor.upload(
            bytemuck::cast_slice(&lists),
            executor.view::<u32>(&memory.lists),
        )?;
        Ok(memory)
    }

    fn list(&self, number: u64) -> View<u64> {
        let all: View<u64> = self.executor.view(&self.lists);
        all.from(number * self.count).first(self.count)
    }

    /// The lists of the arrays.
    pub(super) fn arrays(&self) -> Arrays {
        Arrays {
            inputs: self.list(0),
            input_sizes: self.list(1),
            outputs: self.list(2),
            output_sizes: self.list(3),
        }
    }

    /// The list of the results.
    pub(super) fn results(&self) -> View<u64> {
        self.list(LISTS - 1)
    }

    /// The results, and the bytes of all outputs, after the enqueued work.
    pub(super) fn download(&self) -> Result<(Vec<u64>, Vec<Vec<u8>>), Error> {
        let mut results = vec![0u64; self.count as usize];
        let bytes = bytemuck::cast_slice_mut(&mut results);
        self.executor.download(self.results(), 0, bytes)?;
        let mut outputs = crate::memory::try_zeroed::<u8>(self.places.bytes)?;
        let view: View<u8> = self.executor.view(&self.outputs);
        self.executor.download(view, 0, &mut outputs)?;
        let places = self.places.starts.iter().zip(&self.output_bytes);
        let cut = |(start, bytes): (&u64, &u64)| {
            let start = *start as usize;
            outputs[start..start + *bytes as usize].to_vec()
        };
        Ok((results, places.map(cut).collect()))
    }
}
