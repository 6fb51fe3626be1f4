//! The committed header is the one that follows from the sources.

use std::path::Path;

/// With `FERROSZ_WRITE_HEADER=1` the header is written instead.
#[test]
fn the_committed_header_is_that_of_the_sources() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).expect("cbindgen.toml");
    let header = cbindgen::generate_with_config(folder, config).expect("a header");
    let mut fresh = Vec::new();
    header.write(&mut fresh);
    let committed = folder.join("include/ferrosz.h");
    if std::env::var_os("FERROSZ_WRITE_HEADER").is_some() {
        std::fs::write(&committed, &fresh).expect("include/ferrosz.h is written");
    }
    let committed = std::fs::read(&committed).expect("include/ferrosz.h is read");
    assert!(
        committed == fresh,
        "include/ferrosz.h is not that of the sources: FERROSZ_WRITE_HEADER=1 cargo test --test header writes it"
    );
}
