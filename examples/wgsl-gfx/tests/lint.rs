//! `lint` finds nothing in the objects of all shaders.

use std::path::Path;

use eitri::lint::{LintCode, LintOptions, lint};
use wgsl_gfx::alloc::Limits;
use wgsl_gfx::compile;
use wgsl_gfx::front::Source;

#[test]
fn nothing_is_found_in_the_objects_of_shaders() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("shaders");
    let mut count = 0;
    for file in std::fs::read_dir(folder).expect("a folder") {
        let path = file.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("a shader");
        let name = path.file_name().expect("a name").to_string_lossy();
        let source = Source::new(&name, &text).expect("a shader");
        let made = compile(&source, Limits::default()).expect("it is compiled");
        let report = lint(&made.object, &LintOptions::default()).expect("an object");
        let found: Vec<String> = report
            .findings
            .iter()
            // AMD's debuggers read lane pcs by numbers that LLVM gave to other attributes.
            .filter(|it| it.code != LintCode::AmbiguousAttribute)
            .map(|it| {
                format!("{} {:?}: {} ({})", it.code.name(), it.variable, it.written, it.evidence.join("; "))
            })
            .collect();
        assert!(found.is_empty(), "{name}: {found:#?}");
        assert!(report.entries > 0, "{name} has no location entries");
        count += 1;
    }
    assert_eq!(count, 25);
}
