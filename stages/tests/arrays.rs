//! Export and import of code arrays on the emulator: against positions and codes one by one, there and back.

use ferrosz_codec::predict::interp::geometry::Geometry;
use ferrosz_codec::predict::interp::parameters::Parameters;
use ferrosz_codec::predict::interp::resolved::Resolved;
use ferrosz_codec::shape::{Cube, Line, Plane, StaticShape};
use ferrosz_codec::tile::code::{RAW, zigzag};
use ferrosz_codec::tile::{self, TileGrid};
use ferrosz_codec::{Element, Shape};
use ferrosz_gpu_kernels::pipeline::cells::{self, Fault};
use ferrosz_gpu_kernels::pipeline::tiles::codes;
use ferrosz_simt::emulator::{BlockOrder, Emulator};
use ferrosz_simt::{Kernel, View};
use ferrosz_stages::CodeOrder;
use ferrosz_stages::kernels::arrays::CodeArray;
use ferrosz_stages::kernels::export::{Export, ExportParams, SEGMENT};
use ferrosz_stages::kernels::import::{
    CODE, ImportCodes, ImportCodesParams, ImportOutliers, ImportOutliersParams, OUTLIER,
};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// What output buffers hold before.
const POISON: u32 = 0xdead_beef;

fn view<W>(items: &mut [W]) -> View<W> {
    // SAFETY: the items outlive the launches of the test that borrows them.
    unsafe { View::new(items.as_mut_ptr(), items.len() as u64) }
}

/// A field, the codes that prediction would leave of it, and what is to be exported.
struct Field<T> {
    grid: TileGrid,
    values: Vec<T>,
    predicted: Vec<u32>,
    /// Codes with the radius added, in order.
    codes: Vec<u32>,
    /// Which of these is that of a position with a code, if there is one.
    coded: Option<usize>,
    anchors: Vec<T>,
    outliers: Vec<(u32, T)>,
}

#[derive(Debug, Clone, Copy)]
struct Format {
    width: u32,
    radius: u32,
    order: CodeOrder,
    geometry: Geometry,
}

/// The level of a position by its definition, at most `most`.
fn level(shape: Shape, at: [u64; 3], most: u32) -> u32 {
    let own = &at[3 - usize::from(shape.rank())..];
    (0..most)
        .find(|level| own.iter().any(|at| at % (2 << level) != 0))
        .unwrap_or(most)
}

fn make<T: Element>(grid: TileGrid, format: Format, rarity: u32, random: &mut StdRng) -> Field<T> {
    let shape = grid.shape();
    let most = format.geometry.levels(shape);
    let [_, height, width] = grid.lengths();
    let mut field = Field {
        grid,
        values: Vec::new(),
        predicted: vec![POISON; (grid.runs() * codes::RUN_WORDS) as usize],
        codes: Vec::new(),
        coded: None,
        anchors: Vec::new(),
        outliers: Vec::new(),
    };
    let mut keyed = Vec::new();
    for i in 0..grid.elements() {
        let at = [i / width / height, i / width % height, i % width];
        let value = T::from_bits64(random.random());
        field.values.push(value);
        let level = level(shape, at, most);
        let limit = format.radius as i32 - 1;
        let mut code = Some(random.random_range(-limit..=limit));
        if level == most {
            field.anchors.push(value);
            code = Some(0);
        } else if random.random_range(0..rarity) == 0 {
            field.outliers.push((i as u32, value));
            code = None;
        }
        keyed.push((
            most - level,
            code.map_or(0, |k| format.radius.wrapping_add_signed(k)),
        ));
        let extents = tile::extents(shape).map(u64::from);
        let counts = grid.counts();
        let [z, y, x]: [u64; 3] = std::array::from_fn(|axis| at[axis] / extents[axis]);
        let number = (z * counts[1] + y) * counts[2] + x;
        let position = std::array::from_fn(|axis| (at[axis] % extents[axis]) as u32);
        let halves: &mut [u16] = bytemuck::cast_slice_mut(&mut field.predicted);
        let at = 2 * codes::first_word(0, number) + u64::from(tile::index(shape, position));
        halves[at as usize] = code.map_or(RAW, zigzag);
    }
    if format.order == CodeOrder::Level {
        keyed.sort_by_key(|(level, _)| *level);
    }
    // Levels count from that of anchors.
    field.coded = keyed
        .iter()
        .rposition(|(level, code)| *level > 0 && *code != 0);
    field.codes = keyed.into_iter().map(|(_, code)| code).collect();
    field
}

/// The bytes of codes, in whole words, the rest of them as they were.
fn packed(codes: &[u32], width: u32) -> Vec<u32> {
    let mut words = vec![POISON; (codes.len() * width as usize).div_ceil(4)];
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
    for (bytes, code) in bytes.chunks_exact_mut(width as usize).zip(codes) {
        bytes.copy_from_slice(&code.to_le_bytes()[..width as usize]);
    }
    words
}

fn words<T: Element>(values: &[T]) -> Vec<u32> {
    bytemuck::cast_slice(values).to_vec()
}

/// The words of parameters of which only the radius counts.
fn parameters(format: Format) -> Vec<u32> {
    let resolved = Resolved::new(Parameters::default(), 1.0f32);
    resolved.with_radius(format.radius).to_words().to_vec()
}

fn array(format: Format, grid: &TileGrid, codes: View<u32>, parameters: View<u32>) -> CodeArray {
    CodeArray {
        codes,
        width: format.width,
        parameters,
        order: format.order,
        anchor_level: format.geometry.levels(grid.shape()),
        lengths: grid.lengths(),
    }
}

fn check_export<T: Element, S: StaticShape>(field: &Field<T>, format: Format, emulator: &Emulator)
where
    Export<T, S>: Kernel<Params = ExportParams>,
{
    let segments = field.grid.elements().div_ceil(SEGMENT);
    let room = field.outliers.len();
    for capacity in [room, room / 2] {
        let mut values = words(&field.values);
        let mut predicted = field.predicted.clone();
        let mut exported = packed(&vec![0; field.codes.len()], format.width);
        exported.fill(POISON);
        let mut anchors = vec![POISON; field.anchors.len() * T::WORDS];
        let mut outlier_values = vec![POISON; room * T::WORDS];
        let mut outlier_indices = vec![POISON; room];
        let mut workspace = vec![0; cells::count(segments) as usize];
        let mut parameters = parameters(format);
        let params = ExportParams {
            field: view(&mut values),
            predicted: view(&mut predicted),
            array: array(
                format,
                &field.grid,
                view(&mut exported),
                view(&mut parameters),
            ),
            anchors: view(&mut anchors),
            outlier_values: view(&mut outlier_values),
            outlier_indices: view(&mut outlier_indices),
            capacity: capacity as u64,
            cells: view(&mut workspace),
        };
        emulator
            .launch::<Export<T, S>>(segments as u32, &params)
            .expect("no fault");
        assert_eq!(workspace[cells::OUTLIERS as usize], room as u64);
        assert!(
            exported == packed(&field.codes, format.width),
            "codes, {format:?}"
        );
        assert!(anchors == words(&field.anchors), "anchors, {format:?}");
        let (indices, listed): (Vec<u32>, Vec<T>) =
            field.outliers[..capacity].iter().copied().unzip();
        assert!(
            outlier_indices[..capacity] == indices,
            "indices, {format:?}"
        );
        assert!(
            outlier_values[..capacity * T::WORDS] == words(&listed),
            "values, {format:?}"
        );
        assert!(
            outlier_indices[capacity..]
                .iter()
                .all(|index| *index == POISON)
        );
    }
}

/// What importing leaves of tiles and of the field, and the fault.
fn import<T: Element, S: StaticShape>(
    field: &Field<T>,
    format: Format,
    emulator: &Emulator,
    codes: &[u32],
    outliers: &[(u32, T)],
) -> (Vec<u32>, Vec<u32>, Option<Fault>)
where
    ImportCodes<S>: Kernel<Params = ImportCodesParams>,
    ImportOutliers<T, S>: Kernel<Params = ImportOutliersParams>,
{
    let mut packed = packed(codes, format.width);
    let mut predicted = vec![POISON; field.predicted.len()];
    let mut workspace = vec![0; cells::count(0) as usize];
    let (mut indices, listed): (Vec<u32>, Vec<T>) = outliers.iter().copied().unzip();
    let mut listed = words(&listed);
    let mut values = vec![POISON; field.values.len() * T::WORDS];
    let mut parameters = parameters(format);
    let array = array(
        format,
        &field.grid,
        view(&mut packed),
        view(&mut parameters),
    );
    let cells = view(&mut workspace);
    let params = ImportCodesParams {
        array,
        predicted: view(&mut predicted),
        values: View::empty(),
        cells,
    };
    emulator
        .launch::<ImportCodes<S>>(3, &params)
        .expect("no fault");
    let params = ImportOutliersParams {
        array,
        values: view(&mut listed),
        indices: view(&mut indices),
        count: outliers.len() as u64,
        field: view(&mut values),
        cells,
    };
    emulator
        .launch::<ImportOutliers<T, S>>(2, &params)
        .expect("no fault");
    let fault = Fault::from_cell(workspace[cells::FAULT as usize]);
    (predicted, values, fault)
}

/// The codes of a field's tiles, 0 at positions that are not in the field.
fn with_zeros_outside<T>(field: &Field<T>) -> Vec<u32> {
    let mut predicted = field.predicted.clone();
    let halves: &mut [u16] = bytemuck::cast_slice_mut(&mut predicted);
    for number in 0..field.grid.tiles() {
        let tile = field.grid.tile(number);
        for at in 0..tile::TILE as u32 {
            let position = tile::position(field.grid.shape(), at / tile::LANES, at % tile::LANES);
            if !tile.has(position) {
                halves[(2 * codes::first_word(0, number)) as usize + at as usize] = 0;
            }
        }
    }
    predicted
}

fn check_import<T: Element, S: StaticShape>(field: &Field<T>, format: Format, emulator: &Emulator)
where
    ImportCodes<S>: Kernel<Params = ImportCodesParams>,
    ImportOutliers<T, S>: Kernel<Params = ImportOutliersParams>,
{
    let outliers = &field.outliers;
    let (predicted, values, fault) =
        import::<T, S>(field, format, emulator, &field.codes, outliers);
    assert_eq!(fault, None, "{format:?}");
    assert!(predicted == with_zeros_outside(field), "{format:?}");
    let mut wanted = vec![POISON; values.len()];
    for (index, value) in outliers {
        let at = *index as usize * T::WORDS;
        wanted[at..at + T::WORDS].copy_from_slice(&words(&[*value]));
    }
    assert!(values == wanted, "{format:?}");
    if outliers.len() > 2 {
        let fault_of = |codes: &[u32], outliers: &[(u32, T)]| {
            import::<T, S>(field, format, emulator, codes, outliers).2
        };
        let wrong = Some(Fault::Chunk(0, OUTLIER));
        assert_eq!(fault_of(&field.codes, &outliers[1..]), wrong);
        let mut swapped = outliers.clone();
        swapped.swap(0, 1);
        assert_eq!(fault_of(&field.codes, &swapped), wrong);
        let mut twice = outliers.clone();
        twice[1] = twice[0];
        assert_eq!(fault_of(&field.codes, &twice), wrong);
        let mut outside = outliers.clone();
        outside.last_mut().unwrap().0 = field.grid.elements() as u32;
        assert_eq!(fault_of(&field.codes, &outside), wrong);
    }
    if let Some(position) = field.coded {
        let mut codes = field.codes.clone();
        codes[position] = 0;
        let fault = import::<T, S>(field, format, emulator, &codes, outliers).2;
        assert_eq!(fault, Some(Fault::Chunk(0, OUTLIER)));
        if 2 * format.radius <= u32::MAX >> (32 - 8 * format.width) {
            codes[position] = 2 * format.radius;
            let fault = import::<T, S>(field, format, emulator, &codes, outliers).2;
            assert_eq!(fault, Some(Fault::Chunk(0, CODE)));
        }
    }
}

fn check<T: Element, S: StaticShape>(lengths: [u64; 3], seed: u64)
where
    Export<T, S>: Kernel<Params = ExportParams>,
    ImportCodes<S>: Kernel<Params = ImportCodesParams>,
    ImportOutliers<T, S>: Kernel<Params = ImportOutliersParams>,
{
    let mut random = StdRng::seed_from_u64(seed);
    let grid = TileGrid::new(S::SHAPE, lengths);
    for (number, order) in (0..).zip(CodeOrder::ALL) {
        for (width, radius) in [(1, 128), (1, 33), (2, 32_768), (2, 512), (4, 32_768)] {
            let format = Format {
                width,
                radius,
                order,
                geometry: Geometry::ALL[random.random_range(0..3)],
            };
            let rarity = [1, 3, 900][random.random_range(0..3)];
            let field = make::<T>(grid, format, rarity, &mut random);
            let emulator = Emulator::new()
                .seed(seed + number)
                .block_order(BlockOrder::Shuffled);
            check_export::<T, S>(&field, format, &emulator);
            check_import::<T, S>(&field, format, &emulator);
        }
    }
}

#[test]
fn cubes() {
    check::<f32, Cube>([17, 18, 70], 1);
    check::<f64, Cube>([3, 33, 65], 2);
    check::<f32, Cube>([1, 1, 1], 3);
}

#[test]
fn planes() {
    check::<f32, Plane>([2, 260, 65], 4);
    check::<f64, Plane>([3, 7, 129], 5);
}

#[test]
fn lines() {
    check::<f32, Line>([1, 1, 20_001], 6);
    check::<f64, Line>([1, 1, 600], 7);
}
