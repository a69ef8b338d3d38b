//! Regions of divergent control flow: what is written for them is imported as regions.

use eitri::build::Builder;
use eitri::consumer::{Consumer, Policy};
use eitri::emit::elf::{ObjectCode, new_object};
use eitri::import::{ImportOptions, UnimportedFact, UnimportedReason, import};
use eitri::lower::lower;
use eitri::model::{FunctionId, Loc, Module, ScopeKind, SourceLine};
use eitri::omission::Property;
use eitri::target::{Gfx, Target, Wave};

use crate::agreement::choices::Choices;
use crate::agreement::{modules, targets};
use crate::common::cases::cases;
use crate::common::random::fixed_choices;
use crate::common::with;

/// A region: its pcs, where its lanes wait, the pcs of the region around it, whether an inlined call has it.
type Described = (core::ops::Range<u64>, u64, Option<core::ops::Range<u64>>, bool);

fn regions(module: &Module, function: FunctionId) -> Vec<Described> {
    let describe = |id: &eitri::model::RegionId| {
        let region = module.region(*id);
        let parent = region.parent.map(|parent| module.region(parent).pcs());
        let is_inlined = matches!(module.scope(region.scope).kind, ScopeKind::Inlined { .. });
        (region.pcs(), region.waits_at(), parent, is_inlined)
    };
    module.regions_of(function).iter().map(describe).collect()
}

/// A function with whole-wave code, a mask that moves, and an inlined call with a loop in an `if`.
fn divergent(wave: Wave) -> Module {
    let gpu = Target::amdgpu(Gfx::GFX1030, wave).expect("a target");
    let pair = |number: u16| match wave {
        Wave::W32 => Loc::register(gpu.sgpr(number).expect("a register")),
        _ => Loc::over([gpu.sgpr(number).expect("a register"), gpu.sgpr(number + 1).expect("a register")]),
    };
    let v40 = gpu.vgpr(40).expect("a register");
    let spilled = match wave {
        Wave::W32 => Loc::lane(v40, 3),
        _ => Loc::lanes([(v40, 3), (v40, 4)]),
    };
    let mut m = Builder::new(gpu.clone());
    let unit = m.unit("a.cl");
    let file = m.primary_file(unit).expect("a file");
    let inlined = m.function(unit, "g").expect("a function").id();
    let kernel = m.function(unit, "k").expect("a function").code("k", 0x80).kernel().id();
    let call = m.inlined(kernel, inlined, &[0x20..0x40], SourceLine::new(file, 3)).expect("a call");
    let moving = [(0x10..0x28, pair(4)), (0x28..0x60, spilled)];
    let mut lanes = m.lanes(kernel).expect("lanes");
    let [then, _] = lanes.if_else(0x10..0x48, 0x48..0x60, 0x0c, 0x60, &moving).expect("two sides");
    lanes.whole_wave(0x64..0x6c, &pair(8)).expect("whole-wave code");
    let mut lanes = m.lanes(call).expect("lanes");
    lanes.inside(then).expect("a region around the call");
    lanes.loop_(0x24..0x3c, 0x3c, &[(0x24..0x3c, pair(6))]).expect("a loop");
    m.finish().expect("a module")
}

fn imported(module: &Module, code: &ObjectCode, consumer: &Consumer) -> eitri::import::ImportedDwarf {
    let written = lower(module, consumer, Policy::Partial).expect("sections");
    let bytes = new_object(module.target(), code, &written.sections).expect("an object");
    let options = with::<ImportOptions<'_>>(|options| {
        options.target = Some(module.target().clone());
        options.dialect = Some(consumer.expressions.dialect);
    });
    import(&bytes, &options).expect("it is imported")
}

#[test]
fn regions_are_imported_as_they_were_described() {
    for wave in [Wave::W32, Wave::W64] {
        let module = divergent(wave);
        let code = ObjectCode::text(vec![0; 0x100]).with_function("k", 0, 0x80);
        for name in ["rocgdb", "llvm"] {
            let consumer = Consumer::named(name).expect("a consumer");
            if consumer.attributes.lane_pc.is_none() {
                continue;
            }
            let written = lower(&module, &consumer, Policy::Partial).expect("sections");
            let result = imported(&module, &code, &consumer);
            assert!(result.unimported.is_empty(), "{name}: {:#?}", result.unimported);
            let function = |module: &Module| {
                module.functions().find(|(_, function)| module.string(function.name) == "k").expect("k").0
            };
            let expected = [
                (0x10..0x48, 0x0c, None, false),
                (0x24..0x3c, 0x3c, Some(0x10..0x48), true),
                (0x48..0x60, 0x60, None, false),
            ];
            assert_eq!(regions(&module, function(&module)), expected);
            let kernel = function(&result.module);
            assert_eq!(regions(&result.module, kernel), expected, "{name}");
            let whole: Vec<_> = result.module.whole_waves(kernel).iter().map(|one| one.mask.pcs()).collect();
            assert_eq!(whole, [0x64..0x6c], "{name}");
            let masks = |module: &Module, id| -> Vec<String> {
                let regions = module.regions_of(id).iter().flat_map(|region| module.masks(*region));
                regions.map(|mask| format!("{:?}", module.nodes(mask.loc).collect::<Vec<_>>())).collect()
            };
            assert_eq!(masks(&result.module, kernel), masks(&module, function(&module)), "{name}");
            let again = lower(&result.module, &consumer, Policy::Partial).expect("sections");
            let after = new_object(module.target(), &code, &again.sections).expect("an object");
            let report = eitri::check(&module, &consumer, &written.omissions, &after).expect("a report");
            assert!(report.is_clean(), "{name}: {report}");
        }
    }
}

/// Regions of random descriptions come back, wherever the consumer expresses them all, or are listed: a mask can be an
/// expression that always fails.
#[test]
fn random_regions_are_imported_as_they_were_described() {
    let (mut count, mut listed) = (0, 0);
    let consumer = Consumer::rocgdb();
    for seed in 0..cases(120) as u64 {
        let numbers = fixed_choices(seed, 1200);
        let mut choices = Choices::new(&numbers);
        let target = targets()[choices.below(7)].clone();
        let made = modules::module(&mut choices, target);
        let written = lower(&made.module, &consumer, Policy::Partial).expect("sections");
        let is_whole = !written.omissions.iter().any(|omission| omission.property == Property::Lanes);
        if made.module.target().lanes() == 1 || !is_whole {
            continue;
        }
        let result = imported(&made.module, &made.code, &consumer);
        // Functions whose code is not in the object have no pcs.
        let has_code = |fact: &UnimportedFact| {
            fact.attribute == Some(gimli::DW_AT_low_pc) && fact.reason == UnimportedReason::DiscardedCode
        };
        if result.unimported.iter().any(has_code) {
            continue;
        }
        // The functions of an import are in the order of their entries.
        let sorted = |module: &Module| {
            let functions = module.functions().filter(|(id, _)| !module.regions_of(*id).is_empty());
            let mut all: Vec<_> = functions
                .map(|(id, function)| format!("{} {:x?}", module.string(function.name), regions(module, id)))
                .collect();
            all.sort();
            all
        };
        let [mut expected, found] = [&made.module, &result.module].map(sorted);
        let left = result.unimported.iter().filter(|fact| fact.reason == UnimportedReason::LanePcs).count();
        count += expected.len();
        listed += left;
        // As many functions without regions as are listed.
        let missing = expected.extract_if(.., |text| !found.contains(text)).count();
        assert_eq!((&found, missing <= left), (&expected, true), "{seed}: {:#?}", result.unimported);
    }
    assert!(count > 5 && listed * 4 < count, "{count} functions with regions, {listed} listed");
}
