//! What rate bytes say, against rate bytes by hand; and the checks of a stream.

use ferrosz_cuszp::aatrox::{self, AatroxError};
use ferrosz_cuszp::cuszp::{self, CuszpError, Mode};
use ferrosz_cuszp::{Bare, Error, Shape};

#[test]
fn forms_and_sections_are_those_of_the_rate_bytes() {
    // Six blocks of 4 x 4 x 4: none, three planes, an outlier of two bytes and no plane, and three more without a body.
    let params = cuszp::Params::new(Shape::Cube, Mode::Outlier, [4, 8, 12], 0.5f64);
    let mut stream = vec![0, 3, 0xa0, 0, 0, 0, 7, 7];
    stream.resize(8 + 32 + 10, 1);
    let bare = Bare::from(params);
    let found = bare.outline(&stream).expect("an outline");
    assert_eq!(
        (found.rate_bytes, found.between_bytes, found.body_bytes),
        (6, 2, 42)
    );
    assert_eq!((found.stream_bytes(), found.found_bytes), (50, 50));
    assert_eq!(found.zero_blocks(), 4);
    let rates: Vec<_> = (found.rates.iter())
        .map(|rate| {
            (
                rate.byte,
                rate.planes,
                rate.outlier_bytes,
                rate.body_bytes,
                rate.blocks,
            )
        })
        .collect();
    assert_eq!(
        rates,
        [(0, 0, 0, 0, 4), (3, 3, 0, 32, 1), (0xa0, 0, 2, 10, 1)]
    );
    assert_eq!(bare.check(&stream), Ok(()));
    // A stream that is cut off has an outline, too.
    let cut = bare.outline(&stream[..40]).expect("an outline");
    assert_eq!((cut.stream_bytes(), cut.found_bytes), (50, 40));
}

#[test]
fn streams_that_are_no_whole_ones_are_told() {
    let params = cuszp::Params::new(Shape::Line, Mode::Plain, [1, 1, 100], 0.5f32);
    let stream = cuszp::compress(&params, &[3.0; 100]).expect("compresses");
    let (needed, bare) = (stream.len() as u64, Bare::from(params));
    assert_eq!(bare.check(&stream), Ok(()));
    let found = needed + 1;
    let trailing = CuszpError::Trailing { needed, found };
    let longer = [&stream[..], &[0]].concat();
    assert_eq!(bare.check(&longer), Err(trailing.into()));
    let cut = bare.check(&stream[..stream.len() - 1]);
    assert!(matches!(
        cut,
        Err(Error::Cuszp(CuszpError::Truncated { .. }))
    ));
    let mut corrupt = stream.clone();
    corrupt[2] = 40;
    let corrupt = bare.check(&corrupt);
    let is_named = |found| {
        matches!(
            found,
            Err(Error::Cuszp(CuszpError::CorruptRate {
                block: 2,
                byte: 40,
                ..
            }))
        )
    };
    assert!(is_named(corrupt));
    let params = aatrox::Params {
        elements: 100,
        error: 0.5f32,
    };
    let mut stream = aatrox::compress(&params, &[3.0; 100]).expect("compresses");
    let (needed, bare) = (stream.len() as u64, Bare::from(params));
    let outline = bare.outline(&stream).expect("an outline");
    assert_eq!(
        (
            outline.rate_bytes,
            outline.between_bytes,
            outline.body_bytes
        ),
        (1024, 4, 0)
    );
    assert_eq!(bare.check(&stream), Ok(()));
    stream.push(0);
    let found = needed + 1;
    let trailing = AatroxError::Trailing { needed, found };
    assert_eq!(bare.check(&stream), Err(trailing.into()));
}
