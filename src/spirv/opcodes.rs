//! Properties of core instructions: which opcodes define an id, which end a block, and a few opcodes by name.
//!
//! Numbers, names and results come from the [grammar](super::grammar); rules that the grammar does not state follow
//! from names and classes. Instructions with unknown opcodes are kept unchanged.

pub(crate) use super::grammar::Results;
use super::grammar::{Class, INSTRUCTIONS, Row};

/// The result words of an opcode; `None` for an unknown opcode.
pub(crate) fn results(opcode: u16) -> Option<Results> {
    RESULTS.get(usize::from(opcode)).copied().flatten()
}

/// One more than the highest opcode.
const COUNT: usize = INSTRUCTIONS[INSTRUCTIONS.len() - 1].0 as usize + 1;

/// Result words by opcode. This is a table, because every instruction is looked up several times.
static RESULTS: [Option<Results>; COUNT] = {
    let mut table = [None; COUNT];
    let mut index = 0;
    while index < INSTRUCTIONS.len() {
        let (opcode, _, _, results, _) = INSTRUCTIONS[index];
        table[opcode as usize] = Some(results);
        index += 1;
    }
    table
};

const TERMINATOR: u8 = 1;
const CONSTANT_INSTRUCTION: u8 = 1 << 1;
const BEFORE_NAMES: u8 = 1 << 2;
const ANNOTATION: u8 = 1 << 3;

/// Properties by opcode: bits.
static PROPERTIES: [u8; COUNT] = {
    let mut table = [0; COUNT];
    let mut index = 0;
    while index < INSTRUCTIONS.len() {
        table[INSTRUCTIONS[index].0 as usize] = properties(&INSTRUCTIONS[index]);
        index += 1;
    }
    table
};

/// The instructions that end a block: section 2.2.5, and the terminators that extensions add. They are listed here,
/// because the grammar has no class for them.
const TERMINATORS: &[&str] = &[
    "OpBranch",
    "OpBranchConditional",
    "OpSwitch",
    "OpReturn",
    "OpReturnValue",
    "OpKill",
    "OpUnreachable",
    "OpTerminateInvocation",
    "OpIgnoreIntersectionKHR",
    "OpTerminateRayKHR",
    "OpEmitMeshTasksEXT",
    "OpAbortKHR",
];

const fn properties(row: &Row) -> u8 {
    let &(_, name, class, results, _) = row;
    let mut bits = 0;
    let mut index = 0;
    while index < TERMINATORS.len() {
        if is_equal(name, TERMINATORS[index]) {
            bits |= TERMINATOR;
        }
        index += 1;
    }
    // Section 2.2.1: a constant instruction's name begins with OpConstant or OpSpec. OpConstantCompositeContinuedINTEL
    // and its siblings have no result, and are no constants.
    let is_constant = begins_with(name, "OpConstant") || begins_with(name, "OpSpecConstant");
    if is_constant && matches!(results, Results::Id | Results::TypedId) {
        bits |= CONSTANT_INSTRUCTION;
    }
    let is_before_names = match class {
        Class::ModeSetting => true,
        // An extended instruction has a result type, so that it belongs to a later section.
        Class::Extension => !matches!(results, Results::TypedId),
        Class::Debug => begins_with(name, "OpSource") || is_equal(name, "OpString"),
        _ => false,
    };
    if is_before_names {
        bits |= BEFORE_NAMES;
    }
    let is_name = is_equal(name, "OpName") || is_equal(name, "OpMemberName");
    // OpGroupDecorate begins with a group id, and OpDecorationGroup has a result: both names differ from the ones that
    // are matched here.
    let is_decoration = begins_with(name, "OpDecorate") || begins_with(name, "OpMemberDecorate");
    if is_name || is_decoration {
        bits |= ANNOTATION;
    }
    bits
}

const fn begins_with(name: &str, start: &str) -> bool {
    match name.as_bytes().split_at_checked(start.len()) {
        Some((bytes, _)) => is_equal_bytes(bytes, start.as_bytes()),
        None => false,
    }
}

const fn is_equal(name: &str, other: &str) -> bool {
    name.len() == other.len() && begins_with(name, other)
}

const fn is_equal_bytes(bytes: &[u8], other: &[u8]) -> bool {
    let mut index = 0;
    while index < other.len() {
        if bytes[index] != other[index] {
            return false;
        }
        index += 1;
    }
    true
}

fn has(opcode: u16, property: u8) -> bool {
    PROPERTIES.get(usize::from(opcode)).is_some_and(|bits| bits & property != 0)
}

/// Whether the instruction ends a block.
pub(crate) fn is_terminator(opcode: u16) -> bool {
    has(opcode, TERMINATOR)
}

/// Whether the instruction is an `OpLoopMerge` or an `OpSelectionMerge`, which directly precede a terminator.
pub(crate) fn is_merge(opcode: u16) -> bool {
    matches!(opcode, LOOP_MERGE | SELECTION_MERGE)
}

/// Whether the instruction's result is its operand: with another type, or as a pointer in another storage class.
pub(crate) fn is_copy(opcode: u16) -> bool {
    matches!(opcode, COPY_OBJECT | BITCAST | PTR_CAST_TO_GENERIC | GENERIC_CAST_TO_PTR)
}

/// Whether the instruction's result points to a part of what its first operand points to.
pub(crate) fn is_access_chain(opcode: u16) -> bool {
    matches!(opcode, ACCESS_CHAIN | IN_BOUNDS_ACCESS_CHAIN | PTR_ACCESS_CHAIN | IN_BOUNDS_PTR_ACCESS_CHAIN)
}

/// Whether the instruction belongs to a section before names, decorations and types: sections 1 to 7a of section 2.4,
/// from capabilities to strings and sources.
pub(crate) fn is_before_names(opcode: u16) -> bool {
    has(opcode, BEFORE_NAMES)
}

/// Whether the instruction is an `OpPhi` or a variable, which come first in a block.
pub(crate) fn begins_block(opcode: u16) -> bool {
    matches!(opcode, PHI | VARIABLE | UNTYPED_VARIABLE)
}

/// Whether the instruction names or decorates the id in its first operand.
pub(crate) fn is_annotation(opcode: u16) -> bool {
    has(opcode, ANNOTATION)
}

/// Whether the result is a constant; specialization constants count.
pub(crate) fn is_constant(opcode: u16) -> bool {
    has(opcode, CONSTANT_INSTRUCTION)
}

fn row(opcode: u16) -> Option<&'static Row> {
    let index = INSTRUCTIONS.binary_search_by_key(&opcode, |row| row.0).ok()?;
    Some(&INSTRUCTIONS[index])
}

/// The instruction's name, for messages.
pub(crate) fn name(opcode: u16) -> Option<&'static str> {
    Some(row(opcode)?.1)
}

/// A letter for each operand after the result: see [`Row`].
pub(crate) fn signature(opcode: u16) -> &'static str {
    row(opcode).map_or("", |row| row.4)
}

/// Returns the opcode for an instruction name.
const fn opcode(name: &str) -> u16 {
    let mut index = 0;
    while !is_equal(INSTRUCTIONS[index].1, name) {
        index += 1;
    }
    INSTRUCTIONS[index].0
}

macro_rules! opcodes { ($($const:ident $name:literal;)*) => {
    $(pub(crate) const $const: u16 = opcode($name);)*
} }

opcodes! {
    UNDEF "OpUndef";
    COPY_OBJECT "OpCopyObject";
    BITCAST "OpBitcast";
    PTR_CAST_TO_GENERIC "OpPtrCastToGeneric";
    GENERIC_CAST_TO_PTR "OpGenericCastToPtr";
    ACCESS_CHAIN "OpAccessChain";
    IN_BOUNDS_ACCESS_CHAIN "OpInBoundsAccessChain";
    PTR_ACCESS_CHAIN "OpPtrAccessChain";
    IN_BOUNDS_PTR_ACCESS_CHAIN "OpInBoundsPtrAccessChain";
    SOURCE_CONTINUED "OpSourceContinued";
    SOURCE "OpSource";
    NAME "OpName";
    MEMBER_NAME "OpMemberName";
    STRING "OpString";
    LINE "OpLine";
    EXTENSION "OpExtension";
    EXT_INST_IMPORT "OpExtInstImport";
    EXT_INST "OpExtInst";
    MEMORY_MODEL "OpMemoryModel";
    ENTRY_POINT "OpEntryPoint";
    CAPABILITY "OpCapability";
    TYPE_VOID "OpTypeVoid";
    TYPE_BOOL "OpTypeBool";
    TYPE_INT "OpTypeInt";
    TYPE_FLOAT "OpTypeFloat";
    TYPE_VECTOR "OpTypeVector";
    TYPE_MATRIX "OpTypeMatrix";
    TYPE_IMAGE "OpTypeImage";
    TYPE_SAMPLER "OpTypeSampler";
    TYPE_SAMPLED_IMAGE "OpTypeSampledImage";
    TYPE_ARRAY "OpTypeArray";
    TYPE_RUNTIME_ARRAY "OpTypeRuntimeArray";
    TYPE_STRUCT "OpTypeStruct";
    TYPE_OPAQUE "OpTypeOpaque";
    TYPE_POINTER "OpTypePointer";
    CONSTANT_TRUE "OpConstantTrue";
    CONSTANT_FALSE "OpConstantFalse";
    CONSTANT "OpConstant";
    CONSTANT_NULL "OpConstantNull";
    FUNCTION "OpFunction";
    FUNCTION_PARAMETER "OpFunctionParameter";
    FUNCTION_END "OpFunctionEnd";
    VARIABLE "OpVariable";
    DECORATE "OpDecorate";
    MEMBER_DECORATE "OpMemberDecorate";
    SAMPLED_IMAGE "OpSampledImage";
    PHI "OpPhi";
    LOOP_MERGE "OpLoopMerge";
    SELECTION_MERGE "OpSelectionMerge";
    LABEL "OpLabel";
    BRANCH "OpBranch";
    BRANCH_CONDITIONAL "OpBranchConditional";
    SWITCH "OpSwitch";
    LIFETIME_START "OpLifetimeStart";
    LIFETIME_STOP "OpLifetimeStop";
    NO_LINE "OpNoLine";
    MODULE_PROCESSED "OpModuleProcessed";
    TYPE_UNTYPED_POINTER "OpTypeUntypedPointerKHR";
    UNTYPED_VARIABLE "OpUntypedVariableKHR";
    EXT_INST_FORWARD "OpExtInstWithForwardRefsKHR";
    CONDITIONAL_EXTENSION "OpConditionalExtensionINTEL";
    CONDITIONAL_CAPABILITY "OpConditionalCapabilityINTEL";
}
