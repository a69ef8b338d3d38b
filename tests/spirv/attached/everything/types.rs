//! The types of the module that has everything.

use eitri::build::{Builder, Extent};
use eitri::model::{
    BaseEncoding, CompositeKind, FileId, MemorySpace, PointerKind, Qualifier, SourceLine, TypeId, UnitId,
};

/// Types of one unit.
pub struct Types {
    pub unit: UnitId,
    pub float: TypeId,
    pub int: TypeId,
    pub uint: TypeId,
    /// A structure of two numbers.
    pub pair: TypeId,
    pub float2: TypeId,
}

pub fn base_types(m: &mut Builder, unit: UnitId) -> Types {
    let mut base = |name, encoding, bits| m.base_type(unit, name, encoding, bits).expect("a type");
    let float = base("float", BaseEncoding::Float, 32);
    let int = base("int", BaseEncoding::Signed, 32);
    let uint = base("uint", BaseEncoding::Unsigned, 32);
    base("bool", BaseEncoding::Boolean, 8);
    base("char", BaseEncoding::SignedChar, 8);
    base("uchar", BaseEncoding::UnsignedChar, 8);
    base("address", BaseEncoding::Address, 64);
    base("complex", BaseEncoding::ComplexFloat, 64);
    let vector = m.vector(unit, float, 2).expect("a type");
    let float2 = m.typedef(unit, "float2", Some(vector)).expect("a type");
    let pair = m.structure(unit, Some("Pair"), 8).expect("a type");
    m.member(pair, "a", uint, 0).expect("a member").member(pair, "b", uint, 4).expect("a member");
    Types { unit, float, int, uint, pair, float2 }
}

/// Describes further types, with a variable of each, so that the types are used.
pub fn other_types(m: &mut Builder, types: &Types, base: TypeId, class: TypeId, header: FileId) {
    let &Types { unit, float, int, uint, pair, float2 } = types;
    let mut all = Vec::new();
    let spaces = [
        ("global", Some(MemorySpace::Constant)),
        ("local", Some(MemorySpace::Group)),
        ("private_lane", Some(MemorySpace::Private)),
        ("generic", None),
    ];
    for (space, memory) in spaces {
        let space = m.target().space_named(space).expect("is known").id;
        all.push(m.pointer_of(unit, PointerKind::Pointer, Some(int), space, memory).expect("a type"));
    }
    let pointer = m.pointer(unit, Some(float)).expect("a type");
    all.push(m.pointer(unit, None).expect("a type"));
    all.push(m.pointer(unit, Some(pointer)).expect("a type"));
    all.push(m.reference(unit, pair).expect("a type"));
    all.push(m.rvalue_reference(unit, float).expect("a type"));
    for qualifier in [Qualifier::Const, Qualifier::Volatile, Qualifier::Atomic] {
        all.push(m.qualified(unit, qualifier, Some(int)).expect("a type"));
    }
    all.push(m.qualified(unit, Qualifier::Restrict, Some(pointer)).expect("a type"));
    all.push(m.array(unit, int, &[Some(4), Some(2)]).expect("a type"));
    all.push(m.array(unit, int, &[None]).expect("a type"));
    all.push(m.array(unit, int, &[Some(0)]).expect("a type"));
    let count = m.variable(unit, "count", uint).expect("a variable").id();
    all.push(m.array_of(unit, float, &[Extent::variable(count)], None).expect("a type"));
    all.push(m.vector(unit, float, 3).expect("a type"));
    all.push(m.vector(unit, float, 16).expect("a type"));
    all.push(m.vector(unit, uint, 2).expect("a type"));
    let real = m.typedef(unit, "real", Some(float)).expect("a type");
    m.describe_type(real).expect("is there").declared(SourceLine::new(header, 3));
    all.push(real);
    all.push(m.typedef(unit, "matrix", Some(float2)).expect("a type"));
    all.push(m.enumeration(unit, Some("Color"), uint, &[("Red", 0), ("Green", 4)]).expect("a type"));
    all.push(m.enum_class(unit, Some("Kind"), int, &[("Small", -1), ("Large", 1)]).expect("a type"));
    let node = m.structure(unit, Some("Node"), 8).expect("a type");
    let next = m.pointer(unit, Some(node)).expect("a type");
    m.member(node, "next", next, 0).expect("a member");
    let either = m.union(unit, Some("Either"), 4).expect("a type");
    m.member(either, "f", float, 0).expect("a member").member(either, "u", uint, 0).expect("a member");
    let opaque = m.incomplete(unit, CompositeKind::Struct, "Opaque").expect("a type");
    let opaque = m.pointer(unit, Some(opaque)).expect("a type");
    let image = m.unspecified_type(unit, "image2d_t").expect("a type");
    let member = m.member_pointer(unit, base, int).expect("a type");
    let function = m.subroutine(unit, Some(float), &[int, pair]).expect("a type");
    let function = m.pointer(unit, Some(function)).expect("a type");
    all.extend([node, either, opaque, image, member, function, class]);
    for (number, ty) in all.into_iter().enumerate() {
        m.variable(unit, &format!("g{number}"), ty).expect("a variable");
    }
}
