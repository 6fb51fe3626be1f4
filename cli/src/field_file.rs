//! Arrays in files and pipes: raw little-endian values, or `.npy`.

use crate::array::{Array, ArrayType, Field, Input, Shape, merge_leading};
use crate::foreign::{self, Foreign};
use crate::npy::{self, ByteOrder, NpyError};
#[cfg(feature = "netcdf")]
use crate::variable;
use crate::{
    args::ShapeFlags, failure::Failure, location::Location, output, transpose, values::Values,
};
use bytemuck::{cast_slice, cast_slice_mut};
use ferrosz::codec::with_value;
use ferrosz::scratch::{Scratch, spool};
use ferrosz::{Value, ValueType};
use std::fs::File;
use std::io::{self, Cursor, Read, Write};
use std::path::Path;

/// Bytes converted in one step; a multiple of every element's size.
const BLOCK: usize = 1 << 20;

/// Advice for raw values that do not fit the flags.
pub const CHECK_FLAGS: &str = "check --dtype, --dims and the file";

/// The shape of raw values for which the flags give none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assumed {
    /// Element type and lengths.
    pub shape: Shape,
    /// Advice if the file does not fit this shape.
    pub check: &'static str,
}

/// Shape of a file's values, and the layout of their bytes.
struct Layout {
    shape: Shape,
    /// Advice if the file's size is wrong.
    advice: &'static str,
    order: ByteOrder,
    /// For an array in Fortran order, the lengths of its numbers in the order of the file.
    fortran: Option<Vec<u64>>,
    header_bytes: u64,
}

/// An input, and its number of bytes if known.
struct Source {
    reader: Box<dyn Read>,
    /// The same input, if it is a file.
    file: Option<File>,
    bytes: Option<u64>,
    /// The first bytes of the input: [`foreign::FIRST_BYTES`], or all if there are fewer.
    first: Vec<u8>,
}

impl Source {
    fn new(mut reader: Box<dyn Read>, bytes: Option<u64>) -> io::Result<Self> {
        let mut first = Vec::new();
        (reader.by_ref())
            .take(foreign::FIRST_BYTES as u64)
            .read_to_end(&mut first)?;
        Ok(Self {
            reader: Box::new(Cursor::new(first.clone()).chain(reader)),
            file: None,
            bytes,
            first,
        })
    }
}

/// Reads an array. A `.npy` file, told by its first bytes, carries its shape, which `flags` must not contradict. Raw
/// values take their shape from `flags`, and a type or lengths not given there from `assumed`.
///
/// # Errors
///
/// If the array cannot be read, or has another shape than `flags` or the file's size demand.
pub fn read(
    location: &Location,
    flags: &ShapeFlags,
    assumed: Option<&Assumed>,
) -> Result<Field, Failure> {
    match location {
        Location::Variable { .. } => Ok(read_input(location, flags)?.field),
        _ => read_source(location, open(location)?, flags, assumed),
    }
}

/// Reads an array as [`read`] does, with the fill values that its file names.
///
/// # Errors
///
/// The errors of [`read`].
pub fn read_input(location: &Location, flags: &ShapeFlags) -> Result<Input, Failure> {
    let Location::Variable { file, name } = location else {
        return Ok(Input::new(read(location, flags, None)?));
    };
    let input = read_variable(file, name, flags)
        .map_err(|error| Failure::failed(format_args!("cannot read {location}: {error}")))?;
    check_flags(location, &input.field.shape(), flags)?;
    Ok(input)
}

#[cfg(feature = "netcdf")]
fn read_variable(
    file: &Path,
    name: &str,
    flags: &ShapeFlags,
) -> Result<Input, variable::VariableError> {
    variable::read(file, name, flags.packed)
}

#[cfg(not(feature = "netcdf"))]
fn read_variable(_: &Path, _: &str, _: &ShapeFlags) -> Result<Input, &'static str> {
    Err("this ferrosz was built without the feature netcdf")
}

/// Refuses flags that contradict the shape in a file.
fn check_flags(location: &Location, shape: &Shape, flags: &ShapeFlags) -> Result<(), Failure> {
    if flags.dtype.is_some_and(|of| of != shape.of) {
        return Err(Failure::usage(format_args!(
            "{location} holds {} values, but --dtype gives another type: omit --dtype",
            shape.of
        )));
    }
    if (flags.dims.as_ref()).is_some_and(|dims| dims.0 != shape.numbers()) {
        return Err(Failure::usage(format_args!(
            "{location} has the dimensions {}, but --dims gives others: omit --dims",
            shape.dims()
        )));
    }
    Ok(())
}

/// Reads an array from the bytes of a `.npy` file with this name.
///
/// # Errors
///
/// The errors of [`read`].
pub fn read_npy_bytes(name: &str, bytes: &'static [u8]) -> Result<Field, Failure> {
    let location = Location::File(name.into());
    let source = Source::new(Box::new(bytes), Some(bytes.len() as u64))
        .map_err(|error| Failure::io("read", &location, &error))?;
    read_source(&location, source, &ShapeFlags::default(), None)
}

fn read_source(
    location: &Location,
    mut source: Source,
    flags: &ShapeFlags,
    assumed: Option<&Assumed>,
) -> Result<Field, Failure> {
    let layout = if source.first.starts_with(&npy::MAGIC) {
        npy_layout(location, &mut source, flags, assumed)?
    } else {
        check_foreign(location, &source, |foreign| {
            foreign.is_certain || location.is_npy()
        })?;
        if location.is_npy() {
            return Err(cannot_read(location, NpyError::NotNpy));
        }
        raw_layout(location, &source, flags, assumed)?
    };
    let elements = check_size(location, &source, &layout)?;
    let source = &mut source;
    with_value!(layout.shape.of.dtype, V => {
        read_array::<V>(location, source, layout, elements).map(Field::from)
    })
}

/// Reads the values, and turns them to C order.
fn read_array<V: Value>(
    location: &Location,
    source: &mut Source,
    layout: Layout,
    elements: u64,
) -> Result<Array<V>, Failure> {
    let found = mapped(source, &layout, elements);
    if let Some(values) = found.map_err(|fault| fault.explain(location, &layout))? {
        return Ok(Array {
            extents: layout.shape.extents,
            is_complex: layout.shape.of.is_complex,
            values,
        });
    }
    let mut values = read_values(source, layout.order, elements)
        .map_err(|fault| fault.explain(location, &layout))?;
    if let Some(lengths) = &layout.fortran {
        let turned = match layout.shape.of.is_complex {
            true => transpose::pairs_to_c_order(values, lengths),
            false => transpose::to_c_order(values, lengths),
        };
        values = turned.map_err(|error| ReadFault::from(error).explain(location, &layout))?;
    }
    Ok(Array {
        extents: layout.shape.extents,
        is_complex: layout.shape.of.is_complex,
        values: values.into(),
    })
}

/// The values of a file that have their order in memory.
fn mapped<V: Value>(
    source: &Source,
    layout: &Layout,
    elements: u64,
) -> Result<Option<Values<V>>, ReadFault> {
    let is_as_it_lies = layout.fortran.is_none() && is_native(layout.order);
    let Some(file) = source.file.as_ref().filter(|_| is_as_it_lies) else {
        return Ok(None);
    };
    match Values::map(file, layout.header_bytes, elements) {
        // A copy of the file would not fit the address space, either.
        Err(error) if error.kind() == io::ErrorKind::OutOfMemory => Err(ReadFault::Memory),
        // What else cannot be mapped is read.
        found => Ok(found.ok().flatten()),
    }
}

/// Refuses a file of another format, with advice, if `is_asked` selects the format.
fn check_foreign(
    location: &Location,
    source: &Source,
    is_asked: impl Fn(&Foreign) -> bool,
) -> Result<(), Failure> {
    match foreign::recognise(&source.first).filter(|foreign| is_asked(foreign)) {
        Some(Foreign { name, advice, .. }) => Err(Failure::failed(format_args!(
            "{location} is {name}, not an array: {advice}{}",
            variables(location)
        ))),
        None => Ok(()),
    }
}

/// The variables of a NetCDF or HDF5 file, as the end of an advice; empty for other files.
fn variables(location: &Location) -> String {
    match location {
        #[cfg(feature = "netcdf")]
        Location::File(path) => variable::list_of(path)
            .map_or_else(|_| String::new(), |list| format!("; it has {list}")),
        _ => String::new(),
    }
}

fn open(location: &Location) -> Result<Source, Failure> {
    let source = match location {
        Location::Pipe => Source::new(Box::new(io::stdin()), None),
        Location::File(path) => File::open(path).and_then(|file| {
            let found = file.metadata()?;
            let bytes = found.is_file().then_some(found.len());
            let same = file.try_clone()?;
            let source = Source::new(Box::new(file), bytes)?;
            Ok(Source {
                file: Some(same),
                ..source
            })
        }),
        other => return Err(other.is_no_file("an array is a variable,")),
    };
    source.map_err(|error| Failure::io("read", location, &error))
}

fn cannot_read(location: &Location, error: NpyError) -> Failure {
    match error {
        NpyError::Io(error) => Failure::io("read", location, &error),
        error => Failure::failed(format_args!("cannot read {location}: {error}")),
    }
}

fn npy_layout(
    location: &Location,
    source: &mut Source,
    flags: &ShapeFlags,
    assumed: Option<&Assumed>,
) -> Result<Layout, Failure> {
    let header =
        npy::Header::read(&mut source.reader).map_err(|error| cannot_read(location, error))?;
    let of = header.of;
    let of_values = of.of_values(header.shape.clone());
    let shape = Shape {
        of,
        extents: merge_leading(&of_values).ok_or_else(|| too_large(location))?,
    };
    let expected = flags.dtype.or(assumed.map(|assumed| assumed.shape.of));
    let bf16 = ArrayType::real(ValueType::Bf16);
    if of == bf16 && expected != Some(bf16) {
        return Err(Failure::usage(format_args!(
            "{location} holds values of 2 bytes without a type, as NumPy writes bfloat16: add --dtype bf16 if they are that"
        )));
    }
    check_flags(location, &shape, flags)?;
    Ok(Layout {
        shape,
        advice: "the file is damaged",
        order: header.order,
        fortran: header.is_fortran.then_some(header.shape),
        header_bytes: header.bytes,
    })
}

fn raw_layout(
    location: &Location,
    source: &Source,
    flags: &ShapeFlags,
    assumed: Option<&Assumed>,
) -> Result<Layout, Failure> {
    let of = flags.dtype.or(assumed.map(|assumed| assumed.shape.of));
    let numbers = (flags.dims.as_ref())
        .map(|dims| dims.0.clone())
        .or(assumed.map(|assumed| assumed.shape.numbers().to_vec()));
    let (Some(of), Some(numbers)) = (of, numbers) else {
        check_foreign(location, source, |_| true)?;
        let missing = match (flags.dtype, &flags.dims) {
            (None, None) => "--dtype and --dims, as in --dtype f32 --dims 10,83,83",
            (None, Some(_)) => "--dtype, such as f32 or u16",
            _ => "--dims, slowest first, as in --dims 10,83,83",
        };
        return Err(Failure::usage(format_args!(
            "{location} holds raw values: add {missing} \
             (only .npy files contain their type and dimensions)"
        )));
    };
    Ok(Layout {
        shape: Shape {
            of,
            extents: of.of_values(numbers),
        },
        advice: assumed.map_or(CHECK_FLAGS, |assumed| assumed.check),
        order: ByteOrder::Little,
        fortran: None,
        header_bytes: 0,
    })
}

/// The number of elements; an error if the file's size, where known, is not exactly right for them.
fn check_size(location: &Location, source: &Source, layout: &Layout) -> Result<u64, Failure> {
    let elements = layout.shape.elements().ok_or_else(|| too_large(location))?;
    let needed = layout.bytes(elements);
    match source.bytes {
        Some(found) if found != needed => {
            check_foreign(location, source, |_| true)?;
            Err(Failure::failed(format_args!(
                "{location} has {found} bytes, but {} need {needed}: {}",
                layout.shape, layout.advice
            )))
        }
        _ => Ok(elements),
    }
}

fn too_large(location: &Location) -> Failure {
    Failure::failed(format_args!(
        "{location}: no computer can hold an array of these dimensions"
    ))
}

impl Layout {
    /// Bytes of a whole file with this layout.
    fn bytes(&self, elements: u64) -> u64 {
        let values = elements.saturating_mul(self.shape.of.dtype.bytes() as u64);
        values.saturating_add(self.header_bytes)
    }
}

/// The reasons why values could not be read.
enum ReadFault {
    Io(io::Error),
    CutOff,
    Trailing,
    Memory,
    Scratch(ferrosz::Error),
}

impl From<ferrosz::Error> for ReadFault {
    fn from(error: ferrosz::Error) -> Self {
        match error {
            ferrosz::Error::ReaderEnded { .. } => Self::CutOff,
            ferrosz::Error::OutOfMemory { .. } => Self::Memory,
            error => Self::Scratch(error),
        }
    }
}

impl ReadFault {
    fn explain(self, location: &Location, layout: &Layout) -> Failure {
        let (shape, advice) = (&layout.shape, layout.advice);
        match self {
            Self::Io(error) => Failure::io("read", location, &error),
            Self::CutOff => Failure::failed(format_args!(
                "{location} ends before the last of the {shape}: {advice}"
            )),
            Self::Trailing => Failure::failed(format_args!(
                "{location} continues after the last of the {shape}: {advice}"
            )),
            Self::Memory => Failure::failed(format_args!(
                "there is no memory for the {shape} of {location}"
            )),
            Self::Scratch(error) => Failure::failed(format_args!("{location}: {error}")),
        }
    }
}

/// Reads exactly `elements` values.
fn read_values<V: Value>(
    source: &mut Source,
    order: ByteOrder,
    elements: u64,
) -> Result<Scratch<V>, ReadFault> {
    let mut values = spool(&mut source.reader, Some(elements))?;
    to_native(&mut values, order);
    match source.reader.read_exact(&mut [0]) {
        Ok(()) => Err(ReadFault::Trailing),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(values),
        Err(error) => Err(ReadFault::Io(error)),
    }
}

fn is_native(order: ByteOrder) -> bool {
    match order {
        ByteOrder::Little => cfg!(target_endian = "little"),
        ByteOrder::Big => cfg!(target_endian = "big"),
    }
}

/// Turns little-endian values to the byte order of this machine.
pub fn from_little<V: Value>(values: &mut [V]) {
    to_native(values, ByteOrder::Little);
}

/// Turns values from a file's byte order to that of this machine.
fn to_native<V: Value>(values: &mut [V], order: ByteOrder) {
    if !is_native(order) {
        for bytes in cast_slice_mut::<V, u8>(values).chunks_exact_mut(size_of::<V>()) {
            bytes.reverse();
        }
    }
}

/// The bytes before the values of an array in a file: those of `.npy` by the output's suffix, else none.
pub fn header(output: &Location, shape: &Shape) -> Vec<u8> {
    match output.is_npy() {
        true => npy::Header::to_bytes(shape.of, shape.numbers()),
        false => Vec::new(),
    }
}

/// Writes an array: `.npy` by the output's suffix, else raw little-endian values.
///
/// # Errors
///
/// If the output cannot be written.
pub fn write<V: Value>(output: &Location, force: bool, array: &Array<V>) -> Result<(), Failure> {
    output::write(output, force, |writer| {
        writer.write_all(&header(output, &array.shape()))?;
        write_values(writer, &array.values)
    })
}

/// Writes values as they lie in a file: little-endian.
///
/// # Errors
///
/// The errors of the writer.
pub fn write_values<V: Value>(writer: &mut dyn Write, values: &[V]) -> io::Result<()> {
    if cfg!(target_endian = "little") {
        return writer.write_all(cast_slice(values));
    }
    let mut block = Vec::with_capacity(BLOCK);
    for values in values.chunks(BLOCK / size_of::<V>()) {
        block.clear();
        for value in values {
            block.extend_from_slice(
                value
                    .to_value_bits()
                    .to_le_bytes()
                    .split_at(size_of::<V>())
                    .0,
            );
        }
        writer.write_all(&block)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Dims;

    fn read_bytes(bytes: &[u8], shape: &ShapeFlags, name: &str) -> Result<Field, Failure> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        read(&Location::File(path), shape, None)
    }

    fn flags(dtype: Option<ValueType>, dims: Option<&[u64]>) -> ShapeFlags {
        ShapeFlags {
            dtype: dtype.map(ArrayType::real),
            dims: dims.map(|dims| Dims(dims.to_vec())),
            packed: false,
        }
    }

    fn npy(descr: &str, shape: &str, values: &[u8]) -> Vec<u8> {
        let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}}}");
        let mut bytes = npy::MAGIC.to_vec();
        bytes.extend([1, 0]);
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes.extend(values);
        bytes
    }

    fn f32s(values: &[f32]) -> Vec<u8> {
        values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect()
    }

    #[test]
    fn arrays_are_read_back_bit_by_bit() {
        let folder = tempfile::tempdir().unwrap();
        let array = Array {
            extents: vec![2, 3],
            is_complex: false,
            values: vec![1.5, -0.0, f64::NAN, f64::INFINITY, 5e-324, f64::MIN].into(),
        };
        for name in ["a.npy", "a.f64"] {
            let location = Location::File(folder.path().join(name));
            write(&location, false, &array).unwrap();
            let flags = flags(Some(ValueType::F64), Some(&[2, 3]));
            let Field::F64(found) = read(&location, &flags, None).unwrap() else {
                panic!("not f64");
            };
            assert_eq!(found.extents, array.extents);
            let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&found.values), bits(&array.values));
        }
    }

    #[test]
    fn arrays_larger_than_a_block_are_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let location = Location::File(folder.path().join("a.npy"));
        let values: Vec<f32> = (0..BLOCK / 4 + 7).map(|i| i as f32).collect();
        let array = Array {
            extents: vec![values.len() as u64],
            is_complex: false,
            values: values.into(),
        };
        write(&location, false, &array).unwrap();
        let found = read(&location, &ShapeFlags::default(), None).unwrap();
        assert_eq!(found, Field::F32(array));
    }

    #[test]
    fn big_endian_values_are_turned() {
        let big = [1.0f32.to_be_bytes(), (-2.5f32).to_be_bytes()].concat();
        let found = read_bytes(&npy(">f4", "(2,)", &big), &ShapeFlags::default(), "a.npy");
        let wanted = Array {
            extents: vec![2],
            is_complex: false,
            values: vec![1.0f32, -2.5].into(),
        };
        assert_eq!(found.unwrap(), Field::F32(wanted));
        let big = 1e-9f64.to_be_bytes();
        let found = read_bytes(&npy(">f8", "()", &big), &ShapeFlags::default(), "a.npy");
        let wanted = Array {
            extents: Vec::new(),
            is_complex: false,
            values: vec![1e-9].into(),
        };
        assert_eq!(found.unwrap(), Field::F64(wanted));
    }

    #[test]
    fn types_of_16_bits_are_read_in_either_order() {
        for (order, bytes) in [('<', [1, 2, 3, 4]), ('>', [2, 1, 4, 3])] {
            let read = |descr: &str, dtype| {
                let file = npy(&format!("{order}{descr}"), "(2,)", &bytes);
                read_bytes(&file, &flags(dtype, None), "a.npy")
            };
            let bits = [0x0201, 0x0403];
            for (descr, dtype) in [
                ("u2", None),
                ("i2", None),
                ("f2", None),
                ("V2", Some(ValueType::Bf16)),
            ] {
                let field = read(descr, dtype).unwrap();
                let found = with_field!(&field, array => {
                    array.values.iter().map(|value| value.to_value_bits()).collect::<Vec<u64>>()
                });
                assert_eq!(found, bits, "{descr}");
                assert_eq!(field.shape().extents, [2]);
            }
            let refusal = read("V2", None).unwrap_err().to_string();
            assert!(refusal.contains("--dtype bf16"), "{refusal}");
            assert!(read("u2", Some(ValueType::I16)).is_err());
        }
    }

    #[test]
    fn wrong_sizes_are_refused() {
        let values = f32s(&[1.0; 6]);
        let shape = |dims| flags(Some(ValueType::F32), Some(dims));
        assert!(read_bytes(&values, &shape(&[2, 3]), "a").is_ok());
        let refusal = read_bytes(&values, &shape(&[7]), "a")
            .unwrap_err()
            .to_string();
        assert!(
            refusal.contains("24 bytes") && refusal.contains("need 28"),
            "{refusal}"
        );
        assert!(read_bytes(&values, &shape(&[u64::MAX, 3]), "a").is_err());
        for shape in ["(5,)", "(7,)", "(9223372036854775807, 4)"] {
            let bytes = npy("<f4", shape, &values);
            assert!(read_bytes(&bytes, &ShapeFlags::default(), "a.npy").is_err());
        }
    }

    #[test]
    fn pipes_that_end_early_or_late_are_refused() {
        let bytes: &'static [u8] = &[0; 24];
        let source = || Source::new(Box::new(bytes), None).unwrap();
        let read = |elements| read_values::<f32>(&mut source(), ByteOrder::Little, elements);
        assert!(matches!(read(6), Ok(values) if values[..] == [0.0; 6]));
        assert!(matches!(read(5), Err(ReadFault::Trailing)));
        assert!(matches!(read(u64::MAX / 4), Err(ReadFault::CutOff)));
    }

    #[test]
    fn contradictions_are_refused() {
        let bytes = npy("<f4", "(2, 3)", &f32s(&[1.0; 6]));
        for (dtype, dims) in [
            (Some(ValueType::F64), None),
            (None, Some(&[3, 2][..])),
            (None, Some(&[6][..])),
        ] {
            let refusal = read_bytes(&bytes, &flags(dtype, dims), "a.npy");
            assert!(matches!(refusal, Err(Failure::Usage(_))));
        }
        let agreed = flags(Some(ValueType::F32), Some(&[2, 3]));
        assert!(read_bytes(&bytes, &agreed, "a.npy").is_ok());
        let missing = read_bytes(&f32s(&[1.0; 6]), &flags(None, Some(&[6])), "a").unwrap_err();
        assert!(missing.to_string().contains("--dtype"), "{missing}");
    }
}
