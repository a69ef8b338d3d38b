//! Types in the sections as tree facts.

use gimli::constants as dw;
use gimli::{AttributeValue, Error};

use super::Tree;
use super::found::{Die, Found, own};
use crate::agreement::modules::VENDOR;

type Result<T> = std::result::Result<T, Error>;

impl<'a> Found<'_, 'a> {
    /// A type, or a part of one. `None` for base types that only expressions reference.
    pub(super) fn part_of_type(&self, die: &Die<'a>) -> Result<Option<Tree>> {
        let kind = match die.tag {
            dw::DW_TAG_base_type => "base type",
            dw::DW_TAG_unspecified_type => "unspecified type",
            dw::DW_TAG_pointer_type => "pointer",
            dw::DW_TAG_reference_type => "reference",
            dw::DW_TAG_rvalue_reference_type => "rvalue reference",
            dw::DW_TAG_ptr_to_member_type => "member pointer",
            dw::DW_TAG_string_type => "string",
            dw::DW_TAG_array_type => "array",
            dw::DW_TAG_subrange_type if die.around != Some(dw::DW_TAG_array_type) => "subrange",
            dw::DW_TAG_subrange_type => "dimension",
            dw::DW_TAG_structure_type => "structure",
            dw::DW_TAG_class_type => "class",
            dw::DW_TAG_union_type => "union",
            dw::DW_TAG_enumeration_type => "enumeration",
            dw::DW_TAG_enumerator => "enumerator",
            dw::DW_TAG_typedef => "typedef",
            dw::DW_TAG_const_type => "const",
            dw::DW_TAG_volatile_type => "volatile",
            dw::DW_TAG_restrict_type => "restrict",
            dw::DW_TAG_atomic_type => "atomic",
            dw::DW_TAG_subroutine_type => "subroutine",
            dw::DW_TAG_member => "member",
            dw::DW_TAG_inheritance => "base",
            dw::DW_TAG_variant_part => "variant part",
            dw::DW_TAG_variant => "variant",
            dw::DW_TAG_template_type_parameter
            | dw::DW_TAG_template_value_parameter
            | dw::DW_TAG_GNU_template_template_param
            | dw::DW_TAG_GNU_template_parameter_pack => "template parameter",
            tag => panic!("an entry that nothing asks for: {tag}"),
        };
        let name = self.text(die, dw::DW_AT_name)?;
        let is_of_expressions = name.as_ref().is_some_and(|name| name.starts_with("unsigned_"));
        if die.tag == dw::DW_TAG_base_type && is_of_expressions {
            return Ok(None);
        }
        let mut tree = Tree::new(kind, Some(die.id));
        tree.may("name", name);
        tree.may("line", self.declared(die)?);
        tree.may("alignment", self.number(die, dw::DW_AT_alignment));
        tree.may("vendor", self.number(die, VENDOR));
        tree.is("declaration", self.flag(die, dw::DW_AT_declaration));
        tree.to("type", self.to(die, dw::DW_AT_type));
        tree.may("accessibility", self.number(die, dw::DW_AT_accessibility));
        let bytes = self.number(die, dw::DW_AT_byte_size);
        match die.tag {
            dw::DW_TAG_base_type => {
                tree.may("encoding", self.number(die, dw::DW_AT_encoding));
                tree.may("bytes", bytes);
                tree.may("bits", self.number(die, dw::DW_AT_bit_size));
            }
            dw::DW_TAG_pointer_type | dw::DW_TAG_reference_type | dw::DW_TAG_rvalue_reference_type => {
                // The default is the size of an address: 8 on every target of these tests.
                tree.add("bytes", bytes.unwrap_or(8));
                let consumer = self.context.consumer;
                tree.may("space", consumer.attributes.address_space.and_then(|at| self.number(die, at)));
                tree.may("memory", consumer.attributes.memory_space.and_then(|at| self.number(die, at)));
            }
            dw::DW_TAG_ptr_to_member_type => tree.to("class", self.to(die, dw::DW_AT_containing_type)),
            dw::DW_TAG_array_type => {
                tree.may("bytes", bytes);
                tree.is("vector", self.flag(die, dw::DW_AT_GNU_vector));
                let stride = self.number(die, dw::DW_AT_byte_stride).map(|bytes| 8 * bytes);
                tree.may("stride", stride.or(self.number(die, dw::DW_AT_bit_stride)));
            }
            dw::DW_TAG_subrange_type if kind == "subrange" => {
                tree.may("bytes", bytes);
                tree.may("bits", self.number(die, dw::DW_AT_bit_size));
                for (key, at) in [("lower", dw::DW_AT_lower_bound), ("upper", dw::DW_AT_upper_bound)] {
                    let bound = own(die, at);
                    let number = bound
                        .and_then(|bound| bound.sdata_value().or_else(|| Some(bound.udata_value()? as i64)));
                    tree.may(key, number);
                }
            }
            dw::DW_TAG_subrange_type => {
                tree.ids.clear();
                tree.may("lower", own(die, dw::DW_AT_lower_bound).and_then(|lower| lower.sdata_value()));
                if let Some(count) = own(die, dw::DW_AT_count) {
                    match (self.reference(count), count.udata_value()) {
                        (Some(variable), _) => tree.to("count", Some(variable)),
                        (None, Some(count)) => tree.add("count", count),
                        (None, None) => tree.add("count", "a number"),
                    }
                }
            }
            dw::DW_TAG_structure_type | dw::DW_TAG_class_type | dw::DW_TAG_union_type => {
                tree.may("bytes", bytes);
                tree.may("passed", self.number(die, dw::DW_AT_calling_convention));
            }
            dw::DW_TAG_enumeration_type => {
                tree.may("bytes", bytes);
                tree.is("enum class", self.flag(die, dw::DW_AT_enum_class));
            }
            dw::DW_TAG_enumerator => tree.may("value", own(die, dw::DW_AT_const_value).map(constant)),
            dw::DW_TAG_member => {
                tree.add("bit", self.bit(die));
                tree.may("bits", self.number(die, dw::DW_AT_bit_size));
                tree.is("mutable", self.flag(die, dw::DW_AT_mutable));
                tree.is("artificial", self.flag(die, dw::DW_AT_artificial));
            }
            dw::DW_TAG_inheritance => {
                tree.is("virtual", self.number(die, dw::DW_AT_virtuality) == Some(1));
                match self.byte(die) {
                    Some(byte) => tree.add("byte", byte),
                    None => tree.may("offset", expression(die)),
                }
            }
            dw::DW_TAG_variant_part => tree.is("discriminant", self.is_first(die)),
            dw::DW_TAG_variant => tree.add("values", self.values(die)),
            _ if kind == "template parameter" => {
                tree.is("default", self.flag(die, dw::DW_AT_default_value));
                tree.add(
                    "of",
                    match die.tag {
                        dw::DW_TAG_template_type_parameter => "type",
                        dw::DW_TAG_template_value_parameter => "value",
                        dw::DW_TAG_GNU_template_template_param => "template",
                        _ => "pack",
                    },
                );
                tree.may("template", self.text(die, dw::DW_AT_GNU_template_name)?);
                tree.may("value", self.value(die));
            }
            _ => {}
        }
        self.in_scope(die, None, &mut tree)?;
        Ok(Some(tree))
    }

    /// Whether the discriminant is the first member of the variant part.
    fn is_first(&self, die: &Die<'a>) -> bool {
        let first = self.children(die).find(|child| child.tag == dw::DW_TAG_member).map(|child| child.id);
        let discriminant = own(die, dw::DW_AT_discr).and_then(|discr| self.reference(discr));
        assert_eq!(discriminant, first);
        discriminant.is_some()
    }

    /// Offset in bytes from the start of the object: a constant, or in DWARF 2 the operand of `DW_OP_plus_uconst`.
    fn byte(&self, die: &Die<'a>) -> Option<u64> {
        let location = own(die, dw::DW_AT_data_member_location)?;
        if self.context.consumer.version > 2 {
            return location.udata_value();
        }
        let bytes = expression(die)?;
        let mut number = gimli::EndianSlice::new(bytes.strip_prefix(&[0x23])?, gimli::LittleEndian);
        gimli::leb128::read::unsigned(&mut number).ok().filter(|_| number.is_empty())
    }

    /// First bit of a member, counted from the start of the object.
    fn bit(&self, die: &Die<'a>) -> u64 {
        let number = |at| self.number(die, at);
        if let Some(bit) = number(dw::DW_AT_data_bit_offset) {
            return bit;
        }
        let start = 8 * self.byte(die).expect("a place in the object");
        let Some(from_most) = number(dw::DW_AT_bit_offset) else { return start };
        // DWARF 3 section 5.5.6: the bits to the left of the field in its storage unit.
        if self.big_endian {
            return start + from_most;
        }
        let unit = 8 * number(dw::DW_AT_byte_size).expect("a storage unit");
        start + unit - from_most - number(dw::DW_AT_bit_size).expect("a size")
    }

    /// Values of a variant, in the model's type.
    fn values(&self, die: &Die<'a>) -> Vec<eitri::model::VariantValues> {
        use eitri::model::VariantValues;
        if let Some(value) = own(die, dw::DW_AT_discr_value) {
            return vec![VariantValues::Single(constant(value))];
        }
        let Some(list) = own(die, dw::DW_AT_discr_list) else { return Vec::new() };
        let AttributeValue::Block(mut bytes) = list.raw_value() else { panic!("a block") };
        // The modules have only values below 64, which are equal with and without a sign.
        let mut all = Vec::new();
        while !bytes.is_empty() {
            let mut next = || i128::from(gimli::leb128::read::unsigned(&mut bytes).expect("a number"));
            all.push(match next() {
                0 => VariantValues::Single(next()),
                1 => VariantValues::Range(next(), next()),
                other => panic!("a descriptor {other}"),
            });
        }
        all
    }
}

/// A signed number.
fn constant(value: &gimli::Attribute<crate::agreement::common::Slice<'_>>) -> i128 {
    match value.raw_value() {
        AttributeValue::Udata(value) => value.into(),
        AttributeValue::Sdata(value) => value.into(),
        other => panic!("a constant: {other:?}"),
    }
}

/// Expression of a location in an object.
fn expression(die: &Die<'_>) -> Option<Vec<u8>> {
    match own(die, dw::DW_AT_data_member_location)?.raw_value() {
        AttributeValue::Block(bytes) => Some(bytes.slice().to_vec()),
        AttributeValue::Exprloc(expression) => Some(expression.0.slice().to_vec()),
        _ => None,
    }
}
