//! Terms: nodes with their operands, each stored once.

use hashbrown::DefaultHashBuilder;
use indexmap::IndexMap;
use smallvec::SmallVec;

use super::context::Result;
use super::untyped::{Untyped, UntypedReason};
use crate::model::Node;
use crate::target::Target;

/// Index of a term. Operands have smaller indices than the terms that take them.
pub(super) type TermId = u32;

/// Operands of a term: few, except for the parts of a composite.
pub(super) type Operands = SmallVec<[TermId; 3]>;

/// A node, or what becomes a node once its use is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind<'a> {
    Node(Node<'a>),
    /// An address in the file, before the loader's relocation. `operand` is its byte offset in the expression.
    FileAddress {
        address: u64,
        operand: usize,
    },
}

/// A kind with its operands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Term<'a> {
    pub(super) kind: Kind<'a>,
    pub(super) operands: Operands,
}

/// What a term's tree has.
#[derive(Debug, Clone, Copy)]
struct Measure {
    /// Number of nodes, up to the maximum.
    nodes: u32,
    levels: u32,
    /// Number of low bits that may be set in a number.
    bits: u32,
}

/// Maximum depth of terms, over which functions recurse.
const MAX_DEPTH: u32 = 200;

/// Maximum number of terms, which bounds the memory.
const MAX_TERMS: usize = 1 << 16;

/// All terms of an expression.
#[derive(Debug)]
pub(super) struct Terms<'a> {
    pub(super) target: &'a Target,
    all: IndexMap<Term<'a>, Measure, DefaultHashBuilder>,
}

impl<'a> Terms<'a> {
    pub(super) fn new(target: &'a Target) -> Self {
        Self { target, all: IndexMap::default() }
    }

    /// Returns the term of a node with operands.
    ///
    /// # Errors
    /// [`UntypedReason::TooLarge`].
    pub(super) fn node(&mut self, node: Node<'a>, operands: &[TermId]) -> Result<TermId> {
        self.add(Term { kind: Kind::Node(node), operands: operands.into() })
    }

    pub(super) fn add(&mut self, term: Term<'a>) -> Result<TermId> {
        if let Some(known) = self.all.get_index_of(&term) {
            return Ok(known as TermId);
        }
        let measure = self.measure(&term);
        if measure.levels > MAX_DEPTH || self.all.len() >= MAX_TERMS {
            return Err(UntypedReason::TooLarge.into());
        }
        Ok(self.all.insert_full(term, measure).0 as TermId)
    }

    fn measure(&self, term: &Term<'_>) -> Measure {
        let mut measure = Measure { nodes: 1, levels: 1, bits: self.number_bits(term) };
        for &operand in &term.operands {
            let operand = self.measured(operand);
            measure.nodes = measure.nodes.saturating_add(operand.nodes);
            measure.levels = measure.levels.max(operand.levels + 1);
        }
        measure
    }

    /// Returns how many low bits of the number may be set.
    fn number_bits(&self, term: &Term<'_>) -> u32 {
        let operand = |index: usize| self.bits(term.operands[index]);
        let Kind::Node(node) = term.kind else { return 64 };
        match node {
            Node::Const(value) => 64 - value.leading_zeros(),
            Node::Read(bits) => bits.min(64),
            Node::ReadRegister(reg) | Node::EntryRegister(reg) => {
                self.target.register(reg).map_or(64, |register| register.bits.min(64))
            }
            Node::AddressOf => u32::from(self.target.address_bytes()) * 8,
            Node::LaneIndex => 32,
            Node::And => operand(0).min(operand(1)),
            Node::Or | Node::Xor | Node::If => operand(0).max(operand(1)),
            Node::Shr => match self.constant(term.operands[1]) {
                Some(by) => operand(0).saturating_sub(u32::try_from(by).unwrap_or(64)),
                None => operand(0),
            },
            Node::Shra if operand(0) < 64 => operand(0),
            Node::Mod => operand(0),
            Node::Eq | Node::Ne | Node::Lt | Node::Le => 1,
            _ => 64,
        }
    }

    fn measured(&self, id: TermId) -> Measure {
        let measured = self.all.get_index(id as usize).map(|(_, measure)| *measure);
        measured.unwrap_or(Measure { nodes: 1, levels: 1, bits: 64 })
    }

    /// Returns how many low bits of a number may be set.
    pub(super) fn bits(&self, id: TermId) -> u32 {
        self.measured(id).bits
    }

    /// Returns how many nodes a term's tree has, and how many levels.
    pub(super) fn size(&self, id: TermId) -> (u32, u32) {
        let Measure { nodes, levels, .. } = self.measured(id);
        (nodes, levels)
    }

    pub(super) fn len(&self) -> TermId {
        self.all.len() as TermId
    }

    pub(super) fn kind(&self, id: TermId) -> Kind<'a> {
        self.all.get_index(id as usize).map_or(Kind::Node(Node::Undefined), |(term, _)| term.kind)
    }

    /// Returns a term's node; `None` if it is not a node yet.
    pub(super) fn node_of(&self, id: TermId) -> Option<Node<'a>> {
        match self.kind(id) {
            Kind::Node(node) => Some(node),
            Kind::FileAddress { .. } => None,
        }
    }

    pub(super) fn operands(&self, id: TermId) -> &[TermId] {
        self.all.get_index(id as usize).map_or(&[], |(term, _)| &term.operands)
    }

    /// Returns a term's operand, which the node has.
    pub(super) fn operand(&self, id: TermId, index: usize) -> TermId {
        self.operands(id).get(index).copied().unwrap_or(0)
    }

    /// Returns a constant number's value.
    pub(super) fn constant(&self, id: TermId) -> Option<u64> {
        match self.kind(id) {
            Kind::Node(Node::Const(value)) => Some(value),
            _ => None,
        }
    }

    /// Whether the operation that made the term can fail on some machine, although its operands did not.
    pub(super) fn can_fail(&self, id: TermId) -> bool {
        match self.kind(id) {
            Kind::FileAddress { .. } => false,
            Kind::Node(node) => !is_infallible(&node),
        }
    }

    /// Returns the first term that can fail and on which none of the roots depends. `also` returns a further operand.
    pub(super) fn unused(&self, roots: &[TermId], also: impl Fn(TermId) -> Option<TermId>) -> Option<TermId> {
        let mut is_used = vec![false; self.all.len()];
        let mut next = roots.to_vec();
        while let Some(id) = next.pop() {
            let Some(used) = is_used.get_mut(id as usize) else { continue };
            if !core::mem::replace(used, true) {
                next.extend_from_slice(self.operands(id));
                next.extend(also(id));
            }
        }
        // All slots of a frame need the same frame.
        let is_slot = |id: TermId| matches!(self.kind(id), Kind::Node(Node::StackAddress(_)));
        let has_slot = (0..self.len()).any(|id| is_used[id as usize] && is_slot(id));
        (0..self.len()).find(|&id| !is_used[id as usize] && self.can_fail(id) && !(has_slot && is_slot(id)))
    }
}

/// Whether the operation that makes a node never fails.
fn is_infallible(node: &Node<'_>) -> bool {
    match node {
        Node::Const(_) | Node::Address(..) | Node::LinkAddress(_) | Node::Call(_) => true,
        Node::Register(_) | Node::Implicit(_) | Node::Undefined | Node::PointerTo(..) => true,
        Node::Value | Node::Memory(_) => true,
        Node::Div | Node::Mod | Node::AddressOf => false,
        // Arithmetic on numbers that have a value.
        _ => node.is_number() && !node.sorts().1.is_empty() && !matches!(node, Node::Read(_)),
    }
}

/// Error for an evaluation that always fails.
pub(super) fn fault(why: &'static str) -> Untyped {
    UntypedReason::Fault(why).into()
}
