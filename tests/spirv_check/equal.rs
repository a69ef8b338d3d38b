//! Equal and similar types in one scope: each is emitted as described.

use eitri::build::Builder;
use eitri::model::{BaseEncoding, SourceLine, TypeId, UnitId};
use eitri::spirv::{Binding, Mode, ModuleBuilder, Set, attach};
use eitri::target::Target;

/// A module without code.
fn core() -> Vec<u32> {
    let mut s = ModuleBuilder::new(1, 0);
    s.capability(4).capability(6).memory_model(2, 2);
    s.finish().expect("is a module")
}

type Make = fn(&mut Builder, UnitId, TypeId, Option<&str>) -> TypeId;

/// Whether each of two types has a property.
const BOTH: [[bool; 2]; 4] = [[false, false], [false, true], [true, false], [true, true]];

/// Two types of each kind, with or without a name and a line, in a structure or in the unit.
#[test]
fn equal_types_in_one_scope() {
    let kinds: [(&str, Make); 8] = [
        ("enum", |m, unit, int, name| m.enumeration(unit, name, int, &[("A", 0), ("B", 1)]).unwrap()),
        ("enum class", |m, unit, int, name| m.enum_class(unit, name, int, &[("A", 0), ("B", 1)]).unwrap()),
        ("wide enum", |m, unit, _, name| {
            let long = m.base_type(unit, "long", BaseEncoding::Signed, 64).unwrap();
            m.enumeration(unit, name, long, &[("A", 1 << 40), ("B", -1), ("C", 2)]).unwrap()
        }),
        ("empty enum", |m, unit, int, name| m.enumeration(unit, name, int, &[]).unwrap()),
        ("empty structure", |m, unit, _, name| m.structure(unit, name, 4).unwrap()),
        ("structure", |m, unit, int, name| {
            let ty = m.structure(unit, name, 4).unwrap();
            m.member(ty, "n", int, 0).unwrap();
            ty
        }),
        ("union", |m, unit, int, name| {
            let ty = m.union(unit, name, 4).unwrap();
            m.member(ty, "n", int, 0).unwrap();
            ty
        }),
        ("typedef", |m, unit, int, name| m.typedef(unit, name.unwrap_or("t"), Some(int)).unwrap()),
    ];
    let mut wrong = Vec::new();
    for (kind, make) in kinds {
        for name in [None, Some("same")] {
            for has_line in BOTH {
                for is_inside in BOTH {
                    let mut m = Builder::new(Target::x86_64());
                    let unit = m.unit("a.cl");
                    let file = m.primary_file(unit).unwrap();
                    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
                    let whole = m.structure(unit, Some("S"), 16).unwrap();
                    for (which, (at, member)) in [(0, "x"), (8, "y")].into_iter().enumerate() {
                        let ty = make(&mut m, unit, int, name);
                        // Describing a type makes it distinct, even without a property.
                        let mut describe = m.describe_type(ty).unwrap();
                        if has_line[which] {
                            describe.declared(SourceLine::new(file, 3).column(1));
                        }
                        if is_inside[which] {
                            describe.within(whole).unwrap();
                        }
                        m.member(whole, member, ty, at).unwrap();
                    }
                    let module = m.finish().unwrap();
                    let binding = Binding::new();
                    let exact = Set::ALL.map(Mode::exact).into_iter();
                    for mode in exact.chain(Set::ALL.map(Mode::validating)).chain([Mode::translator()]) {
                        let attached = attach(&core(), &module, &binding, &mode).unwrap();
                        let checked = attached.check(&module, &binding, &mode).unwrap();
                        if !checked.is_clean() {
                            let set = mode.set();
                            wrong.push(format!(
                                "{kind} {name:?} {has_line:?} {is_inside:?} {set:?}: {checked}"
                            ));
                        }
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
