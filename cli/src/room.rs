//! The room of a disk.

use std::path::Path;

/// Bytes that this process may still write into a folder; none if the system does not say.
#[cfg(unix)]
pub fn available(folder: &Path) -> Option<u64> {
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt;
    let folder = CString::new(folder.as_os_str().as_bytes()).ok()?;
    // SAFETY: all zeros is a valid value of this plain struct.
    let mut found: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: `folder` ends with a zero, and both outlive the call, which writes to `found` alone.
    let asked = unsafe { libc::statvfs(folder.as_ptr(), &raw mut found) };
    // The types of the two differ between systems.
    #[allow(clippy::unnecessary_cast, reason = "u32 on some systems")]
    let bytes = (found.f_bavail as u64).saturating_mul(found.f_frsize as u64);
    (asked == 0).then_some(bytes)
}

/// The standard library does not ask.
#[cfg(not(unix))]
pub fn available(_: &Path) -> Option<u64> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_room_and_a_missing_one_is_not_known() {
        let folder = tempfile::tempdir().unwrap();
        assert!(available(folder.path()).unwrap() > 0);
        assert_eq!(available(&folder.path().join("gone")), None);
    }
}
