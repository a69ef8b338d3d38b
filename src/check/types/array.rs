//! Arrays: DWARF 5 sections 5.5 and 5.13.

use gimli::constants as dw;

use super::{Compared, Found, Parts, constant, equal, of_tag};
use crate::check::attributes::only;
use crate::check::compare::Compare;
use crate::check::words::Words;
use crate::model::{Count, Dimension};
use crate::read::{Entry, Value};

impl<'a, 'o> Compare<'a, 'o> {
    pub(super) fn array(
        &self,
        dimensions: &[Dimension],
        stride_bits: Option<u64>,
        entry: Entry<'a, 'o>,
        parts: &mut Parts<'a, 'o>,
    ) -> Compared {
        let is_vector = entry.attr(dw::DW_AT_GNU_vector).is_some();
        equal("a vector", &false, &is_vector)?;
        equal("the size of an array", &None, &entry.number(dw::DW_AT_byte_size))?;
        let bytes = entry.number(dw::DW_AT_byte_stride).and_then(|bytes| bytes.checked_mul(8));
        let stride = bytes.or_else(|| entry.number(dw::DW_AT_bit_stride));
        equal("bits from element to element", &stride_bits, &stride)?;
        self.dimensions(dimensions, &mut entry.children(), parts)
    }

    pub(super) fn dimensions(
        &self,
        dimensions: &[Dimension],
        children: Found<'_, 'a, 'o>,
        parts: &mut Parts<'a, 'o>,
    ) -> Compared {
        for dimension in dimensions {
            let found = of_tag(children.next(), dw::DW_TAG_subrange_type)?;
            let all = [dw::DW_AT_count, dw::DW_AT_lower_bound, dw::DW_AT_type];
            only(found, |name| all.contains(&name))?;
            let lower = constant(found.attr(dw::DW_AT_lower_bound));
            equal("the first index", &dimension.lower.map(i128::from), &lower)?;
            parts.pairs.push((dimension.index, found.ty()));
            let value = found.attr(dw::DW_AT_count);
            match (dimension.count, value) {
                (Count::Unknown, None) => {}
                (Count::Fixed(count), Some(Value::Unsigned(found))) => {
                    equal("a number of elements", &count, found)?;
                }
                (Count::Variable(variable), Some(Value::Reference(found))) => {
                    parts.counts.push((variable, *found));
                }
                (Count::Value(loc), None | Some(Value::Expr(_))) => {
                    parts.value(loc, Some(64), found, Some(dw::DW_AT_count));
                }
                (expected, found) => {
                    let expected = match expected {
                        Count::Unknown => "no number of elements".into(),
                        Count::Fixed(count) => crate::error::Count(count, "element").to_string(),
                        Count::Variable(_) => "as many elements as a variable says".into(),
                        Count::Value(_) => "as many elements as an expression says".into(),
                    };
                    return Err((expected, found.words()));
                }
            }
        }
        match children.next() {
            None => Ok(()),
            Some(child) => Err((format!("{} dimensions", dimensions.len()), child.words())),
        }
    }
}
