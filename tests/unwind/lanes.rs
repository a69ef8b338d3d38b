//! Lanes: the frames that they are in, and their positions. Attributes are encoded by hand; expectations come from the
//! simulated wave, which records EXEC at each call.

use eitri::eval::{CallStack, Class, DebugInfo, Snapshot};
use eitri::op::Dialect;
use eitri::read::{Dwarf, ReadOptions, Sections};
use pretty_assertions::assert_eq;

use crate::common::with;
use crate::unwind::bytes::Bytes;
use crate::unwind::cfi::encoding;
use crate::unwind::wave::{ALL, Code, Wave, address, run};

/// Waiting position in function 1 of lanes that were active at its call and are inactive now.
const WAIT: u64 = 0x2044;

/// `DW_AT_LLVM_lane_pc` of each function; none for the kernel, in which all lanes are.
fn lane_pc(code: &Code, function: usize) -> Option<Vec<u8>> {
    let lanes = code.lanes;
    let mask = code.lanes / 8;
    let select = |mask_of: &str| format!("{mask_of} exec; deref_size {mask}; select_bit_piece 64 {lanes}");
    let on_entry = select("call_frame_entry_reg");
    let here = format!("regx pc; extend 64 {lanes}");
    let nowhere = format!("undefined; extend 64 {lanes}");
    let text = match function {
        0 => return None,
        1 => {
            let waiting = format!("addr {WAIT:#x}; stack_value; extend 64 {lanes}");
            format!("{nowhere}; {waiting}; {here}; {}; {on_entry}", select("regx"))
        }
        _ => format!("{nowhere}; {here}; {on_entry}"),
    };
    Some(code.ops(&text))
}

fn read<'a>(abbrev: &'a Bytes, info: &'a Bytes, dialect: Dialect) -> Dwarf<'a> {
    let sections = with::<Sections>(|sections| {
        sections.debug_abbrev = &abbrev.bytes;
        sections.debug_info = &info.bytes;
        sections.address_bytes = 8;
    });
    Dwarf::from_sections(sections, &ReadOptions::new().dialect(dialect)).expect("it is read")
}

/// `.debug_abbrev` and `.debug_info`: a DWARF 5 unit with four subprograms.
fn debug_info(code: &Code, lane_pc: impl Fn(usize) -> Option<Vec<u8>>) -> (Bytes, Bytes) {
    let (lanes_code, lane_pc_code) = match code.dialect {
        Dialect::Legacy => (0x3e0a, 0x3e0b),
        _ => (0x3e11, 0x3e12),
    };
    let mut abbrev = Bytes::default();
    // Low pc as address, high pc as an eight-byte constant, lanes as a one-byte constant.
    abbrev.u8s([1, 0x11, 1, 0, 0]);
    abbrev.u8s([2, 0x2e, 0, 0x11, 0x01, 0x12, 0x07]).uleb(lanes_code).u8s([0x0b, 0, 0]);
    abbrev.u8s([3, 0x2e, 0, 0x11, 0x01, 0x12, 0x07]).uleb(lanes_code).u8s([0x0b]);
    abbrev.uleb(lane_pc_code).u8s([0x18, 0, 0, 0]);
    let mut unit = Bytes::default();
    unit.u16(5).u8s([1, 8]).u32(0).u8s([1]);
    for (function, listing) in code.functions.iter().enumerate() {
        let lane_pc = lane_pc(function);
        unit.u8s([if lane_pc.is_some() { 3 } else { 2 }]);
        unit.u64(address(function)).u64(listing.len() as u64 * 4).u8s([code.lanes as u8]);
        if let Some(expr) = lane_pc {
            unit.uleb(expr.len() as u64).u8s(expr);
        }
    }
    unit.u8s([0]);
    let mut info = Bytes::default();
    info.unit(&unit);
    (abbrev, info)
}

/// Expected frames of a lane, with its positions: numbers and pcs.
fn expected(wave: &Wave, calls: &[Wave], lane: usize) -> Vec<(u32, u64)> {
    let here = |mask: u64| mask >> lane & 1 == 1;
    (0..=calls.len())
        .filter_map(|number| {
            let now = if number == 0 { wave } else { &calls[number - 1] };
            let pc = match calls.get(number) {
                None => now.pc,
                Some(then) if !here(then.exec) => return None,
                Some(_) if address(1) <= now.pc && now.pc < address(2) && !here(now.exec) => WAIT,
                Some(_) => now.pc,
            };
            Some((number as u32, pc))
        })
        .collect()
}

#[test]
fn lanes_have_frames_where_they_were_active_on_entry() {
    for (lanes, dialect) in ALL {
        let code = Code::new(lanes, dialect);
        let (abbrev, info) = debug_info(&code, |function| lane_pc(&code, function));
        let dwarf = read(&abbrev, &info, dialect);
        let info = DebugInfo::new(&dwarf);
        let section = code.section();
        let frames = [section.read_as(encoding(dialect))];
        let mut waiting = 0;
        let mut skipped = 0;
        run(&code, |wave, calls| {
            let stack = CallStack::new(wave, &frames, &code.target).with_debug_info(&info);
            for lane in 0..lanes as u32 {
                let found = stack.frames_of_lane(lane).map(|frame| {
                    let frame = frame.unwrap_or_else(|fault| panic!("{fault}"));
                    (frame.number(), frame.lane_pc(lane).expect("a pc").expect("the lane is there"))
                });
                let found: Vec<_> = found.collect();
                assert_eq!(found, expected(wave, calls, lane as usize), "lane {lane}, pc {:#x}", wave.pc);
                waiting += found.iter().filter(|(_, pc)| *pc == WAIT).count();
                skipped += calls.len() + 1 - found.len();
            }
            let frame = stack.innermost().expect("a frame");
            assert_eq!(frame.lanes(), lanes as u64);
            let fault = frame.lane_pc(lanes as u32).expect_err("there is no such lane");
            assert_eq!(fault.class(), Some(Class::Evaluation));
            // Without debug information, lanes are in all frames.
            let stack = CallStack::new(wave, &frames, &code.target);
            let found = stack.frames_of_lane(1).map(|frame| frame.expect("a frame").number());
            assert!(found.eq(0..=calls.len() as u32));
        });
        assert!(waiting > 100 && skipped > 1000, "{waiting}, {skipped}");
    }
}

/// `DW_OP_addr` gives loaded addresses; the pc of a lane is an address of the file, like that of its frame.
#[test]
fn pcs_of_lanes_are_of_the_file() {
    let (lanes, dialect) = ALL[0];
    let code = Code::new(lanes, dialect);
    let waiting = code.ops(&format!("addr {WAIT:#x}; stack_value; extend 64 {lanes}"));
    let (abbrev, info) = debug_info(&code, |_| Some(waiting.clone()));
    let dwarf = read(&abbrev, &info, dialect);
    let info = DebugInfo::new(&dwarf);
    let machine = with::<Snapshot>(|machine| {
        machine.load_bias = 0x1_2345_4000;
        machine.pc = Some(address(1));
        machine.lanes = Some(lanes as u64);
    });
    let stack = CallStack::new(&machine, &[], &code.target).with_debug_info(&info);
    let found = stack.innermost().expect("a frame").lane_pc(1).expect("a pc");
    assert_eq!(found, Some(WAIT), "a pc of the file");
}
