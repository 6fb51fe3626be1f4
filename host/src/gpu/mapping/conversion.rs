//! Values of 16 bits on a machine that runs kernels: the conversion that is chosen for a field, and the kernels of codecs
//! that do not convert values themselves.

use crate::error::Error;
use crate::gpu::executor::Executor;
use crate::gpu::job::{CompressJob, DecompressJob};
use crate::gpu::mapping::compress::Compression;
use crate::gpu::mapping::decompress::Decompression;
use crate::gpu::mapping::tasks;
use crate::gpu::mapping::workspace::ConversionMemory;
use ferrosz_codec::container::header_words::Draft;
use ferrosz_codec::container::record;
use ferrosz_codec::mapping::conversion::{Conversion, Plan};
use ferrosz_codec::{Bound, Element, ValueType, with_short};
use ferrosz_gpu_kernels::mapping::conversion::backward::{
    self, ConvertBackward, ConvertBackwardParams,
};
use ferrosz_gpu_kernels::mapping::conversion::find::{self, FindValues, FindValuesParams};
use ferrosz_gpu_kernels::mapping::conversion::forward::{
    self, ConvertForward, ConvertForwardParams,
};
use ferrosz_gpu_kernels::mapping::conversion::plan::{
    BLOCKS, PlanConversion, PlanParams, RecordsOf,
};
use ferrosz_gpu_kernels::primitives::shorts::UNIT;
use ferrosz_simt::View;

/// Whether a machine that runs kernels converts values of a type: those of 16 bits.
pub(crate) const fn converts(value_type: ValueType) -> bool {
    value_type.bytes() == 2
}

/// The records of a stream, the last of which is that of the conversion of a type, with an error of 0.
pub(super) fn records_with_error(records: &[u8], sum: u64, value_type: ValueType) -> RecordsOf {
    let last = records.len() - Conversion::record_bytes(value_type) as usize;
    RecordsOf {
        sum,
        error_word: ((last + record::HEAD_BYTES) / 4) as u32,
    }
}

/// The conversion of a field without values, which does not depend on a machine.
pub(super) fn of_nothing(bound: Bound, value_type: ValueType) -> Plan<f32> {
    with_short!(
        value_type,
        V => Plan::new::<V>(bound, core::iter::empty()),
        Plan { conversion: Conversion::none(value_type), error: 0.0 }
    )
}

/// Enqueues the choice of the conversion of a field that has values: the quantiser, the identity and the conversion will be
/// in the cells of the codec.
pub(super) fn enqueue_plan<T: Element, E: Executor>(
    executor: &E,
    call: &Compression<'_>,
    job: &CompressJob,
    memory: &ConversionMemory,
    records: RecordsOf,
) -> Result<(), Error> {
    executor.clear(memory.zeros)?;
    let values = job.layout.extents.elements();
    let seen = FindValuesParams {
        field: call.field,
        values,
        set: memory.set,
    };
    let units = tasks(values.div_ceil(find::UNIT_VALUES), find::THREADS);
    executor.launch_over::<FindValues>(units, &seen)?;
    let params = PlanParams {
        set: memory.set,
        rooms: memory.rooms,
        cells: job.cells,
        bound: job.bound.value(),
        mode: job.bound.mode().id().into(),
        header_sum: Draft::new(&job.header::<T>()).identity_sum(),
        records,
    };
    with_short!(
        job.value_type,
        V => executor.launch::<PlanConversion<V>>(BLOCKS, &params),
        Err(Error::ConvertedOnDevice(job.value_type))
    )
}

/// Enqueues the conversion of a field to elements, which get memory of their own.
pub(super) fn enqueue_to_elements<E: Executor>(
    executor: &E,
    call: &Compression<'_>,
    job: &CompressJob,
    elements: View<u32>,
) -> Result<(), Error> {
    let values = job.layout.extents.elements();
    let params = ConvertForwardParams {
        field: call.field,
        values,
        elements,
        value_type: job.value_type.id().into(),
        cells: job.cells,
    };
    let units = tasks(values.div_ceil(UNIT as u64), forward::THREADS);
    executor.launch_over::<ConvertForward>(units, &params)
}

/// Enqueues the conversion of so many decoded elements to values.
pub(super) fn enqueue_to_values<E: Executor>(
    executor: &E,
    call: &Decompression<'_>,
    job: &DecompressJob<'_>,
    elements: View<u32>,
    count: u64,
) -> Result<(), Error> {
    let params = ConvertBackwardParams {
        elements,
        count,
        field: call.output,
        header: job.header(),
        records: job.records(),
        cells: job.cells,
    };
    let units = tasks(count.div_ceil(UNIT as u64), backward::THREADS);
    executor.launch_over::<ConvertBackward>(units, &params)
}
