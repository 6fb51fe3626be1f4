//! Values in place of the holes of a sampled tile. They take less time than those of a stream.

use ferrosz_codec::Element;

/// Holes between two values of a row lie on the line between them, other holes of the row have the value of the nearest.
/// A row without values is as the one before.
pub(super) fn fill_rows<T: Element>(width: usize, elements: &mut [T]) {
    let first = elements.iter().copied().find(|element| !element.is_hole());
    let mut before: Vec<T> = vec![first.unwrap_or(T::ZERO); width];
    for row in elements.chunks_exact_mut(width) {
        let mut known: Option<usize> = None;
        for x in 0..=width {
            if x < width && row[x].is_hole() {
                continue;
            }
            let from = known.map_or(0, |known| known + 1);
            for hole in from..x {
                row[hole] = match (known, x < width) {
                    (Some(left), true) => {
                        let way =
                            T::from_i32((hole - left) as i32) / T::from_i32((x - left) as i32);
                        row[left] + (row[x] - row[left]) * way
                    }
                    (Some(left), false) => row[left],
                    (None, true) => row[x],
                    (None, false) => before[hole],
                };
            }
            known = Some(x);
        }
        before.copy_from_slice(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_lie_between_values() {
        const NAN: f32 = f32::HOLE;
        let mut elements = [NAN, 1.0, NAN, NAN, 4.0, NAN, NAN, NAN, NAN, NAN, NAN, NAN];
        fill_rows(6, &mut elements);
        let row = [1.0, 1.0, 2.0, 3.0, 4.0, 4.0];
        assert_eq!(elements[..6], row);
        assert_eq!(elements[6..], row);
        let mut nothing = [NAN; 2];
        fill_rows(2, &mut nothing);
        assert_eq!(nothing, [0.0; 2]);
    }
}
