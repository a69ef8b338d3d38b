//! Matrices in the layouts std140 and std430, as glslang places them: OpenGL 4.6 section 7.6.2.2.

use eitri::model::{CompositeKind, Count, Module, Type, TypeId, TypeKind};
use eitri::spirv::{
    DescribedModule, Id, Mode, ModuleSource, Provider, TextOptions, attach, describe, from_bytes, print, read,
};
use pretty_assertions::assert_eq;

use crate::spirv::common::check_golden;

/// Describes `matrices.comp` by its names and decorations.
fn described() -> DescribedModule {
    let words = from_bytes(include_bytes!("foreign/matrices.spv")).expect("is a module");
    describe(&words, &ModuleSource::default()).expect("is a module")
}

/// Vectors, elements of a vector, bytes from vector to vector, and whether vectors are columns.
type Matrix = (u64, u64, u64, bool);

fn matrix(module: &Module, ty: &Type) -> Option<Matrix> {
    let TypeKind::Matrix { of, count, is_column_major, stride_bits } = *ty.kind() else { return None };
    let TypeKind::Vector { count: elements, .. } = *module.ty(of).kind() else { return None };
    Some((count, elements, stride_bits.or(module.ty(of).bits())? / 8, is_column_major))
}

/// Name, offset and size in bytes, matrix or matrix of an array.
type Member = (String, u64, u64, Option<Matrix>);

/// A structure by its name, and its members.
fn members(module: &Module, name: &str) -> (TypeId, Vec<Member>) {
    let is_it = |(_, ty): &(TypeId, &Type)| ty.name().is_some_and(|of| module.string(of) == name);
    let (id, ty) = module.types().find(is_it).expect("a structure");
    let TypeKind::Composite(composite) = ty.kind() else { panic!("{name} is a structure") };
    assert_eq!(composite.kind, CompositeKind::Struct);
    let members = composite.members.iter().map(|member| {
        let ty = module.ty(member.ty);
        let of = match ty.kind() {
            TypeKind::Array { of, dimensions, stride_bits } => {
                // Rule 6: an array of matrices is stored as an array of all their columns.
                assert_eq!((dimensions[0].count, *stride_bits), (Count::Fixed(2), None));
                module.ty(*of)
            }
            _ => ty,
        };
        let name = module.string(member.name.expect("a name")).to_owned();
        (name, member.offset_bits / 8, ty.bits().expect("a size") / 8, matrix(module, of))
    });
    (id, members.collect())
}

/// Rules 4, 5 and 7: the vectors of a matrix are elements of an array, and in std140 each takes a multiple of 16 bytes. A
/// matrix of rows has as many vectors as rows, `mat2x3` three of two elements.
#[test]
fn vectors_have_the_strides_of_the_layout() {
    let described = described();
    let named = |name: &str, offset, bytes, of| (name.to_owned(), offset, bytes, of);
    let (params, all) = members(&described.module, "Params");
    assert_eq!(
        all,
        [
            named("columns", 0, 3 * 16, Some((3, 3, 16, true))),
            named("rows", 48, 3 * 16, Some((3, 3, 16, false))),
            named("two", 96, 2 * 16, Some((2, 3, 16, true))),
            named("three", 128, 3 * 16, Some((3, 2, 16, false))),
            named("each", 176, 2 * 3 * 16, Some((3, 3, 16, true))),
            named("last", 272, 4, None),
        ]
    );
    assert_eq!(described.module.ty(params).bits(), Some(276 * 8));
    // In std430 a vector of two elements takes 8 bytes.
    let (_, all) = members(&described.module, "Results");
    assert_eq!(
        all,
        [
            named("tight", 0, 2 * 8, Some((2, 2, 8, true))),
            named("rows", 16, 3 * 8, Some((3, 2, 8, false))),
            named("last", 40, 4, None),
        ]
    );
}

/// The element in row 2, column 1 of `each[1]` is at 176 + 48 + 16 + 8 bytes.
#[test]
fn elements_are_selected_by_strides() {
    let described = described();
    let (params, _) = members(&described.module, "Params");
    let provider = Provider::pointer(Id(1)).part(4).part(1).part(1).part(2);
    assert_eq!(provider.bits_of(&described.module, params), Some(248 * 8..252 * 8));
}

/// No set of debug instructions has an operand for the stride: it is listed.
#[test]
fn strides_are_listed() {
    let described = described();
    let attached = attach(&described.words, &described.module, &described.binding, &Mode::vulkan());
    let attached = attached.expect("is attached");
    let mut text = print(&read(&attached.words).expect("reads"), TextOptions::default());
    for omission in &attached.omissions {
        text += &format!("; omitted: {omission}\n");
    }
    check_golden("spirv/described/matrices.txt", &text);
}
