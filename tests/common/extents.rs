//! Extents at which kernels and loops have their edges.

use ferrosz::{Axes, Shape};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// Of blocks: around a lane's 16 bytes, a coding block, a warp's 32, a chunk (which is a thread block's tile), and several
/// chunks. Of tiles: around a row of 64, a tile, a chunk of four. And fields of more dimensions than the shape has.
pub fn edges(is_tiles: bool, shape: Shape) -> Vec<Vec<u64>> {
    parse(match (is_tiles, shape) {
        (false, Shape::Line) => {
            "0 1 2 3 4 5 31 32 33 63 64 65 127 128 129 1023 1024 1025 2047 2049 4096 8160 8161 8191 8192 8193 16383 16384 \
             16385 24577 40000 50000 - 0x5 150x333 40x50x63 1x9x4000 30x1x900 2x3x4x50"
        }
        (false, Shape::Plane) => {
            "8x8 9x33 64x64 64x128 65x129 63x132 3x3000 129x131 97x201 200x300 2x20000 20000x3 140x143 1x9x4000 30x1x900 \
             5x6x7 2x2x1030 300x2x3 33x40x36"
        }
        (false, Shape::Cube) => {
            "4x4x4 5x6x7 16x16x32 17x17x33 2x2x1030 300x2x3 33x40x36 24x26x32 28x25x28 21x34x43 17x33x65 50x60x70 3000x2x5 \
             2x2x9000 3x4x5x11 2x1x2x2x1x3x5x7"
        }
        (true, Shape::Line) => {
            "- 0 1 17 64 513 16383 16384 16385 20000 65536 65537 1x300 1x20x0 40x50 17x18x20"
        }
        (true, Shape::Plane) => {
            "3x2 16x16 17x65 40x50 255x63 256x64 257x65 260x130 17x18x20 3x40x50"
        }
        (true, Shape::Cube) => {
            "2x2x2 3x40x50 16x16x64 17x18x20 18x17x70 17x33x65 33x20x140 2x3x4x50"
        }
    })
}

/// A chunk or a tile and a little more.
pub fn middle(is_tiles: bool, shape: Shape) -> Vec<Vec<u64>> {
    parse(match (is_tiles, shape) {
        (false, Shape::Line) => "9000 8191 8192 16400 8193",
        (false, Shape::Plane) => "30x300 91x99",
        (false, Shape::Cube) => "9x20x50 21x20x22",
        (true, Shape::Line) => "17500",
        (true, Shape::Plane) => "130x140",
        (true, Shape::Cube) => "20x18x70",
    })
}

/// Fields whose axes have roles, and so slices or another order: their extents, and the roles of their axes.
pub fn axes(is_tiles: bool, shape: Shape) -> Vec<(Vec<u64>, Axes)> {
    let all = match (is_tiles, shape) {
        (false, Shape::Line) => {
            "90x100:x,y 9x20x50:x,y,z 3x4x500x6:x,s,z,y 2x1x2x2x1x3x50x7:x,y,s,s,x,z,y,s 7x0x5:x,y,s 1x9000:x,s"
        }
        (false, Shape::Plane) => {
            "90x101:x,y 3x30x40:x,s,y 4x5x6x30:s,y,y,x 5x30x6x20:s,y,s,x 64x3x128:y,s,x 2x3x4x5x6x7:x,x,s,y,y,s \
             2x1x2x2x1x3x5x7:x,y,s,s,x,z,y,s"
        }
        (false, Shape::Cube) => {
            "6x10x20x30:s,z,y,x 3x21x20x22:s,z,y,x 5x9x6x40:z,s,x,y 2x3x4x5x6x7:s,s,z,y,y,x 17x17x33:x,y,z \
             2x3x2x3x2x3x2x3:s,z,x,y,s,z,y,x 2x4x1100x4:s,z,x,y 16x3x16x32:z,s,y,x 3x5x16x8x32:s,s,z,y,x 5x2x2x1030:s,z,y,x"
        }
        (true, Shape::Line) => "130x140:x,y 17x30x40:x,s,y 1x16384:x,s",
        (true, Shape::Plane) => "130x140:x,y 3x40x50:x,s,y 4x5x6x70:s,y,y,x",
        (true, Shape::Cube) => {
            "3x17x18x20:s,z,y,x 2x33x10x30:s,z,y,x 2x3x17x5x34:s,s,z,y,x 18x3x17x20:y,s,z,x 5x2x20x70:s,z,y,x \
             2x3x2x3x2x3x2x30:s,z,x,y,s,z,y,x"
        }
    };
    let case = |text: &str| {
        let (extents, axes) = text.split_once(':').expect("extents and axes");
        let axes = axes.parse().expect("axes");
        (parse(extents).remove(0), axes)
    };
    all.split_ascii_whitespace().map(case).collect()
}

/// Extents as people write them, the slowest dimension first; `-` has no dimension.
fn parse(text: &str) -> Vec<Vec<u64>> {
    let length = |text: &str| text.parse().expect("a length");
    let extents = text.split_ascii_whitespace();
    extents
        .map(|extents| match extents {
            "-" => Vec::new(),
            extents => extents.split('x').map(length).collect(),
        })
        .collect()
}

/// Every length to 4099, every plane to 40, every cube to 11 and as many larger ones to 40.
pub fn small(shape: Shape) -> Vec<Vec<u64>> {
    let mut rng = SmallRng::seed_from_u64(10);
    let all = |most: u64, rank: u32| {
        let digit = move |case: u64, i| case / most.pow(i) % most + 1;
        (0..most.pow(rank)).map(move |case| (0..rank).rev().map(|i| digit(case, i)).collect())
    };
    match shape {
        Shape::Line => (0..=4099).map(|length| vec![length]).collect(),
        Shape::Plane => all(40, 2).collect(),
        Shape::Cube => all(11, 3)
            .flat_map(|cube: Vec<u64>| [cube, [(); 3].map(|()| rng.random_range(1..=40)).to_vec()])
            .collect(),
    }
}

/// Around the edges of warps, blocks, chunks and of 32 chunks, and any from 1 to 40, and larger.
pub fn random(shape: Shape, count: usize, seed: u64) -> Vec<Vec<u64>> {
    let mut rng = SmallRng::seed_from_u64(0xfe44_0500 ^ seed);
    let mut one = || {
        let rng = &mut rng;
        match (shape, rng.random_range(0..6)) {
            (Shape::Line, 0) => vec![rng.random_range(0..200)],
            (Shape::Line, 1) => vec![32 * rng.random_range(1..300) + rng.random_range(0..3) - 1],
            (Shape::Line, 2) => vec![8192 * rng.random_range(1..9) + rng.random_range(0..5) - 2],
            (Shape::Line, 3) => vec![1024 * rng.random_range(1..40) + rng.random_range(0..3) - 1],
            (Shape::Line, 4) => vec![rng.random_range(0..100_000)],
            (Shape::Line, _) => vec![8192 * rng.random_range(30..70) + rng.random_range(0..40)],
            (Shape::Plane, 0 | 1) => vec![rng.random_range(2..=40), rng.random_range(2..=40)],
            (Shape::Plane, 2 | 3) => vec![rng.random_range(2..=600), rng.random_range(2..=600)],
            (Shape::Plane, 4) => [(); 3].map(|()| rng.random_range(2..=40)).to_vec(),
            (Shape::Plane, _) => vec![8 * rng.random_range(1..=40), 4 * rng.random_range(1..=150)],
            (Shape::Cube, 0 | 1) => [(); 3].map(|()| rng.random_range(2..=90)).to_vec(),
            (Shape::Cube, 2 | 3) => [(); 3].map(|()| 4 * rng.random_range(1..=20)).to_vec(),
            (Shape::Cube, _) => [(); 3].map(|()| rng.random_range(2..=40)).to_vec(),
        }
    };
    (0..count).map(|_| one()).collect()
}
