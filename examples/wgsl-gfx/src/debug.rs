//! All debug information of the compiler, through eitri: types, lines, scopes, variables, lanes, and locations, which
//! are derived from what the instructions do.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use eitri::build::{BlockId, Builder, ControlFlow, ExecWrite};
use eitri::lower::{Consumer, Lowered as Written, Policy, lower};
use eitri::model::{
    BaseEncoding, FileId, FunctionId, Language, Loc, Module, Row, ScopeId, SourceLine, TypeId, UnitId,
    VariableId,
};
use eitri::target::{Gfx, Target, Wave};
use eitri::track::{self, Keep, ValueId};
use naga::{ArraySize, Scalar, ScalarKind, TypeInner, VectorSize};
use regalloc2::VReg;

use crate::emit::{Change, Effect, Fact, Machine, Place, SAVED};
use crate::front::Source;
use crate::lower::{Home, Lowered, Named};
use crate::ssa::{At, Given, Slot};

/// The debug information of a kernel: the description, and what is written.
#[derive(Debug)]
pub struct Debug {
    pub module: Module,
    pub written: Written,
    pub consumer: Consumer,
    /// Assignments that some path does not define: no place is claimed behind.
    pub unproven: usize,
    /// Variables of the source that are described: others are in scopes without code.
    pub described: Vec<usize>,
}

/// The target of this compiler.
pub fn target() -> eitri::Result<Target> {
    Target::amdgpu(Gfx::GFX1100, Wave::W32)
}

/// Returns the effects of a kernel's instructions, and what its variables are assigned.
pub fn code(source: &Source, lowered: &Lowered<'_>, machine: &Machine) -> eitri::Result<track::Code> {
    Ok(begin(source, lowered, machine)?.2)
}

/// Describes all but locations.
fn begin<'a>(
    source: &'a Source,
    lowered: &'a Lowered<'_>,
    machine: &'a Machine,
) -> eitri::Result<(Describe<'a>, ControlFlow, track::Code)> {
    let mut m = Builder::new(target()?);
    let unit = m.unit(&source.name);
    let file = m.primary_file(unit)?;
    m.describe_unit(unit)?.directory(".").producer("wgsl-gfx").language(Language::GLSL);
    let entry = &source.module.entry_points[0];
    let kernel = m.function(unit, &entry.name)?.code(&entry.name, machine.bytes.len() as u64).kernel().id();
    m.frame(kernel)?.entry_function()?;
    let (types, described) = (HashMap::new(), Vec::new());
    let mut debug = Describe { source, lowered, machine, m, unit, file, kernel, types, described };
    debug.lines()?;
    let scopes = debug.scopes()?;
    let variables = debug.variables(&scopes)?;
    let flow = debug.control_flow()?;
    let code = debug.code(&flow, &variables)?;
    Ok((debug, flow, code))
}

/// Describes a kernel, and writes what is described.
pub fn describe(source: &Source, lowered: &Lowered<'_>, machine: &Machine) -> eitri::Result<Debug> {
    let (mut debug, flow, code) = begin(source, lowered, machine)?;
    let tracked = code.track()?;
    tracked.describe(&mut debug.m, Keep::All)?;
    let unproven = tracked.unproven().len();
    let mut lanes = debug.m.lanes(debug.kernel)?;
    lanes.control_flow(&flow)?;
    let saved = Loc::register(target()?.sgpr(SAVED as u16)?);
    for (pcs, fact) in &machine.facts {
        if *fact == Fact::WholeWave {
            lanes.whole_wave(pcs.clone(), &saved)?;
        }
    }
    let described = debug.described;
    let module = debug.m.finish()?;
    let consumer = Consumer::rocgdb();
    let written = lower(&module, &consumer, Policy::Strict)?;
    Ok(Debug { module, written, consumer, unproven, described })
}

struct Describe<'a> {
    source: &'a Source,
    lowered: &'a Lowered<'a>,
    machine: &'a Machine,
    m: Builder,
    unit: UnitId,
    file: FileId,
    kernel: FunctionId,
    types: HashMap<String, TypeId>,
    described: Vec<usize>,
}

/// The variables, and for each slot the variable and its first bit there.
type Variables = HashMap<Slot, (VariableId, u32)>;

impl Describe<'_> {
    /// A row where the line changes; a statement begins where the compiler began one.
    fn lines(&mut self) -> eitri::Result<()> {
        let end = self.machine.bytes.len() as u64;
        let mut last = None;
        let mut rows: Vec<Row> = Vec::new();
        let mut begins: HashSet<u64> = HashSet::new();
        for (pcs, fact) in &self.machine.facts {
            match fact {
                Fact::Statement(_) => _ = begins.insert(pcs.start),
                Fact::Source(at) if pcs.start < end && last != Some(at.offset) => {
                    last = Some(at.offset);
                    let (line, column) = self.source.line(at.offset);
                    let row = Row::new(pcs.start, self.file, line).column(column);
                    match rows.last_mut() {
                        Some(before) if before.pc == row.pc => *before = row,
                        _ => rows.push(row),
                    }
                }
                _ => {}
            }
        }
        for row in rows {
            let row = if begins.contains(&row.pc) || row.pc == 0 { row } else { row.not_stmt() };
            self.m.row(self.kernel, row)?;
        }
        Ok(())
    }

    /// Lexical blocks and inlined calls: the pcs of their instructions.
    fn scopes(&mut self) -> eitri::Result<Vec<Option<ScopeId>>> {
        let all = &self.lowered.scopes;
        let mut pcs: Vec<Vec<Range<u64>>> = vec![Vec::new(); all.len()];
        let mut add = |at: &At, range: Range<u64>| {
            let mut scope = Some(at.scope);
            while let Some(number) = scope {
                let ranges = &mut pcs[number as usize];
                match ranges.last_mut() {
                    Some(last) if last.end == range.start => last.end = range.end,
                    _ => ranges.push(range.clone()),
                }
                scope = all[number as usize].parent;
            }
        };
        let mut last: Option<(u64, At)> = None;
        let end = (self.machine.bytes.len() as u64, Fact::Source(At::default()));
        for (pc, fact) in
            self.machine.facts.iter().map(|(pcs, fact)| (pcs.start, fact)).chain([(end.0, &end.1)])
        {
            let Fact::Source(at) = fact else { continue };
            if let Some((start, at)) = last
                && start < pc
            {
                add(&at, start..pc);
            }
            last = Some((pc, *at));
        }
        let mut made: Vec<Option<ScopeId>> = Vec::new();
        let mut functions: HashMap<naga::Handle<naga::Function>, FunctionId> = HashMap::new();
        for (scope, pcs) in all.iter().zip(&pcs) {
            let parent = scope.parent.map(|parent| made[parent as usize]);
            let id = match (parent, scope.inlined) {
                (None, _) => None,
                (Some(_), _) if pcs.is_empty() => None,
                (Some(parent), Some((function, call))) => {
                    let of = &self.source.module.functions[function];
                    let callee = match functions.get(&function) {
                        Some(&known) => known,
                        None => {
                            let name = of.name.as_deref().unwrap_or("function");
                            *functions.entry(function).or_insert(self.m.function(self.unit, name)?.id())
                        }
                    };
                    let (line, column) = self.source.line(call);
                    let call = SourceLine { file: self.file, line, column };
                    Some(match parent {
                        Some(parent) => self.m.inlined(parent, callee, pcs, call)?,
                        None => self.m.inlined(self.kernel, callee, pcs, call)?,
                    })
                }
                (Some(Some(parent)), None) => Some(self.m.block(parent, pcs)?),
                (Some(None), None) => Some(self.m.block(self.kernel, pcs)?),
            };
            made.push(id);
        }
        Ok(made)
    }

    fn variables(&mut self, scopes: &[Option<ScopeId>]) -> eitri::Result<Variables> {
        let mut variables = Variables::new();
        for (index, named) in self.lowered.named.iter().enumerate() {
            let scope = scopes[named.scope as usize];
            if scope.is_none() && named.scope != 0 {
                // A scope without code.
                continue;
            }
            self.described.push(index);
            let ty = self.ty(named.ty)?;
            let id = self.variable(named, scope, ty)?;
            match &named.home {
                Home::Slots(slots) => variables.extend(slots.iter().map(|&(at, slot)| (slot, (id, 8 * at)))),
                &Home::Scratch(at) => _ = self.m.describe_variable(id)?.always(Loc::stack_slot(at.into()))?,
                &Home::Local(at) => _ = self.m.describe_variable(id)?.always(Loc::local(at))?,
            }
        }
        Ok(variables)
    }

    fn variable(
        &mut self,
        named: &Named<'_>,
        scope: Option<ScopeId>,
        ty: TypeId,
    ) -> eitri::Result<VariableId> {
        let (line, column) = self.source.line(named.offset);
        let m = &mut self.m;
        let mut made = match (scope, named.is_parameter) {
            (Some(scope), true) => m.parameter(scope, &named.name, ty)?,
            (Some(scope), false) => m.variable(scope, &named.name, ty)?,
            (None, true) => m.parameter(self.kernel, &named.name, ty)?,
            (None, false) => m.variable(self.kernel, &named.name, ty)?,
        };
        made.declared_at(SourceLine { file: self.file, line, column });
        Ok(made.id())
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
                let of = self.scalar(*scalar)?;
                self.m.vector(unit, of, *size as u64)?
            }
            TypeInner::Matrix { columns, rows, scalar } => {
                let column = self.ty(&TypeInner::Vector { size: *rows, scalar: *scalar })?;
                self.m.matrix(unit, column, *columns as u64, true)?
            }
            TypeInner::Array { base, size, stride } => {
                let of = self.ty(&types[*base].inner)?;
                let count = match size {
                    ArraySize::Constant(count) => eitri::build::Extent::fixed(count.get().into()),
                    _ => eitri::build::Extent::unknown(),
                };
                let is_usual = matches!(
                    types[*base].inner,
                    TypeInner::Scalar(_) | TypeInner::Vector { size: VectorSize::Bi | VectorSize::Quad, .. }
                );
                let stride = (!is_usual).then_some(8 * u64::from(*stride));
                self.m.array_of(unit, of, &[count], stride)?
            }
            TypeInner::Struct { members, span } => {
                let name =
                    types.iter().find(|(_, ty)| ty.inner == *inner).and_then(|(_, ty)| ty.name.as_deref());
                let of = self.m.structure(unit, name, (*span).into())?;
                self.types.insert(key.clone(), of);
                for member in members {
                    let ty = self.ty(&types[member.ty].inner)?;
                    let name = member.name.as_deref().unwrap_or("member");
                    self.m.member(of, name, ty, member.offset.into())?;
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
            ScalarKind::Sint | ScalarKind::AbstractInt => ("i32", BaseEncoding::Signed),
            ScalarKind::Uint => ("u32", BaseEncoding::Unsigned),
            ScalarKind::Float | ScalarKind::AbstractFloat => ("f32", BaseEncoding::Float),
            ScalarKind::Bool => ("bool", BaseEncoding::Boolean),
        };
        self.m.base_type(self.unit, name, encoding, 32)
    }

    /// Blocks, edges, and writes of EXEC. A mask is in its register from the instruction that saves it to the one that
    /// restores it.
    fn control_flow(&self) -> eitri::Result<ControlFlow> {
        let mut flow = ControlFlow::new();
        let mut ends: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
        for (pcs, fact) in &self.machine.facts {
            match *fact {
                Fact::Exec(Change::Save | Change::SaveAnd, mask) => _ = ends.insert(mask, (pcs.end, pcs.end)),
                Fact::Exec(Change::Restore, mask) => ends.entry(mask).or_default().1 = pcs.end,
                _ => {}
            }
        }
        let mut masks = HashMap::new();
        for (&number, &(start, end)) in &ends {
            let register = self.m.target().sgpr(self.lowered.code.masks[number] as u16)?;
            masks.insert(number, flow.mask(&[(start..end.max(start + 4), Loc::register(register))]));
        }
        let blocks: Vec<BlockId> = self.machine.blocks.iter().map(|pcs| flow.block(pcs.clone())).collect();
        for &(from, to, lanes) in &self.machine.edges {
            match lanes {
                true => flow.edge(blocks[from], blocks[to]),
                false => flow.wave_edge(blocks[from], blocks[to]),
            };
        }
        for (pcs, fact) in &self.machine.facts {
            let Fact::Exec(change, mask) = fact else { continue };
            let mask = masks[mask];
            let writes: &[ExecWrite] = match change {
                Change::SaveAnd => &[ExecWrite::Save(mask), ExecWrite::And(mask)],
                Change::Save => &[ExecWrite::Save(mask)],
                Change::AndNot => &[ExecWrite::AndNot(mask)],
                Change::Else => &[ExecWrite::Else(mask)],
                Change::Restore => &[ExecWrite::Restore(mask)],
            };
            for &write in writes {
                flow.write(pcs.clone(), write);
            }
        }
        Ok(flow)
    }

    /// Effects of each instruction, and assignments of values to variables.
    fn code(&self, flow: &ControlFlow, variables: &Variables) -> eitri::Result<track::Code> {
        let gpu = self.m.target();
        let mut code = track::Code::new(gpu, flow.clone());
        let place = |at: Place| {
            Ok::<_, eitri::Error>(match at {
                Place::Scalar(n) => track::Place::register(gpu.sgpr(n as u16)?),
                Place::Vector(n) => track::Place::per_lane(gpu.vgpr(n as u16)?),
                Place::Lane(n, lane) => track::Place::lane(gpu.vgpr(n as u16)?, lane),
                Place::Scratch(at) => track::Place::stack_slot(at.into()),
            })
        };
        let mut values: HashMap<VReg, ValueId> = HashMap::new();
        for (pcs, fact) in &self.machine.facts {
            let Fact::Step(effects, all_lanes) = fact else { continue };
            for effect in effects {
                if let Effect::Define(vreg, at) = *effect {
                    let value = code.value(32);
                    values.insert(vreg, value);
                    if pcs.is_empty() {
                        code.entry(value, &[place(at)?])?;
                    }
                }
            }
            if pcs.is_empty() || effects.is_empty() {
                continue;
            }
            let constants: Vec<Option<ValueId>> = effects
                .iter()
                .map(|effect| match effect {
                    Effect::Constant(bits, _) => Some(code.constant(&bits.to_le_bytes())),
                    _ => None,
                })
                .collect();
            let mut step = code.instruction(pcs.clone());
            for (effect, constant) in effects.iter().zip(constants) {
                match (*effect, constant) {
                    (Effect::Define(vreg, at), _) => step.define(values[&vreg], &[place(at)?])?,
                    (Effect::Constant(_, at), Some(value)) => step.define(value, &[place(at)?])?,
                    (Effect::Copy(from, to), _) => step.copy(&[place(from)?], &[place(to)?])?,
                    (Effect::Clobber(at), _) => step.clobber(&[place(at)?])?,
                    (Effect::Constant(..), None) => &mut step,
                };
            }
            if *all_lanes {
                step.all_lanes();
            }
        }
        for (pcs, fact) in &self.machine.facts {
            let &Fact::Assign(slot, given) = fact else { continue };
            let Some(&(variable, bit)) = variables.get(&slot) else { continue };
            let bits = bit..bit + 32;
            let given = match given {
                Given::Defined(vreg) => values.get(&vreg).copied(),
                Given::Const(value) => Some(code.constant(&value.to_le_bytes())),
                Given::Of(other) => match variables.get(&other) {
                    Some(&(other, first)) => {
                        code.assign_variable(pcs.start, variable, bits, other, first)?;
                        continue;
                    }
                    None => None,
                },
                Given::Nothing => None,
            };
            // A value without a definition or a name has no place.
            let value = given.unwrap_or_else(|| code.value(32));
            code.assign_bits(pcs.start, variable, bits, value)?;
        }
        Ok(code)
    }
}
