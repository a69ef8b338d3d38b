//! Supplementary files: DWARF 5 section 7.3.6 and its forms, and GNU's predecessors, which dwz writes for DWARF 4.

use eitri::dump::{DumpOptions, print_object_to};
use eitri::emit::Section;
use eitri::emit::elf::{ObjectCode as ElfCode, new_object};
use eitri::error::ErrorKind;
use eitri::eval::{Body, Context, DebugInfo, Evaluator, Snapshot, WithDebugInfo};
use eitri::lint::{self, lint};
use eitri::op::Dialect;
use eitri::read::{Companions, Dwarf, Object, ReadOptions, ResolvedValue, Unit};
use eitri::report::readable_report;
use eitri::stats::stats;
use eitri::target::Target;
use gimli::constants as dw;
use pretty_assertions::assert_eq;

use crate::common::with;
use crate::reader::bytes::Bytes;

/// Forms and links of a version.
#[derive(Debug, Clone, Copy)]
struct Style {
    version: u16,
    reference: u64,
    string: u64,
    reference_bytes: usize,
}

const STYLES: [Style; 3] = [
    // DW_FORM_GNU_ref_alt, DW_FORM_GNU_strp_alt.
    Style { version: 4, reference: 0x1f20, string: 0x1f21, reference_bytes: 4 },
    // DW_FORM_ref_sup4, DW_FORM_ref_sup8, DW_FORM_strp_sup.
    Style { version: 5, reference: 0x1c, string: 0x1d, reference_bytes: 4 },
    Style { version: 5, reference: 0x24, string: 0x1d, reference_bytes: 8 },
];

const ID: [u8; 4] = [0xab, 1, 2, 3];
const NAME: &str = "common.dbg";

fn empty() -> Bytes {
    Bytes::new(false, false)
}

impl Style {
    /// Abbreviations of both files.
    fn abbreviations(self) -> Bytes {
        let mut out = empty();
        let mut add = |code: u64, tag: u64, children: u8, attributes: &[(u64, u64)]| {
            out.uleb(code).uleb(tag).u8s([children]);
            for (name, form) in attributes {
                out.uleb(*name).uleb(*form);
            }
            out.u8s([0, 0]);
        };
        // A partial unit; a base type with name, size and encoding; a variable with name, type and value; an import.
        add(1, 0x3c, 1, &[]);
        add(2, 0x24, 0, &[(3, 0x0e), (0x0b, 0x0b), (0x3e, 0x0b)]);
        add(3, 0x34, 0, &[(3, 0x0e), (0x49, 0x13), (0x1c, 0x0b)]);
        add(4, 0x3d, 0, &[(0x18, 0x10)]);
        // A unit with a name; an import; a variable with name, type and location.
        add(5, 0x11, 1, &[(3, self.string)]);
        add(6, 0x3d, 0, &[(0x18, self.reference)]);
        add(7, 0x34, 0, &[(3, self.string), (0x49, self.reference), (2, 0x18)]);
        // A variable with name and location, in the supplementary file.
        add(8, 0x34, 0, &[(3, 0x0e), (2, 0x18)]);
        out.u8s([0]);
        out
    }

    /// Header of a unit without its length, and the offset of the first entry.
    fn header(self, kind: u8) -> (Bytes, u64) {
        let mut unit = empty();
        match self.version {
            4 => unit.u16(4).u32(0).u8s([8]),
            _ => unit.u16(5).u8s([kind, 8]).u32(0),
        };
        let size = 4 + unit.len();
        (unit, size)
    }

    fn object(self, info: &Bytes, strings: &Bytes, link: &[(&'static str, &Bytes)]) -> Vec<u8> {
        let section = |name, bytes: &Bytes| Section {
            name,
            bytes: bytes.bytes.clone(),
            relocations: Vec::new(),
            is_strings: false,
            group: None,
        };
        let abbreviations = self.abbreviations();
        let own = [(".debug_info", info), (".debug_abbrev", &abbreviations), (".debug_str", strings)];
        let all: Vec<_> = own.iter().chain(link).map(|(name, bytes)| section(name, bytes)).collect();
        new_object(&Target::x86_64(), &ElfCode::text(vec![0x90; 16]), &all).expect("an object")
    }

    /// The supplementary file: two partial units that import each other, the first with a type and a constant. Returns it
    /// with the offsets of the second unit's entry and of the type.
    fn supplementary(self) -> (Vec<u8>, u64, u64) {
        let (mut first, root) = self.header(3);
        let ty = root + 1;
        // The entry of the second unit: after the entries of the first, and a header.
        let second_root = root + 1 + 7 + 10 + 5 + 1 + root;
        first.u8s([1, 2]).u32(0).u8s([4, 5]);
        first.u8s([3]).u32(4).u32(ty as u32).u8s([7]);
        first.u8s([4]).u32(second_root as u32).u8s([0]);
        let (mut second, _) = self.header(3);
        second.u8s([1, 4]).u32(root as u32).u8s([0]);
        let mut info = empty();
        info.unit(&first).unit(&second);
        let mut strings = empty();
        strings.string("int").string("limit").string("unit").string("v");
        let (name, link) = self.own_link();
        (self.object(&info, &strings, &[(name, &link)]), second_root, ty)
    }

    /// The id of the file itself.
    fn own_link(self) -> (&'static str, Bytes) {
        let mut link = empty();
        match self.version {
            4 => (".note.gnu.build-id", {
                link.u32(4).u32(4).u32(3).u8s(*b"GNU\0").u8s(ID);
                link
            }),
            _ => (".debug_sup", {
                link.u16(5).u8s([1]).string("").uleb(4).u8s(ID);
                link
            }),
        }
    }

    /// The name and id of the supplementary file.
    fn link(self, id: &[u8]) -> (&'static str, Bytes) {
        let mut link = empty();
        match self.version {
            4 => (".gnu_debugaltlink", {
                link.string(NAME).u8s(id);
                link
            }),
            _ => (".debug_sup", {
                link.u16(5).u8s([0]).string(NAME).uleb(id.len() as u64).u8s(id);
                link
            }),
        }
    }

    /// A file with a variable `v` that imports the unit at an offset of the supplementary file.
    fn main(self, imported: u64, ty: u64, name: u32, link: &[(&'static str, Bytes)]) -> Vec<u8> {
        let (mut unit, _) = self.header(1);
        unit.u8s([5]).u32(10);
        unit.u8s([6]).int(self.reference_bytes, imported);
        unit.u8s([7]).u32(name).int(self.reference_bytes, ty).u8s([1, 0x50]);
        unit.u8s([0]);
        let mut info = empty();
        info.unit(&unit);
        let link: Vec<_> = link.iter().map(|(name, bytes)| (*name, bytes)).collect();
        self.object(&info, &empty(), &link)
    }
}

#[test]
fn names_types_and_imported_units_are_those_of_supplementary_file() {
    for style in STYLES {
        let (other, imported, ty) = style.supplementary();
        let bytes = style.main(imported, ty, 15, &[style.link(&ID)]);
        let companions = Companions::read(&bytes).unwrap();
        assert_eq!(companions.supplementary, Some((NAME.into(), ID.to_vec())));
        let mut object = Object::read(&bytes).unwrap();
        object.set_supplementary(Object::read(&other).unwrap()).unwrap();
        let dwarf = Dwarf::read(&object).unwrap();
        assert_eq!((dwarf.units().len(), dwarf.entries().len()), (1, 3), "{style:?}");
        assert_eq!(dwarf.units()[0].name.as_deref(), Some("unit"));
        let variable = dwarf.variable_named("v", None).unwrap().entry;
        let found = variable.ty().unwrap();
        assert_eq!((found.name().as_deref(), found.number(dw::DW_AT_byte_size)), (Some("int"), Some(4)));
        assert_eq!(dwarf.place(found.offset()), (".debug_info", ty));
        assert_eq!(dwarf.entry_at(found.offset()), Some(found));
        // Imported by the imported unit, which it imports.
        let limit = dwarf.variable_named("limit", None).unwrap().entry;
        assert_eq!((limit.number(dw::DW_AT_const_value), limit.ty()), (Some(7), Some(found)));
        // The names without the file are unknown.
        let alone = Object::read(&bytes).unwrap();
        let alone = Dwarf::read(&alone).unwrap();
        let variable = alone.entries().last().unwrap();
        assert_eq!((variable.attr(dw::DW_AT_name), variable.ty()), (Some(ResolvedValue::Other), None));
    }
}

#[test]
fn supplementary_file_with_another_id_is_refused_with_both_ids() {
    for style in STYLES {
        let (other, imported, ty) = style.supplementary();
        let bytes = style.main(imported, ty, 15, &[style.link(&[0xcd, 9])]);
        let mut object = Object::read(&bytes).unwrap();
        let error = object.set_supplementary(Object::read(&other).unwrap()).unwrap_err().to_string();
        assert_eq!(error, "supplementary file has id ab010203; expected cd09");
        let options = with::<lint::LintOptions>(|options| options.supplementary = Some(&other));
        let report = lint(&bytes, &options).unwrap();
        assert!(report.unreadable[0].to_string().contains("supplementary file `common.dbg`"), "{report:?}");
        // An object that has no such link.
        let mut plain = Object::read(&other).unwrap();
        assert!(plain.set_supplementary(Object::read(&other).unwrap()).is_err());
    }
}

/// Strings and entries outside of the supplementary file: errors of the attributes, and nothing of another file.
#[test]
fn reference_outside_supplementary_file_is_an_error_of_its_attribute() {
    for style in STYLES {
        let (other, _, ty) = style.supplementary();
        for far in [0x1000, 0xffff_fff0] {
            let bytes = style.main(far, far, far as u32, &[style.link(&ID)]);
            let object = Object::read_with(&bytes, Some(&other), None).unwrap();
            assert!(matches!(Dwarf::read(&object).unwrap_err().kind(), ErrorKind::Malformed(_)));
            let dwarf = Dwarf::read_with(&object, &ReadOptions::new().readable()).unwrap();
            let [error] = dwarf.errors() else { panic!("{:?}", dwarf.errors()) };
            assert!(error.to_string().starts_with("supplementary file `common.dbg`, "), "{error}");
            let variable = dwarf.entries().last().unwrap();
            assert_eq!(
                (variable.attr(dw::DW_AT_name), variable.ty()),
                (Some(ResolvedValue::Unreadable), None)
            );
            let report =
                lint(&bytes, &with::<lint::LintOptions>(|options| options.supplementary = Some(&other)));
            let codes: Vec<_> = report.unwrap().findings.iter().map(|one| one.code).collect();
            assert!(codes.contains(&lint::LintCode::BadReference), "{codes:?}");
        }
        // A reference to the inside of an entry.
        let bytes = style.main(ty, ty + 1, 15, &[style.link(&ID)]);
        let object = Object::read_with(&bytes, Some(&other), None).unwrap();
        assert_eq!(Dwarf::read(&object).unwrap().entries().last().unwrap().ty(), None);
    }
}

/// Each byte of the supplementary file's debug sections, changed: the object's unit is there, and everything ends.
#[test]
fn damaged_supplementary_file_loses_no_unit_of_the_object() {
    for style in [STYLES[0], STYLES[1]] {
        let (good, imported, ty) = style.supplementary();
        let bytes = style.main(imported, ty, 15, &[style.link(&ID)]);
        let parts: Vec<_> = {
            let object = Object::read(&good).unwrap();
            let place = |data: &[u8]| {
                let start = good.windows(data.len()).position(|part| part == data).expect("contents");
                start..start + data.len()
            };
            let sections = object.sections().iter().filter(|one| one.name.starts_with(".debug"));
            sections.map(|one| place(&one.data)).collect()
        };
        for at in parts.into_iter().flatten() {
            {
                let change = [0xff, 0x80, 1][at % 3];
                let mut other = good.clone();
                other[at] ^= change;
                let object = Object::read_with(&bytes, Some(&other), None).unwrap();
                let dwarf = Dwarf::read_with(&object, &ReadOptions::new().readable()).unwrap();
                assert_eq!((dwarf.units().len(), dwarf.entries().len()), (1, 3));
                let _ = dwarf.variable_named("limit", None);
                let mut out = Vec::new();
                let options = {
                    let mut options = DumpOptions::default();
                    options.verbose = true;
                    options
                };
                let _ = print_object_to(&mut out, &object, None, None, Dialect::Llvm, options);
                let text = String::from_utf8(out).unwrap();
                assert!(text.contains("DW_TAG_variable"), "{text}");
                lint(&bytes, &with::<lint::LintOptions>(|options| options.supplementary = Some(&other)))
                    .unwrap();
                stats(
                    &bytes,
                    &with::<eitri::stats::StatsOptions>(|options| options.supplementary = Some(&other)),
                )
                .unwrap();
                let options =
                    with::<eitri::report::ReportOptions>(|options| options.supplementary = Some(&other));
                readable_report(&bytes, &options).unwrap();
            }
        }
    }
}

/// A file that names itself: its references lead to itself, once.
#[test]
fn file_that_is_its_own_supplementary_file_ends() {
    let style = STYLES[0];
    let bytes = style.main(11, 11, 0, &[style.link(&ID), style.own_link()]);
    let object = Object::read_with(&bytes, Some(&bytes), None).unwrap();
    assert!(object.errors().is_empty() && object.supplementary().unwrap().supplementary().is_none());
    let dwarf = Dwarf::read_with(&object, &ReadOptions::new().readable()).unwrap();
    let variable = dwarf.entries().last().unwrap();
    assert_eq!(variable.ty().map(|ty| ty.tag()), Some(dw::DW_TAG_compile_unit));
    assert!(dwarf.variable_named("v", None).is_err());
}

/// An offset in a unit of the object that would wrap to the offset of an entry in the supplementary file.
#[test]
fn reference_in_unit_leads_to_no_supplementary_entry() {
    // DW_FORM_ref8.
    let style = Style { version: 5, reference: 0x14, string: 0x1d, reference_bytes: 8 };
    let (other, imported, ty) = style.supplementary();
    let far = |offset: u64| 1 << 63 | offset;
    let bytes = style.main(far(imported), far(ty), 15, &[style.link(&ID)]);
    let object = Object::read_with(&bytes, Some(&other), None).unwrap();
    let dwarf = Dwarf::read(&object).unwrap();
    assert_eq!(dwarf.supplementary().unwrap().units().len(), 2);
    assert_eq!(dwarf.entries().last().unwrap().ty(), None);
    assert!(dwarf.variable_named("limit", None).is_err());
    let report = lint(&bytes, &with::<lint::LintOptions>(|options| options.supplementary = Some(&other)));
    let bad = report.unwrap().findings.iter().filter(|one| one.code == lint::LintCode::BadReference).count();
    assert_eq!(bad, 2);
}

/// `DW_OP_call_ref` and the like refer to entries of the file that contains the expression.
#[test]
fn expression_refers_to_entries_of_its_own_file() {
    for style in STYLES {
        let (mut first, root) = style.header(3);
        // A constant, and a variable whose location is computed from it.
        first.u8s([1, 3]).u32(4).u32(0).u8s([7]);
        let constant = root + 1;
        first.u8s([8]).u32(10).u8s([5, 0x9a]).u32(constant as u32).u8s([0]);
        let variable = constant + 10;
        let mut info = empty();
        info.unit(&first);
        let mut strings = empty();
        strings.string("int").string("limit").string("v");
        let (name, link) = style.own_link();
        let other = style.object(&info, &strings, &[(name, &link)]);
        let bytes = style.main(root, variable, 10, &[style.link(&ID)]);
        let object = Object::read_with(&bytes, Some(&other), None).unwrap();
        let dwarf = Dwarf::read(&object).unwrap();
        let target = Target::x86_64();
        let machine = Snapshot::default();
        let located = |dwarf: &Dwarf<'_>, unit: &Unit<'_>, body: Body<'_>, offset_bytes| {
            let info = DebugInfo::new(dwarf);
            let encoding = unit.encoding.with_offset_bytes(offset_bytes);
            let context = Context::new(encoding, &target).with_unit(unit.offset);
            let machine = WithDebugInfo::new(&info, &machine, context);
            Evaluator::new().variable_location(body, &machine, &context).map(|location| location.to_string())
        };
        let supplementary = dwarf.supplementary().unwrap();
        let entry = dwarf.entry_at(1 << 63 | variable).unwrap();
        let Some(ResolvedValue::Expr(expr)) = entry.attr(dw::DW_AT_location) else { panic!("{entry:?}") };
        let found = located(supplementary, entry.unit(), Body::Expression(expr), 4);
        assert_eq!(found.as_deref(), Ok("implicit:07"), "{style:?}");
        // The same offset in an expression of the object, and that of no file.
        for offset in [constant, 1 << 63 | constant] {
            let expr = [&[0x9a][..], &offset.to_le_bytes()].concat();
            let found = located(&dwarf, &dwarf.units()[0], Body::Expression(&expr), 8);
            assert_ne!(found.as_deref(), Ok("implicit:07"), "{style:?} {offset:#x}");
        }
    }
}
