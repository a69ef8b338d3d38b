//! A module to attach to, its model, and the text of its functions.

use std::collections::HashMap;

use eitri::build::Builder;
use eitri::model::{BaseEncoding, FileId, FunctionId, Module, ScopeId, SourceLine, VariableId};
use eitri::spirv::{
    Attached, Binding, Fact, Facts, Field, Id, InstructionName, Mode, OPERATIONS, Position, Set, attach, read,
};
use eitri::spirv::{Instruction, validate};
use eitri::target::{Gfx, Target, Wave};

use crate::spirv_attach::assemble::{Assembled, assemble};

/// Two functions, one with a branch, an `OpVariable`, an `OpPhi`, and values of all kinds of types.
pub const KERNEL: &str = r#"
               OpCapability Addresses
               OpCapability Linkage
               OpCapability Kernel
               OpMemoryModel Physical64 OpenCL
      %names = OpString "names.cl"
               OpName %scale "scale"
       %void = OpTypeVoid
       %bool = OpTypeBool
       %uint = OpTypeInt 32 0
      %float = OpTypeFloat 32
        %vec = OpTypeVector %uint 2
       %pair = OpTypeStruct %uint %vec
      %local = OpTypePointer Function %uint
     %global = OpTypePointer CrossWorkgroup %uint
         %u1 = OpConstant %uint 1
       %kind = OpTypeFunction %uint %uint %global
    %nothing = OpTypeFunction %void
      %table = OpVariable %global CrossWorkgroup %u1
      %scale = OpFunction %uint None %kind
          %n = OpFunctionParameter %uint
        %out = OpFunctionParameter %global
      %entry = OpLabel
        %var = OpVariable %local Function
               OpStore %var %n
         %is = OpIEqual %bool %n %u1
               OpSelectionMerge %last None
               OpBranchConditional %is %then %last
       %then = OpLabel
       %more = OpIAdd %uint %n %u1
        %two = OpCompositeConstruct %vec %more %n
      %three = OpCompositeConstruct %pair %n %two
               OpBranch %last
       %last = OpLabel
        %sum = OpPhi %uint %more %then %n %entry
               OpReturnValue %sum
               OpFunctionEnd
      %other = OpFunction %void None %nothing
     %single = OpLabel
          %v = OpLoad %uint %table
               OpReturn
               OpFunctionEnd
"#;

/// The module with its description.
pub struct Case {
    pub words: Vec<u32>,
    ids: HashMap<String, u32>,
    pub module: Module,
    pub file: FileId,
    pub scale: FunctionId,
    pub other: FunctionId,
    /// A block of the first function.
    pub block: ScopeId,
    /// The second function inlined into the first, and once more within that.
    pub inlined: ScopeId,
    pub deep: ScopeId,
    /// Variables of 32 bits: in the first function, in its block, and in the inlined call.
    pub n: VariableId,
    pub sum: VariableId,
    pub inner: VariableId,
    /// A structure of three 32-bit members.
    pub pair: VariableId,
    /// An array of 4 by 2 such structures.
    pub cells: VariableId,
    /// Place in the second function.
    pub v: VariableId,
    /// Place in the unit.
    pub table: VariableId,
}

impl Case {
    pub fn new() -> Self {
        Self::of(KERNEL)
    }

    pub fn of(text: &str) -> Self {
        let Assembled { words, ids } = assemble(text);
        let target = Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("is known");
        let mut m = Builder::new(target);
        let unit = m.unit("scale.cl");
        let file = m.primary_file(unit).expect("a file");
        let line = |line| SourceLine::new(file, line).column(3);
        // Calls have no column.
        let call = |line| SourceLine::new(file, line);
        let uint = m.base_type(unit, "uint", BaseEncoding::Unsigned, 32).expect("a type");
        let pair_type = m.structure(unit, Some("pair"), 12).expect("a type");
        for (at, name) in ["a", "b", "c"].into_iter().enumerate() {
            m.member(pair_type, name, uint, at as u64 * 4).expect("a member");
        }
        let other = m.function(unit, "other").expect("a function").code("other", 0x10).declared(line(9)).id();
        let v = m.variable(other, "v", uint).expect("a variable").id();
        let scale =
            m.function(unit, "scale").expect("a function").code("scale", 0x100).declared(line(1)).id();
        let block = m.block(scale, &[0x10..0x20]).expect("a block");
        let inlined = m.inlined(scale, other, &[0x40..0x80], call(7)).expect("a scope");
        let deep = m.inlined(inlined, other, &[0x50..0x60], call(10)).expect("a scope");
        let n = m.parameter(scale, "n", uint).expect("a variable").declared(line(1)).id();
        let sum = m.variable(block, "sum", uint).expect("a variable").id();
        let inner = m.inlined_variable(inlined, v).expect("a variable").id();
        let pair = m.variable(block, "pair", pair_type).expect("a variable").id();
        let cells = m.array(unit, pair_type, &[Some(4), Some(2)]).expect("a type");
        let cells = m.variable(block, "cells", cells).expect("a variable").id();
        let table = m.variable(unit, "table", uint).expect("a variable").id();
        let module = m.finish().expect("is whole");
        Self {
            words,
            ids,
            module,
            file,
            scale,
            other,
            block,
            inlined,
            deep,
            n,
            sum,
            inner,
            pair,
            cells,
            v,
            table,
        }
    }

    pub fn id(&self, name: &str) -> Id {
        Id(*self.ids.get(&format!("%{name}")).unwrap_or_else(|| panic!("no {name}")))
    }

    /// The start of a block in the first function.
    pub fn start(&self, block: &str) -> Position {
        Position::start(self.id("scale"), self.id(block))
    }

    pub fn before(&self, block: &str, instruction: u32) -> Position {
        Position::before(self.id("scale"), self.id(block), instruction)
    }

    pub fn after(&self, id: &str) -> Position {
        Position::after(self.id(id))
    }

    pub fn line(&self, line: u32) -> SourceLine {
        SourceLine::new(self.file, line).column(5)
    }

    /// A binding of both functions.
    pub fn bound(&self) -> Binding {
        let mut binding = Binding::new();
        binding.function(self.scale, self.id("scale")).function(self.other, self.id("other"));
        binding
    }

    pub fn attach(&self, binding: &Binding, mode: &Mode) -> Attached {
        attach(&self.words, &self.module, binding, mode).expect("is attached")
    }

    /// The error of attaching.
    pub fn refused(&self, binding: &Binding) -> String {
        let mut texts = Set::ALL.map(|set| {
            let error = attach(&self.words, &self.module, binding, &Mode::exact(set));
            error.expect_err("is refused").to_string()
        });
        assert_eq!(texts[0], texts[1]);
        std::mem::take(&mut texts[0])
    }

    /// Instructions of the first function, one per line, with new ones as text; checked and detached again.
    pub fn shown(&self, binding: &Binding, mode: &Mode) -> Vec<String> {
        let attached = self.attach(binding, mode);
        assert_eq!(attached.detach().expect("is whole"), self.words);
        let facts = read(&attached.words).expect("reads");
        let report = validate(&facts);
        assert!(report.is_clean(), "{report}");
        let checked = attached.check(&self.module, binding, mode).expect("reads");
        assert!(checked.is_clean(), "{checked}");
        self.show(&facts, "scale")
    }

    /// Instructions of a function, one per line.
    pub fn show(&self, facts: &Facts<'_>, function: &str) -> Vec<String> {
        let names: HashMap<u32, &str> = self.ids.iter().map(|(name, &id)| (id, &name[1..])).collect();
        let id = self.id(function);
        let function = facts.layout().functions().iter().find(|it| it.id == id).expect("is there").at.clone();
        let all = facts.layout().words().instructions();
        let all = all.filter(|it| function.contains(&it.at) && !matches!(it.opcode(), 54..=56));
        all.map(|it| match facts.fact(it) {
            Some(fact) => Shown { facts, names: &names }.fact(&fact),
            None => Shown { facts, names: &names }.core(it),
        })
        .collect()
    }
}

struct Shown<'f, 'a> {
    facts: &'f Facts<'a>,
    names: &'f HashMap<u32, &'f str>,
}

impl Shown<'_, '_> {
    fn core(&self, it: Instruction<'_>) -> String {
        match (it.opcode(), it.operands()) {
            (8, &[file, line, column]) => {
                format!("line {}:{line}:{column}", self.facts.layout().string(Id(file)).expect("a string"))
            }
            (317, _) => "no line".into(),
            (248, _) => format!("{}:", self.name(it.words[1])),
            (opcode, _) => match it.result() {
                Some(id) => format!("  {}", self.name(id.0)),
                None => format!("  op {opcode}"),
            },
        }
    }

    fn name(&self, id: u32) -> String {
        self.names.get(&id).map_or_else(|| "new".into(), |name| name.to_string())
    }

    fn fact(&self, fact: &Fact<'_>) -> String {
        let get = |field| fact.id(field).unwrap_or_else(|| panic!("{fact:?}"));
        match fact.name().expect("is known") {
            InstructionName::Scope => {
                let mut text = format!("scope {}", self.scope(get(Field::Scope)));
                let mut inlined = fact.id(Field::Inlined);
                while let Some(at) = inlined.and_then(|id| self.facts.get(id)) {
                    text += &format!(" at {}", self.number(&at, Field::Line));
                    inlined = at.id(Field::Inlined);
                }
                text
            }
            InstructionName::NoScope => "no scope".into(),
            InstructionName::Line => format!(
                "line {}:{}",
                self.number(fact, Field::LineStart),
                self.number(fact, Field::ColumnStart)
            ),
            InstructionName::NoLine => "no line".into(),
            InstructionName::FunctionDefinition => {
                format!(
                    "defines {} {}",
                    self.scope(get(Field::Function)),
                    self.name(get(Field::Definition).0)
                )
            }
            name @ (InstructionName::Declare | InstructionName::Value) => {
                let (text, of) = match name {
                    InstructionName::Declare => ("declare", Field::Variable),
                    _ => ("value", Field::Value),
                };
                let mut text =
                    format!("{text} {} {}", self.scope(get(Field::LocalVariable)), self.name(get(of).0));
                let expression = self.facts.get(get(Field::Expression)).expect("is there");
                for operation in expression.ids(Field::Operation) {
                    let operation = self.facts.get(operation).expect("is there");
                    text += " ";
                    text += OPERATIONS[self.number(&operation, Field::Operation) as usize].name;
                    for operand in operation.operands().skip(1) {
                        text += &format!(" {}", self.value(fact.set, operand.word));
                    }
                }
                for index in fact.ids(Field::Index) {
                    let constant = self.facts.layout().constant(index).and_then(|it| it.value);
                    text += &constant
                        .map_or_else(|| format!(" [{}]", self.name(index.0)), |it| format!(" [{it}]"));
                }
                text
            }
            name => panic!("{name:?} in a function"),
        }
    }

    /// InstructionName of a function or variable; blocks are unnamed.
    fn scope(&self, id: Id) -> String {
        let fact = self.facts.get(id).expect("is there");
        let name = fact.id(Field::Name).and_then(|name| self.facts.layout().string(name));
        name.unwrap_or_else(|| "block".into())
    }

    fn number(&self, fact: &Fact<'_>, field: Field) -> u64 {
        self.value(fact.set, fact.operand(field).expect("is there").word)
    }

    fn value(&self, set: Set, word: u32) -> u64 {
        match set {
            Set::OpenCl => word.into(),
            Set::Shader | Set::Shader101 | Set::Shader200 => {
                self.facts.layout().constant(Id(word)).and_then(|it| it.value).expect("a constant")
            }
        }
    }
}

/// Lines of a text without their common indentation.
pub fn lines(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let indent = lines.clone().map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    lines.map(|line| line[indent..].to_owned()).collect()
}

/// Words as bytes.
pub fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
