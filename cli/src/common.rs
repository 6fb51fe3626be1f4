//! The options of all commands.

use clap::Args;
use ferrosz::Device;

/// The heading of these options in the help of a command.
const EVERYWHERE: &str = "Everywhere";

/// The devices that this build has.
#[cfg(feature = "emulator")]
const DEVICES: &str = "auto, cpu, cuda, cuda:N, cuda:all or emulator; same bytes";
#[cfg(not(feature = "emulator"))]
const DEVICES: &str = "auto, cpu, cuda, cuda:N or cuda:all; same bytes";

/// Options of all commands.
#[derive(Debug, Clone, Args)]
pub struct Common {
    /// The device; same bytes on all
    #[arg(long, help = DEVICES, help_heading = EVERYWHERE, global = true, value_name = "DEVICE", default_value = "auto")]
    pub device: Device,
    /// Print a JSON object for each input, to stderr where the data go to stdout
    #[arg(long, help_heading = EVERYWHERE, global = true)]
    pub json: bool,
    /// No progress bar, no summary, no notes
    #[arg(long, short, help_heading = EVERYWHERE, global = true)]
    pub quiet: bool,
}

impl Common {
    /// Whether to print notes for people; with `--json`, programs find them in the object.
    pub fn notes(&self) -> bool {
        !self.quiet && !self.json
    }
}
