//! What the codes of a sample say of those of the field.

use crate::cpu::Version;
use crate::cpu::code::zones::ZoneMap;
use crate::cpu::tiles::coder;
use crate::cpu::tiles::codes::apart;
use crate::cpu::tiles::estimate::sample::SampleTile;
use crate::cpu::tiles::estimate::weigh::{ONE, WEIGHT_BITS};
use crate::parallel;
use crate::sampled_field::SymbolCounts;
use ferrosz_codec::Element;
use ferrosz_codec::code::entropy::class::CONTEXTS;
use ferrosz_codec::code::entropy::counts::{Counts, is_sample};
use ferrosz_codec::code::entropy::frequency_tables::FrequencyTables;
use ferrosz_codec::code::entropy::token::{ESCAPE, PRECISION, TOKENS, Token};
use ferrosz_codec::container::tiles::TileLayout;
use ferrosz_codec::pipeline::TileCoder;
use ferrosz_codec::predict::interp::tune::cost::{COST_BITS, log2};
use ferrosz_codec::tile::code::TileCodes;

/// The symbols of a field, as far as a sample tells.
pub(super) struct Tally {
    /// How often each symbol occurs in the field, without those that only have to be there; with [`WEIGHT_BITS`].
    pub(super) counts: Box<SymbolCounts>,
    /// The weights of the sample's tiles that have codes.
    pub(super) coded: u64,
    /// The weights of all of its tiles.
    all: u128,
}

impl Tally {
    pub(super) fn of<T: Element>(
        map: &ZoneMap,
        sample: &[SampleTile<T>],
        codes: &[TileCodes],
    ) -> Self {
        let of_tile = |(tile, codes): (&SampleTile<T>, &TileCodes)| {
            let mut counts = Box::<Counts>::default();
            apart(|| map.count(Version::best(), &tile.tile, codes, &mut counts));
            counts
        };
        let of_tiles = parallel::map(sample.iter().zip(codes), of_tile);
        let mut counts = Box::new([[0; TOKENS as usize]; CONTEXTS as usize]);
        let mut coded = 0;
        for (tile, of_tile) in sample.iter().zip(of_tiles) {
            let own = of_tile.0.as_flattened();
            for (count, own) in counts.as_flattened_mut().iter_mut().zip(own) {
                *count += u64::from(*own) * tile.weight;
            }
            let is_coded = of_tile.0[0].iter().any(|count| *count > 0);
            coded += u64::from(is_coded) * tile.weight;
        }
        Self::counted(counts, coded, sample)
    }

    /// Of these counts, and of the weights of those tiles of a sample that have codes.
    pub(super) fn counted<T>(
        counts: Box<SymbolCounts>,
        coded: u64,
        sample: &[SampleTile<T>],
    ) -> Self {
        let all: u128 = sample.iter().map(|tile| u128::from(tile.weight)).sum();
        Self { counts, coded, all }
    }

    /// The share of the field's tiles that have codes, of [`ONE`].
    pub(super) fn share_of_coded(&self) -> u128 {
        ONE * u128::from(self.coded) / self.all.max(1)
    }

    /// The frequencies that a coder gives to the symbols.
    pub(super) fn frequencies(
        &self,
        coder: TileCoder,
        layout: &TileLayout,
    ) -> Option<FrequencyTables> {
        coder::frequencies(coder, || {
            let most = self
                .counts
                .as_flattened()
                .iter()
                .copied()
                .max()
                .unwrap_or(0);
            let shift =
                WEIGHT_BITS.max((u64::BITS - most.leading_zeros()).saturating_sub(u32::BITS));
            // What occurs must have a frequency.
            let count = |count: u64| ((count >> shift) as u32).max(u32::from(count > 0));
            let mut counts = Counts(self.counts.map(|counts| counts.map(count)));
            counts.complete(is_sample(layout.fine.runs()));
            counts
        })
    }

    /// The bits of the field's symbols and values with these frequencies.
    pub(super) fn bits<T: Element>(&self, frequencies: &FrequencyTables) -> u128 {
        let mut bits = 0;
        for (context, counts) in self.counts.iter().enumerate() {
            let frequencies = &frequencies.contexts()[context];
            for (symbol, count) in (0..).zip(counts).filter(|(_, count)| **count > 0) {
                let frequency = u32::from(frequencies[symbol as usize]);
                let of_symbol = u64::from(PRECISION << COST_BITS) - log2(frequency);
                let behind_it = match (context, symbol) {
                    (0, _) => 0,
                    // Most of them stand for a value.
                    (_, ESCAPE) => Token::bits(ESCAPE) + 8 * T::BYTES as u32,
                    (_, symbol) => Token::bits(symbol),
                };
                let each = of_symbol + u64::from(behind_it << COST_BITS);
                bits += u128::from(*count) * u128::from(each);
            }
        }
        bits >> (COST_BITS + WEIGHT_BITS)
    }
}
