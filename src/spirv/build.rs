//! Writes a SPIR-V module: sections in order, functions, and the positions for a [`Binding`].

use hashbrown::HashMap;

use super::attach::attach;
use super::attached::Attached;
use super::binding::{Binding, Position};
use super::mode::Mode;
use super::opcodes as op;
use super::words::{Id, Ids, MAGIC, string_words};
use crate::error::{Count, Error, ErrorKind, Result};
use crate::model::Module;

/// A module section before the functions, in the order of the SPIR-V specification's section 2.4 "Logical Layout of a
/// Module".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ModulePart {
    /// 1: `OpCapability`.
    Capabilities,
    /// 2: `OpExtension`.
    Extensions,
    /// 3: `OpExtInstImport`.
    Imports,
    /// 4: `OpMemoryModel`.
    MemoryModel,
    /// 5: `OpEntryPoint`.
    EntryPoints,
    /// 6: `OpExecutionMode`.
    ExecutionModes,
    /// 7a: `OpString`, `OpSource`.
    Strings,
    /// 7b: `OpName`, `OpMemberName`.
    Names,
    /// 7c: `OpModuleProcessed`.
    Processed,
    /// 8: decorations.
    Decorations,
    /// 9: types, constants and global variables.
    Globals,
}

const PARTS: usize = ModulePart::Globals as usize + 1;

/// Writes a module. An instruction is given by its opcode and operands; id operands are numbers.
///
/// Instructions outside functions can be added at any time: each goes to its section. Equal strings, types and
/// constants are written once.
///
/// ```
/// use eitri::build::Builder;
/// use eitri::model::{BaseEncoding, SourceLine};
/// use eitri::spirv::{Binding, Provider, Mode, ModuleBuilder, Set, read, validate};
/// use eitri::target::{Gfx, Target, Wave};
///
/// // uint twice(uint x) { return x + x; }
/// let mut s = ModuleBuilder::new(1, 0);
/// s.capability(6).capability(5).capability(4).memory_model(2, 2); // Kernel, Linkage, Addresses; Physical64, OpenCL
/// let uint = s.global(21, None, &[32, 0])?; // OpTypeInt 32 0
/// let kind = s.global(33, None, &[uint.0, uint.0])?; // OpTypeFunction %uint %uint
/// let function = s.function(uint, 0, kind)?;
/// let parameter = s.parameter(uint)?;
/// s.block()?;
/// let start = s.position()?;
/// let sum = s.result(128, uint, &[parameter.0, parameter.0])?; // OpIAdd
/// s.effect(254, &[sum.0])?; // OpReturnValue
/// s.end_function()?;
///
/// let mut m = Builder::new(Target::amdgpu(Gfx::GFX1030, Wave::W32)?);
/// let unit = m.unit("twice.cl");
/// let file = m.primary_file(unit)?;
/// let ty = m.base_type(unit, "uint", BaseEncoding::Unsigned, 32)?;
/// let twice = m.function(unit, "twice")?.code("twice", 8).returns(ty)?.declared(SourceLine::new(file, 1)).id();
/// let x = m.parameter(twice, "x", ty)?.id();
/// let module = m.finish()?;
///
/// let mut binding = Binding::new();
/// binding
///     .function(twice, function)
///     .line(start, SourceLine::new(file, 1))
///     .value(start, x, &[Provider::value(parameter)]);
/// let attached = s.attach(&module, &binding, &Mode::exact(Set::OpenCl))?;
/// assert!(validate(&read(&attached.words)?).is_clean());
/// # Ok::<(), eitri::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ModuleBuilder {
    version: u32,
    ids: Ids,
    parts: [Vec<u32>; PARTS],
    /// Ids for strings, types and constants, by opcode, type and operands.
    reused: HashMap<Vec<u32>, Id>,
    functions: Vec<u32>,
    open: Option<Open>,
}

/// The current function.
#[derive(Debug, Clone, Copy)]
struct Open {
    function: Id,
    /// The current block's label, and the number of instructions so far.
    block: Option<(Id, u32)>,
    has_blocks: bool,
}

impl ModuleBuilder {
    /// An empty module for a SPIR-V version.
    pub fn new(major: u8, minor: u8) -> Self {
        Self {
            version: u32::from(major) << 16 | u32::from(minor) << 8,
            ids: Ids::NEW,
            parts: Default::default(),
            reused: HashMap::new(),
            functions: Vec::new(),
            open: None,
        }
    }

    /// A new id, for a forward reference.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] if no id is left.
    pub fn id(&mut self) -> Result<Id> {
        self.ids.fresh()
    }

    /// Adds an `OpCapability`.
    pub fn capability(&mut self, capability: u32) -> &mut Self {
        self.parts[ModulePart::Capabilities as usize]
            .extend([2 << 16 | u32::from(op::CAPABILITY), capability]);
        self
    }

    /// Sets the `OpMemoryModel`.
    pub fn memory_model(&mut self, addressing: u32, memory: u32) -> &mut Self {
        self.parts[ModulePart::MemoryModel as usize] =
            vec![3 << 16 | u32::from(op::MEMORY_MODEL), addressing, memory];
        self
    }

    /// Adds an `OpExtension`.
    ///
    /// # Errors
    /// The errors of [`string`](Self::string).
    pub fn extension(&mut self, name: &str) -> Result<&mut Self> {
        self.annotate(ModulePart::Extensions, op::EXTENSION, &text(name)?)
    }

    /// Adds an `OpExtInstImport`.
    ///
    /// # Errors
    /// The errors of [`string`](Self::string).
    pub fn import(&mut self, name: &str) -> Result<Id> {
        self.once(ModulePart::Imports, op::EXT_INST_IMPORT, None, &text(name)?)
    }

    /// Adds an `OpEntryPoint`.
    ///
    /// # Errors
    /// The errors of [`string`](Self::string).
    pub fn entry_point(
        &mut self,
        model: u32,
        function: Id,
        name: &str,
        interface: &[Id],
    ) -> Result<&mut Self> {
        let mut operands = vec![model, function.0];
        operands.extend(text(name)?);
        operands.extend(interface.iter().map(|id| id.0));
        self.annotate(ModulePart::EntryPoints, op::ENTRY_POINT, &operands)
    }

    /// Adds an `OpString`.
    ///
    /// # Errors
    /// [`ErrorKind::ZeroByte`] if the string contains a zero byte; [`ErrorKind::TooLarge`] if the string does not
    /// fit one instruction, or no id is left.
    pub fn string(&mut self, string: &str) -> Result<Id> {
        self.once(ModulePart::Strings, op::STRING, None, &text(string)?)
    }

    /// Adds an `OpName`.
    ///
    /// # Errors
    /// The errors of [`string`](Self::string).
    pub fn name(&mut self, id: Id, name: &str) -> Result<&mut Self> {
        let mut operands = vec![id.0];
        operands.extend(text(name)?);
        self.annotate(ModulePart::Names, op::NAME, &operands)
    }

    /// Adds a type or constant, or returns the id of an equal type or constant. Constants have a type operand `ty`;
    /// types have none.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] if the operands do not fit one instruction, or no id is left.
    pub fn global(&mut self, opcode: u16, ty: Option<Id>, operands: &[u32]) -> Result<Id> {
        self.once(ModulePart::Globals, opcode, ty, operands)
    }

    /// Adds a global variable, or a type or constant that is never shared with an equal one, under an id that was
    /// [allocated](Self::id) before.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] if the operands do not fit one instruction.
    pub fn global_as(&mut self, id: Id, opcode: u16, ty: Option<Id>, operands: &[u32]) -> Result<&mut Self> {
        push(&mut self.parts[ModulePart::Globals as usize], opcode, ty, Some(id), operands)?;
        Ok(self)
    }

    /// Adds an instruction without a result to a section, such as a decoration or an execution mode.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] if the operands do not fit one instruction.
    pub fn annotate(&mut self, part: ModulePart, opcode: u16, operands: &[u32]) -> Result<&mut Self> {
        push(&mut self.parts[part as usize], opcode, None, None, operands)?;
        Ok(self)
    }

    fn once(&mut self, part: ModulePart, opcode: u16, ty: Option<Id>, operands: &[u32]) -> Result<Id> {
        // The section is not part of the key, because the opcode determines it.
        let mut key = vec![u32::from(opcode), ty.map_or(0, |ty| ty.0)];
        key.extend_from_slice(operands);
        if let Some(&id) = self.reused.get(&key) {
            return Ok(id);
        }
        let id = self.id()?;
        push(&mut self.parts[part as usize], opcode, ty, Some(id), operands)?;
        self.reused.insert(key, id);
        Ok(id)
    }

    /// Begins a function with its return type, function control and function type.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`] if the previous function is not ended; [`ErrorKind::TooLarge`] if no id is left.
    pub fn function(&mut self, returns: Id, control: u32, ty: Id) -> Result<Id> {
        let id = self.id()?;
        self.function_as(id, returns, control, ty)?;
        Ok(id)
    }

    /// Begins a function, as [`function`](Self::function) does, under an id that was [allocated](Self::id) before.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`] if the previous function is not ended.
    pub fn function_as(&mut self, id: Id, returns: Id, control: u32, ty: Id) -> Result<&mut Self> {
        if let Some(open) = self.open {
            return Err(not_ended(open.function));
        }
        push(&mut self.functions, op::FUNCTION, Some(returns), Some(id), &[control, ty.0])?;
        self.open = Some(Open { function: id, block: None, has_blocks: false });
        Ok(self)
    }

    /// Adds the next parameter of the function.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`] outside a function, or after its first block; [`ErrorKind::TooLarge`] if no id is
    /// left.
    pub fn parameter(&mut self, ty: Id) -> Result<Id> {
        let id = self.id()?;
        self.parameter_as(id, ty)?;
        Ok(id)
    }

    /// Adds a parameter, as [`parameter`](Self::parameter) does, under an id that was [allocated](Self::id) before.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`] outside a function, or after its first block.
    pub fn parameter_as(&mut self, id: Id, ty: Id) -> Result<&mut Self> {
        if self.open.is_none_or(|open| open.has_blocks) {
            let what = format!("parameter {id} is outside a function, or after its first block");
            return Err(Error::bad_argument(what));
        }
        push(&mut self.functions, op::FUNCTION_PARAMETER, Some(ty), Some(id), &[])?;
        Ok(self)
    }

    /// Begins a block.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`] outside a function, or if the previous block is not ended;
    /// [`ErrorKind::TooLarge`] if no id is left.
    pub fn block(&mut self) -> Result<Id> {
        let id = self.id()?;
        self.block_as(id)?;
        Ok(id)
    }

    /// Begins a block, as [`block`](Self::block) does, under an id that was [allocated](Self::id) before.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`] outside a function, or if the previous block is not ended.
    pub fn block_as(&mut self, id: Id) -> Result<&mut Self> {
        let outside = || Error::bad_argument(format!("block {id} is outside a function"));
        let open = self.open.as_mut().ok_or_else(outside)?;
        // A block must end before the next begins.
        if let Some((block, _)) = open.block {
            return Err(without_terminator(block));
        }
        (open.block, open.has_blocks) = (Some((id, 0)), true);
        push(&mut self.functions, op::LABEL, None, Some(id), &[])?;
        Ok(self)
    }

    /// Adds an instruction with a result to the block.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`] outside a block; [`ErrorKind::TooLarge`] if the operands do not fit one
    /// instruction, or no id is left.
    pub fn result(&mut self, opcode: u16, ty: Id, operands: &[u32]) -> Result<Id> {
        let id = self.id()?;
        self.instruction(opcode, Some((ty, id)), operands)?;
        Ok(id)
    }

    /// Adds an instruction, as [`result`](Self::result) does, under an id that was [allocated](Self::id) before.
    ///
    /// # Errors
    /// The errors of [`result`](Self::result).
    pub fn result_as(&mut self, id: Id, opcode: u16, ty: Id, operands: &[u32]) -> Result<&mut Self> {
        self.instruction(opcode, Some((ty, id)), operands)
    }

    /// Adds an instruction without a result to the block. A terminator ends the block.
    ///
    /// # Errors
    /// The errors of [`result`](Self::result).
    pub fn effect(&mut self, opcode: u16, operands: &[u32]) -> Result<&mut Self> {
        self.instruction(opcode, None, operands)
    }

    fn instruction(&mut self, opcode: u16, result: Option<(Id, Id)>, operands: &[u32]) -> Result<&mut Self> {
        let open = self.open.as_mut();
        let Some(Open { block: block @ Some(_), .. }) = open else {
            return Err(Error::bad_argument(format!("instruction with opcode {opcode} is outside a block")));
        };
        push(&mut self.functions, opcode, result.map(|(ty, _)| ty), result.map(|(_, id)| id), operands)?;
        *block = block.filter(|_| !op::is_terminator(opcode)).map(|(id, count)| (id, count + 1));
        Ok(self)
    }

    /// The position before the block's next instruction.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`] outside a block.
    pub fn position(&self) -> Result<Position> {
        // The index counts instructions after the label.
        match self.open {
            Some(Open { function, block: Some((block, count)), .. }) => {
                Ok(Position::before(function, block, count))
            }
            _ => Err(Error::bad_argument("no block is open; a position is in an open block")),
        }
    }

    /// Ends the function.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`] outside a function, or if the last block is not ended.
    pub fn end_function(&mut self) -> Result<&mut Self> {
        match self.open {
            None => {
                return Err(Error::bad_argument("no function is open; `end_function` ends an open function"));
            }
            Some(Open { block: Some((block, _)), .. }) => {
                return Err(without_terminator(block));
            }
            Some(_) => self.open = None,
        }
        push(&mut self.functions, op::FUNCTION_END, None, None, &[])?;
        Ok(self)
    }

    /// The module's words.
    ///
    /// # Errors
    /// [`ErrorKind::BadArgument`] if a function is not ended.
    pub fn finish(self) -> Result<Vec<u32>> {
        if let Some(open) = self.open {
            return Err(not_ended(open.function));
        }
        // The generator's number is 0, because eitri has none in the registry; the last word is the reserved schema.
        let mut words = vec![MAGIC, self.version, 0, self.ids.bound(), 0];
        words.extend(self.parts.iter().flatten());
        words.extend(self.functions);
        Ok(words)
    }

    /// The module with debug instructions: [`finish`](Self::finish), then [`attach`](super::attach()).
    ///
    /// # Errors
    /// The errors of [`finish`](Self::finish) and [`attach`](super::attach()).
    pub fn attach(self, module: &Module, binding: &Binding, mode: &Mode) -> Result<Attached> {
        attach(&self.finish()?, module, binding, mode)
    }
}

/// Appends an instruction.
fn push(to: &mut Vec<u32>, opcode: u16, ty: Option<Id>, id: Option<Id>, operands: &[u32]) -> Result<()> {
    let results = [ty, id].into_iter().flatten();
    let len = 1 + results.clone().count() + operands.len();
    let len = u16::try_from(len).map_err(|_| {
        let what = format!("an instruction has {}; at most 65535 are possible", Count(len, "word"));
        Error::new(ErrorKind::TooLarge(what))
    })?;
    to.push(u32::from(len) << 16 | u32::from(opcode));
    to.extend(results.map(|id| id.0));
    to.extend_from_slice(operands);
    Ok(())
}

/// Returns the error for a function without an end.
fn not_ended(function: Id) -> Error {
    Error::bad_argument(format!("function {function} is still open; `end_function` ends it"))
}

/// Returns the error for a block without a terminator.
fn without_terminator(block: Id) -> Error {
    Error::bad_argument(format!("block {block} is still open; a terminator ends it"))
}

/// Encodes a literal string as words.
fn text(text: &str) -> Result<Vec<u32>> {
    if text.contains('\0') {
        return Err(ErrorKind::ZeroByte { text: format!("the text {text:?}") }.into());
    }
    let mut words = Vec::new();
    string_words(text, &mut words);
    Ok(words)
}
