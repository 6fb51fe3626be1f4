//! The reference and the CPU backend against digests of streams that other programs made.

use crate::common::bare::{CUSZP, cuszp_fault};
use crate::common::vectors::{self, Case};
use ferrosz_cuszp::Device;

fn fault_of(case: &Case) -> Option<&'static str> {
    cuszp_fault(case, Device::Cpu)
}

#[test]
fn all_vectors_agree() {
    let cases = vectors::parse(CUSZP);
    assert!(cases.len() >= 2000);
    for case in &cases {
        assert_eq!(fault_of(case), None, "{case:?}");
    }
    let decoded = cases.iter().filter(|case| case.decoded.is_some()).count();
    println!("{} streams, {decoded} arrays", cases.len());
}

#[test]
fn the_comparison_goes_red() {
    let cases = vectors::parse(CUSZP);
    let is_long_walk = |case: &&Case| case.kind == "walk" && case.bytes > 1500;
    let good = cases.iter().find(is_long_walk).expect("a case");
    assert_eq!(fault_of(good), None);
    let mut digit = good.stream.clone();
    digit.replace_range(15.., if digit.ends_with('0') { "1" } else { "0" });
    let spoiled = [
        Case {
            bound: good.bound + (1 << 18),
            ..good.clone()
        },
        Case {
            seed: good.seed + 1,
            ..good.clone()
        },
        Case {
            bytes: good.bytes + 1,
            ..good.clone()
        },
        Case {
            stream: digit.clone(),
            ..good.clone()
        },
        Case {
            decoded: Some(digit),
            ..good.clone()
        },
    ];
    for case in spoiled {
        assert!(fault_of(&case).is_some(), "{case:?}");
    }
}
