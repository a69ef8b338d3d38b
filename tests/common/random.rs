//! Random modules, made from a list of choices: a shorter list, or smaller numbers in it, make a smaller module, so
//! that failures can be shrunk.

#![allow(dead_code, reason = "each test uses a part")]

use std::ops::Range;

use eitri::build::{Builder, DataMember, Extent, InScope, Major, Template};
use eitri::lower::Consumer;
use eitri::model::{
    Accessibility, BaseEncoding, CompositeKind, Entity, FileId, FunctionId, Half, LineTableRow, Loc,
    MemorySpace, Module, Node, Passed, ProcedureId, Qualifier, RegionId, RegionKind, ScopeId, SourceLine,
    Symbol, TypeId, UnitId, Val, VariableId, VariantValues,
};
use eitri::op::{Expr, Op, Reg, Slot};
use eitri::target::{Gfx, Per, Register, Scaling, SpaceId, Target, Wave};
use proptest::prelude::*;

/// Targets that differ in wave size, in the scaling of the stack pointer, in having lanes, and in byte order.
pub fn targets() -> [Target; 6] {
    let gpu = |gfx, wave| Target::amdgpu(gfx, wave).expect("the processor runs such waves");
    [
        gpu(Gfx::GFX1030, Wave::W32),
        gpu(Gfx::GFX900, Wave::W64),
        gpu(Gfx::GFX1100, Wave::W32),
        gpu(Gfx::GFX90A, Wave::W64),
        Target::x86_64(),
        Target::s390x(),
    ]
}

/// Pseudo-random choices that are equal on every run, for tests that compare several modules.
pub fn fixed_choices(seed: u64, count: usize) -> Vec<u16> {
    let mut state = seed;
    let mut next = || {
        // SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) as u16
    };
    (0..count).map(|_| next()).collect()
}

pub fn choices(count: usize) -> impl Strategy<Value = Vec<u16>> {
    prop::collection::vec(any::<u16>(), 0..count)
}

/// Sequence of choices, followed by zeros.
pub struct Choices<'c>(pub std::slice::Iter<'c, u16>);

impl<'c> Choices<'c> {
    pub fn new(choices: &'c [u16]) -> Self {
        Self(choices.iter())
    }

    pub fn word(&mut self) -> u16 {
        self.0.next().copied().unwrap_or(0)
    }

    /// A number below `count`.
    pub fn below(&mut self, count: usize) -> usize {
        usize::from(self.word()) % count.max(1)
    }

    pub fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())].clone()
    }

    pub fn maybe(&mut self) -> bool {
        self.word() % 2 == 1
    }

    /// A number of any size.
    pub fn number(&mut self) -> u64 {
        let word = u64::from(self.word());
        match word % 6 {
            0..=2 => word / 6,
            3 => word << 8,
            4 => word << 40,
            _ => u64::MAX - word,
        }
    }
}

/// State of a module under construction, with the ids that later calls can use.
struct Making<'c> {
    c: Choices<'c>,
    m: Builder,
    target: Target,
    unit: UnitId,
    files: Vec<FileId>,
    types: Vec<(TypeId, u64)>,
    procedures: Vec<(ProcedureId, u64)>,
    variables: Vec<VariableId>,
    /// Variables of the unit scope.
    unit_variables: Vec<VariableId>,
    /// The last inlined call with ranges, and its first range.
    inlined: Option<(ScopeId, Range<u64>)>,
    /// Blocks with their functions.
    blocks: Vec<(FunctionId, ScopeId)>,
    symbol: Symbol,
    names: u32,
}

/// A module built from valid calls.
pub fn module(choices: &[u16], target: &Target) -> Module {
    let mut m = Builder::new(target.clone());
    let symbol = m.symbol("table");
    let unit = m.unit("0.cl");
    let mut making = Making {
        c: Choices::new(choices),
        m,
        target: target.clone(),
        unit,
        files: Vec::new(),
        types: Vec::new(),
        procedures: Vec::new(),
        variables: Vec::new(),
        unit_variables: Vec::new(),
        inlined: None,
        blocks: Vec::new(),
        symbol,
        names: 0,
    };
    for index in 0..1 + making.c.below(3) {
        if index > 0 {
            making.unit = making.m.unit(&format!("{index}.cl"));
        }
        making.unit();
    }
    making.m.finish().expect("every call was right")
}

impl Making<'_> {
    fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    fn unit(&mut self) {
        let unit = self.unit;
        self.files = vec![self.m.primary_file(unit).expect("the file")];
        self.types.clear();
        self.unit_variables.clear();
        self.procedures.clear();
        if self.c.maybe() {
            let mut described = self.m.describe_unit(unit).expect("the unit");
            described.directory("/src").producer("cc").language(0x15).command_line("-O1").optimized();
            self.files.push(self.m.file(unit, "a.h", Some("include")).expect("a file"));
        }
        self.some_types();
        for _ in 0..self.c.below(3) {
            let bits = 8 * (1 + self.c.below(8) as u64);
            let loc = self.loc(bits, 2);
            self.procedures.push((self.m.procedure(unit, &loc).expect("a procedure"), bits));
        }
        let mut functions = Vec::new();
        for _ in 0..self.c.below(4) {
            functions.push(self.function(&functions));
        }
        if self.c.maybe() {
            // Some types refer to variables of the unit.
            self.some_types();
        }
        if self.c.maybe() {
            let name = self.name("n");
            let namespace = self.m.namespace(unit, &name).expect("a namespace");
            let line = SourceLine::new(self.c.one(&self.files), 2).column(4);
            self.m.begins(namespace, line).expect("a line");
            self.variable(namespace, None);
        }
        for _ in 0..self.c.below(2) {
            self.variable(unit, None);
        }
    }

    fn some_types(&mut self) {
        let m = &mut self.m;
        let unit = self.unit;
        let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).expect("a type");
        self.types.push((int, 32));
        for _ in 0..self.c.below(8) {
            let (of, bits) = self.c.one(&self.types);
            let name = self.name("t");
            let m = &mut self.m;
            let ty = match self.c.below(14) {
                0 => {
                    let bits = self.c.one(&[1, 8, 16, 24, 64]);
                    (m.base_type(unit, &name, BaseEncoding::Unsigned, bits), bits)
                }
                1 => {
                    let space = self.c.one(self.target.spaces());
                    (m.pointer_into(unit, Some(of), space.id), space.address_bits.into())
                }
                2 if bits % 8 == 0 => {
                    let count = 1 + self.c.below(4) as u64;
                    (m.array(unit, of, &[Some(count), Some(2)]), 2 * bits * count)
                }
                // Four elements of 256 bits fill a vector register; a vector of three leaves some lanes unused.
                3 if bits % 8 == 0 && bits != 256 => {
                    let vector = m.vector(unit, of, 3);
                    match self.c.below(3) {
                        0 => (vector.and_then(|vector| m.matrix(unit, vector, 2, Major::Column)), 8 * bits),
                        _ => (vector, 4 * bits),
                    }
                }
                4 => (m.typedef(unit, &name, Some(of)), bits),
                5 => (m.qualified(unit, Qualifier::Const, Some(of)), bits),
                6 => (m.enumeration(unit, Some(&name), int, &[("A", -1), ("B", 1 << 30)]), 32),
                7 => {
                    let bytes = bits.div_ceil(8) + 12;
                    let ty = m.structure(unit, Some(&name), bytes).expect("a structure");
                    let to_itself = m.pointer(unit, Some(ty)).expect("a pointer");
                    m.member(ty, "next", to_itself, 0)
                        .and_then(|m| m.member(ty, "", of, 8))
                        .expect("members");
                    (m.bit_field(ty, "field", int, 8 * bytes - 32, 5).map(|_| ty), 8 * bytes)
                }
                8 => (m.reference(unit, of), u64::from(self.target.address_bytes()) * 8),
                9 | 10 => (Ok(self.class(&name, of, bits)), 8 * bits.div_ceil(8) + 128),
                // Types of unknown size: no variable has such a type.
                11 if bits % 8 == 0 => (Ok(self.counted(of)), u64::MAX),
                12 => {
                    let hidden = m.incomplete(unit, CompositeKind::Class, &name).expect("a type");
                    (m.pointer(unit, Some(hidden)), u64::from(self.target.address_bytes()) * 8)
                }
                _ => {
                    let ty = m.union(unit, None, bits.div_ceil(8)).expect("a union");
                    (m.member(ty, "a", of, 0).map(|_| ty), 8 * bits.div_ceil(8))
                }
            };
            let ty = (ty.0.expect("a type"), ty.1);
            if ty.1 <= 1024 {
                self.types.push(ty);
            }
        }
    }

    /// An array with a computed number of elements.
    fn counted(&mut self, of: TypeId) -> TypeId {
        let count = match self.variables.last() {
            Some(&variable) if self.c.maybe() && self.is_of_unit(variable) => Extent::variable(variable),
            _ => Extent::value(self.val(2)),
        };
        let lower = self.c.below(5) as i64 - 2;
        self.m.array_of(self.unit, of, &[count.from(lower), Extent::fixed(2)], None).expect("an array")
    }

    fn is_of_unit(&self, variable: VariableId) -> bool {
        self.unit_variables.contains(&variable)
    }

    /// A class with some of the possible members, and space for `bits` bits beyond 128.
    fn class(&mut self, name: &str, of: TypeId, bits: u64) -> TypeId {
        let unit = self.unit;
        let file = self.files[0];
        let bytes = bits.div_ceil(8);
        let class = self.m.class(unit, Some(name), bytes + 16).expect("a class");
        let access = self.c.one(&[None, Some(Accessibility::Public), Some(Accessibility::Protected)]);
        let value = match self.c.below(3) {
            0 => Template::ty("T", Some(of)),
            1 => Template::value("V", of, &vec![0x81; bytes as usize]),
            _ => Template::value_at("P", of, self.loc(bits, 2)),
        };
        let pack = Template::pack("R", [value.clone(), Template::named("C", "box")]);
        let member = DataMember::new("id", of, 16).mutable().declared(SourceLine::new(file, 3).column(9));
        for choice in 0..7 {
            if !self.c.maybe() {
                continue;
            }
            let m = &mut self.m;
            match choice {
                0 => drop(m.base(class, of, 16, access).expect("a base class")),
                1 => drop(m.template(class, value.clone()).expect("a parameter")),
                2 => drop(m.template(class, pack.clone()).expect("a pack")),
                3 => drop(m.data_member(class, member).expect("a member")),
                5 => {
                    let mut class = m.describe_type(class).expect("the class");
                    class.passed(Passed::ByReference).expect("a class");
                }
                4 => {
                    let mut member = m.static_member(class, &format!("{name}_s"), of).expect("a member");
                    let member =
                        member.declared(SourceLine::new(file, 4)).memory_space(MemorySpace::Global).id();
                    let loc = self.loc(bits, 2);
                    let namespace = self.m.namespace(unit, &format!("{name}_n")).expect("a namespace");
                    let mut definition = self.m.definition(namespace, member).expect("a definition");
                    definition.always(loc).expect("a place");
                    self.m.describe_type(class).expect("the class").within(namespace).expect("no circle");
                }
                _ => {
                    let tag = self.types[0].0;
                    let tag = m.variant_part(class, DataMember::new("", tag, 0)).expect("a variant part");
                    let values = [VariantValues::Single(-7), VariantValues::Range(0, 1 << 20)];
                    for count in 0..self.c.below(4) {
                        let variant = self.m.variant(tag, &values[..count.min(2)]);
                        // One variant is the default.
                        let variant = variant.expect("values of the discriminant");
                        self.m.member(variant, "v", of, 16).expect("a member");
                    }
                }
            }
        }
        class
    }

    fn function(&mut self, others: &[FunctionId]) -> FunctionId {
        let name = self.name("f");
        let returns = self.c.one(&self.types).0;
        let bytes = 4 * (1 + self.c.below(64) as u64);
        let base = self.scalar();
        let has_code = self.c.below(4) > 0;
        let has_base = self.c.maybe();
        let is_kernel = self.c.maybe();
        let scaling = self.c.one(&[Scaling::Lane, Scaling::Wave]);
        let mut function = self.m.function(self.unit, &name).expect("a function");
        function.declared(SourceLine::new(self.files[0], 7)).body_line(8);
        if has_code {
            function.code(&name, bytes);
        }
        if is_kernel {
            function.kernel();
        } else {
            function.returns(returns).expect("a type");
        }
        if has_base {
            function.stack_base(base).expect("a register").scaling(scaling);
        } else if !is_kernel {
            function.stack_at_zero();
        }
        let id = function.id();
        let code = has_code.then_some(0..bytes);
        for _ in 0..self.c.below(3) {
            self.declare(id, code.clone(), true);
        }
        self.inlined = None;
        self.scope(id, code.clone(), others, (id, false), 2);
        if has_code {
            for _ in 0..self.c.below(8) {
                let pc = 4 * self.c.below(bytes as usize / 4) as u64;
                let mut row = LineTableRow::new(pc, self.c.one(&self.files), u32::from(self.c.word()))
                    .column(self.c.below(90) as u32)
                    .discriminator(self.c.below(3) as u32);
                row.is_stmt = self.c.maybe();
                row.is_prologue_end = self.c.maybe();
                row.is_epilogue_begin = self.c.maybe();
                self.m.row(id, row).expect("a row");
            }
            if self.is_gpu() && self.c.below(3) == 1 {
                self.lanes(id, 0..bytes);
            }
        }
        id
    }

    /// Describes the positions of a function's lanes: regions in the function or in an inlined call, and whole-wave
    /// code.
    fn lanes(&mut self, function: FunctionId, code: Range<u64>) {
        self.m.lanes(function).expect("a function with code");
        match self.inlined.take() {
            Some((inlined, pcs)) => {
                let around = self.region(function, code.clone(), &code, None);
                self.regions(inlined, pcs, &code, Some(around), 1);
            }
            None => self.regions(function, code.clone(), &code, None, 2),
        }
        for pcs in self.ranges(code) {
            let mask = self.mask();
            let mut lanes = self.m.lanes(function).expect("a function with code");
            lanes.whole_wave(pcs, &mask).expect("whole-wave code");
        }
    }

    /// Regions in a range of code, with nested regions.
    fn regions(
        &mut self,
        scope: impl InScope + Copy,
        pcs: Range<u64>,
        code: &Range<u64>,
        around: Option<RegionId>,
        depth: usize,
    ) {
        for pcs in self.ranges(pcs) {
            let region = self.region(scope, pcs.clone(), code, around);
            if depth > 0 {
                self.regions(scope, pcs, code, Some(region), depth - 1);
            }
        }
    }

    fn region(
        &mut self,
        scope: impl InScope + Copy,
        pcs: Range<u64>,
        code: &Range<u64>,
        around: Option<RegionId>,
    ) -> RegionId {
        let kind = self.c.one(&RegionKind::NAMES).0;
        let waits_at = 4 * self.c.below(code.end as usize / 4) as u64;
        // The lanes of the other side of an `if` wait outside the first side.
        let is_inside = kind == RegionKind::Then && (pcs.start + 1..pcs.end).contains(&waits_at);
        let kind = if is_inside { RegionKind::Other } else { kind };
        let moves_at = pcs.start + 4 * self.c.below((pcs.end - pcs.start) as usize / 4) as u64;
        let masks = [(code.start..moves_at, self.mask()), (moves_at..code.end, self.mask())];
        let mut lanes = self.m.lanes(scope).expect("code");
        if let Some(around) = around {
            lanes.inside(around).expect("the region around");
        }
        lanes.region(kind, pcs, waits_at, &masks).expect("a region")
    }

    /// Location of a mask that does not depend on the current lane.
    fn mask(&mut self) -> Loc {
        loop {
            let loc = self.loc(self.target.lanes().into(), 1);
            let exec = self.target.exec();
            let is_of_lane = |node| match node {
                Node::PerLane(_) | Node::LaneIndex | Node::Call(_) => true,
                // EXEC has no inactive lane.
                Node::Register(reg) | Node::ReadRegister(reg) => Some(reg) == exec,
                Node::Memory(space) => self.target.space(space).is_some_and(|space| space.per == Per::Lane),
                _ => false,
            };
            if loc.nodes().any(|node| node != Node::Undefined) && !loc.nodes().any(is_of_lane) {
                return loc;
            }
        }
    }

    fn scope(
        &mut self,
        scope: impl InScope + Copy,
        code: Option<Range<u64>>,
        others: &[FunctionId],
        body: (FunctionId, bool),
        depth: usize,
    ) {
        for _ in 0..self.c.below(4) {
            self.variable(scope, code.clone());
        }
        if depth == 0 {
            return;
        }
        for _ in 0..self.c.below(3) {
            let ranges: Vec<Range<u64>> = match &code {
                Some(code) => self.ranges(code.clone()).collect(),
                None => Vec::new(),
            };
            let (inner, body) = if self.c.maybe() && !others.is_empty() {
                let callee = self.c.one(others);
                let call = SourceLine::new(self.c.one(&self.files), 9).column(3);
                let inlined = self.m.inlined(scope, callee, &ranges, call).expect("an inlined call");
                self.inlined = ranges.first().map(|pcs| (inlined, pcs.clone())).or(self.inlined.take());
                (inlined, (callee, true))
            } else {
                (self.block(scope, &ranges, body), body)
            };
            // Contents of the scope are within its code.
            let inside = ranges.first().cloned().or(code.clone());
            self.scope(inner, inside, others, body, depth - 1);
        }
    }

    /// A block of a function's body, or an instance of the block in an inlined body.
    fn block(
        &mut self,
        scope: impl InScope,
        pcs: &[Range<u64>],
        (of, is_inlined): (FunctionId, bool),
    ) -> ScopeId {
        let origin = self.blocks.iter().find(|(function, _)| is_inlined && *function == of);
        if let Some(&(_, origin)) = origin {
            return self.m.inlined_block(scope, origin, pcs).expect("an instance of a block");
        }
        let block = self.m.block(scope, pcs).expect("a block");
        if !is_inlined {
            self.blocks.push((of, block));
        }
        if self.c.maybe() {
            let line = SourceLine::new(self.c.one(&self.files), 6).column(1);
            self.m.begins(block, line).expect("a line");
            self.m.discriminator(block, 3).expect("a block");
        }
        block
    }

    /// Disjoint ranges at instruction boundaries.
    fn ranges(&mut self, code: Range<u64>) -> impl Iterator<Item = Range<u64>> + use<> {
        let mut bounds: Vec<u64> = (0..2 * self.c.below(4))
            .map(|_| code.start + 4 * self.c.below((code.end - code.start) as usize / 4 + 1) as u64)
            .collect();
        bounds.sort_unstable();
        bounds.dedup();
        bounds.chunks_exact(2).map(|pair| pair[0]..pair[1]).collect::<Vec<_>>().into_iter()
    }

    fn variable(&mut self, scope: impl InScope + Copy, code: Option<Range<u64>>) {
        if self.c.below(9) == 1 {
            let (name, (ty, bits)) = (self.name("c"), self.c.one(&self.types));
            let value = vec![0x5a; bits.div_ceil(8) as usize];
            self.m.constant(scope, &name, ty, &value).expect("a constant");
            return;
        }
        self.declare(scope, code, false);
    }

    /// A variable or parameter with its locations.
    fn declare(&mut self, scope: impl InScope, code: Option<Range<u64>>, is_parameter: bool) {
        let (name, (ty, bits)) = (self.name("v"), self.c.one(&self.types));
        let ranges: Vec<_> = code.map(|code| self.ranges(code).collect()).unwrap_or_default();
        let locs: Vec<Vec<Loc>> = ranges
            .iter()
            .map(|_| {
                let count = 1 + self.c.below(5) / 4;
                (0..count).map(|_| self.loc(bits, 3)).collect()
            })
            .collect();
        let always = (ranges.is_empty() && self.c.maybe()).then(|| self.loc(bits, 3));
        let is_external = self.c.maybe();
        let is_artificial = self.c.maybe();
        let variable =
            if is_parameter { self.m.parameter(scope, &name, ty) } else { self.m.variable(scope, &name, ty) };
        let mut variable = variable.expect("a variable");
        variable.declared(SourceLine::new(self.files[0], 8));
        if is_external {
            variable.external();
        }
        if is_artificial {
            variable.artificial();
        }
        for (pcs, locs) in ranges.into_iter().zip(&locs) {
            // An undefined location cannot be one of several.
            let is_somewhere = |loc: &&Loc| loc.nodes().any(|node| node != eitri::model::Node::Undefined);
            let somewhere: Vec<Loc> = locs.iter().filter(is_somewhere).cloned().collect();
            let locs = if somewhere.is_empty() { &locs[..1] } else { &somewhere };
            variable.live_in(pcs, locs).expect("places");
        }
        if let Some(loc) = always {
            variable.always(loc).expect("a place");
        }
        let id = variable.id();
        self.variables.push(id);
        self.unit_variables.push(id);
    }

    fn is_gpu(&self) -> bool {
        self.target.lanes() > 1
    }

    /// A register of at most 64 bits.
    fn scalar(&mut self) -> Reg {
        let small: Vec<Reg> = self.target.registers().filter(|r| r.bits <= 64).map(|r| r.reg).collect();
        self.c.one(&small)
    }

    fn vector(&mut self) -> Reg {
        let n = self.c.below(256) as u16;
        self.target.vgpr(n).expect("a vector register")
    }

    /// A location with space for `bits` bits.
    fn loc(&mut self, bits: u64, depth: u32) -> Loc {
        let leaf = depth == 0;
        loop {
            return match self.c.below(if leaf { 12 } else { 21 }) {
                0 => {
                    // Vector registers are used with all their lanes.
                    let is_large = |r: &Register| {
                        if r.is_vector() { u64::from(r.bits) == bits } else { u64::from(r.bits) >= bits }
                    };
                    let large: Vec<Reg> = self.target.registers().filter(is_large).map(|r| r.reg).collect();
                    if large.is_empty() {
                        // Exhausted choices must terminate.
                        return Loc::undefined();
                    }
                    Loc::register(self.c.one(&large))
                }
                1 if self.is_gpu() => {
                    let count = bits.div_ceil(32);
                    let lanes: Vec<_> = (0..count)
                        .map(|_| (self.vector(), self.c.below(self.target.lanes() as usize) as u32))
                        .collect();
                    match lanes[..] {
                        [(reg, lane)] => Loc::lane(reg, lane),
                        _ => Loc::lanes(lanes),
                    }
                }
                2 if self.is_gpu() => match bits {
                    0..=16 => Loc::per_lane_half(self.vector(), Half::High),
                    17..=32 => Loc::per_lane(self.vector()),
                    _ => {
                        Loc::per_lane_over((0..bits.div_ceil(32)).map(|_| self.vector()).collect::<Vec<_>>())
                    }
                },
                3 if self.is_gpu() => Loc::stack_slot(self.c.number() as i64 >> 20),
                4 => {
                    let space = self.c.one(self.target.spaces());
                    // A constant address is inside the space.
                    let address = match space.bytes {
                        Some(bytes) if self.c.maybe() => Val::constant(self.c.number() % (bytes / 2)),
                        Some(_) => Val::register(self.scalar()),
                        None => self.val(depth),
                    };
                    Loc::memory(space.id, address)
                }
                5 => Loc::memory(SpaceId::DEFAULT, Val::address(self.symbol, self.c.below(3) as i64)),
                6 if self.is_gpu() => Loc::local_symbol(self.symbol),
                7 => Loc::implicit(&vec![self.c.word() as u8; bits.div_ceil(8) as usize]),
                8 if bits <= 64 => Loc::value(self.val(depth)),
                9 if bits <= 64 && !self.variables.is_empty() => {
                    Loc::pointer_to(self.c.one(&self.variables), self.c.below(9) as i64 - 4)
                }
                10 => match self.procedures.iter().find(|(_, has)| *has == bits) {
                    Some(&(procedure, _)) => Loc::call(procedure),
                    None => continue,
                },
                11 if self.c.maybe() => Loc::cfa(),
                11 => Loc::undefined(),
                12 => {
                    let by = self.c.below(5) as u64;
                    self.loc(bits + 8 * by, depth - 1).offset(by as i64)
                }
                13 => {
                    let by = self.c.below(40) as u64;
                    self.loc(bits + by, depth - 1).bit_offset(by as i64)
                }
                14 => self.loc(bits, depth - 1).offset_by(self.val(depth - 1)),
                15 => self.loc(bits, depth - 1).bit_offset_by(self.val(depth - 1)),
                16 => {
                    let mut parts = Vec::new();
                    let mut left = bits;
                    while left > 0 {
                        let size =
                            if parts.len() == 3 { left } else { 1 + self.c.below(left as usize) as u64 };
                        parts.push((self.loc(size, depth - 1), size));
                        left -= size;
                    }
                    Loc::parts(parts)
                }
                17 => {
                    let offset = self.c.below(bits as usize) as u64;
                    let size = 1 + self.c.below((bits - offset) as usize) as u64;
                    let below = self.loc(bits, depth - 1);
                    let above = self.loc(size, depth - 1);
                    let known = self.c.below(4) > 0;
                    let at = if known { Val::constant(offset) } else { Val::register(self.scalar()) };
                    below.overlay(above, at, Val::constant(size))
                }
                18 => {
                    let most = 1 + self.c.below(64) as u64;
                    let count = (1..=most).rev().find(|count| bits.is_multiple_of(*count)).unwrap_or(1);
                    let size = bits / count;
                    let mask = if self.c.maybe() { self.val(depth - 1) } else { Val::constant(0x5555) };
                    let zero = self.loc(size * count, depth - 1);
                    let one = self.loc(size * count, depth - 1);
                    Loc::select(mask, zero, one, size, count)
                }
                19 => {
                    let count = 1 + self.c.below(8) as u64;
                    let size = bits.div_ceil(count);
                    self.loc(size, depth - 1).extend(size, count)
                }
                20 => self.raw(),
                _ => continue,
            };
        }
    }

    /// A raw expression, with or without references.
    fn raw(&mut self) -> Loc {
        let mut e = Expr::build(Consumer::dwarf5().encoding(self.target.address_bytes()));
        let mut entities = Vec::new();
        match self.c.below(3) {
            0 => drop(e.ops().call_frame_cfa()),
            1 => {
                e.ops().constu(0);
                e.refer(Op::Convert { ty: 0 }, Slot(0));
                entities.push(Entity::Type(self.types[0].0));
            }
            _ => match self.procedures.first() {
                Some(&(procedure, _)) => {
                    e.refer(Op::Call4 { entry: 0 }, Slot(0));
                    entities.push(Entity::Procedure(procedure));
                }
                None => drop(e.ops().call_frame_cfa()),
            },
        }
        let expr = e.finish().expect("an expression");
        Loc::expr(self.m.expr(expr, &entities).expect("an expression"))
    }

    fn val(&mut self, depth: u32) -> Val {
        match self.c.below(if depth == 0 { 4 } else { 17 }) {
            0 => Val::constant(self.c.number()),
            1 => Val::register(self.scalar()),
            2 => Val::address(self.symbol, self.c.below(9) as i64),
            3 if self.is_gpu() => Val::lane_index(),
            3 => Val::constant(3),
            4 => {
                let bits = 1 + self.c.below(64) as u32;
                self.loc(bits.into(), depth - 1).read(bits)
            }
            5 => self.val(depth - 1).plus(self.c.number() as i64),
            6 => self.val(depth - 1).neg(),
            7 => self.val(depth - 1).not(),
            kind => {
                let first = self.val(depth - 1);
                let second = self.val(depth - 1);
                match kind {
                    8 => first.add(second),
                    9 => first.sub(second),
                    10 => first.mul(second),
                    11 => first.and(second),
                    12 => first.or(second),
                    13 => first.xor(second),
                    14 => first.shl(second),
                    15 => first.shr(second),
                    _ => first.shra(second),
                }
            }
        }
    }
}
