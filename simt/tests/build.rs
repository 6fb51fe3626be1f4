//! A crate of kernels outside of any workspace, compiled and assembled. Ignored, as it takes a Rust compiler that can make PTX
//! and NVIDIA's assembler.
use ferrosz_simt::Launch;
use ferrosz_simt::build::{
    Compiler, Error, Kernels, Package, Ptxas, Rule, split, violations, with_directives,
};
use std::fs;
use std::path::PathBuf;

const CRATE: &str = r#"#![no_std]
#![cfg_attr(target_arch = "nvptx64", feature(abi_ptx))]
use ferrosz_simt::{Thread, View};

static PRIMES: [u32; 8] = [2, 3, 5, 7, 11, 13, 17, 19];

/// Writes a prime number for each thread.
pub fn primes<T: Thread>(t: T, to: &View<u32>) {
    let thread = t.thread_index();
    t.store(*to, thread.into(), PRIMES[thread as usize % 8]);
}

/// Panics in thread 8.
#[cfg(feature = "panics")]
pub fn panics<T: Thread>(t: T, to: &View<u32>) {
    let thread = t.thread_index();
    t.store(*to, thread.into(), PRIMES[thread as usize]);
}

#[cfg(target_arch = "nvptx64")]
mod entries {
    use ferrosz_simt::View;
    use ferrosz_simt::ptx::PtxThread;

    #[unsafe(no_mangle)]
    unsafe extern "ptx-kernel" fn my_primes(to: View<u32>) {
        super::primes(PtxThread, &to);
    }

    #[cfg(feature = "panics")]
    #[unsafe(no_mangle)]
    unsafe extern "ptx-kernel" fn my_panics(to: View<u32>) {
        super::panics(PtxThread, &to);
    }
}
"#;

/// The crate in a folder of its own, whose name has a space.
fn package(name: &str) -> Package {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("a crate of {name}"));
    let simt = env!("CARGO_MANIFEST_DIR");
    let manifest = format!(
        "[package]\nname = \"my-{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[features]\n\
         panics = []\n\n[dependencies]\nferrosz-simt = {{ path = \"{simt}\" }}\n"
    );
    fs::create_dir_all(folder.join("src")).unwrap();
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::write(folder.join("src/lib.rs"), CRATE).unwrap();
    Package::new(folder, &format!("my-{name}"))
}

fn launch(name: &'static str) -> Launch {
    Launch {
        name,
        threads: 64,
        shared_words: 0,
        resident_blocks: 3,
    }
}

#[test]
#[ignore = "needs a Rust compiler that can make PTX, and ptxas"]
fn a_crate_of_its_own_becomes_machine_code() {
    let package = package("primes");
    let built = Compiler::find().unwrap().compile(&package).unwrap();
    assert!(built.sources.contains(&package.folder.join("src/lib.rs")));
    let simt = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    assert!(built.sources.contains(&simt.join("src/launch.rs")));

    let ptx = with_directives(&built.ptx, &[launch("my_primes")]).unwrap();
    assert_eq!(violations(&ptx, Rule::ALL), []);
    let kernels = split(&ptx).unwrap();
    assert_eq!(kernels.0.keys().collect::<Vec<_>>(), ["my_primes"]);
    let text = &kernels.0["my_primes"];
    for wanted in [
        "\n.maxntid 64, 1, 1\n.minnctapersm 3\n",
        "table_0",
        ".target sm_80",
    ] {
        assert!(text.contains(wanted), "{text}");
    }

    let ptxas = Ptxas::find().unwrap();
    let folder = package.target.join("kernels");
    let assembled = ptxas.assembled(&kernels, "sm_90", &folder).unwrap();
    assert_eq!(assembled.len(), 1);
    let kernel = &assembled[0];
    assert_eq!(kernel.name, "my_primes");
    assert!((1..=32).contains(&kernel.registers) && kernel.stack == 0);
    assert!(kernel.machine_code.starts_with(b"\x7fELF"));

    let wrong = Kernels([("my_primes".to_owned(), text.replace("ret;", "return;"))].into());
    let error = ptxas.assembled(&wrong, "sm_90", &folder).unwrap_err();
    assert!(matches!(error, Error::Assembler { kernel, .. } if kernel == "my_primes"));
}

#[test]
#[ignore = "needs a Rust compiler that can make PTX"]
fn features_and_chips_are_the_packages() {
    let mut package = package("choices");
    let compiler = Compiler::find().unwrap();
    let plain = compiler.compile(&package).unwrap().ptx;
    package.features.push("panics".to_owned());
    package.chip = "sm_90".to_owned();
    let other = compiler.compile(&package).unwrap().ptx;
    assert!(!plain.contains("my_panics") && plain.contains(".target sm_80"));
    assert!(other.contains("my_panics") && other.contains(".target sm_90"));
    // A panic is a call, of a function that belongs to no kernel.
    let calls = violations(&other, &[Rule::Call]);
    let of_kernels = calls.iter().filter(|call| call.entry.starts_with("my_"));
    let of_kernels: Vec<_> = of_kernels.map(|call| call.entry.as_str()).collect();
    assert_eq!(of_kernels, ["my_panics"], "{calls:?}");
    let error = split(&other).unwrap_err().to_string();
    assert!(error.contains("is not inlined"), "{error}");
    // As before: nothing of another choice is left over.
    package.features.clear();
    package.chip = "sm_80".to_owned();
    assert_eq!(compiler.compile(&package).unwrap().ptx, plain);

    package.name = "none-such".to_owned();
    let error = compiler.compile(&package).unwrap_err();
    assert!(matches!(error, Error::Program { .. }), "{error}");
}
