//! cuSZp's coder in 1D on the CPU, in blocks of one group or two: of 32 elements, as cuSZp has them, or of 64, as those in
//! the row 1D of cuSZp2's Table VI.

use alloc::vec::Vec;
use ferrosz_codec::Element;
use ferrosz_codec::code::fixed_length::block::{BODY_SCRATCH, SignedGroup, write_body};
use ferrosz_codec::predict::difference;
use ferrosz_codec::shape::{GROUP, Shape};
use ferrosz_cuszp::cuszp::mode::Mode;
use ferrosz_cuszp::cuszp::quantizer::Quantizer;
use ferrosz_cuszp::cuszp::rate::BlockKind;

/// The bytes of consecutive blocks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CodedBlocks {
    /// A rate byte for each block.
    pub rates: Vec<u8>,
    /// Their bodies.
    pub payload: Vec<u8>,
}

/// Codes values in blocks of `G` groups, 1 or 2. Elements that the last block lacks have no difference.
pub fn encode<T: Element, const G: usize>(
    quantizer: &Quantizer<T>,
    mode: Mode,
    values: &[T],
) -> CodedBlocks {
    let shape = Shape::Line;
    let kind = BlockKind { shape, mode };
    let mut coded = CodedBlocks::default();
    let mut body = [0; BODY_SCRATCH];
    for values in values.chunks(GROUP * G) {
        let block = differences::<T, G>(quantizer, mode, values);
        let groups = block.map(|differences| SignedGroup::split(&differences));
        let (first, mut others) = groups[0].first_and_others();
        for group in &groups[1..] {
            let (a, b) = group.first_and_others();
            others |= a | b;
        }
        let rate = kind.rate(kind.choose_of(G as u32, first, others).byte);
        write_body(groups, rate, &mut body);
        coded.rates.push(rate.to_byte());
        let bytes = rate.body_bytes(G as u32) as usize;
        coded.payload.extend(body.iter().take(bytes));
    }
    coded
}

/// The differences of a block, as the mode has them.
fn differences<T: Element, const G: usize>(
    quantizer: &Quantizer<T>,
    mode: Mode,
    values: &[T],
) -> [[i32; GROUP]; G] {
    let mut block = [[0; GROUP]; G];
    let mut before = 0;
    for (group, values) in block.iter_mut().zip(values.chunks(GROUP)) {
        let mut last = before;
        let mut values = values.iter();
        for code in group.iter_mut() {
            last = values.next().map_or(last, |value| quantizer.code(*value));
            *code = last;
        }
        if mode != Mode::Fixed {
            difference::forward(Shape::Line, group, before);
        }
        before = last;
    }
    block
}

/// The stream of parts of a field, in order: all rate bytes, then all bodies.
pub fn assemble(parts: &[CodedBlocks]) -> Vec<u8> {
    let rates = parts.iter().map(|part| &part.rates);
    let payloads = parts.iter().map(|part| &part.payload);
    rates.chain(payloads).flatten().copied().collect()
}
