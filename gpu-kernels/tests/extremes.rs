//! The range search, twice on one workspace: what the first call leaves must not reach the second, and
//! the compression that follows must find its cells clear.

use ferrosz_codec::bound::Extremes;
use ferrosz_codec::container::header_words::error_term;
use ferrosz_codec::container::identity::Identity;
use ferrosz_codec::{Bound, Element};
use ferrosz_gpu_kernels::pipeline::cells;
use ferrosz_gpu_kernels::quantize::extremes::{ExtremesParams, FindExtremes};
use ferrosz_simt::emulator::Emulator;
use ferrosz_simt::{Kernel, View};

/// What cells hold that a call before has used.
const USED: u64 = 0xdead_beef;

#[repr(C, align(16))]
#[derive(Clone, Copy)]
struct Unit([u32; 4]);

/// The sum of the words of a header whose error is not known.
const HEADER_SUM: u64 = 0x0123_4567_89ab_cdef;

fn search<E: Element>(values: &[E], bound: Bound, workspace: &mut [u64], blocks: u32)
where
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
        bound: bound.value(),
        mode: u32::from(bound.mode().id()),
        header_sum: HEADER_SUM,
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
    for blocks in [1, 3] {
        let mut workspace = vec![0; cells::count(700) as usize];
        for values in fields {
            search(values, bound, &mut workspace, blocks);
            let mut extremes = Extremes::default();
            values.iter().for_each(|value| extremes.see(*value));
            let quantizer = cells::QUANTIZER as usize..cells::QUANTIZER as usize + 3;
            let wanted = bound.resolve(&extremes).to_bits();
            assert_eq!(workspace[quantizer.clone()], wanted);
            let range = cells::RANGE as usize;
            assert_eq!(workspace[range], extremes.range_down().to_bits());
            let identity = cells::IDENTITY as usize;
            let sum = HEADER_SUM.wrapping_add(error_term(wanted[0]));
            assert_eq!(workspace[identity], Identity::of_sum(sum).0);
            let own = cells::OF_EXTREMES.start as usize..cells::OF_EXTREMES.end as usize;
            for (at, cell) in workspace.iter_mut().enumerate() {
                let is_result = quantizer.contains(&at) || [range, identity].contains(&at);
                assert!(is_result || *cell == 0, "cell {at}");
                // As a compression and a decompression would leave them.
                if !own.contains(&at) {
                    *cell = USED;
                }
            }
        }
    }
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
}
