//! Versions of the exported symbols, in the library that `cargo cinstall` makes.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let set = |name: &str| std::env::var(name).unwrap_or_default();
    let is_elf = set("CARGO_CFG_TARGET_OS") == "linux" && set("CARGO_CFG_TARGET_ENV") == "gnu";
    if is_elf && std::env::var_os("CARGO_FEATURE_CAPI").is_some() {
        // rustc passes a version script with the exported names and no version, beside which a linker takes no other
        // script. GNU's linker gives each name the version that is the library's SONAME, which cargo-c sets.
        println!("cargo::rustc-cdylib-link-arg=-fuse-ld=bfd");
        println!("cargo::rustc-cdylib-link-arg=-Wl,--default-symver");
    }
}
