//! `cargo xtask campaign NAME`: all cases of a test, of which `cargo test` takes some.
//!
//! A campaign runs the code that users run: optimised, but with checks of overflow. It goes on where it was interrupted.

use crate::{Failure, executable, root, run};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// A test and its cases.
struct Campaign {
    name: &'static str,
    /// The package of the test.
    package: &'static str,
    /// The test, or the beginning of the names of several.
    test: &'static str,
    /// All cases there are, or so many random ones.
    cases: u64,
    /// Cases of a run of the test. After each the campaign can be interrupted.
    at_once: u64,
}

const fn campaign(name: &'static str, test: &'static str, cases: u64, at_once: u64) -> Campaign {
    Campaign {
        name,
        package: "ferrosz",
        test,
        cases,
        at_once,
    }
}

/// A test that takes all of its cases in a campaign, in one run.
const fn whole(name: &'static str, test: &'static str) -> Campaign {
    campaign(name, test, 1, 1)
}

/// As [`whole`], of another package.
const fn whole_of(package: &'static str, name: &'static str, test: &'static str) -> Campaign {
    Campaign {
        package,
        ..whole(name, test)
    }
}

/// docs/testing.md says what each guarantees.
const CAMPAIGNS: [Campaign; 43] = [
    campaign(
        "matrix",
        "matrix::every_machine_makes_and_reads_the_same",
        200,
        10,
    ),
    whole("rates", "matrix::special::blocks_of_every_rate"),
    whole("spikes", "matrix::special::spikes_cost_ratio_and_no_more"),
    whole(
        "radii",
        "matrix::special::streams_of_other_radii_are_decoded",
    ),
    whole(
        "many-tiles",
        "matrix::special::coefficients_are_fitted_to_parts_of_many_tiles",
    ),
    campaign(
        "golden",
        "golden::the_emulator_writes_and_reads_them",
        1000,
        100,
    ),
    campaign("masks", "masks::every_machine_masks_the_same", 400, 40),
    whole("mask-axes", "masks::masks_have_the_axes_of_their_fields"),
    whole("mask-parts", "masks::parts_have_their_fill_values"),
    whole(
        "mask-damage",
        "masks::a_damaged_mask_is_found_and_loses_its_part_only",
    ),
    campaign(
        "keeping",
        "keeping::presets_keep_signs_and_zeros",
        2_000,
        100,
    ),
    campaign(
        "rewrites",
        "rewrites::errors_of_rewrites_never_add_up",
        20_000,
        1000,
    ),
    campaign(
        "tile-parts",
        "tile_parts::parts_of_tiles_on_the_emulator",
        400,
        100,
    ),
    campaign(
        "parts",
        "parts::any_decomposition_makes_the_bytes_of_one_process",
        20_000,
        1000,
    ),
    campaign(
        "parts-emulated",
        "parts::so_it_does_on_emulated_gpus",
        300,
        30,
    ),
    whole("large-parts", "parts::large_fields_too"),
    whole(
        "ended-members",
        "parts::a_member_that_ends_leaves_no_stream",
    ),
    campaign(
        "gpus-emulated",
        "gpus::emulated_gpus_make_the_bytes_of_one",
        240,
        30,
    ),
    campaign("tiles-emulated", "gpus::emulated_gpus_share_tiles", 60, 10),
    whole("gpu-damage", "gpus::damage"),
    whole(
        "choice-coarse",
        "auto::the_choice_is_near_the_best_at_a_coarse_bound",
    ),
    whole(
        "choice-fine",
        "auto::the_choice_is_near_the_best_at_a_fine_bound",
    ),
    whole("choice-small", "auto::of_small_fields_the_best_is_chosen"),
    whole(
        "choice-all-codecs",
        "auto::no_codec_is_much_shorter_than_the_default",
    ),
    whole("targets", "targets::ordinary_fields_reach_targets"),
    whole("strange-targets", "targets::strange_fields_have_an_answer"),
    whole("promises", "promises::fields_of"),
    campaign(
        "quantiser",
        "promises::all_values_keep_what_is_promised",
        1 << 13,
        256,
    ),
    campaign(
        "logarithms",
        "pwrel::errors_of_all_logarithms_and_powers_are_those_of_the_format",
        1 << 11,
        128,
    ),
    campaign(
        "pwrel",
        "pwrel::all_magnitudes_are_within_forty_bounds",
        40 * 2032,
        2032,
    ),
    campaign("pwrel-codec", "pwrel::all_bits_pass_a_codec", 3 << 12, 384),
    whole(
        "types",
        "types::every_machine_makes_the_same_streams_within_the_bound",
    ),
    whole(
        "values-of-16-bits",
        "types::exhaustive::all_values_of_16_bits_keep_every_bound",
    ),
    whole("flipped-bits", "damage::every_flipped_bit_is_found"),
    whole("damage", "damage::every_machine_finds_it"),
    whole("mask-bytes", "masks::any_bytes_of_a_mask_are_no_panic"),
    whole("fill-values", "masks::the_fill_value_does_not_matter"),
    whole("value-axes", "types::axes_may_be_turned"),
    whole("short-kernels", "types::kernels"),
    whole("copies", "spool::copies_in_files_are_those_in_memory"),
    whole_of("ferrosz-cuszp", "bare-kernels", "emulator::all_vectors"),
    whole_of("ferrosz-cli", "memory", "large::memory"),
    whole_of("ferrosz-codec", "quotients", "element::tests"),
];

/// The words of the command after `campaign`: a name, `--seed NUMBER`, `--cases NUMBER`, `--new`; or `--all`, `--list`.
pub fn start(words: &[&str]) -> Result<(), Failure> {
    let value = |option: &str| -> Result<Option<u64>, Failure> {
        let Some(at) = words.iter().position(|word| *word == option) else {
            return Ok(None);
        };
        let value = words.get(at + 1).and_then(|word| word.parse().ok());
        let value = value.ok_or_else(|| format!("{option} needs a number"))?;
        Ok(Some(value))
    };
    let (seed, cases) = (value("--seed")?, value("--cases")?);
    let is_new = words.contains(&"--new") || seed.is_some();
    match words.first() {
        Some(&"--list") => {
            for Campaign {
                name, cases, test, ..
            } in &CAMPAIGNS
            {
                println!("{name:20} {cases:6} {test}");
            }
            Ok(())
        }
        Some(&"--all") => {
            (CAMPAIGNS.iter()).try_for_each(|campaign| campaign.go_on(seed, cases, is_new))
        }
        Some(name) => {
            let known = CAMPAIGNS.iter().find(|campaign| campaign.name == *name);
            let known =
                known.ok_or_else(|| format!("there is no campaign '{name}': see --list"))?;
            known.go_on(seed, cases, is_new)
        }
        None => {
            Err("campaign NAME [--seed NUMBER] [--cases NUMBER] [--new] | --all | --list".into())
        }
    }
}

/// The executable of a package's tests; those of `ferrosz-codec` are in its library.
fn executable(package: &str) -> Result<PathBuf, Failure> {
    let target = match package {
        "ferrosz-codec" => &["--lib"][..],
        _ => &["--test", "all"],
    };
    let tests = [
        "test",
        "--no-run",
        "--profile",
        "campaign",
        "--package",
        package,
    ];
    executable::build(&[&tests[..], target].concat())
}

/// Where a campaign is: its seed, and the number of cases that are done.
struct Progress {
    seed: u64,
    done: u64,
}

impl Campaign {
    /// Runs the cases that are left; an interrupted campaign goes on with its seed.
    fn go_on(&self, seed: Option<u64>, cases: Option<u64>, is_new: bool) -> Result<(), Failure> {
        let folder = root().join("target/campaigns");
        fs::create_dir_all(&folder)?;
        let file = folder.join(self.name);
        let all = cases.unwrap_or(self.cases);
        let earlier = (!is_new).then(|| read(&file)).flatten();
        let mut at = earlier.unwrap_or(Progress {
            seed: seed.unwrap_or_else(new_seed),
            done: 0,
        });
        println!(
            "{}: seed {}, {} of {all} cases are done",
            self.name, at.seed, at.done
        );
        let tests = executable(self.package)?;
        let start = Instant::now();
        while at.done < all {
            let end = all.min(at.done + self.at_once);
            let mut command = Command::new(&tests);
            command.current_dir(root()).arg(self.test).arg("--quiet");
            command.env("FERROSZ_SEED", at.seed.to_string());
            command.env("FERROSZ_CASES", format!("{}..{end}", at.done));
            run(&mut command)?;
            at.done = end;
            fs::write(&file, format!("{} {}", at.seed, at.done))?;
        }
        fs::remove_file(&file)?;
        println!(
            "{}: {all} cases, {} s",
            self.name,
            start.elapsed().as_secs()
        );
        Ok(())
    }
}

fn read(file: &PathBuf) -> Option<Progress> {
    let text = fs::read_to_string(file).ok()?;
    let (seed, done) = text.split_once(' ')?;
    Some(Progress {
        seed: seed.parse().ok()?,
        done: done.parse().ok()?,
    })
}

fn new_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |since| since.as_nanos() as u64 % 1_000_000_007)
}
