//! Entry points of kernels that are generic.
//!
//! A PTX entry point must be a function of its own with a name of its own, which generic code cannot make; so these are
//! macros, and they hold nothing but the mapping from names to types.

/// Makes the entry points of kernels, and a function `launches` that lists them.
///
/// A row is a name and a type. One with shapes stands for as many kernels, whose names end in that of the shape; one
/// with element types likewise, and the name of the type is the last. The name must be that which the type says, or
/// else it does not compile.
#[macro_export]
macro_rules! kernels {
    ($($name:ident $(<$($axis:tt),+>)?: $(|$($parameter:ident),+|)? $kernel:ty;)*) => {
        /// All kernels.
        #[cfg(not(target_arch = "nvptx64"))]
        pub fn launches() -> alloc::vec::Vec<ferrosz_simt::Launch> {
            let mut launches = alloc::vec::Vec::new();
            $({
                $crate::kernel_row!((push launches) $name $(<$($axis),+>)?: $(|$($parameter),+|)? $kernel);
            })*
            launches
        }

        #[cfg(target_arch = "nvptx64")]
        mod entries {
            use super::*;

            $(const _: () = {
                $crate::kernel_row!((entry) $name $(<$($axis),+>)?: $(|$($parameter),+|)? $kernel);
            };)*
        }
    };
}

/// A row of [`kernels`](crate::kernels).
#[doc(hidden)]
#[macro_export]
macro_rules! kernel_row {
    ($to:tt $name:ident: $kernel:ty) => {
        $crate::kernel_entry!($to [stringify!($name)] $kernel);
    };
    ($to:tt $name:ident <[$($shape:ident)+]>: |$s:ident| $kernel:ty) => {
        type Row<$s> = $kernel;
        $($crate::kernel_entry!($to
            [concat!(stringify!($name), "_", stringify!($shape))]
            Row<$crate::kernel_shape!($shape)>
        );)+
    };
    ($to:tt $name:ident <($($element:ident)+)>: |$e:ident| $kernel:ty) => {
        type Row<$e> = $kernel;
        $($crate::kernel_entry!($to
            [concat!(stringify!($name), "_", stringify!($element))]
            Row<$element>
        );)+
    };
    ($to:tt $name:ident <[$($shape:ident)+], $elements:tt>: |$s:ident, $e:ident| $kernel:ty) => {
        type Row<$s, $e> = $kernel;
        $($crate::kernel_elements!($to $name $shape $elements);)+
    };
}

/// The kernels of a shape in a row with element types.
#[doc(hidden)]
#[macro_export]
macro_rules! kernel_elements {
    ($to:tt $name:ident $shape:ident ($($element:ident)+)) => {
        $($crate::kernel_entry!($to
            [concat!(stringify!($name), "_", stringify!($shape), "_", stringify!($element))]
            Row<$crate::kernel_shape!($shape), $element>
        );)+
    };
}

/// A shape by its name.
#[doc(hidden)]
#[macro_export]
macro_rules! kernel_shape {
    (line) => {
        ferrosz_codec::shape::Line
    };
    (plane) => {
        ferrosz_codec::shape::Plane
    };
    (cube) => {
        ferrosz_codec::shape::Cube
    };
}

/// One kernel.
#[doc(hidden)]
#[macro_export]
macro_rules! kernel_entry {
    ((push $launches:ident) [$name:expr] $kernel:ty) => {
        const {
            assert!($crate::entries::are_equal(
                $name,
                <$kernel as ferrosz_simt::Kernel>::NAME
            ))
        };
        $launches.push(ferrosz_simt::Launch::of::<$kernel>());
    };
    ((entry) [$name:expr] $kernel:ty) => {
        const _: () = {
            // SAFETY: the names have the crate's prefix, and rows with equal names would not be linked.
            #[unsafe(export_name = $name)]
            unsafe extern "ptx-kernel" fn entry(
                parameters: <$kernel as ferrosz_simt::Kernel>::Params,
            ) {
                <$kernel as ferrosz_simt::Kernel>::run(ferrosz_simt::ptx::PtxThread, &parameters);
            }
        };
    };
}

/// Whether two texts are equal, in constants.
#[doc(hidden)]
pub const fn are_equal(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}
