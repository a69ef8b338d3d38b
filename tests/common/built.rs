//! Programs of the project that `cargo test` built.

use std::path::PathBuf;

/// Path of an example built by `cargo test`.
pub fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the path of this test");
    let profile = test.ancestors().nth(2).expect("the folder of the profile");
    let program = profile.join("examples").join(name).with_extension(std::env::consts::EXE_EXTENSION);
    assert!(
        program.exists(),
        "{name} is not built: `cargo test --examples` does that, and so does `cargo test`"
    );
    program
}
