//! A simulator of the instructions in [`crate::isa`]: one group of waves of 32 lanes.
//!
//! The simulator knows the object's bytes and nothing of the compiler's data. Each dword has a *tag* beside its bits:
//! the definition that made it, the number of that definition's execution, and the lane. Moves copy tags; every other
//! operation makes a new tag. Equal constants have equal tags.

pub mod decode;
mod exec;

use decode::Decoded;

/// Bits, and the tag: 0 for nobody's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cell {
    pub bits: u32,
    pub tag: u64,
}

/// Contents of storage that the hardware leaves undefined: numbers that look random (SplitMix64), the same in each run.
struct Noise(u64);

impl Noise {
    fn cell(&mut self) -> Cell {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        Cell { bits: (mixed >> 32) as u32, tag: 0 }
    }
}

const CONSTANT: u64 = 1 << 63;

impl Cell {
    pub fn constant(bits: u32) -> Self {
        Self { bits, tag: CONSTANT | u64::from(bits) }
    }

    /// Whether a tag is that of a constant.
    pub fn is_constant(tag: u64) -> bool {
        tag & CONSTANT != 0
    }
}

/// Memory that all waves of a group share.
#[derive(Debug, Default)]
pub struct Group {
    /// Dwords of each buffer; buffer *n* is at address *n* + 1 << 32, the arguments are at 1 << 40.
    pub buffers: Vec<Vec<u32>>,
    pub arguments: Vec<u32>,
    pub local: Vec<Cell>,
    /// The last tag.
    tags: u64,
}

const ARGUMENTS: u64 = 1 << 40;

/// A wave.
#[derive(Debug)]
pub struct Wave {
    pub pc: u64,
    pub exec: u32,
    pub scc: bool,
    pub scalars: [Cell; 128],
    pub vectors: Vec<[Cell; 32]>,
    /// Dwords of each lane's scratch memory.
    pub scratch: Vec<[Cell; 32]>,
    pub state: State,
}

/// Whether a wave goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Runs,
    /// Wave at a barrier.
    Waits,
    Ended,
}

impl Group {
    /// The arguments of a kernel: addresses of buffers, lengths of their arrays, numbers of groups.
    pub fn new(buffers: Vec<Vec<u32>>, lengths: &[u32], groups: [u32; 3], local: usize) -> Self {
        let mut arguments = Vec::new();
        for n in 0..buffers.len() as u32 {
            arguments.extend([0, n + 1]);
        }
        arguments.extend(lengths);
        arguments.extend(groups);
        let mut group = Self { buffers, arguments, local: vec![Cell::default(); local.div_ceil(4)], tags: 1 };
        group.forget();
        group
    }

    /// Fills local memory with noise, as earlier groups leave it.
    pub fn forget(&mut self) {
        let mut noise = Noise(self.tag(1));
        self.local.fill_with(|| noise.cell());
    }

    fn tag(&mut self, count: u64) -> u64 {
        self.tags += count;
        self.tags - count
    }

    /// The dword at an address. `None` outside of all buffers.
    fn at(&mut self, address: u64) -> Option<&mut u32> {
        let dword = (address as u32 / 4) as usize;
        match address >> 32 {
            0 => None,
            _ if address >= ARGUMENTS => self.arguments.get_mut(dword),
            n => self.buffers.get_mut(n as usize - 1)?.get_mut(dword),
        }
    }
}

impl Wave {
    /// A wave on entry: active lanes, the number of its first item, the group. What the dispatch does not set is noise.
    pub fn new(items: &[[u32; 3]], group: [u32; 3], shared: &mut Group) -> Self {
        let mut noise = Noise(shared.tag(1));
        let mut row = || std::array::from_fn(|_| noise.cell());
        let mut vectors: Vec<[Cell; 32]> = (0..256).map(|_| row()).collect();
        let scratch = (0..1024).map(|_| row()).collect();
        let mut scalars = std::array::from_fn(|_| noise.cell());
        scalars[1] = Cell { bits: (ARGUMENTS >> 32) as u32, tag: shared.tag(1) };
        scalars[0] = Cell { bits: 0, tag: shared.tag(1) };
        for (n, of) in group.into_iter().enumerate() {
            scalars[2 + n] = Cell { bits: of, tag: shared.tag(1) };
        }
        for (lane, [x, y, z]) in items.iter().enumerate() {
            vectors[0][lane] = Cell { bits: x | y << 10 | z << 20, tag: shared.tag(1) };
        }
        let exec = if items.len() == 32 { u32::MAX } else { (1 << items.len()) - 1 };
        let scc = noise.cell().bits & 1 == 1;
        Self { pc: 0, exec, scc, scalars, vectors, scratch, state: State::Runs }
    }
}

/// A program: its instructions by pc.
#[derive(Debug)]
pub struct Program {
    pub instructions: Vec<Option<Decoded>>,
    /// The address of the first one.
    pub base: u64,
}

impl Program {
    /// Decodes all instructions of code at an address.
    ///
    /// # Errors
    /// The pc and the word that no row of the table has.
    pub fn new(bytes: &[u8], base: u64) -> Result<Self, String> {
        let words: Vec<u32> = bytes
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect();
        let mut instructions = vec![None; words.len()];
        let mut at = 0;
        while at < words.len() {
            let decoded = decode::decode(&words[at..])
                .ok_or_else(|| format!("pc {:#x}: no instruction: {:#010x}", 4 * at, words[at]))?;
            let len = decoded.words;
            instructions[at] = Some(decoded);
            at += len;
        }
        Ok(Self { instructions, base })
    }
}

/// Instructions after which a program is taken for one that does not end.
const FUEL: usize = 4_000_000;

impl Program {
    /// Runs the waves of a group, each up to a barrier, until all have ended or `before` returns false: it sees the
    /// number of a wave, the wave and the group before each instruction.
    ///
    /// # Errors
    /// The errors of `before`; a pc without an instruction; a program that does not end.
    pub fn run(
        &self,
        waves: &mut [Wave],
        group: &mut Group,
        mut before: impl FnMut(usize, &Wave, &Group) -> Result<bool, String>,
    ) -> Result<(), String> {
        let mut fuel = FUEL;
        while waves.iter().any(|wave| wave.state != State::Ended) {
            for (n, wave) in waves.iter_mut().enumerate() {
                if wave.state == State::Waits {
                    wave.state = State::Runs;
                }
                while wave.state == State::Runs {
                    fuel = fuel.checked_sub(1).ok_or("the code does not end")?;
                    if !before(n, wave, group)? {
                        return Ok(());
                    }
                    wave.step(self, group)?;
                }
            }
        }
        Ok(())
    }
}
