//! The list of kernels: the name of an entry point, and the type that is its code.

use crate::layer::compress::CompressLayers;
use crate::layer::decompress::DecompressLayers;
use crate::pass::access::{OwnScalars, OwnVectors, WarpScalars, WarpVectors};
use crate::pass::block_length::{Of32, Of64};
use crate::pass::measure::Measure;
use crate::pass::offsets::{Chained, Known, LookBack};
use crate::pass::scan::ScanLengths;
use crate::pass::write::Pass;
use ferrosz_gpu_kernels::kernels;

kernels! {
    ferrosz_pass_look_back_own_vectors_of_32<element>: |E| Pass<E, LookBack, OwnVectors, Of32>;
    ferrosz_pass_chained_own_vectors_of_32<element>: |E| Pass<E, Chained, OwnVectors, Of32>;
    ferrosz_pass_known_own_vectors_of_32<element>: |E| Pass<E, Known, OwnVectors, Of32>;
    ferrosz_pass_look_back_own_scalars_of_32<element>: |E| Pass<E, LookBack, OwnScalars, Of32>;
    ferrosz_pass_look_back_warp_vectors_of_32<element>: |E| Pass<E, LookBack, WarpVectors, Of32>;
    ferrosz_pass_look_back_warp_scalars_of_32<element>: |E| Pass<E, LookBack, WarpScalars, Of32>;
    ferrosz_pass_chained_own_scalars_of_32<element>: |E| Pass<E, Chained, OwnScalars, Of32>;
    ferrosz_pass_look_back_own_vectors_of_64<element>: |E| Pass<E, LookBack, OwnVectors, Of64>;
    ferrosz_pass_measure<element>: |E| Measure<E>;
    ferrosz_pass_scan_lengths: ScanLengths;
    ferrosz_layer_compress<element>: |E| CompressLayers<E>;
    ferrosz_layer_decompress<element>: |E| DecompressLayers<E>;
}

#[cfg(all(test, feature = "cuda"))]
mod tests {
    use super::*;
    use crate::PACKAGE;

    #[test]
    fn every_kernel_has_its_ptx_and_no_other_has() {
        let mut listed: Vec<_> = launches().iter().map(|launch| launch.name).collect();
        listed.sort_unstable();
        let packed: Vec<_> = PACKAGE.ptx.iter().map(|(name, _)| *name).collect();
        assert_eq!(packed, listed);
    }
}
