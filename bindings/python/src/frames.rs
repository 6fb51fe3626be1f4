//! Frames without end: files of frames that are written as they come, files whose frames are found, and pipes.

mod file;
mod places;
mod reader;
mod writer;

pub use places::Frames;
pub use reader::FrameReader;
pub use writer::FrameWriter;
