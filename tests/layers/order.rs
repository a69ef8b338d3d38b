//! Modules of rooms in their order: each imports only modules before it.

/// Rooms with the order of their modules. The last is the room's own file, which imports them all.
pub const ORDER: &[(&str, &[&str])] = &[
    ("build", BUILD),
    ("emit", EMIT),
    ("json", JSON),
    ("lower", LOWER),
    ("spirv::import", SPIRV_IMPORT),
    ("spirv::lower", SPIRV_LOWER),
    ("spirv::check", SPIRV_CHECK),
];

const BUILD: &[&str] = &[
    // Checks without a builder.
    "ids",
    "pcs",
    "sealed",
    "dominators",
    "blame",
    "slots",
    "loc",
    // The builder, and what its files share.
    "order",
    "builder",
    "properties",
    "scopes",
    // Kinds of entities.
    "units",
    "names",
    "macros",
    "variables",
    "types::describe",
    "types::array",
    "types::composite",
    "types::template",
    "types",
    "functions",
    "calls",
    "frame::refused",
    "frame",
    "lanes",
    "control_flow",
    // The complete module.
    "finish",
    "next",
    "",
];

const EMIT: &[&str] = &[
    // Bytes of sections.
    "format",
    "section",
    "gimli",
    "addr",
    "strings",
    "abbrev",
    "named",
    "info",
    "info::attributes",
    "lists",
    // Sections without entries.
    "macros",
    "aranges",
    "pubs",
    "names::hash",
    "names",
    "frame",
    "line::rows",
    "line::shape",
    "line::header",
    "line::program",
    "line",
    // Objects.
    "elf::file",
    "elf::bytes",
    "elf::image",
    "elf::compress",
    "elf::symbols",
    "elf::renumber",
    "elf::remove",
    "elf::write",
    "elf::check",
    "elf::relocatable",
    "elf::linked",
    "elf::code",
    "elf",
    // Texts of PTX.
    "ptx::text",
    "ptx::lines",
    "ptx::labels",
    "ptx::sections",
    "ptx::detach",
    "ptx::attach",
    "ptx",
    "",
];

const JSON: &[&str] = &[
    // Values and objects of JSON.
    "position",
    "schema",
    "values",
    "words",
    "shape",
    "later",
    "objects",
    "language",
    // Context of writing, and of reading.
    "ids",
    "names",
    "reader",
    // Locations, and lists with them.
    "expression",
    "loc",
    "nodes",
    "lists",
    // Statements by kind of entity, each in both directions.
    "facts",
    "units",
    "functions",
    "variables",
    "calls",
    "lanes",
    "frames",
    "members",
    "types",
    "code",
    "statement",
    // The other keys of a description.
    "target",
    "spirv::binder",
    "spirv::values",
    "spirv::codes",
    "spirv::bound",
    // Whole descriptions.
    "read",
    "written",
    "write",
    "located",
    "spirv::read",
    "spirv::write",
    "spirv",
    "finding",
    "",
];

const LOWER: &[&str] = &[
    // Expressions of locations.
    "loc::fragments",
    "loc::memo",
    "loc::shared",
    "loc::operations",
    "loc::linear",
    "loc::expression",
    "loc::numbers",
    "loc::on_stack",
    "loc::dwarf5",
    "loc",
    // Facts of the module that all units share.
    "constants",
    "section",
    "lists",
    "by_unit",
    "children",
    "signature",
    "type_units",
    "units",
    "unencodable",
    "strings",
    // Tables without entries.
    "lines",
    "macros",
    "frame::rows",
    "frame",
    "frame_table",
    // Writer of entries: what all kinds of entries have.
    "entry_numbers",
    "expressions",
    "register_types",
    "entry",
    "open",
    // Kinds of entries.
    "types::template",
    "types::array",
    "types::composite",
    "types",
    "variables",
    "procedures",
    "lanes::pieces",
    "lanes::procedures",
    "lanes",
    "names",
    "calls",
    "functions",
    "scopes",
    "unit_entry",
    // Units, and the sections of all units.
    "lowered",
    "split",
    "type_unit",
    "unit",
    "directives",
    "link::strings",
    "link::abbreviations",
    "link::lookup",
    "link",
    "lowering",
    "stream",
    "",
];

const SPIRV_IMPORT: &[&str] = &[
    // Facts of the words.
    "flags",
    "set_facts",
    "omissions",
    "references",
    "units",
    // Entities that are imported, and those that wait for others.
    "entities",
    "pending",
    "importer",
    // Kinds of entities.
    "sources",
    "subranges",
    "types",
    "variables",
    "functions",
    "inlined",
    "scopes",
    // Order of imports: dependencies first, then the entity.
    "order",
    "templates",
    "members",
    "signatures",
    "macros",
    "names",
    "providers",
    "metadata",
    "body",
    "",
];

const SPIRV_LOWER: &[&str] = &[
    // Facts of the module and of its instructions.
    "blocks",
    "slots",
    "writer",
    "expressions",
    "inverse",
    "lines",
    "out",
    "replacements",
    // Writer of entities: what all kinds of entities have.
    "entities",
    "scopes",
    "references",
    // Kinds of entities.
    "constants",
    "macros",
    "metadata",
    "sources",
    "pointers",
    "arrays",
    "vectors",
    "composites",
    "enumerations",
    "types",
    "templates",
    "names",
    "functions",
    "variables",
    "omissions",
    // Order of instructions: referenced items first, then the item.
    "order",
    // Functions with code.
    "positions",
    "values",
    "body",
    "",
];

const SPIRV_CHECK: &[&str] = &[
    // Records and their parts.
    "omissions",
    "shapes",
    "described",
    "lines",
    "scopes",
    "omitted_types",
    // Records of each kind of entity.
    "composites",
    "types",
    "locations",
    "entities",
    "records",
    "unencodable",
    // The comparison.
    "compare",
    "unimported",
    "body",
    "",
];

/// Files in which a type may have inherent methods.
pub const FILES_OF_A_TYPE: usize = 2;

/// Types with inherent methods in more files, and the most files of each. No row is added, and no number grows.
pub const SPREAD: &[(&str, usize)] = &[
    // Types of the interface, whose documentation lists the methods by topic.
    ("build::builder::Builder", 17),
    ("eval::Evaluator", 6),
    ("eval::unwind::CallStack", 3),
    ("model::Module", 10),
    ("read::dwarf::Dwarf", 5),
    ("spirv::binding::Binding", 3),
    ("target::Target", 4),
    ("target::code::InstructionSet", 3),
    ("track::code::Code", 3),
    // Interpreters, with the operations by group.
    ("eval::fast::Fast", 4),
    ("eval::run::Run", 9),
    ("model::denote::Denote", 3),
    // Walks over all kinds of entities.
    ("check::compare::Compare", 8),
    ("check::meanings::Meanings", 10),
    ("check::tables::Tables", 3),
    ("check::tree::described::Described", 3),
    ("dump::text::Dump", 7),
    ("lint::places::Located", 4),
    ("spirv::describe::Describer", 4),
    ("spirv::validate::Check", 8),
];
