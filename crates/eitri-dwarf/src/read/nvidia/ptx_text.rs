//! The PTX from which a cubin was assembled: the section `.nv_debug_ptx_txt`.

use std::borrow::Cow;

use crate::read::Object;

const SECTION: &str = ".nv_debug_ptx_txt";

/// PTX lines in a cubin.
#[derive(Debug, Clone, Default)]
pub struct PtxText<'o> {
    lines: Vec<&'o [u8]>,
}

impl<'o> PtxText<'o> {
    /// Reads the first PTX text in a cubin. The result is empty if the section is missing.
    pub fn read(object: &'o Object<'_>) -> Self {
        Self::all(object).next().unwrap_or_default()
    }

    /// Reads a cubin's PTX texts: merged cubins have a section for each text that was assembled. In relocatable cubins,
    /// the section name has a suffix.
    pub fn all(object: &'o Object<'_>) -> impl Iterator<Item = Self> {
        let is_text = |name: &str| {
            name.strip_prefix(SECTION).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        object.sections().iter().filter(move |section| is_text(&section.name)).map(|section| {
            let mut lines: Vec<&[u8]> = section.data.split(|byte| *byte == 0).collect();
            // Each line ends in 0.
            lines.pop_if(|last| last.is_empty());
            Self { lines }
        })
    }

    /// Returns the number of lines.
    pub fn count(&self) -> usize {
        self.lines.len()
    }

    /// Returns a line, counted from 1. U+FFFD replaces invalid UTF-8.
    pub fn line(&self, number: u64) -> Option<Cow<'o, str>> {
        let index = usize::try_from(number.checked_sub(1)?).ok()?;
        self.lines.get(index).map(|line| String::from_utf8_lossy(line))
    }
}
