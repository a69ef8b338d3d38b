//! Table of debug instructions: one row for each. All other lists of them are generated from it.
//!
//! | column | meaning |
//! |---|---|
//! | variant, name | [`Name`]'s variant, and the name in all sets |
//! | cl, shader | the number in `OpenCL.DebugInfo.100`, and in `NonSemantic.Shader.DebugInfo`; `_`: none |
//! | section | section of the specification, the same in all sets |
//! | place | before the functions, or in a function |
//! | operands | in order: [field](Field), [kind](Kind), and properties in brackets |
//!
//! A number after `101:` exists from version 101 on; one after `200:` in version 200, which is a proposal and lacks what
//! version 101 adds.
//!
//! Properties: `opencl` or `shader`, the only set in which the operand exists or has this kind; `shader101` and
//! `shader200`, the same for these versions; `until200`, an operand that version 200 lacks; `optional`, at most once; `many`, any number of times; `some`, at least once; `pairs`,
//! alternating with the other `pairs` operand; `none`, the text of the operand permits a `DebugInfoNone`; `forward`,
//! forward references are permitted.

use super::forms::Form;
use super::operand::*;

/// Passes all rows to a macro.
macro_rules! for_each_instruction { ($use:ident) => { $use! {
    InfoNone            "DebugInfoNone"              0 0 Missing Globals {};

    CompilationUnit     "DebugCompilationUnit"       1 1 Units Globals {
        Version: NUMBER, DwarfVersion: NUMBER, Source: SOURCE, Language: LANGUAGE, Producer: STRING [shader200] };
    Source              "DebugSource"                35 35 Units Globals {
        File: STRING, ChecksumKind: CHECKSUM_KIND [shader200 optional none], Checksum: STRING [shader200 optional none],
        Text: STRING [optional] };
    SourceContinued     "DebugSourceContinued"       _ 102 Units Globals { Text: STRING };
    EntryPoint          "DebugEntryPoint"            _ 107 Units Globals {
        EntryPoint: FUNCTION, CompilationUnit: UNIT, CompilerSignature: STRING, CommandLine: STRING };

    BuildIdentifier     "DebugBuildIdentifier"       _ 105 Metadata Globals { Identifier: STRING, Flags: BUILD_FLAGS };
    StoragePath         "DebugStoragePath"           _ 106 Metadata Globals { Path: STRING };

    TypeBasic           "DebugTypeBasic"             2 2 Types Globals {
        Name: STRING, Size: SIZE, Encoding: ENCODING, Flags: FLAGS [shader],
        FpEncoding: FP_ENCODING [shader101 optional] };
    TypePointer         "DebugTypePointer"           3 3 Types Globals {
        BaseType: TYPE, StorageClass: STORAGE_CLASS, Flags: FLAGS };
    TypeQualifier       "DebugTypeQualifier"         4 4 Types Globals { BaseType: TYPE, Qualifier: QUALIFIER };
    TypeArray           "DebugTypeArray"             5 5 Types Globals {
        BaseType: TYPE, ComponentCount: COUNT [opencl some], ComponentCount: ANY_COUNT [shader until200 some],
        Subrange: SUBRANGE [shader200 some] };
    TypeVector          "DebugTypeVector"            6 6 Types Globals { BaseType: TYPE, ComponentCount: NUMBER };
    TypeMatrix          "DebugTypeMatrix"            _ 108 Types Globals {
        VectorType: VECTOR, VectorCount: ANY_NUMBER, ColumnMajor: BOOLEAN };
    TypeVectorId        "DebugTypeVectorIdEXT"       _ (101: 109) Types Globals {
        ComponentType: TYPE, ComponentCount: DIMENSION };
    TypeCooperativeMatrix "DebugTypeCooperativeMatrixKHR" _ (101: 110) Types Globals {
        ComponentType: TYPE, MatrixScope: DIMENSION, Rows: DIMENSION, Columns: DIMENSION, Use: DIMENSION };
    TypeSubrange        "DebugTypeSubrange"          _ (200: 201) Types Globals {
        LowerBound: BOUND [none], UpperBound: BOUND [none], Count: ELEMENTS [none], Stride: ELEMENTS [optional none] };
    TypeArrayDynamic    "DebugTypeArrayDynamic"      _ (200: 202) Types Globals {
        BaseType: TYPE, DataLocation: DESCRIPTOR [none], Associated: BOUND [none], Allocated: BOUND [none],
        Rank: BOUND [none], Subrange: SUBRANGE [some] };
    TypeString          "DebugTypeString"            _ (200: 203) Types Globals {
        Name: STRING, BaseType: BASIC [none], DataLocation: DESCRIPTOR [none], Size: SIZE, LengthAddress: DESCRIPTOR [none],
        LengthSize: SIZE [optional none] };
    Typedef             "DebugTypedef"               7 7 Types Globals {
        Name: STRING, BaseType: TYPE, Source: SOURCE, Line: NUMBER, Column: NUMBER, Scope: SCOPE };
    TypeFunction        "DebugTypeFunction"          8 8 Types Globals {
        Flags: FLAGS, ReturnType: RETURN_TYPE, ParameterType: TYPE [many] };
    TypeEnum            "DebugTypeEnum"              9 9 Types Globals {
        Name: STRING, UnderlyingType: TYPE [none], Source: SOURCE, Line: NUMBER, Column: NUMBER, Scope: SCOPE,
        Size: SIZE, Flags: FLAGS, Value: ENUMERATOR [pairs], EnumeratorName: STRING [pairs] };
    TypeComposite       "DebugTypeComposite"         10 10 Types Globals {
        Name: STRING, Tag: COMPOSITE_TAG, Source: SOURCE, Line: NUMBER, Column: NUMBER, Scope: SCOPE,
        LinkageName: STRING, Size: SIZE [opencl none], Size: ANY_SIZE [shader none], Flags: FLAGS,
        Member: MEMBER [opencl many forward], Member: MEMBER [shader many] };
    TypeMember          "DebugTypeMember"            11 11 Types Globals {
        Name: STRING, Type: TYPE, Source: SOURCE, Line: NUMBER, Column: NUMBER, Scope: COMPOSITE [opencl],
        Offset: INTEGER [opencl], Offset: ANY_INTEGER [shader], Size: SIZE [opencl], Size: ANY_SIZE [shader],
        Flags: FLAGS, Value: CONSTANT [opencl optional], Value: ANY_CONSTANT [shader optional] };
    TypeInheritance     "DebugTypeInheritance"       12 12 Types Globals {
        Child: COMPOSITE [opencl], Parent: COMPOSITE, Offset: INTEGER [opencl], Offset: ANY_INTEGER [shader],
        Size: SIZE [opencl], Size: ANY_SIZE [shader], Flags: FLAGS };
    TypePtrToMember     "DebugTypePtrToMember"       13 13 Types Globals { MemberType: TYPE, Parent: COMPOSITE };

    TypeTemplate        "DebugTypeTemplate"          14 14 Templates Globals {
        Target: TARGET, Parameter: TEMPLATE_PARAMETER [some] };
    TypeTemplateParameter "DebugTypeTemplateParameter" 15 15 Templates Globals {
        Name: STRING, ActualType: TYPE, Value: INTEGER [opencl none], Value: ANY_INTEGER [shader none],
        Source: SOURCE, Line: NUMBER, Column: NUMBER };
    TypeTemplateTemplateParameter "DebugTypeTemplateTemplateParameter" 16 16 Templates Globals {
        Name: STRING, TemplateName: STRING, Source: SOURCE, Line: NUMBER, Column: NUMBER };
    TypeTemplateParameterPack "DebugTypeTemplateParameterPack" 17 17 Templates Globals {
        Name: STRING, Source: SOURCE, Line: NUMBER, Column: NUMBER, Parameter: PACK_PARAMETER [some] };

    GlobalVariable      "DebugGlobalVariable"        18 18 GlobalVariables Globals {
        Name: STRING, Type: TYPE, Source: SOURCE, Line: NUMBER, Column: NUMBER, Scope: SCOPE, LinkageName: STRING,
        Variable: GLOBAL [opencl none], Variable: GLOBAL_OR_EXPRESSION [shader none], Flags: FLAGS,
        StaticMember: DATA_MEMBER [optional] };

    FunctionDeclaration "DebugFunctionDeclaration"   19 19 Functions Globals {
        Name: STRING, Type: FUNCTION_TYPE, Source: SOURCE, Line: NUMBER, Column: NUMBER, Scope: SCOPE,
        LinkageName: STRING, Flags: FLAGS };
    Function            "DebugFunction"              20 20 Functions Globals {
        Name: STRING, Type: FUNCTION_TYPE, Source: SOURCE, Line: NUMBER, Column: NUMBER, Scope: SCOPE,
        LinkageName: STRING, Flags: FLAGS, ScopeLine: NUMBER, Function: OP_FUNCTION [opencl none forward],
        Declaration: DECLARATION [until200 optional], Declaration: DECLARATION [shader200 optional none],
        TargetFunction: STRING [shader200 optional none] };
    FunctionDefinition  "DebugFunctionDefinition"    _ 101 Functions Body { Function: FUNCTION, Definition: OP_FUNCTION };

    LexicalBlock        "DebugLexicalBlock"          21 21 Locations Globals {
        Source: SOURCE, Line: NUMBER, Column: NUMBER, Scope: SCOPE, Name: STRING [optional],
        InlineNamespace: BOOLEAN [shader200 optional] };
    LexicalBlockDiscriminator "DebugLexicalBlockDiscriminator" 22 22 Locations Globals {
        Source: SOURCE, Discriminator: NUMBER, Scope: SCOPE };
    Scope               "DebugScope"                 23 23 Locations Body {
        Scope: SCOPE, Inlined: INLINED_AT [optional] };
    NoScope             "DebugNoScope"               24 24 Locations Body {};
    InlinedAt           "DebugInlinedAt"             25 25 Locations Globals {
        Line: NUMBER, Column: NUMBER [shader200], Scope: SCOPE, Inlined: INLINED_AT [optional] };
    Line                "DebugLine"                  _ 103 Locations Body {
        Source: SOURCE, LineStart: NUMBER, LineEnd: NUMBER, ColumnStart: NUMBER, ColumnEnd: NUMBER };
    NoLine              "DebugNoLine"                _ 104 Locations Body {};

    LocalVariable       "DebugLocalVariable"         26 26 LocalVariables Globals {
        Name: STRING, Type: TYPE, Source: SOURCE, Line: NUMBER, Column: NUMBER, Scope: SCOPE, Flags: FLAGS,
        ArgNumber: NUMBER [optional] };
    InlinedVariable     "DebugInlinedVariable"       27 27 LocalVariables Globals {
        Variable: LOCAL_VARIABLE, Inlined: INLINED_AT };
    Declare             "DebugDeclare"               28 28 LocalVariables Body {
        LocalVariable: LOCAL_VARIABLE, Variable: OP_VARIABLE, Expression: EXPRESSION, Index: INDEX [shader many] };
    Value               "DebugValue"                 29 29 LocalVariables Body {
        LocalVariable: LOCAL_VARIABLE, Value: RESULT, Expression: EXPRESSION, Index: INDEX [many] };
    Operation           "DebugOperation"             30 30 LocalVariables Globals {
        Operation: OPERATION, Operand: ANY_NUMBER [many] };
    Expression          "DebugExpression"            31 31 LocalVariables Globals { Operation: DEBUG_OPERATION [many] };

    MacroDef            "DebugMacroDef"              32 32 Macros Globals {
        Source: STRING, Line: NUMBER, Name: STRING, Value: STRING [optional] };
    MacroUndef          "DebugMacroUndef"            33 33 Macros Globals { Source: STRING, Line: NUMBER, Macro: MACRO };

    Module              "DebugModule"                36 (200: 200) ImportedEntities Globals {
        Name: STRING, Source: SOURCE, Scope: SCOPE [opencl], Line: NUMBER, Scope: SCOPE [shader200], ConfigurationMacros: STRING, IncludePath: STRING,
        NotesFile: STRING, IsDeclaration: NUMBER };
    ImportedEntity      "DebugImportedEntity"        34 34 ImportedEntities Globals {
        Name: STRING, Tag: IMPORTED_ENTITY, Source: SOURCE, Entity: ENTITY, Line: NUMBER, Column: NUMBER,
        Scope: SCOPE };
} } }

/// A set of debug instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Set {
    /// `OpenCL.DebugInfo.100`.
    OpenCl,
    /// `NonSemantic.Shader.DebugInfo.100`, without literals: numbers are ids of constants.
    Shader,
    /// `NonSemantic.Shader.DebugInfo.101`: version 100, and types of cooperative vectors and matrices.
    Shader101,
    /// `NonSemantic.Shader.DebugInfo.200`, a proposal: version 100, with subranges of arrays, modules, strings, and more
    /// operands and operations. LLVM's translator writes it, and where it differs from the proposal, its form is meant.
    Shader200,
}

impl Set {
    /// All sets.
    pub const ALL: [Self; 4] = [Self::OpenCl, Self::Shader, Self::Shader101, Self::Shader200];

    /// Name of the set in an `OpExtInstImport`.
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

    /// Whether the set has all instructions of the other: it is the same set, or a version that is based on it. Versions
    /// 101 and 200 are both based on version 100.
    pub const fn includes(self, other: Self) -> bool {
        match other {
            Self::OpenCl => matches!(self, Self::OpenCl),
            Self::Shader => self.is_shader(),
            Self::Shader101 => matches!(self, Self::Shader101),
            Self::Shader200 => matches!(self, Self::Shader200),
        }
    }

    /// Whether the set has the instruction.
    pub(crate) fn has(self, name: Name) -> bool {
        name.row().number(self).is_some()
    }

    /// Whether an instruction of the set has the operand.
    pub(crate) fn has_operand(self, name: Name, field: Field) -> bool {
        let row = name.row();
        row.number(self).is_some() && row.operands(self).any(|operand| operand.field == field)
    }
}

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The instruction.
    pub name: Name,
    /// Name in the specifications.
    pub text: &'static str,
    /// Number in `OpenCL.DebugInfo.100`.
    pub cl: Option<u32>,
    /// Number in `NonSemantic.Shader.DebugInfo`.
    pub shader: Option<u32>,
    /// First version of `NonSemantic.Shader.DebugInfo` with the instruction.
    pub since: Set,
    /// Section of the specification.
    pub section: Section,
    /// Place in the module.
    pub place: Place,
    /// Operands of all sets.
    pub all_operands: &'static [OperandRow],
}

macro_rules! number {
    (_) => {
        None
    };
    ($number:literal) => {
        Some($number)
    };
    (($version:literal: $number:literal)) => {
        Some($number)
    };
}

macro_rules! since {
    ((101: $number:literal)) => {
        Set::Shader101
    };
    ((200: $number:literal)) => {
        Set::Shader200
    };
    ($number:tt) => {
        Set::Shader
    };
}

macro_rules! make_instructions { ($(
    $variant:ident $text:literal $cl:tt $shader:tt $section:ident $place:ident
    { $($field:ident: $kind:ident $([$($more:ident)*])?),* };
)*) => {
    /// The name of a debug instruction.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Name { $(
        #[doc = concat!("`", $text, "`")]
        $variant,
    )* }

    impl Name {
        /// All instructions, in the order of the table.
        pub const ALL: &'static [Name] = &[$(Name::$variant),*];
    }

    pub(super) static ROWS: [Row; Name::ALL.len()] = [$(Row {
        name: Name::$variant,
        text: $text,
        cl: number!($cl),
        shader: number!($shader),
        since: since!($shader),
        section: Section::$section,
        place: Place::$place,
        all_operands: &[$(OperandRow::new(Field::$field, $kind)$($(.$more())*)?),*],
    }),*];
} }
for_each_instruction!(make_instructions);

/// Instructions by set and number.
static NUMBERED: [[Option<Name>; 256]; Set::ALL.len()] = {
    let mut numbered = [[None; 256]; Set::ALL.len()];
    let mut set = 0;
    while set < Set::ALL.len() {
        let mut row = 0;
        while row < ROWS.len() {
            if let Some(number) = ROWS[row].number(Set::ALL[set]) {
                numbered[Set::ALL[set] as usize][number as usize] = Some(ROWS[row].name);
            }
            row += 1;
        }
        set += 1;
    }
    numbered
};

impl Name {
    /// Row of the instruction.
    pub fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// The instruction with this number in the set.
    pub fn numbered(set: Set, number: u32) -> Option<Self> {
        *NUMBERED[set as usize].get(number as usize)?
    }
}

impl Row {
    /// Name in a set: `OpenCL.DebugInfo.100` has the name of its extension `SPV_INTEL_debug_module`.
    pub const fn text_in(&self, set: Set) -> &'static str {
        match (self.name, set) {
            (Name::Module, Set::OpenCl) => "DebugModuleINTEL",
            _ => self.text,
        }
    }

    /// Number in the set; `None` if the set lacks the instruction.
    pub const fn number(&self, set: Set) -> Option<u32> {
        match set {
            Set::OpenCl => self.cl,
            _ if set.includes(self.since) => self.shader,
            _ => None,
        }
    }

    /// Operands in a set, in order.
    pub fn operands(&self, set: Set) -> impl Iterator<Item = &'static OperandRow> + use<> {
        self.all_operands.iter().filter(move |operand| operand.is_in(set))
    }

    /// The operand at this index, counted from 0, of an instruction with `count` operands.
    pub fn operand(&self, set: Set, index: usize, count: usize) -> Option<&'static OperandRow> {
        Some(self.form(set, count).at(index)?.row(self.name))
    }

    /// Operands of an instruction with `count` operands.
    pub(super) fn form(&self, set: Set, count: usize) -> &'static Form {
        // Version 200 has a checksum of two operands before the text; a single operand is the text of version 100.
        let is_short = matches!((self.name, set, count), (Name::Source, Set::Shader200, 2));
        self.name.form(if is_short { Set::Shader } else { set })
    }

    /// Whether the instruction can have `count` operands.
    pub fn takes(&self, set: Set, count: usize) -> bool {
        let is = |repeat: Repeat| self.operands(set).filter(|operand| operand.repeat == repeat).count();
        let (once, optional) = (is(Repeat::Once), is(Repeat::Optional));
        let (many, some, pairs) = (is(Repeat::Many), is(Repeat::Some), is(Repeat::Pairs));
        match count.checked_sub(once) {
            None => false,
            Some(_) if many > 0 => true,
            Some(more) if some > 0 => more >= 1,
            Some(more) if pairs > 0 => more.is_multiple_of(pairs),
            Some(more) => more <= optional,
        }
    }
}
