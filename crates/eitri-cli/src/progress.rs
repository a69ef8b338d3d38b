//! Line on standard error while a command takes long.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::color::escaped;

/// The line that is shown.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Time after which the line is shown.
const DELAY: Duration = Duration::from_secs(1);

/// Line with the command, the number of the current file and its name, and the seconds that the command has taken, from
/// the first second on. Dropping it erases the line.
pub struct Progress(Option<Line>);

struct Line {
    bar: ProgressBar,
    end: Sender<()>,
    thread: JoinHandle<()>,
}

impl Progress {
    /// Begins to count, if standard error is a terminal. The command reads this file.
    pub fn begin(command: &str, file: &Path) -> Self {
        let progress = Self::several(command, 1);
        progress.file(file);
        progress
    }

    /// Begins to count for a command that reads several files, if standard error is a terminal.
    pub fn several(command: &str, files: usize) -> Self {
        if !io::stderr().is_terminal() {
            return Self(None);
        }
        let template = if files > 1 {
            "{prefix} {pos}/{len} {elapsed} {wide_msg}"
        } else {
            "{prefix} {elapsed} {wide_msg}"
        };
        let bar = ProgressBar::with_draw_target(Some(files as u64), ProgressDrawTarget::hidden())
            .with_prefix(command.to_owned())
            .with_style(ProgressStyle::with_template(template).expect("the template is valid"));
        let (end, ended) = channel();
        let shown = bar.clone();
        let thread = thread::spawn(move || {
            if ended.recv_timeout(DELAY) == Err(RecvTimeoutError::Timeout) {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = Some(shown.clone());
                // Draws the line, and then draws it each second.
                shown.enable_steady_tick(DELAY);
            }
        });
        Self(Some(Line { bar, end, thread }))
    }

    /// Shows the next file.
    pub fn file(&self, file: &Path) {
        if let Some(Line { bar, .. }) = &self.0 {
            let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
            bar.set_message(escaped(&name).into_owned());
            bar.inc(1);
        }
    }

    /// Begins to count, unless the command prints to a terminal all the time.
    pub fn beside_output(command: &str, file: &Path) -> Self {
        if io::stdout().is_terminal() { Self(None) } else { Self::begin(command, file) }
    }

    /// No line, for a command that prints to a terminal all the time.
    pub fn hidden() -> Self {
        Self(None)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(Line { bar, end, thread }) = self.0.take() {
            drop(end);
            let _ = thread.join();
            *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = None;
            bar.finish_and_clear();
        }
    }
}

/// Prints a message without the line, if it is shown.
pub fn beside(print: impl FnOnce()) {
    let shown = SHOWN.lock().unwrap_or_else(PoisonError::into_inner);
    match &*shown {
        Some(bar) => bar.suspend(print),
        None => print(),
    }
}
