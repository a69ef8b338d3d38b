//! Property under test: work grows at most linearly with the size of the description.

use crate::common::shared_parts::{Sharing, many_ranges, shared_lines, shared_list, shared_ranges};
use crate::common::with;
use eitri::build::Builder;
use eitri::check::FindingKind;
use eitri::dump::{DumpOptions, dump};
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::emit::{Relocation, Section};
use eitri::eval::{BaseType, CallStack, Context, DebugInfo, Evaluator, Location, Snapshot, TypeEncoding};
use eitri::lint::{self, lint};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{BaseEncoding, FunctionId, Loc, Module, SourceLine, TypeId, UnitId, Val};
use eitri::op::{Dialect, Encoding, Reg, write_uleb};
use eitri::read::{Dwarf, FrameSection, Frames, Object, Sections, Skeleton, SplitFiles};
use eitri::report::{self, report};
use eitri::stats::{self, stats};
use eitri::target::{SpaceId, Target};
use eitri::track::CodeEffects;
use eitri_dwarf::work::steps;

/// Runs with eight times the size must take about eight times the steps, at most 2.2 times for each doubling; quadratic
/// work takes 64 times.
fn grows_as_the_number(few: u64, run: impl Fn(u64)) {
    let (few, many) = (steps(|| run(few)), steps(|| run(8 * few)));
    assert!(few > 0 && many < 11 * few, "{few} steps, and {many} for eight times as many");
}

fn check(described: &(Module, ObjectCode)) {
    let mut consumer = Consumer::llvm();
    consumer.tables.names = true;
    check_for(&consumer, described, |_| {});
}

fn check_for(
    consumer: &Consumer,
    (module, code): &(Module, ObjectCode),
    change: impl FnOnce(&mut [Section]),
) {
    let mut written = lower(module, consumer, Policy::Strict).unwrap();
    change(&mut written.sections);
    let object = new_object(module.target(), code, &written.sections).unwrap();
    let report = eitri::check(module, consumer, &written.omissions, &object).unwrap();
    assert!(report.is_clean(), "{report}");
}

fn gpu() -> Target {
    Target::named("amdgpu-gfx1030-wave32").unwrap()
}

fn scalar(number: u64) -> Loc {
    Loc::register(gpu().sgpr((number % 60) as u16).unwrap())
}

/// Returns a function of `instructions` instructions.
fn function(
    instructions: u64,
    describe: impl FnOnce(&mut Builder, FunctionId, TypeId),
) -> (Module, ObjectCode) {
    let bytes = 4 * instructions;
    let mut m = Builder::new(gpu());
    let unit = m.unit("a.cl");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
    let f = m.function(unit, "f").unwrap().code("f", bytes).id();
    describe(&mut m, f, int);
    (m.finish().unwrap(), ObjectCode::text(vec![0; bytes as usize]).with_function("f", 0, bytes))
}

/// Adds a function of 4 bytes in a unit, or in the function around it.
fn nested_function(m: &mut Builder, unit: UnitId, outer: Option<FunctionId>, name: &str) -> FunctionId {
    let function = match outer {
        None => m.function(unit, name),
        Some(outer) => m.function(outer, name),
    };
    function.unwrap().code(name, 4).id()
}

fn units(count: u64) -> (Module, ObjectCode) {
    let mut m = Builder::new(gpu());
    for number in 0..count {
        let unit = m.unit(&format!("{number}.cl"));
        let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
        let place = Loc::memory(SpaceId::DEFAULT, Val::constant(0x1000));
        m.variable(unit, "x", int).unwrap().always(place).unwrap();
    }
    (m.finish().unwrap(), ObjectCode::text(vec![0; 4]))
}

#[test]
fn names_that_many_units_share() {
    grows_as_the_number(40, |count| check(&units(count)));
}

/// The call frame information of the object is read once for all files.
#[test]
fn files_of_split_units() {
    let mut consumer = Consumer::llvm();
    consumer.is_split = true;
    grows_as_the_number(40, |count| {
        let mut m = Builder::new(gpu());
        let mut code = ObjectCode::text(vec![0; 16 * count as usize]);
        for number in 0..count {
            let unit = m.unit(&format!("{number}.cl"));
            let name = format!("f{number}");
            let f = m.function(unit, &name).unwrap().code(&name, 16).kernel().id();
            m.frame(f).unwrap().entry_function().unwrap();
            code = code.with_function(&name, 16 * number, 16);
        }
        let module = m.finish().unwrap();
        let written = lower(&module, &consumer, Policy::Strict).unwrap();
        let object = new_object(module.target(), &code, &written.sections).unwrap();
        let files = written.split_files(module.target()).unwrap();
        let find = |all: &[Skeleton<'_>]| {
            assert_eq!(all.len() as u64, count);
            Ok(files.iter().map(|(name, bytes)| (name.to_string(), bytes.clone())).collect())
        };
        let split = SplitFiles::new(&find);
        let lint = lint(&object, &with::<lint::LintOptions>(|options| options.split = split)).unwrap();
        let stats = stats(&object, &with::<stats::StatsOptions>(|options| options.split = split)).unwrap();
        assert_eq!((lint.functions, stats.functions.len()), (count as usize, count as usize));
        report(&object, &with::<report::ReportOptions>(|options| options.split = split)).unwrap();
    });
}

/// Removes the hash table from a name index of the 32-bit format: DWARF 5 sections 6.1.1.4.1 and 6.1.1.4.5.
fn without_hash_table(sections: &mut [Section]) {
    let index = sections.iter_mut().find(|section| section.name == ".debug_names").unwrap();
    let number = |at: usize| u32::from_le_bytes(index.bytes[at..at + 4].try_into().unwrap());
    let [units, types, foreign, buckets, names, _, augmentation] =
        [8, 12, 16, 20, 24, 28, 32].map(|at| number(at) as usize);
    let start = 36 + augmentation.next_multiple_of(4) + 4 * units + 4 * types + 8 * foreign;
    let table = start..start + 4 * buckets + 4 * names;
    let length = number(0) - table.len() as u32;
    index.bytes.drain(table.clone());
    index.bytes[..4].copy_from_slice(&length.to_le_bytes());
    index.bytes[20..24].fill(0);
    let behind = |relocation: &&mut Relocation| relocation.offset >= table.end as u64;
    index.relocations.iter_mut().filter(behind).for_each(|one| one.offset -= table.len() as u64);
}

#[test]
fn names_without_a_hash_table() {
    let mut consumer = Consumer::llvm();
    consumer.tables.names = true;
    grows_as_the_number(40, |count| {
        let mut m = Builder::new(gpu());
        let unit = m.unit("a.cl");
        let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
        for number in 0..count {
            m.typedef(unit, &format!("t{number}"), Some(int)).unwrap();
        }
        let described = (m.finish().unwrap(), ObjectCode::text(vec![0; 4]));
        check_for(&consumer, &described, without_hash_table);
    });
}

/// Repeated whole-wave code, each time with other active lanes.
#[test]
fn ranges_of_active_lanes() {
    grows_as_the_number(20, |count| {
        let described = function(4 * count + 4, |m, f, _| {
            let mut lanes = m.lanes(f).unwrap();
            for number in 0..count {
                lanes.whole_wave(16 * number..16 * number + 8, &scalar(number)).unwrap();
            }
        });
        check_for(&Consumer::rocgdb(), &described, |_| {});
    });
}

/// Inlined calls in code with as many divergent regions: each call is compared within its own code.
#[test]
fn lanes_of_inlined_calls() {
    grows_as_the_number(20, |count| {
        let bytes = 16 * count;
        let mut m = Builder::new(gpu());
        let unit = m.unit("a.cl");
        let f = m.function(unit, "f").unwrap().code("f", bytes).id();
        {
            let callee = m.function(unit, "g").unwrap().id();
            let line = SourceLine::new(m.primary_file(unit).unwrap(), 1);
            for number in 0..count {
                let pcs = 16 * number + 4..16 * number + 12;
                let call = m.inlined(f, callee, std::slice::from_ref(&pcs), line).unwrap();
                let masks = [(pcs.clone(), scalar(number))];
                m.lanes(call).unwrap().if_then(pcs, 16 * number, &masks).unwrap();
            }
        }
        let code = ObjectCode::text(vec![0; bytes as usize]).with_function("f", 0, bytes);
        check_for(&Consumer::rocgdb(), &(m.finish().unwrap(), code), |_| {});
    });
}

/// A mask that moves with each instruction of its region: the region's procedure calls a list as long.
#[test]
fn masks_that_move() {
    grows_as_the_number(40, |count| {
        check_for(
            &Consumer::rocgdb(),
            &function(count, |m, f, _| {
                let masks: Vec<_> =
                    (0..count).map(|number| (4 * number..4 * number + 4, scalar(number))).collect();
                m.lanes(f).unwrap().if_then(0..4 * count, 0, &masks).unwrap();
            }),
            |_| {},
        );
    });
}

/// Procedures that each call the procedure before: as they are, in a number, as a part, in a function with stack slots.
#[test]
fn chains_of_procedures() {
    type Calls = fn(Loc) -> Loc;
    let shapes: [Calls; 4] = [
        |call| call,
        |call| Loc::memory(SpaceId::DEFAULT, call.read(64)),
        |call| Loc::parts([(call, 32), (Loc::memory(SpaceId::DEFAULT, Val::constant(8)), 32)]),
        |call| Loc::parts([(Loc::register(Target::x86_64().register_named("rax").unwrap()), 32), (call, 32)]),
    ];
    let described = |calls: Calls, depth: u64| {
        let mut m = Builder::new(Target::x86_64());
        let unit = m.unit("a.c");
        let long = m.base_type(unit, "long", BaseEncoding::Unsigned, 64).unwrap();
        let f = m.function(unit, "f").unwrap().code("f", 16).id();
        let base = Loc::memory(SpaceId::DEFAULT, Val::constant(0x1000));
        let mut last = m.procedure(unit, &base).unwrap();
        for number in 0..depth {
            last = m.procedure(unit, &calls(Loc::call(last))).unwrap();
            m.variable(f, &format!("x{number}"), long).unwrap().live(0..16, Loc::call(last)).unwrap();
        }
        (m.finish().unwrap(), ObjectCode::text(vec![0; 16]).with_function("f", 0, 16))
    };
    let consumers = [Consumer::dwarf5(), Consumer::llvm(), Consumer::rocgdb()];
    // Enough locations for a search for shared expressions in both.
    grows_as_the_number(200, |count| {
        for calls in shapes {
            let (module, _) = described(calls, count);
            consumers.iter().for_each(|consumer| drop(lower(&module, consumer, Policy::Partial).unwrap()));
        }
    });
    // A variable's evaluation takes as long as its chain, and DWARF 5 expressions inline 16 procedures.
    for (calls, consumer) in
        shapes.into_iter().flat_map(|calls| consumers.iter().map(move |consumer| (calls, consumer)))
    {
        let (module, code) = described(calls, 15);
        let written = lower(&module, consumer, Policy::Partial).unwrap();
        let object = new_object(module.target(), &code, &written.sections).unwrap();
        let report = eitri::check(&module, consumer, &written.omissions, &object).unwrap();
        assert!(report.is_clean(), "{report}");
    }
}

/// Functions in one another, each asked for at a pc.
#[test]
fn innermost_functions() {
    grows_as_the_number(100, |count| {
        let mut m = Builder::new(gpu());
        let unit = m.unit("a.cl");
        let mut outer = None;
        let mut code = ObjectCode::text(vec![0; 8 * count as usize]);
        for number in 0..count {
            let name = format!("f{number}");
            let pcs = 4 * number..8 * count - 4 * number;
            code = code.with_function(&name, pcs.start, pcs.end - pcs.start);
            let function = match outer {
                None => m.function(unit, &name),
                Some(outer) => m.function(outer, &name),
            };
            outer = Some(function.unwrap().code(&name, pcs.end - pcs.start).id());
        }
        let module = m.finish().unwrap();
        let written = lower(&module, &Consumer::llvm(), Policy::Strict).unwrap();
        let bytes = new_object(module.target(), &code, &written.sections).unwrap();
        let object = Object::read(&bytes).unwrap();
        let dwarf = Dwarf::read(&object).unwrap();
        let info = DebugInfo::new(&dwarf);
        let start = object.symbol("f0").unwrap().address;
        for number in 0..count {
            let asked =
                [4 * number, 8 * count - 4 * number - 4].map(|pc| info.subprogram(start + pc).unwrap());
            assert_eq!(
                asked.map(|entry| entry.name().unwrap().into_owned()),
                [0; 2].map(|_| format!("f{number}"))
            );
        }
    });
}

/// A variable with a gap after each range.
#[test]
fn gaps_of_a_variable() {
    grows_as_the_number(40, |count| {
        check(&function(2 * count, |m, f, int| {
            let mut x = m.variable(f, "x", int).unwrap();
            (0..count).for_each(|number| {
                x.live(8 * number..8 * number + 4, scalar(number)).unwrap();
            });
        }));
    });
}

/// A frame in which each register is saved in the next; all are requested.
#[test]
fn registers_in_registers() {
    let target = gpu();
    let register = |number: u64| target.vgpr(number as u16).unwrap();
    grows_as_the_number(30, |count| {
        let mut cie = vec![];
        // Version 4, addresses of 8 bytes, factors of 1; return address in register 16, CFA register 32 plus 0.
        cie.extend([&u32::MAX.to_le_bytes()[..], &[4, 0, 8, 0, 1, 1, 16, 0x0c, 32, 0]].concat());
        for number in 0..count {
            cie.push(0x09);
            write_uleb(&mut cie, register(number).0);
            write_uleb(&mut cie, register(number + 1).0);
        }
        let fde = [[0; 4], 0x1000u32.to_le_bytes(), [0; 4], [8, 0, 0, 0], [0; 4]].concat();
        let section = [&(cie.len() as u32).to_le_bytes()[..], &cie, &20u32.to_le_bytes(), &fde].concat();
        let sections = with::<Sections>(|sections| sections.debug_frame = &section);
        let encoding = Encoding::new(8, Dialect::Llvm);
        let frames = [Frames::read(&sections, FrameSection::Debug, encoding).unwrap()];
        let machine = with::<Snapshot>(|machine| machine.pc = Some(0x1004));
        let stack = CallStack::new(&machine, &frames, &target);
        let frame = stack.innermost().unwrap();
        for number in 0..count {
            let place = frame.saved(register(number)).unwrap().to_string();
            assert_eq!(place, format!("reg:{}", register(number + 1).0));
        }
    });
}

/// A frame in which each row has a further saved register. The text of a dump contains the changes only.
#[test]
fn rows_of_a_dump() {
    let target = gpu();
    let register = |number: u64| match number.checked_sub(256) {
        None => target.vgpr(number as u16).unwrap(),
        Some(number) => target.sgpr(number as u16 + 34).unwrap(),
    };
    let bytes = |count: u64| {
        let (module, code) = function(count, |m, f, _| {
            let mut frame = m.frame(f).unwrap();
            let pcs = 0..4 * count;
            let [pc, high, base] = [30, 31, 32].map(|number| target.sgpr(number).unwrap());
            frame.cfa(pcs.clone(), Loc::memory(SpaceId::PRIVATE_WAVE, Val::register(base))).unwrap();
            frame.return_address(pcs, pc, high).unwrap();
            for number in 0..count {
                let pcs = 4 * number..4 * count;
                frame.saved(pcs, register(number), Loc::cfa().offset(8 * number as i64)).unwrap();
            }
        });
        let written = lower(&module, &Consumer::llvm(), Policy::Strict).unwrap();
        let object = new_object(module.target(), &code, &written.sections).unwrap();
        let object = Object::read(&object).unwrap();
        let dwarf = Dwarf::read(&object).unwrap();
        dump(&object, &dwarf, Some(&target), DumpOptions::default()).len()
    };
    // Whole rows would make 10 times the text of 3.2 times the rows.
    let few = bytes(100);
    let many = bytes(320);
    assert!(many < 6 * few, "{few} bytes, and {many} for 3.2 times as many rows");
}

/// Range lists that entries share are read once, for a function of many ranges the work is linear as well.
#[test]
fn range_lists_that_entries_share() {
    for sharing in Sharing::ALL {
        grows_as_the_number(40, |count| {
            let object = shared_ranges(count, sharing);
            let lint = lint(&object, &lint::LintOptions::default()).unwrap();
            assert!(lint.unreadable.is_empty(), "{lint:?}");
        });
        grows_as_the_number(40, |count| {
            let found = stats(&shared_ranges(count, sharing), &stats::StatsOptions::default()).unwrap();
            let located: u64 = found.functions.iter().map(|function| function.coverage.located).sum();
            assert_eq!(located, count * count, "{sharing:?}");
        });
        grows_as_the_number(40, |count| {
            let object = shared_ranges(count, sharing);
            let page = report(&object, &report::ReportOptions::default()).unwrap();
            assert!(page.len() as u64 > count);
        });
        grows_as_the_number(40, |count| {
            let object = shared_ranges(count, sharing);
            let lines = stats::variable_lines(stats::Build::new(&object), None, false).unwrap();
            assert_eq!(lines.len() as u64, count, "{sharing:?}");
        });
    }
    grows_as_the_number(40, |count| {
        let object = many_ranges(count);
        let found = stats(&object, &stats::StatsOptions::default()).unwrap();
        assert_eq!(found.functions[0].coverage.located, count);
        lint(&object, &lint::LintOptions::default()).unwrap();
        report(&object, &report::ReportOptions::default()).unwrap();
    });
}

/// The dump of an object in which entries share a range list has the list once.
#[test]
fn range_lists_of_a_dump() {
    for sharing in Sharing::ALL {
        let bytes = |count: u64| eitri::dump::print(&shared_ranges(count, sharing), None).unwrap().len();
        let (few, many) = (bytes(100), bytes(800));
        assert!(many < 11 * few, "{sharing:?}: {few} bytes, and {many} for eight times as many");
    }
}

/// Units that share a line program: statistics count its rows once.
#[test]
fn line_programs_of_statistics() {
    grows_as_the_number(40, |count| {
        let object = shared_lines(count);
        let found = stats(&object, &stats::StatsOptions::default()).unwrap();
        assert_eq!(found.lines.rows, count);
        report(&object, &report::ReportOptions::default()).unwrap();
    });
}

/// Variables that reference the same location list: its entries are read once.
#[test]
fn variables_of_a_report_with_the_same_list() {
    grows_as_the_number(20, |count| {
        let object = shared_list(count);
        report(&object, &report::ReportOptions::default()).unwrap();
    });
}

/// Variables that reference the same location list: its entries are counted once for all of them.
#[test]
fn variables_of_statistics_with_the_same_list() {
    grows_as_the_number(20, |count| {
        let found = stats(&shared_list(count), &stats::StatsOptions::default()).unwrap();
        assert_eq!(found.contents.operations.values().sum::<u64>(), count * count);
        let all = &found.functions[0].variables;
        let is_same = |one: &stats::VariableCoverage| {
            (one.coverage.located, one.coverage.sound, one.locations) == (count, count, count)
        };
        assert!(all.len() as u64 == count && all.iter().all(is_same), "{all:?}");
    });
}

/// Units without a description that share a line program: its rows are compared once.
#[test]
fn units_with_the_same_line_program() {
    grows_as_the_number(20, |count| {
        let object = shared_lines(count);
        let mut m = Builder::new(Target::x86_64());
        let unit = m.unit("a.c");
        m.function(unit, "f").unwrap().code("f", count).id();
        let report = eitri::check(&m.finish().unwrap(), &Consumer::dwarf5(), &[], &object).unwrap();
        assert!(report.findings.iter().any(|finding| finding.kind == FindingKind::Line), "{report}");
    });
}

/// Nested functions, each with a finding.
#[test]
fn findings_about_nested_functions() {
    let described = |count: u64| {
        let mut m = Builder::new(gpu());
        let unit = m.unit("a.cl");
        let mut code = ObjectCode::text(vec![0; 4 * count as usize]);
        let mut outer = None;
        for number in 0..count {
            let name = format!("f{number}");
            code = code.with_function(&name, 4 * number, 4);
            outer = Some(nested_function(&mut m, unit, outer, &name));
        }
        let module = m.finish().unwrap();
        let written = lower(&module, &Consumer::llvm(), Policy::Strict).unwrap();
        new_object(module.target(), &code, &written.sections).unwrap()
    };
    grows_as_the_number(40, |count| {
        let report = lint(&described(count), &lint::LintOptions::default()).unwrap();
        assert!(report.findings.len() as u64 >= count, "{report:?}");
    });
}

/// Nested inlined calls, each with a finding: findings share the calls around them.
#[test]
fn findings_about_nested_inlined_calls() {
    let described = |count: u64| {
        let mut m = Builder::new(Target::x86_64());
        let unit = m.unit("a.c");
        let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
        let callee = m.function(unit, "g").unwrap().id();
        let variable = m.variable(callee, "x", int).unwrap().id();
        let zero = m.expr(eitri::op::Expr::raw([0x30]), &[]).unwrap();
        let file = m.file(unit, "a.c", None).unwrap();
        let f = m.function(unit, "f").unwrap().code("f", 4).id();
        let mut call = None;
        for _ in 0..count {
            let line = SourceLine::new(file, 1);
            let inner = match call {
                None => m.inlined(f, callee, &[0..4], line).unwrap(),
                Some(call) => m.inlined(call, callee, &[0..4], line).unwrap(),
            };
            m.inlined_variable(inner, variable).unwrap().live(0..4, Loc::expr(zero)).unwrap();
            call = Some(inner);
        }
        let module = m.finish().unwrap();
        let written = lower(&module, &Consumer::dwarf5(), Policy::Strict).unwrap();
        let code = ObjectCode::text(vec![0x90; 4]).with_function("f", 0, 4);
        new_object(module.target(), &code, &written.sections).unwrap()
    };
    grows_as_the_number(40, |count| {
        let report = lint(&described(count), &lint::LintOptions::default()).unwrap();
        let of_variables = report.findings.iter().filter(|one| one.variable.is_some());
        let depths = of_variables.map(|one| one.inlined.names().len() as u64);
        // Of more than 64 calls, `…` stands for the outer ones.
        assert_eq!(depths.collect::<Vec<_>>(), (1..=count).map(|depth| depth.min(65)).collect::<Vec<_>>());
    });
}

/// Each undescribed procedure is a finding.
#[test]
fn procedures_that_nothing_calls() {
    let procedures = |count: u64| {
        function(1, |m, _, _| {
            let unit = m.unit("b.cl");
            for number in 0..count {
                let place = Loc::memory(SpaceId::DEFAULT, Val::constant(0x1000 + 8 * number));
                m.procedure(unit, &place).unwrap();
            }
        })
    };
    grows_as_the_number(40, |count| {
        let ((truth, code), (more, _)) = (procedures(count), procedures(2 * count));
        let consumer = Consumer::llvm();
        let written = lower(&more, &consumer, Policy::Strict).unwrap();
        let object = new_object(more.target(), &code, &written.sections).unwrap();
        let report = eitri::check(&truth, &consumer, &[], &object).unwrap();
        assert_eq!(report.findings.len() as u64, count, "{report}");
    });
}

/// Every entry could be a procedure with a raw expression.
#[test]
fn raw_procedures() {
    grows_as_the_number(40, |count| {
        check(&function(1, |m, _, _| {
            let unit = m.unit("b.cl");
            let raw = m.expr(eitri::op::Expr::raw([0x30]), &[]).unwrap();
            for _ in 0..count {
                m.procedure(unit, &Loc::expr(raw)).unwrap();
            }
        }));
    });
}

/// Unnamed types that nothing refers to.
#[test]
fn types_that_nothing_refers_to() {
    grows_as_the_number(40, |count| {
        let mut m = Builder::new(gpu());
        let unit = m.unit("a.cl");
        let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
        for number in 0..count {
            m.array(unit, int, &[Some(number + 1)]).unwrap();
        }
        check(&(m.finish().unwrap(), ObjectCode::text(vec![0; 4])));
    });
}

/// Structures, each with the structure before it, and a variable of each: a member of the first structure
/// is at another offset in the object.
#[test]
fn types_that_refer_to_a_different_type() {
    let described = |count: u64, offset: u64| {
        let mut m = Builder::new(gpu());
        let unit = m.unit("a.cl");
        let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
        let mut last = m.structure(unit, Some("s"), 16).unwrap();
        m.member(last, "x", int, offset).unwrap();
        for number in 0..count {
            let inner = last;
            last = m.structure(unit, Some(&format!("s{number}")), 16).unwrap();
            m.member(last, "inner", inner, 0).unwrap();
            m.variable(unit, &format!("v{number}"), last).unwrap();
        }
        m.finish().unwrap()
    };
    grows_as_the_number(10, |count| {
        let (truth, wrong) = (described(count, 4), described(count, 8));
        let consumer = Consumer::llvm();
        let written = lower(&wrong, &consumer, Policy::Strict).unwrap();
        let object = new_object(wrong.target(), &ObjectCode::text(vec![0; 4]), &written.sections).unwrap();
        let report = eitri::check(&truth, &consumer, &[], &object).unwrap();
        let of_variables = report.findings.iter().filter(|one| one.at.variable.is_some());
        assert_eq!(of_variables.count() as u64, count, "{report}");
    });
}

/// Parts of one location that are the same subexpression, which is written once.
#[test]
fn parts_with_the_same_subexpression() {
    let consumer = Consumer::llvm();
    grows_as_the_number(40, |count| {
        let mut m = Builder::new(gpu());
        let unit = m.unit("a.cl");
        let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
        let all = m.array(unit, int, &[Some(2 * count)]).unwrap();
        let f = m.function(unit, "f").unwrap().code("f", 16).id();
        let [s4, s5, s6] = [4, 5, 6].map(|number| Val::register(gpu().sgpr(number).unwrap()));
        let products = s4.mul(Val::constant(1_234_567)).add(s5.mul(Val::constant(7_654_321)));
        let part = Loc::value(products.shr(s6.and(Val::constant(31))));
        let parts = Loc::parts((0..count).map(|_| (part.clone(), 64)));
        m.variable(f, "x", all).unwrap().live(0..16, parts).unwrap();
        lower(&m.finish().unwrap(), &consumer, Policy::Strict).unwrap();
    });
}

/// Parts of one location, each of which is there twice: each pair is written once.
#[test]
fn pairs_of_parts_with_the_same_subexpression() {
    let consumer = Consumer::llvm();
    grows_as_the_number(20, |count| {
        let mut m = Builder::new(gpu());
        let unit = m.unit("a.cl");
        let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
        let all = m.array(unit, int, &[Some(4 * count)]).unwrap();
        let f = m.function(unit, "f").unwrap().code("f", 16).id();
        let [s4, s5, s6] = [4, 5, 6].map(|number| Val::register(gpu().sgpr(number).unwrap()));
        let part = |number: u64| {
            let products = s4.clone().mul(Val::constant(1_234_567 + number));
            let sum = products.add(s5.clone().mul(Val::constant(7_654_321)));
            Loc::value(sum.shr(s6.clone().and(Val::constant(31))))
        };
        let parts = Loc::parts((0..2 * count).map(|number| (part(number / 2), 64)));
        m.variable(f, "x", all).unwrap().live(0..16, parts).unwrap();
        let written = lower(&m.finish().unwrap(), &consumer, Policy::Strict).unwrap();
        let info = written.sections.iter().find(|section| section.name == ".debug_info").unwrap();
        // 13 bytes of each pair, and two calls, are less than twice 13 bytes.
        assert!((info.bytes.len() as u64) < 100 + 46 * count, "{} for {count}", info.bytes.len());
    });
}

/// Sums of sums, in two locations: each sum is in the larger sums.
#[test]
fn sums_in_sums() {
    let consumer = Consumer::llvm();
    grows_as_the_number(15, |count| {
        let mut m = Builder::new(gpu());
        let unit = m.unit("a.cl");
        let long = m.base_type(unit, "long", BaseEncoding::Signed, 64).unwrap();
        let f = m.function(unit, "f").unwrap().code("f", 16).id();
        for name in ["x", "y"] {
            let mut sum = Val::register(gpu().sgpr(4).unwrap());
            for number in 0..count {
                sum = sum.mul(Val::constant(1_234_567 + number));
            }
            m.variable(f, name, long).unwrap().live(0..16, Loc::value(sum)).unwrap();
        }
        lower(&m.finish().unwrap(), &consumer, Policy::Strict).unwrap();
    });
}

/// Copies from stack slot to stack slot, of which the last is overwritten in part: every slot is divided.
#[test]
fn parts_of_copied_storage() {
    grows_as_the_number(40, |count| {
        let slot = |number: u64, bits: u32| format!(r#"{{"stack_slot": {}, "bits": {bits}}}"#, 4 * number);
        let copy = |number: u64| {
            let pcs = [4 * number + 4, 4 * number + 8];
            format!(r#"{{"pcs": {pcs:?}, "copy": [[[{}], [{}]]]}}"#, slot(number, 32), slot(number + 1, 32))
        };
        let end = 4 * count + 4;
        let instructions = [format!(r#"{{"pcs": [0, 4], "define": [["x", [{}]]]}}"#, slot(0, 32))]
            .into_iter()
            .chain((0..count).map(copy))
            .chain([format!(r#"{{"pcs": [{end}, {}], "clobber": [{}]}}"#, end + 4, slot(count, 16))]);
        let instructions = instructions.collect::<Vec<_>>().join(",");
        let bytes = end + 8;
        let text = format!(
            r#"{{"eitri": 1, "target": "amdgpu-gfx900-wave64", "describe": [
                {{"unit": {{"name": "a.c"}}}},
                {{"function": {{"in": "a.c", "name": "f", "code": {{"symbol": "f", "bytes": {bytes}}},
                    "stack": {{"at_zero": true}}}}}},
                {{"code": {{"function": "f", "blocks": [[0, {bytes}]], "values": [{{"id": "x", "bits": 32}}],
                    "instructions": [{instructions}]}}}}]}}"#
        );
        let (_, effects) = CodeEffects::from_json(&text).unwrap();
        effects[0].track().unwrap();
    });
}

/// Each procedure calls the procedure before it eight times: in parts, and in numbers.
#[test]
fn procedures_that_call_a_procedure_several_times() {
    type Calls = fn(Loc) -> Loc;
    let in_parts: Calls = |call| Loc::parts((0..8).map(|_| (call.clone(), 8)));
    let in_numbers: Calls = |call| {
        let number = || call.clone().read(64);
        Loc::value((1..8).fold(number(), |sum, _| sum.add(number())))
    };
    for calls in [in_parts, in_numbers] {
        grows_as_the_number(4, |depth| {
            let target = Target::x86_64();
            let rax = target.register_named("rax").unwrap();
            let mut m = Builder::new(target);
            let unit = m.unit("a.c");
            let long = m.base_type(unit, "long", BaseEncoding::Unsigned, 64).unwrap();
            let mut last = m.procedure(unit, &Loc::register(rax)).unwrap();
            for _ in 0..depth {
                last = m.procedure(unit, &calls(Loc::call(last))).unwrap();
            }
            let f = m.function(unit, "f").unwrap().code("f", 16).id();
            for name in ["x", "y"] {
                m.variable(f, name, long).unwrap().live(0..16, Loc::call(last)).unwrap();
            }
            let parts = Loc::parts([(Loc::call(last), 32), (Loc::call(last), 32)]);
            m.variable(f, "z", long).unwrap().live(0..16, parts).unwrap();
            let module = m.finish().unwrap();
            drop(module.warnings());
            for consumer in [Consumer::dwarf5(), Consumer::llvm(), Consumer::rocgdb()] {
                lower(&module, &consumer, Policy::Partial).unwrap();
            }
        });
    }
}

#[test]
fn ranges_of_a_variable() {
    grows_as_the_number(40, |count| {
        check(&function(count, |m, f, int| {
            let mut x = m.variable(f, "x", int).unwrap();
            (0..count).for_each(|number| {
                x.live(4 * number..4 * number + 4, scalar(number)).unwrap();
            });
        }));
    });
}

#[test]
fn ranges_of_a_saved_register() {
    let pc = [30, 31].map(|n| gpu().sgpr(n).unwrap());
    let base = gpu().sgpr(32).unwrap();
    let saved = gpu().sgpr(40).unwrap();
    let spill = gpu().vgpr(60).unwrap();
    // Long enough for states in the middle, which begin the search for a row.
    grows_as_the_number(200, |count| {
        check(&function(2 * count, |m, f, _| {
            let mut frame = m.frame(f).unwrap();
            let pcs = 0..8 * count;
            frame.cfa(pcs.clone(), Loc::memory(SpaceId::PRIVATE_WAVE, Val::register(base))).unwrap();
            frame.return_address(pcs, pc[0], pc[1]).unwrap();
            for number in 0..count {
                let pcs = 8 * number..8 * number + 4;
                frame.saved_in_lane(pcs, saved, spill, (number % 32) as u32).unwrap();
            }
        }));
    });
}

/// A frame whose address and rules move again and again, with rules that read the caller's registers and rules in
/// other registers.
#[test]
fn rules_of_a_frame() {
    let register = |number| gpu().sgpr(number).unwrap();
    let entry = |number| Val::entry_value(register(number));
    // Long enough for states in the middle, which begin the search for a row.
    grows_as_the_number(200, |count| {
        check(&function(2 * count, |m, f, _| {
            let mut frame = m.frame(f).unwrap();
            frame.return_address(0..8 * count, register(30), register(31)).unwrap();
            for number in 0..count {
                let start = 8 * number;
                let by = 4 * (number % 8) as i64;
                let memory = |number: u16, by| {
                    Loc::memory(SpaceId::PRIVATE_WAVE, Val::register(register(number)).plus(by))
                };
                frame.cfa(start..start + 8, memory(32, by)).unwrap();
                let caller = Loc::memory(SpaceId::PRIVATE_WAVE, entry(40).plus(by));
                frame.saved(start..start + 4, register(41), caller).unwrap();
                frame.saved(start..start + 4, register(42), Loc::register(register(43))).unwrap();
                frame.saved(start + 4..start + 8, register(43), Loc::register(register(42))).unwrap();
                frame.saved(start + 4..start + 8, register(44), Loc::cfa().offset(-by)).unwrap();
            }
        }));
    });
}

/// A block with ranges in any order, and an inner block with the same ranges.
#[test]
fn ranges_of_a_block() {
    for is_descending in [false, true] {
        grows_as_the_number(100, |count| {
            function(2 * count, |m, f, _| {
                let start = |number| 8 * if is_descending { count - 1 - number } else { number };
                let ranges: Vec<_> = (0..count).map(|number| start(number)..start(number) + 4).collect();
                let block = m.block(f, &ranges).unwrap();
                m.block(block, &ranges).unwrap();
            });
        });
    }
}

/// Nested blocks, deeper than the machine stack allows recursion.
#[test]
fn blocks_in_blocks() {
    grows_as_the_number(1000, |count| {
        check(&function(2 * count, |m, f, int| {
            let mut around = None;
            for number in 0..count {
                let pcs = 4 * number..8 * count - 4 * number;
                let block = match around {
                    None => m.block(f, std::slice::from_ref(&pcs)),
                    Some(around) => m.block(around, std::slice::from_ref(&pcs)),
                };
                let block = block.unwrap();
                m.variable(block, "x", int).unwrap().live(pcs, scalar(number)).unwrap();
                around = Some(block);
            }
        }));
    });
}

/// Nested functions, each with a type in it, and nested types, each with a function in it.
#[test]
fn functions_and_types_in_each_other() {
    grows_as_the_number(100, |count| {
        let mut m = Builder::new(gpu());
        let unit = m.unit("a.cl");
        let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
        let mut code = ObjectCode::text(vec![0; 4 * count as usize]);
        let mut outer = None;
        let mut around = None;
        for number in 0..count {
            let name = format!("f{number}");
            code = code.with_function(&name, 4 * number, 4);
            let f = nested_function(&mut m, unit, outer, &name);
            m.variable(f, "x", int).unwrap().live(0..4, scalar(number)).unwrap();
            outer = Some(f);
            let ty = m.structure(unit, Some(&format!("s{number}")), 4).unwrap();
            m.member(ty, "x", int, 0).unwrap();
            if let Some(around) = around {
                m.describe_type(ty).unwrap().within(around).unwrap();
            }
            m.function_declaration(ty, "method").unwrap();
            around = Some(ty);
        }
        check(&(m.finish().unwrap(), code));
    });
}

/// A part in two places, within a part in two places, and so on.
#[test]
fn places_in_places() {
    let target = Target::x86_64();
    let context = Context::new(Encoding::new(8, Dialect::Llvm), &target);
    let ty = BaseType::new(TypeEncoding::Unsigned, 64);
    grows_as_the_number(2, |count| {
        let zero = Location::implicit(&[0; 8]);
        let mut place = zero.clone();
        for _ in 0..count {
            place = Location::composite([(place, 64)]).unwrap().and(zero.clone());
        }
        let mut evaluator = Evaluator::new().all_places();
        let value = evaluator.read(&place, ty, &Snapshot::default(), &context).unwrap();
        assert_eq!(value.as_u64(), Some(0));
    });
}

/// The rule of the return address: it is 8 bytes below the canonical frame address, by `DW_CFA_offset` or
/// `DW_CFA_expression` (DWARF 5 section 6.4.2.3).
const BY_OFFSET: &[u8] = &[0x90, 1];
const BY_EXPRESSION: &[u8] = &[0x10, 16, 2, 0x38, 0x1c];

/// A function that calls itself `count` times, with a row for each byte before the call.
fn unwind(count: u64, rule: &[u8], ask: impl Fn(&CallStack<'_, '_>)) {
    let entry = |id: u32, rest: &[u8]| {
        let bytes = [&id.to_le_bytes()[..], rest].concat();
        [&(bytes.len() as u32).to_le_bytes()[..], &bytes].concat()
    };
    let cie = entry(u32::MAX, &[&[4, 0, 8, 0, 1, 0x78, 16, 0x0c, 7, 8][..], rule].concat());
    let start = 0x1000u64;
    let rows: Vec<u8> = (0..count).flat_map(|number| [0x41, 0x0e, 8 + 8 * (number % 2) as u8]).collect();
    let code = [start.to_le_bytes(), (count + 8).to_le_bytes()].concat();
    let section = [cie, entry(0, &[code, rows].concat())].concat();
    let sections = with::<Sections>(|sections| sections.debug_frame = &section);
    let encoding = Encoding::new(8, Dialect::Dwarf5);
    let frames = [Frames::read(&sections, FrameSection::Debug, encoding).unwrap()];
    let target = Target::x86_64();
    let pc = start + count;
    let mut machine = with::<Snapshot>(|machine| machine.pc = Some(pc));
    machine.registers.insert(Reg(7), 0x10000u64.to_le_bytes().to_vec());
    machine.registers.insert(Reg(3), vec![0; 8]);
    let words: Vec<u8> = (0..2 * count + 4).flat_map(|_| (pc + 1).to_le_bytes()).collect();
    machine.store(SpaceId::DEFAULT, None, 0x10000, &words);
    let stack = CallStack::new(&machine, &frames, &target);
    assert!(stack.frame(count as u32).unwrap().is_some());
    ask(&stack);
}

#[test]
fn levels_of_calls() {
    grows_as_the_number(400, |count| unwind(count, BY_OFFSET, |_| {}));
}

#[test]
fn levels_with_expressions() {
    grows_as_the_number(400, |count| unwind(count, BY_EXPRESSION, |_| {}));
}

#[test]
fn a_register_that_no_level_saves() {
    let ask = |count| {
        unwind(count, BY_OFFSET, |stack| {
            (0..count as u32).for_each(|number| {
                let frame = stack.frame(number).unwrap().unwrap();
                assert_eq!(frame.register(Reg(3)).unwrap().to_string(), "reg:3");
            });
        });
    };
    grows_as_the_number(100, ask);
}
