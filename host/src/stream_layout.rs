//! The layout of a stream and the order of the user's axes: what calls on device memory are told of a stream.

use crate::error::Error;
use crate::gpu::mapping::decompress::{Wanted, cells_to_decompress};
use crate::gpu::mapping::workspace::workspace_cells;
use crate::part::Part;
use crate::reading::Reading;
use ferrosz_codec::container::header::{HEADER_BYTES, Header};
use ferrosz_codec::container::layout::Layout;
use ferrosz_codec::container::record::{self, Record};
use ferrosz_codec::container::record_kind::RecordKind;
use ferrosz_codec::mapping::axes::Order;
use ferrosz_codec::mapping::conversion::Conversion;
use ferrosz_codec::mapping::mask::Classes;
use ferrosz_codec::mapping::wavelet::Wavelets;
use ferrosz_codec::safeguard::Safeguards;
use ferrosz_codec::{Dtype, FormatError, ValueType};

/// The layout of a stream, the order of the axes of its coded field, and the type of its values.
/// [`Compressor::stream_layout`](crate::Compressor::stream_layout) has that of the streams that it makes. A [`Layout`]
/// alone is one of elements with the user's order; its workspace serves both element types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamLayout {
    /// Codec, shape of blocks, extents of the coded field, and classes of the mask.
    pub layout: Layout,
    /// The order of the axes of the coded field.
    pub order: Order,
    /// The type of the values.
    pub value_type: ValueType,
    /// Bytes of the stream's updates.
    pub update_bytes: u64,
}

impl From<Layout> for StreamLayout {
    fn from(layout: Layout) -> Self {
        Self {
            layout,
            order: Order::identity(layout.extents.lengths().len()),
            value_type: ValueType::F64,
            update_bytes: 0,
        }
    }
}

impl StreamLayout {
    /// The layout of a stream, from its first bytes: those of its header and of its records.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Codec, Compressor, ValueType};
    /// use ferrosz::stream::StreamLayout;
    ///
    /// let compressor = Compressor::new(Codec::PLAIN, Bound::abs(0.1)?);
    /// let stream = compressor.compress(&[1.0f32; 5000])?;
    /// let layout = StreamLayout::of_start(&stream[..160])?;
    /// assert_eq!(layout, compressor.stream_layout(5000, ValueType::F32)?);
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`FormatError::Truncated`] says how many first bytes are needed; the others say that they are of no stream.
    pub fn of_start(start: &[u8]) -> Result<Self, FormatError> {
        let header = Header::read(start)?;
        let end = usize::try_from(header.table_start()).unwrap_or(usize::MAX);
        let records = start.get(HEADER_BYTES..end).ok_or(FormatError::Truncated {
            needed: header.table_start(),
            found: start.len() as u64,
        })?;
        record::check(records, &header)?;
        if !Safeguards::of_records(records)?.is_empty() || Wavelets::of_records(records)?.is_some()
        {
            return Err(FormatError::SafeguardsOnDevice);
        }
        let order = Order::of_records(records, &header)?;
        Ok(Self::of_header(&header, order))
    }

    /// The layout of a stream with this header and this order of its axes.
    pub(crate) fn of_header(header: &Header, order: Order) -> Self {
        Self {
            layout: header.layout(),
            order,
            value_type: header.value_type,
            update_bytes: header.update_bytes,
        }
    }

    /// The type of the elements of the coded field.
    pub fn dtype(&self) -> Dtype {
        self.value_type.coded()
    }

    /// Whether the coded field is another array than the field of the user's elements.
    pub fn is_mapped(&self) -> bool {
        self.layout.classes.all() > 0 || !self.order.is_identity()
    }

    /// Whether values become elements that no codec codes where it reads the values.
    pub(crate) fn is_converted_apart(&self) -> bool {
        let is_converted = !self.value_type.is_coded_as_is();
        is_converted && (self.is_mapped() || self.layout.tiles().is_some())
    }

    /// A strict upper bound on the bytes of such a stream. None if it does not fit in a `u64`.
    pub fn max_stream_bytes(&self) -> Option<u64> {
        let most = self.layout.max_stream_bytes(self.dtype())?;
        most.checked_add(self.record_bytes())?
            .checked_add(self.update_bytes)
    }

    /// Bytes of device memory that calls on such a stream need for a workspace.
    pub fn workspace_bytes(&self) -> u64 {
        8 * workspace_cells(self)
    }

    /// As [`StreamLayout::workspace_bytes`], for [`Gpu::decompress_part`](crate::cuda::Gpu::decompress_part) of a part: with
    /// a codec of tiles there is memory for the tiles that the part is in.
    ///
    /// # Errors
    ///
    /// [`Error::RangeOutside`], [`Error::BoxOutside`] and [`Error::ScatteredPart`].
    pub fn workspace_bytes_for_part(&self, part: &Part) -> Result<u64, Error> {
        let wanted = Wanted::new(&Reading::new(&self.layout, &self.order, Some(part))?)?;
        Ok(8 * cells_to_decompress(self, &wanted).max(workspace_cells(self)))
    }

    /// Bytes of the records of such a stream.
    pub fn record_bytes(&self) -> u64 {
        let of_order = match self.order.is_identity() {
            true => 0,
            false => ORDER_BYTES,
        };
        let of_complex = match self.order.is_complex() {
            true => COMPLEX_BYTES,
            false => 0,
        };
        let of_conversion = Conversion::record_bytes(self.value_type);
        Classes::record_bytes(self.layout.classes) + of_order + of_complex + of_conversion
    }
}

/// Bytes of the record of an order of at most eight axes.
const ORDER_BYTES: u64 = 16;

/// Bytes of the record of complex numbers.
const COMPLEX_BYTES: u64 = 16;

/// The records of a stream with these classes, this order of its axes, which says whether its values are the parts of complex
/// numbers, and this conversion of its values.
pub(crate) fn records_of(classes: &Classes, order: &Order, conversion: &Conversion) -> Vec<u8> {
    let mut records = classes.to_records();
    if !order.is_identity() {
        records.extend(record::to_bytes(&[Record {
            kind: RecordKind::AXES,
            contents: order.axes(),
        }]));
    }
    if order.is_complex() {
        records.extend(record::to_bytes(&[Record {
            kind: RecordKind::CPLX,
            contents: &[],
        }]));
    }
    records.extend(conversion.to_records());
    records
}
