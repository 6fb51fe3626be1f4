//! Axes of charts: where a number is, and which numbers have labels.

/// The most labels of an axis, about.
const LABELS: f64 = 5.0;

/// An axis of a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// The name of the quantity, which stands beside the axis.
    pub label: String,
    low: f64,
    high: f64,
    is_logarithmic: bool,
}

impl Axis {
    /// An axis between two numbers.
    pub fn linear(label: &str, low: f64, high: f64) -> Self {
        let (low, high) = match low.is_finite() && high.is_finite() {
            true => (low, high),
            false => (0.0, 1.0),
        };
        Self {
            label: label.to_owned(),
            low,
            high: if high > low {
                high
            } else {
                low + low.abs().max(1.0)
            },
            is_logarithmic: false,
        }
    }

    /// An axis for these numbers and a little more.
    pub fn around(label: &str, numbers: impl Iterator<Item = f64>) -> Self {
        let [low, high] = ends(numbers);
        let room = 0.05 * (high - low);
        let room = if room > 0.0 {
            room
        } else {
            0.05 * high.abs().max(1e-300)
        };
        Self::linear(label, low - room, high + room)
    }

    /// A logarithmic axis for those of these numbers that are positive; none if none is.
    pub fn logarithmic(label: &str, numbers: impl Iterator<Item = f64>) -> Option<Self> {
        let [low, high] = ends(numbers.filter(|number| *number > 0.0));
        (low.is_finite() && high.is_finite()).then(|| Self {
            label: label.to_owned(),
            low: low.log10() - 0.1,
            high: high.log10() + 0.1,
            is_logarithmic: true,
        })
    }

    /// Where a number is, from 0 at the low end to 1; none if it has no place, as 0 of a logarithmic axis.
    pub fn place(&self, number: f64) -> Option<f64> {
        let number = match self.is_logarithmic {
            true => number.log10(),
            false => number,
        };
        let place = (number - self.low) / (self.high - self.low);
        place.is_finite().then_some(place)
    }

    /// Numbers with labels: where they are, and how they are written.
    pub fn labels(&self) -> Vec<(f64, String)> {
        let step = match self.is_logarithmic {
            true => ((self.high - self.low) / LABELS).ceil().max(1.0),
            false => nice((self.high - self.low) / LABELS),
        };
        let (first, last) = ((self.low / step).ceil(), (self.high / step).floor());
        let count = (last - first).clamp(0.0, 20.0) as u32;
        let mut labels: Vec<(f64, String)> = (0..=count)
            .map(|i| (first + f64::from(i)) * step)
            .map(|at| {
                let label = match self.is_logarithmic {
                    true => power(at),
                    false => written(at, step, self.low.abs().max(self.high.abs())),
                };
                ((at - self.low) / (self.high - self.low), label)
            })
            .collect();
        if self.is_logarithmic && labels.len() < 3 {
            labels.extend(self.between_powers());
        }
        labels.retain(|(place, _)| (0.0..=1.0).contains(place));
        labels
    }

    /// Twice and five times the powers of ten, for an axis of few powers.
    fn between_powers(&self) -> Vec<(f64, String)> {
        let powers = self.low.floor() as i32..=self.high.ceil() as i32;
        let both = powers.flat_map(|power| [2.0, 5.0].map(|times| (times, power)));
        let labels = both.filter_map(|(times, power)| {
            let number = times * 10f64.powi(power);
            Some((self.place(number)?, decimal(number, power)))
        });
        labels.collect()
    }
}

/// The smallest and the largest of some numbers, but for those that are not finite.
fn ends(numbers: impl Iterator<Item = f64>) -> [f64; 2] {
    let finite = numbers.filter(|number| number.is_finite());
    finite.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], number| {
        [low.min(number), high.max(number)]
    })
}

/// The next number above that is 1, 2 or 5 times a power of ten.
fn nice(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let times = [1.0, 2.0, 5.0]
        .into_iter()
        .find(|times| times * power >= step);
    times.unwrap_or(10.0) * power
}

/// A multiple of a step, on an axis of numbers up to a magnitude.
fn written(number: f64, step: f64, largest: f64) -> String {
    if number.abs() < step * 1e-6 {
        return "0".to_owned();
    }
    // Rounding must not take a power of ten for less.
    let digit_of = |number: f64| (number.log10() + 1e-9).floor();
    let digit = digit_of(step);
    match (1e-3..1e5).contains(&largest) && digit > -5.0 {
        true => format!("{number:.*}", (-digit).max(0.0) as usize),
        false => {
            let digits = (digit_of(number.abs()) - digit).clamp(0.0, 6.0);
            format!("{number:.*e}", digits as usize)
        }
    }
}

/// A power of ten.
fn power(exponent: f64) -> String {
    decimal(10f64.powf(exponent), exponent as i32)
}

fn decimal(number: f64, power: i32) -> String {
    match power {
        -2..=3 => format!("{number:.*}", (-power).max(0) as usize),
        _ => format!("{number:.0e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<String> {
        axis.labels().into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn labels_are_round_numbers() {
        let axis = Axis::linear("x", -1.1, 1.1);
        assert_eq!(labels(&axis), ["-1.0", "-0.5", "0", "0.5", "1.0"]);
        assert_eq!(axis.labels()[2].0, 0.5);
        let of = |low, high| labels(&Axis::linear("x", low, high));
        assert_eq!(of(0.0, 100.0), ["0", "20", "40", "60", "80", "100"]);
        assert_eq!(of(-2.2e-6, 2.2e-6), ["-2e-6", "-1e-6", "0", "1e-6", "2e-6"]);
        assert_eq!(
            of(101_300.0, 101_340.0),
            ["1.0130e5", "1.0131e5", "1.0132e5", "1.0133e5", "1.0134e5"]
        );
        assert_eq!(of(3.0, 3.0).len(), 4);
        assert_eq!(of(f64::NAN, 3.0), ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
    }

    #[test]
    fn logarithmic_axes_have_powers() {
        let of = |numbers: &[f64]| Axis::logarithmic("x", numbers.iter().copied());
        let axis = of(&[0.001, 0.5, 0.0]).unwrap();
        assert_eq!(labels(&axis), ["1e-3", "0.01", "0.1"]);
        assert_eq!(axis.place(0.0), None);
        assert_eq!(
            labels(&of(&[1.0, 30.0]).unwrap()),
            ["1", "10", "2", "5", "20"]
        );
        assert!(labels(&of(&[1e-30, 1.0]).unwrap()).len() < 8);
        assert_eq!(of(&[0.0, -1.0, f64::NAN]), None);
    }
}
