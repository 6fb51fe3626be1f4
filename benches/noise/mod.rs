//! A field for measurements.

/// The extents of a slice.
pub const EDGE: u64 = 256;

/// Edges of the cells of the noise's octaves; each octave has half the amplitude of the one before.
const OCTAVES: [u64; 5] = [64, 32, 16, 8, 4];

/// A pseudorandom number from -1 to 1 for each point of a lattice.
fn lattice(octave: u64, [z, y, x]: [u64; 3]) -> f64 {
    let position = octave << 60 | z << 40 | y << 20 | x;
    let product = (position + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (product ^ product >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    ((mixed ^ mixed >> 32) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

/// Adds smooth noise to a row along x, interpolated between the numbers of lattice points.
fn add_octave(row: &mut [f64], octave: u64, cell: u64, height: f64, z: u64, y: u64) {
    let ease = |at: u64| {
        let t = (at % cell) as f64 / cell as f64;
        t * t * (3.0 - 2.0 * t)
    };
    let mix = |a: f64, b: f64, t: f64| a + (b - a) * t;
    let (z0, y0) = (z / cell, y / cell);
    let node = |x: u64| {
        let at = |dz, dy| lattice(octave, [z0 + dz, y0 + dy, x]);
        let (near, far) = (
            mix(at(0, 0), at(0, 1), ease(y)),
            mix(at(1, 0), at(1, 1), ease(y)),
        );
        mix(near, far, ease(z))
    };
    for (x0, cells) in (0..).zip(row.chunks_mut(cell as usize)) {
        let (a, b) = (node(x0), node(x0 + 1));
        for (x, value) in (0..).zip(cells) {
            *value += height * mix(a, b, ease(x));
        }
    }
}

/// This many slices of noise of several octaves, similar to turbulence.
pub fn noise(slices: u64) -> Vec<f64> {
    let mut field = vec![0.0; (slices * EDGE * EDGE) as usize];
    for (i, row) in (0..).zip(field.chunks_exact_mut(EDGE as usize)) {
        for (octave, cell) in (0..).zip(OCTAVES) {
            let height = 0.5f64.powi(octave as i32);
            add_octave(row, octave, cell, height, i / EDGE, i % EDGE);
        }
    }
    field
}
