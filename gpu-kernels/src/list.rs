//! The one list of kernels: the name of an entry point, and the type that is its code.

use crate::kernel::CHUNK_THREADS;
use crate::kernel::compress::{Compress, CompressParams};
use crate::kernel::decompress::{Decompress, DecompressParams};
use crate::kernel::extremes::{self, ExtremesParams, FindExtremes};
use crate::simt::{Kernel, Thread};
use ferrosz_codec::pipeline::{Fixed, Outlier, Plain};

// A PTX entry point must be a function of its own with a name of its own, which generic code
// cannot make; so this is a macro, and it holds nothing but the mapping.
macro_rules! kernels {
    ($($name:ident = $kernel:ty, $params:ty, $threads:expr;)*) => {
        /// The names of all entry points.
        pub const NAMES: &[&str] = &[$(stringify!($name)),*];

        $(impl Kernel for $kernel {
            type Params = $params;
            const NAME: &'static str = stringify!($name);
            const THREADS: u32 = $threads;
            const SHARED_WORDS: u32 = <$kernel>::SHARED_WORDS;

            #[inline(always)]
            fn run<T: Thread>(thread: T, params: &Self::Params) {
                <$kernel>::run(thread, params);
            }
        })*

        #[cfg(target_arch = "nvptx64")]
        mod entries {
            use super::*;

            $(
                // SAFETY: the names are prefixed and appear once, in this list.
                #[unsafe(no_mangle)]
                unsafe extern "ptx-kernel" fn $name(params: $params) {
                    <$kernel>::run(crate::simt::ptx::PtxThread, &params);
                }
            )*
        }
    };
}

kernels! {
    ferrosz_compress_fixed_f32 = Compress<f32, Fixed>, CompressParams, CHUNK_THREADS;
    ferrosz_compress_fixed_f64 = Compress<f64, Fixed>, CompressParams, CHUNK_THREADS;
    ferrosz_compress_plain_f32 = Compress<f32, Plain>, CompressParams, CHUNK_THREADS;
    ferrosz_compress_plain_f64 = Compress<f64, Plain>, CompressParams, CHUNK_THREADS;
    ferrosz_compress_outlier_f32 = Compress<f32, Outlier>, CompressParams, CHUNK_THREADS;
    ferrosz_compress_outlier_f64 = Compress<f64, Outlier>, CompressParams, CHUNK_THREADS;
    ferrosz_decompress_f32 = Decompress<f32>, DecompressParams, CHUNK_THREADS;
    ferrosz_decompress_f64 = Decompress<f64>, DecompressParams, CHUNK_THREADS;
    ferrosz_extremes_f32 = FindExtremes<f32>, ExtremesParams, extremes::THREADS;
    ferrosz_extremes_f64 = FindExtremes<f64>, ExtremesParams, extremes::THREADS;
}
