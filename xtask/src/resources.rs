//! The committed table of the resources that kernels need on each chip, and the limits of them.

use crate::crates::{self, launches};
use crate::packed::Files;
use crate::{Failure, machine_code, ptx, root};
use ferrosz_simt::Launch;
use ferrosz_simt::build::occupancy::Block;
use ferrosz_simt::build::{Assembled as Kernel, Ptxas, fnv};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// The chips for which the PTX is assembled.
const CHIPS: [&str; 3] = ["sm_80", "sm_90", "sm_100"];

/// Bytes of a thread's stack at most on each of [`CHIPS`], and of its spills. For the oldest, the assembler stores a few
/// values of kernels of cubes in local memory: launch bounds are the same for all chips, and its shared memory has
/// room for a block less than they say. On the others a block less costs 5 to 11 % of the speed:
/// docs/measurements/h200-tiles.md.
const STACK: [u32; 3] = [56, 0, 0];

/// The chips whose resident blocks are in the table.
const BLOCK_CHIPS: [&str; 2] = ["sm_80", "sm_90"];

/// The line of the table that names the assembler.
const VERSION_LINE: &str = "ptxas: ";

/// The line of the table that has a hash of what it was made of and with.
const FILES_LINE: &str = "files: ";

const HEAD: &str = "\
# What kernels need

What NVIDIA's assembler makes of the committed PTX. `cargo xtask ptx` and `cargo xtask resources` write this table.
`cargo xtask check ptx` compares it if one of the files has changed since, `cargo xtask check resources` in any case.
A stack and spills (on sm_80: of more than 56 bytes), and more registers than the launch bounds allow, are refused.

";

const EXPLANATION: &str = "
*Stack* and *spills*: bytes of a thread, the most of all chips. *Shared*: bytes of a block, static + dynamic. *Blocks*:
resident on a multiprocessor at once, as registers, shared memory and threads allow.

";

/// The assembler's output for all kernels.
pub struct Assembled {
    /// The assembler's version.
    version: String,
    /// Kernels by chip.
    pub chips: BTreeMap<&'static str, Vec<Kernel>>,
}

/// A kernel on all chips.
struct Row {
    launch: Launch,
    /// The kernel on each of [`CHIPS`].
    kernels: Vec<Kernel>,
}

/// Assembles the committed PTX for all chips.
pub fn assembled() -> Result<Assembled, Failure> {
    let texts = ptx::committed()?;
    let ptxas = Ptxas::find()?;
    let folder = root().join("target/ptx/kernels");
    let of_chip = |chip| Ok((chip, ptxas.assembled(&texts, chip, &folder)?));
    Ok(Assembled {
        version: ptxas.version().to_owned(),
        chips: CHIPS
            .into_iter()
            .map(of_chip)
            .collect::<Result<_, Failure>>()?,
    })
}

/// Writes the table.
pub fn write(assembled: &Assembled) -> Result<(), Failure> {
    let rows = rows(assembled)?;
    refuse(&rows)?;
    fs::write(path(), table(&assembled.version, &files()?, &rows))?;
    println!("{}: {} kernels", path().display(), rows.len());
    Ok(())
}

/// Refuses kernels beyond the limits, and resources that differ from the committed table.
pub fn check(assembled: &Assembled) -> Result<(), Failure> {
    let committed = fs::read_to_string(path())
        .map_err(|error| format!("{}: {error}: run `cargo xtask resources`", path().display()))?;
    let made_by = line_of(&committed, VERSION_LINE).unwrap_or("an unknown version");
    if made_by != assembled.version {
        return Err(format!(
            "the table of resources is of ptxas {made_by}, and this is {}: install that one, or run \
             `cargo xtask resources` and commit what another says",
            assembled.version
        )
        .into());
    }
    let rows = rows(assembled)?;
    refuse(&rows)?;
    let found = differences(&committed, &table(&assembled.version, &files()?, &rows));
    if !found.is_empty() {
        let found = found.join("\n");
        return Err(format!(
            "{} is not what ptxas says now; if that is meant, run `cargo xtask resources`\n{found}",
            path().display()
        )
        .into());
    }
    println!("resources: {} kernels, as in the table", rows.len());
    Ok(())
}

/// Whether the committed table and machine code were made by the assembler that is here, of the committed PTX: then they are
/// what it would make again.
pub fn are_known() -> Result<bool, Failure> {
    let committed = fs::read_to_string(path()).unwrap_or_default();
    let is_same = line_of(&committed, VERSION_LINE) == Some(Ptxas::find()?.version())
        && line_of(&committed, FILES_LINE) == Some(&files()?);
    if is_same {
        println!("resources and machine code: of this PTX, by this ptxas");
    }
    Ok(is_same)
}

/// A hash of the committed PTX and machine code, and of the launches.
fn files() -> Result<String, Failure> {
    let mut all = Vec::new();
    for of in &crates::ALL {
        let chips = machine_code::CHIPS.map(|chip| Files::machine_code(of, chip));
        for files in [Files::ptx(of)].iter().chain(&chips) {
            for (name, bytes) in files.read()? {
                all.extend(name.bytes());
                all.extend(bytes);
            }
        }
    }
    for launch in launches() {
        all.extend(format!("{launch:?}").bytes());
    }
    Ok(fnv([&all[..]]))
}

fn path() -> PathBuf {
    root().join("docs/measurements/kernel-resources.md")
}

/// All kernels of the list, by name.
fn rows(assembled: &Assembled) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for launch in launches() {
        let kernels = CHIPS
            .iter()
            .filter_map(|chip| assembled.chips.get(chip))
            .filter_map(|kernels| kernels.iter().find(|kernel| kernel.name == launch.name))
            .cloned()
            .collect::<Vec<_>>();
        if kernels.len() != CHIPS.len() {
            return Err(format!("ptxas says nothing of {}", launch.name).into());
        }
        rows.push(Row { launch, kernels });
    }
    rows.sort_by_key(|row| row.launch.name);
    Ok(rows)
}

impl Row {
    fn block(&self, kernel: &Kernel) -> Block {
        Block {
            threads: self.launch.threads,
            registers: kernel.registers,
            shared: kernel.static_shared + self.dynamic_shared(),
        }
    }

    /// Bytes of dynamic shared memory.
    fn dynamic_shared(&self) -> u32 {
        4 * self.launch.shared_words
    }

    /// The largest of a number over all chips.
    fn most(&self, number: impl Fn(&Kernel) -> u32) -> u32 {
        self.kernels.iter().map(number).max().unwrap_or(0)
    }

    /// The limit that the kernel exceeds, if any.
    fn fault(&self) -> Option<String> {
        let Launch {
            name,
            threads,
            resident_blocks,
            ..
        } = self.launch;
        let local = (CHIPS.iter().zip(STACK).zip(&self.kernels)).find(|((_, most), kernel)| {
            let most = tolerated(name).max(*most);
            !ptx::may_use_stack(name) && (kernel.stack > most || kernel.spills > most)
        });
        if let Some(((chip, _), Kernel { stack, spills, .. })) = local {
            return Some(format!(
                "{name} has a stack of {stack} bytes and spills {spills} on {chip}"
            ));
        }
        let fewer = (CHIPS.iter().zip(&self.kernels))
            .find(|(_, kernel)| self.block(kernel).by_registers() < resident_blocks)?;
        let (chip, Kernel { registers, .. }) = fewer;
        Some(format!(
            "{name} has {registers} registers on {chip}, too many for {resident_blocks} blocks of {threads} threads"
        ))
    }

    fn line(&self) -> String {
        let registers = self
            .kernels
            .iter()
            .map(|kernel| kernel.registers.to_string());
        let blocks = BLOCK_CHIPS.iter().map(|wanted| {
            let of_chip = CHIPS
                .iter()
                .zip(&self.kernels)
                .find(|(chip, _)| *chip == wanted);
            let blocks = of_chip.and_then(|(chip, kernel)| self.block(kernel).resident(chip));
            blocks.map_or_else(|| "?".to_owned(), |blocks| blocks.to_string())
        });
        let stack = self.most(|kernel| kernel.stack);
        let spills = self.most(|kernel| kernel.spills);
        let static_shared = self.most(|kernel| kernel.static_shared);
        let Launch { name, threads, .. } = self.launch;
        let cells: Vec<String> = [format!("`{name}`"), threads.to_string()]
            .into_iter()
            .chain(registers)
            .chain([stack.to_string(), spills.to_string()])
            .chain([format!("{static_shared} + {}", self.dynamic_shared())])
            .chain(blocks)
            .collect();
        format!("| {} |\n", cells.join(" | "))
    }
}

/// Refuses local memory, and fewer resident blocks than the launch bounds require.
fn refuse(rows: &[Row]) -> Result<(), Failure> {
    let faults: Vec<String> = rows.iter().filter_map(Row::fault).collect();
    match faults.is_empty() {
        true => Ok(()),
        false => Err(faults.join("\n").into()),
    }
}

/// The text of the table.
fn table(version: &str, files: &str, rows: &[Row]) -> String {
    let [a, b, c] = CHIPS;
    let [x, y] = BLOCK_CHIPS;
    let lines: String = rows.iter().map(Row::line).collect();
    format!(
        "{HEAD}{VERSION_LINE}{version}\n\n{FILES_LINE}{files}\n{EXPLANATION}\
         | kernel | threads | registers {a} | {b} | {c} | stack | spills | shared | blocks {x} | {y} |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n{lines}"
    )
}

/// What a line of a table says.
fn line_of<'a>(table: &'a str, start: &str) -> Option<&'a str> {
    (table.lines()).find_map(|line| line.strip_prefix(start))
}

/// Lines that only one of two tables has.
fn differences(committed: &str, now: &str) -> Vec<String> {
    let only_in = |one: &str, other: &str, sign: char| -> Vec<String> {
        let missing = |line: &&str| !other.lines().any(|other| other == *line);
        (one.lines().filter(missing))
            .map(|line| format!("{sign} {line}"))
            .collect()
    };
    let mut found = only_in(committed, now, '-');
    found.extend(only_in(now, committed, '+'));
    found
}

/// The bytes that a kernel may spill, and have as a stack, on all chips.
///
/// Lorenzo's has been at its limit of registers all along. The number of a slice's tile in the field, beside its number
/// in the slice, is one more; docs/measurements/h200-speed.md has the speed before and after. On sm_100 decoders of
/// cubes and slices spill up to three values; in the code of `rans_cube` it is the number of the tile, which is read once a tile.
fn tolerated(name: &str) -> u32 {
    match name {
        "ferrosz_lorenzo_predict_cube_f32" => 48,
        "ferrosz_entropy_decode_huffman_cube"
        | "ferrosz_entropy_decode_huffman_slices"
        | "ferrosz_entropy_decode_rans_cube"
        | "ferrosz_entropy_decode_rans_slices" => 12,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(registers: u32) -> Kernel {
        Kernel {
            name: "ferrosz_extremes_f32".to_owned(),
            registers,
            static_shared: 16,
            ..Kernel::default()
        }
    }

    fn row(registers: [u32; 3]) -> Row {
        Row {
            launch: Launch {
                name: "ferrosz_extremes_f32",
                threads: 256,
                shared_words: 1024,
                resident_blocks: 4,
            },
            kernels: registers.map(kernel).to_vec(),
        }
    }

    #[test]
    fn a_row_says_what_a_kernel_needs() {
        assert_eq!(
            row([40, 64, 32]).line(),
            "| `ferrosz_extremes_f32` | 256 | 40 | 64 | 32 | 0 | 0 | 16 + 4096 | 6 | 4 |\n"
        );
    }

    #[test]
    fn one_changed_number_is_found() {
        let committed = table("13.0.88", "0", &[row([40, 64, 32])]);
        assert_eq!(line_of(&committed, VERSION_LINE), Some("13.0.88"));
        assert!(differences(&committed, &committed).is_empty());
        assert!(differences(&committed.replace('\n', "\r\n"), &committed).is_empty());
        for other in [[41, 64, 32], [40, 63, 32], [40, 64, 33]] {
            let now = table("13.0.88", "0", &[row(other)]);
            let found = differences(&committed, &now);
            assert_eq!(found.len(), 2, "{found:?}");
            assert!(found[0].starts_with("- | `ferrosz_ext") && found[1].starts_with("+ | `"));
        }
        let more = table("13.0.88", "0", &[row([40, 64, 32]), row([1, 2, 3])]);
        assert_eq!(differences(&committed, &more).len(), 1);
    }

    #[test]
    fn local_memory_and_too_many_registers_are_refused() {
        assert!(refuse(&[row([64, 64, 64])]).is_ok());
        // The launch bounds require four resident blocks.
        assert!(refuse(&[row([64, 65, 64])]).is_err());
        for change in [
            |kernel: &mut Kernel| kernel.stack = 8,
            |kernel: &mut Kernel| kernel.spills = 4,
        ] {
            let mut row = row([32; 3]);
            change(&mut row.kernels[2]);
            assert!(refuse(&[row]).is_err());
        }
    }
}
