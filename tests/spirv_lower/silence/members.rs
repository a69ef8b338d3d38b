//! Properties of types beyond their kind and components.

use eitri::build::{DataMember, Major, Template};
use eitri::lower::Consumer;
use eitri::model::{CompositeKind, Passed, Qualifier, SourceLine, TypeId, VariantValues};
use eitri::op::Expr;

use super::functions::access;
use super::{Call, Owner, nothing_is_lost};
use crate::spirv_lower::case::Case;

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
    .of("has typedefs of basic types only"),
    Owner::new("a qualified structure", |case| {
        let s = case.m.structure(case.unit, Some("S"), 4).unwrap();
        case.m.qualified(case.unit, Qualifier::Const, Some(s)).unwrap()
    })
    .of("has qualifiers of basic types only"),
    Owner::new("a pointer to a member", |case| {
        let int = case.int();
        let s = case.m.structure(case.unit, Some("S"), 4).unwrap();
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
        case.m.matrix(case.unit, vector, 4, Major::Column).unwrap()
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
            case.m.describe_type(ty)?.declared(SourceLine::new(file, line));
        }
        Ok(())
    })
    .of(": line: "),
    Call::new("TypeBuilder::declared", 1, |case, ty, way| {
        let line = case.line(3, 1 + way as u32);
        case.m.describe_type(ty)?.declared(line);
        Ok(())
    })
    .of(": line: "),
    Call::new("TypeBuilder::alignment", 2, |case, ty, way| {
        if way > 0 {
            case.m.describe_type(ty)?.alignment(4 << way)?;
        }
        Ok(())
    }),
    Call::new("TypeBuilder::within", 3, |case, ty, way| {
        let f = case.function("f");
        let n = case.m.namespace(case.unit, "n")?;
        let block = case.m.block(f, &[])?;
        let s = case.m.structure(case.unit, Some("S"), 4)?;
        let mut of = case.m.describe_type(ty)?;
        match way {
            0 => return Ok(()),
            1 => of.within(n)?,
            2 => of.within(block)?,
            _ => of.within(s)?,
        };
        Ok(())
    })
    .of(": enclosing scope: "),
    Call::new("TypeBuilder::passed", 2, |case, ty, way| {
        if let Some(passed) = [None, Some(Passed::ByValue), Some(Passed::ByReference)][way] {
            case.m.describe_type(ty)?.passed(passed)?;
        }
        Ok(())
    }),
    Call::new("Builder::member", 4, |case, ty, way| {
        let int = case.int();
        let uint = case.uint();
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
        case.m.data_member(ty, if way > 0 { member.declared(SourceLine::new(file, 3)) } else { member })?;
        Ok(())
    }),
    Call::new("DataMember::declared", 1, |case, ty, way| {
        let member = DataMember::new("a", case.int(), 0);
        let line = case.line(3, 1 + way as u32);
        case.m.data_member(ty, member.declared(line))?;
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
    .of("a base class of"),
    Call::new("Builder::base, by another name", 2, |case, ty, way| {
        let one = case.m.class(case.unit, Some("One"), 4)?;
        let names = [case.m.typedef(case.unit, "A", Some(one))?, case.m.typedef(case.unit, "B", Some(one))?];
        case.m.base(ty, [one, names[0], names[1]][way], 0, None)?;
        Ok(())
    })
    .of("a base class of"),
    Call::new("Builder::base, no class", 2, |case, ty, way| {
        let bases = [case.m.union(case.unit, Some("A"), 4)?, case.m.union(case.unit, Some("B"), 4)?];
        if let Some(&base) = way.checked_sub(1).and_then(|index| bases.get(index)) {
            case.m.base(ty, base, 0, None)?;
        }
        Ok(())
    })
    .of("a base class of"),
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
    Call::new("Builder::variant_part_by", 1, |case, ty, way| {
        let int = case.int();
        case.m.member(ty, "tag", int, 0)?;
        if way == 1 {
            case.m.variant_part_by(ty, 0)?;
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
    Call::new("Builder::undiscriminated_variant_part", 1, |case, ty, way| {
        if way == 1 {
            case.m.undiscriminated_variant_part(ty)?;
        }
        Ok(())
    }),
    Call::new("Builder::variant", 2, |case, ty, way| {
        let int = case.int();
        let part = case.m.variant_part(ty, DataMember::new("tag", int, 0))?;
        if way > 0 {
            let variant = case.m.variant(part, &[VariantValues::Single(way as i128)])?;
            case.m.member(variant, "a", int, 4)?;
        }
        Ok(())
    })
    .of(": variant parts: "),
    Call::new("Builder::template", 1, |case, ty, way| {
        let int = case.int();
        if way == 1 {
            case.m.template(ty, Template::ty("T", Some(int)))?;
        }
        Ok(())
    }),
];

#[test]
fn type_properties_are_written_or_listed() {
    nothing_is_lost(OWNERS, CALLS);
}
