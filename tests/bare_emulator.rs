//! The kernels of streams without header on the emulator, against the digests of all vectors.

#![cfg(feature = "emulator")]

mod common;

use common::bare::{AATROX, CUSZP, aatrox_fault, cuszp_fault};
use common::vectors;
use ferrosz::Device;

#[test]
fn all_vectors_of_cuszp_agree() {
    for case in vectors::parse(CUSZP) {
        assert_eq!(cuszp_fault(&case, Device::Emulator), None, "{case:?}");
    }
}

#[test]
fn all_vectors_of_aatrox_agree() {
    for case in vectors::parse(AATROX) {
        assert_eq!(aatrox_fault(&case, Device::Emulator), None, "{case:?}");
    }
}
