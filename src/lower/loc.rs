//! Locations to expressions.
//!
//! There are two ways, by what the consumer's stack holds. Where locations are stack elements, each node
//! has its operation, and the tree is written in its own order. In plain DWARF 5 a location is the end of
//! an expression: the tree is [flattened](super::flatten) into parts, each a register, an address, a
//! constant or a value.

use super::consumer::Consumer;
use super::flatten::{Leaf, flatten};
use crate::emit::addr::{AddressKey, Addresses};
use crate::emit::info::{EntryRef, Pending, RefForm};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Entity, LocId, Module, Node, Nodes, ProcedureId, Stack, Symbol, Tree, VariableId};
use crate::op::{Encoder, Encoding, FixupKind, Reg};
use crate::target::{Per, Register, Scaling, SpaceId};

/// Names of entries for what locations refer to.
pub(super) trait Entries {
    /// The entry of a variable, type or procedure.
    fn entity(&self, entity: Entity) -> Option<EntryRef>;
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
    tree: Tree<'m>,
    /// References in what was written, for the caller to take.
    pub(super) pending: Vec<Pending>,
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
        let encoding = consumer.encoding(module.target.address_bytes());
        Self { module, consumer, encoding, tree: Tree::default(), pending: Vec::new() }
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
        if bits != Some(0) && self.straight(nodes.clone(), sink.out) {
            return Ok(());
        }
        let root = self.tree.read(nodes).ok_or_else(malformed)?;
        let mut one = One {
            module: self.module,
            consumer: self.consumer,
            tree: &self.tree,
            encoder: Encoder::new(sink.out, self.encoding),
            addresses: sink.addresses,
            entries: sink.entries,
            stack: sink.stack,
            pending: &mut self.pending,
            depth: 0,
        };
        if self.consumer.has_locations_on_the_stack() {
            match one.tree.node(root) {
                // An empty expression is a location that is nowhere.
                Node::Undefined if !is_called => {}
                _ if one.is_composite(root) => one.parts(root, bits, !is_called)?,
                _ => one.loc(root)?,
            }
        } else {
            one.plain(root, bits)?;
        }
        one.encoder.finish().map_err(|error| match error.kind() {
            ErrorKind::CannotSay { what, .. } => self.consumer.cannot_say(what.clone()),
            _ => error,
        })
    }
}

impl Lowering<'_> {
    /// Appends the expression of a location whose operations come in the order of its nodes, as most do:
    /// that needs no tree. Gives false, and appends nothing, where an operation depends on more than the
    /// node and the one that follows.
    fn straight(&self, mut nodes: Nodes<'_>, out: &mut Vec<u8>) -> bool {
        let start = out.len();
        let target = &self.module.target;
        let address_bits = u32::from(target.address_bytes()) * 8;
        let mut encoder = Encoder::new(out, self.encoding);
        while let Some(node) = nodes.next() {
            match node {
                Node::Register(reg) if nodes.is_empty() => {
                    encoder.regx(reg);
                }
                Node::ReadRegister(reg)
                    if target.register(reg).is_some_and(|register| register.bits == address_bits) =>
                {
                    // A sum that does not fit is for the tree.
                    let mut by = Some(0i64);
                    while let Some(more) = nodes.next_plus() {
                        by = by.and_then(|by| by.checked_add(more));
                    }
                    let Some(by) = by else {
                        out.truncate(start);
                        return false;
                    };
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
        true
    }
}

/// Adds a constant to the number on top.
#[inline]
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
#[inline]
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
    Error::bad_argument("the nodes form no location")
}

#[cold]
fn nameless() -> Error {
    Error::bad_argument("the location refers to what it cannot name without a module")
}

struct One<'l, 'm> {
    module: &'m Module,
    consumer: &'m Consumer,
    tree: &'l Tree<'m>,
    encoder: Encoder<'l>,
    addresses: &'l mut Addresses,
    entries: &'l dyn Entries,
    stack: Stack,
    pending: &'l mut Vec<Pending>,
    /// How many procedures are being written in place of calls to them.
    depth: u32,
}

type At = usize;

/// How many procedures may be written in place of calls to them, each in the one before.
const MAX_DEPTH: u32 = 16;

/// More parts than any location has that a compiler makes.
const MAX_PARTS: usize = 4096;

/// Whether so many bits are whole bytes, or the bytes that they are in are there, by the size of what they
/// are read from.
fn has_bytes(has: Option<u64>, bits: u32) -> bool {
    bits.is_multiple_of(8) || has.is_some_and(|has| has >= 8 * u64::from(bits.div_ceil(8)))
}

impl<'m> One<'_, 'm> {
    fn register(&self, reg: Reg) -> Result<Register> {
        self.module.target.register(reg).ok_or_else(malformed)
    }

    fn space_bits(&self, space: SpaceId) -> Result<u32> {
        self.module.target.space(space).map(|space| space.address_bits).ok_or_else(malformed)
    }

    fn plus(&mut self, by: i64) {
        plus(&mut self.encoder, by);
    }

    // Locations on the stack.

    /// Writes operations that leave the location on top of the stack.
    fn loc(&mut self, at: At) -> Result<()> {
        self.loc_from(at, 0)
    }

    /// The same, so many bits further on. Where the location has an offset or an address anyway, they are
    /// added to that.
    fn loc_from(&mut self, at: At, from: i64) -> Result<()> {
        let bytes = (from % 8 == 0).then_some(from / 8);
        match (self.tree.node(at), bytes) {
            (Node::Offset(_) | Node::BitOffset(_), _) => {
                let (place, by) = self.moved_by(at);
                return match by.checked_add(from) {
                    Some(from) => self.loc_from(place, from),
                    None => Err(malformed()),
                };
            }
            (Node::Lane(reg, lane), _) => {
                self.encoder.regx(reg);
                self.go_on(self.lane_bit(reg, lane)? + from);
            }
            (Node::PerLane(reg), Some(by)) => {
                let bytes = self.register(reg)?.lane_bits() / 8;
                self.encoder.regx(reg).push_lane().constu(bytes.into()).mul();
                self.plus(by);
                self.encoder.offset();
            }
            (Node::StackSlot(offset), Some(by)) => {
                self.stack_slot(offset.checked_add(by).ok_or_else(malformed)?)?;
            }
            (Node::Memory(space), Some(by)) => self.memory(space, self.tree.last(at), by)?,
            _ => {
                self.place(at)?;
                self.go_on(from);
            }
        }
        Ok(())
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

    /// Moves the location on top by bits.
    fn go_on(&mut self, bits: i64) {
        match bits {
            0 => {}
            1.. if bits % 8 == 0 => {
                self.encoder.offset_uconst(bits as u64 / 8);
            }
            _ if bits % 8 == 0 => {
                self.encoder.consts(bits / 8).offset();
            }
            _ => self.bit_offset(bits),
        }
    }

    fn place(&mut self, at: At) -> Result<()> {
        match self.tree.node(at) {
            Node::Register(reg) => {
                self.encoder.regx(reg);
            }
            Node::Lane(..) | Node::PerLane(_) | Node::StackSlot(_) | Node::Memory(_) => {
                return self.loc_from(at, 0);
            }
            Node::OffsetBy => {
                let (loc, by) = self.tree.two(at);
                self.loc(loc)?;
                match self.tree.constant(by) {
                    Some(bytes) if bytes <= i64::MAX as u64 / 8 => self.go_on(bytes as i64 * 8),
                    _ => {
                        self.val(by)?;
                        self.encoder.offset();
                    }
                }
            }
            Node::BitOffsetBy => {
                let (loc, by) = self.tree.two(at);
                self.loc(loc)?;
                self.val(by)?;
                self.encoder.bit_offset();
            }
            Node::Parts(_) => self.parts(at, None, false)?,
            Node::Overlay => {
                let operands = self.tree.operands(at);
                for &loc in &operands[..2] {
                    self.loc(loc)?;
                }
                for &val in &operands[2..] {
                    self.val(val)?;
                }
                self.encoder.bit_overlay();
            }
            Node::Select { bits, count } => {
                let operands = self.tree.operands(at);
                for &loc in &operands[..2] {
                    self.loc(loc)?;
                }
                self.val(operands[2])?;
                self.encoder.select_bit_piece(bits, count);
            }
            Node::Extend { bits, count } => {
                self.loc(self.tree.last(at))?;
                self.encoder.extend(bits, count);
            }
            Node::Implicit(bytes) => {
                self.encoder.implicit_value(bytes);
            }
            Node::Value => {
                self.val(self.tree.last(at))?;
                self.encoder.stack_value();
            }
            Node::PointerTo(variable, by) => self.pointer_to(variable, by)?,
            Node::Call(procedure) => {
                if !self.entries.is_told(procedure) {
                    return Err(self.consumer.cannot_say("what the procedure says, which it cannot be told"));
                }
                let entry = self.entries.entity(Entity::Procedure(procedure)).ok_or_else(nameless)?;
                let at = self.encoder.position() + 1;
                self.encoder.call4(0);
                self.pending.push(Pending { at, form: RefForm::Unit(4), entry });
            }
            Node::Undefined => {
                self.encoder.undefined();
            }
            Node::Expr(id) => self.expr(id)?,
            _ => return Err(malformed()),
        }
        Ok(())
    }

    fn bit_offset(&mut self, bits: i64) {
        match bits {
            0.. => self.encoder.constu(bits as u64),
            _ => self.encoder.consts(bits),
        };
        self.encoder.bit_offset();
    }

    fn pointer_to(&mut self, variable: VariableId, by: i64) -> Result<()> {
        self.has_place(variable)?;
        let entry = self.entries.entity(Entity::Variable(variable)).ok_or_else(nameless)?;
        let at = self.encoder.position() + 1;
        self.encoder.implicit_pointer(0, by);
        self.pending.push(Pending { at, form: RefForm::Section, entry });
        Ok(())
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

    /// A stack slot, in the asking lane's private memory. The register's own count is brought to a lane's.
    fn stack_slot(&mut self, offset: i64) -> Result<()> {
        let space = SpaceId::PRIVATE_LANE;
        let Some(reg) = self.stack.base else {
            // The address is cut to the bits that the space has.
            match offset {
                0.. => self.encoder.constu(offset as u64),
                _ => self.encoder.consts(offset),
            };
            self.encoder.constu(space.0.into()).form_aspace_address();
            return Ok(());
        };
        if self.stack.scaling == Scaling::Lane && self.register(reg)?.bits >= self.space_bits(space)? {
            self.encoder.constu(space.0.into()).aspace_bregx(reg, offset);
            return Ok(());
        }
        self.read_register(reg)?;
        if self.stack.scaling == Scaling::Wave {
            let lanes = self.module.target.lanes();
            self.encoder.constu(lanes.trailing_zeros().into()).shr();
        }
        self.plus(offset);
        self.encoder.constu(space.0.into()).form_aspace_address();
        Ok(())
    }

    /// Memory at an address, `more` bytes further on.
    fn memory(&mut self, space: SpaceId, address: At, more: i64) -> Result<()> {
        if space == SpaceId::DEFAULT {
            // A number is converted to a location in the default space where one is needed.
            return self.val_plus(address, more);
        }
        if let Some((reg, by)) = self.register_plus(address)
            && let Some(by) = by.checked_add(more)
            && self.register(reg)?.bits >= self.space_bits(space)?
        {
            self.encoder.constu(space.0.into()).aspace_bregx(reg, by);
            return Ok(());
        }
        match self.tree.node(address) {
            // The linker knows it, but the loader does not move it.
            Node::Address(symbol, by) => {
                self.symbol(symbol, by, false);
                self.plus(more);
            }
            _ => self.val_plus(address, more)?,
        }
        self.encoder.constu(space.0.into()).form_aspace_address();
        Ok(())
    }

    /// Whether a location is one of parts, or of bits of some.
    fn is_composite(&self, at: At) -> bool {
        matches!(self.tree.node(self.moved_by(at).0), Node::Parts(_) | Node::Overlay)
    }

    /// Parts that follow each other. A composite is complete at the end of the expression; where more
    /// follows, an operation completes it.
    fn parts(&mut self, at: At, bits: Option<u64>, is_end: bool) -> Result<()> {
        let bits = bits.or_else(|| self.bits(at));
        let mut leaves = Vec::new();
        let flat = bits.and_then(|bits| flatten(self.tree, at, 0, bits, &mut leaves));
        match leaves[..] {
            _ if flat.is_none() => return self.composite_operation(at),
            [Leaf { at: same, .. }] if same == at => return self.composite_operation(at),
            [Leaf { at, from, .. }] => return self.loc_from(at, from),
            _ => {}
        }
        // What is evaluated by itself begins with an empty stack.
        self.pieces(&leaves, !is_end, false)?;
        if !is_end {
            self.encoder.piece_end();
        }
        Ok(())
    }

    /// Parts, one by one. `is_below` says that there may be something else on the stack; `is_open`, that
    /// it is a composite to which these are added.
    fn pieces(&mut self, leaves: &[Leaf], is_below: bool, mut is_open: bool) -> Result<()> {
        for &leaf in leaves {
            let Leaf { at, from, bits } = leaf;
            let first = match self.tree.node(at) {
                // Without an operation, a part is nowhere.
                Node::Undefined if is_open || !is_below => 0,
                Node::Lane(reg, lane) => {
                    self.encoder.regx(reg);
                    self.lane_bit(reg, lane)? + from
                }
                Node::Call(procedure) if is_open && self.has_open_composite(at) => {
                    self.parts_in_place(procedure, leaf)?;
                    continue;
                }
                // Its own parts would be taken for more parts of this one.
                _ if is_open && self.has_open_composite(at) => {
                    return Err(self.consumer.cannot_say("parts of a part that are chosen at run time"));
                }
                Node::Memory(_) | Node::StackSlot(_) if from % 8 == 0 => {
                    self.loc_from(at, from)?;
                    0
                }
                _ => {
                    self.loc(at)?;
                    from
                }
            };
            self.piece(first, bits);
            is_open = true;
        }
        Ok(())
    }

    /// A procedure's parts, as parts of the composite that is being put together.
    fn parts_in_place(&mut self, procedure: ProcedureId, Leaf { from, bits, .. }: Leaf) -> Result<()> {
        let (tree, root) = self.procedure(procedure)?;
        let mut inner = self.inside(&tree)?;
        let mut leaves = Vec::new();
        let flat = flatten(&tree, root, from, bits, &mut leaves);
        flat.ok_or_else(|| inner.consumer.cannot_say("parts that are outside of each other"))?;
        inner.pieces(&leaves, true, true)?;
        inner.encoder.finish()
    }

    /// What a procedure says, and its root.
    fn procedure(&self, procedure: ProcedureId) -> Result<(Tree<'m>, At)> {
        let mut tree = Tree::default();
        let loc = self.module.procedures.get(procedure).ok_or_else(malformed)?.loc;
        let root = tree.read(self.module.nodes(loc)).ok_or_else(malformed)?;
        Ok((tree, root))
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
            encoder: self.encoder.again(),
            addresses: &mut *self.addresses,
            entries: self.entries,
            stack: self.stack,
            pending: &mut *self.pending,
            depth: self.depth + 1,
        })
    }

    /// An overlay whose place is known only at run time.
    fn composite_operation(&mut self, at: At) -> Result<()> {
        match self.tree.node(at) {
            Node::Overlay | Node::Offset(_) | Node::BitOffset(_) => self.loc(at),
            _ => Err(self.consumer.cannot_say("parts that are outside of each other")),
        }
    }

    fn piece(&mut self, from: i64, bits: u64) {
        if from == 0 && bits.is_multiple_of(8) {
            self.encoder.piece(bits / 8);
        } else {
            if from < 0 {
                self.bit_offset(from);
            }
            self.encoder.bit_piece(bits, from.max(0) as u64);
        }
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

    /// Whether the expression of a location puts parts together one by one.
    fn has_open_composite(&self, at: At) -> bool {
        self.opens_composite(self.tree, at, self.depth)
    }

    fn opens_composite(&self, tree: &Tree<'m>, at: At, depth: u32) -> bool {
        match tree.node(at) {
            Node::Parts(_) | Node::Overlay | Node::Expr(_) => true,
            Node::Read(bits) if !has_bytes(self.bits_of(tree, tree.last(at)), bits) => true,
            Node::Call(procedure) => match self.procedure(procedure) {
                Ok((tree, root)) => depth == MAX_DEPTH || self.opens_composite(&tree, root, depth + 1),
                Err(_) => true,
            },
            _ => tree.operands(at).iter().any(|&operand| self.opens_composite(tree, operand, depth)),
        }
    }

    // Numbers.

    /// A register of the width of an address, and a constant added to it.
    fn register_plus(&self, at: At) -> Option<(Reg, i64)> {
        match self.tree.node(at) {
            Node::ReadRegister(reg) => Some((reg, 0)),
            Node::Plus(by) => {
                let (reg, first) = self.register_plus(self.tree.last(at))?;
                Some((reg, first.checked_add(by)?))
            }
            _ => None,
        }
    }

    /// A number with a constant added.
    fn val_plus(&mut self, at: At, by: i64) -> Result<()> {
        match self.tree.node(at) {
            Node::Const(value) => {
                self.encoder.constu(value.wrapping_add_signed(by));
            }
            Node::Plus(first) if let Some(by) = first.checked_add(by) => {
                return self.val_plus(self.tree.last(at), by);
            }
            Node::ReadRegister(reg) if self.register(reg)?.bits == self.address_bits() => {
                self.encoder.bregx(reg, by);
            }
            _ => {
                self.val(at)?;
                self.plus(by);
            }
        }
        Ok(())
    }

    /// Writes operations that leave the number on top of the stack.
    fn val(&mut self, at: At) -> Result<()> {
        if let Some((reg, by)) = self.register_plus(at)
            && self.register(reg)?.bits == self.address_bits()
        {
            self.encoder.bregx(reg, by);
            return Ok(());
        }
        match self.tree.node(at) {
            Node::Const(value) => {
                self.encoder.constu(value);
            }
            Node::Address(symbol, by) => self.symbol(symbol, by, true),
            Node::Read(bits) => self.read(self.tree.last(at), bits)?,
            Node::ReadRegister(reg) => self.read_register(reg)?,
            Node::LaneIndex if !self.consumer.has_locations_on_the_stack() => return Err(self.not_plain(at)),
            Node::LaneIndex => {
                self.encoder.push_lane();
            }
            Node::Plus(by) => {
                self.val(self.tree.last(at))?;
                self.plus(by);
            }
            node => {
                if let Node::Neg | Node::Not = node {
                    self.val(self.tree.last(at))?;
                } else {
                    let (first, second) = self.tree.two(at);
                    self.val(first)?;
                    self.val(second)?;
                }
                if !arithmetic(&mut self.encoder, node) {
                    return Err(malformed());
                }
            }
        }
        Ok(())
    }

    /// An address that the linker fills in. One that the loader moves is an address to the consumer, any
    /// other a constant.
    fn symbol(&mut self, symbol: Symbol, by: i64, is_loaded: bool) {
        let index = self.addresses.index(AddressKey { symbol: Some(symbol.0.as_u32()), addend: by as u64 });
        if is_loaded {
            self.encoder.addrx(index);
        } else {
            self.encoder.constx(index);
        }
    }

    fn address_bits(&self) -> u32 {
        u32::from(self.module.target.address_bytes()) * 8
    }

    fn read_register(&mut self, reg: Reg) -> Result<()> {
        let bits = self.register(reg)?.bits;
        if bits == self.address_bits() {
            self.encoder.bregx(reg, 0);
        } else if self.consumer.has_locations_on_the_stack() {
            self.encoder.regx(reg).deref_size((bits / 8) as u8);
        } else {
            let Some(ty) = self.entries.unsigned(bits) else {
                return Err(self
                    .consumer
                    .cannot_say(format!("what register {} holds", self.register(reg)?.name())));
            };
            self.encoder.regval_type(reg, ty).convert(0);
        }
        Ok(())
    }

    fn read(&mut self, at: At, bits: u32) -> Result<()> {
        if !self.consumer.has_locations_on_the_stack() {
            return self.plain_read(at, bits);
        }
        self.loc(at)?;
        let bytes = bits.div_ceil(8);
        let is_whole = bits.is_multiple_of(8);
        let has_more = has_bytes(self.bits(at), bits);
        if !has_more {
            // No more than these bits: those behind them may not exist.
            self.encoder.bit_piece(bits.into(), 0).constu(0).stack_value();
            self.encoder.bit_piece((8 * bytes - bits).into(), 0).piece_end();
        }
        self.deref(bytes);
        if has_more && !is_whole {
            self.encoder.constu(u64::MAX >> (64 - bits)).and();
        }
        Ok(())
    }

    fn deref(&mut self, bytes: u32) {
        if bytes == self.address_bits() / 8 {
            self.encoder.deref();
        } else {
            self.encoder.deref_size(bytes as u8);
        }
    }

    fn expr(&mut self, id: crate::model::ExprId) -> Result<()> {
        let module = self.module;
        let (expr, entities) = module.expr(id);
        let start = self.encoder.position();
        self.encoder.raw(expr.bytes());
        for fixup in expr.fixups() {
            let entity = entities[fixup.slot.0 as usize];
            let at = start + fixup.offset as usize;
            let form = match fixup.kind {
                FixupKind::Entry { bytes } => RefForm::Unit(bytes),
                FixupKind::Type { bytes } => RefForm::UnitUleb(bytes),
                FixupKind::EntrySection => RefForm::Section,
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
            self.pending.push(Pending { at, form, entry });
        }
        Ok(())
    }

    // Plain DWARF 5.

    /// A whole expression.
    fn plain(&mut self, root: At, bits: Option<u64>) -> Result<()> {
        let size = bits.or_else(|| self.bits(root));
        let mut leaves = Vec::new();
        if let Some(size) = size {
            self.plain_leaves(root, 0, size, &mut leaves)?;
        } else {
            leaves.push(Leaf { at: root, from: 0, bits: 0 });
        }
        match leaves[..] {
            [Leaf { at, from, bits }] if self.is_simple(at, from) => self.simple(at, from, bits),
            _ if size.is_none() => Err(self.consumer.cannot_say("a part of something that has no size")),
            _ => {
                for leaf in leaves {
                    let from = self.simple_part(leaf)?;
                    if from == 0 && leaf.bits.is_multiple_of(8) {
                        self.encoder.piece(leaf.bits / 8);
                    } else {
                        self.encoder.bit_piece(leaf.bits, from);
                    }
                }
                Ok(())
            }
        }
    }

    fn plain_leaves(&self, at: At, from: i64, bits: u64, out: &mut Vec<Leaf>) -> Result<()> {
        let mut leaves = Vec::new();
        let outside = || self.consumer.cannot_say("parts that are outside of each other");
        flatten(self.tree, at, from, bits, &mut leaves).ok_or_else(outside)?;
        for leaf in leaves {
            match self.tree.node(leaf.at) {
                Node::Extend { bits, count } => {
                    for _ in 0..count {
                        if out.len() >= MAX_PARTS {
                            return Err(self.consumer.cannot_say("so many parts"));
                        }
                        self.plain_leaves(self.tree.last(leaf.at), 0, bits, out)?;
                    }
                }
                Node::Select { bits, .. } => {
                    let operands = self.tree.operands(leaf.at);
                    let mask = self.tree.constant(operands[2]);
                    let mask = mask.ok_or_else(|| self.consumer.cannot_say("a choice by a mask"))?;
                    let (mut from, end) = (leaf.from as u64, leaf.from as u64 + leaf.bits);
                    while from < end {
                        let element = from / bits;
                        let here = (bits - from % bits).min(end - from);
                        let chosen =
                            if element < 64 && mask >> element & 1 == 1 { operands[1] } else { operands[0] };
                        self.plain_leaves(chosen, from as i64, here, out)?;
                        from += here;
                    }
                }
                _ => out.push(leaf),
            }
        }
        Ok(())
    }

    /// Whether the location can stand alone, without a part that says where it begins.
    fn is_simple(&self, at: At, from: i64) -> bool {
        match self.tree.node(at) {
            Node::Lane(_, lane) => lane == 0 && from == 0,
            Node::Memory(_) | Node::OffsetBy => from % 8 == 0,
            _ => from == 0,
        }
    }

    fn simple(&mut self, at: At, from: i64, bits: u64) -> Result<()> {
        if matches!(self.tree.node(at), Node::Undefined) {
            return Ok(());
        }
        match self.simple_part(Leaf { at, from, bits })? {
            0 => {}
            // A procedure in place can begin anywhere.
            _ if bits == 0 => return Err(self.consumer.cannot_say("a part of something that has no size")),
            from => {
                self.encoder.bit_piece(bits, from);
            }
        }
        Ok(())
    }

    /// Writes where a part is, and gives the bit of it where the part begins.
    fn simple_part(&mut self, Leaf { at, from, bits }: Leaf) -> Result<u64> {
        let not_before = |from: i64| u64::try_from(from).map_err(|_| malformed());
        match self.tree.node(at) {
            Node::Register(reg) => {
                self.encoder.regx(reg);
                not_before(from)
            }
            Node::Lane(reg, lane) => {
                self.encoder.regx(reg);
                let first = i64::from(lane) * i64::from(self.register(reg)?.lane_bits());
                not_before(first + from)
            }
            Node::Memory(SpaceId::DEFAULT) => {
                self.val_plus(self.tree.last(at), from.div_euclid(8))?;
                Ok(from.rem_euclid(8) as u64)
            }
            Node::OffsetBy => {
                let (loc, by) = self.tree.two(at);
                self.plain_address(loc)?;
                self.val(by)?;
                self.encoder.plus();
                self.plus(from.div_euclid(8));
                Ok(from.rem_euclid(8) as u64)
            }
            Node::Implicit(bytes) => {
                self.encoder.implicit_value(bytes);
                not_before(from)
            }
            Node::Value => {
                self.val(self.tree.last(at))?;
                self.encoder.stack_value();
                not_before(from)
            }
            Node::PointerTo(variable, by) if from == 0 => {
                self.pointer_to(variable, by)?;
                Ok(0)
            }
            // No operation: a part that is nowhere.
            Node::Undefined => Ok(0),
            Node::Expr(id) if from == 0 => self.expr(id).map(|()| 0),
            Node::Call(procedure) => self.procedure_in_place(procedure, Leaf { at, from, bits }),
            _ => Err(self.not_plain(at)),
        }
    }

    /// DWARF 5 calls leave values, not locations, so what the procedure says is written in its place.
    fn procedure_in_place(&mut self, procedure: ProcedureId, leaf: Leaf) -> Result<u64> {
        let (tree, root) = self.procedure(procedure)?;
        let mut inner = self.inside(&tree)?;
        let mut leaves = Vec::new();
        // Where it is not said how many bits are wanted, they are all that the procedure says.
        let all = || inner.bits(root)?.checked_sub(u64::try_from(leaf.from).ok()?);
        match if leaf.bits == 0 { all() } else { Some(leaf.bits) } {
            Some(bits) => inner.plain_leaves(root, leaf.from, bits, &mut leaves)?,
            None => leaves.push(Leaf { at: root, ..leaf }),
        }
        match leaves[..] {
            [one] => {
                let from = inner.simple_part(Leaf { bits: leaf.bits, ..one })?;
                inner.encoder.finish()?;
                Ok(from)
            }
            _ => Err(self.consumer.cannot_say("a procedure that gives parts")),
        }
    }

    /// The address of a location in the default space.
    fn plain_address(&mut self, at: At) -> Result<()> {
        match self.tree.node(at) {
            Node::Memory(SpaceId::DEFAULT) => self.val(self.tree.last(at)),
            Node::Offset(_) | Node::BitOffset(_) => {
                let (place, bits) = self.moved_by(at);
                if bits % 8 != 0 || place == at {
                    return Err(self.consumer.cannot_say("bits at an offset known at run time"));
                }
                self.plain_address(place)?;
                self.plus(bits / 8);
                Ok(())
            }
            Node::OffsetBy => {
                let (loc, by) = self.tree.two(at);
                self.plain_address(loc)?;
                self.val(by)?;
                self.encoder.plus();
                Ok(())
            }
            Node::Memory(_) | Node::StackSlot(_) | Node::PerLane(_) => Err(self.not_plain(at)),
            _ => Err(self.consumer.cannot_say("an offset known at run time into what is not in memory")),
        }
    }

    #[cold]
    fn not_plain(&self, at: At) -> Error {
        let what = match self.tree.node(at) {
            Node::PerLane(_) => "one lane of a register, chosen by who asks".into(),
            Node::StackSlot(_) => "memory in space private_lane".into(),
            Node::Memory(space) => match self.module.target.space(space) {
                Some(space) => format!("memory in space {}", space.name),
                None => "memory in a space".into(),
            },
            Node::Expr(_) => "a part of what a raw expression says".into(),
            Node::OffsetBy | Node::BitOffsetBy => "an offset known at run time".into(),
            Node::Overlay => "an overlay whose place is known at run time".into(),
            Node::LaneIndex => "the lane that asks".into(),
            Node::PointerTo(..) => "a part of a pointer that does not exist".into(),
            node => format!("{node:?}"),
        };
        self.consumer.cannot_say(what)
    }

    /// The number in the first bits of a location: each part read by itself, shifted to its place.
    fn plain_read(&mut self, at: At, bits: u32) -> Result<()> {
        let mut leaves = Vec::new();
        self.plain_leaves(at, 0, bits.into(), &mut leaves)?;
        let mut done = 0;
        for leaf in leaves {
            let (first, has) = self.plain_read_leaf(leaf)?;
            if first > 0 {
                self.encoder.constu(first).shr();
            }
            if first + leaf.bits < has {
                self.encoder.constu(u64::MAX >> (64 - leaf.bits)).and();
            }
            if done > 0 {
                self.encoder.constu(done).shl().or();
            }
            done += leaf.bits;
        }
        Ok(())
    }

    /// Whether each lane has its own memory of the space: which is meant, plain DWARF 5 does not know.
    fn is_of_lanes(&self, space: SpaceId) -> bool {
        self.module.target.space(space).is_some_and(|space| space.per == Per::Lane)
    }

    /// Writes a number that has the part in it; gives the part's first bit and how many bits of the number
    /// may be set.
    fn plain_read_leaf(&mut self, Leaf { at, from, bits }: Leaf) -> Result<(u64, u64)> {
        match self.tree.node(at) {
            Node::Register(reg) if self.register(reg)?.bits <= 64 => {
                self.read_register(reg)?;
                Ok((from as u64, self.register(reg)?.bits.into()))
            }
            Node::Memory(space) if self.is_of_lanes(space) => Err(self.not_plain(at)),
            Node::Memory(space) => {
                let (first, bytes) =
                    (from.rem_euclid(8) as u64, (from.rem_euclid(8) as u64 + bits).div_ceil(8));
                if bytes > self.address_bits() as u64 / 8 {
                    return Err(self
                        .consumer
                        .cannot_say("more bytes of memory than an address has, at once"));
                }
                if space != SpaceId::DEFAULT {
                    self.encoder.constu(space.0.into());
                }
                self.val(self.tree.last(at))?;
                self.plus(from.div_euclid(8));
                if space == SpaceId::DEFAULT {
                    self.deref(bytes as u32);
                } else {
                    self.encoder.xderef_size(bytes as u8);
                }
                Ok((first, 8 * bytes))
            }
            Node::Implicit(bytes) => {
                let from = from as usize;
                let bit = |index: usize| u64::from(bytes[index / 8] >> (index % 8) & 1);
                let inside = from + bits as usize <= 8 * bytes.len();
                let value = inside
                    .then(|| (0..bits as usize).fold(0, |value, index| value | bit(from + index) << index));
                self.encoder.constu(value.ok_or_else(malformed)?);
                Ok((0, bits))
            }
            Node::Value => {
                self.val(self.tree.last(at))?;
                Ok((from as u64, 64))
            }
            Node::Lane(reg, _) | Node::Register(reg) => {
                let name = self.register(reg)?.name();
                Err(self.consumer.cannot_say(format!("a number in a part of register {name}")))
            }
            _ => Err(self.not_plain(at)),
        }
    }
}
