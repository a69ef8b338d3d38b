//! `.debug_info`: types, functions, scopes and variables, with their lists.

use super::super::content::{
    At, BASES, Entry, Function, Kind, Machine, Name, Place, Scope, Type, Unit, Variable,
};
use super::abbrev::{Die, Form};
use super::bytes::uleb;
use super::check::{self, Wrong};
use super::{Hand, expression};

/// Names of fewer bytes are in the entry: their size is at most that of an offset.
const INLINE: usize = 4;

/// Facts of a function that the entries of its scopes refer to.
#[derive(Clone, Copy)]
struct Around {
    /// Index of its address.
    address: u32,
    /// Size of its code in bytes.
    bytes: u32,
}

impl<const CHECKED: bool> Hand<'_, CHECKED> {
    /// Whether a name is in the entry.
    fn is_inline(&self, name: Name) -> bool {
        self.mix.text(name).len() < INLINE
    }

    /// Appends the index of a string.
    pub(super) fn string(&mut self, name: Name) {
        let index = self.strings.index(name);
        uleb(&mut self.info, index.into());
    }

    fn name(&mut self, name: Name, is_inline: bool) {
        if is_inline {
            self.info.extend_from_slice(self.mix.text(name).as_bytes());
            self.info.push(0);
        } else {
            self.string(name);
        }
    }

    fn line(&mut self, line: u32) {
        match line {
            ..0x100 => self.info.push(line as u8),
            _ => self.info.extend_from_slice(&(line as u16).to_le_bytes()),
        }
    }

    /// Offset of a type in the unit; 0 for a pointer whose entry follows.
    fn ty(&self, ty: Type) -> u32 {
        match ty {
            Type::Base(base) => self.bases[usize::from(base)],
            Type::Structure(index) => self.structures[usize::from(index)].0,
            Type::Pointer(index) => self.structures[usize::from(index)].1,
        }
    }

    fn known(&self, ty: Type) -> Result<(), Wrong> {
        let (index, count) = match ty {
            Type::Base(index) => (usize::from(index), self.bases.len()),
            Type::Structure(index) | Type::Pointer(index) => (index.into(), self.structures.len()),
        };
        if index < count { Ok(()) } else { Err(Wrong::Id) }
    }

    pub(super) fn types(&mut self, unit: &Unit) -> Result<(), Wrong> {
        let mix = self.mix;
        self.bases.clear();
        for (name, (_, encoding, bits)) in BASES.iter().enumerate() {
            let (name, inline) = (name as Name, self.is_inline(name as Name));
            self.bases.push(self.offset());
            self.begin(Die::Base { inline });
            self.name(name, inline);
            self.info.extend_from_slice(&[encoding.0, (bits / 8) as u8]);
        }
        self.structures.clear();
        for structure in &mix.structures[unit.structures.clone()] {
            let at = self.offset();
            // The entry of the pointer type follows that of the structure.
            self.structures.push((at, 0));
            self.begin(Die::Structure { short: structure.line < 0x100 });
            self.string(structure.name);
            uleb(&mut self.info, structure.bytes.into());
            self.line(structure.line);
            let mut later = Vec::new();
            for member in &mix.members[structure.members.clone()] {
                if CHECKED {
                    self.known(member.ty)?;
                    check::member(mix.bits(unit, member.ty), member.offset, structure.bytes)?;
                }
                let (inline, ty) = (self.is_inline(member.name), self.ty(member.ty));
                self.begin(Die::Member { inline, short: member.line < 0x100, later: ty == 0 });
                self.name(member.name, inline);
                self.line(member.line);
                if ty == 0 {
                    later.push(self.info.len());
                    self.info.extend_from_slice(&[0; 4]);
                } else {
                    uleb(&mut self.info, ty.into());
                }
                uleb(&mut self.info, member.offset.into());
            }
            self.info.push(0);
            let pointer = self.offset();
            for place in later {
                self.info[place..place + 4].copy_from_slice(&pointer.to_le_bytes());
            }
            if let Some((_, known)) = self.structures.last_mut() {
                *known = pointer;
            }
            self.begin(Die::Pointer);
            uleb(&mut self.info, at.into());
        }
        Ok(())
    }

    /// Appends a function with its scopes. `address` is the index of its address.
    pub(super) fn function(&mut self, unit: &Unit, function: &Function, address: u32) -> Result<(), Wrong> {
        let mix = self.mix;
        if CHECKED {
            function.returns.map_or(Ok(()), |ty| self.known(ty))?;
            check::function(self.machine, function)?;
        }
        let (short, returns) = (function.line < 0x100, function.returns.is_some());
        self.functions.push(self.offset());
        self.begin(match function.code {
            None => Die::Abstract { short, returns },
            Some(_) => Die::Function { short, returns, external: function.is_external },
        });
        self.string(function.name);
        self.line(function.line);
        if let Some(ty) = function.returns {
            let ty = self.ty(ty);
            uleb(&mut self.info, ty.into());
        }
        let bytes = function.code.map_or(0, |code| code.bytes);
        let around = Around { address, bytes };
        if function.code.is_some() {
            uleb(&mut self.info, address.into());
            uleb(&mut self.info, bytes.into());
            let frame = self.machine.frame() as u8;
            match self.machine {
                Machine::Gpu => self.info.extend_from_slice(&[2, gimli::DW_OP_regx.0, frame]),
                Machine::Cpu => self.info.extend_from_slice(&[1, gimli::DW_OP_reg0.0 + frame]),
            }
        }
        let scopes = &mix.scopes[function.scopes.clone()];
        if CHECKED {
            check::scopes(self.machine, bytes, scopes, &mix.ranges)?;
        }
        let mut depth = 0;
        for scope in scopes {
            for _ in scope.depth..depth {
                self.info.push(0);
            }
            depth = scope.depth + 1;
            self.scope(scope, around)?;
            for variable in &mix.variables[scope.variables.clone()] {
                self.variable(unit, scope, variable, around)?;
            }
        }
        for _ in 0..depth {
            self.info.push(0);
        }
        Ok(())
    }

    /// Appends the entry of a block or inlined call. The entry of a function exists already.
    fn scope(&mut self, scope: &Scope, around: Around) -> Result<(), Wrong> {
        let ranges = &self.mix.ranges[scope.ranges.clone()];
        let is_list = !matches!(ranges, [range] if range.start == 0);
        match scope.kind {
            Kind::Function => return Ok(()),
            Kind::Block => self.begin(Die::Block { is_list }),
            Kind::Call { of, line, .. } => {
                if CHECKED && of >= self.functions.len() {
                    return Err(Wrong::Id);
                }
                self.begin(Die::Call { is_list, short: line < 0x100 });
                uleb(&mut self.info, self.functions[of].into());
            }
        }
        if is_list {
            let out = &mut self.rnglists.bytes;
            let start = out.len();
            out.push(gimli::DW_RLE_base_addressx.0);
            uleb(out, around.address.into());
            for range in ranges {
                out.push(gimli::DW_RLE_offset_pair.0);
                uleb(out, range.start.into());
                uleb(out, range.end.into());
            }
            let list = self.rnglists.end(start);
            uleb(&mut self.info, list);
        } else {
            uleb(&mut self.info, around.address.into());
            uleb(&mut self.info, ranges[0].end.into());
        }
        if let Kind::Call { line, column, .. } = scope.kind {
            self.info.push(0);
            self.line(line);
            uleb(&mut self.info, column.into());
        }
        Ok(())
    }

    fn variable(
        &mut self,
        unit: &Unit,
        scope: &Scope,
        variable: &Variable,
        around: Around,
    ) -> Result<(), Wrong> {
        let (mix, parameter) = (self.mix, variable.is_parameter);
        if CHECKED {
            self.known(variable.ty)?;
            check::variable(scope, variable, self.origins.len())?;
        }
        let place = match variable.at {
            At::Nowhere => Form::None,
            At::Constant(_) => Form::Constant,
            At::Always(_) => Form::Expression,
            At::Entries(_) => Form::List,
        };
        let at = self.offset();
        match variable.origin {
            Some(origin) => {
                self.begin(Die::Copy { parameter, place });
                uleb(&mut self.info, self.origins[origin].into());
            }
            None => {
                let inline = self.is_inline(variable.name);
                self.begin(Die::Named { parameter, inline, short: variable.line < 0x100, place });
                self.name(variable.name, inline);
                self.line(variable.line);
                let ty = self.ty(variable.ty);
                uleb(&mut self.info, ty.into());
            }
        }
        match &variable.at {
            At::Nowhere => self.origins.push(at),
            At::Constant(value) => self.info.extend_from_slice(&value.to_le_bytes()),
            At::Always(place) => {
                let bits = mix.bits(unit, variable.ty);
                if CHECKED {
                    self.checks.place(*place, bits)?;
                }
                let length = self.info.len();
                self.info.push(0);
                expression::write(&mut self.info, self.machine, *place, bits);
                patch(&mut self.info, length);
            }
            At::Entries(entries) => {
                let bits = mix.bits(unit, variable.ty);
                let entries = &mix.entries[entries.clone()];
                if CHECKED {
                    self.checks.entries(entries, around.bytes, bits)?;
                }
                let list = self.list(entries, bits, around.address);
                uleb(&mut self.info, list);
            }
        }
        Ok(())
    }

    /// Appends a location list and returns its index.
    fn list(&mut self, entries: &[Entry], bits: u32, address: u32) -> u64 {
        let machine = self.machine;
        let out = &mut self.loclists.bytes;
        let start = out.len();
        if let [Entry { start: 0, end, place, other: None }] = *entries {
            out.push(gimli::DW_LLE_startx_length.0);
            uleb(out, address.into());
            uleb(out, end.into());
            counted(out, machine, place, bits);
            return self.loclists.end(start);
        }
        out.push(gimli::DW_LLE_base_addressx.0);
        uleb(out, address.into());
        for &Entry { start, end, place, other } in entries {
            for place in [Some(place), other].into_iter().flatten() {
                out.push(gimli::DW_LLE_offset_pair.0);
                uleb(out, start.into());
                uleb(out, end.into());
                counted(out, machine, place, bits);
            }
        }
        self.loclists.end(start)
    }
}

/// Appends a length byte and the expression of a location.
#[inline]
fn counted(out: &mut Vec<u8>, machine: Machine, place: Place, bits: u32) {
    let length = out.len();
    out.push(0);
    expression::write(out, machine, place, bits);
    patch(out, length);
}

/// Fills in the length byte at `at` with the number of bytes after it.
#[inline]
fn patch(out: &mut [u8], at: usize) {
    let length = out.len() - at - 1;
    debug_assert!(length < 0x80, "places are short");
    out[at] = length as u8;
}
