//! Entry attributes as a debugger evaluates them: each with the result kind, object and initial stack that the
//! specification requires (A.3 to A.6, and DWARF 5 where unchanged).
//!
//! All are methods of [`Evaluator`]. The specification's rule for the attribute replaces the result kind, object,
//! initial stack and position of the given [`Context`]; encoding, target, unit and frame remain the caller's: the
//! unit has the attribute, and the frame is in focus.
//!
//! | attribute | result | object | initial stack | |
//! |---|---|---|---|---|
//! | `location`, of variables and common blocks | location | none | empty | A.4.1, A.4.2 |
//! | `frame_base`, `static_link`, `return_addr` | location in memory | none | empty | A.3.3.5 |
//! | `call_value`, `call_data_value`, `call_target`: `call_site_value` | value | none | empty | A.3.4.2 |
//! | `call_data_location` | location | none | empty | A.3.4.2 |
//! | `data_member_location` | location | none | the container | A.5.7.3 |
//! | `vtable_elem_location` | location | none | the object | A.5.7.8 |
//! | `use_location` | location | none | the pointer's value, the object | A.5.14 |
//! | `data_location` | location | the descriptor | empty | A.5.18.1 |
//! | bounds, counts, strides, `allocated`, `associated`, `rank` | value | the descriptor | empty | DWARF 5, 2.19, 5.18 |
//! | `string_length` | value at a location | the descriptor | empty | DWARF 5, 5.11 |
//! | `lane_pc`, `active_lane` | location | none | empty | R, A.3.3.5 |
//! | `def_cfa_expression` | location in memory | none | empty | A.6.4.2.2 |
//! | rules `expression`, `val_expression` | location, value | none | the canonical frame address | A.6.4.1 |

use super::context::{Context, CurrentObject, ExpressionSite, ResultKind};
use super::evaluator::Evaluator;
use super::fault::{Fault, brief, error, ill_formed};
use super::location::{ImplicitBits, Location, Storage};
use super::machine::{Body, Machine, ReferencedEntry};
use super::stack::{Element, Outcome};
use super::value::{BaseType, ImplicitPointer, TypeEncoding, Value};
use crate::error::Count;
use crate::op::Reg;

/// Returns the context for an attribute without an object and with an empty stack.
fn without_object<'a>(context: &Context<'a>, kind: ResultKind) -> Context<'a> {
    Context { kind, object: CurrentObject::Unspecified, initial: &[], ..*context }
}

/// Refuses a location that is not a single location in memory, as the specification does for some attributes.
fn in_memory(location: Location, what: &str) -> Result<Location, Fault> {
    match location.single().map(|place| &place.storage) {
        Some(Storage::Memory { .. }) => Ok(location),
        _ => Err(ill_formed(format!("{what} is not a single location in memory: {}", brief(&location)))),
    }
}

impl Evaluator {
    /// Evaluates an attribute's expression, list or constant in the given context.
    ///
    /// Location list entries are evaluated with an empty stack and without an object, regardless of the context
    /// (A.2.5.5).
    ///
    /// # Errors
    /// Errors from [`evaluate`](Self::evaluate); an evaluation error if the attribute is missing.
    pub fn attribute(
        &mut self,
        body: Body<'_>,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Outcome, Fault> {
        if let Body::Expression(expr) = body {
            return self.evaluate(expr, machine, context);
        }
        self.run(machine, context, None, |run| {
            let location = run.body(run.scope, body)?;
            // The run converts the location if the context asks for a value.
            run.push(location.ok_or_else(|| error("the entry does not have the attribute"))?);
            run.finish(context.kind)
        })
    }

    /// Evaluates an attribute to a location.
    fn located(
        &mut self,
        body: Body<'_>,
        machine: &dyn Machine,
        context: Context<'_>,
    ) -> Result<Location, Fault> {
        match self.attribute(body, machine, &Context { kind: ResultKind::Location, ..context })? {
            Element::Location(location) => Ok(location),
            // Unreachable with this kind.
            Element::Value(value) => {
                Err(ill_formed(format!("the expression leaves the value {value}; expected a location")))
            }
        }
    }

    /// Evaluates a variable's, parameter's or common block's location: `DW_AT_location`, or `DW_AT_const_value` as
    /// [`Body::Constant`] (A.4.1, A.4.2). Without either ([`Body::Nothing`]) it is the undefined location: the variable exists
    /// in the source and not in the program (DWARF 5, section 4.1).
    ///
    /// # Errors
    /// Errors from [`attribute`](Self::attribute).
    ///
    /// # Example
    ///
    /// ```
    /// # use eitri_dwarf::eval::{Context, DebugInfo, Evaluator, Snapshot, WithDebugInfo};
    /// # use eitri_dwarf::read::{Dwarf, Object};
    /// # let bytes = include_bytes!("../../data/squares.o");
    /// let object = Object::read(bytes)?;
    /// let dwarf = Dwarf::read(&object)?;
    /// let target = object.target(None).expect("a known machine");
    /// let mut process = Snapshot::default();
    /// process.pc = Some(dwarf.address_in("squares", 0x13)?);
    ///
    /// // `total`, whose list has `DW_OP_reg0` at this pc.
    /// let total = dwarf.entry_at(0x66).expect("a variable");
    /// let info = DebugInfo::new(&dwarf);
    /// let context = Context::in_unit(total.unit(), &target);
    /// let machine = WithDebugInfo::new(&info, &process, context);
    /// let location = Evaluator::new().variable_location(info.body(total), &machine, &context)?;
    /// assert_eq!(location.in_names(&target).to_string(), "reg:rax");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn variable_location(
        &mut self,
        location: Body<'_>,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Location, Fault> {
        match location {
            Body::Nothing => Ok(Location::undefined()),
            location => self.frame_location(location, machine, context),
        }
    }

    /// Evaluates a subprogram's attribute, which is not optional, to a location.
    fn frame_location(
        &mut self,
        attribute: Body<'_>,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Location, Fault> {
        self.located(attribute, machine, without_object(context, ResultKind::Location))
    }

    /// Evaluates a call site's value (A.3.4.2; DWARF 5, section 3.4.1): a parameter's value at the call,
    /// `DW_AT_call_value`, or its referent's, `DW_AT_call_data_value`; or the called subprogram's address,
    /// `DW_AT_call_target` or `DW_AT_call_target_clobbered`. The context's frame is the calling frame.
    ///
    /// # Errors
    /// Errors from [`value`](Self::value).
    pub fn call_site_value(
        &mut self,
        expr: &[u8],
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Value, Fault> {
        self.value(expr, machine, &without_object(context, ResultKind::Value))
    }

    /// Evaluates where a parameter's referent is during the call: `DW_AT_call_data_location` (A.3.4.2).
    ///
    /// # Errors
    /// Errors from [`location`](Self::location).
    pub fn call_data_location(
        &mut self,
        expr: &[u8],
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Location, Fault> {
        self.location(expr, machine, &without_object(context, ResultKind::Location))
    }
}

// Subprogram attributes, and the rules in call frame information.

/// Returns the context for an expression in call frame information, which belongs to no unit, and may not use all
/// operations (A.6.4.2).
fn in_cfi<'a>(context: &Context<'a>, kind: ResultKind) -> Context<'a> {
    Context { place: ExpressionSite::Cfi, ..without_object(context, kind) }
}

impl Evaluator {
    /// Evaluates a subprogram's frame base: `DW_AT_frame_base` (A.3.3.5). If the attribute is a register, the result
    /// is the location in the default space that the register contains.
    ///
    /// # Errors
    /// Ill-formed if it contains `DW_OP_fbreg`, or is not a single location in a register or in memory; and the
    /// errors of [`attribute`](Self::attribute).
    pub fn frame_base(
        &mut self,
        frame_base: Body<'_>,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Location, Fault> {
        let entry = ReferencedEntry { body: frame_base, unit: context.unit, encoding: None };
        self.run(machine, &without_object(context, ResultKind::Location), None, |run| {
            run.frame_base_of(&entry)
        })
    }

    /// Evaluates the canonical frame address of the enclosing subprogram's frame: `DW_AT_static_link` (A.3.3.5).
    ///
    /// # Errors
    /// Ill-formed if it is not a single location in memory; and the errors of [`attribute`](Self::attribute).
    pub fn static_link(
        &mut self,
        static_link: Body<'_>,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Location, Fault> {
        in_memory(self.frame_location(static_link, machine, context)?, "a static link (A.3.3.5)")
    }

    /// Evaluates the location of the return address: `DW_AT_return_addr` (A.3.3.5).
    ///
    /// # Errors
    /// Ill-formed if it is not a single location in memory; and the errors of [`attribute`](Self::attribute).
    pub fn return_addr(
        &mut self,
        return_addr: Body<'_>,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Location, Fault> {
        in_memory(self.frame_location(return_addr, machine, context)?, "a return address (A.3.3.5)")
    }

    /// Evaluates the canonical frame address by `DW_CFA_def_cfa_expression` (A.6.4.2.2).
    ///
    /// # Errors
    /// Ill-formed if it is not a single memory byte; and the errors of [`location`](Self::location).
    pub fn cfa_expression(
        &mut self,
        expr: &[u8],
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Location, Fault> {
        let location = self.location(expr, machine, &in_cfi(context, ResultKind::Location))?;
        let cfa = in_memory(location, "a canonical frame address (A.6.4.2.2)")?;
        // An address counts bytes, so that a bit offset within a byte has no address.
        if cfa.single().is_some_and(|place| place.offset.is_multiple_of(8)) {
            Ok(cfa)
        } else {
            let cfa = brief(&cfa);
            Err(ill_formed(format!(
                "the canonical frame address {cfa} is not at the start of a byte (A.6.4.2.2)"
            )))
        }
    }

    /// Evaluates the location of a caller's register by the rule `expression(E)` (A.6.4.1).
    ///
    /// # Errors
    /// Errors from [`location`](Self::location).
    pub fn expression_rule(
        &mut self,
        expr: &[u8],
        cfa: &Location,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Location, Fault> {
        let initial = [Element::Location(cfa.clone())];
        let context = Context { initial: &initial, ..in_cfi(context, ResultKind::Location) };
        self.location(expr, machine, &context)
    }

    /// Evaluates the value of a caller's register by the rule `val_expression(E)`, as an implicit location (A.6.4.1).
    ///
    /// # Errors
    /// Ill-formed if the value and the register differ in size; and the errors of [`value`](Self::value).
    pub fn val_expression_rule(
        &mut self,
        expr: &[u8],
        reg: Reg,
        cfa: &Location,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Location, Fault> {
        let initial = [Element::Location(cfa.clone())];
        let context = Context { initial: &initial, ..in_cfi(context, ResultKind::Value) };
        let value = self.value(expr, machine, &context)?;
        let bits = context.target.register_bits(reg).map(u64::from);
        if bits != Some(value.ty().size()) {
            let rule = format!(
                "value of {} does not fit the register; expected {} (A.6.4.1)",
                Count(value.ty().size(), "bit"),
                bits.unwrap_or(0)
            );
            return Err(ill_formed(rule).about(reg));
        }
        Ok(match value.as_pointer() {
            Some(pointer) => Storage::ImplicitPointer(pointer).into(),
            None => Storage::Implicit(ImplicitBits::value(&value, machine.is_big_endian())).into(),
        })
    }
}

// Type attributes: locations of members, slots and data, and properties known only at run time.

/// Where a member or base class is in its container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MemberLocation<'a> {
    /// `DW_AT_data_member_location` as a constant: bytes from the container's start, or before it.
    Bytes(i64),
    /// `DW_AT_data_bit_offset`: bits from the container's start (DWARF 5, section 5.7.6).
    Bits(u64),
    /// `DW_AT_data_member_location` as an expression or a location list.
    Expression(Body<'a>),
}

/// A type's property that can depend on an object (DWARF 5, section 2.19): `DW_AT_lower_bound`, `DW_AT_upper_bound`,
/// `DW_AT_count`, `DW_AT_byte_stride`, `DW_AT_bit_stride`, `DW_AT_byte_size`, `DW_AT_allocated`, `DW_AT_associated`,
/// `DW_AT_rank`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum TypeProperty<'a> {
    /// A constant number.
    Constant(i64),
    /// An expression for the value.
    Expression(&'a [u8]),
    /// A variable with the value.
    Variable {
        /// The variable's `DW_AT_location` or `DW_AT_const_value`.
        location: Body<'a>,
        /// The variable's type.
        ty: BaseType,
    },
}

/// Returns a context with the object, if any.
fn object_of<'a>(context: &Context<'a>, object: Option<&'a Location>, kind: ResultKind) -> Context<'a> {
    let object = object.map_or(CurrentObject::Unspecified, CurrentObject::Is);
    Context { object, ..without_object(context, kind) }
}

impl Evaluator {
    /// Evaluates where a member or base class is in an object at `container`, which can be any location, also several
    /// at once (A.5.7.3).
    ///
    /// # Errors
    /// An evaluation error if the member is outside the storage; and the errors of [`attribute`](Self::attribute).
    pub fn data_member_location(
        &mut self,
        member: MemberLocation<'_>,
        container: &Location,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Location, Fault> {
        match member {
            MemberLocation::Bytes(bytes) => container.clone().moved(i128::from(bytes) * 8),
            MemberLocation::Bits(bits) => container.clone().moved(bits.into()),
            MemberLocation::Expression(body) => {
                let initial = [Element::Location(container.clone())];
                let context = Context { initial: &initial, ..without_object(context, ResultKind::Location) };
                self.located(body, machine, context)
            }
        }
    }

    /// Evaluates where a virtual function's slot is, for an object of the enclosing type:
    /// `DW_AT_vtable_elem_location` (A.5.7.8).
    ///
    /// # Errors
    /// Errors from [`attribute`](Self::attribute).
    pub fn vtable_elem_location(
        &mut self,
        slot: Body<'_>,
        object: &Location,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Location, Fault> {
        self.data_member_location(MemberLocation::Expression(slot), object, machine, context)
    }

    /// Evaluates where the member that a pointer to member refers to is in an object: `DW_AT_use_location` (A.5.14).
    /// `pointer` is the pointer's value.
    ///
    /// # Errors
    /// Errors from [`attribute`](Self::attribute).
    pub fn use_location(
        &mut self,
        member: Body<'_>,
        pointer: &Value,
        object: &Location,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Location, Fault> {
        let initial = [Element::Value(pointer.clone()), Element::Location(object.clone())];
        let context = Context { initial: &initial, ..without_object(context, ResultKind::Location) };
        self.located(member, machine, context)
    }

    /// Evaluates where a descriptor's data is: `DW_AT_data_location` (A.5.18.1). Without the attribute it is the
    /// descriptor's location.
    ///
    /// # Errors
    /// Errors from [`location`](Self::location).
    pub fn data_location(
        &mut self,
        expr: Option<&[u8]>,
        descriptor: &Location,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Location, Fault> {
        match expr {
            Some(expr) => {
                self.location(expr, machine, &object_of(context, Some(descriptor), ResultKind::Location))
            }
            None => Ok(descriptor.clone()),
        }
    }

    /// Evaluates a property, with an object where the property depends on an object.
    ///
    /// # Errors
    /// Errors from [`value`](Self::value), and from reading the variable.
    pub fn property(
        &mut self,
        property: TypeProperty<'_>,
        object: Option<&Location>,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Value, Fault> {
        match property {
            TypeProperty::Constant(number) => {
                Ok(Value::new(BaseType::new(TypeEncoding::Signed, 64), number as u64))
            }
            TypeProperty::Expression(expr) => {
                self.value(expr, machine, &object_of(context, object, ResultKind::Value))
            }
            TypeProperty::Variable { location, ty } => {
                // The variable has its own context, without the property's object.
                let location = self.frame_location(location, machine, context)?;
                self.read(&location, ty, machine, context)
            }
        }
    }

    /// Evaluates a string's length, as stored: the value in `bits` bits at the location given by
    /// `DW_AT_string_length` (DWARF 5, section 5.11). `bits` is `DW_AT_string_length_bit_size`, or
    /// `DW_AT_string_length_byte_size` in bits; without either it is the address size.
    ///
    /// # Errors
    /// Errors from [`attribute`](Self::attribute), and from reading.
    pub fn string_length(
        &mut self,
        length: Body<'_>,
        bits: Option<u32>,
        object: Option<&Location>,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Value, Fault> {
        let location = self.located(length, machine, object_of(context, object, ResultKind::Location))?;
        let bits = bits.unwrap_or(u32::from(context.encoding.address_bytes) * 8);
        self.read(&location, BaseType::new(TypeEncoding::Unsigned, bits), machine, context)
    }

    /// Evaluates the location of the vector with `lanes` generic values given by `DW_AT_LLVM_lane_pc`: all lanes'
    /// pcs. An undefined element is a lane that was not active on entry (R A.3.3.5).
    ///
    /// # Errors
    /// Ill-formed if it is not a single location; and the errors of [`attribute`](Self::attribute).
    pub fn lane_pcs(
        &mut self,
        lane_pc: Body<'_>,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Location, Fault> {
        let location = self.frame_location(lane_pc, machine, context)?;
        match location.single() {
            Some(_) => Ok(location),
            None => {
                let location = brief(&location);
                Err(ill_formed(format!("lane pcs are at several locations: {location}")))
            }
        }
    }

    /// Evaluates the active lanes: `DW_AT_LLVM_active_lane`, read as one bit for each lane, lane 0 in the least
    /// significant bit (R A.3.3.5).
    ///
    /// # Errors
    /// Errors from [`attribute`](Self::attribute), and from reading.
    pub fn active_lanes(
        &mut self,
        active_lane: Body<'_>,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Value, Fault> {
        let location = self.frame_location(active_lane, machine, context)?;
        let lanes = machine.lanes();
        let lanes = u32::try_from(lanes)
            .map_err(|_| error(format!("the wave's number of lanes is {lanes}; expected fewer than 2^32")))?;
        self.read(&location, BaseType::new(TypeEncoding::Unsigned, lanes), machine, context)
    }

    /// Returns where the object of an implicit pointer is, which [`read_pointer`](super::read_pointer) returns: the location of
    /// the pointer's entry, moved by its offset. The location can be read though it has no address (A.2.5.4.4.5).
    ///
    /// # Errors
    /// An evaluation error if the entry is unknown, or has no location and no value; and the errors of
    /// [`attribute`](Self::attribute).
    pub fn pointee(
        &mut self,
        pointer: ImplicitPointer,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Location, Fault> {
        self.run(machine, &without_object(context, ResultKind::Location), None, |run| run.pointee(pointer))
    }

    /// Reads a value with a type at a location, as `DW_OP_deref_type` does (A.2.5.4.3.4).
    ///
    /// # Errors
    /// An evaluation error if a bit is undefined or unreadable, or belongs to an implicit pointer that is not read as a
    /// whole.
    pub fn read(
        &mut self,
        location: &Location,
        ty: BaseType,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Value, Fault> {
        self.run(machine, context, None, |run| run.read_value(location, ty))
    }
}
