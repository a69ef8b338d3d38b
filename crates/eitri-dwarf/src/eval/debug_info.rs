//! Debug information that expressions refer to: a part of a [`Machine`], read from a file.

use core::fmt;
use std::collections::BTreeMap;
use std::sync::OnceLock;

use gimli::{DwAt, constants as dw};

use super::architecture::Architecture;
use super::call_sites::{Calls, entry_with};
use super::context::{Context, ResultKind};
use super::evaluator::Evaluator;
use super::fault::{Fault, error};
use super::forward::forward;
use super::lists::EncodedList;
use super::location::Location;
use super::machine::{Body, CallValue, Machine, ReferencedEntry};
use super::value::{BaseType, TypeEncoding};
use crate::attributes::{
    DW_AT_LLVM_ACTIVE_LANE_AMD, DW_AT_LLVM_LANE_PC, DW_AT_LLVM_LANE_PC_AMD, DW_AT_LLVM_LANES,
    DW_AT_LLVM_LANES_AMD, DW_AT_LLVM_VECTOR_SIZE,
};
use crate::error::Count;
use crate::op::{Dialect, Encoding};
use crate::read::{self, Dwarf, Object, ResolvedValue, Unit};
use crate::target::{SpaceId, Target, Wave};

/// `DW_AT_LLVM_lane_pc`: LLVM's number, and the number in the AMDGPU extension and AMD's debugger. Other attributes
/// with the second number are not expressions.
const LANE_PC: [DwAt; 2] = [DW_AT_LLVM_LANE_PC, DW_AT_LLVM_LANE_PC_AMD];
/// `DW_AT_LLVM_active_lane`, without a number in LLVM. Other attributes with this number are not expressions.
const ACTIVE_LANE: [DwAt; 1] = [DW_AT_LLVM_ACTIVE_LANE_AMD];

/// A file's debug information, for a [`Machine`]: entries that are called or pointed to, base types, addresses by
/// index, and subprograms' frame attributes.
#[derive(Debug)]
pub struct DebugInfo<'a, 'o> {
    pub(super) dwarf: &'a Dwarf<'o>,
    /// Constants that are numbers, as bytes by entry; collected at the first request.
    constants: OnceLock<BTreeMap<u64, Vec<u8>>>,
    /// Call sites; collected at the first request.
    calls: OnceLock<Calls>,
}

impl<'a> Context<'a> {
    /// Returns a context for a location in a unit that was read, in the innermost frame, with an empty stack.
    pub fn in_unit(unit: &Unit<'_>, target: &'a dyn Architecture) -> Self {
        Self::new(unit.encoding, target).with_unit(unit.offset)
    }
}

impl<'a, 'o> DebugInfo<'a, 'o> {
    /// Returns the debug information in a file that was read.
    pub fn new(dwarf: &'a Dwarf<'o>) -> Self {
        Self { dwarf, constants: OnceLock::new(), calls: OnceLock::new() }
    }

    /// Returns the file.
    pub fn dwarf(&self) -> &'a Dwarf<'o> {
        self.dwarf
    }

    fn unit(&self, offset: u64) -> Option<&'a Unit<'o>> {
        let units = self.dwarf.units();
        let index = units.binary_search_by_key(&offset, |unit| unit.offset).ok()?;
        Some(&units[index])
    }

    /// Implements [`Machine::debug_addr`].
    pub fn debug_addr(&self, unit: u64, index: u64) -> Option<u64> {
        self.dwarf.address(self.unit(unit)?, index).ok()
    }

    /// Implements [`Machine::base_type`].
    pub fn base_type(&self, unit: u64, offset: u64) -> Option<BaseType> {
        let entry = self.dwarf.entry_at(unit.checked_add(offset)?)?;
        // An offset beyond the unit would reach another unit's types.
        if entry.unit().offset == unit { base_type(entry) } else { None }
    }

    /// Implements [`Machine::variable_type`]: a base type, a pointer's address, or the numbers of an enumeration, whose names
    /// [`Entry::enumerator`](read::Entry::enumerator) returns.
    pub fn variable_type(&self, offset: u64) -> Option<BaseType> {
        let ty = self.dwarf.entry_at(offset)?.ty()?.unqualified()?;
        match ty.tag() {
            dw::DW_TAG_base_type => base_type(ty),
            dw::DW_TAG_enumeration_type => enumeration(ty),
            dw::DW_TAG_pointer_type | dw::DW_TAG_reference_type | dw::DW_TAG_rvalue_reference_type => {
                Some(BaseType::new(TypeEncoding::Address, u32::try_from(ty.size_bits()?).ok()?))
            }
            _ => None,
        }
    }

    /// Implements [`Machine::entry`].
    pub fn entry(&self, offset: u64) -> Option<ReferencedEntry<'_>> {
        let entry = self.dwarf.entry_at(offset)?;
        Some(entry_with(entry, self.body(entry)))
    }

    /// Returns an entry's location or constant: its `DW_AT_location`, or else its `DW_AT_const_value`.
    pub fn body(&self, entry: read::Entry<'_, 'o>) -> Body<'_> {
        match attribute_body(entry, dw::DW_AT_location) {
            Body::Nothing => match entry.inherited(dw::DW_AT_const_value) {
                Some(ResolvedValue::Block(bytes)) => Body::Constant(bytes),
                Some(ResolvedValue::String(string)) => Body::Constant(string.bytes()),
                Some(ResolvedValue::Unreadable) => Body::Unreadable,
                Some(_) => self.constant(entry.offset()),
                None => Body::Nothing,
            },
            body => body,
        }
    }

    /// Returns where a variable, a parameter or a constant is in the innermost frame of a stopped program: the result of
    /// its [`body`](Self::body), or that of the entry from which it [inherits](read::Entry::inherited) its location. A variable
    /// without a location or a constant is at the undefined location, as DWARF 5 section 4.1 says; reading there is a
    /// [fault](Fault::is_undefined) that means "optimized out".
    ///
    /// The machine has registers and memory; entries, base types, addresses, frames and call sites come from this file.
    /// [`Frame::variable_location`](super::Frame::variable_location) does the same in any frame of a
    /// [`CallStack`](super::CallStack). For other attributes, or steps of the evaluation, [`Evaluator`] takes a
    /// [`WithDebugInfo`].
    ///
    /// # Errors
    /// An evaluation error for a declaration, whose definition has the location, and for a location that cannot be read;
    /// the errors of [`Evaluator::variable_location`].
    ///
    /// ```
    /// use eitri_dwarf::eval::{DebugInfo, Snapshot, read_bits};
    /// use eitri_dwarf::op::Reg;
    /// use eitri_dwarf::read::{Dwarf, Object};
    ///
    /// let object = Object::read(include_bytes!("../../data/squares.o"))?;
    /// let dwarf = Dwarf::read(&object)?;
    /// let target = object.target(None).ok_or("unknown machine")?;
    ///
    /// // A stopped process: a debugger implements `Machine` instead.
    /// let mut process = Snapshot::default();
    /// process.pc = Some(dwarf.address_in("squares", 0x13)?);
    /// process.registers.insert(Reg(0), 25_u64.to_le_bytes().into());
    ///
    /// let info = DebugInfo::new(&dwarf);
    /// let total = dwarf.variable_named("total", process.pc)?;
    /// let location = info.variable_location(total.located, &process, &target)?;
    /// assert_eq!(read_bits(&location, 32, &process)?.bytes, [25, 0, 0, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn variable_location(
        &self,
        entry: read::Entry<'_, 'o>,
        machine: &dyn Machine,
        target: &dyn Architecture,
    ) -> Result<Location, Fault> {
        let context = Context::in_unit(entry.unit(), target);
        let machine = WithDebugInfo::new(self, machine, context);
        self.locate(entry, &mut Evaluator::new(), &machine, &context)
    }

    /// Evaluates an entry's location, which can be inherited from an entry in another unit.
    pub(super) fn locate(
        &self,
        entry: read::Entry<'_, 'o>,
        evaluator: &mut Evaluator,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Location, Fault> {
        debug_assert!(self.own_entry(entry).is_some(), "the entry is in another file");
        let located = entry.inherited_from(dw::DW_AT_location).map_or(entry, |(located, _)| located);
        let unit = located.unit();
        self.check_machine(machine, context.target, context.frame)?;
        let context = Context { unit: unit.offset, encoding: unit.encoding, ..*context };
        match self.body(located) {
            Body::Nothing if entry.has(dw::DW_AT_declaration) => {
                Err(error("the entry is a declaration: its definition has the location"))
            }
            Body::Unreadable => Err(unreadable(located)),
            body => evaluator.variable_location(body, machine, &context),
        }
    }

    /// Compares a stopped program with the file: byte order, address size, processor, and the number of lanes in a wave of a
    /// frame's function. [`variable_location`](Self::variable_location) does this itself. An [`Evaluator`] does not, so that a
    /// debugger that uses it checks once.
    ///
    /// # Errors
    /// An evaluation error that names both values.
    ///
    /// ```
    /// # use eitri_dwarf::eval::{DebugInfo, Snapshot};
    /// # use eitri_dwarf::read::{Dwarf, Object};
    /// # use eitri_dwarf::target::Target;
    /// # let object = Object::read(include_bytes!("../../data/squares.o"))?;
    /// # let dwarf = Dwarf::read(&object)?;
    /// let fault = DebugInfo::new(&dwarf).check_machine(&Snapshot::default(), &Target::aarch64(), 0).unwrap_err();
    /// assert_eq!(
    ///     fault.to_string(),
    ///     "evaluation error: the target is aarch64, whose ELF machine is 183; expected 62, as in the file"
    /// );
    /// # Ok::<(), eitri_dwarf::Error>(())
    /// ```
    pub fn check_machine(
        &self,
        machine: &dyn Machine,
        target: &dyn Architecture,
        frame: u32,
    ) -> Result<(), Fault> {
        let sections = self.dwarf.sections();
        if machine.is_big_endian() != sections.big_endian {
            let [machine, file] = [machine.is_big_endian(), sections.big_endian]
                .map(|is_big| if is_big { "big-endian" } else { "little-endian" });
            return Err(error(format!("the machine is {machine}; expected {file}, as the file is")));
        }
        if let Some(number) = target.elf_machine()
            && ![0, number].contains(&sections.machine)
        {
            let name = target.name();
            let file = sections.machine;
            return Err(error(format!(
                "the target is {name}, whose ELF machine is {number}; expected {file}, as in the file"
            )));
        }
        let address_bits = target.space(SpaceId::DEFAULT).map(|space| space.address_bits);
        let unit_bits = self.dwarf.units().first().map(|unit| u32::from(unit.encoding.address_bytes) * 8);
        if let (Some(target), Some(file)) = (address_bits, unit_bits)
            && target != file
        {
            return Err(error(format!(
                "the target's addresses have {}; expected {file}, as in the file",
                Count(target, "bit")
            )));
        }
        let Some(lanes) = target.lanes() else { return Ok(()) };
        match machine.pc(frame).and_then(|pc| self.lanes(pc)) {
            Some(file) if u64::from(lanes) != file => Err(error(format!(
                "the target's waves have {}; expected {file}, as in the file's function",
                Count(lanes, "lane")
            ))),
            _ => Ok(()),
        }
    }

    /// Returns the entry if it is in this file, or in its supplementary file.
    pub(super) fn own_entry(&self, entry: read::Entry<'_, '_>) -> Option<read::Entry<'a, 'o>> {
        let address = |file: &Dwarf<'_>| core::ptr::from_ref(file).addr();
        let mut files = [Some(self.dwarf), self.dwarf.supplementary()].into_iter().flatten();
        let is_own = files.any(|file| address(file) == address(entry.dwarf()));
        if is_own { self.dwarf.entry_at(entry.offset()) } else { None }
    }

    fn constant(&self, offset: u64) -> Body<'_> {
        let constants = self.constants.get_or_init(|| {
            let entries = self.dwarf.entries();
            entries.filter_map(|entry| Some((entry.offset(), number_bytes(entry)?))).collect()
        });
        constants.get(&offset).map_or(Body::Nothing, |bytes| Body::Constant(bytes))
    }

    /// Returns the call sites.
    pub(super) fn calls(&self) -> &Calls {
        self.calls.get_or_init(|| Calls::read(self.dwarf))
    }

    /// Returns the innermost non-inlined subprogram with code at a pc: the first of [`Dwarf::functions_at`].
    pub fn subprogram(&self, pc: u64) -> Option<read::Entry<'a, 'o>> {
        read::function_at(self.dwarf, pc)
    }

    /// Returns `DW_AT_frame_base` for the subprogram with code at a pc, and its unit.
    pub fn frame_base(&self, pc: u64) -> Option<ReferencedEntry<'_>> {
        self.attribute_at(pc, &[dw::DW_AT_frame_base])
    }

    /// Returns the reason why there is no frame base at a pc.
    pub(super) fn frame_base_problem(&self, pc: Option<u64>) -> String {
        let Some(pc) = pc else { return "the frame has no program location in the file".into() };
        let text = self.dwarf.pc_notation().pc(pc);
        match self.subprogram(pc) {
            None => format!("no function of the debug information has code at pc {text}"),
            Some(function) => {
                let name = function.name().unwrap_or_default();
                format!("function `{name}` with pc {text} has no `DW_AT_frame_base`")
            }
        }
    }

    /// Returns `DW_AT_LLVM_lane_pc` for the subprogram with code at a pc, and its unit.
    pub fn lane_pc(&self, pc: u64) -> Option<ReferencedEntry<'_>> {
        self.attribute_at(pc, &LANE_PC)
    }

    /// Returns `DW_AT_LLVM_active_lane` for the subprogram with code at a pc, and its unit.
    pub fn active_lane(&self, pc: u64) -> Option<ReferencedEntry<'_>> {
        self.attribute_at(pc, &ACTIVE_LANE)
    }

    /// Returns the first attribute among `names` that the subprogram with code at a pc has.
    fn attribute_at(&self, pc: u64, names: &[DwAt]) -> Option<ReferencedEntry<'_>> {
        let entry = self.subprogram(pc)?;
        let mut bodies = names.iter().map(|&name| attribute_body(entry, name));
        let body = bodies.find(|body| *body != Body::Nothing)?;
        Some(entry_with(entry, body))
    }

    /// Returns the lane count of the subprogram with code at a pc, if given.
    pub fn lanes(&self, pc: u64) -> Option<u64> {
        lanes(self.subprogram(pc)?)
    }

    /// Returns the target of the object with this debug information. Where its header and its kernels do not state the
    /// wave size, the subprograms' lane count does, if all that give a count give the same.
    pub fn target(&self, object: &Object<'_>) -> Option<Target> {
        object.target(None).or_else(|| {
            let lanes = self.lanes_of_all()?;
            let wave = [Wave::W32, Wave::W64].into_iter().find(|wave| u64::from(wave.lanes()) == lanes);
            object.target(Some(wave?))
        })
    }

    /// Returns the lane count, if all subprograms that give a count give the same.
    pub fn lanes_of_all(&self) -> Option<u64> {
        let subprograms = self.dwarf.entries().filter(|entry| entry.tag() == dw::DW_TAG_subprogram);
        let mut described = subprograms.filter_map(lanes);
        let first = described.next()?;
        described.all(|lanes| lanes == first).then_some(first)
    }
}

/// Returns an attribute's expression or location list.
pub(super) fn attribute_body<'o>(entry: read::Entry<'_, 'o>, name: DwAt) -> Body<'o> {
    match entry.attr(name) {
        Some(ResolvedValue::Expr(expr)) => Body::Expression(expr),
        Some(ResolvedValue::LocList(offset)) => match entry.dwarf().location_bytes(entry.unit(), offset) {
            Some((format, bytes)) => {
                Body::EncodedList(EncodedList { format, bytes, base: entry.unit().low_pc.unwrap_or(0) })
            }
            None => Body::Unreadable,
        },
        Some(ResolvedValue::Unreadable) => Body::Unreadable,
        _ => Body::Nothing,
    }
}

/// Returns the fault for an entry's location or constant that cannot be read.
fn unreadable(entry: read::Entry<'_, '_>) -> Fault {
    let list = entry.locations(dw::DW_AT_location).err();
    let constant = || entry.inherited_from(dw::DW_AT_const_value)?.0.problem(dw::DW_AT_const_value);
    match list.or_else(constant) {
        Some(why) => error(format!("the location cannot be read: {why}")),
        None => error("the location cannot be read"),
    }
}

fn lanes(subprogram: read::Entry<'_, '_>) -> Option<u64> {
    let is_legacy = subprogram.unit().encoding.dialect == Dialect::Legacy;
    subprogram.number(if is_legacy { DW_AT_LLVM_LANES_AMD } else { DW_AT_LLVM_LANES })
}

/// Returns an entry's base type, if it is a base type with a known encoding.
fn base_type(entry: read::Entry<'_, '_>) -> Option<BaseType> {
    if entry.tag() != dw::DW_TAG_base_type {
        return None;
    }
    let encoding = TypeEncoding::from_code(u8::try_from(entry.number(dw::DW_AT_encoding)?).ok()?);
    let bits = u32::try_from(entry.size_bits()?).ok()?;
    let elements = entry.number(DW_AT_LLVM_VECTOR_SIZE).map_or(Some(1), |count| u32::try_from(count).ok())?;
    (elements > 0).then_some(BaseType { encoding, bits, elements })
}

/// Returns the numbers of an enumeration: those of its underlying type, in its size. Without an underlying type, as before
/// DWARF 3, they have a sign if an enumerator is negative.
fn enumeration(ty: read::Entry<'_, '_>) -> Option<BaseType> {
    let ty = ty.definition()?;
    let underlying = ty.ty().and_then(read::Entry::unqualified).and_then(base_type);
    let is_negative = |enumerator: read::Entry<'_, '_>| {
        matches!(enumerator.attr(dw::DW_AT_const_value), Some(ResolvedValue::Signed(..0)))
    };
    let encoding = match underlying {
        Some(underlying) => underlying.encoding,
        None if ty.children().any(is_negative) => TypeEncoding::Signed,
        None => TypeEncoding::Unsigned,
    };
    Some(BaseType::new(encoding, u32::try_from(ty.size_bits()?).ok()?))
}

/// Returns a number constant's bytes: as many as its type has, or else its form.
fn number_bytes(entry: read::Entry<'_, '_>) -> Option<Vec<u8>> {
    let named = |attribute: &read::Attribute<'_>| attribute.name == dw::DW_AT_const_value;
    let form = entry.attributes().find(named).map(|attribute| attribute.form);
    let of_form = match form {
        Some(dw::DW_FORM_data1) => Some(1),
        Some(dw::DW_FORM_data2) => Some(2),
        Some(dw::DW_FORM_data4) => Some(4),
        Some(dw::DW_FORM_data8) => Some(8),
        Some(dw::DW_FORM_data16) => Some(16),
        _ => None,
    };
    let number = match entry.inherited(dw::DW_AT_const_value)? {
        ResolvedValue::Unsigned(number) => i128::from(number),
        ResolvedValue::Signed(number) => i128::from(number),
        ResolvedValue::Wide(number) => number as i128,
        _ => return None,
    };
    let of_type = entry.ty().and_then(read::Entry::size_bits).and_then(|bits| usize::try_from(bits / 8).ok());
    let size = of_type.filter(|size| (1..=16).contains(size)).or(of_form)?;
    Some(if entry.unit().encoding.big_endian {
        // The low bytes, in the order that memory has.
        number.to_be_bytes()[16 - size..].to_vec()
    } else {
        number.to_le_bytes()[..size].to_vec()
    })
}

/// A stopped program with its file's debug information. The file's debug information precedes the machine's own;
/// contents come from the machine.
///
/// The innermost frame's canonical frame address is the machine's, if it has one, or else comes from the file's call
/// frame information.
pub struct WithDebugInfo<'a, 'o> {
    info: &'a DebugInfo<'a, 'o>,
    machine: &'a dyn Machine,
    context: Context<'a>,
}

impl fmt::Debug for WithDebugInfo<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WithDebugInfo").field("info", &self.info).finish_non_exhaustive()
    }
}

impl<'a, 'o> WithDebugInfo<'a, 'o> {
    /// Returns the machine with the file's debug information. Expressions in call frame information are evaluated
    /// with the context's encoding and target.
    pub fn new(info: &'a DebugInfo<'a, 'o>, machine: &'a dyn Machine, context: Context<'a>) -> Self {
        Self {
            info,
            machine,
            context: Context { kind: ResultKind::Location, frame: 0, initial: &[], ..context },
        }
    }
}

impl Machine for WithDebugInfo<'_, '_> {
    forward! { register memory is_big_endian lane iteration iterations pc saved object tls load_bias }

    fn lanes(&self) -> u64 {
        let described = self.pc(0).and_then(|pc| self.info.lanes(pc));
        described.unwrap_or_else(|| self.machine.lanes())
    }

    fn cfa(&self, frame: u32) -> Option<Location> {
        let cfa = self.machine.cfa(frame);
        cfa.or_else(|| if frame == 0 { self.info.cfa(self.machine, &self.context) } else { None })
    }

    fn cfa_problem(&self, frame: u32) -> Option<String> {
        let known = self.machine.cfa_problem(frame);
        known.or_else(|| if frame == 0 { self.info.cfa_problem(self.machine, &self.context) } else { None })
    }

    fn frame_base_problem(&self, frame: u32) -> Option<String> {
        Some(self.info.frame_base_problem(self.pc(frame)))
    }

    fn frame_base(&self, frame: u32) -> Option<ReferencedEntry<'_>> {
        let described = self.pc(frame).and_then(|pc| self.info.frame_base(pc));
        described.or_else(|| self.machine.frame_base(frame))
    }

    fn debug_addr(&self, unit: u64, index: u64) -> Option<u64> {
        self.info.debug_addr(unit, index).or_else(|| self.machine.debug_addr(unit, index))
    }

    fn base_type(&self, unit: u64, offset: u64) -> Option<BaseType> {
        self.info.base_type(unit, offset).or_else(|| self.machine.base_type(unit, offset))
    }

    fn entry(&self, offset: u64) -> Option<ReferencedEntry<'_>> {
        self.info.entry(offset).or_else(|| self.machine.entry(offset))
    }

    fn entry_value(&self, expr: &[u8], encoding: Encoding, frame: u32) -> Option<CallValue<'_>> {
        let passed = self.info.entry_value(self.machine, expr, encoding, frame);
        passed.or_else(|| self.machine.entry_value(expr, encoding, frame))
    }

    fn call_value(&self, parameter: u64, frame: u32) -> Option<CallValue<'_>> {
        let passed = self.info.call_value(self.machine, parameter, frame);
        passed.or_else(|| self.machine.call_value(parameter, frame))
    }

    fn variable_type(&self, offset: u64) -> Option<BaseType> {
        self.info.variable_type(offset).or_else(|| self.machine.variable_type(offset))
    }
}
