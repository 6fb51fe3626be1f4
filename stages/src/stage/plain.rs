//! The stage that changes nothing.

use crate::error::Error;
use crate::stage::machine::{CodesOn, Encoded, MachineStage, OnMachine, bad_codes};
use crate::stage::{CodeFormat, Codes, Stage};
use ferrosz_host::internals::Executor;
use ferrosz_simt::View;

/// The codes as they are.
#[derive(Debug, Clone, Copy, Default)]
pub struct Plain;

/// The name in containers.
const NAME: &str = "plain";

impl Stage for Plain {
    fn name(&self) -> &'static str {
        NAME
    }

    fn encode(&self, codes: &Codes<'_>) -> Result<Vec<u8>, Error> {
        Ok(codes.bytes().to_vec())
    }

    fn decode(&self, bytes: &[u8], _: &CodeFormat) -> Result<Vec<u8>, Error> {
        Ok(bytes.to_vec())
    }

    fn on_machine(&self) -> Option<MachineStage> {
        Some(MachineStage::Plain)
    }
}

impl OnMachine for Plain {
    fn encode_on<E: Executor>(on: &CodesOn<'_, E>, codes: View<u32>) -> Result<Encoded<E>, Error> {
        let bytes = on.format.count() * on.kind().bytes();
        Ok((on.recoded(codes, [on.kind(); 2])?, bytes))
    }

    fn decode_on<E: Executor>(
        on: &CodesOn<'_, E>,
        bytes: View<u32>,
        length: u64,
    ) -> Result<E::Memory, Error> {
        if length != on.format.count() * on.kind().bytes() {
            return Err(Error::stage(NAME, Error::CODE_COUNT.to_string()));
        }
        let codes = on.recoded(bytes, [on.kind(); 2]);
        codes.map_err(|error| bad_codes(NAME, error))
    }
}
