//! Locations and numbers: each node to the call that makes it.

use core::fmt;
use core::iter;
use core::marker::PhantomData;

use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::read::Reader;
use super::shape::{no_key, one_key};
use super::statement::{EntityRef, Expression, Filled};
use super::words::{self, Bytes, Number, Signed, Text, Word, number};
use crate::build::{MAX_LEVELS, too_deep};
use crate::error::{Error, Result};
use crate::model::{Entity, ExprId, Half, Loc, ProcedureId, Symbol, UnitId, Val, VariableId};
use crate::op::{self, Dialect, Encoding, Expr, Fixup, FixupKind, Reg, Slot};
use crate::target::SpaceId;

/// The words that nodes begin with.
macro_rules! nodes { ($(#[$doc:meta])* $list:ident $type:ident { $($node:ident $word:literal)* }) => {
    #[derive(Clone, Copy)]
    enum $type { $($node),* }

    $(#[$doc])*
    pub const $list: &[&str] = &[$($word),*];

    impl<'de> Deserialize<'de> for $type {
        fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
            struct AsNode;
            impl Visitor<'_> for AsNode {
                type Value = $type;
                fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str("a node")
                }
                fn visit_str<E: de::Error>(self, text: &str) -> Result<$type, E> {
                    match text {
                        $($word => Ok($type::$node),)*
                        _ => Err(E::unknown_variant(text, $list)),
                    }
                }
            }
            from.deserialize_identifier(AsNode)
        }
    }
} }
nodes! {
    /// The nodes of locations.
    LOCATIONS LocNode {
        Register "register" Whole "whole" Lane "lane" PerLane "per_lane" Memory "memory" Offset "offset"
        BitOffset "bit_offset" OffsetBy "offset_by" BitOffsetBy "bit_offset_by" Parts "parts"
        Overlay "overlay" Select "select" Extend "extend" Implicit "implicit" Value "value"
        PointerTo "pointer_to" Call "call" Expr "expr" Over "over" Lanes "lanes"
        PerLaneOver "per_lane_over" PerLaneHalf "per_lane_half" StackSlot "stack_slot" Local "local"
        LocalSymbol "local_symbol" GlobalSymbol "global_symbol" KernelArgument "kernel_argument"
    }
}
nodes! {
    /// The nodes of numbers, apart from constants.
    NUMBERS ValNode {
        Address "address" Register "register" EntryValue "entry_value" StackAddress "stack_address" Pair "pair"
        Read "read" Plus "plus" Add "add" Sub "sub" Mul "mul" And "and" Or "or"
        Xor "xor" Shl "shl" Shr "shr" Shra "shra" Neg "neg" Not "not"
    }
}

/// Where a location is read: what names in it mean depends on the unit.
pub(super) struct In<'r, 'a> {
    reader: &'r mut Reader<'a>,
    unit: UnitId,
    /// How many nodes are around.
    level: usize,
}

impl<'r, 'a> In<'r, 'a> {
    pub fn new(reader: &'r mut Reader<'a>, unit: UnitId) -> Self {
        Self { reader, unit, level: 0 }
    }

    /// Reads an operand in here.
    pub fn seed<T>(&mut self) -> Seed<'_, 'r, 'a, T> {
        Seed(self, PhantomData)
    }

    fn or_fail<T, E: de::Error>(&mut self, result: Result<T>) -> Result<T, E> {
        result.map_err(|error| self.reader.fail(error))
    }
}

/// What is read where names have a meaning: an operand of a node.
pub(super) trait Operand<'a>: Sized {
    fn operand<D: Deserializer<'a>>(within: &mut In<'_, 'a>, json: D) -> Result<Self, D::Error>;
}

/// Reads an operand.
pub(super) struct Seed<'s, 'r, 'a, T>(&'s mut In<'r, 'a>, PhantomData<T>);

impl<'a, T: Operand<'a>> DeserializeSeed<'a> for Seed<'_, '_, 'a, T> {
    type Value = T;

    #[inline]
    fn deserialize<D: Deserializer<'a>>(self, json: D) -> Result<T, D::Error> {
        T::operand(self.0, json)
    }
}

/// Operands that mean the same everywhere, by how they are read.
macro_rules! plain { ($($type:ty: |$value:ident: $read:ty| $make:expr;)*) => { $(
    impl<'a> Operand<'a> for $type {
        #[inline]
        fn operand<D: Deserializer<'a>>(_: &mut In<'_, 'a>, json: D) -> Result<Self, D::Error> {
            <$read>::deserialize(json).map(|$value| $make)
        }
    }
)* } }
plain! {
    u32: |value: u32| value;
    u64: |value: Number| value.0;
    i64: |value: Signed| value.0;
    Bytes: |bytes: Self| bytes;
    Half: |word: Word<Half>| word.0;
}

/// Operands that name something.
trait Named<'a>: Sized {
    /// Looks the name up, or the number where there is no name.
    fn find(within: &mut In<'_, 'a>, name: words::Named<'a>) -> Result<Self>;
}

/// Reads a name. It is looked up while it is read, for then an error is at this place of the text.
struct NameOf<'s, 'r, 'a, T>(&'s mut In<'r, 'a>, PhantomData<T>);

impl<'a, T: Named<'a>> NameOf<'_, '_, 'a, T> {
    #[inline]
    fn find<E: de::Error>(self, name: words::Named<'a>) -> Result<T, E> {
        let found = T::find(self.0, name);
        self.0.or_fail(found)
    }
}

impl<'a, T: Named<'a>> Visitor<'a> for NameOf<'_, '_, 'a, T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    #[inline]
    fn visit_borrowed_str<E: de::Error>(self, text: &'a str) -> Result<T, E> {
        self.find(words::Named::Text(text.into()))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        self.find(words::Named::Text(Text(text.to_owned().into())))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        self.find(words::Named::Number(number))
    }
}

macro_rules! named { ($($type:ty: |$reader:ident, $name:ident| $find:expr;)*) => { $(
    impl<'a> Named<'a> for $type {
        #[inline]
        fn find(within: &mut In<'_, 'a>, name: words::Named<'a>) -> Result<Self> {
            let $reader = &mut *within.reader;
            named!(@find $reader, $name, name, $find)
        }
    }

    impl<'a> Operand<'a> for $type {
        #[inline]
        fn operand<D: Deserializer<'a>>(within: &mut In<'_, 'a>, json: D) -> Result<Self, D::Error> {
            json.deserialize_any(NameOf(within, PhantomData))
        }
    }
)* };
    (@find $reader:ident, $name:ident, $value:ident, $find:expr) => {{
        let $name = &$value;
        $find
    }};
}
named! {
    Reg: |reader, name| reader.register(name);
    SpaceId: |reader, name| reader.space(name);
    VariableId: |reader, name| reader.names.variables.find((), name.text()?);
    ProcedureId: |reader, name| reader.names.procedures.find((), name.text()?);
    Symbol: |reader, name| Ok(reader.builder.symbol(name.text()?));
}

/// Two operands.
impl<'a, A: Operand<'a>, B: Operand<'a>> Operand<'a> for (A, B) {
    fn operand<D: Deserializer<'a>>(within: &mut In<'_, 'a>, json: D) -> Result<Self, D::Error> {
        struct Pair<'s, 'r, 'a, A, B>(&'s mut In<'r, 'a>, PhantomData<(A, B)>);
        impl<'a, A: Operand<'a>, B: Operand<'a>> Visitor<'a> for Pair<'_, '_, 'a, A, B> {
            type Value = (A, B);
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of two")
            }
            #[inline]
            fn visit_seq<S: SeqAccess<'a>>(self, json: S) -> Result<(A, B), S::Error> {
                // A part is a level of its own, as for the builder.
                self.0.level += 1;
                let within = &mut *self.0;
                let pair = Operands { json, within, read: 0 }.two(|first, second| (first, second))?;
                self.0.level -= 1;
                Ok(pair)
            }
        }
        json.deserialize_seq(Pair(within, PhantomData))
    }
}

/// Makes something of so many operands. A function of its own for each kind of node, and not inlined: then what
/// reads any node has no room on the stack for the operands of all.
macro_rules! arities { ($($name:ident($($operand:ident),*))*) => { $(
    #[inline(never)]
    fn $name<$($operand: Operand<'a>,)* T>(
        mut self,
        make: impl FnOnce($($operand),*) -> T,
    ) -> Result<T, S::Error> {
        let made = make($(self.next::<$operand>()?),*);
        self.end()?;
        Ok(made)
    }
)* } }

/// The operands of a node that has more than one.
struct Operands<'s, 'r, 'a, S> {
    json: S,
    within: &'s mut In<'r, 'a>,
    read: usize,
}

impl<'a, S: SeqAccess<'a>> Operands<'_, '_, 'a, S> {
    #[inline]
    fn next<T: Operand<'a>>(&mut self) -> Result<T, S::Error> {
        match self.json.next_element_seed(self.within.seed())? {
            Some(operand) => {
                self.read += 1;
                Ok(operand)
            }
            None => Err(de::Error::invalid_length(self.read, &"more operands")),
        }
    }

    /// Refuses more than there should be.
    #[inline]
    fn end(mut self) -> Result<(), S::Error> {
        match self.json.next_element::<de::IgnoredAny>()? {
            None => Ok(()),
            Some(_) => Err(de::Error::invalid_length(self.read + 1, &"fewer operands")),
        }
    }

    arities! {
        two(A, B)
        three(A, B, C)
        four(A, B, C, D)
        five(A, B, C, D, E)
    }

    /// All of a list, one by one.
    #[inline(never)]
    fn all<T: Operand<'a>>(
        mut self,
        take: impl FnOnce(&mut dyn Iterator<Item = T>) -> Loc,
    ) -> Result<Loc, S::Error> {
        let mut error = None;
        let loc = take(&mut iter::from_fn(|| {
            self.json.next_element_seed(self.within.seed()).unwrap_or_else(|wrong| {
                error = Some(wrong);
                None
            })
        }));
        error.map_or(Ok(loc), Err)
    }
}

/// A node: an object of one key.
struct Node<'s, 'r, 'a, A> {
    json: A,
    within: &'s mut In<'r, 'a>,
}

impl<'s, 'r, 'a, A: MapAccess<'a>> Node<'s, 'r, 'a, A> {
    #[inline]
    fn kind<K: Deserialize<'a>>(json: A, within: &'s mut In<'r, 'a>) -> Result<(K, Self), A::Error> {
        if within.level >= MAX_LEVELS {
            return Err(within.reader.fail(too_deep()));
        }
        within.level += 1;
        let mut node = Self { json, within };
        match node.json.next_key()? {
            Some(kind) => Ok((kind, node)),
            None => Err(no_key("a node")),
        }
    }

    /// Makes something of the only operand.
    #[inline(never)]
    fn one<O: Operand<'a>, T>(&mut self, make: impl FnOnce(O) -> T) -> Result<T, A::Error> {
        self.json.next_value_seed(self.within.seed()).map(make)
    }

    /// The operands of a node that has several.
    #[inline]
    fn several<T, K>(&mut self, kind: K) -> Result<T, A::Error>
    where
        for<'t> Several<'t, 'r, 'a, K>: Visitor<'a, Value = T>,
    {
        self.json.next_value_seed(Several { within: &mut *self.within, kind })
    }

    /// Refuses more than this node.
    #[inline]
    fn end(self, word: &str) -> Result<(), A::Error> {
        self.within.level -= 1;
        one_key("a node", word, self.json)
    }
}

struct Several<'s, 'r, 'a, K> {
    within: &'s mut In<'r, 'a>,
    kind: K,
}

impl<'a, K> DeserializeSeed<'a> for Several<'_, '_, 'a, K>
where
    Self: Visitor<'a>,
{
    type Value = <Self as Visitor<'a>>::Value;

    #[inline]
    fn deserialize<D: Deserializer<'a>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_seq(self)
    }
}

/// Reads a location, or a number.
struct Tree<'s, 'r, 'a, T>(&'s mut In<'r, 'a>, PhantomData<T>);

macro_rules! trees { ($($type:ty)*) => { $(
    impl<'a> Operand<'a> for $type {
        #[inline]
        fn operand<D: Deserializer<'a>>(within: &mut In<'_, 'a>, json: D) -> Result<Self, D::Error> {
            json.deserialize_any(Tree::<$type>(within, PhantomData))
        }
    }
)* } }
trees! { Loc Val }

impl<'a> Visitor<'a> for Tree<'_, '_, 'a, Loc> {
    type Value = Loc;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a location")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Loc, E> {
        match text {
            "cfa" => Ok(Loc::cfa()),
            "undefined" => Ok(Loc::undefined()),
            _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
        }
    }

    fn visit_map<A: MapAccess<'a>>(self, json: A) -> Result<Loc, A::Error> {
        let (kind, mut node) = Node::kind(json, self.0)?;
        let loc = match kind {
            LocNode::Register => node.one(Loc::register),
            LocNode::Whole => node.one(Loc::whole),
            LocNode::PerLane => node.one(Loc::per_lane),
            LocNode::Implicit => node.one(|bytes: Bytes| Loc::implicit(&bytes.0)),
            LocNode::Value => node.one(Loc::value),
            LocNode::Call => node.one(Loc::call),
            LocNode::Expr => node.one(Loc::expr),
            LocNode::StackSlot => node.one(Loc::stack_slot),
            LocNode::Local => node.one(Loc::local),
            LocNode::LocalSymbol => node.one(Loc::local_symbol),
            LocNode::GlobalSymbol => node.one(Loc::global_symbol),
            several => node.several(several),
        }?;
        node.end(LOCATIONS[kind as usize])?;
        Ok(loc)
    }
}

impl<'a> Visitor<'a> for Several<'_, '_, 'a, LocNode> {
    type Value = Loc;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the operands of the node")
    }

    fn visit_seq<S: SeqAccess<'a>>(self, json: S) -> Result<Loc, S::Error> {
        let operands = Operands { json, within: self.within, read: 0 };
        match self.kind {
            LocNode::Lane => operands.two(Loc::lane),
            LocNode::Memory => operands.two(Loc::memory),
            LocNode::Offset => operands.two(Loc::offset),
            LocNode::BitOffset => operands.two(Loc::bit_offset),
            LocNode::OffsetBy => operands.two(Loc::offset_by),
            LocNode::BitOffsetBy => operands.two(Loc::bit_offset_by),
            LocNode::Overlay => operands.four(Loc::overlay),
            LocNode::Select => operands.five(Loc::select),
            LocNode::Extend => operands.three(Loc::extend),
            LocNode::PointerTo => operands.two(Loc::pointer_to),
            LocNode::PerLaneHalf => operands.two(Loc::per_lane_half),
            LocNode::KernelArgument => operands.three(Loc::kernel_argument),
            LocNode::Parts => operands.all(|parts| Loc::parts(parts)),
            LocNode::Over => operands.all(|regs| Loc::over(regs)),
            LocNode::PerLaneOver => operands.all(|regs| Loc::per_lane_over(regs)),
            LocNode::Lanes => operands.all(|lanes| Loc::lanes(lanes)),
            _ => Err(de::Error::invalid_type(de::Unexpected::Seq, &"one operand")),
        }
    }
}

impl<'a> Visitor<'a> for Tree<'_, '_, 'a, Val> {
    type Value = Val;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number or a node that is one")
    }

    fn visit_u64<E>(self, value: u64) -> Result<Val, E> {
        Ok(Val::constant(value))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Val, E> {
        match text {
            "lane_index" => Ok(Val::lane_index()),
            _ => number(text).map(Val::constant),
        }
    }

    fn visit_map<A: MapAccess<'a>>(self, json: A) -> Result<Val, A::Error> {
        let (kind, mut node) = Node::kind(json, self.0)?;
        let val = match kind {
            ValNode::Register => node.one(Val::register),
            ValNode::EntryValue => node.one(Val::entry_value),
            ValNode::StackAddress => node.one(Val::stack_address),
            ValNode::Neg => node.one(Val::neg),
            ValNode::Not => node.one(Val::not),
            several => node.several(several),
        }?;
        node.end(NUMBERS[kind as usize])?;
        Ok(val)
    }
}

impl<'a> Visitor<'a> for Several<'_, '_, 'a, ValNode> {
    type Value = Val;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the operands of the node")
    }

    fn visit_seq<S: SeqAccess<'a>>(self, json: S) -> Result<Val, S::Error> {
        let operands = Operands { json, within: self.within, read: 0 };
        match self.kind {
            ValNode::Address => operands.two(Val::address),
            ValNode::Pair => operands.two(Val::pair),
            ValNode::Read => operands.two(Loc::read),
            ValNode::Plus => operands.two(Val::plus),
            ValNode::Add => operands.two(Val::add),
            ValNode::Sub => operands.two(Val::sub),
            ValNode::Mul => operands.two(Val::mul),
            ValNode::And => operands.two(Val::and),
            ValNode::Or => operands.two(Val::or),
            ValNode::Xor => operands.two(Val::xor),
            ValNode::Shl => operands.two(Val::shl),
            ValNode::Shr => operands.two(Val::shr),
            ValNode::Shra => operands.two(Val::shra),
            _ => Err(de::Error::invalid_type(de::Unexpected::Seq, &"one operand")),
        }
    }
}

impl<'a> Operand<'a> for ExprId {
    fn operand<D: Deserializer<'a>>(within: &mut In<'_, 'a>, json: D) -> Result<Self, D::Error> {
        // As it is read everywhere: in its shape.
        let expression: Expression<'_> = Deserialize::deserialize(json)?;
        let expr = raw(within.reader, within.unit, expression);
        within.or_fail(expr)
    }
}

/// A raw expression.
fn raw<'a>(reader: &mut Reader<'a>, unit: UnitId, said: Expression<'a>) -> Result<ExprId> {
    let (bytes, text) = match (said.bytes, said.text, said.dialect) {
        (Some(Bytes(bytes)), None, None) => (bytes, None),
        (None, Some(text), dialect) if said.fixups.is_none() => (Vec::new(), Some((text, dialect))),
        _ => {
            let what =
                "an expression is `bytes`, with or without `fixups`, or `text`, with or without a `dialect`";
            return Err(Error::bad_argument(what));
        }
    };
    if let Some((text, dialect)) = text {
        let target = reader.builder.target();
        let dialect = dialect.map_or(Dialect::Dwarf5, |Word(dialect)| dialect);
        let encoding = Encoding::new(target.address_bytes(), dialect);
        let encoding = Encoding { big_endian: target.is_big_endian(), ..encoding };
        let expr = op::text::parse(&text, encoding, Some(target))?;
        return reader.builder.expr(expr, &[]);
    }
    let (mut fixups, mut entities) = (Vec::new(), Vec::new());
    for fixup in said.fixups.unwrap_or_default() {
        let kind = match fixup.kind {
            Filled::Entry(bytes) => FixupKind::Entry { bytes },
            Filled::Type(bytes) => FixupKind::Type { bytes },
            Filled::EntrySection => FixupKind::EntrySection,
            Filled::Address => FixupKind::Address,
        };
        fixups.push(Fixup { offset: fixup.offset, kind, slot: Slot(entities.len() as u32) });
        entities.push(match &fixup.entity {
            EntityRef::Variable(name) => Entity::Variable(reader.names.variables.find((), name)?),
            EntityRef::Type(name) => Entity::Type(reader.ty(unit, name)?),
            EntityRef::Procedure(name) => Entity::Procedure(reader.names.procedures.find((), name)?),
            EntityRef::Symbol(name, offset) => Entity::Symbol(reader.builder.symbol(name), offset.0),
        });
    }
    reader.builder.expr(Expr::with_fixups(bytes, fixups)?, &entities)
}
