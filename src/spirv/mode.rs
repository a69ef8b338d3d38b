//! Dialects of the instruction sets. Readers and validators accept less than the specification allows, so that the same
//! description is encoded differently for each of them.

use super::table::Set;
use crate::error::{ErrorKind, Named, Result};
use crate::near::nearest;
use crate::target::Target;

/// Selects the instructions to emit, and their form: a reader's preset, with changes.
///
/// | | exact | validating | opencl | vulkan | translator |
/// |---|---|---|---|---|---|
/// | for | the specification itself | `spirv-val` from SPIRV-Tools 2023.1 to 2026.4 | OpenCL drivers: validator and translator | Vulkan's validator and debuggers | the LLVM/SPIR-V translator, 15 and later |
/// | set | either | either | OpenCL | shader | OpenCL |
/// | pointer targets, qualified types | any | basic | basic | basic | any |
/// | typedef targets | any | basic | basic | basic | any |
/// | vectors | any | 1 to 4 elements with a basic type | as validating | as validating | any |
/// | array dimensions | in one array | in one array | an array each | in one array | an array each |
/// | `DebugInfoNone` as a type | yes | no | no | no | yes |
/// | a variable as an array length | yes | yes | no | yes | no |
/// | empty arrays | yes | no | no | no | no |
/// | base classes | yes | in `OpenCL.DebugInfo.100` | yes | no | yes |
/// | template parameter packs | yes | no | no | no | no |
/// | template template parameters | yes | yes | no | yes | no |
/// | indexes, bit pieces | yes | yes | no | yes | no |
/// | indexes known at run time | yes | no | no | no | no |
/// | `DebugInlinedVariable` | yes | yes | no | yes | no |
/// | macros, imported entities | yes | yes | no | yes | no |
/// | discriminators | beside | beside | beside | beside | as scopes |
/// | `OpNoLine` | yes | yes | no | yes | no |
/// | source text | where it is known | where it is known | always | where it is known | always |
/// | highest language | any | 7, SYCL | 7, SYCL | any | 7, SYCL |
///
/// ```
/// use eitri::spirv::Mode;
///
/// let mode = Mode::vulkan().lines_as_debug_lines(false).forward_references(true);
/// assert_eq!((mode.name(), mode.set().name()), ("vulkan", "NonSemantic.Shader.DebugInfo.100"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mode {
    pub(super) name: &'static str,
    pub(super) set: Set,
    pub(super) features: Features,
    /// Types that a pointer may point to and a qualifier may qualify. With [`BaseTypes::Basic`], typedefs and
    /// qualifiers between them and a basic type are skipped. A pointer to any other type becomes a basic address type
    /// with the pointer type's source name (unnamed beyond 16 pointers and qualifiers); a qualifier on any other type
    /// is omitted.
    pub(super) pointee: BaseTypes,
    /// Types that a typedef may name. With [`BaseTypes::Basic`], typedefs and qualifiers between them and a basic type
    /// are skipped. A typedef for any other type is replaced by that type.
    pub(super) typedef: BaseTypes,
    /// Vectors that can be encoded. All other vectors become arrays.
    pub(super) vector: Vectors,
    pub(super) dimensions: Dimensions,
    pub(super) discriminators: Discriminators,
    /// Highest source language number. Higher numbers become `Unknown`, because older tools reject a module with them.
    pub(super) last_language: u32,
    pub(super) version: u32,
    pub(super) dwarf_version: u32,
}

/// Types that another type may be based on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BaseTypes {
    /// Any type.
    Any,
    /// A `DebugTypeBasic`.
    Basic,
}

/// Vectors that can be encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Vectors {
    /// Vectors with any element type and length.
    Any,
    /// Vectors with one to four elements whose type is a `DebugTypeBasic`.
    Short,
}

/// Encoding for arrays with several dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dimensions {
    /// One array, with an element count for each dimension.
    Together,
    /// Arrays nested in arrays.
    Nested,
}

/// Encoding for block discriminators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Discriminators {
    /// The discriminator refers to the block, and instructions belong to the block: the specification does not list
    /// discriminators among scopes.
    Beside,
    /// Instructions belong to the discriminator as if it were a scope, which `spirv-val` rejects.
    AsScopes,
}

/// An instruction, or a form of an instruction, that a mode supports or lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Feature {
    /// A type that cannot be encoded is a `DebugInfoNone`. Otherwise it is a basic type with its name and without a
    /// size.
    NoneTypes,
    /// A variable may be an array's element count. Otherwise the count is unknown.
    VariableCounts,
    /// An array may have 0 elements. Otherwise its element count is unknown.
    EmptyArrays,
    /// Base classes. For a `DebugTypeInheritance` in `NonSemantic.Shader.DebugInfo.100`, `spirv-val` requires an
    /// operand that the set does not have.
    Inheritance,
    /// Template parameter packs. Otherwise their parameters are emitted individually.
    Packs,
    /// Template template parameters. Otherwise they are omitted.
    TemplateTemplates,
    /// Indexes select the variable's part that a value provides. Otherwise the part's bits do; a value is omitted if
    /// these bits are unknown.
    Indexes,
    /// Selected bits from a value may provide a variable. Otherwise such a value is omitted.
    BitPieces,
    /// A part's index may be known only at run time. Otherwise such a part's value is omitted.
    RunTimeIndexes,
    /// `DebugInlinedVariable`, which nothing can refer to and no reader needs. Otherwise an inlined instance without
    /// values is omitted.
    InlinedVariables,
    /// Macros.
    Macros,
    /// Imported entities.
    Imports,
    /// A source with unknown text has an empty text operand.
    EmptyTexts,
    /// `OpNoLine`, and a block's end, ends a line. Otherwise instructions without a line get line 0.
    NoLine,
    /// Lines are encoded as `DebugLine`, which only `NonSemantic.Shader.DebugInfo` has, rather than `OpLine`.
    DebugLines,
    /// Forward references use `OpExtInstWithForwardRefsKHR`, which requires `SPV_KHR_relaxed_extended_instruction`; for
    /// non-semantic sets only. Otherwise cycles are cut.
    ForwardReferences,
}

/// A feature set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Features(u32);

impl Features {
    fn set(&mut self, feature: Feature, is: bool) {
        let bit = 1 << feature as u32;
        self.0 = if is { self.0 | bit } else { self.0 & !bit };
    }
}

impl Mode {
    /// Names that [`named`](Self::named) takes.
    pub const NAMES: [&'static str; 6] =
        ["opencl", "vulkan", "translator", "translator200", "validating", "exact"];

    /// The preset for OpenCL drivers: `spirv-val` accepts the output, and LLVM's SPIR-V translator reads it.
    pub fn opencl() -> Self {
        Self {
            name: "opencl",
            dimensions: Dimensions::Nested,
            version: 65536,
            ..Self::validating(Set::OpenCl)
        }
        .without(&TRANSLATOR_LACKS)
        .with(Feature::EmptyTexts, true)
    }

    /// The preset for Vulkan: `spirv-val` accepts the output, and RenderDoc and Nsight show it.
    pub fn vulkan() -> Self {
        Self { name: "vulkan", last_language: u32::MAX, ..Self::validating(Set::Shader) }
    }

    /// The preset that LLVM's SPIR-V translator reads back without loss, for `OpenCL.DebugInfo.100`.
    pub fn translator() -> Self {
        Self {
            name: "translator",
            dimensions: Dimensions::Nested,
            discriminators: Discriminators::AsScopes,
            last_language: 7,
            version: 65536,
            ..Self::exact(Set::OpenCl)
        }
        .without(&TRANSLATOR_LACKS)
        .with(Feature::EmptyTexts, true)
    }

    /// The preset that LLVM's SPIR-V translator reads back for `NonSemantic.Shader.DebugInfo.200`, which Intel's
    /// translator and HIP use by default. The set keeps what `OpenCL.DebugInfo.100` loses: call columns, bit fields,
    /// array bounds and strides, checksums, the producer.
    pub fn translator200() -> Self {
        Self { name: "translator200", set: Set::Shader200, last_language: u32::MAX, ..Self::translator() }
            .with(Feature::DebugLines, true)
            .with(Feature::EmptyTexts, false)
    }

    /// The preset for everything that the specification allows, for either set.
    pub fn exact(set: Set) -> Self {
        Self {
            name: "exact",
            set,
            features: Features(u32::MAX),
            pointee: BaseTypes::Any,
            typedef: BaseTypes::Any,
            vector: Vectors::Any,
            dimensions: Dimensions::Together,
            discriminators: Discriminators::Beside,
            last_language: u32::MAX,
            version: 1,
            dwarf_version: 5,
        }
        .without(&[Feature::EmptyTexts, Feature::ForwardReferences])
        .with(Feature::DebugLines, set.is_shader())
    }

    /// The preset for `spirv-val` from SPIRV-Tools 2023.1 to 2026.4, for either set.
    pub fn validating(set: Set) -> Self {
        Self {
            name: "validating",
            pointee: BaseTypes::Basic,
            typedef: BaseTypes::Basic,
            vector: Vectors::Short,
            last_language: 7,
            ..Self::exact(set)
        }
        .without(&[Feature::NoneTypes, Feature::EmptyArrays, Feature::Packs, Feature::RunTimeIndexes])
        .with(Feature::Inheritance, set == Set::OpenCl)
    }

    /// Returns the preset with a name from [`NAMES`](Self::NAMES); without a name, the preset for a target: `vulkan` for a
    /// shader, otherwise `opencl`.
    ///
    /// # Errors
    /// The errors of [`named`](Self::named).
    pub fn chosen(name: Option<&str>, target: &Target) -> Result<Self> {
        match name {
            Some(name) => Self::named(name),
            None if target.is_shader() => Ok(Self::vulkan()),
            None => Ok(Self::opencl()),
        }
    }

    /// The preset with a name from [`NAMES`](Self::NAMES); `validating` and `exact` are for shaders.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownName`].
    pub fn named(name: &str) -> Result<Self> {
        Ok(match name {
            "opencl" => Self::opencl(),
            "vulkan" => Self::vulkan(),
            "translator" => Self::translator(),
            "translator200" => Self::translator200(),
            "validating" => Self::validating(Set::Shader),
            "exact" => Self::exact(Set::Shader),
            _ => {
                let nearest = nearest(name, Self::NAMES);
                return Err(ErrorKind::UnknownName { kind: Named::Mode, name: name.into(), nearest }.into());
            }
        })
    }

    /// The preset's name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The instruction set.
    pub fn set(&self) -> Set {
        self.set
    }

    /// Sets the highest source language
    /// [number](https://registry.khronos.org/SPIR-V/specs/unified1/SPIRV.html#Source_Language). A higher number becomes
    /// `Unknown`, because tools reject a module with a number that they do not know.
    pub fn highest_language(self, number: u32) -> Self {
        Self { last_language: number, ..self }
    }

    /// Sets the debug information's version, which no known reader checks: 65536 in the presets for LLVM's translator,
    /// otherwise 1.
    pub fn version(self, version: u32) -> Self {
        Self { version, ..self }
    }

    /// Sets the DWARF version that units declare: 5 in each preset.
    pub fn dwarf_version(self, dwarf_version: u32) -> Self {
        Self { dwarf_version, ..self }
    }

    /// Sets whether pointers, qualifiers and typedefs are encoded with any target. Otherwise only basic types are
    /// targets, because `spirv-val` requires that before SPIRV-Tools 2023.6.
    pub fn targets_of_any_type(self, is: bool) -> Self {
        let types = if is { BaseTypes::Any } else { BaseTypes::Basic };
        Self { pointee: types, typedef: types, ..self }
    }

    /// Sets whether a type that cannot be encoded is a `DebugInfoNone`. Otherwise it is a basic type with its name and
    /// without a size.
    pub fn none_types(self, is: bool) -> Self {
        self.with(Feature::NoneTypes, is)
    }

    /// Sets whether lines are encoded as `DebugLine`, which only `NonSemantic.Shader.DebugInfo` has, rather than
    /// `OpLine`.
    pub fn lines_as_debug_lines(self, is: bool) -> Self {
        self.with(Feature::DebugLines, is)
    }

    /// Sets whether forward references use `OpExtInstWithForwardRefsKHR`, which requires
    /// `SPV_KHR_relaxed_extended_instruction`; for non-semantic sets only. Otherwise cycles are cut.
    pub fn forward_references(self, is: bool) -> Self {
        self.with(Feature::ForwardReferences, is)
    }

    /// Sets whether instructions belong to discriminators as if these were scopes, as LLVM's translator does and
    /// `spirv-val` rejects. Otherwise the discriminator refers to the block, and instructions belong to the block.
    pub fn discriminators_as_scopes(self, is: bool) -> Self {
        let discriminators = if is { Discriminators::AsScopes } else { Discriminators::Beside };
        Self { discriminators, ..self }
    }

    #[inline]
    pub(super) fn has(&self, feature: Feature) -> bool {
        self.features.0 & 1 << feature as u32 != 0
    }

    pub(super) fn with(mut self, feature: Feature, is: bool) -> Self {
        self.features.set(feature, is);
        self
    }

    fn without(mut self, features: &[Feature]) -> Self {
        for &feature in features {
            self.features.set(feature, false);
        }
        self
    }
}

/// Features that LLVM's translator rejects, changes or loses.
const TRANSLATOR_LACKS: [Feature; 11] = [
    Feature::VariableCounts,
    Feature::EmptyArrays,
    Feature::Packs,
    Feature::TemplateTemplates,
    Feature::Indexes,
    Feature::BitPieces,
    Feature::RunTimeIndexes,
    Feature::InlinedVariables,
    Feature::Macros,
    Feature::Imports,
    Feature::NoLine,
];
