//! Many arrays in one launch: the codecs of blocks on lines, one thread block an array.
//!
//! A block takes one array and codes its chunks one after the other, with the stages of
//! [`blocks`](crate::pipeline::blocks). So it adds up the start of each chunk itself, and no block waits for another.
//! There is no workspace: what the stages need of an array is in shared memory.
//!
//! Short arrays in great number are what this is for. A long array among short ones occupies one block for long, and a
//! few long arrays leave most of the GPU idle; the kernels of single fields are made for them.

pub mod arrays;
pub mod compress;
pub mod decompress;
