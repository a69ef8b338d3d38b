//! Frames that call frame information cannot express: A.6.4.

use core::ops::Range;
use std::collections::HashSet;

use crate::build::blame::{Blame, Wrong};
use crate::build::loc::{self, Room};
use crate::error::{At, Count, Error, ErrorKind, Ranges, Result};
use crate::model::{Column, ExprId, FrameRule, FunctionId, Module, Node, Nodes, Tree};
use crate::op::{FixupKind, Reg};
use crate::target::{Per, SpaceId};

/// Rejects a rule that is wrong regardless of the frame's other rules.
pub(super) fn rule(module: &Module, function: FunctionId, column: Column, nodes: Nodes<'_>) -> Result<()> {
    for node in nodes.clone() {
        // A rule is evaluated without a current lane, an object or a unit, so that A.6.4.2 excludes the operations that
        // need one.
        let operation = match node {
            // An expression that belongs to one thread has the thread's lane.
            Node::PerLane(_) if module.target.has_lane_expressions() => continue,
            Node::PerLane(_) | Node::LaneIndex => "push_lane",
            Node::PointerTo(..) => "implicit_pointer",
            Node::PassedValue(_) => "parameter_ref",
            Node::Call(_) => "call4",
            Node::Cfa if column == Column::Cfa => "call_frame_cfa",
            Node::Expr(expr) => match entry_operation(module, expr) {
                Some(operation) => operation,
                None => continue,
            },
            _ => continue,
        };
        let what = format!("operation `{operation}` is not allowed in call frame information");
        return Err(Error::bad_argument(what));
    }
    if column == Column::Register(module.return_register(function)) {
        below_frame(module, nodes.clone())?;
    }
    let mut tree = Tree::default();
    let Some(root) = tree.read(nodes) else { return Ok(()) };
    let place = match column {
        Column::Cfa => Some(place_of_cfa(&tree, root)?),
        Column::Register(reg) => {
            refuse_itself(module, &tree, root, reg)?;
            None
        }
    };
    // The frame itself may be in a lane's memory. A number may not be read from it, as no lane is known.
    for at in (0..=root).filter(|&at| Some(at) != place) {
        if let Node::Memory(space) = tree.node(at)
            && is_of_lanes(module, space)
        {
            return Err(no_lane(module, space));
        }
    }
    Ok(())
}

/// Refuses a return address in the caller's frame, on a target where calls push it: the canonical frame address is the
/// stack pointer before the call, so that the return address is below it.
fn below_frame(module: &Module, nodes: Nodes<'_>) -> Result<()> {
    let target = &module.target;
    let frames = target.call_frames();
    let is_pushed =
        frames.is_return_register_pc && frames.data_alignment < 0 && target.cfa_register().is_some();
    let mut nodes = nodes;
    let offset = match (nodes.next(), nodes.next(), nodes.next()) {
        (Some(Node::Cfa), None, None) => 0,
        (Some(Node::Cfa), Some(Node::Offset(bytes)), None) => bytes,
        _ => return Ok(()),
    };
    if !is_pushed || offset < 0 {
        return Ok(());
    }
    Err(Error::bad_argument(format!(
        "return address is {} above the canonical frame address, in the caller's frame; expected {} below it, where a call \
         pushes it",
        Count(offset.unsigned_abs(), "byte"),
        Count(target.address_bytes(), "byte")
    )))
}

/// Returns the operation in a raw expression that references a `.debug_info` entry, if any. The expression's remaining
/// operations are known only with the consumer's encoding.
fn entry_operation(module: &Module, expr: ExprId) -> Option<&'static str> {
    module.expr(expr).0.fixups().iter().find_map(|fixup| match fixup.kind {
        FixupKind::Entry { bytes: 2 } => Some("call2"),
        FixupKind::Entry { .. } => Some("call4"),
        FixupKind::Type { .. } => Some("convert"),
        FixupKind::EntrySection => Some("call_ref"),
        FixupKind::Address => None,
    })
}

/// Returns the node with the canonical frame address's memory.
fn place_of_cfa(tree: &Tree<'_>, root: usize) -> Result<usize> {
    let mut node = root;
    loop {
        node = match tree.node(node) {
            Node::Memory(_) | Node::Expr(_) => return Ok(node),
            Node::Offset(_) => tree.last(node),
            // The address stays in the memory that the offset moves in.
            Node::OffsetBy => tree.two(node).0,
            _ => {
                let what = "location is not in memory; expected memory for the canonical frame address";
                return Err(Error::bad_argument(what));
            }
        };
    }
}

/// Rejects a register saved in a lane or other bits of itself, which would overwrite its value.
fn refuse_itself(module: &Module, tree: &Tree<'_>, root: usize, reg: Reg) -> Result<()> {
    let is_it = |node: usize| tree.node(node) == Node::Register(reg);
    let is_refused = |node: usize| match tree.node(node) {
        Node::Lane(of, _) => of == reg,
        Node::Offset(_) | Node::BitOffset(_) => is_it(tree.last(node)),
        Node::OffsetBy | Node::BitOffsetBy => is_it(tree.two(node).0),
        _ => false,
    };
    if !(0..=root).any(is_refused) {
        return Ok(());
    }
    let what = match module.target.register(reg) {
        Some(register) if register.is_vector() => "register is saved to a lane of itself",
        _ => "register is saved to a part of itself",
    };
    Err(Error::bad_argument(what))
}

/// Whether memory in a space belongs to a lane that the location has to name. An expression that belongs to one thread is about
/// the thread's memory.
fn is_of_lanes(module: &Module, space: SpaceId) -> bool {
    !module.target.has_lane_expressions()
        && module.target.space(space).is_some_and(|space| space.per == Per::Lane)
}

fn no_lane(module: &Module, space: SpaceId) -> Error {
    let name = module.target.space(space).map_or("", |space| &*space.name);
    Error::bad_argument(format!("location in space {name}, which each lane has separately, names no lane"))
}

/// Refuses frames whose rules are wrong in combination.
pub(in crate::build) fn check(module: &Module) -> Result<(), Wrong> {
    if module.lists.frame_rules.is_empty() {
        return Ok(());
    }
    module.functions.keys().try_for_each(|function| check_frame(module, function))
}

/// Refuses a function's frame whose rules are wrong in combination.
pub(super) fn check_frame(module: &Module, function: FunctionId) -> Result<(), Wrong> {
    let rules = module.frame(function);
    if rules.is_empty() {
        return Ok(());
    }
    let frame = Frame { module, function, rules };
    frame.check_pcs()?;
    frame.check_places()?;
    frame.check_cycles()?;
    frame.check_registers()?;
    Ok(())
}

struct Frame<'m> {
    module: &'m Module,
    function: FunctionId,
    rules: &'m [FrameRule],
}

impl<'m> Frame<'m> {
    fn error(&self, error: impl Into<Error>, column: Column, pcs: Range<u64>) -> Error {
        error.into().or_at(at(self.module, self.function, column, pcs))
    }

    fn wrong(&self, what: impl Into<String>, column: Column, pcs: Range<u64>) -> Error {
        self.error(Error::bad_argument(what), column, pcs)
    }

    /// Rejects two rules for a register at one pc, and pcs without the canonical frame address or return address.
    fn check_pcs(&self) -> Result<(), Wrong> {
        let size = self.module.functions[self.function].bytes;
        let by_column: Vec<&FrameRule> = self.module.frame_by_column(self.function).collect();
        let frames = self.module.target.call_frames();
        let returns = self.module.return_register(self.function);
        // Where the return column is the pc itself, an absent rule would make the caller's pc the callee's.
        let needed = |column: Column| match column {
            Column::Cfa => true,
            Column::Register(reg) => {
                reg == returns && reg == frames.return_register && frames.is_return_register_pc
            }
        };
        for pair in by_column.windows(2) {
            let [first, second] = pair else { continue };
            if first.column == second.column && second.start < first.end {
                let kind = ErrorKind::OverlappingRanges { kind: Ranges::Rule, other: first.pcs() };
                let blame = Blame::Rule(self.function, second.column, second.pcs());
                return Err(Wrong::with(self.error(kind, second.column, second.pcs()), blame));
            }
        }
        if let Some(rule) = by_column.iter().find(|rule| rule.pcs().end > size) {
            let kind = ErrorKind::OutsideFunction { size };
            return Err(self.error(kind, rule.column, rule.pcs()).into());
        }
        for column in [Column::Cfa, Column::Register(returns)] {
            let mut end = 0;
            for rule in by_column.iter().filter(|rule| rule.column == column) {
                if rule.pcs().start > end && needed(column) {
                    return Err(self.missing_rule(column, end..rule.pcs().start).into());
                }
                end = rule.pcs().end;
            }
            if end < size && needed(column) {
                return Err(self.missing_rule(column, end..size).into());
            }
        }
        Ok(())
    }

    fn missing_rule(&self, column: Column, pcs: Range<u64>) -> Error {
        let what = match column {
            Column::Cfa => "no rule for the canonical frame address; expected a rule at every pc",
            Column::Register(_) => {
                "no rule for the return address; expected a rule at every pc, which is undefined in code without a caller"
            }
        };
        self.wrong(what, column, pcs)
    }

    /// Rejects registers saved outside the frame, or in a frame that each lane has separately.
    fn check_places(&self) -> Result<()> {
        let module = self.module;
        let function = &self.module.functions[self.function];
        let unit = module.scopes[function.scope].unit;
        // A column's rules are sorted by pc and disjoint.
        let cfas = self.rules.iter().filter(|rule| rule.column == Column::Cfa);
        let of_lanes: Vec<_> = cfas.filter_map(|cfa| Some((cfa, lane_space(module, cfa)?))).collect();
        for rule in self.rules {
            if rule.column == Column::Cfa || !module.nodes(rule.loc).any(|node| node == Node::Cfa) {
                continue;
            }
            // If the first frame that ends after the rule starts does not overlap the rule, no later frame does.
            let before = of_lanes.partition_point(|(cfa, _)| cfa.end <= rule.start);
            if let Some(&(cfa, space)) = of_lanes.get(before).filter(|(cfa, _)| cfa.start < rule.end) {
                let pcs = rule.start.max(cfa.start).into()..rule.end.min(cfa.end).into();
                return Err(self.error(no_lane(module, space), rule.column, pcs));
            }
            // Without a described extent, every slot can be inside the frame.
            let Some(extent) = function.frame_extent() else { continue };
            let bits = |bytes: i64| bytes.unsigned_abs().saturating_mul(8);
            let room = Room::around(bits(extent.start), bits(extent.end));
            let needs = module.ruled_bits(rule.column, Some(rule)).map(u64::from);
            // All other properties were checked when the rule was added.
            let nodes = module.nodes(rule.loc);
            let none = loc::Procedures::new();
            if loc::check_in(module, &none, unit, nodes, needs, "the slot", room).is_err() {
                let what = format!(
                    "slot is outside the frame, which has bytes {}..{} around the canonical frame address",
                    extent.start, extent.end
                );
                return Err(self.wrong(what, rule.column, rule.pcs()));
            }
        }
        Ok(())
    }

    /// Refuses a register's value on entry that depends on itself.
    fn check_cycles(&self) -> Result<()> {
        let asks =
            |rule: &FrameRule| self.module.nodes(rule.loc).any(|node| matches!(node, Node::EntryRegister(_)));
        // Without entry values no rule depends on another, except on the canonical frame address.
        if !self.rules.iter().any(asks) {
            return Ok(());
        }
        // Rules that form a cycle at a pc all apply where the last of them starts.
        for rule in self.rules {
            if self.comes_back(rule) {
                let what = "save rule depends on itself through entry values";
                return Err(self.wrong(what, rule.column, rule.pcs()));
            }
        }
        Ok(())
    }

    /// Rejects registers saved in each other: by A.6.4.1, `register` rules must not form a cycle.
    fn check_registers(&self) -> Result<()> {
        let from = |rule: &FrameRule| self.other_register(rule);
        let sources: HashSet<Reg> = self.rules.iter().filter_map(from).collect();
        let is_one =
            |rule: &&FrameRule| matches!(rule.column, Column::Register(reg) if sources.contains(&reg));
        for rule in self.rules.iter().filter(is_one) {
            // Follows the chain of registers from this rule.
            let mut last = rule;
            // A longer chain leads into a cycle of other registers.
            for _ in 0..sources.len() {
                let Some(reg) = from(last) else { break };
                let column = Column::Register(reg);
                if column == rule.column {
                    let what = "save rules form a cycle: registers are saved in each other";
                    return Err(self.wrong(what, rule.column, rule.pcs()));
                }
                let Some(next) = self.rule_at(column, rule.start) else { break };
                last = next;
            }
        }
        Ok(())
    }

    fn rule_at(&self, column: Column, pc: u32) -> Option<&'m FrameRule> {
        self.module.frame_rule(self.function, column, pc.into())
    }

    /// Returns the other register, with equal size, in which a register is saved.
    fn other_register(&self, rule: &FrameRule) -> Option<Reg> {
        let Column::Register(reg) = rule.column else { return None };
        let bits = |reg| self.module.target.register(reg).map(|register| register.bits);
        match self.module.nodes(rule.loc).last() {
            Some(Node::Register(of)) if of != reg && bits(of) == bits(reg) => Some(of),
            _ => None,
        }
    }

    /// Whether a rule's dependencies, at its start, lead back to its column.
    fn comes_back(&self, rule: &'m FrameRule) -> bool {
        let mut waiting = vec![rule];
        let mut known = HashSet::new();
        while let Some(next) = waiting.pop() {
            let root = self.module.nodes(next.loc).last();
            let is_plain = matches!(root, Some(Node::Register(_) | Node::Undefined));
            // An expression starts with the canonical frame address on the stack.
            let first = (next.column != Column::Cfa && !is_plain).then_some(Column::Cfa);
            let entries = self.module.nodes(next.loc).filter_map(|node| match node {
                Node::EntryRegister(reg) => Some(Column::Register(reg)),
                _ => None,
            });
            for column in first.into_iter().chain(entries) {
                crate::work::step();
                if column == rule.column {
                    return true;
                }
                // Each column is followed once, so that the search ends even in a cycle without the rule.
                if known.insert(column) {
                    waiting.extend(self.rule_at(column, rule.start));
                }
            }
        }
        false
    }
}

/// Returns a frame's space, if each lane has separate memory in it.
fn lane_space(module: &Module, cfa: &FrameRule) -> Option<SpaceId> {
    let mut tree = Tree::default();
    let root = tree.read(module.nodes(cfa.loc))?;
    match tree.node(place_of_cfa(&tree, root).ok()?) {
        Node::Memory(space) => Some(space).filter(|&space| is_of_lanes(module, space)),
        _ => None,
    }
}

/// Rule location in the description, for an error.
pub(super) fn at(module: &Module, function: FunctionId, column: Column, pcs: Range<u64>) -> At {
    let column = Some(column.name(&module.target));
    at_function(module, function).with(|context| {
        context.column = column;
        context.pcs = Some(pcs);
    })
}

pub(super) fn at_function(module: &Module, function: FunctionId) -> At {
    module.at_scope(module.functions[function].scope)
}
