//! The matrix: every codec of the list in every shape that it takes, of every element type, on every machine.
//!
//! Nothing is listed here but extents. A new codec or type is a row, and a new version of the CPU's code a column.

use super::bounds;
use super::fields::{FromBits, Kind, make};
use super::judge::judge;
use super::machine::Machine;
use ferrosz::codec::with_element;
use ferrosz::{Bound, Codec, Dtype, Error, Extents, Layout, Part, Shape};
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
    fn layout(self, lengths: &[u64]) -> Option<Layout> {
        let extents = Extents::new(lengths).expect("good extents");
        let layout = Layout::new(self.codec, self.shape, extents);
        (layout.shape == self.shape).then_some(layout)
    }

    /// The case of a number: the kind and the bound follow from it, and as their counts have no common divisor, 99 cases
    /// in a row have every kind with every bound.
    fn case(self, number: usize, lengths: &[u64]) -> Option<Case> {
        let (bounds, turn) = (bounds(), number + 5 * self.number);
        Some(Case {
            number: number as u64,
            dtype: self.dtype,
            layout: self.layout(lengths)?,
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
        let most = most_elements(machine, is_tiles);
        let all = set.extents(self, is_tiles);
        // The second term moves on from codec to codec, which have six cells: so none of them always gets the same extents.
        let turn = self.number + self.number / 6;
        let taken = |number: &usize| number % one_in == turn % one_in;
        (0..all.len())
            .filter(taken)
            .filter_map(|number| self.case(number, &all[number]))
            .filter(|case| case.layout.extents.elements() <= most)
            .collect()
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
}

impl Set {
    const ALL: [Self; 4] = [Self::Edges, Self::Kinds, Self::Small, Self::Random];

    fn extents(self, cell: Cell, is_tiles: bool) -> Vec<Vec<u64>> {
        let again = |some: &[&[u64]], count| {
            let some = some.iter().cycle().take(count);
            some.map(|lengths| lengths.to_vec()).collect()
        };
        match self {
            Self::Edges => {
                let edges = edges(is_tiles, cell.shape);
                let rounds = if is_tiles { 1 } else { 2 };
                again(edges, rounds * edges.len())
            }
            Self::Kinds => {
                let pairs = Kind::ALL.len() * bounds().len();
                again(middle(is_tiles, cell.shape), pairs)
            }
            Self::Small if is_tiles => Vec::new(),
            Self::Small => small(cell.shape),
            Self::Random => random(cell, random_cases(is_tiles)),
        }
    }

    /// A machine takes one case in so many, other ones in the next cell; none takes none. The emulator is slow, and what is
    /// random is for the GPU, which is fast.
    fn one_in(self, machine: Machine, is_tiles: bool) -> Option<usize> {
        match (machine, self) {
            (Machine::Emulator, Self::Edges) if is_tiles => Some(2),
            (_, Self::Edges) => Some(1),
            (Machine::Gpu, Self::Kinds) if is_tiles => Some(4),
            (Machine::Gpu, Self::Kinds | Self::Random) => Some(1),
            (Machine::Reference | Machine::Cpu(_), Self::Kinds) if is_tiles => Some(24),
            (Machine::Reference | Machine::Cpu(_), Self::Kinds) => Some(1),
            (Machine::Reference | Machine::Cpu(_), Self::Small) => Some(4),
            (Machine::Emulator, Self::Kinds) if is_tiles => None,
            (Machine::Emulator, Self::Kinds) => Some(2),
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
        Machine::Emulator => 50_000,
    }
}

/// Of blocks: around a lane's 16 bytes, a coding block, a warp's 32, a chunk (which is a thread block's tile), and several
/// chunks. Of tiles: around a row of 64, a tile, a chunk of four. And fields of more dimensions than the shape has.
fn edges(is_tiles: bool, shape: Shape) -> &'static [&'static [u64]] {
    match (is_tiles, shape) {
        (false, Shape::Line) => &[
            &[0],
            &[1],
            &[2],
            &[3],
            &[4],
            &[5],
            &[31],
            &[32],
            &[33],
            &[63],
            &[64],
            &[65],
            &[127],
            &[128],
            &[129],
            &[1023],
            &[1024],
            &[1025],
            &[2047],
            &[2049],
            &[4096],
            &[8160],
            &[8161],
            &[8191],
            &[8192],
            &[8193],
            &[16_383],
            &[16_384],
            &[16_385],
            &[24_577],
            &[40_000],
            &[50_000],
            &[0, 5],
            &[150, 333],
            &[40, 50, 63],
            &[1, 9, 4000],
            &[30, 1, 900],
            &[2, 3, 4, 50],
        ],
        (false, Shape::Plane) => &[
            &[8, 8],
            &[9, 33],
            &[64, 64],
            &[64, 128],
            &[65, 129],
            &[63, 132],
            &[3, 3000],
            &[129, 131],
            &[97, 201],
            &[200, 300],
            &[2, 20_000],
            &[20_000, 3],
            &[140, 143],
            &[1, 9, 4000],
            &[30, 1, 900],
            &[5, 6, 7],
            &[2, 2, 1030],
            &[300, 2, 3],
            &[33, 40, 36],
        ],
        (false, Shape::Cube) => &[
            &[4, 4, 4],
            &[5, 6, 7],
            &[16, 16, 32],
            &[17, 17, 33],
            &[2, 2, 1030],
            &[300, 2, 3],
            &[33, 40, 36],
            &[24, 26, 32],
            &[28, 25, 28],
            &[21, 34, 43],
            &[17, 33, 65],
            &[50, 60, 70],
            &[3000, 2, 5],
            &[2, 2, 9000],
            &[3, 4, 5, 11],
            &[2, 1, 2, 2, 1, 3, 5, 7],
        ],
        (true, Shape::Line) => &[
            &[0],
            &[1],
            &[17],
            &[64],
            &[513],
            &[16_383],
            &[16_384],
            &[16_385],
            &[20_000],
            &[65_536],
            &[65_537],
            &[1, 300],
            &[1, 20, 0],
            &[40, 50],
            &[17, 18, 20],
        ],
        (true, Shape::Plane) => &[
            &[3, 2],
            &[16, 16],
            &[17, 65],
            &[40, 50],
            &[255, 63],
            &[256, 64],
            &[257, 65],
            &[260, 130],
            &[17, 18, 20],
            &[3, 40, 50],
        ],
        (true, Shape::Cube) => &[
            &[2, 2, 2],
            &[3, 40, 50],
            &[16, 16, 64],
            &[17, 18, 20],
            &[18, 17, 70],
            &[17, 33, 65],
            &[33, 20, 140],
            &[2, 3, 4, 50],
        ],
    }
}

/// Extents of a chunk or a tile and a little more.
fn middle(is_tiles: bool, shape: Shape) -> &'static [&'static [u64]] {
    match (is_tiles, shape) {
        (false, Shape::Line) => &[&[9000], &[8191], &[8192], &[16_400], &[8193]],
        (false, Shape::Plane) => &[&[30, 300], &[91, 99]],
        (false, Shape::Cube) => &[&[9, 20, 50], &[21, 20, 22]],
        (true, Shape::Line) => &[&[17_500]],
        (true, Shape::Plane) => &[&[130, 140]],
        (true, Shape::Cube) => &[&[20, 18, 70]],
    }
}

/// Every length to 4099, every plane to 40, every cube to 11 and as many larger ones to 40.
fn small(shape: Shape) -> Vec<Vec<u64>> {
    let mut rng = SmallRng::seed_from_u64(10);
    let all = |most: u64, rank: u32| {
        let digit = move |case: u64, i| case / most.pow(i) % most + 1;
        (0..most.pow(rank)).map(move |case| (0..rank).rev().map(|i| digit(case, i)).collect())
    };
    match shape {
        Shape::Line => (0..=4099).map(|length| vec![length]).collect(),
        Shape::Plane => all(40, 2).collect(),
        Shape::Cube => all(11, 3)
            .flat_map(|cube: Vec<u64>| [cube, [(); 3].map(|()| rng.random_range(1..=40)).to_vec()])
            .collect(),
    }
}

/// Around the edges of warps, blocks, chunks and of 32 chunks, and any from 1 to 40, and larger.
fn random(cell: Cell, count: usize) -> Vec<Vec<u64>> {
    let mut rng = SmallRng::seed_from_u64(0xfe44_0500 + cell.number as u64);
    let mut one = || {
        let rng = &mut rng;
        match (cell.shape, rng.random_range(0..6)) {
            (Shape::Line, 0) => vec![rng.random_range(0..200)],
            (Shape::Line, 1) => vec![32 * rng.random_range(1..300) + rng.random_range(0..3) - 1],
            (Shape::Line, 2) => vec![8192 * rng.random_range(1..9) + rng.random_range(0..5) - 2],
            (Shape::Line, 3) => vec![1024 * rng.random_range(1..40) + rng.random_range(0..3) - 1],
            (Shape::Line, 4) => vec![rng.random_range(0..100_000)],
            (Shape::Line, _) => vec![8192 * rng.random_range(30..70) + rng.random_range(0..40)],
            (Shape::Plane, 0 | 1) => vec![rng.random_range(2..=40), rng.random_range(2..=40)],
            (Shape::Plane, 2 | 3) => vec![rng.random_range(2..=600), rng.random_range(2..=600)],
            (Shape::Plane, 4) => [(); 3].map(|()| rng.random_range(2..=40)).to_vec(),
            (Shape::Plane, _) => vec![8 * rng.random_range(1..=40), 4 * rng.random_range(1..=150)],
            (Shape::Cube, 0 | 1) => [(); 3].map(|()| rng.random_range(2..=90)).to_vec(),
            (Shape::Cube, 2 | 3) => [(); 3].map(|()| 4 * rng.random_range(1..=20)).to_vec(),
            (Shape::Cube, _) => [(); 3].map(|()| rng.random_range(2..=40)).to_vec(),
        }
    };
    (0..count).map(|_| one()).collect()
}

/// Random cases of a cell: of blocks as many as the environment says, over all cells, and of tiles a fifteenth of it.
fn random_cases(is_tiles: bool) -> usize {
    let asked = std::env::var("FERROSZ_GPU_CASES").ok();
    let all: usize = asked.and_then(|cases| cases.parse().ok()).unwrap_or(6000);
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
    pub kind: Kind,
    pub bound: Bound,
}

impl Case {
    /// What is wrong with each machine, if anything.
    fn faults(&self, machines: &[Machine]) -> Vec<(Machine, String)> {
        with_element!(self.dtype, E => {
            let length = self.layout.extents.elements() as usize;
            let field = make::<E>(self.kind, length, self.number);
            faults(machines, self.layout, self.bound, &field, self.number)
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
    layout: Layout,
    bound: Bound,
    field: &[T],
    seed: u64,
) -> Vec<(Machine, String)> {
    let mut right = Machine::Reference;
    if field.len() > MOST_OF_REFERENCE {
        right = Machine::cpu()[0];
    }
    let expected = Expected::new(right, layout, bound, field, seed);
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
    let faults = faults(machines, layout, bound, field, 1);
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
        layout: Layout,
        bound: Bound,
        field: &'a [T],
        seed: u64,
    ) -> Result<Self, String> {
        let stream = tried(|| right.compress(layout, bound, field).map_err(said))?;
        let values = tried(|| right.decompress::<T>(&stream).map_err(said))?;
        let most = layout.max_stream_bytes(T::DTYPE).unwrap_or(u64::MAX);
        let mut verdict = judge(bound, field, &values);
        if stream.len() as u64 > most {
            verdict = Err(format!("{} bytes, and {most} at most", stream.len()));
        }
        let part = random_part(layout.extents.lengths(), seed);
        Ok(Self {
            layout,
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
            bound,
            stream,
            ..
        } = self;
        if machine != Machine::Reference {
            let found = machine
                .compress(*layout, *bound, self.field)
                .map_err(said)?;
            same("streams", &found, stream, |byte| u64::from(*byte))?;
            let found = machine.decompress::<T>(stream).map_err(said)?;
            same("fields", &found, &self.values, |value| value.to_bits64())?;
        }
        if machine.has_parts(*layout) {
            let found = machine
                .decompress_part::<T>(stream, &self.part)
                .map_err(said)?;
            let elements = elements_of(&self.part, layout.extents.lengths());
            let expected: Vec<T> = elements.map(|at| self.values[at as usize]).collect();
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
pub fn elements_of(part: &Part, lengths: &[u64]) -> Box<dyn Iterator<Item = u64>> {
    match part {
        Part::Elements(range) => Box::new(range.clone()),
        Part::Box(ranges) => {
            let mut flat = vec![0];
            for (range, length) in ranges.iter().zip(lengths) {
                let row = |at: &u64| {
                    let first = at * length;
                    range.clone().map(move |i| first + i)
                };
                flat = flat.iter().flat_map(row).collect();
            }
            Box::new(flat.into_iter())
        }
    }
}

/// What became of a row.
pub struct Row {
    cell: Cell,
    /// For each of [`Machine::all`] the number of cases, and those at fault.
    columns: Vec<(usize, Vec<String>)>,
}

/// Runs all cells on some machines.
pub fn run(machines: &[Machine]) -> Vec<Row> {
    let cells = Cell::all();
    let jobs: Vec<(Cell, Set)> = cells
        .iter()
        .flat_map(|cell| Set::ALL.map(|set| (*cell, set)))
        .collect();
    let done: Vec<Row> = jobs
        .into_par_iter()
        .with_max_len(1)
        .map(|(cell, set)| run_set(cell, set, machines))
        .collect();
    let sets = done.chunks(Set::ALL.len());
    sets.map(Row::of_sets).collect()
}

fn run_set(cell: Cell, set: Set, machines: &[Machine]) -> Row {
    let mut columns: Vec<(usize, Vec<String>)> =
        Machine::all().map(|_| Default::default()).collect();
    let of_machine: Vec<(Machine, Vec<Case>)> = (machines.iter())
        .map(|machine| (*machine, cell.cases(set, *machine)))
        .collect();
    let mut cases: Vec<&Case> = of_machine.iter().flat_map(|(_, cases)| cases).collect();
    cases.sort_by_key(|case| case.number);
    cases.dedup();
    for case in cases {
        let takes =
            |(machine, cases): &(Machine, Vec<Case>)| cases.contains(case).then_some(*machine);
        let takers: Vec<Machine> = of_machine.iter().filter_map(takes).collect();
        let faults = case.faults(&takers);
        for (machine, column) in Machine::all().zip(&mut columns) {
            column.0 += usize::from(takers.contains(&machine));
            let of_this = faults.iter().filter(|(found, _)| *found == machine);
            column
                .1
                .extend(of_this.map(|(_, fault)| format!("{case:?}: {fault}")));
        }
    }
    Row { cell, columns }
}

impl Row {
    fn of_sets(sets: &[Self]) -> Self {
        let mut columns: Vec<(usize, Vec<String>)> =
            Machine::all().map(|_| Default::default()).collect();
        for row in sets {
            for (sum, column) in columns.iter_mut().zip(&row.columns) {
                sum.0 += column.0;
                sum.1.extend(column.1.iter().cloned());
            }
        }
        Self {
            cell: sets[0].cell,
            columns,
        }
    }
}

/// Prints the table, and panics if a cell is red, or empty on one of the machines that were asked.
pub fn report(rows: &[Row], asked: &[Machine]) {
    let here: Vec<(Machine, bool)> = Machine::all()
        .map(|machine| (machine, machine.is_here()))
        .collect();
    print!("{:32}", "codec, shape, type; cases");
    here.iter()
        .for_each(|(machine, _)| print!("{:>12}", machine.name()));
    println!();
    let mut wrong = Vec::new();
    for row in rows {
        print!("{:32}", row.cell);
        for ((machine, is_here), (cases, faults)) in here.iter().zip(&row.columns) {
            let text = match (asked.contains(machine), is_here) {
                (true, _) if faults.is_empty() => cases.to_string(),
                (true, _) => format!("{} RED/{cases}", faults.len()),
                (false, true) => "not asked".to_owned(),
                (false, false) => "missing".to_owned(),
            };
            print!("{text:>12}");
            if asked.contains(machine) && *cases == 0 {
                wrong.push(format!("{} {}: no case", row.cell, machine.name()));
            }
            wrong.extend(
                faults
                    .first()
                    .map(|fault| format!("{} {}: {fault}", row.cell, machine.name())),
            );
        }
        println!();
    }
    assert!(
        wrong.is_empty(),
        "{} cells: {}",
        wrong.len(),
        wrong.join("\n")
    );
}
