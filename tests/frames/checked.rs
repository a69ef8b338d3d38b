//! `check` unwinds: it is clean if the object matches the module, and finds every mistake that compilers have shipped.

use eitri::build::Builder;
use eitri::check::{CheckReport, FindingKind};
use eitri::emit::Section;
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::error::{Construct, ErrorKind};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{Column, Loc, Module, Val};
use eitri::omission::Subject;
use eitri::op::Reg;
use eitri::target::{ElfIdentity, Gfx, Registers as RegisterRange, Relocations, SpaceId, Target, Wave};

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

/// A function of a CPU that moves no stack pointer, in the consumer's section, which is changed.
fn of_cpu(consumer: &Consumer, change: impl FnOnce(&mut Section)) -> CheckReport {
    let cpu = Target::x86_64();
    let [stack, pc] = ["rsp", "rip"].map(|name| cpu.register_named(name).expect("a register"));
    let mut m = Builder::new(cpu);
    let unit = m.unit("a.c");
    let f = m.function(unit, "f").expect("a function").code("f", 0x30).id();
    let mut frame = m.frame(f).expect("a frame");
    let cfa = Loc::memory(SpaceId::DEFAULT, Val::register(stack).plus(8));
    frame.cfa(0..0x30, cfa).expect("a rule").saved(0..0x30, pc, Loc::cfa().offset(-8)).expect("a rule");
    let module = m.finish().expect("a module");
    let mut sections = lower(&module, consumer, Policy::Strict).expect("sections").sections;
    let name = if consumer.frames.eh_frame { ".eh_frame" } else { ".debug_frame" };
    change(sections.iter_mut().find(|section| section.name == name).expect("the section"));
    let code = ObjectCode::text(vec![0; 0x30]).with_function("f", 0, 0x30);
    let object = new_object(module.target(), &code, &sections).expect("an object");
    eitri::check(&module, consumer, &[], &object).expect("a report")
}

/// Inserts a byte, and removes `DW_CFA_nop` at the end of the common entry.
fn insert(section: &mut Section, at: usize, byte: u8) {
    section.bytes.insert(at, byte);
    assert_eq!(section.bytes.remove(24), 0);
}

/// What a description lacks: signal handlers and exceptions (Linux Standard Base section 10.6.1.1.1), and factors that
/// change no rule of this function.
#[test]
fn fields_of_common_entries_are_compared() {
    type Change = fn(&mut Section);
    let mut of_exceptions = Consumer::dwarf5();
    (of_exceptions.frames.eh_frame, of_exceptions.frames.debug_frame) = (true, false);
    #[rustfmt::skip]
    let cases: &[(bool, &str, Change)] = &[
        // 14 00 00 00, ff ff ff ff, 04, 00, 08 00, 01 78 10, 0c 07 08, 90 01
        (false, "frame of a signal handler", |section| insert(section, 9, b'S')),
        (false, "code alignment factor 2", |section| section.bytes[12] = 2),
        (false, "data alignment factor -4", |section| (section.bytes[13], section.bytes[19]) = (0x7c, 2)),
        // 14 00 00 00, 00 00 00 00, 01, 7a 52 00, 01 78 10, 01 1b, 0c 07 08, 90 01
        (true, "frame of a signal handler", |section| insert(section, 11, b'S')),
        (true, "language-specific data 0x1234", |section| {
            // zLR, with data of two bytes.
            insert(section, 10, b'L');
            section.bytes[16] = 2;
            insert(section, 17, 2);
            // In the frame's entry the data follows length, pointer, address, and size.
            assert_eq!(section.bytes[40..43], [0; 3]);
            section.bytes[40..43].copy_from_slice(&[2, 0x34, 0x12]);
        }),
        (true, "personality routine 0x1234", |section| {
            // zPR, with a pointer of two bytes: the common entry grows by 8 bytes.
            let entry = [0x1c, 0, 0, 0, 0, 0, 0, 0, 1, b'z', b'P', b'R', 0, 1, 0x78, 0x10, 4, 2, 0x34, 0x12, 0x1b];
            let rest = [0x0c, 7, 8, 0x90, 1, 0, 0, 0, 0, 0, 0];
            section.bytes.splice(..24, entry.into_iter().chain(rest));
            section.bytes[36] += 8;
            section.relocations.iter_mut().for_each(|field| field.offset += 8);
        }),
    ];
    for &(is_of_exceptions, expected, change) in cases {
        let consumer = if is_of_exceptions { &of_exceptions } else { &Consumer::dwarf5() };
        let report = of_cpu(consumer, |_| {});
        assert!(report.is_clean(), "{report}");
        let report = of_cpu(consumer, change);
        let is_found = report
            .findings
            .iter()
            .any(|finding| finding.kind == FindingKind::Attribute && finding.found == expected);
        assert!(is_found, "{expected}: {report}");
    }
}

/// A function of a target whose return address register has the number 300, and whose factored offsets are negative.
fn of_other_target(cfa: i64) -> Module {
    let mut target = Target::builder("other", 1);
    target.registers(RegisterRange::named(1, ["sp"], 64)).registers(RegisterRange::named(300, ["ra"], 64));
    let relocations = Relocations { abs32: 10, abs64: 1, relative32: 2 };
    target.elf(ElfIdentity { machine: 62, flags: 0, os_abi: 0, abi_version: 0, relocations });
    target.return_register("ra", false).cfa_register("sp").data_alignment(-1).eh_frame();
    let mut m = Builder::new(target.build().expect("a target"));
    let unit = m.unit("a.c");
    let f = m.function(unit, "f").expect("a function").code("f", 16).id();
    let mut frame = m.frame(f).expect("a frame");
    let cfa = Loc::memory(SpaceId::DEFAULT, Val::register(Reg(1)).plus(cfa));
    frame.cfa(0..16, cfa).expect("a rule").saved(0..16, Reg(300), Loc::cfa().offset(-8)).expect("a rule");
    m.finish().expect("a module")
}

/// Version 1 has one byte for the register: DWARF 2 section 6.4.1, Linux Standard Base section 10.6.1.1.1.
#[test]
fn return_register_that_needs_two_bytes_is_omitted_before_version_3() {
    let module = of_other_target(8);
    let mut of_exceptions = Consumer::dwarf5();
    (of_exceptions.frames.eh_frame, of_exceptions.frames.debug_frame) = (true, false);
    let mut version_2 = Consumer::dwarf5();
    version_2.version = 2;
    let code = ObjectCode::text(vec![0; 16]).with_function("f", 0, 16);
    for consumer in [of_exceptions, version_2] {
        let error = lower(&module, &consumer, Policy::Strict).expect_err("the register is too large");
        let is_refused =
            matches!(error.kind(), ErrorKind::Inexpressible { what: Construct::ReturnRegister(300), .. });
        assert!(is_refused, "{error}");
        let written = lower(&module, &consumer, Policy::Partial).expect("sections");
        let object = new_object(module.target(), &code, &written.sections).expect("an object");
        let report = eitri::check(&module, &consumer, &written.omissions, &object).expect("a report");
        assert!(report.is_clean(), "{report}");
        assert!(
            written
                .sections
                .iter()
                .all(|section| section.bytes.is_empty() || !section.name.contains("frame"))
        );
    }
    for version in [3, 4, 5] {
        let mut consumer = Consumer::dwarf5();
        consumer.version = version;
        let written = lower(&module, &consumer, Policy::Strict).expect("sections");
        let frames = written.sections.iter().find(|section| section.name == ".debug_frame").expect("frames");
        // Factors 1 and -1, and 300 as a number of two bytes.
        assert!(frames.bytes.windows(4).any(|bytes| bytes == [1, 0x7f, 0xac, 2]), "{:x?}", frames.bytes);
    }
}

/// The quotient of the lowest offset and a factor of -1 is not a number of 64 bits.
#[test]
fn lowest_offset_from_a_register_has_an_expression() {
    let module = of_other_target(i64::MIN);
    let code = ObjectCode::text(vec![0; 16]).with_function("f", 0, 16);
    for consumer in [Consumer::dwarf5(), Consumer::llvm()] {
        let written = lower(&module, &consumer, Policy::Strict).expect("sections");
        let object = new_object(module.target(), &code, &written.sections).expect("an object");
        let report = eitri::check(&module, &consumer, &[], &object).expect("a report");
        assert!(report.is_clean(), "{report}");
    }
}
