//! A description under construction: what is described so far, and lookups for types and lines.

use hashbrown::HashMap;

use super::declarations::Declarations;
use super::names::Names;
use super::style::Style;
use crate::build::Builder;
use crate::error::Result;
use crate::model::{FileId, FunctionId, Module, PointerKind, SourceLine, TypeId, UnitId, VariableId};
use crate::omission::{Omission, Property, Reason, Subject};
use crate::spirv::binding::Binding;
use crate::spirv::layout::ModuleLayout;
use crate::spirv::lines::Texts;
use crate::spirv::opcodes as op;
use crate::spirv::words::{Id, Instruction};
use crate::target::{SpaceId, Target};

/// Limit for pointers to pointers that are described at once.
const MOST_POINTERS: usize = 64;

/// Storage class for shader pointers with addresses.
const PHYSICAL_STORAGE_BUFFER: u32 = 5349;

/// Types by id.
#[derive(Debug, Default)]
pub(super) struct Types {
    pub(super) by_id: HashMap<Id, TypeId>,
    /// Storage classes and targets of pointers, which are described when they are first used, because a forward pointer
    /// precedes its target.
    pub(super) pointers: HashMap<Id, (u32, Id)>,
    pub(super) style: Style,
}

impl Types {
    /// An id's type, except for a pointer that was not used so far; `None` for `void` and for functions.
    pub fn get(&self, id: Id) -> Option<TypeId> {
        self.by_id.get(&id).copied()
    }

    /// A pointer type's target.
    pub fn pointee(&self, id: Id) -> Option<Id> {
        self.pointers.get(&id).map(|&(_, to)| to)
    }

    /// Whether a shader's pointer type has addresses, rather than only naming a variable.
    pub fn has_addresses(&self, pointer: Id) -> bool {
        self.pointers.get(&pointer).is_some_and(|&(class, _)| class == PHYSICAL_STORAGE_BUFFER)
    }
}

/// An omission, before the description is complete. It becomes an [`Omission`] when the module's names are known.
pub(super) struct Omitted {
    subject: Subject,
    property: Property,
    reason: Reason,
    /// The missing variable's name.
    name: String,
}

impl Omitted {
    pub(super) fn omission(self, module: &Module) -> Omission {
        let Self { subject, property, reason, name } = self;
        let mut omission = Omission::of_module(module, subject, property, reason);
        if !name.is_empty() {
            omission.names.object = name;
        }
        omission
    }
}

/// A description under construction.
pub(super) struct Describer<'l, 'a> {
    pub(super) layout: &'l ModuleLayout<'a>,
    pub(super) names: Names,
    pub(super) m: Builder,
    pub(super) unit: UnitId,
    /// Files by the `OpString` with their path.
    pub(super) files: HashMap<Id, FileId>,
    pub(super) binding: Binding,
    pub(super) types: Types,
    pub(super) functions: HashMap<Id, FunctionId>,
    pub(super) variables: HashMap<Id, VariableId>,
    /// The primary file's text, by lines.
    pub(super) texts: Texts,
    /// Declarations in the primary file's text.
    pub(super) declarations: Declarations,
    /// Lines outside the text that the current function has.
    pub(super) beyond: Vec<Reason>,
    pub(super) omitted: Vec<Omitted>,
}

impl<'l, 'a> Describer<'l, 'a> {
    pub(super) fn new(layout: &'l ModuleLayout<'a>, target: Target) -> Self {
        Self {
            names: Names::new(layout),
            layout,
            m: Builder::new(target),
            unit: UnitId::from_u32(0),
            files: HashMap::new(),
            binding: Binding::new(),
            types: Types::default(),
            functions: HashMap::new(),
            variables: HashMap::new(),
            texts: Texts::default(),
            declarations: Declarations::default(),
            beyond: Vec::new(),
            omitted: Vec::new(),
        }
    }

    /// The file for an `OpString` that contains a path.
    pub(super) fn file(&mut self, path: Id) -> Result<FileId> {
        if let Some(&file) = self.files.get(&path) {
            return Ok(file);
        }
        // An empty path stands for the primary file.
        let text = self.layout.string(path).unwrap_or_default();
        let primary = self.m.primary_file(self.unit)?;
        let file = if text.is_empty() { primary } else { self.m.file(self.unit, &text, None)? };
        self.files.insert(path, file);
        Ok(file)
    }

    /// The line in an `OpLine`, restricted to the file's text; `None` for line 0. The excess is kept for `omit_lines`.
    pub(super) fn line(&mut self, &[file, line, column]: &[u32; 3]) -> Result<Option<SourceLine>> {
        let file = self.file(Id(file))?;
        let (line, excess) = self.texts.fit(SourceLine::new(file, line).column(column));
        if let Some(reason) = excess.filter(|reason| !self.beyond.contains(reason)) {
            self.beyond.push(reason);
        }
        Ok(Some(line).filter(|line| line.line != 0))
    }

    /// Lists the lines found outside their files' texts since the last call.
    pub(super) fn omit_lines(&mut self, subject: Subject) {
        for reason in core::mem::take(&mut self.beyond) {
            self.omit(subject, Property::Line, reason);
        }
    }

    /// Lists a property that the description lacks.
    pub(super) fn omit(&mut self, subject: Subject, property: Property, reason: Reason) {
        self.omitted.push(Omitted { subject, property, reason, name: String::new() });
    }

    /// Lists a variable that is not described.
    pub(super) fn omit_variable(&mut self, subject: Subject, name: &str, reason: Reason) {
        self.omitted.push(Omitted { subject, property: Property::Entity, reason, name: name.to_owned() });
    }

    /// The type that a variable instruction holds; `None` for any other instruction.
    pub(super) fn contents(&self, it: &Instruction<'_>) -> Option<Id> {
        match it.opcode() {
            op::VARIABLE => self.types.pointee(it.result_type()?),
            // The data type is an operand, which some storage classes do not need.
            op::UNTYPED_VARIABLE => it.operands().get(1).map(|&ty| Id(ty)),
            _ => None,
        }
    }

    /// An id's type, described now if it is a pointer; `None` for `void` and for functions. A forward pointer's target
    /// is unknown if it has no type so far.
    pub(super) fn ty(&mut self, id: Id) -> Result<Option<TypeId>> {
        let mut id = id;
        let mut pointers = Vec::new();
        while let (None, Some(&(class, to))) = (self.types.get(id), self.types.pointers.get(&id)) {
            // A chain without end can only be invalid.
            if pointers.len() == MOST_POINTERS {
                break;
            }
            pointers.push((id, class));
            id = to;
        }
        let mut ty = self.types.get(id);
        // From the innermost pointer outward, because a pointer type needs its target.
        while let Some((pointer, class)) = pointers.pop() {
            let space = self.space(class);
            let made = self.m.pointer_of(self.unit, PointerKind::Pointer, ty, space, None)?;
            self.types.by_id.insert(pointer, made);
            ty = Some(made);
        }
        Ok(ty)
    }

    /// A storage class's address space; the default space if the target lacks the class.
    pub(super) fn space(&self, class: u32) -> SpaceId {
        // The target may lack the class's space.
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

    /// Whether a stride is larger than an element.
    pub(super) fn is_wider(&self, stride_bits: u64, element: TypeId) -> bool {
        self.m.described().ty(element).bits().is_none_or(|bits| bits < stride_bits)
    }
}

/// A storage class's address space: see [`Target::shader`](crate::target::Target::shader).
fn space_of(class: u32) -> SpaceId {
    match class {
        4 => SpaceId::LOCAL,
        6 | 7 => SpaceId::PRIVATE_LANE,
        8 => SpaceId::GENERIC,
        5 | PHYSICAL_STORAGE_BUFFER => SpaceId::DEFAULT,
        class => SpaceId(class + 0x100),
    }
}
