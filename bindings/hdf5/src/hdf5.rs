//! The HDF5 library that called, found at run time.
//!
//! Python's wheels load their HDF5 without making its symbols global, and a process may have two: that of h5py and that of
//! netCDF4. An identifier means nothing to the other. So the library is the one whose code called the plugin: the first
//! frame of the stack that is not the plugin's own.

use crate::Hid;
use crate::failure::Failure;
use libc::{Dl_info, RTLD_LAZY, RTLD_NOLOAD, dladdr, dlclose, dlopen, dlsym};
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::mem;
use std::ptr;

/// A loaded HDF5 library.
pub struct Hdf5 {
    handle: *mut c_void,
}

impl Drop for Hdf5 {
    fn drop(&mut self) {
        // SAFETY: the handle is from `dlopen`. The library stays loaded, as its code called the plugin.
        unsafe { dlclose(self.handle) };
    }
}

/// What HDF5 knows of the fill value of a dataset.
const H5D_FILL_VALUE_USER_DEFINED: c_int = 2;

/// The error stack of the thread.
const H5E_DEFAULT: Hid = 0;

impl Hdf5 {
    /// The library whose code called the plugin. None if HDF5 is a part of the program, and its symbols are not exported.
    pub fn of_caller() -> Option<Self> {
        let path = caller()?;
        // SAFETY: loads nothing; a path or null, which is the program itself.
        let open = |path: *const c_char| unsafe { dlopen(path, RTLD_LAZY | RTLD_NOLOAD) };
        [open(path), open(ptr::null())]
            .into_iter()
            .filter(|handle| !handle.is_null())
            .map(|handle| Self { handle })
            .find(|library| library.address(c"H5Pmodify_filter").is_some())
    }

    fn address(&self, name: &CStr) -> Option<*mut c_void> {
        // SAFETY: the handle is open.
        let address = unsafe { dlsym(self.handle, name.as_ptr()) };
        (!address.is_null()).then_some(address)
    }

    /// A function of HDF5.
    ///
    /// # Safety
    ///
    /// `F` is the type of a pointer to the C function of this name.
    unsafe fn function<F: Copy>(&self, name: &CStr) -> Result<F, Failure> {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
        let missing = || Failure::new(format_args!("this HDF5 has no function {name:?}"));
        let address = self.address(name).ok_or_else(missing)?;
        // SAFETY: by the contract, a function pointer of this type.
        Ok(unsafe { mem::transmute_copy(&address) })
    }

    /// The result of a function that asks for a number of an object.
    ///
    /// # Errors
    ///
    /// If the function fails, with a negative number.
    fn number(&self, name: &CStr, object: Hid) -> Result<c_int, Failure> {
        // SAFETY: the callers name functions of this type.
        let function: unsafe extern "C" fn(Hid) -> c_int = unsafe { self.function(name)? };
        // SAFETY: HDF5 checks identifiers.
        match unsafe { function(object) } {
            number if number < 0 => Err(failed(name)),
            number => Ok(number),
        }
    }

    /// As [`Self::number`], for functions that return a `size_t`.
    fn size(&self, name: &CStr, object: Hid) -> Result<usize, Failure> {
        // SAFETY: the callers name functions of this type.
        let function: unsafe extern "C" fn(Hid) -> usize = unsafe { self.function(name)? };
        // SAFETY: HDF5 checks identifiers.
        Ok(unsafe { function(object) })
    }

    /// The class of a datatype.
    pub fn type_class(&self, datatype: Hid) -> Result<c_int, Failure> {
        self.number(c"H5Tget_class", datatype)
    }

    /// The byte order of a datatype.
    pub fn type_order(&self, datatype: Hid) -> Result<c_int, Failure> {
        self.number(c"H5Tget_order", datatype)
    }

    /// The position of the lowest bit of an atomic datatype.
    pub fn type_offset(&self, datatype: Hid) -> Result<c_int, Failure> {
        self.number(c"H5Tget_offset", datatype)
    }

    /// Whether an integer datatype has a sign: 1, or 0.
    pub fn type_sign(&self, datatype: Hid) -> Result<c_int, Failure> {
        self.number(c"H5Tget_sign", datatype)
    }

    /// The bytes of a datatype.
    pub fn type_size(&self, datatype: Hid) -> Result<usize, Failure> {
        self.size(c"H5Tget_size", datatype)
    }

    /// The bits of an atomic datatype that are used.
    pub fn type_precision(&self, datatype: Hid) -> Result<usize, Failure> {
        self.size(c"H5Tget_precision", datatype)
    }

    /// The bias of the exponent of a floating-point datatype.
    pub fn type_exponent_bias(&self, datatype: Hid) -> Result<usize, Failure> {
        self.size(c"H5Tget_ebias", datatype)
    }

    /// Position of the sign, position and size of the exponent, position and size of the significand, of a floating-point
    /// datatype.
    pub fn type_fields(&self, datatype: Hid) -> Result<[usize; 5], Failure> {
        type GetFields = unsafe extern "C" fn(
            Hid,
            *mut usize,
            *mut usize,
            *mut usize,
            *mut usize,
            *mut usize,
        ) -> c_int;
        let name = c"H5Tget_fields";
        // SAFETY: its type in `H5Tpublic.h`.
        let get: GetFields = unsafe { self.function(name)? };
        let mut fields = [0; 5];
        let [sign, exponent, exponent_bits, significand, significand_bits] =
            fields.each_mut().map(ptr::from_mut);
        // SAFETY: five places.
        let status = unsafe {
            get(
                datatype,
                sign,
                exponent,
                exponent_bits,
                significand,
                significand_bits,
            )
        };
        succeeded(name, status).map(|()| fields)
    }

    /// The members of a compound datatype: names, places in bytes, and types.
    pub fn members(&self, datatype: Hid) -> Result<Vec<Member<'_>>, Failure> {
        let count = self.number(c"H5Tget_nmembers", datatype)?;
        (0..count as c_uint)
            .map(|at| {
                let place = self.of_member::<usize>(c"H5Tget_member_offset", datatype, at)?;
                let part = self.of_member::<Hid>(c"H5Tget_member_type", datatype, at)?;
                let part = Datatype::new(self, part, c"H5Tget_member_type")?;
                Ok((self.member_name(datatype, at)?, place, part))
            })
            .collect()
    }

    /// The result of a function that asks for a number of a member.
    fn of_member<T>(&self, name: &CStr, datatype: Hid, at: c_uint) -> Result<T, Failure> {
        // SAFETY: the callers name functions of this type.
        let function: unsafe extern "C" fn(Hid, c_uint) -> T = unsafe { self.function(name)? };
        // SAFETY: HDF5 checks identifiers and numbers of members.
        Ok(unsafe { function(datatype, at) })
    }

    fn member_name(&self, datatype: Hid, at: c_uint) -> Result<String, Failure> {
        let name = c"H5Tget_member_name";
        let text = self.of_member::<*mut c_char>(name, datatype, at)?;
        if text.is_null() {
            return Err(failed(name));
        }
        // SAFETY: a text of HDF5, which ends with a zero byte.
        let found = unsafe { CStr::from_ptr(text) }
            .to_string_lossy()
            .into_owned();
        if let Some(memory) = self.memory_functions() {
            // SAFETY: HDF5 allocated it, and nothing refers to it any more.
            unsafe { (memory.free)(text.cast()) };
        }
        Ok(found)
    }

    /// The type of the parts of complex numbers, which HDF5 has from 2.0 on.
    pub fn base_type(&self, datatype: Hid) -> Result<Datatype<'_>, Failure> {
        let name = c"H5Tget_super";
        // SAFETY: its type in `H5Tpublic.h`.
        let get: unsafe extern "C" fn(Hid) -> Hid = unsafe { self.function(name)? };
        // SAFETY: HDF5 checks identifiers.
        Datatype::new(self, unsafe { get(datatype) }, name)
    }

    /// Whether two datatypes are the same.
    pub fn are_equal(&self, one: Hid, other: Hid) -> Result<bool, Failure> {
        let name = c"H5Tequal";
        // SAFETY: its type in `H5Tpublic.h`.
        let equal: unsafe extern "C" fn(Hid, Hid) -> c_int = unsafe { self.function(name)? };
        // SAFETY: HDF5 checks identifiers.
        let found = unsafe { equal(one, other) };
        succeeded(name, found).map(|()| found > 0)
    }

    /// The lengths of a simple dataspace.
    pub fn extents(&self, space: Hid) -> Result<Vec<u64>, Failure> {
        let dimensions = self.number(c"H5Sget_simple_extent_ndims", space)?;
        let mut lengths = vec![0; dimensions as usize];
        let name = c"H5Sget_simple_extent_dims";
        // SAFETY: its type in `H5Spublic.h`.
        let get: unsafe extern "C" fn(Hid, *mut u64, *mut u64) -> c_int =
            unsafe { self.function(name)? };
        // SAFETY: as many places as the space has dimensions; none for the largest lengths.
        let status = unsafe { get(space, lengths.as_mut_ptr(), ptr::null_mut()) };
        succeeded(name, status).map(|()| lengths)
    }

    /// The identifier of the first filter of a property list.
    pub fn first_filter(&self, properties: Hid) -> Result<c_int, Failure> {
        type GetFilter = unsafe extern "C" fn(
            Hid,
            c_uint,
            *mut c_uint,
            *mut usize,
            *mut c_uint,
            usize,
            *mut c_char,
            *mut c_uint,
        ) -> c_int;
        let name = c"H5Pget_filter2";
        // SAFETY: its type in `H5Ppublic.h`.
        let get: GetFilter = unsafe { self.function(name)? };
        let (mut flags, mut count, null) = (0, 0, ptr::null_mut());
        // SAFETY: no room for parameters and name, which are not written then.
        let filter = unsafe {
            get(
                properties,
                0,
                &mut flags,
                &mut count,
                null,
                0,
                ptr::null_mut(),
                null,
            )
        };
        succeeded(name, filter).map(|()| filter)
    }

    /// Flags and parameters of a filter in a property list.
    pub fn filter(&self, properties: Hid, filter: c_int) -> Result<(c_uint, Vec<c_uint>), Failure> {
        type GetFilter = unsafe extern "C" fn(
            Hid,
            c_int,
            *mut c_uint,
            *mut usize,
            *mut c_uint,
            usize,
            *mut c_char,
            *mut c_uint,
        ) -> c_int;
        let name = c"H5Pget_filter_by_id2";
        // SAFETY: its type in `H5Ppublic.h`.
        let get: GetFilter = unsafe { self.function(name)? };
        let (mut flags, mut words) = (0, vec![0; 64]);
        let mut count = words.len();
        let (at, nowhere) = (words.as_mut_ptr(), ptr::null_mut());
        // SAFETY: room for `count` parameters, and none for the name.
        let status = unsafe {
            get(
                properties,
                filter,
                &mut flags,
                &mut count,
                at,
                0,
                ptr::null_mut(),
                nowhere,
            )
        };
        succeeded(name, status)?;
        words.truncate(count);
        Ok((flags, words))
    }

    /// Replaces the parameters of a filter in a property list.
    pub fn modify_filter(
        &self,
        properties: Hid,
        filter: c_int,
        flags: c_uint,
        words: &[c_uint],
    ) -> Result<(), Failure> {
        type ModifyFilter = unsafe extern "C" fn(Hid, c_int, c_uint, usize, *const c_uint) -> c_int;
        let name = c"H5Pmodify_filter";
        // SAFETY: its type in `H5Ppublic.h`.
        let modify: ModifyFilter = unsafe { self.function(name)? };
        // SAFETY: a slice; HDF5 copies it.
        let status = unsafe { modify(properties, filter, flags, words.len(), words.as_ptr()) };
        succeeded(name, status)
    }

    /// The bytes of the fill value that the user gave in a property list, as a value of the datatype; none if the user gave
    /// none.
    pub fn fill_value(&self, properties: Hid, datatype: Hid) -> Result<Option<Vec<u8>>, Failure> {
        let name = c"H5Pfill_value_defined";
        // SAFETY: its type in `H5Ppublic.h`.
        let is_defined: unsafe extern "C" fn(Hid, *mut c_int) -> c_int =
            unsafe { self.function(name)? };
        let mut kind = 0;
        // SAFETY: a place for a number.
        succeeded(name, unsafe { is_defined(properties, &mut kind) })?;
        if kind != H5D_FILL_VALUE_USER_DEFINED {
            return Ok(None);
        }
        let mut value = vec![0; self.type_size(datatype)?];
        let name = c"H5Pget_fill_value";
        // SAFETY: its type in `H5Ppublic.h`.
        let get: unsafe extern "C" fn(Hid, Hid, *mut c_void) -> c_int =
            unsafe { self.function(name)? };
        // SAFETY: room for one value of the datatype.
        let status = unsafe { get(properties, datatype, value.as_mut_ptr().cast()) };
        succeeded(name, status).map(|()| Some(value))
    }

    /// The functions by which HDF5 allocates and frees memory that it shares with plugins.
    pub fn memory_functions(&self) -> Option<MemoryFunctions> {
        // SAFETY: their types in `H5public.h`.
        unsafe {
            Some(MemoryFunctions {
                allocate: self.function(c"H5allocate_memory").ok()?,
                free: self.function(c"H5free_memory").ok()?,
            })
        }
    }

    /// Pushes a failure on HDF5's stack of errors. No function of HDF5 must be called after it, as this would clear the
    /// stack. HDF5 2 drops what a filter pushes while a chunk is read or written, and only says that the filter failed.
    pub fn push(&self, failure: &Failure) {
        type Push = unsafe extern "C" fn(
            Hid,
            *const c_char,
            *const c_char,
            c_uint,
            Hid,
            Hid,
            Hid,
            *const c_char,
            ...
        ) -> c_int;
        // SAFETY: its type in `H5Epublic.h`.
        let Ok(push) = (unsafe { self.function::<Push>(c"H5Epush2") }) else {
            return;
        };
        let ids = [c"H5E_ERR_CLS_g", c"H5E_PLINE_g", c"H5E_CANTFILTER_g"];
        let [class, major, minor] = ids.map(|name| {
            let address = self.address(name).map(|address| address.cast::<Hid>());
            // SAFETY: a variable of `H5Epubgen.h`, set since HDF5 was initialised.
            address.map_or(-1, |address| unsafe { *address })
        });
        let text = format!("ferrosz: {failure}").replace('\0', " ");
        let text = CString::new(text).unwrap_or_default();
        // SAFETY: texts that end with a zero byte; the format has one text.
        unsafe {
            push(
                H5E_DEFAULT,
                c"ferrosz".as_ptr(),
                c"filter".as_ptr(),
                0,
                class,
                major,
                minor,
                c"%s".as_ptr(),
                text.as_ptr(),
            );
        }
    }
}

/// A member of a compound: its name, its place in bytes, and its type.
pub type Member<'a> = (String, usize, Datatype<'a>);

/// A datatype that HDF5 made for the plugin, which is closed at the end.
pub struct Datatype<'a> {
    hdf5: &'a Hdf5,
    id: Hid,
}

impl<'a> Datatype<'a> {
    /// One with an identifier, which is negative if the function of this name has failed.
    fn new(hdf5: &'a Hdf5, id: Hid, name: &CStr) -> Result<Self, Failure> {
        match id < 0 {
            true => Err(failed(name)),
            false => Ok(Self { hdf5, id }),
        }
    }

    /// The identifier.
    pub fn id(&self) -> Hid {
        self.id
    }
}

impl Drop for Datatype<'_> {
    fn drop(&mut self) {
        // A failure would leave an identifier open, which harms nothing.
        let _ = self.hdf5.number(c"H5Tclose", self.id);
    }
}

/// HDF5's own functions for memory: a build that checks memory refuses that of `malloc`.
#[derive(Clone, Copy)]
pub struct MemoryFunctions {
    /// `H5allocate_memory(size, clear)`.
    pub allocate: unsafe extern "C" fn(usize, bool) -> *mut c_void,
    /// `H5free_memory(memory)`.
    pub free: unsafe extern "C" fn(*mut c_void) -> c_int,
}

fn failed(name: &CStr) -> Failure {
    Failure::new(format_args!("HDF5's {name:?} failed"))
}

fn succeeded(name: &CStr, status: c_int) -> Result<(), Failure> {
    match status < 0 {
        true => Err(failed(name)),
        false => Ok(()),
    }
}

/// The path of the object whose code called the plugin.
fn caller() -> Option<*const c_char> {
    unsafe extern "C" {
        // Of the unwinder that every program of Rust has.
        fn _Unwind_Backtrace(
            visit: unsafe extern "C" fn(*mut c_void, *mut c_void) -> c_int,
            argument: *mut c_void,
        ) -> c_int;
        fn _Unwind_GetIP(context: *mut c_void) -> usize;
    }

    struct Search {
        own: *mut c_void,
        path: *const c_char,
    }

    unsafe extern "C" fn visit(context: *mut c_void, search: *mut c_void) -> c_int {
        const URC_NO_REASON: c_int = 0;
        const URC_NORMAL_STOP: c_int = 4;
        // SAFETY: the search of `caller`, and the context of the unwinder.
        let (search, address) = unsafe { (&mut *search.cast::<Search>(), _Unwind_GetIP(context)) };
        match object(ptr::without_provenance(address)) {
            Some(found) if found.dli_fbase != search.own => {
                search.path = found.dli_fname;
                URC_NORMAL_STOP
            }
            _ => URC_NO_REASON,
        }
    }

    let mut search = Search {
        own: object((&raw const crate::CLASS).cast())?.dli_fbase,
        path: ptr::null(),
    };
    // SAFETY: `visit` gets the search, which lives.
    unsafe { _Unwind_Backtrace(visit, (&raw mut search).cast()) };
    (!search.path.is_null()).then_some(search.path)
}

/// The loaded object that has an address.
fn object(address: *const c_void) -> Option<Dl_info> {
    let mut found = mem::MaybeUninit::<Dl_info>::uninit();
    // SAFETY: asks for an address only.
    match unsafe { dladdr(address, found.as_mut_ptr()) } {
        0 => None,
        // SAFETY: written.
        _ => Some(unsafe { found.assume_init() }),
    }
}
