//! The windows of a field that travels: each is compressed as a field of its own, while earlier ones travel.

use crate::compress::Compressor;
use crate::decompress::Decompressor;
use crate::error::Error;
use crate::length::{self, Length};
use crate::memory::try_zeroed;
use crate::overlapped::{WAITING, ahead, overlapped};
use ferrosz_codec::Value;
use ferrosz_codec::container::extents::Extents;
use std::ops::Range;
use std::thread;

/// Indices of the divided axis of which a window has a multiple, if it has so many: the longest edges of tiles that are
/// not along the last axis.
const EDGES: [u64; 3] = [256, 64, 16];

/// Elements of which a window of a divided last axis has a multiple: the longest chunk of tiles.
const RUN: u64 = 1 << 20;

/// The windows of a field: boxes whose elements are consecutive in memory. They are slabs of whole indices of the slowest
/// axis if that makes them small enough, otherwise of a later axis, with one index of each axis before it.
///
/// ```
/// # use ferrosz_host as ferrosz;
/// use ferrosz::windows::Windows;
///
/// let windows = Windows::new(&[100, 50, 60], 100_000)?;
/// assert_eq!(windows.len(), 4);
/// let last = windows.get(3).ok_or("there are four")?;
/// assert_eq!((last.elements, last.extents), (288_000..300_000, vec![4, 50, 60]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Windows {
    extents: Extents,
    /// The axis that is divided.
    axis: usize,
    /// The indices of this axis that a window has; the last one may have fewer.
    indices: u64,
}

/// A window of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// Its number, in the order of its elements.
    pub number: u64,
    /// Its elements in the field.
    pub elements: Range<u64>,
    /// Its extents: as many as the field has, and one for a single element without dimensions.
    pub extents: Vec<u64>,
}

impl Windows {
    /// The windows of a field of these extents, of up to so many elements, at least 1.
    ///
    /// # Errors
    ///
    /// [`Error::BadExtents`].
    pub fn new<L: Length>(extents: &[L], most: u64) -> Result<Self, Error> {
        let mut extents = length::extents(extents)?;
        if extents.lengths().is_empty() {
            extents = Extents::line(1);
        }
        let most = most.max(1);
        let lengths = extents.lengths();
        let of_index = |axis: usize| lengths[axis + 1..].iter().product::<u64>().max(1);
        let last = lengths.len() - 1;
        let axis = (0..last).find(|axis| of_index(*axis) <= most);
        let axis = axis.unwrap_or(last);
        let edges = if axis == last { &[RUN][..] } else { &EDGES };
        let indices = match most / of_index(axis) {
            all if all >= lengths[axis] => all,
            some => {
                let edge = edges.iter().find(|edge| **edge <= some);
                edge.map_or(some, |edge| some / edge * edge)
            }
        };
        Ok(Self {
            extents,
            axis,
            indices,
        })
    }

    /// The field's extents, slowest dimension first.
    pub fn extents(&self) -> &[u64] {
        self.extents.lengths()
    }

    /// The number of windows.
    pub fn len(&self) -> u64 {
        match self.extents.elements() {
            0 => 0,
            _ => self.boxes() * self.slabs(),
        }
    }

    /// Whether the field has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The most elements of a window.
    pub fn most_elements(&self) -> u64 {
        self.get(0).map_or(0, |window| window.count())
    }

    /// The window with this number, if there are so many.
    pub fn get(&self, number: u64) -> Option<Window> {
        if number >= self.len() {
            return None;
        }
        let lengths = self.extents.lengths();
        let length = lengths[self.axis];
        let (before, slab) = (number / self.slabs(), number % self.slabs());
        let first = slab * self.indices;
        let indices = self.indices.min(length - first);
        let of_index: u64 = lengths[self.axis + 1..].iter().product();
        let start = (before * length + first) * of_index;
        let mut extents = vec![1; self.axis];
        extents.push(indices);
        extents.extend(&lengths[self.axis + 1..]);
        Some(Window {
            number,
            elements: start..start + indices * of_index,
            extents,
        })
    }

    /// All windows, in the order of their elements.
    pub fn iter(&self) -> impl Iterator<Item = Window> {
        (0..self.len()).filter_map(|number| self.get(number))
    }

    /// The combinations of indices of the axes before the divided one.
    fn boxes(&self) -> u64 {
        self.extents.lengths()[..self.axis].iter().product()
    }

    /// The windows of each of these.
    fn slabs(&self) -> u64 {
        self.extents.lengths()[self.axis].div_ceil(self.indices)
    }
}

impl Window {
    /// The number of elements.
    pub fn count(&self) -> u64 {
        self.elements.end - self.elements.start
    }

    /// The window's part of the values of a field, which has these elements.
    ///
    /// # Errors
    ///
    /// [`Error::RangeOutside`].
    pub fn of<'a, V>(&self, field: &'a [V]) -> Result<&'a [V], Error> {
        let range = self.elements.start as usize..self.elements.end as usize;
        field.get(range).ok_or(Error::RangeOutside {
            from: self.elements.start,
            to: self.elements.end,
            elements: field.len() as u64,
        })
    }
}

impl Compressor {
    /// The same compressor for a window, as a field of its own.
    ///
    /// # Errors
    ///
    /// [`Error::BadExtents`].
    pub fn for_window(&self, window: &Window) -> Result<Self, Error> {
        self.extents(&window.extents)
    }

    /// Compresses the windows of a field, each to a stream of its own, and gives the streams to `deliver` in the order of
    /// the windows. A stream is compressed on another thread while `deliver` has the one before: at most three are in
    /// memory. A bound relative to the field becomes the same absolute bound for all windows.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Compressor, Decompressor, Error, Preset};
    /// use ferrosz::windows::Windows;
    ///
    /// let field: Vec<f32> = (0..60 * 50 * 40).map(|i| (i as f32 * 1e-3).sin()).collect();
    /// let windows = Windows::new(&[60, 50, 40], 32_000)?;
    /// let compressor = Compressor::new(Preset::Fast, Bound::range(1e-3)?);
    /// let mut streams = Vec::new();
    /// compressor.compress_windows(&field, &windows, |_, stream| -> Result<(), Error> {
    ///     streams.push(stream); // or send it
    ///     Ok(())
    /// })?;
    /// let mut arrived = Vec::new();
    /// let mut streams = streams.into_iter();
    /// Decompressor::new().decompress_windows(
    ///     &windows,
    ///     |_| Ok::<_, Error>(streams.next().unwrap_or_default()),
    ///     |_, values: Vec<f32>| {
    ///         arrived.extend(values);
    ///         Ok(())
    ///     },
    /// )?;
    /// assert!(field.iter().zip(&arrived).all(|(x, y)| (x - y).abs() <= 2e-3));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::ExtentsMismatch`] if the windows are not of the field; the errors of [`Compressor::compress`] and of
    /// `deliver`, after which nothing more is compressed.
    pub fn compress_windows<V: Value, E: From<Error> + Send>(
        &self,
        field: &[V],
        windows: &Windows,
        mut deliver: impl FnMut(&Window, Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.extents(windows.extents())?
            .extents_for(field.len() as u64)?;
        let compressor = self.absolute_for(field)?;
        let mut windows = windows.iter();
        overlapped(
            || match windows.next() {
                None => Ok(None),
                Some(window) => {
                    let own = compressor.for_window(&window)?;
                    let stream = own.compress(window.of(field)?)?;
                    Ok(Some((window, stream)))
                }
            },
            |(window, stream)| deliver(&window, stream),
        )
    }
}

impl Decompressor {
    /// Decompresses the streams of the windows of a field, which `next` gives in their order, and gives the values to
    /// `deliver`. `next` and the decoder run on threads of their own: while `deliver` has the values of a window, a later one is
    /// decoded, and the next stream is fetched. At most three streams and three windows are in
    /// memory.
    ///
    /// # Errors
    ///
    /// [`Error::WindowMismatch`] if a stream has other extents than its window; the errors of
    /// [`Decompressor::decompress`], of `next` and of `deliver`.
    pub fn decompress_windows<V: Value, E: From<Error> + Send>(
        &self,
        windows: &Windows,
        mut next: impl FnMut(&Window) -> Result<Vec<u8>, E> + Send,
        mut deliver: impl FnMut(&Window, Vec<V>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut all = windows.iter();
        let fetch = || match all.next() {
            None => Ok(None),
            Some(window) => next(&window).map(|stream| Some((window, stream))),
        };
        thread::scope(|scope| {
            let fetched = ahead(scope, WAITING, fetch);
            overlapped(
                move || match fetched.recv() {
                    // There are no more.
                    Err(_) => Ok(None),
                    Ok(fetched) => {
                        let (window, stream) = fetched?;
                        let values = self.decompress_window(&window, &stream)?;
                        Ok(Some((window, values)))
                    }
                },
                |(window, values)| deliver(&window, values),
            )
        })
    }

    /// Decompresses the stream of a window.
    ///
    /// # Errors
    ///
    /// [`Error::WindowMismatch`] if the stream has other extents than the window, whatever it would take to decode it;
    /// the errors of [`Decompressor::decompress`].
    pub fn decompress_window<V: Value>(
        &self,
        window: &Window,
        stream: &[u8],
    ) -> Result<Vec<V>, Error> {
        let found = crate::info(stream)?;
        if found.extents != window.extents {
            return Err(Error::WindowMismatch {
                number: window.number,
                extents: window.extents.clone(),
                found: found.extents,
            });
        }
        let mut values = try_zeroed::<V>(window.count())?;
        self.decompress_into(stream, &mut values)?;
        Ok(values)
    }
}
