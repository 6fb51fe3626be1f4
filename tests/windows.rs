//! Windows of fields: their extents, and their streams beside those of the field.

use ferrosz::windows::Windows;
use ferrosz::{Bound, Codec, Compressor, Decompressor, Device, Error, Fill, Preset, Value, info};

#[test]
fn windows_are_the_field_in_its_order() {
    for extents in [
        &[100, 50, 60][..],
        &[1],
        &[5_000_000],
        &[3, 700, 900],
        &[2, 3, 1, 40, 5],
        &[1, 1, 4],
    ] {
        let elements: u64 = extents.iter().product();
        for most in [0, 1, 7, 1000, 3000 * 17, 100_000, 2_000_000, u64::MAX] {
            if elements / most.max(1) > 1_000_000 {
                continue;
            }
            let windows = Windows::new(extents, most).expect("extents");
            let mut end = 0;
            for (number, window) in (0..).zip(windows.iter()) {
                assert_eq!((window.number, window.elements.start), (number, end));
                assert_eq!(window.count(), window.extents.iter().product::<u64>());
                assert_eq!(window.extents.len(), extents.len());
                assert!(window.count() <= most.max(1) && window.count() > 0);
                assert!(window.count() <= windows.most_elements());
                end = window.elements.end;
            }
            assert_eq!(end, elements, "{extents:?} {most}");
            assert_eq!(windows.get(windows.len()), None);
        }
        assert_eq!(Windows::new(extents, elements).map(|all| all.len()), Ok(1));
    }
}

#[test]
fn windows_begin_with_tiles_where_they_can() {
    let begins = |extents: &[u64], most| -> Vec<u64> {
        let windows = Windows::new(extents, most).expect("extents");
        windows.iter().map(|window| window.elements.start).collect()
    };
    assert_eq!(begins(&[100, 10, 10], 5000), [0, 4800, 9600]);
    assert_eq!(begins(&[10, 10, 10], 500), [0, 500]);
    assert_eq!(
        begins(&[2, 100, 10], 500),
        [0, 480, 960, 1000, 1480, 1960],
        "rows of one slab"
    );
    assert_eq!(begins(&[3 << 20], 5 << 18), [0, 1 << 20, 2 << 20]);
}

#[test]
fn no_field_has_no_windows() {
    for extents in [&[0][..], &[0, 5], &[5, 0, 7], &[u64::MAX, 0]] {
        let windows = Windows::new(extents, 100).expect("extents");
        assert!(windows.is_empty() && windows.iter().next().is_none());
        assert_eq!(windows.most_elements(), 0);
    }
    assert!(Windows::new(&[u64::MAX, 2], 1).is_err());
}

#[test]
fn a_single_element_without_dimensions_has_one() {
    let windows = Windows::new::<u64>(&[], 100).expect("extents");
    let all: Vec<_> = windows.iter().collect();
    assert_eq!(all.len(), 1);
    assert_eq!(
        (all[0].elements.clone(), &all[0].extents[..]),
        (0..1, &[1][..])
    );
}

fn arrive<V: Value>(
    compressor: &Compressor,
    field: &[V],
    windows: &Windows,
) -> (Vec<Vec<u8>>, Vec<V>) {
    let mut streams = Vec::new();
    let packed = compressor.compress_windows(field, windows, |window, stream| {
        assert_eq!(window.number, streams.len() as u64);
        streams.push(stream);
        Ok::<_, Error>(())
    });
    packed.expect("compressed");
    let mut values = Vec::new();
    let mut next = streams.iter();
    let unpacked = Decompressor::new().device(Device::Cpu).decompress_windows(
        windows,
        |_| Ok::<_, Error>(next.next().cloned().unwrap_or_default()),
        |window, of_window: Vec<V>| {
            assert_eq!(window.elements.start, values.len() as u64);
            values.extend(of_window);
            Ok(())
        },
    );
    unpacked.expect("decompressed");
    (streams, values)
}

#[test]
fn streams_are_those_of_the_windows_with_the_bound_of_the_field() {
    let extents = [37u64, 20, 30];
    // The range of no window is that of the field.
    let field: Vec<f32> = (0..37 * 600)
        .map(|i| (i as f32 * 0.01).sin() + (i / 600) as f32)
        .collect();
    let (min, max) = (field.iter()).fold((f32::MAX, f32::MIN), |(min, max), x| {
        (min.min(*x), max.max(*x))
    });
    let error = 1e-3 * (f64::from(max) - f64::from(min));
    let windows = Windows::new(&extents, 600 * 16).expect("extents");
    assert_eq!(windows.len(), 3);
    for codec in Codec::ALL {
        let compressor = Compressor::new(codec, Bound::range(1e-3).expect("a bound"));
        let compressor = compressor.device(Device::Cpu);
        let (streams, values) = arrive(&compressor, &field, &windows);
        assert!(
            (field.iter().zip(&values)).all(|(x, y)| f64::from((x - y).abs()) <= error * 1.0001),
            "{codec}"
        );
        for (window, stream) in windows.iter().zip(&streams) {
            let info = info(stream).expect("a stream");
            assert!(
                (info.absolute_error - error).abs() < 1e-6 * error,
                "{codec}"
            );
            let alone = compressor
                .with_bound(Bound::abs(error).expect("a bound"))
                .extents(&window.extents)
                .expect("extents");
            let own = &field[window.elements.start as usize..window.elements.end as usize];
            let whole = compressor.absolute_for(&field).expect("finite");
            assert!((whole.bound().value() - error).abs() < 1e-12);
            let alone = alone.with_bound(whole.bound());
            assert!(
                alone.compress(own).expect("memory") == *stream,
                "{codec} {}",
                window.number
            );
        }
    }
}

#[test]
fn bounds_become_those_of_the_valid_values() {
    let of = |mode: &str, field: &[f32], fill: Option<f64>| {
        let bound = match mode {
            "range" => Bound::range(0.25),
            "max" => Bound::max(0.25),
            "pwrel" => Bound::pwrel(0.25),
            _ => Bound::abs(0.25),
        };
        let mut compressor = Compressor::new(Preset::Fast, bound.expect("a bound"));
        if let Some(fill) = fill {
            compressor = compressor.fill(Fill::Value(fill)).expect("a fill value");
        }
        let found = compressor.absolute_for(field).expect("resolved").bound();
        (found.mode().name(), found.value())
    };
    let field = [1.0, 3.0, 1e20, f32::NAN, f32::INFINITY, 2.0];
    assert_eq!(of("range", &field, Some(1e20)), ("abs", 0.5));
    assert_eq!(of("max", &field, Some(1e20)), ("abs", 0.75));
    assert_eq!(of("max", &field[..2], None), ("abs", 0.75));
    assert_eq!(of("abs", &field, None), ("abs", 0.25));
    assert_eq!(of("pwrel", &field, None), ("pwrel", 0.25));
    assert_eq!(of("range", &[], None), ("abs", 0.0));
    let integers = Compressor::new(Preset::Fast, Bound::range(0.25).expect("a bound"));
    let found = integers.absolute_for(&[-4i16, 0, 8]).expect("resolved");
    assert_eq!(found.bound(), Bound::abs(3.0).expect("a bound"));
}

#[test]
fn streams_of_other_windows_are_refused() {
    let windows = Windows::new(&[4, 1000], 2000).expect("extents");
    let window = windows.get(1).expect("two");
    let field = vec![1f32; 2000];
    for extents in [&[2000][..], &[4, 1000], &[2, 1001]] {
        let compressor = Compressor::new(Codec::PLAIN, Bound::abs(0.1).expect("a bound"));
        let compressor = compressor.extents(extents).expect("extents");
        let stream = compressor.compress(&vec![1f32; extents.iter().product()]);
        let stream = stream.expect("memory");
        let found = Decompressor::new().decompress_window::<f32>(&window, &stream);
        assert!(
            matches!(found, Err(Error::WindowMismatch { number: 1, .. })),
            "{found:?}"
        );
    }
    let compressor = Compressor::new(Codec::PLAIN, Bound::abs(0.1).expect("a bound"));
    let compressor = compressor.for_window(&window).expect("extents");
    let stream = compressor.compress(&field).expect("memory");
    assert!(
        Decompressor::new()
            .decompress_window::<f64>(&window, &stream)
            .is_err()
    );
    assert!(
        Decompressor::new()
            .decompress_window::<f32>(&window, &stream)
            .is_ok()
    );
}
