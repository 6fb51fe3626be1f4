//! `FindExtremes`, which searches the range and counts zeros and negative values, launched twice on one workspace. The
//! second launch must not see cells of the first, and the compression that follows must find its cells clear.

use ferrosz_codec::bound::Extremes;
use ferrosz_codec::container::header_words::error_term;
use ferrosz_codec::container::identity::Identity;
use ferrosz_codec::{Bound, Element};
use ferrosz_gpu_kernels::pipeline::cells;
use ferrosz_gpu_kernels::quantize::extremes::{ExtremesParams, FindExtremes, NO_BOUND};
use ferrosz_simt::emulator::Emulator;
use ferrosz_simt::{Kernel, View};
use std::collections::HashMap;

/// What cells hold that a call before has used.
const USED: u64 = 0xdead_beef;

#[repr(C, align(16))]
#[derive(Clone, Copy)]
struct Unit([u32; 4]);

/// The sum of the words of a header whose error is not known.
const HEADER_SUM: u64 = 0x0123_4567_89ab_cdef;

fn search<E: Element>(
    values: &[E],
    bound: Option<Bound>,
    census: bool,
    workspace: &mut [u64],
    blocks: u32,
) where
    FindExtremes<E>: Kernel<Params = ExtremesParams>,
{
    let words: Vec<u32> = (values.iter())
        .flat_map(|value| value.to_words().into_iter().take(E::WORDS))
        .collect();
    let mut units = vec![Unit([0; 4]); words.len().div_ceil(4)];
    for (at, word) in words.iter().enumerate() {
        units[at / 4].0[at % 4] = *word;
    }
    let params = ExtremesParams {
        // SAFETY: the units outlive the launch and hold as many words.
        input: unsafe { View::new(units.as_mut_ptr().cast(), words.len() as u64) },
        elements: values.len() as u64,
        // SAFETY: the cells outlive the launch.
        cells: unsafe { View::new(workspace.as_mut_ptr(), workspace.len() as u64) },
        bound: bound.unwrap_or_default().value(),
        mode: bound.map_or(NO_BOUND, |bound| bound.mode().id().into()),
        header_sum: HEADER_SUM,
        census: census.into(),
    };
    let emulator = Emulator::new().seed(values.len() as u64);
    emulator
        .launch::<FindExtremes<E>>(blocks, &params)
        .expect("no fault");
}

fn twice<E: Element>(fields: [&[E]; 2])
where
    FindExtremes<E>: Kernel<Params = ExtremesParams>,
{
    let bound = Bound::range(1e-3).expect("a good bound");
    let cases = [Some(bound), None].map(|bound| [false, true].map(|census| (bound, census)));
    for blocks in [1, 3] {
        let mut workspace = vec![0; cells::count(700) as usize];
        for (values, (bound, census)) in (fields.iter())
            .flat_map(|values| cases.as_flattened().iter().map(move |case| (values, *case)))
        {
            search(values, bound, census, &mut workspace, blocks);
            let wanted = wanted(values, bound, census);
            for (at, cell) in workspace.iter_mut().enumerate() {
                let is_resolved = (cells::QUANTIZER..cells::IDENTITY + 1).contains(&(at as u64));
                let is_own = cells::OF_EXTREMES.contains(&(at as u64))
                    || cells::OF_CENSUS.contains(&(at as u64));
                // A launch without a bound keeps the error that the launch before has resolved.
                if bound.is_some() || !is_resolved {
                    let found = wanted.get(&(at as u64)).copied().unwrap_or_default();
                    assert_eq!(*cell, found, "cell {at} {bound:?} {census}");
                }
                // As a compression and a decompression would leave them.
                if !is_own {
                    *cell = USED;
                }
            }
        }
    }
}

/// The cells that are not 0 behind a search.
fn wanted<E: Element>(values: &[E], bound: Option<Bound>, census: bool) -> HashMap<u64, u64> {
    let (mut extremes, mut counts) = (Extremes::default(), [0; 3]);
    for value in values {
        extremes.see(*value);
        let (is_finite, value) = (value.is_finite(), value.to_f64());
        counts[0] += u64::from(is_finite);
        counts[1] += u64::from(value == 0.0);
        counts[2] += u64::from(is_finite && value < 0.0);
    }
    let mut cells: HashMap<u64, u64> = (cells::SEEN_EXTREMES..).zip(extremes.to_cells()).collect();
    if census {
        cells.extend((cells::SEEN_CENSUS..).zip(counts));
    }
    if let Some(bound) = bound {
        let quantizer = bound.resolve(&extremes).to_bits();
        let sum = HEADER_SUM.wrapping_add(error_term(quantizer[0]));
        cells.extend((cells::QUANTIZER..).zip(quantizer));
        cells.insert(cells::RANGE, extremes.range_down().to_bits());
        cells.insert(cells::IDENTITY, Identity::of_sum(sum).0);
    }
    cells
}

#[test]
fn nothing_of_a_call_reaches_the_next() {
    let wide: Vec<f32> = (0..5001).map(|i| (i as f32 - 2500.0) * 3.0).collect();
    let narrow = [f32::NAN, 0.25, f32::NEG_INFINITY, 0.5, f32::INFINITY];
    twice([&wide, &narrow]);
    let wide: Vec<f64> = wide.iter().map(|value| f64::from(*value)).collect();
    let narrow = narrow.map(f64::from);
    twice([&wide, &narrow]);
    twice::<f32>([&[f32::NAN; 9], &[1.0, 2.0]]);
    // Zeros of both signs would be equal extremes.
    let edges = [
        -3.0,
        5.0,
        0.0,
        -0.0,
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        -1e-45,
        1e-45,
    ];
    let edge = |i: usize| edges[(i * i / 3 + i) % edges.len()];
    let of = |count| -> Vec<f32> { (0..count).map(edge).collect() };
    for [first, second] in [[1, 3], [4, 255], [5001, 20_000]] {
        twice([&of(first), &of(second)]);
    }
}
