//! Machine code of those kernels that a driver takes long to compile, for usual chips, made from their PTX by `cargo xtask
//! ptx`.
//!
//! With it a first call does not wait for the driver's compiler, which takes three seconds for those of a call. Where there
//! is none for a chip, there is the [PTX](crate::ptx).

/// The kernel, the chip's number (90 for `sm_90`), and the packed machine code, ordered by kernel.
const PACKED: &[(&str, u32, &[u8])] = include!(concat!(env!("OUT_DIR"), "/machine_code.rs"));

/// The machine code of the kernel of this name for a GPU of compute capability `major.minor`, as an `.lzma` file of a
/// `cubin`. None where no code of a chip of the same `major` and at most this `minor` is there.
pub fn packed(name: &str, major: u32, minor: u32) -> Option<&'static [u8]> {
    let begin = PACKED.partition_point(|(kernel, ..)| *kernel < name);
    let chips = PACKED[begin..].iter().take_while(|code| code.0 == name);
    chips
        .filter(|(_, chip, _)| chip / 10 == major && chip % 10 <= minor)
        .max_by_key(|(_, chip, _)| *chip)
        .map(|(.., packed)| *packed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::list::LAUNCHES;

    #[test]
    fn chips_of_the_same_major_number_share_it() {
        let name = "ferrosz_interp_scores_cube_f32";
        let (ampere, hopper) = (packed(name, 8, 0), packed(name, 9, 0));
        assert!(ampere.is_some() && hopper.is_some() && ampere != hopper);
        assert_eq!(packed(name, 8, 9), ampere);
        assert_eq!(packed(name, 9, 1), hopper);
        for (major, minor) in [(7, 5), (10, 0), (12, 0)] {
            assert_eq!(packed(name, major, minor), None);
        }
        assert_eq!(packed("ferrosz_interp_scores", 9, 0), None);
    }

    #[test]
    fn it_is_of_kernels_that_there_are() {
        assert!(PACKED.is_sorted());
        for (name, ..) in PACKED {
            assert!(LAUNCHES.iter().any(|launch| launch.name == *name), "{name}");
        }
    }
}
