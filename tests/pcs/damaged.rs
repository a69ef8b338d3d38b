//! Damaged parts are errors, and hide nothing else.

use eitri::build::Builder;
use eitri::emit::Section;
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, LineTableRow, Loc, Module, SourceLine};
use eitri::read::{CurrentLocation, Dwarf, Object, ReadOptions, ScopeVariables};
use eitri::target::Target;
use pretty_assertions::assert_eq;

/// A function `f` with an inlined call of `g`, and a block in `f` with a variable `x`, which `f` has, too. The block and
/// the variable of `f` have two ranges each. `h` has the same code as `f`.
fn module() -> Module {
    let mut m = Builder::new(Target::x86_64());
    let unit = m.unit("a.c");
    let file = m.primary_file(unit).unwrap();
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
    let [first, second] = ["rax", "rbx"].map(|name| m.target().register_named(name).unwrap());
    let g = m.function(unit, "g").unwrap().id();
    let omitted = m.parameter(g, "omitted", int).unwrap().id();
    let kept = m.parameter(g, "kept", int).unwrap().id();
    let f = m.function(unit, "f").unwrap().code("f", 0x20).id();
    m.function(unit, "h").unwrap().code("f", 0x20);
    let mut outer = m.variable(f, "x", int).unwrap();
    outer.live(0..8, Loc::register(first)).unwrap().live(8..0x20, Loc::register(second)).unwrap();
    let block = m.block(f, &[4..8, 0xc..0x10]).unwrap();
    m.variable(block, "x", int).unwrap().live(5..0x10, Loc::register(second)).unwrap();
    let call = m.inlined(f, g, &[0x14..0x18], SourceLine::new(file, 7).column(9)).unwrap();
    m.inlined_variable(call, kept).unwrap().live(0x14..0x18, Loc::register(first)).unwrap();
    let _ = omitted;
    for (pc, line) in [(0, 5), (4, 6), (0x14, 2), (0x18, 8)] {
        m.row(f, LineTableRow::new(pc, file, line)).unwrap();
    }
    m.finish().unwrap()
}

/// Returns the object with its sections changed.
fn object(change: impl FnOnce(&mut [Section])) -> Vec<u8> {
    let module = module();
    let mut sections = lower(&module, &Consumer::dwarf5(), Policy::Partial).unwrap().sections;
    change(&mut sections);
    let code = ObjectCode::text(vec![0x90; 0x20]).with_function("f", 0, 0x20);
    new_object(module.target(), &code, &sections).unwrap()
}

/// Replaces the first byte of the only such bytes in a section by 0x7f, which is no kind of list entry.
fn damage(sections: &mut [Section], name: &str, bytes: &[u8]) {
    let section = sections.iter_mut().find(|section| section.name == name).expect(name);
    let places: Vec<usize> = section
        .bytes
        .windows(bytes.len())
        .enumerate()
        .filter_map(|(place, window)| (window == bytes).then_some(place))
        .collect();
    let [place] = places[..] else { panic!("{name}: {places:?} {:x?}", section.bytes) };
    section.bytes[place] = 0x7f;
}

fn names(found: &ScopeVariables<'_, '_>) -> Vec<(String, bool)> {
    let name =
        |variable: &eitri::read::ScopeVariable<'_, '_>| variable.name().unwrap_or_default().into_owned();
    found.variables.iter().map(|variable| (name(variable), variable.is_shadowed)).collect()
}

fn of(names: &[(&str, bool)]) -> Vec<(String, bool)> {
    names.iter().map(|&(name, is_shadowed)| (name.to_owned(), is_shadowed)).collect()
}

#[test]
fn scopes_variables_and_lines_are_those_of_the_description() {
    let bytes = object(|_| {});
    let object = Object::read(&bytes).unwrap();
    let dwarf = Dwarf::read(&object).unwrap();
    let start = dwarf.address_in("f", 0).unwrap();
    let at = |pc: u64| dwarf.variables_at(start + pc);

    let block = at(0xc);
    assert_eq!(names(&block), of(&[("x", false), ("x", true)]));
    assert_eq!(
        block.scopes.iter().map(|scope| scope.entry.tag()).collect::<Vec<_>>(),
        [gimli::DW_TAG_lexical_block, gimli::DW_TAG_subprogram]
    );
    assert_eq!(&*block.scopes[0].ranges, [start + 4..start + 8, start + 0xc..start + 0x10]);
    let others: Vec<_> = block.scopes.others.iter().filter_map(|entry| entry.name()).collect();
    assert_eq!(others, ["h"]);
    // Live from 5 on: in scope at 4, without a location.
    assert_eq!(at(4).variables[0].location, CurrentLocation::OutsideList);
    let CurrentLocation::Entries(entries) = &at(5).variables[0].location else { panic!("no entries") };
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].pcs(0x1000), Some(start + 0x1005..start + 0x1010));

    let call = at(0x14);
    assert_eq!(names(&call), of(&[("omitted", false), ("kept", false), ("x", false)]));
    assert_eq!(call.variables[0].location, CurrentLocation::Missing);
    assert_eq!(call.scopes.frames().map(<[_]>::len).collect::<Vec<_>>(), [1, 1]);
    assert_eq!(call.in_scopes(&call.scopes[..1]).count(), 2);
    let position = call.scopes[0].call.clone().expect("a call");
    assert_eq!((position.file.as_deref(), position.line, position.column), (Some("a.c"), Some(7), Some(9)));

    let line = dwarf.line_at(start + 0x16).unwrap().expect("a row");
    assert_eq!((line.to_string(), line.pcs), ("a.c:2".to_owned(), start + 0x14..start + 0x18));
    for outside in [start - 1, start + 0x20] {
        assert!(dwarf.scopes_at(outside).is_empty());
        assert_eq!(dwarf.line_at(outside), Ok(None));
    }
}

#[test]
fn damaged_list_entry_hides_no_other_entry() {
    // DW_LLE_offset_pair from 8 to 0x20, with an expression of 1 byte: DW_OP_reg3.
    let bytes = object(|sections| damage(sections, ".debug_loclists", &[4, 8, 0x20, 1, 0x53]));
    let object = Object::read(&bytes).unwrap();
    let dwarf = Dwarf::read(&object).unwrap();
    let start = dwarf.address_in("f", 0).unwrap();
    let of_f = |pc: u64| dwarf.variables_at(start + pc).variables.pop().expect("x");

    let good = of_f(2);
    let CurrentLocation::Entries(entries) = &good.location else { panic!("{good:?}") };
    assert_eq!((entries.len(), entries[0].expr), (1, &[0x50][..]));
    assert!(good.problem.is_some());
    let bad = of_f(0x18);
    assert_eq!(bad.location, CurrentLocation::Unreadable);
    let problem = bad.problem.expect("an error").to_string();
    assert!(
        problem.starts_with("unit `a.c`, function `f`, variable `x`, section .debug_loclists, offset "),
        "{problem}"
    );
    assert!(problem.ends_with(": unknown kind of list entry 0x7f"), "{problem}");
    // The block's variable is whole.
    let inner = dwarf.variables_at(start + 0xc).variables.remove(0);
    assert!(inner.problem.is_none() && matches!(inner.location, CurrentLocation::Entries(_)), "{inner:?}");
}

#[test]
fn damaged_range_hides_no_other_range_and_no_other_scope() {
    // DW_RLE_offset_pair from 0xc to 0x10.
    let bytes = object(|sections| damage(sections, ".debug_rnglists", &[4, 0xc, 0x10]));
    let object = Object::read(&bytes).unwrap();
    let dwarf = Dwarf::read_with(&object, &ReadOptions::new().readable()).unwrap();
    let start = dwarf.address_in("f", 0).unwrap();
    let at = |pc: u64| dwarf.variables_at(start + pc);
    assert_eq!(names(&at(4)), of(&[("x", false), ("x", true)]));
    let lost = at(0xc);
    assert_eq!(names(&lost), of(&[("x", false)]));
    for found in [at(4), lost, at(0x18)] {
        let [error] = &found.scopes.errors[..] else { panic!("{:?}", found.scopes.errors) };
        assert!(error.to_string().contains("unknown kind of list entry 0x7f"), "{error}");
        assert_eq!(found.scopes.last().and_then(|function| function.name()).as_deref(), Some("f"));
    }
}

#[test]
fn damaged_opcode_hides_no_earlier_row() {
    let bytes = object(|sections| {
        let lines = sections.iter_mut().find(|section| section.name == ".debug_line").unwrap();
        // The end of the sequence, DW_LNE_end_sequence, becomes longer than the program.
        let end = lines.bytes.len();
        assert_eq!(lines.bytes[end - 3..], [0, 1, 1]);
        lines.bytes[end - 2] = 0x70;
    });
    let object = Object::read(&bytes).unwrap();
    let dwarf = Dwarf::read(&object).unwrap();
    let start = dwarf.address_in("f", 0).unwrap();
    for (pc, line) in [(0, 5), (4, 6), (0x14, 2)] {
        assert_eq!(dwarf.line_at(start + pc).unwrap().expect("a row").row.line, line);
    }
    // The last row has no end.
    let error = dwarf.line_at(start + 0x18).expect_err("an error");
    assert!(error.to_string().contains(".debug_line"), "{error}");
}
