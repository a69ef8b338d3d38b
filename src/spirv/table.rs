//! The debug instruction table: one row for each instruction. All other lists of debug instructions are generated from
//! it.
//!
//! | column | meaning |
//! |---|---|
//! | variant, name | [`InstructionName`]'s variant, and the name in all sets |
//! | numbers | `both(a, b)`: `a` in `OpenCL.DebugInfo.100`, `b` in `NonSemantic.Shader.DebugInfo`; `shader(b)`: in the latter alone |
//! | section | the specification's section, the same in all sets |
//! | area | before the functions, or in a function |
//! | operands | in order: [field](super::Field), [kind](super::operand::OperandKind), and properties in brackets |
//!
//! A number in `shader101` exists since version 101. A number in `shader200` exists in version 200, which is a proposal
//! and lacks what version 101 adds.
//!
//! Properties: `opencl` or `shader`, the only set in which the operand exists or has this kind; `shader101` and
//! `shader200`, the same for these versions; `until200`, an operand that version 200 lacks; `optional`, at most once;
//! `many`, any number of times; `some`, at least once; `pairs`, alternating with the other `pairs` operand; `none`, the
//! specification permits a `DebugInfoNone`; `forward`, forward references are permitted.

/// Passes all rows to a macro: here to the macro that defines [`InstructionName`], and in `rows` to the macro that also reads the
/// operands, which name instructions.
macro_rules! for_each_instruction { ($use:ident) => { $use! {
    InfoNone            "DebugInfoNone"              both(0, 0) Missing Globals {};

    CompilationUnit     "DebugCompilationUnit"       both(1, 1) Units Globals {
        Version: NUMBER, DwarfVersion: NUMBER, Source: SOURCE, Language: LANGUAGE, Producer: STRING [shader200] };
    Source              "DebugSource"                both(35, 35) Units Globals {
        File: STRING, ChecksumKind: CHECKSUM_KIND [shader200 optional none], Checksum: STRING [shader200 optional none],
        Text: STRING [optional] };
    SourceContinued     "DebugSourceContinued"       shader(102) Units Globals { Text: STRING };
    EntryPoint          "DebugEntryPoint"            shader(107) Units Globals {
        EntryPoint: FUNCTION, CompilationUnit: UNIT, CompilerSignature: STRING, CommandLine: STRING };

    BuildIdentifier     "DebugBuildIdentifier"       shader(105) Metadata Globals { Identifier: STRING, Flags: BUILD_FLAGS };
    StoragePath         "DebugStoragePath"           shader(106) Metadata Globals { Path: STRING };

    TypeBasic           "DebugTypeBasic"             both(2, 2) Types Globals {
        Name: STRING, Size: SIZE, Encoding: ENCODING, Flags: FLAGS [shader],
        FpEncoding: FP_ENCODING [shader101 optional] };
    TypePointer         "DebugTypePointer"           both(3, 3) Types Globals {
        BaseType: TYPE, StorageClass: STORAGE_CLASS, Flags: FLAGS };
    TypeQualifier       "DebugTypeQualifier"         both(4, 4) Types Globals { BaseType: TYPE, Qualifier: QUALIFIER };
    TypeArray           "DebugTypeArray"             both(5, 5) Types Globals {
        BaseType: TYPE, ComponentCount: COUNT [opencl some], ComponentCount: ANY_COUNT [shader until200 some],
        Subrange: SUBRANGE [shader200 some] };
    TypeVector          "DebugTypeVector"            both(6, 6) Types Globals { BaseType: TYPE, ComponentCount: NUMBER };
    TypeMatrix          "DebugTypeMatrix"            shader(108) Types Globals {
        VectorType: VECTOR, VectorCount: ANY_NUMBER, ColumnMajor: BOOLEAN };
    TypeVectorId        "DebugTypeVectorIdEXT"       shader101(109) Types Globals {
        ComponentType: TYPE, ComponentCount: DIMENSION };
    TypeCooperativeMatrix "DebugTypeCooperativeMatrixKHR" shader101(110) Types Globals {
        ComponentType: TYPE, MatrixScope: DIMENSION, Rows: DIMENSION, Columns: DIMENSION, Use: DIMENSION };
    TypeSubrange        "DebugTypeSubrange"          shader200(201) Types Globals {
        LowerBound: BOUND [none], UpperBound: BOUND [none], Count: ELEMENTS [none], Stride: ELEMENTS [optional none] };
    TypeArrayDynamic    "DebugTypeArrayDynamic"      shader200(202) Types Globals {
        BaseType: TYPE, DataLocation: DESCRIPTOR [none], Associated: BOUND [none], Allocated: BOUND [none],
        Rank: BOUND [none], Subrange: SUBRANGE [some] };
    TypeString          "DebugTypeString"            shader200(203) Types Globals {
        Name: STRING, BaseType: BASIC [none], DataLocation: DESCRIPTOR [none], Size: SIZE, LengthAddress: DESCRIPTOR [none],
        LengthSize: SIZE [optional none] };
    Typedef             "DebugTypedef"               both(7, 7) Types Globals {
        Name: STRING, BaseType: TYPE, Source: SOURCE, Line: NUMBER, Column: NUMBER, Scope: SCOPE };
    TypeFunction        "DebugTypeFunction"          both(8, 8) Types Globals {
        Flags: FLAGS, ReturnType: RETURN_TYPE, ParameterType: TYPE [many] };
    TypeEnum            "DebugTypeEnum"              both(9, 9) Types Globals {
        Name: STRING, UnderlyingType: TYPE [none], Source: SOURCE, Line: NUMBER, Column: NUMBER, Scope: SCOPE,
        Size: SIZE, Flags: FLAGS, Value: ENUMERATOR [pairs], EnumeratorName: STRING [pairs] };
    TypeComposite       "DebugTypeComposite"         both(10, 10) Types Globals {
        Name: STRING, Tag: COMPOSITE_TAG, Source: SOURCE, Line: NUMBER, Column: NUMBER, Scope: SCOPE,
        LinkageName: STRING, Size: SIZE [opencl none], Size: ANY_SIZE [shader none], Flags: FLAGS,
        Member: MEMBER [opencl many forward], Member: MEMBER [shader many] };
    TypeMember          "DebugTypeMember"            both(11, 11) Types Globals {
        Name: STRING, Type: TYPE, Source: SOURCE, Line: NUMBER, Column: NUMBER, Scope: COMPOSITE [opencl],
        Offset: INTEGER [opencl], Offset: ANY_INTEGER [shader], Size: SIZE [opencl], Size: ANY_SIZE [shader],
        Flags: FLAGS, Value: CONSTANT [opencl optional], Value: ANY_CONSTANT [shader optional] };
    TypeInheritance     "DebugTypeInheritance"       both(12, 12) Types Globals {
        Child: COMPOSITE [opencl], Parent: COMPOSITE, Offset: INTEGER [opencl], Offset: ANY_INTEGER [shader],
        Size: SIZE [opencl], Size: ANY_SIZE [shader], Flags: FLAGS };
    TypePtrToMember     "DebugTypePtrToMember"       both(13, 13) Types Globals { MemberType: TYPE, Parent: COMPOSITE };

    TypeTemplate        "DebugTypeTemplate"          both(14, 14) Templates Globals {
        Target: TARGET, Parameter: TEMPLATE_PARAMETER [some] };
    TypeTemplateParameter "DebugTypeTemplateParameter" both(15, 15) Templates Globals {
        Name: STRING, ActualType: TYPE, Value: INTEGER [opencl none], Value: ANY_INTEGER [shader none],
        Source: SOURCE, Line: NUMBER, Column: NUMBER };
    TypeTemplateTemplateParameter "DebugTypeTemplateTemplateParameter" both(16, 16) Templates Globals {
        Name: STRING, TemplateName: STRING, Source: SOURCE, Line: NUMBER, Column: NUMBER };
    TypeTemplateParameterPack "DebugTypeTemplateParameterPack" both(17, 17) Templates Globals {
        Name: STRING, Source: SOURCE, Line: NUMBER, Column: NUMBER, Parameter: PACK_PARAMETER [some] };

    GlobalVariable      "DebugGlobalVariable"        both(18, 18) GlobalVariables Globals {
        Name: STRING, Type: TYPE, Source: SOURCE, Line: NUMBER, Column: NUMBER, Scope: SCOPE, LinkageName: STRING,
        Variable: GLOBAL [opencl none], Variable: GLOBAL_OR_EXPRESSION [shader none], Flags: FLAGS,
        StaticMember: DATA_MEMBER [optional] };

    FunctionDeclaration "DebugFunctionDeclaration"   both(19, 19) Functions Globals {
        Name: STRING, Type: FUNCTION_TYPE, Source: SOURCE, Line: NUMBER, Column: NUMBER, Scope: SCOPE,
        LinkageName: STRING, Flags: FLAGS };
    Function            "DebugFunction"              both(20, 20) Functions Globals {
        Name: STRING, Type: FUNCTION_TYPE, Source: SOURCE, Line: NUMBER, Column: NUMBER, Scope: SCOPE,
        LinkageName: STRING, Flags: FLAGS, ScopeLine: NUMBER, Function: OP_FUNCTION [opencl none forward],
        Declaration: DECLARATION [until200 optional], Declaration: DECLARATION [shader200 optional none],
        TargetFunction: STRING [shader200 optional none] };
    FunctionDefinition  "DebugFunctionDefinition"    shader(101) Functions Body { Function: FUNCTION, Definition: OP_FUNCTION };

    LexicalBlock        "DebugLexicalBlock"          both(21, 21) Locations Globals {
        Source: SOURCE, Line: NUMBER, Column: NUMBER, Scope: SCOPE, Name: STRING [optional],
        InlineNamespace: BOOLEAN [shader200 optional] };
    LexicalBlockDiscriminator "DebugLexicalBlockDiscriminator" both(22, 22) Locations Globals {
        Source: SOURCE, Discriminator: NUMBER, Scope: SCOPE };
    Scope               "DebugScope"                 both(23, 23) Locations Body {
        Scope: SCOPE, Inlined: INLINED_AT [optional] };
    NoScope             "DebugNoScope"               both(24, 24) Locations Body {};
    InlinedAt           "DebugInlinedAt"             both(25, 25) Locations Globals {
        Line: NUMBER, Column: NUMBER [shader200], Scope: SCOPE, Inlined: INLINED_AT [optional] };
    Line                "DebugLine"                  shader(103) Locations Body {
        Source: SOURCE, LineStart: NUMBER, LineEnd: NUMBER, ColumnStart: NUMBER, ColumnEnd: NUMBER };
    NoLine              "DebugNoLine"                shader(104) Locations Body {};

    LocalVariable       "DebugLocalVariable"         both(26, 26) LocalVariables Globals {
        Name: STRING, Type: TYPE, Source: SOURCE, Line: NUMBER, Column: NUMBER, Scope: SCOPE, Flags: FLAGS,
        ArgNumber: NUMBER [optional] };
    InlinedVariable     "DebugInlinedVariable"       both(27, 27) LocalVariables Globals {
        Variable: LOCAL_VARIABLE, Inlined: INLINED_AT };
    Declare             "DebugDeclare"               both(28, 28) LocalVariables Body {
        LocalVariable: LOCAL_VARIABLE, Variable: OP_VARIABLE, Expression: EXPRESSION, Index: INDEX [shader many] };
    Value               "DebugValue"                 both(29, 29) LocalVariables Body {
        LocalVariable: LOCAL_VARIABLE, Value: RESULT, Expression: EXPRESSION, Index: INDEX [many] };
    Operation           "DebugOperation"             both(30, 30) LocalVariables Globals {
        Operation: OPERATION, Operand: ANY_NUMBER [many] };
    Expression          "DebugExpression"            both(31, 31) LocalVariables Globals { Operation: DEBUG_OPERATION [many] };

    MacroDef            "DebugMacroDef"              both(32, 32) Macros Globals {
        Source: STRING, Line: NUMBER, Name: STRING, Value: STRING [optional] };
    MacroUndef          "DebugMacroUndef"            both(33, 33) Macros Globals { Source: STRING, Line: NUMBER, Macro: MACRO };

    Module              "DebugModule"                opencl_shader200(36, 200) ImportedEntities Globals {
        Name: STRING, Source: SOURCE, Scope: SCOPE [opencl], Line: NUMBER, Scope: SCOPE [shader200], ConfigurationMacros: STRING, IncludePath: STRING,
        NotesFile: STRING, IsDeclaration: NUMBER };
    ImportedEntity      "DebugImportedEntity"        both(34, 34) ImportedEntities Globals {
        Name: STRING, Tag: IMPORTED_ENTITY, Source: SOURCE, Entity: ENTITY, Line: NUMBER, Column: NUMBER,
        Scope: SCOPE };
} } }
pub(super) use for_each_instruction;

macro_rules! names { ($($variant:ident $text:literal $numbers:ident($($number:literal),*) $section:ident $area:ident
    { $($operand:tt)* };
)*) => {
    /// A debug instruction's name.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[non_exhaustive]
    pub enum InstructionName { $(
        #[doc = concat!("`", $text, "`")]
        $variant,
    )* }

    impl InstructionName {
        /// All instructions, in the order of the table.
        pub const ALL: &'static [InstructionName] = &[$(InstructionName::$variant),*];
    }
} }
for_each_instruction!(names);

/// A debug instruction set.
///
/// Exhaustive: a match names all variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Set {
    /// `OpenCL.DebugInfo.100`.
    OpenCl,
    /// `NonSemantic.Shader.DebugInfo.100`, without literals: numbers are constant ids.
    Shader,
    /// `NonSemantic.Shader.DebugInfo.101`: version 100, and cooperative vector and matrix types.
    Shader101,
    /// `NonSemantic.Shader.DebugInfo.200`, a proposal: version 100, with array subranges, modules, strings, and more
    /// operands and operations. LLVM's translator writes it; where the translator differs from the proposal, its form
    /// is meant.
    Shader200,
}

impl Set {
    /// All sets.
    pub const ALL: [Self; 4] = [Self::OpenCl, Self::Shader, Self::Shader101, Self::Shader200];

    /// The set's name in an `OpExtInstImport`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenCl => "OpenCL.DebugInfo.100",
            Self::Shader => "NonSemantic.Shader.DebugInfo.100",
            Self::Shader101 => "NonSemantic.Shader.DebugInfo.101",
            Self::Shader200 => "NonSemantic.Shader.DebugInfo.200",
        }
    }

    /// Whether the set is a version of `NonSemantic.Shader.DebugInfo`.
    pub const fn is_shader(self) -> bool {
        !matches!(self, Self::OpenCl)
    }

    /// Whether the set has all of the other's instructions: it is the same set, or a version based on it. Versions 101
    /// and 200 are both based on version 100.
    pub const fn includes(self, other: Self) -> bool {
        match other {
            Self::OpenCl => matches!(self, Self::OpenCl),
            Self::Shader => self.is_shader(),
            Self::Shader101 => matches!(self, Self::Shader101),
            Self::Shader200 => matches!(self, Self::Shader200),
        }
    }

    /// The newest registered version of `NonSemantic.Shader.DebugInfo`, and its number.
    pub(super) const NEWEST: Self = Self::Shader101;
    pub(super) const NEWEST_VERSION: u32 = 101;

    /// The set with this name.
    pub(super) fn named(name: &[u8]) -> Option<Self> {
        Self::ALL.into_iter().find(|set| set.name().as_bytes() == name)
    }
}
