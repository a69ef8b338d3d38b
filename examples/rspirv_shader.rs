//! Debug instructions for a compiler that builds its SPIR-V with the crate `rspirv`.
//!
//! The compiler knows its source while it builds, and keeps the ids of its names: the variables, the lines and
//! each instruction's scope are bound by these ids. Copy `debug`. CubeCL builds with `tracel-rspirv`, a fork with
//! types of its own: there, assemble the module and call `eitri::spirv::attach` with the words, as for any other compiler.
//!
//! ```sh
//! cargo run --features rspirv --example rspirv_shader [FOLDER]
//! eitri dump target/examples/scale.spv
//! spirv-val --target-env vulkan1.1 target/examples/scale.spv
//! ```

use std::path::PathBuf;

use eitri::build::Builder;
use eitri::model::{BaseEncoding, SourceLine};
use eitri::spirv::{self, Binding, Id, Mode, Position, Provider};
use eitri::target::Target;
use rspirv::binary::Assemble;
use rspirv::dr;
use rspirv::spirv::{
    AddressingModel, BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel, FunctionControl,
    MemoryModel, StorageClass,
};

const SOURCE: &str = "\
kernel scale(factor: f32) {
    let at = thread.x;
    let old = data[at];
    data[at] = old * factor;
}
";

/// Ids that debug information needs.
struct Ids {
    function: u32,
    data: u32,
    block: u32,
    at: u32,
    old: u32,
    product: u32,
}

/// The compiler's own work: a module without debug information.
fn compile() -> Result<(dr::Module, Ids), dr::Error> {
    let mut b = dr::Builder::new();
    b.set_version(1, 3);
    b.capability(Capability::Shader);
    b.memory_model(AddressingModel::Logical, MemoryModel::GLSL450);
    let void = b.type_void();
    let uint = b.type_int(32, 0);
    let float = b.type_float(32, None);
    let three = b.type_vector(uint, 3);
    let floats = b.type_runtime_array(float);
    b.decorate(floats, Decoration::ArrayStride, [dr::Operand::LiteralBit32(4)]);
    let buffer = b.type_struct([floats]);
    b.decorate(buffer, Decoration::Block, []);
    b.member_decorate(buffer, 0, Decoration::Offset, [dr::Operand::LiteralBit32(0)]);
    let to_buffer = b.type_pointer(None, StorageClass::StorageBuffer, buffer);
    let to_float = b.type_pointer(None, StorageClass::StorageBuffer, float);
    let to_three = b.type_pointer(None, StorageClass::Input, three);
    let kind = b.type_function(void, []);
    let zero = b.constant_bit32(uint, 0);
    let factor = b.constant_bit32(float, 2.5f32.to_bits());
    let data = b.variable(to_buffer, None, StorageClass::StorageBuffer, None);
    b.decorate(data, Decoration::DescriptorSet, [dr::Operand::LiteralBit32(0)]);
    b.decorate(data, Decoration::Binding, [dr::Operand::LiteralBit32(0)]);
    let thread = b.variable(to_three, None, StorageClass::Input, None);
    b.decorate(thread, Decoration::BuiltIn, [dr::Operand::BuiltIn(BuiltIn::GlobalInvocationId)]);
    let function = b.begin_function(void, None, FunctionControl::NONE, kind)?;
    let block = b.begin_block(None)?;
    let all = b.load(three, None, thread, None, [])?;
    let at = b.composite_extract(uint, None, all, [0])?;
    let place = b.access_chain(to_float, None, data, [zero, at])?;
    let old = b.load(float, None, place, None, [])?;
    let product = b.f_mul(float, None, old, factor)?;
    b.store(place, product, None, [])?;
    b.ret()?;
    b.end_function()?;
    b.entry_point(ExecutionModel::GLCompute, function, "scale", [thread]);
    b.execution_mode(function, ExecutionMode::LocalSize, [32, 1, 1]);
    Ok((b.module(), Ids { function, data, block, at, old, product }))
}

/// Describes the source, and binds it to the module's ids.
fn debug(ids: &Ids) -> eitri::Result<(eitri::model::Module, Binding)> {
    let mut m = Builder::new(Target::shader());
    let unit = m.unit("scale.cube");
    m.describe_unit(unit)?.directory("/src").producer("an example");
    let file = m.primary_file(unit)?;
    m.file_source(file, SOURCE)?;
    let line = |line, column| SourceLine::new(file, line).column(column);
    let uint = m.base_type(unit, "u32", BaseEncoding::Unsigned, 32)?;
    let float = m.base_type(unit, "f32", BaseEncoding::Float, 32)?;
    let floats = m.array(unit, float, &[None])?;
    let scale = m.function(unit, "scale")?.declared(line(1, 8)).body_line(1).kernel().id();
    let data = m.variable(unit, "data", floats)?.id();
    let at = m.variable(scale, "at", uint)?.declared(line(2, 9)).id();
    let old = m.variable(scale, "old", float)?.declared(line(3, 9)).id();
    let module = m.finish()?;
    let mut binding = Binding::new();
    binding
        .function(scale, Id(ids.function))
        .global(data, Id(ids.data))
        .line(Position::start(Id(ids.function), Id(ids.block)), line(2, 14))
        .value(Position::after(Id(ids.at)), at, &[Provider::value(Id(ids.at))])
        .line(Position::after(Id(ids.at)), line(3, 15))
        .value(Position::after(Id(ids.old)), old, &[Provider::value(Id(ids.old))])
        .line(Position::after(Id(ids.old)), line(4, 16))
        .line(Position::after(Id(ids.product)), line(4, 5));
    Ok((module, binding))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args_os().nth(1).map_or_else(|| "target/examples".into(), PathBuf::from);
    std::fs::create_dir_all(&folder)?;
    let (mut shader, ids) = compile()?;
    let plain = shader.assemble();
    let (module, binding) = debug(&ids)?;
    let mode = Mode::vulkan();
    for omission in spirv::rspirv::attach(&mut shader, &module, &binding, &mode)? {
        println!("omitted: {omission}");
    }
    let words = shader.assemble();
    // The words are those of `spirv::attach`, whose check compares them with the description.
    let attached = spirv::attach(&plain, &module, &binding, &mode)?;
    assert_eq!(attached.words, words);
    assert!(attached.check(&module, &binding, &mode)?.is_clean());
    let path = folder.join("scale.spv");
    std::fs::write(&path, words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>())?;
    println!(
        "{}: {} words, {} of them debug information",
        path.display(),
        words.len(),
        words.len() - plain.len()
    );
    Ok(())
}
