//! Homes of PTX registers in a cubin: where a variable is in a PTX register, it is in the processor's registers that have
//! the register's words, at the pcs at which they have them.
//!
//! A cubin's map has a home for each word from the instruction that writes it up to and including the last instruction that
//! reads it. At a pc without a home, or with two, debuggers show no value, so that the variable has no location there.

use hashbrown::{HashMap, HashSet};

use super::unimported::UnimportedReason;
use crate::error::Result;
use crate::model::{Loc, Node};
use crate::op::Reg;
use crate::read::Object;
use crate::read::nvidia::{Home, MappedFunction, RegisterMap, RegisterTypes};
use crate::target::nvptx::class;

pub(super) const MAP: &str = ".nv_debug_info_reg_sass";
pub(super) const TYPES: &str = ".nv_debug_info_reg_type";
/// Bytes of an instruction, on all processors from sm_70 on.
pub(super) const INSTRUCTION: u64 = 16;
/// Bits of a word.
const WORD: u64 = 32;
/// Average number of times that each home of a file is looked at, so that work is linear in the size of the file.
const MOST_LOOKS: usize = 256;

/// Homes of PTX registers, by the address of their function.
#[derive(Debug, Default)]
pub(super) struct Homes<'o> {
    pub(super) map: RegisterMap<'o>,
    pub(super) by_address: HashMap<u64, usize>,
    pub(super) has_types: bool,
    /// Registers whose homes are locations of variables, by function.
    pub(super) used: HashSet<(usize, Reg)>,
    /// Number of homes that may still be looked at.
    pub(super) room: usize,
}

impl<'o> Homes<'o> {
    /// Reads a cubin's homes.
    ///
    /// # Errors
    /// The errors of [`RegisterMap::read`].
    pub(super) fn new(object: &'o Object<'_>) -> Result<Self> {
        let map = RegisterMap::read(object)?;
        let addresses =
            map.functions.iter().zip(0..).filter_map(|(function, index)| Some((function.address?, index)));
        let by_address = addresses.collect();
        let has_types = !RegisterTypes::read(object)?.functions.is_empty();
        let count: usize = map.functions.iter().map(|function| function.homes().len()).sum();
        let room = MOST_LOOKS.saturating_mul(count);
        Ok(Self { map, by_address, has_types, used: HashSet::new(), room })
    }
}

/// Returns a location at a pc, with homes instead of PTX registers, which are sorted; `None` if a register has no home
/// there, or two.
pub(super) fn at_pc(
    function: &MappedFunction<'_>,
    registers: &[(Reg, String)],
    loc: &Loc,
    bits: Option<u64>,
    pc: u64,
) -> Option<core::result::Result<Loc, UnimportedReason>> {
    let nodes: Vec<Node<'_>> = loc.nodes().collect();
    let mut new: Vec<Node<'_>> = Vec::with_capacity(nodes.len());
    for (at, node) in nodes.iter().enumerate() {
        let reg = match node {
            Node::PerLane(reg) | Node::Register(reg) => *reg,
            _ => {
                new.push(*node);
                continue;
            }
        };
        let Ok(index) = registers.binary_search_by_key(&reg, |(known, _)| *known) else {
            new.push(*node);
            continue;
        };
        let name = &registers[index].1;
        // Bits that are used of the register, where that is known.
        let used = match nodes.get(at + 1) {
            None => bits,
            Some(Node::Part(bits)) => Some(*bits),
            Some(Node::Read(bits)) => Some((*bits).into()),
            Some(_) => None,
        };
        let has_upper = function.homes_of(name.as_bytes(), 1).next().is_some();
        let words = if used.is_some_and(|bits| bits <= WORD) { 1 } else { 2 };
        for word in 0..words {
            if word == 1 && !has_upper {
                // A register of 32 bits: its upper word is 0.
                new.push(Node::Implicit(&[0; 4]));
            } else {
                match processor_register(function.home(name.as_bytes(), word, pc)?) {
                    Ok(reg) => new.push(Node::PerLane(reg)),
                    Err(home) => return Some(Err(UnimportedReason::RegisterHome(home.to_string()))),
                }
            }
            if words > 1 {
                new.push(Node::Part(WORD));
            }
        }
        if words > 1 {
            new.push(Node::Parts(words.into()));
        }
    }
    Some(Ok(Loc::of_nodes(new.into_iter())))
}

/// Returns the vector register that is a home. Debuggers differ in how they read halves of registers, and in what they
/// accept of the other classes.
fn processor_register(home: Home) -> core::result::Result<Reg, Home> {
    match home.class() {
        class::R => Ok(Reg(home.number().into())),
        _ => Err(home),
    }
}
