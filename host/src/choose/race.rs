//! The race of the candidates: sizes are predicted by a small sample for all, by a larger one for those that may still
//! be the shortest, and by compression for the rest if the field is small. So the choice costs a part of the compression.

use crate::choose::predictions::{Effort, Predictions};
use crate::error::Error;
use ferrosz_codec::container::layout::Layout;
use ferrosz_codec::tile::TILE;
use ferrosz_codec::{Codec, Element, Shape};

/// Tiles of a sample of all tiles.
const ALL: u64 = u64::MAX / 8;

/// Elements of a field that is small: its tiles are the sample, and codecs of blocks among themselves compress it.
const SMALL: u64 = 4 * TILE as u64;

/// Elements of a field that is tiny: a stream of tiles has more bytes without the codes than one of blocks has with them.
const TINY: u64 = 512;

/// A round: how many tiles are sampled, and which layouts it leaves.
struct Round {
    /// Of this many tiles one is sampled ...
    one_of: u64,
    /// ... but at least so many, and at most so many ...
    range: [u64; 2],
    /// ... and never more than one of so many: a small field is sampled, too.
    share: u64,
    is_tuned: bool,
}

/// The first round, of all leaders: what is not a variant of another codec.
const FIRST: Round = Round {
    one_of: 128,
    range: [8, 16],
    share: 8,
    is_tuned: false,
};

/// The second round, of those that the first one leaves, and of their variants in blocks.
const SECOND: Round = Round {
    one_of: 64,
    range: [16, 64],
    share: 2,
    is_tuned: true,
};

/// The only round of codecs of blocks among themselves.
const OF_BLOCKS: Round = Round {
    one_of: 64,
    range: [16, 64],
    share: 4,
    is_tuned: false,
};

/// The first round leaves layouts whose predicted size is at most this percentage of the smallest, and at most the other
/// percentage of the smallest of the same codec in other ranks.
const LEFT_PERCENT: u128 = 140;
const RANK_PERCENT: u128 = 125;

/// The same for slices, of which the first round, without coefficients, tells less: where planes are the shortest, nothing, so
/// slices are always left.
const SLICES_PERCENT: u128 = 200;

/// In a field of fewer elements than so many, slices must be predicted to have at most this percentage of the bytes of the
/// best other codec: their coefficients are fitted to a tile or two of its sample, which they predict better than the rest.
const FEW: u64 = 1 << 21;
const SLICES_OF_FEW_PERCENT: u128 = 97;

/// A variant must be predicted to have at most this percentage of the bytes of its leader: they are about as long.
const VARIANT_PERCENT: u128 = 99;

impl Round {
    fn effort(&self, elements: u64) -> Effort {
        if elements <= SMALL {
            return Effort::Sample {
                tiles: ALL,
                is_tuned: self.is_tuned,
            };
        }
        let [least, most] = self.range;
        let all = elements.div_ceil(TILE as u64);
        let tiles = (all / self.one_of).clamp(least, most);
        Effort::Sample {
            tiles: tiles.min((all / self.share).max(1)),
            is_tuned: self.is_tuned,
        }
    }
}

/// The layout of the smallest predicted size among these of a field, with that size; of equal sizes, the first.
///
/// # Errors
///
/// The errors of reading; [`Error::NotChosen`] if there are no candidates.
pub(super) fn shortest<T: Element>(
    predictions: &mut Predictions<'_, T>,
    candidates: &[Layout],
) -> Result<(u128, Layout), Error> {
    let elements = elements_of(candidates);
    let in_blocks = |layout: &Layout| layout.codec.tiles().is_none();
    let of_blocks: Vec<Layout> = candidates.iter().copied().filter(in_blocks).collect();
    let is_tiny = elements <= TINY && !of_blocks.is_empty();
    if is_tiny || of_blocks.len() == candidates.len() {
        predictions.weigh(&of_blocks, &efforts(candidates))?;
        return smallest(&predictions.of(&of_blocks, last_effort(true, elements))?);
    }
    let variants = |leader: &Layout| variants(candidates, *leader);
    let (first, second) = (FIRST.effort(elements), last_effort(false, elements));
    predictions.weigh(candidates, &efforts(candidates))?;

    // 1. All leaders, by few tiles. A variant without its leader, such as a codec that has a name, is one.
    let is_there = |codec: Codec| candidates.iter().any(|layout| layout.codec == codec);
    let is_first =
        |layout: &&Layout| !(layout.codec.registration().variant_of).is_some_and(is_there);
    let leaders: Vec<Layout> = candidates.iter().filter(is_first).copied().collect();
    let found = predictions.of(&leaders, first)?;
    let mut left = left_by_first(&found)?;

    // 2. Those that are left, by more tiles; of a small field with all of their variants.
    let joins = |layout: &Layout| in_blocks(layout) || elements <= SMALL;
    let joining = left.iter().flat_map(variants).filter(joins);
    let joining: Vec<Layout> = joining.filter(|layout| !left.contains(layout)).collect();
    let of_left = left.iter().flat_map(variants);
    predictions.ahead(of_left.filter(|layout| !in_blocks(layout)).collect());
    left.extend(joining);
    let (bytes, _) = smallest(&predictions.of(&left, second)?)?;

    // 3. Those that the first round predicted to be shorter than that. There are some if it saw too little, as of a field
    //    that is mostly empty.
    let shorter = at_most(&found, bytes).into_iter();
    let shorter: Vec<Layout> = shorter.filter(|layout| !left.contains(layout)).collect();
    left.extend(shorter);
    let (bytes, best) = decided(&predictions.of(&left, second)?, elements)?;

    // 4. Its variants.
    let others: Vec<Layout> = variants(&best)
        .filter(|layout| !in_blocks(layout))
        .collect();
    match smallest(&predictions.of(&others, second)?) {
        Ok(variant) if variant.0 * 100 <= bytes * VARIANT_PERCENT => Ok(variant),
        _ => Ok((bytes, best)),
    }
}

/// The variants of a leader among the candidates.
fn variants(candidates: &[Layout], leader: Layout) -> impl Iterator<Item = Layout> {
    let is_variant = move |layout: &&Layout| {
        layout.codec.registration().variant_of == Some(leader.codec) && layout.shape == leader.shape
    };
    candidates.iter().filter(is_variant).copied()
}

/// The leaders that the first round leaves, given what it has predicted.
///
/// # Errors
///
/// [`Error::NotChosen`] if there are none.
fn left_by_first(found: &[(u128, Layout)]) -> Result<Vec<Layout>, Error> {
    let (least, leader) = smallest(found)?;
    let planes_lead = leader.shape == Shape::Plane;
    let least_of = |codec| {
        let of_codec = found.iter().filter(|(_, layout)| layout.codec == codec);
        of_codec.map(|(bytes, _)| *bytes).min().unwrap_or(0)
    };
    let is_left = |(bytes, layout): &&(u128, Layout)| {
        let of_codec = least_of(layout.codec);
        let most = match layout.codec {
            Codec::SLICES if planes_lead => return true,
            Codec::SLICES => SLICES_PERCENT,
            _ => LEFT_PERCENT,
        };
        *bytes <= least * most / 100 && *bytes <= of_codec * RANK_PERCENT / 100
    };
    let left = found.iter().filter(is_left);
    Ok(left.map(|(_, layout)| *layout).collect())
}

/// The predicted size of a layout by the sample that decides a race, of codecs of blocks among themselves or of all.
///
/// # Errors
///
/// The errors of reading.
pub(super) fn last_prediction<T: Element>(
    predictions: &mut Predictions<'_, T>,
    layout: &Layout,
    in_blocks: bool,
) -> Result<u128, Error> {
    let effort = last_effort(in_blocks, layout.extents.elements());
    Ok(smallest(&predictions.of(&[*layout], effort)?)?.0)
}

/// How the sizes of candidates are predicted, round by round.
pub(super) fn efforts(candidates: &[Layout]) -> Vec<Effort> {
    let elements = elements_of(candidates);
    let are_in_blocks = (candidates.iter()).all(|layout| layout.codec.tiles().is_none());
    match are_in_blocks {
        true => vec![last_effort(true, elements)],
        false => vec![FIRST.effort(elements), last_effort(false, elements)],
    }
}

/// How the sizes are predicted that decide.
fn last_effort(in_blocks: bool, elements: u64) -> Effort {
    match (in_blocks || elements <= TINY, elements <= SMALL) {
        (true, true) => Effort::Exact,
        (true, false) => OF_BLOCKS.effort(elements),
        (false, _) => SECOND.effort(elements),
    }
}

fn elements_of(candidates: &[Layout]) -> u64 {
    candidates
        .first()
        .map_or(0, |layout| layout.extents.elements())
}

/// The smallest, but slices only if they are clearly smaller.
fn decided(found: &[(u128, Layout)], elements: u64) -> Result<(u128, Layout), Error> {
    let best = smallest(found)?;
    if best.1.codec != Codec::SLICES || elements >= FEW {
        return Ok(best);
    }
    let is_other = |of: &&(u128, Layout)| of.1.codec != Codec::SLICES;
    let others: Vec<_> = found.iter().filter(is_other).copied().collect();
    match smallest(&others) {
        Ok(other) if best.0 * 100 > other.0 * SLICES_OF_FEW_PERCENT => Ok(other),
        _ => Ok(best),
    }
}

fn smallest(found: &[(u128, Layout)]) -> Result<(u128, Layout), Error> {
    let smallest = found.iter().min_by_key(|(bytes, _)| *bytes);
    smallest.copied().ok_or(Error::NotChosen)
}

/// The layouts that have at most so many bytes.
fn at_most(found: &[(u128, Layout)], most: u128) -> Vec<Layout> {
    let found = found.iter().filter(|(bytes, _)| *bytes <= most);
    found.map(|(_, layout)| *layout).collect()
}
