use super::*;
use crate::compress::Compressor;
use crate::parts::decomposition::Decomposition;
use crate::peers::Threads;
use ferrosz_codec::{Bound, Codec};
use std::io::empty;

#[test]
fn values_are_sent_in_rounds_of_some_bytes() {
    // Member 0 has the last rows, so that both need all values of their slabs.
    let field: Vec<f32> = (0..60_000).map(|i| i as f32).collect();
    let compressor = Compressor::new(Codec::PLAIN, Bound::abs(0.5).expect("a bound"));
    let compressor = compressor.extents(&[600, 100]).expect("extents");
    let layout = compressor.layout_for(60_000).expect("a layout");
    let found = Threads::run(2, empty(), |group| {
        let rows = [300..600, 0..300][group.rank()].clone();
        let values = &field[100 * rows.start as usize..100 * rows.end as usize];
        let decomposition = Decomposition::gather(group, &[600, 100], &[rows, 0..100])?;
        let held = Held {
            decomposition: &decomposition,
            rank: group.rank(),
            values,
            own: None,
        };
        let gpu = of_member(Device::Emulator, group.rank())?;
        let member = Member::new(group, gpu, &layout)?;
        let member = member.expect("two slabs");
        let slab = &member.slabs[group.rank()];
        assert!(kept(&held, &slab.elements).is_empty());
        let values = member.fetch(group, &held, slab.elements.start, 4096)?;
        let wanted = &field[slab.elements.start as usize..slab.elements.end as usize];
        assert!(values == wanted);
        Ok(())
    });
    assert_eq!(found, [Ok(()), Ok(())]);
}

#[test]
fn the_error_of_one_gpu_is_an_error_of_all() {
    for fails_after in 0..3 {
        let found = Threads::run(3, empty(), |group| {
            let result = together(group, |group| {
                for call in 0..3 {
                    if group.rank() == 1 && call == fails_after {
                        return Err(Error::OutOfMemory { bytes: 7 });
                    }
                    group.sum(&mut [1, 2])?;
                }
                Ok(())
            });
            // All members are at the same call.
            let mut ranks = [group.rank() as u64];
            group.sum(&mut ranks)?;
            assert_eq!(ranks, [3]);
            group.barrier()?;
            Ok(result)
        });
        for (rank, result) in found.into_iter().enumerate() {
            match (rank, result.expect("a working group")) {
                (1, result) => assert_eq!(result, Err(Error::OutOfMemory { bytes: 7 })),
                (_, result) => assert!(matches!(result, Err(Error::Group { .. })), "{result:?}"),
            }
        }
    }
}
