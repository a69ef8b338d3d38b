//! Small modules for each instruction: additions to a kernel with one function and one variable.
//!
//! `#5` is a number: a literal in `OpenCL.DebugInfo.100`, the id of a constant in the other sets. `%u5` is such a
//! constant in all sets.

use eitri::spirv::InstructionName::{self, *};
use eitri::spirv::Set;

/// A module with an instruction.
#[derive(Clone, Copy)]
pub struct Case {
    /// The instruction.
    pub of: InstructionName,
    /// The special form of this module; empty for the plainest.
    pub form: &'static str,
    /// The only set with this case.
    pub only: Option<Set>,
    /// Type of the variable.
    pub variable: &'static str,
    /// Instructions before the function.
    pub before: &'static str,
    /// Instructions after function and variable.
    pub behind: &'static str,
    /// Instructions after the scope, in the function.
    pub body: &'static str,
    pub edits: &'static [(&'static str, &'static str)],
    /// LLVM's facts about the instruction if it is read; after a `!`, the facts if it is not.
    pub read: &'static str,
    /// Facts that replace those; empty if there are none.
    pub instead: &'static str,
}

const fn case(of: InstructionName, form: &'static str, read: &'static str) -> Case {
    let before = "";
    let behind = "";
    let body = DECLARE;
    Case { of, form, only: None, variable: "%int", before, behind, body, edits: &[], read, instead: "" }
}

const DECLARE: &str = "%declare = DebugDeclare %v %var %plain";

impl Case {
    /// Gives the variable the type `%t`.
    const fn of_type(self, before: &'static str) -> Self {
        Self { variable: "%t", before, ..self }
    }

    const fn before(self, before: &'static str) -> Self {
        Self { before, ..self }
    }

    const fn behind(self, behind: &'static str) -> Self {
        Self { behind, ..self }
    }

    const fn body(self, body: &'static str) -> Self {
        Self { body, ..self }
    }

    const fn edits(self, edits: &'static [(&'static str, &'static str)]) -> Self {
        Self { edits, ..self }
    }

    const fn instead(self, instead: &'static str) -> Self {
        Self { instead, ..self }
    }

    const fn open_cl(self) -> Self {
        Self { only: Some(Set::OpenCl), ..self }
    }

    const fn shader(self) -> Self {
        Self { only: Some(Set::Shader), ..self }
    }

    const fn opencl(self) -> Self {
        Self { only: Some(Set::OpenCl), ..self }
    }

    const fn shader101(self) -> Self {
        Self { only: Some(Set::Shader101), ..self }
    }

    const fn shader200(self) -> Self {
        Self { only: Some(Set::Shader200), ..self }
    }
}

/// A case for an operation, in a value that is an address or a number.
const fn operation(form: &'static str, behind: &'static str, read: &'static str) -> Case {
    case(Operation, form, read).behind(behind).body("%value = DebugValue %v %u4 %e")
}

/// A structure, followed by its member.
const LATER: &str = "%t = DebugTypeComposite %n_s #1 %source #3 #1 %unit %empty %u32 #0 %m
%m = DebugTypeMember %n_x %int %source #4 #2 %t %u0 %u32 #0";
/// A structure, preceded by its member.
const EARLIER: &str = "%m = DebugTypeMember %n_x %int %source #4 #2 %u0 %u32 #0
%t = DebugTypeComposite %n_s #1 %source #3 #1 %unit %empty %u32 #0 %m";
const STRUCTURE: &str = "structure s:32 { x:32 at 0 line 4: int:32 signed }";

#[rustfmt::skip]
pub const CASES: &[Case] = &[
    case(InfoNone, "", "global g /src/a.cl:3").behind("%none = DebugInfoNone
        %g = DebugGlobalVariable %n_g %int %source #3 #1 %unit %empty %none #8"),
    case(InfoNone, "as what is pointed to", "pointer:64 of space 1 to void").of_type("%none = DebugInfoNone
        %t = DebugTypePointer %none #5 #0"),
    case(CompilationUnit, "", "unit DW_LANG_OpenCL /src/a.cl"),
    case(Source, "", "function main /src/a.cl:1"),
    case(Source, "without text", "function main /src/a.cl:1").edits(&[("%file %text", "%file")]),
    case(SourceContinued, "", "").shader().edits(&[("%unit = ", "%more = DebugSourceContinued %text\n%unit = ")]),
    case(EntryPoint, "", "").shader().behind("%point = DebugEntryPoint %function %unit %n_s %empty"),
    case(BuildIdentifier, "", "").shader().behind("%build = DebugBuildIdentifier %n_build #0"),
    case(StoragePath, "", "").shader().behind("%path = DebugStoragePath %file"),

    case(TypeBasic, "", "variable v line 2 of main: int:32 signed"),
    case(TypeBasic, "of its own format", "").shader101().of_type("%t = DebugTypeBasic %n_s %u16 #3 #0"),
    case(TypeVectorId, "", "").shader101().of_type("%t = DebugTypeVectorIdEXT %int %u4"),
    case(TypeCooperativeMatrix, "", "").shader101().of_type("%t = DebugTypeCooperativeMatrixKHR %int #3 %u4 %u4 #2"),
    case(TypeSubrange, "", "").shader200().of_type("%none = DebugInfoNone
        %range = DebugTypeSubrange %u1 %none %u4
        %t = DebugTypeArray %int %range"),
    case(TypeArrayDynamic, "", "").shader200().of_type("%none = DebugInfoNone
        %place = DebugExpression
        %range = DebugTypeSubrange %place %place %none %u4
        %t = DebugTypeArrayDynamic %int %place %none %none %none %range"),
    case(TypeString, "", "").shader200().of_type("%none = DebugInfoNone
        %t = DebugTypeString %n_s %none %none %u32 %none"),
    case(Module, "", "").opencl().behind("%m = DebugModuleINTEL %n_s %source %unit #3 %empty %empty %empty #0"),
    case(Module, "", "").shader200().behind("%m = DebugModule %n_s %source #3 %unit %empty %empty %empty #0
        %using = DebugImportedEntity %empty #1 %source %m #4 #1 %unit"),
    case(TypePointer, "", "pointer:64 of space 1 to int:32 signed").of_type("%t = DebugTypePointer %int #5 #0"),
    case(TypePointer, "to a pointer", "pointer:64 of space 1 to pointer:64 of space 1 to int:32 signed")
        .of_type("%p = DebugTypePointer %int #5 #0
        %t = DebugTypePointer %p #5 #0"),
    case(TypePointer, "a reference", "reference:64 of space 1 to int:32 signed").of_type("%t = DebugTypePointer %int #5 #2048")
        .instead("reference:0 of space 1 to int:32 signed"),
    case(TypeQualifier, "", "const int:32 signed").of_type("%t = DebugTypeQualifier %int #0"),
    case(TypeQualifier, "of a pointer", "const pointer:64 of space 1 to int:32 signed").of_type("%p = DebugTypePointer %int #5 #0
        %t = DebugTypeQualifier %p #0"),
    case(TypeQualifier, "atomic", "atomic int:32 signed").of_type("%t = DebugTypeQualifier %int #3"),
    case(TypeArray, "", "array[4]:128 of int:32 signed").of_type("%t = DebugTypeArray %int %u4"),
    case(TypeArray, "of two dimensions", "array[4][2]:256 of int:32 signed").of_type("%t = DebugTypeArray %int %u4 %u2")
        .instead("array[4]:128 of int:32 signed"),
    case(TypeArray, "of arrays", "array[4]:256 of array[2]:64 of int:32 signed").of_type("%a = DebugTypeArray %int %u2
        %t = DebugTypeArray %a %u4"),
    case(TypeArray, "of a variable's length", "array[g]:0 of int:32 signed").of_type("%unsigned = DebugTypeBasic %n_u %u32 #6
        %n = DebugGlobalVariable %n_g %unsigned %source #3 #1 %unit %empty %u4 #8
        %t = DebugTypeArray %int %n").instead("array[0]:0 of int:32 signed"),
    case(TypeVector, "", "vector[4]:128 of int:32 signed").of_type("%t = DebugTypeVector %int #4"),
    case(TypeVector, "of 16", "vector[16]:512 of int:32 signed").of_type("%t = DebugTypeVector %int #16"),
    case(TypeMatrix, "", "").shader().of_type("%float = DebugTypeBasic %n_float %u32 #3
        %column = DebugTypeVector %float #4
        %t = DebugTypeMatrix %column %u4 %yes"),
    case(Typedef, "", "s = int:32 signed").of_type("%t = DebugTypedef %n_s %int %source #3 #1 %unit"),
    case(Typedef, "of a pointer", "s = pointer:64 of space 1 to int:32 signed").of_type("%p = DebugTypePointer %int #5 #0
        %t = DebugTypedef %n_s %p %source #3 #1 %unit"),
    case(TypeFunction, "", "body 1: () -> void"),
    case(TypeFunction, "with parameters", "body 1: (int:32 signed, int:32 signed) -> int:32 signed")
        .edits(&[("Function #0 %void\n", "Function #0 %int %int %int\n")]),
    case(TypeEnum, "", "E:32 { A = 0, B = 1 } of int:32 signed")
        .of_type("%t = DebugTypeEnum %n_e %int %source #3 #1 %unit %u32 #0 %u0 %n_a %u1 %n_b"),
    case(TypeEnum, "without a type", "E:32 { A = 0, B = 1 } of void").of_type("%none = DebugInfoNone
        %t = DebugTypeEnum %n_e %none %source #3 #1 %unit %u32 #0 %u0 %n_a %u1 %n_b"),
    case(TypeComposite, "", STRUCTURE).open_cl().of_type(LATER),
    case(TypeComposite, "", STRUCTURE).shader().of_type(EARLIER),
    case(TypeComposite, "opaque", "structure @s declared").of_type("%none = DebugInfoNone
        %t = DebugTypeComposite %n_opaque #1 %source #3 #1 %unit %empty %none #16"),
    case(TypeComposite, "that points to itself", "structure s:64 { x:64 at 0 line 4: pointer:64 of space 1 to structure s }")
        .open_cl().of_type("%t = DebugTypeComposite %n_s #1 %source #3 #1 %unit %empty %u64 #0 %m
        %p = DebugTypePointer %t #5 #0
        %m = DebugTypeMember %n_x %p %source #4 #2 %t %u0 %u64 #0"),
    case(TypeMember, "", STRUCTURE).open_cl().of_type(LATER),
    case(TypeMember, "", STRUCTURE).shader().of_type(EARLIER),
    case(TypeMember, "static", "static x = i32 4: int:32 signed").open_cl()
        .of_type("%t = DebugTypeComposite %n_s #1 %source #3 #1 %unit %empty %u32 #0 %m
        %m = DebugTypeMember %n_x %int %source #4 #2 %t %u0 %u32 #512 %u4"),
    case(TypeMember, "static", "").shader().of_type("%m = DebugTypeMember %n_x %int %source #4 #2 %u0 %u32 #512 %u4
        %t = DebugTypeComposite %n_s #1 %source #3 #1 %unit %empty %u32 #0 %m"),
    case(TypeInheritance, "", "base at 0: structure B:32 {  }").open_cl()
        .of_type("%base = DebugTypeComposite %n_b #1 %source #3 #1 %unit %empty %u32 #0
        %t = DebugTypeComposite %n_s #1 %source #3 #1 %unit %empty %u32 #0 %m
        %m = DebugTypeInheritance %t %base %u0 %u32 #0"),
    case(TypeInheritance, "", "").shader().of_type("%base = DebugTypeComposite %n_b #1 %source #3 #1 %unit %empty %u32 #0
        %m = DebugTypeInheritance %base %u0 %u32 #0
        %t = DebugTypeComposite %n_s #1 %source #3 #1 %unit %empty %u32 #0 %m"),
    case(TypePtrToMember, "", "pointer to member of s: int:32 signed")
        .of_type("%c = DebugTypeComposite %n_s #1 %source #3 #1 %unit %empty %u32 #0
        %t = DebugTypePtrToMember %int %c"),

    case(TypeTemplate, "", "structure s<T = int:32 signed>:32").of_type("%p = DebugTypeTemplateParameter %n_t %int %none %source #3 #1
        %t = DebugTypeComposite %n_s #1 %source #3 #1 %unit %empty %u32 #0
        %of = DebugTypeTemplate %t %p").edits(NONE),
    case(TypeTemplate, "of a function", "() -> void<T = int:32 signed>").behind("%p = DebugTypeTemplateParameter %n_t %int %none %source #3 #1
        %of = DebugTypeTemplate %function %p").edits(NONE),
    case(TypeTemplateParameter, "", "structure s<T = int:32 signed>:32").of_type("%p = DebugTypeTemplateParameter %n_t %int %none %source #3 #1
        %t = DebugTypeComposite %n_s #1 %source #3 #1 %unit %empty %u32 #0
        %of = DebugTypeTemplate %t %p").edits(NONE),
    case(TypeTemplateParameter, "a value", "structure s<T: int:32 signed = i32 4>:32").of_type("%p = DebugTypeTemplateParameter %n_t %int %u4 %source #3 #1
        %t = DebugTypeComposite %n_s #1 %source #3 #1 %unit %empty %u32 #0
        %of = DebugTypeTemplate %t %p"),
    case(TypeTemplateTemplateParameter, "", "structure s<template T = B>:32").of_type("%p = DebugTypeTemplateTemplateParameter %n_t %n_b %source #3 #1
        %t = DebugTypeComposite %n_s #1 %source #3 #1 %unit %empty %u32 #0
        %of = DebugTypeTemplate %t %p"),
    case(TypeTemplateParameterPack, "", "structure s<T... = {A = int:32 signed}>:32").of_type("%one = DebugTypeTemplateParameter %n_a %int %none %source #3 #1
        %p = DebugTypeTemplateParameterPack %n_t %source #3 #1 %one
        %t = DebugTypeComposite %n_s #1 %source #3 #1 %unit %empty %u32 #0
        %of = DebugTypeTemplate %t %p").edits(NONE).instead("structure s<template T = >:32"),

    case(GlobalVariable, "", "global g /src/a.cl:3 = @").behind("%g = DebugGlobalVariable %n_g %int %source #3 #1 %unit %empty %global #8"),
    case(GlobalVariable, "a constant", "stack_value: int:32 signed").behind("%g = DebugGlobalVariable %n_g %int %source #3 #1 %unit %empty %u4 #8")
        .instead("global g /src/a.cl:3 = , : int:32 signed"),
    case(FunctionDeclaration, "", "declared line 3").before("%declared = DebugFunctionDeclaration %n_main %type %source #3 #1 %unit %empty #0")
        .edits(&[("#8 #1 %main", "#8 #1 %main %declared"), ("%empty #8 #1\n", "%empty #8 #1 %declared\n")]),
    case(Function, "", "function main /src/a.cl:1, body 1"),
    case(Function, "a member", "structure s:32 { f() -> void line 3 }").open_cl()
        .of_type("%t = DebugTypeComposite %n_s #1 %source #3 #1 %unit %empty %u32 #0 %m
        %m = DebugFunction %n_f %type %source #3 #1 %t %empty #8 #3 %none").edits(NONE),
    case(FunctionDefinition, "", "").shader(),

    case(LexicalBlock, "", "at 5:1 of block 4:3 in main").behind("%block = DebugLexicalBlock %source #4 #3 %function")
        .body("%deep = DebugScope %block
        OpLine %file 5 1"),
    case(LexicalBlock, "a namespace", "global space::g").behind("%space = DebugLexicalBlock %source #3 #1 %unit %n_space
        %g = DebugGlobalVariable %n_g %int %source #3 #1 %space %empty %global #8"),
    case(LexicalBlockDiscriminator, "", "discriminator 2 in main").behind("%discriminator = DebugLexicalBlockDiscriminator %source #2 %function"),
    case(Scope, "", "at 2:1 of main"),
    case(NoScope, "", "!at 7:1").body("OpStore %global %u0
        %no = DebugNoScope
        OpLine %file 7 1"),
    case(InlinedAt, "", "at 6:1 of f at 5 in main").behind("%inlined = DebugFunction %n_f %type %source #3 #1 %unit %empty #8 #3 %none
        %at = DebugInlinedAt #5 %function")
        .body("%deep = DebugScope %inlined %at
        OpLine %file 6 1").edits(NONE),
    case(InlinedAt, "to depth 2", "at 6:1 of f at 4 in f at 5 in main").behind("%inlined = DebugFunction %n_f %type %source #3 #1 %unit %empty #8 #3 %none
        %at = DebugInlinedAt #5 %function
        %next = DebugInlinedAt #4 %inlined %at")
        .body("%deep = DebugScope %inlined %next
        OpLine %file 6 1").edits(NONE),
    case(Line, "", "").shader().body("%line = DebugLine %source #5 #5 #1 #2"),
    case(NoLine, "", "").shader().body("%line = DebugLine %source #5 #5 #1 #2
        OpStore %global %u0
        %no = DebugNoLine"),

    case(LocalVariable, "", "variable v line 2 of main"),
    case(LocalVariable, "a parameter", "parameter 1 v line 2 of main").edits(&[("%function #0\n", "%function #0 #1\n")]),
    case(InlinedVariable, "", "v of f at 5").behind("%inlined = DebugFunction %n_f %type %source #3 #1 %unit %empty #8 #3 %none
        %at = DebugInlinedAt #5 %function
        %w = DebugLocalVariable %n_x %int %source #4 #1 %inlined #0
        %again = DebugInlinedVariable %w %at").edits(NONE),
    case(Declare, "", "declare v of main = i32* %"),
    case(Value, "", "value v of main = i32 4").body("%value = DebugValue %v %u4 %plain"),
    // The index skips elements of the variable; another value provides the others.
    case(Value, "with an index", "value v of main = i32 4, LLVM_fragment 32 32").of_type("%t = DebugTypeVector %int #2")
        .body("%value = DebugValue %v %u4 %plain %u1").instead("value v of main = i32 4"),
    case(Value, "with an index at run time", "value v of main = i32 4, LLVM_fragment").of_type("%t = DebugTypeVector %int #2")
        .body("%loaded = OpLoad %uint %var
        %value = DebugValue %v %u4 %plain %loaded").instead("value v of main = i32 4"),
    operation("Deref", "%o = DebugOperation #0\n%e = DebugExpression %o", "i32 4, deref"),
    operation("Plus", "%c = DebugOperation #8 #9\n%o = DebugOperation #1\n%e = DebugExpression %c %o", "i32 4, constu 9, plus"),
    operation("Minus", "%c = DebugOperation #8 #9\n%o = DebugOperation #2\n%e = DebugExpression %c %o", "i32 4, constu 9, minus"),
    operation("PlusUconst", "%o = DebugOperation #3 #9\n%e = DebugExpression %o", "i32 4, plus_uconst 9"),
    operation("BitPiece", "%o = DebugOperation #4 #0 #16\n%e = DebugExpression %o", "i32 4, bit_piece 0 16"),
    operation("Swap", "%c = DebugOperation #8 #9\n%o = DebugOperation #5\n%d = DebugOperation #6\n%e = DebugExpression %c %o %d", "i32 4, constu 9, swap, xderef"),
    operation("Xderef", "%c = DebugOperation #8 #9\n%o = DebugOperation #6\n%e = DebugExpression %c %o", "i32 4, constu 9, xderef"),
    operation("StackValue", "%o = DebugOperation #7\n%e = DebugExpression %o", "i32 4, stack_value"),
    operation("Constu", "%o = DebugOperation #8 #9\n%p = DebugOperation #1\n%e = DebugExpression %o %p", "i32 4, constu 9, plus"),
    operation("Fragment", "%o = DebugOperation #9 #0 #16\n%e = DebugExpression %o", "i32 4, LLVM_fragment 0 16"),
    case(Expression, "", "declare v of main = i32* %"),
    case(MacroDef, "", "macro N").behind("%macro = DebugMacroDef %file #8 %n_a %n_b"),
    case(MacroDef, "without a value", "macro N").behind("%macro = DebugMacroDef %file #8 %n_a"),
    case(MacroUndef, "", "macro N").behind("%macro = DebugMacroDef %file #8 %n_a %n_b
        %undef = DebugMacroUndef %file #8 %macro"),
    case(ImportedEntity, "a namespace", "import module space line 5").behind("%space = DebugLexicalBlock %source #3 #1 %unit %n_space
        %import = DebugImportedEntity %empty #0 %source %space #5 #1 %unit"),
    case(ImportedEntity, "a declaration", "import declaration x = s line 5").before("%c = DebugTypeComposite %n_s #1 %source #3 #1 %unit %empty %u32 #0
        %import = DebugImportedEntity %n_x #1 %source %c #5 #1 %unit"),
];

/// Places a DebugInfoNone before all other instructions.
const NONE: &[(&str, &str)] = &[("%source = ", "%none = DebugInfoNone\n%source = ")];
