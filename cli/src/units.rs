//! Rates and sizes on a command line.

/// Bytes a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate(f64);

/// Units of rates, and the bytes of each a second.
const RATES: [(&str, f64); 3] = [("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3)];

/// Units of sizes, and the bytes of each.
const SIZES: [(&str, u64); 4] = [
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("", 1),
];

impl Rate {
    /// Bytes a second.
    pub fn bytes_per_second(self) -> f64 {
        self.0
    }

    /// Gigabytes a second.
    pub fn gigabytes_per_second(self) -> f64 {
        self.0 / 1e9
    }
}

/// Parses a rate: a positive number with a unit, or of GB/s.
pub fn rate(text: &str) -> Result<Rate, String> {
    let found = RATES.iter().find_map(|(unit, bytes)| {
        let number = text.strip_suffix(unit)?;
        Some((number, *bytes))
    });
    let (number, bytes) = found.unwrap_or((text, 1e9));
    let rate = number.trim().parse::<f64>().map(|number| number * bytes);
    match rate {
        Ok(rate) if rate.is_finite() && rate > 0.0 => Ok(Rate(rate)),
        _ => Err("a rate is a positive number of GB/s, or with a unit, as in 500MB/s".to_owned()),
    }
}

/// Parses a positive size: a whole number of bytes, KiB, MiB or GiB.
pub fn size(text: &str) -> Result<u64, String> {
    let of_unit = |(unit, bytes): &(&str, u64)| {
        let number: u64 = text.strip_suffix(unit)?.trim().parse().ok()?;
        number.checked_mul(*bytes).filter(|bytes| *bytes > 0)
    };
    (SIZES.iter().find_map(of_unit))
        .ok_or_else(|| "a size is a whole number of bytes, or with a unit, as in 64MiB".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_have_units() {
        for (text, bytes) in [
            ("11.4", 11.4e9),
            ("1GB/s", 1e9),
            ("2.5 MB/s", 2.5e6),
            ("8kB/s", 8e3),
        ] {
            assert_eq!(rate(text).map(Rate::bytes_per_second), Ok(bytes));
        }
        for bad in ["", "0", "-1", "1TB/s", "nan", "inf", "GB/s", "1e400"] {
            assert!(rate(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_have_units() {
        for (text, bytes) in [
            ("7", 7),
            ("64MiB", 64 << 20),
            ("3 KiB", 3072),
            ("1GiB", 1 << 30),
        ] {
            assert_eq!(size(text), Ok(bytes));
        }
        for bad in [
            "",
            "0",
            "0MiB",
            "-1",
            "1.5MiB",
            "MiB",
            "20000000000GiB",
            "1MB",
        ] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }
}
