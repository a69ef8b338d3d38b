//! The header is what the sources say.

use std::path::Path;

/// Compares `include/eitri.h` with the sources; with `EITRI_BLESS` set, writes it.
#[test]
fn header_is_up_to_date() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).expect("the configuration");
    let mut sources = cbindgen::Builder::new().with_config(config);
    // In the order of the header.
    for module in [
        "version",
        "error",
        "buffer",
        "finding",
        "options",
        "description",
        "variable",
        "object",
        "diagnosis",
        "rewriting",
        "evaluation",
        "spirv",
    ] {
        sources = sources.with_src(folder.join(format!("src/{module}.rs")));
    }
    let mut made = Vec::new();
    sources.generate().expect("a header").write(&mut made);
    let made = String::from_utf8(made).expect("UTF-8");
    let header = folder.join("include/eitri.h");
    if std::env::var_os("EITRI_BLESS").is_some() {
        std::fs::write(&header, &made).expect("the header is written");
    }
    let known = std::fs::read_to_string(header).unwrap_or_default();
    assert!(known == made, "include/eitri.h is not up to date; run this test with EITRI_BLESS=1");
}
