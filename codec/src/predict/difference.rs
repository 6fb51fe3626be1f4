//! The one-neighbour difference of cuSZp's plain and outlier modes (SC'24 cuSZp2, section IV-A):
//! every code of a block is predicted by the one before it, the first by 0.
//!
//! Prediction never leaves a block. Differences wrap modulo 2^32; codes within
//! [`CODE_LIMIT`](crate::quantize::CODE_LIMIT) keep their magnitude below 2^31.

/// Codes to differences, in place.
#[inline(always)]
pub fn forward<const N: usize>(codes: &mut [i32; N]) {
    let mut previous = 0;
    for code in codes {
        let difference = code.wrapping_sub(previous);
        previous = *code;
        *code = difference;
    }
}

/// Differences to codes, in place.
#[inline(always)]
pub fn backward<const N: usize>(differences: &mut [i32; N]) {
    let mut sum = 0i32;
    for difference in differences {
        sum = sum.wrapping_add(*difference);
        *difference = sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_of_the_specification_example() {
        let codes = [500, 500, 501, 500, 502, 500, 503, 500];
        let mut block = codes;
        forward(&mut block);
        assert_eq!(block, [500, 0, 1, -1, 2, -2, 3, -3]);
        backward(&mut block);
        assert_eq!(block, codes);
    }

    #[test]
    fn any_codes_come_back() {
        let codes = [i32::MIN, i32::MAX, 0, -1, i32::MIN];
        let mut block = codes;
        forward(&mut block);
        backward(&mut block);
        assert_eq!(block, codes);
    }
}
