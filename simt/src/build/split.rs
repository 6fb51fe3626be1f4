//! Splits LLVM's module into one module for each kernel, which depends on no other kernel.
//!
//! Labels and tables are numbered over all kernels; here they are numbered within each kernel, and comments are
//! removed. A kernel's text therefore changes only if its instructions do.

use super::Error;
use std::borrow::ToOwned;
use std::collections::BTreeMap;
use std::path::Path;
use std::string::String;
use std::vec::Vec;
use std::{format, fs};

/// Kernels by name: for each entry point, the PTX of a module with this kernel alone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kernels(pub BTreeMap<String, String>);

impl Kernels {
    /// Writes each kernel to `NAME.ptx` in a folder, which is created if it does not exist. Other files are not
    /// changed.
    pub fn write(&self, folder: impl AsRef<Path>) -> Result<(), Error> {
        let folder = folder.as_ref();
        fs::create_dir_all(folder).map_err(Error::file(folder))?;
        for (name, text) in &self.0 {
            let path = folder.join(format!("{name}.ptx"));
            fs::write(&path, text).map_err(Error::file(&path))?;
        }
        Ok(())
    }
}

/// Prefix of the line of an entry point.
const ENTRY: &str = ".visible .entry ";

/// Prefixes of a table of constants: of a switch, or an array of the source.
const TABLES: [&str; 2] = [".global ", ".const "];

/// Prefix of the names that LLVM gives to tables of switches.
const SWITCH: &str = "switch_$_table_$_";

/// Prefix of a label; the number of the function and the number of the basic block follow.
const LABEL: &str = "$L__BB";

/// The name of the entry point that begins on this line.
pub(super) fn entry_name(line: &str) -> Option<&str> {
    line.strip_prefix(ENTRY)?.split(is_not_of_name).next()
}

/// The name of the function that begins on this line or is declared there.
pub(super) fn function_name(line: &str) -> Option<&str> {
    let (_, declared) = line.split("//").next()?.split_once(".func")?;
    let declared = declared.trim_start();
    // The returned values come first.
    let named = match declared.strip_prefix('(') {
        Some(given) => given.split_once(')')?.1.trim_start(),
        None => declared,
    };
    named.split(is_not_of_name).next()
}

fn is_not_of_name(c: char) -> bool {
    !(c.is_ascii_alphanumeric() || c == '_' || c == '$')
}

/// The line of an entry point in the whole PTX, its name, and its code.
struct Body<'a> {
    line: usize,
    name: &'a str,
    code: Vec<String>,
}

/// Splits PTX into a module for each kernel, with the tables that it uses. A mutable `static` would no longer be shared
/// by all kernels. PTX with functions is refused: all must be inlined into the kernels.
pub fn split(ptx: &str) -> Result<Kernels, Error> {
    let failed = |line: usize, reason: String| Error::Ptx { line, reason };
    // 1. Lines without comments: the head, tables by name, and the lines of each kernel.
    let mut head = Vec::new();
    let mut tables = BTreeMap::new();
    let mut bodies: Vec<Body<'_>> = Vec::new();
    for (number, line) in (1..).zip(ptx.lines()) {
        let code = line.split("//").next().unwrap_or_default();
        let words: Vec<&str> = code.split_whitespace().collect();
        if words.is_empty() {
            continue;
        }
        if let Some(name) = function_name(line) {
            let reason = "is not inlined into the kernels that call it";
            return Err(failed(number, format!("function {name} {reason}")));
        }
        let code = words.join(" ");
        if let Some(name) = entry_name(line) {
            if name.is_empty() {
                return Err(failed(number, "an entry point without name".to_owned()));
            }
            bodies.push(Body {
                line: number,
                name,
                code: Vec::from([code]),
            });
        } else if TABLES.iter().any(|start| code.starts_with(start)) {
            let name = table_name(&code)
                .ok_or_else(|| failed(number, format!("a table without name: {code}")))?;
            tables.insert(name.to_owned(), code);
        } else if let Some(body) = bodies.last_mut() {
            body.code.push(code);
        } else {
            head.push(code);
        }
    }
    // 2. For each kernel, a module of the head, the kernel's tables, and its code with new names.
    let mut kernels = BTreeMap::new();
    for Body { line, name, code } in bodies {
        let parameter = format!("{name}_param_");
        let mut own = OwnTables::new(&tables);
        let body = (code.iter())
            .map(|code| own.renamed(&with_short_labels(code).replace(&parameter, "param_")))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|missing| failed(line, format!("{name}: no table {missing}")))?;
        let mut module = head.clone();
        module.extend(own.texts);
        module.extend(body);
        module.push(String::new());
        if kernels.insert(name.to_owned(), module.join("\n")).is_some() {
            return Err(failed(line, format!("two entry points {name}")));
        }
    }
    Ok(Kernels(kernels))
}

/// The name in the declaration of a table, which is an array or a single number.
fn table_name(code: &str) -> Option<&str> {
    let declared = code.split(['[', '=', ';']).next()?;
    let name = declared.split_whitespace().next_back()?;
    (!name.contains(is_not_of_name)).then_some(name)
}

/// A line whose labels have no number of the function: `$L__BB75_4` becomes `$L4`.
fn with_short_labels(line: &str) -> String {
    let mut parts = line.split(LABEL);
    let mut short = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let behind = part.trim_start_matches(|c: char| c.is_ascii_digit());
        short.push_str("$L");
        short.push_str(behind.strip_prefix('_').unwrap_or(behind));
    }
    short
}

/// The tables of one kernel, numbered in the order of first use.
struct OwnTables<'a> {
    /// The tables of all kernels, by name.
    all: &'a BTreeMap<String, String>,
    /// The numbers of this kernel's tables.
    numbers: BTreeMap<&'a str, usize>,
    /// Their declarations; each follows the declarations of the tables that it names.
    texts: Vec<String>,
}

impl<'a> OwnTables<'a> {
    fn new(all: &'a BTreeMap<String, String>) -> Self {
        Self {
            all,
            numbers: BTreeMap::new(),
            texts: Vec::new(),
        }
    }

    /// A line with the tables renamed to their numbers; the error is the name of a missing table.
    fn renamed(&mut self, line: &str) -> Result<String, String> {
        // `%r1` and `.b32` are whole words, and no names of tables.
        let is_of_word = |c: char| !is_not_of_name(c) || c == '%' || c == '.';
        let mut renamed = String::with_capacity(line.len());
        let mut rest = line;
        while let Some(start) = rest.find(is_of_word) {
            let length = rest[start..].find(|c| !is_of_word(c));
            let end = length.map_or(rest.len(), |length| start + length);
            renamed.push_str(&rest[..start]);
            let word = &rest[start..end];
            match self.number(word)? {
                Some(number) => renamed.push_str(&format!("table_{number}")),
                None => renamed.push_str(word),
            }
            rest = &rest[end..];
        }
        renamed.push_str(rest);
        Ok(renamed)
    }

    /// The number of the table with this name; none if the name is no table's. The error is the name of a missing
    /// table.
    fn number(&mut self, name: &str) -> Result<Option<usize>, String> {
        if let Some(number) = self.numbers.get(name) {
            return Ok(Some(*number));
        }
        let Some((name, text)) = self.all.get_key_value(name) else {
            return match name.starts_with(SWITCH) {
                true => Err(name.to_owned()),
                false => Ok(None),
            };
        };
        let number = self.numbers.len();
        self.numbers.insert(name, number);
        let text = self.renamed(text)?;
        self.texts.push(text);
        Ok(Some(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    const TWO: &str = "//\n// Generated by LLVM\n//\n\n.version 7.0\n.target sm_80\n\
        .extern .shared .align 1024 .b8 dynamic_shared[];\n\t// .globl\ta\n\
        .global .align 4 .b8 switch_$_table_$_a[8] = {1, 2};\n\
        .global .align 4 .b8 switch_$_table_$_b[8] = {3, 4};\n\
        .global .align 4 .b8 switch_$_table_$_b17[8] = {5, 6};\n\
        .visible .entry a(\n\t.param .b8 a_param_0[8]\n)\n{\n\
        $L__BB0_1:                     // =>This Loop\n\tld.param.b64 \t%rd1, [a_param_0+4];\n\
        \tmov.b64 %rd2, switch_$_table_$_a;\n\t// begin inline asm\n\t@%p1 bra \t$L__BB0_1;\n\tret;\n\n}\n\t// .globl\tb\n\
        .visible .entry b(\n\t.param .b8 b_param_0[8]\n)\n{\n$L__BB1_12:\n\
        \tmov.b64 %rd2, switch_$_table_$_b17;\n\tadd.s64 %rd3, switch_$_table_$_b, %rd2;\n\tret;\n}\n";

    #[test]
    fn a_kernel_has_its_own_lines_alone() {
        let kernels = split(TWO).unwrap().0;
        assert_eq!(kernels.keys().collect::<Vec<_>>(), ["a", "b"]);
        let head =
            ".version 7.0\n.target sm_80\n.extern .shared .align 1024 .b8 dynamic_shared[];\n";
        assert_eq!(
            kernels["a"],
            format!(
                "{head}.global .align 4 .b8 table_0[8] = {{1, 2}};\n\
                 .visible .entry a(\n.param .b8 param_0[8]\n)\n{{\n$L1:\nld.param.b64 %rd1, [param_0+4];\n\
                 mov.b64 %rd2, table_0;\n@%p1 bra $L1;\nret;\n}}\n"
            )
        );
        assert_eq!(
            kernels["b"],
            format!(
                "{head}.global .align 4 .b8 table_0[8] = {{5, 6}};\n.global .align 4 .b8 table_1[8] = {{3, 4}};\n\
                 .visible .entry b(\n.param .b8 param_0[8]\n)\n{{\n$L12:\nmov.b64 %rd2, table_0;\n\
                 add.s64 %rd3, table_1, %rd2;\nret;\n}}\n"
            )
        );
    }

    #[test]
    fn a_kernel_does_not_change_with_its_neighbours() {
        let other = TWO
            .replace("$L__BB1_", "$L__BB2_")
            .replace("_b17", "_b2400")
            .replace("{1, 2}", "{1, 9}");
        let (before, after) = (split(TWO).unwrap().0, split(&other).unwrap().0);
        assert_ne!(before["a"], after["a"]);
        assert_eq!(before["b"], after["b"]);
    }

    #[test]
    fn what_is_missing_is_named() {
        let cut = TWO.replace(".global .align 4 .b8 switch_$_table_$_a[8] = {1, 2};\n", "");
        let error = split(&cut).unwrap_err().to_string();
        assert!(error.contains("a: no table switch_$_table_$_a"), "{error}");
    }

    #[test]
    fn tables_of_the_source_come_with_the_tables_that_they_name() {
        let ptx = ".version 7.0\n.global .align 4 .b8 anon_$_1[8] = {1, 2};\n\
            .const .align 8 .u64 names[1] = {generic(anon_$_1)};\n.global .align 4 .u32 other = 3;\n\
            .visible .entry a()\n{\n\tmov.b64 %rd1, names;\n\tld.global.b32 %other, [anon_$_1+4];\n\tret;\n}\n";
        let kernels = split(ptx).unwrap().0;
        assert_eq!(
            kernels["a"],
            ".version 7.0\n.global .align 4 .b8 table_1[8] = {1, 2};\n\
             .const .align 8 .u64 table_0[1] = {generic(table_1)};\n\
             .visible .entry a()\n{\nmov.b64 %rd1, table_0;\nld.global.b32 %other, [table_1+4];\nret;\n}\n"
        );
    }

    #[test]
    fn what_is_not_of_one_kernel_is_refused() {
        let function = TWO.replace(".visible .entry b(", ".func panic_bounds_check(");
        let error = split(&function).unwrap_err().to_string();
        assert!(
            error.starts_with("PTX, line 25: function panic_bounds_check is not inlined"),
            "{error}"
        );
        assert_eq!(
            function_name(".func (.param .b64 retval0) f_1("),
            Some("f_1")
        );
        let same = TWO.replace(".visible .entry b(", ".visible .entry a(");
        let error = split(&same).unwrap_err().to_string();
        assert!(error.ends_with("two entry points a"), "{error}");
        // A kernel's name is also a file's name.
        let path = TWO.replace(".visible .entry b(", ".visible .entry ../b(");
        assert!(split(&path).is_err());
    }

    #[test]
    fn files_hold_the_kernels() {
        let folder = std::env::temp_dir().join(format!("ferrosz-kernels-{}", std::process::id()));
        let kernels = split(TWO).unwrap();
        kernels.write(&folder).unwrap();
        for name in ["a", "b"] {
            let text = fs::read_to_string(folder.join(format!("{name}.ptx"))).unwrap();
            assert_eq!(text, kernels.0[name]);
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
