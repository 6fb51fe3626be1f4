//! Stages of codes in the memory of a machine that runs kernels. Encoded bytes are on the host.

use crate::error::Error;
use crate::gpu::{fetch, import_blocks, upload};
use crate::kernels::recode::{NumberKind, Numbers, Recode, RecodeParams};
use crate::recipe::CodeWidth;
use crate::stage::fixed_length::checked_rates;
use crate::stage::stream::{checked_layout, compressor};
use crate::stage::{CodeFormat, Codes, MachineStage, Stage};
use ferrosz_cuszp::cuszp::{Mode, Params};
use ferrosz_cuszp::{Bare, Error as CuszpError, Shape};
use ferrosz_gpu_kernels::pipeline::cells;
use ferrosz_host::internals::{Executor, compress_integers, decompress_integers};
use ferrosz_simt::View;

/// The machine that has codes of a format.
pub(crate) struct CodesOn<'a, E> {
    pub(crate) executor: &'a E,
    pub(crate) format: &'a CodeFormat,
}

impl<E: Executor> CodesOn<'_, E> {
    /// Codes as a stage encodes them: on the machine, if it runs there and there are any. Waits.
    ///
    /// # Errors
    ///
    /// As [`Stage::encode`].
    pub(crate) fn encode(&self, stage: &dyn Stage, codes: View<u32>) -> Result<Vec<u8>, Error> {
        let (executor, count) = (self.executor, self.format.count());
        let Some(on_machine) = stage.on_machine().filter(|_| count > 0) else {
            let codes = fetch::<E, u8>(executor, codes, count * self.kind().bytes())?;
            return stage.encode(&Codes::new(*self.format, &codes)?);
        };
        let (encoded, length) = match on_machine {
            MachineStage::Tiles(coder) => return self.encode_tiles(coder, codes),
            MachineStage::FixedLength => {
                let array = self.recoded(codes, [self.kind(), NumberKind::Float])?;
                let bare = bare(self.format).compress_with(executor, executor.view(&array));
                bare.map_err(of_cuszp)?
            }
            MachineStage::Stream => {
                let array = self.recoded(codes, [self.kind(), NumberKind::Integer])?;
                let array = executor.view(&array);
                compress_integers(executor, &compressor(self.format)?, array, count)?
            }
        };
        fetch(executor, executor.view(&encoded), length)
    }

    /// The codes in bytes, as a stage decodes them, all of them below twice the radius. Waits.
    ///
    /// # Errors
    ///
    /// As [`Stage::decode`].
    pub(crate) fn decode(&self, stage: &dyn Stage, bytes: &[u8]) -> Result<E::Memory, Error> {
        let on_machine = stage.on_machine().filter(|_| self.format.count() > 0);
        let decoded = match on_machine {
            Some(MachineStage::Tiles(coder)) => self.decode_tiles(stage.name(), coder, bytes),
            Some(MachineStage::FixedLength) => self.decode_fixed_length(bytes),
            Some(MachineStage::Stream) => self.decode_stream(bytes),
            None => stage
                .decode(bytes, self.format)
                .and_then(|codes| upload(self.executor, Codes::new(*self.format, &codes)?.bytes())),
        };
        decoded.map_err(|error| error.of_stage(stage.name()))
    }

    fn decode_fixed_length(&self, bytes: &[u8]) -> Result<E::Memory, Error> {
        checked_rates(bytes, self.format)?;
        let encoded = upload(self.executor, bytes)?;
        self.decoded(NumberKind::Float, |array| {
            let stream = self
                .executor
                .view(&encoded)
                .first(bytes.len().div_ceil(4) as u64);
            let decoded = bare(self.format).decompress_with(self.executor, stream, array);
            decoded.map_err(of_cuszp)
        })
    }

    fn decode_stream(&self, bytes: &[u8]) -> Result<E::Memory, Error> {
        let layout = &checked_layout(bytes, self.format)?;
        let encoded = upload(self.executor, bytes)?;
        self.decoded(NumberKind::Integer, |array| {
            let stream = self.executor.view(&encoded).first(bytes.len() as u64 / 4);
            Ok(decompress_integers(self.executor, layout, stream, array)?)
        })
    }

    /// The codes of numbers of a type that `decode` writes to an array.
    fn decoded(
        &self,
        kind: NumberKind,
        decode: impl FnOnce(View<u32>) -> Result<(), Error>,
    ) -> Result<E::Memory, Error> {
        let array = self.executor.allocate(self.format.count() * kind.bytes())?;
        let array = self.executor.view(&array);
        decode(array)?;
        self.recoded(array, [kind, self.kind()])
    }

    /// The type of the codes.
    pub(super) fn kind(&self) -> NumberKind {
        match self.format.width {
            CodeWidth::U8 => NumberKind::Code8,
            CodeWidth::U16 => NumberKind::Code16,
            CodeWidth::U32 => NumberKind::Code32,
        }
    }

    /// The numbers in an array as ones of another type.
    ///
    /// # Errors
    ///
    /// [`Error::BadDecomposition`] if a code is not below twice the radius; [`Error::Ferrosz`].
    fn recoded(&self, words: View<u32>, [from, to]: [NumberKind; 2]) -> Result<E::Memory, Error> {
        let (executor, count) = (self.executor, self.format.count());
        let memory = executor.allocate(count * to.bytes())?;
        let workspace = executor.allocate(8 * cells::count(0))?;
        let cells = executor.view(&workspace);
        executor.clear(cells)?;
        let params = RecodeParams {
            from: Numbers { words, kind: from },
            to: Numbers {
                words: executor.view(&memory),
                kind: to,
            },
            radius: self.format.radius,
            count,
            cells,
        };
        executor.launch::<Recode>(import_blocks(count), &params)?;
        self.check(cells)?;
        Ok(memory)
    }

    /// Whether a kernel has found a code that is not below twice the radius. Waits.
    ///
    /// # Errors
    ///
    /// [`Error::BadDecomposition`]; [`Error::Ferrosz`].
    pub(super) fn check(&self, cells: View<u64>) -> Result<(), Error> {
        let mut fault = [0; 8];
        self.executor
            .download(cells, 8 * cells::FAULT, &mut fault)?;
        match u64::from_le_bytes(fault) {
            0 => Ok(()),
            _ => Err(Error::BAD_CODE),
        }
    }
}

/// The stream of cuSZp that has codes without the radius.
fn bare(format: &CodeFormat) -> Bare<f32> {
    Params::new(Shape::Line, Mode::Fixed, [1, 1, format.count()], 0.5).into()
}

fn of_cuszp(error: CuszpError) -> Error {
    match error {
        CuszpError::Ferrosz(error) => error.into(),
        error => Error::stage("fixed-length", error.to_string()),
    }
}
