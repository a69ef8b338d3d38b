//! Faults in scopes: declarations and definitions, member functions, imports, labels, calls, entry values.

use eitri::build::Builder;
use eitri::check::FindingKind::{self, Attribute, Code, Extra, Location, MissingEntry};
use eitri::lower::Consumer;
use eitri::model::{
    Accessibility, BaseEncoding, Defaulted, DescribedCalls, Imported, Language, LineTableRow, Loc, Module,
    SourceLine, Val, Virtuality,
};
use eitri::target::{SpaceId, Target};

use crate::sabotage::{Expected, all_found, missed, sections};

/// Contents of a module that faults change.
#[derive(Clone)]
struct Contents {
    language: Language,
    language_version: Option<u32>,
    producer: Option<&'static str>,
    command_line: Option<&'static str>,
    is_inline_namespace: bool,
    is_anonymous: bool,
    import: u8,
    alias: Option<&'static str>,
    namespace_line: Option<u32>,
    namespace_column: u32,
    import_line: u32,
    import_column: u32,
    has_import: bool,
    access: Option<Accessibility>,
    virtuality: Option<Virtuality>,
    defaulted: Option<Defaulted>,
    is_explicit: bool,
    is_deleted: bool,
    is_member: bool,
    has_member: bool,
    object: usize,
    defines: usize,
    definition_line: u32,
    has_definition: bool,
    is_noreturn: bool,
    is_main: bool,
    convention: Option<u8>,
    is_declared_inline: bool,
    is_variadic: bool,
    frame_base: Val,
    has_frame_base: bool,
    static_link: i64,
    /// First pc and offset of the second frame base.
    second_base: (u64, i64),
    has_second_base: bool,
    nested_in_block: bool,
    calls: Option<DescribedCalls>,
    entry_pc: Option<u64>,
    discriminator: u32,
    label: &'static str,
    label_pc: Option<u64>,
    label_line: u32,
    label_column: u32,
    /// The function's block that the inlined block is an instance of.
    origin: Option<usize>,
    return_pc: u64,
    call_pc: Option<u64>,
    callee: usize,
    is_tail: bool,
    call_line: u32,
    target: Val,
    has_clobbered: bool,
    argument: &'static str,
    value: Val,
    data: i64,
    parameter: usize,
    arguments: usize,
    has_call: bool,
    entry: &'static str,
    extern_linkage: &'static str,
    is_extern: bool,
    constant: u8,
    column: u32,
}

/// A register of the target.
fn reg(name: &str) -> eitri::op::Reg {
    Target::x86_64().register_named(name).unwrap()
}

fn register(name: &str) -> Val {
    Val::register(reg(name))
}

impl Contents {
    fn truth() -> Self {
        Self {
            language: Language::CPP17,
            language_version: None,
            producer: Some("a compiler 1.0"),
            command_line: Some("-O2 -g"),
            is_inline_namespace: false,
            is_anonymous: false,
            import: 0,
            alias: Some("alias"),
            namespace_line: Some(1),
            namespace_column: 11,
            import_line: 3,
            import_column: 5,
            has_import: true,
            access: Some(Accessibility::Protected),
            virtuality: Some(Virtuality::Virtual),
            defaulted: Some(Defaulted::InClass),
            is_explicit: true,
            is_deleted: false,
            is_member: true,
            has_member: true,
            object: 0,
            defines: 0,
            definition_line: 20,
            has_definition: true,
            is_noreturn: true,
            is_main: false,
            convention: Some(0xc6),
            is_declared_inline: true,
            is_variadic: true,
            frame_base: register("rbp").plus(16),
            has_frame_base: true,
            static_link: -8,
            second_base: (4, 16),
            has_second_base: true,
            nested_in_block: true,
            calls: Some(DescribedCalls::All),
            entry_pc: Some(0x14),
            discriminator: 3,
            label: "out",
            label_pc: Some(8),
            label_line: 30,
            label_column: 2,
            origin: Some(1),
            return_pc: 0x10,
            call_pc: Some(0x0c),
            callee: 0,
            is_tail: true,
            call_line: 12,
            target: register("rax").plus(8),
            has_clobbered: true,
            argument: "rdi",
            value: register("rbx").plus(1),
            data: 200,
            parameter: 0,
            arguments: 2,
            has_call: true,
            entry: "rdi",
            extern_linkage: "_Zshared",
            is_extern: true,
            constant: 9,
            column: 7,
        }
    }

    fn module(&self) -> Module {
        let mut m = Builder::new(Target::x86_64());
        let unit = m.unit("a.cc");
        let mut described = m.describe_unit(unit).unwrap();
        described.language(self.language).directory("/src");
        if let Some(version) = self.language_version {
            described.language_version(version);
        }
        if let Some(producer) = self.producer {
            described.producer(producer);
        }
        if let Some(command_line) = self.command_line {
            described.command_line(command_line);
        }
        let file = m.primary_file(unit).unwrap();
        let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
        let class = m.structure(unit, Some("c"), 4).unwrap();
        m.member(class, "x", int, 0).unwrap();
        let this = m.pointer(unit, Some(class)).unwrap();

        let namespace = match (self.is_anonymous, self.is_inline_namespace) {
            (true, _) => m.anonymous_namespace(unit),
            (_, true) => m.inline_namespace(unit, "ns"),
            _ => m.namespace(unit, "ns"),
        }
        .unwrap();
        if let Some(line) = self.namespace_line {
            m.begins(namespace, SourceLine::new(file, line).column(self.namespace_column)).unwrap();
        }
        let mut shared = m.extern_variable(namespace, "shared", int).unwrap();
        shared.linkage_name(self.extern_linkage).declared(SourceLine::new(file, 2).column(self.column));
        let shared = shared.id();
        let data = m.symbol("data");
        let place = Loc::global_symbol(data);
        if self.is_extern {
            m.definition(unit, shared).unwrap().always(place).map(drop)
        } else {
            m.variable(unit, "shared", int).unwrap().always(place).map(drop)
        }
        .unwrap();
        m.variable(unit, "nine", int).unwrap().const_value(&[self.constant, 0, 0, 0]).unwrap();

        // Two functions declared in the class or in the unit.
        let mut declared = Vec::new();
        let mut parameters = Vec::new();
        for name in ["get", "set"] {
            if name == "get" && !self.has_member {
                let id = m.function_declaration(unit, name).unwrap().id();
                parameters.push([m.parameter(id, "this", this).unwrap().id(); 2]);
                declared.push(id);
                continue;
            }
            let mut f = if self.is_member {
                m.function_declaration(class, name).unwrap()
            } else {
                m.function_declaration(unit, name).unwrap()
            };
            f.returns(int).unwrap();
            if let Some(access) = self.access {
                f.accessibility(access);
            }
            if let Some(virtuality) = self.virtuality {
                f.virtuality(virtuality);
            }
            if let Some(defaulted) = self.defaulted {
                f.defaulted(defaulted);
            }
            if self.is_explicit {
                f.explicit();
            }
            if self.is_deleted {
                f.deleted();
            }
            let id = f.id();
            let own = ["this", "other"].map(|name| m.parameter(id, name, this).unwrap().id());
            m.describe_function(id).unwrap().object_pointer(own[self.object]).unwrap();
            declared.push(id);
            parameters.push(own);
        }
        if self.has_definition {
            let mut f = m.function_definition(unit, declared[self.defines]).unwrap();
            f.declared(SourceLine::new(file, self.definition_line)).code("other", 0x40);
        }

        let mut f = m.function(unit, "k").unwrap();
        f.code("k", 0x40);
        if self.is_noreturn {
            f.noreturn();
        }
        if self.is_main {
            f.main();
        }
        if let Some(convention) = self.convention {
            f.convention(convention);
        }
        if self.is_declared_inline {
            f.declared_inline();
        }
        if self.is_variadic {
            f.variadic();
        }
        if self.has_frame_base {
            f.frame_base(&Loc::memory(SpaceId::DEFAULT, self.frame_base.clone())).unwrap();
        }
        if let Some(calls) = self.calls {
            f.describes(calls);
        }
        let k = f.id();
        m.parameter(k, "p", int)
            .unwrap()
            .live(0..0x38, Loc::value(Val::entry_value(reg(self.entry))))
            .unwrap();
        let block = m.block(k, &[0..0x20]).unwrap();
        let nested = if self.nested_in_block { m.function(block, "nested") } else { m.function(k, "nested") };
        let link = Loc::memory(SpaceId::DEFAULT, register("r10").plus(self.static_link));
        let base = |by| Loc::memory(SpaceId::DEFAULT, register("rsp").plus(by));
        let mut nested = nested.unwrap();
        let (from, by) = self.second_base;
        nested.code("data", 16).static_link(&link).unwrap().frame_base_at(0..from, &base(8)).unwrap();
        if self.has_second_base {
            nested.frame_base_at(from..16, &base(by)).unwrap();
        }
        let inlined = m.function(unit, "in").unwrap().id();
        let blocks = [(); 2].map(|()| m.block(inlined, &[]).unwrap());
        let call = SourceLine::new(file, 5);
        let inlined = m.inlined(k, inlined, &[0x20..0x24, 0x10..0x18], call).unwrap();
        m.discriminator(inlined, self.discriminator).unwrap();
        match self.origin {
            Some(origin) => m.inlined_block(inlined, blocks[origin], &[0x10..0x14]),
            None => m.block(inlined, &[0x10..0x14]),
        }
        .unwrap();
        if let Some(pc) = self.entry_pc {
            m.entry_pc(inlined, pc).unwrap();
        }

        let mut label = m.label(k, self.label).unwrap();
        let line = SourceLine::new(file, self.label_line).column(self.label_column);
        label.declared(line).unwrap();
        if let Some(pc) = self.label_pc {
            label.at(pc).unwrap();
        }
        if self.has_import {
            let what = [
                Imported::Namespace(namespace),
                Imported::Function(k),
                Imported::Variable(shared),
                Imported::Type(class),
                Imported::AllOf(namespace),
            ];
            let mut import = m.import(block, what[usize::from(self.import)]).unwrap();
            let line = SourceLine::new(file, self.import_line).column(self.import_column);
            import.declared(line).unwrap();
            if let Some(alias) = self.alias.filter(|_| self.import < 4) {
                import.name(alias).unwrap();
            }
        }

        for (pc, line) in [(0, 9), (0x10, 5), (0x30, 10)] {
            m.row(k, LineTableRow::new(pc, file, line)).unwrap();
        }
        if self.has_call {
            let mut call = m.call(k).unwrap();
            call.returns_to(self.return_pc).unwrap().calls(declared[self.callee]).unwrap();
            if let Some(pc) = self.call_pc {
                call.at(pc).unwrap();
            }
            if self.is_tail {
                call.tail();
            }
            call.line(SourceLine::new(file, self.call_line)).unwrap();
            call.target(self.target.clone()).unwrap();
            if self.has_clobbered {
                call.clobbered_target(register("rcx")).unwrap();
            }
            for _ in 0..self.arguments {
                let mut argument = call.argument(&Loc::register(reg(self.argument))).unwrap();
                argument.value(self.value.clone()).unwrap();
                let memory = Loc::memory(SpaceId::DEFAULT, register("rdi"));
                argument.points_to(&memory, Val::constant(self.data as u64)).unwrap();
                argument.parameter(parameters[self.callee][self.parameter]).unwrap();
            }
        }
        m.finish().unwrap()
    }
}

/// Module with everything that a scope can have.
pub fn truth() -> Module {
    Contents::truth().module()
}

type Change = fn(&mut Contents);

#[rustfmt::skip]
const FAULTS: &[(&str, Change, FindingKind, Option<&str>)] = &[
    // Units and namespaces.
    ("another name of the language", |s| s.language = Language::C17, Attribute, None),
    ("another version of the language", |s| s.language_version = Some(202_002), Attribute, None),
    ("another compiler", |s| s.producer = Some("a compiler 1.1"), Attribute, None),
    ("no compiler", |s| s.producer = None, Attribute, None),
    ("another command line", |s| s.command_line = Some("-O2"), Attribute, None),
    ("no command line", |s| s.command_line = None, Attribute, None),
    ("another line of a namespace", |s| s.namespace_line = Some(2), Attribute, None),
    ("another column of a namespace", |s| s.namespace_column = 12, Attribute, None),
    ("no line of a namespace", |s| s.namespace_line = None, Attribute, None),
    ("an inline namespace", |s| s.is_inline_namespace = true, Attribute, None),
    ("a namespace without a name", |s| s.is_anonymous = true, MissingEntry, None),
    ("no import", |s| s.has_import = false, MissingEntry, None),
    ("another name of an import", |s| s.alias = Some("other"), MissingEntry, None),
    ("no name of an import", |s| s.alias = None, MissingEntry, None),
    ("another line of an import", |s| s.import_line = 4, Attribute, None),
    ("another column of an import", |s| s.import_column = 6, Attribute, None),
    ("a function for a namespace", |s| s.import = 1, Attribute, None),
    ("a variable for a namespace", |s| s.import = 2, Attribute, None),
    ("a type for a namespace", |s| s.import = 3, Attribute, None),
    ("all of a namespace", |s| s.import = 4, MissingEntry, None),

    // Member functions.
    ("a function outside of its type", |s| s.is_member = false, MissingEntry, None),
    ("a member function missing", |s| s.has_member = false, MissingEntry, None),
    ("where it is instead", |s| s.has_member = false, Extra, None),
    ("everybody may call", |s| s.access = Some(Accessibility::Public), Attribute, None),
    ("no accessibility", |s| s.access = None, Attribute, None),
    ("pure", |s| s.virtuality = Some(Virtuality::Pure), Attribute, None),
    ("not virtual", |s| s.virtuality = None, Attribute, None),
    ("made outside of the class", |s| s.defaulted = Some(Defaulted::OutOfClass), Attribute, None),
    ("not made by the compiler", |s| s.defaulted = None, Attribute, None),
    ("not explicit", |s| s.is_explicit = false, Attribute, None),
    ("deleted", |s| s.is_deleted = true, Attribute, None),
    ("another parameter is the object", |s| s.object = 1, Attribute, None),
    ("the definition of another function", |s| s.defines = 1, MissingEntry, None),
    ("no definition", |s| s.has_definition = false, MissingEntry, None),
    ("another line of a definition", |s| s.definition_line = 21, Attribute, None),

    // Functions.
    ("it returns", |s| s.is_noreturn = false, Attribute, None),
    ("the program begins in it", |s| s.is_main = true, Attribute, None),
    ("another convention", |s| s.convention = Some(0xc7), Attribute, None),
    ("no convention", |s| s.convention = None, Attribute, None),
    ("not declared inline", |s| s.is_declared_inline = false, Attribute, None),
    ("no more arguments", |s| s.is_variadic = false, MissingEntry, None),
    ("another frame base", |s| s.frame_base = register("rbp").plus(8), Location, None),
    ("a frame base from another register", |s| s.frame_base = register("rsp").plus(16), Location, None),
    ("no frame base", |s| s.has_frame_base = false, Attribute, None),
    ("another frame base at some pcs", |s| s.second_base.1 = 24, Location, None),
    ("a frame base from another pc", |s| s.second_base.0 = 8, Attribute, None),
    ("no frame base at some pcs", |s| s.has_second_base = false, Attribute, None),
    ("another static link", |s| s.static_link = -16, Location, None),
    ("a function outside of its block", |s| s.nested_in_block = false, MissingEntry, None),
    ("other calls described", |s| s.calls = Some(DescribedCalls::Tail), Attribute, None),
    ("no calls described", |s| s.calls = None, Attribute, None),

    // Pcs in the code.
    ("entered at another pc", |s| s.entry_pc = Some(0x10), Code, None),
    ("entered at the lowest pc", |s| s.entry_pc = None, Code, None),
    ("another discriminator", |s| s.discriminator = 4, Attribute, None),
    ("an instance of another block", |s| s.origin = Some(0), Attribute, None),
    ("an instance of no block", |s| s.origin = None, Attribute, None),
    ("another name of a label", |s| s.label = "back", MissingEntry, None),
    ("a label elsewhere", |s| s.label_pc = Some(4), Code, None),
    ("a label nowhere", |s| s.label_pc = None, Code, None),
    ("another line of a label", |s| s.label_line = 31, Attribute, None),
    ("no column of a label", |s| s.label_column = 0, Attribute, None),

    // Calls.
    ("no call", |s| s.has_call = false, MissingEntry, None),
    ("a call that returns elsewhere", |s| s.return_pc = 0x14, Code, None),
    ("a call elsewhere", |s| s.call_pc = Some(8), Code, None),
    ("a call without its own pc", |s| s.call_pc = None, Code, None),
    ("a call of another function", |s| s.callee = 1, Attribute, None),
    ("no tail call", |s| s.is_tail = false, Attribute, None),
    ("another line of a call", |s| s.call_line = 13, Attribute, None),
    ("another target", |s| s.target = register("rax"), Location, None),
    ("what the target is in", |s| s.target = Val::constant(8), Location, None),
    ("no target that is lost", |s| s.has_clobbered = false, Attribute, None),
    ("an argument elsewhere", |s| s.argument = "rsi", Location, None),
    ("another value", |s| s.value = register("rbx"), Location, None),
    ("another value at the address", |s| s.data = 201, Location, None),
    ("the argument of another parameter", |s| s.parameter = 1, Attribute, None),
    ("an argument missing", |s| s.arguments = 1, MissingEntry, None),
    ("an argument too many", |s| s.arguments = 3, Extra, None),
    ("the value on entry", |s| s.value = Val::entry_value(reg("rbx")).plus(1), Location, None),

    // Variables.
    ("another register on entry", |s| s.entry = "rsi", Location, Some("p")),
    ("another linkage name", |s| s.extern_linkage = "_Zother", Attribute, Some("shared")),
    ("no definition of a variable", |s| s.is_extern = false, Attribute, Some("shared")),
    ("another value of a variable", |s| s.constant = 8, Location, Some("nine")),
    ("another column", |s| s.column = 8, Attribute, Some("shared")),
];

#[test]
fn wrong_scopes_are_found() {
    let mut consumer = Consumer::dwarf5();
    consumer.entries.language_names = true;
    // Before DWARF 5 calls use GNU's tags and attributes.
    let mut old = consumer.clone();
    old.version = 4;
    let truth = truth();
    let all = FAULTS.iter().flat_map(|&(fault, change, kind, variable)| {
        let mut contents = Contents::truth();
        change(&mut contents);
        let module = contents.module();
        let expected = Expected { kind, variable, pc: None, lane: None };
        // GNU's attributes encode a single pc.
        let is_said = !fault.starts_with("a call elsewhere") && !fault.starts_with("a call without");
        let both = [Some(&consumer), Some(&old).filter(|_| is_said)];
        let truth = &truth;
        both.into_iter()
            .flatten()
            .map(move |consumer| (fault, missed(truth, consumer, &sections(&module, consumer), &expected)))
            .collect::<Vec<_>>()
    });
    all_found("scopes", all.collect());
}
