//! Entries of arrays: DWARF 5 sections 5.5 and 5.13.

use crate::error::Result;
use crate::lower::dies::Dies;
use crate::model::{Count, Dimension, TypeId};
use crate::omission::{Property, Subject};

impl Dies<'_> {
    pub(super) fn array(
        &mut self,
        id: TypeId,
        of: TypeId,
        dimensions: &[Dimension],
        stride_bits: Option<u64>,
    ) -> Result<()> {
        self.info.begin_entry(gimli::DW_TAG_array_type, true, Some(self.expressions.entries.ty(id)));
        self.type_of(Some(of));
        self.stride(stride_bits);
        self.described(&self.module.types[id]);
        self.info.end_entry();
        for dimension in dimensions {
            self.dimension(id, dimension)?;
        }
        self.info.end_children();
        Ok(())
    }

    /// Writes the distance between elements, if it is not the size of an element.
    pub(super) fn stride(&mut self, bits: Option<u64>) {
        match bits {
            None => {}
            Some(bits) if bits.is_multiple_of(8) => {
                self.info.unsigned(gimli::DW_AT_byte_stride, bits / 8);
            }
            Some(bits) => self.info.unsigned(gimli::DW_AT_bit_stride, bits),
        }
    }

    /// Writes a dimension of a constant number of elements.
    pub(super) fn fixed_dimension(&mut self, count: u64) {
        self.info.begin_entry(gimli::DW_TAG_subrange_type, false, None);
        self.info.unsigned(gimli::DW_AT_count, count);
        self.info.end_entry();
    }

    fn dimension(&mut self, array: TypeId, dimension: &Dimension) -> Result<()> {
        self.info.begin_entry(gimli::DW_TAG_subrange_type, false, None);
        self.type_of(dimension.index);
        if let Some(lower) = dimension.lower {
            self.info.signed(gimli::DW_AT_lower_bound, lower);
        }
        match dimension.count {
            Count::Unknown => {}
            Count::Fixed(count) => self.info.unsigned(gimli::DW_AT_count, count),
            Count::Variable(variable) => {
                // The entries of a function's variables are in its abstract instance if it has no code.
                let module = self.module;
                let function = module.function_of(module.variables[variable].scope);
                let has_code = function.is_none_or(|function| module.functions[function].address.is_some());
                let entry = match has_code {
                    true => self.expressions.entries.variable(variable),
                    false => self.expressions.entries.origin(variable),
                };
                self.info.reference(gimli::DW_AT_count, entry);
            }
            Count::Value(number) => {
                if self.expressions.number_of(Subject::Type(array), Property::Count, number)? {
                    self.expression_attribute(gimli::DW_AT_count);
                }
            }
        }
        self.info.end_entry();
        Ok(())
    }
}
