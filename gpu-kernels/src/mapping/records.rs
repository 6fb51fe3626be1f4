//! The records of a stream that is decoded.

use crate::primitives::scan::warp_sum_u64;
use ferrosz_codec::container::checksum::term;
use ferrosz_codec::container::header_words::Summary;
use ferrosz_simt::{Thread, View, WARP};

/// Whether records have the checksum that their header says. For one warp.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub(crate) fn are_sound<T: Thread>(t: T, header: View<u32>, records: View<u32>) -> bool {
    let words = records.len() as u32;
    let mut sum = 0u64;
    let mut at = t.lane();
    while at < words {
        sum = sum.wrapping_add(term(at, t.load(records, u64::from(at))));
        at += WARP;
    }
    let sum = warp_sum_u64(t, sum);
    Summary::has_records(sum, |word| t.load(header, word as u64))
}
