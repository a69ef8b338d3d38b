//! A small assembler for the subset of `spirv-as` syntax in the modules here. `!` before a number makes it a raw word.
//! Where `spirv-as` is installed, the results are compared.

use std::collections::HashMap;

use eitri::spirv::instructions::OperandKind;
use eitri::spirv::{InstructionName, MAGIC, Set};

/// Names of core instructions with opcodes, and whether they have a type and a result.
const INSTRUCTIONS: &[(&str, u16, bool, bool)] = &[
    ("OpUndef", 1, true, true),
    ("OpName", 5, false, false),
    ("OpExtension", 10, false, false),
    ("OpExtInstImport", 11, false, true),
    ("OpExtInst", 12, true, true),
    ("OpMemoryModel", 14, false, false),
    ("OpEntryPoint", 15, false, false),
    ("OpExecutionMode", 16, false, false),
    ("OpCapability", 17, false, false),
    ("OpTypeVoid", 19, false, true),
    ("OpTypeBool", 20, false, true),
    ("OpTypeInt", 21, false, true),
    ("OpTypeFloat", 22, false, true),
    ("OpTypeVector", 23, false, true),
    ("OpTypeMatrix", 24, false, true),
    ("OpTypeArray", 28, false, true),
    ("OpTypeRuntimeArray", 29, false, true),
    ("OpTypeStruct", 30, false, true),
    ("OpTypePointer", 32, false, true),
    ("OpTypeFunction", 33, false, true),
    ("OpConstantTrue", 41, true, true),
    ("OpConstant", 43, true, true),
    ("OpConstantComposite", 44, true, true),
    ("OpConstantNull", 46, true, true),
    ("OpSpecConstant", 50, true, true),
    ("OpFunction", 54, true, true),
    ("OpFunctionParameter", 55, true, true),
    ("OpFunctionEnd", 56, false, false),
    ("OpVariable", 59, true, true),
    ("OpUntypedVariableKHR", 4418, true, true),
    ("OpTypeUntypedPointerKHR", 4417, false, true),
    ("OpConstantCompositeReplicateEXT", 4461, true, true),
    ("OpTypeImage", 25, false, true),
    ("OpTypeSampler", 26, false, true),
    ("OpTypeSampledImage", 27, false, true),
    ("OpSampledImage", 86, true, true),
    ("OpLoad", 61, true, true),
    ("OpStore", 62, false, false),
    ("OpString", 7, false, true),
    ("OpLine", 8, false, false),
    ("OpNoLine", 317, false, false),
    ("OpDecorate", 71, false, false),
    ("OpCompositeConstruct", 80, true, true),
    ("OpCopyObject", 83, true, true),
    ("OpBitcast", 124, true, true),
    ("OpIAdd", 128, true, true),
    ("OpIEqual", 170, true, true),
    ("OpPhi", 245, true, true),
    ("OpLoopMerge", 246, false, false),
    ("OpSelectionMerge", 247, false, false),
    ("OpLabel", 248, false, true),
    ("OpBranch", 249, false, false),
    ("OpBranchConditional", 250, false, false),
    ("OpLifetimeStart", 256, false, false),
    ("OpLifetimeStop", 257, false, false),
    ("OpReturn", 253, false, false),
    ("OpReturnValue", 254, false, false),
    ("OpExtInstWithForwardRefsKHR", 4433, true, true),
    // An unknown opcode.
    ("OpUnknown", 65000, false, false),
];

/// Names of core enumerants in the modules.
const NUMBERS: &[(&str, u32)] = &[
    ("None", 0),
    ("Logical", 0),
    ("Vertex", 0),
    ("Shader", 1),
    ("GLSL450", 1),
    ("Physical64", 2),
    ("OpenCL", 2),
    ("Output", 3),
    ("Addresses", 4),
    ("Linkage", 5),
    ("CrossWorkgroup", 5),
    ("GLCompute", 5),
    ("AtomicCounter", 10),
    ("Kernel", 6),
    ("Private", 6),
    ("Function", 7),
    ("Int64", 11),
    ("LocalSize", 17),
    ("Int16", 22),
    ("GenericPointer", 38),
    ("DebugInfoModuleINTEL", 6114),
];

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    String(String),
}

/// A module, with the ids of its names.
pub struct Assembled {
    pub words: Vec<u32>,
    pub ids: HashMap<String, u32>,
}

/// The set of a name; the newest one of a later version.
fn set(name: &str) -> Option<Set> {
    let is_shader = name.starts_with("NonSemantic.Shader.DebugInfo.");
    Set::ALL.into_iter().find(|set| set.name() == name).or(is_shader.then_some(Set::Shader101))
}

/// Assembles a text as SPIR-V 1.1.
pub fn assemble(text: &str) -> Assembled {
    let mut made = Assembled { words: vec![MAGIC, 0x0001_0100, 0, 0, 0], ids: HashMap::new() };
    let mut sets = HashMap::new();
    let mut wide = Vec::new();
    for line in statements(text) {
        let (result, line) = match &line[..] {
            [Token::Word(id), Token::Word(equals), rest @ ..] if equals == "=" => {
                (Some(id.clone()), rest.to_vec())
            }
            _ => (None, line),
        };
        let Token::Word(name) = &line[0] else { panic!("{line:?}") };
        let known = INSTRUCTIONS.iter().find(|known| known.0 == name);
        let &(_, opcode, has_type, has_result) = known.unwrap_or_else(|| panic!("{name} is not known here"));
        assert_eq!(result.is_some(), has_result, "{line:?}");
        let start = made.words.len();
        let mut operands = &line[1..];
        made.words.push(0);
        if has_type {
            made.operand(&operands[0]);
            operands = &operands[1..];
        }
        let result = result.map(|result| made.id(&result));
        made.words.extend(result);
        let mut rest = operands;
        if name.starts_with("OpExtInst") && name != "OpExtInstImport" {
            made.operand(&operands[0]);
            let set = sets.get(made.words.last().expect("the set")).copied();
            rest = made.debug(set, &operands[1..]);
        }
        for operand in rest {
            made.operand(operand);
        }
        if let (Some(id), Some(Token::String(name))) = (result, operands.first())
            && let Some(set) = set(name)
        {
            sets.insert(id, set);
        }
        match opcode {
            21 if made.words.last() == Some(&0) && made.words[start + 2] == 64 => {
                wide.push(made.words[start + 1])
            }
            // A 64-bit number.
            43 if wide.contains(&made.words[start + 1]) => made.words.push(0),
            _ => {}
        }
        made.words[start] = ((made.words.len() - start) as u32) << 16 | u32::from(opcode);
    }
    made.words[3] = made.ids.len() as u32 + 1;
    made
}

impl Assembled {
    /// The id of a name; ids are allocated in the order of first use.
    fn id(&mut self, name: &str) -> u32 {
        let next = self.ids.len() as u32 + 1;
        *self.ids.entry(name.to_owned()).or_insert(next)
    }

    fn operand(&mut self, token: &Token) {
        match token {
            Token::String(text) => {
                let mut bytes = text.clone().into_bytes();
                bytes.resize(bytes.len() / 4 * 4 + 4, 0);
                self.words.extend(bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())));
            }
            Token::Word(word) if word.starts_with('%') => {
                let id = self.id(word);
                self.words.push(id);
            }
            Token::Word(word) => {
                let number = word.trim_start_matches('!').parse().ok();
                let named = || NUMBERS.iter().find(|(name, _)| name == word).map(|&(_, number)| number);
                self.words.push(number.or_else(named).unwrap_or_else(|| panic!("{word} is not a number")));
            }
        }
    }

    /// Appends the number of a debug instruction and its literals. Returns the remaining operands.
    fn debug<'t>(&mut self, set: Option<Set>, operands: &'t [Token]) -> &'t [Token] {
        let Token::Word(name) = &operands[0] else { panic!("{operands:?}") };
        let Some(set) = set else { return operands };
        let row = InstructionName::ALL.iter().map(|name| name.row()).find(|row| row.text_in(set) == name);
        let Some(row) = row else { return operands };
        self.words.push(row.number(set).unwrap_or_else(|| panic!("{name} is not in {set:?}")));
        for (index, token) in operands[1..].iter().enumerate() {
            let kind = row.operand(set, index, operands.len() - 1).map(|operand| operand.kind);
            match (kind, token) {
                (Some(OperandKind::Enumerant(enumeration)), Token::Word(word))
                    if kind.unwrap().is_literal(set) =>
                {
                    let entries: Vec<_> = enumeration.entries(Set::Shader200).collect();
                    let number = |name: &str| entries.iter().find(|(_, it)| *it == name).map(|&(it, _)| it);
                    let numbers: Option<Vec<u32>> = word.split('|').map(number).collect();
                    match numbers {
                        Some(numbers) => self.words.push(numbers.iter().fold(0, |all, it| all | it)),
                        None => self.operand(token),
                    }
                }
                _ => self.operand(token),
            }
        }
        &[]
    }
}

/// The tokens of each line. A string can span lines.
fn statements(text: &str) -> Vec<Vec<Token>> {
    let mut all = Vec::new();
    let mut line = Vec::new();
    let mut word = String::new();
    let mut string: Option<String> = None;
    for char in text.chars().chain(['\n']) {
        match (&mut string, char) {
            (Some(text), '"') => {
                line.push(Token::String(std::mem::take(text)));
                string = None;
            }
            (Some(text), char) => text.push(char),
            (None, '"') => string = Some(String::new()),
            (None, ' ' | '\n') => {
                if !word.is_empty() {
                    line.push(Token::Word(std::mem::take(&mut word)));
                }
                if char == '\n' && !line.is_empty() {
                    all.push(std::mem::take(&mut line));
                }
            }
            (None, char) => word.push(char),
        }
    }
    all
}
