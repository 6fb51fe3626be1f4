//! The axes of a field, and their order in the coded field.

use crate::axes_setting::AxesSetting;
use crate::compress::Compressor;
use crate::error::Error;
use ferrosz_codec::container::extents::Extents;
use ferrosz_codec::mapping::axes::{Axes, Order};

impl Compressor {
    /// Sets which of the field's axes are coded together, and which are axes of slices.
    ///
    /// Without this call a preset also chooses the axes. A codec codes the last two axes that are longer than 1 as y
    /// and x, and all axes before them as z.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Codec, Compressor, Decompressor};
    ///
    /// // Six times of ten levels each; no block has values of two times.
    /// let field: Vec<f32> = (0..6 * 10 * 20 * 30).map(|i| (i as f32 * 0.01).sin()).collect();
    /// let compressor = Compressor::new(Codec::LORENZO, Bound::abs(1e-3)?);
    /// let compressor = compressor.extents(&[6, 10, 20, 30])?.axes("s,z,y,x".parse()?);
    /// let stream = compressor.compress(&field)?;
    /// assert_eq!(ferrosz::info(&stream)?.axes.to_string(), "s,z,y,x");
    /// let decoded: Vec<f32> = Decompressor::new().decompress(&stream)?;
    /// assert!(field.iter().zip(&decoded).all(|(x, y)| (x - y).abs() <= 1e-3));
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    #[must_use]
    pub fn axes(self, axes: Axes) -> Self {
        self.with_axes(AxesSetting::Roles(axes))
    }

    /// Lets the field decide the order of its axes, also with a codec that is named. Presets do so without this call. A sample
    /// tells whether the stream is clearly shorter if smooth axes come last. The rank stays that of a named codec.
    ///
    /// A named codec is then [chosen](Compressor::choose) for each field, in host memory.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Codec, Compressor};
    ///
    /// // Rough along the second axis.
    /// let value = |i: u32| (i / 48 % 48 * 7919 % 1009) as f32 + (i as f32 * 1e-5).sin();
    /// let field: Vec<f32> = (0..48 * 48 * 48).map(value).collect();
    /// let named = Compressor::new(Codec::INTERP, Bound::abs(0.1)?).extents(&[48, 48, 48])?;
    /// let turned = named.axes_auto().compress(&field)?;
    /// assert_eq!(ferrosz::info(&turned)?.codec, Codec::INTERP);
    /// assert!(turned.len() < named.compress(&field)?.len());
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    #[must_use]
    pub fn axes_auto(self) -> Self {
        self.with_axes(AxesSetting::Auto)
    }

    /// [`Compressor::axes`], or [`Compressor::axes_auto`].
    #[must_use]
    pub fn with_axes(mut self, axes: AxesSetting) -> Self {
        self.axes = Some(axes);
        self
    }

    /// Whether the caller has asked for a search of the axes, and they are not yet chosen.
    pub(crate) fn searches_axes(&self) -> bool {
        self.axes == Some(AxesSetting::Auto)
    }

    /// The axes that were given or chosen.
    pub(crate) fn given_axes(&self) -> Option<Axes> {
        match self.axes {
            Some(AxesSetting::Roles(axes)) => Some(axes),
            Some(AxesSetting::Auto) | None => None,
        }
    }

    /// Whether axes were set whose order is not the user's.
    pub(crate) fn turns_axes(&self) -> bool {
        let axes = self.given_axes();
        self.has_open_parts() || axes.is_some_and(|axes| !axes.order().is_identity())
    }

    /// The extents of the coded field, given those of the field.
    pub(crate) fn coded_extents(&self, extents: &Extents) -> Result<Extents, Error> {
        let Some(axes) = self.axes_for(extents) else {
            return Ok(*extents);
        };
        axes.coded_extents(extents)
            .ok_or_else(|| Error::AxesMismatch {
                axes,
                extents: extents.lengths().to_vec(),
            })
    }

    /// The order of the axes of the coded field, for fields of this many elements.
    pub(crate) fn order_for(&self, elements: u64) -> Result<Order, Error> {
        let extents = self.extents_for(elements)?;
        let rank = extents.lengths().len();
        let order = (self.axes_for(&extents)).map_or(Order::identity(rank), |axes| axes.order());
        Ok(order.with_complex(self.is_complex))
    }
}
