//! All debug information of the compiler, through eitri: types, lines, scopes, variables, lanes, and locations, which
//! are derived from what the instructions do.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::slice::from_ref;

use eitri::build::{BlockId, Builder, ControlFlow, ExecWrite, Major};
use eitri::lower::{Consumer, Lowered as Written, Policy, lower};
use eitri::model::{
    BaseEncoding, FileId, FunctionId, Language, LineTableRow, Loc, Module, ScopeId, SourceLine, TypeId,
    UnitId, Val, VariableId,
};
use eitri::target::{Gfx, SpaceId, Target, Wave};
use eitri::track::{self, Keep, ValueId};
use naga::{ArraySize, Scalar, ScalarKind, TypeInner, VectorSize};
use regalloc2::VReg;

use crate::alloc::overwritten;
use crate::emit::{Effect, Fact, Machine, Place, SAVED};
use crate::front::Source;
use crate::isa::Reg;
use crate::layout::column_bytes;
use crate::lower::{FRAME, Home, Lowered, RETURN, STACK};
use crate::ssa::{At, Given, Slot};

/// The debug information of a kernel: the description, and what is written.
#[derive(Debug)]
pub struct Debug {
    pub module: Module,
    pub written: Written,
    pub consumer: Consumer,
    /// Variables of the source that are described, by function and number: others are in scopes without code.
    pub described: Vec<(usize, usize)>,
}

/// The target of this compiler.
pub fn target() -> eitri::Result<Target> {
    Target::amdgpu(Gfx::GFX1100, Wave::W32)
}

/// Describes all but locations. Returns the effects of each function's instructions, and what its variables are
/// assigned.
pub fn begin<'a>(
    source: &'a Source,
    all: &'a [Lowered<'_>],
    machines: &'a [Machine],
) -> eitri::Result<(Describe<'a>, Vec<track::CodeEffects>)> {
    let mut m = Builder::new(target()?);
    let unit = m.unit(&source.name);
    let file = m.primary_file(unit)?;
    m.describe_unit(unit)?.directory(".").producer("wgsl-gfx").language(Language::GLSL);
    let function = FunctionId::from_u32(0);
    let lowered = &all[0];
    let machine = &machines[0];
    let inlined = HashMap::new();
    let types = HashMap::new();
    let described = Vec::new();
    let mut debug = Describe { source, lowered, machine, m, unit, file, function, inlined, types, described };
    let mut codes = Vec::new();
    for (n, (lowered, machine)) in all.iter().zip(machines).enumerate() {
        (debug.lowered, debug.machine) = (lowered, machine);
        debug.function()?;
        debug.lines()?;
        let scopes = debug.scopes()?;
        let variables = debug.variables(n, &scopes)?;
        let flow = debug.lanes()?;
        codes.push(debug.code(flow, variables)?);
    }
    Ok((debug, codes))
}

/// Finds the copies that a function leaves in registers: of contents that others had on entry.
pub fn left(source: &Source, lowered: &Lowered<'_>, machine: &Machine) -> eitri::Result<Vec<Effect>> {
    let (debug, mut codes) = begin(source, from_ref(lowered), from_ref(machine))?;
    let code = &mut codes[0];
    let mut rows = Vec::new();
    let mut left = Vec::new();
    for n in overwritten().filter(|reg| matches!(reg, Reg::V(_))).map(|reg| reg.number()) {
        let row = debug.m.target().vgpr(n as u16)?;
        let contents = code.unnamed();
        code.assign_contents(0, contents, &[track::Place::per_lane(row)])?;
        rows.push((Place::Vector(n), Loc::per_lane(row), contents));
    }
    let tracked = code.track()?;
    for &(from, _, contents) in &rows {
        let places = tracked.places_at(contents, machine.bytes.len() as u64 - 4)?;
        left.extend(rows.iter().filter(|to| places.contains(&to.1)).map(|to| Effect::Copy(from, to.0)));
    }
    Ok(left)
}

/// Describes a kernel and what it calls, and writes what is described.
pub fn describe(source: &Source, all: &[Lowered<'_>], machines: &[Machine]) -> eitri::Result<Debug> {
    let (mut debug, codes) = begin(source, all, machines)?;
    for code in codes {
        code.track()?.describe(&mut debug.m, Keep::All)?;
    }
    let described = debug.described;
    let module = debug.m.finish()?;
    let consumer = Consumer::rocgdb();
    let written = lower(&module, &consumer, Policy::Strict)?;
    Ok(Debug { module, written, consumer, described })
}

pub struct Describe<'a> {
    source: &'a Source,
    lowered: &'a Lowered<'a>,
    machine: &'a Machine,
    m: Builder,
    unit: UnitId,
    file: FileId,
    function: FunctionId,
    inlined: HashMap<naga::Handle<naga::Function>, FunctionId>,
    types: HashMap<String, TypeId>,
    described: Vec<(usize, usize)>,
}

/// The variables, and for each slot the variable and its first bit there.
type Variables = HashMap<Slot, (VariableId, u32)>;

impl Describe<'_> {
    /// A function with its frame. Calls overwrite most registers of a caller; the frame has some of the others.
    fn function(&mut self) -> eitri::Result<()> {
        let lowered = self.lowered;
        let end = self.machine.bytes.len() as u64;
        let mut made = self.m.function(self.unit, &lowered.name)?;
        self.function = made.code(&lowered.name, end).id();
        let Some(of) = &self.machine.frame else {
            made.kernel();
            return self.m.frame(self.function)?.entry_function().map(|_| ());
        };
        let gpu = target()?;
        let s = |n: u32| gpu.sgpr(n as u16);
        let v = |n: u32| gpu.vgpr(n as u16);
        let stack = s(STACK)?;
        let base = s(FRAME)?;
        let pc = gpu.register_named("pc")?;
        let exec = gpu.register_named("exec")?;
        made.stack_base(base)?;
        // Scratch memory is addressed by bytes of a lane.
        let at = |reg| Loc::memory(SpaceId::PRIVATE_WAVE, Val::register(reg).mul(Val::constant(32)));
        let mut frame = self.m.frame(self.function)?;
        let body = of.body.clone();
        frame.cfa(0..body.start, at(stack))?.cfa(body.clone(), at(base))?.cfa(body.end..end, at(stack))?;
        frame.saved(body, stack, Loc::register(base))?;
        frame.saved(4..end, exec, Loc::register(s(of.exec)?))?;
        let mut returns = (0..end, Vec::new());
        for (scalar, (vector, lane), pcs) in &of.scalars {
            frame.saved_in_lane(pcs.clone(), s(*scalar)?, v(*vector)?, *lane)?;
            if *scalar != FRAME {
                returns.0.end = pcs.start;
                returns.1.push((v(*vector)?, *lane));
            }
        }
        frame.return_address(returns.0.clone(), s(RETURN)?, s(RETURN + 1)?)?;
        if returns.0.end < end {
            frame.saved(returns.0.end..end, pc, Loc::lanes(returns.1))?;
        }
        let mut saved: Vec<Reg> = of.scalars.iter().map(|(scalar, ..)| Reg::S(*scalar)).collect();
        saved.extend([RETURN, RETURN + 1, STACK, FRAME].map(Reg::S));
        for &(row, at) in &of.rows {
            saved.push(Reg::V(row));
            let from = of.rows_from;
            let row = v(row)?;
            frame.same_value(0..from, row)?.saved_to_scratch(from..end, row, at.into(), None)?;
        }
        // AMD's convention lets a call overwrite other registers than this compiler's, so each has a rule where they
        // differ.
        let all = (0..106).map(Reg::S).chain((0..256).map(Reg::V)).filter(|reg| !saved.contains(reg));
        for reg in all {
            let of = if let Reg::V(n) = reg { v(n) } else { s(reg.number()) }?;
            if self.machine.written.contains(&reg) {
                frame.undefined(0..end, of)?
            } else {
                frame.same_value(0..end, of)?
            };
        }
        Ok(())
    }

    /// A row for each place in the source; a statement begins where the line changes.
    fn lines(&mut self) -> eitri::Result<()> {
        let end = self.machine.bytes.len() as u64;
        let mut rows = BTreeMap::new();
        let mut last = None;
        let mut line = 0;
        for (pc, at) in self.machine.sources().filter(|&(pc, _)| pc < end) {
            if last.replace(at.offset) != Some(at.offset) {
                rows.insert(pc, self.line(at.offset));
            }
        }
        for (pc, at) in rows {
            let row = LineTableRow::new(pc, self.file, at.line).column(at.column);
            let begins = std::mem::replace(&mut line, at.line) != at.line;
            self.m.row(self.function, if begins { row } else { row.not_stmt() })?;
        }
        Ok(())
    }

    fn line(&self, offset: u32) -> SourceLine {
        let (line, column) = self.source.line(offset);
        SourceLine::new(self.file, line).column(column)
    }

    /// Lexical blocks and inlined calls: the pcs of their instructions.
    fn scopes(&mut self) -> eitri::Result<Vec<Option<ScopeId>>> {
        let all = &self.lowered.scopes;
        let mut pcs: Vec<Vec<Range<u64>>> = vec![Vec::new(); all.len()];
        let end = (self.machine.bytes.len() as u64, At::default());
        let sources: Vec<(u64, At)> = self.machine.sources().chain([end]).collect();
        for pair in sources.windows(2).filter(|pair| pair[0].0 < pair[1].0) {
            let range = pair[0].0..pair[1].0;
            let mut scope = Some(pair[0].1.scope);
            while let Some(number) = scope {
                let ranges = &mut pcs[number as usize];
                match ranges.last_mut() {
                    Some(last) if last.end == range.start => last.end = range.end,
                    _ => ranges.push(range.clone()),
                }
                scope = all[number as usize].parent;
            }
        }
        let mut made: Vec<Option<ScopeId>> = Vec::new();
        for (scope, pcs) in all.iter().zip(&pcs) {
            let parent = scope.parent.map(|parent| made[parent as usize]);
            let id = match (parent, scope.inlined) {
                (None, _) => None,
                (Some(_), _) if pcs.is_empty() => None,
                (Some(parent), Some((function, call))) => {
                    let name = self.source.module.functions[function].name.as_deref().unwrap_or("function");
                    let known = self.inlined.get(&function).copied();
                    let new = || self.m.function(self.unit, name).map(|made| made.id());
                    let callee = known.map_or_else(new, Ok)?;
                    self.inlined.insert(function, callee);
                    let call = self.line(call);
                    Some(match parent {
                        Some(parent) => self.m.inlined(parent, callee, pcs, call)?,
                        None => self.m.inlined(self.function, callee, pcs, call)?,
                    })
                }
                (Some(Some(parent)), None) => Some(self.m.block(parent, pcs)?),
                (Some(None), None) => Some(self.m.block(self.function, pcs)?),
            };
            made.push(id);
        }
        Ok(made)
    }

    fn variables(&mut self, function: usize, scopes: &[Option<ScopeId>]) -> eitri::Result<Variables> {
        let mut variables = Variables::new();
        let end = self.machine.bytes.len() as u64;
        let mut facts = self.machine.facts.iter();
        let zeroed = facts.find(|fact| fact.1 == Fact::LocalZeroed).map_or(0, |fact| fact.0.start);
        for (index, named) in self.lowered.named.iter().enumerate() {
            let scope = scopes[named.scope as usize];
            // A scope without code has no variables.
            if scope.is_none() && named.scope != 0 {
                continue;
            }
            self.described.push((function, index));
            let ty = self.ty(named.ty)?;
            let at = self.line(named.offset);
            let name = &named.name;
            let m = &mut self.m;
            let mut made = match (scope, named.is_parameter) {
                (Some(scope), true) => m.parameter(scope, name, ty)?,
                (Some(scope), false) => m.variable(scope, name, ty)?,
                (None, true) => m.parameter(self.function, name, ty)?,
                (None, false) => m.variable(self.function, name, ty)?,
            };
            let id = made.declared(at).id();
            variables.extend(named.home.slots().iter().map(|&(at, slot)| (slot, (id, 8 * at))));
            if let Home::Local(at) = named.home {
                self.m.describe_variable(id)?.live(zeroed..end, Loc::local(at))?;
            }
        }
        Ok(variables)
    }

    fn ty(&mut self, inner: &TypeInner) -> eitri::Result<TypeId> {
        let key = format!("{inner:?}");
        if let Some(&known) = self.types.get(&key) {
            return Ok(known);
        }
        let types = &self.source.module.types;
        let unit = self.unit;
        let made = match inner {
            TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => self.scalar(*scalar)?,
            TypeInner::Vector { size, scalar } => {
                // Three elements have the alignment of four, and the size of three.
                let of = self.scalar(*scalar)?;
                let vector = self.m.packed_vector(unit, of, *size as u64)?;
                if *size == VectorSize::Tri {
                    self.m.describe_type(vector)?.alignment(16)?;
                }
                vector
            }
            TypeInner::Matrix { columns, rows, scalar } => {
                let column = self.ty(&TypeInner::Vector { size: *rows, scalar: *scalar })?;
                let stride = Some(8 * u64::from(column_bytes(*rows))).filter(|_| *rows == VectorSize::Tri);
                self.m.matrix_of(unit, column, *columns as u64, Major::Column, stride)?
            }
            TypeInner::Array { base, size, stride } => {
                let of = self.ty(&types[*base].inner)?;
                let count = match size {
                    ArraySize::Constant(count) => eitri::build::Extent::fixed(count.get().into()),
                    _ => eitri::build::Extent::unknown(),
                };
                self.m.array_of(unit, of, &[count], Some(8 * u64::from(*stride)))?
            }
            TypeInner::Struct { members, span } => {
                let name =
                    types.iter().find(|(_, ty)| ty.inner == *inner).and_then(|(_, ty)| ty.name.as_deref());
                let of = self.m.structure(unit, name, (*span).into())?;
                self.types.insert(key.clone(), of);
                for member in members {
                    let ty = self.ty(&types[member.ty].inner)?;
                    self.m.member(of, member.name.as_deref().unwrap_or(""), ty, member.offset.into())?;
                }
                of
            }
            _ => self.m.unspecified_type(unit, "resource")?,
        };
        self.types.insert(key, made);
        Ok(made)
    }

    fn scalar(&mut self, scalar: Scalar) -> eitri::Result<TypeId> {
        let (name, encoding) = match scalar.kind {
            ScalarKind::Sint => ("i32", BaseEncoding::Signed),
            ScalarKind::Float => ("f32", BaseEncoding::Float),
            ScalarKind::Bool => ("bool", BaseEncoding::Boolean),
            _ => ("u32", BaseEncoding::Unsigned),
        };
        self.m.base_type(self.unit, name, encoding, 32)
    }

    /// Blocks, edges, and writes of EXEC. A mask is in its register from the instruction that saves it to the one that
    /// restores it.
    fn lanes(&mut self) -> eitri::Result<ControlFlow> {
        let mut flow = ControlFlow::new();
        let mut ends: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
        for (pcs, fact) in &self.machine.facts {
            if let Fact::Exec(_, mask) = *fact {
                ends.entry(mask).or_insert((pcs.end, 0)).1 = pcs.end;
            }
        }
        let mut masks = HashMap::new();
        for (&number, &(start, end)) in &ends {
            let register = self.m.target().sgpr(self.lowered.code.masks[number] as u16)?;
            masks.insert(number, flow.mask(&[(start..end.max(start + 4), Loc::register(register))]));
        }
        let blocks: Vec<BlockId> = self.machine.blocks.iter().map(|pcs| flow.block(pcs.clone())).collect();
        for &(from, to, lanes) in &self.machine.edges {
            let add = if lanes { ControlFlow::edge } else { ControlFlow::wave_edge };
            add(&mut flow, blocks[from], blocks[to]);
        }
        for (pcs, fact) in &self.machine.facts {
            let Fact::Exec(change, mask) = fact else { continue };
            let writes =
                [ExecWrite::Save, ExecWrite::And, ExecWrite::AndNot, ExecWrite::Else, ExecWrite::Restore];
            flow.write(pcs.clone(), writes[*change as usize](masks[mask]));
        }
        let saved = Loc::register(self.m.target().sgpr(SAVED as u16)?);
        let mut lanes = self.m.lanes(self.function)?;
        lanes.control_flow(&flow)?;
        for (pcs, _) in self.machine.facts.iter().filter(|(_, fact)| *fact == Fact::WholeWave) {
            lanes.whole_wave(pcs.clone(), &saved)?;
        }
        Ok(flow)
    }

    /// Effects of each instruction, and assignments of values to variables.
    fn code(&self, flow: ControlFlow, mut variables: Variables) -> eitri::Result<track::CodeEffects> {
        let gpu = self.m.target();
        let (mut code, mut values) = (track::CodeEffects::new(gpu, flow), HashMap::<VReg, ValueId>::new());
        let scalars: Vec<_> = (0..).map_while(|n| gpu.sgpr(n).ok()).collect();
        let vectors: Vec<_> = (0..).map_while(|n| gpu.vgpr(n).ok()).collect();
        let place = |at: Place| match at {
            Place::Scalar(n) => track::Place::register(scalars[n as usize]),
            Place::Vector(n) => track::Place::per_lane(vectors[n as usize]),
            Place::Lane(n, lane) => track::Place::lane(vectors[n as usize], lane),
            Place::Scratch(at) => track::Place::stack_slot(at.into()),
        };
        for (pcs, fact) in &self.machine.facts {
            let Fact::Step(effects, all_lanes) = fact else { continue };
            let made = effects.iter().map(|effect| match *effect {
                Effect::Define(vreg, _) => Some(*values.entry(vreg).or_insert_with(|| code.value(32))),
                Effect::Constant(bits, _) => Some(code.constant(&bits.to_le_bytes())),
                _ => None,
            });
            let made: Vec<Option<ValueId>> = made.collect();
            for (effect, value) in effects.iter().zip(&made).filter(|_| pcs.is_empty()) {
                value.map(|value| code.entry(value, &[place(effect.target())])).transpose()?;
            }
            if pcs.is_empty() || effects.is_empty() {
                continue;
            }
            let mut step = code.instruction(pcs.clone());
            for (effect, value) in effects.iter().zip(made) {
                let to = [place(effect.target())];
                match (*effect, value) {
                    (_, Some(value)) => step.define(value, &to)?,
                    (Effect::Copy(from, _), _) => step.copy(&[place(from)], &to)?,
                    _ => step.clobber(&to)?,
                };
            }
            if *all_lanes {
                step.all_lanes();
            }
        }
        for (pcs, fact) in &self.machine.facts {
            let &Fact::Assign(slot, given) = fact else { continue };
            // The result of an inlined call is not a variable of the source.
            let mut of_slot = |slot| *variables.entry(slot).or_insert_with(|| (code.unnamed(), 0));
            let (variable, bit) = of_slot(slot);
            let bits = bit..bit + 32;
            let value = match given {
                Given::Of(other) => {
                    let (other, first) = of_slot(other);
                    code.assign_variable(pcs.start, variable, bits, other, first)?;
                    continue;
                }
                Given::Defined(vreg) if values.contains_key(&vreg) => values[&vreg],
                Given::Const(value) => code.constant(&value.to_le_bytes()),
                // A value without a definition or a name has no place.
                Given::Defined(_) | Given::Nothing => code.value(32),
            };
            code.assign_bits(pcs.start, variable, bits, value)?;
        }
        Ok(code)
    }
}
