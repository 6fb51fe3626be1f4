//! The oracle of entropy coding: a chunk in plain loops, meant to be read beside FORMAT.md.
//!
//! It shares with the coders the shares of the symbols and the tokens. Groups are found place by place, states are
//! divided, codes are read bit by bit, and there are no tables.

use super::class::class;
use super::shares::Shares;
use super::stack::SymbolCoder;
use super::tables::intervals;
use super::token::{RAW, Token, magnitude};
use crate::element::Element;
use crate::error::ChunkFault;
use crate::stream::chunk::Form;
use crate::tile::{LANES, STEPS, TileBox, TileOrder, place};
use alloc::vec;
use alloc::vec::Vec;

/// The lanes that pop in the same round, and what.
type Round = Vec<(usize, Pop)>;

/// What a lane pops.
#[derive(Clone, Copy)]
enum Pop {
    Symbol {
        context: u32,
        symbol: u32,
        /// Bits that are popped with it.
        extra: Extra,
    },
    Bits(Extra),
}

/// Extra bits, and how many.
#[derive(Clone, Copy)]
struct Extra {
    count: u32,
    value: u32,
}

impl Extra {
    const NONE: Self = Self { count: 0, value: 0 };
}

/// A symbol's number, its share, and where its interval starts.
type Interval = (u32, u32, u32);

/// Encodes a chunk of tiles, of each of which the codes and the elements lie in order of steps and lanes.
pub fn encode<C: SymbolCoder, T: Element>(
    order: TileOrder,
    tiles: &[TileBox],
    shares: &Shares,
    codes: &[Vec<u16>],
    values: &[Vec<T>],
) -> (Form, Vec<u8>) {
    let mut rounds = Vec::new();
    let (mut all, mut raw) = (Vec::new(), Vec::new());
    for ((tile, codes), values) in tiles.iter().zip(codes).zip(values) {
        rounds.extend(rounds_of_tile(order, tile, shares, codes));
        for at in (0..codes.len()).filter(|at| group(order, tile, *at).is_some()) {
            all.push(values[at]);
            if u32::from(codes[at]) == RAW {
                raw.push(values[at]);
            }
        }
    }
    let raw_form = padded_values(Vec::new(), &all);
    if codes.iter().flatten().all(|z| *z == 0) {
        return (Form::Zero, Vec::new());
    }
    match push_rounds::<C>(shares, &rounds) {
        Some(bytes) if padded_values(bytes.clone(), &raw).len() < raw_form.len() => {
            (Form::Coded, padded_values(bytes, &raw))
        }
        _ => (Form::Raw, raw_form),
    }
}

/// The group of a place in a tile, if it has a code.
fn group(order: TileOrder, tile: &TileBox, at: usize) -> Option<u32> {
    let (step, lane) = (at as u32 / LANES, at as u32 % LANES);
    let is_inside = tile.has(place(order.shape, step, lane));
    order.group(step, lane).filter(|_| is_inside)
}

fn padded_values<T: Element>(mut bytes: Vec<u8>, values: &[T]) -> Vec<u8> {
    for value in values {
        bytes.extend(&value.to_bits64().to_le_bytes()[..T::BYTES]);
    }
    bytes.resize(bytes.len().next_multiple_of(16), 0);
    bytes
}

fn rounds_of_tile(order: TileOrder, tile: &TileBox, shares: &Shares, codes: &[u16]) -> Vec<Round> {
    let mut sums = [0; 37];
    for (at, z) in codes.iter().enumerate() {
        if let Some(group) = group(order, tile, at) {
            sums[group as usize] += magnitude(u32::from(*z));
        }
    }
    let class = |group: u32| class(order.shape, group, sums[group as usize]);
    let class_of = |group| {
        (
            group as usize % 32,
            Pop::Symbol {
                context: 0,
                symbol: class(group),
                extra: Extra::NONE,
            },
        )
    };
    let mut rounds = vec![(0..32).map(class_of).collect()];
    if order.has_levels {
        rounds.push((32..37).map(class_of).collect());
    }
    for step in 0..STEPS as usize {
        let (mut tokens, mut extras) = (Vec::new(), Vec::new());
        for lane in 0..LANES as usize {
            let at = step * 32 + lane;
            let Some(context) = group(order, tile, at).map(class).filter(|class| *class > 0) else {
                continue;
            };
            let z = u32::from(codes[at]);
            let mut token = Token::of(z);
            if shares.context(context)[token.number as usize] == 0 {
                token = Token::escape(z);
            }
            let extra = Extra {
                count: token.bits,
                value: token.extra,
            };
            let is_alone = token.bits > 4;
            tokens.push((
                lane,
                Pop::Symbol {
                    context,
                    symbol: token.number,
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

fn intervals_of<C: SymbolCoder>(shares: &Shares) -> Vec<Vec<Interval>> {
    let context = |context| {
        let mut found = Vec::new();
        intervals::<C>(shares.context(context), |symbol, share, start| {
            found.push((symbol, share, start));
        });
        found
    };
    (0..16).map(context).collect()
}

/// The bits of a symbol's prefix code, the first one first.
fn prefix((_, share, start): Interval) -> Vec<u32> {
    let length = (4096 / share).ilog2();
    (0..length).map(|bit| start >> (11 - bit) & 1).collect()
}

/// The image without raw values; none if a symbol has no share.
fn push_rounds<C: SymbolCoder>(shares: &Shares, rounds: &[Round]) -> Option<Vec<u8>> {
    let intervals = intervals_of::<C>(shares);
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
                    let mut of_context = intervals[context as usize].iter();
                    let interval = *of_context.find(|interval| interval.0 == symbol)?;
                    push(x, &mut words, |x| {
                        let x = with_bits(x, extra);
                        if C::POWERS_OF_TWO {
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

/// What a state becomes, which first loses a word if it would become too long.
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

fn with_interval(x: u64, (_, share, start): Interval) -> u64 {
    let (share, start) = (u64::from(share), u64::from(start));
    x / share * 4096 + x % share + start
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

/// Decodes a chunk of tiles; of each the codes, and of all the raw values in order.
///
/// # Errors
///
/// [`ChunkFault`].
pub fn decode<C: SymbolCoder, T: Element>(
    order: TileOrder,
    tiles: &[TileBox],
    shares: &Shares,
    form: Form,
    bytes: &[u8],
) -> Result<(Vec<Vec<u16>>, Vec<T>), ChunkFault> {
    let places = tiles
        .iter()
        .map(|tile| (0..16_384).map(|at| group(order, tile, at)).collect());
    let places: Vec<Vec<Option<u32>>> = places.collect();
    let count = places.iter().flatten().flatten().count();
    let raw_bytes = (count * T::BYTES).next_multiple_of(16);
    if bytes.len() > raw_bytes || !bytes.len().is_multiple_of(16) {
        return Err(ChunkFault::Place);
    }
    let fill = |z: u16| {
        let of_tile =
            |tile: &Vec<Option<u32>>| tile.iter().map(|group| group.map_or(0, |_| z)).collect();
        places.iter().map(of_tile).collect()
    };
    match form {
        Form::Zero if bytes.is_empty() => Ok((fill(0), Vec::new())),
        Form::Raw if bytes.len() == raw_bytes => Ok((fill(RAW as u16), read_values(bytes, count)?)),
        Form::Zero | Form::Raw => Err(ChunkFault::Length),
        Form::Coded => pop_tiles::<C, T>(order, &places, shares, bytes),
        Form::CodedWithExceptions | Form::Constant => Err(ChunkFault::Form),
    }
}

fn read_values<T: Element>(bytes: &[u8], count: usize) -> Result<Vec<T>, ChunkFault> {
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
    places: &[Vec<Option<u32>>],
    shares: &Shares,
    bytes: &[u8],
) -> Result<(Vec<Vec<u16>>, Vec<T>), ChunkFault> {
    let mut stacks = Stacks::read(intervals_of::<C>(shares), C::POWERS_OF_TWO, bytes)?;
    let mut codes = Vec::new();
    for groups in places {
        let mut classes = Vec::new();
        for group in 0..order.groups() {
            let class = stacks.symbol(group as usize % 32, 0)?;
            stacks.refill(group as usize % 32);
            if class > 0 && shares.context(class).iter().all(|share| *share == 0) {
                return Err(ChunkFault::Symbol);
            }
            classes.push(class);
        }
        let mut tile = vec![0; groups.len()];
        for (codes, groups) in tile.chunks_mut(32).zip(groups.chunks(32)) {
            let class = |lane: usize| groups[lane].map_or(0, |group| classes[group as usize]);
            let (mut tokens, mut extras) = ([0; 32], [0; 32]);
            for lane in (0..32).filter(|lane| class(*lane) > 0) {
                tokens[lane] = stacks.symbol(lane, class(lane))?;
                if Token::bits(tokens[lane]) <= 4 {
                    extras[lane] = stacks.bits(lane, Token::bits(tokens[lane]));
                }
                stacks.refill(lane);
            }
            for lane in (0..32).filter(|lane| Token::bits(tokens[*lane]) > 4) {
                extras[lane] = stacks.bits(lane, Token::bits(tokens[lane]));
                stacks.refill(lane);
            }
            for (lane, code) in codes.iter_mut().enumerate() {
                *code = Token::code(tokens[lane], extras[lane]) as u16;
            }
        }
        codes.push(tile);
    }
    let raws = codes
        .iter()
        .flatten()
        .filter(|z| u32::from(**z) == RAW)
        .count();
    let behind = stacks.finish()?;
    let values = read_values(behind, raws)?;
    let end = bytes.len() - behind.len() + raws * T::BYTES;
    if end.next_multiple_of(16) == bytes.len() {
        Ok((codes, values))
    } else {
        Err(ChunkFault::Length)
    }
}

/// The lanes, and what is behind them.
struct Stacks<'a> {
    intervals: Vec<Vec<Interval>>,
    is_prefix: bool,
    states: Vec<u64>,
    words: Vec<u16>,
    next: usize,
    behind: &'a [u8],
}

impl<'a> Stacks<'a> {
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

    fn symbol(&mut self, lane: usize, context: u32) -> Result<u32, ChunkFault> {
        let x = self.states[lane];
        let is_top = |interval: &&Interval| {
            if self.is_prefix {
                let mut bits = prefix(**interval).into_iter().enumerate();
                bits.all(|(i, bit)| x >> i & 1 == u64::from(bit))
            } else {
                (u64::from(interval.2)..u64::from(interval.2 + interval.1)).contains(&(x % 4096))
            }
        };
        let mut intervals = self.intervals[context as usize].iter();
        let interval = *intervals.find(is_top).ok_or(ChunkFault::Symbol)?;
        let (symbol, share, start) = interval;
        self.states[lane] = if self.is_prefix {
            x >> prefix(interval).len()
        } else {
            u64::from(share) * (x / 4096) + x % 4096 - u64::from(start)
        };
        Ok(symbol)
    }

    /// What is behind the words, if all was popped.
    fn finish(self) -> Result<&'a [u8], ChunkFault> {
        if self.next != self.words.len() {
            Err(ChunkFault::Length)
        } else if self.states.iter().any(|x| *x != 1 << 16) {
            Err(ChunkFault::Stack)
        } else {
            Ok(self.behind)
        }
    }
}
