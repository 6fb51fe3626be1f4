//! `instructions VERSION CODEC in|out TIMES`: compresses a field of 64 x 64 x 64 values once, and compresses or
//! decompresses it `TIMES` times more. The difference of the counts of two numbers of times is that of the calls alone.
//!
//! `instructions check` compares: every version of the CPU's code must write the streams of the portable version, and
//! decode them to the same bits, with all codecs and shapes.

use ferrosz::stream::{Extents, Layout};
use ferrosz::versions::{self, Version};
use ferrosz::{Bound, Codec, Element, Shape};
use std::env;
use std::error::Error;
use std::hint::black_box;

const EDGE: u64 = 64;
const SHAPES: [Shape; 3] = [Shape::Line, Shape::Plane, Shape::Cube];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["check"] => {
            let same =
                check(&field())? + check(&field().into_iter().map(f64::from).collect::<Vec<_>>())?;
            println!("{same} streams of versions are those of the portable code");
            Ok(())
        }
        [version, codec, way, times] => {
            let (version, codec) = (of_name(version)?, codec.parse()?);
            repeat(version, codec, *way == "in", times.parse()?)
        }
        _ => Err("usage: instructions VERSION CODEC in|out TIMES, or instructions check".into()),
    }
}

fn of_name(name: &str) -> Result<Version, Box<dyn Error>> {
    let found = Version::all().find(|known| known.name() == name);
    found.ok_or_else(|| format!("this machine does not have the version {name}").into())
}

fn layout(codec: Codec, shape: Shape) -> Result<Layout, Box<dyn Error>> {
    let extents = Extents::new(&[EDGE; 3]).ok_or("the extents")?;
    Ok(Layout::new(codec, shape, extents))
}

fn repeat(version: Version, codec: Codec, is_in: bool, times: u32) -> Result<(), Box<dyn Error>> {
    let (layout, bound, field) = (layout(codec, Shape::Cube)?, Bound::range(1e-3)?, field());
    let stream = versions::compress(version, layout, bound, &field)?;
    for _ in 0..times {
        if is_in {
            drop(black_box(versions::compress(
                version, layout, bound, &field,
            )?));
        } else {
            drop(black_box(versions::decompress::<f32>(
                version, &stream, None, true,
            )?));
        }
    }
    Ok(())
}

/// Compares all versions with the portable one; returns how many streams were the same.
fn check<T: Element>(field: &[T]) -> Result<usize, Box<dyn Error>> {
    let portable = of_name("portable")?;
    let mut same = 0;
    for (codec, shape) in Codec::ALL
        .iter()
        .flat_map(|codec| SHAPES.map(|shape| (*codec, shape)))
    {
        for bound in [1e-1, 1e-3, 1e-6] {
            let (layout, bound) = (layout(codec, shape)?, Bound::range(bound)?);
            let stream = versions::compress(portable, layout, bound, field)?;
            let decoded = versions::decompress::<T>(portable, &stream, None, true)?;
            for version in Version::all().filter(|version| version.name() != "portable") {
                let (name, found) = (
                    version.name(),
                    versions::compress(version, layout, bound, field)?,
                );
                assert!(
                    found == stream,
                    "{name} writes other bytes: {codec}, {shape:?}, {bound:?}"
                );
                let found = versions::decompress::<T>(version, &stream, None, true)?;
                let bits = |values: &[T]| values.iter().map(|x| x.to_bits64()).collect::<Vec<_>>();
                assert!(
                    bits(&found) == bits(&decoded),
                    "{name} reads other values: {codec}, {shape:?}, {bound:?}"
                );
                same += 1;
            }
        }
    }
    Ok(same)
}

/// Waves, and a noise of a hundredth of them.
fn field() -> Vec<f32> {
    let mut state = 1u32;
    let mut noise = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32 - 0.5
    };
    (0..EDGE.pow(3))
        .map(|i| {
            let [z, y, x] = [i / EDGE / EDGE, i / EDGE % EDGE, i % EDGE].map(|at| at as f32);
            (x * 0.11).sin() + (y * 0.07).cos() * (z * 0.05).sin() + 0.01 * noise()
        })
        .collect()
}
