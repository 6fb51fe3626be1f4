//! cuSZp's coder as a stage: blocks of 32 codes, each with the planes that its largest code needs.

use crate::error::Error;
use crate::kernels::recode::NumberKind;
use crate::stage::machine::{CodesOn, Encoded, MachineStage, OnMachine, bad_codes, failed};
use crate::stage::{CodeFormat, Codes, Stage};
use core::cmp::Ordering;
use ferrosz_codec::code::fixed_length::block::{BODY_SCRATCH, SignedGroup, read_body, write_body};
use ferrosz_codec::code::fixed_length::rate::RateByte;
use ferrosz_codec::predict::group::Group;
use ferrosz_codec::shape::GROUP;
use ferrosz_cuszp::cuszp::{Mode, Params};
use ferrosz_cuszp::{Bare, Shape};
use ferrosz_host::internals::{Executor, try_zeroed};
use ferrosz_simt::View;

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
        let blocks = usize::try_from(blocks(format)).unwrap_or(usize::MAX);
        let (rates, mut bodies) = bytes
            .split_at_checked(blocks)
            .ok_or_else(|| Error::stage(NAME, "it ends within the rate bytes"))?;
        let mut codes = Vec::new();
        for rate in checked_rates(rates, bytes.len() as u64)? {
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

impl OnMachine for FixedLength {
    fn encode_on<E: Executor>(on: &CodesOn<'_, E>, codes: View<u32>) -> Result<Encoded<E>, Error> {
        let differences = on.recoded(codes, [on.kind(), NumberKind::Float])?;
        let array = on.executor.view(&differences);
        let encoded = bare(on.format).compress_with(on.executor, array);
        encoded.map_err(of_cuszp)
    }

    fn decode_on<E: Executor>(
        on: &CodesOn<'_, E>,
        bytes: View<u32>,
        length: u64,
    ) -> Result<E::Memory, Error> {
        let blocks = blocks(on.format);
        if length < blocks {
            return Err(Error::stage(NAME, "it ends within the rate bytes"));
        }
        let mut rates = try_zeroed(blocks)?;
        on.executor.download(bytes, 0, &mut rates)?;
        checked_rates(&rates, length)?;
        let differences = on.executor.allocate(4 * on.format.count())?;
        let array = on.executor.view(&differences);
        let decoded = bare(on.format).decompress_with(on.executor, bytes, array);
        decoded.map_err(of_cuszp)?;
        let codes = on.recoded(array, [NumberKind::Float, on.kind()]);
        codes.map_err(|error| bad_codes(NAME, error))
    }
}

/// The stream of cuSZp that has the differences.
fn bare(format: &CodeFormat) -> Bare<f32> {
    let params = Params::new(Shape::Line, Mode::Fixed, [1, 1, format.count()], 0.5);
    Bare::Cuszp(params)
}

fn of_cuszp(error: ferrosz_cuszp::Error) -> Error {
    match error {
        ferrosz_cuszp::Error::Ferrosz(error) => failed(NAME, error),
        error => Error::stage(NAME, error.to_string()),
    }
}

/// The rate bytes of blocks, whose bodies must be what is left of so many bytes.
fn checked_rates(rates: &[u8], length: u64) -> Result<Vec<RateByte>, Error> {
    let failed = |reason| Error::stage(NAME, reason);
    let read = |rate: &u8| RateByte::from_byte(*rate, false, MAX_PLANES);
    let rates: Option<Vec<_>> = rates.iter().map(read).collect();
    let rates = rates.ok_or_else(|| failed("a rate byte is larger than 16"))?;
    let bodies: u64 = (rates.iter())
        .map(|rate| u64::from(rate.body_bytes(1)))
        .sum();
    match length.cmp(&(rates.len() as u64 + bodies)) {
        Ordering::Less => Err(failed("it ends within a block")),
        Ordering::Equal => Ok(rates),
        Ordering::Greater => Err(failed("bytes are left behind the last block")),
    }
}

/// cuSZp counts the blocks of whole thread blocks, of which the last may be empty.
const THREAD_BLOCK: u64 = 1024;

/// The number of blocks.
fn blocks(format: &CodeFormat) -> u64 {
    (format.count().div_ceil(GROUP as u64)).next_multiple_of(THREAD_BLOCK)
}
