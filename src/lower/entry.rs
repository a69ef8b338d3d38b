//! Entry writer: the attributes that several kinds of entries share. DWARF 5 chapter 2.

use super::constants;
use super::entry_numbers::EntryNumbers;
use super::expressions::{Expression, Expressions};
use super::lists::{self, Base, Code};
use super::section::symbol_name;
use super::units::Units;
use crate::consumer::{Consumer, ReferenceForm};
use crate::emit::RelocationTarget;
use crate::emit::abbrev::Abbreviations;
use crate::emit::addr::AddressKey;
use crate::emit::info::{EntryStyle, Info, Pending, UnitEntry};
use crate::emit::lists::{FinishedLists, Lists};
use crate::emit::named::EntryRef;
use crate::error::{Construct, Result};
use crate::model::{
    Accessibility, Address, AttributeOwner, ExtraAttribute, ExtraValue, FileId, Function, FunctionId,
    LabelId, MemorySpace, Module, Reach, ScopeId, ScopeKind, SourceLine, StringId, Type, TypeId, UnitId,
    VariableId,
};
use crate::omission::{Property, Subject};

/// What an entry completes: DWARF 5 sections 2.13.2 and 3.3.8.3.
#[derive(Debug, Clone, Copy)]
pub(super) enum Completed {
    /// A function's declaration.
    Function(FunctionId),
    /// A function, by its instance or an inlined call.
    Instance(FunctionId),
    /// A variable's declaration.
    Variable(VariableId),
    /// A variable, by its instance.
    Origin(VariableId),
    /// A label, by its instance.
    Label(LabelId),
}

/// Writer for a unit's entries.
pub(super) struct EntryWriter<'u> {
    pub(super) units: &'u Units<'u>,
    pub(super) module: &'u Module,
    pub(super) consumer: &'u Consumer,
    pub(super) expressions: Expressions<'u>,
    pub(super) info: Info,
    pub(super) rnglists: Lists,
    /// Relocations for attributes that refer to lists by offset. The addends are list indices until the lists are
    /// finished, because only then are the offsets known.
    lists_named: Vec<usize>,
    /// File that the unit is named after, and its number.
    primary_file: (FileId, u64),
    /// Type whose type unit is being written; `None` in the compile unit.
    pub(super) type_unit_of: Option<TypeId>,
    /// Whether the only function with code provides the unit's base address.
    pub(super) has_function_base: bool,
}

/// Approximate bytes that a list takes without its entries: its operations, and its offset in the offsets table.
pub(super) const LIST_BYTES: usize = 8;

impl<'u> EntryWriter<'u> {
    pub(super) fn new(units: &'u Units<'u>, unit: UnitId, abbreviations: Abbreviations) -> Self {
        let primary = units.module.units[unit].file;
        let consumer = units.consumer;
        let format = units.format;
        let forms = consumer.forms.clone();
        let scopes = units.scopes.ids(unit).len();
        let expressions = Expressions::new(units, unit);
        let mut info = Info::new(format, unit.as_u32(), expressions.numbers.count(), forms, abbreviations);
        info.is_split = consumer.is_split;
        info.style = EntryStyle {
            has_inline_strings: consumer.entries.has_inline_strings,
            has_fixed_references: consumer.entries.references == ReferenceForm::Ref4,
            has_fixed_forms: consumer.entries.has_fixed_forms,
            known: consumer.entries.attributes,
            last_tag: consumer.entries.last_tag.unwrap_or(gimli::DwTag(u16::MAX)),
        };
        if consumer.tables.names || consumer.tables.pubs {
            info.named = Some(Box::default());
        }
        Self {
            units,
            module: units.module,
            consumer,
            expressions,
            info,
            rnglists: Lists::new(format, scopes, LIST_BYTES * scopes),
            lists_named: Vec::new(),
            primary_file: (primary, units.file_number(unit, primary)),
            type_unit_of: None,
            has_function_base: false,
        }
    }

    /// Unit to which the entries belong.
    pub(super) fn unit(&self) -> UnitId {
        self.expressions.numbers.unit
    }

    /// Records the unit's attributes that the consumer does not know, as omissions.
    ///
    /// # Errors
    /// A tag that the consumer does not know, because other entries refer to the entry, or the entry to them. Otherwise
    /// the errors of [`Expressions::omit`].
    pub(super) fn omit_unknown(&mut self) -> Result<()> {
        if let Some(tag) = self.info.unknown_tag {
            return Err(self.consumer.inexpressible(Construct::Tag(tag)));
        }
        for attribute in core::mem::take(&mut self.info.unknown) {
            let error = self.consumer.inexpressible(Construct::Attribute(attribute));
            self.expressions.omit(Subject::Unit(self.unit()), Property::Attributes, None, error)?;
        }
        Ok(())
    }

    /// Writes an entry's name, if it has one.
    #[inline(always)]
    pub(super) fn name(&mut self, name: Option<StringId>) {
        // An entity without a name, such as a function with a linkage name only, has no attribute: debuggers look up every
        // name.
        if let Some(name) = name.filter(|&name| !self.module.string(name).is_empty()) {
            self.text(gimli::DW_AT_name, name);
        }
    }

    /// Writes a function's or variable's name, or the reference to what it completes, and the linkage name.
    #[inline]
    pub(super) fn names(
        &mut self,
        name: Option<StringId>,
        linkage_name: Option<StringId>,
        completed: Option<Completed>,
    ) {
        let is_first = self.consumer.entries.has_linkage_name_first;
        let linkage_at = constants::linkage_name(self.consumer.version);
        if let Some(name) = linkage_name.filter(|_| is_first) {
            self.text(linkage_at, name);
        }
        match completed {
            Some(completed) => self.complete(completed),
            None => self.name(name),
        }
        if let Some(name) = linkage_name.filter(|_| !is_first) {
            self.text(linkage_at, name);
        }
    }

    /// Writes the entry for further arguments.
    pub(super) fn more_arguments(&mut self) {
        self.info.begin_entry(gimli::DW_TAG_unspecified_parameters, gimli::DW_CHILDREN_no, None);
        self.info.end_entry();
    }

    /// Writes a module string.
    #[inline(always)]
    pub(super) fn text(&mut self, at: gimli::DwAt, id: StringId) {
        let module = self.module;
        self.info.string(at, id.as_u32(), || module.strings.bytes(id.as_u32()), || module.string(id));
    }

    /// Writes an entry's type; none for `void`.
    #[inline(always)]
    pub(super) fn type_of(&mut self, ty: Option<TypeId>) {
        if let Some(ty) = ty {
            self.refer_to_type(gimli::DW_AT_type, ty);
        }
    }

    /// Writes a reference to a type, by signature if it has a type unit.
    #[inline(always)]
    pub(super) fn refer_to_type(&mut self, at: gimli::DwAt, ty: TypeId) {
        let Some(ty) = self.units.with_entry(ty) else { return };
        // In its own type unit the type has an entry, to which a reference is shorter than a signature.
        match self.units.type_units.signature(ty) {
            Some(signature) if self.type_unit_of != Some(ty) => self.info.signature(at, signature),
            _ if self.module.reach == Reach::Module => {
                self.refer(at, self.module.types[ty].unit, |numbers| numbers.ty(ty));
            }
            _ => self.info.reference(at, self.expressions.numbers.ty(ty)),
        }
    }

    /// Writes a reference to a function. The function can be one of another unit if a type declares it.
    pub(super) fn refer_to_function(&mut self, at: gimli::DwAt, id: FunctionId) {
        let unit = self.module.scopes[self.module.functions[id].scope].unit;
        self.refer(at, unit, |numbers| numbers.function(id));
    }

    /// Writes a reference to a variable. The variable can be one of another unit if a type declares it.
    pub(super) fn refer_to_variable(&mut self, at: gimli::DwAt, id: VariableId) {
        let module = self.module;
        let is_abstract = module.is_in_abstract_instance(id);
        self.refer(at, module.scopes[module.variables[id].scope].unit, |numbers| {
            if is_abstract { numbers.origin(id) } else { numbers.variable(id) }
        });
    }

    /// Writes a reference to a type's data member or enumerator. The type can be one of another unit.
    pub(super) fn refer_to_member(&mut self, at: gimli::DwAt, ty: TypeId, index: u32) {
        if let Some(number) = self.units.parts.member(ty, index) {
            self.refer(at, self.module.types[ty].unit, |numbers| numbers.member(number));
        }
    }

    /// Writes a reference to an entry of any unit, by its number in the unit.
    pub(super) fn refer(
        &mut self,
        at: gimli::DwAt,
        unit: UnitId,
        entry: impl FnOnce(&EntryNumbers<'_>) -> EntryRef,
    ) {
        if unit == self.unit() {
            self.info.reference(at, entry(&self.expressions.numbers));
        } else {
            let entry = entry(&EntryNumbers::new(self.units, unit));
            self.info.reference_elsewhere(at, UnitEntry { unit: unit.as_u32(), entry });
        }
    }

    /// Writes the reference to what an entry completes, which can be an entry of another unit.
    #[inline]
    pub(super) fn complete(&mut self, completed: Completed) {
        let module = self.module;
        let scope = match completed {
            Completed::Instance(id) => {
                self.refer_to_function(gimli::DW_AT_abstract_origin, id);
                module.functions[id].scope
            }
            Completed::Function(id) => {
                self.refer_to_function(gimli::DW_AT_specification, id);
                module.functions[id].scope
            }
            Completed::Origin(id) => {
                let scope = module.variables[id].scope;
                let is_in_function = module.function_of(scope).is_some();
                self.refer(gimli::DW_AT_abstract_origin, module.scopes[scope].unit, |numbers| {
                    if is_in_function { numbers.origin(id) } else { numbers.variable(id) }
                });
                scope
            }
            Completed::Variable(id) => {
                self.refer_to_variable(gimli::DW_AT_specification, id);
                module.variables[id].scope
            }
            Completed::Label(id) => {
                let scope = module.labels[id].scope;
                let unit = module.scopes[scope].unit;
                self.refer(gimli::DW_AT_abstract_origin, unit, |numbers| numbers.label(id));
                scope
            }
        };
        if module.scopes[scope].unit != self.unit() {
            self.names_elsewhere(completed);
        }
    }

    /// Adds the names of another unit's entry to the name table, which are not known from a reference.
    fn names_elsewhere(&mut self, completed: Completed) {
        let Some(named) = &mut self.info.named else { return };
        let module = self.module;
        let (names, is_external, mut around) = match completed {
            Completed::Instance(id) | Completed::Function(id) => {
                let function = &module.functions[id];
                let chain = || core::iter::once(function).chain(module.completed_functions(function));
                let declared = chain().last().unwrap_or(function);
                let names = [Some(function.name), chain().find_map(|function| function.linkage_name)];
                let around = module.scopes[declared.scope].parent;
                (names, chain().any(|function| function.is_external), around)
            }
            Completed::Origin(id) | Completed::Variable(id) => {
                let variable = &module.variables[id];
                let declared = &module.variables[module.first_origin(id)];
                let names = [declared.name, variable.linkage_name.or(declared.linkage_name)];
                (names, variable.is_external || declared.is_external, Some(declared.scope))
            }
            Completed::Label(id) => {
                ([Some(module.labels[id].name), None], false, Some(module.labels[id].scope))
            }
        };
        let number = |id: StringId| id.as_u32();
        let mut scopes = Vec::new();
        while let Some(scope) = around {
            match &module.scopes[scope].kind {
                ScopeKind::Namespace { name, .. } => scopes.push(name.map(number)),
                ScopeKind::Type(ty) => scopes.extend(module.types[*ty].name().map(|name| Some(number(name)))),
                _ => {}
            }
            around = module.scopes[scope].parent;
        }
        scopes.reverse();
        named.completes(names.map(|name| name.map(number)), is_external, scopes);
    }

    /// Writes an entity's attributes without a field.
    ///
    /// # Errors
    /// The errors of [`Expressions::omit`].
    #[inline]
    pub(super) fn attributes(&mut self, owner: impl Into<AttributeOwner>) -> Result<()> {
        let module = self.module;
        // Rarely any entity has one.
        if module.lists.attributes.is_empty() {
            return Ok(());
        }
        module.attributes(owner).iter().try_for_each(|attribute| self.extra_attribute(attribute))
    }

    fn extra_attribute(&mut self, attribute: &ExtraAttribute) -> Result<()> {
        let &ExtraAttribute { owner, name, ref value, .. } = attribute;
        let subject = Subject::from(owner);
        let property = Property::of_attribute(name);
        if self.consumer.attributes.has(name) {
            let error = self.consumer.inexpressible(Construct::TakenAttribute(name));
            return self.expressions.omit(subject, property, None, error);
        }
        let name = match name {
            // DWARF 5 separated the size of a string's length from the string's size.
            gimli::DW_AT_string_length_byte_size if self.consumer.version < 5 => gimli::DW_AT_byte_size,
            gimli::DW_AT_linkage_name => constants::linkage_name(self.consumer.version),
            name => name,
        };
        if self.info.is_unknown(name) {
            return Ok(());
        }
        match *value {
            ExtraValue::Flag => self.info.flag(name),
            ExtraValue::Unsigned(number) => self.info.unsigned(name, number),
            ExtraValue::Signed(number) => self.info.signed(name, number),
            ExtraValue::Text(text) => self.text(name, text),
            ExtraValue::Bytes(ref bytes) => {
                self.info.begin_block(name, bytes.len());
                self.info.bytes.extend_from_slice(bytes);
            }
            ExtraValue::Address(address) => {
                let code = self.expressions.code(Some(address));
                self.low_pc(name, code);
            }
            ExtraValue::Location(loc) => {
                if self.expressions.location_of(subject, property, loc, None)? {
                    self.expression_attribute(name);
                }
            }
            ExtraValue::Number(number) => {
                if self.expressions.number_of(subject, property, number)? {
                    self.expression_attribute(name);
                }
            }
            ExtraValue::Type(id) => self.refer_to_type(name, id),
            ExtraValue::Function(id) => self.refer_to_function(name, id),
            ExtraValue::Variable(id) => self.refer_to_variable(name, id),
            ExtraValue::Member(ty, index) => self.refer_to_member(name, ty, index),
        }
        Ok(())
    }

    /// Writes the attributes that every type can have.
    ///
    /// # Errors
    /// The errors of [`Expressions::omit`].
    pub(super) fn type_attributes(&mut self, id: TypeId) -> Result<()> {
        let ty = &self.module.types[id];
        self.declared(ty.line);
        if let Some(bytes) = ty.alignment {
            self.info.unsigned(gimli::DW_AT_alignment, bytes);
        }
        if ty.is_declaration {
            self.info.flag(gimli::DW_AT_declaration);
        }
        self.attributes(id)
    }

    pub(super) fn byte_size(&mut self, ty: &Type) {
        if let Some(bits) = ty.bits {
            self.info.unsigned(gimli::DW_AT_byte_size, bits.div_ceil(8));
        }
    }

    /// Writes the memory space of a declaration, if the consumer has an attribute for it.
    #[inline]
    pub(super) fn memory_space(&mut self, memory: Option<MemorySpace>) {
        if let (Some(attribute), Some(memory)) = (self.consumer.attributes.memory_space, memory) {
            self.info.constant(attribute, constants::memory_space(memory));
        }
    }

    /// Writes an accessibility.
    pub(super) fn accessibility(&mut self, accessibility: Option<Accessibility>) {
        if let Some(accessibility) = accessibility {
            self.info.constant(gimli::DW_AT_accessibility, constants::accessibility(accessibility).0.into());
        }
    }

    /// Writes a number that fits 64 bits, in a form that fixes its sign where the value needs it.
    pub(super) fn wide_constant(&mut self, at: gimli::DwAt, value: i128) {
        match i64::try_from(value) {
            Ok(value) => self.info.signed(at, value),
            Err(_) => self.info.index(at, gimli::DW_FORM_udata, value as u64),
        }
    }

    pub(super) fn const_value(&mut self, bytes: &[u8]) {
        // A form with a fixed size needs no length. Other sizes are blocks.
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

    /// Writes a declaration's position.
    #[inline(always)]
    pub(super) fn declared(&mut self, line: Option<SourceLine>) {
        let Some(SourceLine { file, line, column }) = line else { return };
        // Most declarations are in the unit's primary file.
        match self.primary_file {
            (primary, index) if file == primary => self.info.constant(gimli::DW_AT_decl_file, index),
            _ => self.info.unsigned(gimli::DW_AT_decl_file, self.units.file_number(self.unit(), file)),
        }
        self.info.line(gimli::DW_AT_decl_line, line);
        if column != 0 {
            self.info.unsigned(gimli::DW_AT_decl_column, column.into());
        }
    }

    /// Writes a declaration's position where the entry completes or instantiates a declaration at `inherited`. An
    /// unknown column is written as 0 if the entry would otherwise inherit a column.
    pub(super) fn declared_over(&mut self, line: Option<SourceLine>, inherited: Option<SourceLine>) {
        self.declared(line);
        let has_column = |line: Option<SourceLine>| line.is_some_and(|line| line.column != 0);
        if line.is_some() && !has_column(line) && has_column(inherited) {
            self.info.unsigned(gimli::DW_AT_decl_column, 0);
        }
    }

    /// Writes the file of an inherited position, by its number in this unit, if an entry of another unit has the position and
    /// this unit has the file. gdb 13 looks up the number of the other unit in this unit's files.
    pub(super) fn file_elsewhere(&mut self, inherited: Option<SourceLine>) {
        let module = self.module;
        let Some(line) = inherited.filter(|line| module.files[line.file].unit != self.unit()) else { return };
        let mut files = self.units.files.ids(self.unit()).map(FileId::from_u32);
        if let Some(own) = files.find(|&own| module.path_of(own) == module.path_of(line.file)) {
            self.info.unsigned(gimli::DW_AT_decl_file, self.units.file_number(self.unit(), own));
        }
    }

    /// Writes a call's source position.
    pub(super) fn call_line(&mut self, SourceLine { file, line, column }: SourceLine) {
        self.info.unsigned(gimli::DW_AT_call_file, self.units.file_number(self.unit(), file));
        self.info.line(gimli::DW_AT_call_line, line);
        if column != 0 {
            self.info.unsigned(gimli::DW_AT_call_column, column.into());
        }
    }

    /// Writes an attribute whose value is a code address.
    pub(super) fn low_pc(&mut self, at: gimli::DwAt, code: Code) {
        if self.info.wants_address(at) {
            let module = self.module;
            self.info.address(at, code.key, |symbol| symbol_name(module, symbol));
        } else {
            self.info.index(at, gimli::DW_FORM_addrx, code.index);
        }
    }

    /// Writes a function's pc range, or the pc range of a scope that starts at `code`. `bytes` is the length.
    pub(super) fn pcs(&mut self, code: Code, bytes: u64) {
        self.low_pc(gimli::DW_AT_low_pc, code);
        if self.info.format.version >= 4 {
            self.info.unsigned(gimli::DW_AT_high_pc, bytes);
        } else {
            // Before DWARF 4, `DW_AT_high_pc` is an address. A constant is relative to `DW_AT_low_pc` only from DWARF 4
            // on.
            let addend = code.key.addend.wrapping_add(bytes);
            self.low_pc(gimli::DW_AT_high_pc, Code { key: AddressKey { addend, ..code.key }, ..code });
        }
    }

    /// Writes an attribute whose value is the address that a pc has in a function's code.
    pub(super) fn pc(&mut self, at: gimli::DwAt, function: &Function, pc: u64) {
        let code = self.expressions.code(function.address_at(pc));
        self.low_pc(at, code);
    }

    /// Writes the pc at which a scope is entered, if it is not its lowest.
    pub(super) fn entry_pc(&mut self, scope: ScopeId) {
        let module = self.module;
        if let Some(pc) = module.scopes[scope].entry_pc
            && let Some(function) = module.function_of(scope)
        {
            self.pc(gimli::DW_AT_entry_pc, &module.functions[function], pc);
        }
    }

    /// Base address for a function's lists.
    pub(super) fn base(&self, function: &Function, code: Code) -> Base {
        let in_parts = self.module.function_of(function.scope).filter(|_| function.is_in_parts());
        if let Some(id) = in_parts {
            Base::Parts(id)
        } else if self.has_function_base {
            Base::Unit
        } else {
            Base::Address(code)
        }
    }

    /// Writes a range list for a function's pcs, and `DW_AT_ranges`.
    pub(super) fn ranges(&mut self, ranges: &[core::ops::Range<u64>], base: Base) {
        let list = match base {
            Base::Parts(id) => {
                let expressions = &mut self.expressions;
                let function = &self.module.functions[id];
                let codes = ranges
                    .iter()
                    .map(|pcs| (expressions.code(function.address_at(pcs.start)), pcs.end - pcs.start));
                lists::functions(&mut self.rnglists, codes, self.module)
            }
            Base::Address(code) => lists::ranges(&mut self.rnglists, ranges, Some(code), self.module),
            Base::Unit => lists::ranges(&mut self.rnglists, ranges, None, self.module),
        };
        self.list(gimli::DW_AT_ranges, list);
    }

    /// Writes the pc ranges of functions with code.
    pub(super) fn code_parts(&mut self, functions: &[FunctionId]) {
        let module = self.module;
        let parts = functions.iter().flat_map(|&id| module.functions[id].code_parts());
        let ranges: Vec<(Address, u64)> = parts.map(|part| (part.address, part.bytes())).collect();
        self.code_ranges(&ranges);
    }

    /// Writes the list of ranges of code, given their addresses and sizes in bytes.
    pub(super) fn code_ranges(&mut self, ranges: &[(Address, u64)]) {
        let expressions = &mut self.expressions;
        let codes = ranges.iter().map(|&(address, bytes)| (expressions.code(Some(address)), bytes));
        let list = lists::functions(&mut self.rnglists, codes, self.module);
        self.list(gimli::DW_AT_ranges, list);
    }

    /// Writes an attribute that refers to a list.
    pub(super) fn list(&mut self, at: gimli::DwAt, list: u64) {
        let is_five = self.info.format.version >= 5;
        let (form, five, older) = match at {
            gimli::DW_AT_ranges => (gimli::DW_FORM_rnglistx, ".debug_rnglists", ".debug_ranges"),
            _ => (gimli::DW_FORM_loclistx, ".debug_loclists", ".debug_loc"),
        };
        if self.info.wants_offset(at) {
            // The list has no offset yet, so its index is the addend until `finish_lists`.
            self.lists_named.push(self.info.relocations.len());
            self.info.offset(at, if is_five { five } else { older }, list);
        } else {
            self.info.index(at, form, list);
        }
    }

    /// Writes an attribute whose value is the expression encoded last.
    pub(super) fn expression_attribute(&mut self, at: gimli::DwAt) {
        let (bytes, pending) = &mut self.expressions.last;
        let start = self.info.expression(at, bytes);
        if !pending.is_empty() {
            let module = self.module;
            // The fields' positions count from the expression's start until the expression has a position in the unit.
            let pending = pending.drain(..).map(|field| Pending { at: start + field.at, ..field });
            self.info.defer(pending, |symbol| symbol_name(module, symbol));
        }
    }

    /// Writes an attribute whose value is an expression encoded earlier.
    pub(super) fn detached_expression(&mut self, at: gimli::DwAt, expression: Expression) {
        self.expressions.last = expression;
        self.expression_attribute(at);
    }

    /// Finishes the unit's location lists.
    pub(super) fn finish_loclists(&mut self) -> Result<FinishedLists> {
        let lists = core::mem::replace(&mut self.expressions.loclists, Lists::empty(self.info.format));
        self.finish_lists(lists, [".debug_loclists", ".debug_loc"])
    }

    /// Finishes the unit's range lists.
    pub(super) fn finish_rnglists(&mut self) -> Result<FinishedLists> {
        let lists = core::mem::replace(&mut self.rnglists, Lists::empty(self.info.format));
        self.finish_lists(lists, [".debug_rnglists", ".debug_ranges"])
    }

    /// Finishes lists, and replaces their indices by offsets in the attributes that refer to them. `names` are the
    /// sections that hold such lists.
    fn finish_lists(&mut self, lists: Lists, names: [&str; 2]) -> Result<FinishedLists> {
        let module = self.module;
        let finished = lists.finish(&self.info, |symbol| symbol_name(module, symbol))?;
        let relocations = &mut self.info.relocations;
        // References to other kinds of lists wait until those are finished.
        self.lists_named.retain(|&index| match relocations[index].target {
            RelocationTarget::Section(section) if names.contains(&section) => {
                let list = &mut relocations[index].addend;
                *list = finished.starts[*list as usize].into();
                false
            }
            _ => true,
        });
        Ok(finished)
    }
}
