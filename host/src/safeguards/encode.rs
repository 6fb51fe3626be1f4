//! Streams with safeguards: the stream without them, and the corrections of what it decodes to.

use crate::compress::Compressor;
use crate::cpu::sink::Sink;
use crate::cpu::{Progress, Version};
use crate::decompress::Decompressor;
use crate::error::Error;
use crate::reading::Reading;
use crate::safeguards::find::{FoundCorrections, GuardedField};
use crate::safeguards::{exact, step_of};
use crate::sections;
use crate::statistics::StatisticsPolicy;
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
        plain.statistics_policy = StatisticsPolicy::Never;
        let mut stream = Vec::new();
        plain.run_plain(version, field, &mut stream, progress)?;
        let read = StreamRef::read(&stream)?;
        if safeguards.is_empty() && read.wavelets.is_none() {
            return sink.take(stream);
        }
        let user = read.order.user_extents(&read.header.extents);
        let lengths = user.lengths();
        if let Some(axis) = safeguards.monotone()
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
            step: step_of(&read),
        });
        let field = GuardedField {
            values: field,
            bounds,
            lengths,
        };
        let coder = self.coder_of_corrections(lengths)?;
        let whole = Reading::new(&read.header.layout(), &read.order, None)?;
        let gpu = decompressor.gpu_for::<V>(&read, &whole, decoded.len())?;
        let (corrections, replaced) = match gpu.filter(|_| V::TYPE.is_coded_as_is()) {
            Some(gpu) if !decoded.is_empty() => {
                field.find_on(&gpu, &guard, &coder, &mut decoded)?
            }
            _ => {
                let FoundCorrections {
                    corrections,
                    replaced,
                } = field.find(&guard, &mut decoded);
                let has_some = corrections.iter().any(|correction| *correction != 0);
                let stream = has_some.then(|| coder.compress(&corrections)).transpose()?;
                (stream, replaced)
            }
        };
        sink.take(guarded(&read, &safeguards, corrections, &replaced)?)
    }

    /// What compresses corrections. Most of them are 0, so lines of tiles suit them, whose zones without a code cost nearly
    /// nothing.
    fn coder_of_corrections(&self, lengths: &[u64]) -> Result<Self, Error> {
        (Self::new(Codec::LORENZO_RANS, Bound::abs(0.0)?).device(self.device))
            .extents(lengths)?
            .with_rank(1)
    }
}

/// A stream with safeguards, with the stream of corrections, if there are some, and with values in place of decoded ones.
fn guarded<V: Value>(
    stream: &StreamRef<'_>,
    safeguards: &Safeguards,
    corrections: Option<Vec<u8>>,
    replaced: &[(u64, V)],
) -> Result<Vec<u8>, Error> {
    let header = stream.header;
    let records = [stream.records, &safeguards.to_records()].concat();
    let mut guarded = stream.rewrite(header, &records, 0..header.chunks())?;
    let identity = StreamRef::read(&guarded)?.header.identity();
    if let Some(corrections) = corrections {
        let contents = of_stream(&corrections, identity)?;
        sections::append(&mut guarded, &[(RecordKind::CORR, &contents)])?;
    }
    if !replaced.is_empty() {
        let contents = exact::to_bytes(replaced);
        sections::append(&mut guarded, &[(RecordKind::EXAC, &contents)])?;
    }
    Ok(guarded)
}

/// A stream of corrections that belongs to the stream with this identity.
fn of_stream(corrections: &[u8], identity: Identity) -> Result<Vec<u8>, Error> {
    let read = StreamRef::read(corrections)?;
    let of_outer = record::to_bytes(&[Record {
        kind: RecordKind::CORR,
        contents: &identity.0.to_le_bytes(),
    }]);
    let records = [read.records, &of_outer].concat();
    read.rewrite(read.header, &records, 0..read.header.chunks())
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
    let [low, high] = safeguards.limits();
    let is_outside = |value: &V| {
        let number = value.to_number();
        let is_exempt = safeguards.is_exempt(value.to_value_bits());
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
