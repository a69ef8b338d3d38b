//! Locations, live ranges and rows as JSON.

use serde::ser::{Error, SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use super::ids::Known;
use super::statement::{EntityRef, Expression, Filled, Fixup, RowFacts};
use super::words::{Bytes, HexOf, Number, Signed};
use crate::model::{Entity, ExprId, LocId, Mask, Node, Row, Tree};
use crate::op::{FixupKind, Reg};

/// Where a variable is by pc.
#[derive(Debug, Clone, Copy)]
pub(in crate::json) struct Live<'m> {
    pub known: &'m Known<'m>,
    pub live: &'m [crate::model::Live],
}

/// Where a mask of lanes is by pc.
#[derive(Debug, Clone, Copy)]
pub(in crate::json) struct Masks<'m> {
    pub known: &'m Known<'m>,
    pub masks: &'m [Mask],
}

/// The rows of a function.
#[derive(Debug, Clone, Copy)]
pub(in crate::json) struct Rows<'m> {
    pub known: &'m Known<'m>,
    pub rows: &'m [Row],
}

/// A location.
#[derive(Debug, Clone, Copy)]
pub(in crate::json) struct Place<'m> {
    pub known: &'m Known<'m>,
    pub loc: LocId,
}

impl Serialize for Live<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.live.iter().map(|live| {
            let pcs = live.pcs();
            (Number(pcs.start), Number(pcs.end), Place { known: self.known, loc: live.loc })
        }))
    }
}

impl Serialize for Masks<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.masks.iter().map(|mask| {
            let pcs = mask.pcs();
            (Number(pcs.start), Number(pcs.end), Place { known: self.known, loc: mask.loc })
        }))
    }
}

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut seq = to.serialize_seq(Some(self.rows.len()))?;
        for row in self.rows {
            let facts = RowFacts {
                discriminator: row.discriminator,
                not_stmt: !row.is_stmt,
                prologue_end: row.is_prologue_end,
                epilogue_begin: row.is_epilogue_begin,
            };
            let line = (Number(row.pc), self.known.file_ref(row.file), row.line);
            match (row.column, facts == RowFacts::default()) {
                (0, true) => seq.serialize_element(&line)?,
                (column, true) => seq.serialize_element(&(line.0, line.1, line.2, column))?,
                (column, false) => seq.serialize_element(&(line.0, line.1, line.2, column, facts))?,
            }
        }
        seq.end()
    }
}

impl Serialize for Place<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut tree = Tree::default();
        let nodes = self.known.module.nodes(self.loc);
        let at = tree.read(nodes).ok_or_else(|| S::Error::custom("a location that is no tree"))?;
        At { known: self.known, tree: &tree, at }.serialize(to)
    }
}

impl<'m> Place<'m> {
    /// What a location that is a raw expression says.
    pub fn expression(&self) -> Option<Expression<'m>> {
        match self.known.module.nodes(self.loc).next() {
            Some(Node::Expr(expr)) => Some(expression(self.known, expr)),
            _ => None,
        }
    }
}

/// The number that a location of no storage is.
#[derive(Debug, Clone, Copy)]
pub(in crate::json) struct NumberAt<'m>(pub Place<'m>);

impl Serialize for NumberAt<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (known, mut tree) = (self.0.known, Tree::default());
        match tree.read(known.module.nodes(self.0.loc)) {
            Some(at) if tree.node(at) == Node::Value => {
                At { known, tree: &tree, at: tree.last(at) }.serialize(to)
            }
            _ => Err(S::Error::custom("a number that is none")),
        }
    }
}

/// A node with its operands.
#[derive(Clone, Copy)]
struct At<'t, 'm> {
    known: &'m Known<'m>,
    tree: &'t Tree<'m>,
    at: usize,
}

/// An object of one key.
fn one<S: Serializer>(to: S, key: &str, value: impl Serialize) -> Result<S::Ok, S::Error> {
    let mut map = to.serialize_map(Some(1))?;
    map.serialize_entry(key, &value)?;
    map.end()
}

impl Serialize for At<'_, '_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let &Self { known, tree, at } = self;
        let node = |at| Self { at, ..*self };
        let last = || node(tree.last(at));
        let two = || {
            let (first, second) = tree.two(at);
            (node(first), node(second))
        };
        match tree.node(at) {
            Node::Register(reg) if is_vector(known, reg) => one(to, "whole", known.register(reg)),
            Node::Register(reg) | Node::ReadRegister(reg) => one(to, "register", known.register(reg)),
            Node::EntryRegister(reg) => one(to, "entry_value", known.register(reg)),
            Node::Lane(reg, lane) => one(to, "lane", (known.register(reg), lane)),
            Node::PerLane(reg) => one(to, "per_lane", known.register(reg)),
            Node::Memory(space) => one(to, "memory", (known.space(space), last())),
            Node::Offset(bytes) => one(to, "offset", (last(), Signed(bytes))),
            Node::BitOffset(bits) => one(to, "bit_offset", (last(), Signed(bits))),
            Node::OffsetBy => one(to, "offset_by", two()),
            Node::BitOffsetBy => one(to, "bit_offset_by", two()),
            Node::Part(bits) => (last(), Number(bits)).serialize(to),
            Node::Parts(_) => {
                let parts: Vec<_> = tree.operands(at).into_iter().map(node).collect();
                one(to, "parts", parts)
            }
            Node::Overlay => {
                let operands: Vec<_> = tree.operands(at).into_iter().map(node).collect();
                one(to, "overlay", operands)
            }
            Node::Select { bits, count } => {
                let operands = tree.operands(at);
                let [zero, one_, mask] = operands[..] else {
                    return Err(S::Error::custom("a choice without its operands"));
                };
                one(to, "select", (node(mask), node(zero), node(one_), Number(bits), Number(count)))
            }
            Node::Extend { bits, count } => one(to, "extend", (last(), Number(bits), Number(count))),
            Node::Implicit(bytes) => one(to, "implicit", HexOf(bytes)),
            Node::Value => one(to, "value", last()),
            Node::PointerTo(variable, by) => {
                one(to, "pointer_to", (known.variable_ref(variable), Signed(by)))
            }
            Node::Call(procedure) => one(to, "call", known.procedure_ref(procedure)),
            Node::Cfa => to.serialize_str("cfa"),
            Node::Undefined => to.serialize_str("undefined"),
            Node::Expr(expr) => one(to, "expr", expression(known, expr)),
            Node::Const(value) => Number(value).serialize(to),
            Node::Address(symbol, by) => one(to, "address", (known.text(symbol.0), Signed(by))),
            Node::StackAddress(by) => one(to, "stack_address", Signed(by)),
            Node::Read(bits) => one(to, "read", (last(), bits)),
            Node::LaneIndex => to.serialize_str("lane_index"),
            Node::Plus(value) => one(to, "plus", (last(), Signed(value))),
            Node::Add => one(to, "add", two()),
            Node::Sub => one(to, "sub", two()),
            Node::Mul => one(to, "mul", two()),
            Node::And => one(to, "and", two()),
            Node::Or => one(to, "or", two()),
            Node::Xor => one(to, "xor", two()),
            Node::Shl => one(to, "shl", two()),
            Node::Shr => one(to, "shr", two()),
            Node::Shra => one(to, "shra", two()),
            Node::Neg => one(to, "neg", last()),
            Node::Not => one(to, "not", last()),
        }
    }
}

/// Whether a register has lanes.
fn is_vector(known: &Known<'_>, reg: Reg) -> bool {
    known.module.target().register(reg).is_some_and(|register| register.is_vector())
}

/// A raw expression.
fn expression<'m>(known: &'m Known<'m>, id: ExprId) -> Expression<'m> {
    let (expr, entities) = known.module.expr(id);
    let fixups = expr.fixups().iter().map(|fixup| {
        let kind = match fixup.kind {
            FixupKind::Entry { bytes } => Filled::Entry(bytes),
            FixupKind::Type { bytes } => Filled::Type(bytes),
            FixupKind::EntrySection => Filled::EntrySection,
            FixupKind::Address => Filled::Address,
        };
        let entity = match entities[fixup.slot.0 as usize] {
            Entity::Variable(id) => EntityRef::Variable(known.variable_ref(id)),
            Entity::Type(id) => EntityRef::Type(known.type_ref(id)),
            Entity::Procedure(id) => EntityRef::Procedure(known.procedure_ref(id)),
            Entity::Symbol(symbol, by) => EntityRef::Symbol(known.text(symbol.0), Signed(by)),
        };
        Fixup::new(fixup.offset, kind, entity)
    });
    let mut said = Expression::new();
    said.bytes = Some(Bytes(expr.bytes().to_vec()));
    said.fixups = Some(fixups.collect::<Vec<_>>()).filter(|fixups| !fixups.is_empty());
    said
}
