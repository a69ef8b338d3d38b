//! `check` unwinds: it is clean if the object matches the module, and finds every mistake that compilers have shipped.

use eitri::build::Builder;
use eitri::check::{CheckReport, FindingKind};
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::error::ErrorKind;
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{Column, Loc, Module, Val};
use eitri::omission::Subject;
use eitri::op::Reg;
use eitri::target::{Gfx, SpaceId, Target, Wave};

/// A kernel, and a function that saves registers.
#[derive(Clone)]
struct Frames {
    has_kernel: bool,
    kernel_returns: Option<Loc>,
    cfa: Loc,
    later: Loc,
    return_address: Loc,
    scalar: Loc,
    far: Loc,
    some_lanes: Loc,
    all_lanes: Loc,
    from: u64,
    to: u64,
    lost: bool,
}

struct Registers {
    gpu: Target,
    exec: Reg,
    v: Vec<Reg>,
    s: Vec<Reg>,
}

fn registers() -> Registers {
    let gpu = Target::amdgpu(Gfx::GFX900, Wave::W64).expect("waves of 64");
    let v = (0..64).map(|n| gpu.vgpr(n).expect("a register")).collect();
    let s = (0..64).map(|n| gpu.sgpr(n).expect("a register")).collect();
    Registers { exec: gpu.exec().expect("one"), v, s, gpu }
}

fn wave(val: Val) -> Loc {
    Loc::memory(SpaceId::PRIVATE_WAVE, val)
}

impl Frames {
    fn new(r: &Registers) -> Self {
        Self {
            has_kernel: true,
            kernel_returns: None,
            cfa: wave(Val::register(r.s[32])),
            later: wave(Val::register(r.s[33])),
            return_address: Loc::over([r.s[30], r.s[31]]),
            scalar: Loc::lane(r.v[40], 20),
            // 160 bytes further.
            far: Loc::lane(r.v[40], 40),
            some_lanes: masked(r, Val::entry_value(r.exec)),
            all_lanes: Loc::cfa().offset(8 * 64),
            from: 8,
            to: 0x38,
            lost: true,
        }
    }

    fn module(&self, r: &Registers) -> Module {
        let mut m = Builder::new(r.gpu.clone());
        let unit = m.unit("a.cl");
        let k = m.function(unit, "k").expect("a function").code("k", 0x40).stack_at_zero().id();
        let f = m.function(unit, "f").expect("a function").code("f", 0x40).id();
        self.describe(r, &mut m, k, f).expect("a description");
        m.finish().expect("a module")
    }

    fn describe(
        &self,
        r: &Registers,
        m: &mut Builder,
        k: eitri::model::FunctionId,
        f: eitri::model::FunctionId,
    ) -> eitri::Result<()> {
        let pc = r.gpu.pc().expect("one");
        match &self.kernel_returns {
            _ if !self.has_kernel => {}
            None => {
                m.frame(k)?.entry_function()?;
            }
            Some(loc) => {
                m.frame(k)?.cfa(0..0x40, wave(Val::constant(0)))?.saved(0..0x40, pc, loc.clone())?;
            }
        }
        let pcs = self.from..self.to;
        let mut frame = m.frame(f)?;
        frame
            .cfa(0..self.from, self.cfa.clone())?
            .cfa(pcs.clone(), self.later.clone())?
            .cfa(self.to..0x40, self.cfa.clone())?
            .saved(0..0x40, pc, self.return_address.clone())?
            .saved(pcs.clone(), r.s[33], self.scalar.clone())?
            .saved(pcs.clone(), r.s[34], self.far.clone())?
            .saved(pcs.clone(), r.v[41], self.some_lanes.clone())?
            .saved(pcs.clone(), r.v[42], self.all_lanes.clone())?;
        if self.lost {
            frame.undefined(pcs, r.v[43])?;
        }
        Ok(())
    }
}

/// v41, with the lanes of a mask in a row of the frame.
fn masked(r: &Registers, mask: Val) -> Loc {
    Loc::select(mask, Loc::whole(r.v[41]), Loc::cfa().offset(4 * 64), 32, 64)
}

fn checked(truth: &Module, written: &Module, consumer: &Consumer) -> CheckReport {
    let code = ObjectCode::text(vec![0; 0x80]).with_function("k", 0, 0x40).with_function("f", 0x40, 0x40);
    let lowered = lower(written, consumer, Policy::Strict).expect("sections");
    let object = new_object(truth.target(), &code, &lowered.sections).expect("an object");
    eitri::check(truth, consumer, &[], &object).expect("a report")
}

type Change = fn(&mut Frames, &Registers);

/// A fault and its finding: name, change, kind, column, pc.
type Fault = (&'static str, Change, FindingKind, Option<&'static str>, Option<u64>);

#[rustfmt::skip]
const FAULTS: &[Fault] = &[
    ("lanes of 8 bytes", |f, r| f.scalar = Loc::lane(r.v[40], 2 * 20), FindingKind::Frame, Some("s33"), Some(8)),
    ("an offset of 160 bytes in a signed byte", |f, r| f.far = Loc::lane(r.v[40], (160 & 0x7f) / 4), FindingKind::Frame, Some("s34"), Some(8)),
    ("another lane", |f, r| f.scalar = Loc::lane(r.v[40], 21), FindingKind::Frame, Some("s33"), Some(8)),
    ("the same lane of another register", |f, r| f.scalar = Loc::lane(r.v[44], 20), FindingKind::Frame, Some("s33"), Some(8)),
    ("the bytes of a lane for those of the wave", |f, _| f.all_lanes = Loc::cfa().offset(8), FindingKind::Frame, Some("v42"), Some(8)),
    ("the bytes of the wave, times 64 again", |f, _| f.all_lanes = Loc::cfa().offset(8 * 64 * 64), FindingKind::Frame, Some("v42"), Some(8)),
    ("the frame at a lane's count", |f, r| f.cfa = wave(Val::register(r.s[32]).shr(Val::constant(6))), FindingKind::Frame, Some("the CFA"), Some(0)),
    ("the frame at a wave's count of a lane's", |f, r| f.later = wave(Val::register(r.s[33]).shl(Val::constant(6))), FindingKind::Frame, Some("the CFA"), Some(8)),
    ("the frame in memory of a lane", |f, r| {
        f.cfa = Loc::memory(SpaceId::PRIVATE_LANE, Val::register(r.s[32]));
    }, FindingKind::Frame, Some("the CFA"), Some(0)),
    ("the frame in the default space", |f, r| f.cfa = Loc::memory(SpaceId::DEFAULT, Val::register(r.s[32])), FindingKind::Frame, Some("the CFA"), Some(0)),
    ("no frame of the entry function", |f, _| f.has_kernel = false, FindingKind::MissingEntry, None, None),
    ("an entry function with a caller", |f, r| f.kernel_returns = Some(Loc::over([r.s[30], r.s[31]])), FindingKind::Frame, Some("pc"), Some(0)),
    ("the mask the other way round", |f, r| f.some_lanes = masked(r, Val::entry_value(r.exec).not()), FindingKind::Frame, Some("v41"), Some(8)),
    ("the places the other way round", |f, r| {
        f.some_lanes = Loc::select(Val::entry_value(r.exec), Loc::cfa().offset(4 * 64), Loc::whole(r.v[41]), 32, 64);
    }, FindingKind::Frame, Some("v41"), Some(8)),
    ("another mask", |f, r| f.some_lanes = masked(r, Val::pair(r.s[4], r.s[5])), FindingKind::Frame, Some("v41"), Some(8)),
    ("all lanes for some", |f, _| f.some_lanes = Loc::cfa().offset(4 * 64), FindingKind::Frame, Some("v41"), Some(8)),
    ("halves of the return address swapped", |f, r| f.return_address = Loc::over([r.s[31], r.s[30]]), FindingKind::Frame, Some("pc"), Some(0)),
    ("one half of the return address", |f, r| {
        f.return_address = Loc::parts([(Loc::register(r.s[30]), 32), (Loc::undefined(), 32)]);
    }, FindingKind::Frame, Some("pc"), Some(0)),
    ("an instruction too late", |f, _| f.from = 12, FindingKind::Frame, Some("s33"), Some(8)),
    ("an instruction too early", |f, _| f.from = 4, FindingKind::Frame, Some("s33"), Some(4)),
    ("rules that go on", |f, _| f.to = 0x3c, FindingKind::Frame, Some("s33"), Some(0x38)),
    ("a register that is lost and has a rule", |f, _| f.lost = false, FindingKind::Frame, Some("v43"), Some(8)),
    ("a frame that does not move", |f, _| f.later = f.cfa.clone(), FindingKind::Frame, Some("the CFA"), Some(8)),
];

#[test]
fn frames_are_clean_without_a_fault() {
    let r = registers();
    let truth = Frames::new(&r).module(&r);
    for consumer in [Consumer::llvm(), Consumer::rocgdb(), Consumer::rocgdb_legacy()] {
        let report = checked(&truth, &truth, &consumer);
        assert!(report.is_clean(), "{}: {report}", consumer.name);
        assert!(report.locations > 100, "{report}");
    }
}

#[test]
fn each_fault_is_found() {
    let r = registers();
    let frames = Frames::new(&r);
    let truth = frames.module(&r);
    let mut missed = Vec::new();
    for consumer in [Consumer::llvm(), Consumer::rocgdb_legacy()] {
        for &(name, change, kind, column, pc) in FAULTS {
            let mut wrong = frames.clone();
            change(&mut wrong, &r);
            // A frame in a lane's memory cannot contain whole registers.
            if name == "the frame in memory of a lane" {
                wrong.some_lanes = Loc::whole(r.v[41]);
                wrong.all_lanes = Loc::register(r.v[42]);
            }
            let report = checked(&truth, &wrong.module(&r), &consumer);
            let is_found = report.findings.iter().any(|finding| {
                let at = &finding.at;
                finding.kind == kind
                    && at.column.as_deref() == column
                    && pc.is_none_or(|pc| at.pcs.as_ref().is_some_and(|pcs| pcs.contains(&pc)))
                    && at.function.as_deref() == Some(if name.contains("entry function") { "k" } else { "f" })
            });
            if !is_found {
                missed.push(format!("{}, {name}: {report}", consumer.name));
            }
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n\n"));
}

/// A frame that only the object has.
#[test]
fn a_frame_that_nobody_described_is_found() {
    let r = registers();
    let frames = Frames::new(&r);
    let truth = Frames { has_kernel: false, ..frames.clone() }.module(&r);
    let report = checked(&truth, &frames.module(&r), &Consumer::llvm());
    let kinds: Vec<FindingKind> = report.findings.iter().map(|finding| finding.kind).collect();
    assert_eq!(kinds, [FindingKind::Extra], "{report}");
}

/// A register that cannot be encoded is undefined; without an address, the frame is omitted. The register and the frame
/// are listed.
#[test]
fn unproven_frame_rules_are_listed() -> eitri::Result<()> {
    let mut m = Builder::new(Target::x86_64());
    let rcx = Reg(2);
    let rbx = Reg(3);
    let rsp = Reg(7);
    let rip = Reg(16);
    let unit = m.unit("a.c");
    let k = m.function(unit, "k")?.code("k", 0x40).id();
    m.frame(k)?
        .cfa(0..0x40, Loc::memory(SpaceId::DEFAULT, Val::register(rsp).plus(8)))?
        .saved(0..0x40, rip, Loc::cfa().offset(-8))?
        .saved(4..8, rbx, Loc::parts([(Loc::register(rcx), 32), (Loc::cfa(), 32)]))?;
    let cpu = (m.finish()?, Subject::Rule(k, Column::Register(rbx)), 4..8);
    let r = registers();
    let mut m = Builder::new(r.gpu.clone());
    let unit = m.unit("a.cl");
    let k = m.function(unit, "k")?.code("k", 0x40).kernel().id();
    m.frame(k)?.entry_function()?;
    let gpu = (m.finish()?, Subject::Rule(k, Column::Cfa), 0..0x40);
    let code = ObjectCode::text(vec![0; 0x40]).with_function("k", 0, 0x40);
    for (module, subject, pcs) in [cpu, gpu] {
        let consumer = Consumer::dwarf5();
        let refused = lower(&module, &consumer, Policy::Strict).expect_err("it is inexpressible");
        assert!(matches!(refused.kind(), ErrorKind::Inexpressible { .. }), "{refused}");
        let lowered = lower(&module, &consumer, Policy::Partial)?;
        let [left] = &lowered.omissions[..] else { panic!("{:?}", lowered.omissions) };
        assert_eq!((left.subject, left.pcs.clone()), (subject, Some(pcs)));
        let has_frame = lowered.sections.iter().any(|section| section.name == ".debug_frame");
        assert_eq!(has_frame, module.target().lanes() == 1);
        let object = new_object(module.target(), &code, &lowered.sections)?;
        let report = eitri::check(&module, &consumer, &lowered.omissions, &object)?;
        assert!(report.is_clean() && report.omitted == 1, "{report}");
        // Unlisted omissions are found.
        let report = eitri::check(&module, &consumer, &[], &object)?;
        assert!(!report.is_clean());
    }
    Ok(())
}
