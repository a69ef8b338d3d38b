//! PTX texts, each once. Files of `.nv_debug_line_sass` are the names of the texts' sections.

use hashbrown::{HashMap, HashSet};

use crate::emit::elf::CubinSection;

const TEXT: &str = ".nv_debug_ptx_txt";

/// Returns a text once: where several objects have equal texts of one name, nvlink appends them, and all line tables count
/// from the start. Other text stays.
pub(super) fn single(text: &[u8]) -> &[u8] {
    // Lines end in 0, and the directive begins a PTX text.
    let is_start = |line: &&[u8]| line.trim_ascii_start().starts_with(b".version");
    let count = text.split(|byte| *byte == 0).filter(is_start).count();
    match text.len().checked_div(count) {
        Some(bytes) if bytes > 0 && text.chunks(bytes).all(|part| *part == text[..bytes]) => &text[..bytes],
        _ => text,
    }
}

/// Returns names of texts that are repeated, with the names of the equal texts before them.
pub(super) fn repeated<'c>(sections: &'c [CubinSection<'_>]) -> HashMap<&'c [u8], &'c [u8]> {
    let mut first: HashMap<&[u8], &[u8]> = HashMap::new();
    let mut repeated = HashMap::new();
    let is_filled = |section: &&CubinSection<'_>| is_text(&section.name) && !section.bytes.is_empty();
    for section in sections.iter().filter(is_filled) {
        let name = section.name.as_bytes();
        let text = single(&section.bytes);
        match first.get(text) {
            Some(known) => drop(repeated.insert(name, *known)),
            None => drop(first.insert(text, name)),
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
