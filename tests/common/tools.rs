//! Runs other programs in tests.
//!
//! If a program is not installed, the test prints its name and ends; the file named in `EITRI_SKIPPED` records the
//! name, and `.ci/run` counts the records. With `CI=true` the test fails.

use std::ffi::OsStr;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A program and its Debian package.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    pub name: &'static str,
    pub package: &'static str,
}

/// Result of running a program.
#[derive(Debug)]
pub struct Ran {
    /// The program and its arguments.
    what: String,
    pub succeeded: bool,
    pub out: String,
    pub errors: String,
}

impl Tool {
    pub const fn new(name: &'static str, package: &'static str) -> Self {
        Self { name, package }
    }

    /// Runs the program; `None` if it is not installed.
    pub fn run<A: AsRef<OsStr>>(self, arguments: &[A]) -> Option<Ran> {
        self.run_in(Path::new("."), arguments)
    }

    /// Runs the program in a folder; `None` if it is not installed.
    pub fn run_in<A: AsRef<OsStr>>(self, folder: &Path, arguments: &[A]) -> Option<Ran> {
        let arguments: Vec<&OsStr> = arguments.iter().map(AsRef::as_ref).collect();
        let mut command = Command::new(self.name);
        command.current_dir(folder);
        // Messages are compared: use one language.
        command.args(&arguments).env("LC_ALL", "C").stdin(Stdio::null());
        // Symbolised crash reports of LLVM would take longer than all tests.
        command.env("LLVM_DISABLE_SYMBOLIZATION", "1");
        match command.output() {
            Ok(output) => Some(Ran {
                what: format!("{} {arguments:?}", self.name),
                succeeded: output.status.success(),
                out: String::from_utf8_lossy(&output.stdout).into_owned(),
                errors: String::from_utf8_lossy(&output.stderr).into_owned(),
            }),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                skip(&format!("{} is not installed (Debian package {})", self.name, self.package));
                None
            }
            Err(error) => panic!("{}: {error}", self.name),
        }
    }
}

impl Ran {
    /// The output, if the program succeeded without messages.
    pub fn clean(self) -> String {
        assert!(self.succeeded && self.errors.is_empty(), "{self}");
        self.out
    }
}

impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { what, succeeded, out, errors } = self;
        write!(f, "{what} (succeeded: {succeeded})\n{errors}\n{out}")
    }
}

/// Ends a test whose program is missing or not permitted to work. With `CI=true` the test fails.
pub fn skip(why: &str) {
    assert!(std::env::var_os("CI").is_none_or(|value| value != "true"), "{why}");
    let test = std::thread::current();
    let skipped = format!("{}: {why}\n", test.name().unwrap_or("test"));
    // Not `eprintln`, whose output is captured when a test passes.
    let _ = write!(std::io::stderr(), "skipped: {skipped}");
    if let Some(record) = std::env::var_os("EITRI_SKIPPED") {
        let record = std::fs::OpenOptions::new().create(true).append(true).open(record);
        // A single write, as tests run concurrently.
        record
            .and_then(|mut file| file.write_all(skipped.as_bytes()))
            .expect("the record of what was skipped");
    }
}

/// A folder that is removed at the end of the test.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("eitri-test-{}-{count}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a temporary folder");
        // Debuggers print paths with resolved links.
        Self(path.canonicalize().expect("the temporary folder"))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, contents).expect("a temporary file");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
