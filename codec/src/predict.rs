//! Predictors: one file, or one folder, for each.
//!
//! The predictors of blocks ([`difference`], [`lorenzo`]) predict the codes of a group of a block; [`Predictor`] is
//! their list. All of their arithmetic wraps modulo 2^32. No prediction leaves a block, except that of the layered
//! codec, whose blocks are lines. `before` holds the values that a group needs from the group before it: zeros for the
//! first group.
//!
//! The predictors of tiles ([`interp`], [`stencil`], [`tile_lorenzo`]) predict a tile.

pub mod difference;
pub mod fitted;
pub mod group;
pub mod interp;
pub mod lorenzo;
pub mod slices;
pub mod stencil;
pub mod tile_lorenzo;
#[cfg(feature = "toy")]
pub mod toy_predictor;

use crate::predict::group::{Before, Group, MAX_REACH, last_of};
use crate::shape::{GROUP, Shape};

/// The predictor of a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Predictor {
    /// 0.
    Zero,
    /// One neighbour: [`difference`].
    Difference,
    /// All preceding neighbours: [`lorenzo`].
    Lorenzo,
    /// The group's first code.
    #[cfg(feature = "toy")]
    ToyPredictor,
}

impl Predictor {
    /// Sets the codes of the positions of a group that have no code, which are not in `has_code`, to the predicted
    /// codes, so that their differences are 0.
    #[inline(always)]
    pub fn fill(self, shape: Shape, codes: &mut Group, has_code: u32, before: &Before) {
        // Separate loops, so that each is compiled with constant bounds.
        let choose = |e: usize, code: i32, predicted: i32| {
            if has_code >> e & 1 == 1 {
                code
            } else {
                predicted
            }
        };
        match self {
            Self::Zero => {
                for (e, code) in codes.iter_mut().enumerate() {
                    *code = choose(e, *code, 0);
                }
            }
            Self::Difference => {
                for e in 0..GROUP {
                    let predicted = difference::prediction(shape, codes, e, before);
                    codes[e] = choose(e, codes[e], predicted);
                }
            }
            Self::Lorenzo => {
                for e in 0..GROUP {
                    let predicted = lorenzo::prediction(shape, codes, e, before);
                    codes[e] = choose(e, codes[e], predicted);
                }
            }
            #[cfg(feature = "toy")]
            Self::ToyPredictor => {
                for e in 0..GROUP {
                    let predicted = toy_predictor::prediction(codes, e, before);
                    codes[e] = choose(e, codes[e], predicted);
                }
            }
        }
    }

    /// Codes to differences in all groups of a block.
    #[inline(always)]
    pub fn forward<const G: usize>(self, shape: Shape, block: &mut [Group; G]) {
        let mut before = [0; MAX_REACH];
        for group in block {
            match self {
                Self::Zero => {}
                Self::Difference => {
                    let last = last_of(shape, group);
                    difference::forward(shape, group, before[0]);
                    before = last;
                }
                Self::Lorenzo => {
                    lorenzo::forward_within(shape, group);
                    let last = last_of(shape, group);
                    lorenzo::forward_across(shape, group, &before);
                    before = last;
                }
                #[cfg(feature = "toy")]
                Self::ToyPredictor => {
                    let last = last_of(shape, group);
                    toy_predictor::forward(group, before[0]);
                    before = last;
                }
            }
        }
    }

    /// Differences to codes in all groups of a block.
    #[inline(always)]
    pub fn backward<const G: usize>(self, shape: Shape, block: &mut [Group; G]) {
        let mut before = [0; MAX_REACH];
        for group in block {
            match self {
                Self::Zero => {}
                Self::Difference => {
                    difference::backward(shape, group);
                    difference::add(group, before[0]);
                    before = last_of(shape, group);
                }
                Self::Lorenzo => {
                    lorenzo::backward_across(shape, group);
                    lorenzo::add(shape, group, &before);
                    before = last_of(shape, group);
                    lorenzo::backward_within(shape, group);
                }
                #[cfg(feature = "toy")]
                Self::ToyPredictor => {
                    toy_predictor::backward(group);
                    difference::add(group, before[0]);
                    before = last_of(shape, group);
                }
            }
        }
    }
}
