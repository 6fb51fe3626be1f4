//! Mends the decoded values of a stream with safeguards.

use crate::decompress::Decompressor;
use crate::error::Error;
use crate::gpu::safeguards::Mending;
use crate::parallel;
use crate::part::Part;
use crate::progress::SILENT;
use crate::reading::Reading;
use crate::safeguards::exact::{Exact, places};
use crate::safeguards::{TASK, step_of};
use crate::stream_layout::StreamLayout;
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
        match self.is_mended() {
            false => Ok(()),
            true => Err(Error::Safeguarded(way)),
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
        if !stream.is_mended() || values.is_empty() {
            return Ok(());
        }
        let mender = mender(stream);
        let corrections: Option<Vec<i16>> = match nested(stream)? {
            Some((bytes, _)) => Some(self.values_of(bytes, part, SILENT)?),
            None => None,
        };
        let tasks = values.chunks_mut(TASK).enumerate();
        parallel::each(tasks, |(task, values)| {
            let of_task = corrections.as_ref().map(|all| &all[task * TASK..]);
            for (at, value) in values.iter_mut().enumerate() {
                let correction = of_task.map_or(0, |corrections| corrections[at]);
                *value = mender.mend(*value, correction);
            }
        });
        Ok(lay_over(stream, part, values)?)
    }

    /// Decodes a whole field of elements on a machine that runs kernels, and mends them there; false if that is not what
    /// decodes this.
    ///
    /// # Errors
    ///
    /// As [`Decompressor::mend`].
    pub(crate) fn run_mended_on_gpu<V: Value>(
        &self,
        (bytes, stream): (&[u8], &StreamRef<'_>),
        (reading, part): (&Reading, Option<&Part>),
        values: &mut [V],
    ) -> Result<bool, Error> {
        let is_possible = V::TYPE.is_coded_as_is() && part.is_none() && !values.is_empty();
        if !stream.is_mended() || !is_possible {
            return Ok(false);
        }
        let Some(gpu) = self.gpu_for::<V>(stream, reading, values.len())? else {
            return Ok(false);
        };
        let corrections = match nested(stream)? {
            Some((_, nested)) => {
                let (header, records) = (nested.header, nested.conversion.to_records());
                let bytes = nested.rewrite(header, &records, 0..header.chunks())?;
                Some((StreamLayout::of_start(&bytes)?, bytes))
            }
            None => None,
        };
        let mending = Mending {
            mender: mender(stream),
            corrections,
        };
        let elements: &mut [V::Coded] = bytemuck::cast_slice_mut(values);
        let is_verified = (self.verifies_checksums(), &mending);
        gpu.decompress_mended((bytes, stream), reading, is_verified, elements)?;
        lay_over(stream, None, values)?;
        Ok(true)
    }
}

/// What mends the values of a stream.
fn mender(stream: &StreamRef<'_>) -> Mender {
    Mender {
        safeguards: stream.safeguards,
        step: step_of(stream),
    }
}

/// Puts values in place of decoded ones of a part of a field, or of all of it.
fn lay_over<V: Value>(
    stream: &StreamRef<'_>,
    part: Option<&Part>,
    values: &mut [V],
) -> Result<(), FormatError> {
    if let Some(contents) = stream.section(RecordKind::EXAC)? {
        let user = stream.order.user_extents(&stream.header.extents);
        let exact = Exact::read::<V>(contents, user.elements())?;
        exact.lay_over(&places(part, user.lengths()), values);
    }
    Ok(())
}

/// The bytes of the stream of corrections of a stream, and the stream; none if it has none.
fn nested<'a>(stream: &StreamRef<'a>) -> Result<Option<(&'a [u8], StreamRef<'a>)>, FormatError> {
    let mut sections = stream.sections.iter();
    let Some(section) = sections.find(|one| one.head.kind == RecordKind::CORR) else {
        return Ok(None);
    };
    // The checksums are those of its own header, records and chunks.
    let bytes = section.unchecked();
    let nested = StreamRef::read(bytes)?;
    let [own, all] = [&nested, stream].map(|of| of.order.user_extents(&of.header.extents));
    let identity = stream.header.identity().0.to_le_bytes();
    let is_corrections = own.lengths() == all.lengths()
        && nested.header.value_type == ValueType::I16
        && !nested.is_mended()
        && of_outer(nested.records) == Some(&identity[..]);
    match is_corrections {
        true => Ok(Some((bytes, nested))),
        false => Err(FormatError::InvalidSections(
            "the section CORR has the corrections of another stream",
        )),
    }
}

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
