//! Each kind of finding: an object that has it, and a neighbour that differs in one fact and does not have it.

use std::path::Path;

use eitri::build::Builder;
use eitri::emit::elf::{ObjectCode as Text, new_object};
use eitri::emit::{GimliBuffer, Relocation, RelocationTarget, Section, from_gimli};
use eitri::lint::{LintCode, LintOptions, lint};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{LineTableRow, Loc, Val};
use eitri::op::{Dialect, Encoding, text};
use eitri::target::{SpaceId, Target};
use gimli::constants as dw;
use gimli::write::{
    Address, AttributeValue, DwarfUnit, Expression, Location, LocationList, Sections, UnitEntryId,
};
use gimli::{DwAt, DwTag};

use super::bases::object_of_base;
use super::made::{AMD, EXPRESSIONS, object, object_of_ranges, object_with, replaced_everywhere};
use super::mutations::clean;
use super::{frames, lanes};

/// Objects with a kind of finding, and without it.
struct Pair {
    with: Vec<u8>,
    without: Vec<u8>,
}

impl Pair {
    /// Makes both objects of a fact.
    fn of<F>(make: impl Fn(F) -> Vec<u8>, with: F, without: F) -> Self {
        Self { with: make(with), without: make(without) }
    }
}

pub type Attributes = Vec<(DwAt, AttributeValue)>;

/// A unit that gimli encodes, for x86-64: types of 4 and 8 bytes, and functions at [0, 0x20) and [0x20, 0x40).
pub struct Unit {
    pub dwarf: DwarfUnit,
    pub int: UnitEntryId,
    pub long: UnitEntryId,
    pub f: UnitEntryId,
}

fn named(name: &str) -> (DwAt, AttributeValue) {
    (dw::DW_AT_name, AttributeValue::String(name.into()))
}

fn typed(ty: UnitEntryId) -> (DwAt, AttributeValue) {
    (dw::DW_AT_type, AttributeValue::UnitRef(ty))
}

/// Pcs of 0x20 bytes.
fn code(addend: i64) -> Attributes {
    let start = AttributeValue::Address(Address::Symbol { symbol: 0, addend });
    vec![(dw::DW_AT_low_pc, start), (dw::DW_AT_high_pc, AttributeValue::Udata(0x20))]
}

/// The location `regx rax`, at all pcs.
fn in_rax() -> (DwAt, AttributeValue) {
    (dw::DW_AT_location, AttributeValue::Exprloc(Expression::raw(vec![dw::DW_OP_reg0.0])))
}

pub fn entry(dwarf: &mut DwarfUnit, of: UnitEntryId, tag: DwTag, attributes: Attributes) -> UnitEntryId {
    let entry = dwarf.unit.add(of, tag);
    attributes.into_iter().for_each(|(name, value)| dwarf.unit.get_mut(entry).set(name, value));
    entry
}

fn base_type(dwarf: &mut DwarfUnit, name: &str, bytes: u64) -> UnitEntryId {
    let encoding = (dw::DW_AT_encoding, AttributeValue::Encoding(dw::DW_ATE_signed));
    let size = (dw::DW_AT_byte_size, AttributeValue::Udata(bytes));
    entry(dwarf, dwarf.unit.root(), dw::DW_TAG_base_type, vec![named(name), encoding, size])
}

impl Unit {
    pub fn new() -> Self {
        let encoding = gimli::Encoding { format: gimli::Format::Dwarf32, version: 5, address_size: 8 };
        let mut dwarf = DwarfUnit::new(encoding);
        let int = base_type(&mut dwarf, "int", 4);
        let long = base_type(&mut dwarf, "long", 8);
        let root = dwarf.unit.root();
        let f = [vec![named("f")], code(0)].concat();
        let f = entry(&mut dwarf, root, dw::DW_TAG_subprogram, f);
        entry(&mut dwarf, root, dw::DW_TAG_subprogram, [vec![named("g")], code(0x20)].concat());
        Self { dwarf, int, long, f }
    }

    /// Adds a variable of `f`.
    fn variable(&mut self, attributes: Attributes) {
        entry(&mut self.dwarf, self.f, dw::DW_TAG_variable, attributes);
    }

    fn object(self) -> Vec<u8> {
        self.object_for(&Target::x86_64())
    }

    pub fn object_for(self, target: &Target) -> Vec<u8> {
        self.object_with(target, vec![0x90; 0x40])
    }

    /// An object with this code, of 0x40 bytes.
    fn object_with(mut self, target: &Target, code: Vec<u8>) -> Vec<u8> {
        let mut sections = Sections::new(GimliBuffer::new());
        self.dwarf.write(&mut sections).expect("sections");
        let code = Text::text(code).with_function("f", 0, 0x20).with_function("g", 0x20, 0x20);
        new_object(target, &code, &from_gimli(&sections, |_| "f".into())).expect("an object")
    }
}

/// A variable in a register of a type with this size.
fn sized(bytes: u64) -> Vec<u8> {
    let mut unit = Unit::new();
    let ty = base_type(&mut unit.dwarf, "t", bytes);
    unit.variable(vec![named("x"), typed(ty), in_rax()]);
    unit.object()
}

/// Two variables `x`; the second has one of two types.
fn of_one_name(is_equal: bool) -> Vec<u8> {
    let mut unit = Unit::new();
    for ty in [unit.int, if is_equal { unit.int } else { unit.long }] {
        unit.variable(vec![named("x"), typed(ty), in_rax()]);
    }
    unit.object()
}

/// A variable whose type is a type, or the function.
fn of_a_type(is_type: bool) -> Vec<u8> {
    let mut unit = Unit::new();
    let ty = if is_type { unit.int } else { unit.f };
    unit.variable(vec![named("xyzzy"), typed(ty)]);
    unit.object()
}

/// A variable of `f` with an entry of 8 bytes at this offset.
fn listed(addend: i64) -> Vec<u8> {
    let mut unit = Unit::new();
    let begin = Address::Symbol { symbol: 0, addend };
    let data = Expression::raw(vec![dw::DW_OP_reg0.0]);
    let list = LocationList(vec![Location::StartLength { begin, length: 8, data }]);
    let list = AttributeValue::LocationListRef(unit.dwarf.unit.locations.add(list));
    let int = unit.int;
    unit.variable(vec![named("x"), typed(int), (dw::DW_AT_location, list)]);
    unit.object()
}

/// A function with code at this offset, for an AMD GPU, beside those at 0 and 0x20. Nothing is at 0x40.
fn described_twice(addend: i64) -> Vec<u8> {
    let mut unit = Unit::new();
    let root = unit.dwarf.unit.root();
    entry(&mut unit.dwarf, root, dw::DW_TAG_subprogram, [vec![named("h")], code(addend)].concat());
    unit.object_for(&Target::named(AMD).expect("a target"))
}

/// A call of an AMD GPU with its target in two scalar registers, by the number of the first in DWARF.
fn called(register: u8) -> Vec<u8> {
    let mut unit = Unit::new();
    let pieces = [register, register + 1].map(|register| [dw::DW_OP_regx.0, register, dw::DW_OP_piece.0, 4]);
    let target = AttributeValue::Exprloc(Expression::raw(pieces.concat()));
    let f = unit.f;
    entry(&mut unit.dwarf, f, dw::DW_TAG_call_site, vec![(dw::DW_AT_call_target, target)]);
    unit.object_for(&Target::named(AMD).expect("a target"))
}

/// A section written by hand: name, bytes, and offsets of addresses with their addends to the code's symbol.
type HandWritten<'a> = (&'static str, Vec<u8>, &'a [(usize, u64)]);

/// A function of 0x20 bytes for x86-64 with some sections written by hand.
fn object_by_hand(all: &[HandWritten<'_>]) -> Vec<u8> {
    let mut m = Builder::new(Target::x86_64());
    let unit = m.unit("a.c");
    let file = m.file(unit, "a.c", None).unwrap();
    let f = m.function(unit, "f").unwrap().code("f", 0x20).id();
    m.row(f, LineTableRow::new(0, file, 1)).unwrap();
    let module = m.finish().unwrap();
    let mut sections = lower(&module, &Consumer::dwarf5(), Policy::Strict).unwrap().sections;
    for (name, bytes, addresses) in all {
        sections.retain(|one| one.name != *name);
        let relocations = addresses.iter().map(|&(offset, addend)| Relocation {
            offset: offset as u64,
            bytes: 8,
            target: RelocationTarget::Symbol("f".into()),
            addend,
        });
        let bytes = bytes.clone();
        let relocations = relocations.collect();
        sections.push(Section { name, bytes, relocations, is_strings: false, group: None });
    }
    let code = Text::text(vec![0x90; 0x20]).with_function("f", 0, 0x20);
    new_object(module.target(), &code, &sections).unwrap()
}

/// A function of 0x20 bytes for gfx1030 with `s_nop 0`, and `s_load_dwordx2 s[4:5], s[0:1], 0x8` at 4, and rows at 0, 4 and
/// another pc.
fn row_at(pc: u64) -> Vec<u8> {
    let target = Target::named(AMD).expect("a target");
    let mut m = Builder::new(target.clone());
    let unit = m.unit("a.cl");
    let file = m.primary_file(unit).unwrap();
    let f = m.function(unit, "f").unwrap().code("f", 0x20).kernel().id();
    for (pc, line) in [(0, 1), (4, 2), (pc, 3)] {
        m.row(f, LineTableRow::new(pc, file, line)).unwrap();
    }
    let module = m.finish().unwrap();
    let sections = lower(&module, &Consumer::llvm(), Policy::Strict).unwrap().sections;
    let mut code = [[0, 0, 0x80, 0xbf], [0x00, 0x01, 0x04, 0xf4], [0x08, 0, 0, 0xfa]].concat();
    code.extend([0, 0, 0x80, 0xbf].repeat(4));
    // s_endpgm
    code.extend([0, 0, 0x81, 0xbf]);
    new_object(&target, &Text::text(code).with_function("f", 0, 0x20), &sections).unwrap()
}

/// Call frame information whose rows begin at 0 and at two other offsets in the function.
fn rows_of_frame(offsets: [u64; 2]) -> Vec<u8> {
    // DW_CFA_def_cfa, rsp, 8; DW_CFA_offset, rip, 1.
    let cie = [&[0xff; 4][..], &[4, 0, 8, 0, 1, 0x78, 16], &[0x0c, 7, 8, 0x90, 1]].concat();
    let mut bytes = [&(cie.len() as u32).to_le_bytes()[..], &cie].concat();
    let mut fde = [&[0; 4][..], &[0; 8], &0x20u64.to_le_bytes()].concat();
    let start = bytes.len() + 4;
    let mut addresses = vec![(start + 4, 0)];
    for offset in offsets {
        // DW_CFA_set_loc; DW_CFA_def_cfa_offset, 16.
        addresses.push((start + fde.len() + 1, offset));
        fde.extend([&[1][..], &[0; 8], &[0x0e, 16]].concat());
    }
    bytes.extend([&(fde.len() as u32).to_le_bytes()[..], &fde].concat());
    object_by_hand(&[(".debug_frame", bytes, &addresses)])
}

/// A line program of DWARF 4 with rows at 0 and 8, a row at an offset in the function, and the end 8 bytes later.
fn rows_of_lines(offset: u64) -> Vec<u8> {
    // Instructions of 1 byte, rows that are statements, special opcodes from 13 on; no folders, the file `a.c`.
    let header = [&[1, 1, 1, 0xfb, 14, 13][..], &[0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1], b"\0a.c\0\0\0\0\0"];
    let header = header.concat();
    let mut bytes = [&[4, 0][..], &(header.len() as u32).to_le_bytes(), &header].concat();
    let mut addresses = Vec::new();
    for (address, advance) in [(0, 8), (offset, 8)] {
        // DW_LNE_set_address, DW_LNS_copy, DW_LNS_advance_pc.
        addresses.push((4 + bytes.len() + 3, address));
        bytes.extend([&[0, 9, 2][..], &[0; 8], &[1, 2, advance]].concat());
        bytes.extend(if address == 0 { &[1][..] } else { &[0, 1, 1] });
    }
    let bytes = [&(bytes.len() as u32).to_le_bytes()[..], &bytes].concat();
    object_by_hand(&[(".debug_line", bytes, &addresses)])
}

/// DWARF 5 section 6.2.5: the addresses of a sequence ascend.
#[test]
fn line_row_before_its_predecessor_is_found() {
    for (offset, is_found) in [(4, true), (7, true), (8, false), (0x10, false)] {
        let report = lint(&rows_of_lines(offset), &LintOptions::default()).expect("it is read");
        let rows = report.findings.iter().filter(|one| one.code == LintCode::ReversedRow);
        let places: Vec<_> = rows.map(|one| (&*one.section, one.unit.as_deref())).collect();
        assert_eq!(places, if is_found { vec![(".debug_line", Some("a.c"))] } else { vec![] }, "{offset}");
    }
}

/// A variable of `f` with an entry of 8 bytes from the base address on, in a unit with or without an address.
fn based(has_base: bool) -> Vec<u8> {
    let mut unit = Unit::new();
    let root = unit.dwarf.unit.root();
    let int = unit.int;
    if has_base {
        let low = AttributeValue::Address(Address::Symbol { symbol: 0, addend: 0 });
        unit.dwarf.unit.get_mut(root).set(dw::DW_AT_low_pc, low);
    }
    let data = Expression::raw(vec![dw::DW_OP_reg0.0]);
    let list = LocationList(vec![Location::OffsetPair { begin: 4, end: 12, data }]);
    let list = AttributeValue::LocationListRef(unit.dwarf.unit.locations.add(list));
    unit.variable(vec![named("x"), typed(int), (dw::DW_AT_location, list)]);
    unit.object()
}

/// A function with an attribute of this number.
fn numbered(name: u16) -> Vec<u8> {
    let mut unit = Unit::new();
    let place = AttributeValue::Exprloc(Expression::raw(vec![dw::DW_OP_lit0.0]));
    let f = unit.f;
    unit.dwarf.unit.get_mut(f).set(DwAt(name), place);
    unit.object()
}

/// The parameter `p` of an inlined call, with attributes beside those of the abstract instance, which is an `int`.
fn inlined(attributes: impl Fn(&mut Unit) -> Attributes) -> Vec<u8> {
    let mut unit = Unit::new();
    let root = unit.dwarf.unit.root();
    let f = unit.f;
    let int = unit.int;
    let is_inline = (dw::DW_AT_inline, AttributeValue::Inline(dw::DW_INL_inlined));
    let function = entry(&mut unit.dwarf, root, dw::DW_TAG_subprogram, vec![named("h"), is_inline]);
    let parameter =
        entry(&mut unit.dwarf, function, dw::DW_TAG_formal_parameter, vec![named("p"), typed(int)]);
    let origin = |of| (dw::DW_AT_abstract_origin, AttributeValue::UnitRef(of));
    let call = [vec![origin(function)], code(0)].concat();
    let call = entry(&mut unit.dwarf, f, dw::DW_TAG_inlined_subroutine, call);
    let attributes = [vec![origin(parameter), in_rax()], attributes(&mut unit)].concat();
    entry(&mut unit.dwarf, call, dw::DW_TAG_formal_parameter, attributes);
    unit.object()
}

/// A function for x86-64 with these bytes of code, in a section and a symbol with 0x20 bytes.
fn described(bytes: u64, has_frame: bool, consumer: &Consumer) -> Vec<u8> {
    let target = Target::x86_64();
    let register = |name| target.register_named(name).expect("a register");
    let rsp = register("rsp");
    let rip = register("rip");
    let mut m = Builder::new(target.clone());
    let unit = m.unit("a.c");
    let function = m.function(unit, "f").expect("a function").code("f", bytes).id();
    if has_frame {
        let mut frame = m.frame(function).expect("a frame");
        frame.cfa(0..bytes, Loc::memory(SpaceId::DEFAULT, Val::register(rsp).plus(8))).expect("a rule");
        frame.saved(0..bytes, rip, Loc::cfa().offset(-8)).expect("a rule");
    }
    let module = m.finish().expect("a module");
    let written = lower(&module, consumer, Policy::Partial).expect("it is lowered");
    let code = Text::text(vec![0x90; 0x20]).with_function("f", 0, 0x20);
    new_object(&target, &code, &written.sections).expect("an object")
}

fn extent(bytes: u64) -> Vec<u8> {
    described(bytes, true, &Consumer::dwarf5())
}

pub fn framed(has_frame: bool) -> Vec<u8> {
    described(0x20, has_frame, &Consumer::dwarf5())
}

/// The object, whose units are in files beside it if `is_split` is set.
fn split(is_split: bool) -> Vec<u8> {
    let mut consumer = Consumer::dwarf5();
    consumer.is_split = is_split;
    described(0x20, true, &consumer)
}

/// An object of another compiler.
fn foreign(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(crate::common::ROOT).join("tests/objects").join(name)).expect("an object")
}

fn bytes(expr: &str) -> Vec<u8> {
    let target = Target::named(AMD).expect("a target");
    let expr = text::parse(expr, Encoding::new(8, Dialect::Llvm), Some(&target));
    expr.expect("an expression").bytes().to_vec()
}

/// LintCode for gfx1030 with this instruction first, and `s_nop 0` behind it.
fn first(instruction: u32) -> Vec<u8> {
    [instruction, 0xbf80_0000, 0xbf80_0000, 0xbf80_0000, 0xbf80_0000, 0xbf80_0000, 0xbf80_0000, 0xbf80_0000]
        .into_iter()
        .flat_map(u32::to_le_bytes)
        .collect()
}

/// Entries with constants in these ranges, in a function at [0, 0x20).
fn ranges(ranges: [(u64, u64); 2]) -> Vec<u8> {
    let [one, two] = ["consts 7; stack_value", "consts 8; stack_value"].map(bytes);
    let [(a, b), (c, d)] = ranges;
    object_of_ranges(AMD, 32, &[(a, b, &one), (c, d, &two)])
}

/// A pair of the table of expressions.
fn expression(code: LintCode) -> Pair {
    let row = EXPRESSIONS.iter().find(|row| row.3 == code);
    let (target, bits, wrong, _, right) = row.unwrap_or_else(|| panic!("no objects for {}", code.name()));
    let machine = Target::named(target).expect("a target");
    let make = |expr: &str| {
        let expr = text::parse(expr, Encoding::new(8, Dialect::Llvm), Some(&machine));
        object(target, *bits, &[(0, 0x10, expr.expect("an expression").bytes())])
    };
    Pair::of(make, *wrong, *right)
}

fn pair(code: LintCode) -> Pair {
    match code {
        LintCode::ConstantForComputed => {
            let (constant, register) =
                (bytes("consts 0; stack_value"), bytes("regx v3; push_lane; lit4; mul; offset"));
            let make = |instruction| {
                let ranges: [(u64, u64, &[u8]); 2] = [(4, 0x10, &constant), (0x10, 0x20, &register)];
                object_with(AMD, 32, &ranges, &first(instruction))
            };
            // `v_add_nc_u32_e32 v3, v1, v2` and `v_mov_b32_e32 v3, 0`.
            Pair::of(make, 0x4a06_0501, 0x7e06_0280)
        }
        LintCode::RegisterNotThere => {
            let with = foreign("triton/matmul.sm_90.cubin");
            // No map of registers.
            let without =
                replaced_everywhere(&with, b".nv_debug_info_reg_sass\0", b".nv_debug_info_reg_none\0");
            Pair { with, without }
        }
        LintCode::ExtentNotCode => Pair::of(extent, 0x60, 0x20),
        LintCode::ZeroSizeType => Pair::of(sized, 0, 4),
        LintCode::OneNameTwoTypes => Pair::of(of_one_name, false, true),
        LintCode::NoCfa => Pair::of(framed, false, true),
        // `s_and_saveexec_b32 s5, vcc_lo` and `s_nop 0`.
        LintCode::NoLanePc => {
            Pair::of(|code| object_with(AMD, 32, &[], &first(code)), 0xbe85_3c6a, 0xbf80_0000)
        }
        LintCode::RecoverableUnlocated => {
            let with = foreign("llvm19/k01_saxpy.gfx1030.O2.hsaco");
            // `s_load_dword s2, s[4:5], 0x4` becomes `s_mov_b64 s[6:7], 0`, the address of the arguments, and `s_nop 0`.
            let load = [0x82, 0x00, 0x00, 0xf4, 0x04, 0x00, 0x00, 0xfa];
            let without = replaced_everywhere(&with, &load, &[0x80, 0x04, 0x86, 0xbe, 0, 0, 0x80, 0xbf]);
            Pair { with, without }
        }
        LintCode::CodeNotDecoded => {
            let make = |target| object_with(target, 32, &[], &[0, 0, 0x80, 0xbf].repeat(8));
            Pair::of(make, "amdgpu-gfx1250-wave32", AMD)
        }
        LintCode::ContradictingOverlap => Pair::of(ranges, [(0, 8), (4, 0x18)], [(0, 8), (8, 0x18)]),
        LintCode::ReversedRange => Pair::of(ranges, [(8, 4), (8, 0x18)], [(4, 8), (8, 0x18)]),
        LintCode::RangeOutsideFunctions => Pair::of(ranges, [(0x40, 0x48), (8, 0x18)], [(0, 8), (8, 0x18)]),
        LintCode::ForeignRange => Pair::of(listed, 0x24, 4),
        LintCode::BadReference => Pair::of(of_a_type, false, true),
        LintCode::BadFrameInstruction => {
            // DW_CFA_LLVM_def_aspace_cfa, register 64, offset 0, space 6; DW_CFA_restore_state on an empty stack.
            let make = |new: [u8; 4]| replaced_everywhere(&clean(), &[0x30, 0x40, 0, 6], &new);
            Pair::of(make, [0x0b, 0, 0, 0], [0x30, 0x41, 0, 6])
        }
        LintCode::CieByConvention => {
            // DW_CFA_def_cfa, rsp, 8; DW_CFA_def_cfa_register, rsp, and DW_CFA_nop.
            let make = |new: [u8; 3]| replaced_everywhere(&framed(true), &[0x0c, 7, 8], &new);
            Pair::of(make, [0x0d, 7, 0], [0x0c, 7, 8])
        }
        LintCode::NoReturnAddress => {
            // DW_CFA_def_cfa, rsp, 8; then DW_CFA_offset, rip, 1, and two DW_CFA_nop.
            let make = |rule: [u8; 2]| {
                let new = [&[0x0c, 7, 8][..], &rule].concat();
                replaced_everywhere(&framed(true), &[0x0c, 7, 8, 0x90, 1], &new)
            };
            Pair::of(make, [0, 0], [0x90, 1])
        }
        // AMD's number of DW_AT_LLVM_lane_pc, and the registry's.
        LintCode::AmbiguousAttribute => Pair::of(numbered, 0x3e0b, 0x3e12),
        LintCode::AbstractDiffers => Pair::of(|name| inlined(|_| vec![named(name)]), "q", "p"),
        LintCode::SplitUnitElsewhere => Pair::of(split, true, false),
        LintCode::Unreadable => {
            // The id and the version of the common information entry.
            let make = |version| {
                replaced_everywhere(
                    &framed(true),
                    &[0xff, 0xff, 0xff, 0xff, 4],
                    &[0xff, 0xff, 0xff, 0xff, version],
                )
            };
            Pair::of(make, 9, 4)
        }
        LintCode::StaleField => {
            // The header of `.debug_addr`, and the first address, which has a relocation.
            let header = [5, 0, 8, 0];
            let make = |first: [u8; 8]| {
                replaced_everywhere(
                    &clean(),
                    &[&header[..], &[0; 8]].concat(),
                    &[&header[..], &first].concat(),
                )
            };
            Pair::of(make, [0x90, 3, 0, 0, 0, 0, 0, 0], [0; 8])
        }
        LintCode::MercuryDiffers => {
            // The file's name in the copy of the line table, which is not the first one.
            let make = |name: &[u8; 4]| {
                let mut bytes = include_bytes!("../objects/mercury.o").to_vec();
                let names = bytes.windows(5).rposition(|window| window == b"k.cu\0").expect("the name");
                bytes[names..names + 4].copy_from_slice(name);
                bytes
            };
            Pair::of(make, b"j.cu", b"k.cu")
        }
        LintCode::NoDebugInfo => {
            let target = Target::named(AMD).expect("a target");
            let code = Text::text([0, 0, 0x80, 0xbf].repeat(8)).with_function("f", 0, 0x20);
            Pair { with: new_object(&target, &code, &[]).expect("an object"), without: clean() }
        }
        LintCode::CodeDescribedTwice => Pair::of(described_twice, 0, 0x40),
        // s[30:31], and s[16:17].
        LintCode::CallTargetOverwritten => Pair::of(called, 62, 48),
        LintCode::ListWithoutBase => Pair::of(based, false, true),
        LintCode::ReversedRow => Pair::of(rows_of_frame, [8, 4], [4, 8]),
        LintCode::RowBeyondCode => Pair::of(rows_of_frame, [8, 0x21], [8, 0x20]),
        // `s_load_dwordx2 s[4:5], s[0:1], 0x8` has 8 bytes, and is at 4.
        LintCode::RowInsideInstruction => Pair::of(row_at, 8, 12),
        // `s_andn2_saveexec_b32 s5, s5`, and `s_nop 0`.
        LintCode::LanesNotWritten => Pair::of(|flip| lanes::switched(flip, 0x20), 0xbe85_3f05, 0xbf80_0000),
        // v40, which has the return address, is read back at 0x58.
        LintCode::RuleOutlivesSave => Pair::of(|end| frames::own(|own| own.return_end = end), 0x6c, 0x4c),
        LintCode::SavedWithoutRule => {
            Pair::of(|has| frames::own(|own| own.has_stack_pointer = has), false, true)
        }
        LintCode::SavedInPart => Pair::of(|has| frames::own(|own| own.has_mask = has), false, true),
        // `s_and_b32 exec_lo, exec_lo, 0`, and `v_mov_b32 v41, v0`.
        LintCode::EntryExecUnknown => {
            Pair::of(|word| frames::own(|own| own.before_call = word), 0x877e_807e, 0x7e52_0300)
        }
        LintCode::WrongKind => Pair::of(
            |base| object_of_base("x86_64", "call_frame_cfa", base),
            "breg6 0; stack_value",
            "breg6 0",
        ),
        _ => expression(code),
    }
}

fn codes(object: &[u8]) -> Vec<LintCode> {
    let report = lint(object, &LintOptions::default()).expect("it is read");
    report.findings.iter().map(|one| one.code).collect()
}

#[test]
fn each_kind_is_found_and_its_neighbour_is_not() {
    // The later codes are those of SPIR-V modules, which `spirv::lint` tests.
    let codes_of_objects = LintCode::ALL.iter().filter(|code| **code < LintCode::IndexOutsideType);
    for &code in codes_of_objects {
        let Pair { with, without } = pair(code);
        let with = codes(&with);
        let without = codes(&without);
        assert!(with.contains(&code), "{}: {with:?}", code.name());
        assert!(!without.contains(&code), "{}: {without:?}", code.name());
        // The neighbour has no finding that the object does not have.
        assert!(without.iter().all(|one| with.contains(one)), "{}: {with:?}, {without:?}", code.name());
    }
}

/// `scratch_load_dword v1, v3, off` shows that v3 has an address. It is that of an `int`, or the value of a pointer.
#[test]
fn address_in_register_is_value_of_pointer() {
    let codes = |is_pointer: bool| {
        let mut unit = Unit::new();
        let root = unit.dwarf.unit.root();
        let int = unit.int;
        let size = (dw::DW_AT_byte_size, AttributeValue::Udata(4));
        let pointer = entry(&mut unit.dwarf, root, dw::DW_TAG_pointer_type, vec![typed(int), size]);
        let begin = Address::Symbol { symbol: 0, addend: 0 };
        let data = Expression::raw(bytes("bregx v3 0; lit5; swap; xderef"));
        let list = LocationList(vec![Location::StartLength { begin, length: 0x20, data }]);
        let list = AttributeValue::LocationListRef(unit.dwarf.unit.locations.add(list));
        let ty = typed(if is_pointer { pointer } else { int });
        unit.variable(vec![named("x"), ty, (dw::DW_AT_location, list)]);
        let nops = [0, 0, 0x80, 0xbf].repeat(14);
        let code = [&[0x00, 0x40, 0x30, 0xdc, 0x03, 0x00, 0x7d, 0x01][..], &nops].concat();
        codes(&unit.object_with(&Target::named(AMD).expect("a target"), code))
    };
    let of_place = |codes: Vec<LintCode>| {
        let is_of = |code: &LintCode| matches!(code, LintCode::XderefAsLocation | LintCode::RegisterAsMemory);
        codes.into_iter().filter(is_of).collect::<Vec<_>>()
    };
    assert_eq!(of_place(codes(false)), [LintCode::XderefAsLocation]);
    assert_eq!(of_place(codes(true)), [LintCode::RegisterAsMemory]);
}

/// ptxas makes the frames; a text has none.
#[test]
fn ptx_has_no_frames() {
    let path = Path::new(crate::common::ROOT).join("goldens/ptx/sample.ptx");
    let report = lint(&std::fs::read(path).expect("a text"), &LintOptions::default()).expect("it is read");
    assert!(report.functions > 0 && report.findings.is_empty(), "{:?}", report.findings);
}

/// An entry that contains no pc, made of one whose register the map does not have.
#[test]
fn empty_range_of_ptx_register_is_not_checked() {
    let mut object = foreign("triton/matmul.sm_90.cubin");
    let found = |object: &[u8]| {
        let report = lint(object, &LintOptions::default()).expect("it is read");
        let of_code = report.findings.into_iter().filter(|one| one.code == LintCode::RegisterNotThere);
        of_code.filter(|one| one.section == ".debug_loc").map(|one| one.offset).collect::<Vec<_>>()
    };
    let all = found(&object);
    let entry = *all.first().expect("a finding");
    // The header of an ELF file has the offset of the section headers at 0x28, and the index of the names at 0x3e.
    let number = |at: usize| u64::from_le_bytes(object[at..at + 8].try_into().expect("8 bytes")) as usize;
    let half = |at: usize| usize::from(u16::from_le_bytes([object[at], object[at + 1]]));
    let header = |index: usize| number(0x28) + 64 * index;
    let place = |name: &str| {
        let names = number(header(half(0x3e)) + 0x18);
        let is_named = |index: &usize| {
            let start = names + (number(header(*index)) as u32) as usize;
            object[start..].starts_with(&[name.as_bytes(), &[0]].concat())
        };
        let index = (0..half(0x3c)).find(is_named).expect("a section");
        let start = number(header(index) + 0x18);
        start..start + number(header(index) + 0x20)
    };
    // The end of the entry, as stored, and in the addend of its relocation.
    let list = place(".debug_loc");
    let relocations = place(".rela.debug_loc");
    let at = list.start + entry as usize;
    object.copy_within(at..at + 8, at + 8);
    let of = |offset: u64| {
        let is_of = |at: &usize| object[*at..*at + 8] == offset.to_le_bytes();
        relocations.clone().step_by(24).find(is_of).expect("a relocation")
    };
    let from = of(entry);
    let to = of(entry + 8);
    object.copy_within(from + 16..from + 24, to + 16);
    assert_eq!(found(&object), all[1..]);
}

/// Findings of the code.
fn findings(object: &[u8], code: LintCode) -> Vec<(String, Vec<String>)> {
    let report = lint(object, &LintOptions::default()).expect("it is read");
    let of_code = report.findings.into_iter().filter(|one| one.code == code);
    of_code.map(|one| (one.written, one.evidence)).collect()
}

#[test]
fn types_of_instances_differ_in_tag_name_or_size() {
    let ty = |make: fn(&mut Unit) -> UnitEntryId| {
        let object = inlined(|unit| vec![typed(make(unit))]);
        findings(&object, LintCode::AbstractDiffers).into_iter().map(|one| one.0).collect::<Vec<_>>()
    };
    assert!(ty(|unit| unit.int).is_empty());
    assert_eq!(ty(|unit| unit.long), ["declared with `long`"]);
    assert_eq!(ty(|unit| base_type(&mut unit.dwarf, "int", 2)), ["declared with `int`"]);
    // Another entry of the same type.
    assert!(ty(|unit| base_type(&mut unit.dwarf, "int", 4)).is_empty());
    let pointer = |unit: &mut Unit| {
        let root = unit.dwarf.unit.root();
        entry(&mut unit.dwarf, root, dw::DW_TAG_pointer_type, Vec::new())
    };
    assert_eq!(ty(pointer), ["declared with a type without a name"]);
}

/// An offset between entries, and one behind the unit.
#[test]
fn a_reference_to_no_entry_is_found() {
    let object = of_a_type(true);
    let name = b"xyzzy\0";
    let at = object.windows(name.len()).position(|window| window == name).expect("the variable") + name.len();
    let old = u32::from_le_bytes(object[at..at + 4].try_into().expect("four bytes"));
    for offset in [old + 1, 0x7fff_ffff] {
        let mut changed = object.clone();
        changed[at..at + 4].copy_from_slice(&offset.to_le_bytes());
        let found = findings(&changed, LintCode::BadReference);
        assert_eq!(
            found,
            [(format!("DW_AT_type is {offset:#x}"), vec![format!("no entry is at {offset:#x}")])]
        );
    }
}
