//! Safeguards: from decoded values to the values of a stream. FORMAT.md, section 30.

use super::decompress;
use crate::container::header::Header;
use crate::container::record;
use crate::container::record_kind::RecordKind;
use crate::container::section;
use crate::element::Element;
use crate::error::FormatError;
use crate::mapping::Scale;
use crate::mapping::conversion::Conversion;
use crate::mapping::wavelet::Wavelets;
use crate::safeguard::{Safeguard, Safeguards};
use crate::value::Value;
use alloc::vec::Vec;

const FOREIGN: FormatError =
    FormatError::InvalidSections("the section CORR has the corrections of another stream");

/// Mends the decoded values of a stream with these records, in the user's order.
pub(super) fn mend<V: Value>(
    header: &Header,
    records: &[u8],
    conversion: &Conversion,
    stream: &[u8],
    values: &mut [V],
) -> Result<(), FormatError> {
    let safeguards = Safeguards::of_records(records)?;
    let wavelets = Wavelets::of_records(records)?;
    if safeguards.is_empty() && wavelets.is_none() {
        return Ok(());
    }
    let of_elements = wavelets.map_or(header.absolute_error(), |wavelets| wavelets.error);
    let error = conversion.absolute_error().unwrap_or(of_elements);
    let [table, payload, end] = [
        header.table_start(),
        header.payload_start(),
        header.payload_end(),
    ]
    .map(|at| at as usize);
    let start = section::start(header, stream[table..payload].as_chunks().0);
    let sections = match start {
        Some(start) => section::read(&stream[payload..end], start, header.identity())?,
        None => Vec::new(),
    };
    let contents = |kind| {
        let found = sections.iter().find(|section| section.head.kind == kind);
        found.map(|section| section.contents()).transpose()
    };
    let corrections = match contents(RecordKind::CORR)? {
        Some(nested) => corrections(nested, header)?,
        None => alloc::vec![0; values.len()],
    };
    if corrections.len() != values.len() {
        return Err(FOREIGN);
    }
    for (value, correction) in values.iter_mut().zip(corrections) {
        if value.to_number().is_finite() && !safeguards.is_exempt(value.to_value_bits()) {
            *value = mended(&safeguards, (header, error), *value, correction);
        }
    }
    if let Some(exact) = contents(RecordKind::EXAC)? {
        let invalid = FormatError::InvalidSections("the section EXAC contradicts itself");
        replace(exact, values).ok_or(invalid)?;
    }
    Ok(())
}

fn corrections(nested: &[u8], outer: &Header) -> Result<Vec<i16>, FormatError> {
    let header = Header::read(nested)?;
    let all = nested
        .get(crate::container::header::HEADER_BYTES..header.table_start() as usize)
        .ok_or(FOREIGN)?;
    let (mut records, mut is_own) = (all, false);
    while let Some(record) = record::take(&mut records) {
        is_own |=
            record.kind == RecordKind::CORR && record.contents == outer.identity().0.to_le_bytes();
    }
    let is_plain = Safeguards::of_records(all)?.is_empty() && Wavelets::of_records(all)?.is_none();
    match is_own && is_plain {
        true => decompress::<i16>(nested),
        false => Err(FOREIGN),
    }
}

fn mended<V: Value>(
    safeguards: &Safeguards,
    (header, error): (&Header, f64),
    mut value: V,
    correction: i16,
) -> V {
    let rounded = |number: f64| V::narrowed(V::Coded::from_f64(number), 0);
    for safeguard in safeguards.list() {
        if let Safeguard::Limits(low, high) = safeguard {
            if value.to_number() < low {
                value = rounded(low);
            } else if value.to_number() > high {
                value = rounded(high);
            }
        }
    }
    if correction == 0 {
        return value;
    }
    let number = value.to_number();
    let step = match header.scale() {
        Scale::Logarithm => header.bound.value() * number.abs(),
        Scale::Linear => error,
    };
    let distance = step * fraction(correction.unsigned_abs());
    rounded(match correction > 0 {
        true => number + distance,
        false => number - distance,
    })
}

/// 1, 1/2, 1/4, 3/4, 1/8, 3/8, 5/8 ..., counted from 1.
fn fraction(number: u16) -> f64 {
    let (mut numerator, mut denominator) = (1.0, 1.0);
    for _ in 1..number {
        numerator += 2.0;
        if numerator > denominator {
            numerator = 1.0;
            denominator *= 2.0;
        }
    }
    numerator / denominator
}

/// Puts the values of the section `EXAC` to their places; none if it contradicts itself.
fn replace<V: Value>(contents: &[u8], values: &mut [V]) -> Option<()> {
    let word = |number: usize| {
        let bytes = contents.get(8 * number..8 * number + 8)?;
        Some(u64::from_le_bytes(*bytes.first_chunk()?) as usize)
    };
    let (runs, count) = (word(0)?, word(1)?);
    let first = runs.checked_mul(16)?.checked_add(16)?;
    let all = contents.get(first..)?;
    if all.len() != count.checked_mul(size_of::<V>())? {
        return None;
    }
    let (mut end, mut number) = (0, 0);
    for run in 0..runs {
        let (place, own) = (word(2 + 2 * run)?, word(3 + 2 * run)?);
        let after = if run + 1 < runs {
            word(5 + 2 * run)?
        } else {
            count
        };
        if own != number || place < end || after <= own {
            return None;
        }
        end = place.checked_add(after - own)?;
        for (value, bytes) in values
            .get_mut(place..end)?
            .iter_mut()
            .zip(all[own * size_of::<V>()..].chunks(size_of::<V>()))
        {
            let mut bits = [0; 8];
            bits[..bytes.len()].copy_from_slice(bytes);
            *value = V::from_value_bits(u64::from_le_bytes(bits));
        }
        number = after;
    }
    (number == count).then_some(())
}
