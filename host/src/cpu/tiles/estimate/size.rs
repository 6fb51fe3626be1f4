//! The size of a stream of tiles, from the codes and exceptions that a predictor leaves of a sample.

use crate::cpu::tiles::estimate::codes::coarse_bytes;
use crate::cpu::tiles::estimate::weigh::Clusters;
use crate::cpu::tiles::estimate::{CHUNK_BYTES, Predicted, TileSample};
use crate::error::Error;
use ferrosz_codec::code::entropy::frequency_tables::FrequencyTables;
use ferrosz_codec::container::table::ENTRY_BYTES;
use ferrosz_codec::container::tiles::{Sections, TileLayout};
use ferrosz_codec::predict::interp::resolved::Resolved;
use ferrosz_codec::{Element, with_tile_coder};

/// The size of a stream, as far as a sample tells, for chunks of any length.
pub(crate) struct Estimate<'a> {
    clusters: &'a Clusters,
    /// The share of the tiles that have codes.
    coded: u128,
    /// The bytes of their codes.
    fine: u128,
    /// Whether a chunk with codes has the states of a coder.
    has_heads: bool,
    /// The bytes of the prologue, and of the codes of the coarse field.
    fixed: u128,
    /// The most bytes of the codes and the states.
    raw: u128,
}

impl Estimate<'_> {
    /// The bytes of chunk table and payload of a layout, which may have another length of chunks than that of the estimate.
    pub(crate) fn bytes(&self, layout: &TileLayout) -> u128 {
        let chunks = u128::from(layout.fine_chunks());
        let coded = self.clusters.chunks(chunks, self.coded, layout.chunk);
        let heads = u128::from(self.has_heads) * coded * CHUNK_BYTES;
        let table = u128::from(layout.entries()) * ENTRY_BYTES as u128;
        let coarse_heads = u128::from(layout.coarse_chunks()) * CHUNK_BYTES;
        table + self.fixed + coarse_heads + (self.fine + heads).min(self.raw)
    }
}

impl<T: Element> TileSample<T> {
    /// The predicted sizes of chunk table and payload with any length of chunks, if `yardstick` is a better prediction than
    /// [`TileSample::yardstick`].
    ///
    /// # Errors
    ///
    /// [`Error::NotChosen`] if the predictor has not predicted the sample; [`Error::OutOfMemory`].
    pub(crate) fn estimate(
        &self,
        layout: &TileLayout,
        yardstick: u128,
    ) -> Result<Estimate<'_>, Error> {
        let predicted = self.predicted.get(&self.predicted_by(layout));
        self.estimate_of(predicted.ok_or(Error::NotChosen)?, layout, yardstick)
    }

    pub(super) fn estimate_of(
        &self,
        predicted: &Predicted<T>,
        layout: &TileLayout,
        yardstick: u128,
    ) -> Result<Estimate<'_>, Error> {
        let Predicted { tally, anchors, .. } = predicted;
        let frequencies = tally.frequencies(layout.codec.coder, layout);
        let fine = match &frequencies {
            Some(frequencies) => tally.bits::<T>(frequencies) / 8,
            None => predicted.plane_bytes(layout, &self.tiles)?,
        };
        let prologue = prologue_bytes(layout, predicted.resolved.as_ref(), frequencies.as_ref());
        Ok(Estimate {
            clusters: &self.clusters,
            coded: tally.share_of_coded(),
            fine: self.scaled(fine, yardstick),
            has_heads: frequencies.is_some(),
            fixed: prologue + coarse_bytes::<T>(layout, anchors),
            raw: u128::from(layout.fine.elements()) * T::BYTES as u128,
        })
    }
}

/// The bytes of the prologue.
fn prologue_bytes<T: Element>(
    layout: &TileLayout,
    resolved: Option<&Resolved<T>>,
    frequencies: Option<&FrequencyTables>,
) -> u128 {
    let words = frequencies.map_or(
        0,
        |frequencies| with_tile_coder!(layout.codec.coder, C => frequencies.words::<C>(), 0),
    );
    let flag_bits = resolved.map_or(0, |resolved| resolved.parameters.flag_bits());
    let coefficients = layout.coefficients(flag_bits);
    Sections::new(layout, words, coefficients, T::DTYPE).bytes() as u128
}
