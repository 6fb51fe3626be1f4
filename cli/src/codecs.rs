//! `ferrosz codecs`: presets and codecs, and the purpose of each.

use crate::{args::Codecs, common::Common, failure::Failure, output, papers};
use ferrosz::codec::pipeline::LIST;
use ferrosz::{Codec, Preset};
use serde_json::{Value, json};
use std::fmt::Write as _;

const PRESETS: [(Preset, &str); 3] = [
    (
        Preset::Small,
        "the shortest stream of all codecs; the default",
    ),
    (
        Preset::Balanced,
        "the shortest of all codecs without splines: about twice as fast",
    ),
    (
        Preset::Fast,
        "the shortest of the codecs of blocks, the fastest; only their streams can be updated",
    ),
];

fn aliases(of: Codec) -> Vec<&'static str> {
    let aliases = Codec::ALIASES.into_iter();
    let own = aliases.filter(|(_, codec)| *codec == of);
    own.map(|(alias, _)| alias).collect()
}

/// The presets that may choose a codec.
fn presets(codec: Codec) -> Vec<&'static str> {
    let may = |preset: &Preset| preset.codecs().contains(&codec);
    let presets = Preset::ALL.into_iter().filter(may);
    presets.map(Preset::name).collect()
}

/// Lists presets and codecs, or the names of papers.
///
/// # Errors
///
/// If they cannot be printed.
pub fn run(args: &Codecs, common: &Common) -> Result<(), Failure> {
    output::print(&match (common.json, args.papers) {
        (true, _) => format!("{}\n", to_json()),
        (false, true) => papers::to_text(),
        (false, false) => to_text(),
    })
}

fn to_text() -> String {
    let mut text = "Presets: codec and rank are chosen by a sample of the array\n\n".to_owned();
    for (preset, words) in PRESETS {
        let flag = format!("--{preset}");
        let _ = writeln!(text, "  {flag:<12}{words}");
    }
    text += "\nCodecs: --codec NAME; the presets that may choose one are in brackets\n\n";
    for about in &LIST {
        let _ = write!(text, "  {}", about.name);
        for alias in aliases(about.codec) {
            let _ = write!(text, ", {alias}");
        }
        let presets = presets(about.codec);
        if !presets.is_empty() {
            let _ = write!(text, " [{}]", presets.join(", "));
        }
        let _ = writeln!(
            text,
            "\n      {}; {}\n      {}; for {}",
            about.predictor, about.coder, about.papers, about.purpose
        );
    }
    text += "\nNames of papers stand for predictor and coder of that kind, in streams of ferrosz's own. \
             `ferrosz codecs --papers`\nsays what each shares with its paper. Streams that cuSZp itself reads and writes: \
             `ferrosz cuszp`; bare ones of AATROX:\n`ferrosz aatrox`.\n";
    text
}

fn to_json() -> Value {
    let of_presets: Vec<Value> = (PRESETS.into_iter())
        .map(|(preset, words)| json!({ "name": preset.name(), "about": words }))
        .collect();
    let codecs: Vec<Value> = (LIST.iter())
        .map(|about| {
            json!({
                "name": about.name,
                "aliases": aliases(about.codec),
                "presets": presets(about.codec),
                "predictor": about.predictor,
                "coder": about.coder,
                "papers": about.papers,
                "for": about.purpose,
            })
        })
        .collect();
    json!({ "presets": of_presets, "codecs": codecs, "papers": papers::to_json() })
}
