//! `explain --lanes`: from arguments to positions of lanes.

use std::path::Path;

use eitri::dump::{self, Lanes};
use eitri::eval::{DebugInfo, Machine};
use eitri::op::DraftCodes;
use eitri::read::{Dwarf, Object};

use super::arguments::Question;
use super::evaluate::{dialect, stops, target_of};
use super::{Failure, containers, of};

/// Finds the requested positions of lanes.
pub fn positions(question: &Question, function: Option<&str>) -> Result<Lanes, Failure> {
    let file = Path::new(&question.subject);
    let (_, bytes) = containers::one("explain", file, question.member.as_deref())?;
    let object = Object::read(&bytes).map_err(of(file))?;
    let dwarf = Dwarf::read_as(&object, dialect(question)?, DraftCodes::NONE).map_err(of(file))?;
    let info = DebugInfo::new(&dwarf);
    let (mut machines, target) = stops(question, target_of(&object, &info))?;
    let hardware = target.built_in();
    for snapshot in machines.iter_mut().map(|machine| &mut machine.snapshot) {
        snapshot.lanes = snapshot.lanes.or_else(|| Some(hardware?.lanes().into()));
        // On this target a register contains the pc too, as a loaded address.
        if let (Some(pc), Some(reg)) = (snapshot.pc, hardware.and_then(|target| target.pc())) {
            let loaded = pc.wrapping_add(snapshot.load_bias);
            snapshot.registers.entry(reg).or_insert_with(|| loaded.to_le_bytes().into());
        }
    }
    let machines: Vec<&dyn Machine> =
        machines.iter().map(|machine| &machine.snapshot as &dyn Machine).collect();
    dump::lanes(&info, function, &machines, &target).map_err(of(file))
}
