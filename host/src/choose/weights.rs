//! The weights of tiles that are known: each is weighed once.

/// The bits of the differences between neighbours of some tiles of a field: see
/// [`SampleKernels::weigh`](crate::sampled_field::SampleKernels::weigh). Threads find the same.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct TileWeights {
    /// The number of each tile, in ascending order, and its bits.
    known: Vec<(u64, u64)>,
}

impl TileWeights {
    /// The bits of a tile, if they are known.
    pub(crate) fn get(&self, number: u64) -> Option<u64> {
        let found = self
            .known
            .binary_search_by_key(&number, |(number, _)| *number);
        found.ok().map(|at| self.known[at].1)
    }

    /// Adds the bits of tiles that have none so far.
    pub(crate) fn extend(&mut self, numbers: &[u64], bits: &[u64]) {
        self.known
            .extend(numbers.iter().copied().zip(bits.iter().copied()));
        self.known.sort_unstable_by_key(|(number, _)| *number);
    }
}
