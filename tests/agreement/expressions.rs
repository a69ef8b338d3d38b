//! Random expressions on each target: the evaluator's result is what the model, which knows no DWARF, denotes.

use eitri::build::Builder;
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::BaseEncoding;

use crate::agreement::choices::Choices;
use crate::agreement::locations::Names;
use crate::agreement::{modules, nodes, targets};
use crate::common::cases::{Random, cases};

/// Sizes of variables, in bits.
const BITS: [u64; 8] = [32, 64, 8, 96, 128, 24, 16, 5];

/// Numbers of expressions, and of locations that were compared at a pc, in a lane, with machine contents.
#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    expressions: u64,
    locations: u64,
}

/// Compares the expressions of a variable for each consumer that has one; an error is a text.
fn agrees(numbers: &[u16], target: usize, counts: &mut Counts) -> Result<(), String> {
    let mut c = Choices::new(numbers);
    let mut m = Builder::new(targets()[target].clone());
    let names = Names::new(&mut m);
    let unit = m.unit("a.cl");
    let bits = c.of(&BITS);
    let ty = m.base_type(unit, "t", BaseEncoding::Unsigned, bits).unwrap();
    let mut f = m.function(unit, "f").unwrap();
    f.code("f", 16);
    if targets()[target].lanes() > 1 {
        f.kernel();
    }
    let f = f.id();
    let loc = names.loc(&mut c, bits, 5);
    // The builder refuses a location that is too small.
    let Ok(variable) = m.variable(f, "x", ty).unwrap().live(0..16, loc).map(|variable| variable.id()) else {
        return Ok(());
    };
    let code = modules::with_data(ObjectCode::text(vec![0; 64]).with_function("f", 0, 16), 32, m.target());
    let module = m.finish().unwrap();
    for consumer in [Consumer::llvm(), Consumer::rocgdb_legacy(), Consumer::dwarf5()] {
        let about =
            || format!("{} for {}: {}", module.target().name(), consumer.name, nodes(&module, variable));
        let written = lower(&module, &consumer, Policy::Partial).map_err(|e| format!("{e}\n{}", about()))?;
        if !written.omissions.is_empty() {
            continue;
        }
        let object = new_object(module.target(), &code, &written.sections).map_err(|e| e.to_string())?;
        let report =
            eitri::check(&module, &consumer, &[], &object).map_err(|e| format!("{e}\n{}", about()))?;
        if !report.is_clean() {
            return Err(format!("{report}\n{}", about()));
        }
        counts.expressions += 1;
        counts.locations += report.locations;
    }
    Ok(())
}

#[test]
fn random_expressions_mean_what_the_model_denotes() {
    let count = cases(100);
    let mut faults = Vec::new();
    for (number, target) in targets().iter().enumerate() {
        let mut random = Random(0x1f83_d9ab_fb41_bd6b + number as u64);
        let mut counts = Counts::default();
        for _ in 0..count {
            let numbers: Vec<u16> = (0..150).map(|_| random.next() as u16).collect();
            faults.extend(agrees(&numbers, number, &mut counts).err());
        }
        println!("{}: {counts:?} of {count} locations", target.name());
        assert!(counts.expressions > count as u64 / 2, "{}: {counts:?}", target.name());
    }
    assert!(faults.is_empty(), "{}:\n{}", faults.len(), faults.join("\n"));
}
