//! The program: functions of a small language, as a front end gives them to Cranelift.
//!
//! ```text
//! 1  fn add(a, b) {
//! 2      a + b
//! 3  }
//! 4  fn work(a, b, c, d, e, f) {
//! 5      let s = add(a, b);
//! 6      let t = add(s * c, d);
//! 7      t + a + b + e + f
//! 8  }
//! 9  fn main() { work(1, 2, 3, 4, 5, 6) }
//! ```

use std::error::Error;

use cranelift_codegen::ir::{AbiParam, FuncRef, InstBuilder, SourceLoc, Value, ValueLabel, types};
use cranelift_codegen::isa::TargetIsa;
use cranelift_codegen::{CompiledCode, Context};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_module::{FuncId, Linkage, Module};
use eitri::build::Builder;
use eitri::model::{Address, BaseEncoding};
use eitri::target::Target;

use crate::describe::{Source, function};

/// What `main` returns.
pub const RESULT: i32 = ((1 + 2) * 3 + 4) + 1 + 2 + 5 + 6;

/// A function in the source.
struct Function {
    name: &'static str,
    line: u32,
    /// Names by value label.
    variables: &'static [&'static str],
    /// How many of the variables are parameters.
    parameters: usize,
    body: fn(&mut Body<'_>, &[Value]) -> Value,
}

const ADD: usize = 0;
const WORK: usize = 1;

const FUNCTIONS: [Function; 3] = [
    Function { name: "add", line: 1, variables: &["a", "b"], parameters: 2, body: add },
    Function {
        name: "work",
        line: 4,
        variables: &["a", "b", "c", "d", "e", "f", "s", "t"],
        parameters: 6,
        body: work,
    },
    Function { name: "main", line: 9, variables: &[], parameters: 0, body: main },
];

fn add(body: &mut Body<'_>, parameters: &[Value]) -> Value {
    body.line(2);
    body.builder.ins().iadd(parameters[0], parameters[1])
}

fn work(body: &mut Body<'_>, parameters: &[Value]) -> Value {
    let &[a, b, c, d, e, f] = parameters else { unreachable!("`work` has six parameters") };
    body.line(5);
    let s = body.call(ADD, &[a, b]);
    body.label(6, s);
    body.line(6);
    let product = body.builder.ins().imul(s, c);
    let t = body.call(ADD, &[product, d]);
    body.label(7, t);
    body.line(7);
    [a, b, e, f].into_iter().fold(t, |sum, value| body.builder.ins().iadd(sum, value))
}

fn main(body: &mut Body<'_>, _: &[Value]) -> Value {
    body.line(9);
    let numbers: Vec<Value> = (1..=6).map(|number| body.builder.ins().iconst(types::I32, number)).collect();
    body.call(WORK, &numbers)
}

/// The body of a function that is built.
struct Body<'f> {
    builder: FunctionBuilder<'f>,
    /// The functions that it can call.
    callees: Vec<FuncRef>,
}

impl Body<'_> {
    /// Sets the line of the next instructions.
    fn line(&mut self, line: u32) {
        self.builder.set_srcloc(SourceLoc::new(line));
    }

    /// States that a value is a variable's, from the next instruction on.
    fn label(&mut self, variable: u32, value: Value) {
        self.builder.set_val_label(value, ValueLabel::from_u32(variable));
    }

    fn call(&mut self, function: usize, arguments: &[Value]) -> Value {
        let call = self.builder.ins().call(self.callees[function], arguments);
        self.builder.inst_results(call)[0]
    }
}

/// A compiled function.
pub struct Compiled {
    pub id: FuncId,
    pub name: &'static str,
    index: usize,
    context: Context,
}

impl Compiled {
    fn code(&self) -> &CompiledCode {
        self.context.compiled_code().expect("`compile` has compiled the function")
    }

    /// Code size in bytes.
    pub fn bytes(&self) -> usize {
        self.code().code_buffer().len()
    }
}

/// Compiles the program. `main` is the last function.
pub fn compile(module: &mut impl Module) -> Result<Vec<Compiled>, Box<dyn Error>> {
    let mut declared = Vec::new();
    for function in &FUNCTIONS {
        let mut signature = module.make_signature();
        signature.params = vec![AbiParam::new(types::I32); function.parameters];
        signature.returns.push(AbiParam::new(types::I32));
        let id = module.declare_function(function.name, Linkage::Export, &signature)?;
        declared.push((id, signature));
    }
    let mut compiled = Vec::new();
    let mut builders = FunctionBuilderContext::new();
    for (index, function) in FUNCTIONS.iter().enumerate() {
        let (id, ref signature) = declared[index];
        let mut context = module.make_context();
        context.func.signature = signature.clone();
        // Without it, labels are dropped.
        context.func.collect_debug_info();
        let callees =
            declared.iter().map(|(id, _)| module.declare_func_in_func(*id, &mut context.func)).collect();

        let mut builder = FunctionBuilder::new(&mut context.func, &mut builders);
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        builder.seal_block(entry);
        let parameters = builder.block_params(entry).to_vec();
        let mut body = Body { builder, callees };
        body.line(function.line);
        for (variable, &value) in (0..).zip(&parameters) {
            body.label(variable, value);
        }
        let result = (function.body)(&mut body, &parameters);
        body.builder.ins().return_(&[result]);
        body.builder.finalize(module.target_config());

        module.define_function(id, &mut context)?;
        compiled.push(Compiled { id, name: function.name, index, context });
    }
    Ok(compiled)
}

/// Describes the compiled program. `address` returns the address of a function.
pub fn describe(
    isa: &dyn TargetIsa,
    compiled: &[Compiled],
    mut address: impl FnMut(&mut Builder, &Compiled) -> Address,
) -> eitri::Result<eitri::model::Module> {
    let mut m = Builder::new(Target::x86_64());
    let unit = m.unit("program.toy");
    let file = m.primary_file(unit)?;
    let ty = m.base_type(unit, "i32", BaseEncoding::Signed, 32)?;
    for compiled in compiled {
        let Function { name, line, variables, parameters, .. } = FUNCTIONS[compiled.index];
        let variables: Vec<(ValueLabel, &str)> =
            (0..).zip(variables).map(|(label, name)| (ValueLabel::from_u32(label), *name)).collect();
        let address = address(&mut m, compiled);
        let source = Source { unit, file, name, line, ty, address, variables: &variables, parameters };
        function(&mut m, isa, compiled.code(), &source)?;
    }
    m.finish()
}
