//! Streams with safeguards: the stream without them, and the corrections of what it decodes to.

use crate::compress::Compressor;
use crate::cpu::sink::Sink;
use crate::cpu::{Progress, Version};
use crate::decompress::Decompressor;
use crate::error::Error;
use crate::safeguards::find::{Field, Found};
use crate::safeguards::{exact, step_of};
use crate::sections::{self, NewSection};
use crate::stream_ref::StreamRef;
use ferrosz_codec::container::identity::Identity;
use ferrosz_codec::container::record::{self, Record};
use ferrosz_codec::container::record_kind::RecordKind;
use ferrosz_codec::safeguard::guard::Guard;
use ferrosz_codec::safeguard::mend::Mender;
use ferrosz_codec::safeguard::{Safeguard, Safeguards};
use ferrosz_codec::{Bound, Codec, Value};

impl Compressor {
    /// Compresses a field with safeguards, and with a bound for each value if there are some.
    ///
    /// # Errors
    ///
    /// [`Error::OutsideLimits`]; [`Error::BadBounds`]; as [`Compressor::compress`].
    pub(crate) fn run_guarded<V: Value>(
        &self,
        version: Version,
        (field, bounds): (&[V], Option<&[f64]>),
        sink: &mut dyn Sink,
        progress: Progress<'_>,
    ) -> Result<(), Error> {
        let safeguards = self.safeguards_of::<V>(bounds.is_some())?;
        check_bounds(bounds, field.len())?;
        check_limits(&safeguards, field)?;
        let mut plain = *self;
        plain.safeguards = Safeguards::default();
        let mut stream = Vec::new();
        plain.run(version, field, &mut stream, progress)?;
        let read = StreamRef::read(&stream)?;
        let user = read.order.user_extents(&read.header.extents);
        let lengths = user.lengths();
        if let Some(axis) = safeguards.monotone
            && usize::from(axis) >= lengths.len()
        {
            return Err(Error::NoSuchAxis {
                axis,
                rank: lengths.len(),
            });
        }
        let decompressor = Decompressor::new()
            .device(self.device)
            .verify_checksums(false);
        let mut decoded: Vec<V> = decompressor.decompress(&stream)?;
        let guard = Guard::new(Mender {
            safeguards,
            step: step_of(&read.header, &read.conversion),
        });
        let found = Field {
            values: field,
            bounds,
            lengths,
        }
        .find(&guard, &mut decoded);
        sink.take(self.guarded(&read, &safeguards, lengths, &found)?)
    }

    /// A stream with safeguards, and with what was found for its values.
    fn guarded<V: Value>(
        &self,
        stream: &StreamRef<'_>,
        safeguards: &Safeguards,
        lengths: &[u64],
        found: &Found<V>,
    ) -> Result<Vec<u8>, Error> {
        let header = stream.header;
        let records = [stream.records, &safeguards.to_records()].concat();
        let mut guarded = stream.rewrite(header, &records, 0..header.chunks())?;
        let identity = StreamRef::read(&guarded)?.header.identity();
        let mut contents = Vec::new();
        if found.corrections.iter().any(|correction| *correction != 0) {
            let nested = self.corrections(lengths, &found.corrections, identity)?;
            contents.push((RecordKind::CORR, nested));
        }
        if !found.replaced.is_empty() {
            contents.push((RecordKind::EXAC, exact::to_bytes(&found.replaced)));
        }
        let all: Vec<NewSection<'_>> = (contents.iter())
            .map(|(kind, contents)| (*kind, &contents[..]))
            .collect();
        sections::append(&mut guarded, &all)?;
        Ok(guarded)
    }

    /// The stream of corrections, which belongs to the stream with this identity. Most corrections are 0, so lines of tiles
    /// suit them, whose zones without a code cost nearly nothing.
    fn corrections(
        &self,
        lengths: &[u64],
        corrections: &[i16],
        identity: Identity,
    ) -> Result<Vec<u8>, Error> {
        let stream = Self::new(Codec::LORENZO_RANS, Bound::abs(0.0)?)
            .device(self.device)
            .extents(lengths)?
            .with_rank(1)?
            .compress(corrections)?;
        let read = StreamRef::read(&stream)?;
        let of_outer = record::to_bytes(&[Record {
            kind: RecordKind::CORR,
            contents: &identity.0.to_le_bytes(),
        }]);
        let records = [read.records, &of_outer].concat();
        read.rewrite(read.header, &records, 0..read.header.chunks())
    }
}

/// Checks that there is a bound for each of so many values, if there are bounds.
fn check_bounds(bounds: Option<&[f64]>, values: usize) -> Result<(), Error> {
    let Some(bounds) = bounds else {
        return Ok(());
    };
    let bad = bounds
        .iter()
        .position(|bound| bound.is_nan() || *bound < 0.0);
    match bad {
        None if bounds.len() == values => Ok(()),
        None => Err(Error::BadBounds(format!(
            "there are {} bounds for {values} values",
            bounds.len()
        ))),
        Some(at) => Err(Error::BadBounds(format!(
            "the bound of value {at} is {}; a bound is not negative",
            bounds[at]
        ))),
    }
}

/// Checks that values lie within the limits.
fn check_limits<V: Value>(safeguards: &Safeguards, field: &[V]) -> Result<(), Error> {
    let Some([low, high]) = safeguards.limits else {
        return Ok(());
    };
    let is_outside = |value: &V| {
        let number = value.to_number();
        let is_exempt = safeguards.exempt().contains(&value.to_value_bits());
        !is_exempt && (number < low || number > high)
    };
    match field.iter().position(is_outside) {
        None => Ok(()),
        Some(at) => Err(Error::OutsideLimits {
            at: at as u64,
            value: field[at].to_number(),
            limits: Safeguard::Limits(low, high),
        }),
    }
}
