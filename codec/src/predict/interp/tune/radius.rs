//! The radius: nearly all codes of a field are below it.

use crate::predict::interp::tune::cost::CLASSES;

/// One in this many values may have a code of at least the radius in magnitude, and so be stored raw.
const ONE_OF: u64 = 1000;

/// The least radius.
const LEAST_BITS: u32 = 5;

/// The smallest power of two, from 32 to `max`, that all but a thousandth of codes are below; `count` gives the number
/// of sampled codes of a class.
#[inline(always)]
pub fn radius(count: impl Fn(u32) -> u64, max: u32) -> u32 {
    let classes = CLASSES as u32;
    let mut reaching = (0..classes).fold(0u64, |sum, class| sum.wrapping_add(count(class)));
    let allowed = reaching / ONE_OF;
    for class in 0..classes {
        reaching = reaching.saturating_sub(count(class));
        // Magnitudes of this class and of the classes before it have at most `class` bits.
        if class >= LEAST_BITS && reaching <= allowed {
            return max.min(1 << class.min(u32::BITS - 1));
        }
    }
    max
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousandth_may_reach_it() {
        let mut counts = [0; CLASSES];
        let radius = |counts: &[u64; CLASSES], max| radius(|class| counts[class as usize], max);
        counts[0] = 100_000;
        assert_eq!(radius(&counts, 32_768), 32);
        counts[9] = 100;
        assert_eq!(radius(&counts, 32_768), 32);
        counts[9] = 101;
        assert_eq!(radius(&counts, 32_768), 512);
        assert_eq!(radius(&counts, 128), 128);
        counts[16] = 50_000;
        assert_eq!(radius(&counts, 32_768), 32_768);
        assert_eq!(radius(&[0; CLASSES], 128), 32);
    }
}
