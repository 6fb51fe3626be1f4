//! cuSZp's coder as a stage: blocks of 32 codes, each with the planes that its largest code needs.

use crate::error::Error;
use crate::stage::{CodeFormat, Codes, MachineStage, Stage};
use core::cmp::Ordering;
use ferrosz_codec::code::fixed_length::block::{BODY_SCRATCH, SignedGroup, read_body, write_body};
use ferrosz_codec::code::fixed_length::rate::RateByte;
use ferrosz_codec::predict::group::Group;
use ferrosz_codec::shape::GROUP;
use ferrosz_host::internals::try_zeroed;

/// cuSZp's coder. The bytes are those that cuSZp itself makes, in its fixed mode, of a line of the codes without the
/// radius within a bound of one half: a rate byte for each block of 32 codes, then the signs and bit planes of each block.
#[derive(Debug, Clone, Copy, Default)]
pub struct FixedLength;

/// The name in containers.
const NAME: &str = "fixed-length";

/// The planes of a difference: magnitudes are at most 2^15.
const MAX_PLANES: u32 = 16;

impl Stage for FixedLength {
    fn name(&self) -> &'static str {
        NAME
    }

    fn encode(&self, codes: &Codes<'_>) -> Result<Vec<u8>, Error> {
        let mut differences = codes.differences();
        let mut bytes = try_zeroed(blocks(codes.format()))?;
        let mut bodies = Vec::new();
        let mut body = [0; BODY_SCRATCH];
        for rate in &mut bytes {
            let mut group: Group = [0; GROUP];
            for (place, difference) in group.iter_mut().zip(&mut differences) {
                *place = difference;
            }
            let group = SignedGroup::split(&group);
            let (first, others) = group.first_and_others();
            let chosen = RateByte::plain(first | others);
            write_body([group], chosen, &mut body);
            *rate = chosen.to_byte();
            bodies.extend_from_slice(&body[..chosen.body_bytes(1) as usize]);
        }
        bytes.append(&mut bodies);
        Ok(bytes)
    }

    fn decode(&self, bytes: &[u8], format: &CodeFormat) -> Result<Vec<u8>, Error> {
        let rates = checked_rates(bytes, format)?;
        let mut bodies = &bytes[rates.len()..];
        let mut codes = Vec::new();
        for rate in rates {
            let (body, rest) = bodies.split_at(rate.body_bytes(1) as usize);
            let [group] = read_body::<1>(rate, body);
            codes.extend(group.map(|it| format.radius.wrapping_add_signed(it)));
            bodies = rest;
        }
        codes.truncate(usize::try_from(format.count()).unwrap_or(usize::MAX));
        format.bytes_of(codes.into_iter())
    }

    fn on_machine(&self) -> Option<MachineStage> {
        Some(MachineStage::FixedLength)
    }
}

/// The rate bytes in front of the bodies of all blocks, behind which there is nothing.
pub(super) fn checked_rates(bytes: &[u8], format: &CodeFormat) -> Result<Vec<RateByte>, Error> {
    let failed = |reason| Error::stage(NAME, reason);
    let blocks = usize::try_from(blocks(format)).unwrap_or(usize::MAX);
    let (rates, bodies) = bytes
        .split_at_checked(blocks)
        .ok_or_else(|| failed("it ends within the rate bytes"))?;
    let read = |rate: &u8| RateByte::from_byte(*rate, false, MAX_PLANES);
    let rates: Option<Vec<_>> = rates.iter().map(read).collect();
    let rates = rates.ok_or_else(|| failed("a rate byte is larger than 16"))?;
    let needed: u64 = (rates.iter())
        .map(|rate| u64::from(rate.body_bytes(1)))
        .sum();
    match needed.cmp(&(bodies.len() as u64)) {
        Ordering::Greater => Err(failed("it ends within a block")),
        Ordering::Equal => Ok(rates),
        Ordering::Less => Err(failed("bytes are left behind the last block")),
    }
}

/// cuSZp counts the blocks of whole thread blocks, of which the last may be empty.
const THREAD_BLOCK: u64 = 1024;

/// The number of blocks.
fn blocks(format: &CodeFormat) -> u64 {
    (format.count().div_ceil(GROUP as u64)).next_multiple_of(THREAD_BLOCK)
}
