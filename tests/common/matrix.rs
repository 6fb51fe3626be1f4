//! The matrix: every codec of the list in every shape that it takes, of every element type, on every machine.
//!
//! Nothing is listed here but extents. A new codec or type is a row, and a new version of the CPU's code a column.

use super::bounds;
use super::cases::{asked, seed, takes_part};
use super::extents;
use super::fields::{FromBits, Kind, make};
use super::judge::judge;
use super::machine::Machine;
use super::{compressor_with_axes, order_of};
use ferrosz::codec::tile::ChunkLength;
use ferrosz::codec::with_element;
use ferrosz::stream::{Extents, Layout};
use ferrosz::{Axes, Bound, Codec, Device, Dtype, Error, Part, Shape};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use rayon::prelude::*;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A row: what streams are made by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// Its position among all, which gives every cell other kinds and bounds.
    pub number: usize,
    pub codec: Codec,
    pub shape: Shape,
    pub dtype: Dtype,
}

impl Cell {
    /// All of the list.
    pub fn all() -> Vec<Self> {
        let mut cells = Vec::new();
        for codec in Codec::ALL {
            for shape in Shape::ALL.into_iter().filter(|shape| codec.takes(*shape)) {
                for dtype in Dtype::ALL {
                    let number = cells.len();
                    cells.push(Self {
                        number,
                        codec,
                        shape,
                        dtype,
                    });
                }
            }
        }
        cells
    }

    /// How a field of these extents is compressed; none if it has too few dimensions for the shape.
    fn layout(self, extents: Extents) -> Option<Layout> {
        let layout = Layout::new(self.codec, self.shape, extents);
        (layout.shape == self.shape).then_some(layout)
    }

    /// The case of a number: kind, bound and length of chunks follow from it, and as their counts have no common divisor,
    /// 770 cases in a row have every kind with every bound and length.
    fn case(self, number: usize, lengths: &[u64], axes: Option<Axes>) -> Option<Case> {
        let (bounds, turn) = (bounds(), number + 5 * self.number);
        let user = Extents::new(lengths).expect("good extents");
        let coded = axes.map(|axes| axes.coded_extents(&user).expect("as many axes"));
        Some(Case {
            number: number as u64,
            dtype: self.dtype,
            layout: self
                .layout(coded.unwrap_or(user))?
                .with_chunk(ChunkLength::ALL[turn % 7 % 4]),
            axes,
            kind: Kind::ALL[turn % Kind::ALL.len()],
            bound: bounds[turn % bounds.len()],
        })
    }

    /// The cases of a set that a machine takes.
    fn cases(self, set: Set, machine: Machine) -> Vec<Case> {
        let is_tiles = self.codec.tiles().is_some();
        let Some(one_in) = set.one_in(machine, is_tiles) else {
            return Vec::new();
        };
        // In a usual run a third of the cells have fields whose axes have roles.
        if set == Set::Axes && !takes_part(self.number as u64, 3) {
            return Vec::new();
        }
        let most = most_elements(machine, is_tiles);
        let all = set.extents(self, is_tiles);
        let possible: Vec<Case> = (0..all.len())
            .filter_map(|number| self.case(number, &all[number].0, all[number].1))
            .filter(|case| case.layout.extents.elements() <= most)
            .collect();
        // At least one. The second term moves on from codec to codec, which have six cells: so none of them always gets the
        // same extents.
        let one_in = if asked().is_some() {
            1
        } else {
            one_in.min(possible.len().max(1))
        };
        let turn = self.number + self.number / 6 + seed() as usize;
        let taken = |(number, case)| (number % one_in == turn % one_in).then_some(case);
        possible.into_iter().enumerate().filter_map(taken).collect()
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            codec,
            shape,
            dtype,
            ..
        } = self;
        // `pad` is what gives columns their widths.
        f.pad(&format!("{:22} {:5} {dtype}", codec.name(), shape.name()))
    }
}

/// Why a field has its extents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Set {
    /// Around the edges of everything that a field is cut into.
    Edges,
    /// Some chunks or tiles, for every kind at every bound.
    Kinds,
    /// All small extents.
    Small,
    /// Random ones, up to large.
    Random,
    /// Axes with roles: slices, and other orders.
    Axes,
}

impl Set {
    const ALL: [Self; 5] = [
        Self::Edges,
        Self::Kinds,
        Self::Small,
        Self::Random,
        Self::Axes,
    ];

    /// The extents of fields, and the roles of their axes if they have other ones than the default.
    fn extents(self, cell: Cell, is_tiles: bool) -> Vec<(Vec<u64>, Option<Axes>)> {
        let Cell { number, shape, .. } = cell;
        let plain = match self {
            Self::Axes => {
                let axes = extents::axes(is_tiles, shape).into_iter();
                return axes.map(|(lengths, axes)| (lengths, Some(axes))).collect();
            }
            Self::Edges if is_tiles => extents::edges(is_tiles, shape),
            Self::Edges => [(); 2].map(|()| extents::edges(is_tiles, shape)).concat(),
            Self::Kinds => {
                let pairs = Kind::ALL.len() * bounds().len();
                let middle = extents::middle(is_tiles, shape);
                middle.into_iter().cycle().take(pairs).collect()
            }
            Self::Small if is_tiles => Vec::new(),
            Self::Small => extents::small(shape),
            Self::Random => extents::random(shape, random_cases(is_tiles), number as u64 ^ seed()),
        };
        plain.into_iter().map(|lengths| (lengths, None)).collect()
    }

    /// A machine takes one case in so many, other ones in the next cell and the next run; a campaign takes all. None takes none.
    /// The emulator is slow, and what is random is for the GPU, which is fast.
    fn one_in(self, machine: Machine, is_tiles: bool) -> Option<usize> {
        match (machine, self) {
            (Machine::Gpu, Self::Edges | Self::Axes) => Some(1),
            (Machine::Gpu, Self::Kinds) if is_tiles => Some(4),
            (Machine::Gpu, Self::Kinds | Self::Random) => Some(1),
            (Machine::Emulator, Self::Edges) => Some(12),
            (Machine::Emulator, Self::Axes) => Some(8),
            (Machine::Reference | Machine::Cpu(_), Self::Edges) => Some(8),
            (Machine::Reference | Machine::Cpu(_), Self::Axes) => Some(5),
            (Machine::Reference | Machine::Cpu(_), Self::Kinds) if is_tiles => Some(110),
            (Machine::Reference | Machine::Cpu(_), Self::Kinds) => Some(16),
            (Machine::Reference | Machine::Cpu(_), Self::Small) => Some(120),
            (Machine::Emulator, Self::Kinds) if is_tiles => None,
            (Machine::Emulator, Self::Kinds) => Some(30),
            (Machine::Emulator | Machine::Gpu, Self::Small) => None,
            (Machine::Reference | Machine::Cpu(_) | Machine::Emulator, Self::Random) => None,
        }
    }
}

/// Elements of the largest field that a machine takes.
fn most_elements(machine: Machine, is_tiles: bool) -> u64 {
    match machine {
        Machine::Reference | Machine::Cpu(_) | Machine::Gpu => u64::MAX,
        Machine::Emulator if is_tiles => 22_000,
        Machine::Emulator if asked().is_none() => 18_000,
        Machine::Emulator => 50_000,
    }
}

/// Random cases of a cell: of blocks so many over all cells, and of tiles a fifteenth of it.
fn random_cases(is_tiles: bool) -> usize {
    let all: usize = 6000;
    let is_of_family = |cell: &Cell| cell.codec.tiles().is_some() == is_tiles;
    let cells = Cell::all().into_iter().filter(is_of_family).count();
    (all / if is_tiles { 15 } else { 1 }).div_ceil(cells)
}

/// A field and how it is compressed.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    pub number: u64,
    pub dtype: Dtype,
    pub layout: Layout,
    /// The roles of the axes, if they are not the default ones.
    pub axes: Option<Axes>,
    pub kind: Kind,
    pub bound: Bound,
}

impl Case {
    /// What is wrong with each machine, if anything.
    fn faults(&self, machines: &[Machine]) -> Vec<(Machine, String)> {
        with_element!(self.dtype, E => {
            let length = self.layout.extents.elements() as usize;
            let field = make::<E>(self.kind, length, self.number);
            faults(machines, (self.layout, self.axes), self.bound, &field, self.number)
        })
    }
}

/// Elements of the largest field for which the reference is asked; of others it would take minutes, and the fastest version
/// of the CPU's code stands in for it.
const MOST_OF_REFERENCE: usize = 250_000;

/// What is wrong with what each machine makes of a field: its stream must be the reference's, byte for byte, its field the
/// reference's, bit for bit, any part of it that part of the whole, and all within the bound.
pub fn faults<T: FromBits>(
    machines: &[Machine],
    (layout, axes): (Layout, Option<Axes>),
    bound: Bound,
    field: &[T],
    seed: u64,
) -> Vec<(Machine, String)> {
    let mut right = Machine::Reference;
    if field.len() > MOST_OF_REFERENCE {
        right = Machine::cpu()[0];
    }
    let expected = Expected::new(right, (layout, axes), bound, field, seed);
    let fault = |machine: &Machine| {
        let found = expected.as_ref().map_err(String::clone);
        let fault = found
            .and_then(|expected| tried(|| expected.compare(*machine)))
            .err()?;
        Some((*machine, fault))
    };
    machines.iter().filter_map(fault).collect()
}

/// Panics unless these machines make the same of a field; their stream.
pub fn check<T: FromBits>(
    machines: &[Machine],
    layout: Layout,
    bound: Bound,
    field: &[T],
    context: &str,
) -> Vec<u8> {
    let faults = faults(machines, (layout, None), bound, field, 1);
    let Layout { codec, shape, .. } = layout;
    assert!(
        faults.is_empty(),
        "{context}, {codec} {shape} {bound:?}: {faults:?}"
    );
    let stream = machines[0].compress(layout, bound, field);
    stream.expect("compresses")
}

struct Expected<'a, T> {
    layout: Layout,
    axes: Option<Axes>,
    bound: Bound,
    field: &'a [T],
    stream: Vec<u8>,
    values: Vec<T>,
    verdict: Result<(), String>,
    part: Part,
}

impl<'a, T: FromBits> Expected<'a, T> {
    fn new(
        right: Machine,
        (layout, axes): (Layout, Option<Axes>),
        bound: Bound,
        field: &'a [T],
        seed: u64,
    ) -> Result<Self, String> {
        let stream = tried(|| {
            right
                .compress_with_axes(layout, axes, bound, field)
                .map_err(said)
        })?;
        let values = tried(|| right.decompress::<T>(&stream).map_err(said))?;
        let mut verdict = judge(bound, field, &values);
        let order = order_of(&layout, axes);
        let elements = field.len() as u64;
        let most = compressor_with_axes(layout, axes, bound, Device::Cpu)
            .and_then(|compressor| compressor.max_compressed_len(elements, T::DTYPE))
            .map_err(said)?;
        if stream.len() as u64 > most {
            verdict = Err(format!("{} bytes, and {most} at most", stream.len()));
        }
        let part = random_part(order.user_extents(&layout.extents).lengths(), seed);
        Ok(Self {
            layout,
            axes,
            bound,
            field,
            stream,
            values,
            verdict,
            part,
        })
    }

    fn compare(&self, machine: Machine) -> Result<(), String> {
        let Self {
            layout,
            axes,
            bound,
            stream,
            ..
        } = self;
        if machine != Machine::Reference {
            let found = machine
                .compress_with_axes(*layout, *axes, *bound, self.field)
                .map_err(said)?;
            same("streams", &found, stream, |byte| u64::from(*byte))?;
            let found = machine.decompress::<T>(stream).map_err(said)?;
            same("fields", &found, &self.values, |value| value.to_bits64())?;
        }
        if machine.has_parts(*layout) {
            let found = machine
                .decompress_part::<T>(stream, &self.part)
                .map_err(said)?;
            let elements = elements_of(
                &self.part,
                order_of(layout, *axes)
                    .user_extents(&layout.extents)
                    .lengths(),
            );
            let expected: Vec<T> = elements.map(|at| self.values[at]).collect();
            let what = format!("parts {:?}", self.part);
            same(&what, &found, &expected, |value| value.to_bits64())?;
        }
        // The values are the machine's as much as the reference's: they were just found to be the same.
        self.verdict.clone()
    }
}

fn same<V>(
    what: &str,
    found: &[V],
    expected: &[V],
    bits: impl Fn(&V) -> u64,
) -> Result<(), String> {
    if found.len() != expected.len() {
        return Err(format!("{what}: {} and {}", found.len(), expected.len()));
    }
    let mut pairs = found.iter().zip(expected);
    match pairs.position(|(a, b)| bits(a) != bits(b)) {
        None => Ok(()),
        Some(at) => Err(format!("{what} differ at {at} of {}", found.len())),
    }
}

fn said(error: Error) -> String {
    error.to_string()
}

/// A panic is a fault like others, so that the rest of the matrix is seen, too.
fn tried<V>(work: impl FnOnce() -> Result<V, String>) -> Result<V, String> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err("panicked, as said above".to_owned()))
}

/// A range or a box, which begins at a multiple of four where that makes stores whole.
pub fn random_part(lengths: &[u64], seed: u64) -> Part {
    let mut rng = SmallRng::seed_from_u64(seed);
    let step = if seed.is_multiple_of(3) { 4 } else { 1 };
    let mut range = |length: u64| {
        let (a, b) = (rng.random_range(0..=length), rng.random_range(0..=length));
        a.min(b) / step * step..a.max(b)
    };
    if seed.is_multiple_of(2) {
        Part::Elements(range(lengths.iter().product()))
    } else {
        Part::Box(lengths.iter().map(|length| range(*length)).collect())
    }
}

/// The elements of a part, one by one.
pub fn elements_of(part: &Part, lengths: &[u64]) -> Box<dyn Iterator<Item = usize>> {
    match part {
        Part::Elements(range) => Box::new(range.start as usize..range.end as usize),
        Part::Box(ranges) => {
            let mut flat = vec![0];
            for (range, length) in ranges.iter().zip(lengths) {
                let row = |at: &u64| {
                    let first = at * length;
                    range.clone().map(move |i| first + i)
                };
                flat = flat.iter().flat_map(row).collect();
            }
            Box::new(flat.into_iter().map(|at: u64| at as usize))
        }
    }
}

/// What became of a row, in a column for each of [`Machine::all`].
pub struct Row {
    cell: Cell,
    columns: Vec<Column>,
}

#[derive(Default)]
struct Column {
    cases: usize,
    faults: Vec<String>,
}

/// Runs all cells on some machines; a campaign those that it asks for.
pub fn run(machines: &[Machine]) -> Vec<Row> {
    println!("seed {}", seed());
    let mut cells = Cell::all();
    if let Some(numbers) = asked() {
        cells.retain(|cell| numbers.contains(&(cell.number as u64)));
    }
    let sets_of = |cell: &Cell| Set::ALL.map(|set| (*cell, set));
    let jobs: Vec<(Cell, Set)> = cells.iter().flat_map(sets_of).collect();
    let jobs = jobs.into_par_iter().with_max_len(1);
    let done: Vec<Vec<Column>> = jobs
        .map(|(cell, set)| run_set(cell, set, machines))
        .collect();
    let row = |(cell, sets): (Cell, &[Vec<Column>])| Row {
        cell,
        columns: (0..sets[0].len())
            .map(|i| Column {
                cases: sets.iter().map(|set| set[i].cases).sum(),
                faults: sets.iter().flat_map(|set| set[i].faults.clone()).collect(),
            })
            .collect(),
    };
    let sets = done.chunks(Set::ALL.len());
    cells.into_iter().zip(sets).map(row).collect()
}

fn run_set(cell: Cell, set: Set, machines: &[Machine]) -> Vec<Column> {
    let of_machine = |machine: &Machine| (*machine, cell.cases(set, *machine));
    let taken: Vec<(Machine, Vec<Case>)> = machines.iter().map(of_machine).collect();
    let mut cases: Vec<&Case> = taken.iter().flat_map(|(_, cases)| cases).collect();
    cases.sort_by_key(|case| case.number);
    cases.dedup();
    let mut columns: Vec<Column> = Machine::all().map(|_| Column::default()).collect();
    for case in cases {
        let takers = taken.iter().filter(|(_, cases)| cases.contains(case));
        let takers: Vec<Machine> = takers.map(|(machine, _)| *machine).collect();
        let faults = case.faults(&takers);
        for (machine, column) in Machine::all().zip(&mut columns) {
            column.cases += usize::from(takers.contains(&machine));
            let of_this = faults.iter().filter(|(found, _)| *found == machine);
            let named = of_this.map(|(_, fault)| format!("{case:?}: {fault}"));
            column.faults.extend(named);
        }
    }
    columns
}

/// Prints the table, and panics if a cell is red, or empty on one of the machines that were asked.
pub fn report(rows: &[Row], asked: &[Machine]) {
    let here: Vec<(Machine, bool)> = Machine::all()
        .map(|machine| (machine, machine.is_here()))
        .collect();
    let names = here
        .iter()
        .map(|(machine, _)| format!("{:>14}", machine.name()));
    println!("{:32}{}", "codec, shape, type", names.collect::<String>());
    let mut wrong = Vec::new();
    for Row { cell, columns } in rows {
        print!("{cell:32}");
        for ((machine, is_here), Column { cases, faults }) in here.iter().zip(columns) {
            let is_asked = asked.contains(machine);
            let text = match (is_asked, is_here) {
                (true, _) if faults.is_empty() => cases.to_string(),
                (true, _) => format!("{} RED/{cases}", faults.len()),
                (false, true) => "not asked".to_owned(),
                (false, false) => "missing".to_owned(),
            };
            print!("{text:>14}");
            let empty = (is_asked && *cases == 0).then(|| "no case".to_owned());
            let first = faults.first().cloned().or(empty);
            wrong.extend(first.map(|fault| format!("{cell} {}: {fault}", machine.name())));
        }
        println!();
    }
    let count = wrong.len();
    assert!(wrong.is_empty(), "{count} cells: {}", wrong.join("\n"));
}
