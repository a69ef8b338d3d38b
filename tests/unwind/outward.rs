//! Frame by frame: the pc for lookup, the outermost frame, and errors on the way.

use eitri::eval::{CallStack, Class, Context, Evaluator, Machine, Snapshot};
use eitri::op::Reg;
use eitri::read::FrameSection;
use eitri::target::{SpaceId, Target};
use pretty_assertions::assert_eq;

use crate::common;
use crate::unwind::cfi::{ENCODING, Program, Section, ops};
use crate::unwind::rules::{machine, section};

/// Pcs of all frames, and the error that ended them.
fn outward(section: &Section, machine: &Snapshot) -> (Vec<u64>, Option<(Option<Class>, String)>) {
    let frames = [section.read()];
    let target = Target::x86_64();
    let stack = CallStack::new(machine, &frames, &target).with_frame_limit(100);
    let mut pcs = Vec::new();
    let mut stopped = None;
    for frame in stack.frames() {
        match frame {
            Ok(frame) => pcs.push(frame.pc()),
            Err(fault) => stopped = Some((fault.class(), fault.to_string())),
        }
    }
    (pcs, stopped)
}

fn first() -> Program {
    Program::new().def_cfa(7, 16).offset(16, 1)
}

/// DWARF 5, section 6.4.4: the instruction before the return address is the call, which can be the last one of its
/// function.
#[test]
fn the_row_of_a_caller_is_that_of_the_call() {
    let mut section = Section::default();
    let cie = section.cie("", -8, 16, &first());
    section.fde(cie, 0x1000, 0x100, &Program::new());
    // The call is the last instruction before 0x2001, at which another row, or another function, begins.
    section.fde(cie, 0x2000, 1, &Program::new().undefined(16));
    section.fde(cie, 0x2001, 0xff, &Program::new());
    assert_eq!(outward(&section, &machine()), (vec![0x1000, 0x2000], None));
}

/// Rules and pcs of frames use addresses of the file; return addresses are loaded ones. By hand: `rsp` is 0x7000, the
/// CFA 0x7010 and then 0x7020, the return addresses are at 0x7008 and 0x7018.
#[test]
fn return_addresses_are_where_the_file_is_loaded() {
    let mut section = Section::default();
    let cie = section.cie("", -8, 16, &first());
    section.fde(cie, 0x1000, 0x100, &Program::new());
    section.fde(cie, 0x2000, 0x100, &Program::new());
    section.fde(cie, 0x3000, 0x100, &Program::new().undefined(16));
    // The second bias moves below the file's addresses, modulo 2^64.
    for (load_bias, [first, second]) in [
        (0, [0x2005, 0x3009]),
        (0x5555_0000_0000, [0x5555_0000_2005, 0x5555_0000_3009]),
        (0xffff_ffff_ffff_f000, [0x1005, 0x2009]),
        (0xffff_ffff_ffff_d000, [0xffff_ffff_ffff_f005, 0x9]),
    ] {
        let mut machine = {
            let mut changed = machine();
            changed.load_bias = load_bias;
            changed.pc = Some(0x1004);
            changed
        };
        machine.store(SpaceId::DEFAULT, None, 0x7008, &u64::to_le_bytes(first));
        machine.store(SpaceId::DEFAULT, None, 0x7018, &u64::to_le_bytes(second));
        assert_eq!(outward(&section, &machine), (vec![0x1004, 0x2004, 0x3008], None), "{load_bias:#x}");
        let frames = [section.read()];
        let target = Target::x86_64();
        let stack = CallStack::new(&machine, &frames, &target);
        let resumes = stack.frames().map(|frame| frame.expect("a frame").resumes_at());
        assert_eq!(resumes.collect::<Vec<_>>(), [0x1004, 0x2005, 0x3009], "{load_bias:#x}");
    }
}

/// An interrupted function has made no call: augmentation `S`.
#[test]
fn the_row_of_what_a_signal_interrupted_is_that_of_the_pc_itself() {
    let mut section = Section::default();
    let cie = section.cie("zS", -8, 16, &first());
    let plain = section.cie("", -8, 16, &first());
    section.fde(cie, 0x1000, 0x100, &Program::new());
    section.fde(plain, 0x2000, 1, &Program::new());
    section.fde(plain, 0x2001, 0xff, &Program::new().undefined(16));
    let machine = machine();
    assert_eq!(outward(&section, &machine), (vec![0x1000, 0x2001], None));
    let frames = [section.read()];
    let target = Target::x86_64();
    let stack = CallStack::new(&machine, &frames, &target);
    let all: Vec<_> = stack.frames().map(|frame| frame.expect("a frame").is_signal()).collect();
    assert_eq!(all, [true, false]);
}

#[test]
fn faults_name_what_is_known() {
    let stopped = |section: &Section, machine: &Snapshot| {
        let (pcs, stopped) = outward(section, machine);
        let (class, text) = stopped.expect("a fault");
        (pcs.len(), class, text)
    };
    // The caller's caller has no entry.
    let mut lonely = Section::default();
    let cie = lonely.cie("", -8, 16, &first());
    lonely.fde(cie, 0x1000, 0x100, &Program::new());
    let (frames, class, text) = stopped(&lonely, &machine());
    assert_eq!((frames, class), (2, Some(Class::Evaluation)));
    assert_eq!(text, "frame 1, pc 0x2000: evaluation error: no call frame information has code at this pc");
    // A return address of 0, which is never that of a call.
    let mut zero = machine();
    zero.store(SpaceId::DEFAULT, None, 0x7008, &[0; 8]);
    let (frames, class, text) = stopped(&section(Program::new()), &zero);
    assert_eq!((frames, class), (1, Some(Class::Evaluation)));
    assert_eq!(
        text,
        "frame 0, pc 0x1000, `.debug_frame` entry at 0x15, register 16, rule offset(-8): \
         evaluation error: the return address is 0"
    );
    // Unmapped memory.
    let mut unmapped = machine();
    unmapped.registers.insert(Reg(7), 0xdead_0000u64.to_le_bytes().to_vec());
    let (frames, class, text) = stopped(&section(Program::new()), &unmapped);
    assert_eq!((frames, class), (1, Some(Class::Evaluation)), "{text}");
    assert!(text.contains("register 16, rule offset(-8)") && text.contains("not mapped"), "{text}");
    // A CFA that cannot be read.
    let mut unknown = machine();
    unknown.registers.remove(&Reg(7));
    let (_, class, text) = stopped(&section(Program::new()), &unknown);
    assert_eq!(class, Some(Class::Evaluation), "{text}");
    assert!(text.contains("canonical frame address, rule register 7+16: evaluation error"), "{text}");
    // An unknown instruction.
    let (frames, class, text) = stopped(&section(Program::new().op(0x3f, [])), &machine());
    assert_eq!((frames, class), (1, None), "{text}");
    assert!(text.contains("frame 0, pc 0x1000, `.debug_frame` entry at 0x15: "), "{text}");
    assert!(text.contains("call frame instruction 0x3f"), "{text}");
    // An unknown pc.
    let nowhere = {
        let mut changed = machine();
        changed.pc = None;
        changed
    };
    let (frames, class, text) = stopped(&section(Program::new()), &nowhere);
    assert_eq!((frames, class), (0, Some(Class::Evaluation)), "{text}");
}

/// A fault in the rules of an inner frame is reported as the cause.
#[test]
fn a_fault_within_is_the_cause() {
    let target = Target::x86_64();
    let mut section = Section::default();
    let cie = section.cie("", -8, 16, &first());
    section.fde(cie, 0x1000, 0x100, &Program::new().register(3, 17));
    section.fde(cie, 0x2000, 0x100, &Program::new().at(12, &ops(&target, "drop; regx rbx")));
    section.fde(cie, 0x3000, 0x100, &Program::new().undefined(16));
    let mut machine = machine();
    machine.store(SpaceId::DEFAULT, None, 0x7018, &0x3005u64.to_le_bytes());
    let frames = [section.read()];
    let stack = CallStack::new(&machine, &frames, &target);
    let last = stack.frame(2).expect("frames").expect("a frame");
    let fault = last.register(Reg(12)).expect_err("a fault");
    assert_eq!((fault.frame, fault.class()), (0, Some(Class::IllFormed)), "{fault}");
    assert_eq!(stack.saved(Reg(12), 2), None);
    // Repeated, with another register in between.
    assert_eq!(last.register(Reg(13)).map(|found| found.to_string()), Ok("reg:13".into()));
    assert_eq!(last.register(Reg(12)).expect_err("a fault"), fault);
}

/// Endless chains of frames.
#[test]
fn circles_end() {
    // The return address leads back into the same function, with a constant CFA.
    let mut section = Section::default();
    let cie = section.cie("", -8, 16, &Program::new().def_cfa(7, 16).offset(16, 1).same_value(7));
    section.fde(cie, 0x2000, 0x100, &Program::new());
    let mut machine = machine();
    machine.pc = Some(0x2001);
    let (pcs, stopped) = outward(&section, &machine);
    let (class, text) = stopped.expect("a fault");
    assert_eq!((pcs.len(), class), (1, Some(Class::Evaluation)));
    assert!(text.contains("canonical frame address of an inner frame"), "{text}");
    // Two functions that return to each other.
    let mut section = Section::default();
    let swap = Program::new().def_cfa(7, 16).same_value(7).register(16, 12);
    let cie = section.cie(
        "",
        -8,
        16,
        &swap.value(12, &ops(&Target::x86_64(), "drop; const2u 0x5000; breg12 0; minus")),
    );
    section.fde(cie, 0x2000, 0x1000, &Program::new());
    machine.registers.insert(Reg(12), 0x2801u64.to_le_bytes().to_vec());
    machine.pc = Some(0x2001);
    let (pcs, stopped) = outward(&section, &machine);
    let (class, text) = stopped.expect("a fault");
    assert_eq!(class, Some(Class::Evaluation));
    assert!(text.contains("canonical frame address of an inner frame"), "{text}");
    assert!(pcs.len() < 6 && pcs[..3] == [0x2001, 0x2800, 0x27fe], "{pcs:x?}");
    // Without a rule, the return address would be the pc.
    let mut section = Section::default();
    let cie = section.cie("", -8, 16, &Program::new().def_cfa(7, 16));
    section.fde(cie, 0x2000, 0x100, &Program::new());
    machine.registers.insert(Reg(16), 0x2001u64.to_le_bytes().to_vec());
    let (pcs, stopped) = outward(&section, &machine);
    assert_eq!(pcs, [0x2001]);
    assert!(stopped.expect("a fault").1.contains("the return address has no rule"));
    // An endless chain without a cycle.
    let mut section = Section::default();
    let cie = section.cie("", -8, 16, &Program::new().def_cfa(7, 16).register(16, 12));
    section.fde(cie, 0x2000, 0x100, &Program::new());
    let (pcs, stopped) = outward(&section, &{
        let mut changed = machine.clone();
        changed.registers = with(&machine, 12, 0x2005);
        changed
    });
    assert_eq!(pcs.len(), 100);
    assert!(stopped.expect("a fault").1.contains("more than 100 frames"));
}

fn with(machine: &Snapshot, reg: u64, value: u64) -> std::collections::BTreeMap<Reg, Vec<u8>> {
    let mut registers = machine.registers.clone();
    registers.insert(Reg(reg), value.to_le_bytes().to_vec());
    registers
}

/// Expressions of outer frames whose rules query other frames, for all frames.
#[test]
fn rules_of_many_frames_that_ask_for_each_other() {
    let target = Target::x86_64();
    let mut section = Section::default();
    // rbx increases by 1 in each caller.
    let next = ops(&target, "drop; breg3 1");
    let cie = section.cie("", -8, 16, &Program::new().def_cfa(7, 16).register(16, 12).value(3, &next));
    section.fde(cie, 0x2000, 0x100, &Program::new());
    let mut machine = machine();
    (machine.pc, machine.registers) = (Some(0x2001), with(&machine, 12, 0x2005));
    let frames = [section.read()];
    let stack = CallStack::new(&machine, &frames, &target);
    let context = Context::new(ENCODING, &target).with_frame(3000);
    let value = Evaluator::new().value(&ops(&target, "breg3 0"), &stack, &context);
    assert_eq!(value.expect("a value").as_u64(), Some(0x1003 + 3000));
    assert_eq!(
        stack.frame(3000).expect("a frame").expect("one").cfa().expect("a CFA").to_string(),
        "mem:0:0x12b90"
    );
}

/// `regx`, `entry_value`, `call_frame_entry_reg`, `call_frame_cfa` and location lists use the frame of the expression.
#[test]
fn expressions_of_outer_frames() {
    let target = Target::x86_64();
    let mut section = Section::default();
    let cie = section.cie("", -8, 16, &first());
    section.fde(cie, 0x1000, 0x100, &Program::new().offset(3, 2));
    section.fde(cie, 0x2000, 0x100, &Program::new().register(3, 12));
    section.fde(cie, 0x3000, 0x100, &Program::new().undefined(16));
    let mut machine = machine();
    machine.store(SpaceId::DEFAULT, None, 0x7018, &0x3005u64.to_le_bytes());
    let frames = [section.read()];
    let stack = CallStack::new(&machine, &frames, &target);
    let mut evaluator = Evaluator::new();
    let mut at = |frame, expr: &str| {
        let frame = stack.frame(frame).expect("frames").expect("a frame");
        evaluator
            .location(&ops(&target, expr), &stack, &frame.context(ENCODING))
            .expect("a location")
            .to_string()
    };
    assert_eq!(
        [at(0, "regx rbx"), at(1, "regx rbx"), at(2, "regx rbx")],
        ["reg:3", "mem:0:0x7000", "reg:12"]
    );
    assert_eq!([at(0, "call_frame_cfa"), at(2, "call_frame_cfa")], ["mem:0:0x7010", "mem:0:0x7030"]);
    assert_eq!(
        [at(0, "call_frame_entry_reg rbx"), at(1, "call_frame_entry_reg rbx")],
        ["mem:0:0x7000", "reg:12"]
    );
    // The bytes at 0x7000, and the contents of r12.
    let first: String = (0..8).map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(at(0, "entry_value (reg3); stack_value"), format!("implicit:{first}"));
    assert_eq!(at(1, "entry_value (reg3); stack_value"), "implicit:0c10000000000000");
    assert_eq!(
        [0, 1, 2, 3].map(|frame| Machine::pc(&stack, frame)),
        [Some(0x1000), Some(0x2000), Some(0x3004), None]
    );
    assert_eq!(Machine::cfa(&stack, 3), None);
    assert_eq!(Machine::saved(&stack, Reg(3), 4), None);
}

/// Unreadable registers and bytes outside of registers are refused.
#[test]
fn registers_are_read() {
    let target = Target::x86_64();
    let section = section(Program::new().offset(3, 2).undefined(12).offset(13, 0x40).register(14, 17));
    let frames = [section.read()];
    let machine = machine();
    let stack = CallStack::new(&machine, &frames, &target);
    let caller = stack.frame(1).expect("frames").expect("a frame");
    let read = |reg, at, bytes: usize| {
        let mut into = vec![0; bytes];
        caller.read_register(Reg(reg), at, &mut into).map(|()| into)
    };
    assert_eq!(read(3, 0, 8), Ok((0..8).collect()));
    assert_eq!(read(3, 5, 3), Ok(vec![5, 6, 7]));
    // An unchanged register, and rsp, which is the CFA.
    assert_eq!(read(15, 0, 8), Ok(0x100fu64.to_le_bytes().to_vec()));
    assert_eq!(read(7, 0, 8), Ok(0x7010u64.to_le_bytes().to_vec()));
    for (reg, at, bytes, class) in [
        (3, 1, 8, Class::Evaluation),
        (3, u32::MAX, 8, Class::Evaluation),
        (12, 0, 8, Class::Evaluation),
        (13, 0, 8, Class::Unmapped),
        (14, 0, 8, Class::IllFormed),
        (17, 0, 16, Class::Evaluation),
        (58, 0, 8, Class::Unmapped),
        (99, 0, 1, Class::IllFormed),
    ] {
        let fault = read(reg, at, bytes).expect_err("a fault");
        assert_eq!(fault.class(), Some(class), "{fault}");
        assert!(fault.to_string().contains(&format!("register {reg}")), "{fault}");
    }
}

/// On a big-endian machine, bytes of registers still count from the least significant one.
#[test]
fn registers_are_read_on_a_big_endian_machine() {
    let target = Target::s390x();
    let mut section = Section::default();
    // s390x: r14 has the return address, the CFA is r15 + 160, and r15 is saved in its slot there.
    let cie = section.cie("", -8, 14, &Program::new().def_cfa(15, 160));
    section.fde(cie, 0x1000, 0x100, &Program::new().offset(15, 5));
    section.fde(cie, 0x2000, 0x100, &Program::new().undefined(14));
    let mut machine = common::with::<Snapshot>(|machine| {
        machine.pc = Some(0x1000);
        machine.big_endian = true;
    });
    machine.registers.insert(Reg(14), 0x2002u64.to_le_bytes().to_vec());
    machine.registers.insert(Reg(15), 0x7000u64.to_le_bytes().to_vec());
    machine.store(SpaceId::DEFAULT, None, 0x7078, &0x1122_3344_5566_7788u64.to_be_bytes());
    // A `.debug_frame` of this target would be big-endian; the byte order of the section does not matter here.
    let frames = [section.read()];
    let stack = CallStack::new(&machine, &frames, &target);
    let caller = stack.frame(1).expect("frames").expect("a frame");
    assert_eq!((caller.pc(), caller.resumes_at()), (0x2001, 0x2002));
    let mut bytes = [0; 8];
    caller.read_register(Reg(15), 0, &mut bytes).expect("it is saved");
    assert_eq!(u64::from_le_bytes(bytes), 0x1122_3344_5566_7788);
    caller.read_register(Reg(15), 2, &mut bytes[..2]).expect("it is saved");
    assert_eq!(bytes[..2], [0x66, 0x55]);
}

/// The first section that contains the pc is used.
#[test]
fn sections_of_several_files() {
    let one = section(Program::new().undefined(3));
    let mut other = Section::default();
    let cie = other.cie("", -8, 16, &first());
    other.fde(cie, 0x1000, 0x100, &Program::new().offset(3, 2));
    other.fde(cie, 0x5000, 0x100, &Program::new().undefined(16));
    let mut machine = machine();
    machine.store(SpaceId::DEFAULT, None, 0x7008, &0x5001u64.to_le_bytes());
    let frames = [one.read(), other.read()];
    let target = Target::x86_64();
    let stack = CallStack::new(&machine, &frames, &target);
    let caller = stack.frame(1).expect("frames").expect("a frame");
    assert_eq!(caller.register(Reg(3)).expect("a location").to_string(), "undefined");
    assert_eq!(
        caller.entry().map(|(section, fde, _)| (section, fde.start)),
        Some((FrameSection::Debug, 0x5000))
    );
    assert!(caller.step_out().expect("the end").is_none());
}

/// A CIE with an unknown augmentation cannot be read any further, and its FDEs only provide their code ranges
/// (A.6.4.1). Other entries of the section are unaffected.
#[test]
fn an_augmentation_that_is_not_known_spoils_its_own_functions_only() {
    let mut section = Section::default();
    let weird = section.cie("weird", -8, 16, &Program::new().def_cfa(7, 16));
    section.fde(weird, 0x1000, 0x100, &Program::new());
    let plain = section.cie("", -8, 16, &Program::new().def_cfa(7, 16).offset(16, 1));
    section.fde(plain, 0x2000, 0x100, &Program::new());
    let frames = section.read();
    assert_eq!(frames.cies.iter().map(|cie| cie.is_known).collect::<Vec<_>>(), [false, true]);
    assert_eq!(
        frames.fdes.iter().map(|fde| (fde.start, fde.length)).collect::<Vec<_>>(),
        [(0x1000, 0x100), (0x2000, 0x100)]
    );
    assert!(frames.row_at(0x2000).is_ok_and(|row| row.is_some()));
    let error = frames.row_at(0x1000).unwrap_err().to_string();
    assert!(error.contains("augmentation \"weird\""), "{error}");
    assert!(frames.instructions(&frames.fdes[0]).next().is_some_and(|one| one.is_err()));
}
