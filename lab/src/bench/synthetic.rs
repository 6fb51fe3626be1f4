//! Synthetic fields, the same in every run.

/// The kind of a synthetic field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Waves of several lengths in all directions, with a little noise.
    Waves,
    /// Zero except for some smooth bumps.
    Sparse,
    /// A random walk: each value differs from the one before by a random step.
    Walk,
    /// The magnitudes of the waves with random signs.
    Signs,
}

/// Amplitude of the noise of [`Kind::Waves`]; waves have amplitude 1.
const NOISE: f32 = 1e-3;

/// [`Kind::Sparse`] is waves minus this, with negative values replaced by 0.
const SEA_LEVEL: f32 = 1.4;

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Waves, Self::Sparse, Self::Walk, Self::Signs];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Waves => "waves",
            Self::Sparse => "sparse",
            Self::Walk => "walk",
            Self::Signs => "signs",
        }
    }

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// A cube of values of this kind, slowest dimension first.
    pub fn cube(self, edge: usize) -> Vec<f32> {
        let mut noise = Noise(0x5eed);
        match self {
            Self::Waves => {
                at_every_position(edge, |position| waves(position) + NOISE * noise.next())
            }
            Self::Sparse => {
                at_every_position(edge, |position| (waves(position) - SEA_LEVEL).max(0.0))
            }
            Self::Walk => {
                let mut height = 0.0;
                at_every_position(edge, |_| {
                    height += noise.next();
                    height
                })
            }
            Self::Signs => {
                at_every_position(edge, |position| waves(position).copysign(noise.next()))
            }
        }
    }
}

/// The values of a cube, in memory order.
fn at_every_position(edge: usize, mut value: impl FnMut([f32; 3]) -> f32) -> Vec<f32> {
    let mut values = Vec::with_capacity(edge * edge * edge);
    for z in 0..edge {
        for y in 0..edge {
            values.extend((0..edge).map(|x| value([z, y, x].map(|i| i as f32))));
        }
    }
    values
}

/// Waves of two lengths along each dimension, with values from about -2 to 2.
fn waves([z, y, x]: [f32; 3]) -> f32 {
    (0.021 * z + 0.5).sin() * (0.017 * y).cos()
        + (0.031 * x + 0.013 * y).sin()
        + 0.2 * (0.11 * x).cos() * (0.09 * z).sin()
}

/// Random numbers from -1 to 1, of the upper bits of a linear congruential generator.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 40) as f32 / (1 << 23) as f32 - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_as_they_are_called() {
        let share_of_zeros = |values: &[f32]| {
            let zeros = values.iter().filter(|x| **x == 0.0).count();
            zeros as f64 / values.len() as f64
        };
        let [waves, sparse, walk, signs] = Kind::ALL.map(|kind| kind.cube(128));
        assert!(share_of_zeros(&waves) < 0.01);
        let zeros = share_of_zeros(&sparse);
        assert!((0.7..0.99).contains(&zeros), "{zeros}");
        assert!(
            walk.windows(2)
                .all(|pair| (pair[1] - pair[0]).abs() <= 1.001)
        );
        let extent = walk.iter().fold(0.0, |most: f32, x| most.max(x.abs()));
        assert!(extent > 100.0);
        let negative = signs.iter().filter(|x| x.is_sign_negative()).count() as f64;
        assert!((0.49..0.51).contains(&(negative / signs.len() as f64)));
    }
}
