//! Fields that travel in windows, compressed.

use super::{first_gpu, same_bits};
use crate::common::fields::{Kind, make_long};
use ferrosz::cuda::{Packed, Transfer};
use ferrosz::windows::Windows;
use ferrosz::{Bound, Codec, Compressor, Decompressor, Device, Error, Preset, Value};

/// A compressor of a field on the host, with codec and absolute bound, and what each window's stream is and decodes to on the
/// CPU.
struct Expected<V> {
    compressor: Compressor,
    streams: Vec<Vec<u8>>,
    values: Vec<V>,
}

fn expected<V: Value>(
    compressor: Compressor,
    windows: &Windows,
    field: &[V],
) -> Result<Expected<V>, Error> {
    let compressor = compressor.absolute_for(field)?.device(Device::Cpu);
    let (mut streams, mut values) = (Vec::new(), Vec::new());
    for window in windows.iter() {
        let stream = compressor
            .for_window(&window)?
            .compress(window.of(field)?)?;
        let decoded: Vec<V> = Decompressor::new()
            .device(Device::Cpu)
            .decompress(&stream)?;
        values.extend(decoded);
        streams.push(stream);
    }
    Ok(Expected {
        compressor,
        streams,
        values,
    })
}

/// All ways of a field, which must give the CPU's streams and values.
fn check<V>(compressor: Compressor, extents: &[u64], most: u64, field: &[V]) -> Result<(), Error>
where
    V: Value + ferrosz::cuda::cudarc::driver::DeviceRepr + PartialEq + std::fmt::Debug,
{
    let (gpu, stream) = first_gpu()?;
    let windows = Windows::new(extents, most)?;
    let wanted = expected(compressor, &windows, field)?;
    let same = |found: &[V]| {
        bytemuck::cast_slice::<V, u8>(found) == bytemuck::cast_slice::<V, u8>(&wanted.values)
    };
    let input = stream.clone_htod(field).expect("memory");
    let poison = vec![field[0]; field.len()];
    let mut output = stream.clone_htod(&poison).expect("memory");
    let mut transfer = Transfer::new::<V>(&gpu, &wanted.compressor, &windows)?;
    let mut packed = Packed::new();
    for round in 0..2 {
        packed.clear();
        transfer.pack(&input, &mut packed)?;
        assert_eq!(packed.len() as u64, windows.len());
        for (number, stream) in wanted.streams.iter().enumerate() {
            assert!(
                packed.stream(number) == Some(stream),
                "{round}: window {number}"
            );
        }
        let bytes: usize = wanted.streams.iter().map(Vec::len).sum();
        assert_eq!(packed.bytes(), bytes as u64);
        transfer.unpack(&packed, &mut output)?;
        assert!(
            same(&stream.clone_dtoh(&output).expect("copied")),
            "{round}: unpack"
        );
    }
    let mut seen = 0;
    transfer.pack_each(&input, |window, stream| {
        assert_eq!(window.number, seen);
        assert!(stream == wanted.streams[seen as usize]);
        seen += 1;
        Ok(())
    })?;
    assert_eq!(seen, windows.len());

    let mut output = stream.clone_htod(&poison).expect("memory");
    transfer.upload(field, &mut output)?;
    assert!(same(&stream.clone_dtoh(&output).expect("copied")), "upload");
    let mut values = poison.clone();
    transfer.download(&input, &mut values)?;
    assert!(same(&values), "download");
    let mut output = stream.clone_htod(&poison).expect("memory");
    let mut other = Transfer::new::<V>(&gpu, &wanted.compressor, &windows)?;
    transfer.move_to(&input, &mut other, &mut output)?;
    assert!(same(&stream.clone_dtoh(&output).expect("copied")), "move");
    Ok(())
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn windows_arrive_as_the_cpu_makes_them() {
    let bound = Bound::range(1e-3).expect("a bound");
    // Windows of one axis and of two, aligned and not, whole and cut, and one alone.
    for (extents, most) in [
        (&[70u64, 61, 33][..], 61 * 33 * 16),
        (&[3, 301, 211], 211 * 70),
        (&[300_001], 100_000),
        (&[20, 20, 20], 1 << 20),
    ] {
        let elements = extents.iter().product::<u64>() as usize;
        let field = make_long::<f32>(Kind::Smooth, elements, 5);
        for codec in Codec::ALL {
            check(Compressor::new(codec, bound), extents, most, &field).expect("a GPU");
        }
        let field = make_long::<f64>(Kind::NotFinite, elements, 6);
        for codec in [Codec::PLAIN, Codec::LORENZO_RANS] {
            let bound = Bound::abs(1e-3).expect("a bound");
            check(Compressor::new(codec, bound), extents, most, &field).expect("a GPU");
        }
        let field: Vec<i16> = (0..elements).map(|i| (i * i % 1999) as i16).collect();
        let compressor = Compressor::new(Codec::PLAIN, Bound::abs(3.0).expect("a bound"));
        check(compressor, extents, most, &field).expect("a GPU");
    }
    println!("no difference in windows of all codecs");
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn many_windows_are_in_flight() {
    let extents = [512u64, 256, 256];
    let field = make_long::<f32>(Kind::Smooth, 512 * 256 * 256, 7);
    let compressor = Compressor::new(Codec::PLAIN, Bound::range(1e-4).expect("a bound"));
    check(compressor, &extents, 1 << 20, &field).expect("a GPU");
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn damage_and_wrong_calls_are_errors() -> Result<(), Error> {
    let (gpu, stream) = first_gpu()?;
    let field = make_long::<f32>(Kind::Smooth, 64 * 64 * 64, 8);
    let input = stream.clone_htod(&field).expect("memory");
    let mut output = stream.clone_htod(&field).expect("memory");
    let windows = Windows::new(&[64, 64, 64], 64 * 64 * 16)?;
    let relative = Compressor::new(Codec::PLAIN, Bound::range(1e-3)?);
    let refused = Transfer::new::<f32>(&gpu, &relative, &windows);
    assert!(matches!(refused, Err(Error::RelativeBound)));
    let preset = Compressor::new(Preset::Fast, Bound::abs(1e-3)?);
    let refused = Transfer::new::<f32>(&gpu, &preset, &windows);
    assert!(matches!(refused, Err(Error::Refused { .. })));

    let mut workspace = gpu.workspace(&stream, field.len() as u64)?;
    let on_device = gpu.absolute_for(&stream, &relative, &input, &mut workspace)?;
    let on_host = relative.absolute_for(&field)?;
    let difference = on_device.bound().value() / on_host.bound().value() - 1.0;
    assert!(difference <= 0.0 && difference > -1e-6, "{difference}");

    let mut transfer = Transfer::new::<f32>(&gpu, &on_device, &windows)?;
    let short = stream.clone_htod(&field[1..]).expect("memory");
    let mut packed = Packed::new();
    assert!(matches!(
        transfer.pack(&short, &mut packed),
        Err(Error::ExtentsMismatch { .. })
    ));
    transfer.pack(&input, &mut packed)?;
    let streams: Vec<Vec<u8>> = (0..packed.len())
        .filter_map(|number| packed.stream(number).map(<[u8]>::to_vec))
        .collect();
    for at in [10, 140, 5000] {
        let found = transfer.unpack_each(&mut output, |window, memory| {
            let stream = &streams[window.number as usize];
            memory[..stream.len()].copy_from_slice(stream);
            memory[at] ^= u8::from(window.number == 2) << 3;
            Ok(stream.len())
        });
        assert!(matches!(found, Err(Error::Format(_))), "{at}: {found:?}");
    }
    for length in [0, 100, streams[2].len() - 4] {
        let found = transfer.unpack_each(&mut output, |window, memory| {
            let stream = &streams[window.number as usize];
            memory[..stream.len()].copy_from_slice(stream);
            Ok(if window.number == 2 {
                length
            } else {
                stream.len()
            })
        });
        assert!(
            matches!(found, Err(Error::Format(_))),
            "{length}: {found:?}"
        );
    }
    let stopped = transfer.pack_each(&input, |window, _| match window.number {
        1 => Err(Error::NotChosen),
        _ => Ok(()),
    });
    assert!(matches!(stopped, Err(Error::NotChosen)));
    // It can be used again.
    transfer.unpack(&packed, &mut output)?;
    let decoded = stream.clone_dtoh(&output).expect("copied");
    assert!(
        decoded
            .iter()
            .zip(&field)
            .all(|(x, y)| (x - y).abs() <= on_host.bound().value() as f32 * 1.0001)
    );
    let empty = Packed::new();
    assert!(matches!(
        transfer.unpack(&empty, &mut output),
        Err(Error::Format(_))
    ));
    Ok(())
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn long_slices_are_staged() {
    // Longer than all staging memory, and not a multiple of its pieces.
    let length = (100 << 20) + 12_345;
    let field = make_long::<f32>(Kind::Smooth, length, 9);
    for codec in [Codec::PLAIN, Codec::LORENZO_RANS] {
        let compressor = Compressor::new(codec, Bound::range(1e-5).expect("a bound"));
        let wanted = compressor
            .device(Device::Cpu)
            .compress(&field)
            .expect("memory");
        let found = compressor
            .device(Device::Cuda(0))
            .compress(&field)
            .expect("a GPU");
        assert!(found == wanted, "{codec}");
        let values: Vec<f32> = Decompressor::new()
            .device(Device::Cpu)
            .decompress(&wanted)
            .expect("sound");
        let decompressor = Decompressor::new().device(Device::Cuda(0));
        assert!(same_bits(
            &decompressor.decompress::<f32>(&wanted).expect("a GPU"),
            &values
        ));
        let mut file = std::io::Cursor::new(Vec::new());
        decompressor
            .decompress_seek::<f32>(&wanted, &mut file)
            .expect("a GPU");
        assert!(
            file.get_ref()[..] == *bytemuck::cast_slice::<f32, u8>(&values),
            "{codec}"
        );
    }
}
