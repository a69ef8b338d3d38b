//! A module with entities of every kind, for a GPU and a CPU, and its description as tables for comparison with the
//! output of other programs.

use std::ops::Range;

use eitri::build::{Builder, Major};
use eitri::emit::elf::{
    CodeContents, CodeSection, CodeSymbol, CodeSymbolKind, ObjectCode, SymbolBinding,
    SymbolLocation as ElfPlace, Visibility, new_object,
};
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{
    BaseEncoding, FileId, FunctionId, LineTableRow, Loc, Module, Qualifier, ScopeId, SourceLine, TypeId,
    UnitId, Val, VariableId,
};
use eitri::op::Reg;
use eitri::target::{Gfx, SpaceId, Target, Wave};

/// Target of the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Machine {
    Gpu,
    Cpu,
}

pub const MACHINES: [Machine; 2] = [Machine::Gpu, Machine::Cpu];

impl Machine {
    pub fn target(self) -> Target {
        match self {
            Self::Gpu => Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("a target"),
            Self::Cpu => Target::x86_64(),
        }
    }

    /// Code of no operations.
    pub fn nops(self, bytes: u64) -> Vec<u8> {
        match self {
            Self::Gpu => [0x00, 0x00, 0x80, 0xbf].repeat(bytes as usize / 4),
            Self::Cpu => vec![0x90; bytes as usize],
        }
    }
}

/// The functions with code: name, offset in `.text`, bytes. The last is in another unit.
pub const FUNCTIONS: [(&str, u64, u64); 3] =
    [("work", 0x00, 0x40), ("both", 0x40, 0x20), ("other", 0x60, 0x20)];

/// Lines of `work`: pc, file, line, column, discriminator, flags in LLVM's notation.
pub const WORK_ROWS: &[(u64, usize, u32, u32, u32, &str)] = &[
    (0x00, 0, 10, 0, 0, "is_stmt"),
    (0x04, 0, 11, 12, 0, "is_stmt prologue_end"),
    (0x08, 1, 4, 20, 0, "is_stmt"),
    (0x0c, 1, 4, 31, 3, ""),
    (0x10, 0, 0, 0, 0, ""),
    (0x14, 2, 100_000, 300, 200, "is_stmt"),
    (0x20, 3, 1, 1, 0, "is_stmt"),
    (0x24, 0, 12, 1, 0, "is_stmt"),
    (0x24, 0, 13, 1, 0, "is_stmt"),
    (0x38, 0, 14, 1, 0, "is_stmt epilogue_begin"),
];
pub const BOTH_ROWS: &[(u64, usize, u32, u32, u32, &str)] =
    &[(0x00, 1, 3, 1, 0, "is_stmt"), (0x1c, 1, 5, 1, 0, "is_stmt")];
pub const OTHER_ROWS: &[(u64, usize, u32, u32, u32, &str)] =
    &[(0x00, 0, 2, 3, 0, "is_stmt prologue_end"), (0x08, 0, 1, 0, 0, "")];

/// Files of the first unit: directory and name.
pub const FILES: [(Option<&str>, &str); 4] =
    [(None, "work.cl"), (None, "both.h"), (Some("include"), "deep.h"), (Some("/usr/include"), "deep.h")];

/// MD5 sum of file `index`.
pub fn md5(index: usize) -> [u8; 16] {
    std::array::from_fn(|byte| (16 * index + byte) as u8)
}

/// A variable of `work`.
pub struct Described {
    pub name: &'static str,
    pub ty: &'static str,
    pub places: Vec<Place>,
}

/// Location of a variable in a range of pcs.
pub struct Place {
    pub pcs: Range<u64>,
    pub loc: Loc,
    /// Text of LLVM's reader for plain DWARF 5; `None` if that cannot express the location.
    pub plain: Option<&'static str>,
    pub known: Known,
}

/// Dialects that can express a location such that LLVM 19 decodes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// Plain DWARF 5 and LLVM's dialect.
    Both,
    /// Plain DWARF 5; LLVM's dialect uses vendor operations that LLVM 19 does not know.
    Plain,
    /// No result: LLVM 19 does not know `DW_OP_implicit_pointer` of DWARF 5.
    None,
}

fn standard(pcs: Range<u64>, loc: Loc, plain: &'static str) -> Place {
    Place { pcs, loc, plain: Some(plain), known: Known::Both }
}

/// A location that plain DWARF 5 expresses differently from LLVM's dialect.
fn vendors(pcs: Range<u64>, loc: Loc, plain: &'static str) -> Place {
    Place { pcs, loc, plain: Some(plain), known: Known::Plain }
}

fn vendors_only(pcs: Range<u64>, loc: Loc) -> Place {
    Place { pcs, loc, plain: None, known: Known::Plain }
}

fn unread(pcs: Range<u64>, loc: Loc, plain: &'static str) -> Place {
    Place { pcs, loc, plain: Some(plain), known: Known::None }
}

fn variable(name: &'static str, ty: &'static str, places: Vec<Place>) -> Described {
    Described { name, ty, places }
}

/// Ids of entities described before the variables of `work`, for references in locations.
#[derive(Debug, Clone, Copy)]
struct Others {
    table: eitri::model::Symbol,
    constant: VariableId,
}

/// Variables of `work`, whose locations depend on the machine.
fn variables(machine: Machine, others: Option<Others>) -> Vec<Described> {
    let others = others.unwrap_or_else(|| {
        let mut m = Builder::new(machine.target());
        let table = m.symbol("table");
        let unit = m.unit("");
        let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).unwrap();
        Others { table, constant: m.constant(unit, "", int, &[0; 4]).unwrap() }
    });
    match machine {
        Machine::Gpu => gpu_variables(others),
        Machine::Cpu => cpu_variables(others),
    }
}

/// The variables of `work`, for comparison with printed ones.
pub fn described(machine: Machine) -> Vec<Described> {
    variables(machine, None)
}

#[rustfmt::skip] // A table.
fn gpu_variables(others: Others) -> Vec<Described> {
    let gpu = Machine::Gpu.target();
    let s = |n| gpu.sgpr(n).unwrap();
    let v = |n| gpu.vgpr(n).unwrap();
    vec![
        variable("moved", "int", vec![
            standard(0x00..0x10, Loc::register(s(4)), "DW_OP_regx SGPR4"),
            vendors(0x10..0x20, Loc::lane(v(40), 7), "DW_OP_regx 0x628, DW_OP_bit_piece 0x20 0xe0"),
            standard(0x10..0x20, Loc::register(s(5)), "DW_OP_regx SGPR5"),
            standard(0x30..0x40, Loc::lane(v(40), 0), "DW_OP_regx 0x628"),
        ]),
        variable("pair", "long", vec![standard(
            0x04..0x3c, Loc::over([s(6), s(7)]),
            "DW_OP_regx SGPR6, DW_OP_piece 0x4, DW_OP_regx SGPR7, DW_OP_piece 0x4",
        )]),
        variable("everywhere", "int", vec![standard(0x00..0x40, Loc::register(s(70)), "DW_OP_regx SGPR70")]),
        variable("bytes", "int", vec![standard(
            0x08..0x30, Loc::implicit(&[1, 2, 3, 4]), "DW_OP_implicit_value 0x4 0x01 0x02 0x03 0x04",
        )]),
        variable("half", "long", vec![standard(
            0x08..0x30, Loc::parts([(Loc::register(s(8)), 32), (Loc::undefined(), 32)]),
            "DW_OP_regx SGPR8, DW_OP_piece 0x4, DW_OP_piece 0x4",
        )]),
        variable("fields", "flags", vec![standard(
            0x08..0x30, Loc::parts([(Loc::register(s(9)).bit_offset(3), 5), (Loc::register(s(10)), 27)]),
            "DW_OP_regx SGPR9, DW_OP_bit_piece 0x5 0x3, DW_OP_regx SGPR10, DW_OP_bit_piece 0x1b 0x0",
        )]),
        variable("fixed", "int", vec![standard(
            0x08..0x30, Loc::memory(SpaceId::DEFAULT, Val::address(others.table, 8)), "DW_OP_addrx table+0x8",
        )]),
        variable("to_seven", "int_pointer", vec![unread(
            0x08..0x30, Loc::pointer_to(others.constant, 4), "<decoding error>",
        )]),
        variable("argument", "int", vec![standard(
            0x00..0x08, Loc::kernel_argument(s(6), s(7), 16),
            "DW_OP_regval_type SGPR6 \"unsigned_32\", DW_OP_convert 0x0, \
             DW_OP_regval_type SGPR7 \"unsigned_32\", DW_OP_convert 0x0, \
             DW_OP_constu 0x20, DW_OP_shl, DW_OP_or, DW_OP_plus_uconst 0x10",
        )]),
        variable("lanes", "float", vec![vendors_only(0x08..0x40, Loc::per_lane(v(3)))]),
        variable("spilled", "float", vec![
            vendors_only(0x08..0x20, Loc::stack_slot(16)),
            standard(0x20..0x30, Loc::register(s(11)), "DW_OP_regx SGPR11"),
        ]),
        variable("shared", "int", vec![vendors_only(0x00..0x40, Loc::local(64))]),
    ]
}

#[rustfmt::skip] // A table.
fn cpu_variables(others: Others) -> Vec<Described> {
    let cpu = Machine::Cpu.target();
    let r = |name| cpu.register_named(name).unwrap();
    let at = |base: Reg, by| Loc::memory(SpaceId::DEFAULT, Val::register(base).plus(by));
    vec![
        variable("moved", "int", vec![
            standard(0x00..0x10, Loc::register(r("rdi")), "DW_OP_reg5 RDI"),
            standard(0x10..0x20, Loc::register(r("rsi")), "DW_OP_reg4 RSI"),
            standard(0x10..0x20, at(r("rbp"), -16), "DW_OP_breg6 RBP-16"),
            standard(0x30..0x40, Loc::register(r("xmm15")), "DW_OP_regx XMM15"),
        ]),
        variable("pair", "long", vec![standard(
            0x04..0x3c, Loc::over([r("rcx"), r("rdx")]),
            "DW_OP_reg2 RCX, DW_OP_piece 0x4, DW_OP_reg1 RDX, DW_OP_piece 0x4",
        )]),
        variable("everywhere", "int", vec![standard(0x00..0x40, Loc::register(r("r12")), "DW_OP_reg12 R12")]),
        variable("bytes", "int", vec![standard(
            0x08..0x30, Loc::implicit(&[1, 2, 3, 4]), "DW_OP_implicit_value 0x4 0x01 0x02 0x03 0x04",
        )]),
        variable("half", "long", vec![standard(
            0x08..0x30, Loc::parts([(Loc::register(r("rax")), 32), (Loc::undefined(), 32)]),
            "DW_OP_reg0 RAX, DW_OP_piece 0x4, DW_OP_piece 0x4",
        )]),
        variable("fields", "flags", vec![standard(
            0x08..0x30, Loc::parts([(Loc::register(r("rax")).bit_offset(3), 5), (Loc::register(r("rbx")), 27)]),
            "DW_OP_reg0 RAX, DW_OP_bit_piece 0x5 0x3, DW_OP_reg3 RBX, DW_OP_bit_piece 0x1b 0x0",
        )]),
        variable("fixed", "int", vec![standard(
            0x08..0x30, Loc::memory(SpaceId::DEFAULT, Val::address(others.table, 8)), "DW_OP_addrx table+0x8",
        )]),
        variable("to_seven", "int_pointer", vec![unread(
            0x08..0x30, Loc::pointer_to(others.constant, 4), "<decoding error>",
        )]),
        variable("sum", "int", vec![standard(
            0x00..0x40, Loc::value(Val::register(r("r8")).add(Val::register(r("r9")).mul(Val::constant(3))).plus(-5)),
            "DW_OP_breg8 R8+0, DW_OP_breg9 R9+0, DW_OP_lit3, DW_OP_mul, DW_OP_plus, \
             DW_OP_lit5, DW_OP_minus, DW_OP_stack_value",
        )]),
        variable("element", "int", vec![standard(
            0x00..0x20, Loc::memory(SpaceId::DEFAULT, at(r("rsp"), 24).read(64).plus(400)),
            "DW_OP_breg7 RSP+24, DW_OP_deref, DW_OP_plus_uconst 0x190",
        )]),
    ]
}

/// Options of the module.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    pub machine: Machine,
    /// Prefix of function and symbol names, so that two modules can be linked together.
    pub prefix: &'static str,
    /// Compilation directory.
    pub directory: &'static str,
    /// Selects the described locations.
    pub places: fn(&Place) -> bool,
}

impl Options {
    pub fn new(machine: Machine) -> Self {
        Self { machine, prefix: "", directory: "/src", places: |_| true }
    }
}

/// Describes the module.
pub fn module(options: Options) -> eitri::Result<Module> {
    let mut m = Builder::new(options.machine.target());
    let table = m.symbol(&format!("{}table", options.prefix));
    let unit = m.unit(FILES[0].1);
    m.describe_unit(unit)?.directory(options.directory).producer("eitri").language(gimli::DW_LANG_OpenCL.0);
    let mut files = vec![m.primary_file(unit)?];
    for (directory, name) in &FILES[1..] {
        files.push(m.file(unit, name, *directory)?);
    }
    for (index, &file) in files.iter().enumerate() {
        m.file_md5(file, md5(index))?;
    }
    let types = types(&mut m, unit, options.machine)?;

    let space = m.namespace(unit, "space")?;
    let inner = m.namespace(space, "inner")?;
    m.variable(inner, "table", types.get("ints"))?
        .declared(SourceLine::new(files[1], 7))
        .external()
        .always(Loc::global_symbol(table))?;
    let constant = m.constant(space, "seven", types.get("int"), &7u32.to_le_bytes())?;

    let square = square(&mut m, inner, files[1], &types)?;
    let both = both(&mut m, unit, files[1], options.prefix, &types)?;
    let name = format!("{}work", options.prefix);
    let work = m
        .function(unit, &name)?
        .code(&name, FUNCTIONS[0].2)
        .linkage_name("_Z4workif")
        .returns(types.get("int"))?
        .declared(SourceLine::new(files[0], 10))
        .kernel()
        .id();
    m.parameter(work, "first", types.get("int"))?.declared(SourceLine::new(files[0], 10));
    m.parameter(work, "second", types.get("float"))?.declared(SourceLine::new(files[0], 10));
    m.variable(work, "made_up", types.get("_Bool"))?.artificial();
    for described in variables(options.machine, Some(Others { table, constant })) {
        let mut variable = m.variable(work, described.name, types.get(described.ty))?;
        variable.declared(SourceLine::new(files[0], 11));
        let places = described.places.into_iter().filter(options.places);
        let mut places = places.peekable();
        while let Some(Place { pcs, loc, .. }) = places.next() {
            let mut at_once = vec![loc];
            while let Some(more) = places.next_if(|more| more.pcs == pcs) {
                at_once.push(more.loc);
            }
            variable.live_in(pcs, &at_once)?;
        }
    }
    blocks(&mut m, work, square, both, &files, &types)?;
    rows(&mut m, work, &files, WORK_ROWS)?;
    rows(&mut m, both.0, &files, BOTH_ROWS)?;
    other_unit(&mut m, options)?;
    m.finish()
}

/// Types of the first unit, by name.
struct Types(Vec<(&'static str, TypeId)>);

impl Types {
    fn get(&self, name: &str) -> TypeId {
        self.0.iter().find(|(known, _)| *known == name).expect("a type of this name").1
    }
}

/// Describes every kind of type.
fn types(m: &mut Builder, unit: UnitId, machine: Machine) -> eitri::Result<Types> {
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    let long = m.base_type(unit, "long", BaseEncoding::Signed, 64)?;
    let float = m.base_type(unit, "float", BaseEncoding::Float, 32)?;
    let bool_ = m.base_type(unit, "_Bool", BaseEncoding::Boolean, 8)?;
    for (name, encoding, bits) in [
        ("char", BaseEncoding::SignedChar, 8),
        ("uchar", BaseEncoding::UnsignedChar, 8),
        ("char32_t", BaseEncoding::Utf, 32),
        ("uint", BaseEncoding::Unsigned, 32),
        ("address", BaseEncoding::Address, 64),
        ("uint3", BaseEncoding::Unsigned, 3),
    ] {
        m.base_type(unit, name, encoding, bits)?;
    }
    let int_pointer = m.pointer(unit, Some(int))?;
    m.pointer(unit, None)?;
    if machine == Machine::Gpu {
        m.pointer_into(unit, Some(float), SpaceId::LOCAL)?;
    }
    let ints = m.array(unit, int, &[Some(16)])?;
    m.array(unit, float, &[None, Some(3), Some(4)])?;
    let float4 = m.vector(unit, float, 4)?;
    m.matrix(unit, float4, 3, Major::Column)?;
    m.vector(unit, float, 3)?;

    let flags = m.structure(unit, Some("flags"), 4)?;
    m.bit_field(flags, "low", int, 0, 3)?
        .bit_field(flags, "mode", int, 3, 5)?
        .bit_field(flags, "rest", int, 8, 24)?;
    let node = m.structure(unit, Some("node"), 16)?;
    let node_pointer = m.pointer(unit, Some(node))?;
    m.member(node, "value", int, 0)?.member(node, "next", node_pointer, 8)?;
    let number = m.union(unit, Some("number"), 4)?;
    m.member(number, "i", int, 0)?.member(number, "f", float, 0)?.member(number, "bits", flags, 0)?;
    let nameless = m.structure(unit, None, 8)?;
    m.member(nameless, "", number, 0)?.member(nameless, "tag", int, 4)?;
    m.structure(unit, Some("empty"), 0)?;
    m.enumeration(unit, Some("color"), int, &[("red", 0), ("green", -1), ("blue", 1 << 20)])?;
    m.enumeration(unit, None, int, &[])?;

    let count = m.typedef(unit, "count", Some(int))?;
    m.typedef(unit, "nothing", None)?;
    for qualifier in [Qualifier::Volatile, Qualifier::Atomic, Qualifier::Restrict] {
        let of = if qualifier == Qualifier::Restrict { int_pointer } else { count };
        m.qualified(unit, qualifier, Some(of))?;
    }
    let const_void = m.qualified(unit, Qualifier::Const, None)?;
    m.pointer(unit, Some(const_void))?;
    let callback = m.subroutine(unit, Some(int), &[int_pointer, float])?;
    m.pointer(unit, Some(callback))?;
    m.subroutine(unit, None, &[])?;
    Ok(Types(vec![
        ("int", int),
        ("long", long),
        ("float", float),
        ("_Bool", bool_),
        ("int_pointer", int_pointer),
        ("ints", ints),
        ("flags", flags),
    ]))
}

/// An inlined function without code, its parameter, and its variable in a block.
type Inlined = (FunctionId, VariableId, VariableId);

fn square(m: &mut Builder, scope: ScopeId, file: FileId, types: &Types) -> eitri::Result<Inlined> {
    let square =
        m.function(scope, "square")?.declared(SourceLine::new(file, 3)).returns(types.get("int"))?.id();
    let parameter = m.parameter(square, "of", types.get("int"))?.declared(SourceLine::new(file, 3)).id();
    let block = m.block(square, &[])?;
    let result = m.variable(block, "result", types.get("int"))?.declared(SourceLine::new(file, 4)).id();
    Ok((square, parameter, result))
}

/// Describes a function that is inlined and also has code.
fn both(
    m: &mut Builder,
    unit: UnitId,
    file: FileId,
    prefix: &str,
    types: &Types,
) -> eitri::Result<(FunctionId, VariableId)> {
    let name = format!("{prefix}both");
    let both = m
        .function(unit, &name)?
        .code(&name, FUNCTIONS[1].2)
        .declared(SourceLine::new(file, 8))
        .external()
        .id();
    let scalar = scalar(m.target());
    let mut parameter = m.parameter(both, "p", types.get("int"))?;
    parameter.declared(SourceLine::new(file, 8)).live(0x00..0x10, Loc::register(scalar))?;
    let parameter = parameter.id();
    Ok((both, parameter))
}

/// A scalar register, on any machine.
fn scalar(target: &Target) -> Reg {
    target.sgpr(20).or_else(|_| target.register_named("r13")).expect("a register")
}

/// Nested blocks, and inlined calls.
fn blocks(
    m: &mut Builder,
    work: FunctionId,
    (square, of, result): Inlined,
    (both, p): (FunctionId, VariableId),
    files: &[FileId],
    types: &Types,
) -> eitri::Result<()> {
    let reg = scalar(m.target());
    let outer = m.block(work, &[0x00..0x30])?;
    let inner = m.block(outer, &[0x08..0x10, 0x14..0x20])?;
    m.variable(inner, "nested", types.get("int"))?
        .declared(SourceLine::new(files[0], 12))
        .live(0x08..0x0c, Loc::register(reg))?;
    let call = SourceLine::new(files[0], 12).column(9);
    let call = m.inlined(inner, square, &[0x08..0x10], call)?;
    m.inlined_variable(call, of)?.live(0x08..0x10, Loc::register(reg))?;
    let body = m.block(call, &[0x0c..0x10])?;
    m.inlined_variable(body, result)?.live(0x0c..0x10, Loc::register(reg))?;
    let call = SourceLine::new(files[2], 99);
    let call = m.inlined(work, both, &[0x30..0x34, 0x38..0x3c], call)?;
    m.inlined_variable(call, p)?.live(0x30..0x34, Loc::register(reg))?;
    Ok(())
}

fn rows(
    m: &mut Builder,
    function: FunctionId,
    files: &[FileId],
    rows: &[(u64, usize, u32, u32, u32, &str)],
) -> eitri::Result<()> {
    for &(pc, file, line, column, discriminator, flags) in rows {
        let has = |flag| flags.split(' ').any(|has| has == flag);
        m.row(function, {
            let mut row = LineTableRow::new(pc, files[file], line);
            row.column = column;
            row.discriminator = discriminator;
            row.is_stmt = has("is_stmt");
            row.is_prologue_end = has("prologue_end");
            row.is_epilogue_begin = has("epilogue_begin");
            row
        })?;
    }
    Ok(())
}

/// A unit with one function, which is the range of the unit; its lists count from there.
fn other_unit(m: &mut Builder, options: Options) -> eitri::Result<()> {
    let unit = m.unit("other.cl");
    m.describe_unit(unit)?.directory(options.directory).producer("eitri").language(gimli::DW_LANG_OpenCL.0);
    let file = m.primary_file(unit)?;
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    let name = format!("{}other", options.prefix);
    let bytes = FUNCTIONS[2].2;
    let other =
        m.function(unit, &name)?.code(&name, bytes).returns(int)?.declared(SourceLine::new(file, 1)).id();
    let reg = scalar(m.target());
    m.variable(other, "local", int)?
        .declared(SourceLine::new(file, 2))
        .live(0x04..0x18, Loc::register(reg))?;
    let block = m.block(other, &[0x04..0x10])?;
    m.variable(block, "always", int)?.declared(SourceLine::new(file, 2)).always(Loc::register(reg))?;
    rows(m, other, &[file], OTHER_ROWS)
}

/// Code and data for the module.
pub fn code(options: Options) -> ObjectCode {
    let bytes = FUNCTIONS.iter().map(|(_, offset, bytes)| offset + bytes).max().unwrap_or(0);
    let mut code = ObjectCode::text(options.machine.nops(bytes));
    for (name, offset, bytes) in FUNCTIONS {
        code = code.with_function(format!("{}{name}", options.prefix), offset, bytes);
    }
    code.sections.push(CodeSection::new(".data", CodeContents::Data, vec![7; 64], 8));
    code.symbols.push(CodeSymbol {
        name: format!("{}table", options.prefix),
        place: ElfPlace::Section { index: 2, offset: 0 },
        size: 64,
        kind: CodeSymbolKind::Object,
        binding: SymbolBinding::Global,
        visibility: Visibility::Protected,
    });
    code
}

/// The object, and the number of omitted locations.
pub fn object(options: Options, consumer: &Consumer) -> (Vec<u8>, usize) {
    let module = module(options).expect("the module");
    let written = lower(&module, consumer, Policy::Partial).expect("sections");
    let object = new_object(module.target(), &code(options), &written.sections).expect("an object");
    (object, written.omissions.len())
}
