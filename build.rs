//! Which columns of the test matrix this machine has: the vectorised version of the CPU's code needs a processor with
//! AVX2. Where it has none, the test that asks for the column is shown as ignored.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(runs_avx2)");
    if runs_avx2() {
        println!("cargo::rustc-cfg=runs_avx2");
    }
}

#[cfg(target_arch = "x86_64")]
fn runs_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
}

#[cfg(not(target_arch = "x86_64"))]
fn runs_avx2() -> bool {
    false
}
