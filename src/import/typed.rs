//! Expressions of the file as typed locations and numbers: what their operands refer to, and what they depend on.

use gimli::{DwOp, constants as dw};

use super::expression::{self, Context, EntryOffset, InitialStack, Procedure, References};
use super::importer::{Importer, Made, Place};
use super::recurring::Setting;
use super::unimported::UnimportedReason;
use crate::eval::{BaseType, DebugInfo};
use crate::model::{Address, Loc, Node, ProcedureId, Stack, Symbol, Val, VariableId};
use crate::op::{Encoding, read_uleb};
use crate::read::{Entry, ResolvedValue};
use crate::target::SpaceId;

/// Maximum number of entries from an entry to the scope around it.
const MOST_STEPS: usize = 4;

/// The operands of an entry's expression.
struct Operands<'i, 'd, 'o> {
    importer: &'i mut Importer<'d, 'o>,
    entry: Option<Entry<'d, 'o>>,
    expr: &'o [u8],
}

impl<'d, 'o> Operands<'_, 'd, 'o> {
    /// Returns the entry at an offset, and its offset.
    fn key(&self, offset: EntryOffset) -> Option<u64> {
        match offset {
            EntryOffset::Unit(offset) => self.entry?.unit().offset.checked_add(offset),
            EntryOffset::Section(offset) => Some(offset),
        }
    }

    /// Returns the field that has the address of an operand: the operand, or the entry of the address table that it is the
    /// index of.
    fn field(&self, operand: usize) -> Option<&'o [u8]> {
        let opcode = DwOp(*self.expr.get(operand.checked_sub(1)?)?);
        match (opcode, self.entry) {
            (
                gimli::DW_OP_addrx
                | gimli::DW_OP_constx
                | gimli::DW_OP_GNU_addr_index
                | gimli::DW_OP_GNU_const_index,
                Some(entry),
            ) => {
                let (index, _) = read_uleb(self.expr, operand)?;
                entry.dwarf().address_field(entry.unit(), index)
            }
            _ => self.expr.get(operand..),
        }
    }
}

impl<'a, 'o: 'a> References<'a> for Operands<'_, '_, 'o> {
    fn address(&mut self, operand: usize, address: u64) -> Option<Address> {
        self.importer.expressions.has_asked = true;
        match self.constant(operand, address) {
            Some((symbol, by)) => Some(Address::Symbol(symbol, by as u64)),
            None => self.importer.symbols.address(&mut self.importer.m, address).ok(),
        }
    }

    fn constant(&mut self, operand: usize, value: u64) -> Option<(Symbol, i64)> {
        self.importer.expressions.has_asked = true;
        let (name, by) = self.importer.symbols.in_field(self.field(operand)?, value)?;
        Some((self.importer.m.symbol(name), by as i64))
    }

    fn thread_local(&mut self, offset: u64) -> Option<Address> {
        self.importer.expressions.has_asked = true;
        self.importer.symbols.thread_local(&mut self.importer.m, offset)
    }

    fn indexed(&mut self, index: u64) -> Option<u64> {
        self.importer.expressions.has_asked = true;
        let entry = self.entry?;
        entry.dwarf().address(entry.unit(), index).ok()
    }

    fn variable(&mut self, entry: EntryOffset) -> Option<VariableId> {
        self.importer.expressions.has_asked = true;
        let key = self.key(entry)?;
        self.importer.made.variables.get(&key).copied()
    }

    fn procedure(&mut self, entry: EntryOffset) -> Option<Procedure<'a>> {
        self.importer.expressions.has_asked = true;
        let key = self.key(entry)?;
        let entry = self.importer.dwarf.entry_at(key)?;
        let Some(ResolvedValue::Expr(expr)) = entry.attr(dw::DW_AT_location) else { return None };
        let is_here = self.entry.is_some_and(|own| own.unit().offset == entry.unit().offset);
        is_here.then(|| Procedure { expr, id: self.importer.typed_procedure(entry, expr) })
    }

    fn base_type(&mut self, entry: u64) -> Option<BaseType> {
        self.importer.expressions.has_asked = true;
        let own = self.entry?;
        DebugInfo::new(own.dwarf()).base_type(own.unit().offset, entry)
    }
}

impl<'d, 'o> Importer<'d, 'o> {
    /// Returns what the location of an attribute's expression depends on that refers to nothing in the file.
    pub(super) fn setting(&self, entry: Entry<'d, 'o>) -> Setting<'o> {
        let variable = self.made.variables.get(&entry.offset()).copied();
        let module = self.m.described();
        let bits = variable.and_then(|variable| module.ty(module.variable(variable).ty).bits());
        let space = variable.and_then(|_| self.class_space(entry));
        Setting { space, ..self.setting_in(entry, self.around(entry), bits) }
    }

    /// Returns the address space of a variable's memory, where the entry states it. NVIDIA's expressions have addresses alone.
    pub(super) fn class_space(&self, entry: Entry<'d, 'o>) -> Option<SpaceId> {
        let class = entry.number(dw::DW_AT_address_class).filter(|_| self.target.has_lane_expressions())?;
        Some(self.target.space_of_class(class)?.id)
    }

    /// Returns what the location of an object with a size in bits depends on that refers to nothing in the file.
    pub(super) fn setting_in(
        &self,
        entry: Entry<'d, 'o>,
        place: Option<Place<'o>>,
        bits: Option<u64>,
    ) -> Setting<'o> {
        let Context { encoding, stack, .. } = self.context(entry.unit().encoding, place, &self.target);
        let frame_base = place.and_then(|place| place.frame_base).or(self.frames.at_call);
        Setting { encoding, bits, stack, has_stack: self.has_stack(place), frame_base, space: None }
    }

    /// Returns the typed location of an attribute's expression, if it has one that the function's description allows.
    pub(super) fn typed_location(
        &mut self,
        entry: Entry<'d, 'o>,
        setting: &Setting<'o>,
        expr: &'o [u8],
    ) -> Option<Loc> {
        let target = self.target.clone();
        let &Setting { encoding, bits, stack, has_stack, frame_base, space } = setting;
        let initial = InitialStack::Empty;
        let context = Context { target: &target, encoding, bits, stack, frame_base, space, initial };
        let mut operands = Operands { importer: self, entry: Some(entry), expr };
        let loc = expression::location(&context, &mut operands, expr).ok()?;
        (has_stack || !has_slot(&loc)).then_some(loc)
    }

    /// Returns the procedure at an entry, if its expression has a typed location that is the same for all callers: DWARF 5
    /// section 2.5.1.5. It is made at the first call.
    pub(super) fn typed_procedure(&mut self, entry: Entry<'d, 'o>, expr: &'o [u8]) -> Option<ProcedureId> {
        if entry.tag() != dw::DW_TAG_dwarf_procedure {
            return None;
        }
        let key = entry.offset();
        if let Some(known) = self.made.procedures.get(&key) {
            return *known;
        }
        // A procedure that calls itself is not made.
        self.made.procedures.insert(key, None);
        let setting = self.setting_in(entry, None, None);
        // A slot of a stack frame is another location for each caller.
        let loc = self.typed_location(entry, &setting, expr).filter(|loc| !has_slot(loc));
        let procedure = loc.and_then(|loc| self.m.procedure(self.unit, &loc).ok());
        match procedure {
            Some(_) => self.made.procedures.insert(key, procedure),
            None => self.made.procedures.remove(&key),
        };
        // The callers have the location of a procedure that is not made.
        self.import(entry);
        self.mark(entry, dw::DW_AT_location);
        procedure
    }

    /// Returns the typed number of an expression in an entry, plus a constant.
    pub(super) fn typed_sum(
        &mut self,
        entry: Entry<'d, 'o>,
        place: Option<Place<'o>>,
        expr: &'o [u8],
        by: i64,
    ) -> Made<Val> {
        let target = self.target.clone();
        let context = self.context(entry.unit().encoding, place, &target);
        let mut operands = Operands { importer: self, entry: Some(entry), expr };
        let value = expression::sum(&context, &mut operands, expr, by).map_err(UnimportedReason::Untyped)?;
        if self.has_stack(place) || !has_slot(&Loc::value(value.clone())) {
            Ok(value)
        } else {
            Err(UnimportedReason::UntypedExpression)
        }
    }

    /// Returns the typed location of an expression of call frame information, if it has one.
    pub(super) fn typed_frame_location(
        &mut self,
        encoding: Encoding,
        initial: InitialStack,
        expr: &'o [u8],
    ) -> Option<Loc> {
        if !self.prefers_nodes(encoding, expr) {
            return None;
        }
        let target = self.target.clone();
        let context = Context { initial, ..self.context(encoding, None, &target) };
        let mut operands = Operands { importer: self, entry: None, expr };
        let loc = expression::location(&context, &mut operands, expr).ok()?;
        // The function's stack frame is not that of a variable: what is relative to it stays as the file has it.
        (!has_slot(&loc)).then_some(loc)
    }

    /// Returns the typed number of an expression of call frame information.
    pub(super) fn typed_frame_value(&mut self, encoding: Encoding, expr: &'o [u8]) -> Made<Val> {
        let target = self.target.clone();
        let context = Context { initial: InitialStack::Cfa, ..self.context(encoding, None, &target) };
        let mut operands = Operands { importer: self, entry: None, expr };
        expression::value(&context, &mut operands, expr).map_err(UnimportedReason::Untyped)
    }

    fn context<'c>(
        &self,
        encoding: Encoding,
        place: Option<Place<'o>>,
        target: &'c crate::target::Target,
    ) -> Context<'c>
    where
        'o: 'c,
    {
        let function = place.and_then(|place| place.function);
        let stack = function
            .map_or_else(|| Stack::kernel(target), |function| self.m.described().function(function).stack);
        let frame_base = place.and_then(|place| place.frame_base).or(self.frames.at_call);
        Context { target, encoding, bits: None, stack, frame_base, space: None, initial: InitialStack::Empty }
    }

    /// Whether the function around an entry has a stack frame. A stack slot needs its start, which the file does not state.
    fn has_stack(&self, place: Option<Place<'o>>) -> bool {
        let function = place.and_then(|place| place.function);
        function.is_none_or(|function| self.m.described().function(function).has_stack())
    }

    /// Returns the scope around an entry, or around the entry of which it is a part.
    pub(super) fn around(&self, entry: Entry<'d, 'o>) -> Option<Place<'o>> {
        let parents = core::iter::successors(entry.parent(), |parent| parent.parent());
        parents.take(MOST_STEPS).find_map(|parent| self.made.scopes.get(&parent.offset()).copied())
    }
}

/// Whether a location or number depends on the address of a stack slot.
fn has_slot(loc: &Loc) -> bool {
    loc.nodes().any(|node| matches!(node, Node::StackAddress(_)))
}
