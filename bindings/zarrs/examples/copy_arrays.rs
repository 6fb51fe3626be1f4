//! Reads and writes arrays for `tests/test_python.py`: `copy_arrays IN OUT`.
//!
//! For each array `NAME` of the store IN it writes to OUT: `NAME.all`, the values that it decodes; `NAME.part`, those of the
//! middle half along each axis; and an array `NAME` with the same metadata and the values of the file `IN/NAME.values`. The
//! files have the values' bytes in C order.

use ferrosz_zarrs as _;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use zarrs::array::{Array, ArrayBytes, ArraySubset};
use zarrs::filesystem::FilesystemStore;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [from, to] = &arguments[..] else {
        return Err("usage: copy_arrays IN OUT".into());
    };
    let (from, to) = (Path::new(from), Path::new(to));
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            let name = entry
                .file_name()
                .into_string()
                .map_err(|_| "a name is no text")?;
            copy(from, to, &name).map_err(|error| format!("{name}: {error}"))?;
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Path, name: &str) -> Result<(), Box<dyn Error>> {
    let path = format!("/{name}");
    let array = Array::open(Arc::new(FilesystemStore::new(from)?), &path)?;
    let bytes_of = |subset: &ArraySubset| -> Result<Vec<u8>, Box<dyn Error>> {
        let values: ArrayBytes<'static> = array.retrieve_array_subset(subset)?;
        Ok(values.into_fixed()?.into_owned())
    };
    let quarters = array.shape().iter();
    let middle: Vec<_> = quarters
        .map(|length| length / 4..length - length / 4)
        .collect();
    fs::write(
        to.join(format!("{name}.all")),
        bytes_of(&array.subset_all())?,
    )?;
    fs::write(
        to.join(format!("{name}.part")),
        bytes_of(&ArraySubset::new_with_ranges(&middle))?,
    )?;

    let written = Array::new_with_metadata(
        Arc::new(FilesystemStore::new(to)?),
        &path,
        array.metadata().clone(),
    )?;
    written.store_metadata()?;
    let values = fs::read(from.join(format!("{name}.values")))?;
    written.store_array_subset(&written.subset_all(), ArrayBytes::from(values))?;
    Ok(())
}
