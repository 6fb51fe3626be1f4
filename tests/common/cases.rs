//! Which cases a test takes: in a usual run some, other ones each time; in a campaign all of them.
//!
//! A campaign (`cargo xtask campaign`, docs/testing.md) gives a test the numbers of its cases, and a seed. A case that fails
//! says how it is run again alone.

use rand::SeedableRng;
use rand::rngs::SmallRng;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::LazyLock;
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

/// A seed for the cases of this run.
const SEED: &str = "FERROSZ_SEED";

/// The numbers of the cases of this run, such as `100..200`.
const CASES: &str = "FERROSZ_CASES";

static RUN: LazyLock<(u64, Option<Range<u64>>)> = LazyLock::new(|| {
    let variable = |name| std::env::var(name).ok();
    let number = |text: &str| text.parse::<u64>().expect("a number");
    let cases = variable(CASES).map(|text| {
        let (from, to) = text.split_once("..").expect("a range of numbers");
        number(from)..number(to)
    });
    (
        variable(SEED).map_or_else(new_seed, |text| number(&text)),
        cases,
    )
});

fn new_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |since| since.as_nanos() as u64 % 1_000_000_007)
}

/// The seed of this run.
pub fn seed() -> u64 {
    RUN.0
}

/// The numbers of the cases that a campaign asks for.
pub fn asked() -> Option<Range<u64>> {
    RUN.1.clone()
}

/// Whether this run takes the case with a number: a campaign those that it asks for, a usual run one in so many, which ones
/// depends on the seed.
pub fn takes(number: u64, one_in: u64) -> bool {
    match asked() {
        Some(cases) => cases.contains(&number),
        None => (number + seed()).is_multiple_of(one_in),
    }
}

/// As [`takes`], for the parts of a campaign's case: a campaign takes all of them.
pub fn takes_part(number: u64, one_in: u64) -> bool {
    asked().is_some() || (number + seed()).is_multiple_of(one_in)
}

/// The random numbers of a case.
pub fn random(number: u64) -> SmallRng {
    SmallRng::seed_from_u64(seed() ^ number.wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

/// Checks the cases that a campaign asks for, or so many, one after the other.
pub fn each(usual: u64, check: impl Fn(u64, &mut SmallRng)) {
    let test = name();
    for number in asked().unwrap_or(0..usual) {
        let _case = Case {
            test: &test,
            number,
        };
        check(number, &mut random(number));
    }
}

/// As [`each`], on all processors.
pub fn each_at_once(usual: u64, check: impl Fn(u64, &mut SmallRng) + Sync) {
    let numbers = asked().unwrap_or(0..usual).into_par_iter();
    of_list(
        numbers.collect(),
        |number| *number,
        |number| check(number, &mut random(number)),
    );
}

/// Checks cases that have numbers, on all processors, each on a thread of its own.
pub fn of_list<C: Send>(
    cases: Vec<C>,
    number: impl Fn(&C) -> u64 + Sync,
    check: impl Fn(C) + Sync,
) {
    let test = name();
    cases.into_par_iter().with_max_len(1).for_each(|case| {
        let _case = Case {
            test: &test,
            number: number(&case),
        };
        check(case);
    });
}

/// The name of the running test: the test harness gives it to the test's thread.
fn name() -> String {
    thread::current().name().unwrap_or_default().to_owned()
}

/// A case while it is checked. If that panics, it says which one it was.
struct Case<'a> {
    test: &'a str,
    number: u64,
}

impl Drop for Case<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            let Self { test, number } = self;
            let next = *number + 1;
            eprintln!(
                "again: {SEED}={} {CASES}={number}..{next} cargo test {test}",
                seed()
            );
        }
    }
}
