//! Embeds the committed code of the kernels.

fn main() -> std::io::Result<()> {
    ferrosz_simt::build::embed(cfg!(feature = "cuda"))
}
