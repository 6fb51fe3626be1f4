//! The choice of a preset for a field whose parts have several members.
//!
//! The first member chooses, as for a field in memory. It asks the others for the values that it reads; they answer until it
//! has chosen.

use crate::choose::axes::{ElementRun, Turned};
use crate::choose::whole::WholeField;
use crate::choose::{self, Chosen, Request};
use crate::cpu::Version;
use crate::error::Error;
use crate::keeping::census;
use crate::parts::fetch::{Held, Lattice, Window, bad_message, fetch};
use crate::parts::{extremes, resolve};
use crate::peers::{Group, agree};
use crate::tolerance::Tolerance;
use ferrosz_codec::container::extents::{Extents, MAX_RANK};
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_codec::container::layout::Layout;
use ferrosz_codec::container::roles::Role;
use ferrosz_codec::mapping::axes::{Axes, Order};
use ferrosz_codec::mapping::census::Census;
use ferrosz_codec::mapping::{Keep, ValueMapping};
use ferrosz_codec::tile::ChunkLength;
use ferrosz_codec::{Bound, Codec, Element, Shape};

/// The rank of the member that chooses.
const FIRST: usize = 0;

/// Chooses for the field of all members, which has no mask.
///
/// # Errors
///
/// [`Error::Group`]; [`Error::OutOfMemory`].
pub(super) fn choose<T: Element>(
    group: &dyn Group,
    bound: Bound,
    request: &Request,
    held: &Held<'_, T>,
) -> Result<Chosen, Error> {
    let tolerance = Tolerance {
        bound,
        tightening: request.tightening,
    };
    let (quantizer, tightening) = resolve(Version::best(), group, tolerance, held.values)?;
    let request = Request {
        has_masks: false,
        tightening,
        ..*request
    };
    let census = || census_of_all(group, held.values);
    let least = || {
        let found = extremes(Version::best(), group, held.values)?;
        Ok(found.values().map(|(least, _)| least))
    };
    let request = request.seen(&ValueMapping::default(), &quantizer, census, least)?;
    let own = match group.rank() {
        FIRST => {
            let mut asking = Asking {
                group,
                held,
                extents: &request.extents,
                has_failed: false,
            };
            let best = choose::choose_in_whole(&quantizer, &request, &mut asking);
            if !asking.has_failed {
                group.max(&mut [CHOSEN])?;
            }
            best.map(|best| words_of(&best.chosen))
        }
        _ => answer(group, held).map(|()| ChosenWords::default()),
    };
    let mut words = agree(group, own)?;
    group.sum(&mut words)?;
    chosen_of(&words, &request.extents).ok_or_else(bad_message)
}

/// The number that the first member gives to all: one before each of its questions, the other one at the end.
const ASKED: u64 = 1;
const CHOSEN: u64 = 0;

/// Answers the questions of the first member.
fn answer<T: Element>(group: &dyn Group, held: &Held<'_, T>) -> Result<(), Error> {
    loop {
        let mut told = [CHOSEN];
        group.max(&mut told)?;
        if told == [CHOSEN] {
            return Ok(());
        }
        fetch(group, held, &runs(), &[])?;
    }
}

/// The field as the first member reads it.
struct Asking<'a, T> {
    group: &'a dyn Group,
    held: &'a Held<'a, T>,
    extents: &'a Extents,
    /// Whether a question has failed, and so for all.
    has_failed: bool,
}

impl<T: Element> WholeField<T> for Asking<'_, T> {
    fn boxes(
        &mut self,
        order: &Order,
        grid: &Grid,
        places: &[ChunkBox],
    ) -> Result<Vec<Vec<T>>, Error> {
        let turned = Turned::new(self.extents, order);
        let mut all = Vec::new();
        for place in places {
            turned.runs_of(grid, place, &mut |run| all.push(run));
        }
        let values = self.values(&all)?;
        let mut rest = &values[..];
        let boxes = places.iter().map(|place| {
            let own = rest.split_off(..place.elements() as usize);
            own.map(<[T]>::to_vec).ok_or_else(bad_message)
        });
        boxes.collect()
    }

    fn values(&mut self, asked: &[ElementRun]) -> Result<Vec<T>, Error> {
        let windows: Vec<Window> = asked.iter().map(window).collect();
        let ask = || {
            self.group.max(&mut [ASKED])?;
            fetch(self.group, self.held, &runs(), &windows)
        };
        let found = ask();
        self.has_failed |= found.is_err();
        Ok(found?.concat())
    }
}

/// The positions of a run's window: its number along z, the distance of its elements along y, the first element along x.
fn runs() -> Lattice<'static> {
    Lattice {
        element: Box::new(|[number, step, first]| number * step + first),
        spacing: 1,
    }
}

fn window(run: &ElementRun) -> Window {
    let ElementRun { first, step, count } = *run;
    match step {
        1 => Window {
            origin: [0, 1, first],
            extents: [1, 1, count],
        },
        _ => Window {
            origin: [0, step, first],
            extents: [count, 1, 1],
        },
    }
}

/// The census of the field of all members.
fn census_of_all<T: Element>(group: &dyn Group, values: &[T]) -> Result<Census, Error> {
    let own = census(values);
    let mut sums = [own.present, own.zeros, own.negatives];
    group.sum(&mut sums)?;
    let [present, zeros, negatives] = sums;
    Ok(Census {
        present,
        zeros,
        negatives,
    })
}

/// A message with the choice: codec, rank, chunk length, whether zeros and signs are kept, whether there are roles of axes, and
/// the roles.
type ChosenWords = [u64; 6 + MAX_RANK];

fn words_of(chosen: &Chosen) -> ChosenWords {
    let Chosen { layout, axes, keep } = chosen;
    let codec = Codec::ALL.iter().position(|codec| *codec == layout.codec);
    let chunk = (ChunkLength::ALL.iter()).position(|length| *length == layout.chunk);
    let mut words = ChosenWords::default();
    words[..6].copy_from_slice(&[
        codec.map_or(u64::MAX, |at| at as u64),
        layout.shape.rank().into(),
        chunk.map_or(u64::MAX, |at| at as u64),
        keep.zeros.into(),
        keep.signs.into(),
        axes.is_some().into(),
    ]);
    let roles = axes.iter().flat_map(|axes| axes.roles());
    for (word, role) in words[6..].iter_mut().zip(roles) {
        *word = *role as u64;
    }
    words
}

fn chosen_of(words: &ChosenWords, extents: &Extents) -> Option<Chosen> {
    let [codec, rank, chunk, zeros, signs, has_axes, ref roles @ ..] = *words;
    let codec = *Codec::ALL.get(usize::try_from(codec).ok()?)?;
    let chunk = *ChunkLength::ALL.get(usize::try_from(chunk).ok()?)?;
    let shape = Shape::of_rank(u8::try_from(rank).ok()?)?;
    let role = |word: &u64| Role::ALL.into_iter().find(|role| *role as u64 == *word);
    let roles = roles[..extents.lengths().len()].iter().map(role);
    let axes = match has_axes {
        0 => None,
        _ => Some(Axes::new(&roles.collect::<Option<Vec<_>>>()?).ok()?),
    };
    let coded = axes.map_or(Some(*extents), |axes| axes.coded_extents(extents))?;
    Some(Chosen {
        layout: Layout::new(codec, shape, coded).with_chunk(chunk),
        axes,
        keep: Keep {
            zeros: zeros > 0,
            signs: signs > 0,
        },
    })
}
