//! The store of a tile in shared memory.

use core::marker::PhantomData;
use ferrosz_codec::Element;
use ferrosz_codec::predict::interp::store;
use ferrosz_codec::shape::StaticShape;
use ferrosz_simt::{Layout, Shared, SharedAddress, Thread, View};

/// A tile's values, laid out as [`store`] says. The high words of `f64` lie behind all low ones, so that either are
/// side by side. They are the first array of shared memory.
pub struct Values<E, S>(PhantomData<(E, S)>);

impl<E: Element, S: StaticShape> Values<E, S> {
    const LEN: u32 = store::len(S::SHAPE);

    /// The words of the store, and the layout to go on with.
    pub const SHARED: (Shared<u32>, Layout) = {
        let mut layout = Layout::new();
        (layout.array("values", Self::LEN * E::WORDS as u32), layout)
    };

    /// The address of the store. For a whole warp.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn kept_address<T: Thread>(t: T) -> SharedAddress {
        Self::SHARED.0.kept_address(t)
    }

    /// Reads the value at an address.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn load_at<T: Thread>(t: T, address: SharedAddress) -> E {
        let low = t.shared_load_at(address);
        let high = if E::WORDS == 2 {
            t.shared_load_at(address + 4 * Self::LEN)
        } else {
            0
        };
        E::from_words([low, high])
    }

    /// Writes the value at an address.
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn store_at<T: Thread>(t: T, address: SharedAddress, value: E) {
        let [low, high] = value.to_words();
        t.shared_store_at(address, low);
        if E::WORDS == 2 {
            t.shared_store_at(address + 4 * Self::LEN, high);
        }
    }

    /// Begins to copy an element of a field in global memory to an address: see
    /// [`copy_async`](ferrosz_simt::GlobalMemory::copy_async).
    #[cfg_attr(target_arch = "nvptx64", inline(always))]
    pub fn copy_to<T: Thread>(t: T, address: SharedAddress, field: View<u32>, element: u64) {
        let word = element * E::WORDS as u64;
        t.copy_async(address, field, word);
        if E::WORDS == 2 {
            t.copy_async(address + 4 * Self::LEN, field, word + 1);
        }
    }
}
