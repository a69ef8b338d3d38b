//! Reasons of omissions, with the encodings that replace the property: one table.

#[cfg(feature = "spirv")]
use super::Unimported;
use crate::error::{Construct, Count};
#[cfg(feature = "spirv")]
use crate::model::Module;
use crate::model::{BaseEncoding, FileId, FunctionId, ScopeId, StringId, TypeId, VariableId};
use crate::target::SpaceId;

macro_rules! reasons { (
    $(#[$doc:meta])* $enum:ident: $function:ident($object:ident);
    $($(#[$cfg:meta])* $name:ident $(($($field:ident: $type:ty),*))? $text:literal $(, $argument:expr)*;)*
) => {
    $(#[$doc])*
    #[derive(Debug, Clone, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum $enum {
        $(#[doc = concat!("Message text: \"", $text, "\".")] $(#[$cfg])* $name $(($($type),*))?,)*
    }

    impl $enum {
        /// End of a message, after the property.
        pub(super) fn $function(&self, $object: &str) -> String {
            let _ = $object;
            match self { $($(#[$cfg])* Self::$name $(($($field),*))? => format!($text $(, $argument)*),)* }
        }
    }
} }
#[cfg(feature = "spirv")]
pub(super) use reasons;

reasons! {
    /// Reason of an omission. `{object}` is the name of the entity that the reason references.
    Reason: clause(object);

    // Both outputs.
    Inexpressible(what: Construct) "{object} cannot express {what}";

    // Debug instructions.
    NoOperand "";
    Mode(mode: &'static str) ", which the {mode} mode does not have";
    Cycle(_of: TypeId, _is_none: bool) ": {object} is made of it, and is not said here";
    NotClass(_of: TypeId) ": {object} is no class or structure, and not said";
    WiderScope(_scope: ScopeId) ": what it is in names it, so it is said to be in {object}";
    FunctionScope(_function: FunctionId) ": it is said to be of {object}";
    NoInt64(number: u64, encoded: u64) ": {number}; the module has no Int64, and {encoded} is said";
    NoRoom(encoded: usize, of: usize) ": the first {encoded} of {of} are said";
    LineBeyondText(_file: FileId, line: u32, lines: usize)
        ": line {line} is not in the text of `{object}`, which has {lines}";
    ColumnBeyondText(_file: FileId, line: u32, column: u32, bytes: usize)
        ": column {column} is not in line {line} of the text of `{object}`, which has {}",
        Count(*bytes, "byte");
    TooLong ", which is longer than a string";
    NoFullPath(_directory: StringId) " `{object}`, which is not in its full path";
    LanguageMode(number: u32, mode: &'static str) ", number {number}, which the {mode} mode does not have";
    NoLanguageNumber(number: u16) " DW_LANG {number:#x}, which SPIR-V has no number for";
    NoEntryPoint ": it has no entry point";
    NoFunctions ", which is said of functions: it has none";
    NotDefined(_name: StringId) " `{object}`: it was not defined";
    NoMacros(_file: FileId) ": `{object}`, of which no macro is said";
    Included(_file: FileId, line: u32) ": line {line} includes `{object}`, of which only the macros are said";
    NotEntryPoint ": it is no entry point of the module";
    EntryPoint ": it is an entry point of the module";
    OfDefinition ", which is that of a definition";
    OfInstance ", of an inlined instance";
    NoBlocks ", which has no blocks: only there it can be said";
    OtherFile ", which is not that of the scope around it";
    NotBound ": there is an inlined instance of it, which no value is bound to";
    NoInstructions ": no instruction is said to be of it";
    InstanceOfNone ": it is the instance of none, and said to be of the scope around it";
    OfOrigin "; that of what it is the instance of is said";
    DeclarationParameter "the parameter of a declaration; its type is said";
    NoMemberRoom "the static member: its type has no members, or no room for it";
    AsGlobal ": it is said as a global variable";
    BoundValue ": what is bound to it is said";
    NotInteger ", which is no integer that the module can have";
    ValueNotInteger ": its value is no integer that is known";
    NotInUnit ": it is not said itself";
    NotSeenOutside ": it is not seen outside of its unit";
    NotTemplate ": it is a union or a declaration";
    PackInto(count: usize) " of {count}";
    EmptyPack ", which is an empty pack";
    InPack ": a template in a pack";
    NoBitPiece(id: u32, mode: &'static str)
        "it is a part of %{id}: the {mode} mode has no BitPiece, and no value is bound to it";
    RunTimeIndex(id: u32, index: u32, mode: &'static str)
        "%{id} holds the element %{index} of it: the {mode} mode has no index that is known at run time";
    NoIndexes(id: u32, mode: &'static str)
        "%{id} holds a part of it: the {mode} mode has no indexes, and its bits are not known";
    NoIndexOperands(id: u32, instruction: &'static str, set: &'static str)
        "%{id} holds a part of it: a {instruction} of {set} has no indexes, and its bits are not known";

    // Types that are replaced by another type.
    AsAddress(mode: &'static str) ": the {mode} mode has no pointer to what is no basic type, and it is said to be an address";
    AsUnqualified(mode: &'static str) ": the {mode} mode has no qualifier of what is no basic type";
    AsUnnamed(mode: &'static str) ": the {mode} mode has no other name of what is no basic type";
    AsBasic(_of: TypeId, _basic: TypeId) ": it is {object}, and the basic type is said";
    AsArray(count: u64) ": it is a vector of {}, and said as an array", Count(*count, "element");
    MatrixAsArray(count: u64, is_column_major: bool)
        ": it is a matrix of {count} {}, and said as an array of them", vectors(*is_column_major);
    AsUnspecified(encoding: BaseEncoding) ": it is of {encoding:?}; its encoding is Unspecified";
    AsGlobalMemory ": the module has no GenericPointer; CrossWorkgroup is said";
    AsStorageClass(_space: SpaceId, _class: u32) " {object} is said";
    OfBytes(bytes: u64) " of {}", Count(*bytes, "byte");
    UnknownSize(bits: u64) ": it is not known; the size {} is encoded", Count(*bits, "bit");
    Unfit(value: i128) ": {value} does not fit 32 bits";
    BaseNotFixed ": it is virtual, at no fixed place or no class";
    NamedAs(_of: TypeId) ": it is {object}";
    WholeType ": it has all bits of its type";
    NoDimension ": it has none; it is said to have one of which the number is not known";
    Empty ": it has none; how many is said not to be known";
    Computed ": how many it has is computed";
    VariableCount(_variable: VariableId) ": it has as many as `{object}` says, which is no variable of an unsigned type of 32 or 64 bits";
    VariableCountMode(_variable: VariableId, mode: &'static str) ": it has as many as `{object}` says; the {mode} mode has no such number";
    VariableCountCycle(_variable: VariableId) ": it has as many as `{object}` says; the type of its function is made of the array";
    Counted(count: usize) ": {count}";

    // Imports of SPIR-V.
    #[cfg(feature = "spirv")]
    Unimported(why: Unimported) "{}", why.text("");
}

impl Reason {
    /// Returns the reason as a sentence.
    #[cfg(feature = "spirv")]
    pub(crate) fn sentence(&self, module: &Module) -> String {
        self.clause(&self.object(module)).trim_start_matches([':', ',', ' ']).into()
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
                let class = crate::spirv::Enumeration::StorageClass.text(class);
                format!("`{name}`; {class}")
            }
            _ => String::new(),
        }
    }
}

fn vectors(is_column_major: bool) -> &'static str {
    if is_column_major { "columns" } else { "rows" }
}
