//! Names of generic kernels, composed at compile time.

/// Bytes of a name at most.
const MOST: usize = 64;

/// A name made of parts, for the [`Kernel::NAME`](crate::Kernel::NAME) of a generic kernel.
///
/// ```
/// use ferrosz_simt::Name;
///
/// const NAME: &str = const { &Name::of(&["sum", "line", "f32"]) }.as_str();
/// assert_eq!(NAME, "sum_line_f32");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Name {
    bytes: [u8; MOST],
    length: usize,
}

impl Name {
    /// The parts, joined by `_`. In a constant, a name of more than 64 bytes does not compile.
    pub const fn of(parts: &[&str]) -> Self {
        let mut name = Self {
            bytes: [0; MOST],
            length: 0,
        };
        let mut part = 0;
        while part < parts.len() {
            if part > 0 {
                name.push(b'_');
            }
            let bytes = parts[part].as_bytes();
            let mut at = 0;
            while at < bytes.len() {
                name.push(bytes[at]);
                at += 1;
            }
            part += 1;
        }
        name
    }

    const fn push(&mut self, byte: u8) {
        self.bytes[self.length] = byte;
        self.length += 1;
    }

    /// The name.
    pub const fn as_str(&self) -> &str {
        match core::str::from_utf8(self.bytes.split_at(self.length).0) {
            Ok(name) => name,
            // Not reached: joined text is valid text.
            Err(_) => "",
        }
    }
}
