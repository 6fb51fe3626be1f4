//! Lengths of a field's dimensions, as integers of any type.

use crate::error::Error;
use ferrosz_codec::container::extents::Extents;
use std::fmt::Debug;

/// An integer type for the length of a dimension: `usize`, `u64` and all others.
pub trait Length: Copy + Debug + TryInto<u64> {}

impl<L: Copy + Debug + TryInto<u64>> Length for L {}

/// The extents with these lengths, slowest dimension first.
///
/// # Errors
///
/// [`Error::BadExtents`].
pub fn extents<L: Length>(lengths: &[L]) -> Result<Extents, Error> {
    let known: Option<Vec<u64>> = (lengths.iter())
        .map(|length| (*length).try_into().ok())
        .collect();
    let extents = known.and_then(|lengths| Extents::new(&lengths));
    extents.ok_or_else(|| Error::BadExtents(format!("{lengths:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_integers_of_any_type() {
        let wanted = Extents::new(&[3, 4]);
        assert_eq!(extents(&[3usize, 4]).ok(), wanted);
        assert_eq!(extents(&[3u64, 4]).ok(), wanted);
        assert_eq!(extents(&[3, 4]).ok(), wanted);
        assert_eq!(
            extents(&[-3, 4]),
            Err(Error::BadExtents("[-3, 4]".to_owned()))
        );
        assert_eq!(extents::<u64>(&[]).ok(), Extents::new(&[]));
        assert!(extents(&[1; 9]).is_err());
    }
}
