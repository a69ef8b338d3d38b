//! Lowering frames to call frame information: DWARF 5 section 6.4, A.6.4.

mod rows;

use core::ops::Range;

use hashbrown::{DefaultHashBuilder, HashTable};

use super::loc::{Extent, Facts, Lowering, NoEntries, References, Sink};
use super::units::Units;
use crate::consumer::{AspaceCfa, Consumer, FrameForm, Policy};
use crate::emit::addr::Addresses;
use crate::emit::format::Format;
use crate::emit::frame::{Exprs, FrameFormat, FrameSection, Keeps, Program, Rule};
use crate::emit::info::Wanted;
use crate::error::{Construct, Result};
use crate::model::{
    CodePart, Column, FrameRule, FunctionId, LocId, Module, Node, Stack, Tree, UnitId, is_overwritten,
    overwritten_registers,
};
use crate::omission::{Omission, Property, Subject};
use crate::op::Reg;
use crate::target::nvptx::class;
use crate::target::{SpaceId, Target, UnspecifiedRegisters};
use rows::{Form, LoweredRule, Rows};

/// Call frame instructions for a unit's functions.
#[derive(Debug, Default)]
pub(super) struct UnitFrames {
    pub(super) frames: Vec<FunctionFrame>,
    pub(super) program: Program,
    pub(super) omissions: Vec<Omission>,
}

/// A function's call frame instructions, as ranges in [`UnitFrames::program`]. The instructions of the first row go to a
/// common information entry, which functions with the same first row share; the remaining instructions go to the
/// function's frame description entry.
#[derive(Debug)]
pub(super) struct FunctionFrame {
    pub(super) function: FunctionId,
    /// The part of the function's code.
    pub(super) part: CodePart,
    pub(super) first: Range<usize>,
    pub(super) rest: Range<usize>,
    /// Rule that the common entry has for each register that a call overwrites.
    pub(super) stated: Option<Rule>,
    /// Register whose value in the caller is the return address.
    pub(super) return_register: Reg,
}

/// Parameters that the module's call frame information shares.
pub(super) fn format(units: &Units<'_>) -> FrameFormat {
    let target = &units.module.target;
    let frames = target.call_frames();
    let wanted = units.consumer.frames.format;
    let offset_bytes = wanted.map_or(units.format.offset_bytes, gimli::Format::word_size);
    FrameFormat {
        format: Format { offset_bytes, ..units.format },
        code_alignment: target.min_instruction_bytes(),
        data_alignment: frames.data_alignment,
        return_register: frames.return_register,
        plain_base: if units.consumer.expressions.has_register_map { u64::from(class::R) << 24 } else { 0 },
        augmentation: units.consumer.frames.augmentation,
    }
}

/// Lowers a unit's frames.
///
/// # Errors
/// The errors of [`lower`](super::lower()).
pub(super) fn lower(units: &Units<'_>, unit: UnitId) -> Result<UnitFrames> {
    let FrameForm { debug_frame, eh_frame, .. } = units.consumer.frames;
    if units.module.lists.frame_rules.is_empty() || !(debug_frame || eh_frame) {
        return Ok(UnitFrames::default());
    }
    let mut frames = Frames {
        module: units.module,
        consumer: units.consumer,
        policy: units.policy,
        format: format(units),
        lowering: Lowering::new(units.module, units.consumer).for_call_frames(),
        tree: Tree::default(),
        of_cfa: Tree::default(),
        exprs: Exprs::default(),
        known: HashTable::new(),
        hasher: DefaultHashBuilder::default(),
        rules: Vec::new(),
        rows: Rows::default(),
        out: UnitFrames::default(),
    };
    for index in units.functions.ids(unit) {
        let function = FunctionId::from_u32(index);
        let has_frame = units.module.has_frame(function, units.consumer.has_locations_on_the_stack());
        if units.module.functions[function].address.is_some() && has_frame {
            frames.function(function)?;
        }
    }
    Ok(frames.out)
}

/// Returns the rules in a range, with pcs from its start. A rule can go past the range on both sides.
fn rules_in(rules: &[LoweredRule], pcs: &Range<u64>) -> Vec<LoweredRule> {
    let cut = |rule: &LoweredRule| {
        let [start, end] =
            [rule.start, rule.end].map(|pc| u64::from(pc).clamp(pcs.start, pcs.end) - pcs.start);
        // The pcs of a rule fit 32 bits, and with them the distance between two of them.
        (start < end).then_some(LoweredRule { start: start as u32, end: end as u32, ..*rule })
    };
    let mut cut: Vec<_> = rules.iter().filter_map(cut).collect();
    cut.sort_by_key(|rule| (rule.start, rule.column));
    cut
}

/// Lowers functions' frames, one after the other.
struct Frames<'m> {
    module: &'m Module,
    consumer: &'m Consumer,
    policy: Policy,
    format: FrameFormat,
    lowering: Lowering<'m>,
    tree: Tree<'m>,
    /// Location of the canonical frame address.
    of_cfa: Tree<'m>,
    exprs: Exprs,
    /// Expression indices, by the expressions' bytes.
    known: HashTable<u32>,
    hasher: DefaultHashBuilder,
    rules: Vec<LoweredRule>,
    rows: Rows,
    out: UnitFrames,
}

impl<'m> Frames<'m> {
    fn function(&mut self, id: FunctionId) -> Result<()> {
        let module = self.module;
        let function = &module.functions[id];
        let stated = stated_rule(module, id);
        let return_register = module.return_register(id);
        self.format.return_register = return_register;
        self.rules.clear();
        for rule in module.frame(id) {
            let lowered = match rule.column {
                Column::Cfa => self.cfa(rule.loc, function.stack),
                Column::Register(reg) => self.register(rule, reg, stated),
            };
            let lowered = match lowered {
                Ok(lowered) => lowered,
                Err(error) => {
                    let error = error.or_at(module.at_scope(function.scope).with(|context| {
                        context.column = Some(rule.column.name(&module.target));
                        context.pcs = Some(rule.pcs());
                    }));
                    if self.policy == Policy::Strict {
                        return Err(error);
                    }
                    let subject = Subject::Rule(id, rule.column);
                    let pcs = Some(rule.pcs());
                    self.out.omissions.push(Omission::inexpressible(subject, Property::Rule, pcs, error)?);
                    match rule.column {
                        // A frame without a canonical frame address is omitted as a whole.
                        Column::Cfa => return Ok(()),
                        // The default rule would claim that the register still has the caller's value.
                        Column::Register(_) => Rule::Undefined,
                    }
                }
            };
            let &FrameRule { start, end, column, .. } = rule;
            self.rules.push(LoweredRule { start, end, column, rule: lowered });
        }
        // If no rule is in another address space, no instruction has to return to the default one.
        let keeps = match self.consumer.frames.def_cfa_resets_space {
            false if self.rules.iter().any(is_in_a_space) => Keeps::Space,
            _ => Keeps::Nothing,
        };
        let form = Form { format: self.format, keeps, target: &module.target, stated };
        for part in function.code_parts() {
            let of_part;
            let mut rules = &self.rules[..];
            if function.is_in_parts() {
                of_part = rules_in(rules, &part.pcs);
                rules = &of_part;
            }
            let out = &mut self.out.program;
            let (first, rest) = self.rows.write(rules, part.bytes(), form, &self.exprs, out);
            self.out.frames.push(FunctionFrame { function: id, part, first, rest, stated, return_register });
        }
        Ok(())
    }

    /// Lowers the canonical frame address's location.
    fn cfa(&mut self, loc: LocId, stack: Stack) -> Result<Rule> {
        let FrameForm { debug_frame, eh_frame, .. } = self.consumer.frames;
        let sections = [(FrameSection::Debug, debug_frame), (FrameSection::Eh, eh_frame)];
        if sections.iter().any(|&(section, is_there)| is_there && !self.format.has_return_register(section)) {
            let register = self.format.return_register;
            return Err(self.consumer.inexpressible(Construct::ReturnRegister(register.0)));
        }
        let memory = self.memory_at_register(loc);
        // NVIDIA's frames are in the thread's memory, and name its part of a register.
        if let Some((SpaceId::PRIVATE_LANE, reg, offset)) = memory
            && self.consumer.expressions.has_register_map
            && (offset >= 0 || self.format.is_factored(offset))
        {
            return Ok(Rule::CfaRegister { reg, offset, space: SpaceId::DEFAULT.0 });
        }
        if let Some((space, reg, offset)) = memory
            && let Some(width) = self.module.target.space(space)
            && self.module.target.register(reg).is_some_and(|register| match space {
                SpaceId::DEFAULT => register.bits == width.address_bits,
                _ => register.bits >= width.address_bits,
            })
        {
            let FrameForm { aspace_cfa, def_cfa_resets_space, .. } = self.consumer.frames;
            // If `DW_CFA_def_cfa` keeps the space, even the default space is set explicitly, because an earlier row
            // may have set another space.
            let is_encoded = !def_cfa_resets_space && self.module.target.lanes() > 1;
            let is_sayable = match (space, aspace_cfa) {
                (SpaceId::DEFAULT, AspaceCfa::Unsigned) if is_encoded => offset >= 0,
                (SpaceId::DEFAULT, _) | (_, AspaceCfa::Signed) => {
                    offset >= 0 || self.format.is_factored(offset)
                }
                (_, AspaceCfa::Unsigned) => offset >= 0,
                (_, AspaceCfa::None) => false,
            };
            if is_sayable {
                return Ok(Rule::CfaRegister { reg, offset, space: space.0 });
            }
        }
        self.expr(stack, |lowering, sink| lowering.lower(loc, None, sink)).map(Rule::CfaExpression)
    }

    /// Lowers the location in which a caller's register is saved.
    fn register(&mut self, rule: &FrameRule, reg: Reg, stated: Option<Rule>) -> Result<Rule> {
        let module = self.module;
        let function = &module.functions[rule.function];
        let stack = function.stack;
        let loc = rule.loc;
        let bits = |reg: Reg| module.target.register(reg).map(|register| register.bits);
        let Some(root) = self.tree.read(module.nodes(loc)) else { return Ok(Rule::Undefined) };
        let (place, by) = offset(&self.tree, root);
        match (self.tree.node(place), by) {
            (Node::Register(of), _) if of == reg => {
                // Without a rule, the stack pointer is the canonical frame address, and the common entry can have another
                // rule.
                let is_cfa = module.target.cfa_register() == Some(reg);
                let is_stated = stated.is_some() && is_overwritten(&module.target, reg);
                let is_kept = function.unruled_bits(&module.target, reg) == bits(reg);
                return Ok(if is_kept && !is_cfa && !is_stated { Rule::Default } else { Rule::SameValue });
            }
            (Node::Register(of), Some(0)) if bits(of) == bits(reg) => return Ok(Rule::Register(of)),
            (Node::Undefined, _) => return Ok(Rule::Undefined),
            // An offset instruction can express only multiples of the data alignment factor.
            (Node::Cfa, Some(by)) if self.format.is_factored(by) => return Ok(Rule::Offset(by)),
            (Node::Value, Some(0)) => {
                let address_bits = u32::from(module.target.address_bytes()) * 8;
                let is_plain = !self.consumer.has_locations_on_the_stack();
                if bits(reg) == Some(address_bits) || is_plain {
                    // With another offset, the address could leave the space where the number wraps around.
                    if let Some(by @ 0) = self.distance(rule, place) {
                        return Ok(Rule::ValOffset(by));
                    }
                    let number = self.expr(stack, |lowering, sink| lowering.saved_number(loc, sink));
                    return number.map(Rule::ValExpression);
                }
            }
            _ => {}
        }
        self.expr(stack, |lowering, sink| lowering.saved(loc, sink)).map(Rule::Expression)
    }

    /// A number's offset in bytes from the canonical frame address, if both are relative to one register, and the
    /// address is in the default space at all the rule's pcs.
    fn distance(&mut self, rule: &FrameRule, value: usize) -> Option<i64> {
        let (reg, by) = register_plus(&self.tree, self.tree.last(value))?;
        let cfa = self.module.frame_rule(rule.function, Column::Cfa, rule.start.into())?;
        if cfa.end < rule.end {
            return None;
        }
        match self.memory_at_register(cfa.loc)? {
            (SpaceId::DEFAULT, of, offset) if of == reg => by.checked_sub(offset),
            _ => None,
        }
    }

    /// Memory at a register's contents plus a constant, as space, register and byte offset.
    fn memory_at_register(&mut self, loc: LocId) -> Option<(SpaceId, Reg, i64)> {
        let tree = &mut self.of_cfa;
        let root = tree.read(self.module.nodes(loc))?;
        let (place, by) = offset(tree, root);
        let Node::Memory(space) = tree.node(place) else { return None };
        let (reg, first) = register_plus(tree, tree.last(place))?;
        Some((space, reg, first.checked_add(by?)?))
    }

    /// Returns an expression's index. Equal expressions have one index.
    fn expr(
        &mut self,
        stack: Stack,
        write: impl FnOnce(&mut Lowering<'m>, &mut Sink<'_>) -> Result<()>,
    ) -> Result<u32> {
        use core::hash::BuildHasher;
        let Exprs { program, ends } = &mut self.exprs;
        let start = program.bytes.len();
        let mut pending = Vec::new();
        let references = References {
            addresses: &mut Addresses::default(),
            pending: &mut pending,
            facts: &mut Facts::default(),
            homes: None,
        };
        let extent = Extent::AllPcs;
        let mut sink = Sink { out: &mut program.bytes, references, entries: &NoEntries, stack, extent };
        if let Err(error) = write(&mut self.lowering, &mut sink) {
            program.bytes.truncate(start);
            return Err(error);
        }
        let number = ends.len() as u32;
        // An expression with addresses is not shared, because its bytes do not tell which addresses it contains.
        if !pending.is_empty() {
            for field in pending {
                // Call frame information refers to no entries.
                if let Wanted::Address(key) = field.wanted {
                    program.addresses.push((field.at, key));
                }
            }
            ends.push(program.bytes.len());
            return Ok(number);
        }
        ends.push(program.bytes.len());
        let exprs = &self.exprs;
        let hasher = &self.hasher;
        let bytes = |expr: u32| &exprs.program.bytes[exprs.range(expr)];
        let hash = |expr: u32| hasher.hash_one(bytes(expr));
        if let Some(&same) = self.known.find(hash(number), |&known| bytes(known) == bytes(number)) {
            self.exprs.program.bytes.truncate(start);
            self.exprs.ends.pop();
            return Ok(same);
        }
        self.known.insert_unique(hash(number), number, |&known| hash(known));
        Ok(number)
    }
}

/// Returns the rule that a function's common entry must have for each register that a call overwrites, because debuggers
/// take a register without a rule to be something other than described.
fn stated_rule(module: &Module, id: FunctionId) -> Option<Rule> {
    let described = module.functions[id].unspecified_registers;
    let is_understood = module.target.call_frames().unspecified_registers == described;
    if is_understood || !module.has_unspecified_registers(id) {
        return None;
    }
    Some(match described {
        UnspecifiedRegisters::ByConvention => Rule::Undefined,
        UnspecifiedRegisters::SameValue => Rule::SameValue,
    })
}

/// Appends the instructions that give each register which a call overwrites a rule.
pub(super) fn state(rule: Rule, target: &Target, format: FrameFormat, out: &mut Program) {
    for reg in overwritten_registers(target) {
        format.rule(reg, rule, Rule::Default, &Exprs::default(), out);
    }
}

fn is_in_a_space(rule: &LoweredRule) -> bool {
    matches!(rule.rule, Rule::CfaRegister { space: 1.., .. })
}

/// Strips constant offsets. Returns the node below, and the offset in bytes, or `None` if it is not whole bytes.
fn offset(tree: &Tree<'_>, mut at: usize) -> (usize, Option<i64>) {
    let mut bits = Some(0i64);
    loop {
        let offset = match tree.node(at) {
            Node::Offset(by) => by.checked_mul(8),
            Node::BitOffset(by) => Some(by),
            _ => return (at, bits.filter(|bits| bits % 8 == 0).map(|bits| bits / 8)),
        };
        bits = bits.and_then(|bits| bits.checked_add(offset?));
        at = tree.last(at);
    }
}

/// Splits a number into a register's contents and a constant, if it has that form.
fn register_plus(tree: &Tree<'_>, at: usize) -> Option<(Reg, i64)> {
    match tree.node(at) {
        Node::ReadRegister(reg) => Some((reg, 0)),
        Node::Read(32) => match tree.node(tree.last(at)) {
            Node::PerLane(reg) => Some((reg, 0)),
            _ => None,
        },
        Node::Plus(by) => {
            let (reg, first) = register_plus(tree, tree.last(at))?;
            Some((reg, first.checked_add(by)?))
        }
        _ => None,
    }
}
