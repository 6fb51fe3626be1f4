//! Finds what becomes of each decoded value.

use crate::backend::Gpu;
use crate::compress::Compressor;
use crate::error::Error;
use crate::gpu::safeguards::{FindOnDevice, FoundOnDevice};
use crate::parallel;
use crate::safeguards::TASK;
use bytemuck::{cast_slice, cast_slice_mut};
use ferrosz_codec::safeguard::guard::Guard;
use ferrosz_codec::safeguard::lines::Lines;
use ferrosz_codec::{Element, Value};

/// In place of a correction: the value is replaced.
const REPLACED: i16 = i16::MIN;

/// A stream of corrections, and the values that replace decoded ones, with their places.
type OnDevice<V> = (Option<Vec<u8>>, Vec<(u64, V)>);

/// A field, and what was decoded of it.
pub(super) struct GuardedField<'a, V> {
    pub(super) values: &'a [V],
    /// The bound of each value.
    pub(super) bounds: Option<&'a [f64]>,
    /// The extents of the field.
    pub(super) lengths: &'a [u64],
}

/// The corrections of a field, and the values that replace decoded ones, with their places.
pub(super) struct FoundCorrections<V> {
    pub(super) corrections: Vec<i16>,
    pub(super) replaced: Vec<(u64, V)>,
}

impl<V: Value> GuardedField<'_, V> {
    /// The length of the lines in which neighbours keep their order, and how many values apart neighbours are.
    pub(super) fn lines(&self, guard: &Guard) -> [u64; 2] {
        let axis = guard.mender.safeguards.monotone().map(usize::from);
        match axis.and_then(|axis| self.lengths.get(axis..)) {
            Some([length, faster @ ..]) if *length > 1 => [*length, faster.iter().product()],
            _ => [1, 1],
        }
    }

    /// As [`GuardedField::find`], on a machine that runs kernels: the stream of corrections, if there are some, and the values that
    /// replace decoded ones.
    ///
    /// # Errors
    ///
    /// Those of the machine.
    pub(super) fn find_on(
        &self,
        gpu: &Gpu,
        guard: &Guard,
        coder: &Compressor,
        decoded: &mut [V],
    ) -> Result<OnDevice<V>, Error> {
        let FoundOnDevice {
            corrections,
            replaced,
        } = gpu.find_corrections::<V::Coded>(FindOnDevice {
            guard,
            values: cast_slice(self.values),
            bounds: self.bounds,
            decoded: cast_slice_mut(decoded),
            lines: self.lines(guard),
            coder,
        })?;
        let values = replaced.into_iter().map(|(at, value)| {
            let bits = value.to_bits64();
            (at, V::from_value_bits(bits))
        });
        Ok((corrections, values.collect()))
    }

    /// Finds the corrections of decoded values, which become mended ones.
    pub(super) fn find(&self, guard: &Guard, decoded: &mut [V]) -> FoundCorrections<V> {
        let mut corrections = vec![0; decoded.len()];
        let [length, step] = self.lines(guard).map(|count| count as usize);
        let slab = match length {
            1 => TASK,
            _ => length * step,
        };
        let slabs = decoded.chunks_mut(slab).zip(corrections.chunks_mut(slab));
        parallel::each(slabs.enumerate(), |(number, (decoded, corrections))| {
            let first = number * slab;
            let mut slab = MendedSlab {
                values: &self.values[first..],
                bounds: self.bounds.map(|bounds| &bounds[first..]),
                step: step as u64,
                decoded,
                corrections,
            };
            for at in 0..slab.decoded.len() as u64 {
                let before = if length == 1 { 0 } else { at / step as u64 };
                guard.mend_at(&mut slab, at, before);
            }
        });
        let mut replaced = Vec::new();
        for (at, correction) in corrections.iter_mut().enumerate() {
            let value = self.values[at];
            if *correction == REPLACED {
                *correction = 0;
                replaced.push((at as u64, decoded[at]));
            } else if is_lost(value, decoded[at]) {
                replaced.push((at as u64, value));
            }
        }
        FoundCorrections {
            corrections,
            replaced,
        }
    }
}

/// Whether a value that is no finite number was decoded to another one: wavelets have such numbers in no coefficient.
fn is_lost<V: Value>(value: V, decoded: V) -> bool {
    !value.to_number().is_finite() && value.to_value_bits() != decoded.to_value_bits()
}

/// Values of whole lines along the axis of order.
struct MendedSlab<'a, V> {
    values: &'a [V],
    bounds: Option<&'a [f64]>,
    step: u64,
    decoded: &'a mut [V],
    corrections: &'a mut [i16],
}

impl<V: Value> Lines<V> for MendedSlab<'_, V> {
    fn step(&self) -> u64 {
        self.step
    }

    fn value(&self, at: u64) -> V {
        self.values[at as usize]
    }

    fn bound(&self, at: u64) -> Option<f64> {
        self.bounds.map(|bounds| bounds[at as usize])
    }

    fn decoded(&self, at: u64) -> V {
        self.decoded[at as usize]
    }

    fn put(&mut self, at: u64, correction: Option<i16>, mended: V) {
        self.corrections[at as usize] = correction.unwrap_or(REPLACED);
        self.decoded[at as usize] = mended;
    }
}
