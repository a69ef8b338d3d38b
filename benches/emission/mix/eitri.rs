//! The mix, written by eitri.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use eitri::build::{Builder, DataMember};
use eitri::emit::Section;
use eitri::lower::{LoweredUnit, Stream, lower};
use eitri::model::{
    self, Address, BaseEncoding, FileId, FunctionId, Loc, ScopeId, SourceLine, TypeId, UnitId, Val,
    VariableId,
};
use eitri::op::Reg;
use eitri::target::{Gfx, SpaceId, Target, Wave};
use eitri::{Consumer, Policy};

use super::content::{
    At, BASES, DEPTHS, DIRECTORY, Function, Kind, Machine, Mix, PRODUCER, Place, Scope, Type, Unit, Variable,
};

/// Describes the mix and lowers it.
pub fn eitri(mix: &Mix) -> Vec<Section> {
    let lowered = describe(mix).and_then(|module| lower(&module, &consumer(mix), Policy::Strict));
    lowered.expect("the consumer can express the mix").sections
}

/// Describes and lowers the mix unit by unit.
pub fn eitri_stream(mix: &Mix) -> Vec<Section> {
    unit_by_unit(mix).expect("the consumer can express the mix")
}

fn unit_by_unit(mix: &Mix) -> eitri::Result<Vec<Section>> {
    let (target, consumer) = (target(mix)?, consumer(mix));
    let (mut stream, mut m) = (Stream::new(&consumer, Policy::Strict), Builder::new(target.clone()));
    // The names of small modules stay in the builder; those of large ones would take more memory than time.
    let are_small = mix.units.len() > 100;
    for unit in &mix.units {
        describe_unit(&mut m, mix, unit)?;
        if are_small {
            m.hand_over(|module| stream.push(module))?;
        } else {
            stream.push(&core::mem::replace(&mut m, Builder::new(target.clone())).finish()?)?;
        }
    }
    stream.finish()
}

/// Describes and lowers the mix unit by unit on two threads. The calling thread appends the units in order.
pub fn eitri_stream_threads(mix: &Mix) -> Vec<Section> {
    on_two_threads(mix).expect("the consumer can express the mix")
}

fn on_two_threads(mix: &Mix) -> eitri::Result<Vec<Section>> {
    let (target, consumer) = (&target(mix)?, &consumer(mix));
    let next = &AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::sync_channel(4);
        for _ in 0..2 {
            let sender = sender.clone();
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(unit) = mix.units.get(index) else { break };
                    let lowered = || -> eitri::Result<(model::Module, Vec<LoweredUnit>)> {
                        let mut m = Builder::new(target.clone());
                        describe_unit(&mut m, mix, unit)?;
                        let module = m.finish()?;
                        let units = Stream::lower(&module, consumer, Policy::Strict)?;
                        Ok((module, units))
                    };
                    if sender.send((index, lowered())).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut stream = Stream::new(consumer, Policy::Strict);
        let (mut early, mut first) = (BTreeMap::new(), 0);
        for (index, lowered) in receiver {
            early.insert(index, lowered?);
            while let Some((module, units)) = early.remove(&first) {
                stream.append(&module, units)?;
                first += 1;
            }
        }
        stream.finish()
    })
}

fn consumer(mix: &Mix) -> Consumer {
    match mix.shape.machine {
        Machine::Gpu => Consumer::llvm(),
        Machine::Cpu => Consumer::dwarf5(),
    }
}

fn target(mix: &Mix) -> eitri::Result<Target> {
    match mix.shape.machine {
        Machine::Gpu => Target::amdgpu(Gfx::GFX1030, Wave::W32),
        Machine::Cpu => Ok(Target::x86_64()),
    }
}

pub(super) fn describe(mix: &Mix) -> eitri::Result<model::Module> {
    let mut m = Builder::new(target(mix)?);
    mix.units.iter().try_for_each(|unit| describe_unit(&mut m, mix, unit))?;
    m.finish()
}

fn describe_unit(m: &mut Builder, mix: &Mix, unit: &Unit) -> eitri::Result<()> {
    let id = m.unit(mix.text(unit.name));
    let language = mix.shape.machine.language().0;
    m.describe_unit(id)?.directory(mix.text(DIRECTORY)).producer(mix.text(PRODUCER)).language(language);
    let file = m.primary_file(id)?;
    let header = m.file(id, mix.text(unit.header), None)?;
    let types = Types::new(m, mix, unit, id, file)?;
    let (functions, origins) = (Vec::new(), Vec::new());
    let mut one = OpenUnit { m, mix, unit, id, file, header, types, functions, origins };
    mix.functions[unit.functions.clone()].iter().try_for_each(|function| one.function(function))
}

/// Types of a unit.
struct Types {
    bases: Vec<TypeId>,
    /// Structures, each with its pointer type.
    structures: Vec<(TypeId, TypeId)>,
}

impl Types {
    fn new(m: &mut Builder, mix: &Mix, unit: &Unit, id: UnitId, file: FileId) -> eitri::Result<Self> {
        let mut bases = Vec::new();
        for (name, encoding, bits) in BASES {
            let encoding = match encoding {
                gimli::DW_ATE_unsigned => BaseEncoding::Unsigned,
                gimli::DW_ATE_float => BaseEncoding::Float,
                gimli::DW_ATE_signed_char => BaseEncoding::SignedChar,
                _ => BaseEncoding::Signed,
            };
            bases.push(m.base_type(id, name, encoding, bits.into())?);
        }
        let mut types = Self { bases, structures: Vec::new() };
        for structure in &mix.structures[unit.structures.clone()] {
            let ty = m.structure(id, Some(mix.text(structure.name)), structure.bytes.into())?;
            m.describe_type(ty)?.declared(SourceLine::new(file, structure.line));
            types.structures.push((ty, m.pointer(id, Some(ty))?));
            for member in &mix.members[structure.members.clone()] {
                let (name, of) = (mix.text(member.name), types.get(member.ty));
                let member = DataMember::new(name, of, member.offset.into())
                    .declared(SourceLine::new(file, member.line));
                m.data_member(ty, member)?;
            }
        }
        Ok(types)
    }

    fn get(&self, ty: Type) -> TypeId {
        match ty {
            Type::Base(base) => self.bases[usize::from(base)],
            Type::Structure(index) => self.structures[usize::from(index)].0,
            Type::Pointer(index) => self.structures[usize::from(index)].1,
        }
    }
}

/// A unit under construction.
struct OpenUnit<'d> {
    m: &'d mut Builder,
    mix: &'d Mix,
    unit: &'d Unit,
    id: UnitId,
    file: FileId,
    header: FileId,
    types: Types,
    functions: Vec<FunctionId>,
    /// Abstract variables.
    origins: Vec<VariableId>,
}

impl OpenUnit<'_> {
    fn function(&mut self, function: &Function) -> eitri::Result<()> {
        let (mix, machine) = (self.mix, self.mix.shape.machine);
        let mut builder = self.m.function(self.id, mix.text(function.name))?;
        builder.declared(SourceLine::new(self.file, function.line));
        if let Some(code) = function.code {
            builder.address(Address::Constant(code.address), code.bytes.into());
            builder.frame_base(&Loc::register(Reg(machine.frame().into())))?;
            if machine == Machine::Gpu {
                builder.stack_base(Reg(machine.frame().into()))?;
            }
        }
        if function.is_external {
            builder.external();
        }
        if let Some(ty) = function.returns {
            builder.returns(self.types.get(ty))?;
        }
        let id = builder.id();
        self.functions.push(id);
        // Enclosing scopes, by depth. The function's own scope is represented by its id.
        let mut around: [Option<ScopeId>; DEPTHS] = [None; DEPTHS];
        for scope in &mix.scopes[function.scopes.clone()] {
            let parent = scope.depth.checked_sub(1).and_then(|depth| around[depth]);
            around[scope.depth] = match parent {
                Some(parent) => self.scope(parent, scope)?,
                None => self.scope(id, scope)?,
            };
            for variable in &mix.variables[scope.variables.clone()] {
                match around[scope.depth] {
                    Some(scope) => self.variable(scope, variable)?,
                    None => self.variable(id, variable)?,
                }
            }
        }
        for row in &mix.rows[function.rows.clone()] {
            let file = if row.is_in_header { self.header } else { self.file };
            let mut described = model::LineTableRow::new(row.pc.into(), file, row.line).column(row.column);
            described.is_stmt = row.is_stmt;
            self.m.row(id, described)?;
        }
        Ok(())
    }

    /// Adds a block or an inlined call. The scope of a function exists already.
    fn scope(&mut self, parent: impl eitri::build::InScope, scope: &Scope) -> eitri::Result<Option<ScopeId>> {
        let pcs = |range: &std::ops::Range<u32>| u64::from(range.start)..u64::from(range.end);
        let ranges: smallvec::SmallVec<[_; 4]> =
            self.mix.ranges[scope.ranges.clone()].iter().map(pcs).collect();
        Ok(match scope.kind {
            Kind::Function => None,
            Kind::Block => Some(self.m.block(parent, &ranges)?),
            Kind::Call { of, line, column } => {
                let line = SourceLine::new(self.file, line).column(column);
                Some(self.m.inlined(parent, self.functions[of], &ranges, line)?)
            }
        })
    }

    fn variable(&mut self, scope: impl eitri::build::InScope, variable: &Variable) -> eitri::Result<()> {
        let (mix, machine) = (self.mix, self.mix.shape.machine);
        let (name, ty) = (mix.text(variable.name), self.types.get(variable.ty));
        let mut described = match variable.origin {
            Some(origin) => self.m.inlined_variable(scope, self.origins[origin])?,
            None if variable.is_parameter => self.m.parameter(scope, name, ty)?,
            None => self.m.variable(scope, name, ty)?,
        };
        if variable.origin.is_none() {
            described.declared(SourceLine::new(self.file, variable.line));
        }
        let bits = mix.bits(self.unit, variable.ty);
        let loc = |place| loc(machine, place, bits);
        match &variable.at {
            At::Nowhere => self.origins.push(described.id()),
            At::Constant(value) => {
                described.const_value(&value.to_le_bytes())?;
            }
            At::Always(place) => {
                described.always(loc(*place))?;
            }
            At::Entries(entries) => {
                for entry in &mix.entries[entries.clone()] {
                    let pcs = entry.start.into()..entry.end.into();
                    match entry.other {
                        Some(other) => described.live_in(pcs, &[loc(entry.place), loc(other)])?,
                        None => described.live(pcs, loc(entry.place))?,
                    };
                }
            }
        }
        Ok(())
    }
}

/// Location of a variable of size `bits`.
#[inline]
fn loc(machine: Machine, place: Place, bits: u32) -> Loc {
    let reg = |number: u16| Reg(number.into());
    let memory =
        |register, by: i16| Loc::memory(SpaceId::DEFAULT, Val::register(reg(register)).plus(by.into()));
    match (place, machine) {
        (Place::Register(register), _) => Loc::register(reg(register)),
        (Place::PerLane(register), _) => Loc::per_lane(reg(register)),
        (Place::Lane(register, lane), _) => Loc::lane(reg(register), lane.into()),
        (Place::Slot(offset), Machine::Gpu) => Loc::stack_slot(offset.into()),
        (Place::Slot(offset), Machine::Cpu) => memory(machine.frame(), -(offset as i16)),
        (Place::Indirect(register, by), _) => memory(register, by),
        (Place::Pointer(register, by, more), _) => {
            Loc::memory(SpaceId::DEFAULT, memory(register, by).read(64).plus(more.into()))
        }
        (Place::Argument(low, by), _) => Loc::kernel_argument(reg(low), reg(low + 1), by.into()),
        (Place::Pair(low), _) => Loc::over([reg(low), reg(low + 1)]),
        (Place::PerLanePair(low), _) => Loc::per_lane_over([reg(low), reg(low + 1)]),
        (Place::Constant(value), Machine::Gpu) if bits == 32 => Loc::implicit(&value.to_le_bytes()),
        (Place::Constant(value), _) => Loc::value(Val::constant(value.into())),
        (Place::Sum(register, by), _) => Loc::value(Val::register(reg(register)).plus(by.into())),
        (Place::Split(first, second), _) => {
            let first = match machine {
                Machine::Gpu => Loc::per_lane(reg(first)),
                Machine::Cpu => Loc::register(reg(first)),
            };
            let (word, second) = (machine.word(), Loc::register(reg(second)));
            let parts = [(first, word.into()), (second, word.into())];
            match bits - 2 * word {
                0 => Loc::parts(parts),
                rest => {
                    let [one, two] = parts;
                    Loc::parts([one, two, (Loc::undefined(), rest.into())])
                }
            }
        }
    }
}
