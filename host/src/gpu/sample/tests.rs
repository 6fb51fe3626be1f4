//! Weights, sizes and predictions of sampled tiles by kernels are those of the CPU.

use super::*;
use crate::cpu::tiles::{bits_on_cpu, measures_on_cpu};
use crate::gpu::executor::emulator;
use crate::sampled_field::{PredictBy, TuningOnTiles, can_be_sized};
use ferrosz_codec::bound::{Bound, Extremes};
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::container::layout::Layout;
use ferrosz_codec::container::tiles::TileLayout;
use ferrosz_codec::mapping::axes::Axes;
use ferrosz_codec::predict::interp::resolved::Resolved;
use ferrosz_codec::predict::interp::tune::search::Search;
use ferrosz_codec::shape::Shape;
use ferrosz_codec::{Codec, Preference, with_element};

/// A field on the emulator and here.
struct Case<T> {
    extents: Extents,
    grid: Grid,
    tiles: TileGrid,
    quantizer: Quantizer<T>,
    holes: Holes,
    field: Vec<T>,
}

const ALL_HOLES: [Holes; 3] = [Holes::None, Holes::Missing, Holes::WithZeros];

impl<T: Element> Case<T> {
    /// A field with four axes has slices. Some values have no code; some are holes: single ones, rows, and the beginning of
    /// tiles.
    fn new(lengths: &[u64], shape: Shape, error: f64, holes: Holes) -> Self {
        let has_holes = holes != Holes::None;
        let extents = Extents::new(lengths).unwrap();
        let axes = (lengths.len() == 4).then(|| "s,z,y,x".parse::<Axes>().unwrap());
        let extents = axes.map_or(extents, |axes| axes.coded_extents(&extents).unwrap());
        let grid = Grid::new(shape, &extents);
        let row = lengths[lengths.len() - 1];
        let value = |i: u64| match i % 5003 {
            0..=16 if has_holes => f64::NAN,
            _ if has_holes && i % 16_384 < 700 => f64::NAN,
            300..=900 if holes == Holes::WithZeros => 0.0,
            17 => f64::INFINITY,
            18 => 1e30,
            19 => f64::NAN,
            _ if i % 16_384 < 900 => 2.0,
            _ => {
                let (y, x) = ((i / row) as f64, (i % row) as f64);
                (x * 0.05).sin() * (y * 0.03).cos() + (i * 7919 % 101) as f64 * 1e-3
            }
        };
        let bound = Bound::abs(error).unwrap();
        Self {
            extents,
            grid,
            tiles: TileGrid::sliced(grid.shape(), grid.slices(), grid.slice_lengths()),
            quantizer: bound.resolve(&Extremes::default()).with_holes(has_holes),
            holes,
            field: (0..grid.elements())
                .map(|i| T::from_f64(value(i)))
                .collect(),
        }
    }

    /// What kernels on the emulator do with the field.
    fn on_emulator<R>(&self, work: impl FnOnce(&mut dyn SampleKernels<T>) -> R) -> R {
        let executor = emulator::new();
        let memory = executor.allocate(size_of_val(&*self.field) as u64).unwrap();
        let field = executor.view::<u32>(&memory);
        executor
            .upload(bytemuck::cast_slice(&self.field), field)
            .unwrap();
        work(&mut FieldOnMachine {
            executor: &executor,
            field,
            memory: &mut BoxMemory::default(),
            weighed: Vec::new(),
        })
    }

    /// All tiles, in two parts.
    fn check_weights(&self) {
        let row = Grid::new(Shape::Plane, &self.extents).lengths()[2];
        let of = |numbers: Vec<u64>| TilesToWeigh {
            zeros_are_holes: self.holes == Holes::WithZeros,
            tiles: self.tiles,
            row,
            numbers,
        };
        let (even, odd) = (0..self.tiles.tiles()).partition(|number| number % 2 == 0);
        let wanted = [of(even), of(odd)];
        let found = self.on_emulator(|kernels| kernels.weigh(&wanted, &self.quantizer));
        let on_cpu = |wanted| bits_on_cpu(&self.grid, wanted, &self.quantizer, &self.field);
        let all: Vec<_> = wanted.iter().map(on_cpu).collect();
        assert_eq!(found.unwrap(), all, "{:?}", self.extents);
    }

    /// All tiles that kernels can size.
    fn to_size(&self, shapes: &[Shape]) -> SampleToMeasure<T> {
        let can_be_sized = |number: &u64| {
            let tile = self.tiles.tile(*number);
            let place = ChunkBox {
                origin: tile.origin,
                extents: tile.extents(self.tiles.shape()),
            };
            shapes.iter().all(|shape| can_be_sized(&place, *shape))
        };
        let sized: Vec<u64> = (0..self.tiles.tiles()).filter(can_be_sized).collect();
        assert!(4 * sized.len() as u64 >= self.tiles.tiles());
        SampleToMeasure {
            holes: self.holes,
            grid: self.grid,
            tiles: self.tiles,
            sized,
            shapes: shapes.to_vec(),
            taken: Vec::new(),
            predictions: Vec::new(),
        }
    }

    /// All ways of all predictors on some tiles.
    fn to_predict(&self) -> SampleToMeasure<T> {
        let shape = self.tiles.shape();
        let mut predictions = Vec::new();
        for codec in [
            Codec::LORENZO_RANS,
            Codec::INTERP,
            Codec::INTERP_SQUARE,
            Codec::INTERP_NARROW_HUFFMAN,
            Codec::STENCIL,
            Codec::SLICES,
        ] {
            let layout = Layout::new(codec, shape, self.extents);
            if layout.codec == codec && layout.shape == shape {
                let ways = self.ways(&layout.tiles().unwrap());
                predictions.extend(ways);
            }
        }
        let taken = (0..self.tiles.tiles()).filter(|number| number % 3 != 1);
        SampleToMeasure {
            taken: taken.map(|number| [number, 16 + 5 * number]).collect(),
            predictions,
            ..self.to_size(&[])
        }
    }

    fn ways(&self, layout: &TileLayout) -> Vec<(TileLayout, PredictBy<T>)> {
        let Some(tuning) = (layout.codec.predictor).tuning(Preference::Ratio.tightening()) else {
            return vec![(*layout, PredictBy::Lorenzo)];
        };
        let all = self.tiles.tiles();
        let fitted: Vec<u64> = (0..all).step_by(2).collect();
        let scored: Vec<u64> = fitted.iter().copied().step_by(2).collect();
        let search = Search::new(tuning, layout.shape(), scored.len() as u64, all);
        let start = Resolved::new(search.start(0.0), self.quantizer.error());
        let tuning = TuningOnTiles {
            search,
            fitted,
            scored,
        };
        vec![
            (*layout, PredictBy::Given(start)),
            (*layout, PredictBy::Tuned(tuning)),
        ]
    }

    /// Samples at once, and then the first alone in the same memory, which has other contents then.
    fn check_measures(&self, wanted: &[SampleToMeasure<T>]) {
        let on_cpu = |wanted| measures_on_cpu(wanted, &self.quantizer, &self.field).unwrap();
        let all: Vec<_> = wanted.iter().map(on_cpu).collect();
        self.on_emulator(|kernels| {
            for count in [wanted.len(), 1] {
                let found = kernels.measure(&wanted[..count], &self.quantizer).unwrap();
                assert_eq!(found, all[..count], "{:?}", self.extents);
                let leavings = found.iter().flat_map(|found| &found.leavings);
                for leavings in leavings {
                    assert!(leavings.coded > 0 && leavings.planes.iter().any(|it| *it > 0));
                }
            }
        });
    }
}

#[test]
fn tiles_weigh_as_much_as_on_the_cpu() {
    for (error, holes) in [0.0, 0.7]
        .into_iter()
        .flat_map(|error| ALL_HOLES.map(|it| (error, it)))
    {
        Case::<f32>::new(&[40_003], Shape::Line, error, holes).check_weights();
        Case::<f64>::new(&[9, 47, 101], Shape::Line, error, holes).check_weights();
        Case::<f64>::new(&[300, 130], Shape::Plane, error, holes).check_weights();
        Case::<f32>::new(&[3, 257, 63], Shape::Plane, error, holes).check_weights();
        Case::<f64>::new(&[33, 20, 68], Shape::Cube, error, holes).check_weights();
        Case::<f32>::new(&[2, 16, 16, 129], Shape::Cube, error, holes).check_weights();
    }
}

#[test]
fn tiles_have_the_sizes_of_the_cpu() {
    let (planes, cubes) = ([Shape::Plane], [Shape::Plane, Shape::Cube]);
    let check = |lengths: &[u64], sampled, shapes: &[Shape]| {
        for (dtype, error) in [(0, 0.0), (0, 0.7), (1, 1e-3)] {
            let dtype = ferrosz_codec::Dtype::ALL[dtype];
            with_element!(dtype, E => for holes in ALL_HOLES {
                let case = Case::<E>::new(lengths, sampled, error, holes);
                case.check_measures(&[case.to_size(shapes)]);
            });
        }
    };
    check(&[40_003], Shape::Line, &[Shape::Line]);
    check(&[9, 47, 101], Shape::Line, &[Shape::Line]);
    check(&[300, 130], Shape::Plane, &planes);
    check(&[3, 257, 63], Shape::Plane, &planes);
    check(&[33, 20, 68], Shape::Cube, &cubes);
    check(&[5, 17, 65], Shape::Cube, &cubes);
    check(&[2, 16, 16, 129], Shape::Cube, &cubes);
}

#[test]
fn predictions_leave_what_those_of_the_cpu_do() {
    fn check<T: Element>(lengths: &[u64], shape: Shape, error: f64) {
        for holes in ALL_HOLES {
            let case = Case::<T>::new(lengths, shape, error, holes);
            let all = case.to_predict();
            let lorenzo = SampleToMeasure {
                predictions: all.predictions[..1].to_vec(),
                ..case.to_size(&[shape])
            };
            let lorenzo = SampleToMeasure {
                taken: all.taken.clone(),
                ..lorenzo
            };
            case.check_measures(&[lorenzo, all]);
        }
    }
    check::<f32>(&[50_003], Shape::Line, 0.02);
    check::<f64>(&[70, 530], Shape::Plane, 1e-3);
    check::<f32>(&[2, 70, 63], Shape::Plane, 0.0);
    check::<f32>(&[17, 20, 130], Shape::Cube, 1e-3);
    check::<f64>(&[2, 20, 16, 70], Shape::Cube, 0.02);
}
