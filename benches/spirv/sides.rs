//! The same module twice: described and attached, and built with `rspirv`.
//!
//! Each function has an `int` parameter and local variables of type `int`, the second half of them in a block. Each
//! variable is declared and stored to, on a line of its own.

use eitri::build::Builder;
use eitri::model::{BaseEncoding, Language, Module, SourceLine};
use eitri::spirv::{Binding, Id, Position, Provider};
use eitri::target::Target;
use rspirv::binary::Assemble;
use rspirv::dr::{self, Instruction, Operand};
use rspirv::spirv::{
    AddressingModel, Capability, ExecutionModel, FunctionControl, MemoryModel, Op, StorageClass,
};

pub const FUNCTIONS: u32 = 1000;
pub const VARIABLES: u32 = 20;

/// Size of the module.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub functions: u32,
    /// Number of variables per function, even.
    pub variables: u32,
}

const FILE: &str = "kernels.cl";
const DIRECTORY: &str = "/src";

/// Line of a function's declaration; its variables are on the following lines.
fn line_of(function: u32) -> u32 {
    100 * function + 1
}

/// A built module, before assembly.
pub struct Built(dr::Module);

impl Built {
    pub fn assemble(&self) -> Vec<u32> {
        self.0.assemble()
    }
}

/// The module without debug information.
pub fn core(shape: Shape) -> Built {
    Built(build(shape, false))
}

/// The module with debug information.
pub fn with_rspirv(shape: Shape) -> Vec<u32> {
    build(shape, true).assemble()
}

/// The model of the source.
pub fn describe(shape: Shape) -> Module {
    let mut m = Builder::new(Target::x86_64());
    let unit = m.unit(FILE);
    m.describe_unit(unit).expect("a unit").directory(DIRECTORY).language(Language::OPENCL_C);
    let file = m.primary_file(unit).expect("a unit");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).expect("a type");
    let mut name = String::new();
    for function in 0..shape.functions {
        let first = line_of(function);
        let mut made = m.function(unit, called(&mut name, "f", function)).expect("a unit");
        made.external().declared(SourceLine::new(file, first));
        // The entry point of the module.
        if function == 0 {
            made.kernel();
        }
        let id = made.id();
        m.parameter(id, "n", int).expect("a function").declared(SourceLine::new(file, first));
        let block = m.block(id, &[]).expect("a function");
        let begin = SourceLine::new(file, first + shape.variables / 2 + 1).column(3);
        m.begins(block, begin).expect("a block");
        for variable in 0..shape.variables {
            let line = SourceLine::new(file, first + 1 + variable).column(7);
            let name = called(&mut name, "v", variable);
            let made = match variable < shape.variables / 2 {
                true => m.variable(id, name, int),
                false => m.variable(block, name, int),
            };
            made.expect("a scope").declared(line);
        }
    }
    m.finish().expect("it is right")
}

fn called<'n>(text: &'n mut String, prefix: &str, number: u32) -> &'n str {
    use std::fmt::Write;
    text.clear();
    write!(text, "{prefix}{number}").expect("a string grows");
    text
}

/// Binds the model to ids and positions of the module without debug information.
pub fn bind(module: &Module, shape: Shape, _plain: &[u32]) -> Binding {
    let mut binding = Binding::new();
    let ids = Ids::new(shape);
    let mut variables = module.variables().map(|(id, variable)| (id, variable.line));
    let mut scopes = module.scopes().filter(|(_, scope)| scope.parent.is_some()).map(|(id, _)| id);
    for ((function, _), index) in module.functions().zip(0..) {
        let Function { function: id, parameter, first, blocks } = ids.function(index);
        binding.function(function, id);
        let (_, Some(block)) = (scopes.next(), scopes.next()) else { unreachable!("two scopes a function") };
        let Some((n, _)) = variables.next() else { unreachable!("a parameter") };
        binding.value(Position::start(id, blocks[0]), n, &[Provider::value(parameter)]);
        binding.scope(Position::start(id, blocks[1]), block);
        for number in 0..shape.variables {
            let Some((variable, Some(line))) = variables.next() else { unreachable!("a variable") };
            let half = shape.variables / 2;
            // After the `OpVariable`s of the first block, or at the start of the second.
            let position = match number < half {
                true => Position::before(id, blocks[0], shape.variables + number),
                false => Position::before(id, blocks[1], number - half),
            };
            binding.line(position, line);
            binding.declare(position, variable, Provider::value(Id(first.0 + number)));
        }
    }
    binding
}

/// Ids in the module without debug information, which are allocated in order.
struct Ids {
    shape: Shape,
}

struct Function {
    function: Id,
    parameter: Id,
    /// Id of the first variable.
    first: Id,
    blocks: [Id; 2],
}

/// Number of ids before the first function: those of types.
const BEFORE: u32 = 5;

impl Ids {
    fn new(shape: Shape) -> Self {
        Self { shape }
    }

    fn function(&self, index: u32) -> Function {
        let start = BEFORE + index * (self.shape.variables + 4);
        Function {
            function: Id(start),
            parameter: Id(start + 1),
            blocks: [Id(start + 2), Id(start + 3)],
            first: Id(start + 4),
        }
    }
}

/// Writer of debug instructions with `rspirv`.
struct Debug {
    set: u32,
    void: u32,
    source: u32,
    path: u32,
    unit: u32,
    int: u32,
    ty: u32,
    empty: u32,
    names: Vec<u32>,
    n: u32,
    expression: u32,
}

/// Numbers of `DebugInfo` instructions.
const COMPILATION_UNIT: u32 = 1;
const TYPE_BASIC: u32 = 2;
const TYPE_FUNCTION: u32 = 8;
const FUNCTION: u32 = 20;
const LEXICAL_BLOCK: u32 = 21;
const SCOPE: u32 = 23;
const LOCAL_VARIABLE: u32 = 26;
const DECLARE: u32 = 28;
const VALUE: u32 = 29;
const EXPRESSION: u32 = 31;
const SOURCE: u32 = 35;

fn id(id: u32) -> Operand {
    Operand::IdRef(id)
}

fn literal(number: u32) -> Operand {
    Operand::LiteralBit32(number)
}

impl Debug {
    fn global(&self, b: &mut dr::Builder, number: u32, operands: impl IntoIterator<Item = Operand>) -> u32 {
        global(b, self.void, self.set, number, operands)
    }

    fn body(&self, b: &mut dr::Builder, number: u32, operands: impl IntoIterator<Item = Operand>) {
        b.ext_inst(self.void, None, self.set, number, operands).expect("in a block");
    }
}

fn global(
    b: &mut dr::Builder,
    void: u32,
    set: u32,
    number: u32,
    operands: impl IntoIterator<Item = Operand>,
) -> u32 {
    let result = b.id();
    let mut all = vec![id(set), Operand::LiteralExtInstInteger(number)];
    all.extend(operands);
    b.module_mut().types_global_values.push(Instruction::new(Op::ExtInst, Some(void), Some(result), all));
    result
}

fn build(shape: Shape, has_debug: bool) -> dr::Module {
    let mut b = dr::Builder::new();
    b.set_version(1, 1);
    for capability in [Capability::Addresses, Capability::Linkage, Capability::Kernel] {
        b.capability(capability);
    }
    b.memory_model(AddressingModel::Physical64, MemoryModel::OpenCL);
    let void = b.type_void();
    let int = b.type_int(32, 0);
    let pointer = b.type_pointer(None, StorageClass::Function, int);
    let signature = b.type_function(void, [int]);
    assert_eq!(signature + 1, BEFORE);
    let debug = has_debug.then(|| units(&mut b, shape, void, int));
    let mut name = String::new();
    let mut first = None;
    for function in 0..shape.functions {
        let made =
            b.begin_function(void, None, FunctionControl::NONE, signature).expect("no function is open");
        first = first.or(Some(made));
        let parameter = b.function_parameter(int).expect("in a function");
        let labels = [b.id(), b.id()];
        let line = line_of(function);
        let scopes = debug.as_ref().map(|it| {
            let called = b.string(called(&mut name, "f", function));
            let operands =
                [id(called), id(it.ty), id(it.source), literal(line), literal(0), id(it.unit), id(it.empty)];
            // Flag of a definition; the line of the body is not set.
            let operands = operands.into_iter().chain([literal(1 << 3), literal(0), id(made)]);
            let scope = it.global(&mut b, FUNCTION, operands);
            let begin = literal(line + shape.variables / 2 + 1);
            (scope, it.global(&mut b, LEXICAL_BLOCK, [id(it.source), begin, literal(3), id(scope)]))
        });
        let local = |b: &mut dr::Builder,
                     it: &Debug,
                     name: u32,
                     line: u32,
                     column: u32,
                     scope: u32,
                     argument| {
            let operands =
                [id(name), id(it.int), id(it.source), literal(line), literal(column), id(scope), literal(0)];
            it.global(b, LOCAL_VARIABLE, operands.into_iter().chain(argument))
        };
        b.begin_block(Some(labels[0])).expect("in a function");
        let variables: Vec<u32> =
            (0..shape.variables).map(|_| b.variable(pointer, None, StorageClass::Function, None)).collect();
        if let Some((it, (scope, _))) = debug.as_ref().zip(scopes) {
            let n = local(&mut b, it, it.n, line, 0, scope, Some(literal(1)));
            it.body(&mut b, SCOPE, [id(scope)]);
            it.body(&mut b, VALUE, [id(n), id(parameter), id(it.expression)]);
        }
        for (number, &variable) in (0..).zip(&variables) {
            let is_second = number >= shape.variables / 2;
            if number == shape.variables / 2 {
                b.branch(labels[1]).expect("in a block");
                b.begin_block(Some(labels[1])).expect("in a function");
                if let Some((it, (_, block))) = debug.as_ref().zip(scopes) {
                    it.body(&mut b, SCOPE, [id(block)]);
                }
            }
            if let Some((it, (scope, block))) = debug.as_ref().zip(scopes) {
                let scope = if is_second { block } else { scope };
                let name = it.names[number as usize];
                let line = line + 1 + number;
                let debug = local(&mut b, it, name, line, 7, scope, None);
                b.line(it.path, line, 7);
                it.body(&mut b, DECLARE, [id(debug), id(variable), id(it.expression)]);
            }
            b.store(variable, parameter, None, []).expect("in a block");
        }
        b.ret().expect("in a block");
        b.end_function().expect("in a function");
    }
    if let Some(first) = first {
        b.entry_point(ExecutionModel::Kernel, first, "f0", []);
    }
    b.module()
}

fn units(b: &mut dr::Builder, shape: Shape, void: u32, _int: u32) -> Debug {
    let set = b.ext_inst_import("OpenCL.DebugInfo.100");
    let path = b.string(format!("{DIRECTORY}/{FILE}"));
    let source = global(b, void, set, SOURCE, [id(path)]);
    let unit = global(b, void, set, COMPILATION_UNIT, [literal(1), literal(5), id(source), literal(3)]);
    let size = {
        let uint = b.type_int(32, 0);
        b.constant_bit32(uint, 32)
    };
    let called_int = b.string("int");
    let int = global(b, void, set, TYPE_BASIC, [id(called_int), id(size), literal(4)]);
    let ty = global(b, void, set, TYPE_FUNCTION, [literal(0), id(void), id(int)]);
    let empty = b.string("");
    let mut name = String::new();
    let names = (0..shape.variables).map(|number| b.string(called(&mut name, "v", number))).collect();
    let n = b.string("n");
    let expression = global(b, void, set, EXPRESSION, []);
    Debug { set, void, source, path, unit, int, ty, empty, names, n, expression }
}
