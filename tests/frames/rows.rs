//! Random frames: rules are described by range, and the decoded rows have the described rule at each pc, in every
//! version, format and byte order, in both sections.

use core::ops::Range;
use std::collections::BTreeSet;

use eitri::Result;
use eitri::build::Builder;
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{Loc, Module, Val};
use eitri::op::Reg;
use eitri::read::{CallFrameInstruction, CfaRule, FrameSection, Frames, RegisterRule, Sections};
use eitri::target::{SpaceId, Target};
use proptest::prelude::*;

use crate::common::with;
use crate::frames::common::link;
use crate::frames::random::{Choices, choices, targets};

/// Description of a register, to be found in the rows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Described {
    Nothing,
    /// The register is unchanged, though the calling convention does not preserve it.
    Same,
    Lost,
    Offset(i64),
    In(Reg),
    Lane(Reg, u32),
    /// The value is a register plus bytes.
    Sum(Reg, i64),
}

/// Whether the calling convention does not preserve a register as a whole.
fn clobbered(target: &Target, reg: Reg) -> bool {
    target.preserved_bits(reg) != target.register(reg).map(|register| register.bits)
}

/// Address of a frame: a space, a register and bytes.
type Place = (SpaceId, Reg, i64);

/// Description of a function.
#[derive(Debug)]
struct Frame {
    step: u64,
    /// Boundaries of rules, and the end.
    stops: Vec<usize>,
    /// Rules from each boundary on.
    cfa: Vec<Place>,
    registers: Vec<(Reg, Vec<Described>)>,
}

impl Frame {
    /// Whether registers of the caller are saved in each other, cyclically, at some boundary.
    fn has_ring(&self) -> bool {
        let count = self.registers.len();
        (0..self.cfa.len()).any(|stop| {
            let within = |register: &Reg| {
                let (_, described) = self.registers.iter().find(|(reg, _)| reg == register)?;
                match described[stop] {
                    Described::In(other) => Some(other),
                    _ => None,
                }
            };
            let leads_back = |(reg, _): &(Reg, Vec<Described>)| {
                core::iter::successors(within(reg), within).take(count).any(|other| other == *reg)
            };
            self.registers.iter().any(leads_back)
        })
    }

    /// Few values per column, so that rows recur.
    fn random(c: &mut Choices<'_>, target: &Target) -> Self {
        let step = u64::from(target.min_instruction_bytes());
        let instructions = [3, 40, 80, 400, 70_000][c.below(5)];
        let is_gpu = target.lanes() > 1;
        let sgprs: Vec<Reg> = target
            .registers()
            .filter(|r| !r.is_vector() && r.bits == if is_gpu { 32 } else { 64 })
            .map(|r| r.reg)
            .filter(|&reg| reg != target.call_frames().return_register && target.cfa_register() != Some(reg))
            .collect();
        let alignment = i64::from(target.call_frames().data_alignment);
        let offset = |c: &mut Choices<'_>| alignment * (c.below(400) as i64 - 60);
        let space = if is_gpu { SpaceId::PRIVATE_WAVE } else { SpaceId::DEFAULT };
        let places: Vec<Place> = (0..1 + c.below(3)).map(|_| (space, c.one(&sgprs), offset(c))).collect();
        let described = |c: &mut Choices<'_>, reg: Reg| match c.below(8) {
            0 => Described::Lost,
            1 | 2 => Described::Offset(offset(c)),
            3 => Described::In(c.one(&sgprs)),
            4 if is_gpu => {
                Described::Lane(target.vgpr(c.below(256) as u16).expect("v0 to v255"), c.below(32) as u32)
            }
            5 if !is_gpu => Described::Sum(c.one(&sgprs), offset(c)),
            6 if clobbered(target, reg) => Described::Same,
            _ => Described::Nothing,
        };
        let mut columns: BTreeSet<Reg> = (0..c.below(9)).map(|_| c.one(&sgprs)).collect();
        columns.insert(target.call_frames().return_register);
        // Boundaries of rules.
        let mut stops: Vec<usize> = (0..c.below(12)).map(|_| c.below(instructions)).collect();
        stops.extend([0, instructions]);
        stops.sort_unstable();
        stops.dedup();
        fn spread<T: Clone>(c: &mut Choices<'_>, stops: &[usize], values: &[T]) -> Vec<T> {
            (1..stops.len()).map(|_| values[c.below(values.len())].clone()).collect()
        }
        let cfa = spread(c, &stops, &places);
        let mut registers = Vec::new();
        for reg in columns {
            let mut values: Vec<Described> = (0..1 + c.below(3)).map(|_| described(c, reg)).collect();
            values.retain(|described| *described != Described::In(reg));
            if reg == target.call_frames().return_register {
                values.retain(|described| {
                    // On a CPU, a call pushes the return address below the canonical frame address.
                    let is_above = |by: i64| !is_gpu && by >= 0;
                    !matches!(described, Described::Nothing | Described::In(_) | Described::Lane(..))
                        && !matches!(described, Described::Offset(by) if is_above(*by))
                });
                values.push(Described::Lost);
            } else if values.is_empty() {
                values.push(Described::Nothing);
            }
            let by_pc = spread(c, &stops, &values);
            registers.push((reg, by_pc));
        }
        Self { step, stops, cfa, registers }
    }

    /// Describes the frame, with ranges divided at random.
    fn describe(&self, m: &mut Builder, c: &mut Choices<'_>, name: &str) -> Result<()> {
        let unit = m.unit(&format!("{name}.c"));
        let f = m.function(unit, name)?.code(name, self.bytes()).id();
        let target = m.target().clone();
        let mut frame = m.frame(f)?;
        for (pcs, &(space, reg, by)) in self.runs(&self.cfa, c) {
            frame.cfa(pcs, Loc::memory(space, Val::register(reg).plus(by)))?;
        }
        for (reg, described) in self.registers.iter().rev() {
            for (pcs, described) in self.runs(described, c) {
                match *described {
                    Described::Nothing if c.maybe() && !clobbered(&target, *reg) => {
                        frame.same_value(pcs, *reg)?
                    }
                    Described::Same => frame.same_value(pcs, *reg)?,
                    Described::Nothing => &mut frame,
                    Described::Lost => frame.undefined(pcs, *reg)?,
                    Described::Offset(by) => frame.saved(pcs, *reg, Loc::cfa().offset(by))?,
                    Described::In(other) => frame.saved(pcs, *reg, Loc::register(other))?,
                    Described::Lane(vector, lane) => frame.saved_in_lane(pcs, *reg, vector, lane)?,
                    Described::Sum(other, by) => {
                        frame.saved(pcs, *reg, Loc::value(Val::register(other).plus(by)))?
                    }
                };
            }
        }
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.pc(self.cfa.len())
    }

    fn pc(&self, stop: usize) -> u64 {
        self.step * self.stops[stop] as u64
    }

    /// Pcs with equal values, sometimes divided once more.
    fn runs<'a, T: PartialEq>(&self, values: &'a [T], c: &mut Choices<'_>) -> Vec<(Range<u64>, &'a T)> {
        let mut runs = Vec::new();
        let mut start = 0;
        while start < values.len() {
            let same = values[start..].iter().take_while(|value| **value == values[start]).count();
            let len = if c.below(4) == 0 { 1 + c.below(same) } else { same };
            runs.push((self.pc(start)..self.pc(start + len), &values[start]));
            start += len;
        }
        runs
    }

    /// Whether the common entry lists the registers that a call overwrites: ROCgdb takes a register without a rule as
    /// unchanged. A frame without a caller need not say what the caller's registers are.
    fn lists_clobbered(&self, target: &Target) -> bool {
        let returns = target.call_frames().return_register;
        let is_said = |(reg, described): &(Reg, Vec<Described>)| {
            let nothing = if *reg == returns { Described::Lost } else { Described::Nothing };
            (*reg == returns || clobbered(target, *reg)) && described.iter().any(|rule| *rule != nothing)
        };
        target.lanes() > 1 && self.registers.iter().any(is_said)
    }

    /// Number of rows.
    fn rows(&self, target: &Target) -> usize {
        let lists = self.lists_clobbered(target);
        let same = |reg: Reg, one: &Described, other: &Described| {
            let is_lost = |rule: &Described| matches!(rule, Described::Lost | Described::Nothing);
            one == other || lists && clobbered(target, reg) && is_lost(one) && is_lost(other)
        };
        let changes = |pc: &usize| {
            self.cfa[*pc] != self.cfa[pc - 1]
                || self.registers.iter().any(|(reg, rules)| !same(*reg, &rules[*pc], &rules[pc - 1]))
        };
        1 + (1..self.cfa.len()).filter(changes).count()
    }

    /// Whether a decoded rule is the described one.
    fn is_encoded(
        &self,
        reg: Reg,
        is_clobbered: bool,
        described: &Described,
        place: Place,
        rule: Option<RegisterRule<'_>>,
    ) -> bool {
        let uleb = |out: &mut Vec<u8>, value: u64| gimli::leb128_write(out, value);
        match (described, rule) {
            (Described::Nothing, None) | (Described::Lost, Some(RegisterRule::Undefined)) => true,
            (Described::Nothing, Some(RegisterRule::SameValue)) => !is_clobbered,
            (Described::Same, Some(RegisterRule::SameValue)) => is_clobbered,
            (Described::Offset(by), Some(RegisterRule::Offset(found))) => *by == found,
            (Described::In(other), Some(RegisterRule::Register(found))) => *other == found && reg != found,
            // `regx v; offset_uconst 4 * lane`.
            (Described::Lane(vector, lane), Some(RegisterRule::Expression(expr))) => {
                let mut bytes = vec![0x90];
                uleb(&mut bytes, vector.0);
                if *lane > 0 {
                    bytes.extend([0xe9, 0x05]);
                    uleb(&mut bytes, 4 * u64::from(*lane));
                }
                bytes == expr
            }
            // A sum that equals the canonical frame address is encoded as such.
            (Described::Sum(other, by), Some(RegisterRule::ValOffset(0))) => {
                *other == place.1 && *by == place.2
            }
            // `breg` and the bytes, for registers up to 31; else `bregx`.
            (Described::Sum(other, by), Some(RegisterRule::ValExpression(expr))) => {
                let mut bytes = Vec::new();
                match other.0 {
                    0..32 => bytes.push(0x70 + other.0 as u8),
                    reg => {
                        bytes.push(0x92);
                        uleb(&mut bytes, reg);
                    }
                }
                gimli::sleb_write(&mut bytes, *by);
                bytes == expr
            }
            _ => false,
        }
    }
}

/// LEB128 from another implementation than the tested one.
mod gimli {
    pub use ::gimli::Format;

    pub fn leb128_write(out: &mut Vec<u8>, value: u64) {
        ::gimli::leb128::write::unsigned(out, value).expect("a vector takes it");
    }

    pub fn sleb_write(out: &mut Vec<u8>, value: i64) {
        ::gimli::leb128::write::signed(out, value).expect("a vector takes it");
    }
}

struct Form {
    consumer: Consumer,
    section: FrameSection,
}

fn forms(target: &Target) -> Vec<Form> {
    let mut forms = Vec::new();
    for version in 2..=5 {
        for format in [gimli::Format::Dwarf32, gimli::Format::Dwarf64] {
            let mut consumer = if target.lanes() > 1 { Consumer::llvm() } else { Consumer::dwarf5() };
            (consumer.version, consumer.format) = (version, format);
            forms.push(Form { consumer, section: FrameSection::Debug });
        }
    }
    if target.call_frames().has_eh_frame {
        let mut consumer = Consumer::dwarf5();
        (consumer.frames.eh_frame, consumer.frames.debug_frame) = (true, false);
        forms.push(Form { consumer, section: FrameSection::Eh });
    } else {
        forms.push(Form { consumer: Consumer::rocgdb(), section: FrameSection::Debug });
    }
    forms
}

fn read_back(module: &Module, frames: &[Frame], form: &Form) {
    let target = module.target();
    let address = |name: &str| 0x10_0000 + 0x10_0000 * name[1..].parse::<u64>().expect("a number");
    let lowered = lower(module, &form.consumer, Policy::Partial).expect("sections");
    // One consumer does not accept negative offsets with a space, and gets expressions instead.
    let linked = link(&lowered.sections, target, address);
    assert!(lowered.omissions.is_empty(), "{:?}", lowered.omissions);
    let empty = Vec::new();
    let bytes = |name: &str| linked.sections.get(name).unwrap_or(&empty);
    let sections = with::<Sections>(|sections| {
        sections.debug_frame = bytes(".debug_frame");
        sections.eh_frame = bytes(".eh_frame");
        sections.big_endian = target.is_big_endian();
    });
    let mut encoding = form.consumer.encoding(target.address_bytes());
    encoding.big_endian = target.is_big_endian();
    let read = Frames::read(&sections, form.section, encoding).expect("frames");
    assert_eq!(read.fdes.len(), frames.len());
    for (index, (frame, fde)) in frames.iter().zip(&read.fdes).enumerate() {
        let cie = read.cie(fde);
        let version = match (form.section, form.consumer.version) {
            (FrameSection::Eh, _) | (_, 2) => 1,
            (_, 3) => 3,
            _ => 4,
        };
        assert_eq!(cie.version, version);
        assert_eq!((fde.start, fde.length), (address(&format!("f{index}")), frame.bytes()));
        let lists = frame.lists_clobbered(target);
        let mut rows = read.rows(fde);
        let mut count = 0;
        let mut next = fde.start;
        let mut described = 0;
        while let Some(row) = rows.next_row().expect("a row") {
            assert_eq!(row.start, next);
            (next, count) = (row.end, count + 1);
            let starts = (0..frame.cfa.len())
                .filter(|&at| row.start <= fde.start + frame.pc(at) && fde.start + frame.pc(at) < row.end);
            for at in starts {
                described += 1;
                let place @ (space, reg, offset) = frame.cfa[at];
                match row.cfa {
                    CfaRule::Register { register, offset: by, space: of } => assert_eq!(
                        (of.unwrap_or(0), register, by),
                        (space.0.into(), reg, offset),
                        "stop {at}"
                    ),
                    // lit6; aspace_bregx.
                    CfaRule::Expression(expr) => {
                        let mut expected = vec![0x36, 0xe9, 0x09];
                        gimli::leb128_write(&mut expected, reg.0);
                        gimli::sleb_write(&mut expected, offset);
                        assert!(form.consumer.name == "ROCgdb" && offset < 0 && expr == expected);
                    }
                    CfaRule::Unset => panic!("stop {at}: no address"),
                }
                for (reg, described) in &frame.registers {
                    let rule = row.rule(*reg);
                    let is_listed = lists && clobbered(target, *reg) && described[at] == Described::Nothing;
                    let described_here = if is_listed { &Described::Lost } else { &described[at] };
                    assert!(
                        frame.is_encoded(*reg, clobbered(target, *reg), described_here, place, rule),
                        "stop {at}, {reg:?}: {:?}, but {rule:?}",
                        described[at]
                    );
                }
                let others = row.rules.iter().copied();
                let others = others.filter(|(reg, _)| frame.registers.iter().all(|(known, _)| known != reg));
                let others: Vec<_> = others.collect();
                let listed = target.registers().map(|register| register.reg).filter(|&reg| {
                    let is_other = frame.registers.iter().all(|(known, _)| *known != reg);
                    lists && is_other && clobbered(target, reg)
                });
                let mut listed: Vec<_> = listed.map(|reg| (reg, RegisterRule::Undefined)).collect();
                listed.sort_by_key(|(reg, _)| *reg);
                listed.dedup();
                assert_eq!(others, listed);
            }
        }
        // Each boundary is at the start of a row, or within one.
        assert_eq!((next, described), (fde.start + fde.length, frame.cfa.len()));
        // Sums relative to the frame address can change their encoding between rows.
        let has_sums = frame
            .registers
            .iter()
            .any(|(_, all)| all.iter().any(|described| matches!(described, Described::Sum(..))));
        if !has_sums {
            assert_eq!(count, frame.rows(target), "rows that say nothing new");
        }
        nothing_is_wasted(&read, fde);
    }
}

/// Checks that every row has a change, and every remembered state is restored.
fn nothing_is_wasted(read: &Frames<'_>, fde: &eitri::read::Fde<'_>) {
    let mut remembered = 0;
    let mut advanced = false;
    for one in read.instructions(fde) {
        let one = one.expect("an instruction").instruction;
        let is_advance = matches!(one, CallFrameInstruction::AdvanceLoc { .. });
        assert!(!(is_advance && advanced), "two advances");
        advanced = is_advance;
        match one {
            CallFrameInstruction::RememberState => remembered += 1,
            CallFrameInstruction::RestoreState => remembered -= 1,
            _ => {}
        }
        assert!(remembered >= 0);
    }
    assert_eq!(remembered, 0);
}

/// The finished module; `None` for cyclically saved registers, which are refused.
fn finished(m: Builder, frames: &[Frame]) -> Option<Module> {
    let has_ring = frames.iter().any(Frame::has_ring);
    let module = m.finish();
    assert_eq!(module.is_err(), has_ring, "{module:?}");
    module.ok()
}

fn check(words: &[u16], target: &Target) {
    let mut c = Choices::new(words);
    let mut m = Builder::new(target.clone());
    let frames: Vec<Frame> = (0..1 + c.below(3)).map(|_| Frame::random(&mut c, target)).collect();
    for (index, frame) in frames.iter().enumerate() {
        frame.describe(&mut m, &mut c, &format!("f{index}")).expect("a description");
    }
    let Some(module) = finished(m, &frames) else { return };
    for form in forms(target) {
        read_back(&module, &frames, &form);
    }
}

/// Unwinding finds the values of the module.
fn unwound(words: &[u16], target: &Target) {
    let mut c = Choices::new(words);
    let mut m = Builder::new(target.clone());
    let frames: Vec<Frame> = (0..1 + c.below(3)).map(|_| Frame::random(&mut c, target)).collect();
    let mut code = Vec::new();
    for (index, frame) in frames.iter().enumerate() {
        frame.describe(&mut m, &mut c, &format!("f{index}")).expect("a description");
        code.push((format!("f{index}"), frame.bytes()));
    }
    let Some(module) = finished(m, &frames) else { return };
    let mut all = ObjectCode::text(vec![0; code.iter().map(|(_, bytes)| *bytes as usize).sum()]);
    let mut at = 0;
    for (name, bytes) in &code {
        all = all.with_function(name, at, *bytes);
        at += bytes;
    }
    let mut forms = forms(target);
    let form = forms.swap_remove(c.below(forms.len()));
    let lowered = lower(&module, &form.consumer, Policy::Strict).expect("sections");
    let object = new_object(target, &all, &lowered.sections).expect("an object");
    let report = eitri::check(&module, &form.consumer, &lowered.omissions, &object).expect("a report");
    assert!(report.is_clean(), "{report}");
    assert!(report.locations > 0, "{report}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn unwound_rows_equal_the_description(words in choices(300), target in 0..6usize) {
        unwound(&words, &targets()[target]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn described_rows_are_read_back(words in choices(300), target in 0..6usize) {
        check(&words, &targets()[target]);
    }
}
