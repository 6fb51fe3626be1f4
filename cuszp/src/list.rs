//! The list of kernels: the name of an entry point, and the type that is its code.

use crate::kernels::compress::BareCompress;
use crate::kernels::decompress::BareDecompress;
use crate::kernels::read::BareRead;
use crate::kernels::write::BareWrite;
use ferrosz_gpu_kernels::kernels;

kernels! {
    ferrosz_bare_compress<shape, element>: |S, E| BareCompress<E, S>;
    ferrosz_bare_decompress<shape, element>: |S, E| BareDecompress<E, S>;
    ferrosz_bare_read<shape, element>: |S, E| BareRead<E, S>;
    ferrosz_bare_write<shape, element>: |S, E| BareWrite<E, S>;
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
