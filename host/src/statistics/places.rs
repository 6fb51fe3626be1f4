//! The places of the coded field's elements in the user's field.

use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::mapping::axes::Order;

/// The axes of a coded field, slowest first.
pub(super) struct UserPlaces {
    axes: Vec<BoxAxis>,
    is_identity: bool,
}

struct BoxAxis {
    length: u64,
    /// The distance of neighbours along the axis in the user's field.
    stride: u64,
}

impl UserPlaces {
    /// Those of a coded field of these extents, whose axes have this order.
    pub(super) fn new(coded: &Extents, order: &Order) -> Self {
        let user = order.user_extents(coded);
        let axes = coded.lengths().iter().zip(order.axes());
        let axes = axes.map(|(length, axis)| BoxAxis {
            length: *length,
            stride: user.lengths()[usize::from(*axis) + 1..].iter().product(),
        });
        Self {
            axes: axes.collect(),
            is_identity: order.is_identity(),
        }
    }

    /// Calls `take` with the number in the user's field of each of the `count` elements of the coded field from `first` on.
    pub(super) fn each(&self, first: u64, count: u64, mut take: impl FnMut(u64)) {
        if self.is_identity {
            return (first..first + count).for_each(take);
        }
        let mut at = vec![0; self.axes.len()];
        let (mut rest, mut place) = (first, 0);
        for (at, axis) in at.iter_mut().zip(&self.axes).rev() {
            *at = rest % axis.length;
            rest /= axis.length;
            place += *at * axis.stride;
        }
        for _ in 0..count {
            take(place);
            for (at, axis) in at.iter_mut().zip(&self.axes).rev() {
                *at += 1;
                place += axis.stride;
                if *at < axis.length {
                    break;
                }
                place -= axis.length * axis.stride;
                *at = 0;
            }
        }
    }
}
