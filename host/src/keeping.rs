//! Zeros and signs that a stream keeps, which the bound alone would not.
//!
//! A named codec keeps those that it keeps by itself, and those that the caller asks for. A preset also keeps the signs of a
//! field without negative values, such as rain, and zeros that are more than a hundredth of a field ([`Census::keep`]).

use crate::parallel;

use ferrosz_codec::mapping::Keep;
use ferrosz_codec::mapping::census::Census;
use ferrosz_codec::mapping::conversion::Conversion;
use ferrosz_codec::{Element, ValueType};

/// Values of a task of one thread.
const TASK: usize = 1 << 16;

const NOTHING: Keep = Keep {
    zeros: false,
    signs: false,
};

/// What a compression keeps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Keeping {
    /// In any field.
    pub(crate) always: Keep,
    /// With a preset, in fields whose census asks for it.
    pub(crate) by_field: Keep,
}

impl Default for Keeping {
    fn default() -> Self {
        Self {
            always: NOTHING,
            by_field: Keep {
                zeros: true,
                signs: true,
            },
        }
    }
}

impl Keeping {
    /// Nothing.
    pub(crate) const NONE: Self = Self::just(NOTHING);

    /// This, in any field.
    pub(crate) const fn just(always: Keep) -> Self {
        Self {
            always,
            by_field: NOTHING,
        }
    }

    /// What a preset keeps of a field with this census.
    pub(crate) fn of(self, census: Census) -> Keep {
        let (always, by_field, found) = (self.always, self.by_field, census.keep());
        Keep {
            zeros: always.zeros || by_field.zeros && found.zeros,
            signs: always.signs || by_field.signs && found.signs,
        }
    }

    /// What is left to be kept of values that are converted so: nothing if they come back exactly.
    pub(crate) fn converted(self, conversion: &Conversion) -> Self {
        match conversion.absolute_error() == Some(0.0) {
            true => Self::NONE,
            false => self.of_type(conversion.value_type()),
        }
    }

    /// What is left to be kept of values of a type, which may have no signs.
    pub(crate) fn of_type(self, value_type: ValueType) -> Self {
        let signs = |keep: Keep| Keep {
            signs: keep.signs && value_type.is_signed(),
            ..keep
        };
        Self {
            always: signs(self.always),
            by_field: signs(self.by_field),
        }
    }
}

/// The census of a coded field.
pub(crate) fn census<T: Element>(field: &[T]) -> Census {
    let of_task = |values: &[T]| {
        let mut census = Census::default();
        values.iter().for_each(|value| census.see(*value));
        census
    };
    let of_tasks = parallel::map(field.chunks(TASK), of_task);
    of_tasks.into_iter().fold(Census::default(), Census::union)
}
