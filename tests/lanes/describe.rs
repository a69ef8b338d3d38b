//! Describes programs as a compiler would.

use std::collections::BTreeMap;
use std::ops::Range;

use eitri::build::Builder;
use eitri::model::{FunctionId, Loc, ScopeId, SourceLine, UnitId};
use eitri::target::Target;

use super::compile::{Code, Place, Slot, VGPR};
use super::program::{FUNCTION, Id};

/// Location of a mask.
pub fn loc(target: &Target, place: Place) -> Loc {
    let words = (target.lanes() / 32) as u16;
    match place {
        Place::Scalar(first) => {
            Loc::over((first..first + words).map(|number| target.sgpr(number).expect("a register")))
        }
        Place::Lanes(first) => {
            let register = target.vgpr(VGPR).expect("a register");
            Loc::lanes((first..first + u32::from(words)).map(|lane| (register, lane)))
        }
    }
}

/// Locations of a mask by pc.
pub fn masks(target: &Target, code: &Code, slot: Slot) -> Vec<(Range<u64>, Loc)> {
    code.places_of(slot).into_iter().map(|(pcs, place)| (pcs, loc(target, place))).collect()
}

/// Ids of the description.
pub struct Described {
    pub function: FunctionId,
    /// Inlined calls.
    pub scopes: BTreeMap<Id, ScopeId>,
}

/// Describes a function without its regions, with its inlined calls.
pub fn function(m: &mut Builder, unit: UnitId, callee: FunctionId, name: &str, code: &Code) -> Described {
    let file = m.primary_file(unit).expect("the file");
    let function = m.function(unit, name).expect("a function").code(name, code.bytes()).id();
    let mut scopes = BTreeMap::new();
    for (line, inlined) in (1..).zip(&code.inlined) {
        let pcs = std::slice::from_ref(&inlined.pcs);
        let call = SourceLine::new(file, line);
        let scope = match inlined.around {
            FUNCTION => m.inlined(function, callee, pcs, call),
            around => m.inlined(scopes[&around], callee, pcs, call),
        };
        scopes.insert(inlined.id, scope.expect("an inlined call"));
    }
    m.lanes(function).expect("a function");
    for (pcs, slot) in &code.whole_waves {
        let masks = masks(&m.target().clone(), code, *slot);
        let (_, mask) = masks.iter().find(|(place, _)| place.contains(&pcs.start)).expect("a place");
        m.lanes(function).expect("a function").whole_wave(pcs.clone(), mask).expect("whole-wave code");
    }
    Described { function, scopes }
}

/// Describes a function with its nested regions.
pub fn structured(m: &mut Builder, unit: UnitId, callee: FunctionId, name: &str, code: &Code) -> Described {
    let described = function(m, unit, callee, name, code);
    let target = m.target().clone();
    let mut ids = Vec::new();
    for region in &code.regions {
        let mut lanes = match region.scope {
            FUNCTION => m.lanes(described.function),
            inlined => m.lanes(described.scopes[&inlined]),
        }
        .expect("a function or inlined call");
        if let Some(parent) = region.parent {
            lanes.inside(ids[parent]).expect("the region around");
        }
        let masks = masks(&target, code, region.slot);
        let id = lanes.region(region.kind, region.pcs.clone(), region.waits_at, &masks);
        ids.push(id.unwrap_or_else(|error| panic!("{error}")));
    }
    described
}
