//! Fields in the memory of several GPUs. A GPU may have several slabs, so that one GPU is enough for most of it.

use super::{Case, Family, same};
use crate::common::cases::{asked, random};
use crate::common::fields::FromBits;
use crate::common::graph::new_stream;
use ferrosz::cuda::cudarc::driver::{CudaSlice, CudaStream, DeviceRepr};
use ferrosz::cuda::{Gpu, Slabs};
use ferrosz::{Bound, Codec, Compressor, Decompressor, Device, Error, Fill};
use std::sync::Arc;

/// A stream of its own on each of these GPUs.
fn on(ordinals: &[usize]) -> Result<Vec<(Gpu, Arc<CudaStream>)>, Error> {
    let on = |ordinal: &usize| {
        let gpu = Gpu::new(*ordinal)?;
        let stream = new_stream(&gpu);
        Ok((gpu, stream))
    };
    ordinals.iter().map(on).collect()
}

/// The GPUs that share fields.
fn groups() -> Vec<Vec<usize>> {
    let groups = [
        &[0][..],
        &[0, 0],
        &[0, 0, 0],
        &[0, 1],
        &[0, 1, 0, 1],
        &[0, 1, 2, 3],
    ];
    let is_here = |group: &&[usize]| on(group).is_ok();
    let groups = groups.into_iter().filter(is_here);
    groups.map(<[usize]>::to_vec).collect()
}

/// Compresses and decompresses a field in the memory of GPUs; the number of slabs.
fn check<T: FromBits + DeviceRepr>(case: &Case<T>, ordinals: &[usize]) -> Result<usize, Error> {
    let what = format!("{} {ordinals:?}", case.what);
    let gpus = on(ordinals)?;
    let stream = case.compressor.device(Device::Cpu).compress(&case.field)?;
    let values: Vec<T> = Decompressor::new()
        .device(Device::Cpu)
        .decompress(&stream)?;
    let mut slabs = Slabs::new::<T>(&gpus, &case.compressor)?;
    let own = |slabs: &Slabs, number| {
        let elements = slabs.elements(number);
        elements.start as usize..elements.end as usize
    };
    let mut fields: Vec<CudaSlice<T>> = Vec::new();
    for (number, (_, stream)) in gpus.iter().enumerate().take(slabs.len()) {
        let mut elements = own(&slabs, number);
        elements.end += slabs.elements_behind(number) as usize;
        let field = stream.clone_htod(&case.field[elements]);
        fields.push(field.expect("copied"));
    }
    // Twice: the memory serves again.
    for _ in 0..2 {
        slabs.compress(&fields)?;
        assert_eq!(slabs.stream_bytes(), stream.len() as u64, "{what}");
        assert!(slabs.to_host()? == stream, "{what}");
    }
    let poison = |(field, (_, stream)): (&mut CudaSlice<T>, &(Gpu, Arc<CudaStream>))| {
        let poison = vec![T::NAN; field.len()];
        stream.memcpy_htod(&poison, field).expect("copied");
    };
    for is_loaded in [false, true] {
        fields.iter_mut().zip(&gpus).for_each(poison);
        if is_loaded {
            slabs = Slabs::new::<T>(&gpus, &case.compressor)?;
            slabs.load::<T>(&stream)?;
        }
        slabs.decompress(&Decompressor::new(), &mut fields)?;
        for (number, (field, (_, stream))) in fields.iter().zip(&gpus).enumerate() {
            let found = stream.clone_dtoh(field).expect("copied");
            let own = own(&slabs, number);
            assert!(same(&found[..own.len()], &values[own]), "{what}");
        }
        assert!(slabs.to_host()? == stream, "{what}");
    }
    Ok(slabs.len())
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn slabs_in_device_memory_are_those_of_the_cpu() -> Result<(), Error> {
    let groups = groups();
    let (mut all, mut divided, mut on_several) = (0, 0, 0);
    for number in asked().unwrap_or(0..100) {
        for ordinals in &groups {
            let mut rng = random(1000 + number);
            let family = match number % 2 {
                0 => Family::Blocks,
                _ => Family::Tiles,
            };
            let number = number / 2;
            let slabs = match number % 3 {
                0 => check(
                    &Case::<f64>::of(family, number, &mut rng, 2_000_000),
                    ordinals,
                )?,
                _ => check(
                    &Case::<f32>::of(family, number, &mut rng, 2_000_000),
                    ordinals,
                )?,
            };
            all += 1;
            divided += usize::from(slabs > 1);
            on_several += usize::from(slabs > 1 && ordinals.contains(&1));
        }
    }
    println!(
        "{all} cases on {groups:?}, {divided} with several slabs, {on_several} on several GPUs: no difference"
    );
    assert!(3 * divided > all, "{divided} of {all}");
    Ok(())
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn damage_and_bad_arguments_are_refused() -> Result<(), Error> {
    let gpus = on(&[0, 0])?;
    let compressor = Compressor::new(Codec::PLAIN, Bound::abs(1e-3)?).extents(&[64, 64, 64])?;
    let field: Vec<f32> = (0..64 * 64 * 64).map(|i| (i as f32 * 0.1).sin()).collect();
    let mut stream = compressor.device(Device::Cpu).compress(&field)?;
    let mut slabs = Slabs::new::<f32>(&gpus, &compressor)?;
    let (_, own) = &gpus[0];
    let half = || own.alloc_zeros::<f32>(64 * 64 * 32).expect("memory");
    let mut fields = [half(), half()];
    let short = [half()];
    assert!(matches!(slabs.compress(&short), Err(Error::BadParts(_))));
    let other = [half(), own.alloc_zeros::<f32>(7).expect("memory")];
    assert!(matches!(
        slabs.compress(&other),
        Err(Error::PartMismatch { .. })
    ));
    // Damage in the last chunk, which the second slab has.
    let last = stream.len() - 1;
    stream[last] ^= 1;
    slabs.load::<f32>(&stream)?;
    let found = slabs.decompress(&Decompressor::new(), &mut fields);
    let wanted = Decompressor::new()
        .device(Device::Cpu)
        .decompress::<f32>(&stream);
    assert_eq!(found.err(), wanted.err());
    let other = Compressor::new(Codec::FIXED, Bound::abs(1e-3)?).extents(&[64, 64, 64])?;
    let other = other.compress(&field)?;
    assert!(matches!(slabs.load::<f32>(&other), Err(Error::BadParts(_))));
    let fill = compressor.fill(Fill::Bits(7))?;
    assert!(matches!(
        Slabs::new::<f32>(&gpus, &fill),
        Err(Error::Refused { .. })
    ));
    Ok(())
}
