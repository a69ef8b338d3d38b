//! A module to attach to, a unit to describe in it, and the emitted instructions as text.

use eitri::Result;
use eitri::build::Builder;
use eitri::model::{BaseEncoding, FileId, FunctionId, Module, SourceLine, TypeId, UnitId};
use eitri::spirv::instructions::OperandKind;
use eitri::spirv::{
    Attached, Binding, Fact, Facts, Id, Instruction, InstructionName, Mode, Set, attach, read, validate,
};
use eitri::target::{Gfx, Target, Wave};

use crate::spirv_lower::assemble::assemble;

/// A module for each environment, with a function and a variable. Ids follow the order of names.
pub const KERNEL: &str = r#"
               OpCapability Addresses
               OpCapability Linkage
               OpCapability Kernel
               OpCapability Int64
               OpMemoryModel Physical64 OpenCL
               OpEntryPoint Kernel %main "main"
               OpName %main "main"
               OpName %table "table"
       %void = OpTypeVoid
       %uint = OpTypeInt 32 0
     %global = OpTypePointer CrossWorkgroup %uint
         %u7 = OpConstant %uint 7
       %kind = OpTypeFunction %void
      %table = OpVariable %global CrossWorkgroup %u7
       %main = OpFunction %void None %kind
      %entry = OpLabel
        %sum = OpIAdd %uint %u7 %u7
               OpReturn
               OpFunctionEnd
"#;

pub const COMPUTE: &str = r#"
               OpCapability Shader
               OpMemoryModel Logical GLSL450
               OpEntryPoint GLCompute %main "main"
               OpExecutionMode %main LocalSize 1 1 1
               OpName %main "main"
               OpName %table "table"
       %void = OpTypeVoid
       %uint = OpTypeInt 32 0
     %global = OpTypePointer Private %uint
         %u7 = OpConstant %uint 7
       %kind = OpTypeFunction %void
      %table = OpVariable %global Private
       %main = OpFunction %void None %kind
      %entry = OpLabel
        %sum = OpIAdd %uint %u7 %u7
               OpReturn
               OpFunctionEnd
"#;

/// Ids of the `OpFunction` and the `OpVariable`, in both modules.
pub const MAIN: Id = Id(1);
pub const TABLE: Id = Id(2);

/// The first block of the function, and the result of its first instruction, in both modules.
pub const ENTRY: Id = Id(8);
pub const SUM: Id = Id(9);

/// A unit to describe.
pub struct Case {
    pub m: Builder,
    pub unit: UnitId,
    pub file: FileId,
    pub binding: Binding,
}

impl Case {
    pub fn new() -> Self {
        let mut m = Builder::new(Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("is known"));
        let unit = m.unit("a.cl");
        m.describe_unit(unit).expect("is there").directory("/src");
        let file = m.primary_file(unit).expect("has one");
        Self { m, unit, file, binding: Binding::new() }
    }

    /// A signed 32-bit type.
    pub fn int(&mut self) -> TypeId {
        self.m.base_type(self.unit, "int", BaseEncoding::Signed, 32).expect("a type")
    }

    /// An unsigned 32-bit type.
    pub fn uint(&mut self) -> TypeId {
        self.m.base_type(self.unit, "uint", BaseEncoding::Unsigned, 32).expect("a type")
    }

    /// A function with code, which may be longer than that of the module.
    pub fn function(&mut self, name: &str) -> FunctionId {
        self.m.function(self.unit, name).expect("a function").code(name, 0x100).id()
    }

    pub fn line(&self, line: u32, column: u32) -> SourceLine {
        SourceLine::new(self.file, line).column(column)
    }

    pub fn finish(self) -> Described {
        Described { module: self.m.finish().expect("is whole"), binding: self.binding }
    }

    /// Instructions for a mode.
    pub fn emitted(self, mode: &Mode) -> Emitted {
        self.finish().emitted(mode)
    }

    /// Instructions for [`Mode::exact`] of `OpenCL.DebugInfo.100`.
    pub fn exact(self) -> Emitted {
        self.emitted(&Mode::exact(Set::OpenCl))
    }

    /// Instructions for [`Mode::exact`] of `NonSemantic.Shader.DebugInfo.100`.
    pub fn shader(self) -> Emitted {
        self.emitted(&Mode::exact(Set::Shader))
    }
}

/// The description.
#[derive(PartialEq)]
pub struct Described {
    pub module: Module,
    pub binding: Binding,
}

impl Described {
    pub fn attached(&self, mode: &Mode) -> Result<Attached> {
        let text = if mode.set() == Set::OpenCl { KERNEL } else { COMPUTE };
        self.attached_to(text, mode)
    }

    pub fn attached_to(&self, text: &str, mode: &Mode) -> Result<Attached> {
        attach(&assemble(text).words, &self.module, &self.binding, mode)
    }

    /// Instructions for a mode; they are valid, and can be detached.
    pub fn emitted(&self, mode: &Mode) -> Emitted {
        let attached = self.attached(mode).expect("is attached");
        let text = if mode.set() == Set::OpenCl { KERNEL } else { COMPUTE };
        assert_eq!(attached.detach().expect("is whole"), assemble(text).words);
        self.checked(attached, mode)
    }

    /// Instructions for a module without `Int64`.
    pub fn emitted_narrow(&self, mode: &Mode) -> Emitted {
        let text = KERNEL.replace("OpCapability Int64", "");
        self.checked(self.attached_to(&text, mode).expect("is attached"), mode)
    }

    /// Instructions for a module with one more capability.
    pub fn emitted_with(&self, capability: &str, mode: &Mode) -> Emitted {
        let text =
            KERNEL.replace("OpCapability Int64", &format!("OpCapability Int64\nOpCapability {capability}"));
        self.checked(self.attached_to(&text, mode).expect("is attached"), mode)
    }

    /// Instructions for a mode with deviations that the validator reports.
    pub fn emitted_as(&self, mode: &Mode) -> Emitted {
        let attached = self.attached(mode).expect("is attached");
        let checked = attached.check(&self.module, &self.binding, mode).expect("is a module");
        assert!(checked.is_clean(), "{}, {:?}: {checked}", mode.name(), mode.set());
        Emitted::read(attached)
    }

    /// Checks that the instructions match the description, apart from the listed omissions.
    fn checked(&self, attached: Attached, mode: &Mode) -> Emitted {
        let checked = attached.check(&self.module, &self.binding, mode).expect("is a module");
        let left: Vec<String> = attached.omissions.iter().map(ToString::to_string).collect();
        assert!(
            checked.is_clean(),
            "{}, {:?}: {checked}\nleft out:\n{}",
            mode.name(),
            mode.set(),
            left.join("\n")
        );
        Emitted::new(attached)
    }
}

/// Emitted instructions.
pub struct Emitted {
    pub words: Vec<u32>,
    lines: Vec<String>,
    left: Vec<String>,
}

impl Emitted {
    fn new(attached: Attached) -> Self {
        let facts = read(&attached.words).expect("reads");
        let report = validate(&facts);
        assert!(report.is_clean(), "{report}\n{:#?}", lines(&facts));
        Self::read(attached)
    }

    fn read(attached: Attached) -> Self {
        let facts = read(&attached.words).expect("reads");
        let lines = lines(&facts);
        let left = attached.omissions.iter().map(ToString::to_string).collect();
        Self { lines, left, words: attached.words }
    }

    /// The instructions with this name.
    pub fn all(&self, name: InstructionName) -> Vec<&str> {
        let start = format!("{} ", short(name));
        self.lines
            .iter()
            .filter_map(|line| format!("{line} ").starts_with(&start).then_some(line.trim()))
            .collect()
    }

    /// Checks that an instruction occurs once.
    #[track_caller]
    pub fn has(&self, line: &str) -> &Self {
        let count = self.lines.iter().filter(|it| *it == line).count();
        assert_eq!(count, 1, "{line}\n{:#?}", self.lines);
        self
    }

    /// Checks that no instruction has this name.
    #[track_caller]
    pub fn has_no(&self, name: InstructionName) -> &Self {
        assert!(self.all(name).is_empty(), "{:#?}", self.lines);
        self
    }

    /// Checks the order of two instructions.
    #[track_caller]
    pub fn is_before(&self, one: &str, other: &str) -> &Self {
        let at = |line: &str| self.lines.iter().position(|it| it.starts_with(line));
        let first = at(one);
        let second = at(other);
        assert!(
            first.is_some() && first < second,
            "{one}: {first:?}, {other}: {second:?}\n{:#?}",
            self.lines
        );
        self
    }

    /// The omissions.
    pub fn left(&self) -> &[String] {
        &self.left
    }

    /// Checks that exactly these omissions are listed.
    #[track_caller]
    pub fn lacks(&self, left: &[&str]) -> &Self {
        assert_eq!(self.left, left, "{:#?}", self.lines);
        self
    }
}

fn short(name: InstructionName) -> &'static str {
    name.text().trim_start_matches("Debug")
}

/// Every instruction before the functions in a line: its name and operands.
pub fn lines(facts: &Facts<'_>) -> Vec<String> {
    let end = facts.layout().globals_end();
    facts.iter().filter(|fact| fact.at < end).map(|fact| line(facts, &fact)).collect()
}

pub fn line(facts: &Facts<'_>, fact: &Fact<'_>) -> String {
    let mut line = short(fact.name().expect("is known")).to_owned();
    if fact.with_forward {
        line.push_str(" forward");
    }
    for operand in fact.operands() {
        let is_literal = operand.is_literal(fact.set);
        let number = || {
            let constant = facts.layout().constant(Id(operand.word)).and_then(|constant| constant.value);
            if is_literal { operand.word } else { constant.expect("a number") as u32 }
        };
        let is_none = !is_literal && facts.get(Id(operand.word)).is_some();
        let text = match operand.row().expect("is known").kind {
            OperandKind::Enumerant(_) if is_none => named(facts, Id(operand.word)),
            OperandKind::Enumerant(enumeration) => enumeration.text(number(), fact.set),
            OperandKind::Number | OperandKind::AnyNumber => number().to_string(),
            OperandKind::Id(_) => named(facts, Id(operand.word)),
        };
        line.push(' ');
        line.push_str(&text);
    }
    line
}

/// Text of the instruction that an operand refers to.
fn named(facts: &Facts<'_>, id: Id) -> String {
    if let Some(fact) = facts.get(id) {
        return label(facts, &fact);
    }
    let layout = facts.layout();
    if let Some(text) = layout.string(id) {
        return format!("{text:?}");
    }
    if let Some(value) = layout.constant(id).and_then(|constant| constant.value) {
        return value.to_string();
    }
    let opcode = layout.definition(id).map(Instruction::opcode);
    match opcode {
        Some(19) => "void".into(),
        Some(54) => "%main".into(),
        Some(59) => "%table".into(),
        _ => format!("{opcode:?}"),
    }
}

/// Text of a debug instruction: its name, or its components.
fn label(facts: &Facts<'_>, fact: &Fact<'_>) -> String {
    use eitri::spirv::Field;
    let of = |field| fact.id(field).map(|id| named(facts, id)).unwrap_or_default();
    let number = |field| facts.number(fact, field).unwrap_or_default();
    match fact.name().expect("is known") {
        InstructionName::InfoNone => "none".into(),
        InstructionName::CompilationUnit => "unit".into(),
        InstructionName::Source => format!("<{}>", facts.text(fact, Field::File).unwrap_or_default()),
        InstructionName::TypePointer => format!("{}*", of(Field::BaseType)),
        InstructionName::TypeQualifier => format!("q{}:{}", number(Field::Qualifier), of(Field::BaseType)),
        InstructionName::TypeArray => {
            let counts: Vec<_> = fact.ids(Field::ComponentCount).map(|id| named(facts, id)).collect();
            format!("{}[{}]", of(Field::BaseType), counts.join(","))
        }
        InstructionName::TypeVector => format!("{}x{}", of(Field::BaseType), number(Field::ComponentCount)),
        InstructionName::TypeFunction => {
            let parameters: Vec<_> = fact.ids(Field::ParameterType).map(|id| named(facts, id)).collect();
            format!("{}({})", of(Field::ReturnType), parameters.join(","))
        }
        InstructionName::TypePtrToMember => format!("{}::*{}", of(Field::Parent), of(Field::MemberType)),
        InstructionName::LexicalBlock => match facts.text(fact, Field::Name) {
            Some(name) => format!("namespace:{name}"),
            None => format!("block:{}", number(Field::Line)),
        },
        InstructionName::LexicalBlockDiscriminator => {
            format!("discriminator:{}", number(Field::Discriminator))
        }
        InstructionName::InlinedAt => format!("call:{}", number(Field::Line)),
        InstructionName::TypeInheritance => format!("base:{}", of(Field::Parent)),
        InstructionName::FunctionDeclaration => {
            format!("declared:{}", facts.text(fact, Field::Name).unwrap_or_default())
        }
        InstructionName::TypeTemplate => "template".into(),
        InstructionName::TypeTemplateParameterPack => {
            format!("{}...", facts.text(fact, Field::Name).unwrap_or_default())
        }
        _ => facts.text(fact, Field::Name).unwrap_or_default(),
    }
}
