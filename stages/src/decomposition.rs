//! A field in parts.

use crate::code::Code;
use crate::error::Error;
use crate::recipe::Recipe;
use ferrosz_codec::Element;

/// A field in parts, with codes of type `C`.
#[derive(Debug, Clone, PartialEq)]
pub struct Decomposition<T, C> {
    /// The parameters of composition.
    pub recipe: Recipe<T>,
    /// A code for each position of the field, in the recipe's order: the quantised difference from the
    /// prediction plus the radius. 0 says that the position is an outlier. The radius itself at anchors.
    pub codes: Vec<C>,
    /// The values of the anchors, bit for bit, in the order of the field.
    pub anchors: Vec<T>,
    /// The values of the outliers, bit for bit, in the order of the field.
    pub outlier_values: Vec<T>,
    /// Their numbers in the field, ascending.
    pub outlier_indices: Vec<u32>,
}

impl<T: Element, C: Code> Decomposition<T, C> {
    /// Whether the parts are as long as the recipe says.
    pub(super) fn check_lengths(&self) -> Result<(), Error> {
        let recipe = &self.recipe;
        let what = if recipe.width != C::WIDTH {
            "the codes do not have the width that the recipe gives"
        } else if self.codes.len() as u64 != recipe.grid.elements() {
            return Err(Error::CODE_COUNT);
        } else if self.anchors.len() as u64 != recipe.coarse().elements() {
            "the number of anchors is not that of the field"
        } else if self.outlier_values.len() != self.outlier_indices.len() {
            "the outliers have different numbers of values and positions"
        } else {
            return Ok(());
        };
        Err(Error::BadDecomposition(what))
    }
}
