//! References to entities in a written description: names where they are unique, otherwise ids that contain a `#`.

use core::hash::Hash;

use hashbrown::{HashMap, HashSet};

use super::values::{Line, Named, Ref, Text};
use crate::build::VariantId;
use crate::model::{
    AttributeOwner, CallId, Count, Entity, ExtraValue, FileId, FunctionId, ImportId, Imported, LabelId,
    Module, Node, ProcedureId, RegionId, ScopeId, ScopeKind, SourceLine, StringId, TypeId, TypeKind, UnitId,
    VariableId, VariantPartId,
};
use crate::op::Reg;
use crate::target::SpaceId;

/// A module, and the names in it that are unique.
#[derive(Debug)]
pub(super) struct Known<'m> {
    pub module: &'m Module,
    types: Unique<(UnitId, StringId)>,
    files: Unique<(UnitId, StringId)>,
    scopes: Unique<StringId>,
    /// Referenced variables, which need ids.
    variables: HashSet<VariableId>,
    blocks: HashSet<ScopeId>,
    regions: HashSet<RegionId>,
    /// Declarations whose result type differs from their definition's, because it was set after the definition was
    /// made.
    pub declared: HashSet<FunctionId>,
    /// Type kinds and sizes, without their declarations.
    looks: Unique<(UnitId, &'m TypeKind, Option<u64>, Option<u64>)>,
}

/// Names, each with whether it is unique.
#[derive(Debug)]
struct Unique<K>(HashMap<K, bool>);

impl<K: Hash + Eq> FromIterator<K> for Unique<K> {
    fn from_iter<I: IntoIterator<Item = K>>(names: I) -> Self {
        let mut unique = HashMap::new();
        for name in names {
            unique.entry(name).and_modify(|is_unique| *is_unique = false).or_insert(true);
        }
        Self(unique)
    }
}

impl<K: Hash + Eq> Unique<K> {
    fn has(&self, name: &K) -> bool {
        self.0.get(name) == Some(&true)
    }
}

impl<'m> Known<'m> {
    pub fn new(module: &'m Module) -> Self {
        let variables = module.variables.values();
        let functions = module.functions.values();
        // Variables get an id only if something references them: names are not unique, and most variables are never
        // referenced.
        let nodes = module.locs.ids().flat_map(|loc| module.nodes(loc));
        let pointed = nodes.filter_map(|node| match node {
            Node::PointerTo(variable, _) | Node::PassedValue(variable) => Some(variable),
            _ => None,
        });
        let entities =
            module.exprs.iter().flat_map(|(_, entities)| entities).filter_map(|entity| match entity {
                Entity::Variable(variable) => Some(*variable),
                _ => None,
            });
        let origins = variables.clone().filter_map(|variable| variable.origin.or(variable.specification));
        let counts = module.types.values().flat_map(|ty| match ty.kind() {
            TypeKind::Array { dimensions, .. } => &dimensions[..],
            _ => &[],
        });
        let counts = counts.filter_map(|dimension| match dimension.count {
            Count::Variable(variable) => Some(variable),
            _ => None,
        });
        let objects = functions.clone().filter_map(|function| function.object_pointer);
        let parameters = module.lists.arguments.iter().filter_map(|argument| argument.parameter);
        let imported = module.imports.values().filter_map(|import| match import.what {
            Imported::Variable(variable) => Some(variable),
            _ => None,
        });
        let namespaces = module.imports.values().filter_map(|import| match import.what {
            Imported::Namespace(scope) | Imported::AllOf(scope) => Some(scope),
            _ => None,
        });
        let scopes = module.scopes.values().flat_map(|scope| [scope.parent, scope.origin]);
        // Owners of attributes, and entities that attributes reference.
        let attributes = module.lists.attributes.iter();
        let with_attributes = attributes.clone().flat_map(|attribute| {
            let owner = match attribute.owner {
                AttributeOwner::Variable(variable) => Some(variable),
                _ => None,
            };
            let referenced = match attribute.value {
                ExtraValue::Variable(variable) => Some(variable),
                _ => None,
            };
            [owner, referenced]
        });
        let scopes_with_attributes = attributes.filter_map(|attribute| match attribute.owner {
            AttributeOwner::Scope(scope) => Some(scope),
            _ => None,
        });
        Self {
            module,
            types: module.types.values().filter_map(|ty| Some((ty.unit(), ty.name()?))).collect(),
            files: module.files.values().map(|file| (file.unit, file.name)).collect(),
            scopes: module.scopes.keys().filter_map(|scope| scope_name(module, scope)).collect(),
            variables: pointed
                .chain(entities)
                .chain(origins)
                .chain(counts)
                .chain(objects)
                .chain(parameters)
                .chain(imported)
                .chain(with_attributes.flatten())
                .collect(),
            blocks: scopes
                .flatten()
                .chain(variables.map(|variable| variable.scope))
                .chain(module.types.values().map(|ty| ty.scope()))
                .chain(module.calls.values().map(|call| call.scope))
                .chain(module.imports.values().map(|import| import.scope))
                .chain(module.labels.values().map(|label| label.scope))
                .chain(namespaces)
                .chain(scopes_with_attributes)
                .chain(module.lanes.regions.values().map(|region| region.scope))
                .collect(),
            regions: module.lanes.regions.values().filter_map(|region| region.parent).collect(),
            declared: functions
                .filter_map(|function| {
                    function
                        .specification
                        .filter(|&declaration| module.functions[declaration].returns != function.returns)
                })
                .collect(),
            looks: module
                .types
                .values()
                .map(|ty| (ty.unit(), ty.kind(), ty.bits(), ty.value_bits()))
                .collect(),
        }
    }

    /// Adds variables and scopes that are referenced from elsewhere.
    #[cfg(feature = "spirv")]
    pub fn referenced(
        mut self,
        variables: impl IntoIterator<Item = VariableId>,
        scopes: impl IntoIterator<Item = ScopeId>,
    ) -> Self {
        self.variables.extend(variables);
        self.blocks.extend(scopes);
        self
    }

    pub fn text(&self, string: StringId) -> Text<'m> {
        self.module.string(string).into()
    }

    /// Returns the name if it identifies the entity.
    fn name(&self, is_unique: bool, name: StringId) -> Option<Text<'m>> {
        let text = self.module.string(name);
        // A `#` marks ids.
        (is_unique && !text.contains('#')).then(|| text.into())
    }

    fn type_name(&self, id: TypeId) -> Option<Text<'m>> {
        let ty = self.module.ty(id);
        let name = ty.name()?;
        // A type that is used as a scope has an id.
        if ty.own_scope().is_some_and(|own| self.blocks.contains(&own)) {
            return None;
        }
        self.name(self.types.has(&(ty.unit(), name)), name)
    }

    fn file_name(&self, id: FileId) -> Option<Text<'m>> {
        let file = self.module.file(id);
        self.name(self.files.has(&(file.unit, file.name)), file.name)
    }

    fn scope_name(&self, id: ScopeId) -> Option<Text<'m>> {
        let name = scope_name(self.module, id)?;
        self.name(self.scopes.has(&name), name)
    }

    pub fn scope_ref(&self, id: ScopeId) -> Ref<'m> {
        if let ScopeKind::Type(ty) = self.module.scope(id).kind {
            return self.type_ref(ty);
        }
        self.scope_name(id).unwrap_or_else(|| match self.module.scope(id).kind {
            ScopeKind::Unit => Text(format!("unit#{}", self.module.scope(id).unit.as_u32()).into()),
            _ => Text(id.to_string().replacen("scope", "scope#", 1).into()),
        })
    }

    /// Returns the scope's id in the description.
    pub fn scope_id(&self, id: ScopeId) -> Option<Text<'m>> {
        let is_named = scope_name(self.module, id).is_some();
        let scope = self.module.scope(id);
        match self.scope_name(id) {
            // A scope whose name is not unique needs an id, as does a scope that a later statement describes.
            None if is_named || scope.is_described() || self.blocks.contains(&id) => Some(self.scope_ref(id)),
            _ => None,
        }
    }

    pub fn unit_ref(&self, id: UnitId) -> Ref<'m> {
        self.scope_ref(self.module.unit(id).scope)
    }

    pub fn function_ref(&self, id: FunctionId) -> Ref<'m> {
        self.scope_ref(self.module.function(id).scope)
    }

    pub fn file_ref(&self, id: FileId) -> Ref<'m> {
        self.file_name(id).unwrap_or_else(|| Text(format!("file#{}", id.as_u32()).into()))
    }

    pub fn file_id(&self, id: FileId) -> Option<Text<'m>> {
        if self.file_name(id).is_some() { None } else { Some(self.file_ref(id)) }
    }

    pub fn type_ref(&self, id: TypeId) -> Ref<'m> {
        self.type_name(id).unwrap_or_else(|| Text(format!("type#{}", id.as_u32()).into()))
    }

    pub fn type_id(&self, id: TypeId) -> Option<Text<'m>> {
        if self.type_name(id).is_some() { None } else { Some(self.type_ref(id)) }
    }

    /// Returns whether the module has another type with equal kind and size, which the builder would merge with this
    /// type.
    pub fn comes_again(&self, id: TypeId) -> bool {
        let ty = self.module.ty(id);
        // Composites and enumerations are never merged, even if they are equal.
        let is_its_own = matches!(ty.kind(), TypeKind::Composite(_) | TypeKind::Enum { .. });
        !is_its_own && !self.looks.has(&(ty.unit(), ty.kind(), ty.bits(), ty.value_bits()))
    }

    pub fn variable_ref(&self, id: VariableId) -> Ref<'m> {
        Text(format!("variable#{}", id.as_u32()).into())
    }

    /// Returns the variable's id in the description, if it is referenced.
    pub fn variable_id(&self, id: VariableId) -> Option<Text<'m>> {
        self.variables.contains(&id).then(|| self.variable_ref(id))
    }

    pub fn procedure_ref(&self, id: ProcedureId) -> Ref<'m> {
        Text(format!("procedure#{}", id.as_u32()).into())
    }

    pub fn line(&self, line: SourceLine) -> Line<'m> {
        Line { file: self.file_ref(line.file), line: line.line, column: line.column }
    }

    pub fn call_ref(&self, id: CallId) -> Ref<'m> {
        Text(format!("call#{}", id.as_u32()).into())
    }

    pub fn import_ref(&self, id: ImportId) -> Ref<'m> {
        Text(format!("import#{}", id.as_u32()).into())
    }

    /// Returns the import's id in the description, if it has attributes.
    pub fn import_id(&self, id: ImportId) -> Option<Text<'m>> {
        (!self.module.attributes(id).is_empty()).then(|| self.import_ref(id))
    }

    pub fn label_ref(&self, id: LabelId) -> Ref<'m> {
        Text(format!("label#{}", id.as_u32()).into())
    }

    /// Returns the label's id in the description, if it has attributes.
    pub fn label_id(&self, id: LabelId) -> Option<Text<'m>> {
        (!self.module.attributes(id).is_empty()).then(|| self.label_ref(id))
    }

    pub fn region_ref(&self, id: RegionId) -> Ref<'m> {
        Text(format!("region#{}", id.as_u32()).into())
    }

    /// Returns the region's id in the description, if it contains another region.
    pub fn region_id(&self, id: RegionId) -> Option<Text<'m>> {
        self.regions.contains(&id).then(|| self.region_ref(id))
    }

    pub fn part_ref(&self, id: VariantPartId) -> Ref<'m> {
        Text(format!("part#{}", id.as_u32()).into())
    }

    pub fn variant_ref(&self, VariantId { part, index }: VariantId) -> Ref<'m> {
        Text(format!("part#{}.{index}", part.as_u32()).into())
    }

    pub fn register(&self, reg: Reg) -> Named<'m> {
        match self.module.target.register(reg) {
            Some(register) => Named::Text(Text(register.name().to_string().into())),
            None => Named::Number(reg.0),
        }
    }

    pub fn space(&self, id: SpaceId) -> Named<'m> {
        match self.module.target.space(id) {
            Some(space) => Named::Text((&*space.name).into()),
            None => Named::Number(id.0.into()),
        }
    }
}

fn scope_name(module: &Module, id: ScopeId) -> Option<StringId> {
    let scope = module.scope(id);
    match scope.kind {
        ScopeKind::Unit => Some(module.unit(scope.unit).name),
        ScopeKind::Namespace { name, .. } => name,
        ScopeKind::Function(function) => Some(module.function(function).name),
        ScopeKind::Block | ScopeKind::Type(_) | ScopeKind::Inlined { .. } => None,
    }
}
