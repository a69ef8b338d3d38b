//! Arrays, vectors and matrices.

use crate::build::builder::Builder;
use crate::build::ids::known;
use crate::error::{Count as Counted, Error, Quantity, Result};
use crate::model::{Count, Dimension, Loc, Type, TypeId, TypeKind, UnitId, Val, VariableId};

/// An array dimension, for [`Builder::array_of`]. DWARF 5 sections 5.5 and 5.13.
#[derive(Debug, Clone, PartialEq)]
pub struct Extent {
    count: Elements,
    lower: Option<i64>,
    index: Option<TypeId>,
}

#[derive(Debug, Clone, PartialEq)]
enum Elements {
    Unknown,
    Fixed(u64),
    Variable(VariableId),
    Value(Val),
}

impl Extent {
    /// Returns a dimension with unknown size: a flexible array.
    pub fn unknown() -> Self {
        Self::new(Elements::Unknown)
    }

    /// Returns a dimension with `count` elements.
    pub fn fixed(count: u64) -> Self {
        Self::new(Elements::Fixed(count))
    }

    /// Returns a dimension whose element count is a variable's value, usually an artificial variable's.
    pub fn variable(count: VariableId) -> Self {
        Self::new(Elements::Variable(count))
    }

    /// Returns a dimension whose element count is computed from the machine's state.
    pub fn value(count: Val) -> Self {
        Self::new(Elements::Value(count))
    }

    /// Sets the first element's index, where it is not the language's default (0 for C and most languages).
    #[must_use]
    pub fn from(mut self, lower: i64) -> Self {
        self.lower = Some(lower);
        self
    }

    /// Sets the index's type.
    #[must_use]
    pub fn index(mut self, ty: TypeId) -> Self {
        self.index = Some(ty);
        self
    }

    fn new(count: Elements) -> Self {
        Self { count, lower: None, index: None }
    }
}

/// What a matrix's vectors are; they are consecutive in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Major {
    /// Rows.
    Row,
    /// Columns.
    Column,
}

impl Builder {
    /// Adds an array with each dimension's element count, outermost first; `None` where unknown.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`](crate::error::ErrorKind::UnknownId);
    /// [`ErrorKind::BadArgument`](crate::error::ErrorKind::BadArgument) if an element is not whole bytes.
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::model::{BaseEncoding, Loc, SourceLine, Val};
    /// # use eitri::target::{SpaceId, Target};
    /// # let gpu = Target::named("amdgpu-gfx1030-wave32")?;
    /// # let (s4, v3, v40) = (gpu.sgpr(4)?, gpu.vgpr(3)?, gpu.vgpr(40)?);
    /// # let mut m = Builder::new(gpu);
    /// # let unit = m.unit("a.cl");
    /// # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    /// // int[4][3], and an array whose length is not known.
    /// let grid = m.array(unit, int, &[Some(4), Some(3)])?;
    /// let rest = m.array(unit, int, &[None])?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn array(&mut self, unit: UnitId, of: TypeId, counts: &[Option<u64>]) -> Result<TypeId> {
        let types: Vec<_> =
            counts.iter().map(|count| count.map_or_else(Extent::unknown, Extent::fixed)).collect();
        self.array_of(unit, of, &types, None)
    }

    /// Adds an array with dimensions of any kind, outermost first. `stride_bits` is the distance in bits from an
    /// element to the next, where it is not the size of the element's type: in a packed array, it is less.
    ///
    /// ```
    /// # use eitri::build::{Builder, Extent};
    /// # use eitri::model::{BaseEncoding, Loc};
    /// # use eitri::target::Target;
    /// # let mut m = Builder::new(Target::x86_64());
    /// # let unit = m.unit("a.c");
    /// # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    /// # let long = m.base_type(unit, "long", BaseEncoding::Signed, 64)?;
    /// # let rsi = m.target().register_named("rsi")?;
    /// # let kernel = m.function(unit, "k")?.code("k", 64).id();
    /// let n = m.variable(kernel, "n", long)?.artificial().always(Loc::register(rsi))?.id();
    /// let rows = m.array_of(unit, int, &[Extent::variable(n), Extent::fixed(4).from(1)], None)?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`](crate::error::ErrorKind::UnknownId) where a type or variable does not exist or belongs
    /// to another unit; [`ErrorKind::BadArgument`](crate::error::ErrorKind::BadArgument) if an element is not whole
    /// bytes; [`ErrorKind::Limit`](crate::error::ErrorKind::Limit) if a stride is 0, or a
    /// dimension's last index has more than 63 bits; the same errors as
    /// [`VariableBuilder::live`](crate::build::VariableBuilder::live) for a number.
    pub fn array_of(
        &mut self,
        unit: UnitId,
        of: TypeId,
        extents: &[Extent],
        stride_bits: Option<u64>,
    ) -> Result<TypeId> {
        self.known_types(unit, [of])?;
        self.known_unit(unit)?;
        let dimensions = self
            .dimensions(unit, of, extents, stride_bits)
            .map_err(|error| error.or_at(self.module.at_unit(unit)))?;
        let fixed = |dimension: &Dimension| match dimension.count {
            Count::Fixed(count) => Some(count),
            _ => None,
        };
        // A size that is not constant makes the array's size unknown.
        let elements = dimensions.iter().try_fold(1u64, |total, one| total.checked_mul(fixed(one)?));
        let bits = elements.and_then(|elements| {
            let stride = stride_bits.or(self.module.types[of].bits)?;
            elements.checked_mul(stride)
        });
        Ok(self.intern(unit, TypeKind::Array { of, dimensions, stride_bits }, bits))
    }

    fn dimensions(
        &mut self,
        unit: UnitId,
        of: TypeId,
        extents: &[Extent],
        stride_bits: Option<u64>,
    ) -> Result<Vec<Dimension>> {
        if stride_bits.is_none() {
            // An explicit stride determines the distance, so that elements need not be whole bytes.
            self.whole_bytes(of)?;
        }
        // The elements of a packed array have fewer bits than their type: DWARF 5 section 5.5.
        if stride_bits == Some(0) {
            return Err(short_stride("an array", 1, 0));
        }
        let mut dimensions = Vec::with_capacity(extents.len());
        for extent in extents {
            self.known_types(unit, extent.index)?;
            let count = match &extent.count {
                Elements::Unknown => Count::Unknown,
                Elements::Fixed(count) => {
                    let first = i128::from(extent.lower.unwrap_or(0));
                    // The last index must be a signed number in DWARF.
                    if extent.lower.is_some() && first + i128::from(*count) > i128::from(i64::MAX) {
                        let most = i64::MAX as u128;
                        let end = (first + i128::from(*count)).unsigned_abs();
                        return Err(Error::limit(Quantity::DimensionEnd, 0..=most, end));
                    }
                    Count::Fixed(*count)
                }
                Elements::Variable(variable) => {
                    let scope = self.module.variables.get(*variable).map(|variable| variable.scope);
                    let is_there = scope.is_some_and(|scope| self.module.scopes[scope].unit == unit);
                    known(is_there, || self.module.unknown_in(*variable, " of this unit"))?;
                    Count::Variable(*variable)
                }
                Elements::Value(number) => {
                    let loc = Loc::value(number.clone());
                    self.check_location(unit, &loc, None, "the number of elements")?;
                    Count::Value(self.module.locs.push(&loc)?)
                }
            };
            dimensions.push(Dimension { count, lower: extent.lower, index: extent.index });
        }
        Ok(dimensions)
    }

    /// Adds a vector with `count` elements. A three-element vector occupies as much memory as four elements, as in
    /// OpenCL; in a [shader](crate::target::Target::shader), as three.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`](crate::error::ErrorKind::UnknownId);
    /// [`ErrorKind::BadArgument`](crate::error::ErrorKind::BadArgument) if an element is not whole bytes.
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri::build::Builder;
    /// # use eitri::model::{BaseEncoding, Loc, SourceLine, Val};
    /// # use eitri::target::{SpaceId, Target};
    /// # let gpu = Target::named("amdgpu-gfx1030-wave32")?;
    /// # let (s4, v3, v40) = (gpu.sgpr(4)?, gpu.vgpr(3)?, gpu.vgpr(40)?);
    /// # let mut m = Builder::new(gpu);
    /// # let unit = m.unit("a.cl");
    /// # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    /// // A vector of four, as `int4` of OpenCL.
    /// let int4 = m.vector(unit, int, 4)?;
    /// # Ok::<(), eitri::Error>(())
    /// ```
    pub fn vector(&mut self, unit: UnitId, of: TypeId, count: u64) -> Result<TypeId> {
        let room = if self.has_padding(count) { 4 } else { count };
        self.vector_in(unit, of, count, room)
    }

    /// Adds a vector with `count` elements without padding: a three-element vector occupies three elements on any
    /// target, as WGSL's `vec3` does, 12 bytes for 4-byte elements. Set its alignment with
    /// [`describe_type`](Self::describe_type).
    ///
    /// # Errors
    /// Same errors as [`vector`](Self::vector).
    pub fn packed_vector(&mut self, unit: UnitId, of: TypeId, count: u64) -> Result<TypeId> {
        self.vector_in(unit, of, count, count)
    }

    pub(crate) fn vector_of(
        &mut self,
        unit: UnitId,
        of: TypeId,
        count: u64,
        is_packed: bool,
    ) -> Result<TypeId> {
        if is_packed { self.packed_vector(unit, of, count) } else { self.vector(unit, of, count) }
    }

    /// Returns whether a vector that is not packed occupies an additional element.
    fn has_padding(&self, count: u64) -> bool {
        count == 3 && !self.module.target.is_shader()
    }

    /// Adds a vector that occupies `room` elements.
    fn vector_in(&mut self, unit: UnitId, of: TypeId, count: u64, room: u64) -> Result<TypeId> {
        self.known_types(unit, [of])?;
        self.known_unit(unit)?;
        self.whole_bytes(of).map_err(|error| error.or_at(self.module.at_unit(unit)))?;
        // Vectors without padding in either form are one type.
        let is_packed = self.has_padding(count) && room == count;
        let bits = |count| self.module.types[of].bits.and_then(|bits| bits.checked_mul(count));
        let value_bits = bits(count);
        let bits = bits(room);
        let kind = TypeKind::Vector { of, count, is_packed };
        Ok(self.intern_type(Type { value_bits, ..self.type_of_unit(unit, kind, bits) }))
    }

    /// Adds a matrix with `count` vectors, its columns or its rows. Each vector occupies its usual size, so that a
    /// three-element vector occupies four elements; in a [shader](crate::target::Target::shader), three.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`](crate::error::ErrorKind::UnknownId);
    /// [`ErrorKind::BadArgument`](crate::error::ErrorKind::BadArgument) if `vector` is not a vector.
    pub fn matrix(&mut self, unit: UnitId, vector: TypeId, count: u64, major: Major) -> Result<TypeId> {
        self.matrix_of(unit, vector, count, major, None)
    }

    /// Adds a matrix with `count` vectors, its columns or its rows. `stride_bits` is the distance in bits from a vector
    /// to the next, where it is not a vector's size: SPIR-V's `MatrixStride`.
    ///
    /// ```
    /// # use eitri::build::{Builder, Major};
    /// # use eitri::model::BaseEncoding;
    /// # use eitri::target::Target;
    /// # let mut m = Builder::new(Target::shader());
    /// # let unit = m.unit("a.frag");
    /// # let float = m.base_type(unit, "float", BaseEncoding::Float, 32)?;
    /// let vec3 = m.vector(unit, float, 3)?;
    /// // GLSL's `mat3` in the layout std140: 48 bytes, and not 36.
    /// let mat3 = m.matrix_of(unit, vec3, 3, Major::Column, Some(128))?;
    /// assert_eq!(m.finish()?.ty(mat3).bits(), Some(384));
    /// # Ok::<(), eitri::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`](crate::error::ErrorKind::UnknownId);
    /// [`ErrorKind::BadArgument`](crate::error::ErrorKind::BadArgument) if `vector` is not a vector;
    /// [`ErrorKind::Limit`](crate::error::ErrorKind::Limit) if the stride is less than a vector.
    pub fn matrix_of(
        &mut self,
        unit: UnitId,
        vector: TypeId,
        count: u64,
        major: Major,
        stride_bits: Option<u64>,
    ) -> Result<TypeId> {
        self.known_types(unit, [vector])?;
        self.known_unit(unit)?;
        let element = &self.module.types[vector];
        if !matches!(element.kind, TypeKind::Vector { .. }) {
            let what = format!(
                "{} is not a vector; expected a vector as the column or row of a matrix",
                self.module.called(vector)
            );
            return Err(Error::bad_argument(what).or_at(self.module.at_unit(unit)));
        }
        let room = element.bits.unwrap_or(0);
        if let Some(stride) = stride_bits.filter(|&stride| stride == 0 || stride < room) {
            let error = short_stride("a matrix", room, stride);
            return Err(error.or_at(self.module.at_unit(unit)));
        }
        let is_column_major = major == Major::Column;
        let bits = stride_bits.or(element.bits).and_then(|bits| bits.checked_mul(count));
        Ok(self.intern(unit, TypeKind::Matrix { of: vector, count, is_column_major, stride_bits }, bits))
    }

    /// Adds a cooperative matrix, whose elements the invocations in a scope share. `scope` and `usage` are SPIR-V's
    /// numbers: 3 for a subgroup; 0 for matrix A, 1 for matrix B, 2 for the accumulator. The type has no size. Only
    /// `NonSemantic.Shader.DebugInfo.101` encodes it; in DWARF and in other versions it is an omission.
    ///
    /// # Errors
    /// [`ErrorKind::UnknownId`](crate::error::ErrorKind::UnknownId).
    pub fn cooperative_matrix(
        &mut self,
        unit: UnitId,
        of: TypeId,
        scope: u32,
        rows: u32,
        columns: u32,
        usage: u32,
    ) -> Result<TypeId> {
        self.known_types(unit, [of])?;
        self.known_unit(unit)?;
        Ok(self.intern(unit, TypeKind::CooperativeMatrix { of, scope, rows, columns, usage }, None))
    }

    /// Rejects elements that are not whole bytes, because DWARF would place consecutive elements differently.
    fn whole_bytes(&self, of: TypeId) -> Result<()> {
        match self.module.types[of].bits {
            Some(bits) if !bits.is_multiple_of(8) => Err(Error::bad_argument(format!(
                "element has {bits}; expected whole bytes",
                bits = Counted(bits, "bit")
            ))),
            _ => Ok(()),
        }
    }
}

/// Returns the error for a stride less than the part, whose parts would overlap.
fn short_stride(whole: &str, part_bits: u64, stride_bits: u64) -> Error {
    let accepted = u128::from(part_bits.max(1))..=u128::MAX;
    Error::limit(Quantity::StrideBits(whole.into()), accepted, stride_bits.into())
}
