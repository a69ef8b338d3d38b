//! Collects names and decorations.

use hashbrown::{HashMap, HashSet};

use crate::spirv::layout::ModuleLayout;
use crate::spirv::opcodes as op;
use crate::spirv::words::{HEADER, Id, string_bytes};

/// Index of the header word whose high half names the tool that wrote the module.
const GENERATOR: usize = 2;

/// The registered tool numbers for LLVM's translator and LLVM's back end.
const LLVM: [u32; 2] = [6, 43];

const ROW_MAJOR: u32 = 4;
const ARRAY_STRIDE: u32 = 6;
const MATRIX_STRIDE: u32 = 7;
const OFFSET: u32 = 35;

/// Names and layouts that a module gives to ids and structure members.
#[derive(Debug, Default)]
pub(super) struct Names {
    ids: HashMap<Id, String>,
    members: HashMap<(Id, u32), String>,
    /// Distance between elements in bytes, by array type.
    pub strides: HashMap<Id, u32>,
    /// Offset in bytes, by structure and member.
    pub offsets: HashMap<(Id, u32), u32>,
    /// Distance between rows or columns in bytes, by structure and member: for a matrix or an array of matrices.
    pub matrix_strides: HashMap<(Id, u32), u32>,
    /// Members whose matrices are stored by rows, by structure and member.
    pub row_major: HashSet<(Id, u32)>,
    /// Entry points, with their names.
    pub entry_points: HashMap<Id, String>,
    /// Whether LLVM generated the result names: the header names LLVM's translator or back end, or a block is called
    /// `entry`, like the first block in clang's functions.
    pub are_generated: bool,
}

impl Names {
    pub fn new(layout: &ModuleLayout<'_>) -> Self {
        let mut names = Self::default();
        let text = |words: &[u32]| {
            let bytes = string_bytes(words, usize::MAX).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        for instruction in layout.words().between(HEADER..layout.globals_end()) {
            match (instruction.opcode(), instruction.operands()) {
                (op::NAME, &[id, ref name @ ..]) => {
                    // The first name counts, as in the tools that print names.
                    names.ids.entry(Id(id)).or_insert_with(|| text(name));
                }
                (op::MEMBER_NAME, &[id, member, ref name @ ..]) => {
                    names.members.insert((Id(id), member), text(name));
                }
                (op::DECORATE, &[id, ARRAY_STRIDE, stride]) => {
                    names.strides.insert(Id(id), stride);
                }
                (op::MEMBER_DECORATE, &[id, member, OFFSET, offset]) => {
                    names.offsets.insert((Id(id), member), offset);
                }
                (op::MEMBER_DECORATE, &[id, member, MATRIX_STRIDE, stride]) => {
                    names.matrix_strides.insert((Id(id), member), stride);
                }
                (op::MEMBER_DECORATE, &[id, member, ROW_MAJOR]) => {
                    names.row_major.insert((Id(id), member));
                }
                (op::ENTRY_POINT, &[_, id, ref name @ ..]) => {
                    names.entry_points.entry(Id(id)).or_insert_with(|| text(name));
                }
                _ => {}
            }
        }
        // Tools that rewrite a module may put their own number in the header, so that the block's name counts as well.
        let is_entry = |id: Id| layout.definition(id).is_some_and(|it| it.opcode() == op::LABEL);
        names.are_generated = LLVM.contains(&(layout.words().all()[GENERATOR] >> 16))
            || names.ids.iter().any(|(&id, name)| name == "entry" && is_entry(id));
        names
    }

    /// An id's name; `None` for an id without a name, or with an empty one.
    pub fn get(&self, id: Id) -> Option<&str> {
        self.ids.get(&id).map(|name| &**name).filter(|name| !name.is_empty())
    }

    /// A structure's name, without the kind that LLVM puts before it; `None` for a structure without a name.
    pub fn structure(&self, id: Id) -> Option<&str> {
        let name = self.get(id)?;
        let is_kind = |kind: &&str| matches!(*kind, "struct" | "class" | "union");
        // LLVM names types `struct.name`, and anonymous types `struct.anon`.
        match name.split_once('.').filter(|(kind, _)| self.are_generated && is_kind(kind)) {
            Some((_, name)) => Some(name).filter(|name| name.split('.').next() != Some("anon")),
            None => Some(name),
        }
    }

    /// A member's name; its index for a member without a name.
    pub fn member(&self, id: Id, member: u32) -> String {
        let name = self.members.get(&(id, member)).filter(|name| !name.is_empty());
        name.cloned().unwrap_or_else(|| format!("_{member}"))
    }
}

/// Ids by the names that `OpName` gives them, in order.
#[cfg(feature = "json")]
pub(crate) fn names_of_ids(layout: &ModuleLayout<'_>) -> HashMap<String, Vec<Id>> {
    let mut by_name: HashMap<String, Vec<Id>> = HashMap::new();
    for (id, name) in Names::new(layout).ids {
        if !name.is_empty() {
            by_name.entry(name).or_default().push(id);
        }
    }
    by_name.values_mut().for_each(|ids| ids.sort_unstable());
    by_name
}
