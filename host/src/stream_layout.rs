//! The layout of a stream and the order of the user's axes: what calls on device memory are told of a stream.

use ferrosz_codec::Dtype;
use ferrosz_codec::container::layout::Layout;
use ferrosz_codec::container::record::{self, Record};
use ferrosz_codec::container::record_kind::RecordKind;
use ferrosz_codec::mapping::axes::Order;
use ferrosz_codec::mapping::mask::Classes;

/// The layout of a stream, the order of the axes of its coded field, and the type of its elements.
/// [`Compressor::stream_layout`](crate::Compressor::stream_layout) has that of the streams that it makes. A [`Layout`]
/// alone is one with the user's order; its workspace serves both element types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamLayout {
    /// Codec, shape of blocks, extents of the coded field, and classes of the mask.
    pub layout: Layout,
    /// The order of the axes of the coded field.
    pub order: Order,
    /// The type of the elements.
    pub dtype: Dtype,
}

impl From<Layout> for StreamLayout {
    fn from(layout: Layout) -> Self {
        Self {
            layout,
            order: Order::identity(layout.extents.lengths().len()),
            dtype: Dtype::F64,
        }
    }
}

impl StreamLayout {
    /// Whether the coded field is another array than the user's field.
    pub fn is_mapped(&self) -> bool {
        self.layout.classes > 0 || !self.order.is_identity()
    }

    /// Bytes of the records of such a stream.
    pub fn record_bytes(&self) -> u64 {
        let of_order = match self.order.is_identity() {
            true => 0,
            false => ORDER_BYTES,
        };
        Classes::record_bytes(self.layout.classes) + of_order
    }
}

/// Bytes of the record of an order of at most eight axes.
const ORDER_BYTES: u64 = 16;

/// The records of a stream with these classes and this order of its axes.
pub(crate) fn records_of(classes: &Classes, order: &Order) -> Vec<u8> {
    let mut records = classes.to_records();
    if !order.is_identity() {
        records.extend(record::to_bytes(&[Record {
            kind: RecordKind::AXES,
            contents: order.axes(),
        }]));
    }
    records
}
