//! Machine wrapper that records queries and answers.

use core::cell::RefCell;

use crate::eval::forward::forward;
use crate::eval::{BaseType, CallValue, Location, Machine, ReferencedEntry, Unavailable};
use crate::op::Reg;
use crate::target::SpaceId;

/// A query to the machine with its answer; `None` if the machine does not know the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Asked {
    /// Register contents.
    Register {
        /// The register.
        reg: Reg,
        /// Frame, 0 for the innermost.
        frame: u32,
        /// Offset of the first byte, counted from the least significant byte.
        at: u32,
        /// Number of bytes.
        len: usize,
        /// The bytes, least significant first.
        bytes: Option<Vec<u8>>,
    },
    /// Memory contents.
    Memory {
        /// Address space.
        space: SpaceId,
        /// Lane, in a space with memory per lane.
        lane: Option<u32>,
        /// Address of the first byte.
        address: u64,
        /// Number of bytes.
        len: usize,
        /// The bytes, in address order.
        bytes: Option<Vec<u8>>,
    },
    /// Current lane.
    Lane(Option<u64>),
    /// Focused iteration.
    Iteration(Option<u64>),
    /// A frame's program location.
    Pc(Option<u64>),
    /// A frame's canonical frame address.
    Cfa(Option<Location>),
    /// A register's location in an outer frame.
    Saved {
        /// The register.
        reg: Reg,
        /// Frame, 1 or more.
        frame: u32,
        /// Location that holds the register.
        location: Option<Location>,
    },
    /// Current object.
    Object(Option<Location>),
    /// Start of thread-local storage.
    Tls(Option<u64>),
    /// An address in `.debug_addr`.
    Address {
        /// Index.
        index: u64,
        /// The address.
        address: Option<u64>,
    },
    /// A base type.
    Type {
        /// Offset in the unit.
        offset: u64,
        /// The type.
        ty: Option<BaseType>,
    },
    /// Value of an entry's attribute.
    Entry {
        /// Offset in `.debug_info`.
        offset: u64,
        /// Whether the entry exists.
        is_known: bool,
    },
    /// Call value for a parameter.
    CallValue {
        /// Offset of the parameter's entry.
        parameter: u64,
        /// Whether the call site provides the value.
        is_known: bool,
    },
}

impl Asked {
    /// Whether the answer can differ between lanes.
    #[doc(hidden)]
    pub fn depends_on_lane(&self) -> bool {
        matches!(self, Self::Lane(_) | Self::Memory { lane: Some(_), .. })
    }
}

pub(super) struct Watched<'a> {
    machine: &'a dyn Machine,
    asked: RefCell<Vec<Asked>>,
}

impl<'a> Watched<'a> {
    pub(super) fn new(machine: &'a dyn Machine) -> Self {
        Self { machine, asked: RefCell::default() }
    }

    /// Returns and clears the recorded queries.
    pub(super) fn take(&self) -> Vec<Asked> {
        self.asked.take()
    }

    /// Records a query once, even if an answer needs it repeatedly.
    fn note(&self, asked: Asked) {
        let mut queries = self.asked.borrow_mut();
        if !queries.contains(&asked) {
            queries.push(asked);
        }
    }
}

impl Machine for Watched<'_> {
    // Not recorded, because the frame base's steps show its value.
    forward! { is_big_endian lanes iterations frame_base load_bias variable_type entry_value }

    fn register(&self, reg: Reg, frame: u32, at: u32, into: &mut [u8]) -> Result<(), Unavailable> {
        let answer = self.machine.register(reg, frame, at, into);
        let bytes = answer.is_ok().then(|| into.to_vec());
        self.note(Asked::Register { reg, frame, at, len: into.len(), bytes });
        answer
    }

    fn register_problem(&self, reg: Reg, frame: u32, at: u32) -> Option<String> {
        self.machine.register_problem(reg, frame, at)
    }

    fn memory(
        &self,
        space: SpaceId,
        lane: Option<u32>,
        address: u64,
        into: &mut [u8],
    ) -> Result<(), Unavailable> {
        let answer = self.machine.memory(space, lane, address, into);
        let bytes = answer.is_ok().then(|| into.to_vec());
        self.note(Asked::Memory { space, lane, address, len: into.len(), bytes });
        answer
    }

    fn lane(&self) -> Option<u64> {
        let lane = self.machine.lane();
        self.note(Asked::Lane(lane));
        lane
    }

    fn iteration(&self) -> Option<u64> {
        let iteration = self.machine.iteration();
        self.note(Asked::Iteration(iteration));
        iteration
    }

    fn pc(&self, frame: u32) -> Option<u64> {
        let pc = self.machine.pc(frame);
        self.note(Asked::Pc(pc));
        pc
    }

    fn cfa(&self, frame: u32) -> Option<Location> {
        let cfa = self.machine.cfa(frame);
        self.note(Asked::Cfa(cfa.clone()));
        cfa
    }

    fn saved(&self, reg: Reg, frame: u32) -> Option<Location> {
        let location = self.machine.saved(reg, frame);
        self.note(Asked::Saved { reg, frame, location: location.clone() });
        location
    }

    fn object(&self) -> Option<Location> {
        let object = self.machine.object();
        self.note(Asked::Object(object.clone()));
        object
    }

    fn tls(&self) -> Option<u64> {
        let tls = self.machine.tls();
        self.note(Asked::Tls(tls));
        tls
    }

    fn debug_addr(&self, unit: u64, index: u64) -> Option<u64> {
        let address = self.machine.debug_addr(unit, index);
        self.note(Asked::Address { index, address });
        address
    }

    fn base_type(&self, unit: u64, offset: u64) -> Option<BaseType> {
        let ty = self.machine.base_type(unit, offset);
        self.note(Asked::Type { offset, ty });
        ty
    }

    fn entry(&self, offset: u64) -> Option<ReferencedEntry<'_>> {
        let entry = self.machine.entry(offset);
        self.note(Asked::Entry { offset, is_known: entry.is_some() });
        entry
    }

    fn call_value(&self, parameter: u64, frame: u32) -> Option<CallValue<'_>> {
        let value = self.machine.call_value(parameter, frame);
        self.note(Asked::CallValue { parameter, is_known: value.is_some() });
        value
    }
}
