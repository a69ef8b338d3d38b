//! Elements of an array, by the array's entry.

use gimli::constants as dw;

use super::attributes::TypeProperty;
use super::context::Context;
use super::evaluator::Evaluator;
use super::fault::{Fault, error};
use super::location::Location;
use super::machine::Machine;
use crate::error::Count;
use crate::read::{self, ResolvedValue};

/// Elements of an array in a stopped program: see [`Elements::new`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Elements {
    counts: Vec<u64>,
    /// Distance between neighbours in each dimension, in bits.
    strides: Vec<i128>,
    start: Location,
}

impl Elements {
    /// Evaluates where the elements of an array object are: bounds, counts and strides can be constants, expressions, and
    /// variables, which the machine knows (DWARF 5 sections 2.19, 5.5 and 5.13). The entry is an array type, or a type that
    /// is an array without its qualifiers. The context needs a target; unit and encoding are those of the entry.
    ///
    /// # Errors
    /// An evaluation error if the type is not an array, a dimension has no count, as in `int a[]`, or a size is unknown; the
    /// errors of [`Evaluator::property`] and [`Evaluator::data_location`].
    pub fn new(
        array: read::Entry<'_, '_>,
        object: &Location,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Self, Fault> {
        let array = array.unqualified().filter(|ty| ty.tag() == dw::DW_TAG_array_type);
        let array = array.ok_or_else(|| error("the type is not an array"))?;
        let unit = array.unit();
        let context = &Context { unit: unit.offset, encoding: unit.encoding, ..*context };
        let start = match array.attr(dw::DW_AT_data_location) {
            Some(ResolvedValue::Expr(expr)) => {
                Evaluator::new().data_location(Some(expr), object, machine, context)?
            }
            _ => object.clone(),
        };
        let is_dimension = |child: &read::Entry<'_, '_>| {
            matches!(child.tag(), dw::DW_TAG_subrange_type | dw::DW_TAG_enumeration_type)
        };
        let dimensions: Vec<_> = array.children().filter(is_dimension).collect();
        let mut counts = Vec::with_capacity(dimensions.len());
        for dimension in &dimensions {
            counts.push(match dimension.count() {
                Some(count) => count,
                None => count(*dimension, object, machine, context)?,
            });
        }
        let mut next = match stride(array, object, machine, context)? {
            Some(stride) => stride,
            None => {
                let bits = array.ty().and_then(read::Entry::size_bits);
                bits.ok_or_else(|| error("the size of the elements is unknown"))?.into()
            }
        };
        // The last index varies fastest, unless the array is in column-major order.
        let is_column_major = array.number(dw::DW_AT_ordering) == Some(dw::DW_ORD_col_major.0.into());
        let mut order: Vec<usize> = (0..dimensions.len()).collect();
        if !is_column_major {
            order.reverse();
        }
        let mut strides = vec![0; dimensions.len()];
        for index in order {
            let stride = stride(dimensions[index], object, machine, context)?.unwrap_or(next);
            strides[index] = stride;
            next = stride.checked_mul(counts[index].into()).ok_or_else(too_large)?;
        }
        Ok(Self { counts, strides, start })
    }

    /// Returns the number of elements in each dimension, in the order of the source.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Returns the location of an element, by an index for each dimension, counted from 0 also in languages whose arrays begin
    /// elsewhere.
    ///
    /// # Errors
    /// An evaluation error if there is no such element, or it is outside the storage.
    pub fn location(&self, indices: &[u64]) -> Result<Location, Fault> {
        if indices.len() != self.counts.len() {
            let dimensions = Count(self.counts.len(), "dimension");
            return Err(error(format!("the array has {dimensions}; {} are given", indices.len())));
        }
        let mut by = Some(0i128);
        for ((index, count), stride) in indices.iter().zip(&self.counts).zip(&self.strides) {
            if index >= count {
                return Err(error(format!("index {index} is out of range 0..{count}")));
            }
            by = by.and_then(|by| by.checked_add(i128::from(*index).checked_mul(*stride)?));
        }
        self.start.clone().moved(by.ok_or_else(too_large)?)
    }
}

/// Evaluates the number of elements in a dimension that is not constant.
fn count(
    dimension: read::Entry<'_, '_>,
    object: &Location,
    machine: &dyn Machine,
    context: &Context<'_>,
) -> Result<u64, Fault> {
    let count = match bound(dimension, dw::DW_AT_count, object, machine, context)? {
        Some(count) => count,
        None => {
            let upper = bound(dimension, dw::DW_AT_upper_bound, object, machine, context)?;
            let upper = upper.ok_or_else(|| error("the number of elements in a dimension is unknown"))?;
            let lower = bound(dimension, dw::DW_AT_lower_bound, object, machine, context)?;
            upper - lower.unwrap_or_else(|| dimension.default_lower_bound()) + 1
        }
    };
    // An upper bound below the lower bound: no elements.
    u64::try_from(count.max(0)).map_err(|_| too_large())
}

/// Evaluates a stride in bits.
fn stride(
    entry: read::Entry<'_, '_>,
    object: &Location,
    machine: &dyn Machine,
    context: &Context<'_>,
) -> Result<Option<i128>, Fault> {
    match bound(entry, dw::DW_AT_byte_stride, object, machine, context)? {
        Some(bytes) => bytes.checked_mul(8).ok_or_else(too_large).map(Some),
        None => bound(entry, dw::DW_AT_bit_stride, object, machine, context),
    }
}

/// Evaluates an attribute that is a number, an expression or a variable.
fn bound(
    entry: read::Entry<'_, '_>,
    name: gimli::DwAt,
    object: &Location,
    machine: &dyn Machine,
    context: &Context<'_>,
) -> Result<Option<i128>, Fault> {
    let unknown = || error("a bound of the array is neither a number, an expression nor a variable");
    let property = match entry.attr(name) {
        None => return Ok(None),
        Some(ResolvedValue::Signed(number)) => return Ok(Some(number.into())),
        Some(ResolvedValue::Expr(expr)) => TypeProperty::Expression(expr),
        Some(ResolvedValue::Reference(offset)) => {
            let variable = machine.entry(offset).zip(machine.variable_type(offset));
            let (variable, ty) = variable.ok_or_else(unknown)?;
            TypeProperty::Variable { location: variable.body, ty }
        }
        Some(value) => return value.unsigned().map(|number| Some(number.into())).ok_or_else(unknown),
    };
    let value = Evaluator::new().property(property, Some(object), machine, context)?;
    let is_signed = value.ty().encoding.is_signed();
    // A generic value is an address-sized number, whose sign the language knows.
    let number =
        if is_signed || value.ty().is_generic() { value.as_i128() } else { value.as_u64().map(i128::from) };
    number.map(Some).ok_or_else(unknown)
}

fn too_large() -> Fault {
    error("the array's size is too large")
}
