//! Lowering locations to expressions.
//!
//! The consumer's stack decides: in [`on_stack`], locations are stack elements; in [`dwarf5`], only the end of an
//! expression is a location. [`numbers`] are the same in both.
//!
//! [`Lowering::lower`] is the start. It copies the bytes of a location that recurs ([`memo`]), or [`linear`] writes them in
//! one pass over the nodes. Otherwise the nodes become a tree, which `on_stack` or `dwarf5` encodes with the
//! [`expression`] writer. For a consumer that reads only some operations, [`operations`] then replaces the rest, or returns
//! an error that becomes an omission. [`shared`] finds subexpressions that become procedures.

mod called;
mod constants;
mod dwarf5;
mod expression;
mod fragments;
mod linear;
mod mapped;
mod memo;
mod numbers;
mod on_stack;
mod operations;
mod shared;
#[cfg(test)]
mod tests;

pub(super) use expression::{Entries, Facts, NoEntries, References};
pub(super) use memo::{Key, Memo, append};
pub(super) use operations::Extent;
pub(super) use shared::Part;

use crate::consumer::{Consumer, Operations};
use crate::error::Result;
use crate::model::{LocId, Module, Node, Nodes, Stack, Tree};
use crate::op::{Encoder, Encoding};
use crate::target::SpaceId;
use called::Called;
use dwarf5::Dwarf5;
use expression::{Context, ExpressionWriter, Operands, malformed};
use linear::Linear;
use numbers::Read;
use on_stack::{Follows, OnStack};
use operations::restrict;
use shared::{At, Shared};

/// Lowering for locations, one after the other.
pub(super) struct Lowering<'m> {
    pub(super) module: &'m Module,
    consumer: &'m Consumer,
    encoding: Encoding,
    linear: Linear<'m>,
    /// Expressions that were lowered earlier, for the same module and consumer.
    pub(super) memo: Memo,
    tree: Tree<'m>,
    /// Subexpressions with procedures.
    shared: Shared,
    hashes: Vec<u64>,
    /// Whether the consumer reads only some operations.
    is_restricted: bool,
    /// Whether the expressions are in call frame information, which refers to no other section.
    is_call_frame: bool,
    called: Called,
}

/// Kind of expression.
#[derive(Clone, Copy)]
enum Request {
    /// Location.
    Location { bits: Option<u64>, follows: Follows },
    /// A value's number.
    Number,
    /// A saved register's location, with the canonical frame address on the initial stack.
    Saved,
    /// A saved register's number, with the same initial stack.
    SavedNumber,
    /// Number in a location's first bits.
    Read(u32),
}

/// Expression output, with its context.
pub(super) struct Sink<'a> {
    pub(super) out: &'a mut Vec<u8>,
    pub(super) references: References<'a>,
    pub(super) entries: &'a dyn Entries,
    pub(super) stack: Stack,
    pub(super) extent: Extent,
}

impl<'m> Lowering<'m> {
    pub(super) fn new(module: &'m Module, consumer: &'m Consumer) -> Self {
        let mut encoding = consumer.encoding_on(&module.target);
        if consumer.expressions.operations != Operations::All {
            // The consumer's list decides which operations are written, whatever version introduced them.
            encoding.version = encoding.version.max(4);
        }
        Self {
            module,
            consumer,
            encoding,
            linear: Linear {
                module,
                encoding,
                address_bits: u32::from(module.target.address_bytes()) * 8,
                has_places: consumer.has_locations_on_the_stack(),
            },
            memo: Memo::default(),
            tree: Tree::default(),
            shared: Shared::default(),
            hashes: Vec::new(),
            is_restricted: consumer.expressions.operations != Operations::All
                || consumer.attributes.variable_space.is_some()
                || !consumer.expressions.has_registers_at_all_pcs,
            is_call_frame: false,
            called: Called::default(),
        }
    }

    /// Makes the expressions fit call frame information, which refers to no other section: A.6.4.2.
    pub(super) fn for_call_frames(mut self) -> Self {
        self.is_call_frame = true;
        self
    }

    /// Appends the expression for the location in which a caller's register is saved.
    ///
    /// # Errors
    /// The errors of [`lower`](Self::lower).
    pub(super) fn saved(&mut self, loc: LocId, sink: &mut Sink<'_>) -> Result<()> {
        self.lower_tree(self.module.nodes(loc), Request::Saved, sink)
    }

    /// Appends the expression for the number in a caller's register.
    ///
    /// # Errors
    /// The errors of [`lower`](Self::lower).
    pub(super) fn saved_number(&mut self, loc: LocId, sink: &mut Sink<'_>) -> Result<()> {
        self.lower_tree(self.module.nodes(loc), Request::SavedNumber, sink)
    }

    /// Appends a procedure's expression, after which the operations of its caller continue.
    ///
    /// # Errors
    /// The errors of [`lower`](Self::lower).
    pub(super) fn procedure(&mut self, loc: LocId, sink: &mut Sink<'_>) -> Result<()> {
        let request = Request::Location { bits: None, follows: Follows::Operations };
        self.lower_tree(self.module.nodes(loc), request, sink)
    }

    /// Appends a location's expression. `bits` is the object's size, if it is known.
    ///
    /// # Errors
    /// [`ErrorKind::Inexpressible`]; the caller discards the bytes and the references that were appended.
    pub(super) fn lower(&mut self, loc: LocId, bits: Option<u64>, sink: &mut Sink<'_>) -> Result<()> {
        // Memory at a register plus a constant is the most frequent location, and takes less time to write than to look
        // up.
        if self.is_direct(bits)
            && let Some((reg, by)) = self.module.nodes(loc).memory_at_register()
            && self.linear.holds_address(reg)
        {
            Encoder::new(sink.out, self.encoding).bregx(reg, by);
            return Ok(());
        }
        let key = self.key(bits, sink.stack);
        if let Some(key) = key
            && let Some(&[len, ref expression @ ..]) = self.memo.get(loc, key)
        {
            let end = sink.out.len() + usize::from(len);
            sink.out.extend_from_slice(expression);
            sink.out.truncate(end);
            return Ok(());
        }
        self.lower_anew(loc, bits, key, sink)
    }

    /// Key for an object's expressions, where they are remembered.
    #[inline]
    pub(super) fn key(&self, bits: Option<u64>, stack: Stack) -> Option<Key> {
        if self.is_direct(bits) { Key::new(bits, stack) } else { None }
    }

    /// Whether the expression for an object with `bits` bits may need no tree.
    #[inline]
    fn is_direct(&self, bits: Option<u64>) -> bool {
        !self.is_restricted && bits != Some(0)
    }

    /// Appends an expression as [`lower`](Self::lower) does, and remembers it.
    pub(super) fn lower_anew(
        &mut self,
        loc: LocId,
        bits: Option<u64>,
        key: Option<Key>,
        sink: &mut Sink<'_>,
    ) -> Result<()> {
        let nodes = self.module.nodes(loc);
        let is_small = nodes.at_most() < shared::WORDS;
        let start = sink.out.len();
        if let Some(key) = key
            && (is_small || self.shared.is_empty())
            && self.linear.write(nodes.clone(), bits, sink.stack, sink.out)
        {
            // A large expression is not remembered, because it becomes a call once its subexpressions have procedures.
            if is_small {
                self.memo.add(loc, key, &nodes, &sink.out[start..], self.module.locs.word_count());
            }
            return Ok(());
        }
        self.lower_tree(nodes, Request::Location { bits, follows: Follows::End }, sink)
    }

    /// Appends the expression for a [value's](crate::model::Loc::value) number. The expression leaves the number on the
    /// stack, without `stack_value`.
    ///
    /// # Errors
    /// The errors of [`lower`](Self::lower).
    pub(super) fn number(&mut self, loc: LocId, sink: &mut Sink<'_>) -> Result<()> {
        self.lower_tree(self.module.nodes(loc), Request::Number, sink)
    }

    /// Appends the expression for the number in a location's first `bits` bits.
    ///
    /// # Errors
    /// The errors of [`lower`](Self::lower).
    pub(super) fn read(&mut self, loc: LocId, bits: u32, sink: &mut Sink<'_>) -> Result<()> {
        self.lower_tree(self.module.nodes(loc), Request::Read(bits), sink)
    }

    /// Appends an expression in which an operation depends on more than its node and the next one.
    fn lower_tree(&mut self, nodes: Nodes<'m>, request: Request, sink: &mut Sink<'_>) -> Result<()> {
        let root = self.tree.read(nodes).ok_or_else(malformed)?;
        // Hashes are needed only once a subexpression may have a procedure.
        if !self.shared.is_empty() {
            self.shared.hashes(&self.tree, &mut self.hashes);
        }
        let start = sink.out.len();
        let first_pending = sink.references.pending.len();
        let facts = *sink.references.facts;
        let mut written = self.write_tree(root, request, sink);
        if written.is_ok() && self.is_restricted {
            let pending = &mut sink.references.pending[first_pending..];
            let expression = (start, &mut *sink.out);
            let consumer = self.consumer;
            let target = &self.module.target;
            written = restrict(consumer, target, self.encoding, sink.extent, pending, expression);
        }
        if written.is_err() {
            // The facts describe only the locations that the entry contains.
            *sink.references.facts = facts;
        }
        written
    }

    #[inline]
    fn write_tree(&mut self, root: usize, request: Request, sink: &mut Sink<'_>) -> Result<()> {
        let mut out = self.writer(sink);
        let is_on_stack = out.context.consumer.has_locations_on_the_stack();
        let tree = out.tree;
        if let Request::Saved | Request::SavedNumber = request {
            let uses = tree.subtree(root).filter(|node| *node == Node::Cfa).count() as u32;
            out.operands.cfa_uses = Some(uses);
        }
        match (request, tree.node(root)) {
            (Request::Number, Node::Value) => number(&mut out, tree.last(root))?,
            (Request::Number, _) => return Err(malformed()),
            (Request::SavedNumber, _) => number(&mut out, tree.last(root))?,
            (Request::Saved, _) if is_on_stack => on_stack::write(&mut out, root, None, Follows::End)?,
            (Request::Saved, _) => dwarf5::write_saved(&mut out, root)?,
            // Bits beyond the mask's do not matter.
            (Request::Read(_), Node::Value) => number(&mut out, tree.last(root))?,
            (Request::Read(bits), _) if is_on_stack => OnStack::read(&mut out, root, bits, SpaceId::DEFAULT)?,
            (Request::Read(bits), _) => Dwarf5::read(&mut out, root, bits, SpaceId::DEFAULT)?,
            (Request::Location { .. }, _) if out.call_shared(root) => {}
            (Request::Location { bits, .. }, _) if !is_on_stack => dwarf5::write(&mut out, root, bits)?,
            // An empty expression is an undefined location.
            (Request::Location { follows: Follows::End, .. }, Node::Undefined) => {}
            (Request::Location { bits, follows }, _) => on_stack::write(&mut out, root, bits, follows)?,
        }
        out.finish()
    }

    /// Writer for the tree that was read last.
    fn writer<'l>(&'l mut self, sink: &'l mut Sink<'_>) -> ExpressionWriter<'l, 'm> {
        let context = Context {
            module: self.module,
            consumer: self.consumer,
            entries: sink.entries,
            stack: sink.stack,
            is_call_frame: self.is_call_frame,
            called: &self.called,
        };
        ExpressionWriter {
            context,
            tree: &self.tree,
            shared: (!self.shared.is_empty()).then_some((&self.shared, &self.hashes)),
            start: sink.out.len(),
            encoder: Encoder::new(sink.out, self.encoding),
            references: sink.references.reborrow(),
            depth: 0,
            operands: Operands::default(),
        }
    }

    /// Whether any location is large enough for subexpressions worth a call.
    pub(super) fn may_repeat(&self) -> bool {
        self.module.locs.at_most() >= shared::WORDS
    }

    /// Counts a location's subexpressions, for [`repeated`](Self::repeated).
    pub(super) fn count(&mut self, loc: LocId) {
        let has_places = self.consumer.has_locations_on_the_stack();
        let is_wanted = |node: Node<'_>| match node {
            Node::Part(_) => false,
            _ => has_places || node.is_number(),
        };
        self.shared.count(self.module, loc, &mut self.tree, &mut self.hashes, is_wanted);
    }

    /// Returns the subexpressions that recur in counted locations, the largest first.
    pub(super) fn repeated(&mut self) -> Vec<Part> {
        self.shared.repeated()
    }

    /// Decides whether a subexpression becomes a procedure: it has at least `from_bytes` bytes, and the output gets
    /// smaller.
    pub(super) fn choose(&mut self, part: &Part, from_bytes: u32, sink: &mut Sink<'_>) -> bool {
        let times = self.shared.times(part);
        let start = sink.out.len();
        let is_encoded = times > 1 && self.part(part, sink).is_ok();
        let bytes = (sink.out.len() - start) as u64;
        // The bytes were needed only to measure the part.
        sink.out.truncate(start);
        sink.references.pending.clear();
        // A call takes up to five bytes; the entry takes its code and the expression's length.
        if !is_encoded || bytes < from_bytes.into() || 5 * times + bytes + 2 >= bytes * times {
            self.shared.forget(part);
            return false;
        }
        // The part's hashes are still there.
        self.shared.choose(part, &self.hashes);
        true
    }

    /// Appends the expression for a subexpression that becomes a procedure.
    ///
    /// # Errors
    /// The errors of [`lower`](Self::lower).
    pub(super) fn part(&mut self, part: &Part, sink: &mut Sink<'_>) -> Result<()> {
        let root = self.tree.read_part(part.nodes(self.module)).ok_or_else(malformed)?;
        self.shared.hashes(&self.tree, &mut self.hashes);
        let mut out = self.writer(sink);
        match out.tree.node(root) {
            node if node.is_number() => number(&mut out, root)?,
            _ => on_stack::write(&mut out, root, None, Follows::Operations)?,
        }
        out.finish()
    }

    /// Records the unit offset of a subexpression's procedure.
    pub(super) fn settle(&mut self, part: &Part, entry: u64) {
        self.shared.settle(part, entry);
    }
}

/// Writes operations that leave a number on top of the stack.
fn number(out: &mut ExpressionWriter<'_, '_>, at: At) -> Result<()> {
    if out.context.consumer.has_locations_on_the_stack() {
        numbers::val::<OnStack>(out, at, SpaceId::DEFAULT)
    } else {
        numbers::val::<Dwarf5>(out, at, SpaceId::DEFAULT)
    }
}
