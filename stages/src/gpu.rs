//! Decomposition and composition on a machine that runs kernels: the kernels' order, and the cells of their workspace.

pub(super) mod encoded;

use crate::code::Code;
use crate::decomposition::Decomposition;
use crate::error::Error;
use crate::interpolator::Interpolator;
use crate::kernels::arrays::CodeArray;
use crate::kernels::export::{Export, ExportParams, SEGMENT};
use crate::kernels::import::{
    CODE, ImportCodes, ImportCodesParams, ImportOutliers, ImportOutliersParams, THREADS,
};
use crate::recipe::{CodeWidth, Recipe};
use ferrosz_codec::bound::Extremes;
use ferrosz_codec::predict::fitted::FittedKind;
use ferrosz_codec::predict::interp::resolved::{WORDS, Words};
use ferrosz_codec::predict::interp::tune::search::Search;
use ferrosz_codec::tile::TileGrid;
use ferrosz_codec::{Element, with_shape};
use ferrosz_gpu_kernels::choice::taken_tiles::TakenTiles;
use ferrosz_gpu_kernels::pipeline::cells::{self, Fault};
use ferrosz_gpu_kernels::pipeline::tiles::codes::RUN_WORDS;
use ferrosz_gpu_kernels::predict::interp::InterpParams;
use ferrosz_gpu_kernels::predict::interp::predict::Predict;
use ferrosz_gpu_kernels::predict::interp::prepare::{CELLS, PARAMETER_WORDS};
use ferrosz_gpu_kernels::predict::interp::reconstruct::{Reconstruct, ReconstructParams};
use ferrosz_gpu_kernels::predict::interp::sampled::Sampled;
use ferrosz_host::Error as HostError;
use ferrosz_host::internals::{
    Call, Executor, Others, Sections, TuneJob, TuningSamples, blocks_of, enqueue_resolve,
    enqueue_tune, put, strides, try_zeroed,
};
use ferrosz_simt::View;
use std::marker::PhantomData;

/// The workspace of a call.
pub(super) struct Workspace {
    /// The cells of all kernels.
    cells: View<u64>,
    /// Those of tuning.
    costs: View<u64>,
    parameters: View<u32>,
    /// The codes as predictors have them.
    regions: View<u32>,
}

impl Workspace {
    /// Shares out the cells of a workspace; how many there are. Of too few, sections come out short.
    fn new(grid: &TileGrid, all: View<u64>) -> (Self, u64) {
        let mut sections = Sections::of(all);
        let workspace = Self {
            cells: sections.cells(cells::count(grid.elements().div_ceil(SEGMENT))),
            costs: sections.cells(CELLS),
            parameters: sections.words(PARAMETER_WORDS),
            regions: sections.words(grid.runs() * RUN_WORDS),
        };
        (workspace, sections.end())
    }
}

/// Cells of the workspace of a field.
pub(super) fn workspace_cells(grid: &TileGrid) -> u64 {
    Workspace::new(grid, View::empty()).1
}

/// The arrays of a decomposition on the machine.
#[derive(Clone, Copy)]
pub(super) struct Arrays {
    /// The codes, 16-byte aligned.
    pub(super) codes: View<u32>,
    pub(super) anchors: View<u32>,
    pub(super) outlier_values: View<u32>,
    pub(super) outlier_indices: View<u32>,
    /// How many outliers there are, or there is room for.
    pub(super) outliers: u64,
}

fn part(grid: &TileGrid, workspace: &Workspace, field: View<u32>) -> InterpParams {
    InterpParams {
        field,
        strides: strides(grid),
        anchors: View::empty(),
        codes: workspace.regions,
        first_run: 0,
        known: View::empty(),
        parameters: workspace.parameters,
        slices: 1,
        lengths: grid.lengths(),
        is_coarse: 0,
        first_tile: 0,
        taken: TakenTiles::all(),
    }
}

/// Asks for a decomposition. Nothing is allocated, and nothing waits. How many outliers there are will be in the
/// cells.
pub(super) fn enqueue_decompose<T: Element, C: Code, E: Executor>(
    executor: &E,
    interpolator: &Interpolator,
    grid: &TileGrid,
    input: View<u32>,
    arrays: &Arrays,
    workspace: View<u64>,
) -> Result<(), HostError> {
    let (workspace, _) = Workspace::new(grid, workspace);
    let part = part(grid, &workspace, input);
    let samples = [TuningSamples {
        part,
        sampled: Sampled::whole(grid.tiles()),
    }];
    let tune = TuneJob {
        search: Search::of_field(interpolator.tuning, grid),
        bound: interpolator.bound,
        error: enqueue_bound::<T, E>(executor, interpolator, grid, input, &workspace)?,
        radius: interpolator.given_radius(),
        max_radius: C::WIDTH.max_radius(),
        fitted: &samples,
        scored: &samples,
        others: Others::default(),
        workspace: workspace.cells,
        cells: workspace.costs,
        sums: View::empty(),
        parameters: workspace.parameters,
    };
    enqueue_tune::<T, E>(executor, &tune)?;
    if grid.elements() == 0 {
        return Ok(());
    }
    let tiles = blocks::<T>(grid.tiles(), grid)?;
    with_shape!(grid.shape(), S => executor.launch::<Predict<T, S>>(tiles, &part))?;
    let geometry = interpolator.tuning.geometry;
    let export = ExportParams {
        field: input,
        predicted: workspace.regions,
        array: CodeArray {
            codes: arrays.codes,
            width: C::WIDTH.bytes(),
            parameters: workspace.parameters,
            order: interpolator.order,
            anchor_level: geometry.levels(grid.shape()),
            lengths: grid.lengths(),
        },
        anchors: arrays.anchors,
        outlier_values: arrays.outlier_values,
        outlier_indices: arrays.outlier_indices,
        capacity: arrays.outliers,
        cells: workspace.cells,
    };
    let segments = blocks_of_segments::<T>(grid)?;
    with_shape!(grid.shape(), S => executor.launch::<Export<T, S>>(segments, &export))
}

/// Asks for the bound's parameters that depend on the field's extremes, if these are needed. Otherwise returns the
/// bits of the absolute error.
fn enqueue_bound<T: Element, E: Executor>(
    executor: &E,
    interpolator: &Interpolator,
    grid: &TileGrid,
    input: View<u32>,
    workspace: &Workspace,
) -> Result<Option<u64>, HostError> {
    if interpolator.needs_extremes() && grid.elements() > 0 {
        let bound = interpolator.bound;
        // There is no stream, and so no header.
        let header_sum = 0;
        enqueue_resolve::<T, E>(
            executor,
            bound,
            grid.elements(),
            input,
            workspace.cells,
            header_sum,
        )?;
        return Ok(None);
    }
    let (quantizer, range) = interpolator.resolve::<T>(&Extremes::default());
    executor.clear(workspace.cells)?;
    if interpolator.needs_range() {
        let cell = workspace.cells.from(cells::RANGE).words();
        let bits = range.to_bits();
        put(executor, &[bits as u32, (bits >> 32) as u32], cell)?;
    }
    Ok(Some(quantizer.error().to_bits64()))
}

/// Asks for a composition. Nothing is allocated, and nothing waits. A fault will be in the fault cell.
pub(super) fn enqueue_compose<T: Element, E: Executor>(
    executor: &E,
    recipe: &Recipe<T>,
    arrays: &Arrays,
    output: View<u32>,
    workspace: View<u64>,
) -> Result<(), HostError> {
    let grid = &recipe.grid;
    if grid.elements() == 0 {
        return executor.clear(Workspace::new(grid, workspace).0.cells);
    }
    let (array, workspace) = enqueue_import(executor, recipe, arrays.codes, workspace)?;
    let outliers = ImportOutliersParams {
        array,
        values: arrays.outlier_values,
        indices: arrays.outlier_indices,
        count: arrays.outliers,
        field: output,
        cells: workspace.cells,
    };
    let many = import_blocks(arrays.outliers);
    with_shape!(grid.shape(), S => executor.launch::<ImportOutliers<T, S>>(many, &outliers))?;
    let params = InterpParams {
        anchors: arrays.anchors,
        ..part(grid, &workspace, output)
    };
    let tiles = blocks::<T>(grid.tiles(), grid)?;
    let params = ReconstructParams::all(params);
    with_shape!(grid.shape(), S => executor.launch::<Reconstruct<T, S>>(tiles, &params))
}

/// Asks for the positions of the outliers of codes: `arrays` has room for so many, for their values and for all anchors, which
/// come from `field` and mean nothing. How many there are will be in the cells, and a fault in the fault cell.
pub(super) fn enqueue_list<T: Element, E: Executor>(
    executor: &E,
    recipe: &Recipe<T>,
    arrays: &Arrays,
    field: View<u32>,
    workspace: View<u64>,
) -> Result<(), HostError> {
    let (array, workspace) = enqueue_import(executor, recipe, arrays.codes, workspace)?;
    let export = ExportParams {
        field,
        predicted: workspace.regions,
        array,
        anchors: arrays.anchors,
        outlier_values: arrays.outlier_values,
        outlier_indices: arrays.outlier_indices,
        capacity: arrays.outliers,
        cells: workspace.cells,
    };
    let segments = blocks_of_segments::<T>(&recipe.grid)?;
    with_shape!(recipe.grid.shape(), S => executor.launch::<Export<T, S>>(segments, &export))
}

/// Clears the cells, and asks for the codes of a field that has elements in their tiles.
fn enqueue_import<T: Element, E: Executor>(
    executor: &E,
    recipe: &Recipe<T>,
    codes: View<u32>,
    workspace: View<u64>,
) -> Result<(CodeArray, Workspace), HostError> {
    let grid = &recipe.grid;
    let (workspace, _) = Workspace::new(grid, workspace);
    executor.clear(workspace.cells)?;
    put(executor, &recipe.resolved.to_words(), workspace.parameters)?;
    let array = CodeArray {
        codes,
        width: recipe.width.bytes(),
        parameters: workspace.parameters,
        order: recipe.order,
        anchor_level: recipe.spacing().trailing_zeros(),
        lengths: grid.lengths(),
    };
    let params = ImportCodesParams {
        array,
        predicted: workspace.regions,
        values: View::empty(),
        cells: workspace.cells,
    };
    let many = import_blocks(grid.elements());
    with_shape!(grid.shape(), S => executor.launch::<ImportCodes<S>>(many, &params))?;
    Ok((array, workspace))
}

fn blocks<T: Element>(tasks: u64, grid: &TileGrid) -> Result<u32, HostError> {
    blocks_of::<T>(tasks, grid.elements())
}

fn blocks_of_segments<T: Element>(grid: &TileGrid) -> Result<u32, HostError> {
    blocks::<T>(grid.elements().div_ceil(SEGMENT), grid)
}

/// Blocks that share out so many elements, some to each thread.
pub(super) fn import_blocks(elements: u64) -> u32 {
    let most = elements.div_ceil(8 * u64::from(THREADS)).max(1);
    u32::try_from(most).unwrap_or(u32::MAX).min(1 << 16)
}

/// The recipe of the last decomposition of a workspace.
pub(super) fn recipe<T: Element, E: Executor>(
    executor: &E,
    interpolator: &Interpolator,
    width: CodeWidth,
    grid: &TileGrid,
    workspace: View<u64>,
) -> Result<Recipe<T>, Error> {
    let (workspace, _) = Workspace::new(grid, workspace);
    let mut words = [0u32; WORDS];
    executor.download(
        workspace.parameters,
        0,
        bytemuck::cast_slice_mut(&mut words),
    )?;
    let resolved =
        Words(|at| words.get(at).copied().unwrap_or(0)).read(grid.shape(), FittedKind::None);
    Ok(Recipe {
        grid: *grid,
        resolved: resolved.ok_or(Error::BadDecomposition("the parameters are damaged"))?,
        width,
        order: interpolator.order,
        bound: interpolator.bound,
    })
}

/// How many outliers the last decomposition of a workspace found.
pub(super) fn outliers<E: Executor>(
    executor: &E,
    grid: &TileGrid,
    workspace: View<u64>,
) -> Result<u64, Error> {
    read_cell(executor, grid, workspace, cells::OUTLIERS)
}

/// Whether the last composition of a workspace found anything wrong.
pub(super) fn check<E: Executor>(
    executor: &E,
    grid: &TileGrid,
    workspace: View<u64>,
) -> Result<(), Error> {
    match Fault::from_cell(read_cell(executor, grid, workspace, cells::FAULT)?) {
        None => Ok(()),
        Some(Fault::Chunk(_, CODE)) => Err(Error::BAD_CODE),
        Some(_) => Err(Error::BAD_OUTLIERS),
    }
}

fn read_cell<E: Executor>(
    executor: &E,
    grid: &TileGrid,
    workspace: View<u64>,
    cell: u64,
) -> Result<u64, Error> {
    let (workspace, _) = Workspace::new(grid, workspace);
    let mut bytes = [0; 8];
    executor.download(workspace.cells, 8 * cell, &mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

/// Decomposes a field in host memory.
pub(super) struct Decompose<'a, T, C> {
    pub(super) interpolator: &'a Interpolator,
    pub(super) grid: &'a TileGrid,
    pub(super) field: &'a [T],
    pub(super) codes: PhantomData<C>,
}

/// The parts of a field in the memory of a machine.
pub(super) struct PartsInMemory<T, M> {
    pub(super) recipe: Recipe<T>,
    /// With the number of outliers that there are.
    pub(super) arrays: Arrays,
    /// How many anchors there are.
    pub(super) anchors: u64,
    /// What the arrays are in.
    _memory: Vec<M>,
}

/// Decomposes a field in the memory of a machine. Waits.
pub(super) fn decompose_in_memory<T: Element, C: Code, E: Executor>(
    executor: &E,
    interpolator: &Interpolator,
    grid: &TileGrid,
    field: View<u32>,
) -> Result<PartsInMemory<T, E::Memory>, Error> {
    let elements = grid.elements();
    let bytes = T::BYTES as u64;
    let spacing = interpolator.tuning.geometry.spacing(grid.shape());
    let anchors = grid.coarse(spacing).elements();
    let lengths = [
        elements * u64::from(C::WIDTH.bytes()),
        anchors * bytes,
        elements * bytes,
        elements * 4,
        8 * workspace_cells(grid),
    ];
    let memory = (lengths.iter())
        .map(|bytes| executor.allocate(*bytes))
        .collect::<Result<Vec<_>, _>>()?;
    let view = |i: usize| executor.view::<u32>(&memory[i]);
    let workspace = executor.view(&memory[4]);
    let mut arrays = Arrays {
        codes: view(0),
        anchors: view(1),
        outlier_values: view(2),
        outlier_indices: view(3),
        outliers: elements,
    };
    executor.clear(Workspace::new(grid, workspace).0.cells)?;
    enqueue_decompose::<T, C, E>(executor, interpolator, grid, field, &arrays, workspace)?;
    arrays.outliers = outliers(executor, grid, workspace)?.min(elements);
    Ok(PartsInMemory {
        recipe: recipe(executor, interpolator, C::WIDTH, grid, workspace)?,
        arrays,
        anchors,
        _memory: memory,
    })
}

impl<T: Element, C: Code> Call for Decompose<'_, T, C> {
    type Output = Result<Decomposition<T, C>, Error>;

    fn on<E: Executor>(self, executor: &E) -> Self::Output {
        let (interpolator, grid) = (self.interpolator, self.grid);
        let field = upload(executor, bytemuck::cast_slice(self.field))?;
        let field = executor.view(&field);
        let parts = decompose_in_memory::<T, C, E>(executor, interpolator, grid, field)?;
        let arrays = parts.arrays;
        Ok(Decomposition {
            recipe: parts.recipe,
            codes: fetch(executor, arrays.codes, grid.elements())?,
            anchors: fetch(executor, arrays.anchors, parts.anchors)?,
            outlier_values: fetch(executor, arrays.outlier_values, arrays.outliers)?,
            outlier_indices: fetch(executor, arrays.outlier_indices, arrays.outliers)?,
        })
    }
}

/// Composes a field to host memory. The lengths of all parts have been checked.
pub(super) struct Compose<'a, T, C>(pub(super) &'a Decomposition<T, C>);

impl<T: Element, C: Code> Call for Compose<'_, T, C> {
    type Output = Result<Vec<T>, Error>;

    fn on<E: Executor>(self, executor: &E) -> Self::Output {
        let Self(parts) = self;
        let grid = &parts.recipe.grid;
        let codes = upload(executor, bytemuck::cast_slice(&parts.codes))?;
        let anchors = upload(executor, bytemuck::cast_slice(&parts.anchors))?;
        let values = upload(executor, bytemuck::cast_slice(&parts.outlier_values))?;
        let indices = upload(executor, bytemuck::cast_slice(&parts.outlier_indices))?;
        let output = executor.allocate(grid.elements() * T::BYTES as u64)?;
        let workspace = executor.allocate(8 * workspace_cells(grid))?;
        let arrays = Arrays {
            codes: executor.view(&codes),
            anchors: executor.view(&anchors),
            outlier_values: executor.view(&values),
            outlier_indices: executor.view(&indices),
            outliers: parts.outlier_indices.len() as u64,
        };
        let (output, workspace) = (executor.view(&output), executor.view(&workspace));
        enqueue_compose(executor, &parts.recipe, &arrays, output, workspace)?;
        check(executor, grid, workspace)?;
        fetch(executor, output, grid.elements())
    }
}

/// Memory that begins with these bytes; zeros fill their last word.
pub(super) fn upload<E: Executor>(executor: &E, bytes: &[u8]) -> Result<E::Memory, Error> {
    let memory = executor.allocate(bytes.len() as u64)?;
    let (whole, rest) = bytes.split_at(bytes.len() & !3);
    let view = executor.view(&memory);
    executor.upload(whole, view)?;
    if !rest.is_empty() {
        let mut word = [0; 4];
        word[..rest.len()].copy_from_slice(rest);
        executor.upload(&word, view.from(whole.len() as u64 / 4))?;
    }
    Ok(memory)
}

/// The first `count` items of some memory.
pub(super) fn fetch<E: Executor, W: bytemuck::Pod>(
    executor: &E,
    from: View<u32>,
    count: u64,
) -> Result<Vec<W>, Error> {
    let mut items = try_zeroed::<W>(count)?;
    if count > 0 {
        executor.download(from, 0, bytemuck::cast_slice_mut(&mut items))?;
    }
    Ok(items)
}
