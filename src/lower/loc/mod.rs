//! Locations to expressions.
//!
//! There are two ways, by what the consumer's stack holds: [`on_stack`], where locations are elements of it,
//! and [`dwarf5`], where they are the end of an expression. [`numbers`] are the same for both.

mod call_frame;
mod dwarf5;
mod expression;
mod fragments;
mod linear;
mod numbers;
mod on_stack;
mod shared;

pub(super) use shared::Part;

use crate::consumer::Consumer;
use crate::emit::addr::Addresses;
use crate::emit::info::{Pending, UnitEntry};
use crate::error::{Error, Result};
use crate::model::{Entity, LocId, Module, Node, Nodes, ProcedureId, Stack, Tree};
use crate::op::{Encoder, Encoding};
use crate::target::SpaceId;
use expression::{Context, ExpressionWriter, Operands, References};
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
    fn has_expression(&self, procedure: ProcedureId) -> bool;
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
    is_call_frame: bool,
}

/// What is written of a location.
#[derive(Clone, Copy)]
enum Request {
    /// The location.
    Location { bits: Option<u64>, is_called: bool },
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
            is_call_frame: false,
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
        if bits != Some(0) && is_alone && self.linear(nodes.clone(), sink.out) {
            return Ok(());
        }
        self.by_tree(nodes, Request::Location { bits, is_called }, sink)
    }

    /// Appends the expression of the number that a [value](crate::model::Loc::value) is: it leaves that on the
    /// stack, and says nothing of a location.
    ///
    /// # Errors
    /// As [`lower`](Self::lower).
    pub(super) fn number(&mut self, loc: LocId, sink: &mut Sink<'_>) -> Result<()> {
        self.by_tree(self.module.nodes(loc), Request::Number, sink)
    }

    /// Appends the expression of the number that the first `bits` bits of a location hold.
    ///
    /// # Errors
    /// As [`lower`](Self::lower).
    pub(super) fn read(&mut self, loc: LocId, bits: u32, sink: &mut Sink<'_>) -> Result<()> {
        self.by_tree(self.module.nodes(loc), Request::Read(bits), sink)
    }

    /// The same, where an operation depends on more than the node and the one that follows.
    #[inline(never)]
    fn by_tree(&mut self, nodes: Nodes<'m>, what: Request, sink: &mut Sink<'_>) -> Result<()> {
        let root = self.tree.read(nodes).ok_or_else(malformed)?;
        if !self.shared.is_empty() {
            self.shared.hashes(&self.tree, &mut self.hashes);
        }
        let mut one = self.writer(sink);
        let has_places = one.context.consumer.has_locations_on_the_stack();
        match (what, one.tree.node(root)) {
            (Request::Number, Node::Value) => one.val(one.tree.last(root))?,
            (Request::Number, _) => return Err(malformed()),
            (Request::Saved { uses, is_number }, _) => one.saved(root, uses, is_number)?,
            // More bits than a mask has do no harm.
            (Request::Read(_), Node::Value) => one.val(one.tree.last(root))?,
            (Request::Read(bits), _) => one.read(root, bits)?,
            (Request::Location { .. }, _) if one.call_shared(root) => {}
            (Request::Location { bits, .. }, _) if !has_places => one.dwarf5(root, bits)?,
            // An empty expression is a location that is nowhere.
            (Request::Location { is_called: false, .. }, Node::Undefined) => {}
            (Request::Location { bits, is_called }, _) if one.is_composite(root) => {
                one.parts(root, bits, !is_called)?;
            }
            (Request::Location { .. }, _) => one.loc(root)?,
        }
        one.finish()
    }

    /// What writes the tree that was read last.
    fn writer<'l>(&'l mut self, sink: &'l mut Sink<'_>) -> ExpressionWriter<'l, 'm> {
        let context = Context {
            module: self.module,
            consumer: self.consumer,
            entries: sink.entries,
            stack: sink.stack,
            is_call_frame: self.is_call_frame,
        };
        ExpressionWriter {
            context,
            tree: &self.tree,
            shared: (!self.shared.is_empty()).then_some((&self.shared, &self.hashes)),
            encoder: Encoder::new(sink.out, self.encoding),
            references: References {
                addresses: sink.addresses,
                pending: &mut self.pending,
                has_address: &mut self.has_address,
            },
            depth: 0,
            space: SpaceId::DEFAULT,
            operands: Operands::default(),
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
        let mut one = self.writer(sink);
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

#[cold]
fn malformed() -> Error {
    Error::bad_argument("the nodes form no location, or its offsets add up to more than 63 bits")
}

#[cold]
fn nameless() -> Error {
    Error::bad_argument("the location refers to what it cannot name without a module")
}
