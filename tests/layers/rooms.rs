//! The table of rooms.

/// Every room of `src`, after the rooms that it may import. The path of an item in place of a room permits that item
/// alone. Several rooms in one row are one.
#[rustfmt::skip]
pub const ROOMS: &[(&str, &str)] = &[
    ("work", ""),
    ("near", ""),
    ("dominators", ""),
    ("tags", ""),
    ("attributes", ""),
    ("error", "attributes near"),
    ("target", "error near"),
    // The tables that both halves share.
    ("op", "error near target"),
    ("cfi", "op"),
    // Text of PTX, which both halves take apart.
    ("ptx", "error"),
    // Reading and evaluating.
    ("read", "cfi error near op ptx target work"),
    ("eval", "attributes error op read target work"),
    ("eval::wave", "error eval op target work"),
    ("dump", "attributes cfi error eval op read target"),
    // Judging what others wrote.
    ("ranges", "error read work"),
    ("walk", "error read work"),
    ("lint", "error eval op ranges read tags target walk work"),
    ("stats", "error lint op ranges read walk work"),
    ("report", "dump error eval lint op ranges read stats tags target walk work"),
    // Describing and writing.
    ("model", "attributes error op::Expr op::Reg target work"),
    ("build", "attributes dominators error model op target work"),
    ("import", "attributes build error eval model op read target work"),
    ("emit", "cfi error near op ptx tags target"),
    ("consumer", "attributes error near op target"),
    ("spirv::grammar", ""),
    ("spirv::opcodes", "spirv::grammar"),
    ("spirv::words", "error spirv::opcodes"),
    ("spirv::uses", "spirv::opcodes spirv::words"),
    ("spirv::table", ""),
    ("spirv::operations", "spirv::table"),
    ("spirv::names", "spirv::grammar spirv::operations spirv::table"),
    ("spirv::operand", "spirv::names spirv::table"),
    ("spirv::rows", "spirv::operand spirv::table"),
    ("spirv::instructions", "spirv::operand spirv::rows"),
    ("omission", "attributes error model spirv::names spirv::operand spirv::table target"),
    ("lower", "build consumer emit error model omission op target work"),
    // Comparing.
    ("check", "consumer dump::names error eval model omission op ptx read target work"),
    // Writing and comparing in a call.
    ("output", "check consumer emit error lower model omission read"),
    // Reading, writing and comparing an object.
    ("rewrite", "attributes build check consumer emit error eval import lint lower model omission op read target work"),
    ("track", "build dominators check::CheckFinding check::FindingKind error model op::Reg target work"),
    // SPIR-V: finding debug instructions, and judging them.
    ("spirv::languages", "spirv::names spirv::table model"),
    ("spirv::floats", "model"),
    ("spirv::dominance", "dominators spirv::opcodes spirv::words"),
    ("spirv::layout", "error spirv::dominance spirv::grammar spirv::opcodes spirv::table spirv::words"),
    ("spirv::read", "error spirv::names spirv::rows spirv::layout spirv::opcodes spirv::operand spirv::table spirv::words"),
    ("spirv::text", "error spirv::layout spirv::opcodes spirv::operand spirv::read spirv::words"),
    ("spirv::validate", "spirv::floats spirv::operations spirv::rows spirv::uses error spirv::layout spirv::names spirv::opcodes spirv::operand spirv::read spirv::table \
        spirv::text spirv::words"),
    // Binding a description to instructions, and consumers.
    ("spirv::provider", "spirv::operations error model spirv::words"),
    ("spirv::binding", "error model spirv::provider spirv::words"),
    ("spirv::provider_rules", "spirv::operations error model spirv::provider spirv::layout spirv::names spirv::opcodes spirv::words"),
    ("spirv::mode", "error near spirv::table target"),
    ("spirv::attached", "error omission"),
    ("spirv::lines", "error model omission"),
    ("spirv::strip", "error spirv::attached spirv::layout spirv::opcodes spirv::uses spirv::words"),
    ("spirv::describe", "spirv::floats spirv::table build error model omission spirv::binding spirv::languages spirv::layout spirv::lines \
        spirv::opcodes spirv::provider spirv::provider_rules spirv::strip spirv::uses spirv::words target"),
    // Descriptions and vectors as files; a description has ids of a SPIR-V module.
    ("json", "attributes build consumer error import lint model near op rewrite spirv::binding spirv::describe spirv::operations spirv::provider spirv::read spirv::words \
        stats target track"),
    ("conform", "consumer dump error eval json near op read target"),
    ("schema", "conform json"),
    // Writing.
    ("spirv::lower", "spirv::floats spirv::rows spirv::operations error model omission spirv::attached spirv::binding spirv::provider spirv::provider_rules \
        spirv::languages spirv::layout spirv::lines spirv::mode spirv::names spirv::opcodes spirv::operand spirv::table \
        spirv::words target"),
    ("spirv::attach", "error model spirv::attached spirv::binding spirv::layout spirv::lower spirv::mode spirv::read \
        spirv::words"),
    ("spirv::build", "error model spirv::attach spirv::attached spirv::binding spirv::mode spirv::opcodes \
        spirv::words"),
    ("spirv::rspirv", "error model omission spirv::attach spirv::attached spirv::binding spirv::mode \
        spirv::opcodes spirv::table spirv::words"),
    // Reading back, and comparing.
    ("spirv::expression", "error spirv::operand spirv::operations spirv::provider spirv::read spirv::table spirv::words"),
    ("spirv::lint", "error lint near spirv::layout spirv::names spirv::opcodes spirv::operand spirv::provider \
        spirv::read spirv::table spirv::validate spirv::words"),
    ("spirv::evaluate", "error eval op spirv::names spirv::operations spirv::provider target"),
    ("spirv::import", "spirv::floats build error model omission spirv::binding spirv::provider spirv::provider_rules spirv::languages spirv::layout \
        spirv::names spirv::opcodes spirv::operand spirv::read spirv::table spirv::words target"),
    ("spirv::check", "error eval model omission op spirv::attached spirv::binding spirv::evaluate spirv::provider \
        spirv::languages spirv::layout spirv::mode spirv::names spirv::opcodes spirv::operand spirv::import spirv::read \
        spirv::table spirv::validate spirv::words target"),
    // Pages, and the command.
    ("guide", ""),
    // Any producer's files by their kind.
    ("contents", "dump error lint op read spirv::layout spirv::lint spirv::read spirv::text spirv::words target"),
    ("bin", "check conform consumer contents dump emit error eval import json lint lower model omission op output read report rewrite schema spirv::binding \
        spirv::check spirv::describe spirv::lint spirv::mode spirv::words stats target track"),
];
