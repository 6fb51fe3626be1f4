//! A stream that gets the statistics of its field while it is written.

use crate::cpu::sink::Sink;
use crate::error::Error;
use crate::info::fill_values;
use crate::statistics::StatisticsPolicy;
use crate::statistics::sums::summaries;
use crate::stream_ref::{conversion, mapping};
use ferrosz_codec::Value;
use ferrosz_codec::container::header::{HEADER_BYTES, Header};
use ferrosz_codec::container::section;
use ferrosz_codec::container::statistics::{KIND, Statistics, chunk_bits};
use ferrosz_codec::mapping::axes::Order;

/// A stream of the user's field `values`, on its way to `sink`.
pub(crate) struct StatisticsSink<'a, V> {
    pub(crate) sink: &'a mut dyn Sink,
    pub(crate) values: &'a [V],
    pub(crate) statistics_policy: StatisticsPolicy,
}

impl<V: Value> StatisticsSink<'_, V> {
    /// The section of a stream that begins with these bytes, its header and its records, and has no section yet of this kind;
    /// and the header of the stream with it. None if the section would be too long.
    fn section(&self, start: &[u8]) -> Result<Option<(Vec<u8>, Header)>, Error> {
        let header = Header::read(start)?;
        let records = &start[HEADER_BYTES..header.table_start() as usize];
        let (layout, order) = (header.layout(), Order::of_records(records, &header)?);
        let classes = mapping(&header, records)?.classes;
        let fills = fill_values(&conversion(&header, records)?, &classes);
        let chunks = summaries(&layout, &order, &fills, self.values);
        let count: u64 = chunks.iter().map(|chunk| chunk.count).sum();
        let has_counts = count < header.elements();
        let bytes = header.stream_bytes();
        let (bits, is_small) = chunk_bits(chunks.len() as u64, header.dtype, has_counts, bytes);
        if !is_small && self.statistics_policy != StatisticsPolicy::Always {
            return Ok(None);
        }
        let contents = Statistics::new(&chunks, bits).to_bytes(&layout, header.dtype);
        let section = section::to_bytes(KIND, &contents, header.identity());
        let header = Header {
            payload_bytes: header.payload_bytes + section.len() as u64,
            has_sections: true,
            ..header
        };
        Ok(Some((section, header)))
    }
}

impl<V: Value> Sink for StatisticsSink<'_, V> {
    fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.sink.append(bytes)
    }

    fn append_all(&mut self, parts: &[&[u8]]) -> Result<(), Error> {
        self.sink.append_all(parts)
    }

    fn set_start(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let mut start = bytes.to_vec();
        if let Some((section, header)) = self.section(bytes)? {
            self.sink.append(&section)?;
            start[..HEADER_BYTES].copy_from_slice(&header.to_bytes());
        }
        self.sink.set_start(&start)
    }

    fn expect(&mut self, bytes: u64) {
        self.sink.expect(bytes);
    }

    fn take(&mut self, mut stream: Vec<u8>) -> Result<(), Error> {
        if let Some((section, header)) = self.section(&stream)? {
            stream.extend(section);
            stream[..HEADER_BYTES].copy_from_slice(&header.to_bytes());
        }
        self.sink.take(stream)
    }
}
