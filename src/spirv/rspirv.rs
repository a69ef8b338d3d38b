//! Adds debug instructions to an `rspirv` module: the module is assembled, [attached to](super::attach()), and the new
//! instructions are inserted where the words were added.
//!
//! ```
//! use eitri::build::Builder;
//! use eitri::rspirv::{dr, spirv};
//! use eitri::spirv::{Binding, Id, Mode, rspirv};
//! use eitri::target::Target;
//!
//! let mut b = dr::Builder::new();
//! b.set_version(1, 3);
//! b.capability(spirv::Capability::Shader);
//! b.memory_model(spirv::AddressingModel::Logical, spirv::MemoryModel::GLSL450);
//! let void = b.type_void();
//! let kind = b.type_function(void, []);
//! let function = b.begin_function(void, None, spirv::FunctionControl::NONE, kind)?;
//! b.begin_block(None)?;
//! b.ret()?;
//! b.end_function()?;
//! let mut shader = b.module();
//!
//! let mut m = Builder::new(Target::shader());
//! let unit = m.unit("clear.wgsl");
//! let clear = m.function(unit, "clear")?.kernel().id();
//! let mut binding = Binding::new();
//! binding.function(clear, Id(function));
//! for omission in rspirv::attach(&mut shader, &m.finish()?, &binding, &Mode::vulkan())? {
//!     println!("omitted: {omission}");
//! }
//! assert!(shader.ext_inst_imports.len() == 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use ::rspirv::binary::Assemble;
use ::rspirv::dr::{self, Operand};
use ::rspirv::spirv::Op;

use super::attached::BOUND;
use super::binding::Binding;
use super::mode::Mode;
use super::opcodes as op;
use super::table::{InstructionName, Set};
use super::words::{Instruction, Instructions, Words, string_bytes};
use crate::error::{Error, ErrorKind, Result};
use crate::model::Module;
use crate::omission::Omission;

/// Adds the debug instructions that describe a module, and returns the omissions. Assembled, the result has the same
/// words as [`spirv::attach`](super::attach()) on the assembled original.
///
/// Positions count the instructions in a [`dr::Block`], from 0. Instructions outside functions are added to
/// [`types_global_values`](dr::Module::types_global_values). `rspirv` can assemble extended instructions, but cannot
/// load them yet.
///
/// # Errors
/// The errors of [`spirv::attach`](super::attach()); [`ErrorKind::BadArgument`] if the module lacks a header, and thus
/// an id bound. On an error, the module is unchanged.
pub fn attach(to: &mut dr::Module, module: &Module, binding: &Binding, mode: &Mode) -> Result<Vec<Omission>> {
    if to.header.is_none() {
        return Err(Error::bad_argument("the module has no header with an id bound"));
    }
    let words = to.assemble();
    let from = Words::new(&words)?;
    // The assembler truncates a length that does not fit 16 bits, so that the words would mean something else.
    if from.instructions().count() != to.all_inst_iter().count() {
        return Err(Error::malformed("an instruction of the module has more than 65535 words"));
    }
    let attached = super::attach(&words, module, binding, mode)?;
    // New ranges, with the original word that each precedes: its position minus the new words before it.
    let mut places = Vec::with_capacity(attached.added.len());
    let mut before = 0;
    for new in &attached.added {
        let instructions =
            Instructions::new(&attached.words[new.clone()]).map(|it| instruction(it, mode.set));
        places.push((new.start - before, instructions.collect::<Result<Vec<_>>>()?));
        before += new.len();
    }
    let function = from.instructions().find(|it| it.opcode() == op::FUNCTION);
    let globals_end = function.map_or(words.len(), |it| it.at);
    let in_functions = places.split_off(places.partition_point(|(at, _)| *at <= globals_end));

    let mut originals = from.instructions().skip(to.global_inst_iter().count()).peekable();
    to.header.iter_mut().for_each(|header| header.bound = attached.words[BOUND]);
    let mut globals = Vec::new();
    for new in places.into_iter().flat_map(|(_, new)| new) {
        match new.class.opcode {
            Op::Extension => to.extensions.push(new),
            Op::ExtInstImport => to.ext_inst_imports.push(new),
            Op::String => to.debug_string_source.push(new),
            _ => globals.push(new),
        }
    }
    // An OpLine before a function belongs to the function, so that new globals go before it.
    let is_line = |it: &dr::Instruction| matches!(it.class.opcode, Op::Line | Op::NoLine);
    let end = to.types_global_values.iter().rposition(|it| !is_line(it)).map_or(0, |last| last + 1);
    to.types_global_values.splice(end..end, globals);
    let mut places = in_functions.into_iter().peekable();
    for function in &mut to.functions {
        for _ in function.def.iter().chain(&function.parameters) {
            originals.next();
        }
        for block in &mut function.blocks {
            if block.label.is_some() {
                originals.next();
            }
            let old = core::mem::take(&mut block.instructions);
            // The final `None` stands for the block's end, before which instructions can be added as well.
            for original in old.into_iter().map(Some).chain([None]) {
                let word = originals.peek().map_or(words.len(), |it| it.at);
                while let Some((_, new)) = places.next_if(|(place, _)| *place <= word) {
                    block.instructions.extend(new);
                }
                if original.is_some() {
                    originals.next();
                }
                block.instructions.extend(original);
            }
        }
        if function.end.is_some() {
            originals.next();
        }
    }
    Ok(attached.omissions)
}

/// Converts a new instruction.
fn instruction(it: Instruction<'_>, set: Set) -> Result<dr::Instruction> {
    let operands = match (it.opcode(), it.operands()) {
        (op::EXTENSION | op::EXT_INST_IMPORT | op::STRING, text) => {
            let bytes = string_bytes(text, usize::MAX).unwrap_or_default();
            vec![Operand::LiteralString(String::from_utf8_lossy(&bytes).into())]
        }
        (op::CONSTANT, &[low, high]) => {
            vec![Operand::LiteralBit64(u64::from(high) << 32 | u64::from(low))]
        }
        (op::EXT_INST | op::EXT_INST_FORWARD, &[import, number, ref operands @ ..]) => {
            let row = InstructionName::numbered(set, number).map(InstructionName::row);
            let count = operands.len();
            let is_literal = |index| {
                let row = row.and_then(|row| row.operand(set, index, count));
                row.is_some_and(|row| row.kind.is_literal(set))
            };
            let operand = |(index, &word)| {
                if is_literal(index) { Operand::LiteralBit32(word) } else { Operand::IdRef(word) }
            };
            let start = [Operand::IdRef(import), Operand::LiteralExtInstInteger(number)];
            start.into_iter().chain(operands.iter().enumerate().map(operand)).collect()
        }
        (op::LINE, &[file, line, column]) => {
            vec![Operand::IdRef(file), Operand::LiteralBit32(line), Operand::LiteralBit32(column)]
        }
        (op::CONSTANT | op::TYPE_INT | op::TYPE_FLOAT, literals) => {
            literals.iter().map(|&word| Operand::LiteralBit32(word)).collect()
        }
        (_, []) => Vec::new(),
        (opcode, _) => {
            let what = format!("an instruction of opcode {opcode} for rspirv");
            return Err(ErrorKind::Unsupported(what).into());
        }
    };
    let opcode = Op::from_u32(it.opcode().into())
        .ok_or_else(|| Error::new(ErrorKind::Unsupported(format!("opcode {} for rspirv", it.opcode()))))?;
    let ty = it.result_type().map(|ty| ty.0);
    let id = it.result().map(|id| id.0);
    Ok(dr::Instruction::new(opcode, ty, id, operands))
}
