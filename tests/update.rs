//! Updates against a model: a plain array whose values are replaced. And what is left of a stream if
//! the process dies, or if bytes are damaged.

use crate::common::fields::{FromBits, Kind, make};
use crate::common::machine::Machine;
use crate::common::{compressor, judge::judge, layouts, matrix};
use ferrosz::codec::container::checksum::checksum;
use ferrosz::codec::container::chunk::Form;
use ferrosz::codec::container::header::{HEADER_BYTES, Header};
use ferrosz::codec::container::identity::Identity;
use ferrosz::codec::container::update::to_bytes;
use ferrosz::codec::with_value;
use ferrosz::stream::{Extents, Layout, StreamAt, Update};
use ferrosz::{
    Bound, BoundMode, Codec, Compressor, Decompressor, Device, Error, FormatError, Info, Part,
    Shape, Value, ValueType,
};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::{Read, Seek};

const EXTENTS: [&[u64]; 4] = [&[20_000], &[150, 133], &[20, 50, 21], &[9, 1, 2500]];

fn decode<T: FromBits>(stream: &[u8]) -> Result<Vec<T>, Error> {
    Decompressor::new().device(Device::Cpu).decompress(stream)
}

/// The update of a stream that is read by ranges.
fn read_and_updated<V: Value>(stream: &[u8], part: &Part, values: &[V]) -> Update {
    let mut stream = StreamAt::open(stream).expect("a stream");
    stream.update(part, values).expect("an update")
}

fn bits<T: FromBits>(values: &[T]) -> Vec<u64> {
    values.iter().map(|x| x.to_bits64()).collect()
}

/// A box or a range of elements, often small.
fn random_part(rng: &mut SmallRng, lengths: &[u64]) -> Part {
    let mut range = |length: u64| {
        let from = rng.random_range(0..=length);
        let most = match rng.random_range(0..3) {
            0 => 3,
            1 => 40,
            _ => length,
        };
        from..rng.random_range(from..=length.min(from + most))
    };
    let ranges: Vec<_> = lengths.iter().map(|length| range(*length)).collect();
    if rng.random() {
        Part::Box(ranges)
    } else {
        let elements = lengths.iter().product();
        let from = rng.random_range(0..=elements);
        Part::Elements(from..rng.random_range(from..=elements.min(from + 9000)))
    }
}

/// The elements of a part, in its order.
fn elements_of(part: &Part, lengths: &[u64]) -> Vec<usize> {
    matrix::elements_of(part, lengths).collect()
}

/// Which chunk an element is in: the chunk's coordinates, in the dimensions longer than 1.
fn chunk_of(element: usize, info: &Info) -> Vec<u64> {
    if info.rank == 1 {
        return vec![element as u64 / info.chunk_elements];
    }
    let lengths = info.extents.iter().filter(|length| **length > 1);
    let mut tiles = info.chunk_extents.iter().rev();
    let mut rest = element as u64;
    lengths
        .rev()
        .map(|length| {
            let at = rest % length;
            rest /= length;
            at / tiles.next().copied().unwrap_or(1)
        })
        .collect()
}

/// A stream, and what it should hold.
struct Model<T> {
    stream: Vec<u8>,
    /// The values that were put in.
    truth: Vec<T>,
    info: Info,
    context: String,
}

impl<T: FromBits> Model<T> {
    fn new(layout: Layout, bound: Bound, truth: Vec<T>) -> Self {
        let stream = compressor(layout, bound, Device::Cpu)
            .and_then(|compressor| compressor.compress(&truth))
            .expect("compresses");
        Self {
            info: ferrosz::info(&stream).expect("a stream"),
            context: format!("{layout:?} {bound:?}"),
            stream,
            truth,
        }
    }

    /// Replaces a part, and checks every value of the field.
    fn update(&mut self, part: &Part, values: &[T]) {
        let context = format!("{} {part:?}", self.context);
        let before: Vec<T> = decode(&self.stream).expect("decompresses");
        let update = Update::new(&self.stream, part, values).expect("an update");
        assert_eq!(
            read_and_updated(&self.stream, part, values),
            update,
            "{context}"
        );
        update.apply(&mut self.stream);
        let after: Vec<T> = decode(&self.stream).expect("decompresses");

        let elements = elements_of(part, &self.info.extents);
        let chunks: BTreeSet<_> = elements
            .iter()
            .map(|at| chunk_of(*at, &self.info))
            .collect();
        assert_eq!(update.chunks, chunks.len() as u64, "{context}");
        assert_eq!(update.appended.is_empty(), chunks.is_empty(), "{context}");
        for (at, value) in elements.iter().zip(values) {
            self.truth[*at] = *value;
        }
        let error = Bound::abs(self.info.absolute_error).expect("a bound");
        judge(error, &self.truth, &after).unwrap_or_else(|wrong| panic!("{context}: {wrong}"));
        self.check_others(&elements, &chunks, &before, &after, &context);
    }

    /// No chunk that was not touched has changed, and nothing drifts in those that were: the codes of
    /// what was decoded are those that it was decoded from. What was exact may be coded now, once.
    fn check_others(
        &self,
        elements: &[usize],
        chunks: &BTreeSet<Vec<u64>>,
        before: &[T],
        after: &[T],
        context: &str,
    ) {
        let replaced: BTreeSet<_> = elements.iter().collect();
        for at in (0..self.truth.len()).filter(|at| !replaced.contains(at)) {
            let [before, after, truth] = [before, after, &self.truth].map(|x| x[at].to_bits64());
            let is_recoded = chunks.contains(&chunk_of(at, &self.info));
            let is_allowed = is_recoded && before == truth;
            assert!(
                before == after || is_allowed,
                "element {at} changed: {context}"
            );
        }
    }

    /// Checks what `compact` makes of it.
    fn check_compact(&self) {
        let compact = ferrosz::stream::compact(&self.stream).expect("compacts");
        let info = ferrosz::info(&compact).expect("a stream");
        assert_eq!(info.update_bytes, 0);
        assert_eq!(info.stream_bytes, compact.len() as u64);
        assert_eq!((info.codec, info.rank), (self.info.codec, self.info.rank));
        assert_eq!(info.absolute_error, self.info.absolute_error);
        // A bound relative to the first field says nothing of this one; the judge judges by the bound of the header.
        let has_updates = ferrosz::info(&self.stream).expect("a stream").update_bytes > 0;
        let expected = match self.info.bound.mode() {
            BoundMode::Range | BoundMode::Max if has_updates => {
                Bound::abs(info.absolute_error).expect("a bound")
            }
            _ => self.info.bound,
        };
        assert_eq!(info.bound, expected);
        let (one, other) = (decode::<T>(&compact), decode::<T>(&self.stream));
        assert!(bits(&one.expect("decompresses")) == bits(&other.expect("decompresses")));
        assert!(ferrosz::stream::compact(&compact).expect("compacts") == compact);
    }
}

/// Several updates of every layout, one after the other.
fn updates_of_every_layout<T: FromBits>() {
    let mut rng = SmallRng::seed_from_u64(T::BYTES as u64);
    let bounds = [
        (BoundMode::Abs, 0.01),
        (BoundMode::Range, 1e-3),
        (BoundMode::Max, 1e-5),
        (BoundMode::Abs, 0.0),
        (BoundMode::Abs, 1e30),
    ];
    let mut kind = Kind::ALL.into_iter().cycle();
    for lengths in EXTENTS {
        let elements = lengths.iter().product::<u64>() as usize;
        for layout in layouts(lengths) {
            for (mode, value) in bounds {
                let bound = Bound::new(mode, value).expect("a bound");
                let mut kind = || kind.next().expect("endless");
                let mut model = Model::new(layout, bound, make::<T>(kind(), elements, 5));
                for round in 0..8 {
                    let part = random_part(&mut rng, lengths);
                    let count = elements_of(&part, lengths).len();
                    model.update(&part, &make::<T>(kind(), count, round));
                }
                model.check_compact();
            }
        }
    }
}

#[test]
fn updates_of_f32() {
    updates_of_every_layout::<f32>();
}

#[test]
fn updates_of_f64() {
    updates_of_every_layout::<f64>();
}

#[test]
fn what_is_not_there_cannot_be_updated() {
    let layout = layouts(&[30, 40])[0];
    let bound = Bound::abs(0.01).expect("a bound");
    let model = Model::new(layout, bound, make::<f32>(Kind::Smooth, 1200, 1));
    let new = |part: Part, values: &[f32]| Update::new(&model.stream, &part, values);
    let part = Part::Elements(0..3);
    assert!(matches!(
        new(part.clone(), &[1.0; 4]),
        Err(Error::PartMismatch {
            elements: 3,
            found: 4
        })
    ));
    assert!(matches!(
        new(Part::Elements(1200..1201), &[1.0]),
        Err(Error::RangeOutside { .. })
    ));
    for ranges in [vec![0..1, 40..41], vec![0..1; 1], vec![0..1; 3]] {
        assert!(matches!(
            new(Part::Box(ranges), &[1.0]),
            Err(Error::BoxOutside { .. })
        ));
    }
    assert!(matches!(
        Update::new(&model.stream, &part, &[1.0f64; 3]),
        Err(Error::Format(FormatError::WrongDtype { .. }))
    ));
    assert!(Update::new(&model.stream[..1000], &part, &[1.0f32; 3]).is_err());
}

/// A small stream of two chunks, with the first updated twice and the second once.
fn small() -> (Model<f32>, Vec<u8>) {
    let layout = layouts(&[8500])[2];
    let bound = Bound::abs(0.05).expect("a bound");
    let mut model = Model::new(layout, bound, make::<f32>(Kind::Sparse, 8500, 1));
    let original = model.stream.clone();
    model.update(&Part::Elements(8200..8230), &make(Kind::Random, 30, 1));
    model.update(&Part::Elements(10..20), &make(Kind::NotFinite, 10, 2));
    model.update(&Part::Elements(8100..8300), &make(Kind::Smooth, 200, 3));
    (model, original)
}

#[test]
fn damage_in_an_update_is_found() {
    let (model, original) = small();
    let undamaged = decode::<f32>(&model.stream).expect("decompresses");
    let unchecked = Decompressor::new()
        .device(Device::Cpu)
        .verify_checksums(false);
    let unused: BTreeSet<usize> = replaced_bytes(&model.stream, original.len()).collect();
    let mut found = 0;
    for at in original.len()..model.stream.len() {
        for bit in [0x01, 0x10, 0x80] {
            let mut damaged = model.stream.clone();
            damaged[at] ^= bit;
            match decode::<f32>(&damaged) {
                Err(Error::Format(_)) => found += 1,
                Err(other) => panic!("byte {at}: {other}"),
                // What a later update replaced is not read.
                Ok(values) => {
                    assert!(unused.contains(&at), "byte {at} is not checked");
                    assert!(
                        bits(&values) == bits(&undamaged),
                        "byte {at} changed values"
                    );
                }
            }
            // Without checksums whatever comes out, nothing panics.
            let _ = unchecked.decompress::<f32>(&damaged);
            let _ = Update::new(&damaged, &Part::Elements(8190..8195), &[0.0f32; 5]);
            if let Ok(compact) = ferrosz::stream::compact(&damaged) {
                let is_same = |values: Vec<f32>| bits(&values) == bits(&undamaged);
                assert!(decode(&compact).is_ok_and(is_same) == unused.contains(&at));
            }
        }
    }
    assert!(found > 3 * 300);
    for length in original.len()..model.stream.len() {
        assert!(matches!(
            decode::<f32>(&model.stream[..length]),
            Err(Error::Format(FormatError::Truncated { .. }))
        ));
    }
}

/// Where the chunks lie that the last update of [`small`], which has both chunks, replaced.
fn replaced_bytes(stream: &[u8], start: usize) -> impl Iterator<Item = usize> {
    let number = |at: usize| {
        let bytes = stream[at..at + 8].first_chunk().expect("eight bytes");
        u64::from_le_bytes(*bytes) as usize
    };
    let mut payloads = Vec::new();
    let mut at = start;
    while at < stream.len() {
        let entries = at + 32;
        let payload = entries + 32 * number(at + 8);
        let end = payload + number(at + 16);
        payloads.push(payload..end);
        at = end;
    }
    assert_eq!(at, stream.len());
    payloads.pop();
    payloads.into_iter().flatten()
}

#[test]
fn forged_updates_never_panic_and_decode_the_same_everywhere() {
    let (model, original) = small();
    let mut rng = SmallRng::seed_from_u64(4);
    let header = &model.stream[..HEADER_BYTES];
    let identity = Header::read(header).expect("a header").identity();
    let mut decoded = 0;
    for round in 0..3000 {
        let mut chunks = Vec::new();
        for number in 0..rng.random_range(1..3u64) {
            let form = Form::ALL[rng.random_range(0..Form::ALL.len())];
            let words = rng.random_range(0..5usize);
            let mut bytes = vec![0; 16 * [0, 1, 2, 33, 70][words]];
            // Rates must be low for so few bytes.
            bytes.fill_with(|| rng.random_range(0..=if round % 2 == 0 { 2 } else { 255u8 }));
            let seed = identity.seed(number, form.id());
            chunks.push((number, form, checksum(seed, &bytes), bytes));
        }
        let mut updates = to_bytes(identity, &chunks);
        if rng.random_range(0..4) == 0 {
            forge_place(identity, &mut rng, &mut updates);
        }
        let stream = with_updates(header, &original, &updates);
        decoded += u32::from(decode::<f32>(&stream).is_ok());
        let _ = Update::new(&stream, &Part::Elements(0..8500), &[1.0f32; 8500]);
        let compact = ferrosz::stream::compact(&stream);
        if let Ok(compact) = &compact {
            assert!(compact.len() <= original.len() + 2 * 32_768);
        }
        let values = compact.and_then(|compact| decode::<f32>(&compact));
        assert_eq!(values.is_ok(), decode::<f32>(&stream).is_ok());
    }
    assert!(decoded > 0);
}

/// Lets an entry name another place, with the right checksum.
fn forge_place(identity: Identity, rng: &mut SmallRng, updates: &mut [u8]) {
    let field = [32, 40, 48][rng.random_range(0..3)];
    let value = [0, 1, 4, 16, 1 << 20, u64::MAX - 15, u64::MAX][rng.random_range(0..7)];
    updates[field..field + 8].copy_from_slice(&u64::to_le_bytes(value));
    let entries = 32 + 32 * updates[8] as usize;
    let sum = checksum(checksum(identity.0, &updates[..24]), &updates[32..entries]);
    updates[24..32].copy_from_slice(&sum.to_le_bytes());
}

/// A stream with these updates, and with a header that says so.
fn with_updates(header: &[u8], stream: &[u8], updates: &[u8]) -> Vec<u8> {
    let mut header = header.to_vec();
    header[144..152].copy_from_slice(&(updates.len() as u64).to_le_bytes());
    let sum = checksum(0, &header[..152]);
    header[152..].copy_from_slice(&sum.to_le_bytes());
    [&header[..], &stream[HEADER_BYTES..], updates].concat()
}

#[test]
fn a_process_that_dies_leaves_the_old_or_the_new_stream() {
    let (model, _) = small();
    let old = bits(&decode::<f32>(&model.stream).expect("decompresses"));
    let values = make::<f32>(Kind::Smooth, 40, 9);
    let update = Update::new(&model.stream, &Part::Elements(8180..8220), &values).expect("one");
    assert_eq!(update.append_at, model.stream.len() as u64);
    let mut updated = model.stream.clone();
    update.apply(&mut updated);
    let new = bits(&decode::<f32>(&updated).expect("decompresses"));
    assert!(old != new);

    // As bytes are appended, one after the other.
    let mut file = model.stream.clone();
    for byte in update.appended.iter().map(Some).chain([None]) {
        let found = decode::<f32>(&file).expect("the old stream");
        assert!(bits(&found) == old, "after {} bytes", file.len());
        file.extend(byte);
    }
    // The header is one write. If a part of it arrived alone, that is found.
    for length in 0..=HEADER_BYTES {
        let mut torn = file.clone();
        torn[..length].copy_from_slice(&update.header[..length]);
        match decode::<f32>(&torn).map(|found| bits(&found)) {
            Ok(found) if torn == file => assert!(found == old),
            Ok(found) => assert!(torn == updated && found == new),
            Err(error) => assert!(matches!(error, Error::Format(FormatError::HeaderChecksum))),
        }
    }
    file[..HEADER_BYTES].copy_from_slice(&update.header);
    assert!(file == updated);
}

#[test]
fn a_file_is_updated_as_memory_is() {
    let (model, _) = small();
    let path = std::env::temp_dir().join(format!("ferrosz-update-{}", std::process::id()));
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).create(true).truncate(true);
    let mut file = options.open(&path).expect("a file");
    let mut memory = model.stream.clone();
    // A long update that was not finished lies behind the stream; the shorter one takes its place.
    let long = make::<f32>(Kind::Random, 8500, 1);
    let long = Update::new(&memory, &Part::Elements(0..8500), &long).expect("an update");
    let cut = &long.appended[..long.appended.len() - 16];
    std::fs::write(&path, [&memory[..], cut].concat()).expect("writes");
    for round in 0..3 {
        let values = make::<f32>(Kind::Smooth, 5, round);
        let update = Update::new(&memory, &Part::Elements(7..12), &values).expect("an update");
        assert!(update.appended.len() < cut.len());
        update.apply(&mut memory);
        update.apply_to_file(&mut file).expect("writes");
        let mut found = Vec::new();
        file.rewind().expect("a file");
        file.read_to_end(&mut found).expect("reads");
        assert!(found == memory);
    }
    std::fs::remove_file(path).expect("removes");
}

#[cfg(feature = "emulator")]
#[test]
fn the_emulator_decodes_updated_streams() {
    let emulator = Decompressor::new().device(Device::Emulator);
    let mut rng = SmallRng::seed_from_u64(6);
    let lengths: &[u64] = &[20, 30, 33];
    for layout in layouts(lengths) {
        let bound = Bound::range(1e-3).expect("a bound");
        let mut model = Model::new(layout, bound, make::<f32>(Kind::Steps, 19_800, 5));
        for round in 0..3 {
            let part = random_part(&mut rng, lengths);
            let count = elements_of(&part, lengths).len();
            model.update(&part, &make(Kind::NotFinite, count, round));
        }
        let whole = decode::<f32>(&model.stream).expect("decompresses");
        let found: Vec<f32> = emulator.decompress(&model.stream).expect("decompresses");
        assert!(bits(&found) == bits(&whole), "{layout:?}");
        let part = Part::Box(vec![3..9, 5..29, 30..33]);
        let found: Vec<f32> = emulator
            .decompress_part(&model.stream, &part)
            .expect("decompresses");
        let elements = elements_of(&part, lengths);
        let expected: Vec<f32> = elements.iter().map(|at| whole[*at]).collect();
        assert!(bits(&found) == bits(&expected), "{layout:?}");
    }
    let (model, original) = small();
    let mut damaged = model.stream.clone();
    let last = damaged.len() - 16;
    assert!(last > original.len());
    damaged[last] ^= 1;
    assert_eq!(
        emulator.decompress::<f32>(&damaged).err(),
        decode::<f32>(&damaged).err()
    );
}

#[test]
fn streams_of_tiles_are_not_updated() {
    let field = make::<f32>(Kind::Smooth, 2000, 3);
    for layout in crate::common::tile_layouts(&[10, 10, 20]) {
        let bound = Bound::abs(1e-3).expect("a bound");
        let compressor =
            crate::common::compressor(layout, bound, Device::Cpu).expect("a compressor");
        let mut stream = compressor.compress(&field).expect("compresses");
        let found = Update::new(&stream, &Part::Elements(3..4), &[1.0f32]);
        assert_eq!(found, Err(Error::UpdateOfTiles));
        // Nor does another writer's header make one of it.
        let header = Header::read(&stream).expect("a header");
        let header = Header {
            update_bytes: 16,
            ..header
        };
        stream[..HEADER_BYTES].copy_from_slice(&header.to_bytes());
        let found = ferrosz::info(&stream).err();
        let wanted = FormatError::InvalidHeader("a stream of tiles has no updates");
        assert_eq!(found, Some(Error::Format(wanted)));
    }
}

#[test]
fn a_stream_is_updated_whatever_made_it() {
    // Without elements, and without a bound.
    for codec in Codec::BLOCKS {
        let compressor = Compressor::new(codec, Bound::abs(0.0).expect("a bound"));
        let mut stream = compressor.compress::<f64>(&[]).expect("compresses");
        let update = Update::new::<f64>(&stream, &Part::Elements(0..0), &[]).expect("an update");
        let before = stream.clone();
        update.apply(&mut stream);
        assert!(stream == before && update.chunks == 0);
        let header = Header {
            update_bytes: 32,
            ..Header::read(&stream).expect("a header")
        };
        let wanted = FormatError::InvalidHeader("a stream without elements has no updates");
        assert_eq!(Header::read(&header.to_bytes()), Err(wanted));
    }
}

/// A field of rain with the fill value 0, and values that are within the bound of it.
fn drizzle<V: Value>(count: usize) -> Vec<V> {
    let amounts = [0.05, 0.0, 1.0, 7.0, 0.03, 99.0, 2.0, 0.09];
    let number = |i: usize| amounts[(i * i + i / 7) % amounts.len()];
    let whole = |number: f64| {
        if V::TYPE.is_integer() {
            number.ceil()
        } else {
            number
        }
    };
    (0..count)
        .map(|i| V::from_number(whole(number(i))).unwrap_or_default())
        .collect()
}

/// A stream of the reference, which lets valid values become the fill value 0.
fn reference<V: Value>(layout: Layout, bound: Bound, field: &[V]) -> Result<Vec<u8>, Error> {
    match V::TYPE.is_coded_as_is() {
        true => {
            let elements: &[V::Coded] = bytemuck::cast_slice(field);
            Machine::Reference.compress_masked(layout, None, bound, &[0], elements)
        }
        false => Machine::Reference.compress_values(layout, None, bound, &[0], field),
    }
}

/// An update decodes and codes whole chunks. A valid value that is decoded to the fill value, as in streams of encoders that
/// allow it, is not missing.
fn updates_leave_what_they_do_not_touch<V: Value>(codec: Codec, bound: Bound) {
    let original: Vec<V> = drizzle(9000);
    let layout = Layout::new(codec, Shape::Line, Extents::line(9000));
    let reference = reference(layout, bound, &original);
    let compressor = Compressor::new(codec, bound)
        .fill(0.0)
        .expect("a fill value");
    let own = compressor.device(Device::Cpu).compress(&original);
    for mut stream in [reference, own].map(|stream| stream.expect("compresses")) {
        let before: Vec<V> = Decompressor::new()
            .decompress(&stream)
            .expect("decompresses");
        for (at, value) in [(40, 0.04), (41, 0.0), (8500, 5.0)] {
            let value = V::from_number(if V::TYPE.is_integer() { 1.0 } else { value });
            let value = value.unwrap_or_default();
            let part = Part::Elements(at..at + 1);
            Update::new(&stream, &part, &[value])
                .expect("a part")
                .apply(&mut stream);
            let after: Vec<V> = Decompressor::new()
                .decompress(&stream)
                .expect("decompresses");
            let new = after[at as usize];
            assert_eq!(
                new == V::default(),
                value == V::default(),
                "{codec} {bound:?}"
            );
            for (i, (x, y)) in before.iter().zip(&after).enumerate() {
                if ![40, 41, 8500].contains(&i) {
                    // What was decoded to the fill value may be stored anew.
                    let is_same = x == y || judge(bound, &[original[i]], &[*y]).is_ok();
                    assert!(
                        is_same,
                        "{codec} {} {bound:?}: element {i}: {x} {y}",
                        V::TYPE
                    );
                }
            }
        }
    }
}

/// The chunk of an element has elements in parts of the mask that the element itself does not need, and that are far apart in the
/// stream.
#[test]
fn an_update_of_a_masked_stream_reads_the_mask_of_whole_chunks() {
    let mut rng = SmallRng::seed_from_u64(42);
    let field: Vec<f32> = (0..16 * 512 * 512)
        .map(|_| if rng.random() { rng.random() } else { 0.0 })
        .collect();
    let stream = Compressor::new(Codec::PLAIN, Bound::abs(0.3).expect("a bound"))
        .with_rank(1)
        .and_then(|compressor| compressor.extents(&[16, 512, 512])?.fill(0.0))
        .and_then(|compressor| compressor.compress(&field))
        .expect("compresses");
    let part = Part::Elements(2_000_000..2_000_001);
    let mut read = StreamAt::open(&stream[..]).expect("a stream");
    let found = read.update(&part, &[0.5f32]).expect("an update");
    assert_eq!(
        found,
        Update::new(&stream, &part, &[0.5f32]).expect("an update")
    );
    assert!(found.chunks > 0 && read.traffic().bytes < stream.len() as u64);
}

#[test]
fn updates_of_masked_streams_leave_what_they_do_not_touch() {
    for codec in Codec::BLOCKS {
        for value_type in ValueType::ALL {
            with_value!(value_type, V => {
                let bound = if V::TYPE.is_integer() { 1.0 } else { 0.1 };
                updates_leave_what_they_do_not_touch::<V>(codec, Bound::abs(bound).expect("a bound"));
            });
        }
    }
}
