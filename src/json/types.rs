//! Types. The kinds have a statement each; the properties that they share are set by `describe_type`.

use super::attributes::{self, AttributeValue};
use super::facts::{Outcome, Property, facts, kind};
use super::ids::Known;
use super::loc::{self, Loc};
use super::members::ExtentOf;
use super::objects::objects;
use super::reader::Reader;
use super::values::{Integer, Line, Named, Number, Ref, Text};
use super::words::{EncodingWord, Word};
use crate::build::{EnumeratorType, Extent, Major};
use crate::error::{Error, Result};
use crate::model::entities::type_properties;
use crate::model::{
    self, CompositeKind, Count, Dimension, MemorySpace, Passed, PointerKind, Qualifier, TypeId, UnitId,
};
use crate::target::SpaceId;

type_properties! {
    facts TypeFacts of |known, id: TypeId| known.module.ty(id), set TypeId: [by describe_type],
    object DescribeType { unit: Ref<'a>, r#type: Ref<'a> } {}
}
objects! {
    BaseType { unit: Ref<'a>, name: Text<'a>, encoding: EncodingWord, bits: Number } { id: Text<'a> }
    MemberPointer { unit: Ref<'a>, class: Ref<'a>, to: Ref<'a> } { id: Text<'a> }
    UnspecifiedType { unit: Ref<'a>, name: Text<'a> } { id: Text<'a> }
    StringType { unit: Ref<'a> } { name: Text<'a>, bytes: Number, id: Text<'a> }
    SubrangeType { unit: Ref<'a> } { name: Text<'a>, of: Ref<'a>, bits: Number, id: Text<'a> }
    SetType { unit: Ref<'a> } { name: Text<'a>, of: Ref<'a>, bits: Number, id: Text<'a> }
    Array { unit: Ref<'a>, of: Ref<'a> } {
        counts: Vec<Option<Number>>, extents: Vec<ExtentOf<'a>>, stride_bits: Number, id: Text<'a>,
    }
    Vector { unit: Ref<'a>, of: Ref<'a>, count: Number } { packed: bool, id: Text<'a> }
    Matrix { unit: Ref<'a>, of: Ref<'a>, count: Number } { column_major: bool, stride_bits: Number, id: Text<'a> }
    CooperativeMatrix { unit: Ref<'a>, of: Ref<'a>, scope: u32, rows: u32, columns: u32, usage: u32 } { id: Text<'a> }
    Typedef { unit: Ref<'a>, name: Text<'a> } { of: Ref<'a>, id: Text<'a> }
    Qualified { unit: Ref<'a>, qualifier: Word<Qualifier> } { of: Ref<'a>, id: Text<'a> }
    Subroutine { unit: Ref<'a>, parameters: Vec<Ref<'a>> } {
        returns: Ref<'a>,
        /// Takes more arguments than it has parameters.
        variadic: bool,
        id: Text<'a>,
    }
    Pointer { unit: Ref<'a> } {
        to: Ref<'a>, kind: Word<PointerKind>, space: Named<'a>, memory_space: Word<MemorySpace>, id: Text<'a>,
    }
    Incomplete { unit: Ref<'a>, kind: Word<CompositeKind>, name: Text<'a> } { id: Text<'a> }
    Structure { unit: Ref<'a> } { bytes: Number, name: Text<'a>, id: Text<'a> }
    Class { unit: Ref<'a> } { bytes: Number, name: Text<'a>, id: Text<'a> }
    Union { unit: Ref<'a> } { bytes: Number, name: Text<'a>, id: Text<'a> }
    Enumeration { unit: Ref<'a>, enumerators: Vec<(Text<'a>, Integer)> } {
        of: Ref<'a>, bytes: Number, name: Text<'a>, class: bool, id: Text<'a>,
    }
}

/// The declaration's scope.
impl<'a> Property<'a, TypeId> for Text<'a> {
    fn read(self, reader: &mut Reader<'a>, id: TypeId, _: UnitId) -> Result<()> {
        let scope = reader.scope(&self)?;
        reader.builder.describe_type(id)?.within(scope).map(drop)
    }

    fn write(known: &'a Known<'a>, id: TypeId) -> Option<Self> {
        let ty = known.module.ty(id);
        let scope = ty.scope();
        (scope != known.module.unit(ty.unit()).scope).then(|| known.scope_ref(scope))
    }
}

/// The passing to functions.
impl<'a> Property<'a, TypeId> for Word<Passed> {
    fn read(self, reader: &mut Reader<'a>, id: TypeId, _: UnitId) -> Result<()> {
        reader.builder.describe_type(id)?.passed(self.0).map(drop)
    }

    fn write(known: &'a Known<'a>, id: TypeId) -> Option<Self> {
        known.module.ty(id).passed().map(Word)
    }
}

impl<'a> DescribeType<'a> {
    /// Describes a type. Even without properties, an equal type in a later statement is a different type.
    pub fn apply(mut self, reader: &mut Reader<'a>) -> Result<()> {
        let unit = reader.unit(&self.unit)?;
        let ty = reader.ty(unit, &self.r#type)?;
        reader.builder.describe_type(ty)?;
        self.facts().describe(reader, ty, unit)
    }

    pub fn write(known: &'a Known<'a>, id: TypeId, facts: TypeFacts<'a>) -> Self {
        let unit = known.unit_ref(known.module.ty(id).unit());
        Self::new(unit, known.type_ref(id)).with(facts)
    }
}

impl<'a> BaseType<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let unit = reader.unit(&self.unit)?;
        let ty = reader.builder.base_type(unit, &self.name, self.encoding.0, self.bits.0)?;
        reader.add_type(ty, self.id.as_ref(), Some(&self.name))
    }
}

impl<'a> MemberPointer<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let unit = reader.unit(&self.unit)?;
        let class = reader.ty(unit, &self.class)?;
        let to = reader.ty(unit, &self.to)?;
        let ty = reader.builder.member_pointer(unit, class, to)?;
        reader.add_type(ty, self.id.as_ref(), None)
    }
}

impl<'a> UnspecifiedType<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let unit = reader.unit(&self.unit)?;
        let ty = reader.builder.unspecified_type(unit, &self.name)?;
        reader.add_type(ty, self.id.as_ref(), Some(&self.name))
    }
}

impl<'a> StringType<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let unit = reader.unit(&self.unit)?;
        let bytes = self.bytes.map(|Number(bytes)| bytes);
        let ty = reader.builder.string_type(unit, self.name.as_deref(), bytes)?;
        reader.add_type(ty, self.id.as_ref(), self.name.as_ref())
    }
}

impl<'a> SubrangeType<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let unit = reader.unit(&self.unit)?;
        let of = reader.maybe_type(unit, self.of.as_ref())?;
        let bits = self.bits.map(|Number(bits)| bits);
        let ty = reader.builder.subrange_type(unit, self.name.as_deref(), of, bits)?;
        reader.add_type(ty, self.id.as_ref(), self.name.as_ref())
    }
}

impl<'a> SetType<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let unit = reader.unit(&self.unit)?;
        let of = reader.maybe_type(unit, self.of.as_ref())?;
        let bits = self.bits.map(|Number(bits)| bits);
        let ty = reader.builder.set_type(unit, self.name.as_deref(), of, bits)?;
        reader.add_type(ty, self.id.as_ref(), self.name.as_ref())
    }
}

impl<'a> Array<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let unit = reader.unit(&self.unit)?;
        let extents: Vec<Extent> = match (self.counts, self.extents) {
            (Some(counts), None) => counts.into_iter().map(extent).collect(),
            (None, Some(extents)) => {
                extents.into_iter().map(|extent| extent.read(reader, unit)).collect::<Result<_>>()?
            }
            _ => {
                return Err(Error::bad_argument(
                    "array has an invalid combination of keys; expected `counts` or `extents`",
                ));
            }
        };
        let element = reader.ty(unit, &self.of)?;
        let stride = self.stride_bits.map(|Number(bits)| bits);
        let ty = reader.builder.array_of(unit, element, &extents, stride)?;
        reader.add_type(ty, self.id.as_ref(), None)
    }

    /// Converts an array's dimensions.
    pub fn dimensions(mut self, known: &'a Known<'a>, dimensions: &[Dimension]) -> Self {
        let counts: Option<Vec<_>> = dimensions.iter().map(count).collect();
        // The short form `counts` has no index and no lower bound.
        match counts {
            Some(counts) => self.counts = Some(counts),
            None => {
                let extents = dimensions.iter().map(|dimension| ExtentOf::write(known, dimension));
                self.extents = Some(extents.collect());
            }
        }
        self
    }
}

/// Returns a dimension with a known or unknown element count.
fn extent(count: Option<Number>) -> Extent {
    count.map_or_else(Extent::unknown, |Number(count)| Extent::fixed(count))
}

/// Returns the element count, if the dimension has nothing else to state.
fn count(dimension: &Dimension) -> Option<Option<Number>> {
    match *dimension {
        Dimension { count: Count::Unknown, lower: None, index: None } => Some(None),
        Dimension { count: Count::Fixed(count), lower: None, index: None } => Some(Some(Number(count))),
        _ => None,
    }
}

impl<'a> Vector<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let unit = reader.unit(&self.unit)?;
        let element = reader.ty(unit, &self.of)?;
        let ty = reader.builder.vector_of(unit, element, self.count.0, self.packed == Some(true))?;
        reader.add_type(ty, self.id.as_ref(), None)
    }
}

impl<'a> Matrix<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let unit = reader.unit(&self.unit)?;
        let element = reader.ty(unit, &self.of)?;
        let major = if self.column_major == Some(true) { Major::Column } else { Major::Row };
        let stride = self.stride_bits.map(|Number(bits)| bits);
        let ty = reader.builder.matrix_of(unit, element, self.count.0, major, stride)?;
        reader.add_type(ty, self.id.as_ref(), None)
    }
}

impl<'a> CooperativeMatrix<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let Self { scope, rows, columns, usage, .. } = self;
        let unit = reader.unit(&self.unit)?;
        let element = reader.ty(unit, &self.of)?;
        let ty = reader.builder.cooperative_matrix(unit, element, scope, rows, columns, usage)?;
        reader.add_type(ty, self.id.as_ref(), None)
    }
}

impl<'a> Typedef<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let unit = reader.unit(&self.unit)?;
        let aliased = reader.maybe_type(unit, self.of.as_ref())?;
        let ty = reader.builder.typedef(unit, &self.name, aliased)?;
        reader.add_type(ty, self.id.as_ref(), Some(&self.name))
    }
}

impl<'a> Qualified<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let unit = reader.unit(&self.unit)?;
        let inner = reader.maybe_type(unit, self.of.as_ref())?;
        let ty = reader.builder.qualified(unit, self.qualifier.0, inner)?;
        reader.add_type(ty, self.id.as_ref(), None)
    }
}

impl<'a> Subroutine<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let unit = reader.unit(&self.unit)?;
        let parameters = self.parameters.iter().map(|ty| reader.ty(unit, ty)).collect::<Result<Vec<_>>>()?;
        let returns = reader.maybe_type(unit, self.returns.as_ref())?;
        let ty = if self.variadic == Some(true) {
            reader.builder.variadic_subroutine(unit, returns, &parameters)?
        } else {
            reader.builder.subroutine(unit, returns, &parameters)?
        };
        reader.add_type(ty, self.id.as_ref(), None)
    }
}

impl<'a> Pointer<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let unit = reader.unit(&self.unit)?;
        let to = reader.maybe_type(unit, self.to.as_ref())?;
        let kind = self.kind.map_or_else(PointerKind::default, |Word(kind)| kind);
        let space = self.space.map_or(Ok(SpaceId::DEFAULT), |space| reader.space(&space))?;
        let memory = self.memory_space.map(|Word(memory)| memory);
        let ty = reader.builder.pointer_of(unit, kind, to, space, memory)?;
        reader.add_type(ty, self.id.as_ref(), None)
    }
}

impl<'a> Incomplete<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let unit = reader.unit(&self.unit)?;
        let ty = reader.builder.incomplete(unit, self.kind.0, &self.name)?;
        reader.add_type(ty, self.id.as_ref(), Some(&self.name))
    }
}

/// Adds a structure, class or union, whose size is not constant without `bytes`.
fn composite<'a>(
    reader: &mut Reader<'a>,
    unit: UnitId,
    kind: CompositeKind,
    name: Option<&Text<'a>>,
    bytes: Option<Number>,
) -> Result<TypeId> {
    let name = name.map(|name| &**name);
    match bytes {
        Some(Number(bytes)) => reader.builder.composite(unit, kind, name, Some(bytes)),
        None => reader.builder.dynamic_composite(unit, kind, name),
    }
}

impl<'a> Structure<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let unit = reader.unit(&self.unit)?;
        let ty = composite(reader, unit, CompositeKind::Struct, self.name.as_ref(), self.bytes)?;
        reader.add_type(ty, self.id.as_ref(), self.name.as_ref())
    }
}

impl<'a> Class<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let unit = reader.unit(&self.unit)?;
        let ty = composite(reader, unit, CompositeKind::Class, self.name.as_ref(), self.bytes)?;
        reader.add_type(ty, self.id.as_ref(), self.name.as_ref())
    }
}

impl<'a> Union<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let unit = reader.unit(&self.unit)?;
        let ty = composite(reader, unit, CompositeKind::Union, self.name.as_ref(), self.bytes)?;
        reader.add_type(ty, self.id.as_ref(), self.name.as_ref())
    }
}

impl<'a> Enumeration<'a> {
    pub fn apply(self, reader: &mut Reader<'a>) -> Result<()> {
        let unit = reader.unit(&self.unit)?;
        let values = match (&self.of, self.bytes) {
            (Some(of), None) => EnumeratorType::Known(reader.ty(unit, of)?),
            (None, Some(Number(bytes))) => EnumeratorType::Bytes(bytes),
            _ => {
                return Err(Error::bad_argument(
                    "enumeration has an invalid combination of keys; expected `of` or `bytes`",
                ));
            }
        };
        let enumerators: Vec<_> =
            self.enumerators.iter().map(|(name, Integer(value))| (&**name, *value)).collect();
        let is_class = self.class == Some(true);
        let ty = reader.builder.enumeration_of(unit, self.name.as_deref(), values, &enumerators, is_class)?;
        reader.add_type(ty, self.id.as_ref(), self.name.as_ref())
    }
}
