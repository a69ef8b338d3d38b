//! Contents of functions: variables, blocks, inlined calls, calls, labels.

use std::ops::Range;

use eitri::Result;
use eitri::build::VariableBuilder;
use eitri::model::{Loc, ScopeId, SourceLine, VariableId};
use eitri::read::{Entry, ResolvedValue};
use gimli::constants as dw;

use super::Describer;
use super::places::Place;
use super::types::is_type;

/// Code of a scope, with its start.
#[derive(Clone, Copy)]
struct In {
    start: u64,
    /// Whether the function's entry refers to an abstract instance.
    is_instance: bool,
}

impl<'r, 'o> Describer<'r, 'o> {
    pub(super) fn all_scopes(&mut self) -> Result<()> {
        let root = self.dwarf.root(self.of).expect("a unit's entry");
        for global in root.children().filter(|child| child.tag() == dw::DW_TAG_variable) {
            self.variable(global, self.unit, None)?;
        }
        let functions: Vec<_> =
            root.children().filter(|child| child.tag() == dw::DW_TAG_subprogram).collect();
        // Abstract instances come before the concrete ones that refer to them.
        let is_instance = |entry: &Entry<'_, '_>| entry.attr(dw::DW_AT_abstract_origin).is_some();
        for &function in functions.iter().filter(|entry| entry.attr(dw::DW_AT_inline).is_some()) {
            let id = self.functions[&function.offset()];
            let concrete = functions.iter().copied().find(|entry| {
                is_instance(entry) && entry.reference(dw::DW_AT_abstract_origin) == Some(function)
            });
            self.abstract_scope(function, id, concrete.map(|entry| (entry, entry.low_pc().unwrap_or(0))))?;
        }
        for &function in functions.iter().filter(|entry| entry.attr(dw::DW_AT_inline).is_none()) {
            let id = self.functions[&function.offset()];
            let start = function.low_pc().unwrap_or(0);
            self.scope(function, id, In { start, is_instance: is_instance(&function) })?;
        }
        Ok(())
    }

    /// Contents of an abstract instance. Blocks have the pcs of the function's own code.
    fn abstract_scope(
        &mut self,
        entry: Entry<'r, 'o>,
        scope: impl eitri::build::InScope + Copy,
        concrete: Option<(Entry<'r, 'o>, u64)>,
    ) -> Result<()> {
        for child in entry.children() {
            match child.tag() {
                dw::DW_TAG_variable | dw::DW_TAG_formal_parameter => {
                    self.variable(child, scope, None)?;
                }
                dw::DW_TAG_lexical_block => {
                    let mut pcs = Vec::new();
                    if let Some((concrete, start)) = concrete {
                        let own = concrete.descendants().find(|one| {
                            one.tag() == dw::DW_TAG_lexical_block && abstract_block(*one) == Some(child)
                        });
                        if let Some(own) = own {
                            pcs = from(own.ranges()?, start);
                        }
                    }
                    let block = self.m.block(scope, &pcs)?;
                    self.blocks.insert(child.offset(), block);
                    self.abstract_scope(child, block, concrete)?;
                }
                tag if is_type(tag) => self.within(child, scope)?,
                tag => panic!("{tag} in a function that was inlined"),
            }
        }
        Ok(())
    }

    fn scope(
        &mut self,
        entry: Entry<'r, 'o>,
        scope: impl eitri::build::InScope + Copy,
        of: In,
    ) -> Result<()> {
        for child in entry.children() {
            match child.tag() {
                dw::DW_TAG_variable | dw::DW_TAG_formal_parameter => {
                    self.variable(child, scope, Some(of))?;
                }
                dw::DW_TAG_lexical_block => {
                    let known = of.is_instance.then(|| abstract_block(child)).flatten();
                    let known = known.and_then(|block| self.blocks.get(&block.offset()).copied());
                    let block = match known {
                        Some(block) => block,
                        None => self.m.block(scope, &from(child.ranges()?, of.start))?,
                    };
                    self.scope(child, block, of)?;
                }
                dw::DW_TAG_inlined_subroutine => {
                    let inlined = self.inlined(child, scope, of)?;
                    self.scope(child, inlined, In { is_instance: false, ..of })?;
                }
                dw::DW_TAG_call_site => self.call(child, scope, of)?,
                dw::DW_TAG_label => {
                    let name = child.name().unwrap_or_default();
                    let declared = self.declared(child);
                    let mut label = self.m.label(scope, &name)?;
                    if let Some(pc) = child.low_pc() {
                        label.at(pc - of.start)?;
                    }
                    if let Some((file, line)) = declared {
                        label.declared(SourceLine::new(file, line))?;
                    }
                }
                tag if is_type(tag) => self.within(child, scope)?,
                tag => panic!("{tag} in a function"),
            }
        }
        Ok(())
    }

    fn within(&mut self, entry: Entry<'r, 'o>, scope: impl eitri::build::InScope) -> Result<()> {
        let ty = self.types[&entry.offset()];
        self.m.describe_type(ty)?.within(scope)?;
        Ok(())
    }

    fn inlined(
        &mut self,
        entry: Entry<'r, 'o>,
        scope: impl eitri::build::InScope,
        of: In,
    ) -> Result<ScopeId> {
        let origin = entry.reference(dw::DW_AT_abstract_origin).expect("what is inlined");
        let function = self.functions[&origin.offset()];
        let call = SourceLine::new(
            self.file(entry.number(dw::DW_AT_call_file).unwrap_or(0)),
            entry.number(dw::DW_AT_call_line).unwrap_or(0) as u32,
        )
        .column(entry.number(dw::DW_AT_call_column).unwrap_or(0) as u32);
        let inlined = self.m.inlined(scope, function, &from(entry.ranges()?, of.start), call)?;
        if let Some(ResolvedValue::Address(pc)) = entry.attr(dw::DW_AT_entry_pc) {
            self.m.entry_pc(inlined, pc - of.start)?;
        }
        if let Some(number) = entry.number(dw::DW_AT_GNU_discriminator) {
            self.m.discriminator(inlined, number as u32)?;
        }
        Ok(inlined)
    }

    /// Describes a variable or parameter, or the location of a known one.
    fn variable(
        &mut self,
        entry: Entry<'r, 'o>,
        scope: impl eitri::build::InScope,
        of: Option<In>,
    ) -> Result<VariableId> {
        let place = self.place(entry)?;
        let ty = entry.reference(dw::DW_AT_type).map(|ty| self.ty(ty)).transpose()?;
        let declared = self.declared(entry);
        let mut variable = match entry.reference(dw::DW_AT_abstract_origin) {
            Some(origin) => {
                let origin = self.variables[&origin.offset()];
                match of {
                    Some(In { is_instance: true, .. }) => self.m.describe_variable(origin)?,
                    _ => self.m.inlined_variable(scope, origin)?,
                }
            }
            None => {
                let name = entry.name().unwrap_or_default();
                let ty = ty.expect("a variable's type");
                let mut variable = match entry.tag() {
                    dw::DW_TAG_formal_parameter => self.m.parameter(scope, &name, ty)?,
                    _ => self.m.variable(scope, &name, ty)?,
                };
                if let Some(name) = entry.attr(dw::DW_AT_linkage_name).and_then(ResolvedValue::text) {
                    variable.linkage_name(&name);
                }
                if let Some((file, line)) = declared {
                    variable.declared(SourceLine::new(file, line));
                }
                if entry.attr(dw::DW_AT_external).is_some() {
                    variable.external();
                }
                if entry.attr(dw::DW_AT_artificial).is_some() {
                    variable.artificial();
                }
                variable
            }
        };
        put(&mut variable, entry, place, of.map_or(0, |of| of.start))?;
        let id = variable.id();
        self.variables.insert(entry.offset(), id);
        Ok(id)
    }

    fn call(&mut self, entry: Entry<'r, 'o>, scope: impl eitri::build::InScope, of: In) -> Result<()> {
        let address = |name| match entry.attr(name) {
            Some(ResolvedValue::Address(address)) => Some(address - of.start),
            _ => None,
        };
        let number = |describer: &Self, entry: Entry<'_, '_>, name| match entry.attr(name) {
            Some(ResolvedValue::Expr(expr)) => describer.number(expr),
            _ => Ok(None),
        };
        let target = match entry.attr(dw::DW_AT_call_target) {
            Some(ResolvedValue::Expr(expr)) => self.target(expr)?,
            _ => None,
        };
        let callee = entry.reference(dw::DW_AT_call_origin).map(|origin| self.functions[&origin.offset()]);
        let mut arguments = Vec::new();
        for argument in entry.children() {
            let loc: Option<Loc> = match argument.attr(dw::DW_AT_location) {
                Some(ResolvedValue::Expr(expr)) => self.loc(expr)?,
                _ => None,
            };
            let value = number(self, argument, dw::DW_AT_call_value)?;
            arguments.push((loc.expect("an argument's place"), value));
        }
        let mut call = self.m.call(scope)?;
        if let Some(pc) = address(dw::DW_AT_call_return_pc) {
            call.returns_to(pc)?;
        }
        if let Some(pc) = address(dw::DW_AT_call_pc) {
            call.at(pc)?;
        }
        if let Some(callee) = callee {
            call.calls(callee)?;
        }
        if entry.attr(dw::DW_AT_call_tail_call).is_some() {
            call.tail();
        }
        if let Some(target) = target {
            call.target(target)?;
        }
        for (loc, value) in arguments {
            let mut argument = call.argument(&loc)?;
            if let Some(value) = value {
                argument.value(value)?;
            }
        }
        Ok(())
    }
}

/// Sets the location of a variable.
fn put(variable: &mut VariableBuilder<'_>, entry: Entry<'_, '_>, place: Place, start: u64) -> Result<()> {
    match place {
        Place::None => {}
        Place::Always(loc) => {
            variable.always(loc)?;
        }
        Place::Live(live) => {
            for (pcs, loc) in live {
                variable.live(pcs.start - start..pcs.end - start, loc)?;
            }
        }
        Place::Constant(bytes) => {
            let size = crate::facts::bytes_of(entry).unwrap_or(bytes.len() as u64) as usize;
            variable.const_value(&bytes[..size.min(bytes.len())])?;
        }
    }
    Ok(())
}

/// The block of the abstract instance that a concrete block stands for: the parent of its variables' origins.
fn abstract_block<'r, 'o>(block: Entry<'r, 'o>) -> Option<Entry<'r, 'o>> {
    block.children().find_map(|child| match child.tag() {
        dw::DW_TAG_variable => child.reference(dw::DW_AT_abstract_origin)?.parent(),
        dw::DW_TAG_lexical_block => abstract_block(child)?.parent(),
        _ => None,
    })
}

fn from(ranges: Vec<Range<u64>>, start: u64) -> Vec<Range<u64>> {
    ranges.into_iter().map(|pcs| pcs.start - start..pcs.end - start).collect()
}
