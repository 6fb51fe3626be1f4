//! The toy among the methods: splines, times a factor that is fitted to the field.

use super::{Method, Splines};
use crate::PACKAGE;
use crate::predict::interp::THREADS;
use crate::predict::interp::fit::FitParams;
use crate::predict::interp::predict::begin_fill;
use crate::predict::interp::residuals::{Position, Residuals, TileSetup};
use crate::predict::interp::stages::Staged;
use crate::predict::interp::sums::SumsParams;
use crate::predict::interp::values::Values;
use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::predict::fitted::FittedKind;
use ferrosz_codec::predict::fitted::toy_fitted::{SUMS, of_sums, products, scaled};
use ferrosz_codec::predict::interp::tune::sample::Scope;
use ferrosz_codec::quantize::level::LevelQuantizer;
use ferrosz_codec::shape::StaticShape;
use ferrosz_codec::tile::code::RADIUS;
use ferrosz_simt::{Kernel, Name, Package, Thread, View, WARP};

/// The method.
#[derive(Debug, Clone, Copy)]
pub struct ToyFitted;

impl Method for ToyFitted {
    const NAME: &'static str = "ferrosz_toy_fitted";
    const KIND: FittedKind = FittedKind::ToyFitted;
    const BLOCKS: u32 = 1;
}

impl Staged for ToyFitted {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread, E: Element, S: StaticShape, R: Residuals<E>>(
        t: T,
        setup: &TileSetup,
        residuals: &R,
    ) {
        let factor = f32::from_bits(t.load(setup.coefficients, 0));
        Splines::run::<T, E, S, _>(t, setup, &Scaled { residuals, factor });
    }
}

/// Residuals of scaled predictions.
struct Scaled<'a, R> {
    residuals: &'a R,
    factor: f32,
}

impl<E: Element, R: Residuals<E>> Residuals<E> for Scaled<'_, R> {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn scope(&self) -> Scope {
        self.residuals.scope()
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn residuals<T: Thread, const N: usize>(
        &self,
        t: T,
        quantizer: &LevelQuantizer<E>,
        positions: [Position; N],
        slots: [E; N],
        predictions: [E; N],
    ) -> [E; N] {
        let predictions = predictions.map(|prediction| scaled(prediction, self.factor));
        (self.residuals).residuals(t, quantizer, positions, slots, predictions)
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn is_rare(slot: E) -> bool {
        R::is_rare(slot)
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn code_rare<T: Thread>(
        &self,
        t: T,
        quantizer: &LevelQuantizer<E>,
        position: Position,
        slot: E,
        prediction: E,
    ) -> E {
        let prediction = scaled(prediction, self.factor);
        (self.residuals).code_rare(t, quantizer, position, slot, prediction)
    }
}

/// The sums of a fit. One block of those that share a sample takes it alone.
pub struct ToySums<E, S>(PhantomData<(E, S)>);

impl<E: Element, S: StaticShape> Kernel for ToySums<E, S> {
    type Params = SumsParams;
    const NAME: &'static str =
        const { &Name::of(&["ferrosz_toy_sums", S::SHAPE.name(), E::DTYPE.name()]) }.as_str();
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = THREADS;
    const SHARED_WORDS: u32 = Values::<E, S>::SHARED.1.words();
    const RESIDENT_BLOCKS: u32 = 1;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &SumsParams) {
        let samples = params.sampled.samples::<ToyFitted>();
        let sample = params.shares.sample(t);
        let Some(number) = params.sampled.tile(t, &samples, sample) else {
            return;
        };
        if params.shares.first(t, 0) != 0 {
            return;
        }
        let tile = params.part.grid(S::SHAPE).tile(number);
        begin_fill::<T, E, S>(t, &params.part, &tile);
        let setup = TileSetup::read::<T, S>(t, params.parameters, tile, false);
        t.await_copies();
        t.barrier();
        let sum = Sum {
            error: setup.error(t),
            scope: samples.scope(),
            sums: params.sums,
        };
        Splines::run::<T, E, S, _>(t, &setup, &sum);
    }
}

/// Adds the products of each position of a tile.
struct Sum<E> {
    error: E,
    scope: Scope,
    sums: View<u64>,
}

impl<E: Element> Residuals<E> for Sum<E> {
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn scope(&self) -> Scope {
        self.scope
    }

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn residuals<T: Thread, const N: usize>(
        &self,
        t: T,
        quantizer: &LevelQuantizer<E>,
        positions: [Position; N],
        slots: [E; N],
        predictions: [E; N],
    ) -> [E; N] {
        for i in (0..N).filter(|i| positions[*i].is_own) {
            let products = products(predictions[i], slots[i], quantizer.inverse);
            for (number, product) in (0..).zip(products) {
                t.atomic_add(self.sums, number, product);
            }
        }
        let all = quantizer.encode_all(slots, predictions, self.error, RADIUS);
        all.map(|quantized| quantized.known)
    }
}

/// The factor that follows from the sums, 1 from sums of 0. Launched with one block.
pub struct ToyFit;

impl Kernel for ToyFit {
    type Params = FitParams;
    const NAME: &'static str = "ferrosz_toy_fit";
    const PACKAGE: Package = PACKAGE;
    const THREADS: u32 = WARP;
    const SHARED_WORDS: u32 = 0;
    const RESIDENT_BLOCKS: u32 = 1;

    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    fn run<T: Thread>(t: T, params: &FitParams) {
        if t.lane() == 0 {
            let sums: [u64; SUMS] = core::array::from_fn(|i| t.atomic_load(params.sums, i as u64));
            t.store(params.coefficients, 0, of_sums(sums).to_bits());
        }
    }
}
