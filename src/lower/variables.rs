//! Entries of variables: DWARF 5 section 4.1.

use super::constants::linkage_name;
use super::dies::Dies;
use super::scopes::Instance;
use crate::error::Result;
use crate::model::{Module, ScopeId, ScopeKind, Stack, Variable, VariableId, VariableKind};

/// Scope of variables, as their entries depend on it.
pub(super) struct Around<'i> {
    /// Instance of the function around the scope.
    instance: Option<&'i Instance>,
    stack: Stack,
    /// Whether the scope is in an abstract instance, which describes variables; a concrete one has their locations.
    is_abstract: bool,
    /// Whether the scope is that of a structure, class or union.
    is_type: bool,
}

impl<'i> Around<'i> {
    pub(super) fn new(module: &Module, scope: ScopeId, instance: Option<&'i Instance>) -> Self {
        Self {
            instance,
            stack: instance.map_or_else(|| Stack::kernel(&module.target), |instance| instance.stack),
            is_abstract: instance.is_none() && module.function_of(scope).is_some(),
            is_type: matches!(module.scopes[scope].kind, ScopeKind::Type(_)),
        }
    }
}

impl<'u> Dies<'u> {
    pub(super) fn variable(&mut self, id: VariableId, around: &Around<'_>) -> Result<()> {
        if around.is_type {
            return self.static_member(id);
        }
        let module = self.module;
        let variable = &module.variables[id];
        let &Around { instance, is_abstract, .. } = around;
        let tag = match variable.kind {
            VariableKind::Variable => gimli::DW_TAG_variable,
            VariableKind::Parameter => gimli::DW_TAG_formal_parameter,
            VariableKind::Constant => gimli::DW_TAG_constant,
        };
        let origin = match variable.origin {
            Some(origin) => Some(origin),
            None => instance.filter(|instance| instance.has_abstract).map(|_| id),
        };
        let is = if is_abstract {
            self.expressions.entries.origin(id)
        } else {
            self.expressions.entries.variable(id)
        };

        // The location comes first: an omission decides the attributes.
        self.expressions.lowering.space = None;
        let has_place = !is_abstract || module.is_placed_without_code(id);
        let place = if has_place { self.place(id, variable, around)? } else { Place::None };
        self.info.begin_entry(tag, false, Some(is));
        match origin {
            Some(origin) => {
                self.info.reference(gimli::DW_AT_abstract_origin, self.expressions.entries.origin(origin))
            }
            None => self.variable_attributes(variable),
        }
        match place {
            Place::None => {}
            Place::Constant(bytes) => self.const_value(bytes),
            Place::Expression => self.expression_attribute(gimli::DW_AT_location),
            Place::List(index) => self.list(gimli::DW_AT_location, index),
        }
        if let (Some(attribute), Some(space)) =
            (self.consumer.variable_space, self.expressions.lowering.space.take())
        {
            self.info.unsigned(attribute, module.target.address_class(space).into());
        }
        self.info.end_entry();
        Ok(())
    }

    /// Writes the attributes that do not depend on a location, without those of the declaration.
    fn variable_attributes(&mut self, variable: &Variable) {
        let module = self.module;
        let declaration = variable.specification.map(|id| &module.variables[id]);
        let is_first = self.consumer.entries.has_linkage_name_first;
        if let Some(name) = variable.linkage_name.filter(|_| is_first) {
            self.text(linkage_name(self.consumer.version), name);
        }
        match variable.specification {
            Some(id) => {
                self.info.reference(gimli::DW_AT_specification, self.expressions.entries.variable(id))
            }
            None => self.name(variable.name),
        }
        if let Some(name) = variable.linkage_name.filter(|_| !is_first) {
            self.text(linkage_name(self.consumer.version), name);
        }
        self.declared(variable.line);
        if declaration.is_none() {
            self.type_of(Some(variable.ty));
            self.memory_space(variable.memory_space);
        }
        if variable.is_external && !declaration.is_some_and(|declaration| declaration.is_external) {
            self.info.flag(gimli::DW_AT_external);
        }
        if variable.is_artificial && !declaration.is_some_and(|declaration| declaration.is_artificial) {
            self.info.flag(gimli::DW_AT_artificial);
        }
        if variable.is_declaration {
            self.info.flag(gimli::DW_AT_declaration);
        }
    }

    /// Writes a static data member: DWARF 5 section 5.7.7. Before DWARF 5, its entry is a member.
    fn static_member(&mut self, id: VariableId) -> Result<()> {
        let module = self.module;
        let variable = &module.variables[id];
        let tag = if self.consumer.version < 5 { gimli::DW_TAG_member } else { gimli::DW_TAG_variable };
        self.info.begin_entry(tag, false, Some(self.expressions.entries.variable(id)));
        self.name(variable.name);
        self.declared(variable.line);
        self.type_of(Some(variable.ty));
        self.accessibility(variable.accessibility);
        self.memory_space(variable.memory_space);
        if variable.is_external {
            self.info.flag(gimli::DW_AT_external);
        }
        if variable.is_artificial {
            self.info.flag(gimli::DW_AT_artificial);
        }
        self.info.flag(gimli::DW_AT_declaration);
        if let Some(value) = variable.always.and_then(|loc| module.constant(loc)) {
            self.const_value(value);
        }
        self.info.end_entry();
        Ok(())
    }

    pub(super) fn const_value(&mut self, bytes: &[u8]) {
        let form = match bytes.len() {
            1 => gimli::DW_FORM_data1,
            2 => gimli::DW_FORM_data2,
            4 => gimli::DW_FORM_data4,
            8 => gimli::DW_FORM_data8,
            length => {
                self.info.begin_block(gimli::DW_AT_const_value, length);
                self.info.bytes.extend_from_slice(bytes);
                return;
            }
        };
        self.info.attribute(gimli::DW_AT_const_value, form).extend_from_slice(bytes);
    }

    /// Lowers the location of a variable.
    fn place(&mut self, id: VariableId, variable: &Variable, around: &Around<'_>) -> Result<Place<'u>> {
        let module = self.module;
        let &Around { instance, stack, .. } = around;
        let bits = module.types[variable.ty].value_bits;
        let (loc, pcs) = match (variable.always, module.live(id), instance) {
            (Some(loc), ..) => (loc, None),
            (None, [], _) | (None, _, None) => return Ok(Place::None),
            // One location for the whole function needs no list.
            (None, [live], Some(instance)) if live.pcs() == (0..instance.bytes) => {
                (live.loc, Some(live.pcs()))
            }
            (None, _, Some(instance)) => {
                let list = self.expressions.location_list(id, bits, stack, instance.base)?;
                return Ok(list.map_or(Place::None, Place::List));
            }
        };
        let is_constant = variable.is_constant || self.consumer.variable_space.is_some();
        if (is_constant || variable.kind == VariableKind::Constant)
            && let Some(bytes) = module.constant(loc)
        {
            return Ok(Place::Constant(bytes));
        }
        let is_encoded = self.expressions.location(id, loc, pcs, bits, stack)?;
        Ok(if is_encoded { Place::Expression } else { Place::None })
    }
}

/// Location of a variable as its entry has it.
enum Place<'m> {
    None,
    Constant(&'m [u8]),
    /// Expression encoded last.
    Expression,
    List(u64),
}
