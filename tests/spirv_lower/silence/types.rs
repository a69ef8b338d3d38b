//! Kinds of types.

use eitri::build::{AttributeValue, Extent, Major, TypeBuilder};
use eitri::model::{BaseEncoding, CompositeKind, Loc, PointerKind, Qualifier, TypeId, Val};
use eitri::op::Expr;
use eitri::target::SpaceId;

use super::variables::memory;
use super::{Call, NOTHING, nothing_is_lost};
use crate::spirv_lower::case::Case;

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
    // A pointer into a space with unknown memory may have the storage class of one with known memory.
    Call::new("Builder::pointer_of", 23, |case, (), way| {
        let int = case.int();
        let spaces = [0, 1, 2, 3, 5, 6];
        let space = SpaceId(spaces[way / 4]);
        let memory = memory(1 + way % 4);
        case.m.pointer_of(case.unit, PointerKind::Pointer, Some(int), space, memory)?;
        Ok(())
    }),
    Call::new("Builder::pointer_of, a structure", 23, |case, (), way| {
        let s = case.m.structure(case.unit, Some("S"), 4)?;
        let spaces = [0, 1, 2, 3, 5, 6];
        let space = SpaceId(spaces[way / 4]);
        let memory = memory(1 + way % 4);
        case.m.pointer_of(case.unit, PointerKind::Pointer, Some(s), space, memory)?;
        Ok(())
    })
    .of("an address is encoded"),
    Call::new("Builder::member_pointer", 3, |case, (), way| {
        let int = case.int();
        let uint = case.uint();
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
        let int = case.int();
        let uint = case.uint();
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
        let int = case.int();
        let uint = case.uint();
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
    Call::new("Builder::variadic_subroutine", 3, |case, (), way| {
        let int = case.int();
        match way {
            0 => return Ok(()),
            1 => case.m.variadic_subroutine(case.unit, Some(int), &[])?,
            _ => case.m.variadic_subroutine(case.unit, Some(int), &[int])?,
        };
        Ok(())
    }),
    Call::new("Builder::subroutine", 4, |case, (), way| {
        let int = case.int();
        let uint = case.uint();
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
        let int = case.int();
        let uint = case.uint();
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
    Call::new("Builder::dynamic_composite", 3, |case, (), way| {
        match way {
            0 => return Ok(()),
            1 => case.m.dynamic_composite(case.unit, CompositeKind::Struct, Some("S"))?,
            2 => case.m.dynamic_composite(case.unit, CompositeKind::Struct, Some("T"))?,
            _ => case.m.structure(case.unit, Some("S"), 4)?,
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
        let int = case.int();
        let uint = case.uint();
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
    .of(": stride: "),
    Call::new("Extent::fixed", 2, |case, (), way| {
        let int = case.int();
        let extents = [Extent::fixed(1), Extent::fixed(2), Extent::unknown()];
        case.m.array_of(case.unit, int, &extents[way..=way], None)?;
        Ok(())
    }),
    Call::new("Extent::unknown", 1, |case, (), way| {
        let int = case.int();
        let extents = [Extent::fixed(2), Extent::unknown()];
        case.m.array_of(case.unit, int, &extents[..=way], None)?;
        Ok(())
    }),
    Call::new("Extent::from", 2, |case, (), way| {
        let int = case.int();
        let extent = Extent::fixed(2);
        let extent = if way > 0 { extent.from(way as i64) } else { extent };
        case.m.array_of(case.unit, int, &[extent], None)?;
        Ok(())
    })
    .of(": lower bound: "),
    Call::new("Extent::index", 2, |case, (), way| {
        let int = case.int();
        let uint = case.uint();
        let extents = [Extent::fixed(2), Extent::fixed(2).index(int), Extent::fixed(2).index(uint)];
        case.m.array_of(case.unit, int, &extents[way..=way], None)?;
        Ok(())
    })
    .of(": index type: "),
    Call::new("Extent::variable", 3, |case, (), way| {
        let int = case.int();
        let uint = case.uint();
        let f = case.function("f");
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
        let int = case.int();
        let uint = case.uint();
        let (of, count) = [(int, 2), (int, 3), (int, 4), (int, 16), (uint, 4), (int, 8)][way];
        case.m.vector(case.unit, of, count)?;
        Ok(())
    }),
    Call::new("Builder::packed_vector", 1, |case, (), way| {
        let int = case.int();
        match way {
            0 => case.m.vector(case.unit, int, 3)?,
            _ => case.m.packed_vector(case.unit, int, 3)?,
        };
        Ok(())
    })
    .of(": size: "),
    Call::new("Builder::matrix", 4, |case, (), way| {
        let int = case.int();
        let vectors = [case.m.vector(case.unit, int, 2)?, case.m.vector(case.unit, int, 4)?];
        match way {
            0 => return Ok(()),
            1 => case.m.matrix(case.unit, vectors[0], 4, Major::Column)?,
            2 => case.m.matrix(case.unit, vectors[1], 4, Major::Column)?,
            3 => case.m.matrix(case.unit, vectors[0], 3, Major::Column)?,
            _ => case.m.matrix(case.unit, vectors[0], 4, Major::Row)?,
        };
        Ok(())
    }),
    Call::new("Builder::matrix_of", 2, |case, (), way| {
        let int = case.int();
        let vector = case.m.vector(case.unit, int, 2)?;
        case.m.matrix_of(case.unit, vector, 4, Major::Column, [None, Some(128), Some(192)][way])?;
        Ok(())
    })
    .of(": stride: "),
    Call::new("Builder::cooperative_matrix", 5, |case, (), way| {
        let int = case.int();
        let [scope, rows, columns, usage] = match way {
            0 => return Ok(()),
            1 => [3, 16, 8, 0],
            2 => [2, 16, 8, 0],
            3 => [3, 8, 8, 0],
            4 => [3, 16, 16, 0],
            _ => [3, 16, 8, 1],
        };
        case.m.cooperative_matrix(case.unit, int, scope, rows, columns, usage)?;
        Ok(())
    })
    .of(": kind: "),
    Call::new("Builder::string_type", 3, |case, (), way| {
        let all = [None, Some((None, None)), Some((Some("text"), None)), Some((None, Some(80)))];
        if let Some((name, bytes)) = all[way] {
            case.m.string_type(case.unit, name, bytes)?;
        }
        Ok(())
    })
    .of(": kind: "),
    Call::new("Builder::subrange_type", 3, |case, (), way| {
        let int = case.int();
        let all = [None, Some((None, None)), Some((Some("small"), None)), Some((None, Some(8)))];
        if let Some((name, bits)) = all[way] {
            case.m.subrange_type(case.unit, name, Some(int), bits)?;
        }
        Ok(())
    })
    .of(": kind: "),
    Call::new("Builder::set_type", 3, |case, (), way| {
        let int = case.int();
        let all = [None, Some((None, None)), Some((Some("digits"), None)), Some((None, Some(32)))];
        if let Some((name, bits)) = all[way] {
            case.m.set_type(case.unit, name, Some(int), bits)?;
        }
        Ok(())
    })
    .of(": kind: "),
    Call::new("Builder::sized_enumeration", 3, |case, (), way| {
        match way {
            0 => {}
            1 => drop(case.m.sized_enumeration(case.unit, Some("E"), 4, &[("A", 1)])?),
            2 => drop(case.m.sized_enumeration(case.unit, Some("E"), 1, &[("A", 1)])?),
            _ => drop(case.m.sized_enumeration(case.unit, Some("F"), 4, &[("A", 1)])?),
        }
        Ok(())
    }),
    Call::new("Builder::attribute", 2, |case, (), way| {
        if way > 0 {
            let value = AttributeValue::Unsigned(way as u64);
            case.m.attribute(case.unit, gimli::DwAt(0x3000), value)?;
        }
        Ok(())
    })
    .of("vendor attribute: "),
    Call::new("TypeBuilder::data_location", 2, |case, (), way| {
        let ty = case.m.unspecified_type(case.unit, "descriptor")?;
        dynamic(case, ty, way, |mut ty, loc| ty.data_location(&loc).map(drop))
    })
    .of("data location: "),
    Call::new("TypeBuilder::allocated", 2, |case, (), way| {
        let ty = case.m.unspecified_type(case.unit, "descriptor")?;
        dynamic(case, ty, way, |mut ty, loc| ty.allocated(AttributeValue::Location(loc)).map(drop))
    })
    .of("allocation: "),
    Call::new("TypeBuilder::associated", 2, |case, (), way| {
        let ty = case.m.unspecified_type(case.unit, "descriptor")?;
        dynamic(case, ty, way, |mut ty, loc| ty.associated(AttributeValue::Location(loc)).map(drop))
    })
    .of("association: "),
    Call::new("TypeBuilder::unprototyped", 1, |case, (), way| {
        let ty = case.m.subroutine(case.unit, None, &[])?;
        if way == 1 {
            case.m.describe_type(ty)?.unprototyped()?;
        }
        Ok(())
    })
    .of("absent prototype: "),
    Call::new("TypeBuilder::rank", 2, |case, (), way| {
        let int = case.int();
        let ty = case.m.array(case.unit, int, &[None])?;
        dynamic(case, ty, way, |mut ty, loc| ty.rank(AttributeValue::Location(loc)).map(drop))
    })
    .of("number of dimensions: "),
    Call::new("TypeBuilder::use_location", 2, |case, (), way| {
        let int = case.int();
        let class = case.m.class(case.unit, Some("A"), 4)?;
        let ty = case.m.member_pointer(case.unit, class, int)?;
        dynamic(case, ty, way, |mut ty, loc| ty.use_location(&loc).map(drop))
    })
    .of("location of the member: "),
    Call::new("TypeBuilder::string_length", 2, |case, (), way| {
        let ty = case.m.string_type(case.unit, None, None)?;
        dynamic(case, ty, way, |mut ty, loc| ty.string_length(AttributeValue::Location(loc)).map(drop))
    })
    .of("length of the string: "),
    Call::new("TypeBuilder::size", 2, |case, (), way| {
        let ty = case.m.dynamic_composite(case.unit, CompositeKind::Struct, Some("R"))?;
        dynamic(case, ty, way, |mut ty, loc| ty.size(AttributeValue::Location(loc)).map(drop))
    })
    .of("size: "),
    Call::new("TypeBuilder::lower_bound", 2, |case, (), way| {
        let ty = case.m.subrange_type(case.unit, None, None, None)?;
        if way > 0 {
            case.m.describe_type(ty)?.lower_bound(AttributeValue::Signed(-(way as i64)))?;
        }
        Ok(())
    })
    .of("lower bound: "),
    Call::new("TypeBuilder::upper_bound", 2, |case, (), way| {
        let ty = case.m.subrange_type(case.unit, None, None, None)?;
        if way > 0 {
            case.m.describe_type(ty)?.upper_bound(AttributeValue::Signed(way as i64))?;
        }
        Ok(())
    })
    .of("upper bound: "),
    Call::new("TypeBuilder::string_length_bytes", 2, |case, (), way| {
        let ty = case.m.string_type(case.unit, None, None)?;
        if way > 0 {
            case.m.describe_type(ty)?.string_length_bytes(2 * way as u64)?;
        }
        Ok(())
    })
    .of("size of the length of the string: "),
];

/// Sets an expression about an object; variant 0 omits the call.
fn dynamic(
    case: &mut Case,
    ty: TypeId,
    way: usize,
    set: fn(TypeBuilder<'_>, Loc) -> eitri::Result<()>,
) -> eitri::Result<()> {
    let operation: &[u8] = [&[0x97], &[0x22], &[0x1c]][way];
    let expr = case.m.expr(Expr::raw(operation), &[])?;
    let described = case.m.describe_type(ty)?;
    if way == 0 { Ok(()) } else { set(described, Loc::expr(expr)) }
}

const ENCODINGS: [BaseEncoding; 19] = {
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
        Numbered(0x80),
    ]
};

#[test]
fn kinds_of_types() {
    nothing_is_lost(&NOTHING, KINDS);
}
