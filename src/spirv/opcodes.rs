//! Properties of core instructions: which opcodes define an id, and the numbers of a few opcodes.
//!
//! The lists come from the SPIR-V grammar, version 1.6 with the extensions of SDK 1.4.341; a test compares every
//! opcode. Instructions with unknown opcodes are kept unchanged.

/// Words of an instruction before its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Results {
    /// No result.
    None,
    /// The result id.
    Id,
    /// The result type, and the result id.
    TypedId,
}

/// The result words of an opcode; `None` for an unknown opcode.
pub(crate) fn results(opcode: u16) -> Option<Results> {
    RESULTS.get(usize::from(opcode)).copied().flatten()
}

/// Result words by opcode. A table, as every instruction of a module is looked up several times.
static RESULTS: [Option<Results>; last(NONE, last(ID, last(TYPED_ID, 0))) + 1] = {
    let all = [(TYPED_ID, Results::TypedId), (NONE, Results::None), (ID, Results::Id)];
    let mut table = [None; last(NONE, last(ID, last(TYPED_ID, 0))) + 1];
    let mut list = 0;
    while list < all.len() {
        let (ranges, results) = all[list];
        let mut range = 0;
        while range < ranges.len() {
            let (mut opcode, end) = ranges[range];
            while opcode <= end {
                table[opcode as usize] = Some(results);
                opcode += 1;
            }
            range += 1;
        }
        list += 1;
    }
    table
};

/// The larger of a list's last opcode and `other`.
const fn last(list: &[(u16, u16)], other: usize) -> usize {
    let (_, end) = list[list.len() - 1];
    if end as usize > other { end as usize } else { other }
}

/// Whether the instruction ends a block.
pub(crate) fn is_terminator(opcode: u16) -> bool {
    matches!(opcode, 249..=255 | 4416 | 4448 | 4449 | 5294)
}

/// Whether the instruction is an `OpLoopMerge` or an `OpSelectionMerge`, which directly precede a terminator.
pub(crate) fn is_merge(opcode: u16) -> bool {
    matches!(opcode, 246 | 247)
}

/// Whether the instruction belongs to a section before names, decorations and types: sections 1 to 7a of section 2.4,
/// from capabilities to strings and sources.
pub(crate) fn is_before_names(opcode: u16) -> bool {
    matches!(opcode, 2..=4 | STRING | 10 | 11 | 14..=17 | 331)
}

/// Whether the instruction is an `OpPhi` or `OpVariable`, which come first in a block.
pub(crate) fn begins_block(opcode: u16) -> bool {
    matches!(opcode, PHI | VARIABLE | UNTYPED_VARIABLE)
}

/// Whether the instruction names or decorates the id that is its first operand.
pub(crate) fn is_annotation(opcode: u16) -> bool {
    matches!(opcode, NAME | MEMBER_NAME | DECORATE | MEMBER_DECORATE | 332 | 5632 | 5633)
}

/// Whether the result is a constant; specialization constants count.
pub(crate) fn is_constant(opcode: u16) -> bool {
    matches!(opcode, 41..=46 | 48..=52)
}

macro_rules! opcodes { ($($const:ident $opcode:literal $name:literal;)*) => {
    $(pub(crate) const $const: u16 = $opcode;)*

    /// Name of the instruction, for messages.
    pub(crate) fn name(opcode: u16) -> Option<&'static str> {
        match opcode {
            $($const => Some($name),)*
            _ => None,
        }
    }
} }

opcodes! {
    UNDEF 1 "OpUndef";
    SOURCE_CONTINUED 2 "OpSourceContinued";
    SOURCE 3 "OpSource";
    NAME 5 "OpName";
    MEMBER_NAME 6 "OpMemberName";
    STRING 7 "OpString";
    LINE 8 "OpLine";
    EXTENSION 10 "OpExtension";
    EXT_INST_IMPORT 11 "OpExtInstImport";
    EXT_INST 12 "OpExtInst";
    MEMORY_MODEL 14 "OpMemoryModel";
    ENTRY_POINT 15 "OpEntryPoint";
    CAPABILITY 17 "OpCapability";
    TYPE_VOID 19 "OpTypeVoid";
    TYPE_BOOL 20 "OpTypeBool";
    TYPE_INT 21 "OpTypeInt";
    TYPE_FLOAT 22 "OpTypeFloat";
    TYPE_VECTOR 23 "OpTypeVector";
    TYPE_MATRIX 24 "OpTypeMatrix";
    TYPE_IMAGE 25 "OpTypeImage";
    TYPE_SAMPLER 26 "OpTypeSampler";
    TYPE_SAMPLED_IMAGE 27 "OpTypeSampledImage";
    TYPE_ARRAY 28 "OpTypeArray";
    TYPE_RUNTIME_ARRAY 29 "OpTypeRuntimeArray";
    TYPE_STRUCT 30 "OpTypeStruct";
    TYPE_OPAQUE 31 "OpTypeOpaque";
    TYPE_POINTER 32 "OpTypePointer";
    CONSTANT_TRUE 41 "OpConstantTrue";
    CONSTANT_FALSE 42 "OpConstantFalse";
    CONSTANT 43 "OpConstant";
    CONSTANT_NULL 46 "OpConstantNull";
    FUNCTION 54 "OpFunction";
    FUNCTION_PARAMETER 55 "OpFunctionParameter";
    FUNCTION_END 56 "OpFunctionEnd";
    VARIABLE 59 "OpVariable";
    DECORATE 71 "OpDecorate";
    MEMBER_DECORATE 72 "OpMemberDecorate";
    PHI 245 "OpPhi";
    LOOP_MERGE 246 "OpLoopMerge";
    SELECTION_MERGE 247 "OpSelectionMerge";
    LABEL 248 "OpLabel";
    BRANCH 249 "OpBranch";
    BRANCH_CONDITIONAL 250 "OpBranchConditional";
    SWITCH 251 "OpSwitch";
    NO_LINE 317 "OpNoLine";
    MODULE_PROCESSED 330 "OpModuleProcessed";
    TYPE_UNTYPED_POINTER 4417 "OpTypeUntypedPointerKHR";
    UNTYPED_VARIABLE 4418 "OpUntypedVariableKHR";
    EXT_INST_FORWARD 4433 "OpExtInstWithForwardRefsKHR";
}

/// First and last opcode of each run, in ascending order.
#[rustfmt::skip]
const NONE: &[(u16, u16)] = &[
    (0, 0), (2, 6), (8, 8), (10, 10), (14, 17), (39, 39), (56, 56), (62, 64), (71, 72), (74, 75), (99, 99),
    (218, 221), (224, 225), (228, 228), (246, 247), (249, 257), (260, 260), (280, 281), (287, 288),
    (297, 298), (301, 302), (317, 317), (319, 319), (329, 332), (4165, 4165), (4182, 4182), (4185, 4186),
    (4416, 4416), (4426, 4426), (4445, 4446), (4448, 4449), (4458, 4458), (4473, 4476), (5075, 5075),
    (5127, 5127), (5249, 5251), (5256, 5256), (5259, 5264), (5266, 5266), (5279, 5280), (5290, 5291),
    (5294, 5295), (5299, 5299), (5303, 5306), (5309, 5312), (5314, 5319), (5321, 5321), (5335, 5339),
    (5344, 5344), (5360, 5360), (5364, 5365), (5368, 5368), (5380, 5380), (5397, 5397), (5576, 5576),
    (5578, 5578), (5581, 5581), (5630, 5630), (5632, 5633), (5820, 5820), (5887, 5887), (6090, 6092),
    (6142, 6143), (6164, 6164), (6166, 6166), (6221, 6221), (6231, 6235), (6248, 6250), (6429, 6429),
];

#[rustfmt::skip]
const ID: &[(u16, u16)] = &[
    (7, 7), (11, 11), (19, 38), (73, 73), (248, 248), (322, 322), (327, 327), (4163, 4163), (4190, 4190),
    (4417, 4417), (4456, 4456), (4472, 4472), (5076, 5076), (5103, 5104), (5115, 5115), (5281, 5281),
    (5288, 5288), (5313, 5313), (5341, 5341), (5358, 5358), (5370, 5371), (5609, 5609), (5700, 5712),
    (5911, 5913), (6086, 6086), (6199, 6199),
];

#[rustfmt::skip]
const TYPED_ID: &[(u16, u16)] = &[
    (1, 1), (12, 12), (41, 46), (48, 52), (54, 55), (57, 57), (59, 61), (65, 70), (77, 84), (86, 98),
    (100, 107), (109, 124), (126, 152), (154, 191), (194, 205), (207, 215), (227, 227), (229, 242),
    (245, 245), (259, 259), (261, 271), (274, 279), (282, 286), (291, 296), (299, 300), (303, 316),
    (318, 318), (320, 321), (323, 326), (328, 328), (333, 366), (400, 403), (4160, 4162), (4164, 4164),
    (4166, 4166), (4181, 4181), (4183, 4184), (4418, 4425), (4427, 4434), (4447, 4447), (4450, 4455),
    (4457, 4457), (4459, 4463), (4477, 4477), (4479, 4483), (4497, 4497), (4500, 4503), (4540, 4542),
    (5000, 5007), (5011, 5012), (5056, 5056), (5074, 5074), (5078, 5078), (5090, 5090), (5101, 5101),
    (5110, 5111), (5119, 5119), (5126, 5126), (5129, 5129), (5252, 5255), (5257, 5258), (5265, 5265),
    (5267, 5278), (5283, 5283), (5289, 5289), (5292, 5293), (5296, 5296), (5300, 5302), (5307, 5308),
    (5320, 5320), (5322, 5334), (5340, 5340), (5345, 5352), (5359, 5359), (5361, 5362), (5366, 5367),
    (5369, 5369), (5372, 5379), (5381, 5382), (5384, 5384), (5390, 5396), (5398, 5398), (5427, 5439),
    (5571, 5575), (5577, 5577), (5580, 5580), (5585, 5598), (5600, 5601), (5610, 5611), (5614, 5615),
    (5631, 5631), (5699, 5699), (5713, 5816), (5818, 5819), (5840, 5843), (5846, 5882), (5923, 5934),
    (5938, 5938), (5946, 5947), (5949, 5949), (6016, 6032), (6035, 6035), (6096, 6096), (6116, 6117),
    (6145, 6145), (6163, 6163), (6165, 6165), (6237, 6237), (6242, 6242), (6244, 6244), (6251, 6254),
    (6401, 6408), (6426, 6426), (6428, 6428), (6529, 6531),
];
