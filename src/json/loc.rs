//! Locations and numbers, read and written according to the [node](crate::model::Node) table.

use core::fmt;
use core::marker::PhantomData;

use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::ser::{Error as _, SerializeMap};
use serde::{Deserialize, Serialize, Serializer};
use smallvec::SmallVec;

use super::expression::{self, Expression};
use super::ids::Known;
use super::later::Later;
use super::reader::Reader;
use super::shape::{no_key, one_key};
use super::values::{Bytes, HexOf, Named, Number, Ref, Signed, Text, number};
use super::words::Word;
use crate::build::{MAX_LEVELS, too_deep};
use crate::error::{Error, Result};
use crate::model::{
    self, ExprId, Form, Half, Kind, LocId, Makes, Node, NodeRow, Number as _, Operand, Postfix, ProcedureId,
    Sort, Symbol, Tag, Tree, UnitId, VariableId, count, keyed, keys, rows,
};
use crate::op::Reg;
use crate::target::SpaceId;

/// Location keys.
pub const LOCATIONS: &[&str] = &keys::<{ count(Sort::Loc) }>(Sort::Loc);
/// Number keys.
pub const NUMBERS: &[&str] = &keys::<{ count(Sort::Val) }>(Sort::Val);

/// A location that is read once its unit is known.
pub(super) type Loc<'a> = Later<'a, Place<'a>>;
/// A number that is read once its unit is known.
pub(super) type Val<'a> = Later<'a, NumberAt<'a>>;

/// Reads a location, number or raw expression outside lists.
pub(super) fn whole<'a, T: Whole<'a>, J>(
    reader: &mut Reader<'a>,
    unit: UnitId,
    json: &Later<'a, J>,
) -> Result<T> {
    let Later::Text(text) = json else {
        return Err(Error::malformed("a part that was written is not read"));
    };
    reader.part(text, |reader, json| T::deserialized(&mut In::new(reader, unit), json))
}

/// Returns the JSON for a location in the module.
pub(super) fn written<'m>(known: &'m Known<'m>, loc: LocId) -> Loc<'m> {
    Later::Model(Place { known, loc })
}

/// Returns the JSON for the number of a location that is a value.
pub(super) fn written_number<'m>(known: &'m Known<'m>, loc: LocId) -> Val<'m> {
    Later::Model(NumberAt(Place { known, loc }))
}

/// Reads locations in a unit, which determines what names mean.
pub(super) struct In<'r, 'a> {
    reader: &'r mut Reader<'a>,
    unit: UnitId,
    /// Nesting depth: the number of enclosing nodes.
    level: usize,
    /// Nodes read so far.
    nodes: Postfix,
}

impl<'r, 'a> In<'r, 'a> {
    pub fn new(reader: &'r mut Reader<'a>, unit: UnitId) -> Self {
        Self { reader, unit, level: 0, nodes: Postfix::new() }
    }

    /// Reads a whole location, number or expression.
    pub fn seed<T>(&mut self) -> Seed<'_, 'r, 'a, T> {
        Seed(self, PhantomData)
    }

    /// Converts an operand's value to its number.
    #[inline]
    fn number<E: de::Error>(
        &mut self,
        number: impl FnOnce(&mut Reader<'a>, UnitId) -> Result<u64>,
    ) -> Result<u64, E> {
        number(self.reader, self.unit).map_err(|error| self.reader.fail(error))
    }

    /// Appends a row's nodes, after its operands.
    #[inline]
    fn push(&mut self, row: &NodeRow, numbers: &[u64]) {
        match row.makes {
            // An offset of 0 is the same location.
            Makes::Node(Tag::Offset | Tag::BitOffset) if numbers == [0] => {}
            Makes::Node(tag) => self.nodes.numbers(tag, numbers),
            Makes::Nodes(make) => self.nodes.append(make(numbers)),
        }
    }
}

/// Reads a whole location, number or expression.
pub(super) struct Seed<'s, 'r, 'a, T>(&'s mut In<'r, 'a>, PhantomData<T>);

/// A location, number or expression.
pub(super) trait Whole<'a>: Sized {
    fn deserialized<D: Deserializer<'a>>(within: &mut In<'_, 'a>, json: D) -> Result<Self, D::Error>;
}

impl<'a, T: Whole<'a>> DeserializeSeed<'a> for Seed<'_, '_, 'a, T> {
    type Value = T;

    #[inline]
    fn deserialize<D: Deserializer<'a>>(self, json: D) -> Result<T, D::Error> {
        T::deserialized(self.0, json)
    }
}

impl<'a> Whole<'a> for model::Loc {
    #[inline]
    fn deserialized<D: Deserializer<'a>>(within: &mut In<'_, 'a>, json: D) -> Result<Self, D::Error> {
        json.deserialize_any(Nodes(within, Sort::Loc))?;
        Ok(Self(core::mem::replace(&mut within.nodes, Postfix::new())))
    }
}

impl<'a> Whole<'a> for model::Val {
    #[inline]
    fn deserialized<D: Deserializer<'a>>(within: &mut In<'_, 'a>, json: D) -> Result<Self, D::Error> {
        json.deserialize_any(Nodes(within, Sort::Val))?;
        Ok(Self(core::mem::replace(&mut within.nodes, Postfix::new())))
    }
}

impl<'a> Whole<'a> for ExprId {
    fn deserialized<D: Deserializer<'a>>(within: &mut In<'_, 'a>, json: D) -> Result<Self, D::Error> {
        OperandSeed { within, kind: Kind::Expression }.deserialize(json).map(Self::of)
    }
}

/// Reads a node with its operands.
struct Nodes<'s, 'r, 'a>(&'s mut In<'r, 'a>, Sort);

impl<'a> Visitor<'a> for Nodes<'_, '_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.1 {
            Sort::Loc => "a location",
            Sort::Val => "a number or a node that is one",
        })
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<(), E> {
        match self.1 {
            Sort::Loc => Err(E::invalid_type(Unexpected::Unsigned(value), &self)),
            Sort::Val => {
                self.0.nodes.numbers(Tag::Const, &[value]);
                Ok(())
            }
        }
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<(), E> {
        let word = rows(self.1).find(|row| matches!(row.form, Form::Word) && row.key == text);
        match (word, self.1) {
            (Some(row), _) => self.0.push(row, &[]),
            (None, Sort::Val) => self.0.nodes.numbers(Tag::Const, &[number(text)?]),
            (None, Sort::Loc) => return Err(E::invalid_value(Unexpected::Str(text), &self)),
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'a>>(self, mut json: A) -> Result<(), A::Error> {
        let Self(within, sort) = self;
        if within.level >= MAX_LEVELS {
            return Err(within.reader.fail(too_deep(MAX_LEVELS + 1)));
        }
        within.level += 1;
        let Some(row) = json.next_key_seed(Key(sort))? else { return Err(no_key("a node")) };
        match row.form {
            Form::Operands([only]) => {
                let number = json.next_value_seed(OperandSeed { within: &mut *within, kind: only.kind })?;
                within.push(row, &[number]);
            }
            _ => json.next_value_seed(Several { within: &mut *within, row })?,
        }
        within.level -= 1;
        one_key("a node", row.key, json)
    }
}

/// Reads a node's key.
struct Key(Sort);

impl<'a> DeserializeSeed<'a> for Key {
    type Value = &'static NodeRow;

    #[inline]
    fn deserialize<D: Deserializer<'a>>(self, json: D) -> Result<&'static NodeRow, D::Error> {
        json.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Key {
    type Value = &'static NodeRow;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a node")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<&'static NodeRow, E> {
        let keys = || if self.0 == Sort::Loc { LOCATIONS } else { NUMBERS };
        keyed(self.0, text).ok_or_else(|| E::unknown_variant(text, keys()))
    }
}

/// Reads one operand: appends its nodes, or returns its number.
pub(super) struct OperandSeed<'s, 'r, 'a> {
    within: &'s mut In<'r, 'a>,
    kind: Kind,
}

/// Reads an operand's JSON. Unlike the derived function, the trait's restricts objects to their shape.
#[inline]
fn value<'a, T: Deserialize<'a>, D: Deserializer<'a>>(json: D) -> Result<T, D::Error> {
    Deserialize::deserialize(json)
}

impl<'a> DeserializeSeed<'a> for OperandSeed<'_, '_, 'a> {
    type Value = u64;

    fn deserialize<D: Deserializer<'a>>(self, json: D) -> Result<u64, D::Error> {
        let Self { within, kind } = self;
        match kind {
            Kind::Node(sort) => json.deserialize_any(Nodes(within, sort)).map(|()| 0),
            Kind::Bytes => Bytes::deserialize(json).map(|Bytes(bytes)| {
                within.nodes.constant(&bytes);
                bytes.len() as u64
            }),
            Kind::Register => {
                let name: Named<'a> = value(json)?;
                within.number(|reader, _| Ok(reader.register(&name)?.number()))
            }
            Kind::Space => {
                let name: Named<'a> = value(json)?;
                within.number(|reader, _| Ok(reader.space(&name)?.number()))
            }
            Kind::Variable => {
                let id: Ref<'a> = value(json)?;
                within.number(|reader, _| Ok(reader.variable(&id)?.number()))
            }
            Kind::Procedure => {
                let id: Ref<'a> = value(json)?;
                within.number(|reader, _| Ok(reader.names.procedures.find((), &id)?.number()))
            }
            Kind::Symbol => {
                let name: Text<'a> = value(json)?;
                within.number(|reader, _| Ok(reader.builder.symbol(&name).number()))
            }
            Kind::Expression => {
                let raw: Expression<'a> = value(json)?;
                within.number(|reader, unit| Ok(expression::read(reader, unit, raw)?.number()))
            }
            Kind::Half => value(json).map(|Word(half): Word<Half>| half.number()),
            Kind::Unsigned32 => value(json).map(|number: u32| number.number()),
            Kind::Unsigned => value(json).map(|Number(number)| number),
            Kind::Signed => value(json).map(|Signed(number)| number.number()),
        }
    }
}

impl Serialize for OperandOf<'_, '_, '_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let OperandsOf { parent, node, nodes } = self.operands;
        let known = parent.known;
        let number = || node.numbers().1[self.operand.at.min(1)];
        match self.operand.kind {
            Kind::Node(_) => At { at: nodes[self.operand.at], ..*parent }.serialize(to),
            Kind::Bytes => match node {
                Node::Implicit(bytes) => HexOf(bytes).serialize(to),
                _ => Err(S::Error::custom("bytes of a node without any")),
            },
            Kind::Register => known.register(Reg::of(number())).serialize(to),
            Kind::Space => known.space(SpaceId::of(number())).serialize(to),
            Kind::Variable => known.variable_ref(VariableId::of(number())).serialize(to),
            Kind::Procedure => known.procedure_ref(ProcedureId::of(number())).serialize(to),
            Kind::Symbol => known.text(Symbol::of(number()).0).serialize(to),
            Kind::Expression => expression::write(known, ExprId::of(number())).serialize(to),
            Kind::Half => Word(Half::of(number())).serialize(to),
            Kind::Unsigned32 => u32::of(number()).serialize(to),
            Kind::Unsigned => Number(number()).serialize(to),
            Kind::Signed => Signed(i64::of(number())).serialize(to),
        }
    }
}

/// Reads the operands of a node that takes a list.
struct Several<'s, 'r, 'a> {
    within: &'s mut In<'r, 'a>,
    row: &'static NodeRow,
}

impl<'a> DeserializeSeed<'a> for Several<'_, '_, 'a> {
    type Value = ();

    #[inline]
    fn deserialize<D: Deserializer<'a>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'a> Visitor<'a> for Several<'_, '_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the operands of the node")
    }

    fn visit_seq<S: SeqAccess<'a>>(self, mut json: S) -> Result<(), S::Error> {
        let Self { within, row } = self;
        if let Form::Operands(operands) = row.form {
            let mut numbers = [0; 3];
            let count = read_operands(within, operands, &mut json, &mut numbers)?;
            within.push(row, &numbers[..count]);
            return Ok(());
        }
        let mut numbers = SmallVec::<[u64; 8]>::new();
        match row.form {
            Form::List([only]) => {
                while let Some(number) =
                    json.next_element_seed(OperandSeed { within: &mut *within, kind: only.kind })?
                {
                    numbers.push(number);
                }
            }
            Form::List(operands) => {
                while let Some(pair) = json.next_element_seed(PairSeed(within, operands))? {
                    numbers.extend(pair);
                }
            }
            Form::Parts => {
                let mut count = 0;
                while let Some([bits, _]) = json.next_element_seed(PairSeed(within, PART))? {
                    within.nodes.numbers(Tag::Part, &[bits]);
                    count += 1;
                }
                numbers.push(count);
            }
            Form::Operands(_) | Form::Bare | Form::Word => {}
        }
        within.push(row, &numbers);
        Ok(())
    }
}

/// A part's operands: a location and its size in bits.
const PART: &[Operand] = &[
    Operand { name: "place", kind: Kind::Node(Sort::Loc), at: 0 },
    Operand { name: "bits", kind: Kind::Unsigned, at: 0 },
];

/// Reads an element that is a list of operands, with at most two numbers.
struct PairSeed<'s, 'r, 'a>(&'s mut In<'r, 'a>, &'static [Operand]);

impl<'a> DeserializeSeed<'a> for PairSeed<'_, '_, 'a> {
    type Value = [u64; 2];

    #[inline]
    fn deserialize<D: Deserializer<'a>>(self, json: D) -> Result<[u64; 2], D::Error> {
        json.deserialize_seq(self)
    }
}

impl<'a> Visitor<'a> for PairSeed<'_, '_, 'a> {
    type Value = [u64; 2];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of two")
    }

    #[inline]
    fn visit_seq<S: SeqAccess<'a>>(self, mut json: S) -> Result<[u64; 2], S::Error> {
        // A part counts as a level, as in the builder.
        self.0.level += 1;
        let mut numbers = [0; 2];
        read_operands(self.0, self.1, &mut json, &mut numbers)?;
        self.0.level -= 1;
        Ok(numbers)
    }
}

/// Reads operands in the description's order, and returns how many of them are numbers. Operands that are nodes are
/// appended in postfix order, so that an operand that comes earlier in the description than in postfix order is kept
/// back.
fn read_operands<'a, S: SeqAccess<'a>>(
    within: &mut In<'_, 'a>,
    operands: &[Operand],
    json: &mut S,
    numbers: &mut [u64],
) -> Result<usize, S::Error> {
    let mut appended = 0;
    let mut count = 0;
    let mut waiting = None::<Box<Postfix>>;
    for (read, operand) in operands.iter().enumerate() {
        let is_node = matches!(operand.kind, Kind::Node(_));
        // An operand out of order is read into an empty list, which is appended at the end.
        let before = (is_node && operand.at != appended)
            .then(|| core::mem::replace(&mut within.nodes, Postfix::new()));
        let Some(number) =
            json.next_element_seed(OperandSeed { within: &mut *within, kind: operand.kind })?
        else {
            return Err(de::Error::invalid_length(read, &"more operands"));
        };
        match before {
            Some(before) => waiting = Some(Box::new(core::mem::replace(&mut within.nodes, before))),
            None if is_node => appended += 1,
            None => {
                // No row has more numbers.
                if let Some(next) = numbers.get_mut(count) {
                    *next = number;
                    count += 1;
                }
            }
        }
    }
    if let Some(last) = waiting {
        within.nodes.append(*last);
    }
    match json.next_element::<de::IgnoredAny>()? {
        None => Ok(count),
        Some(_) => Err(de::Error::invalid_length(operands.len() + 1, &"fewer operands")),
    }
}

/// A location in the module.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'m> {
    pub known: &'m Known<'m>,
    pub loc: LocId,
}

/// The expression in a location that is a raw expression.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExpressionAt<'m>(pub Place<'m>);

impl Serialize for ExpressionAt<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Place { known, loc } = self.0;
        match known.module.nodes(loc).next() {
            Some(Node::Expr(expr)) => expression::write(known, expr).serialize(to),
            _ => Err(S::Error::custom("a location that is not a raw expression")),
        }
    }
}

impl Serialize for Place<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut tree = Tree::default();
        let nodes = self.known.module.nodes(self.loc);
        let root = tree.read(nodes).ok_or_else(|| S::Error::custom("a location that is not a tree"))?;
        At { known: self.known, tree: &tree, at: root }.serialize(to)
    }
}

/// The number in a location that is a value.
#[derive(Debug, Clone, Copy)]
pub(super) struct NumberAt<'m>(pub Place<'m>);

impl Serialize for NumberAt<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let known = self.0.known;
        let mut tree = Tree::default();
        match tree.read(known.module.nodes(self.0.loc)) {
            Some(at) if tree.node(at) == Node::Value => {
                At { known, tree: &tree, at: tree.last(at) }.serialize(to)
            }
            _ => Err(S::Error::custom("a location that is not a value")),
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

impl Serialize for At<'_, '_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let &Self { known, tree, at } = self;
        let node = tree.node(at);
        let row = node.row();
        let key = match node {
            Node::Const(value) => return Number(value).serialize(to),
            Node::Part(bits) => return (Self { at: tree.last(at), ..*self }, Number(bits)).serialize(to),
            // The node is the same for all registers; `whole` says that all lanes of a vector register are meant.
            Node::Register(reg) if known.module.target().register(reg).is_some_and(|reg| reg.is_vector()) => {
                "whole"
            }
            _ => row.key,
        };
        let operands = OperandsOf { parent: *self, node, nodes: tree.operands(at) };
        let mut map = match row.form {
            Form::Word => return to.serialize_str(key),
            _ => to.serialize_map(Some(1))?,
        };
        match row.form {
            Form::Operands([only]) => map.serialize_entry(key, &operands.operand(*only))?,
            Form::Operands(several) => map.serialize_entry(key, &operands.each(several))?,
            _ => map.serialize_entry(key, &operands.parts())?,
        }
        map.end()
    }
}

/// The fields and operands of a node to write.
struct OperandsOf<'t, 'm> {
    parent: At<'t, 'm>,
    node: Node<'m>,
    /// Nodes in postfix order.
    nodes: SmallVec<[usize; 8]>,
}

impl<'t, 'm> OperandsOf<'t, 'm> {
    fn operand(&self, operand: Operand) -> OperandOf<'_, 't, 'm> {
        OperandOf { operands: self, operand }
    }

    fn each(&self, operands: &[Operand]) -> Vec<OperandOf<'_, 't, 'm>> {
        operands.iter().map(|&operand| self.operand(operand)).collect()
    }

    fn parts(&self) -> Vec<At<'t, 'm>> {
        self.nodes.iter().map(|&at| At { at, ..self.parent }).collect()
    }
}

struct OperandOf<'o, 't, 'm> {
    operands: &'o OperandsOf<'t, 'm>,
    operand: Operand,
}
