//! Random locations, emitted for each consumer and imported from the bytes: all are typed, and mean the original.

use std::collections::BTreeMap;

use eitri::build::Builder;
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::eval::DebugInfo;
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, Module, VariableId};
use eitri::op::text;
use eitri::read::{Dwarf, Object, ReadOptions};
use eitri::target::Target;
use gimli::constants as dw;

use super::compare::{Case, Failure, compare, described_bits, imported};
use super::machine::Stopped;
use crate::agreement::choices::Choices;
use crate::agreement::locations::Names;
use crate::agreement::modules;
use crate::common::cases::{Random, cases};
use crate::common::consumers::consumers;

/// Sizes of variables, in bits.
const BITS: [u64; 8] = [32, 64, 8, 96, 128, 24, 16, 5];

#[derive(Debug, Default)]
struct Counts {
    locations: u64,
    expressions: u64,
    /// Expressions with a meaning on some machine.
    meant: u64,
}

/// Imports what is written for each consumer; an error is a text.
fn returns(numbers: &[u16], target: &Target, counts: &mut Counts) -> Result<(), String> {
    let mut c = Choices::new(numbers);
    let mut m = Builder::new(target.clone());
    let mut names = Names::new(&mut m);
    let unit = m.unit("a.cl");
    let bits = c.of(&BITS);
    let ty = m.base_type(unit, "t", BaseEncoding::Unsigned, bits).unwrap();
    let pointee = m.variable(unit, "pointee", ty).unwrap().id();
    names.variables.push(pointee);
    let place = names.loc(&mut c, bits, 2);
    if let Ok(procedure) = m.procedure(unit, &place) {
        names.procedures.push((procedure, bits));
    }
    let mut f = m.function(unit, "f").unwrap();
    f.code("f", 16);
    match (target.lanes() > 1, c.below(3)) {
        (true, 0) => drop(f.kernel()),
        (true, _) => drop(f.stack_base(target.sgpr(33).unwrap()).unwrap()),
        _ => {}
    }
    let f = f.id();
    let loc = names.loc(&mut c, bits, 5);
    // The builder refuses a location that is too small.
    let Ok(x) = m.variable(f, "x", ty).unwrap().live(0..16, loc).map(|variable| variable.id()) else {
        return Ok(());
    };
    let code = modules::with_data(ObjectCode::text(vec![0; 64]).with_function("f", 0, 16), 32, m.target());
    let module = m.finish().unwrap();
    counts.locations += 1;
    for consumer in consumers() {
        let about = |what: String| format!("{}, {}: {what}", target.name(), consumer.name);
        let written = lower(&module, &consumer, Policy::Partial).map_err(|e| about(e.to_string()))?;
        if written.omissions.iter().any(|omission| omission.variable() == Some(x)) {
            continue;
        }
        let bytes =
            new_object(module.target(), &code, &written.sections).map_err(|e| about(e.to_string()))?;
        read_back(&module, x, bits, &consumer, &bytes, counts).map_err(about)?;
    }
    Ok(())
}

fn read_back(
    module: &Module,
    x: VariableId,
    bits: u64,
    consumer: &Consumer,
    bytes: &[u8],
    counts: &mut Counts,
) -> Result<(), String> {
    let object = Object::read(bytes).map_err(|e| e.to_string())?;
    let dialect = consumer.expressions.dialect;
    let dwarf = Dwarf::read_with(&object, &ReadOptions::new().dialect(dialect)).map_err(|e| e.to_string())?;
    let info = DebugInfo::new(&dwarf);
    let named = |name: &str| dwarf.entries().find(|entry| entry.name().as_deref() == Some(name));
    let Some(entry) = named("x") else { return Err("no entry of x".into()) };
    let list = entry.locations(dw::DW_AT_location).map_err(|e| e.to_string())?.unwrap_or_default();
    let function = module.function_of(module.variable(x).scope);
    let loc = module.live(x)[0].loc;
    let encoding = entry.unit().encoding;
    for expr in list.iter().map(|entry| entry.expr) {
        let mut case = Case::new(expr, encoding, module.target());
        case.info = Some(&info);
        case.unit = entry.unit().offset;
        case.bits = Some(bits);
        case.has_constant_symbols = true;
        case.stack = function.map_or(case.stack, |function| module.function(function).stack);
        let about = |what: String| {
            let nodes: Vec<_> = module.nodes(loc).collect();
            let text = text::print(expr, encoding, Some(module.target()));
            format!("{what}\n  {text} ({bits} bits)\n  {nodes:?}")
        };
        let symbols: BTreeMap<String, u64> =
            object.symbols().iter().map(|symbol| (symbol.name.to_string(), symbol.address)).collect();
        let pointees = BTreeMap::from_iter(
            module
                .variables()
                .filter(|(id, _)| *id != x)
                .zip(named("pointee"))
                .map(|((id, _), e)| (id, e.offset())),
        );
        let original = |seed: u64, lane: u32| {
            let machine = Stopped { seed, lane, symbols: Some(&symbols), ..Stopped::new(&case) };
            let spans = module.denote(function, loc, bits, &machine).ok()?;
            Some(described_bits(&spans, &pointees, module.target().byte_order()))
        };
        let imported = match imported(&case) {
            Ok(imported) => imported,
            // A location that is outside its storage on every machine has no meaning to return.
            Err(Failure::Untyped(_)) if [0, 1, 2, 3].into_iter().all(|seed| original(seed, 0).is_none()) => {
                continue;
            }
            Err(failure) => return Err(about(format!("{failure:?}"))),
        };
        counts.expressions += 1;
        compare(&case, &imported).map_err(about)?;
        let mut has_meaning = false;
        for (seed, lane) in [(0, 0), (1, 3), (2, 1), (3, 0), (77, 17)] {
            let lane = lane.min(module.target().lanes() - 1);
            let machine = Stopped { seed, lane, ..Stopped::new(&case) };
            let returned = imported.module.denote(Some(imported.function), imported.loc, bits, &machine).ok();
            let returned = returned
                .map(|spans| described_bits(&spans, &imported.variables, module.target().byte_order()));
            let original = original(seed, lane);
            // Bits past the end of memory can have a meaning in the bytes, whose addresses wrap. The imported location
            // means what the bytes mean, faults included, which the comparison with the evaluator shows.
            if original.is_some() && returned != original {
                return Err(about(format!("seed {seed}: {:?} is not the original", imported.nodes())));
            }
            has_meaning |= original.is_some();
        }
        counts.meant += u64::from(has_meaning);
    }
    Ok(())
}

#[test]
fn random_locations_are_typed_and_mean_the_same_after_a_round_trip() {
    let targets = crate::agreement::targets();
    let mut faults = Vec::new();
    let mut counts = Counts::default();
    for (number, target) in targets.iter().enumerate() {
        let mut random = Random(0x2545_f491_4f6c_dd1d + number as u64);
        for _ in 0..cases(60) {
            let numbers: Vec<u16> = (0..200).map(|_| random.next() as u16).collect();
            faults.extend(returns(&numbers, target, &mut counts).err());
        }
    }
    println!("{counts:?}");
    let shown: Vec<&str> = faults.iter().map(|fault| &fault[..fault.len().min(900)]).take(12).collect();
    assert!(faults.is_empty(), "{} of {counts:?}:\n{}", faults.len(), shown.join("\n"));
    assert!(counts.meant > counts.expressions / 2, "{counts:?}");
}
