//! Toys: for each recipe of `docs/extending.md` the least addition that is real, behind the feature `toy`. They show that
//! a recipe names all files that an addition changes.

/// Calls a macro with a list. With the feature `toy` the toys are at the end of the list.
#[doc(hidden)]
#[macro_export]
#[cfg(feature = "toy")]
macro_rules! with_toys {
    ($name:ident! { $($list:tt)* } $($toys:tt)*) => {
        $name! { $($list)* $($toys)* }
    };
}

/// Calls a macro with a list.
#[doc(hidden)]
#[macro_export]
#[cfg(not(feature = "toy"))]
macro_rules! with_toys {
    ($name:ident! { $($list:tt)* } $($toys:tt)*) => {
        $name! { $($list)* }
    };
}
