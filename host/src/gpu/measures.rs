//! Measures of tiles of a field on a machine that runs kernels: weights, and sizes in blocks.

use crate::error::Error;
use crate::gpu::boxes::BoxMemory;
use crate::gpu::executor::{Executor, blocks_of};
use crate::sampled_field::{Measures, SampledField, Sizes, TilesToMeasure};
use ferrosz_codec::Element;
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::container::grid::{ChunkBox, Grid};
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::quantize::difference::steps_of;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::shape::Shape;
use ferrosz_codec::with_shape;
use ferrosz_gpu_kernels::choice::size_blocks::{
    CHUNK_NUMBERS, CODECS, ChunkToSize, SizeBlocks, SizeBlocksParams,
};
use ferrosz_gpu_kernels::choice::weigh_tiles::{WeighTiles, WeighTilesParams};
use ferrosz_gpu_kernels::primitives::read_boxes::{BOX_NUMBERS, BoxToRead};
use ferrosz_simt::View;

/// A coded field in the memory of a machine that runs kernels.
pub(crate) struct FieldOnMachine<'a, E: Executor> {
    pub(crate) executor: &'a E,
    pub(crate) field: View<u32>,
    pub(crate) memory: &'a mut BoxMemory<E::Memory>,
}

impl<T: Element, E: Executor> SampledField<T> for FieldOnMachine<'_, E> {
    fn read(&mut self, grid: &Grid, places: &[ChunkBox]) -> Result<Vec<Vec<T>>, Error> {
        self.memory.read(self.executor, self.field, grid, places)
    }

    fn measure(
        &mut self,
        tiles: &TilesToMeasure<'_>,
        quantizer: &Quantizer<T>,
    ) -> Result<Option<Vec<Option<Measures>>>, Error> {
        measure(self.executor, self.memory, self.field, tiles, quantizer).map(Some)
    }
}

/// The chunks of tiles in blocks of a shape.
struct ChunksOfShape {
    shape: Shape,
    chunks: Vec<ChunkToSize>,
    /// The chunks of each tile, one tile behind the other.
    counts: Vec<usize>,
}

/// Measures tiles of a field, with one wait for the work so far. A tile whose own grid has fewer dimensions than the blocks is
/// left out.
///
/// # Errors
///
/// [`Error::OutOfMemory`] and [`Error::TooLarge`], or an error of the machine.
fn measure<T: Element, E: Executor>(
    executor: &E,
    memory: &mut BoxMemory<E::Memory>,
    field: View<u32>,
    wanted: &TilesToMeasure<'_>,
    quantizer: &Quantizer<T>,
) -> Result<Vec<Option<Measures>>, Error> {
    let own = |number: &u64| {
        let tile = wanted.tiles.tile(*number);
        ChunkBox {
            origin: tile.origin,
            extents: tile.extents(wanted.tiles.shape()),
        }
    };
    let tiles: Vec<ChunkBox> = wanted.numbers.iter().map(own).collect();
    let is_measured: Vec<bool> = tiles
        .iter()
        .map(|tile| wanted.shapes.iter().all(|shape| has_shape(tile, *shape)))
        .collect();
    let measured = tiles.iter().zip(&is_measured).filter(|(_, is)| **is);
    let measured: Vec<ChunkBox> = measured.map(|(tile, _)| *tile).collect();
    if measured.is_empty() {
        return Ok(vec![None; tiles.len()]);
    }
    let of_shapes: Vec<ChunksOfShape> = wanted
        .shapes
        .iter()
        .map(|shape| chunks_of(*shape, &measured))
        .collect();
    let numbers = run(
        executor, memory, field, wanted, quantizer, &measured, &of_shapes,
    )?;
    let mut found = parted(&numbers, measured.len(), &of_shapes).into_iter();
    let place = |is_measured: &bool| is_measured.then(|| found.next()).flatten();
    Ok(is_measured.iter().map(place).collect())
}

/// Whether blocks of a tile as a field of its own have this shape, and its dimensions are those of the field.
fn has_shape(tile: &ChunkBox, shape: Shape) -> bool {
    let grid = grid_of(tile, shape);
    grid.shape() == shape && grid.lengths() == tile.extents.map(u64::from)
}

/// The division of a tile as a field of its own.
fn grid_of(tile: &ChunkBox, shape: Shape) -> Grid {
    let own = tile.extents.map(u64::from);
    let line = Extents::line(own.iter().product());
    Grid::new(shape, &Extents::new(&own).unwrap_or(line))
}

fn chunks_of(shape: Shape, tiles: &[ChunkBox]) -> ChunksOfShape {
    let (mut chunks, mut counts) = (Vec::new(), Vec::new());
    for tile in tiles {
        let grid = grid_of(tile, shape);
        let in_field = |number| {
            let ChunkBox { origin, extents } = grid.chunk(number);
            ChunkToSize {
                place: ChunkBox {
                    origin: std::array::from_fn(|i| tile.origin[i] + origin[i]),
                    extents,
                },
                tile: grid.tile(),
            }
        };
        chunks.extend((0..grid.chunk_count()).map(in_field));
        counts.push(grid.chunk_count() as usize);
    }
    ChunksOfShape {
        shape,
        chunks,
        counts,
    }
}

/// The numbers that the kernels find: the bits of each tile, then for each shape the bytes of each chunk with each codec.
fn run<T: Element, E: Executor>(
    executor: &E,
    memory: &mut BoxMemory<E::Memory>,
    field: View<u32>,
    wanted: &TilesToMeasure<'_>,
    quantizer: &Quantizer<T>,
    tiles: &[ChunkBox],
    of_shapes: &[ChunksOfShape],
) -> Result<Vec<u32>, Error> {
    let to_read = |tile: &ChunkBox| {
        let from = wanted.grid.flat(tile.origin);
        let extents = tile.extents;
        (BoxToRead {
            from,
            to: 0,
            extents,
        })
        .to_list()
    };
    let mut list: Vec<u64> = tiles.iter().flat_map(to_read).collect();
    let chunks = of_shapes.iter().flat_map(|of_shape| &of_shape.chunks);
    list.extend(chunks.flat_map(|chunk| chunk.to_list()));
    let all_chunks: usize = of_shapes.iter().map(|of_shape| of_shape.chunks.len()).sum();
    let mut numbers = vec![0u32; tiles.len() + all_chunks * CODECS as usize];

    let list_words = 2 * list.len() as u64;
    let all = memory.memory(executor, 4 * (list_words + numbers.len() as u64))?;
    executor.upload(bytemuck::cast_slice(&list), all.first(list_words))?;
    let (mut lists, mut found) = (all.first(list_words).pairs(), all.from(list_words));

    let [_, rows, row] = wanted.grid.lengths();
    let weigh = WeighTilesParams {
        field,
        slice: rows * row,
        row,
        length: wanted.row,
        tiles: lists,
        steps: steps_of(quantizer.error()).to_bits64(),
        bits: found,
    };
    let elements = wanted.grid.elements();
    executor.launch::<WeighTiles<T>>(blocks_of::<T>(tiles.len() as u64, elements)?, &weigh)?;
    lists = lists.from((tiles.len() * BOX_NUMBERS) as u64);
    found = found.from(tiles.len() as u64);
    for ChunksOfShape { shape, chunks, .. } in of_shapes {
        let size = SizeBlocksParams {
            field,
            grid: *wanted.grid,
            chunks: lists,
            quantizer: quantizer.to_bits(),
            bytes: found,
        };
        let blocks = blocks_of::<T>(chunks.len() as u64 * u64::from(CODECS), elements)?;
        with_shape!(*shape, S => executor.launch::<SizeBlocks<T, S>>(blocks, &size)?);
        lists = lists.from((chunks.len() * CHUNK_NUMBERS) as u64);
        found = found.from(chunks.len() as u64 * u64::from(CODECS));
    }
    executor.download(
        all.from(list_words),
        0,
        bytemuck::cast_slice_mut(&mut numbers),
    )?;
    Ok(numbers)
}

/// The measures of each tile, from the numbers that the kernels found.
fn parted(numbers: &[u32], tiles: usize, of_shapes: &[ChunksOfShape]) -> Vec<Measures> {
    let (bits, mut rest) = numbers.split_at(tiles);
    let with_bits = |bits: &u32| Measures {
        bits: u64::from(*bits),
        sizes: Sizes::new(),
    };
    let mut measures: Vec<Measures> = bits.iter().map(with_bits).collect();
    for ChunksOfShape { shape, counts, .. } in of_shapes {
        for (measures, chunks) in measures.iter_mut().zip(counts) {
            let (own, behind) = rest.split_at(chunks * CODECS as usize);
            rest = behind;
            for codec in BlockCodec::ALL
                .into_iter()
                .filter(|codec| codec.takes(*shape))
            {
                let of_kernel = codec.in_shape(*shape).position() as usize;
                let of_codec = own.iter().skip(of_kernel).step_by(CODECS as usize);
                let bytes = of_codec.map(|bytes| u64::from(*bytes)).sum();
                measures.sizes.push(((codec, *shape), bytes));
            }
        }
    }
    measures
}

#[cfg(all(test, feature = "emulator"))]
mod tests {
    use super::*;
    use crate::cpu::tiles::measures_on_cpu;
    use crate::gpu::executor::emulator;
    use ferrosz_codec::Bound;
    use ferrosz_codec::bound::Extremes;
    use ferrosz_codec::tile::TileGrid;

    /// All tiles of a field on the emulator, beside the CPU; some have values without a code, and infinities.
    fn check<T: Element>(lengths: &[u64], sampled: Shape, shapes: &[Shape], error: f64) {
        let extents = Extents::new(lengths).unwrap();
        let grid = Grid::new(sampled, &extents);
        let tiles = TileGrid::sliced(grid.shape(), grid.slices(), grid.slice_lengths());
        // Sizes are of fields without holes.
        let holes = shapes.is_empty();
        let value = |i: u64| match i % 5003 {
            0..=16 if holes => f64::NAN,
            17 => f64::INFINITY,
            18 => 1e30,
            _ => (i as f64 * 0.013).sin() * (i % 331) as f64 + (i / 7001) as f64,
        };
        let field: Vec<T> = (0..grid.elements())
            .map(|i| T::from_f64(value(i)))
            .collect();
        let quantizer = Bound::abs(error)
            .unwrap()
            .resolve::<T>(&Extremes::default())
            .with_holes(holes);
        let executor = emulator::new();
        let memory = executor.allocate(size_of_val(&*field) as u64).unwrap();
        let view = executor.view::<u32>(&memory);
        executor.upload(bytemuck::cast_slice(&field), view).unwrap();
        let numbers: Vec<u64> = (0..tiles.tiles()).collect();
        let wanted = TilesToMeasure {
            grid: &grid,
            tiles: &tiles,
            row: Grid::new(Shape::Plane, &extents).lengths()[2],
            numbers: &numbers,
            shapes,
        };
        let mut boxes = BoxMemory::default();
        let found = measure(&executor, &mut boxes, view, &wanted, &quantizer).unwrap();
        let all = measures_on_cpu(&wanted, &quantizer, &field);
        let mut measured = 0;
        for ((found, wanted), number) in found.iter().zip(&all).zip(&numbers) {
            if let Some(found) = found {
                assert_eq!(found, wanted, "{lengths:?} {sampled} {error} tile {number}");
                measured += 1;
            }
        }
        // All but those of edges that lack a dimension.
        assert!(
            4 * measured >= all.len(),
            "{lengths:?} {sampled}: {measured}"
        );
    }

    #[test]
    fn tiles_have_the_measures_of_the_cpu() {
        let (planes, cubes) = ([Shape::Plane], [Shape::Plane, Shape::Cube]);
        for error in [0.0, 1e-3, 0.7] {
            check::<f32>(&[40_003], Shape::Line, &[Shape::Line], error);
            check::<f64>(&[9, 47, 101], Shape::Line, &[Shape::Line], error);
            check::<f64>(&[300, 130], Shape::Plane, &planes, error);
            check::<f32>(&[3, 257, 63], Shape::Plane, &planes, error);
            check::<f32>(&[33, 20, 68], Shape::Cube, &cubes, error);
            check::<f64>(&[5, 17, 65], Shape::Cube, &cubes, error);
            check::<f32>(&[2, 16, 16, 129], Shape::Cube, &cubes, error);
            check::<f64>(&[33, 20, 68], Shape::Cube, &[], error);
            check::<f32>(&[40_003], Shape::Line, &[], error);
        }
    }
}
