//! Prediction where a thread holds a group of a block. The values that groups need of each other go from lane to
//! lane. All functions are for whole warps.

use ferrosz_codec::predict::Predictor;
use ferrosz_codec::predict::group::{Before, Group, MAX_REACH};
#[cfg(feature = "toy")]
use ferrosz_codec::predict::toy_predictor;
use ferrosz_codec::predict::{difference, lorenzo};
use ferrosz_codec::shape::{GROUP, Shape, WHOLE_GROUP};
use ferrosz_simt::Thread;

/// The last values of the group before this thread's in its block; zeros for the first group.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
fn before<T: Thread>(t: T, shape: Shape, group: &Group, count: usize) -> Before {
    let is_second = t.lane() % 2 == 1;
    let mut before = [0; MAX_REACH];
    for i in 0..MAX_REACH {
        if shape.groups() == 2 && i < count {
            let other = t.shuffle_xor(group[GROUP - shape.reach() + i].cast_unsigned(), 1);
            before[i] = if is_second { other.cast_signed() } else { 0 };
        }
    }
    before
}

/// As [`Predictor::fill`], for a block.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn fill<T: Thread>(t: T, predictor: Predictor, shape: Shape, codes: &mut Group, has_code: u32) {
    if shape.groups() == 1 {
        if has_code != WHOLE_GROUP {
            predictor.fill(shape, codes, has_code, &[0; MAX_REACH]);
        }
    } else if t.ballot(has_code != WHOLE_GROUP) != 0 {
        for number in 0..t.opaque(2) {
            let before = before(t, shape, codes, shape.reach());
            if t.lane() % 2 == number && has_code != WHOLE_GROUP {
                predictor.fill(shape, codes, has_code, &before);
            }
        }
    }
}

/// Codes to differences, but for layers.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn forward<T: Thread>(t: T, predictor: Predictor, shape: Shape, codes: &mut Group) {
    match predictor {
        Predictor::Zero => {}
        Predictor::Difference => {
            let before = before(t, shape, codes, 1);
            difference::forward(shape, codes, before[0]);
        }
        Predictor::Lorenzo => {
            lorenzo::forward_within(shape, codes);
            let before = before(t, shape, codes, shape.reach());
            lorenzo::forward_across(shape, codes, &before);
        }
        #[cfg(feature = "toy")]
        Predictor::ToyPredictor => {
            let before = before(t, shape, codes, 1);
            toy_predictor::forward(codes, before[0]);
        }
    }
}

/// Differences to codes, but for layers.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn backward<T: Thread>(t: T, predictor: Predictor, shape: Shape, differences: &mut Group) {
    match predictor {
        Predictor::Zero => {}
        Predictor::Difference => {
            difference::backward(shape, differences);
            if shape.groups() == 2 {
                let before = before(t, shape, differences, 1);
                difference::add(differences, before[0]);
            }
        }
        Predictor::Lorenzo => {
            lorenzo::backward_across(shape, differences);
            if shape.groups() == 2 {
                let before = before(t, shape, differences, shape.reach());
                lorenzo::add(shape, differences, &before);
            }
            lorenzo::backward_within(shape, differences);
        }
        #[cfg(feature = "toy")]
        Predictor::ToyPredictor => {
            toy_predictor::backward(differences);
            if shape.groups() == 2 {
                let before = before(t, shape, differences, 1);
                difference::add(differences, before[0]);
            }
        }
    }
}
