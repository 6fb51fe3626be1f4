//! Tickets: which piece of work a thread block takes.
//!
//! A block takes the next number of a counter when it starts. So all work of lower numbers is done or in work, whatever
//! the order in which the GPU starts blocks, and a look-back ends.

use ferrosz_simt::{Shared, Thread, View};

/// The next number of a counter, cell `counter` of `cells`, in all threads of the block. The thread that takes it also
/// does something `with` it, for example leaves more in shared memory. `ticket` is an array of one element, for this
/// alone. There is one barrier inside.
///
/// `with` is `Copy`, so that nothing is dropped behind the barrier in some threads only: rustc would compile the barrier once
/// for the threads that drop it and once for the one that does not, and they would wait for each other for ever.
#[cfg_attr(target_arch = "nvptx64", inline(always))]
pub fn take_ticket<T: Thread>(
    t: T,
    cells: View<u64>,
    counter: u64,
    ticket: Shared<u32>,
    with: impl FnOnce(u32) + Copy,
) -> u32 {
    if t.thread_index() == 0 {
        let number = t.atomic_add(cells, counter, 1) as u32;
        ticket.store(t, 0, number);
        with(number);
    }
    t.barrier();
    ticket.load(t, 0)
}
