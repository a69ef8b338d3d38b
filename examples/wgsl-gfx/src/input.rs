//! Inputs of runs: made-up ones, and a search for those that lead lanes on new ways.

use std::collections::HashMap;

use eitri::read::Object;
use naga::{ArraySize, Handle, Module, ScalarKind, TypeInner};

use crate::emit::Machine;
use crate::front::Source;
use crate::prove::start;
use crate::sim::{Group, Program, Wave};
use crate::{Compiled, layout};

/// Numbers that look random (xorshift).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, count: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 24) as u32 % count
    }

    pub(crate) fn of<'t>(&mut self, all: &[&'t str]) -> &'t str {
        all[self.below(all.len() as u32) as usize]
    }
}

/// Input of one run: dwords of each buffer, and the number of groups.
#[derive(Debug, Clone)]
pub struct Input {
    pub buffers: Vec<Vec<u32>>,
    pub groups: [u32; 3],
}

impl Input {
    /// Made-up input: small numbers, or bits of small floats, where the buffer has such.
    pub fn random(source: &Source, compiled: &Compiled<'_>, seed: u64) -> Self {
        let mut random = Random::new(seed);
        // Loops over all elements of a short array may have no turn.
        let count = if seed.is_multiple_of(4) { 8 } else { 64 };
        let module = &source.module;
        let buffers =
            compiled.lowered[0].buffers.iter().map(|&handle| {
                let ty = module.global_variables[handle].ty;
                let inner = &module.types[ty].inner;
                let bytes = match layout::size(module, ty) {
                    size if layout::count(inner).is_some() => size,
                    _ => count * layout::element(inner).map_or(4, |element| element.1),
                };
                let float = format!("{inner:?}").contains("Float")
                    || layout::element(inner).is_some_and(|(element, _)| {
                        element.clone().inner(module).scalar_kind() == Some(ScalarKind::Float)
                    });
                (0..bytes.div_ceil(4))
                    .map(|_| {
                        if float { (random.below(64) as f32 / 4.0 - 4.0).to_bits() } else { random.below(24) }
                    })
                    .collect()
            });
        Self { buffers: buffers.collect(), groups: [1 + (seed % 2) as u32, 1, 1] }
    }

    /// The memory of a group.
    pub(crate) fn memory(&self, source: &Source, compiled: &Compiled<'_>) -> Group {
        let buffers = compiled.lowered[0].buffers.iter().zip(&self.buffers);
        let length = |(&handle, dwords): (&_, &Vec<u32>)| {
            runtime_length(&source.module, handle, 4 * dwords.len() as u32)
        };
        let lengths: Vec<u32> = buffers.map(length).collect();
        Group::new(self.buffers.clone(), &lengths, self.groups, compiled.lowered[0].local as usize)
    }
}

/// Returns those of `count` inputs with which a lane takes a new way. An input is random, or one that was found, with other
/// numbers here and there: few random inputs lead deep into nested conditions, and where all lanes have come on one way,
/// places have values by chance.
///
/// # Errors
/// An object that cannot be read, or code that does not end.
pub fn inputs(source: &Source, compiled: &Compiled<'_>, seed: u64, count: u64) -> Result<Vec<Input>, String> {
    let object = Object::read(&compiled.object).map_err(|error| error.to_string())?;
    let text = &object.section(".text").ok_or("no code")?.data;
    let program = Program::new(text, start(source, &object)?)?;
    let mut random = Random::new(seed);
    let mut ways = Ways::new(compiled);
    let mut found = Vec::<Input>::new();
    for n in 0..count {
        let other = Input::random(source, compiled, count * seed + n + 1);
        let input = if found.is_empty() || random.below(4) == 0 {
            other
        } else {
            let mut input = found[random.below(found.len() as u32) as usize].clone();
            for (into, from) in input.buffers.iter_mut().zip(other.buffers) {
                for _ in 0..1 + random.below(12) {
                    let at = random.below(into.len() as u32) as usize;
                    into[at] = from.get(at).copied().unwrap_or(into[at]);
                }
            }
            input
        };
        if ways.run(source, compiled, &program, &input)? {
            found.push(input);
        }
    }
    Ok(found)
}

/// Blocks, a bit for each.
type Blocks = Vec<u64>;

/// The ways on which lanes, and waves, have come to each block: the blocks through which one came since it was there last,
/// and those through which one did not come.
struct Ways {
    /// Numbers of blocks by pc.
    blocks: HashMap<u64, usize>,
    of_lanes: Vec<[Blocks; 2]>,
    of_waves: Vec<[Blocks; 2]>,
}

impl Ways {
    fn new(compiled: &Compiled<'_>) -> Self {
        let starts = |of: &Machine| of.blocks.iter().map(|pcs| of.start + pcs.start).collect::<Vec<_>>();
        let blocks: HashMap<u64, usize> = compiled.machines.iter().flat_map(starts).zip(0..).collect();
        let none = vec![0; blocks.len().div_ceil(64)];
        let of_lanes = vec![[none.clone(), none]; blocks.len()];
        Self { of_waves: of_lanes.clone(), of_lanes, blocks }
    }

    /// Runs a shader. Returns whether a lane or a wave takes a new way.
    fn run(
        &mut self,
        source: &Source,
        compiled: &Compiled<'_>,
        program: &Program,
        input: &Input,
    ) -> Result<bool, String> {
        let mut shared = input.memory(source, compiled);
        let mut is_new = false;
        let count = self.of_lanes.len();
        for x in 0..input.groups[0] {
            let mut waves = waves(source, [x, 0, 0], &mut shared);
            // For each lane, and for the wave, the blocks since it was in each block.
            let mut since: Vec<Vec<Blocks>> =
                vec![vec![vec![0; count.div_ceil(64)]; count]; 33 * waves.len()];
            program.run(&mut waves, &mut shared, |n, wave, _| {
                let Some(&block) = self.blocks.get(&wave.pc) else { return Ok(true) };
                for one in (0..33).filter(|&one| one == 32 || wave.exec >> one & 1 == 1) {
                    let since = &mut since[33 * n + one];
                    let known = if one == 32 { &mut self.of_waves } else { &mut self.of_lanes };
                    let [with, without] = &mut known[block];
                    for ((came, with), without) in since[block].iter_mut().zip(with).zip(without) {
                        is_new |= *came & !*with != 0 || !*came & !*without != 0;
                        *with |= *came;
                        *without |= !*came;
                        *came = 0;
                    }
                    since.iter_mut().for_each(|blocks| blocks[block / 64] |= 1 << (block % 64));
                }
                Ok(true)
            })?;
        }
        Ok(is_new)
    }
}

/// The local ids of the items of a group.
pub(crate) fn items(source: &Source) -> Vec<[u32; 3]> {
    let [x, y, z] = source.module.entry_points[0].workgroup_size;
    (0..x * y * z).map(|n| [n % x, n / x % y, n / (x * y)]).collect()
}

/// The waves of a group.
pub(crate) fn waves(source: &Source, number: [u32; 3], shared: &mut Group) -> Vec<Wave> {
    shared.forget();
    items(source).chunks(32).map(|items| Wave::new(items, number, shared)).collect()
}

/// The number of elements of an array at the end of a buffer.
fn runtime_length(module: &Module, handle: Handle<naga::GlobalVariable>, bytes: u32) -> u32 {
    let mut ty = &module.types[module.global_variables[handle].ty].inner;
    let mut rest = bytes;
    if let TypeInner::Struct { members, .. } = ty
        && let Some(last) = members.last()
    {
        ty = &module.types[last.ty].inner;
        rest -= last.offset;
    }
    match ty {
        TypeInner::Array { size: ArraySize::Dynamic, stride, .. } => rest / stride,
        _ => 0,
    }
}
