//! The loaded files of a program, and a call stack as the [`Machine`] for expressions in each.

use super::super::debug_info::DebugInfo;
use super::super::forward::forward;
use super::super::location::Location;
use super::super::machine::{CallValue, Machine, ReferencedEntry};
use super::super::value::BaseType;
use super::call_stack::{CallStack, Level};
use crate::op::{Encoding, Reg};

/// A call stack with the debug information of a loaded file: the [`Machine`] for the file's expressions.
pub(super) struct FileMachine<'s, 'a, 'o> {
    /// Forwarded to.
    pub(super) machine: &'s CallStack<'a, 'o>,
    /// Index of the file.
    pub(super) file: usize,
    pub(super) info: Option<&'a DebugInfo<'a, 'o>>,
}

/// Returns the debug information with a frame's subprogram, or else the first of the frame's file.
pub(super) fn info_of<'a, 'o>(
    stack: &CallStack<'a, 'o>,
    level: &Level<'a, 'o>,
) -> Option<&'a DebugInfo<'a, 'o>> {
    let infos = &stack.file(level.file).infos;
    let mut described = infos.iter().filter(|_| infos.len() > 1);
    let described = described.find(|info| info.subprogram(level.pc).is_some());
    described.or(infos.first()).copied()
}

/// Calls `then` with the machine for call frame information in the file of a frame.
pub(super) fn for_rules<'a, 'o, T>(
    stack: &CallStack<'a, 'o>,
    level: &Level<'a, 'o>,
    then: impl FnOnce(&dyn Machine) -> T,
) -> T {
    match level.file {
        0 => then(stack),
        file => then(&FileMachine { machine: stack, file, info: info_of(stack, level) }),
    }
}

/// Returns the machine for the file of the innermost frame, if there is debug information.
fn innermost_file<'s, 'a, 'o>(stack: &'s CallStack<'a, 'o>) -> Option<FileMachine<'s, 'a, 'o>> {
    if stack.main.infos.is_empty() && stack.others.is_empty() {
        return None;
    }
    let level = stack.level(0).ok().flatten();
    let file = level.as_ref().map_or(0, |level| level.file);
    let info = match level {
        Some(level) => info_of(stack, &level),
        None => stack.main.infos.first().copied(),
    };
    Some(FileMachine { machine: stack, file, info })
}

impl<'a, 'o> FileMachine<'_, 'a, 'o> {
    /// Returns the debug information, if a frame is in the file.
    fn info_for(&self, frame: u32) -> Option<&'a DebugInfo<'a, 'o>> {
        self.level_pc(frame)?;
        self.info
    }

    /// Returns a frame's pc, if the frame is in the file.
    fn level_pc(&self, frame: u32) -> Option<u64> {
        let level = self.machine.answer(self.machine.level(frame))?;
        (level.file == self.file).then_some(level.pc)
    }
}

impl Machine for FileMachine<'_, '_, '_> {
    forward! { register memory is_big_endian lane iteration iterations saved object }

    fn pc(&self, frame: u32) -> Option<u64> {
        self.level_pc(frame)
    }

    fn lanes(&self) -> u64 {
        let described = self.info.and_then(|info| info.lanes(self.level_pc(0)?));
        described.unwrap_or_else(|| self.machine.machine.lanes())
    }

    fn cfa(&self, frame: u32) -> Option<Location> {
        self.machine.cfa(frame)
    }

    fn cfa_problem(&self, frame: u32) -> Option<String> {
        self.machine.cfa_problem(frame)
    }

    fn frame_base(&self, frame: u32) -> Option<ReferencedEntry<'_>> {
        let described = self.info.and_then(|info| info.frame_base(self.level_pc(frame)?));
        described.or_else(|| self.own()?.frame_base(frame))
    }

    fn frame_base_problem(&self, frame: u32) -> Option<String> {
        self.info.map(|info| info.frame_base_problem(self.level_pc(frame)))
    }

    fn tls(&self) -> Option<u64> {
        self.own()?.tls()
    }

    fn load_bias(&self) -> u64 {
        self.machine.file(self.file).load_bias
    }

    fn debug_addr(&self, unit: u64, index: u64) -> Option<u64> {
        let described = self.info.and_then(|info| info.debug_addr(unit, index));
        described.or_else(|| self.own()?.debug_addr(unit, index))
    }

    fn base_type(&self, unit: u64, offset: u64) -> Option<BaseType> {
        let described = self.info.and_then(|info| info.base_type(unit, offset));
        described.or_else(|| self.own()?.base_type(unit, offset))
    }

    fn entry(&self, offset: u64) -> Option<ReferencedEntry<'_>> {
        let described = self.info.and_then(|info| info.entry(offset));
        described.or_else(|| self.own()?.entry(offset))
    }

    fn entry_value(&self, expr: &[u8], encoding: Encoding, frame: u32) -> Option<CallValue<'_>> {
        let passed = self.info_for(frame).and_then(|info| info.entry_value(self, expr, encoding, frame));
        passed.or_else(|| self.own()?.entry_value(expr, encoding, frame))
    }

    fn call_value(&self, parameter: u64, frame: u32) -> Option<CallValue<'_>> {
        let passed = self.info_for(frame).and_then(|info| info.call_value(self, parameter, frame));
        passed.or_else(|| self.own()?.call_value(parameter, frame))
    }

    fn variable_type(&self, offset: u64) -> Option<BaseType> {
        let described = self.info.and_then(|info| info.variable_type(offset));
        described.or_else(|| self.own()?.variable_type(offset))
    }
}

impl<'s, 'a, 'o> FileMachine<'s, 'a, 'o> {
    /// Returns the wrapped machine, which represents the first file.
    fn own(&self) -> Option<&'s (dyn Machine + 'a)> {
        (self.file == 0).then_some(self.machine.machine)
    }
}

/// The machine for the file of the innermost frame.
impl Machine for CallStack<'_, '_> {
    forward! { register memory is_big_endian lane iteration iterations object }

    fn pc(&self, frame: u32) -> Option<u64> {
        match frame {
            0 if !self.is_at_return_address => self.machine.pc(0),
            _ => self.answer(self.level(frame)).map(|level| level.pc),
        }
    }

    fn cfa(&self, frame: u32) -> Option<Location> {
        let level = self.answer(self.level(frame))?;
        if level.row.as_ref().is_ok_and(Option::is_none) {
            return self.machine.cfa(frame);
        }
        self.answer(self.cfa_of(&level).map(Some))
    }

    fn cfa_problem(&self, frame: u32) -> Option<String> {
        let cfa = self.level(frame).and_then(|level| match level {
            Some(level) => self.cfa_of(&level),
            None => Err(self.unknown(frame)),
        });
        cfa.err().map(|fault| fault.to_string())
    }

    fn saved(&self, reg: Reg, frame: u32) -> Option<Location> {
        self.answer(self.register_in(reg, frame))
    }

    fn lanes(&self) -> u64 {
        innermost_file(self).map_or_else(|| self.machine.lanes(), |file| file.lanes())
    }

    fn frame_base(&self, frame: u32) -> Option<ReferencedEntry<'_>> {
        let Some(file) = innermost_file(self) else { return self.machine.frame_base(frame) };
        let described = file.info.and_then(|info| info.frame_base(file.level_pc(frame)?));
        described.or_else(|| file.own()?.frame_base(frame))
    }

    fn frame_base_problem(&self, frame: u32) -> Option<String> {
        innermost_file(self)?.frame_base_problem(frame)
    }

    fn tls(&self) -> Option<u64> {
        match innermost_file(self) {
            Some(file) => file.tls(),
            None => self.machine.tls(),
        }
    }

    fn load_bias(&self) -> u64 {
        innermost_file(self).map_or_else(|| self.machine.load_bias(), |file| file.load_bias())
    }

    fn debug_addr(&self, unit: u64, index: u64) -> Option<u64> {
        match innermost_file(self) {
            Some(file) => file.debug_addr(unit, index),
            None => self.machine.debug_addr(unit, index),
        }
    }

    fn base_type(&self, unit: u64, offset: u64) -> Option<BaseType> {
        match innermost_file(self) {
            Some(file) => file.base_type(unit, offset),
            None => self.machine.base_type(unit, offset),
        }
    }

    fn entry(&self, offset: u64) -> Option<ReferencedEntry<'_>> {
        let Some(file) = innermost_file(self) else { return self.machine.entry(offset) };
        let described = file.info.and_then(|info| info.entry(offset));
        described.or_else(|| file.own()?.entry(offset))
    }

    fn entry_value(&self, expr: &[u8], encoding: Encoding, frame: u32) -> Option<CallValue<'_>> {
        let Some(file) = innermost_file(self) else {
            return self.machine.entry_value(expr, encoding, frame);
        };
        let passed = file.info_for(frame).and_then(|info| info.entry_value(&file, expr, encoding, frame));
        passed.or_else(|| file.own()?.entry_value(expr, encoding, frame))
    }

    fn call_value(&self, parameter: u64, frame: u32) -> Option<CallValue<'_>> {
        let Some(file) = innermost_file(self) else { return self.machine.call_value(parameter, frame) };
        let passed = file.info_for(frame).and_then(|info| info.call_value(&file, parameter, frame));
        passed.or_else(|| file.own()?.call_value(parameter, frame))
    }

    fn variable_type(&self, offset: u64) -> Option<BaseType> {
        match innermost_file(self) {
            Some(file) => file.variable_type(offset),
            None => self.machine.variable_type(offset),
        }
    }
}
