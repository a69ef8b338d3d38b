//! Attributes of types: locations of members, slots and data, and properties known only at run time.

use super::super::fault::{Fault, brief, error, ill_formed};
use super::super::location::Location;
use super::super::machine::{Body, Machine};
use super::super::stack::Element;
use super::super::value::{BaseType, TypeEncoding, Value};
use super::super::{Context, CurrentObject, Evaluator, Kind};
use super::without_object;

/// Location of a member or base class in its container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberLocation<'a> {
    /// `DW_AT_data_member_location` as a constant: bytes from the start of the container, or before it.
    Bytes(i64),
    /// `DW_AT_data_bit_offset`: bits from the start of the container (DWARF 5, section 5.7.6).
    Bits(u64),
    /// `DW_AT_data_member_location` as an expression or a location list.
    Expression(Body<'a>),
}

/// A property of a type that can depend on an object (DWARF 5, section 2.19): `DW_AT_lower_bound`,
/// `DW_AT_upper_bound`, `DW_AT_count`, `DW_AT_byte_stride`, `DW_AT_bit_stride`, `DW_AT_byte_size`,
/// `DW_AT_allocated`, `DW_AT_associated`, `DW_AT_rank`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Property<'a> {
    /// A constant number.
    Constant(i64),
    /// An expression for the value.
    Expression(&'a [u8]),
    /// A variable with the value.
    Variable {
        /// `DW_AT_location` or `DW_AT_const_value` of the variable.
        location: Body<'a>,
        /// Type of the variable.
        ty: BaseType,
    },
}

/// Returns a context with the object, if any.
fn object_of<'a>(context: &Context<'a>, object: Option<&'a Location>, kind: Kind) -> Context<'a> {
    let object = object.map_or(CurrentObject::Unspecified, CurrentObject::Is);
    Context { object, ..without_object(context, kind) }
}

impl Evaluator {
    /// Evaluates the location of a member or base class in an object at `container`, which can be any location, with
    /// any number of places (A.5.7.3).
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
                let context = Context { initial: &initial, ..without_object(context, Kind::Location) };
                self.located(body, machine, context)
            }
        }
    }

    /// Evaluates the location of a virtual function's slot, for an object of the enclosing type:
    /// `DW_AT_vtable_elem_location` (A.5.7.8).
    ///
    /// # Errors
    /// The errors of [`attribute`](Self::attribute).
    pub fn vtable_elem_location(
        &mut self,
        slot: Body<'_>,
        object: &Location,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Location, Fault> {
        self.data_member_location(MemberLocation::Expression(slot), object, machine, context)
    }

    /// Evaluates the location of the member that a pointer to member refers to, in an object: `DW_AT_use_location`
    /// (A.5.14). `pointer` is the value of the pointer.
    ///
    /// # Errors
    /// The errors of [`attribute`](Self::attribute).
    pub fn use_location(
        &mut self,
        member: Body<'_>,
        pointer: &Value,
        object: &Location,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Location, Fault> {
        let initial = [Element::Value(pointer.clone()), Element::Location(object.clone())];
        let context = Context { initial: &initial, ..without_object(context, Kind::Location) };
        self.located(member, machine, context)
    }

    /// Evaluates the location of the data of a descriptor: `DW_AT_data_location` (A.5.18.1). Without the attribute it
    /// is the location of the descriptor.
    ///
    /// # Errors
    /// The errors of [`location`](Self::location).
    pub fn data_location(
        &mut self,
        expr: Option<&[u8]>,
        descriptor: &Location,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Location, Fault> {
        match expr {
            Some(expr) => self.location(expr, machine, &object_of(context, Some(descriptor), Kind::Location)),
            None => Ok(descriptor.clone()),
        }
    }

    /// Evaluates a property, with an object where the property depends on one.
    ///
    /// # Errors
    /// The errors of [`value`](Self::value), and those of reading the variable.
    pub fn property(
        &mut self,
        property: Property<'_>,
        object: Option<&Location>,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Value, Fault> {
        match property {
            Property::Constant(number) => {
                Ok(Value::new(BaseType::new(TypeEncoding::Signed, 64), number as u64))
            }
            Property::Expression(expr) => self.value(expr, machine, &object_of(context, object, Kind::Value)),
            Property::Variable { location, ty } => {
                let location = self.variable_location(location, machine, context)?;
                self.read(&location, ty, machine, context)
            }
        }
    }

    /// Evaluates the length of a string, as stored: the value of `bits` bits at the location given by
    /// `DW_AT_string_length` (DWARF 5, section 5.11). `bits` is `DW_AT_string_length_bit_size`, or
    /// `DW_AT_string_length_byte_size` in bits; without either it is the size of an address.
    ///
    /// # Errors
    /// The errors of [`attribute`](Self::attribute), and those of reading.
    pub fn string_length(
        &mut self,
        length: Body<'_>,
        bits: Option<u32>,
        object: Option<&Location>,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Value, Fault> {
        let location = self.located(length, machine, object_of(context, object, Kind::Location))?;
        let bits = bits.unwrap_or(u32::from(context.encoding.address_bytes) * 8);
        self.read(&location, BaseType::new(TypeEncoding::Unsigned, bits), machine, context)
    }

    /// Evaluates the location of the vector of `lanes` generic values given by `DW_AT_LLVM_lane_pc`: the pcs of all
    /// lanes. An undefined element is a lane that was not active on entry (R A.3.3.5).
    ///
    /// # Errors
    /// Ill-formed if it is not a single location; and the errors of [`attribute`](Self::attribute).
    pub fn lane_pcs(
        &mut self,
        lane_pc: Body<'_>,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Location, Fault> {
        let location = self.variable_location(lane_pc, machine, context)?;
        match location.single() {
            Some(_) => Ok(location),
            None => {
                let location = brief(&location);
                Err(ill_formed(format!("the pcs of lanes are at a single location: {location}")))
            }
        }
    }

    /// Evaluates the active lanes: `DW_AT_LLVM_active_lane`, read as one bit for each lane, lane 0 in the least
    /// significant (R A.3.3.5).
    ///
    /// # Errors
    /// The errors of [`attribute`](Self::attribute), and those of reading.
    pub fn active_lanes(
        &mut self,
        active_lane: Body<'_>,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> Result<Value, Fault> {
        let location = self.variable_location(active_lane, machine, context)?;
        let lanes = u32::try_from(machine.lanes()).map_err(|_| error("a wave has fewer than 2^32 lanes"))?;
        self.read(&location, BaseType::new(TypeEncoding::Unsigned, lanes), machine, context)
    }

    /// Reads the value of a type at a location, as `DW_OP_deref_type` does (A.2.5.4.3.4).
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
