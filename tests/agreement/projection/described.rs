//! A module as tree facts.

use eitri::lower::Lowered;
use eitri::model::{
    Address, AttributeOwner, ExtraValue, FileId, Function, FunctionId, Imported, LocId, Macro, Module,
    NamespaceKind, Node, ScopeId, ScopeKind, SourceLine, TypeId, UnitId, VariableId, VariableKind,
};
use eitri::omission::{Omission, Property, Subject};

use super::{Context, Tree, What, address};

pub(super) struct Described<'m> {
    pub(super) module: &'m Module,
    pub(super) context: Context<'m>,
    pub(super) omissions: &'m [Omission],
}

/// Code of a function, for its scopes.
#[derive(Clone, Copy)]
struct Code {
    start: u64,
    bytes: u64,
}

pub(super) fn type_id(id: TypeId) -> u64 {
    1 << 32 | u64::from(id.as_u32())
}

pub(super) fn variable_id(id: VariableId) -> u64 {
    2 << 32 | u64::from(id.as_u32())
}

fn function_id(id: FunctionId) -> u64 {
    3 << 32 | u64::from(id.as_u32())
}

fn scope_id(id: ScopeId) -> u64 {
    4 << 32 | u64::from(id.as_u32())
}

impl<'m> Described<'m> {
    pub(super) fn new(module: &'m Module, context: Context<'m>, lowered: &'m Lowered) -> Self {
        Self { module, context, omissions: &lowered.omissions }
    }

    pub(super) fn module(&self) -> Tree {
        let mut all = Tree::new("module", None);
        all.inside = self.module.units().map(|(id, _)| self.unit(id)).collect();
        all
    }

    fn unit(&self, id: UnitId) -> Tree {
        let module = self.module;
        let unit = module.unit(id);
        let mut tree = Tree::new("unit", None);
        let text = |id| module.string(id).to_owned();
        tree.add("name", text(unit.name));
        tree.may("directory", unit.directory.map(text));
        let producer = unit.producer.map(text);
        tree.may(
            "producer",
            match unit.command_line.map(text) {
                Some(command_line) => Some(format!("{} {command_line}", producer.unwrap_or_default())),
                None => producer,
            },
        );
        tree.may("language", unit.language.map(|language| u64::from(language.0)));
        self.vendor(id, &mut tree);
        let in_unit = |scope: ScopeId| module.scope(scope).unit == id;
        let mut code: Vec<_> = module
            .functions()
            .filter(|(_, function)| in_unit(function.scope))
            .filter_map(|(_, function)| code(module, function))
            .map(|code| (code.start, code.start + code.bytes))
            .collect();
        code.sort_unstable();
        tree.add("code", code);
        let files = module.files().filter(|(_, file)| file.unit == id);
        tree.add("files", files.map(|(id, _)| self.file(id)).collect::<Vec<_>>());
        tree.may("macros", Some(self.macros(id)).filter(|macros| !macros.is_empty()));
        tree.inside = self.base_types(id);
        self.scope(unit.scope, None, &mut tree);
        tree
    }

    /// The vendor's attribute of these modules.
    pub(super) fn vendor(&self, owner: impl Into<AttributeOwner>, tree: &mut Tree) {
        let known = self.context.consumer.entries.attributes;
        let [attribute] = self.module.attributes(owner) else { return };
        match attribute.value {
            ExtraValue::Unsigned(number) if known.is_none() => tree.add("vendor", number),
            _ => {}
        }
    }

    fn file(&self, id: FileId) -> (String, String, Option<[u8; 16]>) {
        let file = self.module.file(id);
        let text = |id| self.module.string(id).to_owned();
        let is_five = self.context.consumer.version >= 5;
        (file.directory.map_or(".".into(), text), text(file.name), file.md5.filter(|_| is_five))
    }

    /// Actions of the preprocessor, each with a line and a text or a file's name.
    fn macros(&self, unit: UnitId) -> Vec<What> {
        let text = |id| self.module.string(id).to_owned();
        let all = self.module.macros(unit).iter().map(|what| match *what {
            Macro::Define { line, text: of } => ("define", line.into(), text(of)),
            Macro::Undefine { line, name } => ("undefine", line.into(), text(name)),
            Macro::File { line, file } => {
                let (directory, name, _) = self.file(file);
                ("file", line.into(), format!("{directory}/{name}"))
            }
            Macro::EndFile => ("end of file", 0, String::new()),
        });
        all.collect()
    }

    pub(super) fn line(&self, line: Option<SourceLine>) -> Option<(String, String, u64, u64)> {
        let SourceLine { file, line, column } = line?;
        let (directory, name, _) = self.file(file);
        Some((directory, name, line.into(), column.into()))
    }

    /// Appends the contents of a scope. `code` is that of its function, if any.
    pub(super) fn in_scope(&self, id: ScopeId, tree: &mut Tree) {
        self.scope(id, None, tree);
    }

    fn scope(&self, id: ScopeId, code: Option<Code>, tree: &mut Tree) {
        let module = self.module;
        let all = &mut tree.inside;
        let types = module.types().filter(|(_, ty)| ty.scope() == id);
        all.extend(types.filter_map(|(id, _)| self.ty(id)));
        let variables = module.variables().filter(|(_, variable)| variable.scope == id);
        all.extend(variables.map(|(id, _)| self.variable(id, code)));
        let inner = module.scopes().filter(|(_, scope)| scope.parent == Some(id));
        all.extend(inner.filter_map(|(id, _)| self.inner(id, code)));
        for (_, import) in module.imports().filter(|(_, import)| import.scope == id) {
            let mut tree = Tree::new("import", None);
            tree.may("name", import.name.map(|name| module.string(name)));
            tree.may("line", self.line(import.line));
            tree.is("all", matches!(import.what, Imported::AllOf(_)));
            if let Imported::Member(_, index) | Imported::Enumerator(_, index) = import.what {
                tree.add("member", index);
            }
            let what = match import.what {
                Imported::Function(id) => function_id(id),
                Imported::Variable(id) => variable_id(id),
                Imported::Type(id) | Imported::Member(id, _) | Imported::Enumerator(id, _) => type_id(id),
                Imported::Namespace(id) | Imported::AllOf(id) => scope_id(id),
            };
            tree.to("what", Some(what));
            all.push(tree);
        }
        if code.is_none() {
            return;
        }
        for (_, label) in module.labels().filter(|(_, label)| label.scope == id) {
            let mut tree = Tree::new("label", None);
            tree.add("name", module.string(label.name));
            tree.may("line", self.line(label.line));
            tree.may("pc", label.pc);
            all.push(tree);
        }
        for (call, data) in module.calls().filter(|(_, call)| call.scope == id) {
            let is_five = self.context.consumer.version >= 5;
            let mut tree = Tree::new("call", None);
            tree.may("return pc", data.return_pc.or(data.pc.filter(|_| !is_five)));
            tree.may("pc", data.pc.filter(|_| is_five || data.return_pc.is_some()));
            tree.to("callee", data.callee.map(function_id));
            tree.is("tail", data.is_tail);
            tree.may("line", self.line(data.line));
            if self.context.has_calls {
                tree.is("target", data.target.is_some());
                tree.is("clobbered", data.clobbered_target.is_some());
                tree.inside.extend(module.arguments(call).iter().map(|argument| {
                    let mut tree = Tree::new("argument", None);
                    tree.to("parameter", argument.parameter.map(variable_id));
                    tree.is("location", argument.location.is_some());
                    tree.is("value", argument.value.is_some());
                    tree.is("data location", argument.data_location.is_some());
                    tree.is("data value", argument.data_value.is_some());
                    tree
                }));
            }
            all.push(tree);
        }
    }

    fn inner(&self, id: ScopeId, code: Option<Code>) -> Option<Tree> {
        let module = self.module;
        let scope = module.scope(id);
        let mut tree = match &scope.kind {
            ScopeKind::Unit | ScopeKind::Type(_) => return None,
            ScopeKind::Function(function) => return Some(self.function(*function)),
            ScopeKind::Namespace { name, kind } => {
                let what = match kind {
                    NamespaceKind::Namespace | NamespaceKind::Inline => "namespace",
                    NamespaceKind::Module => "module",
                    NamespaceKind::CommonBlock => "common block",
                    NamespaceKind::Namelist => "namelist",
                };
                let mut tree = Tree::new(what, Some(scope_id(id)));
                tree.may("name", name.map(|name| module.string(name)));
                tree.is("inline", *kind == NamespaceKind::Inline);
                tree.may("line", self.line(scope.line));
                tree
            }
            ScopeKind::Block => {
                let mut tree = Tree::new("block", Some(scope_id(id)));
                tree.to("origin", scope.origin.map(scope_id));
                tree
            }
            ScopeKind::Inlined { function, call } => {
                let mut tree = Tree::new("inlined", None);
                tree.to("origin", Some(function_id(*function)));
                tree.may("line", self.line(Some(*call)));
                tree.may("discriminator", Some(scope.discriminator).filter(|&number| number != 0));
                tree
            }
        };
        let ranges: Vec<_> = module.ranges(id).iter().map(|range| (range.start, range.end)).collect();
        tree.may("ranges", code.map(|_| ranges).filter(|ranges| !ranges.is_empty()));
        tree.may("entry pc", code.and(scope.entry_pc));
        self.scope(id, code, &mut tree);
        Some(tree)
    }

    fn function(&self, id: FunctionId) -> Tree {
        let module = self.module;
        let function = module.function(id);
        let declaration = function.origin.or(function.specification).map(|id| module.function(id));
        let of = declaration.unwrap_or(function);
        let code = code(module, function);
        let mut tree = Tree::new("function", Some(function_id(id)));
        tree.add("name", module.string(of.name));
        let linkage = function.linkage_name.or(of.linkage_name);
        tree.may("linkage name", linkage.map(|name| module.string(name)));
        tree.may("line", self.line(function.line.or(of.line)));
        tree.to("type", of.returns.map(type_id));
        tree.to("definition of", function.specification.map(function_id));
        tree.to("origin", function.origin.map(function_id));
        let either = |is: fn(&Function) -> bool| is(function) || is(of);
        tree.is("external", either(|function| function.is_external));
        tree.is("noreturn", either(|function| function.is_noreturn));
        tree.is("main", either(|function| function.is_main));
        tree.is("explicit", either(|function| function.member.is_explicit));
        tree.is("deleted", either(|function| function.member.is_deleted));
        tree.is("declaration", function.is_declaration);
        let kernel =
            self.context.consumer.entries.kernel_convention.filter(|_| function.is_kernel && code.is_some());
        let convention = function.convention.or(kernel).or(of.convention);
        tree.may("convention", convention.map(u64::from));
        let own = function.member;
        let inherited = of.member;
        let access = own.accessibility.or(inherited.accessibility);
        tree.may("accessibility", access.map(|access| access as u64 + 1));
        let virtuality = own.virtuality.or(inherited.virtuality);
        tree.may("virtuality", virtuality.map(|virtuality| virtuality as u64 + 1));
        let defaulted = own.defaulted.or(inherited.defaulted);
        tree.may("defaulted", defaulted.map(|defaulted| defaulted as u64 + 1));
        tree.to("object pointer", function.object_pointer.map(variable_id));
        let is_inlined = module
            .scopes()
            .any(|(_, scope)| matches!(scope.kind, ScopeKind::Inlined { function, .. } if function == id));
        tree.is("inlined", is_inlined);
        tree.is("declared inline", function.is_declared_inline);
        if let Some(Code { start, bytes }) = code {
            tree.add("code", (start, start + bytes));
            tree.may("entry pc", module.scope(function.scope).entry_pc);
            tree.may("describes", function.calls.map(|calls| calls as u64));
            let lanes = u64::from(module.target().lanes());
            tree.may("lanes", self.context.consumer.attributes.lanes.filter(|_| lanes > 1).map(|_| lanes));
            if self.context.has_calls {
                tree.is("frame base", function.frame_base.is_some());
                tree.is("static link", function.static_link.is_some());
            }
            tree.may("rows", Some(self.rows(id)).filter(|rows| !rows.is_empty()));
        }
        tree.inside.extend(function.templates.iter().map(|parameter| self.template(parameter)));
        if function.is_variadic {
            tree.inside.push(Tree::new("more arguments", None));
        }
        self.scope(function.scope, code, &mut tree);
        tree
    }

    fn rows(&self, id: FunctionId) -> Vec<String> {
        let rows = self.module.rows(id).iter().map(|row| {
            let line = SourceLine::new(row.file, row.line).column(row.column);
            let flags = (row.is_stmt, row.is_prologue_end, row.is_epilogue_begin);
            format!("{:x?}", (row.pc, self.line(Some(line)), u64::from(row.discriminator), flags))
        });
        rows.collect()
    }

    fn variable(&self, id: VariableId, code: Option<Code>) -> Tree {
        let module = self.module;
        let variable = module.variable(id);
        // A definition or an instance can have properties that its declaration or origin lacks.
        let mut chain = vec![variable];
        while let Some(next) = chain.last().and_then(|of| of.origin.or(of.specification)) {
            chain.push(module.variable(next));
        }
        let of = chain[chain.len() - 1];
        let is_static = matches!(module.scope(variable.scope).kind, ScopeKind::Type(_));
        let kind = match variable.kind {
            VariableKind::Variable => "variable",
            VariableKind::Parameter => "parameter",
            VariableKind::Constant if is_static => "variable",
            VariableKind::Constant => "constant",
        };
        let mut tree = Tree::new(kind, Some(variable_id(id)));
        let linkage = chain.iter().find_map(|of| of.linkage_name);
        tree.may("name", of.name.map(|name| module.string(name)));
        tree.may("linkage name", linkage.map(|name| module.string(name)));
        tree.may("line", self.line(chain.iter().find_map(|of| of.line)));
        tree.to("type", Some(type_id(of.ty)));
        tree.to("origin", variable.origin.map(variable_id));
        tree.to("definition of", variable.specification.map(variable_id));
        tree.is("external", chain.iter().any(|of| of.is_external));
        tree.is("artificial", chain.iter().any(|of| of.is_artificial));
        tree.is("declaration", is_static || variable.is_declaration);
        tree.may(
            "accessibility",
            chain.iter().find_map(|of| of.accessibility).map(|access| access as u64 + 1),
        );
        let memory =
            self.context.consumer.attributes.memory_space.and(chain.iter().find_map(|of| of.memory_space));
        tree.may("memory", memory.map(|memory| memory as u64 + 1));
        let is_constant = variable.is_constant || variable.kind == VariableKind::Constant || is_static;
        let function = module.function_of(variable.scope);
        let has_code = function.is_none_or(|id| code.is_some() || module.function(id).address.is_none());
        match module.always(id) {
            Some(loc) if is_constant && self.constant(loc).is_some() => tree.may("value", self.constant(loc)),
            Some(_) => tree.is("always", has_code && self.omissions(id).next().is_none()),
            None => {
                let out: Vec<_> = self.omissions(id).filter_map(|one| one.pcs.clone()).collect();
                let mut pcs: Vec<_> = module.live(id).iter().map(|live| live.pcs()).collect();
                let is_whole = matches!(&pcs[..], [one] if code.is_some_and(|code| *one == (0..code.bytes)));
                for out in out {
                    let at = pcs.iter().position(|pcs| *pcs == out).expect("was left out of these");
                    pcs.remove(at);
                }
                // A constant for the whole function is valid at every pc.
                let value = module.live(id).first().filter(|_| is_whole && is_constant);
                let value = value.and_then(|live| self.constant(live.loc));
                tree.is("always", is_whole && !pcs.is_empty() && value.is_none());
                tree.may("value", value);
                let pcs: Vec<_> = pcs.into_iter().map(|pcs| (pcs.start, pcs.end)).collect();
                tree.may("places", code.map(|_| pcs).filter(|pcs| !is_whole && !pcs.is_empty()));
            }
        }
        tree
    }

    fn omissions(&self, id: VariableId) -> impl Iterator<Item = &Omission> {
        let is_location = |omission: &&Omission| omission.property == Property::Location;
        self.omissions.iter().filter(is_location).filter(move |one| one.subject == Subject::Variable(id))
    }

    /// Bytes of a location that is a constant and nothing else.
    pub(super) fn constant(&self, loc: LocId) -> Option<Vec<u8>> {
        let nodes: Vec<_> = self.module.nodes(loc).collect();
        match nodes[..] {
            [Node::Implicit(bytes)] => Some(bytes.to_vec()),
            _ => None,
        }
    }
}

fn code(module: &Module, function: &Function) -> Option<Code> {
    let start = match function.address? {
        Address::Symbol(symbol, by) => address(module.symbol_name(symbol)) + by,
        Address::Constant(address) => address,
    };
    Some(Code { start, bytes: function.bytes })
}
