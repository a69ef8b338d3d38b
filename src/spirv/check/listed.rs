//! What is listed, by what it is listed of.

use hashbrown::HashMap;

use crate::error::At;
use crate::spirv::LeftOut;

/// What is not said, or otherwise: of a place, and there of what is called so.
#[derive(Debug, Default)]
pub(super) struct Listed<'l>(HashMap<&'l str, Vec<(&'l At, &'l str)>>);

impl<'l> Listed<'l> {
    pub fn new(left_out: &'l [LeftOut]) -> Self {
        let mut all = Self::default();
        for LeftOut { at, what } in left_out {
            // A name can have a colon in it too.
            for (colon, _) in what.match_indices(": ") {
                all.0.entry(&what[..colon]).or_default().push((at, &what[colon + 2..]));
            }
        }
        all
    }

    /// Whether nothing is listed of anything that is called something.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What is listed of something.
    pub fn of(&self, at: &At, called: &str) -> impl Iterator<Item = &'l str> {
        let all = self.0.get(called).map_or(&[][..], |all| all);
        all.iter().filter(move |(place, _)| *place == at).map(|&(_, what)| what)
    }
}
