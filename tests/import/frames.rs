//! Registers without a rule: frames of AMD's compiler leave them unchanged, and frames of this crate list those that the
//! calling convention does not preserve.

use std::collections::BTreeMap;
use std::path::Path;

use eitri::build::Builder;
use eitri::consumer::{Consumer, Policy};
use eitri::emit::elf::{AttachOptions, Existing, ObjectCode, attach_with, new_object};
use eitri::import::{ImportOptions, ImportedExpressions, import};
use eitri::lower::lower;
use eitri::model::{Loc, Module, Val};
use eitri::op::Reg;
use eitri::read::{Dwarf, FrameSection, Object, RegisterRule};
use eitri::target::{SpaceId, Target, UnspecifiedRegisters};

use crate::common::with;

/// Rules of an object's frames that say something to ROCgdb, by pc, as text.
fn rules(bytes: &[u8]) -> BTreeMap<(u64, u64), Vec<String>> {
    let object = Object::read(bytes).expect("an object");
    let dwarf = Dwarf::read(&object).expect("debug information");
    let frames = dwarf.frames(FrameSection::Debug).expect("frames");
    let mut all = BTreeMap::new();
    for fde in &frames.fdes {
        let mut rows = frames.rows(fde);
        while let Some(row) = rows.next_row().expect("a row") {
            let said = row.rules.iter().filter(|(_, rule)| *rule != RegisterRule::SameValue);
            let text = said.map(|(reg, rule)| format!("{} {rule:?}", reg.0));
            all.insert((row.start, row.end), [format!("{:?}", row.cfa)].into_iter().chain(text).collect());
        }
    }
    all
}

/// The calling convention preserves neither v7 nor v1, and AMD's `leaf` lists neither: both are unchanged.
#[test]
fn frames_of_amd_keep_what_they_leave_out() {
    for (name, target, functions) in [
        ("k06_calls.gfx1100.O2", "amdgpu-gfx1100-wave32", 3),
        ("k06_calls.gfx942.O0", "amdgpu-gfx942-wave64", 3),
        ("k14_spill.gfx1030.O2", "amdgpu-gfx1030-wave32", 4),
    ] {
        let file = Path::new(crate::common::ROOT).join(format!("tests/objects/amd/{name}.hsaco"));
        let bytes = std::fs::read(&file).expect("an object");
        let options = with::<ImportOptions<'_>>(|options| {
            options.target = Target::named(target).ok();
            options.expressions = ImportedExpressions::Raw;
        });
        let module = import(&bytes, &options).expect("the object is imported").module;
        let described: Vec<_> = module.functions().filter(|(id, _)| !module.frame(*id).is_empty()).collect();
        assert_eq!(described.len(), functions, "{name}");
        for (_, function) in described {
            // A kernel has no caller.
            let expected = if function.is_kernel {
                UnspecifiedRegisters::ByConvention
            } else {
                UnspecifiedRegisters::SameValue
            };
            assert_eq!(function.unspecified_registers, expected, "{name}");
        }
        let again = Module::from_json(module.to_json()).expect("the description is read");
        assert!(again == module, "{name}");
        let mut consumer = Consumer::llvm();
        consumer.frames.def_cfa_resets_space = true;
        let written = lower(&module, &consumer, Policy::Partial).expect("sections");
        let how = with::<AttachOptions>(|options| options.existing = Existing::Replace);
        let new = attach_with(&bytes, module.target(), &written.sections, &how).expect("an object");
        assert_eq!(rules(&bytes), rules(&new), "{name}");
        // Raw expressions have no described meaning: typed locations are compared.
        let options = with::<ImportOptions<'_>>(|options| options.target = Target::named(target).ok());
        let module = import(&bytes, &options).expect("the object is imported").module;
        let written = lower(&module, &consumer, Policy::Partial).expect("sections");
        let new = attach_with(&bytes, module.target(), &written.sections, &how).expect("an object");
        let report = eitri::check(&module, &consumer, &written.omissions, &new).expect("a report");
        let wrong = report.findings.iter().filter(|finding| finding.at.column.is_some());
        assert_eq!(wrong.count(), 0, "{name}: {report}");
    }
}

/// A function that keeps to the calling convention, its kernel, and a function that says more.
fn described() -> Module {
    let target = Target::named("amdgpu-gfx1030-wave32").expect("a target");
    let reg = |name| target.register_named(name).expect("a register");
    let [s4, s30, s31, s32, v0, v40] = ["s4", "s30", "s31", "s32", "v0", "v40"].map(reg);
    let mut m = Builder::new(target.clone());
    let unit = m.unit("a.cl");
    let [plain, saves, keeps] = ["plain", "saves", "keeps"]
        .map(|name| m.function(unit, name).expect("a function").code(name, 0x40).id());
    m.function(unit, "kernel").expect("a function").code("kernel", 0x40).kernel();
    for function in [plain, saves, keeps] {
        let mut frame = m.frame(function).expect("a frame");
        frame.cfa(0..0x40, Loc::memory(SpaceId::PRIVATE_WAVE, Val::register(s32))).expect("an address");
        frame.return_address(0..0x40, s30, s31).expect("a rule");
    }
    // Rules for registers that a call overwrites: at some pcs, at all pcs, and as without a rule.
    let mut frame = m.frame(saves).expect("a frame");
    frame.saved_in_lane(0x8..0x30, s4, v40, 3).expect("a rule");
    frame.same_value(0..0x8, v0).expect("a rule").undefined(0x8..0x40, v0).expect("a rule");
    let mut frame = m.frame(keeps).expect("a frame");
    frame.unspecified_registers(UnspecifiedRegisters::SameValue).undefined(0..0x40, v0).expect("a rule");
    m.finish().expect("a module")
}

/// Registers with a rule at a pc of a function, and whether the rule is `undefined`.
fn rows_at(object: &[u8], function: &str, pc: u64) -> BTreeMap<Reg, bool> {
    let object = Object::read(object).expect("an object");
    let dwarf = Dwarf::read(&object).expect("debug information");
    let start = object.symbol_address(function).expect("a symbol");
    let frames = dwarf.frames(FrameSection::Debug).expect("frames");
    let fde = frames.fdes.iter().find(|fde| fde.start == start).expect("an entry");
    let row = frames.rows(fde).find(start + pc).expect("rows").expect("a row");
    row.rules.iter().map(|&(reg, rule)| (reg, rule == RegisterRule::Undefined)).collect()
}

fn object(module: &Module, consumer: &Consumer) -> Vec<u8> {
    let names = ["plain", "saves", "keeps", "kernel"];
    let code = (0..).zip(names).fold(ObjectCode::text(vec![0; 0x100]), |code, (index, name)| {
        code.with_function(name, index * 0x40, 0x40)
    });
    let written = lower(module, consumer, Policy::Strict).expect("sections");
    let object = new_object(module.target(), &code, &written.sections).expect("an object");
    let report = eitri::check(module, consumer, &written.omissions, &object).expect("a report");
    assert!(report.is_clean(), "{report}");
    object
}

/// The list is that of LLVM's user guide for AMDGPU, "Non-Kernel Functions": v0 to v39 and every second stripe of 8 from
/// v48 on, s0 to s29; of s40 on, what all versions of LLVM preserve. `vcc` has two numbers, and `status` has one.
#[test]
fn call_clobbered_registers_are_listed_for_rocgdb() {
    let module = described();
    let target = module.target().clone();
    for consumer in [Consumer::llvm(), Consumer::rocgdb(), Consumer::rocgdb_legacy()] {
        let object = object(&module, &consumer);
        let plain = rows_at(&object, "plain", 0);
        let expected = |name: &str| match (name.as_bytes()[0], name[1..].parse::<u32>()) {
            (b'v', Ok(number)) => number < 40 || number >= 48 && number % 16 < 8,
            (b's', Ok(number)) => number < 30 || (40..104).contains(&number) && number % 16 >= 8,
            _ => name.starts_with("vcc") || name == "status",
        };
        let reg = |name| target.register_named(name).expect("a register");
        let mut count = 0;
        for register in target.registers().filter(|register| register.reg != reg("pc")) {
            let name = register.name().to_string();
            assert_eq!(plain.get(&register.reg).copied(), expected(&name).then_some(true), "{name}");
            count += u32::from(expected(&name));
        }
        assert!(count > 150, "{count}");
        let saves = [0, 8, 0x30].map(|pc| rows_at(&object, "saves", pc));
        let at = |name| saves.each_ref().map(|row| row.get(&reg(name)).copied());
        assert_eq!(at("s4"), [Some(true), Some(false), Some(true)]);
        assert_eq!(at("v0"), [Some(false), Some(true), Some(true)]);
        assert_eq!(at("v1"), [Some(true); 3]);
        // Only what was described, and for a kernel nothing but the end of the call stack.
        let keeps = rows_at(&object, "keeps", 0);
        assert_eq!(keeps.into_iter().collect::<Vec<_>>(), [(reg("pc"), false), (reg("v0"), true)]);
        let kernel = rows_at(&object, "kernel", 0);
        assert_eq!(kernel.into_iter().collect::<Vec<_>>(), [(reg("pc"), true)]);
        // Functions with one first row have one common entry.
        let read = Object::read(&object).expect("an object");
        let frames = Dwarf::read(&read).expect("debug information");
        let frames = frames.frames(FrameSection::Debug).expect("frames");
        assert_eq!(frames.cies.len(), 3, "{}", consumer.name);
    }
}

/// `DW_CFA_undefined` of v0, in the entry that `plain` and `saves` have in common, as `DW_CFA_nop` and as
/// `DW_CFA_same_value`: a debugger would show a callee's v0.
#[test]
fn unlisted_register_is_a_finding() {
    let module = described();
    let consumer = Consumer::rocgdb();
    let object = object(&module, &consumer);
    // v0 is 1536, as LEB128.
    let undefined = [0x07, 0x80, 0x0c];
    let at = object.windows(3).position(|bytes| bytes == undefined).expect("the instruction");
    for other in [[0, 0, 0], [0x08, 0x80, 0x0c]] {
        let mut wrong = object.clone();
        wrong[at..at + 3].copy_from_slice(&other);
        let report = eitri::check(&module, &consumer, &[], &wrong).expect("a report");
        let found = report.findings.iter().map(|finding| {
            (finding.at.function.clone().unwrap_or_default(), finding.at.column.clone().unwrap_or_default())
        });
        let found: Vec<_> = found.collect();
        let expected = ["plain", "saves"].map(|name| (name.to_owned(), "v0".to_owned()));
        assert_eq!(found, expected, "{report}");
    }
}

#[test]
fn frames_are_imported_with_what_they_leave_out() {
    let module = described();
    let consumer = Consumer::rocgdb();
    let object = object(&module, &consumer);
    let options = with::<ImportOptions<'_>>(|options| options.target = Some(module.target().clone()));
    let imported = import(&object, &options).expect("the object is imported").module;
    let frames = |module: &Module| {
        let all = module.functions().map(|(id, function)| {
            let rules = module.frame(id).iter().map(|rule| (rule.pcs(), rule.column));
            (
                module.string(function.name).to_owned(),
                function.unspecified_registers,
                rules.collect::<Vec<_>>(),
            )
        });
        all.collect::<Vec<_>>()
    };
    let mut expected = frames(&module);
    // `undefined` for a register that the convention does not preserve says what no rule says.
    let v0 = module.target().vgpr(0).expect("v0");
    expected[1].2.retain(|(pcs, column)| *column != eitri::model::Column::Register(v0) || pcs.start == 0);
    let mut found = frames(&imported);
    for (_, _, rules) in expected.iter_mut().chain(&mut found) {
        rules.sort_by_key(|(pcs, column)| (*column, pcs.start));
    }
    assert_eq!(found, expected);
}

/// On a CPU a debugger takes a register without a rule by the calling convention: a function that keeps more says so for
/// each register.
#[test]
fn kept_registers_are_listed_where_debuggers_follow_the_convention() {
    let target = Target::x86_64();
    let reg = |name| target.register_named(name).expect("a register");
    let [rsp, rcx, rdx] = ["rsp", "rcx", "rdx"].map(reg);
    let mut m = Builder::new(target.clone());
    let unit = m.unit("a.c");
    let f = m.function(unit, "keeps").expect("a function").code("keeps", 0x40).id();
    let returns = m.target().call_frames().return_register;
    let mut frame = m.frame(f).expect("a frame");
    frame.cfa(0..0x40, Loc::memory(SpaceId::DEFAULT, Val::register(rsp).plus(8))).expect("an address");
    frame.saved(0..0x40, returns, Loc::cfa().offset(-8)).expect("a rule");
    frame.unspecified_registers(UnspecifiedRegisters::SameValue).undefined(0x4..0x40, rcx).expect("a rule");
    let module = m.finish().expect("a module");
    let consumer = Consumer::dwarf5();
    let written = lower(&module, &consumer, Policy::Strict).expect("sections");
    let code = ObjectCode::text(vec![0x90; 0x40]).with_function("keeps", 0, 0x40);
    let object = new_object(&target, &code, &written.sections).expect("an object");
    let report = eitri::check(&module, &consumer, &written.omissions, &object).expect("a report");
    assert!(report.is_clean(), "{report}");
    let rows = [0, 4].map(|pc| rows_at(&object, "keeps", pc));
    assert_eq!(rows.each_ref().map(|row| row.get(&rcx).copied()), [Some(false), Some(true)]);
    assert_eq!(rows.each_ref().map(|row| row.get(&rdx).copied()), [Some(false), Some(false)]);
    assert_eq!(rows[0].get(&reg("rbx")), None);
    let imported = import(&object, &ImportOptions::default()).expect("the object is imported").module;
    let (id, function) = imported.functions().next().expect("a function");
    assert_eq!(function.unspecified_registers, UnspecifiedRegisters::SameValue);
    assert_eq!(imported.frame(id).len(), 3);
}
