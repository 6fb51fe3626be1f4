//! The kernels on the emulator, against the streams and values of the CPU, and a plain sum.

use crate::common::{ERROR, Work, field, run};
use ferrosz_codec::Element;
use ferrosz_cuszp::Shape;
use ferrosz_cuszp::aatrox;
use ferrosz_cuszp::cuszp::{self, Mode, Params, Quantizer};
use ferrosz_gpu_kernels::pipeline::cells;
use ferrosz_lab_kernels::job::{LayerVariant, PassVariant};
use ferrosz_lab_kernels::layer::LayerParams;
use ferrosz_lab_kernels::layer::compress::CompressLayers;
use ferrosz_lab_kernels::long_blocks::{assemble, encode};
use ferrosz_lab_kernels::pass::access::OwnVectors;
use ferrosz_lab_kernels::pass::block_length::Of32;
use ferrosz_lab_kernels::pass::offsets::Chained;
use ferrosz_lab_kernels::pass::scan::ScanLengths;
use ferrosz_lab_kernels::pass::write::Pass;
use ferrosz_lab_kernels::pass::{LAYER_TILES, PassParams};
use ferrosz_simt::View;
use ferrosz_simt::emulator::{BlockOrder, Emulator};

fn plain_stream<T: Element>(values: &[T]) -> Vec<u8> {
    let dims = [1, 1, values.len() as u64];
    let params = Params::new(Shape::Line, Mode::Plain, dims, T::from_f64(ERROR));
    cuszp::reference::compress(&params, values).expect("compresses")
}

fn every_pass_makes_the_stream_of_the_cpu<T: Element>(seed: u64, layers: usize, bits: u32) {
    let values: Vec<T> = field(seed, layers, bits);
    let of_32 = plain_stream(&values);
    let quantizer = Quantizer::new(T::from_f64(ERROR));
    let of_64 = assemble(&[encode::<T, 2>(&quantizer, Mode::Plain, &values)]);
    for variant in PassVariant::ALL {
        let expected = match variant {
            PassVariant::Of64 => &of_64,
            _ => &of_32,
        };
        let found = run(&values, Work::Pass(variant));
        assert!(
            found == *expected,
            "{variant:?}, {} with {bits} bits",
            T::DTYPE
        );
    }
}

#[test]
fn every_pass_of_f32_makes_the_stream_of_the_cpu() {
    every_pass_makes_the_stream_of_the_cpu::<f32>(1, 2, 12);
    every_pass_makes_the_stream_of_the_cpu::<f32>(2, 1, 40);
}

#[test]
fn every_pass_of_f64_makes_the_stream_of_the_cpu() {
    every_pass_makes_the_stream_of_the_cpu::<f64>(3, 2, 33);
}

fn layers_are_those_of_the_cpu<T: Element>(seed: u64, layers: usize, bits: u32) {
    let values: Vec<T> = field(seed, layers, bits);
    let elements = values.len() as u64;
    let error = T::from_f64(ERROR);
    let params = aatrox::Params { elements, error };
    let stream = aatrox::reference::compress(&params, &values).expect("compresses");
    let decoded = aatrox::reference::decompress(&params, &stream).expect("decompresses");
    let decoded: &[u8] = bytemuck::cast_slice(&decoded);
    for variant in LayerVariant::ALL {
        let found = run(&values, Work::Compress(variant));
        assert!(
            found == stream,
            "{variant:?}, {} with {bits} bits",
            T::DTYPE
        );
        // Bytes behind a stream in its last word are zeros.
        let padded = [&stream[..], &[0; 3]].concat();
        let found = run(&values, Work::Decompress(variant, &padded));
        assert!(
            found == decoded,
            "{variant:?}, {} with {bits} bits",
            T::DTYPE
        );
    }
}

#[test]
fn layers_of_both_types_are_those_of_the_cpu() {
    layers_are_those_of_the_cpu::<f32>(4, 3, 14);
    layers_are_those_of_the_cpu::<f32>(5, 1, 40);
    layers_are_those_of_the_cpu::<f64>(6, 2, 34);
}

#[test]
fn many_lengths_are_summed_as_by_a_loop() {
    for tiles in [1u32, 4095, 4096, 4097, 10_000] {
        let first = cells::STATES as usize;
        let mut memory = vec![u64::MAX; first + 2 * tiles as usize];
        let lengths = |tile: u64| tile * 7919 % 33_000;
        let (_, behind) = memory.split_at_mut(first + tiles as usize);
        for (cell, tile) in behind.iter_mut().zip(0..) {
            *cell = lengths(tile);
        }
        let params = PassParams {
            elements: View::empty(),
            stream: View::empty(),
            cells: view(&mut memory),
            tiles,
            payload_start: 0,
            quantizer: [0; 2],
        };
        Emulator::new()
            .launch::<ScanLengths>(1, &params)
            .expect("runs");
        let mut sum = 0;
        for (cell, tile) in memory[first..][..tiles as usize].iter().zip(0..) {
            assert_eq!(*cell, sum, "tile {tile} of {tiles}");
            sum += lengths(tile);
        }
    }
}

/// A view of memory that outlives its use, which is that of one launch.
fn view<W>(items: &mut [W]) -> View<W> {
    // SAFETY: the tests keep the memory until the launch has ended, and do not touch it before.
    unsafe { View::new(items.as_mut_ptr(), items.len() as u64) }
}

/// Words in units of 16 bytes.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Unit([u32; 4]);

/// A view of units as words, as of [`view`].
fn words(units: &mut [Unit]) -> View<u32> {
    // SAFETY: as in `view`; a unit is four words.
    unsafe { View::new(units.as_mut_ptr().cast(), 4 * units.len() as u64) }
}

fn units(bytes: &[u8]) -> Vec<Unit> {
    let words: &[u32] = bytemuck::cast_slice(bytes);
    words
        .as_chunks()
        .0
        .iter()
        .map(|words| Unit(*words))
        .collect()
}

/// The first bytes of units.
fn bytes_of(units: &[Unit], length: usize) -> Vec<u8> {
    let bytes = units
        .iter()
        .flat_map(|unit| unit.0)
        .flat_map(u32::to_le_bytes);
    bytes.take(length).collect()
}

#[test]
fn blocks_may_start_in_any_order() {
    let values: Vec<f32> = field(7, 2, 10);
    let params = aatrox::Params {
        elements: values.len() as u64,
        error: ERROR as f32,
    };
    let layers_expected = aatrox::reference::compress(&params, &values).expect("compresses");
    let pass_expected = plain_stream(&values);
    let Quantizer { inverse, error } = Quantizer::new(ERROR as f32);
    let quantizer = [inverse.to_bits64(), error.to_bits64()];
    for order in [BlockOrder::Descending, BlockOrder::Shuffled] {
        let emulator = Emulator::new().block_order(order).resident_blocks(3);
        let mut elements = units(bytemuck::cast_slice(&values));
        let mut stream = vec![Unit([0xa5a5_a5a5; 4]); elements.len() + 400];
        let tiles = 2 * LAYER_TILES as u32;
        let mut memory = vec![0u64; cells::STATES as usize + 2 * tiles as usize];
        let params = PassParams {
            elements: words(&mut elements),
            stream: words(&mut stream),
            cells: view(&mut memory),
            tiles,
            payload_start: values.len() as u64 / 32,
            quantizer,
        };
        let launched = emulator.launch::<Pass<f32, Chained, OwnVectors, Of32>>(tiles, &params);
        launched.expect("runs");
        assert!(
            bytes_of(&stream, pass_expected.len()) == pass_expected,
            "{order:?}"
        );
        memory.fill(0);
        let params = LayerParams {
            elements: words(&mut elements),
            stream: words(&mut stream),
            cells: view(&mut memory),
            layers: 2,
            quantizer,
        };
        let launched = emulator.launch::<CompressLayers<f32>>(2, &params);
        launched.expect("runs");
        assert!(
            bytes_of(&stream, layers_expected.len()) == layers_expected,
            "{order:?}"
        );
    }
}
