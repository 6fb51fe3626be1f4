//! Compression of a field whose parts are in the members of a group, such as the ranks of MPI.

use crate::arguments::{self, Place};
use crate::compressor::Compressor;
use crate::decompress::ranges;
use crate::error::{Error, Failure};
use crate::guard;
use crate::status::ferrosz_status;
use crate::types::{ferrosz_type, value_type};
use ferrosz::ValueType;
use ferrosz::codec::with_value;
use ferrosz::parts::{self, agree};
use std::ffi::c_void;
use std::ops::Range;
use std::ptr;

/// The members that compress one field together, as one of them sees it. The functions are those of the caller; each gets
/// `context`, and returns 0, or any other number if it fails. All members make the same calls in the same order, on the
/// thread that called ferrosz_compress_part. A call returns when the members that it depends on have made theirs. If a
/// member fails or ends, the calls of the others must fail, not wait for ever; engines such as MPI then end the whole
/// program. No exception of C++ may leave a function.
#[repr(C)]
pub struct Group {
    /// What the functions get.
    pub context: *mut c_void,
    /// The number of this member, from 0 on.
    pub rank: u64,
    /// The number of members.
    pub size: u64,
    /// Replaces each of `count` numbers by the largest of all members, which give equally many.
    pub max:
        Option<unsafe extern "C" fn(context: *mut c_void, numbers: *mut u64, count: u64) -> i32>,
    /// Replaces each of `count` numbers by its sum over all members, modulo 2^64. The members give equally many.
    pub sum:
        Option<unsafe extern "C" fn(context: *mut c_void, numbers: *mut u64, count: u64) -> i32>,
    /// Stores in `before` the sum of the numbers of the members with lower ranks: 0 for the first member.
    pub sum_before:
        Option<unsafe extern "C" fn(context: *mut c_void, number: u64, before: *mut u64) -> i32>,
    /// Sends `count` messages, at most one to each member and none empty. Those for this member go to the inbox by
    /// ferrosz_inbox_add, in any order. A member may send one to itself.
    pub exchange: Option<
        unsafe extern "C" fn(
            context: *mut c_void,
            count: u64,
            messages: *const Message,
            inbox: *mut Inbox,
        ) -> i32,
    >,
    /// Writes `count` pieces of the stream, in ascending order of their positions. The pieces of all members are different
    /// parts of the stream. All members call it, also those that have no pieces.
    pub write:
        Option<unsafe extern "C" fn(context: *mut c_void, count: u64, pieces: *const Piece) -> i32>,
    /// Returns when all members have called it, and everything that they wrote before is visible to all.
    pub barrier: Option<unsafe extern "C" fn(context: *mut c_void) -> i32>,
}

/// A message to another member.
#[repr(C)]
pub struct Message {
    /// The rank of the member that it is for.
    pub rank: u64,
    /// Its contents.
    pub data: *const c_void,
    /// The number of bytes.
    pub bytes: u64,
}

/// A piece of a stream.
#[repr(C)]
pub struct Piece {
    /// The position of its first byte in the stream.
    pub start: u64,
    /// Its contents.
    pub data: *const c_void,
    /// The number of bytes.
    pub bytes: u64,
}

/// The messages that a member gets.
pub struct Inbox(Vec<parts::Message>);

/// Makes room for a message of `bytes` bytes from a member, which the caller fills before the function `exchange` of its
/// group returns. Null if there is no memory, or the inbox is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_inbox_add(inbox: *mut Inbox, rank: u64, bytes: u64) -> *mut u8 {
    // SAFETY: by the contract of the crate.
    let Some(inbox) = (unsafe { inbox.as_mut() }) else {
        return ptr::null_mut();
    };
    let (Ok(rank), Ok(length)) = (usize::try_from(rank), usize::try_from(bytes)) else {
        return ptr::null_mut();
    };
    let mut room = Vec::new();
    if room.try_reserve_exact(length).is_err() || inbox.0.try_reserve(1).is_err() {
        return ptr::null_mut();
    }
    room.resize(length, 0);
    let start = room.as_mut_ptr();
    inbox.0.push(parts::Message { rank, bytes: room });
    start
}

/// Compresses the part of a field that this member of a group has. All members call it with the same settings; the extents
/// of the compressor are those of the whole field. Together they write one stream by the function `write` of the group,
/// with the bytes that ferrosz_compress of the whole field makes. The members choose a preset's codec together, among the
/// codecs that need no mask.
///
/// The part is a box of the field: `starts` and `lengths` of as many dimensions as the field has, slowest first; `values`
/// are its `elements` values in C order. The boxes of all members make the field; some may be empty. The bound is that of
/// the whole field, also a relative one. The least is sent between members if boxes begin at multiples of the chunks'
/// extents.
///
/// The device of the compressor is the CPU unless it has another one; of several GPUs the members take turns. On a GPU a
/// member compresses a slab of whole chunks along the slowest axis, which other members send it as far as it does not have
/// it. If one member has no GPU, or if there are fewer slabs than members, all use their CPUs.
///
/// Stores the length of the stream in `bytes`, which may be null. The header is written last, so that a file is no stream
/// before all members have written their parts. An error of one member is an error of all: it has its own text, the others
/// FERROSZ_GROUP_FAILED.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrosz_compress_part(
    compressor: *const Compressor,
    group: *const Group,
    dimensions: u64,
    starts: *const u64,
    lengths: *const u64,
    r#type: ferrosz_type,
    values: *const c_void,
    elements: u64,
    bytes: *mut u64,
    error: *mut Error,
) -> ferrosz_status {
    guard::status(error, || {
        // SAFETY: by the contract of the crate.
        let members = Members::new(unsafe { arguments::object("group", group)? })?;
        let prepare = || -> Result<(&Compressor, Vec<Range<u64>>, ValueType), Failure> {
            let value_type = value_type(r#type)?;
            with_value!(value_type, V => {
                // SAFETY: by the contract of the crate.
                unsafe { arguments::slice::<V>("values", values.cast(), elements)? };
            });
            // SAFETY: by the contract of the crate.
            let compressor = unsafe { arguments::object("compressor", compressor)? };
            // SAFETY: by the contract of the crate.
            Ok((
                compressor,
                unsafe { ranges(dimensions, starts, lengths)? },
                value_type,
            ))
        };
        // An argument that is wrong in this member alone is an error of all.
        let prepared = prepare();
        let failed = prepared
            .as_ref()
            .err()
            .map(|failure| ferrosz::Error::Group {
                action: "prepare its part",
                reason: failure.text.clone(),
            });
        let agreed = agree(&members, failed.map_or(Ok(()), Err));
        let (compressor, own, value_type) = prepared?;
        agreed?;
        let length = with_value!(value_type, V => {
            // SAFETY: by the contract of the crate.
            let values = unsafe { arguments::slice::<V>("values", values.cast(), elements)? };
            compressor.0.compress_part(&members, &own, values)
        });
        Place::optional(bytes).store(length?);
        Ok(())
    })
}

/// A group of C, whose functions are there.
struct Members<'a> {
    group: &'a Group,
    max: unsafe extern "C" fn(*mut c_void, *mut u64, u64) -> i32,
    sum: unsafe extern "C" fn(*mut c_void, *mut u64, u64) -> i32,
    sum_before: unsafe extern "C" fn(*mut c_void, u64, *mut u64) -> i32,
    exchange: unsafe extern "C" fn(*mut c_void, u64, *const Message, *mut Inbox) -> i32,
    write: unsafe extern "C" fn(*mut c_void, u64, *const Piece) -> i32,
    barrier: unsafe extern "C" fn(*mut c_void) -> i32,
}

impl<'a> Members<'a> {
    fn new(group: &'a Group) -> Result<Self, Failure> {
        let missing = |name: &str| Failure::argument("group", format!("{name} is null"));
        if group.rank >= group.size {
            let reason = format!("there is no rank {} of {}", group.rank, group.size);
            return Err(Failure::argument("group", reason));
        }
        Ok(Self {
            group,
            max: group.max.ok_or_else(|| missing("max"))?,
            sum: group.sum.ok_or_else(|| missing("sum"))?,
            sum_before: group.sum_before.ok_or_else(|| missing("sum_before"))?,
            exchange: group.exchange.ok_or_else(|| missing("exchange"))?,
            write: group.write.ok_or_else(|| missing("write"))?,
            barrier: group.barrier.ok_or_else(|| missing("barrier"))?,
        })
    }

    /// The result of a function, whose name is the action.
    fn result(action: &'static str, returned: i32) -> Result<(), ferrosz::Error> {
        match returned {
            0 => Ok(()),
            number => Err(ferrosz::Error::Group {
                action,
                reason: format!("the group's function returned {number}"),
            }),
        }
    }
}

// The calls are within the contract of the crate: pointers with counts live and are not changed by others until the call
// ends, and the caller's functions keep to what `Group` says of them.
impl parts::Group for Members<'_> {
    fn rank(&self) -> usize {
        self.group.rank as usize
    }

    fn size(&self) -> usize {
        self.group.size as usize
    }

    fn max(&self, numbers: &mut [u64]) -> Result<(), ferrosz::Error> {
        let count = numbers.len() as u64;
        // SAFETY: as above.
        let returned = unsafe { (self.max)(self.group.context, numbers.as_mut_ptr(), count) };
        Self::result("find the largest numbers (max)", returned)
    }

    fn sum(&self, numbers: &mut [u64]) -> Result<(), ferrosz::Error> {
        let count = numbers.len() as u64;
        // SAFETY: as above.
        let returned = unsafe { (self.sum)(self.group.context, numbers.as_mut_ptr(), count) };
        Self::result("add numbers (sum)", returned)
    }

    fn sum_before(&self, number: u64) -> Result<u64, ferrosz::Error> {
        let mut before = 0;
        // SAFETY: as above.
        let returned = unsafe { (self.sum_before)(self.group.context, number, &mut before) };
        Self::result("add the numbers of earlier members (sum_before)", returned).map(|()| before)
    }

    fn exchange(
        &self,
        messages: Vec<parts::Message>,
    ) -> Result<Vec<parts::Message>, ferrosz::Error> {
        let sent = messages.iter().filter(|message| !message.bytes.is_empty());
        let sent: Vec<Message> = sent
            .map(|message| Message {
                rank: message.rank as u64,
                data: message.bytes.as_ptr().cast(),
                bytes: message.bytes.len() as u64,
            })
            .collect();
        let mut inbox = Inbox(Vec::new());
        let (context, count) = (self.group.context, sent.len() as u64);
        // SAFETY: as above.
        let returned = unsafe { (self.exchange)(context, count, sent.as_ptr(), &mut inbox) };
        Self::result("exchange messages (exchange)", returned)?;
        inbox.0.sort_by_key(|message| message.rank);
        Ok(inbox.0)
    }

    fn write(&self, pieces: &[parts::Piece<'_>]) -> Result<(), ferrosz::Error> {
        let pieces: Vec<Piece> = pieces
            .iter()
            .map(|piece| Piece {
                start: piece.start,
                data: piece.bytes.as_ptr().cast(),
                bytes: piece.bytes.len() as u64,
            })
            .collect();
        let (context, count) = (self.group.context, pieces.len() as u64);
        // SAFETY: as above.
        let returned = unsafe { (self.write)(context, count, pieces.as_ptr()) };
        Self::result("write the stream (write)", returned)
    }

    fn barrier(&self) -> Result<(), ferrosz::Error> {
        // SAFETY: as above.
        let returned = unsafe { (self.barrier)(self.group.context) };
        Self::result("wait for all members (barrier)", returned)
    }
}
