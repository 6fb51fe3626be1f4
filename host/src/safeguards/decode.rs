//! Mends the decoded values of a stream with safeguards.

use crate::decompress::Decompressor;
use crate::error::Error;
use crate::parallel;
use crate::part::Part;
use crate::safeguards::exact::{Exact, places};
use crate::safeguards::{TASK, step_of};
use crate::stream_ref::StreamRef;
use ferrosz_codec::container::record;
use ferrosz_codec::container::record_kind::RecordKind;
use ferrosz_codec::safeguard::mend::Mender;
use ferrosz_codec::{FormatError, Value, ValueType};

impl StreamRef<'_> {
    /// Refuses what cannot mend values.
    ///
    /// # Errors
    ///
    /// [`Error::Safeguarded`] if the stream has safeguards.
    pub(crate) fn refuse_safeguards(&self, way: &'static str) -> Result<(), Error> {
        match self.safeguards.is_empty() {
            true => Ok(()),
            false => Err(Error::Safeguarded(way)),
        }
    }
}

impl Decompressor {
    /// Mends the decoded values of a part of a field, or of all of it. The part is that of the parts of complex numbers.
    ///
    /// # Errors
    ///
    /// [`Error::Format`] if corrections are damaged; those of [`Decompressor::decompress_part`].
    pub(crate) fn mend<V: Value>(
        &self,
        stream: &StreamRef<'_>,
        part: Option<&Part>,
        values: &mut [V],
    ) -> Result<(), Error> {
        if stream.safeguards.is_empty() || values.is_empty() {
            return Ok(());
        }
        let user = stream.order.user_extents(&stream.header.extents);
        let mender = Mender {
            safeguards: stream.safeguards,
            step: step_of(&stream.header, &stream.conversion),
        };
        let corrections = self.corrections(stream, part)?;
        if corrections
            .as_ref()
            .is_some_and(|all| all.len() != values.len())
        {
            return Err(FOREIGN.into());
        }
        let tasks = values.chunks_mut(TASK).enumerate();
        parallel::each(tasks, |(task, values)| {
            let of_task = corrections.as_ref().map(|all| &all[task * TASK..]);
            for (at, value) in values.iter_mut().enumerate() {
                let correction = of_task.map_or(0, |corrections| corrections[at]);
                *value = mender.mend(*value, correction);
            }
        });
        if let Some(contents) = stream.section(RecordKind::EXAC)? {
            let exact = Exact::read::<V>(contents, user.elements())?;
            exact.lay_over(&places(part, user.lengths()), values);
        }
        Ok(())
    }

    /// The corrections of a part; none if the stream has none.
    fn corrections(
        &self,
        stream: &StreamRef<'_>,
        part: Option<&Part>,
    ) -> Result<Option<Vec<i16>>, Error> {
        let Some(contents) = stream
            .sections
            .iter()
            .find(|one| one.head.kind == RecordKind::CORR)
        else {
            return Ok(None);
        };
        // Its own checksums are those of its header, records and chunks.
        let bytes = contents.unchecked();
        let nested = StreamRef::read(bytes)?;
        let user = stream.order.user_extents(&stream.header.extents);
        let is_of_field =
            nested.order.user_extents(&nested.header.extents).lengths() == user.lengths();
        let identity = stream.header.identity().0.to_le_bytes();
        let is_corrections = nested.header.value_type == ValueType::I16
            && nested.safeguards.is_empty()
            && of_outer(nested.records) == Some(&identity[..]);
        if !is_of_field || !is_corrections {
            return Err(FOREIGN.into());
        }
        self.values_of(bytes, part, crate::progress::SILENT)
            .map(Some)
    }
}

/// The error that the corrections of a stream are not its own.
const FOREIGN: FormatError =
    FormatError::InvalidSections("the section CORR has the corrections of another stream");

/// The identity of the stream to which the corrections with these records belong.
fn of_outer(mut records: &[u8]) -> Option<&[u8]> {
    let mut found = None;
    while let Some(record) = record::take(&mut records) {
        if record.kind == RecordKind::CORR {
            found = Some(record.contents);
        }
    }
    found
}
