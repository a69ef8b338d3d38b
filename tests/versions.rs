//! Differences in encoding between DWARF versions, and required forms.

use crate::common;
use crate::common::tools;

use common::Slice;
use eitri::Result;
use eitri::build::Builder;
use eitri::emit::elf::{
    CodeContents, CodeSection, CodeSymbol, CodeSymbolKind, ObjectCode, SymbolBinding, SymbolLocation,
    Visibility, new_object,
};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, Loc, Module};
use eitri::read::{Dwarf, ListKind, Object, ResolvedValue};
use eitri::target::Target;
use gimli::{AttributeValue, DwAt, DwForm, DwTag, Format, constants as dw};
use tools::{Folder, Tool};

const DWARFDUMP: Tool = Tool::new("llvm-dwarfdump-19", "llvm-19");
const READELF: Tool = Tool::new("readelf", "binutils");
const LLD: Tool = Tool::new("ld.lld-19", "lld-19");

fn consumer(version: u16, format: Format, forms: &[(DwAt, DwForm)]) -> Consumer {
    let mut consumer = Consumer::dwarf5();
    (consumer.version, consumer.format, consumer.forms) = (version, format, forms.to_vec());
    consumer
}

/// A structure with a member and a bit field, a function with a linkage name, a variable and a constant.
fn module(target: Target) -> Result<Module> {
    let reg = target.registers().nth(3).expect("a register").reg;
    let mut m = Builder::new(target);
    let unit = m.unit("a unit with a long name.c");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    let ty = m.structure(unit, Some("structure"), 8)?;
    m.member(ty, "member", int, 4)?.bit_field(ty, "field", int, 3, 5)?;
    let f = m.function(unit, "function")?.code("f", 0x40).linkage_name("_Zfunction").id();
    m.variable(f, "variable", int)?.live(0..0x40, Loc::register(reg))?;
    m.constant(unit, "constant", int, &[1, 2, 3, 4])?;
    m.finish()
}

/// Result of `look` for the entry with this tag and name, or the first one with this tag.
fn entry<T>(
    module: &Module,
    consumer: &Consumer,
    (tag, name): (DwTag, &str),
    look: impl Fn(&gimli::DebuggingInformationEntry<Slice<'_>>) -> T,
) -> T {
    let lowered = lower(module, consumer, Policy::Strict).expect("the consumer can encode everything");
    let linked = common::link(&lowered.sections, module.target(), |_| 0x1000);
    let dwarf = common::reader(&linked);
    let unit = dwarf.unit(dwarf.units().next().expect("reads").expect("a unit")).expect("reads");
    let mut entries = unit.entries();
    while let Some(entry) = entries.next_dfs().expect("reads") {
        let text = entry.attr_value(dw::DW_AT_name).map(|text| dwarf.attr_string(&unit, text));
        let text = text.map(|text| text.expect("a string").to_string_lossy().into_owned());
        if entry.tag() == tag && text.as_deref() == Some(name) {
            return look(entry);
        }
    }
    panic!("no {tag} `{name}`")
}

/// Every form of a string, in every version: forms that the version lacks are ignored.
#[test]
fn names_are_the_same_in_every_form() -> Result<()> {
    let module = module(Target::x86_64())?;
    let forms = [
        dw::DW_FORM_string,
        dw::DW_FORM_strp,
        dw::DW_FORM_line_strp,
        dw::DW_FORM_strx,
        dw::DW_FORM_strx1,
        dw::DW_FORM_strx4,
    ];
    for (version, form) in (2..=5).flat_map(|version| forms.map(|form| (version, form))) {
        let consumer = consumer(version, Format::Dwarf32, &[(dw::DW_AT_name, form)]);
        for of in [(dw::DW_TAG_subprogram, "function"), (dw::DW_TAG_structure_type, "structure")] {
            let found = entry(&module, &consumer, of, |entry| entry.attr(dw::DW_AT_name).unwrap().form());
            let is_there = version == 5 || matches!(form, dw::DW_FORM_string | dw::DW_FORM_strp);
            assert_eq!(found, if is_there { form } else { dw::DW_FORM_strp }, "DWARF {version}");
        }
    }
    Ok(())
}

/// DWARF 3 section 7.5.4: in a four- or eight-byte form, a member's location is the offset of a list.
#[test]
fn a_number_is_no_offset_of_a_list() -> Result<()> {
    let module = module(Target::x86_64())?;
    for format in [Format::Dwarf32, Format::Dwarf64] {
        for form in [dw::DW_FORM_data4, dw::DW_FORM_data8] {
            let consumer = consumer(3, format, &[(dw::DW_AT_data_member_location, form)]);
            let value = entry(&module, &consumer, (dw::DW_TAG_member, "member"), |entry| {
                entry.attr(dw::DW_AT_data_member_location).unwrap().udata_value()
            });
            assert_eq!(value, Some(4));
        }
    }
    Ok(())
}

/// In DWARF 4 and 5 a block is not an expression.
#[test]
fn an_expression_is_no_block() -> Result<()> {
    let module = module(Target::x86_64())?;
    for version in 2..=5 {
        let consumer = consumer(version, Format::Dwarf32, &[(dw::DW_AT_location, dw::DW_FORM_block2)]);
        let form = entry(&module, &consumer, (dw::DW_TAG_variable, "variable"), |entry| {
            entry.attr(dw::DW_AT_location).unwrap().form()
        });
        assert_eq!(form, if version >= 4 { dw::DW_FORM_exprloc } else { dw::DW_FORM_block2 });
    }
    Ok(())
}

/// DWARF 4 introduced `DW_AT_linkage_name`; before, producers used that of the MIPS compilers, 0x2007.
#[test]
fn the_linkage_name_has_an_attribute() -> Result<()> {
    let module = module(Target::x86_64())?;
    for version in 2..=5 {
        let consumer = consumer(version, Format::Dwarf32, &[]);
        let has = |at| {
            entry(&module, &consumer, (dw::DW_TAG_subprogram, "function"), |entry| entry.has_attr(DwAt(at)))
        };
        assert_eq!((has(0x2007), has(0x6e)), (version < 4, version >= 4), "DWARF {version}");
    }
    Ok(())
}

/// Computed by hand. The field is bits 3 to 7 of its first byte. Counted from the most significant bit of four bytes,
/// it begins at bit 24 on a little-endian target, and at bit 3 on a big-endian one.
#[test]
fn members_are_where_they_are_in_every_version() -> Result<()> {
    for (target, from_most) in [(Target::x86_64(), 24), (Target::s390x(), 3)] {
        let module = module(target)?;
        for version in 2..=5 {
            let consumer = consumer(version, Format::Dwarf32, &[]);
            let location = |name| {
                entry(&module, &consumer, (dw::DW_TAG_member, name), |entry| {
                    entry.attr(dw::DW_AT_data_member_location).map(|location| match location.raw_value() {
                        AttributeValue::Block(bytes) => (0, bytes.slice().to_vec()),
                        _ => (location.udata_value().expect("a number"), Vec::new()),
                    })
                })
            };
            // DWARF 2 section 5.5.4: an expression that adds, DW_OP_plus_uconst.
            let at = |byte: u8| if version == 2 { (0, vec![0x23, byte]) } else { (byte.into(), Vec::new()) };
            assert_eq!(location("member"), Some(at(4)), "DWARF {version}");
            assert_eq!(location("field"), (version < 4).then(|| at(0)), "DWARF {version}");
            let number = |at| {
                entry(&module, &consumer, (dw::DW_TAG_member, "field"), |entry| {
                    entry.attr(at).and_then(|value| value.udata_value())
                })
            };
            let found = [dw::DW_AT_byte_size, dw::DW_AT_bit_offset, dw::DW_AT_data_bit_offset].map(number);
            let old = [Some(4), Some(from_most), None];
            let new = [None, None, Some(3)];
            assert_eq!(found, if version < 4 { old } else { new }, "DWARF {version}");
            assert_eq!(number(dw::DW_AT_bit_size), Some(5));
        }
    }
    Ok(())
}

/// The bytes of a constant are in memory order, for either byte order.
#[test]
fn constants_are_as_in_memory() -> Result<()> {
    for (target, number) in [(Target::x86_64(), 0x0403_0201), (Target::s390x(), 0x0102_0304)] {
        let module = module(target)?;
        for version in 2..=5 {
            let consumer = consumer(version, Format::Dwarf32, &[]);
            let value = entry(&module, &consumer, (dw::DW_TAG_constant, "constant"), |entry| {
                entry.attr(dw::DW_AT_const_value).unwrap().udata_value()
            });
            assert_eq!(value, Some(number), "DWARF {version}");
        }
    }
    Ok(())
}

/// DWARF 2 section 7.7.3: "The beginning offset and the ending offset" of an entry, without an entry that selects a base
/// address, which came with DWARF 3 section 2.6.6.
#[test]
fn location_lists_of_several_sections_select_a_base_from_dwarf_3_on() -> Result<()> {
    const FUNCTIONS: [&str; 3] = ["first", "second", "third"];
    let mut m = Builder::new(Target::x86_64());
    let unit = m.unit("a.c");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    let regs: Vec<_> = m.target().registers().take(2).map(|one| one.reg).collect();
    let mut code = ObjectCode::default();
    for (index, name) in (1..).zip(FUNCTIONS) {
        let f = m.function(unit, name)?.code(name, 0x20).id();
        m.variable(f, "moves", int)?
            .live(0..4, Loc::register(regs[0]))?
            .live(8..0x20, Loc::register(regs[1]))?;
        code.sections.push(CodeSection::new(
            format!(".text.{name}"),
            CodeContents::Code,
            vec![0x90; 0x20],
            16,
        ));
        code.symbols.push(CodeSymbol {
            name: name.into(),
            place: SymbolLocation::Section { index, offset: 0 },
            size: 0x20,
            kind: CodeSymbolKind::Function,
            binding: SymbolBinding::Global,
            visibility: Visibility::Default,
        });
    }
    let module = m.finish()?;
    let folder = Folder::new();
    for version in 2..=4 {
        for format in
            [Format::Dwarf32, Format::Dwarf64].into_iter().filter(|&it| version > 2 || it == Format::Dwarf32)
        {
            let consumer = consumer(version, format, &[]);
            let lowered = lower(&module, &consumer, Policy::Strict)?;
            let bytes = new_object(module.target(), &code, &lowered.sections)?;
            let report = eitri::check(&module, &consumer, &lowered.omissions, &bytes)?;
            assert!(report.is_clean(), "DWARF {version}: {report}");
            let path = folder.file("a.o", &bytes).display().to_string();
            let linked = folder.path().join("a.so").display().to_string();
            let Some(ran) = LLD.run(&["-shared", "-z", "noexecstack", "-o", &linked, &path]) else {
                return Ok(());
            };
            ran.clean();
            let bytes = std::fs::read(&linked).expect("the linked object");
            let object = Object::read(&bytes)?;
            let dwarf = Dwarf::read(&object)?;
            let mut bases = 0;
            let mut expected = Vec::new();
            for (unit, offset) in dwarf.entries().filter_map(|entry| match entry.attr(dw::DW_AT_location) {
                Some(ResolvedValue::LocList(offset)) => Some((entry.unit(), offset)),
                _ => None,
            }) {
                for entry in dwarf.raw_locations(unit, offset)? {
                    bases += usize::from(matches!(entry?.kind, ListKind::Base { .. }));
                }
            }
            assert_eq!(bases, if version == 2 { 0 } else { FUNCTIONS.len() }, "DWARF {version}");
            for name in FUNCTIONS {
                let symbol = object.symbols().iter().find(|one| one.name == name).expect("the symbol");
                expected.extend(
                    [0..4, 8..0x20].map(|pcs: std::ops::Range<u64>| {
                        (symbol.address + pcs.start, symbol.address + pcs.end)
                    }),
                );
            }
            let Some(dump) = DWARFDUMP.run(&["--debug-info", &linked]) else { return Ok(()) };
            let dump = dump.clean();
            let found: Vec<&str> =
                dump.lines().map(str::trim).filter(|line| line.contains("): DW_OP_")).collect();
            assert_eq!(found.len(), expected.len(), "DWARF {version}:\n{dump}");
            for (found, (start, end)) in found.iter().zip(&expected) {
                assert!(
                    found.starts_with(&format!("[0x{start:016x}, 0x{end:016x})")),
                    "DWARF {version}: {found}"
                );
            }
            let Some(dump) = READELF.run(&["--debug-dump=loc", &linked]) else { return Ok(()) };
            let dump = dump.clean();
            assert_eq!(dump.matches("(base address)").count(), bases, "DWARF {version}:\n{dump}");
            for (start, end) in expected {
                assert!(
                    dump.contains(&format!("{start:016x} {end:016x} (")),
                    "DWARF {version}: {start:#x}\n{dump}"
                );
            }
        }
    }
    Ok(())
}
