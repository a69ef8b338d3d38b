//! Detects variables, and the caller's saved registers, that share bits at one pc.
//!
//! Each storage is swept by pc: an item that begins is compared with its neighbours among the items that have not
//! ended. The last item to end represents all items with its type and bits, so that many variables with one type in the
//! same bits are compared as one.

use core::cmp::Reverse;
use core::ops::Range;
use std::collections::{BTreeMap, BinaryHeap};

use hashbrown::HashSet;

use super::denote::{DescribedStorage, MachineContents, StorageSpan};
use super::ids::{FunctionId, LocId, ScopeId, TypeId, VariableId};
use super::nodes::Node;
use super::warnings::{Sharer, Warned, Warning};
use super::{Column, CompositeKind, Module, ScopeKind, TypeKind};
use crate::op::Reg;
use crate::target::SpaceId;

/// Maximum number of neighbours that are compared in each direction.
const NEIGHBOURS: usize = 16;
/// Maximum depth of nested types, and of nested inlined calls, that are searched.
const DEPTH: usize = 64;

/// A set of bits. Only bits in the same unit can overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Unit {
    /// A register, and [`EACH_LANE`] or a lane number plus 1.
    Register(Reg, u32),
    /// The stack frame, relative to its base.
    Slot,
    /// Memory relative to the canonical frame address.
    Cfa,
}

const EACH_LANE: u32 = 0;

#[derive(Debug, Clone)]
struct Item {
    pcs: Range<u64>,
    unit: Unit,
    bits: Range<u64>,
    who: Sharer,
}

/// Returns a warning for each pair that shares bits.
pub(super) fn warnings(module: &Module) -> Vec<Warning> {
    let mut variables: Vec<(FunctionId, VariableId)> = Vec::new();
    for (id, variable) in &module.variables {
        let is_placed = variable.always.is_some() || !variable.live.is_empty();
        let function = module.function_of(variable.scope).filter(|_| is_placed);
        let function = function.filter(|&function| module.functions[function].address.is_some());
        variables.extend(function.map(|function| (function, id)));
    }
    // Sorting makes each function's variables adjacent, so that one sweep handles one function.
    variables.sort();
    let mut variables = variables.into_iter().peekable();
    let mut warnings = Vec::new();
    for function in module.functions.keys() {
        let mut items = Vec::new();
        while let Some((_, variable)) = variables.next_if(|(of, _)| *of == function) {
            module.variable_items(function, variable, &mut items);
        }
        module.saved_items(function, &mut items);
        items.sort_by_key(|item| (item.pcs.start, item.pcs.end));
        let active = BTreeMap::new();
        let ends = BinaryHeap::new();
        let seen = HashSet::new();
        let links = module.links(function);
        Sweep { module, function, links, active, ends, seen, found: &mut warnings }.run(&items);
    }
    warnings
}

impl Module {
    fn variable_items(&self, function: FunctionId, id: VariableId, items: &mut Vec<Item>) {
        let variable = &self.variables[id];
        let Some(bits) = self.types[variable.ty].value_bits else { return };
        let who = Sharer::Variable(id);
        for live in self.live(id) {
            self.items(live.loc, bits, &live.pcs(), who, items);
        }
        if let Some(always) = variable.always {
            for pcs in self.code_of(function, variable.scope) {
                self.items(always, bits, &pcs, who, items);
            }
        }
    }

    fn saved_items(&self, function: FunctionId, items: &mut Vec<Item>) {
        for rule in self.frame(function) {
            let Column::Register(reg) = rule.column else { continue };
            let Some(bits) = self.ruled_bits(rule.column, Some(rule)) else { continue };
            let first = items.len();
            let who = Sharer::Saved(reg);
            self.items(rule.loc, bits.into(), &rule.pcs(), who, items);
            // A register saved in itself shares no bits.
            let mut index = first;
            while index < items.len() {
                match items[index].unit {
                    Unit::Register(of, _) if of == reg => drop(items.swap_remove(index)),
                    _ => index += 1,
                }
            }
        }
    }

    /// Returns the registers that contain the return address on entry.
    fn links(&self, function: FunctionId) -> Vec<Reg> {
        let returns = Column::Register(self.return_register(function));
        let Some(rule) = self.frame_rule(function, returns, 0) else { return Vec::new() };
        let register = |node| match node {
            Node::Register(reg) => Some(reg),
            _ => None,
        };
        self.nodes(rule.loc).filter_map(register).collect()
    }

    /// Returns the pc ranges of the innermost enclosing scope with ranges.
    fn code_of(&self, function: FunctionId, mut scope: ScopeId) -> Vec<Range<u64>> {
        for _ in 0..DEPTH {
            match (self.ranges(scope), self.scopes[scope].parent) {
                ([], Some(parent)) if scope != self.functions[function].scope => scope = parent,
                ([], _) => break,
                (ranges, _) => return ranges.to_vec(),
            }
        }
        let bytes = self.functions[function].bytes;
        if bytes > 0 { vec![0..bytes] } else { Vec::new() }
    }

    /// Appends a location's bits, if they are known.
    fn items(&self, loc: LocId, bits: u64, pcs: &Range<u64>, who: Sharer, items: &mut Vec<Item>) {
        // Spans have addresses, but not what the addresses are relative to: the nodes show the base.
        let mut is_cfa = false;
        let mut is_slot = false;
        let mut has_rows = false;
        let mut has_memory = false;
        for node in self.nodes(loc) {
            match node {
                Node::Cfa => is_cfa = true,
                Node::StackAddress(_) => is_slot = true,
                Node::Select { .. } => has_rows = true,
                Node::Memory(_) => has_memory = true,
                _ => {}
            }
        }
        // A mask selects lanes, but a register may be saved for all lanes.
        let is_chosen = has_rows && !has_memory && matches!(who, Sharer::Saved(_));
        let spans = |lane| {
            self.denote(None, loc, bits, &Nothing { lane, is_chosen, cfa: self.any_cfa() })
                .unwrap_or_default()
        };
        // Two lanes' spans show whether bits follow the current lane: if the second lane's bits are one lane further
        // on, the location is the same in each lane.
        let first = spans(0);
        let second = spans(1.min(self.target.lanes() - 1));
        for (index, span) in first.iter().enumerate() {
            let Ok(from) = u64::try_from(span.from) else { continue };
            let mut push = |unit, from: u64, bits: u64| {
                items.push(Item { pcs: pcs.clone(), unit, bits: from..from.saturating_add(bits), who });
            };
            match span.storage {
                DescribedStorage::Memory(space, _) if is_slot && space == SpaceId::PRIVATE_LANE => {
                    push(Unit::Slot, from, span.bits);
                }
                DescribedStorage::Memory(..) if is_cfa => push(Unit::Cfa, from, span.bits),
                DescribedStorage::Register(reg) => {
                    let Some(register) = self.target.register(reg) else { continue };
                    let lanes = register.lanes;
                    let width = u64::from(register.lane_bits());
                    let moved = second.get(index).map(|other| other.from.saturating_sub(span.from));
                    if lanes == 1 || moved == Some(width.into()) && from < width {
                        push(Unit::Register(reg, EACH_LANE), from, span.bits);
                    } else if moved == Some(0) && span.bits == u64::from(register.bits) {
                        push(Unit::Register(reg, EACH_LANE), 0, width);
                    } else if moved == Some(0) {
                        // Bits that do not follow the lane are split at lane borders, because a unit is a single lane
                        // or each lane.
                        let end = from + span.bits;
                        for lane in from / width..end.div_ceil(width) {
                            let start = from.max(lane * width);
                            let bits = end.min((lane + 1) * width) - start;
                            push(Unit::Register(reg, 1 + lane as u32), start - lane * width, bits);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// A canonical frame address with space on both sides.
    fn any_cfa(&self) -> StorageSpan {
        let space = self.target.space(SpaceId::PRIVATE_WAVE).map_or(SpaceId::DEFAULT, |space| space.id);
        StorageSpan { storage: DescribedStorage::Memory(space, None), from: 1 << 34, bits: 1 }
    }

    /// Strips qualifiers and typedefs; `None` for `void`.
    pub(crate) fn unqualified_type(&self, mut ty: TypeId) -> Option<TypeId> {
        loop {
            match self.types[ty].kind {
                TypeKind::Typedef { of, .. } | TypeKind::Qualified { of, .. } => ty = of?,
                _ => return Some(ty),
            }
        }
    }

    /// Whether two types are the same without qualifiers and typedefs, also after pointers.
    fn is_same_type(&self, one: TypeId, other: TypeId) -> bool {
        let unqualified = |ty: Option<TypeId>| ty.and_then(|ty| self.unqualified_type(ty));
        let mut a = unqualified(Some(one));
        let mut b = unqualified(Some(other));
        for _ in 0..DEPTH {
            let kinds = (a.map(|a| &self.types[a].kind), b.map(|b| &self.types[b].kind));
            match kinds {
                (
                    Some(TypeKind::Pointer { kind, to, space, memory }),
                    Some(TypeKind::Pointer { kind: kind_b, to: to_b, space: space_b, memory: memory_b }),
                ) if (kind, space, memory) == (kind_b, space_b, memory_b) => {
                    (a, b) = (unqualified(*to), unqualified(*to_b));
                }
                _ => break,
            }
        }
        a == b
    }

    fn is_union(&self, ty: TypeId) -> bool {
        matches!(&self.types[ty].kind, TypeKind::Composite(of) if of.kind == CompositeKind::Union)
    }

    /// Returns whether a type contains another type, up to the depth limit.
    fn contains(&self, whole: TypeId, part: TypeId) -> bool {
        let mut next = vec![whole];
        let mut count = 0;
        while let Some(ty) = next.pop() {
            let plain = self.unqualified_type(ty);
            count += 1;
            // A type that is too deep counts as containing the part, because a missing warning is better than a false
            // warning.
            if plain == Some(part) || count > DEPTH {
                return true;
            }
            if let Some(plain) = plain {
                self.types[plain].contained(self, |inner| next.push(inner));
            }
        }
        false
    }

    /// Innermost function or inlined call around a scope.
    fn body_of(&self, mut scope: ScopeId) -> ScopeId {
        for _ in 0..DEPTH {
            match (&self.scopes[scope].kind, self.scopes[scope].parent) {
                (ScopeKind::Function(_) | ScopeKind::Inlined { .. }, _) | (_, None) => break,
                (_, Some(parent)) => scope = parent,
            }
        }
        scope
    }

    /// Returns whether a body is inlined into another body.
    fn is_inlined_into(&self, inner: ScopeId, outer: ScopeId) -> bool {
        let mut scope = Some(inner);
        let is_it = |_| {
            let here = scope?;
            scope = self.scopes[here].parent;
            Some(here == outer)
        };
        (0..4 * DEPTH).map_while(is_it).any(|is_it| is_it)
    }

    /// Whether two variables may plausibly share bits.
    fn may_share(&self, one: VariableId, other: VariableId) -> bool {
        if self.first_origin(one) == self.first_origin(other) {
            return true;
        }
        let plain = |id: VariableId| self.unqualified_type(self.variables[id].ty);
        let (Some(a), Some(b)) = (plain(one), plain(other)) else { return true };
        let bodies = [one, other].map(|id| self.body_of(self.variables[id].scope));
        self.is_same_type(a, b)
            || self.is_union(a)
            || self.is_union(b)
            || self.contains(a, b)
            || self.contains(b, a)
            || bodies[0] != bodies[1]
                && (self.is_inlined_into(bodies[0], bodies[1]) || self.is_inlined_into(bodies[1], bodies[0]))
    }
}

/// Contents with a known current lane and nothing else.
struct Nothing {
    lane: u32,
    /// Whether masks select all lanes.
    is_chosen: bool,
    cfa: StorageSpan,
}

impl MachineContents for Nothing {
    fn register(&self, _: Reg, _: u64, _: u32) -> Option<u64> {
        self.is_chosen.then_some(u64::MAX)
    }

    fn entry_register(&self, _: Reg) -> Option<u64> {
        self.is_chosen.then_some(u64::MAX)
    }

    fn cfa(&self) -> Option<StorageSpan> {
        Some(self.cfa.clone())
    }

    fn memory(&self, _: SpaceId, _: Option<u32>, _: u128, _: u32) -> Option<u64> {
        None
    }

    fn lane(&self) -> Option<u32> {
        Some(self.lane)
    }

    fn symbol(&self, _: &str) -> Option<u64> {
        None
    }
}

/// An item's first bit, and the item's index.
type Key = (u64, usize);

struct Sweep<'m, 'f> {
    module: &'m Module,
    function: FunctionId,
    /// Registers that contain the return address on entry; empty if none is known.
    links: Vec<Reg>,
    /// Items that cover the current pc, by unit and key.
    active: BTreeMap<Unit, BTreeMap<Key, Item>>,
    /// The active items' end pcs, the lowest first.
    ends: BinaryHeap<Reverse<(u64, Unit, Key)>>,
    seen: HashSet<(Sharer, Sharer)>,
    found: &'f mut Vec<Warning>,
}

impl Sweep<'_, '_> {
    fn run(mut self, items: &[Item]) {
        for (index, item) in items.iter().enumerate() {
            self.remove_ended(item.pcs.start);
            let mut is_covered = false;
            for unit in self.units(item.unit) {
                is_covered |= self.compare(unit, item);
            }
            // An item that an active item represents needs no entry, because later items meet the active item.
            if !is_covered {
                let key = (item.bits.start, index);
                self.active.entry(item.unit).or_default().insert(key, item.clone());
                self.ends.push(Reverse((item.pcs.end, item.unit, key)));
            }
        }
    }

    /// Removes the items that ended at or before a pc.
    fn remove_ended(&mut self, pc: u64) {
        while let Some(&Reverse((end, unit, key))) = self.ends.peek()
            && end <= pc
        {
            self.ends.pop();
            self.active.get_mut(&unit).map(|of_unit| of_unit.remove(&key));
        }
    }

    /// Units that can overlap a unit.
    fn units(&self, unit: Unit) -> Vec<Unit> {
        match unit {
            Unit::Register(reg, EACH_LANE) => {
                // A value in each lane overlaps a value in any single lane.
                let lanes = Unit::Register(reg, EACH_LANE)..=Unit::Register(reg, u32::MAX);
                self.active.range(lanes).map(|(unit, _)| *unit).collect()
            }
            Unit::Register(reg, _) => vec![unit, Unit::Register(reg, EACH_LANE)],
            _ => vec![unit],
        }
    }

    /// Compares an item with its neighbours in a unit. Returns whether a neighbour represents it.
    fn compare(&mut self, unit: Unit, item: &Item) -> bool {
        let Some(of_unit) = self.active.get_mut(&unit) else { return false };
        // Active items are ordered by their first bit. Items that begin before this item can reach into it.
        let before = of_unit.range(..(item.bits.start, 0)).rev().take(NEIGHBOURS);
        let after = of_unit.range((item.bits.start, 0)..(item.bits.end, 0)).take(NEIGHBOURS);
        let near: Vec<(Key, Item)> = before.chain(after).map(|(key, other)| (*key, other.clone())).collect();
        let mut is_covered = false;
        for (key, other) in near {
            if other.bits.end <= item.bits.start || item.bits.end <= other.bits.start {
                continue;
            }
            if unit == item.unit && self.is_same(item, &other) {
                // Only the alike item that ends later stays active, so that the number of active items is bounded by
                // distinct types and bits.
                is_covered |= item.pcs.end <= other.pcs.end;
                if !is_covered {
                    self.active.get_mut(&unit).map(|of_unit| of_unit.remove(&key));
                }
                continue;
            }
            self.warn(item, &other);
        }
        is_covered
    }

    /// Returns whether one item can represent both.
    fn is_same(&self, item: &Item, other: &Item) -> bool {
        let variables = &self.module.variables;
        let is_alike = match (item.who, other.who) {
            (Sharer::Variable(one), Sharer::Variable(other)) => {
                let plain = |id: VariableId| self.module.unqualified_type(variables[id].ty);
                let body = |id: VariableId| self.module.body_of(variables[id].scope);
                plain(one) == plain(other) && body(one) == body(other)
            }
            (one, other) => one == other,
        };
        is_alike && item.bits == other.bits
    }

    fn warn(&mut self, item: &Item, other: &Item) {
        let (variable, with) = match (item.who, other.who) {
            (Sharer::Variable(one), Sharer::Variable(two)) => {
                if self.module.may_share(one, two) {
                    return;
                }
                (one.min(two), Sharer::Variable(one.max(two)))
            }
            (Sharer::Variable(one), saved) | (saved, Sharer::Variable(one)) => (one, saved),
            (Sharer::Saved(one), Sharer::Saved(two)) => {
                return self.warn_registers(one.min(two), one.max(two), item, other);
            }
        };
        if !self.seen.insert((Sharer::Variable(variable), with)) {
            return;
        }
        let module = self.module;
        let name = |reg: Reg| Column::Register(reg).name(&module.target);
        let with_text = match with {
            Sharer::Variable(id) => match module.name_of(id) {
                Some(name) => format!("variable `{name}` of another type"),
                None => format!("{id} of another type"),
            },
            Sharer::Saved(reg) => format!("what the caller had in {}", name(reg)),
        };
        let place = self.shared_name(item, other);
        let pcs = common_pcs(item, other);
        debug_assert!(module.function_of(module.variables[variable].scope) == Some(self.function));
        self.found.push(Warning {
            warned: Warned::Shared(variable, with),
            at: module.at_variable(variable, Some(pcs)),
            what: format!("{with_text} is in the same bits of {place}"),
        });
    }

    /// Warns about two of the caller's registers, unless they are the return address and a register that contained it.
    fn warn_registers(&mut self, one: Reg, two: Reg, item: &Item, other: &Item) {
        let module = self.module;
        let returns = module.return_register(self.function);
        let is_link = |reg: Reg| self.links.is_empty() || self.links.contains(&reg);
        if one == returns && is_link(two) || two == returns && is_link(one) {
            return;
        }
        if !self.seen.insert((Sharer::Saved(one), Sharer::Saved(two))) {
            return;
        }
        let [first, second] = [one, two].map(|reg| Column::Register(reg).name(&module.target));
        let place = self.shared_name(item, other);
        self.found.push(Warning {
            warned: Warned::SharedRegisters(self.function, one, two),
            at: module
                .at_scope(module.functions[self.function].scope)
                .with(|context| context.pcs = Some(common_pcs(item, other))),
            what: format!("what the caller had in {first} and in {second} is in the same bits of {place}"),
        });
    }

    /// Returns the name of the storage that two items share.
    fn shared_name(&self, item: &Item, other: &Item) -> String {
        let name = |reg: Reg| Column::Register(reg).name(&self.module.target);
        match (item.unit, other.unit) {
            (Unit::Slot, _) => "the stack slot".to_owned(),
            (Unit::Cfa, _) => "the slot of the frame".to_owned(),
            (Unit::Register(reg, EACH_LANE), Unit::Register(_, EACH_LANE) | Unit::Slot | Unit::Cfa) => {
                name(reg)
            }
            (Unit::Register(reg, one), Unit::Register(_, two)) => {
                format!("lane {} of {}", one.max(two) - 1, name(reg))
            }
            (Unit::Register(reg, _), _) => name(reg),
        }
    }
}

/// Pcs that two items have in common.
fn common_pcs(item: &Item, other: &Item) -> Range<u64> {
    item.pcs.start.max(other.pcs.start)..item.pcs.end.min(other.pcs.end)
}
