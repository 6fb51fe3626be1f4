//! The kernels of [`list`](crate::list) as PTX, compiled by `cargo xtask ptx` from these sources.
//!
//! Each kernel is a module of its own with nothing of another, so that a driver compiles no more than what is launched.
//! The texts are compressed in the format of `.lzma` files: a seventh of their length.

/// The packed PTX of each kernel, by name.
const PACKED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/ptx.rs"));

/// The PTX of the kernel of this name, as an `.lzma` file. None if there is no such kernel.
pub fn packed(name: &str) -> Option<&'static [u8]> {
    let position = PACKED.binary_search_by_key(&name, |(kernel, _)| *kernel);
    position.ok().map(|position| PACKED[position].1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::list::LAUNCHES;

    #[test]
    fn every_kernel_has_its_ptx_and_no_other_has() {
        for name in LAUNCHES.iter().map(|launch| launch.name) {
            let packed = packed(name).expect(name);
            // Behind the coder's properties and the size of its window, the length of the text.
            let length = u64::from_le_bytes(packed[5..13].try_into().unwrap());
            assert!((500..1 << 20).contains(&length), "{name}: {length}");
        }
        assert_eq!(PACKED.len(), LAUNCHES.len());
        assert!(packed("ferrosz_compress").is_none());
    }

    #[test]
    fn all_of_it_is_at_most_2_megabytes() {
        let bytes: usize = PACKED.iter().map(|(_, packed)| packed.len()).sum();
        assert!(bytes <= 2_000_000, "{bytes}");
    }
}
