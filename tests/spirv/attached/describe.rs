//! Models of the kernels, from the facts listed about their sources.

use std::collections::HashMap;
use std::path::Path;

use eitri::build::{Builder, DataMember};
use eitri::model::{
    BaseEncoding, FileId, FunctionId, Language, MemorySpace, Module, PointerKind, Qualifier, ScopeId,
    SourceLine, TypeId, UnitId, VariableId,
};
use eitri::target::{Gfx, Target, Wave};

use crate::spirv::kernels::Kernel;
use crate::spirv::values::{Listed, Scope, position};

const SOURCES: &str = include_str!("../kernels/sources.txt");

/// A kernel's model.
pub struct Described {
    pub module: Module,
    pub file: FileId,
    pub functions: HashMap<String, FunctionId>,
    /// Scopes by their names in the lists: functions, blocks, and inlined calls.
    pub scopes: HashMap<String, ScopeId>,
    /// Variables by name and scope name; the latter is empty for global variables.
    pub variables: HashMap<(String, String), VariableId>,
    /// Parameters of each function, in order.
    pub parameters: HashMap<String, Vec<VariableId>>,
}

/// The model of a kernel; with a list, including its inlined calls.
pub fn describe(kernel: &Kernel, level: &str, list: Option<&Listed>) -> Described {
    let source = std::fs::read_to_string(Path::new(crate::common::ROOT).join(kernel.source));
    let source = source.expect("the source is there");
    let mut m = Builder::new(Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("is known"));
    let unit = m.unit(&format!("{}.cl", kernel.name));
    let mut described = m.describe_unit(unit).expect("is there");
    described.directory("/src").language(Language::OPENCL_C);
    if level != "-O0" {
        described.optimized();
    }
    let file = m.primary_file(unit).expect("a file");
    m.file_source(file, &source).expect("is a file");
    let mut describer = Describer {
        m,
        unit,
        file,
        source: source.lines().map(String::from).collect(),
        types: HashMap::new(),
        functions: HashMap::new(),
        scopes: HashMap::new(),
        variables: Vec::new(),
        parameters: HashMap::new(),
    };
    describer.base_types();
    if kernel.name == "structs" {
        describer.structures();
    }
    let heading = format!("file {}", kernel.name);
    let lines = SOURCES.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let lines = lines.skip_while(|line| *line != heading).skip(1);
    let mut function = String::new();
    for line in lines.take_while(|line| !line.starts_with("file ")) {
        describer.line(line, &mut function);
    }
    describer.instances(list.map_or(&[], |list| &list.scopes));
    let Describer { m, functions, mut scopes, variables, parameters, .. } = describer;
    let module = m.finish().expect("is whole");
    for (name, &function) in &functions {
        scopes.entry(name.clone()).or_insert(module.function(function).scope);
    }
    let variables = variables.into_iter().collect();
    Described { module, file, functions, scopes, variables, parameters }
}

struct Describer {
    m: Builder,
    unit: UnitId,
    file: FileId,
    source: Vec<String>,
    types: HashMap<&'static str, TypeId>,
    functions: HashMap<String, FunctionId>,
    /// Blocks and inlined calls.
    scopes: HashMap<String, ScopeId>,
    /// Variables in order; the last of several variables with one name in a scope is used.
    variables: Vec<((String, String), VariableId)>,
    parameters: HashMap<String, Vec<VariableId>>,
}

impl Describer {
    fn line(&mut self, line: &str, function: &mut String) {
        let words: Vec<_> = line.split_whitespace().collect();
        match words[..] {
            [kind @ ("function" | "static" | "kernel"), name, lines, result] => {
                *function = name.into();
                self.function(kind, name, lines, result);
            }
            ["block", name, at, "in", parent] => {
                let (line, column) = position(at);
                let block = match self.scopes.get(parent) {
                    Some(&parent) => self.m.block(parent, &[]),
                    None => self.m.block(self.functions[parent], &[]),
                };
                let block = block.expect("a block");
                self.m.begins(block, SourceLine::new(self.file, line).column(column)).expect("is a block");
                self.scopes.insert(name.into(), block);
            }
            ["global", name, line, ty] => {
                let ty = self.ty(ty);
                let at = self.declared(name, line);
                let variable =
                    self.m.variable(self.unit, name, ty).expect("a variable").declared(at).external().id();
                self.variables.push(((name.into(), String::new()), variable));
            }
            [kind @ ("parameter" | "variable"), name, line, ref ty @ .., "in", scope] => {
                self.variable(kind, name, line, &ty.join(" "), scope);
            }
            [kind @ ("parameter" | "variable"), name, line, ref ty @ ..] => {
                self.variable(kind, name, line, &ty.join(" "), function);
            }
            _ => panic!("{line}"),
        }
    }

    fn function(&mut self, kind: &str, name: &str, lines: &str, result: &str) {
        let (line, body) = lines.split_once("..").unwrap_or((lines, lines));
        let at = self.declared(name, line);
        let result = (result != "void").then(|| self.ty(result));
        let mut function = self.m.function(self.unit, name).expect("a function");
        function.declared(at).body_line(body.parse().expect("a line"));
        match kind {
            "kernel" => _ = function.external().kernel(),
            "function" => _ = function.external(),
            _ => {}
        }
        if let Some(result) = result {
            function.returns(result).expect("is a type");
        }
        self.functions.insert(name.into(), function.id());
        self.parameters.insert(name.into(), Vec::new());
    }

    fn variable(&mut self, kind: &str, name: &str, line: &str, ty: &str, scope: &str) {
        let ty = self.ty(ty);
        let at = self.declared(name, line);
        let made = match (kind, self.scopes.get(scope)) {
            ("parameter", _) => self.m.parameter(self.functions[scope], name, ty),
            (_, Some(&scope)) => self.m.variable(scope, name, ty),
            _ => self.m.variable(self.functions[scope], name, ty),
        };
        let variable = made.expect("a variable").declared(at).id();
        if kind == "parameter" {
            self.parameters.get_mut(scope).expect("a function").push(variable);
        }
        self.variables.push(((name.into(), scope.into()), variable));
    }

    /// Describes inlined calls, with their blocks and variables.
    fn instances(&mut self, scopes: &[Scope]) {
        let blocks = self.scopes.clone();
        let variables = self.variables.clone();
        let mut inlined = Vec::new();
        for Scope { name, inlined: of, line, column, parent } in scopes {
            let at = SourceLine::new(self.file, *line).column(*column);
            let (scope, origin) = match of {
                Some(of) => {
                    let function = self.functions[of];
                    let scope = match self.scopes.get(parent) {
                        Some(&parent) => self.m.inlined(parent, function, &[], at),
                        None => self.m.inlined(self.functions[parent], function, &[], at),
                    };
                    (scope, of)
                }
                None if inlined.contains(parent) => {
                    (self.m.inlined_block(self.scopes[parent], blocks[name], &[]), name)
                }
                None => continue,
            };
            let scope = scope.expect("a scope");
            for ((variable, _), id) in variables.iter().filter(|((_, of), _)| of == origin) {
                let instance = self.m.inlined_variable(scope, *id).expect("a variable").id();
                self.variables.push(((variable.clone(), name.clone()), instance));
            }
            inlined.push(name.clone());
            self.scopes.insert(name.clone(), scope);
        }
    }

    /// Position of a name in a line of the source.
    fn declared(&self, name: &str, line: &str) -> SourceLine {
        let line: u32 = line.parse().expect("a line");
        let text = &self.source[line as usize - 1];
        let is_part = |char: Option<char>| char.is_some_and(|it| it.is_ascii_alphanumeric() || it == '_');
        let is_whole = |at: &usize| {
            !is_part(text[..*at].chars().next_back()) && !is_part(text[at + name.len()..].chars().next())
        };
        let at = text.match_indices(name).map(|(at, _)| at).find(is_whole);
        let column = at.unwrap_or_else(|| panic!("{name} is not in {text}")) as u32 + 1;
        SourceLine::new(self.file, line).column(column)
    }

    /// The type of a name, or a pointer: `global const float *`.
    fn ty(&mut self, text: &str) -> TypeId {
        let Some(to) = text.strip_suffix(" *") else { return self.types[text] };
        let (space, to) = to.split_once(' ').expect("a space");
        let memory = match space {
            "global" => MemorySpace::Global,
            "local" => MemorySpace::Group,
            _ => panic!("{text}"),
        };
        let space = self.m.target().space_named(space).expect("is known").id;
        let to = match to.strip_prefix("const ") {
            Some(to) => self.m.qualified(self.unit, Qualifier::Const, Some(self.types[to])).expect("a type"),
            None => self.types[to],
        };
        let pointer = self.m.pointer_of(self.unit, PointerKind::Pointer, Some(to), space, Some(memory));
        pointer.expect("a type")
    }

    fn base_types(&mut self) {
        let all = [
            ("float", "float", BaseEncoding::Float, 32),
            ("int", "int", BaseEncoding::Signed, 32),
            ("unsigned int", "uint", BaseEncoding::Unsigned, 32),
            ("unsigned char", "uchar", BaseEncoding::UnsignedChar, 8),
        ];
        let header = self.m.file(self.unit, "opencl-c-base.h", Some("/include")).expect("a file");
        for (name, short, encoding, bits) in all {
            let ty = self.m.base_type(self.unit, name, encoding, bits).expect("a type");
            self.types.insert(name, ty);
            if name != short {
                self.typedef(short, ty, header, if short == "uint" { 105 } else { 95 });
            }
        }
        let float = self.types["float"];
        for (name, count, line) in [("float2", 2, 183), ("float3", 3, 184), ("float4", 4, 185)] {
            let vector = self.m.vector(self.unit, float, count).expect("a type");
            self.typedef(name, vector, header, line);
        }
        let array = self.m.array(self.unit, float, &[Some(8)]).expect("a type");
        self.types.insert("float[8]", array);
    }

    fn typedef(&mut self, name: &'static str, of: TypeId, file: FileId, line: u32) {
        let ty = self.m.typedef(self.unit, name, Some(of)).expect("a type");
        self.m.describe_type(ty).expect("is there").declared(SourceLine::new(file, line));
        self.types.insert(name, ty);
    }

    /// The types of `structs.cl`.
    fn structures(&mut self) {
        let particle = self.m.structure(self.unit, None, 48).expect("a type");
        self.composite(particle, 1, &[("pos", "float4", 0), ("vel", "float3", 16), ("id", "int", 32)]);
        self.typedef("Particle", particle, self.file, 1);

        let params = self.m.structure(self.unit, None, 48).expect("a type");
        let clip = self.m.structure(self.unit, None, 8).expect("a type");
        self.composite(clip, 2, &[("lo", "int", 0), ("hi", "int", 4)]);
        self.m.describe_type(clip).expect("is there").within(params).expect("is a scope");
        self.types.insert("Params::clip", clip);
        let members =
            [("dt", "float", 0), ("g", "float4", 16), ("n", "int", 32), ("clip", "Params::clip", 36)];
        self.composite(params, 2, &members);
        self.typedef("Params", params, self.file, 2);

        let values = [("MODE_EULER", 1), ("MODE_VERLET", 2)];
        let uint = self.types["unsigned int"];
        let at = self.declared("Mode", "3");
        let mode = self.m.enumeration(self.unit, Some("Mode"), uint, &values).expect("a type");
        self.m.describe_type(mode).expect("is there").declared(at);
        self.types.insert("Mode", mode);

        let pun = self.m.union(self.unit, None, 4).expect("a type");
        let bytes = self.m.array(self.unit, self.types["uchar"], &[Some(4)]).expect("a type");
        self.types.insert("uchar[4]", bytes);
        self.composite(pun, 4, &[("u", "uint", 0), ("f", "float", 0), ("b", "uchar[4]", 0)]);
        self.typedef("Pun", pun, self.file, 4);
    }

    /// All members are on the line of the type.
    fn composite(&mut self, ty: TypeId, line: u32, members: &[(&str, &str, u64)]) {
        self.m.describe_type(ty).expect("is there").declared(SourceLine::new(self.file, line));
        for &(name, of, offset) in members {
            let at = self.declared(name, &line.to_string());
            let member = DataMember::new(name, self.types[of], offset).declared(at);
            self.m.data_member(ty, member).expect("a member");
        }
    }
}
