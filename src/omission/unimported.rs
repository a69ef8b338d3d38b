//! Reasons why an import of debug instructions omits or changes what they encode: one table.

use crate::error::{Count, ErrorKind};
use crate::spirv::{Enumeration, Field, InstructionName, Set};
use eitri_dwarf::texts;

texts! {
    /// Reason why an import omits or changes what debug instructions encode.
    Unimported;

    // The instruction as a whole, or an operand.
    NotImported(operand: Field, id: u32) "its {} %{id} is not imported", operand.text();
    LinkageName "its linkage name is not imported";
    TemplateParameterLine "its line is not imported";
    Missing(operand: Field) "it has no {}", operand.text();
    Unknown(operand: Field) "its {} is unknown", operand.text();
    UnknownConstant(id: u32) "the value of %{id} is unknown";
    UnsizedConstant(id: u32) "the type of the constant %{id} has no size, or a large one";
    Refused(why: ErrorKind) "{why}";
    Flags(flags: u32) "{} is not imported", Enumeration::Flags.text(*flags, Set::Shader200);
    NotDebug(operand: Field, id: u32) "%{id}, one of its {}, is not a debug instruction", operand.text();
    Duplicate "another instruction has the same operands";
    InFunction "it is inside a function";
    NoInstruction(set: Set, number: u32) "{} has no instruction {number}", set.name();
    OtherSet(set: Set) "instructions of {} are not imported", set.name();
    UnknownSet(name: String, count: usize)
        "{name:?} is not a known set; it has {}: not imported", Count(*count, "debug instruction");
    Language(number: u32) "{number} is not a source language of SPIR-V";
    NoUnits "without a DebugCompilationUnit, the source is not imported";
    NoUnit "it belongs to no unit";
    UnitNotImported "its unit is not imported";

    // Metadata, units and sources.
    SecondMetadata "the module has one already";
    NoPath "its path is not a string";
    NotBuildIdentifier "it is not 32 or more lowercase hexadecimal digits";
    Checksum "its checksum is not an MD5, and is omitted";
    OtherText "another source has the same name and another text";
    PartialChecksums "its checksum is omitted: other files of the unit have none";
    ColumnWithoutLine(column: u32) "column {column} is not imported: it has no line";
    LineWithoutSource(line: u32) "line {line} has no source";
    OtherProducer "another entry point of the unit has another compiler or command line";

    // Types.
    NoType "it is not a type";
    NotType(id: u32) "%{id} is not a type";
    NotTypeInstruction(instruction: InstructionName) "{} is not a type", instruction.text();
    Qualifier "its qualifier is not in the list of the set";
    Tag "it is not a class, structure or union";
    Format(format: u32) "only its name is imported, not its format {}", Enumeration::FpEncoding.text(*format, Set::Shader101);
    NameOnly(bits: u64) "only its name is imported, not its size of {}", Count(*bits, "bit");
    OpaqueNameOnly "only its name is imported";
    CooperativeMatrix(operand: Field) "its {} is unknown, and it is imported as an unspecified type", operand.text();
    LengthId "its length is an id, and it is imported as a vector with a literal length";
    NoParameterType "a parameter has no type";
    StorageClass "its storage class is not imported";
    UnknownCount(id: u32) "the count %{id} is unknown";
    Bound(operand: Field, id: u32) "its {} %{id} is not a known number, and is omitted", operand.text();
    NoSubrange(id: u32) "%{id} is not a DebugTypeSubrange";
    OtherStride "its strides differ from those of an array, and are omitted";
    Descriptor(operand: Field) "its {} is not imported", operand.text();
    StringType "only its name is imported: the length of a string is not a part of its type";
    NoUnderlyingType(bits: u64) "its values are imported as unsigned numbers of {}", Count(*bits, "bit");
    UnderlyingSize(bits: u64, size: u64)
        "its size is imported as {}, that of its values, instead of {size}", Count(*bits, "bit");
    UnnamedEnumerator "its last enumerator has no name";
    UnknownEnumerator(name: String) "the value of `{name}` is unknown";
    WholeBytes(bits: u64) "its size of {} is imported as whole bytes", Count(*bits, "bit");
    DescribedAgain "it is imported again, in the unit that uses it";
    DescribedInUnit(why: Box<Unimported>) "it is imported in its unit: {why}";
    NoLayout "the offsets of its members are unknown, and imported one after the other";
    LargerThanType "its size is imported as that of its type, which is less";
    MemberValue "the value of a non-static member is not imported";
    OtherDerived "the derived type is imported as the type that has it as a member";
    BaseSize "its size is imported as that of the base class";
    BaseBit(bit: u64) "it begins at bit {bit}, which is not a whole byte";
    NotMember(id: u32) "it is not a member of %{id}";
    OtherScope "its scope is not the type that it is a member of";
    MemberOfNoType "no type has it among its members";
    OfNoType "it belongs to no type";
    TypeNotImported(id: u32) "the type %{id} is not imported";
    SecondTemplate "its target has another template already";
    ValueWithoutType "its value has no type";
    PackInPack "it is a pack in a pack";
    NotTemplateParameter "it is not a template parameter";

    // Functions, scopes and inlined calls.
    ParameterOfNoFunction "a parameter outside functions is imported as a variable";
    ParameterType(variable: u32) "the type of a parameter is imported as that of its variable %{variable}";
    UntypedParameter(number: u32) "parameter {number} has no type, and is not imported";
    NotFunctionType "its type is not that of a function, and is not imported";
    NoDeclaration(id: u32) "its declaration %{id} is not imported";
    AsFunctionDeclared "its name is imported as in its declaration";
    BodyWithoutLine "the line of its body is not imported: it has no line itself";
    NotFunction(id: u32) "%{id} is not an OpFunction";
    OtherFunction(id: u32) "another function has %{id} already";
    SecondCode "it has code already";
    FunctionNotImported "the function is not imported";
    BlockOfNoFunction "a block outside functions is imported as the enclosing scope";
    OwnBlock "its instructions are imported as a block of their own";
    InlinedIntoItself "the call is inlined into itself";
    InlinedIntoUnknown "the scope into which it was inlined is not imported";
    NotInlinable "the inlined scope is neither a function nor a block of one";
    NothingInlined "no instruction or variable belongs to it";
    NoInlinedVariable "its variable or its call is not imported";

    // Variables, and functions' variables.
    OutsideUnit "it is imported as defined in the unit";
    AsVariableDeclared "its name and type are imported as in its declaration";
    NoStaticMember(id: u32) "the static member %{id} is not imported";
    UnknownPlace(id: u32) "its storage %{id} is not imported";
    Undefined(id: u32) "%{id} is not defined";
    Untyped(operand: Field)
        "its {} is a DebugInfoNone, and imported as an unspecified type", operand.text();
    StaticLayout "the offset and size of a static member are not imported";
    OtherScopeInstructions "the scope is not of the function; its instructions are imported without a scope";
    LineRange "a range of lines is imported as its first line";
    OtherVariable "the variable is neither of the function nor of a function inlined here";
    NoBlock "it is in no block";

    ModuleNamespace "it is imported as a namespace";
    TargetFunction "the function that it calls is not imported";

    // Imports and macros.
    ImportColumn "its column is not imported: it has no line";
    NotImportable(id: u32) "%{id} is not an entity that can be imported";
    NotMacro "the macro that it ends is not a DebugMacroDef";
}
