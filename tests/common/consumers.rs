//! Consumers for tests: every preset, in every version and format, with required forms.

#![allow(dead_code, reason = "each test uses a part")]

use eitri::consumer::{Consumer, Tables};
use gimli::Format;

pub fn consumers() -> [Consumer; 4] {
    [Consumer::llvm(), Consumer::rocgdb(), Consumer::rocgdb_legacy(), Consumer::dwarf5()]
}

/// Every consumer in every version and format.
pub fn combinations() -> impl Iterator<Item = Consumer> {
    let formats = [Format::Dwarf32, Format::Dwarf64];
    let all = (2..=5).flat_map(move |version| formats.map(|format| (version, format)));
    consumers().into_iter().flat_map(move |consumer| {
        all.clone().map(move |(version, format)| {
            let mut consumer = consumer.clone();
            (consumer.version, consumer.format) = (version, format);
            consumer
        })
    })
}

/// Describes a consumer for messages.
pub fn named(consumer: &Consumer) -> String {
    let Consumer { name, version, format, forms, .. } = consumer;
    let shared_from_bytes = consumer.expressions.shared_from_bytes;
    let forms: Vec<_> = forms.iter().map(|(at, form)| format!("{at} as {form}")).collect();
    format!("{name} (DWARF {version}, {format:?}, {forms:?}, shared from {shared_from_bytes:?})")
}

/// The consumer with a version, format and forms chosen by `below`, which returns a number below its argument. If all
/// choices are 0, the consumer is unchanged.
pub fn varied(consumer: &Consumer, mut below: impl FnMut(usize) -> usize) -> Consumer {
    let mut consumer = consumer.clone();
    consumer.version = 5 - below(4) as u16;
    consumer.format = [Format::Dwarf32, Format::Dwarf64][below(2)];
    consumer.expressions.shared_from_bytes =
        [consumer.expressions.shared_from_bytes, None, Some(1), Some(40)][below(4)];
    consumer.entries.language_names = below(3) == 2;
    // The kind of name table depends on the version.
    let has_names = below(3) == 2;
    let is_five = consumer.version == 5;
    let names = has_names && is_five;
    let pubs = has_names && !is_five;
    consumer.tables = Tables { names, pubs, aranges: below(3) == 2, ..Tables::default() };
    for (at, forms) in FORMS {
        if below(3) == 2 {
            consumer.forms.push((*at, forms[below(forms.len())]));
        }
    }
    consumer
}

/// Forms to require: those of the attribute's class, and others, which are ignored.
const FORMS: &[(gimli::DwAt, &[gimli::DwForm])] = &[
    (
        gimli::DW_AT_name,
        &[
            gimli::DW_FORM_string,
            gimli::DW_FORM_strp,
            gimli::DW_FORM_line_strp,
            gimli::DW_FORM_strx,
            gimli::DW_FORM_strx1,
            gimli::DW_FORM_strx2,
            gimli::DW_FORM_strx3,
            gimli::DW_FORM_strx4,
            gimli::DW_FORM_data1,
        ],
    ),
    (
        gimli::DW_AT_type,
        &[
            gimli::DW_FORM_ref1,
            gimli::DW_FORM_ref4,
            gimli::DW_FORM_ref8,
            gimli::DW_FORM_ref_udata,
            gimli::DW_FORM_ref_addr,
        ],
    ),
    (
        gimli::DW_AT_location,
        &[
            gimli::DW_FORM_block1,
            gimli::DW_FORM_block2,
            gimli::DW_FORM_block4,
            gimli::DW_FORM_block,
            gimli::DW_FORM_exprloc,
            gimli::DW_FORM_sec_offset,
            gimli::DW_FORM_loclistx,
        ],
    ),
    (gimli::DW_AT_low_pc, &[gimli::DW_FORM_addr, gimli::DW_FORM_addrx, gimli::DW_FORM_data8]),
    (gimli::DW_AT_high_pc, NUMBERS),
    (gimli::DW_AT_ranges, &[gimli::DW_FORM_sec_offset, gimli::DW_FORM_rnglistx]),
    (gimli::DW_AT_decl_line, NUMBERS),
    (gimli::DW_AT_decl_file, NUMBERS),
    (gimli::DW_AT_byte_size, NUMBERS),
    (gimli::DW_AT_data_member_location, NUMBERS),
    (gimli::DW_AT_external, &[gimli::DW_FORM_flag, gimli::DW_FORM_flag_present]),
    (gimli::DW_AT_const_value, &[gimli::DW_FORM_block1, gimli::DW_FORM_block4, gimli::DW_FORM_exprloc]),
];

const NUMBERS: &[gimli::DwForm] = &[
    gimli::DW_FORM_data1,
    gimli::DW_FORM_data2,
    gimli::DW_FORM_data4,
    gimli::DW_FORM_data8,
    gimli::DW_FORM_udata,
    gimli::DW_FORM_sdata,
    gimli::DW_FORM_implicit_const,
    gimli::DW_FORM_addr,
];
