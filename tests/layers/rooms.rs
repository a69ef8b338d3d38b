//! The table of rooms.

/// Every room of `src`, after the rooms that it may import. The path of an item in place of a room permits that item
/// alone. Several rooms in one row are one.
#[rustfmt::skip]
pub const ROOMS: &[(&str, &str)] = &[
    ("work", ""),
    ("near", ""),
    ("error", "near"),
    ("target", "error near"),
    // The tables that both halves share.
    ("op", "error near target"),
    ("cfi", "op"),
    // Reading and evaluating.
    ("read", "cfi error near op target work"),
    ("eval", "error op read target work"),
    ("eval::wave", "error eval op target work"),
    ("dump", "cfi error eval op read target"),
    // Describing and writing.
    ("model", "error op::Expr op::Reg target work"),
    ("build", "error model op target work"),
    ("track", "build error model op::Reg target"),
    ("emit", "cfi error near op target"),
    ("consumer", "error near op target"),
    ("spirv::names spirv::operand spirv::table", ""),
    ("omission", "error model spirv::names target"),
    ("lower", "build consumer emit error model omission op target work"),
    // Comparing.
    ("check", "consumer dump::names error eval model omission op read target work"),
    // Descriptions and vectors as files.
    ("json", "build error model near op target"),
    ("conform", "error eval json near op read target"),
    ("schema", "conform json"),
    // SPIR-V: finding debug instructions, and judging them.
    ("spirv::opcodes", ""),
    ("spirv::words", "error spirv::opcodes"),
    ("spirv::layout", "error spirv::opcodes spirv::table spirv::words"),
    ("spirv::read", "error spirv::layout spirv::opcodes spirv::operand spirv::table spirv::words"),
    ("spirv::text", "error spirv::layout spirv::opcodes spirv::operand spirv::read spirv::words"),
    ("spirv::validate", "error spirv::layout spirv::names spirv::opcodes spirv::operand spirv::read spirv::table \
        spirv::text spirv::words"),
    // Binding a description to instructions, and consumers.
    ("spirv::provider", "error model spirv::words"),
    ("spirv::binding", "model spirv::provider spirv::words"),
    ("spirv::provider_rules", "error model spirv::provider spirv::layout spirv::names spirv::opcodes spirv::words"),
    ("spirv::mode", "spirv::table"),
    ("spirv::ids", "error spirv::words"),
    ("spirv::attached", "error omission"),
    // Writing.
    ("spirv::lower", "error model omission spirv::attached spirv::binding spirv::provider spirv::provider_rules spirv::ids \
        spirv::layout spirv::mode spirv::names spirv::opcodes spirv::operand spirv::table spirv::words target"),
    ("spirv::attach", "error model spirv::attached spirv::binding spirv::layout spirv::lower spirv::mode spirv::read \
        spirv::words"),
    ("spirv::build", "error model spirv::attach spirv::attached spirv::binding spirv::ids spirv::mode spirv::opcodes \
        spirv::words"),
    ("spirv::rspirv", "error model omission spirv::attach spirv::attached spirv::binding spirv::mode \
        spirv::opcodes spirv::table spirv::words"),
    // Reading back, and comparing.
    ("spirv::evaluate", "error eval op spirv::provider spirv::names spirv::operand spirv::read spirv::table spirv::words \
        target"),
    ("spirv::import", "build error model omission spirv::binding spirv::provider spirv::provider_rules spirv::layout \
        spirv::names spirv::opcodes spirv::operand spirv::read spirv::table spirv::words target"),
    ("spirv::check", "error eval model omission op spirv::attached spirv::binding spirv::evaluate spirv::provider \
        spirv::layout spirv::mode spirv::names spirv::opcodes spirv::operand spirv::import spirv::read \
        spirv::table spirv::validate spirv::words target"),
    // Pages, and the command.
    ("guide", ""),
    ("bin", "check conform consumer dump emit error eval lower model omission op read schema spirv::words target"),
];
