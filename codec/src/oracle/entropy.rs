//! The oracle of entropy coding: a chunk in plain loops, meant to be read beside FORMAT.md.
//!
//! It shares no code with the coders. Zones are found position by position, states are divided, codes are read bit by
//! bit, and there are no tables.

use crate::code::entropy::shifts::Shifts;
use crate::code::entropy::states::SymbolCoder;
use crate::container::chunk::Form;
use crate::element::Element;
use crate::error::ChunkFault;
use crate::oracle::frequencies::{Contexts, classes, code_of_token, extra_bits, token};
use crate::oracle::order::{self, LANES, POSITIONS, RAW};
use crate::tile::{TileBox, TileOrder};
use alloc::vec;
use alloc::vec::Vec;

/// The lanes that pop in the same round, each with its pop.
type Round = Vec<(usize, Pop)>;

/// The symbol or bits that a lane pops.
#[derive(Clone, Copy)]
enum Pop {
    Symbol {
        context: usize,
        symbol: usize,
        /// Bits that are popped with it.
        extra: Extra,
    },
    Bits(Extra),
}

/// Extra bits and their number.
#[derive(Clone, Copy)]
struct Extra {
    count: u32,
    value: u32,
}

impl Extra {
    const NONE: Self = Self { count: 0, value: 0 };
}

/// A symbol's number, its frequency, and the start of its interval.
type Interval = (usize, u32, u32);

/// The codes of each tile, in order of steps and lanes, and the raw values of all tiles.
pub(crate) type Decoded<T> = (Vec<Vec<u16>>, Vec<T>);

/// Encodes a chunk of tiles with these frequencies. The codes and elements of each tile are in order of steps and
/// lanes.
pub fn encode<C: SymbolCoder, T: Element>(
    order: TileOrder,
    shifts: Shifts,
    tiles: &[TileBox],
    frequencies: &Contexts<u16>,
    codes: &[Vec<u16>],
    values: &[Vec<T>],
) -> (Form, Vec<u8>) {
    let mut rounds = Vec::new();
    let (mut all, mut raw) = (Vec::new(), Vec::new());
    for ((tile, codes), values) in tiles.iter().zip(codes).zip(values) {
        rounds.extend(rounds_of_tile(order, shifts, tile, frequencies, codes));
        for at in (0..codes.len()).filter(|at| order::zone(order, tile, *at).is_some()) {
            all.push(values[at]);
            if codes[at] == RAW {
                raw.push(values[at]);
            }
        }
    }
    let raw_form = with_values(Vec::new(), &all);
    if codes.iter().flatten().all(|z| *z == 0) {
        return (Form::Zero, Vec::new());
    }
    match push_rounds::<C>(frequencies, &rounds) {
        Some(bytes) if with_values(bytes.clone(), &raw).len() < raw_form.len() => {
            (Form::Coded, with_values(bytes, &raw))
        }
        _ => (Form::Raw, raw_form),
    }
}

/// The bytes followed by the values, padded.
pub(crate) fn with_values<T: Element>(mut bytes: Vec<u8>, values: &[T]) -> Vec<u8> {
    for value in values {
        bytes.extend(&value.to_bits64().to_le_bytes()[..T::BYTES]);
    }
    bytes.resize(bytes.len().next_multiple_of(16), 0);
    bytes
}

fn rounds_of_tile(
    order: TileOrder,
    shifts: Shifts,
    tile: &TileBox,
    frequencies: &Contexts<u16>,
    codes: &[u16],
) -> Vec<Round> {
    let classes = classes(order, tile, codes);
    let class_of = |zone: usize| {
        (
            zone % 32,
            Pop::Symbol {
                context: 0,
                symbol: classes[zone],
                extra: Extra::NONE,
            },
        )
    };
    let mut rounds = vec![(0..32).map(class_of).collect()];
    if order.has_levels {
        rounds.push((32..37).map(class_of).collect());
    }
    for step in 0..POSITIONS / LANES {
        let (mut tokens, mut extras) = (Vec::new(), Vec::new());
        for lane in 0..LANES {
            let at = LANES * step + lane;
            let context = order::context(order, shifts, tile, at, &classes);
            if context == 0 {
                continue;
            }
            let (symbol, count, value) = token(codes[at], |token| frequencies[context][token] > 0);
            let extra = Extra { count, value };
            let is_alone = count > 4;
            tokens.push((
                lane,
                Pop::Symbol {
                    context,
                    symbol,
                    extra: if is_alone { Extra::NONE } else { extra },
                },
            ));
            if is_alone {
                extras.push((lane, Pop::Bits(extra)));
            }
        }
        rounds.extend([tokens, extras]);
    }
    rounds
}

/// The intervals of each context's symbols, in order of the symbols; for prefix codes, in order of falling frequency.
fn intervals_of<C: SymbolCoder>(frequencies: &Contexts<u16>) -> Vec<Vec<Interval>> {
    let of_context = |frequencies: &[u16; 112]| {
        let mut symbols: Vec<usize> = (0..112).filter(|symbol| frequencies[*symbol] > 0).collect();
        if C::BY_FREQUENCY {
            // The sort is stable: symbols of the same frequency stay in order.
            symbols.sort_by_key(|symbol| core::cmp::Reverse(frequencies[*symbol]));
        }
        let mut start = 0;
        let mut next = |symbol: usize| {
            let frequency = u32::from(frequencies[symbol]);
            start += frequency;
            (symbol, frequency, start - frequency)
        };
        symbols.into_iter().map(&mut next).collect()
    };
    frequencies.iter().map(of_context).collect()
}

/// The bits of a symbol's prefix code, first bit first.
fn prefix((_, frequency, start): Interval) -> Vec<u32> {
    let length = (4096 / frequency).ilog2();
    (0..length).map(|bit| start >> (11 - bit) & 1).collect()
}

/// The bytes of the states and words, without raw values; none if a symbol has no frequency.
fn push_rounds<C: SymbolCoder>(frequencies: &Contexts<u16>, rounds: &[Round]) -> Option<Vec<u8>> {
    let intervals = intervals_of::<C>(frequencies);
    let mut states = [1u64 << 16; 32];
    let mut words = Vec::new();
    for round in rounds.iter().rev() {
        for (lane, pop) in round.iter().rev() {
            let x = &mut states[*lane];
            match *pop {
                Pop::Symbol {
                    context,
                    symbol,
                    extra,
                } => {
                    let mut of_context = intervals[context].iter();
                    let interval = *of_context.find(|interval| interval.0 == symbol)?;
                    push(x, &mut words, |x| {
                        let x = with_bits(x, extra);
                        if C::BY_FREQUENCY {
                            let bits = prefix(interval);
                            let value = bits.iter().rev().fold(0, |value, bit| value << 1 | bit);
                            let count = bits.len() as u32;
                            with_bits(x, Extra { count, value })
                        } else {
                            with_interval(x, interval)
                        }
                    });
                }
                Pop::Bits(extra) => push(x, &mut words, |x| with_bits(x, extra)),
            }
        }
    }
    words.reverse();
    Some(image(&states, &words))
}

/// Applies `pushed` to a state, after the state has lost a word if the result would be too long.
fn push(x: &mut u64, words: &mut Vec<u16>, pushed: impl Fn(u64) -> u64) {
    if pushed(*x) >= 1 << 32 {
        words.push(*x as u16);
        *x >>= 16;
    }
    *x = pushed(*x);
}

fn with_bits(x: u64, Extra { count, value }: Extra) -> u64 {
    x << count | u64::from(value)
}

fn with_interval(x: u64, (_, frequency, start): Interval) -> u64 {
    let (frequency, start) = (u64::from(frequency), u64::from(start));
    x / frequency * 4096 + x % frequency + start
}

fn image(states: &[u64; 32], words: &[u16]) -> Vec<u8> {
    let mut bytes = (words.len() as u32).to_le_bytes().to_vec();
    for pair in states.as_chunks::<2>().0 {
        let [low, high] = pair.map(|x| x.ilog2() - 16);
        bytes.push((low + 16 * high) as u8);
    }
    let bits_of = |x: &u64| {
        (0..x.ilog2())
            .map(|bit| *x >> bit & 1 == 1)
            .collect::<Vec<_>>()
    };
    let mut bits: Vec<bool> = states.iter().flat_map(bits_of).collect();
    bits.resize(bits.len().next_multiple_of(32), false);
    for bits in bits.as_chunks::<8>().0 {
        bytes.push(
            bits.iter()
                .rev()
                .fold(0, |byte, bit| byte << 1 | u8::from(*bit)),
        );
    }
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// Decodes a chunk of tiles; returns the codes of each tile, and the raw values of all tiles in order.
///
/// # Errors
///
/// [`ChunkFault`].
pub fn decode<C: SymbolCoder, T: Element>(
    order: TileOrder,
    shifts: Shifts,
    tiles: &[TileBox],
    frequencies: &Contexts<u16>,
    form: Form,
    bytes: &[u8],
) -> Result<(Vec<Vec<u16>>, Vec<T>), ChunkFault> {
    let positions = positions_of(order, tiles);
    match uncoded(&positions, form, bytes)? {
        Some(decoded) => Ok(decoded),
        None => pop_tiles::<C, T>(order, shifts, tiles, frequencies, bytes),
    }
}

/// The zone of each position of tiles; none where there is no code.
pub(crate) fn positions_of(order: TileOrder, tiles: &[TileBox]) -> Vec<Vec<Option<usize>>> {
    let of_tile = |tile| {
        (0..POSITIONS)
            .map(|at| order::zone(order, tile, at))
            .collect()
    };
    tiles.iter().map(of_tile).collect()
}

/// The codes and raw values of a chunk whose form is not *coded*; none if it is.
pub(crate) fn uncoded<T: Element>(
    positions: &[Vec<Option<usize>>],
    form: Form,
    bytes: &[u8],
) -> Result<Option<Decoded<T>>, ChunkFault> {
    let count = positions.iter().flatten().flatten().count();
    let raw_bytes = (count * T::BYTES).next_multiple_of(16);
    if bytes.len() > raw_bytes || !bytes.len().is_multiple_of(16) {
        return Err(ChunkFault::Place);
    }
    let fill = |z: u16| {
        let of_tile =
            |tile: &Vec<Option<usize>>| tile.iter().map(|zone| zone.map_or(0, |_| z)).collect();
        positions.iter().map(of_tile).collect()
    };
    match form {
        Form::Zero if bytes.is_empty() => Ok(Some((fill(0), Vec::new()))),
        Form::Raw if bytes.len() == raw_bytes => Ok(Some((fill(RAW), read_values(bytes, count)?))),
        Form::Zero | Form::Raw => Err(ChunkFault::Length),
        Form::Coded => Ok(None),
        Form::CodedWithExceptions | Form::Constant => Err(ChunkFault::Form),
    }
}

pub(crate) fn read_values<T: Element>(bytes: &[u8], count: usize) -> Result<Vec<T>, ChunkFault> {
    let value = |bytes: &[u8]| {
        let mut bits = [0; 8];
        bits[..T::BYTES].copy_from_slice(bytes);
        T::from_bits64(u64::from_le_bytes(bits))
    };
    let bytes = bytes.get(..count * T::BYTES).ok_or(ChunkFault::Length)?;
    Ok(bytes.chunks_exact(T::BYTES).map(value).collect())
}

fn pop_tiles<C: SymbolCoder, T: Element>(
    order: TileOrder,
    shifts: Shifts,
    tiles: &[TileBox],
    frequencies: &Contexts<u16>,
    bytes: &[u8],
) -> Result<(Vec<Vec<u16>>, Vec<T>), ChunkFault> {
    let is_used = |context: usize| frequencies[context].iter().any(|frequency| *frequency > 0);
    let mut states = States::read(intervals_of::<C>(frequencies), C::BY_FREQUENCY, bytes)?;
    let mut codes = Vec::new();
    for tile in tiles {
        let mut classes = Vec::new();
        for zone in 0..order::zones(order) {
            let class = states.symbol(zone % 32, 0)?;
            states.refill(zone % 32);
            let has_shift = order.has_levels && zone < 36;
            if class > 0 && !has_shift && !is_used(class) {
                return Err(ChunkFault::Symbol);
            }
            classes.push(class);
        }
        let contexts: Vec<usize> = (0..POSITIONS)
            .map(|at| order::context(order, shifts, tile, at, &classes))
            .collect();
        let mut tile = vec![0; POSITIONS];
        for (codes, contexts) in tile.chunks_mut(LANES).zip(contexts.chunks(LANES)) {
            let (mut tokens, mut extras) = ([0; 32], [0; 32]);
            for lane in (0..32).filter(|lane| contexts[*lane] > 0) {
                tokens[lane] = states.symbol(lane, contexts[lane])?;
                if extra_bits(tokens[lane]) <= 4 {
                    extras[lane] = states.bits(lane, extra_bits(tokens[lane]));
                }
                states.refill(lane);
            }
            for lane in (0..32).filter(|lane| extra_bits(tokens[*lane]) > 4) {
                extras[lane] = states.bits(lane, extra_bits(tokens[lane]));
                states.refill(lane);
            }
            for (lane, code) in codes.iter_mut().enumerate() {
                *code = code_of_token(tokens[lane], extras[lane]);
            }
        }
        codes.push(tile);
    }
    let raws = codes.iter().flatten().filter(|z| **z == RAW).count();
    let behind = states.finish()?;
    let values = read_values(behind, raws)?;
    let end = bytes.len() - behind.len() + raws * T::BYTES;
    if end.next_multiple_of(16) == bytes.len() {
        Ok((codes, values))
    } else {
        Err(ChunkFault::Length)
    }
}

/// The states of the lanes, and the bytes behind them.
struct States<'a> {
    intervals: Vec<Vec<Interval>>,
    is_prefix: bool,
    states: Vec<u64>,
    words: Vec<u16>,
    next: usize,
    behind: &'a [u8],
}

impl<'a> States<'a> {
    fn read(
        intervals: Vec<Vec<Interval>>,
        is_prefix: bool,
        bytes: &'a [u8],
    ) -> Result<Self, ChunkFault> {
        let (head, bytes) = bytes.split_at_checked(20).ok_or(ChunkFault::Length)?;
        let count = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
        let spare = |lane: usize| usize::from(head[4 + lane / 2]) >> (4 * (lane % 2)) & 15;
        let bit = |at: usize| u64::from(bytes.get(at / 8).map_or(0, |byte| byte >> (at % 8) & 1));
        let mut states = Vec::new();
        let mut at = 0;
        for lane in 0..32 {
            let bits = 16 + spare(lane);
            states.push((0..bits).fold(1 << bits, |x, i| x | bit(at + i) << i));
            at += bits;
        }
        let start = at.div_ceil(32) * 4;
        let end = start + 2 * count;
        let words = bytes.get(start..end).ok_or(ChunkFault::Length)?;
        Ok(Self {
            intervals,
            is_prefix,
            states,
            words: words
                .chunks(2)
                .map(|word| u16::from_le_bytes([word[0], word[1]]))
                .collect(),
            next: 0,
            behind: bytes
                .get(end.next_multiple_of(4)..)
                .ok_or(ChunkFault::Length)?,
        })
    }

    fn refill(&mut self, lane: usize) {
        if self.states[lane] < 1 << 16 {
            let word = self.words.get(self.next).copied().unwrap_or(0);
            self.states[lane] = self.states[lane] << 16 | u64::from(word);
            self.next += 1;
        }
    }

    fn bits(&mut self, lane: usize, count: u32) -> u32 {
        let value = self.states[lane] & ((1 << count) - 1);
        self.states[lane] >>= count;
        value as u32
    }

    fn symbol(&mut self, lane: usize, context: usize) -> Result<usize, ChunkFault> {
        let x = self.states[lane];
        let is_top = |interval: &&Interval| {
            if self.is_prefix {
                let mut bits = prefix(**interval).into_iter().enumerate();
                bits.all(|(i, bit)| x >> i & 1 == u64::from(bit))
            } else {
                (u64::from(interval.2)..u64::from(interval.2 + interval.1)).contains(&(x % 4096))
            }
        };
        let mut intervals = self.intervals[context].iter();
        let interval = *intervals.find(is_top).ok_or(ChunkFault::Symbol)?;
        let (symbol, frequency, start) = interval;
        self.states[lane] = if self.is_prefix {
            x >> prefix(interval).len()
        } else {
            u64::from(frequency) * (x / 4096) + x % 4096 - u64::from(start)
        };
        Ok(symbol)
    }

    /// The bytes behind the words, if all words and bits were popped.
    fn finish(self) -> Result<&'a [u8], ChunkFault> {
        if self.next != self.words.len() {
            Err(ChunkFault::Length)
        } else if self.states.iter().any(|x| *x != 1 << 16) {
            Err(ChunkFault::State)
        } else {
            Ok(self.behind)
        }
    }
}
