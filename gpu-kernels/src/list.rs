//! The list of kernels: the name of an entry point, and the type that is its code.

use crate::code::bit_planes::decode::DecodePlanes;
use crate::code::bit_planes::measure::Measure;
use crate::code::bit_planes::words::PlaneWords;
use crate::code::entropy::decode::Decode;
use crate::code::entropy::decode_tables::ReadTables;
use crate::code::entropy::encode::Encode;
use crate::code::entropy::statistics::Statistics;
use crate::code::entropy::tables::MakeTables;
use crate::code::entropy::words::StateWords;
use crate::kernels;
use crate::pipeline::blocks::compress::Compress;
use crate::pipeline::blocks::decompress::Decompress;
use crate::pipeline::tiles::place::Place;
use crate::pipeline::tiles::prologue::finish::Finish;
use crate::pipeline::tiles::prologue::gather::Gather;
use crate::pipeline::tiles::prologue::read::ReadPrologue;
use crate::pipeline::tiles::prologue::write::WritePrologue;
use crate::predict::interp::predict::Predict as InterpPredict;
use crate::predict::interp::prepare::Prepare;
use crate::predict::interp::reconstruct::Reconstruct as InterpReconstruct;
use crate::predict::interp::scores::Scores;
use crate::predict::tile_lorenzo::predict::Predict as LorenzoPredict;
use crate::predict::tile_lorenzo::reconstruct::Reconstruct as LorenzoReconstruct;
use crate::primitives::put::Put;
use crate::primitives::read_all::ReadAll;
use crate::quantize::extremes::FindExtremes;

kernels! {
    ferrosz_compress<codec, shape, element>: |C, S, E| Compress<E, C, S>;
    ferrosz_decompress<shape, element>: |S, E| Decompress<E, S>;
    ferrosz_interp_predict<shape, element>: |S, E| InterpPredict<E, S>;
    ferrosz_interp_reconstruct<shape, element>: |S, E| InterpReconstruct<E, S>;
    ferrosz_interp_scores<shape, element>: |S, E| Scores<E, S>;
    ferrosz_interp_prepare<element>: |E| Prepare<E>;
    ferrosz_lorenzo_predict<shape, element>: |S, E| LorenzoPredict<E, S>;
    ferrosz_lorenzo_reconstruct<shape, element>: |S, E| LorenzoReconstruct<E, S>;
    ferrosz_prologue_write: WritePrologue;
    ferrosz_prologue_read<element>: |E| ReadPrologue<E>;
    ferrosz_gather<element>: |E| Gather<E>;
    ferrosz_finish: Finish;
    ferrosz_extremes<element>: |E| FindExtremes<E>;
    ferrosz_entropy_tables<coder>: |C| MakeTables<C>;
    ferrosz_entropy_decode_tables<coder>: |C| ReadTables<C>;
    ferrosz_entropy_place: Place<StateWords>;
    ferrosz_entropy_statistics<shape>: |S| Statistics<S>;
    ferrosz_entropy_encode<coder, shape>: |C, S| Encode<C, S>;
    ferrosz_entropy_decode<coder, shape>: |C, S| Decode<C, S>;
    ferrosz_entropy_planes_measure: Measure;
    ferrosz_entropy_planes_place: Place<PlaneWords>;
    ferrosz_entropy_planes_decode<shape>: |S| DecodePlanes<S>;
    ferrosz_put: Put;
    ferrosz_read_all: ReadAll;
}
