//! Many arrays in host memory in one call.

use crate::backend::Gpu;
use crate::compress::Compressor;
use crate::cpu::mapping::conversion;
use crate::decompress::Decompressor;
use crate::device::Device;
use crate::error::Error;
use crate::parallel;
use crate::stream_ref::StreamRef;
use bytemuck::cast_slice;
use ferrosz_codec::container::header::Header;
use ferrosz_codec::mapping::conversion::Conversion;
use ferrosz_codec::pipeline::BlockCodec;
use ferrosz_codec::{Codec, Element, Shape, Value};

impl Compressor {
    /// Compresses arrays, each to a stream of its own with the bytes of [`Compressor::compress`]. The results are in the
    /// order of the arrays, and an error concerns only its array.
    ///
    /// On the CPU the arrays are compressed in parallel by rayon's threads, of which no more are used than by one call.
    /// [`Device::Auto`] is the CPU here. A GPU gets all arrays in one launch, if the codec is one of blocks and no extents
    /// are set, and the values are `f32` or `f64`; otherwise it gets one after the other. For arrays in device memory see `Gpu::compress_batch`.
    ///
    /// ```
    /// # use ferrosz_host as ferrosz;
    /// use ferrosz::{Bound, Codec, Compressor, Decompressor};
    ///
    /// let arrays: Vec<Vec<f32>> = (0..100).map(|i| vec![i as f32; 1000 + i]).collect();
    /// let fields: Vec<&[f32]> = arrays.iter().map(Vec::as_slice).collect();
    /// let compressor = Compressor::new(Codec::PLAIN, Bound::abs(0.01)?);
    /// let streams: Vec<Vec<u8>> = (compressor.compress_batch(&fields).into_iter())
    ///     .collect::<Result<_, _>>()?;
    /// assert_eq!(streams[7], compressor.compress(fields[7])?);
    ///
    /// let streams: Vec<&[u8]> = streams.iter().map(Vec::as_slice).collect();
    /// for (field, decoded) in fields.iter().zip(Decompressor::new().decompress_batch::<f32>(&streams)) {
    ///     assert!(field.iter().zip(decoded?).all(|(x, y)| (x - y).abs() <= 0.01));
    /// }
    /// # Ok::<(), ferrosz::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Each result has the errors of [`Compressor::compress`].
    pub fn compress_batch<V: Value>(&self, fields: &[&[V]]) -> Vec<Result<Vec<u8>, Error>> {
        match self.batch_device() {
            Device::Cpu => {
                let on_cpu = self.device(Device::Cpu);
                parallel::map(fields.iter(), |field| on_cpu.compress(field))
            }
            device => match self.batch_codec::<V>() {
                Ok(codec) if V::TYPE.is_coded_as_is() => {
                    let fields: Vec<&[V::Coded]> =
                        fields.iter().map(|field| cast_slice(field)).collect();
                    self.compress_batch_on_gpu(device, codec, &fields)
                }
                _ => fields.iter().map(|field| self.compress(field)).collect(),
            },
        }
    }

    fn compress_batch_on_gpu<T: Element>(
        &self,
        device: Device,
        codec: BlockCodec,
        fields: &[&[T]],
    ) -> Vec<Result<Vec<u8>, Error>> {
        let streams =
            Gpu::of(device).and_then(|gpu| gpu.compress_batch(codec, self.bound(), fields));
        match streams {
            Ok(streams) => streams.into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error); fields.len()],
        }
    }
}

impl Decompressor {
    /// Decompresses streams, each as [`Decompressor::decompress`] does. The results are in the order of the streams, and
    /// an error concerns only its stream.
    ///
    /// The device is used as by [`Compressor::compress_batch`]. A GPU gets those streams in one launch that have a codec
    /// of blocks, one extent and no update.
    ///
    /// # Errors
    ///
    /// Each result has the errors of [`Decompressor::decompress`].
    pub fn decompress_batch<V: Value>(&self, streams: &[&[u8]]) -> Vec<Result<Vec<V>, Error>> {
        match self.batch_device() {
            Device::Cpu => {
                let on_cpu = self.device(Device::Cpu);
                parallel::map(streams.iter(), |stream| on_cpu.decompress(stream))
            }
            device => self.decompress_batch_on_gpu(device, streams),
        }
    }

    fn decompress_batch_on_gpu<V: Value>(
        &self,
        device: Device,
        streams: &[&[u8]],
    ) -> Vec<Result<Vec<V>, Error>> {
        let together: Vec<_> = streams.iter().map(|stream| line::<V>(stream)).collect();
        let lines: Vec<_> = together.iter().flatten().copied().collect();
        let verify = self.verifies_checksums();
        let decoded =
            Gpu::of(device).and_then(|gpu| gpu.decompress_batch::<V::Coded>(&lines, verify));
        let mut decoded = match decoded {
            Ok(decoded) => decoded,
            Err(error) => vec![Err(error); lines.len()],
        }
        .into_iter();
        (together.iter().zip(streams))
            .map(|(line, stream)| match line {
                Some(_) => {
                    let decoded = decoded.next().unwrap_or(Ok(Vec::new()));
                    decoded
                        .and_then(|coded| conversion::to_values(&Conversion::none(V::TYPE), coded))
                }
                None => self.decompress(stream),
            })
            .collect()
    }
}

/// The bytes of a stream that the kernels of batches decode, up to its end, and its elements.
fn line<V: Value>(stream: &[u8]) -> Option<(&[u8], u64)> {
    let read = StreamRef::read(stream).ok()?;
    let header = read.header;
    let is_plain = header.update_bytes == 0 && header.record_bytes == 0;
    let is_line = header.shape == Shape::Line && header.extents.lengths().len() == 1;
    let is_of_blocks = matches!(header.codec, Codec::Blocks(_));
    let is_of_type = header.value_type == V::TYPE && V::TYPE.is_coded_as_is();
    if is_plain && is_line && is_of_blocks && is_of_type {
        Some((used(stream, &header)?, header.elements()))
    } else {
        None
    }
}

/// The stream without bytes behind its end.
fn used<'a>(stream: &'a [u8], header: &Header) -> Option<&'a [u8]> {
    stream.get(..usize::try_from(header.stream_bytes()).ok()?)
}
