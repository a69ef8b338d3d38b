//! Operands in debug instructions: where they occur, what they may contain, and which sets have them.

use super::names::Enumeration;
use super::table::{InstructionName, Set};

/// An operand in a table row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperandRow {
    /// The operand's field.
    pub field: Field,
    /// Permitted contents.
    pub kind: OperandKind,
    /// The only set with this operand, later versions included; `None` if all sets have it.
    pub only: Option<Set>,
    /// The first set without this operand, later versions included.
    pub until: Option<Set>,
    /// Number of repetitions.
    pub repeat: Repeat,
    /// Whether the specification permits a `DebugInfoNone`.
    pub none: bool,
    /// Whether forward references are permitted: section 2.2.
    pub forward: bool,
}

impl OperandRow {
    pub(super) const fn new(field: Field, kind: OperandKind) -> Self {
        Self { field, kind, only: None, until: None, repeat: Repeat::Once, none: false, forward: false }
    }

    /// Whether the set has the operand.
    pub const fn is_in(&self, set: Set) -> bool {
        match (self.only, self.until) {
            (_, Some(until)) if set.includes(until) => false,
            (None, _) => true,
            (Some(only), _) => set.includes(only),
        }
    }

    pub(super) const fn opencl(self) -> Self {
        Self { only: Some(Set::OpenCl), ..self }
    }

    pub(super) const fn shader(self) -> Self {
        Self { only: Some(Set::Shader), ..self }
    }

    pub(super) const fn shader101(self) -> Self {
        Self { only: Some(Set::Shader101), ..self }
    }

    pub(super) const fn shader200(self) -> Self {
        Self { only: Some(Set::Shader200), ..self }
    }

    pub(super) const fn until200(self) -> Self {
        Self { until: Some(Set::Shader200), ..self }
    }

    pub(super) const fn optional(self) -> Self {
        Self { repeat: Repeat::Optional, ..self }
    }

    pub(super) const fn many(self) -> Self {
        Self { repeat: Repeat::Many, ..self }
    }

    pub(super) const fn some(self) -> Self {
        Self { repeat: Repeat::Some, ..self }
    }

    pub(super) const fn pairs(self) -> Self {
        Self { repeat: Repeat::Pairs, ..self }
    }

    pub(super) const fn none(self) -> Self {
        Self { none: true, ..self }
    }

    pub(super) const fn forward(self) -> Self {
        Self { forward: true, ..self }
    }
}

/// How often an operand may occur.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// Exactly once.
    Once,
    /// Optional operand.
    Optional,
    /// Any number of times, at the end.
    Many,
    /// One or more operands, at the end.
    Some,
    /// Any number of times, at the end, alternating with the other operand of the pair.
    Pairs,
}

impl Repeat {
    /// Whether the operand can occur more than once.
    pub const fn is_many(self) -> bool {
        matches!(self, Self::Many | Self::Some | Self::Pairs)
    }
}

/// The module section that contains an instruction: section 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Area {
    /// Section after all types, constants and global variables, and before the first function.
    Globals,
    /// Among a function's instructions.
    Body,
}

macro_rules! named { (
    $(#[$doc:meta])* $enum:ident; $($variant:ident $text:literal),* $(,)?
) => {
    $(#[$doc])*
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    #[allow(missing_docs, reason = "the text is the specification's")]
    #[non_exhaustive]
    pub enum $enum { $($variant),* }

    impl $enum {
        /// Spelling in the specification.
        pub const fn text(self) -> &'static str {
            match self { $(Self::$variant => $text),* }
        }
    }
} }

named! {
    /// A section in the specifications. `OpenCL.DebugInfo.100` numbers them; `NonSemantic.Shader.DebugInfo.100` has the
    /// same titles without numbers, and one more section.
    SpecificationSection;
    Missing "4.1 Missing Debugging Information",
    Units "4.2 Compilation Unit",
    Types "4.3 Type instructions",
    Templates "4.4 Templates",
    GlobalVariables "4.5 Global Variables",
    Functions "4.6 Functions",
    Locations "4.7 Location Information",
    LocalVariables "4.8 Local Variables",
    Macros "4.9 Macros",
    ImportedEntities "4.10 Imported Entities",
    Metadata "Debug Info Metadata",
}

named! {
    /// An operand's field. An entity's "scope" in `OpenCL.DebugInfo.100` is its "parent" in
    /// `NonSemantic.Shader.DebugInfo.100`.
    Field;
    ActualType "Actual Type", Allocated "Allocated", ArgNumber "ArgNumber", Associated "Associated",
    BaseType "Base Type", Checksum "Checksum", ChecksumKind "Checksum Kind", Child "Child", Column "Column",
    ColumnEnd "Column End", ColumnMajor "Column Major", ColumnStart "Column Start", Columns "Columns",
    CommandLine "Command-line Arguments", CompilationUnit "Compilation Unit",
    CompilerSignature "Compiler Signature", ComponentCount "Component Count", ComponentType "Component Type",
    ConfigurationMacros "ConfigurationMacros", Count "Count", DataLocation "Data Location",
    Declaration "Declaration", Definition "Definition", Discriminator "Discriminator",
    DwarfVersion "DWARF Version", Encoding "Encoding", Entity "Entity", EntryPoint "Entry Point",
    EnumeratorName "Name", Expression "Expression", File "File", Flags "Flags", FpEncoding "FPEncoding",
    Function "Function", Identifier "Identifier", IncludePath "IncludePath", Index "Indexes", Inlined "Inlined",
    InlineNamespace "Inline Namespace", IsDeclaration "IsDeclaration", Language "Language",
    LengthAddress "LengthAddr", LengthSize "LengthSize",
    Line "Line", LineEnd "Line End", LineStart "Line Start", LinkageName "Linkage Name",
    LocalVariable "Local Variable", LowerBound "Lower Bound", Macro "Macro", MatrixScope "Scope", Member "Members",
    MemberType "Member Type", Name "Name", NotesFile "APINotesFile", Offset "Offset", Operand "Operands", Operation "Operation",
    Parameter "Parameters", ParameterType "Parameter Types", Parent "Parent", Path "Path",
    Producer "Producer", Qualifier "Type Qualifier", Rank "Rank", ReturnType "Return Type", Rows "Rows", Scope "Scope", ScopeLine "Scope Line",
    Size "Size", Source "Source", StaticMember "Static Member Declaration", StorageClass "Storage Class",
    Stride "Stride", Subrange "Subranges", Tag "Tag", Target "Target", TargetFunction "Target Function",
    TemplateName "Template Name", Text "Text", Type "Type",
    UnderlyingType "Underlying Type", UpperBound "Upper Bound", Use "Use", Value "Value", Variable "Variable", VectorCount "Vector Count",
    VectorType "Vector Type", Version "Version",
}

/// Permitted contents of an operand.
///
/// The first three are literal words in `OpenCL.DebugInfo.100`; in `NonSemantic.Shader.DebugInfo` they are ids that
/// belong to `OpConstant` instructions with a 32-bit integer type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperandKind {
    /// A number.
    Number,
    /// A number; as an id, any constant instruction with a 32-bit integer type.
    AnyNumber,
    /// A number from the enumeration, or a mask's bits.
    Enumerant(Enumeration),
    /// An id, in all sets.
    Id(&'static Referents),
}

impl OperandKind {
    /// Whether the operand is a literal word in the set.
    pub const fn is_literal(self, set: Set) -> bool {
        matches!(set, Set::OpenCl) && !matches!(self, Self::Id(_))
    }
}

/// Instructions that an id may refer to.
#[derive(Debug, PartialEq, Eq)]
pub struct Referents {
    /// Describes the permitted instructions.
    pub text: &'static str,
    /// Debug instructions in the same set.
    pub debug: &'static [InstructionName],
    /// Other permitted instructions.
    pub core: &'static [CoreInstruction],
}

/// A permitted instruction other than debug instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoreInstruction {
    /// An `OpString`.
    String,
    /// `OpTypeVoid`.
    Void,
    /// An `OpConstant` with this type.
    Constant(ConstantType),
    /// Any constant instruction with this type, including specialization constants.
    AnyConstant(ConstantType),
    /// An `OpConstantTrue` or `OpConstantFalse`.
    Boolean,
    /// An `OpFunction`.
    Function,
    /// An `OpVariable`.
    Variable,
    /// An `OpUntypedVariableKHR`.
    UntypedVariable,
    /// A result with an integer type.
    Integer,
    /// Any instruction's result.
    Result,
}

/// A constant's type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConstantType {
    /// A 32-bit integer.
    Bits32,
    /// An unsigned 32-bit integer.
    Unsigned32,
    /// A 32-bit or 64-bit integer.
    Bits32Or64,
    /// An integer.
    Integer,
    /// Any type.
    Any,
}

pub(super) const NUMBER: OperandKind = OperandKind::Number;
pub(super) const ANY_NUMBER: OperandKind = OperandKind::AnyNumber;
pub(super) const LANGUAGE: OperandKind = OperandKind::Enumerant(Enumeration::Language);
pub(super) const ENCODING: OperandKind = OperandKind::Enumerant(Enumeration::Encoding);
pub(super) const CHECKSUM_KIND: OperandKind = OperandKind::Enumerant(Enumeration::ChecksumKind);
pub(super) const FP_ENCODING: OperandKind = OperandKind::Enumerant(Enumeration::FpEncoding);
pub(super) const STORAGE_CLASS: OperandKind = OperandKind::Enumerant(Enumeration::StorageClass);
pub(super) const QUALIFIER: OperandKind = OperandKind::Enumerant(Enumeration::Qualifier);
pub(super) const COMPOSITE_TAG: OperandKind = OperandKind::Enumerant(Enumeration::CompositeTag);
pub(super) const OPERATION: OperandKind = OperandKind::Enumerant(Enumeration::Operation);
pub(super) const IMPORTED_ENTITY: OperandKind = OperandKind::Enumerant(Enumeration::ImportedEntity);
pub(super) const FLAGS: OperandKind = OperandKind::Enumerant(Enumeration::Flags);
pub(super) const BUILD_FLAGS: OperandKind = OperandKind::Enumerant(Enumeration::BuildFlags);

/// Instructions that represent a type. Members and base classes are not among them, because they are parts of a type;
/// template parameters are not, because they stand for a type.
const TYPES: &[InstructionName] = &[
    InstructionName::TypeBasic,
    InstructionName::TypePointer,
    InstructionName::TypeQualifier,
    InstructionName::TypeArray,
    InstructionName::TypeArrayDynamic,
    InstructionName::TypeString,
    InstructionName::TypeVector,
    InstructionName::TypeMatrix,
    InstructionName::TypeVectorId,
    InstructionName::TypeCooperativeMatrix,
    InstructionName::Typedef,
    InstructionName::TypeFunction,
    InstructionName::TypeEnum,
    InstructionName::TypeComposite,
    InstructionName::TypePtrToMember,
    InstructionName::TypeTemplate,
];

macro_rules! ids { ($($name:ident $text:literal [$($debug:ident)*] [$($core:expr),*];)*) => { $(
    pub(super) const $name: OperandKind =
        OperandKind::Id(&Referents { text: $text, debug: &[$(InstructionName::$debug),*], core: &[$($core),*] });
)* } }

ids! {
    STRING "an OpString" [] [CoreInstruction::String];
    SOURCE "a DebugSource" [Source] [];
    UNIT "a DebugCompilationUnit" [CompilationUnit] [];
    SCOPE "a lexical scope" [CompilationUnit Function LexicalBlock TypeComposite Module] [];
    VECTOR "a DebugTypeVector" [TypeVector] [];
    BASIC "a DebugTypeBasic" [TypeBasic] [];
    SUBRANGE "a DebugTypeSubrange" [TypeSubrange] [];
    BOUND "an OpConstant of 32 or 64 bits, a variable or a DebugExpression"
        [GlobalVariable LocalVariable Expression] [CoreInstruction::Constant(ConstantType::Bits32Or64)];
    ELEMENTS "an OpConstant of 32 or 64 bits, or a variable"
        [GlobalVariable LocalVariable] [CoreInstruction::Constant(ConstantType::Bits32Or64)];
    DESCRIPTOR "a variable or a DebugExpression" [GlobalVariable LocalVariable Expression] [];
    COMPOSITE "a DebugTypeComposite" [TypeComposite] [];
    FUNCTION_TYPE "a DebugTypeFunction" [TypeFunction] [];
    MEMBER "a DebugTypeMember, DebugFunction or DebugTypeInheritance" [TypeMember Function TypeInheritance] [];
    DATA_MEMBER "a DebugTypeMember" [TypeMember] [];
    TARGET "a class, a structure or a function" [TypeComposite Function] [];
    TEMPLATE_PARAMETER "a parameter of a template"
        [TypeTemplateParameter TypeTemplateTemplateParameter TypeTemplateParameterPack] [];
    PACK_PARAMETER "a DebugTypeTemplateParameter" [TypeTemplateParameter] [];
    FUNCTION "a DebugFunction" [Function] [];
    DECLARATION "a DebugFunctionDeclaration" [FunctionDeclaration] [];
    INLINED_AT "a DebugInlinedAt" [InlinedAt] [];
    LOCAL_VARIABLE "a DebugLocalVariable" [LocalVariable] [];
    DEBUG_OPERATION "a DebugOperation" [Operation] [];
    EXPRESSION "a DebugExpression" [Expression] [];
    MACRO "a DebugMacroDef" [MacroDef] [];
    ENTITY "a namespace or a declaration" [
        LexicalBlock Module ImportedEntity TypeBasic TypePointer TypeQualifier TypeArray TypeArrayDynamic TypeString
        TypeVector TypeMatrix TypeVectorId TypeCooperativeMatrix Typedef TypeFunction TypeEnum TypeComposite TypeMember TypePtrToMember TypeTemplate GlobalVariable
        FunctionDeclaration Function LocalVariable
    ] [];
    COUNT "an OpConstant of 32 or 64 bits, or a variable"
        [GlobalVariable LocalVariable] [CoreInstruction::Constant(ConstantType::Bits32Or64)];
    ANY_COUNT "a constant of 32 or 64 bits, or a variable"
        [GlobalVariable LocalVariable] [CoreInstruction::AnyConstant(ConstantType::Bits32Or64)];
    SIZE "an OpConstant of 32 or 64 bits" [] [CoreInstruction::Constant(ConstantType::Bits32Or64)];
    ANY_SIZE "a constant of 32 or 64 bits" [] [CoreInstruction::AnyConstant(ConstantType::Bits32Or64)];
    INTEGER "an OpConstant of an integer type" [] [CoreInstruction::Constant(ConstantType::Integer)];
    ANY_INTEGER "a constant of an integer type" [] [CoreInstruction::AnyConstant(ConstantType::Integer)];
    DIMENSION "a constant of an unsigned 32-bit integer type" [] [CoreInstruction::AnyConstant(ConstantType::Unsigned32)];
    ENUMERATOR "an OpConstant of 32 bits" [] [CoreInstruction::Constant(ConstantType::Bits32)];
    CONSTANT "an OpConstant" [] [CoreInstruction::Constant(ConstantType::Any)];
    ANY_CONSTANT "a constant" [] [CoreInstruction::AnyConstant(ConstantType::Any)];
    BOOLEAN "an OpConstantTrue or OpConstantFalse" [] [CoreInstruction::Boolean];
    GLOBAL "an OpVariable or a constant" [] [CoreInstruction::Variable, CoreInstruction::UntypedVariable, CoreInstruction::AnyConstant(ConstantType::Any)];
    GLOBAL_OR_EXPRESSION "an OpVariable, a constant or a DebugExpression"
        [Expression] [CoreInstruction::Variable, CoreInstruction::UntypedVariable, CoreInstruction::AnyConstant(ConstantType::Any)];
    OP_FUNCTION "an OpFunction" [] [CoreInstruction::Function];
    OP_VARIABLE "an OpVariable" [] [CoreInstruction::Variable];
    RESULT "the result of an instruction that is not a debug instruction" [] [CoreInstruction::Result];
    INDEX "an integer" [] [CoreInstruction::Integer];
}

pub(super) const TYPE: OperandKind = OperandKind::Id(&Referents { text: "a type", debug: TYPES, core: &[] });
pub(super) const RETURN_TYPE: OperandKind = OperandKind::Id(&Referents {
    text: "a type or OpTypeVoid",
    debug: TYPES,
    core: &[CoreInstruction::Void],
});
