//! Sizes of debug sections before and after a rewrite.

use crate::read::Object;

/// Sizes in bytes of the debug sections with one name, in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DebugSectionSizes {
    /// Name; a compressed section has the name of the uncompressed section.
    pub name: String,
    /// Bytes in the original; 0 for a section that is new.
    pub before: u64,
    /// Bytes in the rewritten object; 0 for a section that it lacks.
    pub after: u64,
}

/// Returns the sizes of debug sections and their relocations, by name.
pub(super) fn sizes(before: &Object<'_>, after: &Object<'_>) -> Vec<DebugSectionSizes> {
    let mut all: Vec<DebugSectionSizes> = Vec::new();
    for (object, is_after) in [(before, false), (after, true)] {
        for section in object.sections().iter().filter(|section| is_debug(&section.name)) {
            let index = all.iter().position(|sizes| sizes.name == *section.name).unwrap_or_else(|| {
                all.push(DebugSectionSizes { name: section.name.to_string(), before: 0, after: 0 });
                all.len() - 1
            });
            let size = if is_after { &mut all[index].after } else { &mut all[index].before };
            *size += section.stored;
        }
    }
    all.sort_by(|one, other| one.name.cmp(&other.name));
    all
}

fn is_debug(name: &str) -> bool {
    let name = name.strip_prefix(".rela").or_else(|| name.strip_prefix(".rel")).unwrap_or(name);
    [".debug_", ".zdebug_", ".nv_debug_"].iter().any(|prefix| name.starts_with(prefix))
        || name == ".gdb_index"
}
