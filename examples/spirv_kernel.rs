//! One description, two outputs: DWARF for the code of a GPU, and debug instructions for a SPIR-V module.
//!
//! `data/k01_saxpy.cl` was compiled twice, without `-g`: to an object for gfx1030, `data/saxpy.o`, and to SPIR-V,
//! `data/saxpy.spv`. The types, scopes and names of the source are described once. The locations of variables are
//! described for each output: for the object by pcs and registers, for the module by positions and result ids.
//!
//! ```sh
//! cargo run --example spirv_kernel [FOLDER]
//! eitri dump target/examples/saxpy.debug.spv
//! spirv-val target/examples/saxpy.debug.spv
//! llvm-spirv-15 -r target/examples/saxpy.debug.spv -o - | llvm-dis-15
//! ```

use std::path::PathBuf;

use eitri::build::Builder;
use eitri::emit::elf;
use eitri::lower::{Consumer, Policy, lower};
use eitri::model::{
    BaseEncoding, FunctionId, Language, LineTableRow, Loc, MemorySpace, Module, PointerKind, ScopeId,
    SourceLine, VariableId,
};
use eitri::spirv::{self, Binding, Id, Mode, Position, Provider, Set};
use eitri::target::{Gfx, Target, Wave};

/// Compiled by clang-19, without debug information.
const OBJECT: &[u8] = include_bytes!("data/saxpy.o");

/// Compiled by clang-15 and llvm-spirv-15, without debug information.
const SPIRV: &[u8] = include_bytes!("data/saxpy.spv");

const SOURCE: &str = include_str!("data/k01_saxpy.cl");

/// Size of the kernel's code in bytes.
const CODE_BYTES: u64 = 0x88;

/// Ids of the model that the SPIR-V binding needs.
struct Names {
    saxpy: FunctionId,
    /// The block of the `if`.
    then: ScopeId,
    x: VariableId,
    y: VariableId,
    a: VariableId,
    n: VariableId,
    i: VariableId,
    xi: VariableId,
    yi: VariableId,
    r: VariableId,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args_os().nth(1).map_or_else(|| "target/examples".into(), PathBuf::from);
    std::fs::create_dir_all(&folder)?;
    let (module, names) = describe(&Target::amdgpu(Gfx::GFX1030, Wave::W32)?)?;

    // DWARF, for the object. DWARF has no attribute for the line of a function's body, which is listed as omitted.
    let consumer = Consumer::llvm();
    let written = lower(&module, &consumer, Policy::Partial)?;
    written.omissions.iter().for_each(|omission| println!("omitted: {omission}"));
    let object = elf::attach(OBJECT, module.target(), &written.sections)?;
    let report = eitri::check(&module, &consumer, &written.omissions, &object)?;
    println!("object: {report}");
    assert!(report.is_clean());
    elf::write_file(folder.join("saxpy.debug.o"), &object)?;

    // Debug instructions, for the module: for OpenCL's tools, and for Vulkan.
    let words = spirv::from_bytes(SPIRV)?;
    let binding = bind(&module, &names);
    let modes = [
        ("saxpy.debug.spv", Mode::exact(Set::OpenCl)),
        ("saxpy.opencl.spv", Mode::opencl()),
        ("saxpy.translator.spv", Mode::translator()),
        ("saxpy.vulkan.spv", Mode::vulkan()),
    ];
    for (name, mode) in modes {
        let attached = spirv::attach(&words, &module, &binding, &mode)?;
        let report = attached.check(&module, &binding, &mode)?;
        println!("{name}: {report}");
        assert!(report.is_clean());
        let bytes: Vec<u8> = attached.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        std::fs::write(folder.join(name), bytes)?;
    }
    println!("{}", folder.join("saxpy.debug.spv").display());
    Ok(())
}

/// Describes the source, and the locations of variables in the object.
fn describe(gpu: &Target) -> eitri::Result<(Module, Names)> {
    let mut m = Builder::new(gpu.clone());
    let unit = m.unit("k01_saxpy.cl");
    m.describe_unit(unit)?.directory("/src").language(Language::OPENCL_C).optimized();
    let file = m.primary_file(unit)?;
    m.file_source(file, SOURCE)?;
    let line = |line, column| SourceLine::new(file, line).column(column);

    let float = m.base_type(unit, "float", BaseEncoding::Float, 32)?;
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
    let const_float = m.qualified(unit, eitri::model::Qualifier::Const, Some(float))?;
    let space = gpu.space_named("global")?.id;
    let global = Some(MemorySpace::Global);
    let x_type = m.pointer_of(unit, PointerKind::Pointer, Some(const_float), space, global)?;
    let y_type = m.pointer_of(unit, PointerKind::Pointer, Some(float), space, global)?;

    let saxpy =
        m.function(unit, "saxpy")?.code("saxpy", CODE_BYTES).kernel().declared(line(1, 15)).body_line(1).id();
    let then = m.block(saxpy, &[0x34..0x84])?;
    m.begins(then, line(3, 14))?;

    // Each kernel argument is in memory, at s[6:7], and later in registers.
    let [s0, s1, s4, s5, s6, s7] = [0, 1, 4, 5, 6, 7].map(|number| gpu.sgpr(number));
    let [v0, v2, v3] = [0, 2, 3].map(|number| gpu.vgpr(number));
    let argument = |offset| Ok::<_, eitri::Error>(Loc::kernel_argument(s6.clone()?, s7.clone()?, offset));
    let x = m
        .parameter(saxpy, "x", x_type)?
        .declared(line(1, 43))
        .live(0x00..0x3c, argument(0)?)?
        .live(0x4c..0x84, Loc::over([s4?, s5?]))?
        .id();
    let y = m
        .parameter(saxpy, "y", y_type)?
        .declared(line(1, 62))
        .live(0x00..0x3c, argument(8)?)?
        .live(0x4c..0x84, Loc::over([s6.clone()?, s7.clone()?]))?
        .id();
    let a = m
        .parameter(saxpy, "a", float)?
        .declared(line(1, 71))
        .live(0x00..0x18, argument(16)?)?
        .live_in(0x18..0x3c, &[argument(16)?, Loc::register(s0.clone()?)])?
        .live(0x3c..0x88, Loc::register(s0?))?
        .id();
    let n = m
        .parameter(saxpy, "n", int)?
        .declared(line(1, 78))
        .live(0x00..0x18, argument(20)?)?
        .live_in(0x18..0x30, &[argument(20)?, Loc::register(s1?)])?
        .live(0x30..0x3c, argument(20)?)?
        .id();
    let i = m.variable(saxpy, "i", int)?.declared(line(2, 7)).live(0x28..0x48, Loc::per_lane(v0?))?.id();
    let xi = m.variable(then, "xi", float)?.declared(line(4, 11)).live(0x78..0x84, Loc::per_lane(v2?))?.id();
    let yi = m
        .variable(then, "yi", float)?
        .declared(line(5, 11))
        .live(0x78..0x7c, Loc::per_lane(v3.clone()?))?
        .id();
    let r = m.variable(then, "r", float)?.declared(line(6, 11)).live(0x7c..0x84, Loc::per_lane(v3?))?.id();
    let rows = [
        (0x00, 2, 11),
        (0x28, 3, 9),
        (0x34, 4, 16),
        (0x58, 5, 16),
        (0x64, 4, 16),
        (0x6c, 5, 16),
        (0x74, 6, 22),
        (0x7c, 7, 10),
        (0x84, 9, 1),
    ];
    for (pc, line, column) in rows {
        m.row(saxpy, LineTableRow::new(pc, file, line).column(column))?;
    }
    Ok((m.finish()?, Names { saxpy, then, x, y, a, n, i, xi, yi, r }))
}

/// Binds variables to results and positions, as found in the output of `spirv-dis saxpy.spv`.
fn bind(module: &Module, names: &Names) -> Binding {
    let function = Id(11);
    let entry = Id(16);
    let then = Id(17);
    let end = Id(18);
    let i = Id(21);
    let xi = Id(26);
    let yi = Id(28);
    let r = Id(29);
    let Some((file, _)) = module.files().next() else { unreachable!("the unit has a file") };
    let line = |line, column| SourceLine::new(file, line).column(column);
    let start = |block| Position::start(function, block);

    let mut binding = Binding::new();
    binding.function(names.saxpy, function).line(start(entry), line(2, 11));
    for (parameter, id) in [(names.x, 12), (names.y, 13), (names.a, 14), (names.n, 15)] {
        binding.value(start(entry), parameter, &[Provider::value(Id(id))]);
    }
    binding
        .value(Position::after(i), names.i, &[Provider::value(i)])
        .line(Position::after(i), line(3, 9))
        .scope(start(then), names.then)
        .line(start(then), line(4, 16))
        .value(Position::after(xi), names.xi, &[Provider::value(xi)])
        .line(Position::after(xi), line(5, 16))
        .value(Position::after(yi), names.yi, &[Provider::value(yi)])
        .line(Position::after(yi), line(6, 22))
        .value(Position::after(r), names.r, &[Provider::value(r)])
        .line(Position::after(r), line(7, 10))
        .scope(start(end), module.function(names.saxpy).scope)
        .line(start(end), line(9, 1));
    binding
}
