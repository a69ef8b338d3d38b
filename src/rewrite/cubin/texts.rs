//! PTX texts, each once. Files of `.nv_debug_line_sass` are the names of the texts' sections.

use hashbrown::{HashMap, HashSet};

use crate::emit::elf::CubinSection;

const TEXT: &str = ".nv_debug_ptx_txt";

/// Returns names of texts that are repeated, with the names of the equal texts before them.
pub(super) fn repeated<'c>(sections: &'c [CubinSection<'_>]) -> HashMap<&'c [u8], &'c [u8]> {
    let mut first: HashMap<&[u8], &[u8]> = HashMap::new();
    let mut repeated = HashMap::new();
    let is_filled = |section: &&CubinSection<'_>| is_text(&section.name) && !section.bytes.is_empty();
    for section in sections.iter().filter(is_filled) {
        let name = section.name.as_bytes();
        match first.get(&*section.bytes) {
            Some(known) => drop(repeated.insert(name, *known)),
            None => drop(first.insert(&section.bytes, name)),
        }
    }
    repeated
}

/// Whether a section has a text.
pub(super) fn is_text(name: &str) -> bool {
    name.strip_prefix(TEXT).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Whether a text's lines are named by a file of a line program. In a linked cubin of ptxas alone, programs have no files.
pub(super) fn is_named(name: &str, files: &HashSet<&[u8]>) -> bool {
    files.contains(name.as_bytes()) || name == TEXT
}
