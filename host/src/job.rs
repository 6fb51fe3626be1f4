//! What is decided before a field is encoded.

use crate::stream_layout::records_of;
use crate::tolerance::Tolerance;
use ferrosz_codec::Bound;
use ferrosz_codec::container::checksum::checksum;
use ferrosz_codec::container::header::Header;
use ferrosz_codec::container::layout::Layout;
use ferrosz_codec::mapping::ValueMapping;
use ferrosz_codec::mapping::axes::Order;
use ferrosz_codec::mapping::conversion::Conversion;

/// The stream of a field, before a value is encoded, whoever encodes which part of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Job {
    /// The layout of the coded field; it has as many classes as the mapping.
    pub(crate) layout: Layout,
    /// The bound of the coded field, and those of its levels.
    pub(crate) tolerance: Tolerance,
    /// The bound of the user's values, which the header has.
    pub(crate) bound_of_values: Bound,
    pub(crate) mapping: ValueMapping,
    /// The order of the axes of the coded field.
    pub(crate) order: Order,
    pub(crate) conversion: Conversion,
}

impl Job {
    /// The records of the stream: of the classes of its mask, of the order of axes and of the conversion.
    pub(crate) fn records(&self) -> Vec<u8> {
        records_of(&self.mapping.classes, &self.order, &self.conversion)
    }

    /// The header of the stream with these records, without the length of its payload, given the bits of the absolute error
    /// of the coded field.
    pub(crate) fn header(&self, records: &[u8], error_bits: u64) -> Header {
        let value_type = self.conversion.value_type();
        Header {
            value_type,
            conversion: self.conversion.kind(),
            bound: self.bound_of_values,
            record_bytes: records.len() as u64,
            record_sum: checksum(0, records),
            ..(self.layout).header(value_type.coded(), self.tolerance.bound, error_bits)
        }
    }
}
