//! Types, members, parameters of templates.

use eitri::build::{DataMember, Extent, Template};
use eitri::lower::Consumer;
use eitri::model::{
    BaseEncoding, CompositeKind, Loc, Passed, PointerKind, Qualifier, TypeId, Val, VariantValues,
};
use eitri::op::Expr;
use eitri::target::SpaceId;

use super::functions::access;
use super::variables::memory;
use super::{Call, NOTHING, Owner, nothing_is_lost};
use crate::said::Case;

const OWNERS: &[Owner<TypeId>] = &[
    Owner::new("a base type", Case::int),
    Owner::new("an unspecified type", |case| case.m.unspecified_type(case.unit, "T").unwrap()),
    Owner::new("a pointer", |case| {
        let int = case.int();
        case.m.pointer(case.unit, Some(int)).unwrap()
    }),
    Owner::new("a qualified type", |case| {
        let int = case.int();
        case.m.qualified(case.unit, Qualifier::Const, Some(int)).unwrap()
    }),
    Owner::new("a name of a type", |case| {
        let int = case.int();
        case.m.typedef(case.unit, "T", Some(int)).unwrap()
    }),
    Owner::new("a name of a structure", |case| {
        let s = case.m.structure(case.unit, Some("S"), 4).unwrap();
        case.m.typedef(case.unit, "T", Some(s)).unwrap()
    })
    .of("has no other name of what is no basic type"),
    Owner::new("a qualified structure", |case| {
        let s = case.m.structure(case.unit, Some("S"), 4).unwrap();
        case.m.qualified(case.unit, Qualifier::Const, Some(s)).unwrap()
    })
    .of("has no qualifier of what is no basic type"),
    Owner::new("a pointer to a member", |case| {
        let (int, s) = (case.int(), case.m.structure(case.unit, Some("S"), 4).unwrap());
        case.m.member_pointer(case.unit, s, int).unwrap()
    }),
    Owner::new("an array", |case| {
        let int = case.int();
        case.m.array(case.unit, int, &[Some(2)]).unwrap()
    }),
    Owner::new("a vector", |case| {
        let int = case.int();
        case.m.vector(case.unit, int, 4).unwrap()
    }),
    Owner::new("a matrix", |case| {
        let int = case.int();
        let vector = case.m.vector(case.unit, int, 4).unwrap();
        case.m.matrix(case.unit, vector, 4, true).unwrap()
    }),
    Owner::new("a structure", |case| case.m.structure(case.unit, Some("T"), 8).unwrap()),
    Owner::new("a class", |case| case.m.class(case.unit, Some("T"), 8).unwrap()),
    Owner::new("a union", |case| case.m.union(case.unit, Some("T"), 8).unwrap()),
    Owner::new("an incomplete class", |case| {
        case.m.incomplete(case.unit, CompositeKind::Class, "T").unwrap()
    }),
    Owner::new("an enumeration", |case| {
        let int = case.int();
        case.m.enumeration(case.unit, Some("T"), int, &[("A", 1)]).unwrap()
    }),
    Owner::new("the type of a function", |case| case.m.subroutine(case.unit, None, &[]).unwrap()),
];

const CALLS: &[Call<TypeId>] = &[
    Call::new("TypeBuilder::declared", 3, |case, ty, way| {
        let other = case.m.file(case.unit, "b.h", None)?;
        let lines = [None, Some((case.file, 3)), Some((case.file, 4)), Some((other, 3))];
        if let Some((file, line)) = lines[way] {
            case.m.describe_type(ty)?.declared(file, line);
        }
        Ok(())
    })
    .of("where it is declared"),
    Call::new("TypeBuilder::declared_at", 1, |case, ty, way| {
        let line = case.line(3, 1 + way as u32);
        case.m.describe_type(ty)?.declared_at(line);
        Ok(())
    })
    .of("where it is declared"),
    Call::new("TypeBuilder::alignment", 2, |case, ty, way| {
        if way > 0 {
            case.m.describe_type(ty)?.alignment(4 << way)?;
        }
        Ok(())
    }),
    Call::new("TypeBuilder::within", 3, |case, ty, way| {
        let (f, n) = (case.function("f"), case.m.namespace(case.unit, "n")?);
        let (block, s) = (case.m.block(f, &[])?, case.m.structure(case.unit, Some("S"), 4)?);
        let mut of = case.m.describe_type(ty)?;
        match way {
            0 => return Ok(()),
            1 => of.within(n)?,
            2 => of.within(block)?,
            _ => of.within(s)?,
        };
        Ok(())
    })
    .of("what it is declared in"),
    Call::new("TypeBuilder::passed", 2, |case, ty, way| {
        if let Some(passed) = [None, Some(Passed::ByValue), Some(Passed::ByReference)][way] {
            case.m.describe_type(ty)?.passed(passed)?;
        }
        Ok(())
    }),
    Call::new("Builder::member", 4, |case, ty, way| {
        let (int, uint) = (case.int(), case.uint());
        let all = [None, Some(("a", int, 0)), Some(("b", int, 0)), Some(("a", uint, 0)), Some(("a", int, 4))];
        if let Some((name, of, offset)) = all[way] {
            case.m.member(ty, name, of, offset)?;
        }
        Ok(())
    }),
    Call::new("Builder::bit_field", 4, |case, ty, way| {
        let int = case.int();
        match way {
            0 => case.m.member(ty, "a", int, 0)?,
            1 => case.m.bit_field(ty, "a", int, 0, 3)?,
            2 => case.m.bit_field(ty, "a", int, 0, 4)?,
            3 => case.m.bit_field(ty, "a", int, 3, 4)?,
            _ => case.m.bit_field(ty, "a", int, 0, 32)?,
        };
        Ok(())
    }),
    Call::new("Builder::data_member", 1, |case, ty, way| {
        let int = case.int();
        if way == 1 {
            case.m.data_member(ty, DataMember::new("", int, 0))?;
        }
        Ok(())
    }),
    Call::new("DataMember::bit_field", 2, |case, ty, way| {
        let int = case.int();
        case.m.data_member(ty, DataMember::bit_field("a", int, 0, 1 + way as u64))?;
        Ok(())
    }),
    Call::new("DataMember::accessibility", 3, |case, ty, way| {
        let member = DataMember::new("a", case.int(), 0);
        case.m.data_member(ty, access(way).map_or(member, |access| member.accessibility(access)))?;
        Ok(())
    }),
    Call::new("DataMember::mutable", 1, |case, ty, way| {
        let member = DataMember::new("a", case.int(), 0);
        case.m.data_member(ty, if way == 1 { member.mutable() } else { member })?;
        Ok(())
    }),
    Call::new("DataMember::artificial", 1, |case, ty, way| {
        let member = DataMember::new("a", case.int(), 0);
        case.m.data_member(ty, if way == 1 { member.artificial() } else { member })?;
        Ok(())
    }),
    Call::new("DataMember::declared", 2, |case, ty, way| {
        let member = DataMember::new("a", case.int(), 0);
        let file = [case.file, case.file, case.m.file(case.unit, "b.h", None)?][way];
        case.m.data_member(ty, if way > 0 { member.declared(file, 3) } else { member })?;
        Ok(())
    }),
    Call::new("DataMember::declared_at", 1, |case, ty, way| {
        let (member, line) = (DataMember::new("a", case.int(), 0), case.line(3, 1 + way as u32));
        case.m.data_member(ty, member.declared_at(line))?;
        Ok(())
    }),
    Call::new("Builder::static_member", 2, |case, ty, way| {
        let int = case.int();
        if let Some(name) = [None, Some("a"), Some("b")][way] {
            case.m.static_member(ty, name, int)?;
        }
        Ok(())
    }),
    Call::new("Builder::base", 5, |case, ty, way| {
        let (one, other) =
            (case.m.class(case.unit, Some("One"), 4)?, case.m.class(case.unit, Some("Other"), 4)?);
        let bases = [None, Some((one, 0)), Some((other, 0)), Some((one, 4))];
        match bases.get(way) {
            Some(None) => {}
            Some(&Some((base, offset))) => drop(case.m.base(ty, base, offset, None)?),
            None => drop(case.m.base(ty, one, 0, access(way - 2))?),
        }
        Ok(())
    })
    .of("of its base classes"),
    Call::new("Builder::base, by another name", 2, |case, ty, way| {
        let one = case.m.class(case.unit, Some("One"), 4)?;
        let names = [case.m.typedef(case.unit, "A", Some(one))?, case.m.typedef(case.unit, "B", Some(one))?];
        case.m.base(ty, [one, names[0], names[1]][way], 0, None)?;
        Ok(())
    })
    .of("of its base classes"),
    Call::new("Builder::base, no class", 2, |case, ty, way| {
        let bases = [case.m.union(case.unit, Some("A"), 4)?, case.m.union(case.unit, Some("B"), 4)?];
        if let Some(&base) = way.checked_sub(1).and_then(|index| bases.get(index)) {
            case.m.base(ty, base, 0, None)?;
        }
        Ok(())
    })
    .of("of its base classes"),
    Call::new("Builder::virtual_base", 1, |case, ty, way| {
        let one = case.m.class(case.unit, Some("One"), 4)?;
        let mut offset = Expr::build(Consumer::dwarf5().encoding(8));
        offset.ops().constu(0).plus();
        let expr = case.m.expr(offset.finish()?, &[])?;
        if way == 1 {
            case.m.virtual_base(ty, one, expr, None)?;
        }
        Ok(())
    }),
    Call::new("Builder::variant_part", 1, |case, ty, way| {
        let tag = DataMember::new("tag", case.int(), 0);
        if way == 1 {
            case.m.variant_part(ty, tag)?;
        }
        Ok(())
    }),
    Call::new("Builder::untagged_variant_part", 1, |case, ty, way| {
        let int = case.int();
        if way == 1 {
            case.m.untagged_variant_part(ty, int)?;
        }
        Ok(())
    }),
    Call::new("Builder::variant", 2, |case, ty, way| {
        let int = case.int();
        let part = case.m.variant_part(ty, DataMember::new("tag", int, 0))?;
        if way > 0 {
            let variant = case.m.variant(part, &[VariantValues::One(way as i128)])?;
            case.m.member(variant, "a", int, 4)?;
        }
        Ok(())
    })
    .of("its variant parts"),
    Call::new("Builder::template", 1, |case, ty, way| {
        let int = case.int();
        if way == 1 {
            case.m.template(ty, Template::ty("T", Some(int)))?;
        }
        Ok(())
    }),
];

#[test]
fn of_types() {
    nothing_is_lost(OWNERS, CALLS);
}

/// A class that is the instance of a template.
const CLASS: [Owner<TypeId>; 1] =
    [Owner::new("a class", |case| case.m.class(case.unit, Some("C"), 8).unwrap())];

const TEMPLATES: &[Call<TypeId>] = &[
    Call::new("Template::ty", 4, |case, ty, way| {
        let (int, uint) = (case.int(), case.uint());
        let all = [
            Template::ty("T", None),
            Template::ty("T", Some(int)),
            Template::ty("T", Some(uint)),
            Template::ty("U", Some(int)),
            Template::ty("", Some(int)),
        ];
        case.m.template(ty, all[way].clone())?;
        Ok(())
    }),
    Call::new("Template::value", 3, |case, ty, way| {
        let (int, uint) = (case.int(), case.uint());
        let all = [
            Template::value("N", int, &[1, 0, 0, 0]),
            Template::value("N", int, &[2, 0, 0, 0]),
            Template::value("N", uint, &[1, 0, 0, 0]),
            Template::ty("N", Some(int)),
        ];
        case.m.template(ty, all[way].clone())?;
        Ok(())
    }),
    Call::new("Template::value_at", 1, |case, ty, way| {
        let int = case.int();
        if way == 1 {
            case.m.template(ty, Template::value_at("N", int, Loc::value(Val::constant(3))))?;
        }
        Ok(())
    }),
    Call::new("Template::named", 3, |case, ty, way| {
        let all = [None, Some(("F", "vector")), Some(("F", "list")), Some(("G", "vector"))];
        if let Some((name, of)) = all[way] {
            case.m.template(ty, Template::named(name, of))?;
        }
        Ok(())
    })
    .of("no templates as parameters"),
    Call::new("Template::pack", 5, |case, ty, way| {
        let int = Template::ty("", Some(case.int()));
        let all = [
            None,
            Some(Template::pack("P", [])),
            Some(Template::pack("P", [int.clone()])),
            Some(Template::pack("P", [int.clone(), int.clone()])),
            Some(Template::pack("Q", [int.clone()])),
            Some(Template::pack("P", [int.clone(), Template::named("F", "vector")])),
        ];
        if let Some(pack) = all[way].clone() {
            case.m.template(ty, pack)?;
        }
        Ok(())
    }),
    Call::new("Template::default", 1, |case, ty, way| {
        let parameter = Template::ty("T", Some(case.int()));
        case.m.template(ty, if way == 1 { parameter.default() } else { parameter })?;
        Ok(())
    }),
    Call::new("Template::default, of a pack", 1, |case, ty, way| {
        let parameter = Template::pack("P", [Template::ty("T", Some(case.int()))]);
        case.m.template(ty, if way == 1 { parameter.default() } else { parameter })?;
        Ok(())
    }),
    Call::new("Template::default, of a template", 1, |case, ty, way| {
        let parameter = Template::named("F", "vector");
        case.m.template(ty, if way == 1 { parameter.default() } else { parameter })?;
        Ok(())
    })
    .of("no templates as parameters"),
];

#[test]
fn of_templates() {
    nothing_is_lost(&CLASS, TEMPLATES);
}

const KINDS: &[Call<()>] = &[
    Call::new("Builder::base_type", 4, |case, (), way| {
        let encoding = BaseEncoding::Signed;
        match way {
            0 => return Ok(()),
            1 => case.m.base_type(case.unit, "int", encoding, 32)?,
            2 => case.m.base_type(case.unit, "int", encoding, 16)?,
            3 => case.m.base_type(case.unit, "long", encoding, 32)?,
            _ => case.m.base_type(case.unit, "int", BaseEncoding::Unsigned, 32)?,
        };
        Ok(())
    }),
    Call::new("Builder::base_type, of each encoding", ENCODINGS.len() - 1, |case, (), way| {
        case.m.base_type(case.unit, "T", ENCODINGS[way], 32)?;
        Ok(())
    }),
    Call::new("Builder::pointer", 1, |case, (), way| {
        let int = case.int();
        case.m.pointer(case.unit, [None, Some(int)][way])?;
        Ok(())
    }),
    Call::new("Builder::pointer_into", 5, |case, (), way| {
        let int = case.int();
        case.m.pointer_into(case.unit, Some(int), SpaceId([0, 1, 2, 3, 5, 6][way]))?;
        Ok(())
    }),
    Call::new("Builder::reference", 1, |case, (), way| {
        let int = case.int();
        match way {
            0 => case.m.pointer(case.unit, Some(int))?,
            _ => case.m.reference(case.unit, int)?,
        };
        Ok(())
    }),
    Call::new("Builder::rvalue_reference", 1, |case, (), way| {
        let int = case.int();
        match way {
            0 => case.m.reference(case.unit, int)?,
            _ => case.m.rvalue_reference(case.unit, int)?,
        };
        Ok(())
    }),
    // One into a space of which the memory is not said may have the storage class of one of which it is.
    Call::new("Builder::pointer_of", 23, |case, (), way| {
        let (int, spaces) = (case.int(), [0, 1, 2, 3, 5, 6]);
        let (space, memory) = (SpaceId(spaces[way / 4]), memory(1 + way % 4));
        case.m.pointer_of(case.unit, PointerKind::Pointer, Some(int), space, memory)?;
        Ok(())
    }),
    Call::new("Builder::pointer_of, a structure", 23, |case, (), way| {
        let (s, spaces) = (case.m.structure(case.unit, Some("S"), 4)?, [0, 1, 2, 3, 5, 6]);
        let (space, memory) = (SpaceId(spaces[way / 4]), memory(1 + way % 4));
        case.m.pointer_of(case.unit, PointerKind::Pointer, Some(s), space, memory)?;
        Ok(())
    })
    .of("it is said to be an address"),
    Call::new("Builder::member_pointer", 3, |case, (), way| {
        let (int, uint) = (case.int(), case.uint());
        let classes = [case.m.class(case.unit, Some("A"), 4)?, case.m.class(case.unit, Some("B"), 4)?];
        let all = [None, Some((classes[0], int)), Some((classes[1], int)), Some((classes[0], uint))];
        if let Some((class, to)) = all[way] {
            case.m.member_pointer(case.unit, class, to)?;
        }
        Ok(())
    }),
    Call::new("Builder::unspecified_type", 2, |case, (), way| {
        if let Some(name) = [None, Some("A"), Some("B")][way] {
            case.m.unspecified_type(case.unit, name)?;
        }
        Ok(())
    }),
    Call::new("Builder::typedef", 4, |case, (), way| {
        let (int, uint) = (case.int(), case.uint());
        let all = [
            None,
            Some(("A", None)),
            Some(("A", Some(int))),
            Some(("B", Some(int))),
            Some(("A", Some(uint))),
        ];
        if let Some((name, of)) = all[way] {
            case.m.typedef(case.unit, name, of)?;
        }
        Ok(())
    }),
    Call::new("Builder::qualified", 6, |case, (), way| {
        use Qualifier::{Atomic, Const, Restrict, Volatile};
        let (int, uint) = (case.int(), case.uint());
        let all = [
            None,
            Some((Const, Some(int))),
            Some((Volatile, Some(int))),
            Some((Restrict, Some(int))),
            Some((Atomic, Some(int))),
            Some((Const, Some(uint))),
            Some((Const, None)),
        ];
        if let Some((qualifier, of)) = all[way] {
            case.m.qualified(case.unit, qualifier, of)?;
        }
        Ok(())
    }),
    Call::new("Builder::subroutine", 4, |case, (), way| {
        let (int, uint) = (case.int(), case.uint());
        match way {
            0 => return Ok(()),
            1 => case.m.subroutine(case.unit, None, &[])?,
            2 => case.m.subroutine(case.unit, Some(int), &[])?,
            3 => case.m.subroutine(case.unit, None, &[int])?,
            _ => case.m.subroutine(case.unit, None, &[int, uint])?,
        };
        Ok(())
    }),
    Call::new("Builder::enumeration", 8, |case, (), way| {
        let (int, uint) = (case.int(), case.uint());
        match way {
            0 => return Ok(()),
            1 => case.m.enumeration(case.unit, Some("E"), int, &[("A", 1)])?,
            2 => case.m.enumeration(case.unit, Some("F"), int, &[("A", 1)])?,
            3 => case.m.enumeration(case.unit, Some("E"), uint, &[("A", 1)])?,
            4 => case.m.enumeration(case.unit, Some("E"), int, &[("B", 1)])?,
            5 => case.m.enumeration(case.unit, Some("E"), int, &[("A", -1)])?,
            6 => case.m.enumeration(case.unit, Some("E"), int, &[("A", 1), ("B", 2)])?,
            7 => case.m.enumeration(case.unit, Some("E"), int, &[("B", 2), ("A", 1)])?,
            _ => case.m.enumeration(case.unit, None, int, &[("A", 1)])?,
        };
        Ok(())
    }),
    Call::new("Builder::enum_class", 1, |case, (), way| {
        let int = case.int();
        match way {
            0 => case.m.enumeration(case.unit, Some("E"), int, &[("A", 1)])?,
            _ => case.m.enum_class(case.unit, Some("E"), int, &[("A", 1)])?,
        };
        Ok(())
    }),
    Call::new("Builder::structure", 5, |case, (), way| {
        match way {
            0 => return Ok(()),
            1 => case.m.structure(case.unit, Some("S"), 4)?,
            2 => case.m.structure(case.unit, Some("T"), 4)?,
            3 => case.m.structure(case.unit, Some("S"), 8)?,
            4 => case.m.structure(case.unit, None, 4)?,
            _ => case.m.incomplete(case.unit, CompositeKind::Struct, "S")?,
        };
        Ok(())
    }),
    Call::new("Builder::class", 1, |case, (), way| {
        match way {
            0 => case.m.structure(case.unit, Some("S"), 4)?,
            _ => case.m.class(case.unit, Some("S"), 4)?,
        };
        Ok(())
    }),
    Call::new("Builder::union", 1, |case, (), way| {
        match way {
            0 => case.m.structure(case.unit, Some("S"), 4)?,
            _ => case.m.union(case.unit, Some("S"), 4)?,
        };
        Ok(())
    }),
    Call::new("Builder::incomplete", 3, |case, (), way| {
        let kind = [CompositeKind::Struct, CompositeKind::Class, CompositeKind::Union];
        match kind.get(way) {
            Some(&kind) => case.m.incomplete(case.unit, kind, "S")?,
            None => case.m.unspecified_type(case.unit, "S")?,
        };
        Ok(())
    }),
    Call::new("Builder::array", 6, |case, (), way| {
        let (int, uint) = (case.int(), case.uint());
        let all: [(_, &[Option<u64>]); 7] = [
            (int, &[]),
            (int, &[None]),
            (int, &[Some(0)]),
            (int, &[Some(2)]),
            (uint, &[Some(2)]),
            (int, &[Some(2), Some(3)]),
            (int, &[Some(3), Some(2)]),
        ];
        let (of, counts) = all[way];
        case.m.array(case.unit, of, counts)?;
        Ok(())
    }),
    Call::new("Builder::array_of", 2, |case, (), way| {
        let int = case.int();
        case.m.array_of(case.unit, int, &[Extent::fixed(2)], [None, Some(64), Some(128)][way])?;
        Ok(())
    })
    .of("its stride"),
    Call::new("Extent::fixed", 2, |case, (), way| {
        let (int, extents) = (case.int(), [Extent::fixed(1), Extent::fixed(2), Extent::unknown()]);
        case.m.array_of(case.unit, int, &extents[way..=way], None)?;
        Ok(())
    }),
    Call::new("Extent::unknown", 1, |case, (), way| {
        let (int, extents) = (case.int(), [Extent::fixed(2), Extent::unknown()]);
        case.m.array_of(case.unit, int, &extents[..=way], None)?;
        Ok(())
    }),
    Call::new("Extent::from", 2, |case, (), way| {
        let (int, extent) = (case.int(), Extent::fixed(2));
        let extent = if way > 0 { extent.from(way as i64) } else { extent };
        case.m.array_of(case.unit, int, &[extent], None)?;
        Ok(())
    })
    .of("the index of its first element"),
    Call::new("Extent::index", 2, |case, (), way| {
        let (int, uint) = (case.int(), case.uint());
        let extents = [Extent::fixed(2), Extent::fixed(2).index(int), Extent::fixed(2).index(uint)];
        case.m.array_of(case.unit, int, &extents[way..=way], None)?;
        Ok(())
    })
    .of("the type of its indices"),
    Call::new("Extent::variable", 3, |case, (), way| {
        let (int, uint, f) = (case.int(), case.uint(), case.function("f"));
        let all = [
            case.m.variable(f, "n", uint)?.id(),
            case.m.variable(f, "o", uint)?.id(),
            case.m.variable(f, "p", int)?.id(),
        ];
        let extent = way.checked_sub(1).map_or_else(Extent::unknown, |index| Extent::variable(all[index]));
        case.m.array_of(case.unit, int, &[extent], None)?;
        Ok(())
    }),
    Call::new("Extent::value", 1, |case, (), way| {
        let int = case.int();
        let extent = if way == 1 { Extent::value(Val::constant(3)) } else { Extent::unknown() };
        case.m.array_of(case.unit, int, &[extent], None)?;
        Ok(())
    }),
    Call::new("Builder::vector", 5, |case, (), way| {
        let (int, uint) = (case.int(), case.uint());
        let (of, count) = [(int, 2), (int, 3), (int, 4), (int, 16), (uint, 4), (int, 8)][way];
        case.m.vector(case.unit, of, count)?;
        Ok(())
    }),
    Call::new("Builder::matrix", 4, |case, (), way| {
        let int = case.int();
        let vectors = [case.m.vector(case.unit, int, 2)?, case.m.vector(case.unit, int, 4)?];
        match way {
            0 => return Ok(()),
            1 => case.m.matrix(case.unit, vectors[0], 4, true)?,
            2 => case.m.matrix(case.unit, vectors[1], 4, true)?,
            3 => case.m.matrix(case.unit, vectors[0], 3, true)?,
            _ => case.m.matrix(case.unit, vectors[0], 4, false)?,
        };
        Ok(())
    }),
];

const ENCODINGS: [BaseEncoding; 18] = {
    use BaseEncoding::*;
    [
        Address,
        Boolean,
        ComplexFloat,
        Float,
        ImaginaryFloat,
        DecimalFloat,
        Signed,
        SignedChar,
        Unsigned,
        UnsignedChar,
        SignedFixed,
        UnsignedFixed,
        PackedDecimal,
        NumericString,
        Edited,
        Utf,
        Ucs,
        Ascii,
    ]
};

#[test]
fn kinds_of_types() {
    nothing_is_lost(&NOTHING, KINDS);
}
