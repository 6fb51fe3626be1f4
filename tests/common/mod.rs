//! Fields of every kind, and the judge of the bound.
#![allow(dead_code, reason = "each test file uses its part")]

pub mod cases;
pub mod damage;
pub mod digest;
pub mod extents;
pub mod fields;
pub mod forge;
pub mod golden;
#[cfg(feature = "cuda")]
pub mod graph;
pub mod judge;
pub mod machine;
pub mod matrix;

use ferrosz::codec::mapping::axes::Order;
use ferrosz::stream::{Extents, Layout};
use ferrosz::{Axes, Bound, BoundMode, Codec, Compressor, Device, Error, Preset, Shape};

/// Bounds that reach every path: coarse, fine, at the limit of the type, lossless.
pub fn bounds() -> Vec<Bound> {
    [
        (BoundMode::Abs, 0.5),
        (BoundMode::Abs, 1e-3),
        (BoundMode::Range, 1e-1),
        (BoundMode::Range, 1e-3),
        (BoundMode::Range, 1e-7),
        (BoundMode::Max, 1e-4),
        (BoundMode::Abs, 0.0),
        (BoundMode::Abs, 1e-40),
        (BoundMode::Abs, 1e30),
        (BoundMode::Pwrel, 1e-3),
    ]
    .into_iter()
    .map(|(mode, value)| Bound::new(mode, value).expect("finite and not negative"))
    .collect()
}

/// All that a field of these extents can be compressed to in blocks.
pub fn layouts(lengths: &[u64]) -> Vec<Layout> {
    layouts_of(&Codec::BLOCKS, lengths)
}

/// All that a preset has for a field of these extents.
pub fn candidates(preset: Preset, lengths: &[u64]) -> Vec<Layout> {
    layouts_of(preset.codecs(), lengths)
}

/// All that a field of these extents can be compressed to in tiles.
pub fn tile_layouts(lengths: &[u64]) -> Vec<Layout> {
    layouts_of(&Codec::ALL[Codec::BLOCKS.len()..], lengths)
}

fn layouts_of(codecs: &[Codec], lengths: &[u64]) -> Vec<Layout> {
    let extents = Extents::new(lengths).expect("good extents");
    let mut layouts = Vec::new();
    for codec in codecs {
        for shape in Shape::ALL {
            let layout = Layout::new(*codec, shape, extents);
            if !layouts.contains(&layout) {
                layouts.push(layout);
            }
        }
    }
    layouts
}

/// A compressor of this layout.
pub fn compressor(layout: Layout, bound: Bound, device: Device) -> Result<Compressor, Error> {
    compressor_with_axes(layout, None, bound, device)
}

/// A compressor of fields with these axes to this layout.
pub fn compressor_with_axes(
    layout: Layout,
    axes: Option<Axes>,
    bound: Bound,
    device: Device,
) -> Result<Compressor, Error> {
    let user = order_of(&layout, axes).user_extents(&layout.extents);
    let compressor = Compressor::new(layout.codec, bound)
        .device(device)
        .with_rank(layout.shape.rank())?
        .extents(user.lengths())?
        .chunk_length(layout.chunk);
    let compressor = match layout.levels {
        0 => compressor,
        levels => compressor.levels_apart(levels)?,
    };
    let is_plain = layout.extents.roles().is_default();
    let axes = axes.or((!is_plain).then(|| Axes::of(&layout, &order_of(&layout, None))));
    Ok(axes.map_or(compressor, |axes| compressor.axes(axes)))
}

/// The order of the coded field's axes.
pub fn order_of(layout: &Layout, axes: Option<Axes>) -> Order {
    let rank = layout.extents.lengths().len();
    axes.map_or(Order::identity(rank), |axes| axes.order())
}
