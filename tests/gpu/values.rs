//! Values of 16 bits in device memory: the streams and values of the CPU, also from a captured graph, and damage.

use crate::common::compressor_with_axes;
use crate::common::graph::{capture, gpu, trample};
use crate::common::{layouts, tile_layouts};
use ferrosz::codec::container::header::{HEADER_BYTES, Header};
use ferrosz::codec::with_value;
use ferrosz::cuda::AtAddress;
use ferrosz::cuda::cudarc::driver::{DevicePtr, DevicePtrMut};
use ferrosz::stream::{Extents, Layout, StreamLayout};
use ferrosz::{
    Axes, Bf16, Bound, Codec, Compressor, Decompressor, Device, Error, F16, Fill, Part, Preset,
    Shape, Value, ValueType,
};

/// Waves, and among them bit patterns of all kinds.
fn values<V: Value>(elements: usize, seed: u64) -> Vec<V> {
    (0..elements as u64)
        .map(|i| {
            let mixed = (i + seed).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
            match mixed % 61 {
                0 => V::from_value_bits(mixed >> 8),
                _ => {
                    let wave = 900.0 + 300.0 * ((i + seed) as f64 * 0.01).sin();
                    V::from_number(wave.floor()).unwrap_or_default()
                }
            }
        })
        .collect()
}

/// The bits of values.
fn bits<V: Value>(values: &[V]) -> Vec<u16> {
    values
        .iter()
        .map(|value| value.to_value_bits() as u16)
        .collect()
}

/// Fails if values differ, and names the first that does.
fn assert_equal(found: &[u16], wanted: &[u16], context: &str) {
    let pairs = found.iter().zip(wanted);
    let different: Vec<_> = pairs.enumerate().filter(|(_, (a, b))| a != b).collect();
    assert!(
        different.is_empty() && found.len() == wanted.len(),
        "{context}: {} of {} values differ, the first of them (place, (found, wanted)): {:x?}",
        different.len(),
        wanted.len(),
        &different[..different.len().min(8)]
    );
}

/// Both directions, each in a graph that is launched on two fields.
fn replays<V: Value>(
    layout: Layout,
    axes: Option<Axes>,
    elements: usize,
    bound: Bound,
) -> Result<(), Error> {
    let context = format!("{} {} {} {bound:?}", V::TYPE, layout.codec, layout.shape);
    let (gpu, stream) = gpu()?;
    let compressor = compressor_with_axes(layout, axes, bound, Device::Cpu)?;
    let of_stream = compressor.stream_layout(elements as u64, V::TYPE)?;
    gpu.prepare(of_stream, V::TYPE)?;
    let room = compressor.max_compressed_len(elements as u64, V::TYPE)?;
    let mut input = stream.alloc_zeros::<u16>(elements).expect("memory");
    let mut bytes = stream.alloc_zeros::<u8>(room as usize).expect("memory");
    let mut output = stream
        .clone_htod(&vec![0xabcdu16; elements])
        .expect("memory");
    let mut workspace = gpu.workspace_for(&stream, of_stream)?;
    stream.synchronize().expect("memory is clear");
    let addresses = [
        input.device_ptr(&stream).0,
        bytes.device_ptr_mut(&stream).0,
        output.device_ptr_mut(&stream).0,
    ];
    let [from, to, back] = addresses;
    let count = elements as u64;
    // SAFETY: the buffers are as long as that, and outlive the graphs.
    let (from, mut to, mut back) = unsafe {
        (
            AtAddress::<V>::new(&stream, from, count),
            AtAddress::<u8>::new(&stream, to, room),
            AtAddress::<V>::new(&stream, back, count),
        )
    };
    let compression = capture(&stream, || {
        gpu.compress(&stream, &compressor, &from, &mut to, &mut workspace)
    })?;
    let decompressor = Decompressor::new();
    let decompression = capture(&stream, || {
        gpu.decompress(
            &stream,
            &decompressor,
            of_stream,
            &to,
            &mut back,
            &mut workspace,
        )
    })?;
    trample();
    for seed in [1, 20_000] {
        let field = values::<V>(elements, seed);
        stream
            .memcpy_htod(&bits(&field), &mut input)
            .expect("copied");
        stream.memset_zeros(&mut bytes).expect("cleared");
        compression.launch().expect("launched");
        let expected = compressor.compress(&field)?;
        let found = stream.clone_dtoh(&bytes).expect("copied");
        assert!(found[..expected.len()] == expected, "{context}");
        decompression.launch().expect("launched");
        workspace.check(&stream)?;
        // The length outlives the decompression.
        let length = workspace.stream_bytes(&stream)?;
        assert_eq!(length, expected.len() as u64, "{context}");
        let decoder = Decompressor::new().device(Device::Cpu);
        let decoded: Vec<V> = decoder.decompress(&expected)?;
        let found = stream.clone_dtoh(&output).expect("copied");
        assert_equal(&found, &bits(&decoded), &context);
    }
    Ok(())
}

/// The types of values of 16 bits.
const SHORTS: [ValueType; 4] = [
    ValueType::F16,
    ValueType::Bf16,
    ValueType::I16,
    ValueType::U16,
];

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn values_of_16_bits_in_device_memory_are_those_of_the_cpu() -> Result<(), Error> {
    let bounds = [Bound::range(1e-3)?, Bound::default(), Bound::abs(2.0)?];
    let mut count = 0;
    for extents in [
        &[500_001u64][..],
        &[131, 157],
        &[260, 384],
        &[70, 61, 90],
        &[3, 2, 33, 40, 35],
    ] {
        let elements = extents.iter().product::<u64>() as usize;
        for layout in layouts(extents).into_iter().chain(tile_layouts(extents)) {
            for value_type in SHORTS {
                let bound = bounds[count % bounds.len()];
                with_value!(value_type, V => replays::<V>(layout, None, elements, bound)?);
                count += 1;
            }
        }
    }
    let axes: Axes = "z,s,y,x".parse()?;
    let of_user = Extents::new(&[6, 50, 40, 30]).expect("good extents");
    let coded = axes.coded_extents(&of_user).expect("as many axes");
    for codec in [Codec::PLAIN, Codec::INTERP] {
        let layout = Layout::new(codec, Shape::Cube, coded);
        replays::<F16>(layout, Some(axes), 360_000, bounds[0])?;
        replays::<Bf16>(layout, Some(axes), 360_000, bounds[2])?;
    }
    println!("{count} layouts and types, two fields each");
    Ok(())
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn parts_damage_and_choice_of_values_of_16_bits() -> Result<(), Error> {
    let (gpu, stream) = gpu()?;
    let extents = [40u64, 50, 63];
    let elements: usize = 40 * 50 * 63;
    let field = values::<F16>(elements, 5);
    for (codec, fills) in [
        (Codec::PLAIN, &[][..]),
        (Codec::LORENZO, &[Fill::Value(999.0)]),
        (Codec::INTERP, &[]),
    ] {
        let mut compressor = Compressor::new(codec, Bound::range(1e-3)?)
            .device(Device::Cpu)
            .extents(&extents)?;
        for fill in fills {
            compressor = compressor.fill(*fill)?;
        }
        let bytes = compressor.compress(&field)?;
        let header = Header::read(&bytes)?;
        let of_stream = StreamLayout {
            value_type: ValueType::F16,
            ..header.layout().into()
        };
        let parts = match codec.tiles() {
            None => vec![vec![7..30, 11..12, 0..63], vec![1..40, 3..45, 25..48]],
            Some(_) => vec![vec![0..40, 0..50, 0..63]],
        };
        let mut workspace = gpu.workspace_for(&stream, of_stream)?;
        let mut decode = |bytes: &[u8], part: &Part, count: usize| -> Result<Vec<u16>, Error> {
            let on_device = stream.clone_htod(bytes).expect("memory");
            let mut output = stream.clone_htod(&vec![0xabcdu16; count]).expect("memory");
            let from = on_device.device_ptr(&stream).0;
            let to = output.device_ptr_mut(&stream).0;
            // SAFETY: the buffers are as long as that, and live until the work is done.
            let (from, mut to) = unsafe {
                (
                    AtAddress::<u8>::new(&stream, from, bytes.len() as u64),
                    AtAddress::<F16>::new(&stream, to, count as u64),
                )
            };
            gpu.decompress_part(
                &stream,
                &Decompressor::new(),
                of_stream,
                &from,
                part,
                &mut to,
                &mut workspace,
            )?;
            workspace.check(&stream)?;
            Ok(stream.clone_dtoh(&output).expect("copied"))
        };
        for part in parts {
            let part = Part::Box(part);
            let decoder = Decompressor::new().device(Device::Cpu);
            let wanted = decoder.decompress_part::<F16>(&bytes, &part)?;
            let found = decode(&bytes, &part, wanted.len())?;
            assert_equal(&found, &bits(&wanted), &format!("{codec} {part:?}"));
        }
        // The last record is that of the conversion, of which a decoder needs nothing.
        let mut damaged = bytes.clone();
        damaged[HEADER_BYTES + header.record_bytes as usize - 8] ^= 1;
        let whole = Part::Elements(0..elements as u64);
        let found = decode(&damaged, &whole, elements);
        assert!(matches!(found, Err(Error::Format(_))), "{codec}");
    }
    let input = stream
        .clone_htod(&bits(&values::<u16>(elements, 9)))
        .expect("memory");
    let mut workspace = gpu.workspace(&stream, elements as u64)?;
    for preset in [Preset::Fast, Preset::Small] {
        let compressor = Compressor::new(preset, Bound::range(1e-3)?).extents(&extents)?;
        let found = gpu.choose::<u16>(&stream, &compressor, &input, &mut workspace)?;
        let wanted = compressor.choose(&values::<u16>(elements, 9))?;
        let layout = |compressor: &Compressor| compressor.layout_for(elements as u64);
        assert_eq!(layout(found.compressor())?, layout(&wanted)?, "{preset:?}");
    }
    let refused = Compressor::new(Codec::PLAIN, Bound::range(1e-3)?).fill(3.0)?;
    let found = gpu.choose::<u16>(&stream, &refused, &input, &mut workspace);
    assert!(found.is_ok(), "a codec is chosen already");
    let room = refused.max_compressed_len(elements as u64, ValueType::U16)?;
    let mut bytes = stream.alloc_zeros::<u8>(room as usize).expect("memory");
    let made = gpu.compress::<u16>(&stream, &refused, &input, &mut bytes, &mut workspace);
    assert_eq!(made.err(), Some(Error::ConvertedOnDevice(ValueType::U16)));
    Ok(())
}
