//! Facts of a file that findings refer to: functions with their code, kernels, sections.

use std::cell::OnceCell;
use std::ops::{Deref, Range};
use std::sync::OnceLock;

use gimli::constants as dw;

use super::function_code::FunctionCode;
use super::kernels::{self, Kernel};
use super::lane_flow::LaneFlow;
use super::lane_masks::Bit;
use crate::ranges::{CodeRanges, RangeLists};
use crate::walk::LinePrograms;
use eitri_dwarf::error::Result;
use eitri_dwarf::eval::DebugInfo;
use eitri_dwarf::op::Reg;
use eitri_dwarf::read::nvidia::RegisterMap;
#[doc(hidden)]
pub use eitri_dwarf::read::{
    Dwarf, ElfSection, ElfSymbol, ElfSymbolKind, Entry, FrameSection, Frames, Object, Unit, code_section,
    threads,
};
use eitri_dwarf::target::code::{InstructionSet, RegisterKind};
use eitri_dwarf::target::{Target, Wave, operand, with_extensions};

/// Architecture, which decides some findings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Architecture {
    /// An AMD GPU.
    Amd,
    /// NVIDIA's GPUs.
    Nvidia,
    /// A CPU, or an unknown machine.
    Cpu,
}

/// Facts of an object, whose code is described by units in one or several files.
#[derive(Debug)]
pub(crate) struct Facts<'r, 'o> {
    pub(super) object: &'r Object<'o>,
    pub(super) target: Option<Target>,
    pub(super) architecture: Architecture,
    pub(crate) frames: Vec<Frames<'r>>,
    /// Whether call frame information belongs in the stripped file, because this file holds only its debug information.
    pub(super) has_frames_elsewhere: bool,
    pub(crate) registers: RegisterMap<'r>,
    /// Instruction decoder; `None` if the instruction set is not known.
    pub(super) set: Option<InstructionSet>,
    /// Address ranges with loaded code, sorted by start.
    pub(crate) code: &'r [Range<u64>],
    /// Function symbols by address: address, size.
    symbols: OnceLock<Vec<(u64, u64)>>,
    /// Kernels by address.
    kernels: Vec<Kernel>,
    /// Whether any code is in the file.
    pub(super) has_code: bool,
    /// Mercury copies in a cubin.
    pub(crate) copies: Option<&'r Object<'o>>,
}

/// A file that contains units, with the object's facts.
#[derive(Debug)]
pub(crate) struct File<'r, 'o> {
    facts: &'r Facts<'r, 'o>,
    pub(super) dwarf: &'r Dwarf<'r>,
    pub(super) info: DebugInfo<'r, 'r>,
    /// Code ranges from all functions, sorted and joined.
    extents: OnceLock<Vec<Range<u64>>>,
    /// Start addresses, entries and end addresses of all functions, sorted.
    starts: OnceLock<Vec<(u64, u64, u64)>>,
    lines: OnceLock<LinePrograms>,
}

impl<'r, 'o> Deref for File<'r, 'o> {
    type Target = Facts<'r, 'o>;

    fn deref(&self) -> &Self::Target {
        self.facts
    }
}

/// A function with code.
#[derive(Debug)]
pub(super) struct Function<'r, 'o> {
    pub(super) entry: Entry<'r, 'o>,
    pub(super) ranges: CodeRanges,
    /// Whether its code is in the file: a linker moves discarded functions to 0 or 1.
    pub(super) is_live: bool,
    code: OnceCell<FunctionCode<'r>>,
    lanes: OnceCell<Option<LaneFlow>>,
    waiting_lanes: OnceCell<Option<LaneFlow>>,
}

impl<'r, 'o> Function<'r, 'o> {
    pub(super) fn new(file: &File<'_, '_>, entry: Entry<'r, 'o>, ranges: &CodeRanges) -> Option<Self> {
        let is_live = file.is_code(ranges.first()?.start);
        Some(Self {
            entry,
            ranges: ranges.clone(),
            is_live,
            code: OnceCell::new(),
            lanes: OnceCell::new(),
            waiting_lanes: OnceCell::new(),
        })
    }

    pub(super) fn start(&self) -> u64 {
        self.ranges.first().map_or(0, |range| range.start)
    }

    /// Returns the function's instructions; none if the instruction set is not known.
    pub(super) fn code(&self, file: &File<'r, '_>) -> &FunctionCode<'r> {
        self.code.get_or_init(|| {
            let bytes = self.ranges.first().map_or(&[][..], |range| file.bytes_at(range));
            FunctionCode::scan(file.set, &self.ranges, bytes)
        })
    }

    /// Returns the control flow of a lane that is active at the function's start; `None` if it is not known.
    pub(super) fn lanes(&self, file: &File<'r, '_>) -> Option<&LaneFlow> {
        let lanes = file.target.as_ref()?.lanes();
        self.lanes.get_or_init(|| LaneFlow::new(self.code(file), lanes, Bit::On)).as_ref()
    }

    /// Returns the control flow of a lane that waits at the function's start; `None` if it is not known.
    pub(super) fn waiting_lanes(&self, file: &File<'r, '_>) -> Option<&LaneFlow> {
        let lanes = file.target.as_ref()?.lanes();
        self.waiting_lanes.get_or_init(|| LaneFlow::new(self.code(file), lanes, Bit::Off)).as_ref()
    }
}

/// Returns the call frame information in all sections that contain any.
fn frames<'r>(dwarf: &Dwarf<'r>) -> Vec<Frames<'r>> {
    let sections = [FrameSection::Debug, FrameSection::Eh].map(|section| dwarf.frames_of_code(section));
    sections.into_iter().filter(|frames| !frames.fdes.is_empty() || !frames.errors.is_empty()).collect()
}

impl<'r, 'o> Facts<'r, 'o> {
    /// Reads the facts of an object that contains units, on several threads.
    pub(crate) fn new(object: &'r Object<'o>, dwarf: &Dwarf<'r>, threads: usize) -> Result<Self> {
        let target = object.target(None).or_else(|| object.target(Some(Wave::W32)));
        let target = target.map(with_extensions);
        let architecture = match object.machine() {
            224 => Architecture::Amd,
            190 => Architecture::Nvidia,
            _ => Architecture::Cpu,
        };
        let wave =
            if target.as_ref().is_some_and(|target| target.lanes() == 64) { Wave::W64 } else { Wave::W32 };
        // A file that holds only debug information has the section headers of the stripped file.
        let is_elsewhere = |section: &ElfSection<'_>| {
            section.name == ".eh_frame" && section.size > 0 && section.data.is_empty()
        };
        let has_frames_elsewhere = object.sections().iter().any(is_elsewhere);
        let code = object.code();
        // Objects for link-time optimization have an empty code section.
        let has_code = code.iter().any(|section| !section.is_empty());
        let read_target_facts = || -> Result<_> {
            let set = object.gfx().and_then(|gfx| InstructionSet::of(gfx, wave));
            let kernels = if architecture == Architecture::Amd { kernels::read(object) } else { Vec::new() };
            let registers = if architecture == Architecture::Nvidia {
                RegisterMap::read(object)?
            } else {
                RegisterMap::default()
            };
            Ok((set, kernels, registers))
        };
        let (frames, target_facts) = threads::both(threads, || frames(dwarf), read_target_facts);
        let (set, kernels, registers) = target_facts?;
        Ok(Self {
            object,
            target,
            architecture,
            frames,
            has_frames_elsewhere,
            registers,
            set,
            code,
            symbols: OnceLock::new(),
            kernels,
            has_code,
            copies: None,
        })
    }

    /// Returns the kernel whose code is at an address.
    pub(super) fn kernel(&self, address: u64) -> Option<&Kernel> {
        let index = self.kernels.binary_search_by_key(&address, |kernel| kernel.address).ok()?;
        self.kernels.get(index)
    }

    /// Returns a kernel's scratch bytes, by code address; `None` if no kernel is at the address.
    pub(super) fn scratch_bytes(&self, address: u64) -> Option<u32> {
        Some(self.kernel(address)?.scratch_bytes)
    }

    pub(super) fn is_code(&self, address: u64) -> bool {
        self.section(address).is_some()
    }

    /// Returns the address range of the code section that contains an address.
    pub(super) fn section(&self, address: u64) -> Option<&Range<u64>> {
        code_section(self.code, address)
    }

    /// Returns the sizes of the function symbols at an address.
    pub(super) fn symbol_sizes(&self, address: u64) -> impl Iterator<Item = u64> {
        let symbols = self.symbols.get_or_init(|| {
            let is_function =
                |symbol: &&ElfSymbol<'_>| symbol.kind == ElfSymbolKind::Func && symbol.is_defined;
            let functions = self.object.symbols().iter().filter(is_function);
            let mut symbols: Vec<_> = functions.map(|symbol| (symbol.address, symbol.size)).collect();
            symbols.sort_unstable();
            symbols
        });
        let first = symbols.partition_point(|symbol| symbol.0 < address);
        symbols[first..].iter().take_while(move |symbol| symbol.0 == address).map(|symbol| symbol.1)
    }

    /// Whether an address is in a loaded section, or belongs to a defined symbol.
    pub(super) fn is_loaded(&self, address: u64) -> bool {
        let sections = self.object.sections().iter().filter(|section| section.is_loaded());
        let mut ranges =
            sections.map(|section| section.address..=section.address.saturating_add(section.size));
        ranges.any(|range| range.contains(&address))
    }

    pub(super) fn bytes_at(&self, range: &Range<u64>) -> &'r [u8] {
        let sections = self.object.sections().iter().filter(|section| section.is_code());
        for section in sections {
            let (Some(from), Some(to)) =
                (range.start.checked_sub(section.address), range.end.checked_sub(section.address))
            else {
                continue;
            };
            let to = to.min(section.data.len() as u64);
            if from < to {
                return &section.data[from as usize..to as usize];
            }
        }
        &[]
    }

    /// Returns an AMD GPU register's kind and number.
    pub(super) fn operand(&self, reg: Reg) -> Option<(RegisterKind, u16)> {
        let target = self.target.as_ref().filter(|_| self.architecture == Architecture::Amd)?;
        operand(target, reg)
    }

    /// Returns the DWARF number of an AMD GPU's scalar register.
    pub(super) fn scalar(&self, number: u16) -> Option<Reg> {
        let target = self.target.as_ref().filter(|_| self.architecture == Architecture::Amd)?;
        target.sgpr(number).ok()
    }

    /// Whether a call sets the register to the return address: `s[30:31]` by AMD's convention, and on a CPU the return
    /// address register in call frame information.
    pub(super) fn is_link(&self, reg: Reg) -> bool {
        match self.architecture {
            Architecture::Amd => matches!(self.operand(reg), Some((RegisterKind::Scalar, 30 | 31))),
            Architecture::Nvidia => false,
            Architecture::Cpu => self
                .frames
                .iter()
                .any(|frames| frames.fdes.first().is_some_and(|fde| frames.cie(fde).return_register == reg)),
        }
    }

    /// Returns a register's name, or its number.
    pub(super) fn name(&self, reg: Reg) -> String {
        let register = self.target.as_ref().and_then(|target| target.register(reg));
        register.map_or_else(|| format!("register {}", reg.0), |register| register.name().to_string())
    }
}

impl<'r, 'o> File<'r, 'o> {
    pub(crate) fn new(facts: &'r Facts<'r, 'o>, dwarf: &'r Dwarf<'r>) -> Self {
        Self {
            facts,
            dwarf,
            info: DebugInfo::new(dwarf),
            extents: OnceLock::new(),
            starts: OnceLock::new(),
            lines: OnceLock::new(),
        }
    }

    /// Whether a unit is the first one with its line program.
    pub(super) fn has_own_lines(&self, unit: &Unit<'_>) -> bool {
        self.lines.get_or_init(|| LinePrograms::new(self.dwarf)).has_first(unit)
    }

    /// Returns the first function entry whose code begins at an address, as an offset.
    pub(super) fn first_entry(&self, start: u64) -> Option<u64> {
        let starts = self.starts();
        let first = starts.get(starts.partition_point(|function| function.0 < start))?;
        (first.0 == start).then_some(first.1)
    }

    /// Returns the first function that begins in a pc range: its start, and its entry's offset.
    pub(super) fn function_within(&self, pcs: &Range<u64>) -> Option<(u64, u64)> {
        let starts = self.starts();
        let &(start, entry, _) = starts.get(starts.partition_point(|function| function.0 < pcs.start))?;
        pcs.contains(&start).then_some((start, entry))
    }

    /// Returns the code, from its start, of the function that begins last at or before an address and contains it.
    pub(super) fn function_around(&self, address: u64) -> Option<Range<u64>> {
        let starts = self.starts();
        let &(start, _, end) = starts[..starts.partition_point(|function| function.0 <= address)].last()?;
        (address < end && self.is_code(start)).then_some(start..end)
    }

    fn starts(&self) -> &[(u64, u64, u64)] {
        self.starts.get_or_init(|| {
            let functions = self.dwarf.entries().filter(|entry| entry.tag() == dw::DW_TAG_subprogram);
            let mut lists = RangeLists::default();
            // The walk over the functions reports what cannot be read.
            let with_code = |entry: Entry<'_, '_>| {
                let ranges = lists.ranges(entry).ok()?;
                let first = ranges.first()?;
                (first.start < first.end).then_some((first.start, entry.offset(), first.end))
            };
            let mut starts: Vec<_> = functions.filter_map(with_code).collect();
            starts.sort_unstable();
            starts
        })
    }

    /// Whether an address is in the code of any described function.
    pub(super) fn is_described(&self, pc: u64) -> bool {
        let extents = self.extents.get_or_init(|| {
            let functions = self.dwarf.entries().filter(|entry| entry.tag() == dw::DW_TAG_subprogram);
            // The walk over the functions reports what cannot be read.
            let mut lists = RangeLists::default();
            let mut extents = Vec::new();
            for ranges in functions.filter_map(|entry| lists.unseen(entry).ok().flatten()) {
                extents.extend(ranges.iter().filter(|range| range.start < range.end).cloned());
            }
            extents.sort_unstable_by_key(|range| range.start);
            extents.dedup_by(|next, last| {
                let is_joined = next.start <= last.end;
                if is_joined {
                    last.end = last.end.max(next.end);
                }
                is_joined
            });
            extents
        });
        let count = extents.partition_point(|range| range.start <= pc);
        extents[..count].last().is_some_and(|range| range.contains(&pc))
    }
}
