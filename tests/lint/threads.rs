//! Reports and statistics do not depend on the number of threads.

use crate::common::with;
use eitri::build::Builder;
use eitri::emit::elf::{ObjectCode as Text, new_object};
use eitri::lint::{LintOptions, lint, lint_each};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, Loc};
use eitri::op::{Dialect, Encoding, Expr, text};
use eitri::stats;
use eitri::target::Target;

/// An object of units with a function each, which has a variable in a vector register. `names` has the names of a unit
/// and its function.
fn object(count: usize, names: impl Fn(usize) -> (String, String)) -> Vec<u8> {
    let target = Target::named("amdgpu-gfx1030-wave32").expect("a target");
    let mut m = Builder::new(target.clone());
    let mut code = Text::text([0, 0, 0x80, 0xbf].repeat(8 * count));
    for number in 0..count {
        let (unit, name) = names(number);
        let unit = m.unit(&unit);
        let ty = m.base_type(unit, "int", BaseEncoding::Signed, 32).expect("a type");
        let symbol = format!("s{number}");
        let function = m.function(unit, &name).expect("a function").code(&symbol, 0x20).id();
        let v3 =
            text::parse("regx v3", Encoding::new(8, Dialect::Llvm), Some(&target)).expect("an expression");
        let v3 = m.expr(Expr::raw(v3.bytes().to_vec()), &[]).expect("an expression");
        let mut variable = m.variable(function, "x", ty).expect("a variable");
        variable.live(0..0x10, Loc::expr(v3)).expect("a range");
        code = code.with_function(&symbol, 0x20 * number as u64, 0x20);
    }
    let module = m.finish().expect("a module");
    let written = lower(&module, &Consumer::llvm(), Policy::Partial).expect("it is lowered");
    new_object(module.target(), &code, &written.sections).expect("an object")
}

fn of_number(number: usize) -> (String, String) {
    (format!("{number}.cl"), format!("f{number}"))
}

#[test]
fn units_have_their_order_on_any_number_of_threads() {
    let count = 23;
    let object = object(count, of_number);
    let report = |threads| {
        lint(&object, &with::<LintOptions>(|options| options.threads = threads)).expect("it is read")
    };
    let one = report(1);
    // A finding of the vector register without a lane, and one of the frame, in each function.
    assert_eq!((one.functions, one.entries, one.findings.len()), (count, count, 2 * count));
    let statistics = |threads| {
        let options = with::<stats::StatsOptions>(|options| options.threads = threads);
        stats::stats(&object, &options).expect("it is read")
    };
    let measured = statistics(1);
    for threads in [0, 2, 3, 22, 64] {
        assert_eq!(report(threads), one, "{threads} threads");
        assert_eq!(statistics(threads), measured, "{threads} threads");
    }
}

/// The caller can be in a pool of rayon itself, with fewer threads than it asks for.
#[test]
fn calls_in_a_small_pool_end() {
    let object = object(23, of_number);
    let report = |threads| {
        lint(&object, &with::<LintOptions>(|options| options.threads = threads)).expect("it is read")
    };
    let one = report(1);
    for size in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(size).build().expect("a pool");
        pool.scope(|scope| (0..4).for_each(|_| scope.spawn(|_| assert_eq!(report(3), one))));
    }
}

/// Units of more than 128 KiB are judged one piece after another.
#[test]
fn findings_are_passed_in_their_order() {
    let count = 3000;
    let object = object(count, of_number);
    let mut all = None;
    for threads in [1, 2, 3] {
        let mut found = Vec::new();
        let options = with::<LintOptions>(|options| options.threads = threads);
        let report = lint_each(&object, &options, &mut |finding| found.push(finding)).expect("it is read");
        assert_eq!((report.functions, report.findings.len(), found.len()), (count, 0, 2 * count));
        let units: Vec<_> = found.iter().map(|one| one.unit.as_deref().expect("a name")).collect();
        let expected: Vec<_> = (0..2 * count).map(|number| format!("{}.cl", number / 2)).collect();
        assert_eq!(units, expected, "{threads} threads");
        assert_eq!(*all.get_or_insert_with(|| found.clone()), found, "{threads} threads");
    }
}

/// Units of one name have most topics in common: the texts of a finding are there, whichever thread finds the first.
#[test]
fn findings_of_units_of_one_name_are_folded() {
    // Units 0 to 19 have four functions, and each of the others has one that no unit before it has.
    let function = |number| if number < 20 { number % 4 } else { number };
    let object = object(23, |number| ("one.cl".into(), format!("f{}", function(number))));
    let options = |threads| {
        with::<LintOptions>(|options| {
            options.threads = threads;
            options.fold = true;
        })
    };
    let one = lint(&object, &options(1)).expect("it is read");
    let counts: Vec<_> = one.findings.iter().map(|finding| finding.count).collect();
    assert_eq!(counts, [[5; 8].as_slice(), &[1; 6]].concat());
    for finding in &one.findings {
        assert!(!finding.section.is_empty() && !finding.written.is_empty(), "{finding:?}");
    }
    for threads in [2, 3, 4, 22] {
        assert_eq!(lint(&object, &options(threads)).expect("it is read"), one, "{threads} threads");
    }
}
