//! Kernels of tiles by type, shape and coder.
//!
//! The kernels are generic over these, but an executor finds them by name, and only those of the list have one: here
//! the one becomes the other.

use crate::error::Error;
use crate::gpu::executor::Executor;
use ferrosz_codec::code::entropy::states::{Huffman, Rans, SymbolCoder};
use ferrosz_codec::pipeline::TileCoder;
use ferrosz_codec::shape::{Cube, Line, Plane, StaticShape};
use ferrosz_codec::{Dtype, Element, Shape};
use ferrosz_gpu_kernels::code::entropy::decode::Decode;
use ferrosz_gpu_kernels::code::entropy::decode_tables::{ReadTables, ReadTablesParams};
use ferrosz_gpu_kernels::code::entropy::encode::{Encode, EncodeParams};
use ferrosz_gpu_kernels::code::entropy::tables::{MakeTables, TablesParams};
use ferrosz_gpu_kernels::pipeline::tiles::target::DecodeParams;
use ferrosz_gpu_kernels::predict::interp::InterpParams;
use ferrosz_gpu_kernels::predict::interp::predict::Predict;
use ferrosz_gpu_kernels::predict::interp::reconstruct::Reconstruct;
use ferrosz_gpu_kernels::predict::interp::scores::{Scores, ScoresParams};
use ferrosz_gpu_kernels::predict::tile_lorenzo::LorenzoParams;
use ferrosz_gpu_kernels::predict::tile_lorenzo::predict::Predict as LorenzoPredict;
use ferrosz_gpu_kernels::predict::tile_lorenzo::reconstruct::Reconstruct as LorenzoReconstruct;
use ferrosz_gpu_kernels::stages::export::{Export, ExportParams};
use ferrosz_gpu_kernels::stages::import::{
    ImportCodes, ImportCodesParams, ImportOutliers, ImportOutliersParams,
};
use ferrosz_simt::Kernel;

/// A kernel of a predictor, with its parameters.
pub(crate) enum TileKernels {
    Predict(InterpParams),
    Reconstruct(InterpParams),
    Scores(ScoresParams),
    Export(ExportParams),
    ImportCodes(ImportCodesParams),
    ImportOutliers(ImportOutliersParams),
    LorenzoPredict(LorenzoParams),
    LorenzoReconstruct(LorenzoParams),
}

impl TileKernels {
    /// Launches it for an element type and a shape.
    fn launch<E: Executor, T: Element, S: StaticShape>(
        &self,
        executor: &E,
        blocks: u32,
    ) -> Result<(), Error>
    where
        Predict<T, S>: Kernel<Params = InterpParams>,
        Reconstruct<T, S>: Kernel<Params = InterpParams>,
        Scores<T, S>: Kernel<Params = ScoresParams>,
        Export<T, S>: Kernel<Params = ExportParams>,
        ImportCodes<S>: Kernel<Params = ImportCodesParams>,
        ImportOutliers<T, S>: Kernel<Params = ImportOutliersParams>,
        LorenzoPredict<T, S>: Kernel<Params = LorenzoParams>,
        LorenzoReconstruct<T, S>: Kernel<Params = LorenzoParams>,
    {
        match self {
            Self::Predict(params) => executor.launch::<Predict<T, S>>(blocks, params),
            Self::Reconstruct(params) => executor.launch::<Reconstruct<T, S>>(blocks, params),
            Self::Scores(params) => executor.launch::<Scores<T, S>>(blocks, params),
            Self::Export(params) => executor.launch::<Export<T, S>>(blocks, params),
            Self::ImportCodes(params) => executor.launch::<ImportCodes<S>>(blocks, params),
            Self::ImportOutliers(params) => executor.launch::<ImportOutliers<T, S>>(blocks, params),
            Self::LorenzoPredict(params) => executor.launch::<LorenzoPredict<T, S>>(blocks, params),
            Self::LorenzoReconstruct(params) => {
                executor.launch::<LorenzoReconstruct<T, S>>(blocks, params)
            }
        }
    }
}

/// A kernel of a coder, with its parameters.
pub(super) enum CoderKernels {
    Tables(TablesParams),
    Encode(EncodeParams),
    ReadTables(ReadTablesParams),
    Decode(DecodeParams),
}

/// Launches a kernel of a predictor.
pub(crate) fn launch_of_tiles<E: Executor>(
    executor: &E,
    dtype: Dtype,
    shape: Shape,
    blocks: u32,
    kernel: &TileKernels,
) -> Result<(), Error> {
    match (dtype, shape) {
        (Dtype::F32, Shape::Line) => kernel.launch::<E, f32, Line>(executor, blocks),
        (Dtype::F32, Shape::Plane) => kernel.launch::<E, f32, Plane>(executor, blocks),
        (Dtype::F32, Shape::Cube) => kernel.launch::<E, f32, Cube>(executor, blocks),
        (Dtype::F64, Shape::Line) => kernel.launch::<E, f64, Line>(executor, blocks),
        (Dtype::F64, Shape::Plane) => kernel.launch::<E, f64, Plane>(executor, blocks),
        (Dtype::F64, Shape::Cube) => kernel.launch::<E, f64, Cube>(executor, blocks),
    }
}

/// Launches a kernel of a coder.
pub(super) fn launch_of_coder<E: Executor>(
    executor: &E,
    coder: TileCoder,
    shape: Shape,
    blocks: u32,
    kernel: &CoderKernels,
) -> Result<(), Error> {
    match (coder, shape) {
        (TileCoder::Rans, Shape::Line) => {
            launch_of_states::<E, Rans, Line>(executor, blocks, kernel)
        }
        (TileCoder::Rans, Shape::Plane) => {
            launch_of_states::<E, Rans, Plane>(executor, blocks, kernel)
        }
        (TileCoder::Rans, Shape::Cube) => {
            launch_of_states::<E, Rans, Cube>(executor, blocks, kernel)
        }
        (_, Shape::Line) => launch_of_states::<E, Huffman, Line>(executor, blocks, kernel),
        (_, Shape::Plane) => launch_of_states::<E, Huffman, Plane>(executor, blocks, kernel),
        (_, Shape::Cube) => launch_of_states::<E, Huffman, Cube>(executor, blocks, kernel),
    }
}

fn launch_of_states<E: Executor, C: SymbolCoder, S: StaticShape>(
    executor: &E,
    blocks: u32,
    kernel: &CoderKernels,
) -> Result<(), Error>
where
    MakeTables<C>: Kernel<Params = TablesParams>,
    ReadTables<C>: Kernel<Params = ReadTablesParams>,
    Encode<C, S>: Kernel<Params = EncodeParams>,
    Decode<C, S>: Kernel<Params = DecodeParams>,
{
    match kernel {
        CoderKernels::Tables(params) => executor.launch::<MakeTables<C>>(blocks, params),
        CoderKernels::Encode(params) => executor.launch::<Encode<C, S>>(blocks, params),
        CoderKernels::ReadTables(params) => executor.launch::<ReadTables<C>>(blocks, params),
        CoderKernels::Decode(params) => executor.launch::<Decode<C, S>>(blocks, params),
    }
}
