//! Locations to expressions.
//!
//! There are two ways, by what the consumer's stack holds: [`on_stack`], where locations are elements of it,
//! and [`plain`], where they are the end of an expression. [`numbers`] are the same for both.

mod flatten;
mod in_frames;
mod numbers;
mod on_stack;
mod plain;
mod shared;

pub(super) use shared::Part;

use super::consumer::Consumer;
use crate::emit::addr::{AddressKey, Addresses};
use crate::emit::info::{Pending, RefForm, UnitEntry, Wanted};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Entity, LocId, Module, Node, Nodes, ProcedureId, Stack, Symbol, Tree, VariableId};
use crate::op::{Decoder, Encoder, Encoding, FixupKind, Reg};
use crate::target::{Register, SpaceId};
use shared::Shared;

/// Names of entries for what locations refer to.
pub(super) trait Entries {
    /// The entry of a variable, type or procedure.
    fn entity(&self, entity: Entity) -> Option<UnitEntry>;
    /// Whether the entry can be named by its offset in the section: from a split unit only its own can.
    fn is_in_reach(&self, entry: UnitEntry) -> bool;
    /// An unsigned base type of so many bits, and its offset in the unit.
    fn unsigned(&self, bits: u32) -> Option<u64>;
    /// Whether the entry of a procedure has an expression.
    fn is_told(&self, procedure: ProcedureId) -> bool;
}

/// Lowers locations, one after the other.
pub(super) struct Lowering<'m> {
    pub(super) module: &'m Module,
    consumer: &'m Consumer,
    encoding: Encoding,
    address_bits: u32,
    tree: Tree<'m>,
    /// What is written once and called.
    shared: Shared,
    hashes: Vec<u64>,
    /// References in what was written, for the caller to take.
    pub(super) pending: Vec<Pending>,
    /// Whether what was written since the caller said otherwise has the address of a symbol in it.
    pub(super) has_address: bool,
    /// Whether the expressions are those of call frame information, which refer to no other section.
    in_frames: bool,
}

/// What is written of a location.
#[derive(Clone, Copy)]
enum As {
    /// The location.
    Place { bits: Option<u64>, is_called: bool },
    /// The number that it is.
    Number,
    /// The location, or the number that it is, where the canonical frame address is on the stack at first: so many
    /// nodes want it.
    Saved { uses: u32, is_number: bool },
    /// The number that its first bits hold.
    Read(u32),
}

/// Where the bytes go, and what they need to know.
pub(super) struct Sink<'a> {
    pub(super) out: &'a mut Vec<u8>,
    pub(super) addresses: &'a mut Addresses,
    pub(super) entries: &'a dyn Entries,
    pub(super) stack: Stack,
}

impl<'m> Lowering<'m> {
    pub(super) fn new(module: &'m Module, consumer: &'m Consumer) -> Self {
        let encoding = consumer.encoding_on(&module.target);
        Self {
            module,
            consumer,
            encoding,
            address_bits: u32::from(module.target.address_bytes()) * 8,
            tree: Tree::default(),
            shared: Shared::default(),
            hashes: Vec::new(),
            pending: Vec::new(),
            has_address: false,
            in_frames: false,
        }
    }

    /// Appends the expression of a location. `bits` is the size of what is there, if it is known.
    /// `is_called` says that the expression is a procedure's: it goes on where it ends.
    ///
    /// # Errors
    /// [`ErrorKind::CannotSay`]; what was appended is then to be thrown away.
    pub(super) fn lower(
        &mut self,
        loc: LocId,
        bits: Option<u64>,
        is_called: bool,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        let nodes = self.module.nodes(loc);
        if bits != Some(0)
            && let Some((reg, by)) = nodes.memory_at_register()
            && self.holds_address(reg)
        {
            Encoder::new(sink.out, self.encoding).bregx(reg, by);
            return Ok(());
        }
        let is_alone = self.shared.is_empty() || nodes.at_most() < shared::WORDS;
        if bits != Some(0) && is_alone && self.straight(nodes.clone(), sink.out) {
            return Ok(());
        }
        self.by_tree(nodes, As::Place { bits, is_called }, sink)
    }

    /// Appends the expression of the number that a [value](crate::model::Loc::value) is: it leaves that on the
    /// stack, and says nothing of a location.
    ///
    /// # Errors
    /// As [`lower`](Self::lower).
    pub(super) fn number(&mut self, loc: LocId, sink: &mut Sink<'_>) -> Result<()> {
        self.by_tree(self.module.nodes(loc), As::Number, sink)
    }

    /// Appends the expression of the number that the first `bits` bits of a location hold.
    ///
    /// # Errors
    /// As [`lower`](Self::lower).
    pub(super) fn read(&mut self, loc: LocId, bits: u32, sink: &mut Sink<'_>) -> Result<()> {
        self.by_tree(self.module.nodes(loc), As::Read(bits), sink)
    }

    /// The same, where an operation depends on more than the node and the one that follows.
    #[inline(never)]
    fn by_tree(&mut self, nodes: Nodes<'m>, what: As, sink: &mut Sink<'_>) -> Result<()> {
        let root = self.tree.read(nodes).ok_or_else(malformed)?;
        if !self.shared.is_empty() {
            self.shared.hashes(&self.tree, &mut self.hashes);
        }
        let mut one = self.one(sink);
        let has_places = one.consumer.has_locations_on_the_stack();
        match (what, one.tree.node(root)) {
            (As::Number, Node::Value) => one.val(one.tree.last(root))?,
            (As::Number, _) => return Err(malformed()),
            (As::Saved { uses, is_number }, _) => one.saved(root, uses, is_number)?,
            // More bits than a mask has do no harm.
            (As::Read(_), Node::Value) => one.val(one.tree.last(root))?,
            (As::Read(bits), _) => one.read(root, bits)?,
            (As::Place { .. }, _) if one.call_shared(root) => {}
            (As::Place { bits, .. }, _) if !has_places => one.plain(root, bits)?,
            // An empty expression is a location that is nowhere.
            (As::Place { is_called: false, .. }, Node::Undefined) => {}
            (As::Place { bits, is_called }, _) if one.is_composite(root) => {
                one.parts(root, bits, !is_called)?;
            }
            (As::Place { .. }, _) => one.loc(root)?,
        }
        one.finish()
    }

    /// What writes the tree that was read last.
    fn one<'l>(&'l mut self, sink: &'l mut Sink<'_>) -> One<'l, 'm> {
        One {
            module: self.module,
            consumer: self.consumer,
            tree: &self.tree,
            shared: (!self.shared.is_empty()).then_some((&self.shared, &self.hashes)),
            encoder: Encoder::new(sink.out, self.encoding),
            addresses: sink.addresses,
            entries: sink.entries,
            stack: sink.stack,
            pending: &mut self.pending,
            has_address: &mut self.has_address,
            depth: 0,
            space: SpaceId::DEFAULT,
            in_frames: self.in_frames,
            initial: None,
            above: 0,
            is_open: false,
        }
    }

    /// Counts the parts of a location, for [`repeated`](Self::repeated).
    pub(super) fn count(&mut self, loc: LocId) {
        let has_places = self.consumer.has_locations_on_the_stack();
        let is_wanted = |node: Node<'_>| match node {
            Node::Part(_) => false,
            _ => has_places || node.is_number(),
        };
        self.shared.count(self.module, loc, &mut self.tree, &mut self.hashes, is_wanted);
    }

    /// The parts of counted locations that come more than once, the largest first.
    pub(super) fn repeated(&mut self) -> Vec<Part> {
        self.shared.repeated()
    }

    /// Decides whether a part is to be a procedure: of at least so many bytes, and so that what is written
    /// gets smaller.
    pub(super) fn choose(&mut self, part: &Part, from_bytes: u32, sink: &mut Sink<'_>) -> bool {
        let times = self.shared.times(part);
        let start = sink.out.len();
        let is_said = times > 1 && self.part(part, sink).is_ok();
        let bytes = (sink.out.len() - start) as u64;
        sink.out.truncate(start);
        self.pending.clear();
        // A call has up to five bytes; an entry its code and the length of the expression.
        if !is_said || bytes < from_bytes.into() || 5 * times + bytes + 2 >= bytes * times {
            self.shared.forget(part);
            return false;
        }
        self.shared.hashes(&self.tree, &mut self.hashes);
        self.shared.choose(part, &self.tree, &self.hashes);
        true
    }

    /// Appends the expression of a part that is to be called.
    ///
    /// # Errors
    /// As [`lower`](Self::lower).
    pub(super) fn part(&mut self, part: &Part, sink: &mut Sink<'_>) -> Result<()> {
        self.tree.read(self.module.nodes(part.loc)).ok_or_else(malformed)?;
        self.shared.hashes(&self.tree, &mut self.hashes);
        let mut one = self.one(sink);
        match one.tree.node(part.at) {
            node if node.is_number() => one.val(part.at)?,
            _ if one.is_composite(part.at) => one.parts(part.at, None, false)?,
            _ => one.loc(part.at)?,
        }
        one.finish()
    }

    /// Notes that the procedure of a part is at this offset of the unit.
    pub(super) fn settle(&mut self, part: &Part, entry: u64) {
        self.shared.settle(part, entry);
    }
}

impl Lowering<'_> {
    /// Whether a register is as large as an address.
    #[inline]
    fn holds_address(&self, reg: Reg) -> bool {
        self.module.target.register(reg).is_some_and(|register| register.bits == self.address_bits)
    }

    /// Appends the expression of a location whose operations come in the order of its nodes, as most do:
    /// that needs no tree. Gives false, and appends nothing, where an operation depends on more than the
    /// node and the one that follows.
    #[inline]
    fn straight(&self, mut nodes: Nodes<'_>, out: &mut Vec<u8>) -> bool {
        let start = out.len();
        let address_bits = self.address_bits;
        let mut encoder = Encoder::new(out, self.encoding);
        while let Some(node) = nodes.next() {
            match node {
                Node::Register(reg) if nodes.is_empty() => {
                    encoder.regx(reg);
                }
                Node::ReadRegister(reg) if self.holds_address(reg) => {
                    let mut by = 0i64;
                    while let Some(more) = nodes.next_plus() {
                        let Some(sum) = by.checked_add(more) else {
                            // For the tree.
                            out.truncate(start);
                            return false;
                        };
                        by = sum;
                    }
                    encoder.bregx(reg, by);
                }
                // A number is an address in the default space: no operation says so.
                Node::Memory(SpaceId::DEFAULT) if nodes.is_empty() => {}
                Node::Memory(SpaceId::DEFAULT) if nodes.next_read(address_bits).is_some() => {
                    encoder.deref();
                }
                Node::Value if nodes.is_empty() => {
                    encoder.stack_value();
                }
                Node::Const(value) => {
                    encoder.constu(value);
                }
                Node::Plus(by) => plus(&mut encoder, by),
                node if arithmetic(&mut encoder, node) => {}
                _ => {
                    out.truncate(start);
                    return false;
                }
            }
        }
        if encoder.finish().is_err() {
            // The tree says what is missing.
            out.truncate(start);
            return false;
        }
        true
    }
}

/// Adds a constant to the number on top.
#[inline(always)]
fn plus(encoder: &mut Encoder<'_>, by: i64) {
    match by {
        0 => {}
        1.. => {
            encoder.plus_uconst(by as u64);
        }
        _ => {
            encoder.constu(by.unsigned_abs()).minus();
        }
    }
}

/// Writes the operation of arithmetic on the numbers on top, each of which is one in every dialect.
/// Whether the node is arithmetic.
#[inline(always)]
fn arithmetic(encoder: &mut Encoder<'_>, node: Node<'_>) -> bool {
    match node {
        Node::Add => encoder.plus(),
        Node::Sub => encoder.minus(),
        Node::Mul => encoder.mul(),
        Node::And => encoder.and(),
        Node::Or => encoder.or(),
        Node::Xor => encoder.xor(),
        Node::Shl => encoder.shl(),
        Node::Shr => encoder.shr(),
        Node::Shra => encoder.shra(),
        Node::Neg => encoder.neg(),
        Node::Not => encoder.not(),
        _ => return false,
    };
    true
}

impl Consumer {
    #[cold]
    pub(super) fn cannot_say(&self, what: impl Into<String>) -> Error {
        ErrorKind::CannotSay { what: what.into(), consumer: self.name.into() }.into()
    }
}

#[cold]
fn malformed() -> Error {
    Error::bad_argument("the nodes form no location, or its offsets add up to more than 63 bits")
}

#[cold]
fn nameless() -> Error {
    Error::bad_argument("the location refers to what it cannot name without a module")
}

struct One<'l, 'm> {
    module: &'m Module,
    consumer: &'m Consumer,
    tree: &'l Tree<'m>,
    /// What is written once, and the hashes of the tree's nodes.
    shared: Option<(&'l Shared, &'l [u64])>,
    encoder: Encoder<'l>,
    addresses: &'l mut Addresses,
    entries: &'l dyn Entries,
    stack: Stack,
    pending: &'l mut Vec<Pending>,
    has_address: &'l mut bool,
    /// How many procedures are being written in place of calls to them.
    depth: u32,
    /// The space of which the number that is being written is an address.
    space: SpaceId,
    in_frames: bool,
    /// How many nodes want the canonical frame address that the stack begins with, if it does.
    initial: Option<u32>,
    /// How many elements of the stack what is written next will have below it.
    above: u32,
    /// Whether one of them is a composite that is being put together, which must not be moved.
    is_open: bool,
}

type At = usize;

/// How many procedures may be written in place of calls to them, each in the one before.
const MAX_DEPTH: u32 = 16;

/// Whether so many bits are whole bytes, or the bytes that they are in are there, by the size of what they
/// are read from.
fn has_bytes(has: Option<u64>, bits: u32) -> bool {
    bits.is_multiple_of(8) || has.is_some_and(|has| has >= 8 * u64::from(bits.div_ceil(8)))
}

impl<'m> One<'_, 'm> {
    /// Ends the expression.
    fn finish(self) -> Result<()> {
        let consumer = self.consumer;
        self.encoder.finish().map_err(|error| match error.kind() {
            ErrorKind::CannotSay { what, .. } => consumer.cannot_say(what.clone()),
            _ => error,
        })
    }

    /// Calls the procedure that says what a node does, if there is one.
    fn call_shared(&mut self, at: At) -> bool {
        let Some((shared, hashes)) = self.shared else { return false };
        let Some(entry) = shared.entry(self.module, self.tree, at, hashes[at]) else { return false };
        if entry < 1 << 16 {
            self.encoder.call2(entry);
        } else {
            self.encoder.call4(entry);
        }
        true
    }

    fn register(&self, reg: Reg) -> Result<Register> {
        self.module.target.register(reg).ok_or_else(malformed)
    }

    fn space_bits(&self, space: SpaceId) -> Result<u32> {
        self.module.target.space(space).map(|space| space.address_bits).ok_or_else(malformed)
    }

    fn plus(&mut self, by: i64) {
        plus(&mut self.encoder, by);
    }

    /// Offsets by constants, added up: what they are from, and the bits.
    fn moved_by(&self, mut at: At) -> (At, i64) {
        let mut bits = 0i64;
        loop {
            let by = match self.tree.node(at) {
                Node::Offset(by) => by.checked_mul(8),
                Node::BitOffset(by) => Some(by),
                _ => return (at, bits),
            };
            match by.and_then(|by| bits.checked_add(by)) {
                Some(sum) => bits = sum,
                None => return (at, bits),
            }
            at = self.tree.last(at);
        }
    }

    /// The first bit of a lane.
    fn lane_bit(&self, reg: Reg, lane: u32) -> Result<i64> {
        Ok(i64::from(lane) * i64::from(self.register(reg)?.lane_bits()))
    }

    fn pointer_to(&mut self, variable: VariableId, by: i64) -> Result<()> {
        self.has_place(variable)?;
        let entry = self.entries.entity(Entity::Variable(variable)).ok_or_else(nameless)?;
        self.reach(entry)?;
        let at = self.encoder.position() + 1;
        self.encoder.implicit_pointer(0, by);
        let form = RefForm::Section(self.encoder.encoding().entry_bytes());
        self.pending.push(Pending { at, wanted: Wanted::Entry { entry, form } });
        Ok(())
    }

    /// Refuses an entry that cannot be named by its offset in the section. DWARF 5 section 7.3.2.
    fn reach(&self, entry: UnitEntry) -> Result<()> {
        if self.entries.is_in_reach(entry) {
            return Ok(());
        }
        Err(self.consumer.cannot_say("an entry of another unit, from a split unit"))
    }

    /// Refuses a variable that has no entry with a place: it is of a function without code.
    fn has_place(&self, variable: VariableId) -> Result<()> {
        let scope = self.module.variables.get(variable).ok_or_else(malformed)?.scope;
        match self.module.function_of(scope) {
            Some(function) if self.module.functions[function].address.is_none() => {
                Err(self.consumer.cannot_say("a variable of a function that has no code"))
            }
            _ => Ok(()),
        }
    }

    /// What a procedure says, and its root.
    fn procedure(&self, procedure: ProcedureId) -> Result<(Tree<'m>, At)> {
        let mut tree = Tree::default();
        let loc = self.module.procedures.get(procedure).ok_or_else(malformed)?.loc;
        let root = tree.read(self.module.nodes(loc)).ok_or_else(malformed)?;
        Ok((tree, root))
    }

    /// Whether what a procedure says depends on the stack frame of who calls it.
    fn has_stack_slot(&self, procedure: ProcedureId, depth: u32) -> bool {
        let Some(procedure) = self.module.procedures.get(procedure) else { return false };
        self.module.nodes(procedure.loc).any(|node| match node {
            Node::StackAddress(_) => true,
            Node::Call(inner) => depth == MAX_DEPTH || self.has_stack_slot(inner, depth + 1),
            _ => false,
        })
    }

    /// The same for another tree, that of a procedure written in place of a call to it.
    fn inside<'i>(&'i mut self, tree: &'i Tree<'m>) -> Result<One<'i, 'm>> {
        if self.depth == MAX_DEPTH {
            return Err(self.consumer.cannot_say("procedures that call each other so deep"));
        }
        Ok(One {
            module: self.module,
            consumer: self.consumer,
            tree,
            shared: None,
            encoder: self.encoder.again(),
            addresses: &mut *self.addresses,
            entries: self.entries,
            stack: self.stack,
            pending: &mut *self.pending,
            has_address: &mut *self.has_address,
            depth: self.depth + 1,
            space: SpaceId::DEFAULT,
            in_frames: self.in_frames,
            initial: self.initial,
            above: self.above,
            is_open: self.is_open,
        })
    }

    /// The size of a location that has one.
    fn bits(&self, at: At) -> Option<u64> {
        self.bits_of(self.tree, at)
    }

    fn bits_of(&self, tree: &Tree<'m>, at: At) -> Option<u64> {
        let bits = |at: At| self.bits_of(tree, at);
        match tree.node(at) {
            Node::Parts(_) => {
                tree.operands(at).iter().try_fold(0u64, |sum, &part| sum.checked_add(bits(part)?))
            }
            Node::Part(bits) => Some(bits),
            Node::Overlay => bits(tree.operands(at)[0]),
            Node::Extend { bits, count } | Node::Select { bits, count } => bits.checked_mul(count),
            Node::Register(reg) => Some(self.module.target.register(reg)?.bits.into()),
            Node::Lane(reg, _) | Node::PerLane(reg) => {
                Some(self.module.target.register(reg)?.lane_bits().into())
            }
            Node::Implicit(bytes) => Some(8 * bytes.len() as u64),
            Node::Value | Node::PointerTo(..) => Some(u64::from(self.module.target.address_bytes()) * 8),
            Node::Offset(by) => bits(tree.last(at))?.checked_sub_signed(by.checked_mul(8)?),
            Node::BitOffset(by) => bits(tree.last(at))?.checked_sub_signed(by),
            _ => None,
        }
    }

    /// An address that the linker fills in. One in the default space is an address to the consumer too, which
    /// moves it as the loader does; in another, where nothing is moved, it is a constant.
    fn symbol(&mut self, symbol: Symbol, by: i64) {
        let key = AddressKey { symbol: Some(symbol.0.as_u32()), addend: by as u64 };
        *self.has_address |= self.space == SpaceId::DEFAULT;
        let encoding = self.encoder.encoding();
        if encoding.version < 5 || self.in_frames {
            // The operand is the address itself.
            let at = self.encoder.position() + 1;
            self.pending.push(Pending { at, wanted: Wanted::Address(key) });
            if self.space == SpaceId::DEFAULT {
                self.encoder.addr(0);
            } else {
                self.encoder.const_fixed(0, encoding.address_bytes);
            }
            return;
        }
        let index = self.addresses.index(key);
        if self.space == SpaceId::DEFAULT {
            self.encoder.addrx(index);
        } else {
            self.encoder.constx(index);
        }
    }

    /// Writes a number that is an address in a space.
    fn of_space<T>(&mut self, space: SpaceId, write: impl FnOnce(&mut Self) -> T) -> T {
        let around = core::mem::replace(&mut self.space, space);
        let written = write(self);
        self.space = around;
        written
    }

    fn address_bits(&self) -> u32 {
        u32::from(self.module.target.address_bytes()) * 8
    }

    fn expr(&mut self, id: crate::model::ExprId) -> Result<()> {
        let module = self.module;
        let (expr, entities) = module.expr(id);
        let start = self.encoder.position();
        // What it says is the caller's affair, but the consumer has to know the operations.
        for operation in Decoder::new(expr.bytes(), self.encoder.encoding()) {
            let version = self.encoder.encoding().version;
            match operation {
                Ok(one) if self.in_frames && in_frames::is_refused(one.op.name()) => {
                    return Err(self.refused_in_frames(one.op.row().text));
                }
                // Before the version that brought it, GNU may have had it.
                Ok(one)
                    if one.op.row().since <= version
                        || one.op.row().std.get() != Some(one.spelling.code()) => {}
                Ok(one) => {
                    let what = format!("operation `{}` in a raw expression", one.op.row().text);
                    return Err(self.consumer.cannot_say(what));
                }
                Err(error) => {
                    return Err(self.consumer.cannot_say(format!("a raw expression: {}", error.kind())));
                }
            }
        }
        self.encoder.raw(expr.bytes());
        for fixup in expr.fixups() {
            let entity = entities[fixup.slot.0 as usize];
            let at = start + fixup.offset as usize;
            let form = match fixup.kind {
                FixupKind::Entry { bytes } => RefForm::Unit(bytes),
                FixupKind::Type { bytes } => RefForm::UnitUleb(bytes),
                FixupKind::EntrySection => RefForm::Section(self.encoder.encoding().entry_bytes()),
                // An index would be of another length; the section would need a relocation here.
                FixupKind::Address => {
                    return Err(self.consumer.cannot_say("an address in a raw expression: use `addrx`"));
                }
            };
            if let Entity::Variable(variable) = entity {
                self.has_place(variable)?;
            }
            let what = || Error::bad_argument(format!("slot {} stands for no entry", fixup.slot.0));
            let entry = self.entries.entity(entity).ok_or_else(what)?;
            self.reach(entry)?;
            self.pending.push(Pending { at, wanted: Wanted::Entry { entry, form } });
        }
        Ok(())
    }

    #[cold]
    fn not_plain(&self, at: At) -> Error {
        let what = match self.tree.node(at) {
            Node::PerLane(_) => "one lane of a register, chosen by who asks".into(),
            Node::Memory(space) => match self.module.target.space(space) {
                Some(space) => format!("memory in space {}", space.name),
                None => "memory in a space".into(),
            },
            Node::Expr(_) => "a part of what a raw expression says".into(),
            Node::OffsetBy | Node::BitOffsetBy => "an offset known at run time".into(),
            Node::Overlay => "an overlay whose place is known at run time".into(),
            Node::LaneIndex => "the lane that asks".into(),
            Node::PointerTo(..) => "a part of a pointer that does not exist".into(),
            Node::Select { .. } => "a choice by a mask known at run time".into(),
            Node::Parts(_) | Node::Extend { .. } => "parts of a part".into(),
            Node::Call(_) => "a part of what a procedure says".into(),
            _ => "a location of this kind".into(),
        };
        self.consumer.cannot_say(what)
    }
}
