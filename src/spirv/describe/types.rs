//! Types.

use hashbrown::HashMap;

use super::Describer;
use crate::build::{Extent, Major};
use crate::error::Result;
use crate::model::{BaseEncoding, PointerKind, TypeId};
use crate::omission::{Property, Reason, Subject};
use crate::spirv::opcodes as op;
use crate::spirv::words::{HEADER, Id, Instruction, string_bytes};
use crate::target::SpaceId;

/// Types by id.
#[derive(Debug, Default)]
pub(super) struct Types {
    all: HashMap<Id, TypeId>,
    /// Storage classes and targets of pointers, which are described where they are used.
    pointers: HashMap<Id, (u32, Id)>,
    pub style: Style,
}

/// Names of base types.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Style {
    /// `float`, `int`, `uint`: GLSL, HLSL, OpenCL C, Slang.
    #[default]
    C,
    /// `f32`, `i32`, `u32`: WGSL, Rust, Zig.
    Sized,
}

impl Style {
    /// The names of a language, by its number in the core specification.
    pub fn of(language: u32) -> Self {
        if matches!(language, 10 | 12 | 13) { Self::Sized } else { Self::C }
    }

    fn float(self, bits: u32) -> String {
        match (self, bits) {
            (Self::C, 16) => "half".into(),
            (Self::C, 32) => "float".into(),
            (Self::C, 64) => "double".into(),
            (Self::Sized, _) => format!("f{bits}"),
            (Self::C, _) => format!("float{bits}"),
        }
    }

    fn integer(self, bits: u32, is_signed: bool) -> String {
        let sign = match self {
            Self::Sized if is_signed => return format!("i{bits}"),
            Self::Sized => return format!("u{bits}"),
            Self::C if is_signed => "",
            Self::C => "u",
        };
        match bits {
            8 => format!("{sign}char"),
            16 => format!("{sign}short"),
            32 => format!("{sign}int"),
            64 => format!("{sign}long"),
            _ => format!("{sign}int{bits}"),
        }
    }
}

impl Types {
    /// The type of an id, other than a pointer that was not used so far; `None` for `void` and for functions.
    pub fn get(&self, id: Id) -> Option<TypeId> {
        self.all.get(&id).copied()
    }

    /// The target of a pointer type.
    pub fn pointee(&self, id: Id) -> Option<Id> {
        self.pointers.get(&id).map(|&(_, to)| to)
    }

    /// Whether a pointer type of a shader has addresses, rather than being a way to name a variable.
    pub fn has_addresses(&self, pointer: Id) -> bool {
        self.pointers.get(&pointer).is_some_and(|&(class, _)| class == PHYSICAL_STORAGE_BUFFER)
    }
}

/// Storage class of pointers with addresses in a shader.
const PHYSICAL_STORAGE_BUFFER: u32 = 5349;

/// `OpTypeVectorIdEXT`, also `OpTypeCooperativeVectorNV`.
const TYPE_VECTOR_ID: u16 = 5288;
/// `OpTypeCooperativeMatrixKHR`.
const TYPE_COOPERATIVE_MATRIX: u16 = 4456;

/// The most bits of a base type.
const MOST_BITS: u32 = 1 << 16;

/// The most pointers to pointers in a type that is described at once.
const MOST_POINTERS: usize = 64;

impl<'a> Describer<'_, 'a> {
    /// Describes all types. Types follow their parts, except the targets of forward pointers.
    pub(super) fn types(&mut self, is_kernel: bool) -> Result<()> {
        let globals = self.layout.words().between(HEADER..self.layout.globals_end());
        for instruction in globals {
            let Some(id) = instruction.result() else { continue };
            if let Some(ty) = self.new_type(id, instruction, is_kernel)? {
                self.types.all.insert(id, ty);
            }
        }
        Ok(())
    }

    /// The type of an id, described now if it is a pointer; `None` for `void` and for functions. The target of a forward
    /// pointer that has no type so far is unknown.
    pub(super) fn ty(&mut self, id: Id) -> Result<Option<TypeId>> {
        let (mut id, mut pointers) = (id, Vec::new());
        while let (None, Some(&(class, to))) = (self.types.get(id), self.types.pointers.get(&id)) {
            if pointers.len() == MOST_POINTERS {
                break;
            }
            pointers.push((id, class));
            id = to;
        }
        let mut ty = self.types.get(id);
        while let Some((pointer, class)) = pointers.pop() {
            let space = self.space(class);
            let made = self.m.pointer_of(self.unit, PointerKind::Pointer, ty, space, None)?;
            self.types.all.insert(pointer, made);
            ty = Some(made);
        }
        Ok(ty)
    }

    /// The address space of a storage class; the default one for a class that the target lacks.
    fn space(&self, class: u32) -> SpaceId {
        let space = self.m.target().spaces().iter().find(|space| space.id == space_of(class));
        space.map_or(SpaceId::DEFAULT, |space| space.id)
    }

    /// The type of the variable that a pointer points to.
    pub(super) fn target_of(&mut self, pointer: Id) -> Result<Option<TypeId>> {
        match self.types.pointee(pointer) {
            Some(to) => self.ty(to),
            None => Ok(None),
        }
    }

    fn new_type(&mut self, id: Id, it: Instruction<'a>, is_kernel: bool) -> Result<Option<TypeId>> {
        let (unit, style) = (self.unit, self.types.style);
        let ty = match (it.opcode(), it.operands()) {
            (op::TYPE_BOOL, _) => {
                // A boolean has no size in shaders; their languages give it that of an integer.
                let bits = if is_kernel { 8 } else { 32 };
                self.m.base_type(unit, "bool", BaseEncoding::Boolean, bits)?
            }
            (op::TYPE_INT, &[bits @ 1..=MOST_BITS, sign]) => {
                let encoding = if sign == 0 { BaseEncoding::Unsigned } else { BaseEncoding::Signed };
                self.m.base_type(unit, &style.integer(bits, sign != 0), encoding, bits.into())?
            }
            (op::TYPE_FLOAT, &[bits @ 1..=MOST_BITS]) => {
                self.m.base_type(unit, &style.float(bits), BaseEncoding::Float, bits.into())?
            }
            // With a second operand that is not one of these, it is an unspecified type.
            (op::TYPE_FLOAT, &[16, 0]) => self.float(id, "bfloat16_t", BaseEncoding::BFloat16, 16)?,
            (op::TYPE_FLOAT, &[8, 4214]) => self.float(id, "floate4m3_t", BaseEncoding::Float8E4M3, 8)?,
            (op::TYPE_FLOAT, &[8, 4215]) => self.float(id, "floate5m2_t", BaseEncoding::Float8E5M2, 8)?,
            (op::TYPE_VECTOR, &[element, count]) => {
                let Some(element) = self.ty(Id(element))? else { return Ok(None) };
                self.m.vector(unit, element, count.into())?
            }
            (TYPE_VECTOR_ID, &[element, count]) if self.count(Id(count)).is_some() => {
                let Some(element) = self.ty(Id(element))? else { return Ok(None) };
                self.m.vector(unit, element, self.count(Id(count)).unwrap_or_default())?
            }
            (TYPE_COOPERATIVE_MATRIX, &[element, ..]) if self.matrix_numbers(it).is_some() => {
                let Some(element) = self.ty(Id(element))? else { return Ok(None) };
                let [scope, rows, columns, usage] = self.matrix_numbers(it).unwrap_or_default();
                self.m.cooperative_matrix(unit, element, scope, rows, columns, usage)?
            }
            (op::TYPE_MATRIX, &[column, count]) => {
                let Some(column) = self.ty(Id(column))? else { return Ok(None) };
                self.m.matrix(unit, column, count.into(), Major::Column)?
            }
            (op::TYPE_ARRAY | op::TYPE_RUNTIME_ARRAY, &[element, ref count @ ..]) => {
                let Some(element) = self.ty(Id(element))? else { return Ok(None) };
                self.array(id, element, count.first().map(|&count| Id(count)))?
            }
            (op::TYPE_STRUCT, members) => return self.structure(id, members).map(Some),
            (op::TYPE_POINTER, &[class, to]) => {
                self.types.pointers.insert(id, (class, Id(to)));
                return Ok(None);
            }
            (op::TYPE_OPAQUE, name) => {
                let name = string_bytes(name, usize::MAX).unwrap_or_default();
                self.m.unspecified_type(unit, &String::from_utf8_lossy(&name))?
            }
            // A pointer to no type in particular.
            (op::TYPE_UNTYPED_POINTER, &[class]) => {
                let space = self.space(class);
                self.m.pointer_of(unit, PointerKind::Pointer, None, space, None)?
            }
            (opcode, _) if is_opaque(opcode) => {
                let name = match (self.names.get(id), opcode) {
                    (Some(name), _) => name.to_owned(),
                    (None, op::TYPE_FLOAT) => "float".into(),
                    (None, TYPE_COOPERATIVE_MATRIX) => "cooperative matrix".into(),
                    (None, op::TYPE_IMAGE) => "image".into(),
                    (None, op::TYPE_SAMPLER) => "sampler".into(),
                    (None, op::TYPE_SAMPLED_IMAGE) => "sampled image".into(),
                    (None, _) => format!("type {id}"),
                };
                let ty = self.m.unspecified_type(unit, &name)?;
                if matches!(opcode, TYPE_VECTOR_ID | TYPE_COOPERATIVE_MATRIX) {
                    self.omit(Subject::Type(ty), Property::Kind, Reason::Specialized(id.0));
                }
                ty
            }
            _ => return Ok(None),
        };
        Ok(Some(ty))
    }

    /// Describes a floating-point type in a format other than IEEE 754's, by default with its name in GLSL.
    fn float(&mut self, id: Id, name: &str, encoding: BaseEncoding, bits: u64) -> Result<TypeId> {
        let name = self.names.get(id).unwrap_or(name).to_owned();
        self.m.base_type(self.unit, &name, encoding, bits)
    }

    /// Returns a number of elements, unless specialization can change it.
    fn count(&self, constant: Id) -> Option<u64> {
        self.layout.constant(constant)?.value
    }

    /// Returns scope, rows, columns and use of a cooperative matrix, unless specialization can change one of the numbers.
    fn matrix_numbers(&self, it: Instruction<'_>) -> Option<[u32; 4]> {
        let constants: &[u32; 4] = it.operands().get(1..)?.as_array()?;
        let mut numbers = [0; 4];
        for (number, &constant) in numbers.iter_mut().zip(constants) {
            *number = u32::try_from(self.count(Id(constant))?).ok()?;
        }
        Some(numbers)
    }

    fn array(&mut self, id: Id, element: TypeId, count: Option<Id>) -> Result<TypeId> {
        let count = count.and_then(|count| self.count(count));
        let extent = count.map_or_else(Extent::unknown, Extent::fixed);
        let stride = self.names.strides.get(&id).map(|&bytes| u64::from(bytes) * 8);
        let stride = stride.filter(|&stride| self.is_wider(stride, element));
        self.m.array_of(self.unit, element, &[extent], stride)
    }
}

/// The address space of a storage class: see [`Target::shader`](crate::target::Target::shader).
fn space_of(class: u32) -> SpaceId {
    match class {
        4 => SpaceId::LOCAL,
        6 | 7 => SpaceId::PRIVATE_LANE,
        8 => SpaceId::GENERIC,
        5 | PHYSICAL_STORAGE_BUFFER => SpaceId::DEFAULT,
        class => SpaceId(class + 0x100),
    }
}

/// Whether the instruction defines a type without a size or without elements that the description has: images, samplers,
/// events, queries, acceleration structures, tensors, graphs, cooperative matrices and vectors, and floating-point types
/// with an encoding other than IEEE 754's.
fn is_opaque(opcode: u16) -> bool {
    matches!(
        opcode,
        op::TYPE_FLOAT
            | 25..=27
            | 34..=38
            | 322
            | 327
            | 4163
            | 4190
            | TYPE_COOPERATIVE_MATRIX
            | 4472
            | 5076
            | 5281
            | TYPE_VECTOR_ID
            | 5341
            | 5358
            | 5370..=5371
            | 5700..=5712
            | 6086
            | 6199
    )
}
