//! Numbers in words, for people.

use ferrosz::Bound;

/// A byte count with a unit: `275.6 kB`.
pub fn bytes(count: u64) -> String {
    let units = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")];
    match units.iter().find(|(size, _)| count as f64 >= *size) {
        Some((size, unit)) => format!("{:.1} {unit}", count as f64 / size),
        None => format!("{count} bytes"),
    }
}

/// A number with four significant digits, in scientific notation where that is shorter.
pub fn number(value: f64) -> String {
    let magnitude = value.abs();
    if value == 0.0 {
        "0".to_owned()
    } else if (1e-3..1e5).contains(&magnitude) {
        let digits = (3.0 - magnitude.log10().floor()).max(0.0) as usize;
        format!("{value:.digits$}")
    } else if value.is_finite() {
        format!("{value:.3e}")
    } else {
        value.to_string()
    }
}

/// A number with the unit of an array, if it has one.
pub fn with_unit(number: f64, unit: &str) -> String {
    labelled(&self::number(number), " ", unit)
}

/// What an axis or a column shows, with the unit of an array, if it has one.
pub fn in_unit(label: &str, unit: &str) -> String {
    labelled(label, ", ", unit)
}

/// CF names the unit of a number without one 1.
fn labelled(text: &str, between: &str, unit: &str) -> String {
    match unit.trim() {
        "" | "1" => text.to_owned(),
        unit => format!("{text}{between}{unit}"),
    }
}

/// A number with all its digits if they are few, with four otherwise.
pub fn short(value: f64) -> String {
    let magnitude = value.abs();
    let is_plain = magnitude == 0.0 || (1e-3..1e6).contains(&magnitude);
    // An f32 needs fewer digits than an f64.
    let short = value as f32;
    let all = match (is_plain, f64::from(short) == value) {
        (true, true) => short.to_string(),
        (true, false) => value.to_string(),
        (false, true) => format!("{short:e}"),
        (false, false) => format!("{value:e}"),
    };
    match all.len() {
        0..=8 => all,
        _ => number(value),
    }
}

/// An index of at most 1, never rounded up to it.
pub fn six_digits(index: f64) -> String {
    let rounded = format!("{index:.6}");
    match index < 1.0 && rounded == "1.000000" {
        true => "0.999999".to_owned(),
        false => rounded,
    }
}

/// A bound with its mode: `range 1e-3`.
pub fn bound(bound: Bound) -> String {
    format!("{} {:e}", bound.mode(), bound.value())
}

/// The absolute error of a stream.
pub fn absolute_error(error: f64) -> String {
    if error == 0.0 {
        "0: lossless".to_owned()
    } else if error.is_infinite() {
        "none, as each value has its own".to_owned()
    } else {
        number(error)
    }
}

/// The share of some among all, in per cent.
pub fn percent(some: usize, all: usize) -> String {
    format!("{} %", number(100.0 * some as f64 / all as f64))
}

/// Decibels.
pub fn decibels(value: f64) -> String {
    match value {
        f64::INFINITY => "infinite: every value is exact".to_owned(),
        f64::NEG_INFINITY => {
            "none: the original has one value only, and it is not exact".to_owned()
        }
        _ => format!("{value:.2} dB"),
    }
}

/// Bits of a stream for each element; an empty array has none.
pub fn bits_per_value(bits: f64) -> String {
    match bits.is_finite() {
        true => format!("{bits:.3}"),
        false => "no".to_owned(),
    }
}

/// Lengths as `10 x 83 x 83`, or `none`.
pub fn lengths(lengths: &[u64]) -> String {
    if lengths.is_empty() {
        return "none".to_owned();
    }
    let lengths: Vec<String> = lengths.iter().map(u64::to_string).collect();
    lengths.join(" x ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1.000"),
            (0.012346, "0.01235"),
            (-12.3456, "-12.35"),
            (12345.6, "12346"),
            (1.5e-7, "1.500e-7"),
            (2e300, "2.000e300"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn short_numbers_have_all_their_digits() {
        for (value, text) in [
            (1e-3, "0.001"),
            (1e-4, "1e-4"),
            (-9999.0, "-9999"),
            (1e20, "1e20"),
            (0.02, "0.02"),
            (0.0, "0"),
            (9.969_209_968_386_869e36, "9.969e36"),
            (0.009_800_000_190_734_863, "0.009800"),
            (f64::from(0.0098f32), "0.0098"),
            (f64::from(1e20f32), "1e20"),
        ] {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn values_have_units() {
        assert_eq!(with_unit(273.15, "K"), "273.1 K");
        assert_eq!(in_unit("error", " m s-1 "), "error, m s-1");
        for none in ["", " ", "1"] {
            assert_eq!(with_unit(0.0, none), "0");
            assert_eq!(in_unit("error", none), "error");
        }
    }

    #[test]
    fn counts_have_units() {
        assert_eq!(bytes(999), "999 bytes");
        assert_eq!(bytes(275_560), "275.6 kB");
        assert_eq!(bytes(u64::MAX), "18446744.1 TB");
    }
}
