//! The promise: the reader finds the contents of the bytes, compared with `gimli` on bytes written by `gimli`,
//! `object` and, where installed, clang. No input causes a panic.

mod attributes;
mod broken;
use crate::common;
use crate::common::bytes;
mod compare;
mod compiled;
mod compressed;
mod cubin;
mod ends;
mod forms;
mod frames;
mod hand;
mod headers;
mod indices;
mod linkage;
mod macros;
mod nvidia;
mod objects;
mod parts;
mod printed;
mod random;
mod relocations;
mod split;
mod supplementary;
use crate::common::tools;

use eitri::read::Entry;
use gimli::{Format, constants as dw};

use attributes::{Contents, Form, read, sections_of, write};
use compare::compare;

#[test]
fn facts_are_those_that_gimli_reads() {
    for form in Form::all() {
        let written = write(form, &Contents::of(form.encoding.version), 0x4000, false);
        let count = compare(sections_of(form, &written));
        assert_eq!((count.entries, count.rows), (5, 4), "{form:?}");
        let lists = if form.encoding.version < 5 { 5 } else { 10 };
        assert_eq!(count.list_entries, lists, "{form:?}");
        assert!(count.attributes >= 22, "{form:?}: {count:?}");
    }
}

#[test]
fn queries_follow_the_tree() {
    let form = Form::new(5, Format::Dwarf32, 8, false);
    let written = write(form, &Contents::of(form.encoding.version), 0x4000, false);
    let dwarf = read(sections_of(form, &written));
    let unit = &dwarf.units()[0];
    assert_eq!((unit.name.as_deref(), unit.low_pc), (Some("a.cl"), Some(0x4000)));
    let root = dwarf.root(unit).unwrap();
    let tags = |entries: Vec<Entry<'_, '_>>| entries.iter().map(|entry| entry.tag()).collect::<Vec<_>>();
    let children = [dw::DW_TAG_base_type, dw::DW_TAG_pointer_type, dw::DW_TAG_subprogram];
    assert_eq!(tags(root.children().collect()), children);
    let func = root.children().last().unwrap();
    assert_eq!(func.name().as_deref(), Some("a kernel"));
    assert_eq!(func.ranges().unwrap(), [0x4020..0x4030, 0x4012..0x4018, 0x4030..0x4153]);
    let var = func.children().next().unwrap();
    assert_eq!(var.parent(), Some(func));
    assert_eq!(root.descendants().last(), Some(var));
    assert_eq!(var.ty().and_then(Entry::ty).and_then(Entry::name).as_deref(), Some("float"));
    let places = var.locations(dw::DW_AT_location).unwrap().unwrap();
    let bounds: Vec<_> = places.iter().map(|place| (place.start, place.end)).collect();
    // Empty and reversed ranges are reported to the caller.
    let all = [(0x4012, 0x4018), (0x4020, 0x4030), (0x4030, 0x4153), (0x4019, 0x4019), (0x4019, 0x4013)];
    assert_eq!(bounds, all);
    assert!(places[0].covers(0x4017) && !places[0].covers(0x4018) && !places[4].covers(0x4014));
    let frame = func.locations(dw::DW_AT_frame_base).unwrap().unwrap();
    assert!(frame.len() == 1 && frame[0].is_default());
    assert_eq!(var.place().to_string(), "unit `a.cl`, function `a kernel`, variable `x`");
}
