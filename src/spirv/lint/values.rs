//! What declarations and values say about the type and the bits of a variable.

use hashbrown::{HashMap, HashSet};

use super::compare::{Difference, difference};
use super::context::{Context, Subject, place};
use super::sizes::{Members, bits, part, pointee, type_of, value_bits};
use crate::error::Count;
use crate::lint::LintCode;
use crate::spirv::opcodes as op;
use crate::spirv::operand::Field;
use crate::spirv::provider::DebugOperation;
use crate::spirv::read::{Fact, Facts};
use crate::spirv::table::InstructionName;
use crate::spirv::words::Id;

/// What an expression does with the id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Form {
    /// Nothing.
    Direct,
    /// It reads memory at the id.
    Deref,
    /// It names the address space of the id: `Constu, Swap, Xderef`, as clang writes it for OpenCL.
    Space,
    /// Anything else.
    Other,
}

/// An expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    pub operations: Form,
    /// The variable's bits that the expression describes: offset and size.
    pub fragment: Option<(u32, u32)>,
}

/// Expressions and comparisons so far. Many values have the same expression, variable and type.
#[derive(Default)]
pub(super) struct Values<'a> {
    shapes: HashMap<Id, Shape>,
    members: Members<'a>,
    compared: HashSet<(Id, Id, Shape, bool)>,
}

impl<'a> Values<'a> {
    /// The form of the expression in a declaration or value.
    pub fn form(&mut self, facts: &Facts<'a>, fact: &Fact<'a>) -> Shape {
        let unknown = Shape { operations: Form::Other, fragment: None };
        let Some(expression) = fact.id(Field::Expression) else { return unknown };
        *self.shapes.entry(expression).or_insert_with(|| {
            let Ok(operations) = facts.few_operations(expression) else { return unknown };
            let (operations, fragment) = match operations.split_last() {
                Some((&DebugOperation::Fragment { offset, size }, before)) => (before, Some((offset, size))),
                _ => (&operations[..], None),
            };
            let operations = match operations {
                [] | [DebugOperation::StackValue] => Form::Direct,
                [DebugOperation::Deref] => Form::Deref,
                [DebugOperation::Constu(_), DebugOperation::Swap, DebugOperation::Xderef] => Form::Space,
                _ => Form::Other,
            };
            Shape { operations, fragment }
        })
    }

    /// Compares the type of a local variable with its storage or value.
    pub fn compare(
        &mut self,
        context: &mut Context<'_, 'a>,
        fact: &Fact<'a>,
        variable: &Fact<'a>,
        subject: &Subject,
    ) {
        let facts = context.facts;
        let shape = self.form(facts, fact);
        let is_declare = fact.name() == Some(InstructionName::Declare);
        let Some(id) = fact.id(Field::Variable).or(fact.id(Field::Value)) else { return };
        let Some(ty) = type_of(facts, id) else { return };
        let has_index = fact.ids(Field::Index).next().is_some();
        if !has_index && !self.compared.insert((variable.result, ty, shape, is_declare)) {
            return;
        }
        let Some(described) = facts.named(variable, Field::Type) else { return };
        let Some(described) = part(facts, &mut self.members, described, fact.ids(Field::Index)) else {
            return;
        };
        let is_undefined = facts.layout().definition(id).is_some_and(|it| it.opcode() == op::UNDEF);
        // The variable's storage is memory at the pointer. glslang declares a parameter that is no pointer.
        let ty = if is_declare { pointee(facts, ty).or(not_pointer(facts, ty)) } else { Some(ty) };
        let ty = match shape.operations {
            Form::Direct => ty,
            Form::Deref => ty.and_then(|ty| pointee(facts, ty)),
            // The declared storage is in that address space; a value that is no pointer is the variable's, though it is called
            // memory.
            Form::Space if is_declare => ty,
            Form::Space => ty.and_then(|ty| not_pointer(facts, ty)),
            Form::Other => None,
        };
        let evidence =
            |context: &Context<'_, '_>| vec![place(fact), format!("the value is {}", context.describe(id))];
        let total = bits(facts, described);
        if let Some((offset, size)) = shape.fragment {
            let end = u64::from(offset) + u64::from(size);
            if let Some(total) = total.filter(|&total| end > total) {
                let this = context.describe(described.result);
                let written = format!(
                    "a fragment has bits {offset} up to {end} of a variable with {}, {this}",
                    Count(total, "bit")
                );
                let evidence = evidence(context);
                context.find(LintCode::FragmentBeyondType, fact.at, subject, written, evidence);
            } else if let Some(value) = ty.filter(|_| !is_undefined).and_then(|ty| value_bits(facts, ty))
                && value != u64::from(size)
            {
                let written = format!("a value with {} for a fragment with {size}", Count(value, "bit"));
                let evidence = evidence(context);
                context.find(LintCode::ValueSizeDiffers, fact.at, subject, written, evidence);
            }
            return;
        }
        if let Some(ty) = ty.filter(|_| !is_undefined) {
            self.report(context, fact.at, subject, (ty, described), evidence);
        }
    }

    /// Compares the types of global variables with their storage.
    pub fn globals(&mut self, context: &mut Context<'_, 'a>) {
        let facts = context.facts;
        for fact in facts.iter().filter(|fact| fact.name() == Some(InstructionName::GlobalVariable)) {
            context.report.entries += 1;
            let variable = fact.id(Field::Variable).and_then(|id| facts.layout().definition(id));
            let (Some(variable), Some(described)) = (variable, facts.named(&fact, Field::Type)) else {
                continue;
            };
            let ty = variable.result_type().and_then(|ty| match variable.opcode() {
                op::VARIABLE => pointee(facts, ty),
                opcode if op::is_constant(opcode) => Some(ty),
                _ => None,
            });
            let Some((ty, id)) = ty.zip(variable.result()) else { continue };
            let subject = Subject { variable: Some(fact.result), ..Subject::default() };
            let evidence = |context: &Context<'_, '_>| {
                vec![place(&fact), format!("the value is {}", context.describe(id))]
            };
            self.report(context, fact.at, &subject, (ty, described), evidence);
        }
    }

    fn report(
        &mut self,
        context: &mut Context<'_, 'a>,
        at: usize,
        subject: &Subject,
        (ty, described): (Id, Fact<'a>),
        evidence: impl Fn(&Context<'_, '_>) -> Vec<String>,
    ) {
        let Some(difference) = difference(context.facts, &mut self.members, ty, described) else { return };
        let text = |ty: crate::spirv::words::Instruction<'_>| {
            let name = op::name(ty.opcode()).unwrap_or("a type");
            match ty.result().and_then(|id| value_bits(context.facts, id)) {
                Some(bits) => format!("{name} with {}", Count(bits, "bit")),
                None => name.to_owned(),
            }
        };
        let (code, written) = match difference {
            Difference::Kind(value, debug) => {
                let encoding = match context.facts.number(&debug, Field::Encoding) {
                    Some(encoding) if debug.name() == Some(InstructionName::TypeBasic) => {
                        format!(", encoding {encoding}")
                    }
                    _ => String::new(),
                };
                let debug = context.describe(debug.result);
                let written = format!("{} for a variable with {debug}{encoding}", text(value));
                (LintCode::ValueTypeDiffers, written)
            }
            Difference::Size(value, debug) => {
                let [value, debug] = [Count(value, "bit"), Count(debug, "bit")];
                (LintCode::ValueSizeDiffers, format!("{value} for a variable with {debug}"))
            }
            Difference::Vector(value, debug) => {
                let debug = context.describe(debug.result);
                (LintCode::VectorAsStructure, format!("{} is described as {debug}", text(value)))
            }
        };
        let evidence = evidence(context);
        context.find(code, at, subject, written, evidence);
    }
}

/// The type, if it is not a pointer type.
fn not_pointer(facts: &Facts<'_>, ty: Id) -> Option<Id> {
    let definition = facts.layout().definition(ty)?;
    (!matches!(definition.opcode(), op::TYPE_POINTER | op::TYPE_UNTYPED_POINTER)).then_some(ty)
}
