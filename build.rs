//! Which tests this machine can run: those of the vectorised versions of the CPU's code compare each with the portable
//! one, and would compare that with itself where the processor has no AVX2. They are shown as ignored there.

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
