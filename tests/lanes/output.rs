//! Output for each consumer, and detection of faults in it.

use eitri::build::Builder;
use eitri::check::CheckReport;
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{Address, FunctionId, Loc, Module, RegionKind, SourceLine};
use eitri::omission::Subject;
use eitri::read::{Dwarf, Object, ReadOptions};
use eitri::target::{Gfx, Target, Wave};
use gimli::DwAt;

fn gpu() -> Target {
    Target::amdgpu(Gfx::GFX90A, Wave::W64).expect("the processor runs such waves")
}

fn pair(first: u16) -> Loc {
    Loc::over([first, first + 1].map(|number| gpu().sgpr(number).expect("a register")))
}

/// A fault in a description.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// The lanes of the other side.
    Polarity,
    /// The procedure of another region, as at the end of the inner `if` in AMD's published example.
    Procedure,
    /// The pcs of a region end an instruction late.
    Late,
    /// The pcs of a region begin an instruction early.
    Early,
    /// A region is missing.
    Missing,
    /// Lanes wait at another position.
    WaitsElsewhere,
    /// The mask is in its old location after it moved.
    Stale,
    /// EXEC instead of the mask in whole-wave code.
    NotWhole,
    /// The inlined call has the lanes of its caller.
    Inlined,
}

/// A function with an `if`, which contains a loop with a nested `if`, an inlined call, and whole-wave code.
fn module(fault: Fault) -> (Module, FunctionId) {
    let is = |other| fault == other;
    let mut m = Builder::new(gpu());
    let unit = m.unit("a.cl");
    let kernel = m.function(unit, "k").expect("a function").code("k", 0x100).stack_at_zero().id();
    let callee = m.function(unit, "callee").expect("a function").id();
    let call = SourceLine::new(m.primary_file(unit).expect("the file"), 3);
    let inlined = m.inlined(kernel, callee, &[0x84..0x98], call).expect("a call");
    let v40 = gpu().vgpr(40).expect("a register");
    let moved = if is(Fault::Stale) {
        vec![(0..0x100, pair(4))]
    } else {
        vec![(0..0x30, pair(4)), (0x30..0x100, Loc::lanes([(v40, 2), (v40, 3)]))]
    };
    let end = match fault {
        Fault::Late => 0x64,
        _ => 0x60,
    };
    let start = if is(Fault::Early) { 0x0c } else { 0x10 };
    let mut lanes = m.lanes(kernel).expect("a function");
    let mut two_sides = || -> eitri::Result<()> {
        let then = lanes.if_then(start..end, 0x08, &moved)?;
        lanes.inside(then)?;
        let around = lanes.loop_(0x20..0x5c, 0x5c, &[(0..0x100, pair(6))])?;
        if !is(Fault::Missing) {
            // The inner `if` is in the loop.
            let pcs = 0x28..0x40;
            let masks = [(0..0x100, pair(8))];
            if is(Fault::Procedure) {
                lanes.inside(around)?.region(RegionKind::Then, 0x28..0x3c, 0x24, &masks)?;
            } else {
                let at = if is(Fault::WaitsElsewhere) { 0x28 } else { 0x24 };
                lanes.inside(around)?.if_then(pcs, at, &masks)?;
            }
        }
        Ok(())
    };
    two_sides().expect("an if");
    let negated = Loc::value(pair(4).read(64).not());
    let other = if is(Fault::Polarity) { vec![(0..0x100, negated)] } else { moved.clone() };
    let mut lanes = m.lanes(kernel).expect("a function");
    let other = lanes.region(RegionKind::Else, end..0xa0, 0xa0, &other).expect("the other side");
    if !is(Fault::NotWhole) {
        lanes.whole_wave(0xb0..0xc0, &pair(10)).expect("whole-wave code");
    }
    let around = if is(Fault::Inlined) { m.lanes(kernel) } else { m.lanes(inlined) };
    let mut lanes = around.expect("a function or inlined call");
    lanes.inside(other).expect("the other side");
    lanes.if_then(0x88..0x94, 0x84, &[(0..0x100, pair(12))]).expect("an if");
    (m.finish().expect("it is right"), kernel)
}

fn object(module: &Module, consumer: &Consumer) -> (Vec<eitri::omission::Omission>, Vec<u8>) {
    let written = lower(module, consumer, Policy::Partial).expect("it is written");
    let code = ObjectCode::text(vec![0; 0x100]).with_function("k", 0, 0x100);
    (written.omissions, new_object(module.target(), &code, &written.sections).expect("an object"))
}

/// Findings for an object written from the faulty module.
fn found(fault: Fault) -> CheckReport {
    let consumer = Consumer::rocgdb();
    let (left_out, bytes) = object(&module(fault).0, &consumer);
    eitri::check(&module(Fault::None).0, &consumer, &left_out, &bytes).expect("it can be read")
}

#[test]
fn correct_lane_output_is_clean() {
    for consumer in [Consumer::llvm(), Consumer::rocgdb(), Consumer::rocgdb_legacy(), Consumer::dwarf5()] {
        for version in 2..=5 {
            for format in [gimli::Format::Dwarf32, gimli::Format::Dwarf64] {
                let mut consumer = consumer.clone();
                (consumer.version, consumer.format) = (version, format);
                let (module, _) = module(Fault::None);
                let (left_out, bytes) = object(&module, &consumer);
                let report = eitri::check(&module, &consumer, &left_out, &bytes).expect("it can be read");
                assert!(report.is_clean(), "{}, DWARF {version}: {report}", consumer.name);
                // DWARF 2 has no calls, and DWARF 3 has no `stack_value`; lanes in no region are described all the
                // same.
                let is_encoded =
                    if version > 2 { consumer.attributes.lane_pc } else { consumer.attributes.active_lane };
                assert_eq!(
                    report.locations > 0,
                    is_encoded.is_some(),
                    "{}, DWARF {version}: {report}",
                    consumer.name
                );
            }
        }
    }
}

#[test]
fn each_mistake_is_found() {
    assert!(found(Fault::None).is_clean());
    for (fault, pc) in [
        (Fault::Polarity, 0x60),
        (Fault::Procedure, 0x3c),
        (Fault::Late, 0x60),
        (Fault::Early, 0x0c),
        (Fault::Missing, 0x28),
        (Fault::WaitsElsewhere, 0x28),
        (Fault::Stale, 0x30),
        (Fault::NotWhole, 0xb0),
        (Fault::Inlined, 0x88),
    ] {
        let report = found(fault);
        let is_here = |pcs: &Option<std::ops::Range<u64>>| pcs.as_ref().is_some_and(|pcs| pcs.start == pc);
        let first = report.findings.iter().find(|finding| is_here(&finding.at.pcs));
        let first = first.unwrap_or_else(|| panic!("{fault:?} is not found at {pc:#x}: {report}"));
        assert_eq!(first.at.function.as_deref(), Some("k"));
        // A region that is not described is in no other list either.
        assert!(first.lane.is_some() || fault == Fault::NotWhole, "{fault:?}: {report}");
    }
}

/// Reports for objects with one occurrence of some bytes replaced, for each occurrence.
fn patched(from: &[u8], to: &[u8]) -> Vec<CheckReport> {
    let consumer = Consumer::rocgdb();
    let (module, _) = module(Fault::None);
    let (left_out, bytes) = object(&module, &consumer);
    let places: Vec<usize> =
        (0..bytes.len() - from.len()).filter(|&at| bytes[at..].starts_with(from)).collect();
    assert!(!places.is_empty(), "{from:02x?} is not written");
    let patched = |&at: &usize| {
        let mut bytes = bytes.clone();
        bytes[at..at + to.len()].copy_from_slice(to);
        eitri::check(&module, &consumer, &left_out, &bytes).expect("it can be read")
    };
    places.iter().map(patched).collect()
}

#[test]
fn mistakes_of_the_bytes_are_found() {
    // extend 64, 64; select_bit_piece 64, 64: half of the lanes.
    for code in [0x0b, 0x0c] {
        for report in patched(&[0xe9, code, 0x40, 0x40], &[0xe9, code, 0x40, 0x20]) {
            assert!(!report.is_clean());
        }
    }
    // piece_end; deref: 64 bytes, as in the published example (deref_size 64 replaces both).
    for report in patched(&[0xe9, 0x0a, 0x06], &[0x94, 0x40, 0x96]) {
        assert!(!report.is_clean());
    }
    // undefined, for lanes that did not enter: replaced by the value 0 (lit0; stack_value).
    for report in patched(&[0xe9, 0x08, 0xe9, 0x0b], &[0x30, 0x9f, 0xe9, 0x0b]) {
        assert!(!report.is_clean());
    }
    // reg17, EXEC: replaced by reg16, the pc.
    for report in patched(&[0x61, 0x06, 0xe9, 0x0c], &[0x60, 0x06, 0xe9, 0x0c]) {
        assert!(!report.is_clean());
    }
    // The second call in an entry of a list: replaced by the procedure of the first call.
    let (module, _) = module(Fault::None);
    let (_, bytes) = object(&module, &Consumer::rocgdb());
    let object = Object::read(&bytes).expect("an object");
    let dwarf = Dwarf::read(&object).expect("DWARF");
    let kernel = dwarf.entries().find(|entry| entry.attr(DwAt(0x3e0b)).is_some()).expect("the kernel");
    let lists = kernel.locations(DwAt(0x3e0b)).expect("a list").expect("a list");
    let mut calls: Vec<Vec<u8>> =
        lists.iter().map(|one| one.expr.to_vec()).filter(|expr| expr.len() == 9).collect();
    calls.sort();
    calls.dedup();
    assert!(calls.len() > 2, "{calls:02x?}");
    for expr in calls {
        let mut other = expr.clone();
        other.copy_within(0..3, 3);
        for report in patched(&expr, &other) {
            assert!(!report.is_clean(), "{expr:02x?}");
        }
    }
}

#[test]
fn attributes_have_the_numbers_of_the_consumer() {
    let (module, kernel) = module(Fault::None);
    for (consumer, lane_pc, active_lane) in [
        (Consumer::llvm(), Some(0x3e12), None),
        (Consumer::rocgdb(), Some(0x3e0b), Some(0x3e08)),
        (Consumer::rocgdb_legacy(), Some(0x3e0b), Some(0x3e08)),
        (Consumer::dwarf5(), None, None),
    ] {
        let (left_out, bytes) = object(&module, &consumer);
        let object = Object::read(&bytes).expect("an object");
        let dwarf = Dwarf::read_with(
            &object,
            &ReadOptions::new().dialect(consumer.expressions.dialect).draft(consumer.expressions.draft),
        )
        .expect("DWARF");
        let with = |number: Option<u16>| {
            let has =
                |entry: &eitri::read::Entry<'_, '_>| number.is_some_and(|at| entry.attr(DwAt(at)).is_some());
            dwarf.entries().filter(has).count()
        };
        // lane_pc for the kernel and the inlined call; active_lane for the kernel, which has whole-wave code.
        assert_eq!(with(lane_pc), 2 * usize::from(lane_pc.is_some()), "{}", consumer.name);
        assert_eq!(with(active_lane), usize::from(active_lane.is_some()), "{}", consumer.name);
        let text = eitri::dump::print(&bytes, Some(module.target())).expect("it can be read");
        assert_eq!(text.contains("DW_AT_LLVM_lane_pc"), lane_pc.is_some(), "{text}");
        assert_eq!(text.contains("DW_AT_LLVM_active_lane"), active_lane.is_some(), "{text}");

        let scope = module.function(kernel).scope;
        let expected: &[_] = match (lane_pc, active_lane) {
            (Some(_), Some(_)) => &[],
            (Some(_), None) => &[Some(0xb0..0xc0)],
            _ => &[None],
        };
        let pcs: Vec<_> = left_out.iter().map(|one| one.pcs.clone()).collect();
        assert_eq!(pcs[..expected.len()], *expected, "{}", consumer.name);
        assert!(left_out.iter().all(|one| one.subject == Subject::Scope(scope)), "{left_out:?}");
        assert_eq!(
            lower(&module, &consumer, Policy::Strict).is_err(),
            !expected.is_empty(),
            "{}",
            consumer.name
        );
    }
    let error = lower(&module, &Consumer::dwarf5(), Policy::Strict).expect_err("it is inexpressible");
    let what = "unit `a.cl`, function `k`: DWARF 5 cannot express the pc of each lane";
    assert_eq!(error.to_string(), what);
    let error = lower(&module, &Consumer::llvm(), Policy::Strict).expect_err("it is inexpressible");
    let what = "unit `a.cl`, function `k`, pc 0xb0..0xc0: LLVM cannot express the active lanes in \
                whole-wave code";
    assert_eq!(error.to_string(), what);
}

#[test]
fn descriptions_come_back() {
    let (module, _) = module(Fault::None);
    let text = module.to_json();
    let again = Module::from_json(&text).expect("it is right");
    assert!(again == module, "{text}");
    assert_eq!(again.to_json(), text);
    assert!(module != self::module(Fault::WaitsElsewhere).0 && module != self::module(Fault::Stale).0);
}

/// A function without a description of lanes has no attribute; a function without divergence has one.
#[test]
fn a_function_without_regions_needs_no_list() {
    let mut m = Builder::new(gpu());
    let unit = m.unit("a.cl");
    let kernel = m.function(unit, "k").expect("a function").code("k", 0x100).kernel().id();
    let silent = m.finish().expect("it is right");
    let consumer = Consumer::rocgdb();
    let (_, bytes) = object(&silent, &consumer);
    let text = eitri::dump::print(&bytes, Some(silent.target())).expect("it can be read");
    assert!(!text.contains("lane_pc") && !text.contains("dwarf_procedure"), "{text}");
    assert!(!silent.describes_lanes(kernel));

    let mut m = Builder::new(gpu());
    let unit = m.unit("a.cl");
    let kernel = m.function(unit, "k").expect("a function").code("k", 0x100).kernel().id();
    m.lanes(kernel).expect("a function");
    let module = m.finish().expect("it is right");
    let (left_out, bytes) = object(&module, &consumer);
    let report = eitri::check(&module, &consumer, &left_out, &bytes).expect("it can be read");
    assert!(report.is_clean() && report.locations > 0, "{report}");
    let text = eitri::dump::print(&bytes, Some(module.target())).expect("it can be read");
    assert!(text.contains("DW_AT_LLVM_lane_pc: call2"), "{text}");
    // Each is found in place of the other.
    let report = eitri::check(&silent, &consumer, &[], &bytes).expect("it can be read");
    assert!(!report.is_clean());
    let (_, bytes) = object(&silent, &consumer);
    let report = eitri::check(&module, &consumer, &[], &bytes).expect("it can be read");
    assert!(!report.is_clean());
}

/// A kernel of nested regions.
fn nested(levels: u64) -> CheckReport {
    let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("the processor runs such waves");
    let mut m = Builder::new(gpu.clone());
    let unit = m.unit("a.cl");
    let bytes = 8 * levels + 8;
    let kernel = m.function(unit, "k").expect("a function").code("k", bytes).kernel().id();
    let mut lanes = m.lanes(kernel).expect("a function");
    for level in 0..levels {
        let pcs = 4 * level..bytes - 4 * level;
        let mask = Loc::register(gpu.sgpr(level as u16).expect("a register"));
        let region = lanes.if_then(pcs.clone(), pcs.start, &[(pcs, mask)]).expect("a region");
        lanes.inside(region).expect("the region around");
    }
    let module = m.finish().expect("it is right");
    let consumer = Consumer::rocgdb();
    let written = lower(&module, &consumer, Policy::Strict).expect("it is written");
    let code = ObjectCode::text(vec![0; bytes as usize]).with_function("k", 0, bytes);
    let object = new_object(module.target(), &code, &written.sections).expect("an object");
    let report = eitri::check(&module, &consumer, &[], &object).expect("it can be read");
    assert!(report.is_clean() && report.locations > levels, "{report}");
    report
}

/// Each region calls the enclosing one. The evaluator's default limit is 32 calls, that of `check` 64 regions: deeper
/// ones are written, and listed as unproven.
#[test]
fn regions_are_nested_deeply() {
    assert!(nested(36).unproven.is_empty());
    let unproven = nested(66).unproven;
    assert_eq!(unproven.len(), 1);
    assert_eq!((unproven[0].variable, unproven[0].at.pcs.clone()), (None, Some(4 * 64..4 * 64 + 1)));
}

/// Procedures of a split unit and the lists that call them are in the split file.
#[test]
fn split_units_say_where_lanes_stand() {
    for mut consumer in [Consumer::rocgdb(), Consumer::llvm()] {
        consumer.is_split = true;
        let written_of = |fault| {
            let (module, _) = module(fault);
            let written = lower(&module, &consumer, Policy::Partial).expect("it is written");
            let code = ObjectCode::text(vec![0; 0x100]).with_function("k", 0, 0x100);
            let main = new_object(module.target(), &code, &written.sections).expect("an object");
            let files = written.split_files(module.target()).expect("files of split units");
            let files: Vec<&[u8]> = files.iter().map(|(_, bytes)| &bytes[..]).collect();
            let described = self::module(Fault::None).0;
            let report = eitri::check::check_split(&described, &consumer, &written.omissions, &main, &files);
            report.expect("they can be read")
        };
        let report = written_of(Fault::None);
        assert!(report.is_clean() && report.locations > 0, "{}: {report}", consumer.name);
        assert!(!written_of(Fault::Stale).is_clean());
    }
}

/// In DWARF 4 the pc of waiting lanes is an address. Where code is at a known address, no relocation fills it in.
#[test]
fn lanes_wait_at_an_address_in_code_without_a_symbol() -> eitri::Result<()> {
    let mut m = Builder::new(gpu());
    let unit = m.unit("a.cl");
    let kernel = m.function(unit, "k")?.kernel().id();
    m.describe_function(kernel)?.address(Address::Constant(0x7000_0000), 0x40);
    m.lanes(kernel)?.if_then(0x10..0x20, 0x08, &[(0..0x40, pair(4))])?;
    let module = m.finish()?;
    let mut consumer = Consumer::llvm();
    consumer.version = 4;
    let written = lower(&module, &consumer, Policy::Strict)?;
    // DW_OP_addr of the kernel's address and the position at which lanes wait.
    let info = written.sections.iter().find(|section| section.name == ".debug_info").expect("entries");
    let waiting = [0x03, 0x08, 0, 0, 0x70, 0, 0, 0, 0];
    assert!(info.bytes.windows(waiting.len()).any(|bytes| bytes == waiting));
    Ok(())
}
