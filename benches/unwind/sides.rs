//! The stopped wave, and the two sides.

use eitri::eval::{BaseType, CallStack, Context, Evaluator, Machine, TypeEncoding, Unavailable};
use eitri::op::Reg;
use eitri::read::{CfaRule, Frames};
use eitri::target::{Gfx, SpaceId, Target, Wave as Size};
use gimli::{
    BaseAddresses, DebugFrame, EhFrame, EhFrameHdr, EndianSlice, LittleEndian, ParsedEhFrameHdr,
    RegisterRule, UnwindContext, UnwindSection, UnwindTableRow,
};

use crate::cfi::ENCODING;

type Slice<'a> = EndianSlice<'a, LittleEndian>;

/// Number of saved scalar registers.
pub const SAVED: usize = 100;
/// Register that contains the CFA: a pair, as standard rows know only the default space, which has 64-bit addresses.
pub const CFA: Reg = Reg(768);
pub const RETURN: Reg = Reg(16);

/// Registers s0 to s99.
pub fn saved() -> impl Iterator<Item = Reg> {
    (32..96).chain(1088..1124).map(Reg)
}

/// A stopped wave, whose memory ends at the CFA.
pub struct Wave {
    pc: u64,
    cfa: u64,
    memory: Vec<u8>,
}

/// First address of the memory.
const START: u64 = 0x7fff_0000;

impl Wave {
    pub fn new(pc: u64) -> Self {
        let memory: Vec<u8> = (0..0x410u32).map(|at| (at * 37 + 11) as u8).collect();
        Self { pc, cfa: START + 0x400, memory }
    }
}

impl Machine for Wave {
    fn register(&self, reg: Reg, _: u32, at: u32, into: &mut [u8]) -> Result<(), Unavailable> {
        let value = if reg == CFA { self.cfa } else { reg.0 };
        let from = value.to_le_bytes();
        into.copy_from_slice(
            from.get(at as usize..).and_then(|from| from.get(..into.len())).ok_or(Unavailable)?,
        );
        Ok(())
    }

    fn memory(&self, _: SpaceId, _: Option<u32>, address: u64, into: &mut [u8]) -> Result<(), Unavailable> {
        let at = address.checked_sub(START).ok_or(Unavailable)? as usize;
        into.copy_from_slice(
            self.memory.get(at..).and_then(|from| from.get(..into.len())).ok_or(Unavailable)?,
        );
        Ok(())
    }

    fn pc(&self, frame: u32) -> Option<u64> {
        (frame == 0).then_some(self.pc)
    }
}

/// Return address, and sum of the registers' contents.
type Answer = (u64, u64);

pub struct Ours<'a> {
    frames: &'a [Frames<'a>; 1],
    wave: &'a Wave,
    target: Target,
    evaluator: Evaluator,
}

impl<'a> Ours<'a> {
    pub fn new(frames: &'a [Frames<'a>; 1], wave: &'a Wave) -> Self {
        let target = Target::amdgpu(Gfx::GFX1030, Size::W64).expect("a target");
        Self { frames, wave, target, evaluator: Evaluator::new() }
    }

    /// Number of rules in the row at the pc.
    pub fn row(&mut self) -> usize {
        self.frames[0].row_at(self.wave.pc).expect("it is read").expect("a row").rules.len()
    }

    /// Unwinds one frame.
    pub fn frame(&mut self) -> u64 {
        let stack = CallStack::new(self.wave, self.frames, &self.target);
        stack.innermost().expect("a frame").step_out().expect("a caller").expect("one").resumes_at()
    }

    /// Unwinds one frame with the contents of all registers.
    pub fn registers(&mut self) -> Answer {
        let stack = CallStack::new(self.wave, self.frames, &self.target);
        let caller = stack.innermost().expect("a frame").step_out().expect("a caller").expect("one");
        let sum = saved().fold(0u64, |sum, reg| {
            let mut bytes = [0; 4];
            caller.read_register(reg, 0, &mut bytes).expect("it is there");
            sum.wrapping_mul(3).wrapping_add(u32::from_le_bytes(bytes).into())
        });
        (caller.resumes_at(), sum)
    }

    /// Unwinds one frame with the locations of all registers, at which a debugger can read and write.
    pub fn locations(&mut self) -> Answer {
        let stack = CallStack::new(self.wave, self.frames, &self.target);
        let caller = stack.innermost().expect("a frame").step_out().expect("a caller").expect("one");
        let dword = BaseType::new(TypeEncoding::Unsigned, 32);
        let context = Context::new(ENCODING, &self.target);
        let sum = saved().fold(0u64, |sum, reg| {
            let location = caller.register(reg).expect("a location");
            let value = self.evaluator.read(&location, dword, self.wave, &context).expect("it is there");
            sum.wrapping_mul(3).wrapping_add(value.as_u64().expect("a number"))
        });
        (caller.resumes_at(), sum)
    }
}

pub struct Gimli<'a> {
    section: DebugFrame<Slice<'a>>,
    bases: BaseAddresses,
    context: UnwindContext<usize>,
    wave: &'a Wave,
}

/// Computes the caller from a row: CFA and return address.
fn step<'r>(row: &'r UnwindTableRow<usize>, wave: &Wave) -> (u64, impl Fn(u64) -> &'r RegisterRule<usize>) {
    let gimli::CfaRule::RegisterAndOffset { register, offset } = row.cfa() else { panic!("another rule") };
    let mut bytes = [0; 8];
    wave.register(Reg(register.0.into()), 0, 0, &mut bytes).expect("it is known");
    let rule = |reg: u64| {
        let found = row.registers().find(|(known, _)| u64::from(known.0) == reg);
        found.map(|(_, rule)| rule).expect("a rule")
    };
    (u64::from_le_bytes(bytes).wrapping_add_signed(*offset), rule)
}

fn at<const N: usize>(cfa: u64, rule: &RegisterRule<usize>, wave: &Wave) -> [u8; N] {
    let RegisterRule::Offset(by) = rule else { panic!("another rule") };
    let mut bytes = [0; N];
    wave.memory(SpaceId::DEFAULT, None, cfa.wrapping_add_signed(*by), &mut bytes).expect("it is mapped");
    bytes
}

impl<'a> Gimli<'a> {
    pub fn new(section: &'a [u8], wave: &'a Wave) -> Self {
        let section = DebugFrame::new(section, LittleEndian);
        Self { section, bases: BaseAddresses::default(), context: UnwindContext::new(), wave }
    }

    fn found(&mut self) -> &UnwindTableRow<usize> {
        let (section, pc) = (&self.section, self.wave.pc);
        let found =
            section.unwind_info_for_address(&self.bases, &mut self.context, pc, DebugFrame::cie_from_offset);
        found.expect("a row")
    }

    pub fn row(&mut self) -> usize {
        self.found().registers().count()
    }

    pub fn frame(&mut self) -> u64 {
        let wave = self.wave;
        let (cfa, rule) = step(self.found(), wave);
        u64::from_le_bytes(at(cfa, rule(RETURN.0), wave))
    }

    pub fn registers(&mut self) -> Answer {
        let wave = self.wave;
        let row = self.found();
        let (cfa, rule) = step(row, wave);
        let back = u64::from_le_bytes(at(cfa, rule(RETURN.0), wave));
        // The rules of the row are sorted by register.
        let rules = row.registers().filter(|(reg, _)| u64::from(reg.0) != RETURN.0);
        let sum = rules.fold(0u64, |sum, (_, rule)| {
            sum.wrapping_mul(3).wrapping_add(u32::from_le_bytes(at(cfa, rule, wave)).into())
        });
        (back, sum)
    }
}

/// First pc of the row at a pc, and the CFA's offset, if the CFA rule has one.
pub fn start_of_ours(frames: &Frames<'_>, pc: u64) -> u64 {
    let row = frames.row_at(pc).expect("it is read").expect("a row");
    let offset = if let CfaRule::Register { offset, .. } = row.cfa { offset } else { 0 };
    row.start ^ offset as u64
}

/// gimli with the binary search table of `.eh_frame_hdr`.
pub struct Looked<'a> {
    section: EhFrame<Slice<'a>>,
    table: ParsedEhFrameHdr<Slice<'a>>,
    bases: BaseAddresses,
    context: UnwindContext<usize>,
}

impl<'a> Looked<'a> {
    pub fn new(section: &'a [u8], address: u64, table: &'a [u8], table_address: u64) -> Self {
        let bases = BaseAddresses::default().set_eh_frame(address).set_eh_frame_hdr(table_address);
        let table = EhFrameHdr::new(table, LittleEndian).parse(&bases, 8).expect("the table");
        Self { section: EhFrame::new(section, LittleEndian), table, bases, context: UnwindContext::new() }
    }

    pub fn start(&mut self, pc: u64) -> u64 {
        let table = self.table.table().expect("the table is not empty");
        let row = table.unwind_info_for_address(
            &self.section,
            &self.bases,
            &mut self.context,
            pc,
            EhFrame::cie_from_offset,
        );
        let row = row.expect("a row");
        let offset =
            if let gimli::CfaRule::RegisterAndOffset { offset, .. } = row.cfa() { *offset } else { 0 };
        row.start_address() ^ offset as u64
    }
}
