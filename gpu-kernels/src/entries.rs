//! Entry points of kernels that are generic.
//!
//! A PTX entry point must be a separate function with its own name, which generic code cannot make. So these are macros,
//! and they contain only the mapping from names to types.

/// Makes the entry points of kernels, a function `launches` that lists them, and a function `emulated` that compiles them for
/// the emulator.
///
/// A row is a name and a type. A row with `<shape>`, `<order>`, `<element>`, `<short>`, `<codec>`, `<line_codec>` or `<coder>` makes a
/// kernel for each shape, order of a tile's positions, element type, type of values of 16 bits, codec of blocks, codec of blocks that has lines, or coder
/// with statistics. The row's parameters are these types, and the kernel's name
/// ends in their names. A name that differs from the name in the kernel does not compile.
#[macro_export]
macro_rules! kernels {
    ($($name:ident $(<$($axis:ident),+>)?: $(|$($parameter:ident),+|)? $kernel:ty;)*) => {
        /// All kernels.
        #[cfg(not(target_arch = "nvptx64"))]
        pub fn launches() -> alloc::vec::Vec<ferrosz_simt::Launch> {
            let mut launches = alloc::vec::Vec::new();
            $({
                $(type Row<$($parameter),+> = $kernel;)?
                $crate::kernel_row! { (push launches) $name [$($($axis),+)?] $kernel }
            })*
            launches
        }

        /// The code for the emulator of the kernel with a name.
        #[cfg(all(feature = "emulator", not(test)))]
        pub fn emulated(name: &str) -> Option<ferrosz_simt::emulator::Emulated> {
            $({
                $(type Row<$($parameter),+> = $kernel;)?
                $crate::kernel_row! { (find name) $name [$($($axis),+)?] $kernel }
            })*
            None
        }

        #[cfg(target_arch = "nvptx64")]
        mod entries {
            use super::*;

            $(const _: () = {
                $(type Row<$($parameter),+> = $kernel;)?
                $crate::kernel_row! { (entry) $name [$($($axis),+)?] $kernel }
            };)*
        }
    };
}

/// A row of [`kernels`](crate::kernels): one kernel, or `Row` with all types.
#[doc(hidden)]
#[macro_export]
macro_rules! kernel_row {
    ($to:tt $name:ident [] $kernel:ty) => {
        $crate::kernel_entry! { $to [stringify!($name)] $kernel }
    };
    ($to:tt $name:ident [shape] $kernel:ty) => {
        ferrosz_codec::each_shape! { [$crate::kernel_one] $to [stringify!($name)] }
    };
    ($to:tt $name:ident [order] $kernel:ty) => {
        ferrosz_codec::each_order! { [$crate::kernel_one] $to [stringify!($name)] }
    };
    ($to:tt $name:ident [element] $kernel:ty) => {
        ferrosz_codec::each_element! { [$crate::kernel_one] $to [stringify!($name)] }
    };
    ($to:tt $name:ident [short] $kernel:ty) => {
        ferrosz_codec::each_short! { [$crate::kernel_one] $to [stringify!($name)] }
    };
    ($to:tt $name:ident [coder] $kernel:ty) => {
        ferrosz_codec::each_symbol_coder! { [$crate::kernel_one] $to [stringify!($name)] }
    };
    ($to:tt $name:ident [shape, element] $kernel:ty) => {
        ferrosz_codec::each_shape! { [$crate::kernel_elements] $to [stringify!($name)] }
    };
    ($to:tt $name:ident [coder, order] $kernel:ty) => {
        ferrosz_codec::each_symbol_coder! { [$crate::kernel_orders] $to [stringify!($name)] }
    };
    ($to:tt $name:ident [codec, shape] $kernel:ty) => {
        ferrosz_codec::each_block_codec! { [$crate::kernel_codec_shapes] $to [stringify!($name)] }
    };
    ($to:tt $name:ident [codec, shape, element] $kernel:ty) => {
        ferrosz_codec::each_block_codec! { [$crate::kernel_codecs] $to [stringify!($name)] }
    };
    ($to:tt $name:ident [line_codec, element] $kernel:ty) => {
        ferrosz_codec::each_block_codec! { [$crate::kernel_line_codecs] $to [stringify!($name)] }
    };
}

/// A kernel for each type.
#[doc(hidden)]
#[macro_export]
macro_rules! kernel_one {
    ($to:tt [$name:expr] $(($part:literal $type:ty))+) => {
        $($crate::kernel_entry! { $to [concat!($name, "_", $part)] Row<$type> })+
    };
}

/// Kernels of each type with all element types.
#[doc(hidden)]
#[macro_export]
macro_rules! kernel_elements {
    ($to:tt [$name:expr] $(($part:literal $type:ty))+) => {
        $(ferrosz_codec::each_element! {
            [$crate::kernel_last] $to [concat!($name, "_", $part)] [$type]
        })+
    };
}

/// Kernels of each type with all orders.
#[doc(hidden)]
#[macro_export]
macro_rules! kernel_orders {
    ($to:tt [$name:expr] $(($part:literal $type:ty))+) => {
        $(ferrosz_codec::each_order! {
            [$crate::kernel_last] $to [concat!($name, "_", $part)] [$type]
        })+
    };
}

/// Kernels of each codec with its shapes and all element types.
#[doc(hidden)]
#[macro_export]
macro_rules! kernel_codecs {
    ($to:tt [$name:expr] $(($codec:literal $type:ty [$($shape:ident)+]))+) => {
        $($crate::kernel_codec! { $to [concat!($name, "_", $codec)] [$type] $($shape)+ })+
    };
}

/// Kernels of each codec with its shapes.
#[doc(hidden)]
#[macro_export]
macro_rules! kernel_codec_shapes {
    ($to:tt [$name:expr] $(($codec:literal $type:ty [$($shape:ident)+]))+) => {
        $($($crate::kernel_codec_alone! {
            $to [concat!($name, "_", $codec, "_", stringify!($shape))] [$type] $shape
        })+)+
    };
}

/// The kernel of a codec and a shape.
#[doc(hidden)]
#[macro_export]
macro_rules! kernel_codec_alone {
    ($to:tt [$name:expr] [$codec:ty] line) => {
        $crate::kernel_entry! { $to [$name] Row<$codec, ferrosz_codec::shape::Line> }
    };
    ($to:tt [$name:expr] [$codec:ty] plane) => {
        $crate::kernel_entry! { $to [$name] Row<$codec, ferrosz_codec::shape::Plane> }
    };
    ($to:tt [$name:expr] [$codec:ty] cube) => {
        $crate::kernel_entry! { $to [$name] Row<$codec, ferrosz_codec::shape::Cube> }
    };
}

/// Kernels of a codec with its shapes and all element types.
#[doc(hidden)]
#[macro_export]
macro_rules! kernel_codec {
    ($to:tt [$name:expr] $codec:tt $($shape:ident)+) => {
        $($crate::kernel_codec_shape! { $to [concat!($name, "_", stringify!($shape))] $codec $shape })+
    };
}

/// Kernels of each codec that has lines, with all element types.
#[doc(hidden)]
#[macro_export]
macro_rules! kernel_line_codecs {
    ($to:tt [$name:expr] $(($codec:literal $type:ty [$($shape:ident)+]))+) => {
        $($($crate::kernel_line_codec! { $to [concat!($name, "_", $codec)] [$type] $shape })+)+
    };
}

/// Kernels of a codec with all element types, if the shape is a line.
#[doc(hidden)]
#[macro_export]
macro_rules! kernel_line_codec {
    ($to:tt [$name:expr] [$codec:ty] line) => {
        ferrosz_codec::each_element! { [$crate::kernel_last] $to [$name] [$codec] }
    };
    ($to:tt [$name:expr] [$codec:ty] $shape:ident) => {};
}

/// Kernels of a codec and a shape with all element types.
#[doc(hidden)]
#[macro_export]
macro_rules! kernel_codec_shape {
    ($to:tt [$name:expr] [$codec:ty] line) => {
        ferrosz_codec::each_element! { [$crate::kernel_last] $to [$name] [$codec, ferrosz_codec::shape::Line] }
    };
    ($to:tt [$name:expr] [$codec:ty] plane) => {
        ferrosz_codec::each_element! { [$crate::kernel_last] $to [$name] [$codec, ferrosz_codec::shape::Plane] }
    };
    ($to:tt [$name:expr] [$codec:ty] cube) => {
        ferrosz_codec::each_element! { [$crate::kernel_last] $to [$name] [$codec, ferrosz_codec::shape::Cube] }
    };
}

/// Kernels of which all types but the last are known.
#[doc(hidden)]
#[macro_export]
macro_rules! kernel_last {
    ($to:tt [$name:expr] [$first:ty] $(($part:literal $type:ty))+) => {
        $($crate::kernel_entry! { $to [concat!($name, "_", $part)] Row<$first, $type> })+
    };
    ($to:tt [$name:expr] [$first:ty, $second:ty] $(($part:literal $type:ty))+) => {
        $($crate::kernel_entry! { $to [concat!($name, "_", $part)] Row<$first, $second, $type> })+
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
    ((find $wanted:ident) [$name:expr] $kernel:ty) => {
        if $wanted == $name {
            return Some(ferrosz_simt::emulator::emulated::<$kernel>());
        }
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
