//! The instructions of `Thread` that cuda_std 0.2.2 has no function for.
//!
//! They are names that nothing defines. A kernel that needs none of them does not contain them; one that does is refused
//! when it is loaded, by the name of the instruction.

unsafe extern "C" {
    pub fn cuda_std_0_2_has_no_shuffle(value: u32, source: u32) -> u32;
    pub fn cuda_std_0_2_has_no_shuffle_up(value: u32, delta: u32) -> u32;
    pub fn cuda_std_0_2_has_no_shuffle_down(value: u32, delta: u32) -> u32;
    pub fn cuda_std_0_2_has_no_shuffle_xor(value: u32, mask: u32) -> u32;
    pub fn cuda_std_0_2_has_no_ballot(predicate: bool) -> u32;
    pub fn cuda_std_0_2_has_no_reduce_max(value: u32) -> u32;
    pub fn cuda_std_0_2_has_no_reduce_add(value: u32) -> u32;
    pub fn cuda_std_0_2_has_no_reduce_or(value: u32) -> u32;
    pub fn cuda_std_0_2_has_no_any(predicate: bool) -> bool;
}
