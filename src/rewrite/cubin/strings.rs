//! `.debug_str` of the result: each string once, in the order of first use.

use hashbrown::HashMap;

use super::section::Original;
use crate::error::Result;

#[derive(Debug)]
pub(super) struct Strings<'c> {
    from: Option<Original<'c>>,
    offsets: HashMap<&'c [u8], u64>,
    pub(super) bytes: Vec<u8>,
}

impl<'c> Strings<'c> {
    pub(super) fn new(from: Option<Original<'c>>) -> Self {
        Self { from, offsets: HashMap::new(), bytes: Vec::new() }
    }

    /// Returns the new offset of a string; `None` without a string at the offset.
    pub(super) fn moved(&mut self, offset: u64) -> Result<Option<u64>> {
        let Some(from) = self.from.filter(|from| offset < from.bytes.len() as u64) else { return Ok(None) };
        let (text, _) = from.string(offset as usize)?;
        let new = self.bytes.len() as u64;
        let known = *self.offsets.entry(text).or_insert(new);
        if known == new {
            self.bytes.extend_from_slice(text);
            self.bytes.push(0);
        }
        Ok(Some(known))
    }
}
