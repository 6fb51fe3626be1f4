//! The fields of a run.

use super::flags::{Flags, Source, Synthetic};
use ferrosz::stream::Extents;
use ferrosz::{Bound, Element};
use ferrosz_cli::array::{Array, Field};
use ferrosz_cli::{args::ShapeFlags, failure::Failure, field_file, location::Location};
use ferrosz_cuszp::bound::{Arithmetic, absolute_error};

/// A field to measure.
pub struct Subject<T> {
    /// Its name.
    pub name: String,
    /// Its extents.
    pub extents: Extents,
    /// Its values.
    pub values: Vec<T>,
}

impl<T: Element> Subject<T> {
    /// A field with at least one value.
    ///
    /// # Errors
    ///
    /// If the array has no values.
    pub fn new(name: String, array: Array<T>) -> Result<Self, Failure> {
        let extents = Extents::new(&array.extents).filter(|extents| extents.elements() > 0);
        Ok(Self {
            extents: extents.ok_or_else(|| {
                Failure::failed(format_args!("{name} has no values to measure on"))
            })?,
            name,
            values: array.values.to_vec(),
        })
    }

    /// The absolute error of a bound, which streams without header need.
    ///
    /// # Errors
    ///
    /// If it is not positive.
    pub fn positive_error(&self, bound: Bound) -> Result<T, Failure> {
        absolute_error(bound, Arithmetic::Elements, &self.values)
            .map_err(|fault| Failure::failed(format_args!("{}: {fault}", self.name)))
    }

    /// The extents as three: leading ones are multiplied, missing ones are 1.
    pub fn dims(&self) -> [u64; 3] {
        let mut lengths = self.extents.lengths().iter().rev().copied();
        let [x, y] = [(); 2].map(|()| lengths.next().unwrap_or(1));
        [lengths.product(), y, x]
    }
}

/// The fields of a source, with their names: the whole array, or its starts of the lengths that `--bytes` gives.
///
/// # Errors
///
/// If the source cannot be read, or is shorter than a start.
pub fn load(source: &Source, flags: &Flags) -> Result<Vec<(String, Field)>, Failure> {
    let (name, field) = load_whole(source, &flags.fields.shape)?;
    let field = if flags.f64 { widened(field) } else { field };
    if flags.bytes.is_empty() {
        return Ok(vec![(name, field)]);
    }
    let starts = flags.bytes.iter().map(|count| {
        let start = match &field {
            Field::F32(array) => Field::F32(start_of(&name, array, *count)?),
            Field::F64(array) => Field::F64(start_of(&name, array, *count)?),
            other => return Err(other.is_not_of_elements()),
        };
        Ok((name.clone(), start))
    });
    starts.collect()
}

/// The whole field of a source, with its name.
///
/// # Errors
///
/// If the source cannot be read.
pub fn load_whole(source: &Source, shape: &ShapeFlags) -> Result<(String, Field), Failure> {
    match source {
        Source::File(file) => {
            let shape = ShapeFlags {
                dtype: shape.dtype,
                dims: file.dims.clone().or_else(|| shape.dims.clone()),
                packed: false,
            };
            let field = field_file::read(&file.location, &shape, None)?;
            Ok((name_of(&file.location), field))
        }
        Source::Synthetic(synthetic) => Ok(make(*synthetic)),
    }
}

fn name_of(location: &Location) -> String {
    match location {
        Location::File(path) => {
            let stem = path.file_stem().unwrap_or(path.as_os_str());
            stem.to_string_lossy().into_owned()
        }
        Location::Pipe => "-".to_owned(),
        other => other.to_string(),
    }
}

fn make(Synthetic { kind, edge }: Synthetic) -> (String, Field) {
    let array = Array {
        extents: vec![edge; 3],
        is_complex: false,
        values: kind.cube(edge as usize).into(),
    };
    (format!("{}:{edge}", kind.name()), Field::F32(array))
}

/// The field with values of f64, if it has values of f32.
pub fn widened(field: Field) -> Field {
    match field {
        Field::F32(array) => Field::F64(widen(&array)),
        field => field,
    }
}

/// The same numbers in `f64`.
pub fn widen(array: &Array<f32>) -> Array<f64> {
    let values: Vec<f64> = array.values.iter().copied().map(f64::from).collect();
    Array {
        extents: array.extents.clone(),
        is_complex: false,
        values: values.into(),
    }
}

/// The first `count` bytes of an array, as a line.
fn start_of<T: Element>(name: &str, array: &Array<T>, count: u64) -> Result<Array<T>, Failure> {
    let elements = count / T::BYTES as u64;
    let values = usize::try_from(elements)
        .ok()
        .and_then(|elements| array.values.get(..elements))
        .ok_or_else(|| {
            Failure::usage(format_args!(
                "--bytes {count}: {name} has only {} bytes",
                array.values.len() * T::BYTES
            ))
        })?;
    Ok(Array {
        extents: vec![elements],
        is_complex: false,
        values: values.to_vec().into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_three_dims() {
        let dims = |extents: &[u64]| {
            let extents = extents.to_vec();
            let elements = extents.iter().product::<u64>() as usize;
            let values = vec![0.0f32; elements].into();
            let subject = Subject::new(
                String::new(),
                Array {
                    extents,
                    is_complex: false,
                    values,
                },
            );
            subject.map(|subject| subject.dims()).ok()
        };
        assert_eq!(dims(&[7]), Some([1, 1, 7]));
        assert_eq!(dims(&[6, 7]), Some([1, 6, 7]));
        assert_eq!(dims(&[2, 3, 5, 6, 7]), Some([30, 6, 7]));
        assert_eq!(dims(&[0]), None);
    }
}
