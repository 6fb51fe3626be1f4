//! A block of a stream: from codes to its rate byte and body, and back.

use crate::cuszp::error::CuszpError;
use crate::cuszp::layout::{Layout, Place};
use crate::cuszp::params::Params;
use crate::cuszp::rate::{BlockKind, Choice};
use ferrosz_codec::code::fixed_length::block::{BODY_SCRATCH, SignedGroup, read_body, write_body};
use ferrosz_codec::predict::group::Group;
use ferrosz_codec::shape::{GROUP, Shape};

/// A block's codes or differences; a line's second group is not there, and 0.
pub(crate) type Block = [Group; 2];

/// Room for the body of any block.
pub(crate) type Body = [u8; BODY_SCRATCH];

/// The blocks of a stream: their places, and the form in which they are stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Blocks {
    pub(crate) layout: Layout,
    pub(crate) kind: BlockKind,
}

/// A block whose body is made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CodedBlock {
    pub(crate) choice: Choice,
    /// Bytes of the body.
    pub(crate) bytes: usize,
    /// The first magnitude, and the others or-ed together.
    pub(crate) magnitudes: (u32, u32),
}

impl Blocks {
    /// Of the stream with these parameters.
    pub(crate) fn of<T>(params: &Params<T>) -> Result<Self, CuszpError> {
        Ok(Self {
            layout: params.layout()?,
            kind: BlockKind {
                shape: params.shape,
                mode: params.mode,
            },
        })
    }

    /// Positions of a block.
    pub(crate) fn positions(&self) -> u32 {
        (GROUP * self.kind.shape.groups()) as u32
    }

    /// Bytes of the body of a block with this rate byte.
    pub(crate) fn body_bytes(&self, byte: u8) -> usize {
        let groups = self.kind.shape.groups() as u32;
        self.kind.rate(byte).body_bytes(groups) as usize
    }

    /// Makes the body of a block. `code` gives the code at a position that holds something.
    pub(crate) fn encode(
        &self,
        block: u32,
        code: impl Fn(u32, Place) -> i32,
        body: &mut Body,
    ) -> CodedBlock {
        let groups = self
            .differences(block, code)
            .map(|group| SignedGroup::split(&group));
        let (first, mut others) = groups[0].first_and_others();
        let (second, rest) = groups[1].first_and_others();
        others |= second | rest;
        let choice = self.kind.choose(first, others);
        let rate = self.kind.rate(choice.byte);
        match self.kind.shape {
            Shape::Line => write_body([groups[0]], rate, body),
            Shape::Plane | Shape::Cube => write_body(groups, rate, body),
        }
        CodedBlock {
            choice,
            bytes: self.body_bytes(choice.byte),
            magnitudes: (first, others),
        }
    }

    /// The differences of a block; those of a second half that there is not are 0.
    fn differences(&self, block: u32, code: impl Fn(u32, Place) -> i32) -> Block {
        let corner = self.layout.corner(block);
        let (mut codes, mut nothing) = ([[0; GROUP]; 2], [[false; GROUP]; 2]);
        for half in 0..self.kind.shape.groups() {
            for e in 0..GROUP {
                let position = (GROUP * half + e) as u32;
                match self.layout.position(corner, position) {
                    Place::Nothing => nothing[half][e] = true,
                    place => codes[half][e] = code(position, place),
                }
            }
        }
        let predictor = self.kind.mode.predictor();
        match self.kind.shape {
            Shape::Line => predictor.forward(Shape::Line, first_of(&mut codes)),
            shape => predictor.forward(shape, &mut codes),
        }
        // Positions that hold nothing have no difference, whatever their predecessor is.
        let positions = codes.as_flattened_mut().iter_mut();
        for (difference, nothing) in positions.zip(nothing.as_flattened()) {
            if *nothing {
                *difference = 0;
            }
        }
        codes
    }

    /// The codes of a block with this rate byte and body; missing bytes are 0.
    pub(crate) fn decode(&self, byte: u8, body: &[u8]) -> Block {
        let rate = self.kind.rate(byte);
        let mut whole = [0; BODY_SCRATCH];
        for (to, byte) in whole.iter_mut().zip(body) {
            *to = *byte;
        }
        let predictor = self.kind.mode.predictor();
        match self.kind.shape {
            Shape::Line => {
                let mut codes = read_body::<1>(rate, &whole);
                predictor.backward(Shape::Line, &mut codes);
                [codes[0], [0; GROUP]]
            }
            shape => {
                let mut codes = read_body::<2>(rate, &whole);
                predictor.backward(shape, &mut codes);
                codes
            }
        }
    }
}

/// The first group alone.
fn first_of(block: &mut Block) -> &mut [Group; 1] {
    let [first, _] = block;
    core::array::from_mut(first)
}
