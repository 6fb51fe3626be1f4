//! The one list of kernels: the name of an entry point, and the type that is its code.

use crate::bare::BareParams;
use crate::bare::compress::BareCompress;
use crate::bare::decompress::BareDecompress;
use crate::code::bit_planes::decode::DecodePlanes;
use crate::code::bit_planes::measure::{Measure, MeasureParams};
use crate::code::bit_planes::words::PlaneWords;
use crate::code::entropy;
use crate::code::entropy::decode::Decode;
use crate::code::entropy::decode_tables::{self, ReadTables, ReadTablesParams};
use crate::code::entropy::encode::{Encode, EncodeParams};
use crate::code::entropy::statistics::{Statistics, StatisticsParams};
use crate::code::entropy::tables::{self, MakeTables, TablesParams};
use crate::code::entropy::words::StateWords;
use crate::pipeline::blocks::CHUNK_THREADS;
use crate::pipeline::blocks::compress::{Compress, CompressParams};
use crate::pipeline::blocks::decompress::{Decompress, DecompressParams};
use crate::pipeline::tiles::place::{Place, PlaceParams};
use crate::pipeline::tiles::prologue;
use crate::pipeline::tiles::prologue::finish::{Finish, FinishParams};
use crate::pipeline::tiles::prologue::gather::{Gather, GatherParams};
use crate::pipeline::tiles::prologue::read::{ReadPrologue, ReadPrologueParams};
use crate::pipeline::tiles::prologue::write::{WritePrologue, WritePrologueParams};
use crate::pipeline::tiles::target::DecodeParams;
use crate::predict::interp::predict::Predict;
use crate::predict::interp::prepare::{self, Prepare, PrepareParams};
use crate::predict::interp::reconstruct::Reconstruct;
use crate::predict::interp::scores::{Scores, ScoresParams};
use crate::predict::interp::{self, InterpParams};
use crate::predict::tile_lorenzo::predict::Predict as LorenzoPredict;
use crate::predict::tile_lorenzo::reconstruct::Reconstruct as LorenzoReconstruct;
use crate::predict::tile_lorenzo::{self, LorenzoParams};
use crate::primitives::put::{self, Put, PutParams};
use crate::primitives::read_all::{self, ReadAll, ReadAllParams};
use crate::quantize::extremes::{self, ExtremesParams, FindExtremes};
use crate::stages::export::{self, Export, ExportParams};
use crate::stages::import::{
    self, ImportCodes, ImportCodesParams, ImportOutliers, ImportOutliersParams,
};
use ferrosz_codec::code::entropy::states::{Huffman, Rans};
use ferrosz_codec::pipeline::{Fixed, Layered, Lorenzo, Outlier, Plain};
use ferrosz_codec::shape::{Cube, Line, Plane};
#[cfg(feature = "emulator")]
use ferrosz_simt::emulator::EmulatorThread;
use ferrosz_simt::{Kernel, Launch, Thread};

// A PTX entry point must be a function of its own with a name of its own, which generic code
// cannot make; so this is a macro, and it holds nothing but the mapping.
macro_rules! kernels {
    ($($name:ident = $kernel:ty, $params:ty, $threads:expr;)*) => {
        /// All kernels.
        pub const LAUNCHES: &[Launch] = &[$(Launch::of::<$kernel>()),*];

        $(impl Kernel for $kernel {
            type Params = $params;
            const NAME: &'static str = stringify!($name);
            const THREADS: u32 = $threads;
            const SHARED_WORDS: u32 = <$kernel>::SHARED_WORDS;
            const RESIDENT_BLOCKS: u32 = <$kernel>::RESIDENT_BLOCKS;

            #[inline(always)]
            fn run<T: Thread>(thread: T, params: &Self::Params) {
                <$kernel>::run(thread, params);
            }

            #[cfg(feature = "emulator")]
            #[inline(never)]
            fn emulate(thread: EmulatorThread<'_>, params: &Self::Params) {
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
                    <$kernel>::run(ferrosz_simt::ptx::PtxThread, &params);
                }
            )*
        }
    };
}

kernels! {
    ferrosz_compress_fixed_line_f32 = Compress<f32, Fixed, Line>, CompressParams, CHUNK_THREADS;
    ferrosz_compress_fixed_line_f64 = Compress<f64, Fixed, Line>, CompressParams, CHUNK_THREADS;
    ferrosz_compress_plain_line_f32 = Compress<f32, Plain, Line>, CompressParams, CHUNK_THREADS;
    ferrosz_compress_plain_line_f64 = Compress<f64, Plain, Line>, CompressParams, CHUNK_THREADS;
    ferrosz_compress_outlier_line_f32 = Compress<f32, Outlier, Line>, CompressParams, CHUNK_THREADS;
    ferrosz_compress_outlier_line_f64 = Compress<f64, Outlier, Line>, CompressParams, CHUNK_THREADS;
    ferrosz_compress_layered_line_f32 = Compress<f32, Layered, Line>, CompressParams, CHUNK_THREADS;
    ferrosz_compress_layered_line_f64 = Compress<f64, Layered, Line>, CompressParams, CHUNK_THREADS;
    ferrosz_compress_fixed_plane_f32 = Compress<f32, Fixed, Plane>, CompressParams, CHUNK_THREADS;
    ferrosz_compress_fixed_plane_f64 = Compress<f64, Fixed, Plane>, CompressParams, CHUNK_THREADS;
    ferrosz_compress_plain_plane_f32 = Compress<f32, Plain, Plane>, CompressParams, CHUNK_THREADS;
    ferrosz_compress_plain_plane_f64 = Compress<f64, Plain, Plane>, CompressParams, CHUNK_THREADS;
    ferrosz_compress_outlier_plane_f32 = Compress<f32, Outlier, Plane>, CompressParams, CHUNK_THREADS;
    ferrosz_compress_outlier_plane_f64 = Compress<f64, Outlier, Plane>, CompressParams, CHUNK_THREADS;
    ferrosz_compress_lorenzo_plane_f32 = Compress<f32, Lorenzo, Plane>, CompressParams, CHUNK_THREADS;
    ferrosz_compress_lorenzo_plane_f64 = Compress<f64, Lorenzo, Plane>, CompressParams, CHUNK_THREADS;
    ferrosz_compress_fixed_cube_f32 = Compress<f32, Fixed, Cube>, CompressParams, CHUNK_THREADS;
    ferrosz_compress_fixed_cube_f64 = Compress<f64, Fixed, Cube>, CompressParams, CHUNK_THREADS;
    ferrosz_compress_plain_cube_f32 = Compress<f32, Plain, Cube>, CompressParams, CHUNK_THREADS;
    ferrosz_compress_plain_cube_f64 = Compress<f64, Plain, Cube>, CompressParams, CHUNK_THREADS;
    ferrosz_compress_outlier_cube_f32 = Compress<f32, Outlier, Cube>, CompressParams, CHUNK_THREADS;
    ferrosz_compress_outlier_cube_f64 = Compress<f64, Outlier, Cube>, CompressParams, CHUNK_THREADS;
    ferrosz_compress_lorenzo_cube_f32 = Compress<f32, Lorenzo, Cube>, CompressParams, CHUNK_THREADS;
    ferrosz_compress_lorenzo_cube_f64 = Compress<f64, Lorenzo, Cube>, CompressParams, CHUNK_THREADS;
    ferrosz_decompress_line_f32 = Decompress<f32, Line>, DecompressParams, CHUNK_THREADS;
    ferrosz_decompress_line_f64 = Decompress<f64, Line>, DecompressParams, CHUNK_THREADS;
    ferrosz_decompress_plane_f32 = Decompress<f32, Plane>, DecompressParams, CHUNK_THREADS;
    ferrosz_decompress_plane_f64 = Decompress<f64, Plane>, DecompressParams, CHUNK_THREADS;
    ferrosz_decompress_cube_f32 = Decompress<f32, Cube>, DecompressParams, CHUNK_THREADS;
    ferrosz_decompress_cube_f64 = Decompress<f64, Cube>, DecompressParams, CHUNK_THREADS;
    ferrosz_bare_compress_line_f32 = BareCompress<f32, Line>, BareParams, CHUNK_THREADS;
    ferrosz_bare_compress_line_f64 = BareCompress<f64, Line>, BareParams, CHUNK_THREADS;
    ferrosz_bare_compress_plane_f32 = BareCompress<f32, Plane>, BareParams, CHUNK_THREADS;
    ferrosz_bare_compress_plane_f64 = BareCompress<f64, Plane>, BareParams, CHUNK_THREADS;
    ferrosz_bare_compress_cube_f32 = BareCompress<f32, Cube>, BareParams, CHUNK_THREADS;
    ferrosz_bare_compress_cube_f64 = BareCompress<f64, Cube>, BareParams, CHUNK_THREADS;
    ferrosz_bare_decompress_line_f32 = BareDecompress<f32, Line>, BareParams, CHUNK_THREADS;
    ferrosz_bare_decompress_line_f64 = BareDecompress<f64, Line>, BareParams, CHUNK_THREADS;
    ferrosz_bare_decompress_plane_f32 = BareDecompress<f32, Plane>, BareParams, CHUNK_THREADS;
    ferrosz_bare_decompress_plane_f64 = BareDecompress<f64, Plane>, BareParams, CHUNK_THREADS;
    ferrosz_bare_decompress_cube_f32 = BareDecompress<f32, Cube>, BareParams, CHUNK_THREADS;
    ferrosz_bare_decompress_cube_f64 = BareDecompress<f64, Cube>, BareParams, CHUNK_THREADS;
    ferrosz_interp_predict_line_f32 = Predict<f32, Line>, InterpParams, interp::THREADS;
    ferrosz_interp_predict_line_f64 = Predict<f64, Line>, InterpParams, interp::THREADS;
    ferrosz_interp_predict_plane_f32 = Predict<f32, Plane>, InterpParams, interp::THREADS;
    ferrosz_interp_predict_plane_f64 = Predict<f64, Plane>, InterpParams, interp::THREADS;
    ferrosz_interp_predict_cube_f32 = Predict<f32, Cube>, InterpParams, interp::THREADS;
    ferrosz_interp_predict_cube_f64 = Predict<f64, Cube>, InterpParams, interp::THREADS;
    ferrosz_interp_reconstruct_line_f32 = Reconstruct<f32, Line>, InterpParams, interp::THREADS;
    ferrosz_interp_reconstruct_line_f64 = Reconstruct<f64, Line>, InterpParams, interp::THREADS;
    ferrosz_interp_reconstruct_plane_f32 = Reconstruct<f32, Plane>, InterpParams, interp::THREADS;
    ferrosz_interp_reconstruct_plane_f64 = Reconstruct<f64, Plane>, InterpParams, interp::THREADS;
    ferrosz_interp_reconstruct_cube_f32 = Reconstruct<f32, Cube>, InterpParams, interp::THREADS;
    ferrosz_interp_reconstruct_cube_f64 = Reconstruct<f64, Cube>, InterpParams, interp::THREADS;
    ferrosz_interp_scores_line_f32 = Scores<f32, Line>, ScoresParams, interp::THREADS;
    ferrosz_interp_scores_line_f64 = Scores<f64, Line>, ScoresParams, interp::THREADS;
    ferrosz_interp_scores_plane_f32 = Scores<f32, Plane>, ScoresParams, interp::THREADS;
    ferrosz_interp_scores_plane_f64 = Scores<f64, Plane>, ScoresParams, interp::THREADS;
    ferrosz_interp_scores_cube_f32 = Scores<f32, Cube>, ScoresParams, interp::THREADS;
    ferrosz_interp_scores_cube_f64 = Scores<f64, Cube>, ScoresParams, interp::THREADS;
    ferrosz_interp_prepare_f32 = Prepare<f32>, PrepareParams, prepare::THREADS;
    ferrosz_interp_prepare_f64 = Prepare<f64>, PrepareParams, prepare::THREADS;
    ferrosz_export_line_f32 = Export<f32, Line>, ExportParams, export::THREADS;
    ferrosz_export_line_f64 = Export<f64, Line>, ExportParams, export::THREADS;
    ferrosz_export_plane_f32 = Export<f32, Plane>, ExportParams, export::THREADS;
    ferrosz_export_plane_f64 = Export<f64, Plane>, ExportParams, export::THREADS;
    ferrosz_export_cube_f32 = Export<f32, Cube>, ExportParams, export::THREADS;
    ferrosz_export_cube_f64 = Export<f64, Cube>, ExportParams, export::THREADS;
    ferrosz_import_codes_line = ImportCodes<Line>, ImportCodesParams, import::THREADS;
    ferrosz_import_codes_plane = ImportCodes<Plane>, ImportCodesParams, import::THREADS;
    ferrosz_import_codes_cube = ImportCodes<Cube>, ImportCodesParams, import::THREADS;
    ferrosz_import_outliers_line_f32 = ImportOutliers<f32, Line>, ImportOutliersParams, import::THREADS;
    ferrosz_import_outliers_line_f64 = ImportOutliers<f64, Line>, ImportOutliersParams, import::THREADS;
    ferrosz_import_outliers_plane_f32 = ImportOutliers<f32, Plane>, ImportOutliersParams, import::THREADS;
    ferrosz_import_outliers_plane_f64 = ImportOutliers<f64, Plane>, ImportOutliersParams, import::THREADS;
    ferrosz_import_outliers_cube_f32 = ImportOutliers<f32, Cube>, ImportOutliersParams, import::THREADS;
    ferrosz_import_outliers_cube_f64 = ImportOutliers<f64, Cube>, ImportOutliersParams, import::THREADS;
    ferrosz_lorenzo_predict_line_f32 = LorenzoPredict<f32, Line>, LorenzoParams, tile_lorenzo::THREADS;
    ferrosz_lorenzo_predict_line_f64 = LorenzoPredict<f64, Line>, LorenzoParams, tile_lorenzo::THREADS;
    ferrosz_lorenzo_predict_plane_f32 = LorenzoPredict<f32, Plane>, LorenzoParams, tile_lorenzo::THREADS;
    ferrosz_lorenzo_predict_plane_f64 = LorenzoPredict<f64, Plane>, LorenzoParams, tile_lorenzo::THREADS;
    ferrosz_lorenzo_predict_cube_f32 = LorenzoPredict<f32, Cube>, LorenzoParams, tile_lorenzo::THREADS;
    ferrosz_lorenzo_predict_cube_f64 = LorenzoPredict<f64, Cube>, LorenzoParams, tile_lorenzo::THREADS;
    ferrosz_lorenzo_reconstruct_line_f32 = LorenzoReconstruct<f32, Line>, LorenzoParams, tile_lorenzo::THREADS;
    ferrosz_lorenzo_reconstruct_line_f64 = LorenzoReconstruct<f64, Line>, LorenzoParams, tile_lorenzo::THREADS;
    ferrosz_lorenzo_reconstruct_plane_f32 = LorenzoReconstruct<f32, Plane>, LorenzoParams, tile_lorenzo::THREADS;
    ferrosz_lorenzo_reconstruct_plane_f64 = LorenzoReconstruct<f64, Plane>, LorenzoParams, tile_lorenzo::THREADS;
    ferrosz_lorenzo_reconstruct_cube_f32 = LorenzoReconstruct<f32, Cube>, LorenzoParams, tile_lorenzo::THREADS;
    ferrosz_lorenzo_reconstruct_cube_f64 = LorenzoReconstruct<f64, Cube>, LorenzoParams, tile_lorenzo::THREADS;
    ferrosz_prologue_write = WritePrologue, WritePrologueParams, prologue::THREADS;
    ferrosz_prologue_read_f32 = ReadPrologue<f32>, ReadPrologueParams, prologue::THREADS;
    ferrosz_prologue_read_f64 = ReadPrologue<f64>, ReadPrologueParams, prologue::THREADS;
    ferrosz_gather_f32 = Gather<f32>, GatherParams, prologue::THREADS;
    ferrosz_gather_f64 = Gather<f64>, GatherParams, prologue::THREADS;
    ferrosz_finish = Finish, FinishParams, prologue::THREADS;
    ferrosz_extremes_f32 = FindExtremes<f32>, ExtremesParams, extremes::THREADS;
    ferrosz_extremes_f64 = FindExtremes<f64>, ExtremesParams, extremes::THREADS;
    ferrosz_entropy_tables_rans = MakeTables<Rans>, TablesParams, tables::THREADS;
    ferrosz_entropy_tables_huffman = MakeTables<Huffman>, TablesParams, tables::THREADS;
    ferrosz_entropy_decode_tables_rans = ReadTables<Rans>, ReadTablesParams, decode_tables::THREADS;
    ferrosz_entropy_decode_tables_huffman = ReadTables<Huffman>, ReadTablesParams, decode_tables::THREADS;
    ferrosz_entropy_place = Place<StateWords>, PlaceParams, entropy::THREADS;
    ferrosz_entropy_statistics_line = Statistics<Line>, StatisticsParams, entropy::THREADS;
    ferrosz_entropy_encode_rans_line = Encode<Rans, Line>, EncodeParams, entropy::THREADS;
    ferrosz_entropy_decode_rans_line = Decode<Rans, Line>, DecodeParams, entropy::THREADS;
    ferrosz_entropy_encode_huffman_line = Encode<Huffman, Line>, EncodeParams, entropy::THREADS;
    ferrosz_entropy_decode_huffman_line = Decode<Huffman, Line>, DecodeParams, entropy::THREADS;
    ferrosz_entropy_statistics_plane = Statistics<Plane>, StatisticsParams, entropy::THREADS;
    ferrosz_entropy_encode_rans_plane = Encode<Rans, Plane>, EncodeParams, entropy::THREADS;
    ferrosz_entropy_decode_rans_plane = Decode<Rans, Plane>, DecodeParams, entropy::THREADS;
    ferrosz_entropy_encode_huffman_plane = Encode<Huffman, Plane>, EncodeParams, entropy::THREADS;
    ferrosz_entropy_decode_huffman_plane = Decode<Huffman, Plane>, DecodeParams, entropy::THREADS;
    ferrosz_entropy_statistics_cube = Statistics<Cube>, StatisticsParams, entropy::THREADS;
    ferrosz_entropy_encode_rans_cube = Encode<Rans, Cube>, EncodeParams, entropy::THREADS;
    ferrosz_entropy_decode_rans_cube = Decode<Rans, Cube>, DecodeParams, entropy::THREADS;
    ferrosz_entropy_encode_huffman_cube = Encode<Huffman, Cube>, EncodeParams, entropy::THREADS;
    ferrosz_entropy_decode_huffman_cube = Decode<Huffman, Cube>, DecodeParams, entropy::THREADS;
    ferrosz_entropy_planes_measure = Measure, MeasureParams, entropy::THREADS;
    ferrosz_entropy_planes_place = Place<PlaneWords>, PlaceParams, entropy::THREADS;
    ferrosz_entropy_planes_decode_line = DecodePlanes<Line>, DecodeParams, entropy::THREADS;
    ferrosz_entropy_planes_decode_plane = DecodePlanes<Plane>, DecodeParams, entropy::THREADS;
    ferrosz_entropy_planes_decode_cube = DecodePlanes<Cube>, DecodeParams, entropy::THREADS;
    ferrosz_put = Put, PutParams, put::THREADS;
    ferrosz_read_all = ReadAll, ReadAllParams, read_all::THREADS;
}
