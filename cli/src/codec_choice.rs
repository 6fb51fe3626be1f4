//! Presets and codecs on the command line.

use crate::report;
use clap::Args;
use ferrosz::codec::tile;
use ferrosz::{Choice, Codec, Preset, Shape};

/// A second name of the default preset.
const AUTO: &str = "auto";

/// The preset or codec: at most one of these.
#[derive(Debug, Default, Args)]
#[group(multiple = false)]
pub struct CodingFlags {
    /// Choose the codec with the shortest stream; this is the default
    #[arg(long)]
    pub small: bool,
    /// The same among codecs without splines: about twice as fast
    #[arg(long)]
    pub balanced: bool,
    /// Choose the shortest stream of the fastest codecs, the only ones with updates
    #[arg(long)]
    pub fast: bool,
    /// Take this codec: `ferrosz codecs` lists and explains all
    #[arg(long, value_name = "NAME", value_parser = choice)]
    pub codec: Option<Choice>,
}

impl CodingFlags {
    /// Whether a preset or a codec is given.
    pub fn is_given(&self) -> bool {
        self.small || self.balanced || self.fast || self.codec.is_some()
    }

    /// The preset or codec of the flags; by default the preset `small`.
    pub fn choice(&self) -> Choice {
        let presets = [(self.fast, Preset::Fast), (self.balanced, Preset::Balanced)];
        let preset = presets.into_iter().find(|(is_asked, _)| *is_asked);
        let preset = preset.map_or(Preset::Small, |(_, preset)| preset);
        self.codec.unwrap_or(preset.into())
    }
}

/// A codec by name, or `auto`.
fn choice(name: &str) -> Result<Choice, String> {
    match name {
        AUTO => Ok(Preset::Small.into()),
        _ => named(name).map(Choice::from),
    }
}

/// A codec by name.
pub fn named(name: &str) -> Result<Codec, String> {
    name.parse().map_err(|_| {
        let names = Codec::ALL.map(Codec::name).join(", ");
        format!("'{name}' is not a codec: {names}; `ferrosz codecs` explains them")
    })
}

/// A codec and its blocks or tiles: `plain, blocks of 4 x 4 x 4`.
pub fn describe(codec: Codec, rank: u8) -> String {
    format!("{codec}, {} of {}", pieces(codec), extents(codec, rank))
}

/// The name of a codec's pieces of a field, blocks or tiles.
pub fn pieces(codec: Codec) -> &'static str {
    match codec.tiles() {
        Some(_) => "tiles",
        None => "blocks",
    }
}

/// The extents of a codec's blocks or tiles of a rank, without extents of 1.
pub fn extents(codec: Codec, rank: u8) -> String {
    let of_shape = match codec.tiles() {
        Some(_) => tile::extents,
        None => Shape::extents,
    };
    let extents = Shape::of_rank(rank).map_or([1; 3], of_shape);
    let longer: Vec<u64> = (extents.into_iter().map(u64::from))
        .filter(|length| *length > 1)
        .collect();
    report::lengths(&longer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_the_dimensions_of_their_rank() {
        let of = |codec| [1, 2, 3].map(|rank| extents(codec, rank));
        assert_eq!(of(Codec::PLAIN), ["32", "8 x 8", "4 x 4 x 4"]);
        assert_eq!(of(Codec::INTERP), ["16384", "256 x 64", "16 x 16 x 64"]);
        assert_eq!(describe(Codec::INTERP, 3), "interp, tiles of 16 x 16 x 64");
        assert_eq!(describe(Codec::PLAIN, 1), "plain, blocks of 32");
    }

    #[test]
    fn names_of_papers_are_codecs() {
        assert_eq!(choice("auto"), Ok(Preset::Small.into()));
        assert_eq!(choice("cusz-i"), Ok(Codec::INTERP_NARROW_HUFFMAN.into()));
        assert_eq!(named("interp"), Ok(Codec::INTERP));
        assert!(named("auto").is_err());
    }
}
