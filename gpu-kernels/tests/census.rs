//! The census of a field, with any number of blocks.

use ferrosz_codec::Element;
use ferrosz_codec::mapping::census::Census;
use ferrosz_gpu_kernels::quantize::census::{CELLS, CensusParams, TakeCensus};
use ferrosz_simt::emulator::Emulator;
use ferrosz_simt::{Kernel, View};

#[repr(C, align(16))]
#[derive(Clone, Copy)]
struct Unit([u32; 4]);

fn census<E: Element>(values: &[E], blocks: u32) -> Census
where
    TakeCensus<E>: Kernel<Params = CensusParams>,
{
    let words = values
        .iter()
        .flat_map(|value| value.to_words().into_iter().take(E::WORDS));
    let words: Vec<u32> = words.collect();
    let mut units = vec![Unit([0; 4]); words.len().div_ceil(4)];
    for (at, word) in words.iter().enumerate() {
        units[at / 4].0[at % 4] = *word;
    }
    let mut counts = [0u64; CELLS as usize];
    let params = CensusParams {
        // SAFETY: the units outlive the launch and hold as many words.
        input: unsafe { View::new(units.as_mut_ptr().cast(), words.len() as u64) },
        elements: values.len() as u64,
        // SAFETY: the counts outlive the launch.
        counts: unsafe { View::new(counts.as_mut_ptr(), CELLS) },
    };
    let emulator = Emulator::new().seed(values.len() as u64);
    emulator
        .launch::<TakeCensus<E>>(blocks, &params)
        .expect("no fault");
    let [present, zeros, negatives] = counts;
    Census {
        present,
        zeros,
        negatives,
    }
}

#[test]
fn it_is_that_of_the_values_one_by_one() {
    let edges = [
        0.0,
        -0.0,
        f32::NAN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        -1e-45,
        1e-45,
        -3.0,
    ];
    for count in [1, 3, 4, 255, 5001] {
        let values: Vec<f32> = (0..count)
            .map(|i: usize| edges[(i * i / 3 + i) % edges.len()])
            .collect();
        let finite = values.iter().filter(|value| value.is_finite());
        let wanted = Census {
            present: finite.clone().count() as u64,
            zeros: values.iter().filter(|value| **value == 0.0).count() as u64,
            negatives: finite.filter(|value| **value < 0.0).count() as u64,
        };
        let wide: Vec<f64> = values.iter().map(|value| f64::from(*value)).collect();
        for blocks in [1, 3] {
            assert_eq!(census(&values, blocks), wanted, "{count}");
            assert_eq!(census(&wide, blocks), wanted, "{count}");
        }
    }
}
