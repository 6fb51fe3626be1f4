//! Launch bounds and other directives of kernels for which Rust has no attributes.

use super::Error;
use super::split::entry_name;
use crate::Launch;
use std::borrow::ToOwned;
use std::format;
use std::string::String;

/// LLVM has unrolled all loops that need it. NVIDIA's assembler would also unroll loops for rare cases, which costs
/// registers and instruction cache.
const NO_UNROLLING: &str = ".pragma \"nounroll\";\n";

/// Adds directives for NVIDIA's assembler to PTX: it unrolls no loops, and a kernel gets the number of threads of its
/// blocks and, if set, the number of resident blocks, which limit the registers of a thread.
///
/// Entry points of the PTX that are not in `launches` get no launch bounds. Rust has no attributes for these
/// directives, so they are added to the text. A kernel that is not in the PTX is an error.
pub fn with_directives<'a>(
    ptx: &str,
    launches: impl IntoIterator<Item = &'a Launch>,
) -> Result<String, Error> {
    let mut bounds = std::collections::BTreeMap::new();
    bounds.extend((launches.into_iter()).map(|launch| (launch.name, bounds_of(launch))));
    let mut text = String::with_capacity(ptx.len() + 64 * bounds.len() + NO_UNROLLING.len());
    let mut of_entry = None;
    for line in ptx.lines() {
        if let Some(name) = entry_name(line) {
            of_entry = bounds.remove(name);
        }
        text.push_str(line);
        text.push('\n');
        if line.starts_with(".address_size") {
            text.push_str(NO_UNROLLING);
        }
        // Directives stand after the end of the parameter list.
        if (line == ")" || line.ends_with("()"))
            && let Some(bounds) = of_entry.take()
        {
            text.push_str(&bounds);
        }
    }
    match bounds.into_keys().next() {
        None => Ok(text),
        Some(name) => Err(Error::NoEntryPoint {
            name: name.to_owned(),
        }),
    }
}

fn bounds_of(launch: &Launch) -> String {
    let mut bounds = format!(".maxntid {}, 1, 1\n", launch.threads);
    if launch.resident_blocks > 0 {
        bounds.push_str(&format!(".minnctapersm {}\n", launch.resident_blocks));
    }
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;

    const PTX: &str = ".address_size 64\n.visible .entry a(\n\t.param .b8 p[8]\n)\n{\n}\n\
        .visible .entry b(\n\t.param .b8 p[8]\n)\n{\n}\n";

    fn launch(name: &'static str, resident_blocks: u32) -> Launch {
        Launch {
            name,
            threads: 256,
            shared_words: 0,
            resident_blocks,
        }
    }

    #[test]
    fn launch_bounds_stand_behind_the_parameters() {
        assert_eq!(
            with_directives(PTX, &[launch("b", 4)]).unwrap(),
            ".address_size 64\n.pragma \"nounroll\";\n.visible .entry a(\n\t.param .b8 p[8]\n)\n{\n}\n\
             .visible .entry b(\n\t.param .b8 p[8]\n)\n.maxntid 256, 1, 1\n.minnctapersm 4\n{\n}\n"
        );
        let threads_alone = with_directives(PTX, &[launch("a", 0)]).unwrap();
        assert!(threads_alone.contains("p[8]\n)\n.maxntid 256, 1, 1\n{\n}\n.visible .entry b"));
        assert!(!threads_alone.contains("minnctapersm"));
        let none = with_directives(".visible .entry a()\n{\n}\n", &[launch("a", 2)]);
        assert_eq!(
            none.unwrap(),
            ".visible .entry a()\n.maxntid 256, 1, 1\n.minnctapersm 2\n{\n}\n"
        );
    }

    #[test]
    fn a_kernel_that_is_not_there_is_an_error() {
        let error = with_directives(PTX, &[launch("a", 1), launch("c", 1)]).unwrap_err();
        assert!(matches!(error, Error::NoEntryPoint { name } if name == "c"));
    }
}
