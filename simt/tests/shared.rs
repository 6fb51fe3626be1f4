//! Arrays of shared memory: where layouts put them, and what stops a kernel that leaves one.

use ferrosz_simt::emulator::{Emulator, EmulatorThread, Fault, FaultKind};
use ferrosz_simt::prelude::*;
use ferrosz_simt::{Layout, Shared, SharedElement};

/// An array of each type, and two that share their words.
#[derive(Clone, Copy)]
struct Arrays {
    words: Shared<u32>,
    signed: Shared<i32>,
    floats: Shared<f32>,
    wide: Shared<u64>,
    doubles: Shared<f64>,
    early: Shared<u32>,
    late: Shared<u64>,
    last: Shared<u32>,
}

const LEN: u32 = 32;

const SHARED: (Arrays, Layout) = {
    let mut layout = Layout::new();
    let words = layout.array("words", LEN);
    let signed = layout.array("signed", LEN);
    let floats = layout.array("floats", LEN);
    let wide = layout.array("wide", LEN);
    let doubles = layout.array("doubles", LEN);
    let [mut first, mut second] = layout.overlays();
    let early = first.array("early", LEN);
    let late = second.array("late", LEN);
    layout.join([first, second]);
    let last = layout.array("last", 3);
    let arrays = Arrays {
        words,
        signed,
        floats,
        wide,
        doubles,
        early,
        late,
        last,
    };
    (arrays, layout)
};

const WORDS: u32 = SHARED.1.words();

fn launch(body: impl Fn(EmulatorThread<'_>)) -> Result<(), Fault> {
    Emulator::new().launch_with(1, LEN, WORDS, body).map(|_| ())
}

#[test]
fn arrays_lie_one_behind_the_other() {
    assert_eq!(WORDS, (1 + 1 + 1 + 2 + 2 + 2) * LEN + 3);
    launch(|t| {
        let arrays = SHARED.0;
        let at = t.thread_index();
        let number = |of: u32| 1000 * of + at;
        arrays.words.store(t, at, number(1));
        arrays.signed.store(t, at, -number(2).cast_signed());
        arrays.floats.store(t, at, number(3) as f32);
        arrays.wide.store(t, at, u64::from(number(4)) << 20);
        arrays.doubles.store(t, at, f64::from(number(5)) / 3.0);
        if at < arrays.last.len() {
            arrays.last.store(t, at, number(8));
        }
        arrays.early.store(t, at, number(6));
        assert_eq!(arrays.early.load(t, at), number(6));
        t.barrier();
        arrays.late.store(t, at, u64::from(number(7)) << 40);
        t.barrier();
        // Nothing was written over, whoever reads it.
        let at = LEN - 1 - at;
        let number = |of: u32| 1000 * of + at;
        assert_eq!(arrays.words.load(t, at), number(1));
        assert_eq!(arrays.signed.load(t, at), -number(2).cast_signed());
        assert_eq!(arrays.floats.load(t, at), number(3) as f32);
        assert_eq!(arrays.wide.load(t, at), u64::from(number(4)) << 20);
        assert_eq!(arrays.doubles.load(t, at), f64::from(number(5)) / 3.0);
        assert_eq!(arrays.late.load(t, at), u64::from(number(7)) << 40);
        assert_eq!(arrays.last.load(t, 2), 8002);
    })
    .expect("no fault");
}

#[test]
fn overlays_begin_at_the_same_word() {
    launch(|t| {
        let Arrays { early, late, .. } = SHARED.0;
        assert_eq!(early.address(t), late.address(t));
        assert_eq!(early.kept_address(t), early.address(t));
        assert_eq!(early.part(5, 3).address(t), early.address(t) + 4 * 5);
        assert_eq!(late.part(5, 3).address(t), late.address(t) + 8 * 5);
    })
    .expect("no fault");
}

#[test]
fn four_words_bits_and_sums() {
    launch(|t| {
        let words = SHARED.0.words;
        if t.lane() < LEN / 4 {
            words.store4(t, 4 * t.lane(), [t.lane(), 0, 1, 2]);
        }
        t.sync_warp();
        words.or(t, 1, 1 << t.lane());
        words.add(t, 2, t.lane());
        t.sync_warp();
        assert_eq!(words.load4(t, 0), [0, u32::MAX, 1 + 31 * 16, 2]);
    })
    .expect("no fault");
}

/// The kernel must be stopped in this file, with a message that names array, index and length.
fn assert_is_outside(body: impl Fn(EmulatorThread<'_>), parts: &[&str]) {
    let fault = launch(body).expect_err("it leaves the array");
    let message = fault.to_string();
    assert_eq!(fault.kind, FaultKind::SharedOutOfBounds, "{message}");
    assert!(message.contains("shared.rs:"), "{message}");
    for part in parts {
        assert!(message.contains(part), "no {part:?} in: {message}");
    }
}

fn touch_each_way<E: SharedElement>(array: Shared<E>, name: &str) {
    let name = format!("`{name}`");
    let parts = [name.as_str(), "element 32 of the 32"];
    let load = |t: EmulatorThread<'_>| {
        array.load(t, LEN);
    };
    assert_is_outside(load, &parts);
    // Also of a part, which has the name of the whole.
    let part = array.part(LEN - 2, 10);
    assert_eq!(part.len(), 2);
    let load = |t: EmulatorThread<'_>| {
        part.load(t, 2);
    };
    assert_is_outside(load, &[name.as_str(), "element 2 of the 2"]);
    assert!(array.part(LEN + 1, 1).is_empty());
}

#[test]
fn an_index_beyond_an_array() {
    let arrays = SHARED.0;
    touch_each_way(arrays.words, "words");
    touch_each_way(arrays.signed, "signed");
    touch_each_way(arrays.floats, "floats");
    touch_each_way(arrays.wide, "wide");
    touch_each_way(arrays.doubles, "doubles");
    let name = ["`words`", "32"];
    assert_is_outside(|t| arrays.words.store(t, LEN, 0), &name);
    assert_is_outside(|t| arrays.words.or(t, LEN, 0), &name);
    assert_is_outside(|t| arrays.words.add(t, LEN, 0), &name);
    assert_is_outside(|t| arrays.words.store(t, u32::MAX, 0), &["4294967295"]);
    let load4 = |t: EmulatorThread<'_>| {
        arrays.words.part(0, LEN - 1).load4(t, LEN - 4);
    };
    assert_is_outside(load4, &["`words`", "elements 28 to 31 of the 31"]);
    let store4 = |t: EmulatorThread<'_>| arrays.words.store4(t, LEN, [0; 4]);
    assert_is_outside(store4, &["`words`", "elements 32 to 35 of the 32"]);
}

#[test]
fn arrays_begin_at_multiples() {
    const ALIGNED: (Shared<u32>, Shared<u32>, u32) = {
        let mut layout = Layout::new();
        let one = layout.array("one", 1);
        layout.align(8);
        let eight = layout.array("eight", 8);
        (one, eight, layout.words())
    };
    let (one, eight, words) = ALIGNED;
    assert_eq!(words, 16);
    let body = |t: EmulatorThread<'_>| assert_eq!(eight.address(t), one.address(t) + 4 * 8);
    launch(body).expect("no fault");
}

#[test]
#[should_panic(expected = "overlays are not joined")]
fn overlays_must_be_joined() {
    let mut layout = Layout::new();
    let [_, _] = layout.overlays();
    let _: Shared<u32> = layout.array("behind", 1);
}

#[test]
#[should_panic(expected = "no GPU has so much shared memory")]
fn a_layout_that_no_gpu_has() {
    let _: Shared<u64> = Layout::new().array("all", Layout::MAX_WORDS / 2 + 1);
}
