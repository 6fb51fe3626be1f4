//! The list of kernels: the name of an entry point, and the type that is its code.

use crate::kernels::collect::CollectCodes;
use crate::kernels::export::Export;
use crate::kernels::import::{ImportCodes, ImportOutliers};
use crate::kernels::recode::Recode;
use ferrosz_gpu_kernels::kernels;

kernels! {
    ferrosz_collect_codes<shape>: |S| CollectCodes<S>;
    ferrosz_export<shape, element>: |S, E| Export<E, S>;
    ferrosz_import_codes<shape>: |S| ImportCodes<S>;
    ferrosz_import_outliers<shape, element>: |S, E| ImportOutliers<E, S>;
    ferrosz_recode: Recode;
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
