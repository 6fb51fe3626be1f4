//! The user's field as the header and the records of its stream describe it.

use crate::stream_layout::records_of;
use ferrosz_codec::container::header::Header;
use ferrosz_codec::mapping::axes::Order;
use ferrosz_codec::mapping::conversion::Conversion;
use ferrosz_codec::mapping::mask::Classes;
use ferrosz_codec::{Bound, Element};

/// A description of the user's field, from which its coded field may differ.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Heading {
    /// The order of the axes of the coded field.
    pub(crate) order: Order,
    pub(crate) conversion: Conversion,
    /// The bound of the user's values.
    pub(crate) bound: Bound,
}

impl Heading {
    /// The heading of a field without conversion.
    pub(crate) fn plain<T: Element>(order: Order, bound: Bound) -> Self {
        Self {
            order,
            conversion: Conversion::none(T::TYPE),
            bound,
        }
    }

    /// The heading of the same field, if its coded field has this order of axes.
    pub(crate) fn in_order(&self, order: Order) -> Self {
        Self { order, ..*self }
    }

    /// The records of a stream without those of its mask.
    pub(crate) fn records(&self) -> Vec<u8> {
        records_of(&Classes::default(), &self.order, &self.conversion)
    }

    /// A header of the coded field's stream, with the value type, the conversion and the bound of the user's field.
    pub(crate) fn header(&self, header: Header) -> Header {
        Header {
            value_type: self.conversion.value_type(),
            conversion: self.conversion.kind(),
            bound: self.bound,
            ..header
        }
    }
}
