//! Writer for one expression, from a location's tree.

use super::called::Called;
use super::fragments::Split;
use super::linear::plus;
use super::shared::{At, Shared};
use crate::consumer::Consumer;
use crate::emit::addr::{AddressKey, Addresses};
use crate::emit::info::{Pending, RefForm, UnitEntry, Wanted};
use crate::error::{Construct, Error, ErrorKind, Result};
use crate::lower::homes::HomesAt;
use crate::model::{Entity, Module, Node, ProcedureId, Stack, Symbol, Tree, VariableId};
use crate::op::{Decoded, Decoder, Encoder, FixupKind, Op, Reg};
use crate::target::{Register, SpaceId};

/// Writer for one expression, from a location's tree.
pub(super) struct ExpressionWriter<'l, 'm> {
    pub(super) context: Context<'l, 'm>,
    pub(super) tree: &'l Tree<'m>,
    /// Subexpressions with procedures, and the tree's hashes by node.
    pub(super) shared: Option<(&'l Shared, &'l [u64])>,
    pub(super) encoder: Encoder<'l>,
    /// Where the expression begins in the encoder's bytes.
    pub(super) start: usize,
    pub(super) references: References<'l>,
    /// How many nested procedures are inlined at this point.
    pub(super) depth: u32,
    pub(super) operands: Operands,
}

/// Expression context.
#[derive(Clone, Copy)]
pub(super) struct Context<'l, 'm> {
    pub(super) module: &'m Module,
    pub(super) consumer: &'m Consumer,
    pub(super) entries: &'l dyn Entries,
    /// The function's stack frame.
    pub(super) stack: Stack,
    /// Whether the expression is in call frame information.
    pub(super) is_call_frame: bool,
    pub(super) called: &'l Called,
}

/// Entries that locations refer to.
pub(in crate::lower) trait Entries {
    /// Returns the entry for a variable, type or procedure.
    fn entity(&self, entity: Entity) -> Option<UnitEntry>;
    /// Returns whether a section offset can refer to the entry. From a split unit, only its own entries qualify.
    fn is_in_reach(&self, entry: UnitEntry) -> bool;
    /// Unit offset of the unsigned base type with `bits` bits.
    fn unsigned(&self, bits: u32) -> Option<u64>;
    /// Returns whether a procedure's entry has an expression.
    fn has_expression(&self, procedure: ProcedureId) -> bool;
}

/// Entries for an expression without a module: no entity has an entry.
pub(in crate::lower) struct NoEntries;

impl Entries for NoEntries {
    fn entity(&self, _: Entity) -> Option<UnitEntry> {
        None
    }

    fn is_in_reach(&self, _: UnitEntry) -> bool {
        true
    }

    fn unsigned(&self, _: u32) -> Option<u64> {
        None
    }

    fn has_expression(&self, _: ProcedureId) -> bool {
        true
    }
}

pub(super) fn malformed() -> Error {
    Error::bad_argument("location nodes form no tree, or the offsets add up to more than 63 bits")
}

pub(super) fn nameless() -> Error {
    Error::bad_argument("location references a symbol, variable or procedure; expected none without a module")
}

/// An expression's references to entries and addresses, which are appended along with the operations.
pub(in crate::lower) struct References<'l> {
    pub(in crate::lower) addresses: &'l mut Addresses,
    /// Expression fields that are filled in later, at their positions in the output.
    pub(in crate::lower) pending: &'l mut Vec<Pending>,
    pub(in crate::lower) facts: &'l mut Facts,
    /// Registers of the map at the expression's pcs, for a consumer that has the map.
    pub(in crate::lower) homes: Option<HomesAt<'l>>,
}

impl References<'_> {
    pub(super) fn reborrow(&mut self) -> References<'_> {
        let homes = self.homes.as_mut().map(HomesAt::reborrow);
        References { addresses: self.addresses, pending: self.pending, facts: self.facts, homes }
    }
}

/// Facts about a variable's locations that its entry states. All the variable's locations add to them.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::lower) struct Facts {
    /// Whether a location contains a symbol address that the loader relocates.
    pub(in crate::lower) has_address: bool,
    /// Address space for the locations in memory, if the consumer has an attribute for it.
    pub(in crate::lower) space: Option<SpaceId>,
}

/// Stack elements below the operation that is written next.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Operands {
    /// How often the canonical frame address at the stack's bottom is still used, if the initial stack has it.
    pub(super) cfa_uses: Option<u32>,
    /// How many operands the enclosing operations have.
    pub(super) above: u32,
    /// Whether one of these operands is an incomplete composite, which must not be moved.
    pub(super) is_open: bool,
}

/// Limit for nested procedures that are inlined.
const MAX_DEPTH: u32 = 16;

/// Limit for an expression in which procedures are inlined, after which no procedure is: DWARF 4 has no longer
/// expressions in lists.
const MAX_INLINED_BYTES: usize = 0xffff;

impl<'m> ExpressionWriter<'_, 'm> {
    /// Ends the expression.
    pub(super) fn finish(self) -> Result<()> {
        let consumer = self.context.consumer;
        self.encoder.finish().map_err(|error| match error.kind() {
            ErrorKind::Inexpressible { what, .. } => consumer.inexpressible(what.clone()),
            _ => error,
        })
    }

    /// Writes a call to a node's procedure, if there is one. Returns whether there is.
    pub(super) fn call_shared(&mut self, at: At) -> bool {
        let Some((shared, hashes)) = self.shared else { return false };
        let Some(entry) = shared.entry(self.context.module, self.tree, at, hashes[at]) else { return false };
        if entry < 1 << 16 {
            self.encoder.call2(entry);
        } else {
            self.encoder.call4(entry);
        }
        true
    }

    pub(super) fn register(&self, reg: Reg) -> Result<Register<'_>> {
        self.context.module.target.register(reg).ok_or_else(malformed)
    }

    pub(super) fn space_bits(&self, space: SpaceId) -> Result<u32> {
        self.context.module.target.space(space).map(|space| space.address_bits).ok_or_else(malformed)
    }

    pub(super) fn plus(&mut self, by: i64) {
        plus(&mut self.encoder, by);
    }

    /// Strips constant offsets: the node below them, and their sum in bits.
    pub(super) fn moved_by(&self, mut at: At) -> (At, i64) {
        let mut bits = 0i64;
        loop {
            let distance = match self.tree.node(at) {
                Node::Offset(by) => by.checked_mul(8),
                Node::BitOffset(by) => Some(by),
                _ => return (at, bits),
            };
            match distance.and_then(|distance| bits.checked_add(distance)) {
                Some(sum) => bits = sum,
                None => return (at, bits),
            }
            at = self.tree.last(at);
        }
    }

    /// A lane's first bit.
    pub(super) fn lane_bit(&self, reg: Reg, lane: u32) -> Result<i64> {
        Ok(i64::from(lane) * i64::from(self.register(reg)?.lane_bits()))
    }

    pub(super) fn pointer_to(&mut self, variable: VariableId, by: i64) -> Result<()> {
        self.has_place(variable)?;
        let entry = self.context.entries.entity(Entity::Variable(variable)).ok_or_else(nameless)?;
        self.reach(entry)?;
        let operand = self.encoder.position() + 1;
        self.encoder.implicit_pointer(0, by);
        // The variable may be in another unit, so the reference is a section offset.
        let form = RefForm::Section(self.encoder.encoding().entry_bytes());
        self.references.pending.push(Pending { at: operand, wanted: Wanted::Entry { entry, form } });
        Ok(())
    }

    /// Writes the number that the caller passed for a parameter.
    pub(super) fn passed_value(&mut self, parameter: VariableId) -> Result<()> {
        if self.context.is_call_frame {
            return Err(self.refused_in_call_frame("parameter_ref"));
        }
        let entry = self.context.entries.entity(Entity::Variable(parameter)).ok_or_else(nameless)?;
        let operand = self.encoder.position() + 1;
        self.encoder.gnu_parameter_ref(0);
        let form = RefForm::Unit(4);
        self.references.pending.push(Pending { at: operand, wanted: Wanted::Entry { entry, form } });
        Ok(())
    }

    /// Refuses an entry that a section offset cannot refer to. DWARF 5 section 7.3.2.
    pub(super) fn reach(&self, entry: UnitEntry) -> Result<()> {
        if self.context.entries.is_in_reach(entry) {
            return Ok(());
        }
        Err(self.context.consumer.inexpressible(Construct::OtherUnit))
    }

    /// Refuses a variable in a function without code, because its entry has no location.
    pub(super) fn has_place(&self, variable: VariableId) -> Result<()> {
        let scope = self.context.module.variables.get(variable).ok_or_else(malformed)?.scope;
        match self.context.module.function_of(scope) {
            Some(function) if self.context.module.functions[function].address.is_none() => {
                Err(self.context.consumer.inexpressible(Construct::NoCode))
            }
            _ => Ok(()),
        }
    }

    /// Reads a procedure's tree. Returns it with its root.
    pub(super) fn procedure(&self, procedure: ProcedureId) -> Result<(Tree<'m>, At)> {
        let mut tree = Tree::default();
        let loc = self.context.module.procedures.get(procedure).ok_or_else(malformed)?.loc;
        let root = tree.read(self.context.module.nodes(loc)).ok_or_else(malformed)?;
        Ok((tree, root))
    }

    /// Returns whether a procedure's location depends on its caller's stack frame.
    pub(super) fn has_stack_slot(&self, procedure: ProcedureId) -> bool {
        self.context.called.contents(self.context.module, procedure).has_stack_slot
    }

    /// Writer for an inlined procedure's tree.
    pub(super) fn inside<'i>(&'i mut self, tree: &'i Tree<'m>) -> Result<ExpressionWriter<'i, 'm>> {
        crate::work::step();
        if self.depth == MAX_DEPTH {
            return Err(self.context.consumer.inexpressible(Construct::DeepProcedures));
        }
        // Each level of procedures can multiply the size.
        if self.encoder.position() - self.start > MAX_INLINED_BYTES {
            return Err(self.context.consumer.inexpressible(Construct::ManyParts));
        }
        Ok(ExpressionWriter {
            context: self.context,
            tree,
            shared: None,
            encoder: self.encoder.again(),
            start: self.start,
            references: self.references.reborrow(),
            depth: self.depth + 1,
            operands: self.operands,
        })
    }

    /// Resolves locations in the tree to fragments.
    pub(super) fn split(&self) -> Split<'_, 'm> {
        Split { tree: self.tree, target: &self.context.module.target }
    }

    /// Location size in bits, if it has one.
    pub(super) fn bits(&self, at: At) -> Option<u64> {
        self.bits_of(self.tree, at)
    }

    pub(super) fn bits_of(&self, tree: &Tree<'m>, at: At) -> Option<u64> {
        Split { tree, target: &self.context.module.target }.bits(at)
    }

    /// Writes an address that the linker fills in. In a space that the loader relocates, the consumer relocates it
    /// too (`addr`); in another space it is a constant.
    pub(super) fn symbol(&mut self, symbol: Symbol, by: i64, space: SpaceId) {
        if self.context.consumer.attributes.variable_space.is_some() {
            // The assembler, which turns some symbols into offsets, ignores an addend, so an operation adds the
            // constant.
            let key = AddressKey { symbol: Some(symbol.0.as_u32()), addend: 0 };
            let operand = self.encoder.position() + 1;
            self.references.pending.push(Pending { at: operand, wanted: Wanted::Address(key) });
            self.references.facts.has_address = true;
            self.encoder.addr(0);
            return self.plus(by);
        }
        let key = AddressKey { symbol: Some(symbol.0.as_u32()), addend: by as u64 };
        self.references.facts.has_address |= space.is_loaded();
        let encoding = self.encoder.encoding();
        // gdb has no `constx`, which only split units need.
        let is_direct_constant = !space.is_loaded() && !self.context.consumer.is_split;
        if encoding.version < 5 || self.context.is_call_frame || is_direct_constant {
            // Before DWARF 5, and in call frame information, the operand is the address itself.
            let operand = self.encoder.position() + 1;
            self.references.pending.push(Pending { at: operand, wanted: Wanted::Address(key) });
            if space.is_loaded() {
                self.encoder.addr(0);
            } else {
                self.encoder.const_fixed(0, encoding.address_bytes);
            }
            return;
        }
        let index = self.references.addresses.index(key);
        if space.is_loaded() {
            self.encoder.addrx(index);
        } else {
            self.encoder.constx(index);
        }
    }

    /// Writes an address in the linked object. In a space that the loader does not relocate, it is a constant.
    pub(super) fn link_address(&mut self, address: u64, space: SpaceId) {
        if space.is_loaded() {
            self.references.facts.has_address = true;
            self.encoder.addr(address);
        } else {
            self.encoder.constu(address);
        }
    }

    pub(super) fn address_bits(&self) -> u32 {
        u32::from(self.context.module.target.address_bytes()) * 8
    }

    pub(super) fn expr(&mut self, id: crate::model::ExprId) -> Result<()> {
        let module = self.context.module;
        let (expr, entities) = module.expr(id);
        let start = self.encoder.position();
        // The caller is responsible for what the bytes mean, but the consumer must know the operations.
        for operation in Decoder::new(expr.bytes(), self.encoder.encoding()) {
            let version = self.encoder.encoding().version;
            // Tables list a variable at a static address, whoever wrote its expression.
            if let Ok(Decoded { op: Op::Addr { .. } | Op::Addrx { .. } | Op::FormTlsAddress {}, .. }) =
                operation
            {
                self.references.facts.has_address = true;
            }
            match operation {
                Ok(one) if self.context.is_call_frame && !one.op.row().is_for_cfi => {
                    return Err(self.refused_in_call_frame(one.op.row().text));
                }
                // GNU has vendor codes for operations of later versions.
                Ok(one)
                    if one.op.row().since <= version
                        || one.op.row().std.get() != Some(one.spelling.code()) => {}
                Ok(one) => {
                    let what = Construct::RawOperation(one.op.row().text);
                    return Err(self.context.consumer.inexpressible(what));
                }
                Err(error) => {
                    return Err(self
                        .context
                        .consumer
                        .inexpressible(Construct::RawExpression(Box::new(error.kind().clone()))));
                }
            }
        }
        // The bytes stay as they are. Only their references are filled in, at the positions that they have here.
        self.encoder.raw(expr.bytes());
        for fixup in expr.fixups() {
            let entity = entities[fixup.slot.0 as usize];
            let position = start + fixup.offset as usize;
            if let Entity::Symbol(symbol, by) = entity
                && !self.context.consumer.is_split
            {
                // An index has another length than the operand, so that the operand gets a relocation.
                let key = AddressKey { symbol: Some(symbol.0.as_u32()), addend: by as u64 };
                self.references.pending.push(Pending { at: position, wanted: Wanted::Address(key) });
                continue;
            }
            let form = match fixup.kind {
                FixupKind::Entry { bytes } => RefForm::Unit(bytes),
                FixupKind::Type { bytes } => RefForm::UnitUleb(bytes),
                FixupKind::EntrySection => RefForm::Section(self.encoder.encoding().entry_bytes()),
                // No linker reads split units.
                FixupKind::Address => {
                    return Err(self.context.consumer.inexpressible(Construct::RawAddress));
                }
            };
            let what = || {
                let slot = fixup.slot.0;
                Error::bad_argument(format!("slot {slot} references an entity without an entry"))
            };
            let entry = self.context.entries.entity(entity).ok_or_else(what)?;
            self.reach(entry)?;
            self.references.pending.push(Pending { at: position, wanted: Wanted::Entry { entry, form } });
        }
        Ok(())
    }

    pub(super) fn not_in_dwarf5(&self, at: At) -> Error {
        let what = match self.tree.node(at) {
            Node::PerLane(_) => Construct::PerLaneRegister,
            Node::Memory(space) => {
                let space = self.context.module.target.space(space);
                Construct::Memory(space.map(|space| space.name.to_string()))
            }
            Node::Expr(_) => Construct::PartOfRawExpression,
            Node::OffsetBy | Node::BitOffsetBy => Construct::OffsetBy,
            Node::Overlay => Construct::Overlay,
            Node::LaneIndex => Construct::CurrentLane,
            Node::PointerTo(..) => Construct::PartOfPointer,
            Node::Select { .. } => Construct::Select,
            Node::Parts(_) | Node::Extend { .. } => Construct::PartsOfPart,
            Node::Call(_) => Construct::PartOfProcedure,
            _ => Construct::OtherLocation,
        };
        self.context.consumer.inexpressible(what)
    }

    /// Writes the canonical frame address. If it is on the initial stack, every use but the last copies it.
    pub(super) fn cfa(&mut self) {
        let Some(uses) = &mut self.operands.cfa_uses else {
            self.encoder.call_frame_cfa();
            return;
        };
        *uses = uses.saturating_sub(1);
        // The last use takes the element: alone, it is on top already, and a swap moves it past one operand.
        match (*uses, self.operands.above) {
            (0, 0) => {}
            (0, 1) if !self.operands.is_open => {
                self.encoder.swap();
            }
            (_, above) => {
                self.encoder.pick(above as u8);
            }
        }
    }

    /// Writes an operand above `more` operands of the same operation.
    pub(super) fn above<T>(&mut self, more: u32, write: impl FnOnce(&mut Self) -> T) -> T {
        self.operands.above += more;
        let written = write(self);
        self.operands.above -= more;
        written
    }

    /// Writes a register's value in the caller.
    pub(super) fn caller_register(&mut self, reg: Reg) -> Result<()> {
        if !self.context.consumer.has_locations_on_the_stack() {
            let name = self.register(reg)?.name();
            return Err(self.context.consumer.inexpressible(Construct::CallerRegister(name.to_string())));
        }
        let bytes = self.register(reg)?.bits.div_ceil(8);
        let bytes = u8::try_from(bytes).map_err(|_| malformed())?;
        self.encoder.call_frame_entry_reg(reg).deref_size(bytes);
        Ok(())
    }

    pub(super) fn refused_in_call_frame(&self, operation: &'static str) -> Error {
        self.context.consumer.inexpressible(Construct::CallFrameOperation(operation))
    }
}
