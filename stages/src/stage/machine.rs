//! ferrosz's own stages on machines that run kernels: codes and bytes are in the memory of the machine.

use crate::error::Error;
use crate::gpu::{fetch, import_blocks, upload};
use crate::kernels::recode::{NumberKind, Numbers, Recode, RecodeParams};
use crate::recipe::CodeWidth;
use crate::stage::fixed_length::FixedLength;
use crate::stage::plain::Plain;
use crate::stage::stream::Stream;
use crate::stage::{CodeFormat, Codes, Stage};
use ferrosz_gpu_kernels::pipeline::cells;
use ferrosz_host::Error as HostError;
use ferrosz_host::internals::Executor;
use ferrosz_simt::View;

/// A stage of ferrosz's own that machines with kernels run, too. Its bytes are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MachineStage {
    /// cuSZp's coder.
    FixedLength,
    /// Streams of the library.
    Stream,
    /// No coder.
    Plain,
}

/// Where codes of a format are.
pub(crate) struct CodesOn<'a, E> {
    pub(crate) executor: &'a E,
    pub(crate) format: &'a CodeFormat,
}

/// Memory that begins with encoded codes, and how many bytes they are.
pub(super) type Encoded<E> = (<E as Executor>::Memory, u64);

/// What a stage does with the codes of a field that has elements. Both wait.
pub(super) trait OnMachine {
    /// As [`Stage::encode`](crate::Stage::encode).
    fn encode_on<E: Executor>(on: &CodesOn<'_, E>, codes: View<u32>) -> Result<Encoded<E>, Error>;

    /// As [`Stage::decode`](crate::Stage::decode), of so many bytes, whose last word is filled with zeros. All codes are
    /// below twice the radius.
    fn decode_on<E: Executor>(
        on: &CodesOn<'_, E>,
        bytes: View<u32>,
        length: u64,
    ) -> Result<E::Memory, Error>;
}

/// Codes as bytes on the host, as a stage encodes them: on the machine, if it runs there and there are any.
pub(crate) fn encode<E: Executor>(
    stage: &dyn Stage,
    on: &CodesOn<'_, E>,
    codes: View<u32>,
) -> Result<Vec<u8>, Error> {
    if let Some(stage) = stage.on_machine().filter(|_| on.format.count() > 0) {
        let (memory, length) = stage.encode(on, codes)?;
        return fetch(on.executor, on.executor.view(&memory), length);
    }
    let codes = fetch::<E, u8>(on.executor, codes, on.format.count() * on.kind().bytes())?;
    stage.encode(&Codes::new(*on.format, &codes)?)
}

/// The codes in bytes on the host, as a stage decodes them, in the memory of a machine.
pub(crate) fn decode<E: Executor>(
    stage: &dyn Stage,
    on: &CodesOn<'_, E>,
    bytes: &[u8],
) -> Result<E::Memory, Error> {
    if let Some(stage) = stage.on_machine().filter(|_| on.format.count() > 0) {
        let memory = upload(on.executor, bytes)?;
        return stage.decode(on, on.executor.view(&memory), bytes.len() as u64);
    }
    let codes = stage.decode(bytes, on.format)?;
    Codes::new(*on.format, &codes).map_err(|error| bad_codes(stage.name(), error))?;
    upload(on.executor, &codes)
}

impl MachineStage {
    /// As [`OnMachine::encode_on`].
    fn encode<E: Executor>(
        self,
        on: &CodesOn<'_, E>,
        codes: View<u32>,
    ) -> Result<Encoded<E>, Error> {
        match self {
            Self::FixedLength => FixedLength::encode_on(on, codes),
            Self::Stream => Stream::encode_on(on, codes),
            Self::Plain => Plain::encode_on(on, codes),
        }
    }

    /// As [`OnMachine::decode_on`].
    fn decode<E: Executor>(
        self,
        on: &CodesOn<'_, E>,
        bytes: View<u32>,
        length: u64,
    ) -> Result<E::Memory, Error> {
        match self {
            Self::FixedLength => FixedLength::decode_on(on, bytes, length),
            Self::Stream => Stream::decode_on(on, bytes, length),
            Self::Plain => Plain::decode_on(on, bytes, length),
        }
    }
}

impl<E: Executor> CodesOn<'_, E> {
    /// The codes as an array.
    pub(super) fn kind(&self) -> NumberKind {
        match self.format.width {
            CodeWidth::U8 => NumberKind::Code8,
            CodeWidth::U16 => NumberKind::Code16,
            CodeWidth::U32 => NumberKind::Code32,
        }
    }

    /// The codes in an array as one of another type.
    ///
    /// # Errors
    ///
    /// [`Error::BadDecomposition`] if a code is not below twice the radius; [`Error::Ferrosz`].
    pub(super) fn recoded(
        &self,
        words: View<u32>,
        [from, to]: [NumberKind; 2],
    ) -> Result<E::Memory, Error> {
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
        let mut fault = [0; 8];
        executor.download(cells, 8 * cells::FAULT, &mut fault)?;
        match fault {
            [0, 0, 0, 0, 0, 0, 0, 0] => Ok(memory),
            _ => Err(Error::BAD_CODE),
        }
    }
}

/// The error of a stage for bytes that it did not make; others as they are.
pub(super) fn failed(stage: &str, error: HostError) -> Error {
    match error {
        HostError::Format(error) => Error::stage(stage, error.to_string()),
        error => error.into(),
    }
}

/// As [`failed`], for codes.
pub(super) fn bad_codes(stage: &str, error: Error) -> Error {
    match error {
        Error::BadDecomposition(_) => Error::stage(stage, error.to_string()),
        error => error,
    }
}
