//! cuSZp's coder in blocks of 32 and of 64 on the CPU, against the crate of cuSZp's streams, and against a decoder that reads
//! bit after bit.

use crate::common::{ERROR, field};
use ferrosz_cuszp::Shape;
use ferrosz_cuszp::cuszp::{self, Mode, Params, Quantizer};
use ferrosz_lab_kernels::long_blocks::{assemble, encode};

#[test]
fn blocks_of_32_are_those_of_cuszp() {
    for (seed, bits) in [(1, 6), (2, 20), (3, 40)] {
        let values: Vec<f32> = field(seed, 2, bits);
        let quantizer = Quantizer::new(ERROR as f32);
        for mode in Mode::ALL {
            let dims = [1, 1, values.len() as u64];
            let params = Params::new(Shape::Line, mode, dims, ERROR as f32);
            let expected = cuszp::reference::compress(&params, &values).expect("compresses");
            let parts: Vec<_> = (values.chunks(32 * 40))
                .map(|values| encode::<f32, 1>(&quantizer, mode, values))
                .collect();
            assert!(assemble(&parts) == expected, "{mode:?}, {bits} bits");
        }
    }
}

/// The codes of blocks of `length`, from FORMAT.md: a row has a bit for each element, the first one at the top of the
/// first byte.
fn codes(rates: &[u8], mut payload: &[u8], length: usize) -> Vec<i64> {
    let mut codes = Vec::new();
    let mut take = |bytes: usize| {
        let (taken, rest) = payload.split_at(bytes);
        payload = rest;
        taken
    };
    for rate in rates {
        let (outlier, planes) = match rate & 0x80 {
            0 => (0, *rate),
            _ => (usize::from(*rate >> 5 & 3) + 1, rate & 31),
        };
        let mut differences = vec![0i64; length];
        if *rate != 0 {
            let first = take(outlier).iter().rev();
            let first = first.fold(0, |number, byte| number << 8 | i64::from(*byte));
            let bit = |row: &[u8], e: usize| i64::from(row[e / 8] >> (7 - e % 8) & 1);
            let signs = take(length / 8);
            for plane in 0..planes {
                let row = take(length / 8);
                for (e, difference) in differences.iter_mut().enumerate() {
                    *difference += bit(row, e) << plane;
                }
            }
            differences[0] += first;
            for (e, difference) in differences.iter_mut().enumerate() {
                *difference *= 1 - 2 * bit(signs, e);
            }
        }
        let mut code = 0;
        codes.extend(differences.iter().map(|difference| {
            code += difference;
            code
        }));
    }
    assert!(payload.is_empty());
    codes
}

#[test]
fn blocks_of_64_come_back() {
    for mode in [Mode::Plain, Mode::Outlier] {
        let values: Vec<f64> = field(4, 2, 28);
        let quantizer = Quantizer::new(ERROR);
        let coded = encode::<f64, 2>(&quantizer, mode, &values);
        assert_eq!(coded.rates.len() * 64, values.len());
        let has_outliers = coded.rates.iter().any(|rate| rate & 0x80 != 0);
        assert_eq!(has_outliers, mode == Mode::Outlier);
        let found = codes(&coded.rates, &coded.payload, 64);
        assert!(
            found
                .iter()
                .zip(&values)
                .all(|(code, value)| *code as f64 == *value)
        );
    }
}
