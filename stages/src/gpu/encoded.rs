//! Fields with encoded codes on a machine that runs kernels: a stage encodes and decodes the codes in its memory.

use crate::code::Code;
use crate::container::{EncodedParts, OUTLIER_COUNT};
use crate::error::Error;
use crate::gpu::{
    Arrays, Decompose, check, decompose_in_memory, enqueue_compose, enqueue_list, fetch, outliers,
    upload, workspace_cells,
};
use crate::interpolator::Interpolator;
use crate::recipe::Recipe;
use crate::stage::machine::CodesOn;
use crate::stage::{CodeFormat, Stage};
use ferrosz_codec::Element;
use ferrosz_codec::tile::TileGrid;
use ferrosz_host::internals::{Call, Executor};
use ferrosz_simt::View;

/// Decomposes a field in host memory, and encodes its codes.
pub(crate) struct Encode<'a, T, C> {
    pub(crate) parts: Decompose<'a, T, C>,
    pub(crate) stage: &'a dyn Stage,
}

impl<T: Element, C: Code> Call for Encode<'_, T, C> {
    type Output = Result<EncodedParts<T>, Error>;

    fn on<E: Executor>(self, executor: &E) -> Self::Output {
        let Self { parts, stage } = self;
        let field = upload(executor, bytemuck::cast_slice(parts.field))?;
        let field = executor.view(&field);
        encode::<T, C, E>(executor, parts.interpolator, parts.grid, field, stage)
    }
}

/// Decomposes a field in the memory of a machine, and encodes its codes. The encoded parts come to the host.
pub(crate) fn encode<T: Element, C: Code, E: Executor>(
    executor: &E,
    interpolator: &Interpolator,
    grid: &TileGrid,
    field: View<u32>,
    stage: &dyn Stage,
) -> Result<EncodedParts<T>, Error> {
    let parts = decompose_in_memory::<T, C, E>(executor, interpolator, grid, field)?;
    let format = &CodeFormat::of(&parts.recipe)?;
    let arrays = parts.arrays;
    let bytes = T::BYTES as u64;
    Ok(EncodedParts {
        recipe: parts.recipe,
        parts: [
            CodesOn { executor, format }.encode(stage, arrays.codes)?,
            fetch(executor, arrays.anchors, parts.anchors * bytes)?,
            fetch(executor, arrays.outlier_values, arrays.outliers * bytes)?,
        ],
    })
}

/// Decodes the codes of a field, and composes it to host memory. The length of the anchors has been
/// checked.
pub(crate) struct Decode<'a, T> {
    pub(crate) recipe: &'a Recipe<T>,
    pub(crate) format: &'a CodeFormat,
    /// Codes, anchors and outliers.
    pub(crate) parts: [&'a [u8]; 3],
    pub(crate) stage: &'a dyn Stage,
}

impl<T: Element> Call for Decode<'_, T> {
    type Output = Result<Vec<T>, Error>;

    fn on<E: Executor>(self, executor: &E) -> Self::Output {
        let elements = self.recipe.grid.elements();
        let output = executor.allocate(elements * T::BYTES as u64)?;
        let output = executor.view(&output);
        self.decode(executor, output)?;
        fetch(executor, output, elements)
    }
}

impl<T: Element> Decode<'_, T> {
    /// As [`Call::on`], to the memory of a machine.
    pub(crate) fn decode<E: Executor>(&self, executor: &E, output: View<u32>) -> Result<(), Error> {
        let Self { recipe, format, .. } = self;
        let [codes, anchors, values] = self.parts;
        let codes = CodesOn { executor, format }.decode(self.stage, codes)?;
        if format.count() == 0 {
            return Ok(());
        }
        let room = (values.len() / T::BYTES) as u64;
        let [some_anchors, some_values] = [anchors, values].map(|part| part.len() as u64);
        let [some_anchors, some_values, indices, workspace] = [
            executor.allocate(some_anchors)?,
            executor.allocate(some_values)?,
            executor.allocate(4 * room)?,
            executor.allocate(8 * workspace_cells(&recipe.grid))?,
        ];
        let workspace = executor.view(&workspace);
        let arrays = Arrays {
            codes: executor.view(&codes),
            anchors: executor.view(&some_anchors),
            outlier_values: executor.view(&some_values),
            outlier_indices: executor.view(&indices),
            outliers: room,
        };
        enqueue_list(executor, recipe, &arrays, output, workspace)?;
        check(executor, &recipe.grid, workspace)?;
        if outliers(executor, &recipe.grid, workspace)? != room || values.len() % T::BYTES != 0 {
            return Err(OUTLIER_COUNT);
        }
        executor.upload(anchors, arrays.anchors)?;
        executor.upload(values, arrays.outlier_values)?;
        enqueue_compose(executor, recipe, &arrays, output, workspace)?;
        check(executor, &recipe.grid, workspace)
    }
}
