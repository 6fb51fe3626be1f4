//! The kernels' compiled code, made from these sources by `cargo xtask ptx`.
//!
//! As PTX each kernel is a module of its own with nothing of another, so that a driver compiles only the launched
//! kernels. Those kernels that a driver takes long to compile are there as machine code for usual chips, too: with it
//! a first call does not wait for the driver's compiler, which takes three seconds for those of a call. All of it is
//! compressed in the format of `.lzma` files: PTX to a seventh of its length.

use ferrosz_simt::Package;

/// The compiled code of all kernels; nothing without the feature `ptx`.
pub const PACKAGE: Package = {
    let package: Package = include!(concat!(env!("OUT_DIR"), "/package.rs"));
    // Unit tests of this crate launch no kernel by its name, and would compile all of them again.
    #[cfg(all(feature = "emulator", not(test)))]
    let package = package.with_emulated(crate::list::emulated);
    package
};

#[cfg(all(test, feature = "ptx"))]
mod tests {
    use super::*;
    use crate::list::launches;

    #[test]
    fn every_kernel_has_its_ptx_and_no_other_has() {
        let launches = launches();
        for launch in &launches {
            let packed = PACKAGE.ptx_of(launch.name).expect(launch.name);
            // Behind the coder's properties and the size of its window, the length of the text.
            let length = u64::from_le_bytes(packed[5..13].try_into().unwrap());
            assert!(
                (500..1 << 20).contains(&length),
                "{}: {length}",
                launch.name
            );
        }
        assert_eq!(PACKAGE.ptx.len(), launches.len());
        assert!(PACKAGE.ptx_of("ferrosz_compress").is_none());
    }

    #[test]
    fn chips_of_the_same_major_number_share_machine_code() {
        let name = "ferrosz_interp_scores_cube_f32";
        let code = |major, minor| PACKAGE.machine_code_of(name, major, minor);
        let (ampere, hopper) = (code(8, 0), code(9, 0));
        assert!(ampere.is_some() && hopper.is_some() && ampere != hopper);
        assert_eq!(code(8, 9), ampere);
        assert_eq!(code(9, 1), hopper);
        for (major, minor) in [(7, 5), (10, 0), (12, 0)] {
            assert_eq!(code(major, minor), None);
        }
        assert_eq!(PACKAGE.machine_code_of("ferrosz_interp_scores", 9, 0), None);
    }

    #[test]
    fn machine_code_is_of_kernels_that_there_are() {
        assert!(PACKAGE.machine_code.is_sorted());
        let launches = launches();
        for (name, ..) in PACKAGE.machine_code {
            assert!(launches.iter().any(|launch| launch.name == *name), "{name}");
        }
    }
}
