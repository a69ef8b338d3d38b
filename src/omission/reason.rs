//! Omission reasons, with the encodings that replace the property: one table.

use core::fmt;

#[cfg(feature = "spirv")]
use super::Unimported;
use crate::attributes;
use crate::error::{Construct, Count};
#[cfg(feature = "spirv")]
use crate::model::Module;
use crate::model::{BaseEncoding, FileId, FunctionId, ScopeId, StringId, TypeId, VariableId};
use crate::target::SpaceId;
use eitri_dwarf::texts;

texts! {
    /// Why a property is omitted. `{object}` is the name of the entity that the reason references.
    Reason(object);

    // Both outputs.
    Inexpressible(what: Construct) "{object} cannot express {what}";

    // Debug instructions.
    NoOperand "no operand encodes this";
    NoOperandOf(attribute: gimli::DwAt) "no operand encodes {}", attributes::text(*attribute);
    Mode(mode: &'static str) "the {mode} mode cannot encode this";
    Cycle(_of: TypeId, _is_none: bool) "a reference to {object} would be a cycle";
    NotClass(_of: TypeId) "{object} is not a class or structure";
    WiderScope(_scope: ScopeId) "the scope references the entity; {object} is encoded";
    FunctionScope(_function: FunctionId) "{object} is encoded";
    NoInt64(number: u64, encoded: u64) "{number} needs Int64, which the module lacks; {encoded} is encoded";
    NoRoom(encoded: usize, of: usize) "{encoded} of {of} fit into an instruction";
    LineBeyondText(_file: FileId, line: u32, lines: usize)
        "line {line} is beyond the text of `{object}`, which has {}", Count(*lines, "line");
    ColumnBeyondText(_file: FileId, line: u32, column: u32, bytes: usize)
        "column {column} is beyond line {line} of the text of `{object}`, which has {}",
        Count(*bytes, "byte");
    TooLong "an instruction has no room for it";
    NoFullPath(_directory: StringId) "`{object}` is not part of the full path";
    LanguageMode(number: u32, mode: &'static str) "the {mode} mode has no number {number}";
    NoLanguageNumber(number: u16) "SPIR-V has no number for DW_LANG {number:#x}";
    NoEntryPoint "the unit has no entry point";
    NoFunctions "only functions have it, and the unit has no function";
    NotDefined(_name: StringId) "`{object}` was not defined";
    NoMacros(_file: FileId) "`{object}` has no macro";
    Included(_file: FileId, line: u32) "line {line} includes `{object}`; only the macros are encoded";
    NotEntryPoint "it is not an entry point of the module";
    EntryPoint "it is an entry point of the module";
    OfDefinition "the definition has it";
    OfInstance "the inlined instance has it";
    NoBlocks "the function has no block";
    OtherFile "it is not the file of the enclosing scope";
    NotBound "an inlined instance exists, and no value is bound to it";
    NoInstructions "no instruction belongs to it";
    InstanceOfNone "without an origin, it is encoded as the enclosing scope";
    OfOrigin "that of the origin is encoded";
    DeclarationParameter "a parameter of a declaration; only its type is encoded";
    NoMemberRoom "the type has no members, or no room for the static member";
    AsGlobal "it is encoded as a global variable";
    BoundValue "the bound value is encoded";
    NotInteger "it is not an integer that the module can have";
    ValueNotInteger "its value is not a known integer";
    NotInUnit "the imported entity is not encoded";
    NotSeenOutside "it is not visible outside its unit";
    NotTemplate "it is a union or a declaration";
    PackInto(count: usize) "{count} parameters are encoded in its place";
    EmptyPack "the pack is empty";
    InPack "a template in a pack";
    NoBitPiece(id: u32, mode: &'static str)
        "it is a part of %{id}: the {mode} mode has no BitPiece, and no value is bound to it";
    NoOperation(id: u32, operation: &'static str, set: &'static str)
        "it is computed from %{id} by {operation}: {set} has no such operation";
    RunTimeIndex(id: u32, index: u32, mode: &'static str)
        "%{id} is the element %{index} of it: the {mode} mode has no index known at run time";
    NoIndexes(id: u32, mode: &'static str)
        "%{id} is a part of it: the {mode} mode has no indexes, and the bits are unknown";
    NoIndexOperands(id: u32, instruction: &'static str, set: &'static str)
        "%{id} is a part of it: {instruction} of {set} has no indexes, and the bits are unknown";

    // Types that are replaced by another type.
    AsAddress(mode: &'static str) "the {mode} mode has pointers to basic types only; an address is encoded";
    AsUnqualified(mode: &'static str) "the {mode} mode has qualifiers of basic types only";
    AsUnnamed(mode: &'static str) "the {mode} mode has typedefs of basic types only";
    AsBasic(_of: TypeId, _basic: TypeId) "{object} is encoded as its basic type";
    AsArray(count: u64) "it is encoded as an array of {}", Count(*count, "element");
    MatrixAsArray(count: u64, is_column_major: bool)
        "a matrix of {count} {} is encoded as an array of them", vectors(*is_column_major);
    String "a string is encoded as a type that has only a name";
    Subrange "a subrange is encoded as a type that has only a name";
    Set "a set is encoded as a type that has only a name";
    CooperativeMatrix "a cooperative matrix is encoded as a type that has only a name";
    AsUnspecified(encoding: BaseEncoding) "{encoding:?} is encoded as Unspecified";
    AsGlobalMemory "the module lacks a capability of the storage class; CrossWorkgroup is encoded";
    AsStorageClass(_space: SpaceId, _class: u32) "{object}";
    OfBytes(bytes: u64) "no operand encodes {}", Count(*bytes, "byte");
    UnknownSize(bits: u64) "it is unknown; {} are encoded", Count(*bits, "bit");
    Unfit(value: i128) "{value} does not fit 32 bits";
    BaseNotFixed "it is virtual, at no fixed offset, or not a class";
    NamedAs(_of: TypeId) "{object} is encoded as its class";
    WholeType "it has all bits of its type";
    NoDimension "an array without dimensions is encoded with one of unknown count";
    Empty "0 elements; an unknown count is encoded";
    Computed "it is computed";
    VariableCount(_variable: VariableId) "`{object}` is not a variable of an unsigned type of 32 or 64 bits";
    VariableCountMode(_variable: VariableId, mode: &'static str) "it is the variable `{object}`; the {mode} mode has constant counts only";
    VariableCountCycle(_variable: VariableId) "it is the variable `{object}`, and the type of that variable's function contains the array";
    Counted(count: usize) "no instruction encodes {}", Count(*count, "call");

    // Descriptions that use a module's names and types alone.
    Temporaries(count: usize)
        "{} that LLVM generated for temporaries: not described", Count(*count, "name");
    NoDescription(id: u32) "`{object}`, %{id}, is of a type that is not described";
    Specialized(id: u32)
        "%{id} has a dimension that specialization can change: only its name is described";
    SampledImage(id: u32)
        "`{object}`, %{id}, is the result of an OpSampledImage, which a debug instruction cannot reference";

    // SPIR-V imports.
    #[cfg(feature = "spirv")]
    Unimported(why: Unimported) "{why}";
}

impl Reason {
    /// Returns the reason as a sentence.
    #[cfg(feature = "spirv")]
    pub(crate) fn sentence(&self, module: &Module) -> String {
        Clause { reason: self, object: &self.object(module) }.to_string()
    }

    /// Name of the entity that the reason references.
    #[cfg(feature = "spirv")]
    pub(super) fn object(&self, module: &Module) -> String {
        match *self {
            Self::Cycle(of, _) | Self::NotClass(of) | Self::AsBasic(of, _) | Self::NamedAs(of) => {
                module.called(of)
            }
            Self::WiderScope(scope) => super::names::scope(module, scope),
            Self::FunctionScope(function) => super::names::scope(module, module.functions[function].scope),
            Self::LineBeyondText(file, ..)
            | Self::ColumnBeyondText(file, ..)
            | Self::NoMacros(file)
            | Self::Included(file, _) => module.string(module.files[file].name).into(),
            Self::NoFullPath(text) | Self::NotDefined(text) => module.string(text).into(),
            Self::VariableCount(variable)
            | Self::VariableCountMode(variable, _)
            | Self::VariableCountCycle(variable) => module.name_of(variable).unwrap_or_default().into(),
            Self::AsStorageClass(space, class) => {
                let name = module.target.space(space).map_or("", |space| &*space.name);
                let class = crate::spirv::Enumeration::StorageClass.text(class, crate::spirv::Set::Shader);
                format!("`{name}` is encoded as {class}")
            }
            _ => String::new(),
        }
    }
}

/// A message's end, after the property.
pub(super) struct Clause<'o> {
    pub reason: &'o Reason,
    /// Name of the entity that the reason references.
    pub object: &'o str,
}

impl fmt::Display for Clause<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.reason.write_text(f, self.object)
    }
}

fn vectors(is_column_major: bool) -> &'static str {
    if is_column_major { "columns" } else { "rows" }
}
