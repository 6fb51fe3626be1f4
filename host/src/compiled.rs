//! Generic code that is compiled in this crate.

/// A function that gives `$function`. Without parameters of types it is compiled in this crate, with the code that it names;
/// a generic function would be compiled in each crate that calls it, with all functions that it calls. It stands in an arm of
/// `with_element!` or `with_value!`.
macro_rules! compiled_here {
    ($name:ident: $signature:ty = $function:expr) => {
        #[inline(never)]
        fn $name() -> $signature {
            $function
        }
    };
}
