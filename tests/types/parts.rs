//! Parts, updates, batches, searches and salvaged streams of every value type.

use super::fields::{Kind, field, number};
use super::{converted, is_same};
use crate::common::judge::judge;
use ferrosz::codec::with_value;
use ferrosz::stream::{Update, compact};
use ferrosz::target::Target;
use ferrosz::{
    Bound, Codec, Compressor, Decompressor, Device, Error, Fill, FormatError, Part, Preset, Value,
    info, max_compressed_len,
};

fn compressor(codec: Codec, bound: f64) -> Compressor {
    let compressor = Compressor::new(codec, Bound::abs(bound).expect("a bound"));
    compressor
        .extents(&[9, 22, 50])
        .expect("extents")
        .device(Device::Cpu)
}

fn smooth<V: Value>() -> Vec<V> {
    field(Kind::Smooth, &[9, 22, 50])
}

#[test]
fn parts_are_those_of_the_whole() {
    let part = Part::Box(vec![2..5, 3..20, 10..31]);
    for value_type in converted() {
        for codec in [Codec::LORENZO, Codec::INTERP] {
            with_value!(value_type, V => {
                let stream = compressor(codec, 0.4).compress(&smooth::<V>()).expect("compresses");
                let decoder = Decompressor::new().device(Device::Cpu);
                let whole: Vec<V> = decoder.decompress(&stream).expect("decodes");
                let found: Vec<V> = decoder.decompress_part(&stream, &part).expect("decodes");
                let mut expected = Vec::new();
                for z in 2..5 {
                    for y in 3..20 {
                        let row = (z * 22 + y) * 50;
                        expected.extend_from_slice(&whole[row + 10..row + 31]);
                    }
                }
                assert!(is_same(&found, &expected), "{value_type}");
                let mut out = vec![V::default(); whole.len() + 3];
                assert_eq!(decoder.decompress_into(&stream, &mut out), Ok(whole.len()));
                assert!(is_same(&out[..whole.len()], &whole));
            });
        }
    }
}

/// New values may be of magnitudes that the first field did not have, where the values of halves are further apart.
#[test]
fn updates_keep_the_bound_with_any_new_values() {
    for value_type in converted() {
        for bound in [0.0, 0.05, 0.26, 0.4, 1.0, 2.9, 30.0] {
            with_value!(value_type, V => {
                let mut values: Vec<V> = smooth();
                for value in &mut values {
                    *value = number((value.to_number() * 0.2).floor());
                }
                let absolute = Bound::abs(bound).expect("a bound");
                let mut stream = compressor(Codec::OUTLIER, bound).compress(&values).expect("compresses");
                let mut change = |from: usize, new: &[V]| {
                    let part = Part::Elements(from as u64..(from + new.len()) as u64);
                    Update::new(&stream, &part, new).expect("updates").apply(&mut stream);
                    values[from..from + new.len()].copy_from_slice(new);
                    let back: Vec<V> = Decompressor::new().decompress(&stream).expect("decodes");
                    assert_eq!(judge(absolute, &values, &back), Ok(()), "{value_type} {bound}");
                };
                change(300, &field::<V>(Kind::Bits, &[1000]));
                let ends: Vec<V> = (0..2000).map(|i| number(f64::from(i) * 13.25 + 1000.0)).collect();
                change(1200, &ends);
                change(1100, &field::<V>(Kind::Smooth, &[500]));
                let short = compact(&stream).expect("compacts");
                let [one, other] = [&stream, &short].map(|stream| {
                    Decompressor::new().decompress::<V>(stream).expect("decodes")
                });
                assert!(is_same(&one, &other));
                let errors = [&stream, &short].map(|stream| info(stream).expect("a stream").absolute_error);
                assert_eq!(errors[0].to_bits(), errors[1].to_bits());
            });
        }
    }
}

#[test]
fn fill_values_are_found_and_come_back() {
    for value_type in converted() {
        for codec in [Codec::LORENZO, Codec::INTERP, Codec::LORENZO_RANS] {
            with_value!(value_type, V => {
                let mut values: Vec<V> = (0..9900).map(|i| number(300.0 + f64::from(i % 90))).collect();
                let mark = if V::TYPE.name().starts_with('u') { 65_535.0 } else { -9999.0 };
                let mark: V = V::from_number(mark).expect("a value");
                let mark = if mark.to_number().is_finite() { mark } else { number(9999.0) };
                values[500..900].fill(mark);
                let fills = Fill::detect(&values);
                assert_eq!(fills, [Fill::Value(mark.to_number())], "{value_type}");
                for bound in [Bound::range(0.02), Bound::abs(0.0)] {
                    let compressor = Compressor::new(codec, bound.expect("a bound")).extents(&[9, 22, 50]);
                    let compressor = compressor.expect("extents").fill(fills[0]).expect("a fill value");
                    let stream = compressor.compress(&values).expect("compresses");
                    let most = compressor.max_compressed_len(9900, V::TYPE).expect("not too many");
                    assert!(stream.len() as u64 <= most);
                    let info = info(&stream).expect("a stream");
                    assert!(info.absolute_error < 1.79, "{}", info.absolute_error);
                    assert!(info.fills.contains(&mark.to_number()));
                    assert_eq!(info.fills.iter().any(|fill| fill.is_nan()), V::TYPE.is_half());
                    let back: Vec<V> = Decompressor::new().decompress(&stream).expect("decodes");
                    assert!(is_same(&back[500..900], &values[500..900]));
                    assert_eq!(judge(Bound::abs(1.79).expect("a bound"), &values, &back), Ok(()));
                }
            });
        }
    }
}

#[test]
fn fill_values_of_other_types_are_refused() {
    let with = |fill: Fill| {
        compressor(Codec::PLAIN, 0.0)
            .fill(fill)
            .expect("one fill value")
    };
    for fill in [1e20, -1.0, 0.5, f64::NAN] {
        let found = with(fill.into()).compress(&smooth::<u16>());
        assert!(
            matches!(found, Err(Error::FillOfOtherType { .. })),
            "{fill}: {found:?}"
        );
    }
    assert!(with(Fill::Nan).compress(&smooth::<ferrosz::F16>()).is_ok());
}

#[test]
fn all_bits_of_halves_can_be_fill_values() {
    fn check<V: Value>() {
        let nan = V::from_number(f64::NAN).expect("a half").to_value_bits();
        let signalling = nan >> 1 & 0x7c00 | nan & 0x7c00 | 1 | nan & 0x7f80;
        let mut values: Vec<V> = smooth();
        for (i, value) in values.iter_mut().enumerate().skip(40).step_by(3) {
            *value = V::from_value_bits([nan, nan | 0x8000, signalling, 0x8000][i % 4]);
        }
        for bound in [0.0, 0.5, 5.0] {
            let fills = [Fill::Nan, Fill::Bits(signalling), Fill::Bits(0x8000)];
            let with = |compressor: Compressor, fill| compressor.fill(fill).expect("few");
            let compressor = fills
                .into_iter()
                .fold(compressor(Codec::INTERP, bound), with);
            let stream = compressor.compress(&values).expect("compresses");
            let back: Vec<V> = Decompressor::new().decompress(&stream).expect("decodes");
            for (value, back) in values.iter().zip(&back).skip(40).step_by(3) {
                assert_eq!(value.to_value_bits(), back.to_value_bits(), "{bound}");
            }
            assert_eq!(
                judge(Bound::abs(bound).expect("a bound"), &values, &back),
                Ok(())
            );
        }
    }
    check::<ferrosz::F16>();
    check::<ferrosz::Bf16>();
}

#[test]
fn batches_are_single_calls() {
    for value_type in converted() {
        with_value!(value_type, V => {
            let arrays: Vec<Vec<V>> = (1..9).map(|i| field(Kind::Smooth, &[i * 97])).collect();
            let fields: Vec<&[V]> = arrays.iter().map(Vec::as_slice).collect();
            let devices = [Device::Cpu, Device::Emulator];
            for device in devices.into_iter().filter(|device| *device == Device::Cpu || cfg!(feature = "emulator")) {
                let compressor = Compressor::new(Codec::PLAIN, Bound::range(0.01).expect("a bound")).device(device);
                let streams: Vec<Vec<u8>> = (compressor.compress_batch(&fields).into_iter())
                    .map(|stream| stream.expect("compresses"))
                    .collect();
                let slices: Vec<&[u8]> = streams.iter().map(Vec::as_slice).collect();
                let decoder = Decompressor::new().device(device);
                let back = decoder.decompress_batch::<V>(&slices);
                for ((stream, field), back) in streams.iter().zip(&fields).zip(back) {
                    assert_eq!(*stream, compressor.device(Device::Cpu).compress(field).expect("compresses"));
                    let alone: Vec<V> = Decompressor::new().decompress(stream).expect("decodes");
                    assert!(is_same(&back.expect("decodes"), &alone));
                }
            }
        });
    }
}

#[test]
fn targets_are_reached() {
    for value_type in converted() {
        with_value!(value_type, V => {
            let values: Vec<V> = field(Kind::Smooth, &[40, 60]);
            let compressor = Compressor::new(Preset::Small, Bound::default()).extents(&[40, 60]).expect("extents");
            let found = compressor.search(Target::psnr(45.0).expect("a target"), &values).expect("found");
            assert!(found.figures.psnr >= 45.0, "{value_type}: {:?}", found.figures);
            assert_eq!(found.compressor.compress(&values), Ok(found.stream));
        });
    }
}

#[test]
fn presets_choose_and_the_limit_holds() {
    for value_type in converted() {
        for preset in Preset::ALL {
            with_value!(value_type, V => {
                let values: Vec<V> = field(Kind::Bits, &[3001]);
                let compressor = Compressor::new(preset, Bound::default());
                let stream = compressor.compress(&values).expect("compresses");
                let back: Vec<V> = Decompressor::new().decompress(&stream).expect("decodes");
                assert!(is_same(&values, &back), "{value_type} {preset}");
                let most = max_compressed_len(3001, V::TYPE);
                assert!(info(&stream).expect("a stream").chunk_tiles.is_some() || stream.len() as u64 <= most);
                let mut out = vec![0; stream.len()];
                assert_eq!(compressor.compress_into(&values, &mut out), Ok(stream.len()));
                assert_eq!(out, stream);
                let chosen = compressor.choose(&values).expect("chooses");
                assert_eq!(chosen.compress(&values), Ok(stream));
            });
        }
    }
}

#[test]
fn the_undamaged_parts_are_salvaged() {
    for value_type in converted() {
        for codec in [Codec::PLAIN, Codec::INTERP] {
            with_value!(value_type, V => {
                let values: Vec<V> = field(Kind::Smooth, &[150_000]);
                let compressor = Compressor::new(codec, Bound::abs(1.0).expect("a bound")).device(Device::Cpu);
                let mut stream = compressor.compress(&values).expect("compresses");
                let decoder = Decompressor::new();
                let whole: Vec<V> = decoder.decompress(&stream).expect("decodes");
                *stream.last_mut().expect("bytes") ^= 0x55;
                let (found, damages) = decoder.salvage::<V>(&stream).expect("salvages");
                let lost: u64 = damages.iter().map(|damage| damage.elements()).sum();
                assert!(lost > 0 && lost < 150_000, "{lost}");
                let kept = found.iter().zip(&whole).filter(|(x, y)| x.to_value_bits() == y.to_value_bits()).count();
                assert!(kept as u64 >= 150_000 - lost, "{value_type}");
                let is_lost = |x: &V| if V::TYPE.is_half() { x.to_number().is_nan() } else { x.to_number() == 0.0 };
                assert!(is_lost(found.last().expect("values")), "{value_type}");
                assert_eq!(decoder.check(&stream).expect("checks"), damages);
            });
        }
    }
}

#[test]
fn a_stream_of_one_type_is_not_read_as_another() {
    for value_type in converted() {
        with_value!(value_type, V => {
            let stream = compressor(Codec::PLAIN, 1.0).compress(&smooth::<V>()).expect("compresses");
            let is_refused = |error: Error| matches!(error, Error::Format(FormatError::WrongDtype { found, .. }) if found == V::TYPE);
            let decoder = Decompressor::new();
            assert!(decoder.decompress::<f32>(&stream).is_err_and(is_refused));
            assert!(decoder.decompress::<f64>(&stream).is_err_and(is_refused));
            assert!(decoder.salvage::<f32>(&stream).is_err_and(is_refused));
            let update = Update::new(&stream, &Part::Elements(0..1), &[1.0f32]);
            assert!(update.is_err_and(is_refused));
            if V::TYPE != ferrosz::ValueType::I16 {
                assert!(decoder.decompress::<i16>(&stream).is_err_and(is_refused));
            }
        });
    }
}
