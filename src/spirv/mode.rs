//! Dialects of the instruction sets: readers and validators accept less than the specification allows.

use super::table::Set;

/// Selects the instructions that are emitted, and their form. Start from a preset and change fields.
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
    /// Name of the mode, for messages.
    pub name: &'static str,
    /// Instruction set.
    pub set: Set,
    /// Types that a pointer may point to and a qualifier may qualify. With [`BaseTypes::Basic`], typedefs and qualifiers
    /// between them and a basic type are skipped. A pointer to any other type becomes a basic type for addresses,
    /// named as the pointer type in the source (unnamed beyond 16 pointers and qualifiers); a qualifier of any other
    /// type is omitted.
    pub pointee: BaseTypes,
    /// Types that a typedef may name. With [`BaseTypes::Basic`], typedefs and qualifiers between them and a basic type are
    /// skipped. A typedef of any other type is replaced by that type.
    pub typedef: BaseTypes,
    /// Vectors that can be encoded. Others become arrays.
    pub vector: Vectors,
    /// Encoding of arrays with several dimensions.
    pub dimensions: Dimensions,
    /// Whether a type that cannot be encoded is a `DebugInfoNone`. Otherwise it is a basic type with its name and
    /// without a size.
    pub has_none_types: bool,
    /// Whether a variable may be the number of elements of an array. Otherwise that number is unknown.
    pub has_variable_counts: bool,
    /// Whether an array may have 0 elements. Otherwise the number of elements is unknown.
    pub has_empty_arrays: bool,
    /// Whether base classes are emitted. For a `DebugTypeInheritance` of `NonSemantic.Shader.DebugInfo.100`,
    /// `spirv-val` requires an operand that the set does not have.
    pub has_inheritance: bool,
    /// Whether template parameter packs are emitted. Otherwise their parameters are emitted one by one.
    pub has_packs: bool,
    /// Whether template template parameters are emitted. Otherwise they are omitted.
    pub has_template_templates: bool,
    /// Whether indexes select the part of a variable that a value provides. Otherwise the bits of the part do; a value
    /// is omitted if these bits are unknown.
    pub has_indexes: bool,
    /// Whether selected bits of a value may provide a variable. Otherwise such a value is omitted.
    pub has_bit_pieces: bool,
    /// Whether the index of a variable's part may be known only at run time. Otherwise the value of such a part is
    /// omitted.
    pub has_run_time_indexes: bool,
    /// Whether `DebugInlinedVariable` is emitted, which nothing can refer to and no reader needs. Otherwise an inlined
    /// instance without values is omitted.
    pub has_inlined_variables: bool,
    /// Whether macros are emitted.
    pub has_macros: bool,
    /// Whether imported entities are emitted.
    pub has_imports: bool,
    /// Encoding of discriminators.
    pub discriminators: Discriminators,
    /// Whether a source with unknown text has an empty text operand.
    pub has_text: bool,
    /// Highest number of a source language. Higher ones become `Unknown`, as older tools reject a module with them.
    pub last_language: u32,
    /// Whether `OpNoLine`, and the end of a block, ends a line. Otherwise instructions without a line get line 0.
    pub has_no_line: bool,
    /// Whether lines are encoded as `DebugLine`, which only `NonSemantic.Shader.DebugInfo` has, rather than `OpLine`.
    pub has_debug_lines: bool,
    /// Whether forward references use `OpExtInstWithForwardRefsKHR`, which requires
    /// `SPV_KHR_relaxed_extended_instruction`; for non-semantic sets only. Otherwise cycles are cut.
    pub has_relaxed_references: bool,
    /// Version of the debug information, which no known reader checks. LLVM's translator writes 65536.
    pub version: u32,
    /// DWARF version that the unit declares.
    pub dwarf_version: u32,
}

/// Types that another type may be based on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BaseTypes {
    /// Any type.
    Any,
    /// A `DebugTypeBasic`.
    Basic,
}

/// Vectors that can be encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vectors {
    /// Vectors of any type and length.
    Any,
    /// Vectors of one to four elements of a `DebugTypeBasic`.
    Short,
}

/// Encoding of arrays with several dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dimensions {
    /// One array, with a number of elements for each dimension.
    Together,
    /// An array of arrays.
    Nested,
}

/// Encoding of discriminators of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Discriminators {
    /// The discriminator refers to the block, and instructions belong to the block: the specification does not list
    /// discriminators among scopes.
    Beside,
    /// Instructions belong to the discriminator as if it were a scope, which `spirv-val` rejects.
    AsScopes,
}

impl Mode {
    /// The preset for everything that the specification allows, for either set.
    pub fn exact(set: Set) -> Self {
        Self {
            name: "exact",
            set,
            pointee: BaseTypes::Any,
            typedef: BaseTypes::Any,
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

    /// The preset for `spirv-val` of SPIRV-Tools 2023.1 to 2026.4, for either set.
    pub fn validating(set: Set) -> Self {
        Self {
            name: "validating",
            pointee: BaseTypes::Basic,
            typedef: BaseTypes::Basic,
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

    /// The preset that LLVM's SPIR-V translator reads back without loss, for `OpenCL.DebugInfo.100`.
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
