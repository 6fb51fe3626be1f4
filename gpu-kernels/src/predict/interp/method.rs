//! The methods of prediction, each with kernels of its own.

/// Whether levels may be predicted by stencils.
pub trait Method: Copy + Send + Sync + 'static {
    /// The start of the kernels' names.
    const NAME: &'static str;
    /// Whether there are stencils.
    const HAS_STENCILS: bool;
}

/// Splines on all levels.
#[derive(Debug, Clone, Copy)]
pub struct Splines;

/// Stencils on fitted levels, splines on others.
#[derive(Debug, Clone, Copy)]
pub struct Stencils;

impl Method for Splines {
    const NAME: &'static str = "ferrosz_interp";
    const HAS_STENCILS: bool = false;
}

impl Method for Stencils {
    const NAME: &'static str = "ferrosz_stencil";
    const HAS_STENCILS: bool = true;
}
