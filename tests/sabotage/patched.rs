//! Faults in the bytes of sections, which no module can describe.

use eitri::build::Builder;
use eitri::check::FindingKind::{
    self, Attribute, Code, Evaluation, Extra, Line, Location, MissingEntry, Range, Type, Unreadable,
};
use eitri::emit::RelocationTarget;
use eitri::emit::elf::new_object;
use eitri::lower::Consumer;
use eitri::model::{BaseEncoding, LineTableRow as LineRow, Loc, Module, SourceLine};
use eitri::target::{SpaceId, Target};
use gimli::constants as dw;

use crate::sabotage::patches::Patches;
use crate::sabotage::{Expected, all_found, code, missed, sections};

/// Two kernels, so that the lists of the second one need a base address; variables with every kind of location.
pub fn truth() -> Module {
    let mut m = Builder::new(Target::named("amdgpu-gfx1030-wave32").unwrap());
    let unit = m.unit("a.cl");
    m.describe_unit(unit).unwrap().directory("/src").producer("a compiler").language(0x15);
    let file = m.primary_file(unit).unwrap();
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
    let uint = m.base_type(unit, "uint", BaseEncoding::Unsigned, 32).unwrap();
    let structure = m.structure(unit, Some("s"), 8).unwrap();
    m.member(structure, "m", int, 4).unwrap();
    m.bit_field(structure, "f", uint, 3, 5).unwrap();
    let array = m.array(unit, int, &[Some(3)]).unwrap();
    let local = m.pointer_into(unit, Some(int), SpaceId::LOCAL).unwrap();
    let e = m.enumeration(unit, Some("e"), int, &[("off", 0), ("on", 1)]).unwrap();
    let global = m.symbol("data");
    m.variable(unit, "g", int).unwrap().external().always(Loc::global_symbol(global)).unwrap();
    m.constant(unit, "c", int, &[7, 0, 0, 0]).unwrap();
    let s4 = m.target().sgpr(4).unwrap();
    let v40 = m.target().vgpr(40).unwrap();
    let procedure = m.procedure(unit, &Loc::register(s4)).unwrap();
    let callee = m.function(unit, "in").unwrap().id();
    let i = m.variable(callee, "i", int).unwrap().id();
    m.function(unit, "in_too").unwrap();
    m.function(unit, "k").unwrap().code("k", 0x40).declared(SourceLine::new(file, 2));
    let kernel = m
        .function(unit, "other")
        .unwrap()
        .code("other", 0x40)
        .declared(SourceLine::new(file, 3))
        .kernel()
        .id();
    m.parameter(kernel, "p", int).unwrap().live(0..0x40, Loc::call(procedure)).unwrap();
    let mut x = m.variable(kernel, "x", int).unwrap();
    x.declared(SourceLine::new(file, 4)).live(0..0x10, Loc::register(s4)).unwrap();
    let x = x.live(0x10..0x30, Loc::lane(v40, 7)).unwrap().id();
    m.variable(kernel, "y", int).unwrap().live(0..0x40, Loc::per_lane(v40)).unwrap();
    let to_x = m.pointer(unit, Some(int)).unwrap();
    m.variable(kernel, "to_x", to_x).unwrap().live(0..0x40, Loc::pointer_to(x, 0)).unwrap();
    m.variable(kernel, "to_x_later", to_x).unwrap().live(4..0x40, Loc::pointer_to(x, 0)).unwrap();
    let pair = Loc::over([s4, m.target().sgpr(5).unwrap()]);
    m.variable(kernel, "st", structure).unwrap().live(0..0x40, pair).unwrap();
    m.variable(kernel, "ar", array).unwrap();
    m.variable(kernel, "lo", local).unwrap();
    m.variable(kernel, "en", e).unwrap();
    m.block(kernel, &[4..8, 0x10..0x20]).unwrap();
    let call = SourceLine::new(file, 9).column(4);
    let inlined = m.inlined(kernel, callee, core::slice::from_ref(&(8..0xc)), call).unwrap();
    m.inlined_variable(inlined, i).unwrap().live(8..0xc, Loc::register(s4)).unwrap();
    for (pc, line) in [(0, 3), (8, 4), (0x30, 7)] {
        m.row(kernel, LineRow::new(pc, file, line).column(2)).unwrap();
    }
    m.finish().unwrap()
}

type Patch = fn(&mut Patches);
/// Fault, patch, kind of finding, variable, pc.
type Fault = (&'static str, Patch, FindingKind, Option<&'static str>, Option<u64>);

const LISTS: &str = ".debug_loclists";
const RANGES: &str = ".debug_rnglists";
const LINE: &str = ".debug_line";
const VARIABLE: gimli::DwTag = dw::DW_TAG_variable;
const FUNCTION: gimli::DwTag = dw::DW_TAG_subprogram;

/// Index and position of the list of `x`: a base address, two pairs, the end. The expressions are `regx s4` and `regx
/// v40; offset_uconst 28`.
fn list(p: &mut Patches) -> (usize, usize) {
    let index = p.list_index("x");
    (index, p.list(LISTS, index))
}

#[rustfmt::skip]
const FAULTS: &[Fault] = &[
    // Location lists.
    ("a list from another base address", |p| { let (_, at) = list(p); p.bytes(LISTS)[at + 1] ^= 1; }, Location, Some("x"), Some(0)),
    ("the same, by its ranges", |p| { let (_, at) = list(p); p.bytes(LISTS)[at + 1] ^= 1; }, Range, Some("x"), None),
    ("a list from the unit's base", |p| {
        let (index, at) = list(p);
        p.bytes(LISTS)[12 + 4 * index..][..4].copy_from_slice(&(at as u32 - 12 + 2).to_le_bytes());
    }, Range, Some("x"), None),
    ("another variable's list", |p| { let (index, _) = list(p); let y = p.list_index("to_x_later"); let at = p.value(VARIABLE, "x", dw::DW_AT_location); assert_ne!(index, y); at[0] = y as u8; }, Location, Some("x"), Some(0)),
    ("an empty range", |p| { let (_, at) = list(p); p.bytes(LISTS)[at + 4] = 0; }, Range, Some("x"), None),
    ("a reversed range", |p| { let (_, at) = list(p); (p.bytes(LISTS)[at + 3], p.bytes(LISTS)[at + 4]) = (0x10, 0); }, Range, Some("x"), None),
    ("a range behind the function", |p| { let (_, at) = list(p); let all = p.bytes(LISTS); let second = at + 6 + usize::from(all[at + 5]); all[second + 2] = 0x44; }, Range, Some("x"), None),
    ("ranges that overlap", |p| { let (_, at) = list(p); p.bytes(LISTS)[at + 4] = 0x14; }, Location, Some("x"), Some(0x10)),
    ("a list that ends early", |p| { let (_, at) = list(p); let all = p.bytes(LISTS); let second = at + 6 + usize::from(all[at + 5]); all[second] = 0; }, Location, Some("x"), Some(0x10)),
    ("a list without an end", |p| {
        let (index, at) = list(p); let list = p.bytes(LISTS)[at..at + 6].to_vec();
        p.replace_list(LISTS, index, &list);
    }, Unreadable, Some("x"), None),
    ("a place where no other is", |p| {
        let (index, at) = list(p); let all = p.bytes(LISTS).clone();
        let second = at + 6 + usize::from(all[at + 5]); let end = second + 4 + usize::from(all[second + 3]);
        let default = [&all[at..end], &[dw::DW_LLE_default_location.0, 2, 0x90, 0x25, 0]].concat();
        p.replace_list(LISTS, index, &default);
    }, Location, Some("x"), Some(0x30)),
    ("a second place", |p| {
        let (index, at) = list(p); let all = p.bytes(LISTS).clone();
        let second = at + 6 + usize::from(all[at + 5]); let end = second + 4 + usize::from(all[second + 3]);
        let more = [&all[at..end], &[dw::DW_LLE_offset_pair.0, 4, 8, 2, 0x90, 0x25, 0]].concat();
        p.replace_list(LISTS, index, &more);
    }, Location, Some("x"), Some(4)),
    ("an expression cut off", |p| { let (_, at) = list(p); p.bytes(LISTS)[at + 5] -= 1; }, Unreadable, Some("x"), None),

    // Expressions.
    ("another index of an address", |p| { let at = p.value(VARIABLE, "g", dw::DW_AT_location); assert_eq!(at[1], 0xa1); at[2] -= 1; }, Location, Some("g"), None),
    ("an index behind the addresses", |p| p.value(VARIABLE, "g", dw::DW_AT_location)[2] = 100, Evaluation, Some("g"), None),
    ("another operation", |p| { let at = p.value(VARIABLE, "y", dw::DW_AT_location); let mul = at.iter().position(|&byte| byte == dw::DW_OP_mul.0).unwrap(); at[mul] = dw::DW_OP_plus.0; }, Location, Some("y"), Some(0)),
    ("an operation that nobody knows", |p| p.value(VARIABLE, "y", dw::DW_AT_location)[1] = 0xee, Evaluation, Some("y"), Some(0)),
    ("another procedure's entry", |p| {
        let to = p.entry(VARIABLE, "g").offset as u32;
        let at = p.value(dw::DW_TAG_formal_parameter, "p", dw::DW_AT_location);
        at[2..6].copy_from_slice(&to.to_le_bytes());
    }, Location, Some("p"), Some(0)),
    ("another value of a constant", |p| p.value(dw::DW_TAG_constant, "c", dw::DW_AT_const_value)[3] = 1, Location, Some("c"), None),
    ("a pointer to another variable", |p| {
        let to = p.entry(VARIABLE, "y").offset as u64; let from = p.entry(VARIABLE, "x").offset as u64;
        let all = &mut p.section(".debug_info").relocations;
        all.iter_mut().find(|one| one.addend == from && one.target == RelocationTarget::Section(".debug_info")).unwrap().addend = to;
    }, Location, Some("to_x"), Some(0)),

    // Types.
    ("another type", |p| p.refer((VARIABLE, "x", dw::DW_AT_type), (dw::DW_TAG_base_type, "uint")), Type, Some("x"), None),
    ("a variable for a type", |p| p.refer((VARIABLE, "x", dw::DW_AT_type), (VARIABLE, "y")), Type, Some("x"), None),
    ("another type of a member", |p| p.refer((dw::DW_TAG_member, "m", dw::DW_AT_type), (dw::DW_TAG_base_type, "uint")), Type, Some("st"), None),
    ("another type of elements", |p| p.refer((dw::DW_TAG_array_type, "", dw::DW_AT_type), (dw::DW_TAG_base_type, "uint")), Type, Some("ar"), None),
    ("an upper bound for a count", |p| p.rename(dw::DW_TAG_subrange_type, "", dw::DW_AT_count, dw::DW_AT_upper_bound), Type, Some("ar"), None),
    ("a lower bound for a count", |p| p.rename(dw::DW_TAG_subrange_type, "", dw::DW_AT_count, dw::DW_AT_lower_bound), Type, Some("ar"), None),
    ("another encoding", |p| p.value(dw::DW_TAG_base_type, "int", dw::DW_AT_encoding)[0] = 7, Type, Some("x"), None),
    ("another size", |p| p.value(dw::DW_TAG_base_type, "int", dw::DW_AT_byte_size)[0] = 8, Type, Some("x"), None),
    ("a size in bits", |p| p.rename(dw::DW_TAG_base_type, "int", dw::DW_AT_byte_size, dw::DW_AT_bit_size), Type, Some("x"), None),
    ("another offset of a member", |p| p.value(dw::DW_TAG_member, "m", dw::DW_AT_data_member_location)[0] = 0, Type, Some("st"), None),
    ("a bit offset for a member's", |p| p.rename(dw::DW_TAG_member, "m", dw::DW_AT_data_member_location, dw::DW_AT_data_bit_offset), Type, Some("st"), None),
    ("a bit offset of DWARF 3", |p| p.rename(dw::DW_TAG_member, "f", dw::DW_AT_data_bit_offset, dw::DW_AT_bit_offset), Type, Some("st"), None),
    ("another offset of a bit field", |p| p.value(dw::DW_TAG_member, "f", dw::DW_AT_data_bit_offset)[0] = 4, Type, Some("st"), None),
    ("a union", |p| p.retag(dw::DW_TAG_structure_type, "s", dw::DW_TAG_union_type), Type, Some("st"), None),
    ("another value of an enumerator", |p| p.value(dw::DW_TAG_enumerator, "on", dw::DW_AT_const_value)[0] = 2, Type, Some("en"), None),
    ("an address space by another number", |p| p.rename(dw::DW_TAG_pointer_type, "", gimli::DwAt(0x3e10), gimli::DwAt(0x3e0f)), Type, Some("lo"), None),

    // Entries.
    ("a parameter for a variable", |p| p.retag(VARIABLE, "x", dw::DW_TAG_formal_parameter), MissingEntry, Some("x"), None),
    ("what it became", |p| p.retag(VARIABLE, "x", dw::DW_TAG_formal_parameter), Extra, Some("x"), None),
    ("an entry that the module has no word for", |p| p.retag(VARIABLE, "x", dw::DW_TAG_label), Extra, None, None),
    ("a declaration", |p| p.rename(VARIABLE, "g", dw::DW_AT_external, dw::DW_AT_declaration), Attribute, Some("g"), None),
    ("a scope that starts later", |p| p.rename(VARIABLE, "x", dw::DW_AT_decl_line, dw::DW_AT_start_scope), Attribute, Some("x"), None),
    ("a place by another name", |p| p.rename(VARIABLE, "y", dw::DW_AT_location, dw::DW_AT_frame_base), Location, Some("y"), Some(0)),
    ("another byte order", |p| p.rename(VARIABLE, "x", dw::DW_AT_decl_line, dw::DW_AT_endianity), Attribute, Some("x"), None),
    ("a partial unit", |p| p.retag(dw::DW_TAG_compile_unit, "a.cl", dw::DW_TAG_partial_unit), Attribute, None, None),
    ("another function's instance", |p| p.refer((dw::DW_TAG_inlined_subroutine, "", dw::DW_AT_abstract_origin), (FUNCTION, "in_too")), Attribute, None, None),
    ("an instance of a function that was not inlined", |p| p.value(FUNCTION, "in", dw::DW_AT_inline)[0] = 0, Attribute, None, None),
    ("another line of a call", |p| p.value(dw::DW_TAG_inlined_subroutine, "", dw::DW_AT_call_line)[0] = 10, Attribute, None, None),
    ("a name with another letter", |p| { let at = p.once(".debug_str", b"\0to_x_later\0"); p.bytes(".debug_str")[at + 1] = b'd'; }, MissingEntry, Some("to_x_later"), None),
    ("more lanes", |p| p.value(FUNCTION, "other", gimli::DwAt(0x3e11))[0] = 64, Attribute, None, None),
    ("fewer lanes", |p| p.value(FUNCTION, "other", gimli::DwAt(0x3e11))[0] = 16, Evaluation, Some("y"), Some(0)),
    ("another convention", |p| p.value(FUNCTION, "other", dw::DW_AT_calling_convention)[0] = 0xc6, Attribute, None, None),

    // Code.
    ("more code", |p| p.value(FUNCTION, "other", dw::DW_AT_high_pc)[0] = 0x44, Code, None, None),
    ("another function's code", |p| { let other = p.value(FUNCTION, "k", dw::DW_AT_low_pc)[0]; p.value(FUNCTION, "other", dw::DW_AT_low_pc)[0] = other; }, Code, None, None),
    ("a block in other code", |p| { let index = p.value(dw::DW_TAG_lexical_block, "", dw::DW_AT_ranges)[0]; let at = p.list(RANGES, index.into()); p.bytes(RANGES)[at + 4] = 12; }, Code, None, None),
    ("a block from another base address", |p| { let index = p.value(dw::DW_TAG_lexical_block, "", dw::DW_AT_ranges)[0]; let at = p.list(RANGES, index.into()); p.bytes(RANGES)[at + 1] ^= 1; }, Code, None, None),
    ("an inlined call in other code", |p| { let index = p.value(dw::DW_TAG_inlined_subroutine, "", dw::DW_AT_ranges)[0]; let at = p.list(RANGES, index.into()); p.bytes(RANGES)[at + 3] = 4; }, Code, None, None),
    ("a unit with more code", |p| { let index = p.value(dw::DW_TAG_compile_unit, "", dw::DW_AT_ranges)[0]; let at = p.list(RANGES, index.into()); p.bytes(RANGES)[at + 5] += 4; }, Code, None, None),
    ("a unit with less code", |p| { let index = p.value(dw::DW_TAG_compile_unit, "", dw::DW_AT_ranges)[0]; let at = p.list(RANGES, index.into()); p.bytes(RANGES)[at + 5] -= 4; }, Code, None, None),

    // Lines.
    ("rows that end early", |p| { let at = p.bytes(LINE).len() - 4; p.bytes(LINE)[at] -= 1; }, Line, None, None),
    ("rows that do not end", |p| { let all = p.bytes(LINE); let at = all.len() - 3; all[at..].copy_from_slice(&[6, 6, 1]); }, Line, None, None),
    ("rows of another function", |p| p.section(LINE).relocations.last_mut().unwrap().target = RelocationTarget::Symbol("k".into()), Line, None, Some(0)),
    ("rows one instruction later", |p| p.section(LINE).relocations.last_mut().unwrap().addend = 4, Line, None, Some(0)),
];

#[test]
fn patched_bytes_are_found() {
    let consumer = fixed();
    let truth = truth();
    let all = FAULTS.iter().map(|&(fault, change, kind, variable, pc)| {
        let mut patches = Patches { sections: sections(&truth, &consumer) };
        change(&mut patches);
        let expected = Expected { kind, variable, pc, lane: None };
        (fault, missed(&truth, &consumer, &patches.sections, &expected))
    });
    all_found("patches", all.collect());
}

/// Returns whether the fault is found, or prevents writing or reading the object.
pub fn is_found(truth: &Module, consumer: &Consumer, patches: &Patches) -> bool {
    let Ok(object) = new_object(truth.target(), &code(), &patches.sections) else { return true };
    eitri::check(truth, consumer, &[], &object).map_or(true, |report| !report.is_clean())
}

/// Every relocation is needed, even if the number without it happens to be right.
#[test]
fn removed_relocations_are_found() {
    all_relocations_matter(&truth(), &fixed(), |_| true);
}

/// Removes each relocation of the selected sections.
pub fn all_relocations_matter(truth: &Module, consumer: &Consumer, is_wanted: fn(&str) -> bool) {
    let clean = Patches { sections: sections(truth, consumer) };
    let mut missed = Vec::new();
    let mut count = 0;
    for section in 0..clean.sections.len() {
        if !is_wanted(clean.sections[section].name) {
            continue;
        }
        for index in 0..clean.sections[section].relocations.len() {
            let changes: [fn(&mut Vec<eitri::emit::Relocation>, usize); 3] = [
                |all, index| drop(all.remove(index)),
                |all, index| all[index].addend += 1,
                |all, index| {
                    all[index].target = match &all[index].target {
                        RelocationTarget::Section(".debug_str") => {
                            RelocationTarget::Section(".debug_line_str")
                        }
                        RelocationTarget::Section(_) => RelocationTarget::Section(".debug_str"),
                        RelocationTarget::Symbol(name) if name == "k" => {
                            RelocationTarget::Symbol("other".into())
                        }
                        RelocationTarget::Symbol(_) => RelocationTarget::Symbol("k".into()),
                        RelocationTarget::Distance(name) => RelocationTarget::Symbol(name.to_string().into()),
                    };
                },
            ];
            for (number, change) in changes.into_iter().enumerate() {
                let mut patches = clean.clone();
                change(&mut patches.sections[section].relocations, index);
                count += 1;
                if !is_found(truth, consumer, &patches) {
                    let section = &clean.sections[section];
                    missed
                        .push(format!("{}, change {number}: {:?}", section.name, section.relocations[index]));
                }
            }
        }
    }
    assert!(missed.is_empty(), "{} of {count} missed:\n{}", missed.len(), missed.join("\n"));
    println!("relocations: {count} faults seeded, {count} found");
}

/// A consumer with fixed-size attributes, which can be patched in place.
pub fn fixed() -> Consumer {
    let mut consumer = Consumer::llvm();
    consumer.forms = vec![
        (dw::DW_AT_name, dw::DW_FORM_strp),
        (dw::DW_AT_type, dw::DW_FORM_ref4),
        (dw::DW_AT_abstract_origin, dw::DW_FORM_ref4),
        (dw::DW_AT_encoding, dw::DW_FORM_data1),
        (dw::DW_AT_inline, dw::DW_FORM_data1),
        (dw::DW_AT_calling_convention, dw::DW_FORM_data1),
        (dw::DW_AT_decl_file, dw::DW_FORM_data1),
        (eitri::consumer::DW_AT_LLVM_LANES, dw::DW_FORM_data1),
    ];
    consumer
}
