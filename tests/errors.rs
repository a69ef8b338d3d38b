//! The promise: invalid calls give an error with its location, and never a panic.
//!
//! `goldens/errors/errors.txt` has the exact text of each error that describing and lowering can give.

use crate::common;
use crate::common::consumers;
use crate::common::random;

use core::ops::RangeInclusive;

use common::check_golden;
use eitri::Result;
use eitri::build::{AttributeValue, Builder, DataMember, Extent, Major, Template};
use eitri::emit::Section;
use eitri::emit::elf::{ObjectCode, attach, new_object, write_file};
use eitri::error::{
    Conflict, Enclosed, Error, ErrorKind, Feature, Identity, Limit, Named, Present, Quantity,
};
use eitri::lower::{Consumer, Policy, lower, lower_loc};
use eitri::model::{
    Address, AttributeOwner, BaseEncoding, CompositeKind, Entity, ExprId, FileId, FunctionId, Imported,
    LineTableRow, Loc, Module, Passed, PointerKind, ProcedureId, Qualifier, ScopeId, SourceLine, Stack,
    Symbol, TypeId, UnitId, Val, VariableId, VariantValues,
};
use eitri::op::{Dialect, Encoding, Expr, Op, Reg, Slot, text};
use eitri::target::{Gfx, Scaling, SpaceId, Target, Wave};
use proptest::prelude::*;
use random::Choices;

fn gpu() -> Target {
    Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("gfx1030 runs waves of 32")
}

/// A vendor's attribute.
const VENDOR: gimli::DwAt = gimli::DwAt(0x3000);

/// A module with one function of 0x180 bytes, and another unit with a function.
struct Start {
    m: Builder,
    unit: UnitId,
    int: TypeId,
    saxpy: FunctionId,
    other: UnitId,
    other_int: TypeId,
    other_function: FunctionId,
}

impl Start {
    /// The first line of the unit.
    fn line(&self) -> Result<SourceLine> {
        Ok(SourceLine::new(self.m.primary_file(self.unit)?, 1))
    }
}

fn start() -> Start {
    let mut m = Builder::new(gpu());
    let unit = m.unit("saxpy.cl");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).expect("a type");
    let saxpy = m.function(unit, "saxpy").expect("a function").code("saxpy", 0x180).id();
    let other = m.unit("other.cl");
    let other_int = m.base_type(other, "int", BaseEncoding::Signed, 32).expect("a type");
    let other_function = m.function(other, "g").expect("a function").code("g", 0x40).id();
    Start { m, unit, int, saxpy, other, other_int, other_function }
}

/// Ids of a larger module that are invalid in the small one.
struct Foreign {
    unit: UnitId,
    function: FunctionId,
    ty: TypeId,
    variable: VariableId,
    procedure: ProcedureId,
    symbol: Symbol,
    row: LineTableRow,
    line: SourceLine,
    expr: Loc,
}

/// Ids that another module does not have. They are only numbers, so that they belong to no builder in particular; a symbol
/// always belongs to its builder.
fn foreign() -> Foreign {
    let mut m = Builder::new(gpu());
    let mut last = None;
    for index in 0..40 {
        let unit = m.unit(&format!("foreign{index}.cl"));
        let file = m.primary_file(unit).expect("a file");
        let ty = m.base_type(unit, "int", BaseEncoding::Signed, 32).expect("a type");
        let function = m.function(unit, "f").expect("a function").code("f", 0x40).id();
        let variable = m.variable(function, "v", ty).expect("a variable").id();
        let procedure = m.procedure(unit, &Loc::undefined()).expect("a procedure");
        let symbol = m.symbol(&format!("symbol{index}"));
        let expr = m.expr(Expr::raw([index]), &[]).expect("an expression");
        let unit = UnitId::from_u32(unit.as_u32());
        let file = FileId::from_u32(file.as_u32());
        let ty = TypeId::from_u32(ty.as_u32());
        let function = FunctionId::from_u32(function.as_u32());
        let variable = VariableId::from_u32(variable.as_u32());
        let procedure = ProcedureId::from_u32(procedure.as_u32());
        let expr = Loc::expr(ExprId::from_u32(expr.as_u32()));
        let row = LineTableRow::new(0, file, 1);
        let line = SourceLine::new(file, 1);
        last = Some(Foreign { unit, function, ty, variable, procedure, symbol, row, line, expr });
    }
    last.expect("there are some")
}

/// The error for a location of variable `n` in `saxpy`.
fn of_loc(make: impl FnOnce(&mut Start, &Foreign) -> Result<Loc>) -> Result<()> {
    let mut start = start();
    let loc = make(&mut start, &foreign())?;
    start.m.variable(start.saxpy, "n", start.int)?.live(0x24..0x180, loc).map(drop)
}

/// The error of a description.
fn of(make: impl FnOnce(&mut Start, &Foreign) -> Result<()>) -> Result<()> {
    make(&mut start(), &foreign())
}

/// The error for a location on a target without waves.
fn on_cpu(loc: Loc) -> Result<()> {
    let mut m = Builder::new(Target::x86_64());
    let unit = m.unit("a.c");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    let main = m.function(unit, "main")?.code("main", 0x40).id();
    m.variable(main, "n", int)?.live(0..0x40, loc).map(drop)
}

/// The error of finishing a module.
fn of_end(make: impl FnOnce(&mut Start, &Foreign) -> Result<()>) -> Result<()> {
    let mut start = start();
    make(&mut start, &foreign()).expect("no error before the end");
    start.m.finish().map(drop)
}

/// The error of lowering a module for plain DWARF 5.
fn of_lower(make: impl FnOnce(&mut Start) -> Result<()>) -> Result<()> {
    let mut start = start();
    make(&mut start).expect("no error before the end");
    let module = start.m.finish().expect("no error at the end");
    lower(&module, &Consumer::dwarf5(), Policy::Strict).map(drop)
}

fn v(n: u16) -> Reg {
    gpu().vgpr(n).expect("a register")
}

fn s(n: u16) -> Reg {
    gpu().sgpr(n).expect("a register")
}

type Case = (&'static str, fn() -> Result<()>);

/// Description of each case, and the failing call.
#[rustfmt::skip]
const CASES: &[Case] = &[
    ("register 5000", || of_loc(|_, _| Ok(Loc::register(Reg(5000))))),
    ("a register of the other wave size", || of_loc(|_, _| Ok(Loc::per_lane(Reg(2560))))),
    ("register of u64::MAX", || of_loc(|_, _| Ok(Loc::value(Val::register(Reg(u64::MAX)))))),
    ("lane 32 of 32", || of_loc(|_, _| Ok(Loc::lane(v(40), 32)))),
    ("lane 70 of 32", || of_loc(|_, _| Ok(Loc::lane(v(40), 70)))),
    ("a lane of a scalar register", || of_loc(|_, _| Ok(Loc::lane(s(4), 0)))),
    ("each lane of a scalar register", || of_loc(|_, _| Ok(Loc::per_lane(s(4))))),
    ("memory in space 4", || of_loc(|_, _| Ok(Loc::memory(SpaceId(4), Val::constant(0))))),
    ("a larger variable than its storage", || of(|a, _| {
        let long = a.m.base_type(a.unit, "long", BaseEncoding::Signed, 64)?;
        a.m.variable(a.saxpy, "n", long)?.live(0..4, Loc::register(s(4))).map(drop)
    })),
    ("a larger variable than a lane", || of(|a, _| {
        let long = a.m.base_type(a.unit, "long", BaseEncoding::Signed, 64)?;
        a.m.variable(a.saxpy, "n", long)?.live(0..4, Loc::lane(v(4), 0)).map(drop)
    })),
    ("a part beyond its storage", || of_loc(|_, _| Ok(Loc::parts([(Loc::register(s(4)), 33)])))),
    ("a part beyond its storage, further on", || of_loc(|_, _| Ok(Loc::parts([(Loc::register(s(4)).offset(1), 32)])))),
    ("fewer parts than bits", || of_loc(|_, _| Ok(Loc::parts([(Loc::register(s(4)), 16)])))),
    ("no parts", || of_loc(|_, _| Ok(Loc::parts([])))),
    ("a part without bits", || of_loc(|_, _| Ok(Loc::parts([(Loc::undefined(), 0), (Loc::register(s(4)), 32)])))),
    ("parts of 2^64 bits", || of_loc(|_, _| Ok(Loc::parts([(Loc::undefined(), u64::MAX), (Loc::undefined(), 1)])))),
    ("an offset behind the register", || of_loc(|_, _| Ok(Loc::register(s(4)).offset(4)))),
    ("an offset before the register", || of_loc(|_, _| Ok(Loc::register(s(4)).offset(-1)))),
    ("a bit behind the register", || of_loc(|_, _| Ok(Loc::register(s(4)).bit_offset(32)))),
    ("an offset of 2^63 bytes", || of_loc(|_, _| Ok(Loc::register(s(4)).offset(i64::MIN)))),
    ("what is laid over is too small", || of_loc(|_, _| Ok(Loc::register(v(4)).overlay(Loc::register(s(4)), Val::constant(0), Val::constant(33))))),
    ("what is laid over goes past the end", || of_loc(|_, _| Ok(Loc::register(s(4)).overlay(Loc::register(s(5)), Val::constant(8), Val::constant(32))))),
    ("elements beyond their storage", || of_loc(|_, _| Ok(Loc::select(Val::constant(1), Loc::register(s(4)), Loc::register(v(4)), 32, 2)))),
    ("more elements than a mask has bits", || of_loc(|_, _| Ok(Loc::select(Val::constant(1), Loc::undefined(), Loc::undefined(), 32, 65)))),
    ("elements without bits", || of_loc(|_, _| Ok(Loc::undefined().extend(0, 32)))),
    ("elements without end", || of_loc(|_, _| Ok(Loc::undefined().extend(32, 65_537)))),
    ("elements of 2^64 bits", || of_loc(|_, _| Ok(Loc::undefined().extend(1 << 32, 1 << 32)))),
    ("an element beyond its storage", || of_loc(|_, _| Ok(Loc::register(s(4)).extend(64, 2)))),
    ("a constant of fewer bytes than the variable", || of_loc(|_, _| Ok(Loc::implicit(&[1, 2])))),
    ("a number of more than 64 bits", || of_loc(|_, _| Ok(Loc::value(Loc::register(v(4)).read(65))))),
    ("a number of no bits", || of_loc(|_, _| Ok(Loc::value(Loc::register(v(4)).read(0))))),
    ("a vector register as a number", || of_loc(|_, _| Ok(Loc::value(Val::register(v(4)))))),
    ("a location of 200 levels", || of_loc(|_, _| Ok(Loc::value((0..200).fold(Val::constant(1), |val, _| val.not()))))),
    ("a pointer to a foreign variable", || of_loc(|_, f| Ok(Loc::pointer_to(f.variable, 0)))),
    ("a call to a foreign procedure", || of_loc(|_, f| Ok(Loc::call(f.procedure)))),
    ("a call to another unit's procedure", || of_loc(|a, _| Ok(Loc::call(a.m.procedure(a.other, &Loc::undefined())?)))),
    ("a foreign expression", || of_loc(|_, f| Ok(f.expr.clone()))),
    ("the address of a foreign symbol", || of_loc(|_, f| Ok(Loc::local_symbol(f.symbol)))),
    ("an expression with another unit's type", || of_loc(|a, _| {
        let mut e = Expr::build(Consumer::llvm().encoding(8));
        e.refer(Op::Convert { ty: 0 }, Slot(0));
        Ok(Loc::expr(a.m.expr(e.finish()?, &[Entity::Type(a.other_int)])?))
    })),
    ("an expression without its entity", || of_loc(|a, _| {
        let mut e = Expr::build(Consumer::llvm().encoding(8));
        e.refer(Op::Call4 { entry: 0 }, Slot(1));
        Ok(Loc::expr(a.m.expr(e.finish()?, &[Entity::Type(a.int)])?))
    })),
    ("an expression with a symbol for a type", || of_loc(|a, _| {
        let mut e = Expr::build(Consumer::llvm().encoding(8));
        e.refer(Op::Convert { ty: 0 }, Slot(0));
        let symbol = a.m.symbol("table");
        Ok(Loc::expr(a.m.expr(e.finish()?, &[Entity::Symbol(symbol, 0)])?))
    })),
    ("an expression with a foreign variable", || of(|a, f| a.m.expr(Expr::raw([]), &[Entity::Variable(f.variable)]).map(drop))),

    ("an empty range", || of(|a, _| a.m.variable(a.saxpy, "n", a.int)?.live(8..8, Loc::undefined()).map(drop))),
    #[allow(clippy::reversed_empty_ranges, reason = "that is the mistake")]
    ("a reversed range", || of(|a, _| a.m.variable(a.saxpy, "n", a.int)?.live(8..4, Loc::undefined()).map(drop))),
    ("a range beyond the function", || of(|a, _| a.m.variable(a.saxpy, "n", a.int)?.live(8..0x181, Loc::undefined()).map(drop))),
    ("a range in a global variable's", || of_end(|a, _| a.m.variable(a.unit, "n", a.int)?.live(0..4, Loc::undefined()).map(drop))),
    ("a range beyond 4 GiB", || of(|a, _| a.m.variable(a.unit, "n", a.int)?.live(0..1 << 32, Loc::undefined()).map(drop))),
    ("no place", || of(|a, _| a.m.variable(a.saxpy, "n", a.int)?.live_in(0..4, &[]).map(drop))),
    ("overlapping ranges", || of_end(|a, _| {
        a.m.variable(a.saxpy, "n", a.int)?.live(8..16, Loc::undefined())?.live(0..12, Loc::undefined()).map(drop)
    })),
    ("a range in a range", || of_end(|a, _| {
        a.m.variable(a.saxpy, "n", a.int)?.live(0..16, Loc::undefined())?.live(4..8, Loc::undefined())?.live(12..20, Loc::undefined()).map(drop)
    })),
    ("always and by pc", || of_end(|a, _| {
        a.m.variable(a.saxpy, "n", a.int)?.live(8..16, Loc::undefined())?.always(Loc::undefined()).map(drop)
    })),
    ("a parameter of a unit", || of_end(|a, _| a.m.parameter(a.unit, "n", a.int).map(drop))),
    ("a parameter of a block", || of_end(|a, _| {
        let block = a.m.block(a.saxpy, &[])?;
        a.m.parameter(block, "n", a.int).map(drop)
    })),
    ("a constant that is too small", || of(|a, _| a.m.constant(a.saxpy, "n", a.int, &[1]).map(drop))),

    ("a variable of another unit's type", || of(|a, _| a.m.variable(a.saxpy, "n", a.other_int).map(drop))),
    ("a variable of a foreign type", || of(|a, f| a.m.variable(a.saxpy, "n", f.ty).map(drop))),
    ("a variable in a foreign function", || of(|a, f| a.m.variable(f.function, "n", a.int).map(drop))),
    ("a variable in a foreign unit", || of(|a, f| a.m.variable(f.unit, "n", a.int).map(drop))),
    ("a function in a foreign unit", || of(|a, f| a.m.function(f.unit, "f").map(drop))),
    ("a function that returns another unit's type", || of(|a, _| a.m.function(a.unit, "f")?.returns(a.other_int).map(drop))),
    ("a function that returns a foreign type", || of(|a, f| a.m.function(a.unit, "f")?.returns(f.ty).map(drop))),
    ("a function declared in another unit's file", || of_end(|a, _| {
        let file = a.m.primary_file(a.other)?;
        a.m.function(a.unit, "f")?.declared(SourceLine::new(file, 1));
        Ok(())
    })),
    ("a variable declared in a foreign file", || of_end(|a, f| {
        a.m.variable(a.saxpy, "n", a.int)?.declared(SourceLine::new(f.line.file, 1));
        Ok(())
    })),
    ("a function at a foreign symbol", || of_end(|a, f| {
        a.m.function(a.unit, "f")?.address(Address::Symbol(f.symbol, 0), 4);
        Ok(())
    })),
    ("an unknown stack base", || of(|a, _| a.m.function(a.unit, "f")?.stack_base(Reg(5000)).map(drop))),
    ("an empty block", || of(|a, _| a.m.block(a.saxpy, &[0..4, 8..8]).map(drop))),
    ("a block outside the function", || of(|a, _| a.m.block(a.saxpy, &[0..4, 8..0x184]).map(drop))),
    ("a block that overlaps itself", || of(|a, _| a.m.block(a.saxpy, &[0..8, 4..12]).map(drop))),
    ("a block outside the block around it", || of(|a, _| {
        let block = a.m.block(a.saxpy, &[0..8, 16..24])?;
        a.m.block(block, &[4..12]).map(drop)
    })),
    ("a stack that begins in a vector register", || of(|a, _| {
        a.m.describe_function(a.saxpy)?.stack_base(v(3)).map(drop)
    })),
    ("one of several places is nowhere", || of(|a, _| {
        a.m.variable(a.saxpy, "n", a.int)?.live_in(0..4, &[Loc::register(s(4)), Loc::undefined()]).map(drop)
    })),
    ("a constant that is too large", || of(|a, _| a.m.constant(a.saxpy, "n", a.int, &[0; 5]).map(drop))),
    ("elements of a bit", || of(|a, _| {
        let bit = a.m.base_type(a.unit, "bit", BaseEncoding::Boolean, 1)?;
        a.m.vector(a.unit, bit, 8).map(drop)
    })),
    ("a block in a unit", || of(|a, _| a.m.block(a.unit, &[0..4]).map(drop))),
    ("an inlined function of another unit", || of(|a, _| {
        let call = a.line()?;
        a.m.inlined(a.saxpy, a.other_function, &[0..4], call).map(drop)
    })),
    ("a foreign inlined function", || of(|a, f| {
        let call = a.line()?;
        a.m.inlined(a.saxpy, f.function, &[0..4], call).map(drop)
    })),
    ("a call in a foreign file", || of(|a, f| {
        let inner = a.m.function(a.unit, "inner")?.id();
        a.m.inlined(a.saxpy, inner, &[0..4], f.line).map(drop)
    })),
    ("an instance of a foreign variable", || of(|a, f| a.m.inlined_variable(a.saxpy, f.variable).map(drop))),
    ("an instance of a variable that is not inlined", || of(|a, _| {
        let n = a.m.variable(a.saxpy, "n", a.int)?.id();
        let inner = a.m.function(a.unit, "inner")?.id();
        let call = a.line()?;
        let scope = a.m.inlined(a.saxpy, inner, &[0..4], call)?;
        a.m.inlined_variable(scope, n).map(drop)
    })),
    ("an instance outside an inlined call", || of(|a, _| {
        let n = a.m.variable(a.saxpy, "n", a.int)?.id();
        a.m.inlined_variable(a.saxpy, n).map(drop)
    })),

    ("a row outside the function", || of(|a, _| {
        let file = a.m.primary_file(a.unit)?;
        a.m.row(a.saxpy, LineTableRow::new(0x180, file, 1))
    })),
    ("a row of a foreign function", || of(|a, f| a.m.row(f.function, f.row))),
    ("a row of a foreign file", || of(|a, f| a.m.row(a.saxpy, f.row))),
    ("a row of another unit's file", || of(|a, _| {
        let file = a.m.primary_file(a.other)?;
        a.m.row(a.saxpy, LineTableRow::new(0, file, 1))
    })),
    ("a row inside of an instruction", || of(|a, _| {
        let file = a.m.primary_file(a.unit)?;
        a.m.row(a.saxpy, LineTableRow::new(6, file, 1))
    })),
    ("a function that ends inside of an instruction", || of_end(|a, _| {
        let odd = a.m.function(a.unit, "odd")?.code("odd", 0x3e).id();
        let file = a.m.primary_file(a.unit)?;
        a.m.row(odd, LineTableRow::new(0, file, 1))
    })),
    ("files with and without a sum", || of_end(|a, _| {
        let file = a.m.file(a.unit, "a.h", Some("include"))?;
        a.m.file_md5(file, [1; 16])
    })),
    ("a sum of a foreign file", || of(|a, f| a.m.file_md5(f.line.file, [1; 16]))),
    ("the text of a foreign file", || of(|a, f| a.m.file_source(f.line.file, "int x;"))),
    ("a text with a zero byte", || of(|a, _| {
        let file = a.m.primary_file(a.unit)?;
        a.m.file_source(file, "int\0x;")
    })),
    ("a frame of a foreign function", || of(|a, f| a.m.frame(f.function).map(drop))),
    ("a rule of no pcs", || of(|a, _| a.m.frame(a.saxpy)?.undefined(8..8, s(4)).map(drop))),
    ("a rule behind the function", || of(|a, _| a.m.frame(a.saxpy)?.undefined(8..0x184, s(4)).map(drop))),
    ("a rule inside of an instruction", || of(|a, _| a.m.frame(a.saxpy)?.undefined(8..0x1a, s(4)).map(drop))),
    ("a rule of an unknown register", || of(|a, _| a.m.frame(a.saxpy)?.undefined(8..16, Reg(5000)).map(drop))),
    ("a frame in a register", || of(|a, _| a.m.frame(a.saxpy)?.cfa(0..0x180, Loc::register(s(32))).map(drop))),
    ("a frame that begins where it begins", || of(|a, _| a.m.frame(a.saxpy)?.cfa(0..0x180, Loc::cfa()).map(drop))),
    ("a frame at an address that a lane has", || of(|a, _| {
        let address = Loc::memory(SpaceId::PRIVATE_LANE, Val::constant(0)).read(32);
        a.m.frame(a.saxpy)?.cfa(0..0x180, Loc::memory(SpaceId::PRIVATE_WAVE, address)).map(drop)
    })),
    ("a register saved in the current lane", || of(|a, _| a.m.frame(a.saxpy)?.saved(8..16, s(4), Loc::per_lane(v(40))).map(drop))),
    ("a register saved where the lane counts", || of(|a, _| {
        let loc = Loc::register(v(40)).offset_by(Val::lane_index());
        a.m.frame(a.saxpy)?.saved(8..16, s(4), loc).map(drop)
    })),
    ("a register saved in memory of a lane", || of(|a, _| a.m.frame(a.saxpy)?.saved(8..16, s(4), Loc::stack_slot(4)).map(drop))),
    ("a register that is a pointer to a variable", || of(|a, _| {
        let n = a.m.variable(a.saxpy, "n", a.int)?.id();
        a.m.frame(a.saxpy)?.saved(8..16, s(4), Loc::pointer_to(n, 0)).map(drop)
    })),
    ("a register where a procedure says", || of(|a, _| {
        let p = a.m.procedure(a.unit, &Loc::undefined())?;
        a.m.frame(a.saxpy)?.saved(8..16, s(4), Loc::call(p)).map(drop)
    })),
    ("a register where an expression with a type says", || of(|a, _| {
        let mut e = Expr::build(Consumer::llvm().encoding(8));
        e.refer(Op::Convert { ty: 0 }, Slot(0));
        let e = a.m.expr(e.finish()?, &[Entity::Type(a.int)])?;
        a.m.frame(a.saxpy)?.saved(8..16, s(4), Loc::expr(e)).map(drop)
    })),
    ("a register saved to a lane of itself", || of(|a, _| a.m.frame(a.saxpy)?.saved(8..16, v(40), Loc::lane(v(40), 0).extend(32, 32)).map(drop))),
    ("a register saved further on in itself", || of(|a, _| a.m.frame(a.saxpy)?.saved(8..16, s(4), Loc::parts([(Loc::register(s(4)).offset(2), 16), (Loc::register(s(5)), 16)])).map(drop))),
    ("a register larger than where it is saved", || of(|a, _| a.m.frame(a.saxpy)?.saved(8..16, v(40), Loc::register(s(4))).map(drop))),
    ("a register saved in a lane that is not there", || of(|a, _| a.m.frame(a.saxpy)?.saved_in_lane(8..16, s(4), v(40), 32).map(drop))),
    ("a slot inside of a dword", || of(|a, _| a.m.frame(a.saxpy)?.saved_to_scratch(8..16, v(40), 6, None).map(drop))),
    ("a scalar register in a slot for all lanes", || of(|a, _| a.m.frame(a.saxpy)?.saved_to_scratch(8..16, s(4), 8, None).map(drop))),
    ("a frame beside its address", || of(|a, _| a.m.frame(a.saxpy)?.extent(8..16).map(drop))),
    ("a frame without an address", || of_end(|a, _| a.m.frame(a.saxpy)?.undefined(0..0x180, Reg(16)).map(drop))),
    ("a frame without an address at the end", || of_end(|a, _| {
        let zero = Loc::memory(SpaceId::PRIVATE_WAVE, Val::constant(0));
        a.m.frame(a.saxpy)?.undefined(0..0x180, Reg(16))?.cfa(0..0x170, zero).map(drop)
    })),
    ("an entry function without its rules", || of_end(|a, _| {
        let zero = Loc::memory(SpaceId::PRIVATE_WAVE, Val::constant(0));
        a.m.frame(a.saxpy)?.cfa(0..0x180, zero).map(drop)
    })),
    ("two rules at one pc", || of_end(|a, _| a.m.frame(a.saxpy)?.entry_function()?.undefined(8..16, s(4))?.saved_in_lane(12..20, s(4), v(40), 1).map(drop))),
    ("a register saved in a frame of a lane", || of_end(|a, _| {
        let lane = Loc::memory(SpaceId::PRIVATE_LANE, Val::constant(0));
        a.m.frame(a.saxpy)?.undefined(0..0x180, Reg(16))?.cfa(0..0x180, lane)?.saved(8..16, s(4), Loc::cfa().offset(4)).map(drop)
    })),
    ("a slot behind the frame", || of_end(|a, _| a.m.frame(a.saxpy)?.entry_function()?.extent(0..256)?.saved_to_scratch(8..16, v(40), 8, None).map(drop))),
    ("a slot before the frame, for some lanes", || of_end(|a, _| {
        let exec = Val::entry_value(Reg(1));
        a.m.frame(a.saxpy)?.entry_function()?.extent(0..256)?.saved_to_scratch(8..16, v(40), -4, Some(exec)).map(drop)
    })),
    ("a register that depends on what it held", || of_end(|a, _| {
        let next = |reg| Loc::value(Val::entry_value(reg));
        a.m.frame(a.saxpy)?.entry_function()?.saved(8..16, s(4), next(s(5)))?.saved(12..20, s(5), next(s(4))).map(drop)
    })),
    ("registers that are in each other", || of_end(|a, _| {
        let mut frame = a.m.frame(a.saxpy)?;
        let is_in = Loc::register;
        frame.entry_function()?.saved(8..16, s(4), is_in(s(5)))?.saved(12..20, s(5), is_in(s(6)))?;
        frame.saved(4..20, s(6), is_in(s(4))).map(drop)
    })),
    ("a frame that depends on what is saved in it", || of_end(|a, _| {
        let at = Loc::memory(SpaceId::PRIVATE_WAVE, Val::entry_value(s(33)));
        a.m.frame(a.saxpy)?.undefined(0..0x180, Reg(16))?.cfa(0..0x180, at)?.saved(8..16, s(33), Loc::cfa()).map(drop)
    })),
    ("macros of a foreign unit", || of(|a, f| a.m.macros(f.unit).map(drop))),
    ("a macro that begins with a space", || of(|a, _| a.m.macros(a.unit)?.define(0, " A 1").map(drop))),
    ("a macro with spaces between its parameters", || of(|a, _| a.m.macros(a.unit)?.define(0, "A(a, b) 1").map(drop))),
    ("a macro whose parameters do not end", || of(|a, _| a.m.macros(a.unit)?.define(0, "A(a").map(drop))),
    ("a macro without a space before its definition", || of(|a, _| a.m.macros(a.unit)?.define(0, "A(a)1").map(drop))),
    ("a macro with a tab before its definition", || of(|a, _| a.m.macros(a.unit)?.define(0, "A\t1").map(drop))),
    ("a macro without a name", || of(|a, _| a.m.macros(a.unit)?.define(0, "").map(drop))),
    ("a macro with a zero byte", || of(|a, _| a.m.macros(a.unit)?.define(0, "A 1\0").map(drop))),
    ("a macro of a line of no file", || of(|a, _| a.m.macros(a.unit)?.define(3, "A 1").map(drop))),
    ("a macro that is forgotten with its parameters", || of(|a, _| a.m.macros(a.unit)?.undefine(0, "A(a)").map(drop))),
    ("a foreign file among the macros", || of(|a, f| a.m.macros(a.unit)?.file(0, f.line.file).map(drop))),
    ("a file that ends and did not begin", || of(|a, _| {
        let file = a.m.primary_file(a.unit)?;
        a.m.macros(a.unit)?.file(0, file)?.end_file()?.end_file().map(drop)
    })),
    ("a file that does not end", || of_end(|a, _| {
        let file = a.m.primary_file(a.unit)?;
        a.m.macros(a.unit)?.file(0, file)?.define(1, "A 1").map(drop)
    })),
    ("a file of a foreign unit", || of(|a, f| a.m.file(f.unit, "a.h", None).map(drop))),
    ("the primary file of a foreign unit", || of(|a, f| a.m.primary_file(f.unit).map(drop))),
    ("a foreign unit", || of(|a, f| a.m.describe_unit(f.unit).map(drop))),
    ("a namespace in a foreign unit", || of(|a, f| a.m.namespace(f.unit, "n").map(drop))),
    ("a procedure of a foreign unit", || of(|a, f| a.m.procedure(f.unit, &Loc::undefined()).map(drop))),
    ("a procedure with a wrong lane", || of(|a, _| a.m.procedure(a.unit, &Loc::lane(v(4), 32)).map(drop))),

    ("a type of a foreign unit", || of(|a, f| a.m.base_type(f.unit, "int", BaseEncoding::Signed, 32).map(drop))),
    ("a pointer to another unit's type", || of(|a, _| a.m.pointer(a.unit, Some(a.other_int)).map(drop))),
    ("a pointer into space 4", || of(|a, _| a.m.pointer_into(a.unit, None, SpaceId(4)).map(drop))),
    ("an array of a foreign type", || of(|a, f| a.m.array(a.unit, f.ty, &[Some(4)]).map(drop))),
    ("a matrix of numbers", || of(|a, _| a.m.matrix(a.unit, a.int, 4, Major::Column).map(drop))),
    ("a matrix of another unit's type", || of(|a, _| a.m.matrix(a.unit, a.other_int, 4, Major::Column).map(drop))),
    ("a matrix whose columns overlap", || of(|a, _| {
        let vector = a.m.vector(a.unit, a.int, 4)?;
        a.m.matrix_of(a.unit, vector, 4, Major::Column, Some(96)).map(drop)
    })),
    ("a vector of another unit's type", || of(|a, _| a.m.vector(a.unit, a.other_int, 4).map(drop))),
    ("another name for a foreign type", || of(|a, f| a.m.typedef(a.unit, "t", Some(f.ty)).map(drop))),
    ("a constant foreign type", || of(|a, f| a.m.qualified(a.unit, Qualifier::Const, Some(f.ty)).map(drop))),
    ("a function of a foreign type", || of(|a, f| a.m.subroutine(a.unit, None, &[a.int, f.ty]).map(drop))),
    ("an enumeration of a foreign type", || of(|a, f| a.m.enumeration(a.unit, None, f.ty, &[]).map(drop))),
    ("a member of another unit's type", || of(|a, _| {
        let point = a.m.structure(a.unit, Some("point"), 8)?;
        a.m.member(point, "x", a.other_int, 0).map(drop)
    })),
    ("a member of no structure", || of(|a, _| a.m.member(a.int, "x", a.int, 0).map(drop))),
    ("a member of a foreign structure", || of(|a, f| a.m.member(f.ty, "x", a.int, 0).map(drop))),
    ("a member beyond the structure", || of(|a, _| {
        let point = a.m.structure(a.unit, Some("point"), 8)?;
        a.m.member(point, "x", a.int, 5).map(drop)
    })),
    ("a member at 2^61 bytes", || of(|a, _| {
        let point = a.m.structure(a.unit, Some("point"), 8)?;
        a.m.member(point, "x", a.int, 1 << 61).map(drop)
    })),
    ("a structure of 2^61 bytes", || of(|a, _| a.m.structure(a.unit, Some("point"), 1 << 61).map(drop))),
    ("a bit field that is larger than its type", || of(|a, _| {
        let flags = a.m.structure(a.unit, Some("flags"), 8)?;
        a.m.bit_field(flags, "mode", a.int, 0, 33).map(drop)
    })),
    ("a bit field beyond the structure", || of(|a, _| {
        let flags = a.m.structure(a.unit, Some("flags"), 4)?;
        a.m.bit_field(flags, "mode", a.int, 28, 5).map(drop)
    })),
    ("a bit field without bits", || of(|a, _| {
        let flags = a.m.structure(a.unit, Some("flags"), 4)?;
        a.m.bit_field(flags, "mode", a.int, 0, 0).map(drop)
    })),
    ("a structure in itself", || of_end(|a, _| {
        let node = a.m.structure(a.unit, Some("node"), 8)?;
        a.m.member(node, "next", node, 0).map(drop)
    })),
    ("a structure in an array of itself", || of_end(|a, _| {
        let node = a.m.structure(a.unit, Some("node"), 8)?;
        let nodes = a.m.array(a.unit, node, &[None])?;
        a.m.member(node, "next", nodes, 0).map(drop)
    })),
    ("a structure in a name for itself", || of_end(|a, _| {
        let node = a.m.structure(a.unit, Some("node"), 8)?;
        let name = a.m.typedef(a.unit, "node_t", Some(node))?;
        a.m.member(node, "next", name, 0).map(drop)
    })),
    ("a structure in a constant of itself", || of_end(|a, _| {
        let node = a.m.structure(a.unit, None, 8)?;
        let constant = a.m.qualified(a.unit, Qualifier::Const, Some(node))?;
        a.m.member(node, "next", constant, 0).map(drop)
    })),
    ("two structures in each other", || of_end(|a, _| {
        let one = a.m.structure(a.unit, Some("one"), 8)?;
        let two = a.m.union(a.unit, Some("two"), 8)?;
        a.m.member(one, "two", two, 0)?;
        a.m.member(two, "one", one, 0).map(drop)
    })),
    ("a member of an incomplete structure", || of(|a, _| {
        let hidden = a.m.incomplete(a.unit, CompositeKind::Struct, "hidden")?;
        a.m.member(hidden, "x", a.int, 0).map(drop)
    })),
    ("a base class beyond the class", || of(|a, _| {
        let base = a.m.structure(a.unit, Some("base"), 8)?;
        let class = a.m.class(a.unit, Some("shape"), 8)?;
        a.m.base(class, base, 4, None).map(drop)
    })),
    ("a base class of another unit", || of(|a, _| {
        let base = a.m.structure(a.other, Some("base"), 8)?;
        let class = a.m.class(a.unit, Some("shape"), 8)?;
        a.m.base(class, base, 0, None).map(drop)
    })),
    ("a class derived from itself", || of_end(|a, _| {
        let class = a.m.class(a.unit, Some("shape"), 8)?;
        a.m.base(class, class, 0, None).map(drop)
    })),
    ("a virtual base class at a variable", || of(|a, _| {
        let class = a.m.class(a.unit, Some("shape"), 8)?;
        let n = a.m.variable(a.unit, "n", a.int)?.id();
        let mut e = Expr::build(Consumer::llvm().encoding(8));
        e.refer(Op::Call4 { entry: 0 }, Slot(0));
        let expr = a.m.expr(e.finish()?, &[Entity::Variable(n)])?;
        let base = a.m.structure(a.unit, Some("base"), 8)?;
        a.m.virtual_base(class, base, expr, None).map(drop)
    })),
    ("a class in a variant of itself", || of_end(|a, _| {
        let class = a.m.class(a.unit, Some("shape"), 8)?;
        let part = a.m.untagged_variant_part(class, a.int)?;
        let variant = a.m.variant(part, &[])?;
        a.m.member(variant, "inner", class, 0).map(drop)
    })),
    ("a second variant for all other values", || of(|a, _| {
        let class = a.m.class(a.unit, Some("shape"), 8)?;
        let part = a.m.untagged_variant_part(class, a.int)?;
        a.m.variant(part, &[])?;
        a.m.variant(part, &[]).map(drop)
    })),
    ("a variant with a value in a part without a discriminant", || of(|a, _| {
        let class = a.m.class(a.unit, Some("shape"), 8)?;
        let part = a.m.undiscriminated_variant_part(class)?;
        a.m.variant(part, &[])?;
        a.m.variant(part, &[])?;
        a.m.variant(part, &[VariantValues::Single(1)]).map(drop)
    })),
    ("a variant for no values", || of(|a, _| {
        let class = a.m.class(a.unit, Some("shape"), 8)?;
        let part = a.m.untagged_variant_part(class, a.int)?;
        a.m.variant(part, &[VariantValues::Range(2, 1)]).map(drop)
    })),
    ("a variant for a value that the discriminant cannot have", || of(|a, _| {
        let class = a.m.class(a.unit, Some("shape"), 8)?;
        let part = a.m.variant_part(class, DataMember::new("", a.int, 0))?;
        a.m.variant(part, &[VariantValues::Single(1 << 31)]).map(drop)
    })),
    ("a discriminant beyond the structure", || of(|a, _| {
        let class = a.m.class(a.unit, Some("shape"), 8)?;
        a.m.variant_part(class, DataMember::new("tag", a.int, 8)).map(drop)
    })),
    ("a variant of a number", || of(|a, _| a.m.untagged_variant_part(a.int, a.int).map(drop))),
    ("an enumerator larger than its type", || of(|a, _| {
        a.m.enumeration(a.unit, Some("e"), a.int, &[("large", 1 << 31)]).map(drop)
    })),
    ("a negative enumerator of a type without a sign", || of(|a, _| {
        let uint = a.m.base_type(a.unit, "uint", BaseEncoding::Unsigned, 32)?;
        a.m.enum_class(a.unit, Some("e"), uint, &[("minus", -1)]).map(drop)
    })),
    ("a reference to nothing", || of(|a, _| {
        a.m.pointer_of(a.unit, PointerKind::Reference, None, SpaceId::DEFAULT, None).map(drop)
    })),
    ("a reference to another unit's type", || of(|a, _| a.m.reference(a.unit, a.other_int).map(drop))),
    ("a pointer to a member of a number", || of(|a, _| a.m.member_pointer(a.unit, a.int, a.int).map(drop))),
    ("use of a pointer to no member", || of(|a, _| a.m.describe_type(a.int)?.use_location(&Loc::undefined()).map(drop))),
    ("the length of a number", || of(|a, _| {
        let n = a.m.variable(a.saxpy, "n", a.int)?.id();
        a.m.describe_type(a.int)?.string_length(AttributeValue::Variable(n)).map(drop)
    })),
    ("a length that is a number", || of(|a, _| {
        let text = a.m.string_type(a.unit, None, None)?;
        a.m.describe_type(text)?.string_length(AttributeValue::Unsigned(80)).map(drop)
    })),
    ("a bound of a number", || of(|a, _| {
        a.m.describe_type(a.int)?.lower_bound(AttributeValue::Unsigned(1)).map(drop)
    })),
    ("a bound that is a text", || of(|a, _| {
        let small = a.m.subrange_type(a.unit, None, Some(a.int), None)?;
        a.m.describe_type(small)?.upper_bound(AttributeValue::Text("9")).map(drop)
    })),
    ("a subrange of 2^33 bits", || of(|a, _| a.m.subrange_type(a.unit, Some("small"), None, Some(1 << 33)).map(drop))),
    ("a set of 2^33 bits", || of(|a, _| a.m.set_type(a.unit, Some("small"), None, Some(1 << 33)).map(drop))),
    ("a computed size of a number", || of(|a, _| {
        a.m.describe_type(a.int)?.size(AttributeValue::Unsigned(4)).map(drop)
    })),
    ("a variant part by a member that is missing", || of(|a, _| {
        let record = a.m.structure(a.unit, Some("record"), 4)?;
        a.m.variant_part_by(record, 0).map(drop)
    })),
    ("a variant part in 65 variants", || of(|a, _| {
        let record = a.m.structure(a.unit, Some("record"), 4)?;
        let mut part = a.m.undiscriminated_variant_part(record)?;
        for _ in 0..65 {
            let variant = a.m.variant(part, &[])?;
            part = a.m.undiscriminated_variant_part(variant)?;
        }
        Ok(())
    })),
    ("a bound that is no member", || of_end(|a, _| {
        let record = a.m.structure(a.unit, Some("record"), 4)?;
        let small = a.m.subrange_type(a.unit, None, Some(a.int), None)?;
        a.m.describe_type(small)?.upper_bound(AttributeValue::Member(record, 0)).map(drop)
    })),
    ("a string of 2^61 bytes", || of(|a, _| a.m.string_type(a.unit, Some("text"), Some(1 << 61)).map(drop))),
    ("an allocation that is a text", || of(|a, _| {
        let array = a.m.array(a.unit, a.int, &[None])?;
        a.m.describe_type(array)?.allocated(AttributeValue::Text("yes")).map(drop)
    })),
    ("a slot of a function outside classes", || of(|a, _| {
        a.m.describe_function(a.saxpy)?.vtable_elem_location(&Loc::undefined()).map(drop)
    })),
    ("an attribute of the standard", || of(|a, _| a.m.attribute(a.unit, gimli::DW_AT_name, AttributeValue::Flag).map(drop))),
    ("an attribute beyond the vendors'", || of(|a, _| a.m.attribute(a.unit, gimli::DwAt(0x4000), AttributeValue::Flag).map(drop))),
    ("an attribute of a property", || of(|a, _| {
        a.m.attribute(a.unit, gimli::DW_AT_APPLE_optimized, AttributeValue::Flag).map(drop)
    })),
    ("an attribute twice", || of(|a, _| {
        a.m.attribute(a.int, VENDOR, AttributeValue::Unsigned(1))?.attribute(a.int, VENDOR, AttributeValue::Unsigned(2)).map(drop)
    })),
    ("an attribute with an empty text", || of(|a, _| a.m.attribute(a.unit, VENDOR, AttributeValue::Text("")).map(drop))),
    ("an attribute with a zero byte", || of(|a, _| a.m.attribute(a.unit, VENDOR, AttributeValue::Text("a\0b")).map(drop))),
    ("an attribute of a foreign type", || of(|a, f| a.m.attribute(f.ty, VENDOR, AttributeValue::Flag).map(drop))),
    ("an attribute with another unit's type", || of(|a, _| {
        a.m.attribute(a.unit, VENDOR, AttributeValue::Type(a.other_int)).map(drop)
    })),
    ("an attribute with a wrong lane", || of(|a, _| {
        a.m.attribute(a.saxpy, VENDOR, AttributeValue::Location(Loc::lane(v(4), 32))).map(drop)
    })),
    ("an attribute of no member", || of_end(|a, _| {
        let class = a.m.class(a.unit, Some("tile"), 8)?;
        a.m.member(class, "x", a.int, 0)?;
        a.m.attribute(AttributeOwner::Member(class, 1), VENDOR, AttributeValue::Flag).map(drop)
    })),
    ("an unspecified type of a foreign unit", || of(|a, f| a.m.unspecified_type(f.unit, "nothing").map(drop))),
    ("an array with the index of a foreign type", || of(|a, f| {
        a.m.array_of(a.unit, a.int, &[Extent::fixed(4).index(f.ty)], None).map(drop)
    })),
    ("an array of as many elements as a foreign variable says", || of(|a, f| {
        a.m.array_of(a.unit, a.int, &[Extent::variable(f.variable)], None).map(drop)
    })),
    ("an array of as many elements as a vector register says", || of(|a, _| {
        a.m.array_of(a.unit, a.int, &[Extent::value(Val::register(v(3)))], None).map(drop)
    })),
    ("an array whose elements are in one bit", || of(|a, _| {
        a.m.array_of(a.unit, a.int, &[Extent::fixed(2)], Some(0)).map(drop)
    })),
    ("an array whose last index is too large", || of(|a, _| {
        a.m.array_of(a.unit, a.int, &[Extent::fixed(4).from(i64::MAX)], None).map(drop)
    })),
    ("a template parameter of a number", || of(|a, _| a.m.template(a.int, Template::ty("T", None)).map(drop))),
    ("a template parameter of another unit's type", || of(|a, _| {
        let class = a.m.class(a.unit, Some("tile"), 8)?;
        a.m.template(class, Template::ty("T", Some(a.other_int))).map(drop)
    })),
    ("a template parameter of too few bytes", || of(|a, _| {
        let class = a.m.class(a.unit, Some("tile"), 8)?;
        a.m.template(class, Template::value("N", a.int, &[1])).map(drop)
    })),
    ("a template parameter of too many bytes", || of(|a, _| {
        let class = a.m.class(a.unit, Some("tile"), 8)?;
        a.m.template(class, Template::value("N", a.int, &[1; 8])).map(drop)
    })),
    ("a pack in a pack", || of(|a, _| {
        let class = a.m.class(a.unit, Some("tile"), 8)?;
        a.m.template(class, Template::pack("P", [Template::pack("Q", [])])).map(drop)
    })),
    ("an alignment of 3 bytes", || of(|a, _| {
        let class = a.m.class(a.unit, Some("tile"), 8)?;
        a.m.describe_type(class)?.alignment(3).map(drop)
    })),
    ("a base type in a namespace", || of(|a, _| {
        let space = a.m.namespace(a.unit, "n")?;
        a.m.describe_type(a.int)?.within(space).map(drop)
    })),
    ("a type in another unit", || of(|a, _| {
        let class = a.m.class(a.unit, Some("tile"), 8)?;
        a.m.describe_type(class)?.within(a.other).map(drop)
    })),
    ("a type in a number", || of(|a, _| {
        let class = a.m.class(a.unit, Some("tile"), 8)?;
        a.m.describe_type(class)?.within(a.int).map(drop)
    })),
    ("a type nested in itself", || of(|a, _| {
        let one = a.m.class(a.unit, Some("one"), 8)?;
        let two = a.m.class(a.unit, Some("two"), 8)?;
        a.m.describe_type(one)?.within(two)?;
        a.m.describe_type(two)?.within(one).map(drop)
    })),
    ("a type in a call that was inlined", || of(|a, _| {
        let class = a.m.class(a.unit, Some("tile"), 8)?;
        let inner = a.m.function(a.unit, "inner")?.id();
        let call = a.line()?;
        let scope = a.m.inlined(a.saxpy, inner, &[0..4], call)?;
        a.m.describe_type(class)?.within(scope).map(drop)
    })),
    ("a type declared in another unit's file", || of_end(|a, _| {
        let class = a.m.class(a.unit, Some("tile"), 8)?;
        let file = a.m.primary_file(a.other)?;
        a.m.describe_type(class)?.declared(SourceLine::new(file, 1));
        Ok(())
    })),
    ("a member declared in another unit's file", || of_end(|a, _| {
        let class = a.m.class(a.unit, Some("tile"), 8)?;
        let file = a.m.primary_file(a.other)?;
        a.m.data_member(class, DataMember::new("x", a.int, 0).declared(SourceLine::new(file, 1))).map(drop)
    })),
    ("a foreign type described", || of(|a, f| a.m.describe_type(f.ty).map(drop))),
    ("a static member with a place", || of_end(|a, _| {
        let class = a.m.class(a.unit, Some("tile"), 8)?;
        a.m.static_member(class, "total", a.int)?.always(Loc::register(s(4))).map(drop)
    })),
    ("the definition of what is no static member", || of(|a, _| {
        let n = a.m.variable(a.unit, "n", a.int)?.id();
        a.m.definition(a.unit, n).map(drop)
    })),
    ("the definition of a static member in a function", || of(|a, _| {
        let class = a.m.class(a.unit, Some("tile"), 8)?;
        let total = a.m.static_member(class, "total", a.int)?.id();
        a.m.definition(a.saxpy, total).map(drop)
    })),
    ("a static member of a number", || of(|a, _| a.m.static_member(a.int, "total", a.int).map(drop))),
    ("a namespace in a class", || of(|a, _| {
        let class = a.m.class(a.unit, Some("tile"), 8)?;
        a.m.namespace(class, "n").map(drop)
    })),
    ("a block in a class", || of(|a, _| {
        let class = a.m.class(a.unit, Some("tile"), 8)?;
        a.m.block(class, &[]).map(drop)
    })),
    ("a base type without end", || of(|a, _| a.m.base_type(a.unit, "huge", BaseEncoding::Unsigned, 1 << 40).map(drop))),

    ("the file of a split unit without a name", || of(|a, _| a.m.describe_unit(a.unit)?.split_name("").map(drop))),
    ("one file for two split units", || of(|a, _| {
        a.m.describe_unit(a.unit)?.split_name("a.dwo")?;
        a.m.describe_unit(a.other)?.split_name("a.dwo").map(drop)
    })),
    ("the definition of a function that is defined", || of(|a, _| a.m.function_definition(a.unit, a.saxpy).map(drop))),
    ("an instance of a function with code", || of_end(|a, _| a.m.function_instance(a.unit, a.saxpy).map(drop))),
    ("a function that is inlined and only declared", || of(|a, _| {
        let inner = a.m.function_declaration(a.unit, "inner")?.id();
        let call = a.line()?;
        a.m.inlined(a.saxpy, inner, &[0..4], call).map(drop)
    })),
    ("code of a declaration", || of_end(|a, _| {
        a.m.function_declaration(a.unit, "f")?.code("f", 4);
        Ok(())
    })),
    ("code past the last address", || of_end(|a, _| {
        a.m.function(a.unit, "f")?.address(Address::Constant(u64::MAX), 4);
        Ok(())
    })),
    ("a variable of a declaration", || of_end(|a, _| {
        let f = a.m.function_declaration(a.unit, "f")?.id();
        a.m.variable(f, "n", a.int).map(drop)
    })),
    ("a place of a parameter of a declaration", || of_end(|a, _| {
        let f = a.m.function_declaration(a.unit, "f")?.id();
        a.m.parameter(f, "n", a.int)?.always(Loc::register(s(4))).map(drop)
    })),
    ("a place of a declaration", || of_end(|a, _| {
        a.m.extern_variable(a.unit, "n", a.int)?.always(Loc::register(s(4))).map(drop)
    })),
    ("a block that is entered elsewhere", || of(|a, _| {
        let block = a.m.block(a.saxpy, &[0..8])?;
        a.m.entry_pc(block, 8)
    })),
    ("a unit that is entered", || of(|a, _| a.m.entry_pc(a.unit, 8))),
    ("a function that is entered behind its end", || of(|a, _| a.m.entry_pc(a.saxpy, 0x180))),
    ("a discriminator of a namespace", || of(|a, _| {
        let namespace = a.m.namespace(a.unit, "n")?;
        a.m.discriminator(namespace, 1)
    })),
    ("an inlined call that begins", || of(|a, _| {
        let inner = a.m.function(a.unit, "inner")?.id();
        let line = a.line()?;
        let inlined = a.m.inlined(a.saxpy, inner, &[0..4], line)?;
        a.m.begins(inlined, line)
    })),
    ("a block that begins in another unit's file", || of(|a, _| {
        let block = a.m.block(a.saxpy, &[0..8])?;
        let file = a.m.primary_file(a.other)?;
        a.m.begins(block, SourceLine::new(file, 1))
    })),
    ("an instance of a block of another function", || of(|a, _| {
        let inner = a.m.function(a.unit, "inner")?.id();
        let line = a.line()?;
        let inlined = a.m.inlined(a.saxpy, inner, &[0..4], line)?;
        let block = a.m.block(a.saxpy, &[0..8])?;
        a.m.inlined_block(inlined, block, &[0..4]).map(drop)
    })),
    ("an instance of an inlined call", || of(|a, _| {
        let inner = a.m.function(a.unit, "inner")?.id();
        let line = a.line()?;
        let inlined = a.m.inlined(a.saxpy, inner, &[0..4], line)?;
        a.m.inlined_block(inlined, inlined, &[0..4]).map(drop)
    })),
    ("an instance of a block, not inlined", || of(|a, _| {
        let block = a.m.block(a.saxpy, &[0..8])?;
        a.m.inlined_block(a.saxpy, block, &[0..4]).map(drop)
    })),
    ("a body in no file", || of_end(|a, _| {
        a.m.function(a.unit, "f")?.body_line(1);
        Ok(())
    })),
    ("how a pointer is passed", || of(|a, _| {
        let pointer = a.m.pointer(a.unit, None)?;
        a.m.describe_type(pointer)?.passed(Passed::ByValue).map(drop)
    })),
    ("an object that is no parameter", || of(|a, _| {
        let n = a.m.variable(a.saxpy, "n", a.int)?.id();
        a.m.describe_function(a.saxpy)?.object_pointer(n).map(drop)
    })),
    ("the base of a frame in a wrong lane", || of(|a, _| {
        a.m.describe_function(a.saxpy)?.frame_base(&Loc::lane(v(4), 32)).map(drop)
    })),
    ("another unit's function imported", || of(|a, _| a.m.import(a.unit, Imported::Function(a.other_function)).map(drop))),
    ("a function's variable imported", || of(|a, _| {
        let n = a.m.variable(a.saxpy, "n", a.int)?.id();
        a.m.import(a.unit, Imported::Variable(n)).map(drop)
    })),
    ("a member of a number imported", || of(|a, _| a.m.import(a.unit, Imported::Member(a.int, 0)).map(drop))),
    ("a missing member imported", || of_end(|a, _| {
        let record = a.m.structure(a.unit, Some("record"), 4)?;
        a.m.import(a.unit, Imported::Member(record, 0)).map(drop)
    })),
    ("a function imported as a namespace", || of(|a, _| {
        let scope = a.m.block(a.saxpy, &[])?;
        a.m.import(a.unit, Imported::Namespace(scope)).map(drop)
    })),
    ("another name for all names of a namespace", || of(|a, _| {
        let space = a.m.namespace(a.unit, "n")?;
        a.m.import(a.unit, Imported::AllOf(space))?.name("m").map(drop)
    })),
    ("a label in a unit", || of(|a, _| a.m.label(a.unit, "l").map(drop))),
    ("a label behind the function", || of(|a, _| a.m.label(a.saxpy, "l")?.at(0x180).map(drop))),
    ("a call in a unit", || of(|a, _| a.m.call(a.unit).map(drop))),
    ("a call without a pc", || of_end(|a, _| a.m.call(a.saxpy).map(drop))),
    ("a call that returns behind the function", || of(|a, _| a.m.call(a.saxpy)?.returns_to(0x184).map(drop))),
    ("a call of another unit's function", || of(|a, _| a.m.call(a.saxpy)?.calls(a.other_function).map(drop))),
    ("a removed argument for a variable", || of(|a, _| {
        let n = a.m.variable(a.saxpy, "n", a.int)?.id();
        let mut call = a.m.call(a.saxpy)?;
        call.returns_to(8)?.calls(a.saxpy)?.removed_argument(n).map(drop)
    })),
    ("an argument for a variable", || of(|a, _| {
        let n = a.m.variable(a.saxpy, "n", a.int)?.id();
        let mut call = a.m.call(a.saxpy)?;
        call.returns_to(8)?.calls(a.saxpy)?.argument(&Loc::register(s(4)))?.parameter(n).map(drop)
    })),
    ("a name with a zero byte", || of(|a, _| a.m.variable(a.saxpy, "n\0m", a.int).map(drop))),
    ("a unit with a zero byte", || of_end(|a, _| { a.m.unit("a\0b"); Ok(()) })),
    ("a producer with a zero byte", || of_end(|a, _| { a.m.describe_unit(a.unit)?.producer("a\0b"); Ok(()) })),
    ("a symbol with a zero byte", || of_end(|a, _| { a.m.function(a.unit, "f")?.code("f\0", 4); Ok(()) })),
    ("a linkage name with a zero byte", || of_end(|a, _| {
        a.m.variable(a.saxpy, "n", a.int)?.linkage_name("n\0");
        Ok(())
    })),
    ("an enumerator larger than its size", || of(|a, _| a.m.sized_enumeration(a.unit, Some("e"), 1, &[("large", 256)]).map(drop))),
    ("an enumeration of 2^61 bytes", || of(|a, _| a.m.sized_enumeration(a.unit, Some("e"), 1 << 61, &[]).map(drop))),
    ("an enumerator with a zero byte", || of(|a, _| a.m.enumeration(a.unit, Some("e"), a.int, &[("o\0n", 1)]).map(drop))),
    ("a member with a zero byte", || of(|a, _| {
        let point = a.m.structure(a.unit, Some("point"), 8)?;
        a.m.member(point, "x\0", a.int, 0).map(drop)
    })),
    ("a label with a zero byte", || of(|a, _| a.m.label(a.saxpy, "l\0").map(drop))),
    ("code at a symbol without a name", || of_end(|a, _| { a.m.function(a.unit, "f")?.code("", 4); Ok(()) })),
    ("the address of a symbol without a name", || of_end(|a, _| { a.m.symbol(""); Ok(()) })),

    ("a stack slot where there is no scratch memory", || on_cpu(Loc::stack_slot(16))),
    ("the stack pointer where there is no scratch memory", || on_cpu(Loc::value(Val::stack_address(16)))),
    ("local memory where there is none", || on_cpu(Loc::local(16))),
    ("the current lane where there are none", || on_cpu(Loc::value(Val::lane_index()))),
    ("each lane of a register where there are none", || on_cpu(Loc::per_lane(Reg(0)))),
    ("a lane of a register where there are none", || on_cpu(Loc::lane(Reg(0), 0))),

    ("the current lane, in plain DWARF 5", || of_lower(|a| a.m.variable(a.saxpy, "n", a.int)?.live(0x10..0x40, Loc::per_lane(v(3))).map(drop))),
    ("the same for a whole function", || of_lower(|a| a.m.variable(a.saxpy, "n", a.int)?.live(0..0x180, Loc::per_lane(v(3))).map(drop))),
    ("the same for a global variable", || of_lower(|a| a.m.variable(a.unit, "n", a.int)?.always(Loc::local(16)).map(drop))),
    ("as many elements as the lane, in plain DWARF 5", || of_lower(|a| {
        a.m.array_of(a.unit, a.int, &[Extent::value(Val::lane_index())], None).map(drop)
    })),
    ("a template parameter in a lane, in plain DWARF 5", || of_lower(|a| {
        let class = a.m.class(a.unit, Some("tile"), 8)?;
        a.m.template(class, Template::value_at("N", a.int, Loc::per_lane(v(3)))).map(drop)
    })),
    ("a pointer to what has no entry", || of_lower(|a| {
        let inner = a.m.function(a.unit, "inner")?.id();
        let n = a.m.variable(inner, "n", a.int)?.id();
        let pointer = a.m.pointer(a.unit, Some(a.int))?;
        a.m.variable(a.saxpy, "p", pointer)?.live(0x10..0x40, Loc::pointer_to(n, 0)).map(drop)
    })),
    ("the frame of a wave, in plain DWARF 5", || of_lower(|a| a.m.frame(a.saxpy)?.entry_function().map(drop))),
    ("what the caller had, in plain DWARF 5", || of_lower(|a| {
        let at = Loc::memory(SpaceId::DEFAULT, Val::entry_value(Reg(16)));
        a.m.frame(a.saxpy)?.undefined(0..0x180, Reg(16))?.cfa(0..0x180, at).map(drop)
    })),
    // DW_OP_fbreg 0.
    ("a frame by the base of the frame", || of_lower(|a| {
        let at = Loc::expr(a.m.expr(Expr::raw([0x91, 0]), &[])?);
        a.m.frame(a.saxpy)?.undefined(0..0x180, Reg(16))?.cfa(0..0x180, at).map(drop)
    })),
    // DW_OP_entry_value of DW_OP_reg0.
    ("a frame by what the caller had, of DWARF 5", || of_lower(|a| {
        let at = Loc::expr(a.m.expr(Expr::raw([0xa3, 1, 0x50]), &[])?);
        a.m.frame(a.saxpy)?.undefined(0..0x180, Reg(16))?.cfa(0..0x180, at).map(drop)
    })),
    ("so many parts, in plain DWARF 5", || of_lower(|a| {
        let char = a.m.base_type(a.unit, "char", BaseEncoding::SignedChar, 8)?;
        let array = a.m.array(a.unit, char, &[Some(60_000)])?;
        a.m.variable(a.saxpy, "a", array)?.live(0x10..0x40, Loc::register(s(4)).extend(8, 60_000)).map(drop)
    })),
    ("a location that needs a module, alone", || {
        let mut a = start();
        let symbol = a.m.symbol("table");
        let stack = Stack { base: None, scaling: Scaling::Lane };
        lower_loc(&Loc::global_symbol(symbol), None, &gpu(), stack, &Consumer::llvm()).map(drop)
    }),
    ("a wrong location, alone", || {
        let stack = Stack { base: None, scaling: Scaling::Lane };
        lower_loc(&Loc::lane(v(4), 99), None, &gpu(), stack, &Consumer::llvm()).map(drop)
    }),
    ("a stack base that is no register, alone", || {
        let stack = Stack { base: Some(Reg(5000)), scaling: Scaling::Lane };
        lower_loc(&Loc::stack_slot(0), None, &gpu(), stack, &Consumer::llvm()).map(drop)
    }),
    ("type units before DWARF 4", || with_type_units(|consumer| consumer.version = 3)),
    ("type units that a table of names would refer to", || {
        with_type_units(|consumer| consumer.tables.names = true)
    }),
    ("type units of split units", || with_type_units(|consumer| consumer.is_split = true)),
    ("an operation without a number", || {
        let mut consumer = Consumer::llvm();
        (consumer.expressions.dialect, consumer.name) = (Dialect::Dwarf6, "my reader");
        let stack = Stack { base: None, scaling: Scaling::Lane };
        lower_loc(&Loc::stack_slot(0), None, &gpu(), stack, &consumer).map(drop)
    }),
];

/// Lowers for a consumer with type units and one more change.
fn with_type_units(change: fn(&mut Consumer)) -> Result<()> {
    let mut consumer = Consumer::dwarf5();
    consumer.has_type_units = true;
    change(&mut consumer);
    lower(&start().m.finish()?, &consumer, Policy::Strict).map(drop)
}

#[test]
fn every_error_names_its_place() {
    let mut text = String::from(
        "# What is done wrong, and the error. See tests/errors.rs; `EITRI_BLESS=1 cargo test --test dwarf errors`\n\
         # rewrites this.\n",
    );
    for (name, make) in CASES {
        let error = make().expect_err(name);
        // In words, without Rust's debug output.
        let is_ours = ["Some(", "None", "Unknown Dw", " { ", "Symbol(", "Type("];
        assert!(!is_ours.iter().any(|pattern| error.to_string().contains(pattern)), "{error}");
        text.push_str(&format!("{name} | {error}\n"));
    }
    check_golden("errors/errors.txt", &text);
}

#[test]
fn pointers_may_go_in_circles() -> Result<()> {
    let mut a = start();
    let node = a.m.structure(a.unit, Some("node"), 8)?;
    let pointer = a.m.pointer(a.unit, Some(node))?;
    a.m.member(node, "next", pointer, 0)?;
    a.m.finish().map(drop)
}

/// A module that plain DWARF 5 can express in part.
fn partly() -> Result<Module> {
    let mut a = start();
    a.m.variable(a.saxpy, "x", a.int)?.live(0x08..0x40, Loc::per_lane(v(3)))?;
    a.m.variable(a.saxpy, "n", a.int)?
        .live(0x00..0x24, Loc::register(s(4)))?
        .live_in(0x24..0x40, &[Loc::local(64), Loc::lane(v(40), 7)])?
        .live(0x40..0x180, Loc::stack_slot(16))?;
    a.m.describe_function(a.saxpy)?.stack_at_zero();
    a.m.variable(a.unit, "table", a.int)?.always(Loc::local(0))?;
    a.m.finish()
}

#[test]
fn omitted_properties_are_listed() -> Result<()> {
    let module = partly()?;
    let lowered = lower(&module, &Consumer::dwarf5(), Policy::Partial)?;
    let lines: Vec<String> = lowered.omissions.iter().map(ToString::to_string).collect();
    let expected = [
        "unit `saxpy.cl`, variable `table`: DWARF 5 cannot express memory in space local",
        "unit `saxpy.cl`, function `saxpy`, variable `x`, pc 0x8..0x40: \
         DWARF 5 cannot express the current lane of a register",
        "unit `saxpy.cl`, function `saxpy`, variable `n`, pc 0x24..0x40: \
         DWARF 5 cannot express memory in space local",
        "unit `saxpy.cl`, function `saxpy`, variable `n`, pc 0x40..0x180: \
         DWARF 5 cannot express memory in space private_lane",
    ];
    assert_eq!(lines, expected);
    for left_out in &lowered.omissions {
        let variable = left_out.variable().expect("a variable's");
        let name = module.variable(variable).name.map(|name| module.string(name));
        assert_eq!(left_out.names.at.variable.as_deref(), name);
        assert_eq!(left_out.names.at.pcs, left_out.pcs);
    }
    // Under the other policy, the first omission is the error; consumers that can express everything have no
    // omissions.
    let error = lower(&module, &Consumer::dwarf5(), Policy::Strict).expect_err("it is inexpressible");
    assert_eq!(Some(error), lowered.omissions[0].error());
    for consumer in [Consumer::llvm(), Consumer::rocgdb(), Consumer::rocgdb_legacy()] {
        assert_eq!(lower(&module, &consumer, Policy::Strict)?.omissions, []);
    }
    Ok(())
}

#[test]
fn an_error_says_where_as_data_too() {
    let mut a = start();
    let mut n = a.m.variable(a.saxpy, "n", a.int).expect("a variable");
    let error: Error = n.live(0x24..0x180, Loc::lane(v(40), 70)).expect_err("no such lane");
    assert_eq!(*error.kind(), ErrorKind::LaneOutOfWave { lane: 70, wave: 32 });
    let at = error.at();
    assert_eq!(
        (at.unit.as_deref(), at.function.as_deref(), at.variable.as_deref(), at.pcs.clone()),
        (Some("saxpy.cl"), Some("saxpy"), Some("n"), Some(0x24..0x180))
    );
}

/// Ids of another module: some are valid in the builder's module, some are not.
struct Ids {
    units: Vec<UnitId>,
    functions: Vec<FunctionId>,
    types: Vec<TypeId>,
    variables: Vec<VariableId>,
    procedures: Vec<ProcedureId>,
    files: Vec<FileId>,
    scopes: Vec<ScopeId>,
    symbols: Vec<Symbol>,
    exprs: Vec<ExprId>,
}

fn ids() -> Ids {
    let module = random::module(&random::fixed_choices(12, 2000), &gpu());
    let mut m = Builder::new(gpu());
    Ids {
        units: module.units().map(|(id, _)| id).take(6).collect(),
        functions: module.functions().map(|(id, _)| id).take(6).collect(),
        types: module.types().map(|(id, _)| id).take(6).collect(),
        variables: module.variables().map(|(id, _)| id).take(6).collect(),
        procedures: module.procedures().map(|(id, _)| id).take(6).collect(),
        files: module.files().map(|(id, _)| id).take(6).collect(),
        scopes: module.scopes().map(|(id, _)| id).take(6).collect(),
        symbols: (0..20).map(|index| m.symbol(&index.to_string())).collect(),
        exprs: (0..9).map(|index| m.expr(Expr::raw([index]), &[]).expect("an expression")).collect(),
    }
}

/// A random location, valid or not.
fn any_loc(c: &mut Choices<'_>, ids: &Ids, depth: u32) -> Loc {
    let reg = |c: &mut Choices<'_>| Reg(c.one(&[4, 36, 40, 1539, 1576, 2000, 2563, 3000, 5000, u64::MAX]));
    let bits = |c: &mut Choices<'_>| c.number() >> c.one(&[0, 3, 10]);
    if depth == 0 {
        return match c.below(9) {
            0 => Loc::register(reg(c)),
            1 => Loc::lane(reg(c), c.number() as u32),
            2 => Loc::per_lane(reg(c)),
            3 => Loc::stack_slot(c.number() as i64),
            4 => Loc::implicit(&vec![7; c.below(20)]),
            5 => Loc::pointer_to(c.one(&ids.variables), c.number() as i64),
            6 => Loc::call(c.one(&ids.procedures)),
            7 => Loc::expr(c.one(&ids.exprs)),
            _ => Loc::undefined(),
        };
    }
    let inner = any_loc(c, ids, depth - 1);
    match c.below(12) {
        0 => Loc::memory(SpaceId(c.below(9) as u32), any_val(c, ids, depth - 1)),
        1 => inner.offset(c.number() as i64),
        2 => inner.bit_offset(c.number() as i64),
        3 => inner.offset_by(any_val(c, ids, depth - 1)),
        4 => inner.bit_offset_by(any_val(c, ids, depth - 1)),
        5 => Loc::parts((0..c.below(4)).map(|_| (inner.clone(), bits(c))).collect::<Vec<_>>()),
        6 => {
            let above = any_loc(c, ids, depth - 1);
            inner.overlay(above, any_val(c, ids, depth - 1), any_val(c, ids, depth - 1))
        }
        7 => Loc::select(any_val(c, ids, depth - 1), inner.clone(), inner, bits(c), bits(c)),
        8 => inner.extend(bits(c), bits(c)),
        9 => Loc::value(any_val(c, ids, depth - 1)),
        _ => any_loc(c, ids, 0),
    }
}

fn any_val(c: &mut Choices<'_>, ids: &Ids, depth: u32) -> Val {
    match c.below(if depth == 0 { 4 } else { 7 }) {
        0 => Val::constant(c.number()),
        1 => Val::register(Reg(c.number())),
        2 => Val::address(c.one(&ids.symbols), c.number() as i64),
        3 => Val::lane_index(),
        4 => any_loc(c, ids, depth - 1).read(c.number() as u32),
        5 => any_val(c, ids, depth - 1).plus(c.number() as i64),
        _ => any_val(c, ids, depth - 1).shl(any_val(c, ids, depth - 1)),
    }
}

/// Random calls of the builder; refused ones are ignored.
#[allow(clippy::too_many_lines, reason = "one line for each call")]
fn throw(c: &mut Choices<'_>, ids: &Ids, m: &mut Builder) -> Result<()> {
    let pcs = |c: &mut Choices<'_>| {
        let start = c.number() % 0x60 / 4 * 4;
        let end = c.number() % 0x60 / 4 * 4;
        if c.below(9) == 0 { c.number()..c.number() } else { start..end }
    };
    let unit = c.one(&ids.units);
    let function = c.one(&ids.functions);
    let ty = c.one(&ids.types);
    let scope = c.one(&ids.scopes);
    let variable = c.one(&ids.variables);
    let file = c.one(&ids.files);
    let name = c.one(&["a", "b", "", "ä", "a\nb"]);
    let line = SourceLine::new(file, c.number() as u32).column(c.number() as u32);
    match c.below(24) {
        0 => drop(m.unit(name)),
        1 => drop(m.base_type(unit, name, BaseEncoding::Utf, c.number())?),
        2 => drop(m.pointer_into(unit, Some(ty), SpaceId(c.below(9) as u32))?),
        3 => drop(m.array(unit, ty, &[Some(c.number()), None, Some(c.number())])?),
        4 => {
            let vector = m.vector(unit, ty, c.number())?;
            let stride = Some(c.number()).filter(|_| c.below(2) == 0);
            m.matrix_of(
                unit,
                c.one(&[vector, ty]),
                c.number(),
                if c.below(2) == 0 { Major::Column } else { Major::Row },
                stride,
            )?;
        }
        5 => drop(m.structure(unit, Some(name), c.number())?),
        6 => drop(m.member(ty, name, c.one(&ids.types), c.number())?),
        7 => drop(m.bit_field(ty, name, c.one(&ids.types), c.number(), c.number())?),
        8 => drop(m.enumeration(unit, None, ty, &[(name, i128::MIN)])?),
        9 => drop(m.subroutine(unit, Some(ty), &[ty, ty])?),
        10 => match c.below(8) {
            0 => drop(m.namespace(scope, name)?),
            1 => drop(
                m.describe_type(ty)?
                    .alignment(c.number())?
                    .declared(SourceLine::new(file, 3))
                    .within(scope)?,
            ),
            2 => drop(m.base(ty, c.one(&ids.types), c.number(), None)?),
            3 => {
                let part = m.variant_part(ty, DataMember::new(name, c.one(&ids.types), c.number()))?;
                let first = i128::from(c.number() as i64);
                let variant = m.variant(part, &[VariantValues::Range(first, i128::from(c.number()))])?;
                m.member(variant, name, ty, c.number())?;
            }
            4 => drop(m.template(ty, Template::value_at(name, c.one(&ids.types), any_loc(c, ids, 3)))?),
            5 => {
                let extents =
                    [Extent::variable(variable).from(c.number() as i64), Extent::fixed(c.number()).from(1)];
                m.array_of(unit, ty, &extents, Some(c.number()))?;
            }
            6 => {
                m.definition(scope, variable)?;
            }
            _ => drop(m.static_member(ty, name, c.one(&ids.types))?.always(any_loc(c, ids, 3))?),
        },
        11..14 => {
            let mut function = m.function(scope, name)?;
            function.returns(ty)?;
            if c.below(9) == 0 {
                function.declared(SourceLine::new(file, 3));
            }
            if c.maybe() {
                function.code(name, c.number() % 0x80);
            } else {
                function.address(Address::Constant(c.number()), c.number());
            }
            function.kernel().stack_base(Reg(c.number() % 100))?;
        }
        14 => drop(m.block(scope, &[pcs(c), pcs(c)])?),
        15 => drop(m.inlined(scope, function, &[pcs(c)], line)?),
        16 => drop(m.inlined_variable(scope, variable)?.live(pcs(c), any_loc(c, ids, 3))?),
        17 => m.row(function, {
            let mut row = LineTableRow::new(0, file, c.number() as u32);
            row.pc = c.number() % 0x60;
            row
        })?,
        18 => drop(m.procedure(unit, &any_loc(c, ids, 3))?),
        19 => drop(m.constant(scope, name, ty, &vec![1; c.below(9)])?),
        20 => drop(m.parameter(function, name, ty)?.live(pcs(c), any_loc(c, ids, 3))?),
        21 => drop(m.variable(scope, name, ty)?.always(any_loc(c, ids, 3))?),
        _ => {
            let mut variable = m.variable(function, name, ty)?;
            for _ in 0..c.below(4) {
                variable.live(pcs(c), any_loc(c, ids, 3))?;
            }
            if c.below(9) == 0 {
                variable.declared(SourceLine::new(file, 4));
            }
        }
    }
    Ok(())
}

#[test]
fn callers_can_react_to_kinds() {
    let unknown = |name: &str, kind, near: &[&str]| ErrorKind::UnknownName {
        kind,
        name: name.into(),
        nearest: near.iter().map(|&near| near.into()).collect(),
    };
    let error = Consumer::named("rocgbd").unwrap_err();
    assert_eq!(*error.kind(), unknown("rocgbd", Named::Consumer, &["rocgdb"]));
    assert_eq!(error.to_string(), "no consumer has the name `rocgbd`; did you mean `rocgdb`?");

    let encoding = Encoding::new(8, Dialect::Llvm);
    let kind = |text| text::parse(text, encoding, None).unwrap_err().kind().clone();
    assert_eq!(kind("stack_vlaue"), unknown("stack_vlaue", Named::Operation, &["stack_value"]));
    assert!(matches!(kind("plus 1"), ErrorKind::Syntax(_)));

    let mut consumer = Consumer::llvm();
    consumer.version = 6;
    let module = Builder::new(gpu()).finish().expect("is whole");
    let error = lower(&module, &consumer, Policy::Strict).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::InvalidConsumer(Conflict::Version(6)));

    let sections = [Section {
        name: ".debug_line",
        bytes: vec![0],
        relocations: Vec::new(),
        is_strings: false,
        group: None,
    }];
    let object = new_object(&gpu(), &ObjectCode::default(), &sections).expect("an object");
    let error = attach(&object, &gpu(), &sections).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::AlreadyPresent(Present::Section(".debug_line".into())));
    let error = attach(&object, &Target::x86_64(), &[]).unwrap_err();
    // EM_AMDGPU and EM_X86_64 of the registry of ELF machines.
    let expected = Identity::Machine(62);
    let actual = Identity::Machine(224);
    assert_eq!(*error.kind(), ErrorKind::WrongTarget { target: "x86_64".into(), expected, actual });
}

/// Each kind that a compiler can react to has its facts as data: limits, lacks of targets, ranges, texts.
#[test]
fn limits_and_lacks_are_data() {
    let limit = |quantity, accepted: RangeInclusive<u128>, value: u128| {
        ErrorKind::Limit(Box::new(Limit { quantity, accepted, value }))
    };
    let kind = |result: eitri::Result<()>| result.expect_err("it is refused").kind().clone();
    let of = |loc: Loc| kind(of(move |a, _| a.m.variable(a.saxpy, "n", a.int)?.live(0..8, loc).map(drop)));
    let s4 = Loc::register(s(4));

    let deep = (1..200).fold(s4.clone(), |loc, _| Loc::parts([(loc, 32)]));
    let ErrorKind::Limit(levels) = of(deep) else { panic!("it has a limit") };
    assert_eq!(
        (levels.quantity, levels.accepted, levels.value > 128),
        (Quantity::LocationLevels, 0..=128, true)
    );
    let far = Loc::memory(SpaceId::GENERIC, Val::constant(0)).offset(1 << 60);
    assert_eq!(of(far), limit(Quantity::Offset, 0..=(1 << 63) - 1, 1 << 63));
    let many = Loc::extend(s4.clone(), 32, 65537);
    assert_eq!(of(many), limit(Quantity::VectorElements, 0..=65536, 65537));
    assert_eq!(of(Loc::parts([(s4, 0)])), limit(Quantity::PartBits, 1..=u128::MAX, 0));

    let mut m = Builder::new(Target::x86_64());
    let unit = m.unit("a.c");
    let bits = (1 << 32) + 1;
    let error = m.base_type(unit, "huge", BaseEncoding::Unsigned, bits).unwrap_err();
    assert_eq!(*error.kind(), limit(Quantity::BaseTypeBits("huge".into()), 0..=1 << 32, bits.into()));
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).expect("a type");
    let function = m.function(unit, "f").expect("a unit").code("f", 0x20).id();
    let lacks = |feature, needed_by: &str| ErrorKind::TargetLacks {
        feature,
        needed_by: needed_by.into(),
        target: "x86_64".into(),
    };
    let error = m.lanes(function).map(drop).unwrap_err();
    assert_eq!(*error.kind(), lacks(Feature::Lanes, "the pc of a lane"));
    let error = m.frame(function).and_then(|mut it| it.entry_function().map(drop)).unwrap_err();
    assert_eq!(*error.kind(), lacks(Feature::WaveScratch, "the frame of an entry function"));
    let zero = kind(m.variable(function, "n\0m", int).map(drop));
    assert_eq!(zero, ErrorKind::ZeroByte { text: "the name `n\\0m`".into() });

    let scope = m.block(function, &[0..8]).expect("a range");
    let code = vec![0..8];
    let error = m.block(scope, &[4..12]).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::OutsideScope { kind: Enclosed::Scope, code: code.clone() });
    let error = m.entry_pc(scope, 8).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::OutsideScope { kind: Enclosed::EntryPc, code });
}

#[test]
fn the_message_of_an_error_includes_its_cause() {
    use std::error::Error as _;
    let error = write_file("/nowhere/at/all.o", &[]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Io { kind: std::io::ErrorKind::NotFound, .. }), "{error:?}");
    let cause = std::io::Error::from_raw_os_error(2).to_string();
    assert_eq!(error.to_string(), format!("/nowhere/at/all.o: {cause}"));
    assert!(error.source().is_none());
}

/// A program whose `main` returns the error prints `Debug`.
#[test]
fn debug_of_an_error_is_its_kind_and_message() {
    let error = builder_error().unwrap_err();
    assert_eq!(format!("{error:?}"), format!("UnknownRegister: {error}"));

    fn builder_error() -> eitri::Result<()> {
        gpu().register_named("v300").map(drop)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Random calls are accepted or refused; what is accepted is lowered, or refused with a documented error.
    #[test]
    fn wrong_calls_never_panic(choices in random::choices(1200)) {
        let ids = ids();
        let mut c = Choices::new(&choices);
        let mut m = Builder::new(gpu());
        for index in 0..3 {
            let unit = m.unit(&index.to_string());
            m.base_type(unit, "int", BaseEncoding::Signed, 32).expect("a type");
            m.function(unit, "f").expect("a function").code("f", 0x40);
        }
        while c.0.len() > 0 {
            let _ = throw(&mut c, &ids, &mut m);
        }
        let Ok(module) = m.finish() else { return Ok(()) };
        for consumer in consumers::combinations() {
            for policy in [Policy::Partial, Policy::Strict] {
                match lower(&module, &consumer, policy) {
                    Ok(_) => {}
                    Err(error) => prop_assert!(
                        matches!(error.kind(), ErrorKind::Inexpressible { .. } if policy == Policy::Strict),
                        "{error}"
                    ),
                }
            }
        }
    }

    /// A random location by itself is accepted or refused.
    #[test]
    fn random_locations_never_panic(choices in random::choices(60), base: Option<u16>, bits: Option<u64>) {
        let loc = any_loc(&mut Choices::new(&choices), &ids(), 4);
        let stack = Stack { base: base.map(|base| Reg(base.into())), scaling: Scaling::Wave };
        for consumer in consumers::consumers() {
            let _ = lower_loc(&loc, bits, &gpu(), stack, &consumer);
        }
    }
}
