//! Locations: what an expression of the file becomes in the model.
//!
//! An expression is copied as a raw expression. What refers to the file is replaced: entries by the entities that were
//! made for them, addresses in a relocatable object by symbols, and address indices by addresses.

use gimli::constants as dw;

use super::expression::InitialStack;
use super::form::{self, ImportedExpressions};
use super::importer::{Importer, Made, refused};
use super::node::Key;
use super::recurring::Setting;
use super::unimported::UnimportedReason;
use crate::error::{Error, ErrorKind};
use crate::model::{Address, Entity, ExprId, Loc, ProcedureId, Val};
use crate::op::{Decoded, Decoder, Encoding, Expr, Fixup, FixupKind, Op, Slot, uleb_len, write_uleb};
use crate::read::{Entry, ResolvedValue};
use crate::target::SpaceId;

/// Maximum nesting depth of expressions in expressions, and of procedures.
const MOST_NESTED: u32 = 64;
/// Number of bytes for an offset of a base type.
const TYPE_BYTES: u8 = 3;

impl<'d, 'o> Importer<'d, 'o> {
    /// Returns the location that an attribute's expression computes. It has no PTX registers that have homes.
    pub(super) fn location(&mut self, entry: Entry<'d, 'o>, bytes: &'o [u8]) -> Made<Loc> {
        let loc = self.location_at_pcs(entry, bytes)?;
        self.without_ptx_registers(loc)
    }

    /// Returns the location that an attribute's expression computes at some pcs.
    pub(super) fn location_at_pcs(&mut self, entry: Entry<'d, 'o>, bytes: &'o [u8]) -> Made<Loc> {
        let setting = self.setting(entry);
        self.location_in(entry, setting, bytes)
    }

    /// Returns the location that an attribute's expression computes in a setting at some pcs.
    pub(super) fn location_in(
        &mut self,
        entry: Entry<'d, 'o>,
        setting: Setting<'o>,
        bytes: &'o [u8],
    ) -> Made<Loc> {
        // An empty expression is the location of a variable that does not exist: DWARF 5 section 2.6.1.1.4.
        if bytes.is_empty() {
            return Ok(Loc::undefined());
        }
        if let Some(loc) = self.at_symbol(entry, setting.space, bytes) {
            return Ok(loc);
        }
        if let Some(known) = self.expressions.get(bytes, &setting) {
            return Ok(known.clone());
        }
        self.expressions.has_asked = false;
        let typed = if self.prefers_nodes(entry.unit().encoding, bytes) {
            self.typed_location(entry, &setting, bytes)
        } else {
            None
        };
        let loc = match typed {
            Some(loc) => loc,
            None => Loc::expr(self.raw(entry, bytes)?),
        };
        if !self.expressions.has_asked {
            self.expressions.add(bytes, setting, loc.clone());
        }
        Ok(loc)
    }

    /// Whether an expression becomes nodes, if nodes have its meaning.
    pub(super) fn prefers_nodes(&self, encoding: Encoding, bytes: &[u8]) -> bool {
        match self.expressions.form {
            ImportedExpressions::Typed => true,
            ImportedExpressions::Raw => false,
            ImportedExpressions::RawIn(reader) => !form::is_read_in(bytes, encoding, reader),
        }
    }

    /// Returns the location of an object at a symbol, thread-local or not, or a pointer to it: consumers differ in how they
    /// encode a symbol's address.
    fn at_symbol(&mut self, entry: Entry<'d, 'o>, space: Option<SpaceId>, bytes: &'o [u8]) -> Option<Loc> {
        if self.symbols.are_fixed() {
            return None;
        }
        let mut decoder = Decoder::new(bytes, entry.unit().encoding);
        let first = decoder.next()?.ok()?;
        let (address, field) = match first.op {
            Op::Addr { address } | Op::ConstU { value: address } => (address, bytes.get(1..)?),
            Op::Addrx { index } | Op::Constx { index } => {
                let field = entry.dwarf().address_field(entry.unit(), index).unwrap_or_default();
                (entry.dwarf().address(entry.unit(), index).ok()?, field)
            }
            _ => return None,
        };
        if let Op::ConstU { .. } | Op::Constx { .. } = first.op {
            let is_last = |next: Decoded<'_>| matches!(next.op, Op::FormTlsAddress {});
            let is_thread_local = decoder.next()?.is_ok_and(is_last) && decoder.is_at_end();
            return is_thread_local.then(|| self.thread_local(field, address)).flatten();
        }
        let is_value = match decoder.next() {
            None => false,
            Some(next) => {
                matches!(next.ok()?.op, Op::StackValue {}).then_some(())?;
                true
            }
        };
        if !decoder.is_at_end() {
            return None;
        }
        let space = space.unwrap_or(SpaceId::DEFAULT);
        let (name, by) = match self.symbols.in_field(field, address) {
            Some(found) => found,
            None => self.symbols.symbol_at(address).ok().filter(|_| space.is_loaded())?,
        };
        let address = Val::address(self.m.symbol(name), by as i64);
        Some(if is_value { Loc::value(address) } else { Loc::memory(space, address) })
    }

    /// Returns the location at an offset in thread-local storage, which is in a field of a relocatable object.
    fn thread_local(&mut self, field: &[u8], offset: u64) -> Option<Loc> {
        let address = match self.symbols.in_field(field, offset) {
            Some((name, by)) => Val::address(self.m.symbol(name), by as i64),
            None => match self.symbols.thread_local(&mut self.m, offset)? {
                Address::Symbol(symbol, by) => Val::address(symbol, by as i64),
                Address::Constant(offset) => Val::constant(offset),
            },
        };
        Some(Loc::thread_local(address))
    }

    /// Returns the number that an attribute's expression computes.
    pub(super) fn value(&mut self, entry: Entry<'d, 'o>, bytes: &'o [u8]) -> Made<Val> {
        self.sum(entry, bytes, 0)
    }

    /// Returns the number that an attribute's expression computes, plus a constant.
    pub(super) fn sum(&mut self, entry: Entry<'d, 'o>, bytes: &'o [u8], by: i64) -> Made<Val> {
        let place = self.around(entry);
        let value = self.typed_sum(entry, place, bytes, by)?;
        self.without_ptx_registers(Loc::value(value.clone())).map(|_| value)
    }

    /// Returns a raw expression with the operations of an attribute's expression.
    pub(super) fn raw(&mut self, entry: Entry<'d, 'o>, bytes: &'o [u8]) -> Made<ExprId> {
        self.nested(entry, bytes, MOST_NESTED)
    }

    fn nested(&mut self, entry: Entry<'d, 'o>, bytes: &'o [u8], depth: u32) -> Made<ExprId> {
        let encoding = entry.unit().encoding;
        let mut copy = Copied { encoding, ..Copied::default() };
        self.copy(entry, bytes, &mut copy, depth)?;
        let Copied { bytes, fixups, entities, .. } = copy;
        let expr = Expr::with_fixups(bytes, fixups).map_err(refused)?;
        self.m.expr(expr, &entities).map_err(refused)
    }

    fn copy(&mut self, entry: Entry<'d, 'o>, from: &'o [u8], to: &mut Copied, depth: u32) -> Made<()> {
        let unreadable = |error| UnimportedReason::BlockExpression(error);
        let start = to.bytes.len();
        // Offsets in the copy, by the offsets at which operations begin.
        let mut begins = Vec::new();
        let mut branches = Vec::new();
        let mut decoder = Decoder::new(from, to.encoding);
        while let Some(decoded) = decoder.next() {
            let Decoded { offset, op, .. } = decoded.map_err(unreadable)?;
            begins.push((offset, to.bytes.len() - start));
            let whole = &from[offset..decoder.offset()];
            if matches!(op, Op::Skip { .. } | Op::Bra { .. }) {
                branches.push((begins.len() - 1, decoder.offset(), op));
            }
            self.operation(entry, op, whole, to, depth)?;
        }
        begins.push((from.len(), to.bytes.len() - start));
        for (index, end, op) in branches {
            let (Op::Skip { distance } | Op::Bra { distance }) = op else { continue };
            let target = usize::try_from(end as i64 + i64::from(distance)).ok();
            let target =
                target.and_then(|target| begins.binary_search_by_key(&target, |&(offset, _)| offset).ok());
            let target = target
                .ok_or_else(|| unreadable(Error::bad_argument("branch target is outside the expression")))?;
            let operand = begins[index].1 + 1;
            let distance = begins[target].1 as i64 - (operand + 2) as i64;
            let distance = i16::try_from(distance)
                .map_err(|_| unreadable(Error::bad_argument("branch distance exceeds 32 KiB")))?;
            let bytes = if to.encoding.big_endian { distance.to_be_bytes() } else { distance.to_le_bytes() };
            to.bytes[start + operand..][..2].copy_from_slice(&bytes);
        }
        Ok(())
    }

    /// Copies an operation.
    fn operation(
        &mut self,
        entry: Entry<'d, 'o>,
        op: Op<'o>,
        whole: &'o [u8],
        to: &mut Copied,
        depth: u32,
    ) -> Made<()> {
        let sub_bytes = |fixed: usize| &whole[fixed..];
        let can_be_symbol = matches!(op, Op::ConstU { .. } | Op::ConstS { .. }) && self.symbols.has_fields();
        self.expressions.has_asked |= can_be_symbol || refers(op);
        match op {
            Op::Addr { address } => return self.address(address, sub_bytes(1), to),
            Op::Addrx { index } => {
                let address = entry.dwarf().address(entry.unit(), index);
                let address = address.map_err(UnimportedReason::BlockExpression)?;
                let field = entry.dwarf().address_field(entry.unit(), index).unwrap_or_default();
                return self.address(address, field, to);
            }
            Op::Call2 { entry: offset } | Op::Call4 { entry: offset } => {
                let key = entry.unit().offset.wrapping_add(offset);
                let kind = FixupKind::Entry { bytes: whole.len() as u8 - 1 };
                return self.refer_to(key, whole, kind, to, depth);
            }
            Op::CallRef { entry: key }
            | Op::GnuVariableValue { entry: key }
            | Op::ImplicitPointer { entry: key, .. } => {
                return self.refer_to(key, whole, FixupKind::EntrySection, to, depth);
            }
            // A number that is a symbol's address, such as one in local memory, has no relocation in a copy.
            Op::ConstU { .. } | Op::ConstS { .. } if self.symbols.in_field(sub_bytes(1), 0).is_some() => {
                return Err(UnimportedReason::UntypedExpression);
            }
            Op::Constx { .. } => return Err(UnimportedReason::UntypedExpression),
            Op::GnuParameterRef { entry: offset } => {
                let key = entry.unit().offset.wrapping_add(offset);
                return self.refer_to(key, whole, FixupKind::Entry { bytes: 4 }, to, depth);
            }
            Op::Convert { ty: 0 } | Op::Reinterpret { ty: 0 } => {}
            Op::Convert { ty } | Op::Reinterpret { ty } | Op::ConstType { ty, .. } => {
                return self.typed(entry, ty, whole, 1, to);
            }
            Op::DerefType { ty, .. } | Op::XderefType { ty, .. } => {
                return self.typed(entry, ty, whole, 2, to);
            }
            Op::RegvalType { reg, ty } => {
                return self.typed(entry, ty, whole, 1 + uleb_len(reg.0), to);
            }
            Op::EntryValue { expr } if depth > 0 && has_references(expr, to.encoding) => {
                let mut inner = Copied { encoding: to.encoding, ..Copied::default() };
                inner.entities = core::mem::take(&mut to.entities);
                self.copy(entry, expr, &mut inner, depth - 1)?;
                to.bytes.push(whole[0]);
                write_uleb(&mut to.bytes, inner.bytes.len() as u64);
                let by = to.bytes.len() as u32;
                let moved =
                    inner.fixups.into_iter().map(|fixup| Fixup { offset: fixup.offset + by, ..fixup });
                to.fixups.extend(moved);
                to.bytes.extend_from_slice(&inner.bytes);
                to.entities = inner.entities;
                return Ok(());
            }
            Op::EntryValue { expr } if depth == 0 && !expr.is_empty() => {
                let text = "expressions are nested too deeply";
                return Err(UnimportedReason::BlockExpression(ErrorKind::TooLarge(text.into()).into()));
            }
            Op::FormTlsAddress {} | Op::GnuEncodedAddr { .. } if !self.symbols.are_fixed() => {
                return Err(UnimportedReason::UntypedExpression);
            }
            _ => {}
        }
        to.bytes.extend_from_slice(whole);
        Ok(())
    }

    /// Appends an address. `field` is the field of the file that holds it, if any.
    fn address(&mut self, address: u64, field: &[u8], to: &mut Copied) -> Made<()> {
        to.bytes.push(gimli::DW_OP_addr.0);
        let offset = to.bytes.len() as u32;
        let size = usize::from(to.encoding.address_bytes);
        let found = match self.symbols.in_field(field, address) {
            None if !self.symbols.is_fixed(address) => Some(self.symbols.symbol_at(address)?),
            found => found,
        };
        let Some((name, by)) = found else {
            let bytes = address.to_le_bytes();
            let bytes = bytes.get(..size).ok_or(UnimportedReason::ValueRange(address.into()))?;
            if to.encoding.big_endian {
                to.bytes.extend(bytes.iter().rev());
            } else {
                to.bytes.extend_from_slice(bytes);
            }
            return Ok(());
        };
        to.bytes.extend(core::iter::repeat_n(0, size));
        let symbol = self.m.symbol(name);
        to.refer(offset, FixupKind::Address, Entity::Symbol(symbol, by as i64));
        Ok(())
    }

    /// Appends an operation that refers to a variable or a procedure.
    fn refer_to(&mut self, key: u64, whole: &[u8], kind: FixupKind, to: &mut Copied, depth: u32) -> Made<()> {
        let entity = match self.made.variables.get(&key) {
            Some(&variable) => Entity::Variable(variable),
            None => Entity::Procedure(self.procedure(key, depth)?),
        };
        // The operand follows the opcode.
        let offset = to.bytes.len() as u32 + 1;
        to.bytes.extend_from_slice(whole);
        let size = match kind {
            FixupKind::Entry { bytes } => bytes.into(),
            _ => usize::from(to.encoding.entry_bytes()),
        };
        to.zero(offset, size);
        to.refer(offset, kind, entity);
        Ok(())
    }

    /// Imports the current unit's procedures that nothing calls.
    pub(super) fn uncalled_procedures(&mut self) {
        let dwarf = self.dwarf;
        let Some(root) = dwarf.root(self.info).filter(|_| self.chosen.only.is_empty()) else { return };
        for entry in root.children().filter(|entry| entry.tag() == dw::DW_TAG_dwarf_procedure) {
            if self.taken.is_imported(entry) || !self.chosen.discarded.keeps(entry) {
                continue;
            }
            // A call of an entry without an expression has no effect, and the model has no such procedure.
            let Some(ResolvedValue::Expr(expr)) = entry.attr(dw::DW_AT_location) else { continue };
            let is_typed = self.prefers_nodes(entry.unit().encoding, expr)
                && self.typed_procedure(entry, expr).is_some();
            if !is_typed && let Err(reason) = self.procedure(entry.offset(), MOST_NESTED) {
                self.leave_entry(entry, reason);
            }
        }
    }

    /// Returns the procedure at an entry: DWARF 5 section 3.3.7. It is made at the first call.
    fn procedure(&mut self, key: Key, depth: u32) -> Made<ProcedureId> {
        if let Some(known) = self.made.procedures.get(&key) {
            return known.ok_or(UnimportedReason::MissingReference);
        }
        let is_procedure = |entry: &Entry<'_, '_>| entry.tag() == dw::DW_TAG_dwarf_procedure;
        let entry = self.dwarf.entry_at(key).filter(is_procedure);
        let entry = entry.ok_or(UnimportedReason::MissingReference)?;
        let depth = depth.checked_sub(1).ok_or_else(|| {
            let text = "procedures are nested too deeply";
            UnimportedReason::BlockExpression(ErrorKind::TooLarge(text.into()).into())
        })?;
        // A procedure that calls itself is not made.
        self.made.procedures.insert(key, None);
        let value = self.take(entry, dw::DW_AT_location).ok_or(UnimportedReason::NoProperty)?;
        let ResolvedValue::Expr(bytes) = value else {
            return Err(UnimportedReason::class(value, "an expression"));
        };
        let expr = self.nested(entry, bytes, depth)?;
        let procedure = self.m.procedure(self.unit, &Loc::expr(expr)).map_err(refused)?;
        self.import(entry);
        self.made.procedures.insert(key, Some(procedure));
        Ok(procedure)
    }

    /// Appends an operation that refers to a base type, by its offset in the unit.
    fn typed(
        &mut self,
        entry: Entry<'d, 'o>,
        offset: u64,
        whole: &[u8],
        before: usize,
        to: &mut Copied,
    ) -> Made<()> {
        let key = entry.unit().offset.wrapping_add(offset);
        let ty = self.made.types.get(&key).copied().ok_or(UnimportedReason::MissingReference)?;
        let end = crate::op::read_uleb(whole, before).map_or(before, |(_, end)| end);
        let at = (to.bytes.len() + before) as u32;
        to.bytes.extend_from_slice(&whole[..before]);
        to.bytes.extend_from_slice(&[0x80, 0x80, 0]);
        to.bytes.extend_from_slice(&whole[end..]);
        to.refer(at, FixupKind::Type { bytes: TYPE_BYTES }, Entity::Type(ty));
        Ok(())
    }
}

/// A copy of an expression.
#[derive(Debug)]
struct Copied {
    bytes: Vec<u8>,
    fixups: Vec<Fixup>,
    entities: Vec<Entity>,
    encoding: Encoding,
}

impl Default for Copied {
    fn default() -> Self {
        let encoding = Encoding::new(8, crate::op::Dialect::Llvm);
        Self { bytes: Vec::new(), fixups: Vec::new(), entities: Vec::new(), encoding }
    }
}

impl Copied {
    fn refer(&mut self, offset: u32, kind: FixupKind, entity: Entity) {
        let slot = Slot(self.entities.len() as u32);
        self.entities.push(entity);
        self.fixups.push(Fixup { offset, kind, slot });
    }

    fn zero(&mut self, offset: u32, size: usize) {
        if let Some(field) = self.bytes.get_mut(offset as usize..offset as usize + size) {
            field.fill(0);
        }
    }
}

/// Whether an operation refers to something in the file: an address or another entry.
fn refers(op: Op<'_>) -> bool {
    match op {
        Op::Addr { .. }
        | Op::Addrx { .. }
        | Op::Constx { .. }
        | Op::Call2 { .. }
        | Op::Call4 { .. }
        | Op::CallRef { .. }
        | Op::GnuVariableValue { .. }
        | Op::GnuParameterRef { .. }
        | Op::ImplicitPointer { .. } => true,
        Op::Convert { ty } | Op::Reinterpret { ty } => ty != 0,
        Op::ConstType { .. } | Op::DerefType { .. } | Op::XderefType { .. } | Op::RegvalType { .. } => true,
        _ => false,
    }
}

/// Whether an expression refers to something in the file.
fn has_references(expr: &[u8], encoding: Encoding) -> bool {
    Decoder::new(expr, encoding).any(|decoded| {
        decoded.is_ok_and(|decoded| {
            matches!(
                decoded.op,
                Op::Addr { .. }
                    | Op::Addrx { .. }
                    | Op::Convert { .. }
                    | Op::Reinterpret { .. }
                    | Op::ConstType { .. }
                    | Op::DerefType { .. }
                    | Op::RegvalType { .. }
                    | Op::EntryValue { .. }
            )
        })
    })
}

impl<'d, 'o> Importer<'d, 'o> {
    /// Returns the location that an expression of call frame information computes, typed if a location of the model is
    /// that of the expression.
    pub(super) fn frame_location(
        &mut self,
        encoding: Encoding,
        initial: InitialStack,
        bytes: &'o [u8],
    ) -> Made<Loc> {
        if let Some(loc) = self.typed_frame_location(encoding, initial, bytes) {
            return Ok(loc);
        }
        let is_plain = |decoded: crate::Result<Decoded<'_>>| {
            decoded.is_ok_and(|decoded| !matches!(decoded.op, Op::Addr { .. } | Op::Addrx { .. }))
        };
        // In a relocatable object an address would need its symbol.
        if !Decoder::new(bytes, encoding).all(is_plain) && !self.symbols.are_fixed() {
            return Err(UnimportedReason::UntypedExpression);
        }
        let expr = self.m.expr(Expr::raw(bytes), &[]).map_err(refused)?;
        Ok(Loc::expr(expr))
    }
}
