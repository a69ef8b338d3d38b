//! The promise: a damaged cubin gives an error or an answer, in time and memory that its size bounds. Nothing panics.
//!
//! Each is read, printed, evaluated, diagnosed, measured and compared with its description.

use crate::common::cases::{Random, cases};
use crate::common::{cubin, with};

use std::time::Instant;

use eitri::check::coverage;
use eitri::dump::{DumpOptions, dump};
use eitri::eval::{Context, DebugInfo, Evaluator, PtxRegisters, Snapshot, WithDebugInfo, read_bits};
use eitri::lower::Consumer;
use eitri::model::Module;
use eitri::read::nvidia::RegisterMap;
use eitri::read::{Dwarf, Entry, Object};

/// Number of uses of a cubin that ended without an error, in the order of [`use_up`].
type Uses = [u64; 6];

fn use_up(bytes: &[u8], module: &Module, uses: &mut Uses) {
    uses[3] += u64::from(eitri::lint::lint(bytes, &eitri::lint::LintOptions::default()).is_ok());
    uses[4] += u64::from(eitri::stats::stats(bytes, &eitri::stats::StatsOptions::default()).is_ok());
    uses[5] += u64::from(coverage(module, &Consumer::cuda_gdb(), bytes).is_ok());
    let Ok(object) = Object::read(bytes) else { return };
    uses[0] += 1;
    let Ok(dwarf) = Dwarf::read(&object) else { return };
    let text = dump(&object, &dwarf, None, {
        let mut options = DumpOptions::default();
        options.verbose = true;
        options
    });
    assert!(text.len() < 64 * bytes.len() + 65536, "the dump has {} bytes", text.len());
    uses[1] += 1;
    uses[2] += u64::from(evaluated(&object, &dwarf, module).is_some());
}

/// Reads each variable at a few pcs by way of the map of registers; `None` without a map.
fn evaluated(object: &Object<'_>, dwarf: &Dwarf<'_>, module: &Module) -> Option<()> {
    let map = RegisterMap::read(object).ok()?;
    let info = DebugInfo::new(dwarf);
    let machine = with::<Snapshot>(|machine| {
        machine.lane = Some(3);
        machine.lanes = Some(32);
    });
    let mut start = object.symbol("k").map_or(0, |symbol| symbol.address);
    for _ in 0..8 {
        let mapped = map.at(object, start);
        let (function, by) = mapped.map_or((None, 0), |(function, by)| (Some(function), by));
        let registers = PtxRegisters::new(&machine, module.target(), function, by);
        for entry in dwarf.entries().filter(|entry| Entry::name(*entry).is_some()) {
            let encoding = entry.unit().encoding;
            let context = Context::new(encoding, module.target()).with_unit(entry.unit().offset);
            let machine = WithDebugInfo::new(&info, &registers, context);
            if let Ok(location) = Evaluator::new().variable_location(info.body(entry), &machine, &context) {
                let _ = read_bits(&location, 32, &machine);
            }
        }
        start = start.wrapping_add(0x40);
    }
    Some(())
}

#[test]
fn damaged_cubins_are_used_or_refused() {
    let module = cubin::described(cubin::REGISTERS).expect("a module");
    let (bytes, is_of_description) = match cubin::cubin("sm_80") {
        Some(bytes) => (bytes, true),
        // Without ptxas: a cubin typed by hand, whose variables are others.
        None => (include_bytes!("objects/typed.cubin").to_vec(), false),
    };
    assert!(bytes.len() < 12 << 10, "the cubin has {} bytes", bytes.len());
    let mut uses = Uses::default();
    use_up(&bytes, &module, &mut uses);
    let needed = if is_of_description { 6 } else { 5 };
    assert_eq!(uses[..needed], [1; 6][..needed], "the cubin itself can be used");
    let count = cases(4000);
    let mut longest = (0, 0);
    let mut random = Random(0xbb67_ae85_84ca_a73b);
    for number in 0..count {
        let damaged = random.damaged(&bytes, number, count);
        let start = Instant::now();
        use_up(&damaged, &module, &mut uses);
        longest = longest.max((start.elapsed().as_micros(), number));
    }
    println!(
        "{count} files of {} bytes; uses without an error: {uses:?}; longest: {} µs, number {}",
        bytes.len(),
        longest.0,
        longest.1
    );
    assert!(uses[..needed].iter().all(|&used| used > 1), "{uses:?}");
}
