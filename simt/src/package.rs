//! The compiled code of a crate's kernels.

#[cfg(feature = "emulator")]
use crate::emulator::Emulated;

/// The compiled code of a crate's kernels, as it is embedded in the program that launches them: compressed, in a form
/// that the executor knows.
#[derive(Debug, Clone, Copy)]
pub struct Package {
    /// The name of each kernel and its PTX, ordered by name.
    pub ptx: &'static [(&'static str, &'static [u8])],
    /// The name of a kernel, the number of a chip (90 for `sm_90`), and the machine code, ordered by name. Kernels may
    /// have none.
    pub machine_code: &'static [(&'static str, u32, &'static [u8])],
    /// A source that has changed since the code was compiled, if there is one: no GPU may run the code. On the emulator all
    /// code is of the present sources.
    pub outdated: Option<&'static str>,
    /// The code for the emulator of the kernel with a name.
    #[cfg(feature = "emulator")]
    pub emulated: fn(&str) -> Option<Emulated>,
}

impl Package {
    /// No compiled code, for kernels that run on the emulator only.
    pub const EMPTY: Self = Self::new(&[], &[]);

    /// Code for GPUs: see the fields.
    pub const fn new(
        ptx: &'static [(&'static str, &'static [u8])],
        machine_code: &'static [(&'static str, u32, &'static [u8])],
    ) -> Self {
        Self {
            ptx,
            machine_code,
            outdated: None,
            #[cfg(feature = "emulator")]
            emulated: |_| None,
        }
    }

    /// The same, [outdated](Self::outdated) by a change of a source.
    #[must_use]
    pub const fn outdated_by(mut self, source: &'static str) -> Self {
        self.outdated = Some(source);
        self
    }

    /// The same with code for the emulator, which is compiled where this function is: in the crate of the kernels, and
    /// once for all that launch them.
    #[cfg(feature = "emulator")]
    #[must_use]
    pub const fn with_emulated(mut self, emulated: fn(&str) -> Option<Emulated>) -> Self {
        self.emulated = emulated;
        self
    }

    /// The PTX of the kernel with this name.
    pub fn ptx_of(&self, kernel: &str) -> Option<&'static [u8]> {
        let position = self.ptx.binary_search_by_key(&kernel, |(name, _)| *name);
        position.ok().map(|position| self.ptx[position].1)
    }

    /// The machine code of the kernel with this name for a GPU of compute capability `major.minor`: that of the chip
    /// with the same `major` and the largest minor number that is at most `minor`.
    pub fn machine_code_of(&self, kernel: &str, major: u32, minor: u32) -> Option<&'static [u8]> {
        let begin = self
            .machine_code
            .partition_point(|(name, ..)| *name < kernel);
        let chips = self.machine_code[begin..]
            .iter()
            .take_while(|code| code.0 == kernel);
        chips
            .filter(|(_, chip, _)| chip / 10 == major && chip % 10 <= minor)
            .max_by_key(|(_, chip, _)| *chip)
            .map(|(.., code)| *code)
    }
}
