//! Reasons why an import of debug instructions omits or changes what they encode: one table.

use super::reason::reasons;
use crate::error::{Count, ErrorKind};
use crate::spirv::Enumeration;

reasons! {
    /// Reason why an import omits or changes what debug instructions encode.
    Unimported: text(_object);

    // The instruction as a whole, or an operand.
    NotImported(operand: &'static str, id: u32) "its {operand} %{id} is not";
    LinkageName "its linkage name is not described";
    TemplateParameterLine "where it is declared is not described";
    Missing(operand: &'static str) "it has no {operand}";
    Unknown(operand: &'static str) "its {operand} is not known";
    UnknownConstant(id: u32) "the value of %{id} is not known";
    UnsizedConstant(id: u32) "the constant %{id} is of a type without a size, or of a large one";
    Refused(why: ErrorKind) "{why}";
    Flags(flags: u32) "{} is not described", Enumeration::Flags.text(*flags);
    NotDebug(operand: &'static str, id: u32) "its {operand} %{id} is no debug instruction";
    Duplicate "another says it already";
    InFunction "it stands in a function";
    NoInstruction(set: &'static str, number: u32) "{set} has no instruction {number}";
    OtherSet(set: &'static str) "what {set} says is not described";
    UnknownSet(name: String, count: usize)
        "{name:?}: a set that is not known, with {}: what they say is not described", Count(*count, "debug instruction");
    Language(number: u32) "source language {number} is not in the list of SPIR-V";
    NoUnits "the module has no DebugCompilationUnit, and nothing of its source is described";
    NoUnit "it is in no unit";
    UnitNotImported "its unit is not described";

    // Metadata, units and sources.
    SecondMetadata "the module has one already, and this is not described";
    NoPath "its path is no string";
    NotBuildIdentifier "it is not 32 lowercase hexadecimal digits, or more";
    OtherText "another source has the same name, and its text is another";
    PartialChecksums "the unit has files without a checksum, and so this one has none";
    ColumnWithoutLine(column: u32) "column {column} is of no line, and is not described";
    LineWithoutSource(line: u32) "line {line} is of no source";
    OtherProducer "another entry point of the unit has another compiler or command line";

    // Types.
    NoType "it is no type";
    NotType(id: u32) "%{id} is no type";
    NotTypeInstruction(instruction: &'static str) "{instruction} is no type";
    Qualifier "the qualifier is none of the list";
    Tag "it is no class, structure or union";
    Format(format: u32) "only its name is described, and not that it is a number of {}", Enumeration::FpEncoding.text(*format);
    NameOnly(bits: u64) "only its name is described, and not that it has {}", Count(*bits, "bit");
    OpaqueNameOnly "nothing but its name is described";
    CooperativeMatrix "only that it is a type is described: which invocation has what of it is not known";
    LengthId "that its length is an id";
    NoParameterType "a parameter without a type";
    StorageClass "its storage class is not described";
    UnknownCount(id: u32) "a number of elements, %{id}, is not known";
    NoUnderlyingType(bits: u64) "its values are described as unsigned numbers of {}", Count(*bits, "bit");
    UnderlyingSize(bits: u64, size: u64)
        "its size is described as {}, as that of its values, and not {size}", Count(*bits, "bit");
    UnnamedEnumerator "its last enumerator has no name";
    UnknownEnumerator(name: String) "the value of `{name}` is not known";
    WholeBytes(bits: u64) "its size of {} is described as whole bytes", Count(*bits, "bit");
    DescribedAgain "it is described again, in the unit that uses it";
    DescribedInUnit(why: Box<Unimported>) "it is described in its unit: {}", why.text(_object);
    NoLayout "where its members are is not said: they are described one behind the other";
    LargerThanType "its size is described as that of its type, which is less";
    MemberValue "the value of a member that is not static is not described";
    OtherDerived "what is derived is described as the type that has it as a member";
    BaseSize "its size is described as that of the base class";
    BaseBit(bit: u64) "it begins at bit {bit}";
    NotMember(id: u32) "it is no member of %{id}";
    OtherScope "its scope is not the type that it is a member of";
    MemberOfNoType "no type has it among its members";
    OfNoType "it is of no type";
    TypeNotImported(id: u32) "the type %{id} is not";
    SecondTemplate "what it is the template of has another";
    ValueWithoutType "a value without a type";
    PackInPack "a pack is in a pack";
    NotTemplateParameter "it is no parameter of a template";

    // Functions, scopes and inlined calls.
    ParameterOfNoFunction "a parameter that is in no function is a variable";
    ParameterType(variable: u32) "the type of a parameter is described as that of its variable, %{variable}";
    UntypedParameter(number: u32) "parameter {number} is of no type, and is not described";
    NotFunctionType "its type is that of no function, and not described";
    NoDeclaration(id: u32) "its declaration %{id} is not described";
    AsFunctionDeclared "its name, or who may call it, is described as its declaration says it";
    BodyWithoutLine "the line of its body is not described: it has no line itself";
    NotFunction(id: u32) "%{id} is no OpFunction";
    OtherFunction(id: u32) "another describes %{id} already";
    SecondCode "it has code already";
    FunctionNotImported "the function is not described";
    BlockOfNoFunction "a block that is in no function is described as the scope around it";
    OwnBlock "its instructions are described as those of a block of their own";
    InlinedIntoItself "the call is inlined into itself";
    InlinedIntoUnknown "the scope into which it was inlined is not described";
    NotInlinable "what was inlined is no function, and no block of one";
    NothingInlined "nothing is said to be inlined there, and it is not described";
    NoInlinedVariable "its variable or its call is not";

    // Variables, and variables of functions.
    OutsideUnit "it is described as defined in the unit";
    AsVariableDeclared "its name and type are described as those of its declaration";
    NoStaticMember(id: u32) "the static member %{id} is not described";
    UnknownPlace(id: u32) "where it is, %{id}, is not described";
    Undefined(id: u32) "%{id} is not defined";
    Untyped(operand: &'static str) "its {operand} is a DebugInfoNone, and described as an unspecified type";
    StaticLayout "where a static member is in an object, and its size, are not described";
    OtherScopeInstructions "the scope is none of the function, and its instructions are of none";
    LineRange "a range of lines is described as its first";
    OtherVariable "the variable is none of the function, or of what was inlined into it here";
    NoBlock "it is in no block";

    // Imports and macros.
    ImportColumn "its column is of no line, and is not described";
    NotImportable(id: u32) "%{id} is nothing that can be imported";
    NotMacro "what it is the end of is no DebugMacroDef";
}
