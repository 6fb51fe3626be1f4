//! The kernels on the emulator, and the memory that they have in common.

use super::bytes_of;
use super::sample::Sample;
use ferrosz_codec::Element;
use ferrosz_codec::code::entropy::frequency_tables::MAX_WORDS;
use ferrosz_codec::code::entropy::states::SymbolCoder;
use ferrosz_codec::code::entropy::token::RAW;
use ferrosz_codec::container::checksum::checksum;
use ferrosz_codec::container::chunk::Form;
use ferrosz_codec::container::header::{CHECKSUM_WORD, HEADER_WORDS, IDENTITY_WORDS};
use ferrosz_codec::container::header_words::LayoutWords;
use ferrosz_codec::container::identity::Identity;
use ferrosz_codec::container::table::{Entry, Split};
use ferrosz_codec::container::tiles::FIRST_ENTRY;
use ferrosz_codec::shape::StaticShape;
use ferrosz_codec::tile::{ChunkLength, LANES, TILE};
use ferrosz_gpu_kernels::choice::taken_tiles::TakenTiles;
use ferrosz_gpu_kernels::code::bit_planes::decode::DecodePlanes;
use ferrosz_gpu_kernels::code::bit_planes::measure::{Measure, MeasureParams};
use ferrosz_gpu_kernels::code::bit_planes::words::PlaneWords;
use ferrosz_gpu_kernels::code::entropy::WARPS;
use ferrosz_gpu_kernels::code::entropy::decode::Decode;
use ferrosz_gpu_kernels::code::entropy::decode_tables::{
    self, DECODE_WORDS, ReadTables, ReadTablesParams,
};
use ferrosz_gpu_kernels::code::entropy::encode::{Encode, EncodeParams};
use ferrosz_gpu_kernels::code::entropy::statistics::{COUNTERS, Statistics, StatisticsParams};
use ferrosz_gpu_kernels::code::entropy::tables::{ENCODE_WORDS, MakeTables, TablesParams};
use ferrosz_gpu_kernels::code::entropy::words::StateWords;
use ferrosz_gpu_kernels::pipeline::cells::{self, Fault};
use ferrosz_gpu_kernels::pipeline::identity::IdentityOf;
use ferrosz_gpu_kernels::pipeline::tiles::codes::first_word;
use ferrosz_gpu_kernels::pipeline::tiles::layout::{TILE_WORDS, words_of_runs};
use ferrosz_gpu_kernels::pipeline::tiles::place::{Place, PlaceParams};
use ferrosz_gpu_kernels::pipeline::tiles::record::RECORD_WORDS;
use ferrosz_gpu_kernels::pipeline::tiles::target::DecodeParams;
use ferrosz_gpu_kernels::pipeline::tiles::tiling::{Counted, Tiling};
use ferrosz_gpu_kernels::pipeline::tiles::window::MemoryBox;
use ferrosz_simt::View;
use ferrosz_simt::emulator::{BlockOrder, Emulator};
use std::ops::Range;

/// How the entries of the tests' streams are divided.
pub const SPLIT: Split = Split::LONG;

/// What memory holds that nothing has written.
const STALE: u32 = 0xdead_beef;

#[repr(C, align(16))]
#[derive(Clone, Copy)]
struct Unit([u32; 4]);

/// Global memory, aligned as kernels want it.
pub struct Memory {
    units: Vec<Unit>,
    words: u64,
}

impl Memory {
    /// So many words, with what is left there.
    pub fn stale(words: u64) -> Self {
        Self {
            units: vec![Unit([STALE; 4]); words.div_ceil(4) as usize],
            words,
        }
    }

    pub fn of(words: &[u32]) -> Self {
        let mut memory = Self::stale(words.len() as u64);
        memory.words_mut().copy_from_slice(words);
        memory
    }

    pub fn view(&mut self) -> View<u32> {
        // SAFETY: the units outlive the launches of the test that owns them, and hold as many words.
        unsafe { View::new(self.units.as_mut_ptr().cast(), self.words) }
    }

    pub fn words(&self) -> &[u32] {
        // SAFETY: a unit is four words.
        let all = unsafe {
            core::slice::from_raw_parts(self.units.as_ptr().cast::<u32>(), 4 * self.units.len())
        };
        &all[..self.words as usize]
    }

    pub fn words_mut(&mut self) -> &mut [u32] {
        let count = self.words as usize;
        // SAFETY: a unit is four words.
        let all = unsafe {
            core::slice::from_raw_parts_mut(
                self.units.as_mut_ptr().cast::<u32>(),
                4 * self.units.len(),
            )
        };
        &mut all[..count]
    }
}

pub fn view<W>(items: &mut [W]) -> View<W> {
    // SAFETY: the items outlive the launches of the test that owns them.
    unsafe { View::new(items.as_mut_ptr(), items.len() as u64) }
}

/// The words of some elements.
pub fn words_of<E: Element>(values: &[E]) -> Vec<u32> {
    let words = values
        .iter()
        .map(|value| value.to_words().into_iter().take(E::WORDS));
    words.flatten().collect()
}

/// What a compression leaves.
pub struct Compressed {
    pub frequencies: Vec<u32>,
    /// Header, chunk table and payload.
    pub stream: Vec<u32>,
    chunks: usize,
}

impl Compressed {
    /// The first word of the chunk table.
    pub const TABLE: usize = HEADER_WORDS + 4;

    /// The first word of the payload.
    pub const fn payload_at(&self) -> usize {
        Self::TABLE + 4 * self.chunks
    }

    pub fn payload(&self) -> &[u32] {
        &self.stream[self.payload_at()..]
    }

    /// The forms of all chunks.
    pub fn forms(&self) -> Vec<u32> {
        let forms = (0..self.chunks).map(|chunk| self.chunk(chunk).0.form);
        forms.collect()
    }

    /// The entry of a chunk, and its bytes.
    pub fn chunk(&self, number: usize) -> (Entry, &[u32]) {
        let table = &self.stream[Self::TABLE..self.payload_at()];
        let entry = |number: usize| {
            let words = table.as_chunks().0.get(number);
            words.map(|words| Entry::from_words(*words, SPLIT))
        };
        let entry = entry(number).expect("a chunk");
        let Range { start, end } = entry.range();
        (entry, &self.payload()[start as usize / 4..end as usize / 4])
    }
}

/// The regions of a sample's runs, filled with their codes.
pub fn regions<E: Element>(sample: &Sample<E>) -> Memory {
    let mut regions = Memory::stale(words_of_runs(sample.tiling.runs()));
    for (number, chunk) in sample.chunks.iter().enumerate() {
        for (tile, codes) in (0..).zip(&chunk.codes) {
            let first = first_word(0, sample.first_of_runs(number) + tile) as usize;
            let words = &mut regions.words_mut()[first..];
            for (word, [low, high]) in words.iter_mut().zip(codes.as_chunks().0) {
                *word = u32::from(*low) | u32::from(*high) << 16;
            }
        }
    }
    regions
}

/// The tiles of a sample in chunks of one run.
fn tiling_of_runs<E: Element>(sample: &Sample<E>) -> Tiling {
    let [coarse, fine] = sample.grids;
    let in_runs = |grid| (grid, ChunkLength::Four);
    Tiling::new(in_runs(coarse), in_runs(fine), sample.map.order())
}

/// Compresses on the emulator.
pub fn compress<E: Element, C: SymbolCoder, S: StaticShape>(
    sample: &Sample<E>,
    seed: u64,
) -> Compressed {
    compress_counted::<E, C, S>(sample, seed, |_| {})
}

/// Compresses on the emulator, `change` setting the counts that the tables are made of.
pub fn compress_counted<E: Element, C: SymbolCoder, S: StaticShape>(
    sample: &Sample<E>,
    seed: u64,
    change: impl FnOnce(&mut [u64]),
) -> Compressed {
    let chunks = sample.chunks.len() as u64;
    let tiling = sample.tiling;
    let mut regions = regions(sample);
    let mut tiles = Memory::stale(4 * tiling.runs() * TILE_WORDS);
    let mut counts = vec![0; COUNTERS as usize];
    let mut workspace = vec![0; cells::count(chunks) as usize];
    let mut tables = Memory::stale(u64::from(ENCODE_WORDS));
    let mut parameters = sample.parameters();
    let mut frequencies = Memory::stale(MAX_WORDS as u64);
    let mut records = Memory::stale(chunks * RECORD_WORDS);
    let mut values = sample.values.each_ref().map(|values| words_of(values));
    let most: usize = values.iter().map(Vec::len).sum();
    let most = (HEADER_WORDS + 8 + MAX_WORDS + most) as u64 + (4 + 4) * chunks;
    let mut stream = Memory::stale(most);

    let emulator = Emulator::new().seed(seed).block_order(BlockOrder::Shuffled);
    let [before, all] = sample.of_field;
    let counted = Counted::new(before, all);
    let statistics = StatisticsParams {
        tiling: tiling_of_runs(sample),
        regions: regions.view(),
        tiles: tiles.view(),
        parameters: view(&mut parameters),
        counts: view(&mut counts),
        counted,
        tiles_a_block: [1, WARPS, 3][seed as usize % 3],
        taken: TakenTiles::all(),
    };
    let blocks = 1 + seed as u32 / 3 % 3;
    emulator
        .launch::<Statistics<S>>(blocks, &statistics)
        .expect("statistics");
    change(&mut counts);
    let make = TablesParams {
        counts: view(&mut counts),
        tables: tables.view(),
        frequencies: frequencies.view(),
        cells: view(&mut workspace),
        is_sample: u32::from(counted.is_sample()),
    };
    emulator.launch::<MakeTables<C>>(1, &make).expect("tables");
    let encode = EncodeParams {
        tiling,
        regions: regions.view(),
        tiles: tiles.view(),
        tables: tables.view(),
        parameters: view(&mut parameters),
        records: records.view(),
        cells: view(&mut workspace),
        element_words: E::WORDS as u32,
    };
    let blocks = chunks.div_ceil(8) as u32 + seed as u32 % 2;
    emulator
        .launch::<Encode<C, S>>(blocks, &encode)
        .expect("encode");
    // The prologue is here the frequencies alone.
    let frequency_words = workspace[cells::FREQUENCIES_WORDS as usize] as usize;
    workspace[cells::PROLOGUE_BYTES as usize] = 4 * frequency_words as u64;
    let [coarse, field] = &mut values;
    let position = PlaceParams {
        tiling,
        regions: regions.view(),
        tiles: tiles.view(),
        records: records.view(),
        coarse: view(coarse),
        field: view(field),
        element_words: E::WORDS as u32,
        stream: stream.view(),
        entries: FIRST_ENTRY + chunks,
        cells: view(&mut workspace),
        identity: IdentityOf::known(identity()),
        split: SPLIT,
    };
    emulator
        .launch::<Place<StateWords>>(chunks as u32, &position)
        .expect("position");
    finish(
        &stream,
        &workspace,
        chunks,
        &frequencies.words()[..frequency_words],
    )
}

/// Puts the header before what a compression leaves.
fn finish(stream: &Memory, workspace: &[u64], chunks: u64, frequencies: &[u32]) -> Compressed {
    let payload_bytes = workspace[cells::STREAM_BYTES as usize];
    let mut header = header();
    seal(&mut header, payload_bytes);
    let words = HEADER_WORDS + 4 * (1 + chunks as usize) + payload_bytes as usize / 4;
    let mut stream = stream.words()[..words].to_vec();
    stream[..HEADER_WORDS].copy_from_slice(&header);
    let frequency_words = frequencies.len();
    let payload_at = Compressed::TABLE + 4 * chunks as usize;
    stream[payload_at..payload_at + frequency_words].copy_from_slice(frequencies);
    Compressed {
        frequencies: stream[payload_at..payload_at + frequency_words].to_vec(),
        stream,
        chunks: chunks as usize,
    }
}

/// The headers of the tests' streams, without the length of the payload.
fn header() -> [u32; HEADER_WORDS] {
    let mut header = [0; HEADER_WORDS];
    header[..20].fill(0x0102_0304);
    // The words of the roles of axes, and of the length of the records.
    (header[25], header[28]) = (0x0102_0304, 0x0102_0304);
    header
}

/// The identity of the tests' streams.
pub fn identity() -> Identity {
    Identity::of_sum(checksum(0, &bytes_of(&header()[..IDENTITY_WORDS])))
}

/// Completes a header of the tests' streams.
pub fn seal(header: &mut [u32; HEADER_WORDS], payload_bytes: u64) {
    let mut put = |at: usize, value: u64| {
        header[at / 4] = value as u32;
        header[at / 4 + 1] = (value >> 32) as u32;
        checksum(0, &bytes_of(&header[..CHECKSUM_WORD]))
    };
    put(128, identity().0);
    let sum = put(136, payload_bytes);
    put(4 * CHECKSUM_WORD, sum);
}

/// What a decompression leaves.
#[derive(Debug, PartialEq, Eq)]
pub struct Decompressed {
    pub fault: Option<Fault>,
    /// The codes of the tiles of each chunk.
    pub codes: Vec<Vec<u16>>,
    /// The words of the coarse field and of the field.
    pub values: [Vec<u32>; 2],
}

/// Decompresses on the emulator.
pub fn decompress<E: Element, C: SymbolCoder, S: StaticShape>(
    sample: &Sample<E>,
    stream: &[u32],
    verify: bool,
    seed: u64,
) -> Decompressed {
    let chunks = sample.chunks.len() as u64;
    let mut stream = Memory::of(stream);
    let mut workspace = vec![0; cells::count(chunks) as usize];
    let mut tables = Memory::stale(u64::from(DECODE_WORDS));
    let mut regions = Memory::stale(words_of_runs(sample.tiling.runs()));
    let mut values = sample
        .values
        .each_ref()
        .map(|values| vec![STALE; values.len() * E::WORDS]);
    let emulator = Emulator::new().seed(seed).block_order(BlockOrder::Shuffled);
    let read = ReadTablesParams {
        header: stream.view(),
        stream: stream.view(),
        entries: FIRST_ENTRY + chunks,
        frequencies_at: 0,
        layout: LayoutWords::of_elements(&header()),
        tables: tables.view(),
        cells: view(&mut workspace),
    };
    emulator.launch::<ReadTables<C>>(1, &read).expect("tables");
    // Decoders bring in all of them.
    let padding = &tables.words()[decode_tables::USED as usize + 1..];
    assert!(
        padding.iter().all(|word| *word == 0),
        "words that nothing wrote"
    );
    let [coarse, field] = &mut values;
    let mut parameters = sample.parameters();
    let decode = DecodeParams {
        tiling: sample.tiling,
        header: stream.view(),
        stream: stream.view(),
        entries: FIRST_ENTRY + chunks,
        tables: tables.view(),
        parameters: view(&mut parameters),
        regions: regions.view(),
        coarse: view(coarse),
        field: view(field),
        memory: MemoryBox::whole(&sample.grids[1]),
        chunks: View::empty(),
        cells: view(&mut workspace),
        element_words: E::WORDS as u32,
        verify: u32::from(verify),
        split: SPLIT,
    };
    let blocks = chunks.div_ceil(8) as u32 + seed as u32 % 2;
    emulator
        .launch::<Decode<C, S>>(blocks, &decode)
        .expect("decode");
    leave(sample, &regions, &workspace, values)
}

/// What a decompression has left.
fn leave<E: Element>(
    sample: &Sample<E>,
    regions: &Memory,
    workspace: &[u64],
    values: [Vec<u32>; 2],
) -> Decompressed {
    let codes_of = |tile: u64| {
        let words = &regions.words()[first_word(0, tile) as usize..][..TILE / 2];
        words
            .iter()
            .flat_map(|word| [*word as u16, (*word >> 16) as u16])
    };
    let codes = sample.chunks.iter().enumerate().map(|(number, chunk)| {
        let tiles = 0..chunk.codes.len() as u64;
        let first = sample.first_of_runs(number);
        tiles.flat_map(|tile| codes_of(first + tile)).collect()
    });
    Decompressed {
        fault: Fault::from_cell(workspace[cells::FAULT as usize]),
        codes: codes.collect(),
        values,
    }
}

/// Compresses as bit planes.
pub fn compress_planes<E: Element>(sample: &Sample<E>, seed: u64) -> Compressed {
    let chunks = sample.chunks.len() as u64;
    let tiling = sample.tiling;
    let mut regions = regions(sample);
    let mut tiles = Memory::stale(4 * tiling.runs() * TILE_WORDS);
    let mut workspace = vec![0; cells::count(chunks) as usize];
    let mut records = Memory::stale(chunks * RECORD_WORDS);
    let mut values = sample.values.each_ref().map(|values| words_of(values));
    let most: usize = values.iter().map(Vec::len).sum();
    let mut stream = Memory::stale((HEADER_WORDS + most) as u64 + (4 + 4) * chunks);
    let emulator = Emulator::new().seed(seed).block_order(BlockOrder::Shuffled);
    let element_words = E::WORDS as u32;
    let measure = MeasureParams {
        tiling,
        regions: regions.view(),
        tiles: tiles.view(),
        records: records.view(),
        cells: view(&mut workspace),
        element_words,
        taken: TakenTiles::all(),
    };
    let launched = emulator.launch::<Measure>(chunks as u32, &measure);
    launched.expect("measure");
    let [coarse, field] = &mut values;
    let position = PlaceParams {
        tiling,
        regions: regions.view(),
        tiles: tiles.view(),
        records: records.view(),
        coarse: view(coarse),
        field: view(field),
        element_words,
        stream: stream.view(),
        entries: FIRST_ENTRY + chunks,
        cells: view(&mut workspace),
        identity: IdentityOf::known(identity()),
        split: SPLIT,
    };
    let launched = emulator.launch::<Place<PlaneWords>>(chunks as u32, &position);
    launched.expect("position");
    finish(&stream, &workspace, chunks, &[])
}

/// Decompresses bit planes.
pub fn decompress_planes<E: Element, S: StaticShape>(
    sample: &Sample<E>,
    stream: &[u32],
    verify: bool,
    seed: u64,
) -> Decompressed {
    let chunks = sample.chunks.len() as u64;
    let mut stream = Memory::of(stream);
    let mut workspace = vec![0; cells::count(chunks) as usize];
    let mut regions = Memory::stale(words_of_runs(sample.tiling.runs()));
    let mut values = sample
        .values
        .each_ref()
        .map(|values| vec![STALE; values.len() * E::WORDS]);
    let emulator = Emulator::new().seed(seed).block_order(BlockOrder::Shuffled);
    let [coarse, field] = &mut values;
    let decode = DecodeParams {
        tiling: sample.tiling,
        header: stream.view(),
        stream: stream.view(),
        entries: FIRST_ENTRY + chunks,
        tables: View::empty(),
        parameters: View::empty(),
        regions: regions.view(),
        coarse: view(coarse),
        field: view(field),
        memory: MemoryBox::whole(&sample.grids[1]),
        chunks: View::empty(),
        cells: view(&mut workspace),
        element_words: E::WORDS as u32,
        verify: u32::from(verify),
        split: SPLIT,
    };
    emulator
        .launch::<DecodePlanes<S>>(chunks as u32, &decode)
        .expect("decode");
    leave(sample, &regions, &workspace, values)
}

/// What a decompression should leave of a sample, whose chunks have these forms.
pub fn expected<E: Element>(sample: &Sample<E>, forms: &[u32]) -> Decompressed {
    let mut values = sample
        .values
        .each_ref()
        .map(|values| vec![STALE; values.len() * E::WORDS]);
    let mut codes = Vec::new();
    for (chunk, form) in sample.chunks.iter().zip(forms) {
        let is_raw = *form == Form::Raw.id();
        let mut of_chunk = Vec::new();
        for (number, tile) in chunk.codes.iter().enumerate() {
            for (at, z) in tile.iter().enumerate() {
                let (step, lane) = (at as u32 / LANES, at as u32 % LANES);
                let active = sample.map.active(&chunk.tiles[number], step) >> lane & 1 == 1;
                let z = if is_raw && active { RAW as u16 } else { *z };
                of_chunk.push(z);
                if u32::from(z) == RAW {
                    let field = usize::from(!chunk.is_coarse);
                    let flat = sample.flat(chunk, number, at);
                    let words = sample.values[field][flat].to_words();
                    values[field][flat * E::WORDS..][..E::WORDS]
                        .copy_from_slice(&words[..E::WORDS]);
                }
            }
        }
        codes.push(of_chunk);
    }
    Decompressed {
        fault: None,
        codes,
        values,
    }
}
