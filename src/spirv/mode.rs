//! How much of the specification is used: readers and validators take less than it allows.

use super::table::Set;

/// Which instructions are written, and how: a value with fields; take one and change a field.
///
/// | | exact | validating | translator |
/// |---|---|---|---|
/// | for | the text of the specification | `spirv-val` of SPIRV-Tools 2023.1 to 2026.4 | the LLVM/SPIR-V translator, 15 and later |
/// | [`pointee`](Self::pointee) | any type | basic types | any type |
/// | [`typedef`](Self::typedef) | of any type | of basic types | of any type |
/// | [`vector`](Self::vector) | of any type and length | of 1 to 4 of a basic type | of any type and length |
/// | [`dimensions`](Self::dimensions) | in one array | in one array | an array each |
/// | [`has_none_types`](Self::has_none_types) | yes | no | yes |
/// | [`has_variable_counts`](Self::has_variable_counts) | yes | yes | no |
/// | [`has_empty_arrays`](Self::has_empty_arrays) | yes | no | no |
/// | [`has_inheritance`](Self::has_inheritance) | yes | of `OpenCL.DebugInfo.100` | yes |
/// | [`has_packs`](Self::has_packs) | yes | no | no |
/// | [`has_template_templates`](Self::has_template_templates) | yes | yes | no |
/// | [`has_indexes`](Self::has_indexes) | yes | yes | no |
/// | [`has_bit_pieces`](Self::has_bit_pieces) | yes | yes | no |
/// | [`has_run_time_indexes`](Self::has_run_time_indexes) | yes | no | no |
/// | [`has_inlined_variables`](Self::has_inlined_variables) | yes | yes | no |
/// | [`has_macros`](Self::has_macros), [`has_imports`](Self::has_imports) | yes | yes | no |
/// | [`discriminators`](Self::discriminators) | beside | beside | as scopes |
/// | [`has_no_line`](Self::has_no_line) | yes | yes | no |
/// | [`has_text`](Self::has_text) | where it is known | where it is known | always |
/// | [`last_language`](Self::last_language) | any | 7, SYCL | 7, SYCL |
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mode {
    /// Its name, for messages.
    pub name: &'static str,
    /// The set of instructions.
    pub set: Set,
    /// What a pointer may point to, and a qualifier qualify. Other names and qualifiers of a basic type are passed over.
    /// A pointer to anything else is a basic type, an address, that has the name which the pointer has in the source, if that
    /// is of less than 16 pointers and qualifiers; a qualifier of anything else is left out.
    pub pointee: Of,
    /// What a typedef may name. Other names and qualifiers of a basic type are passed over. Of anything else the type
    /// itself is named.
    pub typedef: Of,
    /// Which vectors there may be. Another is an array.
    pub vector: Vectors,
    /// How an array with several dimensions is written.
    pub dimensions: Dimensions,
    /// Whether a type that cannot be said is a `DebugInfoNone`. Else it is a basic type of its name and of no size.
    pub has_none_types: bool,
    /// Whether a variable may be the number of elements of an array. Else it is not known.
    pub has_variable_counts: bool,
    /// Whether an array may have 0 elements. Else their number is said not to be known.
    pub has_empty_arrays: bool,
    /// Whether base classes are written. `spirv-val` wants a `DebugTypeInheritance` of
    /// `NonSemantic.Shader.DebugInfo.100` to have an operand that the set has not.
    pub has_inheritance: bool,
    /// Whether there are template parameter packs. Else their parameters are written one by one.
    pub has_packs: bool,
    /// Whether there are templates that are parameters of templates. Else they are left out.
    pub has_template_templates: bool,
    /// Whether indexes may say which part of a variable something holds. Else the bits of the part do; where these are not
    /// known, the value is left out.
    pub has_indexes: bool,
    /// Whether some bits of a value may be what holds a variable. Else such a value is left out.
    pub has_bit_pieces: bool,
    /// Whether the index of a part of a variable may be known only at run time. Else what holds such a part is left out.
    pub has_run_time_indexes: bool,
    /// Whether `DebugInlinedVariable` is written. Nothing can refer to it, and no reader needs it. Else an inlined instance
    /// that nothing is said to hold is left out.
    pub has_inlined_variables: bool,
    /// Whether macros are written.
    pub has_macros: bool,
    /// Whether imports are written.
    pub has_imports: bool,
    /// What is done with discriminators.
    pub discriminators: Discriminators,
    /// Whether a source whose text is not known has an empty one.
    pub has_text: bool,
    /// The highest number of a source language. What is above is `Unknown`: older tools read no module with it.
    pub last_language: u32,
    /// Whether `OpNoLine`, and the end of a block, ends a line. Else instructions of no line are of line 0.
    pub has_no_line: bool,
    /// Whether lines are told by `DebugLine`, which only `NonSemantic.Shader.DebugInfo` has, and not by `OpLine`.
    pub has_debug_lines: bool,
    /// Whether what has to name what comes later does it with `OpExtInstWithForwardRefsKHR`, of which
    /// `SPV_KHR_relaxed_extended_instruction` has to be understood; only of a non-semantic set. Else it is cut.
    pub has_relaxed_references: bool,
    /// The version of the debug information, which nobody looks at. The translator writes 65536.
    pub version: u32,
    /// The version of DWARF that is said to be like it.
    pub dwarf_version: u32,
}

/// Which types a type can be made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// Any.
    Any,
    /// A `DebugTypeBasic`.
    Basic,
}

/// Which vectors there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vectors {
    /// Of any type, and of any length.
    Any,
    /// Of one to four elements of a `DebugTypeBasic`.
    Short,
}

/// How an array with several dimensions is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dimensions {
    /// As one, with a number of elements for each.
    Together,
    /// As an array of arrays.
    Nested,
}

/// What is done with the discriminator of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Discriminators {
    /// It is said of the block, and instructions are of the block: the specification does not have it among scopes.
    Beside,
    /// Instructions are of it, as if it were a scope, which `spirv-val` does not take.
    AsScopes,
}

impl Mode {
    /// All that the specification's text allows, for either set.
    pub fn exact(set: Set) -> Self {
        Self {
            name: "exact",
            set,
            pointee: Of::Any,
            typedef: Of::Any,
            vector: Vectors::Any,
            dimensions: Dimensions::Together,
            has_none_types: true,
            has_variable_counts: true,
            has_empty_arrays: true,
            has_inheritance: true,
            has_packs: true,
            has_template_templates: true,
            has_indexes: true,
            has_bit_pieces: true,
            has_run_time_indexes: true,
            has_inlined_variables: true,
            has_macros: true,
            has_imports: true,
            discriminators: Discriminators::Beside,
            has_text: false,
            has_no_line: true,
            last_language: u32::MAX,
            has_debug_lines: set.is_shader(),
            has_relaxed_references: false,
            version: 1,
            dwarf_version: 5,
        }
    }

    /// What `spirv-val` takes, of SPIRV-Tools 2023.1 as of 2026.4, for either set.
    pub fn validating(set: Set) -> Self {
        Self {
            name: "validating",
            pointee: Of::Basic,
            typedef: Of::Basic,
            vector: Vectors::Short,
            has_none_types: false,
            has_empty_arrays: false,
            has_inheritance: set == Set::OpenCl,
            has_packs: false,
            has_run_time_indexes: false,
            last_language: 7,
            ..Self::exact(set)
        }
    }

    /// What the LLVM/SPIR-V translator reads back without loss. Of `OpenCL.DebugInfo.100`.
    pub fn translator() -> Self {
        Self {
            name: "translator",
            dimensions: Dimensions::Nested,
            has_variable_counts: false,
            has_empty_arrays: false,
            has_packs: false,
            has_template_templates: false,
            has_indexes: false,
            has_bit_pieces: false,
            has_run_time_indexes: false,
            has_inlined_variables: false,
            has_macros: false,
            has_imports: false,
            discriminators: Discriminators::AsScopes,
            has_text: true,
            has_no_line: false,
            last_language: 7,
            version: 65536,
            ..Self::exact(Set::OpenCl)
        }
    }
}
