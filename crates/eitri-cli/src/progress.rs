//! Line on standard error while a command takes long.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::color::escaped;

/// Line with the seconds that a command has taken, from the first second on. Dropping it erases the line.
pub struct Progress(Option<(Sender<()>, JoinHandle<()>)>);

impl Progress {
    /// Begins to count, if standard error is a terminal.
    pub fn begin(command: &str, file: &Path) -> Self {
        if !io::stderr().is_terminal() {
            return Self(None);
        }
        let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
        let line = format!("{command} {}", escaped(&name));
        let (end, ended) = channel();
        let thread = thread::spawn(move || {
            let mut seconds = 0u32;
            while ended.recv_timeout(Duration::from_secs(1)) == Err(RecvTimeoutError::Timeout) {
                seconds += 1;
                show(&format!("\r{line}: {seconds} s"));
            }
            if seconds > 0 {
                // To the line's start, and erase to its end (ECMA-48, EL).
                show("\r\x1b[K");
            }
        });
        Self(Some((end, thread)))
    }

    /// Begins to count, unless the command prints to a terminal all the time.
    pub fn beside_output(command: &str, file: &Path) -> Self {
        if io::stdout().is_terminal() { Self(None) } else { Self::begin(command, file) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.0.take() {
            drop(end);
            let _ = thread.join();
        }
    }
}

/// Prints a part of the line. A closed standard error is not an error for the command.
fn show(text: &str) {
    let mut out = io::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
