//! Modules with one fault each, and valid modules, with the verdict of `spirv-val` of SPIRV-Tools 2023.1.

use eitri::spirv::Rule::{self, *};

use Verdict::{Accepts, Rejects};

/// Verdict of `spirv-val` on a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Accepts,
    Rejects,
}

/// A module: one with every instruction, after replacements in its text.
pub struct Case {
    pub name: &'static str,
    pub edits: &'static [(&'static str, &'static str)],
    /// The only violated rule.
    pub rule: Option<Rule>,
    pub outside: Verdict,
}

const fn broken(
    rule: Rule,
    name: &'static str,
    edits: &'static [(&'static str, &'static str)],
    outside: Verdict,
) -> Case {
    Case { name, edits, rule: Some(rule), outside }
}

const fn right(name: &'static str, edits: &'static [(&'static str, &'static str)], outside: Verdict) -> Case {
    Case { name, edits, rule: None, outside }
}

/// Cases for `OpenCL.DebugInfo.100`.
#[rustfmt::skip]
pub const OPENCL: &[Case] = &[
    broken(IdRange, "id 0", &[("TypePointer %int", "TypePointer !0")], Rejects),
    broken(IdRange, "an id that is not below the bound", &[("TypePointer %int", "TypePointer !9999")], Rejects),
    broken(DefinedOnce, "an id defined twice", &[("%tomember = ", "%qualified = ")], Rejects),
    broken(Set, "a set that is a constant", &[("%void %dbg DebugNoScope", "%void %u1 !24")], Rejects),
    broken(UnknownSet, "a set of a later version", &[("%dbg = OpExtInstImport", "%later = OpExtInstImport \"OpenCL.DebugInfo.200\"\n%dbg = OpExtInstImport"), ("%none = ", "%removed = OpExtInst %void %later !0\n%none = ")], Rejects),
    broken(ResultType, "a result that is an integer", &[("%void %dbg DebugNoScope", "%uint %dbg DebugNoScope")], Rejects),
    broken(Instruction, "a number of no instruction", &[("DebugNoScope", "!37")], Rejects),

    broken(OperandCount, "an operand too few", &[("Vector %int 4", "Vector %int")], Rejects),
    broken(OperandCount, "an operand too many", &[("Vector %int 4", "Vector %int 4 4")], Rejects),
    broken(OperandCount, "odd enumerators", &[("%u1 %n_other\n", "%u1\n")], Accepts),
    broken(OperandCount, "an array without dimensions", &[("Array %int %u4 %length %l128", "Array %int")], Accepts),
    broken(OperandCount, "a template without parameters", &[("%record %tparam %vparam %ttparam", "%record")], Accepts),
    broken(OperandCount, "a pack without parameters", &[("5 1 %tparam %vparam", "5 1")], Accepts),
    broken(OperandCount, "a 0 behind the tag", &[("ImportedModule", "ImportedModule !0")], Rejects),

    broken(OperandKind, "a string as a type", &[("TypePointer %int", "TypePointer %file")], Rejects),
    broken(OperandKind, "a source as a type", &[("TypePointer %int", "TypePointer %source")], Rejects),
    broken(OperandKind, "a member as a type", &[("DebugLocalVariable %n_name %int", "DebugLocalVariable %n_name %member")], Accepts),
    broken(OperandKind, "a parameter of a template as a type", &[("DebugLocalVariable %n_name %int", "DebugLocalVariable %n_name %tparam")], Accepts),
    broken(OperandKind, "a number as a name", &[("Basic %n_int", "Basic %u32")], Rejects),
    broken(OperandKind, "a size of 16 bits", &[("Basic %n_int %u32", "Basic %n_int %s4")], Accepts),
    broken(OperandKind, "no constant as a size", &[("Basic %n_int %u32", "Basic %n_int %uint")], Rejects),
    broken(OperandKind, "a null as a size", &[("Basic %n_int %u32", "Basic %n_int %null")], Rejects),
    broken(OperandKind, "a string as a source", &[("Typedef %n_name %int %source", "Typedef %n_name %int %file")], Rejects),
    broken(OperandKind, "a type as a scope", &[("1 11 %unit", "1 11 %int")], Rejects),
    broken(OperandKind, "a discriminator as a scope", &[("DebugScope %block %inner", "DebugScope %discrim %inner")], Rejects),
    broken(OperandKind, "an enumerator of 64 bits", &[("%u0 %n_name %u1", "%l128 %n_name %u1")], Accepts),
    broken(OperandKind, "an enumerator that is a string", &[("%u0 %n_name %u1", "%n_name %n_name %u1")], Rejects),
    broken(OperandKind, "a void that is no return type", &[("%void %int %pointer", "%void %void %pointer")], Rejects),
    right("no linkage name", &[("Union %source 3 1 %unit %n_mangled", "Union %source 3 1 %unit %none")], Rejects),
    broken(OperandKind, "a declaration as a member", &[("%inherits %method", "%inherits %method %decl")], Rejects),
    broken(OperandKind, "a member in a function", &[("4 2 %record %u32", "4 2 %unit %u32")], Rejects),
    broken(OperandKind, "an offset that is a truth value", &[("4 2 %record %u32", "4 2 %record %yes")], Rejects),
    broken(OperandKind, "a base class that is a basic type", &[("%record %base", "%record %int")], Rejects),
    broken(OperandKind, "a pointer to a member of a basic type", &[("ToMember %int %record", "ToMember %int %int")], Accepts),
    broken(OperandKind, "a template of a basic type", &[("Template %record", "Template %int")], Rejects),
    broken(OperandKind, "a template of a number", &[("Template %record %tparam", "Template %record %int")], Rejects),
    broken(OperandKind, "a value that is a type", &[("%n_other %int %u4 %source", "%n_other %int %int %source")], Rejects),
    broken(OperandKind, "a template's name that is a number", &[("TemplateTemplateParameter %n_name %n_other", "TemplateTemplateParameter %n_name %u1")], Accepts),
    broken(OperandKind, "a pack of a type", &[("5 1 %tparam %vparam", "5 1 %int")], Accepts),
    broken(OperandKind, "a function as a variable", &[("%n_mangled %global", "%n_mangled %fntype")], Rejects),
    broken(OperandKind, "a static member that is a type", &[("FlagIsDefinition %static", "FlagIsDefinition %record")], Rejects),
    broken(OperandKind, "a function of a basic type", &[("Declaration %n_name %function", "Declaration %n_name %int")], Accepts),
    broken(OperandKind, "a function that is a variable", &[("6 %main %decl", "6 %global %decl")], Rejects),
    broken(OperandKind, "a declaration that is a definition", &[("6 %none", "6 %none %method")], Rejects),
    broken(OperandKind, "a discriminator of a source that is a unit", &[("Discriminator %source", "Discriminator %unit")], Accepts),
    broken(OperandKind, "inlined into a scope", &[("%block %inner", "%block %block")], Rejects),
    broken(OperandKind, "inlined, and no variable", &[("InlinedVariable %local", "InlinedVariable %int")], Accepts),
    broken(OperandKind, "a declared type", &[("DebugDeclare %arg", "DebugDeclare %int")], Rejects),
    broken(OperandKind, "an inlined variable that is declared", &[("DebugDeclare %arg", "DebugDeclare %inlined")], Rejects),
    broken(OperandKind, "a parameter in place of a variable", &[("%arg %var", "%arg %x")], Accepts),
    broken(OperandKind, "an operation in place of an expression", &[("%arg %var %plain", "%arg %var %deref")], Rejects),
    broken(OperandKind, "a value that is a debug instruction", &[("%local %x %plain", "%local %int %plain")], Accepts),
    broken(OperandKind, "an index that is true", &[("%u1 %u0\n         %no", "%yes %u0\n         %no")], Rejects),
    broken(OperandKind, "an expression of expressions", &[("%constu %swap %xderef", "%constu %swap %plain")], Rejects),
    broken(OperandKind, "the name of a macro's file that is a source", &[("MacroDef %file 8", "MacroDef %source 8")], Accepts),
    broken(OperandKind, "a type that is undefined as a macro is", &[("8 %macro", "8 %int")], Accepts),
    broken(OperandKind, "an imported source", &[("%source %record 8", "%source %source 8")], Accepts),
    broken(OperandKind, "a text that is a source", &[("DebugSource %header", "DebugSource %header %source")], Rejects),
    broken(OperandKind, "a unit of a string", &[("2 5 %source", "2 5 %file")], Rejects),

    broken(Defined, "an id that nothing defines", &[("TypePointer %int", "TypePointer %nothing")], Rejects),
    broken(ForwardReference, "a type that comes later", &[("TypeQualifier %int", "TypeQualifier %unsigned"), ("%unsigned = OpExtInst %void %dbg DebugTypeBasic %n_uint %u32 Unsigned\n", "\n"), ("%vector = ", "%unsigned = OpExtInst %void %dbg DebugTypeBasic %n_uint %u32 Unsigned\n%vector = "), ("%n_name %unsigned %source 1 5 %unit %empty %u4", "%n_name %int %source 1 5 %unit %empty %u4"), ("%u4 %length %l128", "%u4 %l128")], Rejects),
    broken(ForwardReference, "a value that comes later", &[("%local %x %plain", "%local %isone %plain")], Rejects),
    broken(ForwardReference, "an instruction for non-semantic sets", &[("%using = OpExtInst ", "%using = OpExtInstWithForwardRefsKHR ")], Rejects),

    broken(Enumerant, "an encoding", &[("%u32 Signed", "%u32 8")], Rejects),
    broken(Enumerant, "a storage class", &[("%int CrossWorkgroup", "%int 13")], Rejects),
    broken(Enumerant, "a storage class for no space", &[("%int CrossWorkgroup", "%int 4294967295")], Rejects),
    broken(Capability, "generic pointers without the capability", &[("%int CrossWorkgroup", "%int Generic")], Rejects),
    broken(Enumerant, "a qualifier", &[("ConstType", "4")], Rejects),
    broken(Enumerant, "a tag", &[("%n_name Union", "%n_name 3")], Rejects),
    broken(Enumerant, "a language", &[("OpenCL_CPP", "14")], Rejects),
    broken(Enumerant, "an operation", &[("BitPiece 0 32", "10")], Rejects),
    broken(Enumerant, "an imported entity", &[("ImportedDeclaration", "2")], Rejects),
    broken(Flags, "a flag of the other set", &[("FlagTypePassByReference", "FlagUnknownPhysicalLayout")], Rejects),
    broken(Flags, "a flag of no set", &[("FlagTypePassByReference", "262144")], Rejects),

    broken(OperationOperands, "an operation without its operand", &[("PlusUconst 8", "PlusUconst")], Rejects),
    broken(OperationOperands, "an operand too many", &[("Operation Deref", "Operation Deref 1")], Accepts),
    broken(Stack, "an addition of one entry", &[("%uconst %deref", "%uconst %plus %deref")], Accepts),

    right("between types", &[("%none = OpExtInst %void %dbg DebugInfoNone\n", "\n"), ("%ulong = ", "%none = OpExtInst %void %dbg DebugInfoNone\n%ulong = ")], Accepts),
    broken(PlaceGlobals, "in a function", &[("%no = OpExtInst %void %dbg DebugNoScope", "%no = OpExtInst %void %dbg DebugInfoNone")], Rejects),
    broken(PlaceGlobals, "behind the functions", &[("OpReturn\n               OpFunctionEnd\n      %other", "OpReturn\n               OpFunctionEnd\n %late = OpExtInst %void %dbg DebugInfoNone\n      %other")], Rejects),
    broken(PlaceBody, "before the functions", &[("%main = OpFunction ", "%early = OpExtInst %void %dbg DebugNoScope\n%main = OpFunction ")], Rejects),
    broken(PlaceBody, "between functions", &[("OpFunctionEnd\n      %other", "OpFunctionEnd\n %late = OpExtInst %void %dbg DebugNoScope\n      %other")], Rejects),
    broken(PlaceBlock, "between a merge and the branch", &[("%last None\n", "%last None\n%late = OpExtInst %void %dbg DebugNoScope\n")], Rejects),
    right("behind a block", &[("OpReturn\n", "OpReturn\n%late = OpExtInst %void %dbg DebugNoScope\n")], Accepts),
    broken(OtherFunction, "a value of another function", &[("%single = OpLabel\n", "%single = OpLabel\n%late = OpExtInst %void %dbg DebugValue %local %x %plain\n")], Rejects),

    broken(OpaqueType, "a type without a size, and a usual name", &[("Composite %n_opaque", "Composite %n_name")], Accepts),
    broken(OpaqueType, "a type without a size, and members", &[("%none FlagFwdDecl", "%none FlagFwdDecl %inherits")], Accepts),
    broken(CountVariable, "a variable of a signed type", &[("%n_name %unsigned %source 1 5", "%n_name %int %source 1 5")], Rejects),
    broken(CountVariable, "a variable of a type of 96 bits", &[("%n_uint %u32 Unsigned", "%n_uint %u96 Unsigned")], Rejects),
    broken(CountVariable, "a variable of a pointer", &[("%n_name %unsigned %source 1 5", "%n_name %pointer %source 1 5")], Rejects),
    broken(ClassOrStructure, "a base class that is a union", &[("%record %base", "%record %union")], Rejects),
    broken(ClassOrStructure, "a pointer to a member of a union", &[("ToMember %int %record", "ToMember %int %union")], Accepts),
    broken(ClassOrStructure, "a template of a union", &[("Template %record", "Template %union")], Accepts),
    broken(MemberScope, "a member that its type does not have", &[("%member %static %inherits", "%member %inherits")], Accepts),
    broken(TemplateNumbers, "a pack as a template", &[("TemplateParameterPack %n_name %source", "TemplateTemplateParameter %n_name %source")], Rejects),
    broken(TemplateNumbers, "a template as a pack", &[("TemplateTemplateParameter %n_name", "TemplateParameterPack %n_name"), ("%vparam %ttparam", "%vparam")], Accepts),
    broken(MacroName, "white space before the parameters", &[("8 %n_macro", "8 %n_space")], Accepts),
    broken(MacroName, "parameters without an end", &[("\"MAX(a,b)\"", "\"MAX(a,b\"")], Accepts),
    broken(Namespace, "a block that is imported", &[("%source %space 8", "%source %block 8")], Accepts),
    broken(Namespace, "a type as a namespace", &[("%source %space 8", "%source %record 8")], Accepts),
    broken(Line, "a line beyond the text", &[("1 11 %unit", "9 1 %unit")], Accepts),
    broken(Line, "the line of a scope beyond the text", &[("6 %main", "9 %main")], Accepts),
    broken(Line, "inlined beyond the text", &[("InlinedAt 7 %caller", "InlinedAt 9 %caller")], Accepts),
    broken(Column, "a column beyond the line", &[("1 11 %unit", "1 13 %unit")], Accepts),

    right("every instruction", &[], Accepts),
    right("an instruction of an extension", &[("OpMemoryModel", "OpExtension \"SPV_INTEL_debug_module\"\nOpMemoryModel"), ("DebugNoScope", "!36")], Rejects),
    right("no text, and any line", &[("DebugSource %file %text", "DebugSource %file"), ("1 11 %unit", "99 99 %unit")], Accepts),
    right("line 0 and column 0", &[("1 11 %unit", "0 0 %unit")], Accepts),
    right("a typedef of a structure", &[("%n_name %int %source 1 11", "%n_name %pointer %source 1 11")], Rejects),
    right("a qualified pointer", &[("%pointer = OpExtInst %void %dbg DebugTypePointer %int", "%pointer = OpExtInst %void %dbg DebugTypePointer %qualified")], Rejects),
    right("a vector of 16", &[("Vector %int 4", "Vector %int 16")], Rejects),
    right("a vector of a typedef", &[("Vector %int 4", "Vector %qualified 4")], Rejects),
    right("an array of nothing", &[("%int %u4 %length", "%int %u0 %length")], Rejects),
    right("a pack in a template", &[("%vparam %ttparam", "%vparam %pack")], Rejects),
    right("an index of run time", &[("%part %u1 %u0", "%part %u1 %x")], Rejects),
    right("a variable that is a null", &[("%empty %u4 Flag", "%empty %null Flag")], Rejects),
    right("a removed declaration", &[("6 %main %decl", "6 %main %none")], Rejects),
    right("a removed return type", &[("FlagPrototyped %void %int", "FlagPrototyped %none %int")], Rejects),
    right("a removed type", &[("DebugLocalVariable %n_name %int", "DebugLocalVariable %n_name %none")], Rejects),
    right("a text with a line directive", &[("\"line 1    !", "\"#line 100"), ("1 11 %unit", "107 99 %unit")], Accepts),
    right("lower bounds", &[("%int %u4 %length %l128", "%int %u4 %none")], Rejects),
    right("a checksum as a text", &[("\"line 1    !", "\"//__CSK_MD5:00"), ("1 11 %unit", "99 1 %unit")], Accepts),
    right("a scope before the first block", &[("%entry = OpLabel", "%early = OpExtInst %void %dbg DebugScope %method\n%entry = OpLabel")], Accepts),
];

/// Cases for `NonSemantic.Shader.DebugInfo.100`, without base classes: there `spirv-val` expects the derived class as
/// first operand, which this set lacks.
#[rustfmt::skip]
pub const SHADER: &[Case] = &[
    right("a declared parameter", &[("     %taking = OpTypeFunction %void %uint\n", "\n"), ("%private = OpTypePointer Function %uint\n", "%private = OpTypePointer Function %uint\n%taking = OpTypeFunction %void %private\n"), ("%y = OpFunctionParameter %uint", "%y = OpFunctionParameter %private"), ("%single = OpLabel\n", "%single = OpLabel\n%late = OpExtInst %void %dbg DebugDeclare %local %y %plain\n")], Accepts),
    broken(IdRange, "id 0", &[("TypePointer %int", "TypePointer !0")], Rejects),
    broken(Extension, "no extension", &[("OpExtension \"SPV_KHR_non_semantic_info\"\n", "\n")], Rejects),
    broken(Instruction, "a number of no instruction", &[("DebugNoScope", "!109")], Rejects),
    broken(OperandCount, "flags that are not there", &[("%n_uint %u32 %u6 %u0", "%n_uint %u32 %u6")], Rejects),
    broken(OperandCount, "a scope of a member", &[("%u4 %u2 %u32 %u32 %u2", "%u4 %u2 %record %u32 %u32 %u2 %u1")], Rejects),
    broken(OperandKind, "a line of 64 bits", &[("%source %u2 %block", "%source %l128 %block")], Accepts),
    broken(OperandKind, "a string as flags", &[("%u6 %u0\n  %qual", "%u6 %n_int\n  %qual")], Accepts),
    broken(OperandKind, "a matrix of no vector", &[("Matrix %vector", "Matrix %int")], Rejects),
    broken(OperandKind, "a matrix of neither order", &[("%u4 %true", "%u4 %u1")], Accepts),
    broken(OperandKind, "an entry point that is a type", &[("Point %method", "Point %int")], Accepts),
    broken(OperandKind, "a path that is a number", &[("Path %n_path", "Path %u1")], Accepts),
    broken(OperandKind, "a line in a unit", &[("Line %source", "Line %unit")], Accepts),
    broken(OperandKind, "an operation's number of 64 bits", &[("%u8 %u100", "%u8 %l128")], Rejects),
    broken(ForwardReference, "a member that comes later", &[("     %static = OpExtInst %void %dbg DebugTypeMember %n_other %int %source %u4 %u2 %u0 %u32 %u3 %u1\n", "\n"), ("     %opaque = ", "     %static = OpExtInst %void %dbg DebugTypeMember %n_other %int %source %u4 %u2 %u0 %u32 %u3 %u1\n     %opaque = ")], Rejects),
    broken(Enumerant, "an encoding", &[("%u4 %uflags1", "%u8 %uflags1")], Accepts),
    broken(Enumerant, "an operation", &[("%u4 %u0 %u32\n", "%u10 %u0 %u32\n")], Accepts),
    broken(Flags, "a flag of no set", &[("%u4 %uflags1", "%u4 %uflags2")], Accepts),
    broken(Flags, "a build identifier's flag", &[("%n_build %u1", "%n_build %u2")], Accepts),
    broken(OperationOperands, "an operation without its operand", &[("%u3 %u8\n      %piece", "%u3\n      %piece")], Accepts),
    broken(Stack, "a dereference in a space without one", &[("%constu %swap %xderef", "%xderef")], Accepts),

    right("between types", &[("%none = OpExtInst %void %dbg DebugInfoNone\n", "\n"), ("%ulong = ", "%none = OpExtInst %void %dbg DebugInfoNone\n%ulong = ")], Accepts),
    broken(PlaceBody, "a line before the functions", &[("%main = OpFunction ", "%early = OpExtInst %void %dbg DebugNoLine\n%main = OpFunction ")], Rejects),
    broken(PlaceBlock, "before a variable", &[("%var = OpVariable", "%early = OpExtInst %void %dbg DebugNoScope\n%var = OpVariable")], Rejects),
    broken(PlaceBlock, "before a block", &[("%single = OpLabel", "%early = OpExtInst %void %dbg DebugNoScope\n%single = OpLabel")], Accepts),
    right("behind a block", &[("OpReturn\n", "OpReturn\n%late = OpExtInst %void %dbg DebugNoScope\n")], Accepts),
    broken(PlaceBlock, "between a merge and the branch", &[("%last None\n", "%last None\n%late = OpExtInst %void %dbg DebugNoScope\n")], Rejects),

    broken(SourceContinued, "behind a source without a text", &[("  %continued = OpExtInst %void %dbg DebugSourceContinued %rest\n   %included = OpExtInst %void %dbg DebugSource %more", "  %included = OpExtInst %void %dbg DebugSource %more\n   %continued = OpExtInst %void %dbg DebugSourceContinued %empty"), ("line 3\"", "line 3    !\nline 4    !\nline 5    !\nline 6    !\nline 7    !\nline 8\"")], Accepts),
    broken(Line, "a line beyond the text", &[("Typedef %n_name %int %source %u1", "Typedef %n_name %int %source %u9")], Accepts),
    broken(Line, "a location beyond the text", &[("Line %source %u7 %u7", "Line %source %u7 %u9")], Accepts),
    broken(Column, "a column beyond the line", &[("%u1 %u10 %unit", "%u1 %u32 %unit")], Accepts),
    broken(LineRange, "an end before the start", &[("Line %source %u7 %u7", "Line %source %u7 %u6")], Accepts),
    broken(LineRange, "a column before the start", &[("%u7 %u7 %u1 %u5", "%u7 %u7 %u5 %u1")], Accepts),
    broken(BuildIdentifier, "capitals", &[("\"0123456789abcdef0", "\"0123456789ABCDEF0")], Accepts),
    broken(BuildIdentifier, "too short", &[("\"0123456789abcdef0", "\"")], Accepts),
    broken(EntryPoint, "a function that is not defined", &[("Point %method", "Point %caller")], Accepts),
    broken(FunctionDefinition, "another function", &[("%single = OpLabel\n", "%single = OpLabel\n%again = OpExtInst %void %dbg DebugFunctionDefinition %caller %main\n")], Accepts),
    broken(FunctionDefinition, "twice in a function", &[("%main\n      %scope", "%main\n %again = OpExtInst %void %dbg DebugFunctionDefinition %caller %main\n      %scope")], Accepts),
    broken(FunctionDefinition, "one in two functions", &[("%single = OpLabel\n", "%single = OpLabel\n%again = OpExtInst %void %dbg DebugFunctionDefinition %method %other\n")], Accepts),
    broken(FunctionDefinition, "not in the first block", &[("%then = OpLabel\n", "%then = OpLabel\n%late = OpExtInst %void %dbg DebugFunctionDefinition %method %main\n"), (" %definition = OpExtInst %void %dbg DebugFunctionDefinition %method %main\n", "\n")], Accepts),
    broken(UnknownLayout, "a member that its type has no room for", &[("%n_other %u96 %u0", "%n_other %u32 %uflags1")], Accepts),
    broken(UnknownLayout, "a member without a size", &[("%u0 %u32 %u3 %u1", "%u0 %u0 %uflags1 %u1")], Accepts),
    broken(OpaqueType, "a type without a size, and members", &[("%n_other %none %u0", "%n_other %none %u0 %member")], Accepts),

    right("every other instruction", &[], Accepts),
    right("an array of nothing", &[("%int %u4 %length", "%int %u0 %length")], Accepts),
    right("an expression as a variable", &[("%n_other %global", "%n_other %plain"), ("%plain = OpExtInst %void %dbg DebugExpression\n", "\n"), ("%none = ", "%plain = OpExtInst %void %dbg DebugExpression\n%none = ")], Rejects),
    right("members that come later, where that is declared", &[("%record = OpExtInst ", "%record = OpExtInstWithForwardRefsKHR "), ("     %static = OpExtInst %void %dbg DebugTypeMember %n_other %int %source %u4 %u2 %u0 %u32 %u3 %u1\n", "\n"), ("     %opaque = ", "     %static = OpExtInst %void %dbg DebugTypeMember %n_other %int %source %u4 %u2 %u0 %u32 %u3 %u1\n     %opaque = ")], Rejects),
    right("a specialization constant as an offset", &[("%u4 %u2 %u32 %u32 %u2", "%u4 %u2 %spec %u32 %u2"), ("%l128 = ", "%spec = OpSpecConstant %uint 32\n%l128 = ")], Rejects),
];

/// Cases for `NonSemantic.Shader.DebugInfo.101`, which `spirv-val` does not know.
#[rustfmt::skip]
pub const SHADER101: &[Case] = &[
    broken(Instruction, "a number of no instruction", &[("DebugNoScope", "!111")], Accepts),
    broken(Instruction, "a vector of a later version", &[("DebugInfo.101", "DebugInfo.100"), ("%float = OpExtInst %void %dbg DebugTypeBasic %n_name %u8 %u3 %u0 %uformat", "%float = OpExtInst %void %dbg DebugTypeBasic %n_name %u8 %u3 %u0"), ("DebugTypeVectorIdEXT", "!109"), ("%tile = OpExtInst %void %dbg DebugTypeCooperativeMatrixKHR %float %u3 %spec %u8 %u2\n", "\n")], Rejects),
    broken(OperandCount, "two formats of a number", &[("%u0 %uformat", "%u0 %uformat %uformat")], Accepts),
    broken(OperandCount, "a matrix without a use", &[("%spec %u8 %u2", "%spec %u8")], Accepts),
    broken(OperandKind, "a format of 64 bits", &[("%u0 %uformat", "%u0 %l128")], Accepts),
    broken(OperandKind, "a format that is specialized", &[("%u0 %uformat", "%u0 %spec")], Accepts),
    broken(OperandKind, "a length that is true", &[("%float %spec", "%float %true")], Accepts),
    broken(OperandKind, "a scope that is a unit", &[("KHR %float %u3", "KHR %float %unit")], Accepts),
    broken(OperandKind, "rows of a type", &[("%u3 %spec", "%u3 %float")], Accepts),
    broken(OperandKind, "an element that is a number", &[("IdEXT %float", "IdEXT %u8")], Accepts),
    broken(OperandKind, "a matrix of a vector whose length is an id", &[("%tile = ", "%wide = OpExtInst %void %dbg DebugTypeMatrix %long %u4 %true\n%tile = ")], Accepts),
    broken(Enumerant, "a format of the list", &[("4214", "1")], Accepts),
    broken(FpEncoding, "a format of whole numbers", &[("%u8 %u3 %u0 %uformat", "%u8 %u6 %u0 %uformat")], Accepts),
    right("every other instruction", &[], Accepts),
    right("a length of 64 bits", &[("%float %spec", "%float %l128")], Accepts),
];
