//! Digests, as programs that share no code with the library make them of their results.

use sha2::{Digest, Sha256};

/// The first 16 hexadecimal digits of SHA-256.
pub fn digest(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    hash[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}
