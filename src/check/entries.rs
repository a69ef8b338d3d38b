//! Scopes and what is declared in them.

use core::ops::Range;

use gimli::{DwAt, DwTag};

use super::compare::{Compare, hex, unreadable};
use super::report::Kind;
use crate::error::At;
use crate::model::{FunctionId, ScopeId, ScopeKind, SourceLine, VariableId, VariableKind};
use crate::read::{Entry, Value};

impl<'a, 'o> Compare<'a, 'o> {
    /// Compares what is in a scope with the children of an entry. `function` is the one whose code it is
    /// in, `None` in an abstract instance.
    pub(super) fn scope(&mut self, scope: ScopeId, entry: Entry<'a, 'o>, function: Option<FunctionId>) {
        let module = self.module;
        let is_abstract = function.is_none() && module.function_of(scope).is_some();
        let mut children: Vec<Entry<'a, 'o>> =
            entry.children().filter(|child| is_compared(child.tag())).collect();
        for (id, variable) in module.variables().filter(|(_, variable)| variable.scope == scope) {
            let name = self.name_of(id);
            let tag = variable_tag(variable.kind);
            let found = take(&mut children, |child| child.tag() == tag && child.name().as_deref() == name);
            let at = module.at_variable(id, None);
            match found {
                Some(found) => self.variable(id, found, function, is_abstract),
                None => self.find(Kind::MissingEntry, at, format!("a {tag}"), "none"),
            }
        }
        for (id, inner) in module.scopes().filter(|(_, inner)| inner.parent == Some(scope)) {
            match inner.kind {
                ScopeKind::Unit => {}
                ScopeKind::Function(function) => self.function(function, &mut children),
                ScopeKind::Namespace(name) => {
                    let name = module.string(name);
                    let is = |child: &Entry<'_, '_>| {
                        child.tag() == gimli::DW_TAG_namespace && child.name().as_deref() == Some(name)
                    };
                    match take(&mut children, is) {
                        Some(found) => self.scope(id, found, function),
                        None => {
                            let at = module.at_scope(scope);
                            self.find(Kind::MissingEntry, at, format!("namespace `{name}`"), "none");
                        }
                    }
                }
                ScopeKind::Block => self.code_scope(id, gimli::DW_TAG_lexical_block, &mut children, function),
                ScopeKind::Inlined { .. } => {
                    self.code_scope(id, gimli::DW_TAG_inlined_subroutine, &mut children, function);
                }
            }
        }
        for child in children {
            let what = format!("{} {}", child.tag(), child.name().unwrap_or_default());
            self.find(Kind::UnexpectedEntry, module.at_scope(scope), "no more", what);
        }
    }

    /// A block or an inlined call: of several, those in the order of the model.
    fn code_scope(
        &mut self,
        id: ScopeId,
        tag: DwTag,
        children: &mut Vec<Entry<'a, 'o>>,
        function: Option<FunctionId>,
    ) {
        let module = self.module;
        let at = module.at_scope(id);
        let Some(found) = take(children, |child| child.tag() == tag) else {
            return self.find(Kind::MissingEntry, at, format!("a {tag}"), "none");
        };
        self.report.entries += 1;
        if let Some(function) = function {
            let base = self.address(function).unwrap_or(0);
            let moved = |range: &Range<u64>| base.wrapping_add(range.start)..base.wrapping_add(range.end);
            let expected: Vec<Range<u64>> = module.ranges(id).iter().map(moved).collect();
            self.code(found, &expected, &at);
        }
        if let ScopeKind::Inlined { function: callee, call } = module.scope(id).kind {
            let name = Some(module.string(module.function(callee).name));
            let origin = found.reference(gimli::DW_AT_abstract_origin);
            self.same(&at, "the function", &name, &origin.and_then(|origin| origin.name()).as_deref());
            let is_inlined = origin
                .and_then(|origin| origin.number(gimli::DW_AT_inline))
                .is_some_and(|inline| inline & 1 == 1);
            self.same(&at, "an origin that was inlined", &true, &is_inlined);
            let names = [gimli::DW_AT_call_file, gimli::DW_AT_call_line, gimli::DW_AT_call_column];
            self.source_line(found, &at, Some(call), names);
        }
        self.scope(id, found, function);
    }

    fn function(&mut self, id: FunctionId, children: &mut Vec<Entry<'a, 'o>>) {
        let module = self.module;
        let data = module.function(id);
        let name = module.string(data.name);
        let at = module.at_scope(data.scope);
        let is = |child: &Entry<'_, '_>| {
            child.tag() == gimli::DW_TAG_subprogram && child.name().as_deref() == Some(name)
        };
        let is_placed = |child: &Entry<'_, '_>| {
            child.attr(gimli::DW_AT_low_pc).is_some() || child.attr(gimli::DW_AT_ranges).is_some()
        };
        let is_inlined = module
            .scopes()
            .any(|(_, scope)| matches!(scope.kind, ScopeKind::Inlined { function, .. } if function == id));
        if is_inlined || data.address.is_none() {
            match take(children, |child| is(child) && !is_placed(child)) {
                Some(found) => {
                    self.report.entries += 1;
                    self.function_attributes(id, found, &at);
                    self.scope(data.scope, found, None);
                }
                None => self.find(Kind::MissingEntry, at.clone(), "an abstract instance", "none"),
            }
        }
        if data.address.is_none() {
            return;
        }
        let Some(found) = take(children, |child| is(child) && is_placed(child)) else {
            return self.find(Kind::MissingEntry, at, format!("function `{name}`"), "none");
        };
        self.report.entries += 1;
        self.function_attributes(id, found, &at);
        match self.address(id) {
            Some(start) => {
                self.code(found, core::slice::from_ref(&(start..start.wrapping_add(data.bytes))), &at)
            }
            None => self.find(Kind::Code, at.clone(), "a symbol for its code", "none in the object"),
        }
        if let Some(attribute) = self.consumer.lanes {
            let lanes = module.target.lanes();
            let expected = (lanes > 1).then_some(u64::from(lanes));
            self.same(&at, "the number of lanes", &expected, &found.number(attribute));
        }
        self.scope(data.scope, found, Some(id));
    }

    fn function_attributes(&mut self, id: FunctionId, entry: Entry<'a, 'o>, at: &At) {
        let data = self.module.function(id);
        let linkage = data.linkage_name.map(|name| self.module.string(name).to_owned());
        let found = entry.inherited(gimli::DW_AT_linkage_name).and_then(Value::text).map(Into::into);
        self.same(at, "DW_AT_linkage_name", &linkage, &found);
        let is_external = matches!(entry.inherited(gimli::DW_AT_external), Some(Value::Flag(true)));
        self.same(at, "DW_AT_external", &data.is_external, &is_external);
        self.declared(entry, at, data.line);
        self.ty(data.returns, entry.ty(), at);
    }

    fn variable(
        &mut self,
        id: VariableId,
        entry: Entry<'a, 'o>,
        function: Option<FunctionId>,
        is_abstract: bool,
    ) {
        let variable = self.module.variable(id);
        let at = self.module.at_variable(id, None);
        self.report.entries += 1;
        self.ty(Some(variable.ty), entry.ty(), &at);
        // An instance has the line of what it is an instance of.
        let line = match variable.origin {
            Some(origin) => self.module.variable(origin).line,
            None => variable.line,
        };
        self.declared(entry, &at, line);
        let is = |name| matches!(entry.inherited(name), Some(Value::Flag(true)));
        if variable.origin.is_none() {
            self.same(&at, "DW_AT_artificial", &variable.is_artificial, &is(gimli::DW_AT_artificial));
            self.same(&at, "DW_AT_external", &variable.is_external, &is(gimli::DW_AT_external));
        }
        if is_abstract {
            let found = entry.attr(gimli::DW_AT_location).is_some();
            self.same(&at, "a location in an abstract instance", &false, &found);
        } else {
            self.variables.insert(id, entry.offset());
            self.places.push((id, entry.index(), function));
        }
    }

    fn declared(&mut self, entry: Entry<'a, 'o>, at: &At, line: Option<SourceLine>) {
        let names = [gimli::DW_AT_decl_file, gimli::DW_AT_decl_line, gimli::DW_AT_decl_column];
        self.source_line(entry, at, line, names);
    }

    /// Compares a place in the source, given by three attributes.
    fn source_line(&mut self, entry: Entry<'a, 'o>, at: &At, line: Option<SourceLine>, names: [DwAt; 3]) {
        let module = self.module;
        let number = |name| entry.inherited(name).and_then(Value::unsigned);
        let [file, row, column] = names.map(number);
        let Some(line) = line else {
            return self.same(at, "a place in the source", &None, &row);
        };
        self.same(at, "the line", &Some(u64::from(line.line)), &row);
        self.same(at, "the column", &u64::from(line.column), &column.unwrap_or(0));
        let program = self.dwarf.lines(entry.unit()).ok().flatten();
        if let (Some(program), Some(file)) = (program, file) {
            let found = program.file(file).map(|file| String::from_utf8_lossy(file.path).into_owned());
            self.same(at, "the file", &Some(module.string(module.file(line.file).name).to_owned()), &found);
        } else {
            self.same(at, "a file", &true, &file.is_some());
        }
    }

    /// Compares the code of an entry.
    fn code(&mut self, entry: Entry<'a, 'o>, expected: &[Range<u64>], at: &At) {
        match entry.ranges() {
            Ok(found) if found == expected => {}
            Ok(found) => self.find(Kind::Code, at.clone(), hex(expected), hex(&found)),
            Err(error) => self.report.findings.push(unreadable(&error, at.clone())),
        }
    }

    fn name_of(&self, id: VariableId) -> Option<&'a str> {
        let variable = self.module.variable(id);
        let name = variable.name.or_else(|| self.module.variable(variable.origin?).name);
        name.map(|name| self.module.string(name))
    }
}

fn variable_tag(kind: VariableKind) -> DwTag {
    match kind {
        VariableKind::Variable => gimli::DW_TAG_variable,
        VariableKind::Parameter => gimli::DW_TAG_formal_parameter,
        VariableKind::Constant => gimli::DW_TAG_constant,
    }
}

/// Whether entries of this kind stand for something of the module by themselves: types are compared where
/// they are used, procedures where they are called.
fn is_compared(tag: DwTag) -> bool {
    matches!(
        tag,
        gimli::DW_TAG_variable
            | gimli::DW_TAG_formal_parameter
            | gimli::DW_TAG_constant
            | gimli::DW_TAG_subprogram
            | gimli::DW_TAG_namespace
            | gimli::DW_TAG_lexical_block
            | gimli::DW_TAG_inlined_subroutine
    )
}

/// Takes the first that is wanted.
fn take<T>(all: &mut Vec<T>, is_wanted: impl Fn(&T) -> bool) -> Option<T> {
    all.iter().position(is_wanted).map(|index| all.remove(index))
}
