//! Colour maps for the kinds of data, all of them safe for the colour-blind.

use crate::canvas::Rgb;
use crate::words;

/// The share of values at each end that may be far away from the others.
const TAIL: f64 = 0.002;

/// A colour map, and the values at its ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// Whether 0 is a colour of its own, in the middle.
    pub is_diverging: bool,
    /// The values of the first and the last colour.
    pub ends: [f64; 2],
    /// Whether there are values beyond the ends.
    pub is_cut: [bool; 2],
}

impl Scale {
    /// That of values: diverging if some are above and some below 0. If a few values are far away from all others, the ends
    /// leave them out.
    pub fn of_values<'a>(values: impl Iterator<Item = &'a f64>) -> Self {
        let mut values: Vec<f64> = values.copied().filter(|value| value.is_finite()).collect();
        values.sort_unstable_by(f64::total_cmp);
        let (Some(&low), Some(&high)) = (values.first(), values.last()) else {
            return Self::between(0.0, 1.0);
        };
        let at = |share: f64| values[((values.len() - 1) as f64 * share) as usize];
        let (inner_low, inner_high) = (at(TAIL), at(1.0 - TAIL));
        let ends = match inner_high - inner_low < (high - low) / 3.0 && inner_low < inner_high {
            true => [inner_low, inner_high],
            false => [low, high],
        };
        let is_signed = ends[0] < 0.0 && -ends[0] > 0.02 * ends[1] && ends[1] > -0.02 * ends[0];
        match is_signed {
            true => Self::around_zero(ends[1].max(-ends[0])),
            false => Self::between(ends[0], ends[1]),
        }
        .seen_with([low, high].iter())
    }

    /// The same colours for other values, some of which may be beyond the ends.
    pub fn seen_with<'a>(self, values: impl Iterator<Item = &'a f64>) -> Self {
        let [low, high] = self.ends;
        let is_cut = values.fold([false; 2], |[below, above], value| {
            [below || *value < low, above || *value > high]
        });
        Self { is_cut, ..self }
    }

    /// A diverging one for magnitudes up to this.
    pub fn around_zero(largest: f64) -> Self {
        let largest = if largest > 0.0 { largest } else { 1.0 };
        Self {
            is_diverging: true,
            ends: [-largest, largest],
            is_cut: [false; 2],
        }
    }

    /// A sequential one.
    pub fn between(low: f64, high: f64) -> Self {
        Self {
            is_diverging: false,
            ends: [low, if high > low { high } else { low + 1.0 }],
            is_cut: [false; 2],
        }
    }

    /// The colour at a position from 0, the low end, to 1, the high end.
    pub fn colour(&self, position: f64) -> Rgb {
        let position = position.clamp(0.0, 1.0);
        match self.is_diverging {
            true => colorous::RED_BLUE.eval_continuous(1.0 - position),
            false => colorous::VIRIDIS.eval_continuous(position),
        }
        .as_array()
    }

    /// The position of a value.
    pub fn position(&self, value: f64) -> f64 {
        (value - self.ends[0]) / (self.ends[1] - self.ends[0])
    }

    /// The values at the ends, in words, in this unit.
    pub fn labels(&self, unit: &str) -> [String; 2] {
        let [low, high] = self.ends.map(|end| words::with_unit(end, unit));
        [
            if self.is_cut[0] {
                format!("\u{2264} {low}")
            } else {
                low
            },
            if self.is_cut[1] {
                format!("\u{2265} {high}")
            } else {
                high
            },
        ]
    }

    /// The colours as a gradient of CSS.
    pub fn css(&self) -> String {
        let stops = (0..=8).map(|stop| {
            let [red, green, blue] = self.colour(f64::from(stop) / 8.0);
            format!("#{red:02x}{green:02x}{blue:02x}")
        });
        format!(
            "linear-gradient(to right,{})",
            stops.collect::<Vec<_>>().join(",")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_follow_the_kind_of_data() {
        let of = |values: &[f64]| Scale::of_values(values.iter());
        let positive = of(&[1.0, 5.0, 3.0]);
        assert_eq!((positive.is_diverging, positive.ends), (false, [1.0, 5.0]));
        let signed = of(&[-1.0, 4.0, f64::NAN]);
        assert_eq!((signed.is_diverging, signed.ends), (true, [-4.0, 4.0]));
        // A little below 0 is noise.
        assert!(!of(&[-0.01, 4.0]).is_diverging);
        assert_eq!(of(&[]).ends, [0.0, 1.0]);
        assert_eq!(of(&[3.0, 3.0]).ends, [3.0, 4.0]);
    }

    #[test]
    fn a_few_values_far_away_do_not_hide_the_others() {
        let mut values: Vec<f64> = (0..10_000).map(|i| f64::from(i) * 1e-4).collect();
        values[5] = 1e6;
        let scale = Scale::of_values(values.iter());
        assert!(scale.ends[1] < 1.0 && scale.is_cut == [true, true]);
        assert!(scale.labels("K")[1].starts_with('\u{2265}'));
    }

    #[test]
    fn the_ends_have_the_ends_of_the_maps() {
        assert_eq!(Scale::between(0.0, 1.0).colour(-3.0), [68, 1, 84]);
        let around = Scale::around_zero(2.0);
        assert_eq!(around.position(0.0), 0.5);
        // Blue is below 0.
        let [red, _, blue] = around.colour(0.0);
        assert!(blue > red);
    }
}
