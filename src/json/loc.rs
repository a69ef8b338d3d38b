//! Locations and numbers: each node to the call that makes it.

use core::fmt;
use core::iter;
use core::marker::PhantomData;

use serde::Deserialize;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

use super::read::Reader;
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
        Register "register" Lane "lane" PerLane "per_lane" Memory "memory" Offset "offset"
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
        Address "address" Register "register" StackAddress "stack_address" Pair "pair"
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
                let mut operands = Operands { json, within: self.0, read: 0 };
                let pair = (operands.next()?, operands.next()?);
                operands.end()?;
                Ok(pair)
            }
        }
        json.deserialize_seq(Pair(within, PhantomData))
    }
}

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

    /// All of a list, one by one.
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
            None => Err(de::Error::invalid_length(0, &"one key")),
        }
    }

    /// The only operand.
    #[inline]
    fn one<T: Operand<'a>>(&mut self) -> Result<T, A::Error> {
        self.json.next_value_seed(self.within.seed())
    }

    /// The operands of a node that has several.
    #[inline]
    fn several<T, K>(&mut self, kind: K) -> Result<T, A::Error>
    where
        for<'t> Several<'t, 'r, 'a, K>: Visitor<'a, Value = T>,
    {
        self.json.next_value_seed(Several { within: &mut *self.within, kind })
    }

    #[inline]
    fn end(mut self) -> Result<(), A::Error> {
        self.within.level -= 1;
        match self.json.next_key::<Text<'a>>()? {
            None => Ok(()),
            Some(key) => Err(de::Error::custom(format!("a node has one key, and `{}` is another", &*key))),
        }
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
            "undefined" => Ok(Loc::undefined()),
            _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
        }
    }

    fn visit_map<A: MapAccess<'a>>(self, json: A) -> Result<Loc, A::Error> {
        let (kind, mut node) = Node::kind(json, self.0)?;
        let loc = match kind {
            LocNode::Register => Loc::register(node.one()?),
            LocNode::PerLane => Loc::per_lane(node.one()?),
            LocNode::Implicit => Loc::implicit(&node.one::<Bytes>()?.0),
            LocNode::Value => Loc::value(node.one()?),
            LocNode::Call => Loc::call(node.one()?),
            LocNode::Expr => Loc::expr(node.one()?),
            LocNode::StackSlot => Loc::stack_slot(node.one()?),
            LocNode::Local => Loc::local(node.one()?),
            LocNode::LocalSymbol => Loc::local_symbol(node.one()?),
            LocNode::GlobalSymbol => Loc::global_symbol(node.one()?),
            several => node.several(several)?,
        };
        node.end()?;
        Ok(loc)
    }
}

impl<'a> Visitor<'a> for Several<'_, '_, 'a, LocNode> {
    type Value = Loc;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the operands of the node")
    }

    fn visit_seq<S: SeqAccess<'a>>(self, json: S) -> Result<Loc, S::Error> {
        let mut o = Operands { json, within: self.within, read: 0 };
        let loc = match self.kind {
            LocNode::Lane => Loc::lane(o.next()?, o.next()?),
            LocNode::Memory => Loc::memory(o.next()?, o.next()?),
            LocNode::Offset => o.next::<Loc>()?.offset(o.next()?),
            LocNode::BitOffset => o.next::<Loc>()?.bit_offset(o.next()?),
            LocNode::OffsetBy => o.next::<Loc>()?.offset_by(o.next()?),
            LocNode::BitOffsetBy => o.next::<Loc>()?.bit_offset_by(o.next()?),
            LocNode::Overlay => o.next::<Loc>()?.overlay(o.next()?, o.next()?, o.next()?),
            LocNode::Select => Loc::select(o.next()?, o.next()?, o.next()?, o.next()?, o.next()?),
            LocNode::Extend => o.next::<Loc>()?.extend(o.next()?, o.next()?),
            LocNode::PointerTo => Loc::pointer_to(o.next()?, o.next()?),
            LocNode::PerLaneHalf => Loc::per_lane_half(o.next()?, o.next()?),
            LocNode::KernelArgument => Loc::kernel_argument(o.next()?, o.next()?, o.next()?),
            LocNode::Parts => return o.all(|parts| Loc::parts(parts)),
            LocNode::Over => return o.all(|regs| Loc::over(regs)),
            LocNode::PerLaneOver => return o.all(|regs| Loc::per_lane_over(regs)),
            LocNode::Lanes => return o.all(|lanes| Loc::lanes(lanes)),
            _ => return Err(de::Error::invalid_type(de::Unexpected::Seq, &"one operand")),
        };
        o.end()?;
        Ok(loc)
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
            ValNode::Register => Val::register(node.one()?),
            ValNode::StackAddress => Val::stack_address(node.one()?),
            ValNode::Neg => node.one::<Val>()?.neg(),
            ValNode::Not => node.one::<Val>()?.not(),
            several => node.several(several)?,
        };
        node.end()?;
        Ok(val)
    }
}

impl<'a> Visitor<'a> for Several<'_, '_, 'a, ValNode> {
    type Value = Val;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the operands of the node")
    }

    fn visit_seq<S: SeqAccess<'a>>(self, json: S) -> Result<Val, S::Error> {
        let mut o = Operands { json, within: self.within, read: 0 };
        let val = match self.kind {
            ValNode::Address => Val::address(o.next()?, o.next()?),
            ValNode::Pair => Val::pair(o.next()?, o.next()?),
            ValNode::Read => o.next::<Loc>()?.read(o.next()?),
            ValNode::Plus => o.next::<Val>()?.plus(o.next()?),
            ValNode::Add => o.next::<Val>()?.add(o.next()?),
            ValNode::Sub => o.next::<Val>()?.sub(o.next()?),
            ValNode::Mul => o.next::<Val>()?.mul(o.next()?),
            ValNode::And => o.next::<Val>()?.and(o.next()?),
            ValNode::Or => o.next::<Val>()?.or(o.next()?),
            ValNode::Xor => o.next::<Val>()?.xor(o.next()?),
            ValNode::Shl => o.next::<Val>()?.shl(o.next()?),
            ValNode::Shr => o.next::<Val>()?.shr(o.next()?),
            ValNode::Shra => o.next::<Val>()?.shra(o.next()?),
            _ => return Err(de::Error::invalid_type(de::Unexpected::Seq, &"one operand")),
        };
        o.end()?;
        Ok(val)
    }
}

impl<'a> Operand<'a> for ExprId {
    fn operand<D: Deserializer<'a>>(within: &mut In<'_, 'a>, json: D) -> Result<Self, D::Error> {
        let expression = Expression::deserialize(json)?;
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
