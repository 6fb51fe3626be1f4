//! The identity of a stream, from which the checksums of its chunks start.

use crate::container::checksum::mix;
use crate::container::table::CHUNK_ALIGNMENT;

/// A hash of a header's description of the field, the codec and the bound. The checksum of a chunk does not match in a
/// stream with another header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity(pub u64);

impl Identity {
    /// The identity of a header whose first [`IDENTITY_WORDS`](crate::container::header::IDENTITY_WORDS) words have
    /// this checksum with seed 0.
    #[inline(always)]
    pub const fn of_sum(sum: u64) -> Self {
        Self(mix(sum))
    }

    /// The seed of the checksum of a chunk with this form whose entry in the table has this number. So the checksum of
    /// a chunk does not match at another entry or with another form.
    #[inline(always)]
    pub const fn seed(self, number: u64, form: u32) -> u64 {
        let position = number
            .wrapping_mul(CHUNK_ALIGNMENT)
            .wrapping_add(form as u64 + 1);
        self.0
            .wrapping_add(position.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stream_number_and_form_has_a_seed_of_its_own() {
        let seeds: alloc::collections::BTreeSet<u64> = (0..20u64)
            .flat_map(|sum| {
                (0..20).flat_map(move |number| (0..5).map(move |form| (sum, number, form)))
            })
            .map(|(sum, number, form)| Identity::of_sum(sum).seed(number, form))
            .collect();
        assert_eq!(seeds.len(), 20 * 20 * 5);
    }
}
