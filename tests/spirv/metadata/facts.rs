//! Plain facts from the metadata of a module.

use std::fmt;

use super::{Cursor, Node, Nodes, Value, types};

/// A module. Equal modules have equal texts.
#[derive(Debug, Default)]
pub struct Program {
    pub units: Vec<String>,
    pub globals: Vec<Global>,
    pub imports: Vec<String>,
    /// Defined functions, including those that are only inlined.
    pub functions: Vec<Function>,
}

/// A global variable.
#[derive(Debug, PartialEq)]
pub struct Global {
    /// Name, qualified by namespaces and classes.
    pub name: String,
    pub linkage: String,
    pub file: String,
    pub line: u64,
    pub ty: String,
    pub is_local: bool,
    pub is_definition: bool,
    /// Operations.
    pub expression: String,
    /// The global in LLVM's code: `@name`; empty without one.
    pub held_by: String,
}

#[derive(Debug, Default)]
pub struct Function {
    /// Name, qualified by namespaces and classes.
    pub name: String,
    pub linkage: String,
    pub file: String,
    pub line: u64,
    pub scope_line: u64,
    /// Parameters and result, followed by template parameters, if any.
    pub ty: String,
    /// Declaration within a class.
    pub declaration: String,
    pub flags: String,
    /// Variables, by argument number, then by line.
    pub variables: Vec<Variable>,
    /// Values of variables in the function, in order.
    pub providers: Vec<Provider>,
    /// Locations of instructions, in order; equal consecutive ones are merged.
    pub places: Vec<Place>,
    /// Lines of the code.
    pub code: Vec<Step>,
}

/// A line in the code of a function.
#[derive(Debug, Clone)]
pub enum Step {
    /// Start of a block, with its name.
    Block(String),
    /// The next element of [`Function::providers`].
    Provider(Provider),
    /// An instruction in LLVM's notation, and its location.
    Instruction(String, Option<Place>),
}

#[derive(Debug, Clone, PartialEq, PartialOrd)]
pub struct Variable {
    /// Argument number; 0 for a variable that is not a parameter.
    pub argument: u64,
    pub line: u64,
    pub name: String,
    /// Scope in the notation of [`Place`], without calls.
    pub scope: String,
    pub ty: String,
}

/// Value of a variable from an instruction on.
#[derive(Debug, Clone, PartialEq)]
pub struct Provider {
    pub variable: String,
    pub scope: String,
    pub is_declared: bool,
    /// The value with its type, in LLVM's notation.
    pub value: String,
    pub expression: String,
}

/// Location of an instruction.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    pub line: u64,
    pub column: u64,
    /// A function; `block 13:22 in mandel`; for an inlined function with the line of the call, `mandel at 28 in
    /// fractal`.
    pub scope: String,
}

impl Program {
    /// Parses the text of a module.
    pub fn read(text: &str) -> Self {
        let nodes = Nodes::read(text);
        let mut program = Self::default();
        for unit in nodes.of_kind("DICompileUnit").into_iter().map(|number| nodes.get(number)) {
            let optimized = if unit.text("isOptimized") == "true" { " optimized" } else { "" };
            program.units.push(format!("{} {}{optimized}", unit.text("language"), file(&nodes, unit)));
            program
                .imports
                .extend(nodes.list(unit, "imports").into_iter().flatten().map(|it| import(&nodes, it)));
        }
        for number in nodes.of_kind("DISubprogram") {
            let node = nodes.get(number);
            if node.has("spFlags", "DISPFlagDefinition") {
                program.functions.push(function(&nodes, number, node, text));
            }
        }
        let order = |it: &Function| (it.file.clone(), it.line, it.linkage.clone(), it.name.clone());
        program.functions.sort_by_key(order);
        for number in nodes.of_kind("DIGlobalVariableExpression") {
            program.globals.push(global(&nodes, number, text));
        }
        program.globals.sort_by_key(|it| (it.line, it.name.clone()));
        program
    }

    /// The function with this name.
    pub fn function(&self, name: &str) -> &Function {
        let found = self.functions.iter().find(|function| function.name == name);
        found.unwrap_or_else(|| panic!("{name} is not there"))
    }
}

/// Path of a node's file.
fn file(nodes: &Nodes, node: &Node) -> String {
    let Some(file) = nodes.named(node, "file") else { return String::new() };
    let directory = file.text("directory");
    let name = file.text("filename");
    if name.starts_with('/') || directory.is_empty() { name.into() } else { format!("{directory}/{name}") }
}

fn import(nodes: &Nodes, node: &Node) -> String {
    let entity = nodes.named(node, "entity").map_or(String::new(), |entity| types::qualified(nodes, entity));
    let tag = node.text("tag").trim_start_matches("DW_TAG_imported_");
    let name = node.text("name");
    let name = if name.is_empty() { String::new() } else { format!(" {name} =") };
    format!("{tag}{name} {entity} line {}", node.number("line"))
}

fn global(nodes: &Nodes, number: u32, text: &str) -> Global {
    let node = nodes.get(number);
    let variable = nodes.named(node, "var").expect("a variable");
    // `@counter = ... global i32 0, align 4, !dbg !0`
    let holds =
        |line: &&str| line.starts_with('@') && line.split(", ").any(|it| it == format!("!dbg !{number}"));
    let held_by = text.lines().find(holds).and_then(|line| line.split(' ').next()).unwrap_or("");
    Global {
        name: types::qualified(nodes, variable),
        linkage: variable.text("linkageName").into(),
        file: file(nodes, variable),
        line: variable.number("line"),
        ty: types::text(nodes, nodes.named(variable, "type")),
        is_local: variable.text("isLocal") == "true",
        is_definition: variable.text("isDefinition") == "true",
        expression: nodes.named(node, "expr").map_or(String::new(), expression),
        held_by: held_by.into(),
    }
}

fn function(nodes: &Nodes, number: u32, node: &Node, text: &str) -> Function {
    let of = types::text(nodes, nodes.named(node, "type"));
    let declaration = nodes.named(node, "declaration");
    let mut function = Function {
        name: types::qualified(nodes, node),
        linkage: node.text("linkageName").into(),
        file: file(nodes, node),
        line: node.number("line"),
        scope_line: node.number("scopeLine"),
        ty: format!("{of}{}", types::template(nodes, node)),
        declaration: declaration.map_or(String::new(), |it| format!("line {}", it.number("line"))),
        flags: node.text("spFlags").into(),
        ..Function::default()
    };
    for variable in nodes.of_kind("DILocalVariable").into_iter().map(|number| nodes.get(number)) {
        if root(nodes, variable) == Some(number) {
            function.variables.push(Variable {
                argument: variable.number("arg"),
                line: variable.number("line"),
                name: variable.text("name").into(),
                scope: scope(nodes, nodes.named(variable, "scope").expect("a scope"), None),
                ty: types::text(nodes, nodes.named(variable, "type")),
            });
        }
    }
    let is_local = |it: &Variable| it.argument == 0;
    function.variables.sort_by(|a, b| (is_local(a), a).partial_cmp(&(is_local(b), b)).expect("an order"));
    for line in body(text, number) {
        let location = attached(line).map(|number| nodes.get(number));
        if let Some(provider) = provider(nodes, line, location) {
            function.providers.push(provider.clone());
            function.code.push(Step::Provider(provider));
        } else if line.starts_with(' ') {
            let place = location.map(|location| Place {
                line: location.number("line"),
                column: location.number("column"),
                scope: located(nodes, location),
            });
            if place.is_some() && function.places.last() != place.as_ref() {
                function.places.extend(place.clone());
            }
            function.code.push(Step::Instruction(line.trim().into(), place));
        } else if let Some((label, _)) = line.split_once(':') {
            function.code.push(Step::Block(label.into()));
        }
    }
    function
}

/// Lines of the function with this node; none for a function that is only inlined.
fn body(text: &str, number: u32) -> impl Iterator<Item = &str> {
    let attached = format!("!dbg !{number} ");
    let is_start = move |line: &&str| line.starts_with("define ") && line.contains(&attached);
    let is_end = |line: &&str| *line != "}";
    text.lines().skip_while(move |line| !is_start(line)).skip(1).take_while(is_end)
}

/// Number of the node in an instruction's `!dbg`.
fn attached(line: &str) -> Option<u32> {
    let (_, number) = line.rsplit_once(", !dbg !")?;
    number.split(|char: char| !char.is_ascii_digit()).next()?.parse().ok()
}

/// Parses `call void @llvm.dbg.declare(metadata i32* %1, metadata !12, metadata !DIExpression()), !dbg !13`.
fn provider(nodes: &Nodes, line: &str, location: Option<&Node>) -> Option<Provider> {
    let declared = line.split_once("@llvm.dbg.declare");
    let (_, arguments) = declared.or_else(|| line.split_once("@llvm.dbg.value"))?;
    let arguments = Cursor(arguments).fields();
    let [(_, value), (_, variable), (_, operations)] = &arguments[..] else { panic!("{line}") };
    let value = word(value);
    let variable = match Cursor(&word(variable)).value() {
        Value::Named(number) => nodes.get(number),
        _ => panic!("{line}"),
    };
    let operations = match Cursor(&word(operations)).value() {
        Value::Node(node) => expression(&node),
        Value::Named(number) => expression(nodes.get(number)),
        _ => panic!("{line}"),
    };
    let call = location.and_then(|location| nodes.named(location, "inlinedAt"));
    Some(Provider {
        variable: variable.text("name").into(),
        scope: scope(nodes, nodes.named(variable, "scope").expect("a scope"), call),
        is_declared: declared.is_some(),
        value,
        expression: operations,
    })
}

/// An argument of a call, without its type `metadata`.
fn word(value: &Value) -> String {
    match value {
        Value::Word(word) => word.trim_start_matches("metadata ").into(),
        other => panic!("{other:?}"),
    }
}

/// Text of the operations and their operands: `constu 0, swap, xderef`.
fn expression(node: &Node) -> String {
    let mut text = String::new();
    for (_, operand) in &node.fields {
        let Value::Word(word) = operand else { panic!("{node:?}") };
        match word.strip_prefix("DW_OP_") {
            Some(name) => text += &format!("{}{name}", if text.is_empty() { "" } else { ", " }),
            None => text += &format!(" {word}"),
        }
    }
    text
}

/// Number of the function that contains a scope or a variable.
fn root(nodes: &Nodes, node: &Node) -> Option<u32> {
    let number = node.number_of("scope")?;
    if nodes.get(number).kind == "DISubprogram" { Some(number) } else { root(nodes, nodes.get(number)) }
}

fn located(nodes: &Nodes, location: &Node) -> String {
    scope(nodes, nodes.named(location, "scope").expect("a scope"), nodes.named(location, "inlinedAt"))
}

/// A scope with its enclosing scopes, and the calls in which it is inlined.
fn scope(nodes: &Nodes, node: &Node, call: Option<&Node>) -> String {
    let parent = || scope(nodes, nodes.named(node, "scope").expect("a scope"), call);
    match &node.kind[..] {
        "DILexicalBlock" => {
            format!("block {}:{} in {}", node.number("line"), node.number("column"), parent())
        }
        "DILexicalBlockFile" => format!("discriminator {} in {}", node.number("discriminator"), parent()),
        "DISubprogram" => {
            let name = types::qualified(nodes, node);
            match call {
                None => name,
                Some(call) => format!("{name} at {} in {}", call.number("line"), located(nodes, call)),
            }
        }
        kind => panic!("{kind} is no scope"),
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { units, globals, imports, functions } = self;
        units.iter().try_for_each(|unit| writeln!(f, "unit {unit}"))?;
        imports.iter().try_for_each(|import| writeln!(f, "import {import}"))?;
        for it in globals {
            let Global { name, linkage, file, line, ty, expression, held_by, .. } = it;
            let local = if it.is_local { " local" } else { "" };
            let definition = if it.is_definition { "" } else { " declared" };
            let linkage = if linkage.is_empty() { String::new() } else { format!(" ({linkage})") };
            writeln!(
                f,
                "global {name}{linkage} {file}:{line}{local}{definition} = {held_by}, {expression}: {ty}"
            )?;
        }
        for it in functions {
            let Function { name, linkage, file, line, scope_line, ty, declaration, flags, .. } = it;
            let linkage = if linkage.is_empty() { String::new() } else { format!(" ({linkage})") };
            let declaration =
                if declaration.is_empty() { String::new() } else { format!(", declared {declaration}") };
            writeln!(f, "function {name}{linkage} {file}:{line}, body {scope_line}{declaration}: {ty}")?;
            writeln!(f, "  {flags}")?;
            for Variable { argument, line, name, scope, ty } in &it.variables {
                let what = if *argument > 0 { format!("parameter {argument}") } else { "variable".into() };
                writeln!(f, "  {what} {name} line {line} of {scope}: {ty}")?;
            }
            for Provider { variable, scope, is_declared, value, expression } in &it.providers {
                let how = if *is_declared { "declare" } else { "value" };
                writeln!(f, "  {how} {variable} of {scope} = {value}, {expression}")?;
            }
            for Place { line, column, scope } in &it.places {
                writeln!(f, "  at {line}:{column} of {scope}")?;
            }
        }
        Ok(())
    }
}
