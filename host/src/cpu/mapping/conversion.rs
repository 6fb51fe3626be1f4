//! Conversion of fields between values and elements, in parallel.

use crate::error::Error;
use crate::memory::try_zeroed;
use crate::nearby::Nearby;
use crate::parallel;
use crate::scratch::{Coded, Copies, Scratch};
use bytemuck::allocation::cast_vec;
use bytemuck::{cast_slice, cast_slice_mut};
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::mapping::conversion::{Conversion, Plan};
use ferrosz_codec::{Bound, Element, Value};
use std::sync::atomic::{AtomicU64, Ordering};

/// Values of a task.
const TASK: usize = 1 << 16;

/// Words of the set of the values of 16 bits that a field has.
const SEEN: usize = (1 << 16) / 64;

/// The values of a field from which its conversion follows. Values with `missing` bits do not count.
pub(crate) fn present<V: Value>(missing: &[u64], values: &[V]) -> Vec<V> {
    match V::TYPE.bytes() {
        2 => different(missing, values),
        _ => ends_of(&extremes(missing, values)),
    }
}

/// As [`present`], for a field whose parts have values in several places: `all` replaces each number by the largest of all
/// of them.
///
/// # Errors
///
/// Those of `all`.
pub(crate) fn present_in_parts<V: Value>(
    values: &[V],
    all: impl FnOnce(&mut [u64]) -> Result<(), Error>,
) -> Result<Vec<V>, Error> {
    if V::TYPE.bytes() != 2 {
        let mut cells = extremes(&[], values).to_cells();
        all(&mut cells)?;
        return Ok(ends_of(&Extremes::from_cells(cells)));
    }
    let mut is_seen = vec![0; 64 * SEEN];
    for value in different(&[], values) {
        is_seen[value.to_value_bits() as usize] = 1;
    }
    all(&mut is_seen)?;
    let seen = (0..).zip(is_seen).filter(|(_, is_seen)| *is_seen > 0);
    Ok(seen.map(|(bits, _)| V::from_value_bits(bits)).collect())
}

/// The conversion within a bound for a field with the values that are [`present`], and whose decoded values may have to come
/// back when they are compressed again.
pub(crate) fn plan<V: Value>(bound: Bound, is_rewritable: bool, present: Vec<V>) -> Plan<V::Coded> {
    match is_rewritable {
        true => Plan::rewritable(bound, present.into_iter()),
        false => Plan::new(bound, present.into_iter()),
    }
}

/// Each value of 16 bits that a field has.
fn different<V: Value>(missing: &[u64], values: &[V]) -> Vec<V> {
    let seen: Vec<AtomicU64> = (0..SEEN).map(|_| AtomicU64::new(0)).collect();
    parallel::each(values.chunks(TASK), |values| {
        let mut own = vec![0; SEEN];
        for value in values {
            let bits = value.to_value_bits() as usize % (64 * SEEN);
            own[bits / 64] |= 1 << (bits % 64);
        }
        for (seen, own) in seen.iter().zip(own) {
            seen.fetch_or(own, Ordering::Relaxed);
        }
    });
    let seen: Vec<u64> = seen.into_iter().map(AtomicU64::into_inner).collect();
    let is_seen = |bits: &u64| seen[*bits as usize / 64] >> (bits % 64) & 1 == 1;
    let bits = (0..64 * SEEN as u64).filter(|bits| is_seen(bits) && !missing.contains(bits));
    bits.map(V::from_value_bits).collect()
}

/// The smallest and the largest value of a field of integers.
fn ends_of<V: Value>(extremes: &Extremes<V::Coded>) -> Vec<V> {
    let ends = extremes.values();
    let ends = ends.map(|(min, max)| [min, max]);
    let ends = ends.into_iter().flatten();
    ends.filter_map(|end| V::from_number(end.to_f64()))
        .collect()
}

/// The extremes of a field. Values with `missing` bits do not count.
pub(crate) fn extremes<V: Value>(missing: &[u64], values: &[V]) -> Extremes<V::Coded> {
    let of_task = |values: &[V]| {
        let mut ends = Extremes::<V::Coded>::default();
        for value in values {
            if !missing.contains(&value.to_value_bits()) {
                ends.see(value.widened());
            }
        }
        ends
    };
    let of_tasks = parallel::map(values.chunks(TASK), of_task).into_iter();
    of_tasks.fold(Extremes::default(), Extremes::union)
}

/// The elements of values, or of what `nearby` makes of them.
///
/// # Errors
///
/// The errors of [`Scratch::zeroed`].
pub(crate) fn to_coded<'a, V: Value>(
    copies: Copies,
    conversion: &Conversion,
    nearby: Option<&Nearby<V>>,
    values: &'a [V],
) -> Result<Coded<'a, V::Coded>, Error> {
    if conversion.is_none() && nearby.is_none() {
        return Ok(Coded::Field(cast_slice(values)));
    }
    let mut coded = Scratch::<V::Coded>::zeroed(copies, values.len() as u64)?;
    let tasks = coded.chunks_mut(TASK).zip(values.chunks(TASK));
    parallel::each(tasks, |(coded, values)| {
        for (coded, value) in coded.iter_mut().zip(values) {
            let value = nearby.map_or(*value, |nearby| nearby.apart(*value));
            *coded = conversion.to_coded(value);
        }
    });
    Ok(Coded::Copy(coded))
}

/// The values of decoded elements.
///
/// # Errors
///
/// [`Error::OutOfMemory`].
pub(crate) fn to_values<V: Value>(
    conversion: &Conversion,
    coded: Vec<V::Coded>,
) -> Result<Vec<V>, Error> {
    if conversion.is_none() {
        return Ok(cast_vec(coded));
    }
    let mut values = try_zeroed::<V>(coded.len() as u64)?;
    convert(conversion, &coded, &mut values);
    Ok(values)
}

/// Decodes elements by `decode`, and converts them to `values`.
///
/// # Errors
///
/// [`Error::OutOfMemory`] and those of `decode`.
pub(crate) fn decode_to<V: Value>(
    conversion: &Conversion,
    values: &mut [V],
    decode: impl FnOnce(&mut [V::Coded]) -> Result<(), Error>,
) -> Result<(), Error> {
    if conversion.is_none() {
        return decode(cast_slice_mut(values));
    }
    let mut coded = try_zeroed::<V::Coded>(values.len() as u64)?;
    decode(&mut coded)?;
    convert(conversion, &coded, values);
    Ok(())
}

fn convert<V: Value>(conversion: &Conversion, coded: &[V::Coded], values: &mut [V]) {
    let tasks = values.chunks_mut(TASK).zip(coded.chunks(TASK));
    parallel::each(tasks, |(values, coded)| {
        for (value, coded) in values.iter_mut().zip(coded) {
            *value = conversion.to_value(*coded);
        }
    });
}
