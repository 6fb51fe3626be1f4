//! Integers of 8 and 64 bits, which a stream has as those of 16 and 32.

use crate::datatype::Stored;
use crate::failure::Failure;
use bytemuck::cast_slice;
use ferrosz::{Value, ValueType};

impl Stored {
    /// Whether the values of a chunk are of another width than those of its stream.
    pub fn is_of_other_width(self) -> bool {
        self.size != self.value_type.bytes()
    }

    fn is_signed(self) -> bool {
        matches!(self.value_type, ValueType::I16 | ValueType::I32)
    }

    /// The integers of a chunk as values of its stream, in the byte order of this machine.
    ///
    /// # Errors
    ///
    /// If one of 64 bits does not fit in 32.
    pub fn to_stream(self, chunk: &[u8]) -> Result<Vec<u8>, Failure> {
        let mut found = Vec::with_capacity(chunk.len() / self.size * self.value_type.bytes());
        for bytes in chunk.chunks_exact(self.size) {
            let number = self.number(bytes);
            let is_there = match self.value_type {
                ValueType::I16 => push(&mut found, i16::try_from(number).map(i16::to_ne_bytes)),
                ValueType::U16 => push(&mut found, u16::try_from(number).map(u16::to_ne_bytes)),
                ValueType::I32 => push(&mut found, i32::try_from(number).map(i32::to_ne_bytes)),
                _ => push(&mut found, u32::try_from(number).map(u32::to_ne_bytes)),
            };
            if !is_there {
                return Err(Failure::new(format_args!(
                    "{number} does not fit in {}, which stands for the dataset's integers of 64 bits; leave the filter away",
                    self.value_type
                )));
            }
        }
        Ok(found)
    }

    /// The number of a value of a chunk.
    fn number(self, bytes: &[u8]) -> i128 {
        if let [byte] = *bytes {
            return match self.is_signed() {
                true => byte.cast_signed().into(),
                false => byte.into(),
            };
        }
        let mut word = [0; 8];
        word.copy_from_slice(bytes);
        if self.is_swapped {
            word.reverse();
        }
        match self.is_signed() {
            true => i64::from_ne_bytes(word).into(),
            false => u64::from_ne_bytes(word).into(),
        }
    }

    /// Writes the values of a stream to a chunk. The bound may lead beyond the limits of 8 bits, where the limit is nearer.
    pub fn to_chunk<V: Value>(self, values: &[V], chunk: &mut [u8]) {
        for (value, place) in values.iter().zip(chunk.chunks_exact_mut(self.size)) {
            // All integers of 32 bits are numbers of f64.
            let number = value.to_number() as i64;
            match (place, self.is_signed()) {
                ([place], true) => *place = (number.clamp(-128, 127) as i8).cast_unsigned(),
                ([place], false) => *place = number.clamp(0, 255) as u8,
                (place, _) => {
                    let numbers = [number];
                    place.copy_from_slice(cast_slice(&numbers));
                    if self.is_swapped {
                        place.reverse();
                    }
                }
            }
        }
    }
}

/// Appends the bytes of a number, if it has some.
fn push<const N: usize, E>(found: &mut Vec<u8>, bytes: Result<[u8; N], E>) -> bool {
    bytes.map(|bytes| found.extend(bytes)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_come_back_in_either_order() {
        for is_swapped in [false, true] {
            let wide = Stored::new(ValueType::I32, 8, is_swapped).unwrap();
            let mut chunk: Vec<u8> = Vec::new();
            for number in [0i64, -1, i32::MIN.into(), i32::MAX.into(), 258] {
                let mut bytes = number.to_ne_bytes();
                if is_swapped {
                    bytes.reverse();
                }
                chunk.extend(bytes);
            }
            let values: Vec<i32> = bytemuck::pod_collect_to_vec(&wide.to_stream(&chunk).unwrap());
            assert_eq!(values, [0, -1, i32::MIN, i32::MAX, 258]);
            let mut back = vec![0; chunk.len()];
            wide.to_chunk(&values, &mut back);
            assert_eq!(back, chunk);
        }
        let narrow = Stored::new(ValueType::I16, 1, false).unwrap();
        let mut back = [0; 3];
        narrow.to_chunk(&[-129i16, 128, -1], &mut back);
        assert_eq!(back, [0x80, 0x7f, 0xff]);
        let unsigned = Stored::new(ValueType::U32, 8, false).unwrap();
        assert!(unsigned.to_stream(&u64::MAX.to_ne_bytes()).is_err());
    }
}
