//! Who has the values of a field of tiles, and encodes which of its chunks: one process alone, or each member of a group a
//! part of them. All members take the same steps, those of `compress.rs`.

use crate::cpu::Version;
use crate::cpu::numbers::Numbers;
use crate::cpu::predict::interp::TileStore;
use crate::cpu::predict::tune::tune;
use crate::cpu::tiles::codes::TileValues;
use crate::cpu::tiles::kept::Kept;
use crate::cpu::tiles::rows::Rows;
use crate::cpu::tiles::strided::Strided;
use crate::error::Error;
use crate::memory;
use ferrosz_codec::Element;
use ferrosz_codec::code::entropy::counts::Counts;
use ferrosz_codec::container::tiles::TileLayout;
use ferrosz_codec::predict::fitted::Fitted;
use ferrosz_codec::predict::interp::resolved::Resolved;
use ferrosz_codec::predict::interp::tune::Tuning;
use ferrosz_codec::quantize::field::Quantizer;
use ferrosz_codec::tile::{TileBox, TileGrid};
use std::sync::{Mutex, PoisonError};

/// A member of those that encode a field of tiles together.
pub(crate) trait Holder<T> {
    /// The values of its tiles.
    fn values(&self) -> &dyn TileValues<T>;

    /// The chunks of the field that it encodes.
    fn chunks(&self) -> Numbers<'_>;

    /// The numbers of its tiles whose symbols are counted.
    fn counted(&self) -> Vec<u64>;

    /// Whether it is the member that has the prologue.
    fn is_first(&self) -> bool;

    /// The parameters of the interpolation of the whole field, and its coefficients.
    ///
    /// # Errors
    ///
    /// [`Error::Group`].
    fn tuned(
        &self,
        version: Version,
        quantizer: &Quantizer<T>,
        tuning: &Tuning,
    ) -> Result<(Resolved<T>, Option<Fitted>), Error>;

    /// Its part of the coarse field, whose positions are `spacing` apart.
    ///
    /// # Errors
    ///
    /// [`Error::Group`]; [`Error::OutOfMemory`].
    fn coarse(&self, spacing: u32) -> Result<Box<dyn CoarseHolder<T> + '_>, Error>;

    /// Replaces counts by their sums over all members.
    ///
    /// # Errors
    ///
    /// [`Error::Group`].
    fn sum(&self, counts: &mut Counts) -> Result<(), Error>;

    /// Tells the others whether a step has failed here.
    ///
    /// # Errors
    ///
    /// [`Error::Group`] if it has failed elsewhere.
    fn tell(&self, has_failed: bool) -> Result<(), Error>;
}

/// A member's part of the coarse field, and the others.
pub(crate) trait CoarseHolder<T> {
    /// The part.
    fn part(&self) -> &dyn CoarsePart<T>;

    /// The part with all decoded values from which tiles of the member's field are predicted, when all tiles of all members
    /// are kept.
    ///
    /// # Errors
    ///
    /// [`Error::Group`].
    fn complete<'s>(self: Box<Self>) -> Result<Box<dyn CoarsePart<T> + 's>, Error>
    where
        Self: 's;
}

/// A member's part of the coarse field, for all its threads.
pub(crate) trait CoarsePart<T>: Sync {
    /// The values of its tiles.
    fn values(&self) -> &dyn TileValues<T>;

    /// The chunks of the coarse field that it encodes.
    fn chunks(&self) -> Numbers<'_>;

    /// The numbers of the tiles of these chunks.
    fn tiles(&self) -> Vec<u64>;

    /// The anchors of the whole coarse field in C order, if the member has the prologue.
    fn anchors(&self) -> &[T];

    /// The value of an anchor of a tile, at a position of the grid of anchors.
    fn anchor(&self, tile: u64, at: [u64; 3]) -> T;

    /// Keeps the decoded values of a tile.
    fn keep(&self, number: u64, tile: &TileBox, store: &TileStore<T>);

    /// A decoded value of the complete coarse field: an anchor of a tile of the member's field.
    fn known(&self, at: [u64; 3]) -> T;
}

/// The result of a step once all members have taken it: an error of one is an error of all, so that none waits for another.
///
/// # Errors
///
/// The own error; [`Error::Group`] if only others failed.
pub(super) fn agreed<T, R>(holder: &dyn Holder<T>, own: Result<R, Error>) -> Result<R, Error> {
    let told = holder.tell(own.is_err());
    let result = own?;
    told.map(|()| result)
}

/// One process that has the whole field in memory.
pub(crate) struct Alone<'a, T> {
    layout: &'a TileLayout,
    field: Strided<'a, T>,
}

impl<'a, T: Element> Alone<'a, T> {
    pub(crate) fn new(layout: &'a TileLayout, values: &'a [T]) -> Self {
        Self {
            layout,
            field: Strided::new(layout, values),
        }
    }
}

impl<T: Element> Holder<T> for Alone<'_, T> {
    fn values(&self) -> &dyn TileValues<T> {
        &self.field
    }

    fn chunks(&self) -> Numbers<'_> {
        Numbers::Range(0..self.layout.fine_chunks())
    }

    fn counted(&self) -> Vec<u64> {
        Kept::counted(&self.layout.fine)
    }

    fn is_first(&self) -> bool {
        true
    }

    fn tuned(
        &self,
        version: Version,
        quantizer: &Quantizer<T>,
        tuning: &Tuning,
    ) -> Result<(Resolved<T>, Option<Fitted>), Error> {
        let (grid, error) = (&self.layout.fine, quantizer.error());
        let read = |at, row: &mut [T]| self.field.read(at, row);
        let tuned = tune(version, grid, &read, error, 0.0, tuning);
        Ok((Resolved::new(tuned.parameters, error), tuned.coefficients))
    }

    fn coarse(&self, spacing: u32) -> Result<Box<dyn CoarseHolder<T> + '_>, Error> {
        let field = self.field.coarse(self.layout, spacing);
        Ok(Box::new(WholeCoarse {
            chunks: self.layout.coarse_chunks(),
            anchor_grid: field.grid.coarse(spacing),
            anchors: field.anchors(spacing),
            kept: Mutex::new(memory::try_zeroed(field.grid.elements())?),
            known: Vec::new(),
            field,
        }))
    }

    fn sum(&self, _: &mut Counts) -> Result<(), Error> {
        Ok(())
    }

    fn tell(&self, _: bool) -> Result<(), Error> {
        Ok(())
    }
}

/// The whole coarse field.
struct WholeCoarse<'a, T> {
    field: Strided<'a, T>,
    chunks: u64,
    anchor_grid: TileGrid,
    anchors: Vec<T>,
    /// The decoded values in C order, while tiles are decoded, and then.
    kept: Mutex<Vec<T>>,
    known: Vec<T>,
}

impl<T: Element> CoarseHolder<T> for WholeCoarse<'_, T> {
    fn part(&self) -> &dyn CoarsePart<T> {
        self
    }

    fn complete<'s>(mut self: Box<Self>) -> Result<Box<dyn CoarsePart<T> + 's>, Error>
    where
        Self: 's,
    {
        let kept = self.kept.get_mut().unwrap_or_else(PoisonError::into_inner);
        self.known = std::mem::take(kept);
        Ok(self)
    }
}

impl<T: Element> CoarsePart<T> for WholeCoarse<'_, T> {
    fn values(&self) -> &dyn TileValues<T> {
        &self.field
    }

    fn chunks(&self) -> Numbers<'_> {
        Numbers::Range(0..self.chunks)
    }

    fn tiles(&self) -> Vec<u64> {
        (0..self.field.grid.tiles()).collect()
    }

    fn anchors(&self) -> &[T] {
        &self.anchors
    }

    fn anchor(&self, _: u64, at: [u64; 3]) -> T {
        self.anchors[self.anchor_grid.flat(at) as usize]
    }

    fn keep(&self, _: u64, tile: &TileBox, store: &TileStore<T>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        Rows::whole(&self.field.grid, &mut kept).put_tile(tile, store);
    }

    fn known(&self, at: [u64; 3]) -> T {
        self.known[self.field.grid.flat(at) as usize]
    }
}
