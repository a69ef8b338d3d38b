//! Modules of rooms in their order: each imports only modules before it.

/// Rooms with the order of their modules. The last is the room's own file, which imports them all.
pub const ORDER: &[(&str, &[&str])] = &[
    ("build", BUILD),
    ("check", CHECK),
    ("emit", EMIT),
    ("eval", EVAL),
    ("json", JSON),
    ("lint", LINT),
    ("import", IMPORT),
    ("lower", LOWER),
    ("report", REPORT),
    ("rewrite", REWRITE),
    ("spirv::import", SPIRV_IMPORT),
    ("spirv::lower", SPIRV_LOWER),
    ("spirv::check", SPIRV_CHECK),
    ("stats", STATS),
    ("spirv::describe", SPIRV_DESCRIBE),
    ("spirv::validate", SPIRV_VALIDATE),
    ("spirv::lint", SPIRV_LINT),
    ("track", TRACK),
];

const BUILD: &[&str] = &[
    // Checks without a builder.
    "ids",
    "pcs",
    "parts",
    "sealed",
    "blame",
    "slots",
    "loc",
    // The builder, and what its files share.
    "order",
    "builder",
    "attributes",
    "properties",
    "scopes",
    // Kinds of entities.
    "units",
    "imports_and_labels",
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
    "resumed",
    "",
];

const CHECK: &[&str] = &[
    // Facts of the module and of the object, and the report.
    "files",
    "describe",
    "report",
    "undefined_symbols",
    "reading",
    "likely",
    "entry_offsets",
    "groups",
    "ranges",
    "index",
    "omitted",
    // Expected entries, and their difference from entries of the object.
    "tree::tags",
    "tree::value",
    "tree::calls",
    "tree::described",
    "tree::described_types",
    "tree::found",
    "tree::difference",
    "tree",
    "lines",
    // Witnesses, and the machine in which locations are evaluated.
    "numbers",
    "pairs",
    "variety",
    "asked",
    "witness",
    "witnesses",
    "list",
    "referred",
    "machine",
    // State of a comparison.
    "file",
    "known",
    "meanings",
    "tables",
    "line_header",
    "comparison",
    "extra",
    // Meaning of locations.
    "combining",
    "places",
    "dwarf5",
    "expressions",
    "locations",
    "values",
    "calls",
    "unspecified",
    "frames",
    "lanes",
    "procedures",
    // Entries.
    "code",
    "macros",
    "types",
    "structure",
    "other_types",
    "signature",
    "type_units",
    "unencodable",
    // Lookup tables.
    "headers",
    "name_index",
    "lookup",
    // The whole comparison, and comparisons of other inputs.
    "compare",
    "split",
    "ptx",
    "coverage",
    "coverage::entries",
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
    "added",
    "elf::file",
    "elf::bytes",
    "elf::image",
    "elf::compress",
    "elf::contents",
    "elf::symbols",
    "elf::renumber",
    "elf::remove",
    "elf::write",
    "elf::relocatable",
    "elf::linked",
    "elf::code",
    "elf",
    "object",
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

const EVAL: &[&str] = &[
    // Numbers, and bits in order.
    "float",
    "word",
    "order",
    "lane_numbers",
    // Inputs and faults.
    "architecture",
    "decoding",
    "limits",
    "fault",
    "branch",
    // Elements of the stack.
    "value",
    "value_bits",
    "location",
    "stack",
    "per_lane",
    // Arithmetic.
    "integer",
    "arith",
    "wide",
    // The stopped program, and the context of an expression.
    "lists",
    "machine",
    "context",
    "scope",
    "conversions",
    // Bits at a location.
    "spans",
    "read",
    "write",
    // Common operations, executed directly.
    "fast::opcode",
    "fast::kinds",
    "fast::instruction",
    "fast::code",
    "fast::parts",
    "fast::stack",
    "fast::inputs",
    "fast::query",
    "fast::results",
    "fast::calculation",
    "fast::direct",
    "fast",
    // All operations. An operation can evaluate another expression, so that these files call each other's methods of `Run`.
    "run",
    "nested",
    "ops::registers",
    "ops::memory",
    "ops::composite",
    "ops::control",
    "ops::gnu",
    "ops",
    // Expressions, lists and attributes.
    "evaluator",
    "attributes",
    // All lanes at once.
    "forward",
    "wave::machine",
    "wave::run",
    "wave::numbers",
    "wave::outcome",
    "wave::read",
    "wave",
    // Machines: plain data, debug information, registers of PTX, callers.
    "snapshot",
    "ptx_registers",
    "call_sites",
    "debug_info",
    "members",
    "elements",
    "unwind::fault",
    "unwind::call_stack",
    "unwind::files",
    "unwind::rules",
    "unwind::frame",
    "unwind::lanes",
    "unwind",
    "callers",
    "",
];

const REWRITE: &[&str] = &[
    // What a file uses, and what the options choose.
    "options",
    "vendor",
    "fitting",
    "expressions",
    // Results.
    // Fixes: code, claims about it, and what changes.
    "fix::change",
    "fix::code",
    "fix::flow",
    "fix::lanes",
    "fix::waits",
    "fix::claims",
    "fix::functions",
    "fix::meant",
    "fix::variables",
    "fix::states",
    "fix::frames",
    "fix",
    "change",
    "sizes",
    // Members of containers.
    "containers::member",
    "containers::archive",
    "containers::bundle",
    "containers::package",
    "containers::host",
    "containers",
    "",
];

const IMPORT: &[&str] = &[
    // One expression as a typed location.
    "expression::untyped",
    "expression::context",
    "expression::terms",
    "expression::numbers",
    "expression::run",
    "expression::operations",
    "expression::places",
    "expression::typed",
    "expression::typed_numbers",
    "expression::write",
    "expression",
    // What is taken of a file, and what is left.
    "form",
    "entries",
    "unimported",
    "taken",
    "node",
    // The importer, and what its files share.
    "symbols",
    "homes",
    "discarded",
    "sources",
    "completed",
    "equal::candidates",
    "equal::signature",
    "equal::partition",
    "equal::graph",
    "equal::names",
    "equal::kept",
    "equal::copied",
    "equal",
    "shared",
    "recurring",
    "importer",
    "known",
    "files",
    "instances",
    "typed",
    "location",
    "parts",
    "ptx",
    "scopes",
    // Entities.
    "types::describe",
    "types::simple",
    "types::array",
    "types::enumeration",
    "types::members",
    "types::variants",
    "types::templates",
    "types::composite",
    "types",
    "functions",
    "live",
    "lanes::layers",
    "lanes",
    "variables",
    "order",
    "imports",
    "calls",
    // Other sections.
    "lines",
    "macros",
    "frames",
    // Units, and files.
    "units",
    "rest",
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
    "attributes",
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
    "loc::called",
    "loc::operations",
    "loc::linear",
    "loc::expression",
    "loc::constants",
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
    "imports_and_labels",
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

const LINT: &[&str] = &[
    "options",
    "path",
    "fingerprint",
    // A finding, and the report that has it.
    "codes",
    "meant",
    "details",
    "inlined",
    "finding",
    "text",
    "collect",
    // Facts of the object.
    "function_code",
    "lane_masks",
    "lane_flow",
    "kernels",
    "file",
    // What an expression computes.
    "shape",
    "witness",
    "by_expression",
    // Findings outside of variables.
    "contexts",
    "bases",
    "cies",
    "skeletons",
    "stale",
    "entries",
    "frame_rules",
    "frame_code",
    "functions",
    "rows",
    // Findings about a location of a variable, by topic.
    "places",
    "meant_operations",
    "memory",
    "registers",
    "type_size",
    "lists",
    "recoverable",
    "unwritten",
    // Verdicts on recurring expressions, and the visit to each unit.
    "verdict",
    "diagnoser",
    "visitor",
    "",
];

const STATS: &[&str] = &[
    // Results.
    "format",
    "coverage",
    "lines",
    "lists",
    "expressions",
    "sizes",
    "statistics",
    "numbers",
    "compare",
    // Counts of consecutive units.
    "attributes",
    "forms",
    "origins",
    "source",
    "part",
    "visitor",
    "units",
    // Coverage by line.
    "variable_lines",
    "",
];

const REPORT: &[&str] = &[
    "options",
    "block",
    "disassembly",
    // Texts of locations.
    "homes",
    "kind",
    "place",
    "types",
    "frames",
    // Functions with their variables, and the tables of the page.
    "gather",
    "gather::tables",
    "",
];

const SPIRV_IMPORT: &[&str] = &[
    // Facts of the words.
    "flags",
    "set_facts",
    "omissions",
    "references",
    "units",
    // Entities that are imported, and entities that wait for other entities.
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

const SPIRV_DESCRIBE: &[&str] = &[
    // Facts of the module and of its source.
    "names",
    "declarations",
    "scopes",
    "style",
    // The description under construction.
    "context",
    "source",
    "members",
    "types",
    "globals",
    "code",
    "",
];

const SPIRV_VALIDATE: &[&str] = &[
    "rule",
    "report",
    "context",
    // Rules about all instructions.
    "module",
    "places",
    // Rules about one debug instruction.
    "numbers",
    "operands",
    // Rules about a debug instruction with the instructions that it refers to.
    "entities",
    "expressions",
    "indexes",
    "lines",
    "",
];

const SPIRV_LINT: &[&str] = &[
    // What the findings are about.
    "scopes",
    "definitions",
    "sizes",
    "context",
    // Findings about instructions before the functions.
    "functions",
    "composites",
    "validated",
    // Findings about variables, and about code.
    "compare",
    "values",
    "body",
    "",
];

const TRACK: &[&str] = &[
    // Statements about code.
    "place",
    "facts",
    "extent",
    "code",
    "regalloc2",
    // Graphs of the wave and of a lane.
    "division",
    "nodes",
    "regions",
    "graph",
    // Operations on parts, by node.
    "origins",
    "program",
    "lower",
    // Names of contents, and the pcs at which they are equal.
    "ssa",
    "skips",
    "ranges",
    "tracked",
    // Comparison of a description with the code.
    "report",
    "finding",
    "described_regions",
    "history",
    "check",
    "",
];

/// Files in which a type may have inherent methods.
pub const FILES_OF_A_TYPE: usize = 2;

/// Types with inherent methods in more files, and the most files of each. No row is added, and a number grows only with
/// another kind of entity.
pub const SPREAD: &[(&str, usize)] = &[
    // Types of the interface, whose documentation lists the methods by topic.
    ("build::builder::Builder", 17),
    ("eval::evaluator::Evaluator", 3),
    ("eval::unwind::call_stack::CallStack", 3),
    ("model::Module", 12),
    ("read::dwarf::Dwarf", 5),
    ("spirv::binding::Binding", 3),
    ("target::Target", 4),
    ("target::code::InstructionSet", 3),
    ("track::code::CodeEffects", 3),
    // Interpreters, with the operations by group.
    ("eval::fast::inputs::Fast", 4),
    ("eval::run::Run", 8),
    ("import::expression::run::Run", 3),
    ("model::denote::Denote", 3),
    // Walks over all kinds of entities.
    ("dump::text::Dump", 8),
    ("import::expression::run::Run", 3),
    ("import::importer::Importer", 16),
    ("lint::places::Located", 4),
];
