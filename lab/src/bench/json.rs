//! The JSON object at the end of a run.

use super::row::{Ceilings, Row, Series, Timed};
use super::{about::About, flags::Flags, times::Times};
use serde_json::{Value, json};

/// The object of a whole run.
pub fn report(about: &About, flags: &Flags, all: &[Series]) -> Value {
    let rows = |series: &Series| -> Vec<Value> {
        let rows = series.rows.iter();
        rows.map(|row| row_of(series, row)).collect()
    };
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "arguments": std::env::args().skip(1).collect::<Vec<_>>(),
        "device": about.device.to_string(),
        "machine": about.name,
        "driver": about.driver,
        "threads": about.threads,
        "repeat": flags.repeat,
        "ceilings": all.iter().map(ceilings).collect::<Vec<_>>(),
        "rows": all.iter().flat_map(rows).collect::<Vec<_>>(),
    })
}

fn ceilings(series: &Series) -> Value {
    let Ceilings { bytes, copy, read } = &series.ceilings;
    json!({
        "field": series.field,
        "dtype": series.dtype.name(),
        "bytes": bytes,
        "copy": times(copy, 2 * bytes),
        "read": times(read, *bytes),
    })
}

fn row_of(series: &Series, row: &Row) -> Value {
    let [compress_share, call_share, decompress_share] = row.shares(&series.ceilings);
    let whole = |timed: &Timed, share: Option<f64>| {
        let mut object = timed_of(timed, row.field_bytes);
        object["floor_share"] = share.into();
        object
    };
    json!({
        "field": series.field,
        "dtype": series.dtype.name(),
        "dims": series.extents,
        "codec": row.codec,
        "rank": row.rank,
        "bound_mode": row.bound.mode().name(),
        "bound": row.bound.value(),
        "absolute_error": row.absolute_error,
        "field_bytes": row.field_bytes,
        "stream_bytes": row.stream_bytes,
        "ratio": row.ratio(),
        "compress": whole(&row.compress, compress_share),
        "call": row.call.as_ref().map(|call| whole(call, call_share)),
        "decompress": whole(&row.decompress, decompress_share),
        "box": row.part.as_ref().map(|(dims, timed)| part(series, dims, timed)),
        // A wrong result would have ended the run.
        "verified": true,
    })
}

fn part(series: &Series, dims: &[u64], timed: &Timed) -> Value {
    let bytes = dims.iter().product::<u64>() * series.dtype.bytes() as u64;
    let mut object = timed_of(timed, bytes);
    object["dims"] = dims.into();
    object
}

/// Calls one by one, and in a graph.
fn timed_of(timed: &Timed, bytes: u64) -> Value {
    let mut object = times(&timed.single, bytes);
    object["in_a_graph"] = (timed.replayed.as_ref())
        .map(|graph| times(graph, bytes))
        .into();
    object
}

/// Rate for `bytes` bytes, and durations.
pub fn times(times: &Times, bytes: u64) -> Value {
    let [min, median, max] = times.microseconds();
    json!({
        "gb_s": times.rate(bytes),
        "us": median,
        "us_min": min,
        "us_max": max,
    })
}
