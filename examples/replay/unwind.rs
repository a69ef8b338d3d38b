//! Frames at every step inside a called function, compared with the machine at the call.

use std::collections::BTreeMap;
use std::error::Error;

use eitri::eval::{CallStack, DebugInfo, Frame, read_bits};
use eitri::op::Reg;
use eitri::read::{Dwarf, FrameSection, Frames, Object, ReadOptions};
use eitri::target::Target;

use super::machine::{EXEC, Trace, Wave, World};
use super::variables::{Variable, value, variables};
use super::{LANES, TARGET, steps};

/// The machine when a function was called.
struct Called {
    resumes: u64,
    wave: Wave,
    /// Values of the caller's variables, by entry and lane.
    values: BTreeMap<(u64, u64), Option<Vec<u8>>>,
}

/// Counts of answers, by subject and frame, then by class.
#[derive(Default)]
struct Tally(BTreeMap<(&'static str, usize), BTreeMap<String, u64>>);

impl Tally {
    fn count(&mut self, subject: &'static str, frame: usize, class: impl Into<String>) {
        *self.0.entry((subject, frame)).or_default().entry(class.into()).or_default() += 1;
    }
}

/// Facts of the object.
struct Facts<'a> {
    info: DebugInfo<'a, 'a>,
    frames: [Frames<'a>; 1],
    variables: Vec<Variable<'a, 'a>>,
    target: Target,
}

impl Facts<'_> {
    fn value(&self, variable: &Variable<'_, '_>, frame: u32, world: &World) -> Option<Vec<u8>> {
        let stack = CallStack::new(world, &self.frames, &self.target).with_debug_info(&self.info);
        value(variable, &self.info, &stack, &self.target, frame, world)
    }

    /// Returns the values of the variables at a pc in a frame, in the active lanes.
    fn values(
        &self,
        world: &mut World,
        (frame, pc, exec): (u32, u64, u32),
    ) -> BTreeMap<(u64, u64), Option<Vec<u8>>> {
        let mut values = BTreeMap::new();
        for variable in self.variables.iter().filter(|variable| variable.is_in_scope(pc)) {
            for lane in (0..LANES).filter(|lane| exec >> lane & 1 == 1) {
                world.lane = lane;
                values.insert((variable.entry.offset(), lane), self.value(variable, frame, world));
            }
        }
        values
    }
}

pub fn unwind(object: &str, trace: &str) -> Result<(), Box<dyn Error>> {
    let bytes = std::fs::read(object)?;
    let object = Object::read(&bytes)?;
    let dwarf = Dwarf::read_with(&object, &ReadOptions::new())?;
    let facts = Facts {
        info: DebugInfo::new(&dwarf),
        frames: [dwarf.frames(FrameSection::Debug)?],
        variables: variables(&dwarf),
        target: Target::named(TARGET)?,
    };
    let mut tally = Tally::default();
    let mut calls: BTreeMap<u64, Vec<Called>> = BTreeMap::new();
    let mut last: BTreeMap<u64, (String, u64)> = BTreeMap::new();
    let mut count = 0;
    steps(trace, |trace, line| {
        let wave = line["wave"].as_u64().unwrap_or(0);
        let pc = trace.world.pc;
        let own = calls.entry(wave).or_default();
        if let Some((name, _)) = last.get(&wave)
            && name.starts_with("s_setpc")
            && own.last().is_some_and(|called| called.resumes == pc)
        {
            own.pop();
        }
        let name = line["inst"].as_str().unwrap_or_default().to_owned();
        for frame in 1..=own.len() {
            let called = &own[own.len() - frame];
            compare(&facts, trace, called, (frame, own.len()), &mut tally);
        }
        count += u64::from(!own.is_empty());
        if name.starts_with("s_swappc") || name.starts_with("s_call") {
            let exec = trace.world.wave.scalars[EXEC];
            let values = facts.values(&mut trace.world, (0, pc, exec));
            own.push(Called { resumes: pc + 4, wave: trace.world.wave.clone(), values });
        }
        last.insert(wave, (name, pc));
        Ok(true)
    })?;
    println!("{count} steps in callees");
    for ((subject, frame), classes) in &tally.0 {
        println!("frame {frame}  {subject:<20} {classes:?}");
    }
    Ok(())
}

/// Compares a frame with the machine when its function made the call.
fn compare(
    facts: &Facts<'_>,
    trace: &mut Trace,
    called: &Called,
    (number, depth): (usize, usize),
    tally: &mut Tally,
) {
    let stack = CallStack::new(&trace.world, &facts.frames, &facts.target).with_debug_info(&facts.info);
    let frame = match stack.frame(number as u32) {
        Ok(Some(frame)) => frame,
        Ok(None) => return tally.count("pc", number, "no frame"),
        Err(_) => return tally.count("pc", number, "error"),
    };
    if frame.resumes_at() != called.resumes {
        return tally.count("pc", number, "wrong");
    }
    tally.count("pc", number, "right");
    if number == depth {
        let class = match stack.frame(number as u32 + 1) {
            Ok(None) => "right",
            Ok(Some(_)) => "another frame",
            Err(_) => "error",
        };
        tally.count("end", number, class);
    }
    registers(&frame, &trace.world, called, number, tally);
    let at = frame.pc();
    drop(frame);
    drop(stack);
    let exec = called.wave.scalars[EXEC];
    let now = facts.values(&mut trace.world, (number as u32, at, exec));
    for (key, value) in now {
        let class = match (called.values.get(&key).and_then(Option::as_ref), &value) {
            (Some(then), Some(now)) if then == now => "right",
            (Some(_), Some(_)) => "wrong",
            (Some(_), None) => "lost",
            (None, Some(_)) => "gained",
            (None, None) => "none either way",
        };
        tally.count("caller's variables", number, class);
    }
}

/// Compares a frame's registers.
fn registers(frame: &Frame<'_, '_, '_>, world: &World, called: &Called, number: usize, tally: &mut Tally) {
    let Wave { scalars, vectors, .. } = &called.wave;
    let scalar = |index: usize| Reg(if index < 64 { 32 + index as u64 } else { 1088 + index as u64 - 64 });
    let lanes = |bytes: &[u8]| -> Vec<u32> {
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
    };
    let expected = (0..106)
        .map(|index| ("sgpr", scalar(index), vec![scalars[index]]))
        .chain([("exec_lo", Reg(1), vec![scalars[EXEC]]), ("vcc_lo", Reg(512), vec![scalars[106]])])
        .chain(vectors.iter().map(|(index, bytes)| ("vgpr lanes", Reg(1536 + *index as u64), lanes(bytes))));
    for (subject, register, words) in expected {
        let Ok(location) = frame.register(register) else {
            tally.count(subject, number, "error");
            continue;
        };
        let how =
            if location.to_string() == format!("reg:{}", register.0) { "same value" } else { "by rule" };
        let Ok(read) = read_bits(&location, 32 * words.len() as u64, world) else {
            tally.count(subject, number, "unreadable");
            continue;
        };
        for (index, word) in words.iter().enumerate() {
            let is_active = words.len() == 1 || scalars[EXEC] >> index & 1 == 1;
            let bytes = 4 * index..4 * index + 4;
            let class = match (&read.defined[bytes.clone()], &read.bytes[bytes]) {
                ([0, 0, 0, 0], _) => "undefined".to_owned(),
                ([0xff, 0xff, 0xff, 0xff], found) if *found == word.to_le_bytes() => format!("right {how}"),
                ([0xff, 0xff, 0xff, 0xff], _) => format!("wrong {how}"),
                _ => "partly defined".to_owned(),
            };
            let lane = if is_active { "" } else { " (lane off at call)" };
            tally.count(subject, number, format!("{class}{lane}"));
        }
    }
}
