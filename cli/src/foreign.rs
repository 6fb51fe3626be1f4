//! Files of other formats, recognised by their first bytes, with advice how to get their arrays.

/// Bytes that are enough to recognise every format.
pub const FIRST_BYTES: usize = 16;

/// A format that ferrosz does not read.
#[derive(Debug, PartialEq, Eq)]
pub struct Foreign {
    /// Its name, for a sentence "FILE is NAME".
    pub name: &'static str,
    /// How to convert its array for ferrosz.
    pub advice: &'static str,
    /// Whether a file of raw values begins with these bytes only by a chance of less than one in 2^40.
    pub is_certain: bool,
}

const fn format(name: &'static str, advice: &'static str, is_certain: bool) -> Foreign {
    Foreign {
        name,
        advice,
        is_certain,
    }
}

const UNPACK: &str = "unpack it first, or send it through a pipe: ... | ferrosz compress - OUT";

const NAME_VARIABLE: &str = "name a variable of it, as in FILE:NAME";

/// The first bytes of a ferrosz stream.
const FERROSZ: &[u8] = b"\x89FSZ\r\n\x1a\n";

/// Magic bytes and their formats.
const FORMATS: [(&[u8], Foreign); 17] = [
    (
        FERROSZ,
        format(
            "already a ferrosz stream",
            "`ferrosz decompress` gives its array",
            true,
        ),
    ),
    (
        b"\x89HDF\r\n\x1a\n",
        format("an HDF5 or NetCDF-4 file", NAME_VARIABLE, true),
    ),
    (
        b"SIMPLE  =",
        format(
            "a FITS file",
            "in Python, numpy.save('NAME.npy', astropy.io.fits.getdata(FILE))",
            true,
        ),
    ),
    (b"\xfd7zXZ\0", format("packed by xz", UNPACK, true)),
    (b"CDF\x01", NETCDF_3),
    (b"CDF\x02", NETCDF_3),
    (b"CDF\x05", NETCDF_3),
    (
        b"PK\x03\x04",
        format(
            "a zip archive, as .npz is",
            "in Python, numpy.save('NAME.npy', numpy.load(FILE)['NAME'])",
            false,
        ),
    ),
    (
        b"GRIB",
        format(
            "a GRIB file",
            "in Python, numpy.save('NAME.npy', xarray.open_dataset(FILE, engine='cfgrib')['NAME'].values)",
            false,
        ),
    ),
    (b"II*\0", TIFF),
    (b"MM\0*", TIFF),
    (b"II+\0", TIFF),
    (b"MM\0+", TIFF),
    (b"\x1f\x8b\x08", format("packed by gzip", UNPACK, false)),
    (b"\x28\xb5\x2f\xfd", format("packed by zstd", UNPACK, false)),
    (b"\x04\x22\x4d\x18", format("packed by lz4", UNPACK, false)),
    (b"BZh", format("packed by bzip2", UNPACK, false)),
];

const NETCDF_3: Foreign = format("a NetCDF-3 file", NAME_VARIABLE, false);

const TIFF: Foreign = format(
    "a TIFF image",
    "in Python, numpy.save('NAME.npy', tifffile.imread(FILE).astype('float32'))",
    false,
);

/// The format of a file with these first bytes, if it is listed.
pub fn recognise(first: &[u8]) -> Option<&'static Foreign> {
    let known = FORMATS.iter().find(|(magic, _)| first.starts_with(magic));
    known.map(|(_, format)| format)
}

/// Whether a file with these first bytes is a ferrosz stream.
pub fn is_ferrosz(first: &[u8]) -> bool {
    first.starts_with(FERROSZ)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_their_first_bytes() {
        let name = |first: &[u8]| recognise(first).map(|format| format.name);
        assert_eq!(
            name(b"PK\x03\x04\x14\0\0\0"),
            Some("a zip archive, as .npz is")
        );
        assert_eq!(
            name(b"\x89FSZ\r\n\x1a\n\x01\0"),
            Some("already a ferrosz stream")
        );
        assert_eq!(name(b"II*\0\x08\0"), Some("a TIFF image"));
        assert_eq!(name(b"\x93NUMPY\x01\0"), None);
        assert_eq!(name(&1.0f32.to_le_bytes()), None);
        assert_eq!(name(b""), None);
        assert!(FORMATS.iter().all(|(magic, _)| magic.len() <= FIRST_BYTES));
    }
}
