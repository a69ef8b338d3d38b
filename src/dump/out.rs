//! Output of a dump: text that is passed on to a writer in blocks, so that memory does not grow with the dump.

use std::fmt;
use std::io;

/// Size of a block in bytes.
const BLOCK: usize = 1 << 16;

/// Text, kept, or passed on to a writer.
pub(super) struct Out<'w> {
    text: String,
    to: Option<&'w mut dyn io::Write>,
    /// First error of the writer. Later text is dropped.
    failed: Option<io::Error>,
}

impl<'w> Out<'w> {
    /// Keeps the text.
    pub(super) fn kept() -> Self {
        Self { text: String::new(), to: None, failed: None }
    }

    /// Passes the text on.
    pub(super) fn to(writer: &'w mut dyn io::Write) -> Self {
        Self { text: String::with_capacity(2 * BLOCK), to: Some(writer), failed: None }
    }

    pub(super) fn push(&mut self, char: char) {
        self.text.push(char);
    }

    pub(super) fn push_str(&mut self, text: &str) {
        if self.text.len() >= BLOCK {
            self.pass_on();
        }
        self.text.push_str(text);
    }

    fn pass_on(&mut self) {
        let Some(to) = &mut self.to else { return };
        if self.failed.is_none() {
            self.failed = to.write_all(self.text.as_bytes()).err();
        }
        self.text.clear();
    }

    /// Passes on the rest, and returns the text that was kept.
    ///
    /// # Errors
    /// The first error of the writer.
    pub(super) fn finish(mut self) -> io::Result<String> {
        self.pass_on();
        match self.failed {
            Some(error) => Err(error),
            None => Ok(self.text),
        }
    }
}

impl fmt::Write for Out<'_> {
    /// Fails once the writer has failed, so that printing ends.
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push_str(text);
        if self.failed.is_none() { Ok(()) } else { Err(fmt::Error) }
    }
}
