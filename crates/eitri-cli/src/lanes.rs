//! `explain --lanes`: from arguments to lane positions.

use std::path::Path;

use eitri::dump::{self, Lanes};
use eitri::eval::{DebugInfo, Machine};
use eitri::read::{Dwarf, Object, ReadOptions};

use super::evaluate::{dialect, stops, with_split};
use super::progress::Progress;
use super::question::Question;
use super::{Failure, containers, in_file};

/// Finds the requested lane positions.
pub fn positions(question: &Question, function: Option<&str>) -> Result<Lanes, Failure> {
    let file = Path::new(&question.subject);
    let _progress = Progress::begin("explain", file);
    let described = containers::single_described(file, question.member.as_deref())?;
    let object = described.read(None).map_err(in_file(file))?;
    let dwarf =
        Dwarf::read_with(&object, &ReadOptions::new().dialect(dialect(question)?)).map_err(in_file(file))?;
    with_split(question, &object, &dwarf, |files| positions_in(question, function, &object, files))
}

/// Finds the positions in the file that has the function at the first stop.
fn positions_in(
    question: &Question,
    function: Option<&str>,
    object: &Object<'_>,
    files: &[&Dwarf<'_>],
) -> Result<Lanes, Failure> {
    let file = Path::new(&question.subject);
    let (mut machines, target) = stops(question, DebugInfo::new(files[0]).target(object))?;
    let pc = machines.first().and_then(|machine| machine.snapshot.pc);
    let mut infos: Vec<_> = files.iter().map(|dwarf| DebugInfo::new(dwarf)).collect();
    let number = infos.iter().position(|info| pc.is_some_and(|pc| info.subprogram(pc).is_some()));
    let info = infos.swap_remove(number.unwrap_or(0));
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
    dump::lanes(&info, function, &machines, &target).map_err(in_file(file))
}
