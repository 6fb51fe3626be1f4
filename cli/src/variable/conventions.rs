//! What the attributes of a variable say about its values: the CF conventions, section 8.1, and `_Unsigned` of NetCDF.

use super::VariableError;
use super::number::{NumberType, Numbers};
use crate::array::{Array, Field, Input};
use bytemuck::Pod;
use ferrosz::scratch::{Copies, Scratch};
use ferrosz::{Bf16, F16, Fill, Value, ValueType};

/// The attributes that are read.
pub const NAMES: [&str; 6] = [
    "_FillValue",
    "missing_value",
    PACKING[0],
    PACKING[1],
    "_Unsigned",
    UNITS,
];

/// The attributes of numbers that are stored for values, section 8.1.
const PACKING: [&str; 2] = ["scale_factor", "add_offset"];

/// The attribute for the unit of the values, section 3.1.
const UNITS: &str = "units";

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub enum Attribute {
    /// Numbers, and whether their type is `f32`.
    Numbers(Vec<f64>, bool),
    /// The parts of complex numbers.
    Complex(Vec<f64>),
    /// Text.
    Text(String),
    /// What is neither, in words.
    Other(String),
}

impl Attribute {
    /// What the value is, for people.
    fn describe(&self) -> String {
        match self {
            Self::Numbers(numbers, _) => format!("{} numbers", numbers.len()),
            Self::Complex(_) => "complex numbers".to_owned(),
            Self::Text(text) => format!("the text '{}'", text.escape_debug()),
            Self::Other(what) => what.clone(),
        }
    }
}

/// The attributes of a variable.
#[derive(Debug, Default)]
pub struct Attributes(pub Vec<(&'static str, Attribute)>);

impl Attributes {
    fn get(&self, name: &str) -> Option<&Attribute> {
        let found = self.0.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value)
    }

    /// A factor or summand, and whether its type is `f32`.
    fn number(&self, name: &'static str) -> Result<Option<(f64, bool)>, VariableError> {
        match self.get(name) {
            None => Ok(None),
            Some(Attribute::Numbers(numbers, is_single)) if numbers.len() == 1 => {
                Ok(Some((numbers[0], *is_single)))
            }
            Some(other) => Err(VariableError::Packing {
                name,
                value: other.describe(),
            }),
        }
    }
}

/// How stored numbers become values.
pub struct Conventions {
    number_type: NumberType,
    /// Whether the numbers are the parts of complex ones.
    is_complex: bool,
    /// The values of missing elements, with the sign that `_Unsigned` gives.
    missing: Vec<f64>,
    /// Whether `_Unsigned` contradicts the stored type.
    is_turned: bool,
    packing: Option<Packing>,
    /// The unit of the values; empty if the attributes do not say it, and for stored numbers that stand for values.
    unit: String,
    notes: Vec<String>,
}

/// A value is its stored number times a factor, plus an offset.
struct Packing {
    factor: f64,
    offset: f64,
    /// Whether values have type `f32`.
    is_single: bool,
}

impl Packing {
    fn note(&self, stored: NumberType) -> String {
        let (stored, read) = (stored.name(), if self.is_single { "f32" } else { "f64" });
        format!(
            "{stored} values with scale_factor and add_offset are unpacked to {read}; --packed compresses the {stored} values"
        )
    }
}

impl Conventions {
    /// Those of a variable of this type, or of complex numbers of two parts of it. Without the attribute `_FillValue`, the
    /// numbers `fill` stand for missing elements, of complex ones for missing parts. With `is_packed`, values are the stored
    /// numbers.
    ///
    /// # Errors
    ///
    /// [`VariableError::Packing`]; [`VariableError::Type`] for complex numbers that are packed.
    pub fn new(
        (number_type, is_complex): (NumberType, bool),
        attributes: &Attributes,
        fill: Option<Vec<f64>>,
        is_packed: bool,
    ) -> Result<Self, VariableError> {
        let packing = match is_packed {
            true => None,
            false => packing(attributes)?,
        };
        let names_packing = PACKING.iter().any(|name| attributes.get(name).is_some());
        if is_complex && packing.is_some() {
            let what = "complex numbers with scale_factor or add_offset (without --packed)";
            return Err(VariableError::Type(what.to_owned()));
        }
        let is_turned = is_turned(number_type, attributes);
        let mut conventions = Self {
            number_type,
            is_complex,
            missing: Vec::new(),
            is_turned,
            packing,
            unit: match attributes.get(UNITS) {
                Some(Attribute::Text(unit)) if !(is_packed && names_packing) => unit.clone(),
                _ => String::new(),
            },
            notes: Vec::new(),
        };
        let named = attributes.get("_FillValue").cloned();
        let fill = named.or_else(|| fill.map(|fill| Attribute::Numbers(fill, false)));
        conventions.add_missing("_FillValue", fill.as_ref());
        conventions.add_missing("missing_value", attributes.get("missing_value"));
        Ok(conventions)
    }

    fn add_missing(&mut self, name: &str, attribute: Option<&Attribute>) {
        let numbers = match attribute {
            None => return,
            Some(Attribute::Numbers(numbers, _)) => numbers,
            Some(Attribute::Complex(parts)) if self.is_complex => parts,
            Some(other) => {
                let what = other.describe();
                self.notes.push(format!(
                    "the attribute {name} is {what}, not a number, and is not used"
                ));
                return;
            }
        };
        let of_values = match self.is_turned {
            true => self.number_type.turned(),
            false => self.number_type,
        };
        for number in numbers {
            let Some(number) = of_values.nearest(self.turned_number(*number)) else {
                continue;
            };
            let is_known = |known: &f64| known.to_bits() == number.to_bits();
            if !self.missing.iter().any(is_known) {
                self.missing.push(number);
            }
        }
    }

    /// A number of the stored type with the sign that `_Unsigned` gives it.
    fn turned_number(&self, number: f64) -> f64 {
        let modulus = 2f64.powi(8 * self.number_type.bytes() as i32);
        match self.number_type.is_unsigned().filter(|_| self.is_turned) {
            Some(false) if number < 0.0 => number + modulus,
            Some(true) if number >= modulus / 2.0 => number - modulus,
            _ => number,
        }
    }

    /// The array that a variable's numbers stand for. The last of its extents is that of the parts of complex numbers.
    ///
    /// # Errors
    ///
    /// [`VariableError::Room`]; [`VariableError::Range`] for integers of 64 bits that are no integers of 32 bits.
    pub fn input(mut self, extents: Vec<u64>, numbers: Numbers) -> Result<Input, VariableError> {
        let (field, fills) = match self.packing.take() {
            Some(packing) => {
                self.notes.push(packing.note(self.number_type));
                // Missing elements are NaN now, which is found where a mask of it is worth its bytes.
                (self.unpacked(&packing, extents, numbers)?, Vec::new())
            }
            None => {
                let mut field = self.stored(extents, numbers)?;
                with_field!(&mut field, array => array.is_complex = self.is_complex);
                self.note_type(field.shape().of.dtype);
                let fills = self.missing.iter().copied().map(Fill::from);
                (field, fills.collect())
            }
        };
        Ok(Input {
            field,
            fills,
            unit: self.unit,
            notes: self.notes,
        })
    }

    /// Says that values have another type than in the file.
    fn note_type(&mut self, read: ValueType) {
        let stored = self.number_type;
        if stored.bytes() != read.bytes() {
            let name = stored.name();
            self.notes
                .push(format!("{name} values are read as {read}, exactly"));
        }
    }

    /// The values as they are stored. Integers get the sign that the attribute `_Unsigned` gives them, as the first
    /// formats of NetCDF had none without.
    fn stored(&self, extents: Vec<u64>, numbers: Numbers) -> Result<Field, VariableError> {
        Ok(match (numbers, self.is_turned) {
            (Numbers::I8(n), false) => Field::I16(array(extents, map(&n, i16::from)?)),
            (Numbers::U8(n), false) => Field::U16(array(extents, map(&n, u16::from)?)),
            (Numbers::I8(n), true) => {
                Field::U16(array(extents, map(&n, |n| n.cast_unsigned().into())?))
            }
            (Numbers::U8(n), true) => {
                Field::I16(array(extents, map(&n, |n| n.cast_signed().into())?))
            }
            (Numbers::I16(n), false) => Field::I16(array(extents, n)),
            (Numbers::U16(n), false) => Field::U16(array(extents, n)),
            (Numbers::I16(n), true) => Field::U16(array(extents, map(&n, i16::cast_unsigned)?)),
            (Numbers::U16(n), true) => Field::I16(array(extents, map(&n, u16::cast_signed)?)),
            (Numbers::I32(n), false) => Field::I32(array(extents, n)),
            (Numbers::U32(n), false) => Field::U32(array(extents, n)),
            (Numbers::I32(n), true) => Field::U32(array(extents, map(&n, i32::cast_unsigned)?)),
            (Numbers::U32(n), true) => Field::I32(array(extents, map(&n, u32::cast_signed)?)),
            (Numbers::I64(n), false) => self.narrowed(extents, &n, i128::from)?,
            (Numbers::U64(n), false) => self.narrowed(extents, &n, i128::from)?,
            (Numbers::I64(n), true) => self.narrowed(extents, &n, |n| n.cast_unsigned().into())?,
            (Numbers::U64(n), true) => self.narrowed(extents, &n, |n| n.cast_signed().into())?,
            (Numbers::F16(n), _) => Field::F16(array(extents, n)),
            (Numbers::Bf16(n), _) => Field::Bf16(array(extents, n)),
            (Numbers::F32(n), _) => Field::F32(array(extents, n)),
            (Numbers::F64(n), _) => Field::F64(array(extents, n)),
        })
    }

    /// Integers of 64 bits as those of 32 bits.
    fn narrowed<S: Pod>(
        &self,
        extents: Vec<u64>,
        numbers: &[S],
        wide: impl Fn(S) -> i128,
    ) -> Result<Field, VariableError> {
        let range = |(least, most): (i128, i128), n: &S| (least.min(wide(*n)), most.max(wide(*n)));
        let (least, most) = match numbers.first() {
            Some(first) => numbers.iter().fold((wide(*first), wide(*first)), range),
            None => (0, 0),
        };
        if i32::try_from(least).is_ok() && i32::try_from(most).is_ok() {
            return Ok(Field::I32(array(
                extents,
                map(numbers, |n| wide(n) as i32)?,
            )));
        }
        if u32::try_from(least).is_ok() && u32::try_from(most).is_ok() {
            return Ok(Field::U32(array(
                extents,
                map(numbers, |n| wide(n) as u32)?,
            )));
        }
        Err(VariableError::Range {
            name: self.number_type.name(),
            least,
            most,
        })
    }

    /// The values that packed numbers stand for.
    fn unpacked(
        &self,
        packing: &Packing,
        extents: Vec<u64>,
        numbers: Numbers,
    ) -> Result<Field, VariableError> {
        match numbers {
            Numbers::I8(n) => self.unpack(packing, extents, &n, f64::from),
            Numbers::U8(n) => self.unpack(packing, extents, &n, f64::from),
            Numbers::I16(n) => self.unpack(packing, extents, &n, f64::from),
            Numbers::U16(n) => self.unpack(packing, extents, &n, f64::from),
            Numbers::I32(n) => self.unpack(packing, extents, &n, f64::from),
            Numbers::U32(n) => self.unpack(packing, extents, &n, f64::from),
            Numbers::I64(n) => self.unpack(packing, extents, &n, |n| n as f64),
            Numbers::U64(n) => self.unpack(packing, extents, &n, |n| n as f64),
            Numbers::F16(n) => self.unpack(packing, extents, &n, F16::to_number),
            Numbers::Bf16(n) => self.unpack(packing, extents, &n, Bf16::to_number),
            Numbers::F32(n) => self.unpack(packing, extents, &n, f64::from),
            Numbers::F64(n) => self.unpack(packing, extents, &n, f64::from),
        }
    }

    fn unpack<S: Pod>(
        &self,
        packing: &Packing,
        extents: Vec<u64>,
        numbers: &[S],
        number: impl Fn(S) -> f64,
    ) -> Result<Field, VariableError> {
        let value = |stored: S| {
            let stored = self.turned_number(number(stored));
            match self.missing.contains(&stored) {
                true => f64::NAN,
                false => stored * packing.factor + packing.offset,
            }
        };
        Ok(match packing.is_single {
            true => Field::F32(array(extents, map(numbers, |n| value(n) as f32)?)),
            false => Field::F64(array(extents, map(numbers, value)?)),
        })
    }
}

/// The packing that `scale_factor` and `add_offset` describe. Values have the type of these attributes, if it is `f32`.
fn packing(attributes: &Attributes) -> Result<Option<Packing>, VariableError> {
    let (factor, offset) = (
        attributes.number(PACKING[0])?,
        attributes.number(PACKING[1])?,
    );
    if factor.is_none() && offset.is_none() {
        return Ok(None);
    }
    let is_single = |number: Option<(f64, bool)>| number.is_none_or(|(_, is_single)| is_single);
    Ok(Some(Packing {
        factor: factor.map_or(1.0, |(number, _)| number),
        offset: offset.map_or(0.0, |(number, _)| number),
        is_single: is_single(factor) && is_single(offset),
    }))
}

/// Whether `_Unsigned` gives integers another sign than their type.
fn is_turned(number_type: NumberType, attributes: &Attributes) -> bool {
    let Some(Attribute::Text(text)) = attributes.get("_Unsigned") else {
        return false;
    };
    match number_type.is_unsigned() {
        Some(true) => text.eq_ignore_ascii_case("false"),
        Some(false) => text.eq_ignore_ascii_case("true"),
        None => false,
    }
}

fn array<V: Value>(extents: Vec<u64>, values: Scratch<V>) -> Array<V> {
    Array {
        extents,
        is_complex: false,
        values: values.into(),
    }
}

fn map<S: Pod, T: Pod>(from: &[S], turn: impl Fn(S) -> T) -> Result<Scratch<T>, VariableError> {
    let mut to = Scratch::zeroed(Copies::InFiles, from.len() as u64)?;
    for (to, from) in to.iter_mut().zip(from) {
        *to = turn(*from);
    }
    Ok(to)
}
