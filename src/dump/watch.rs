//! A machine that remembers what it was asked for, and what it answered.

use core::cell::RefCell;

use crate::eval::forward::forward;
use crate::eval::{BaseType, Entry, Location, Machine, Unavailable};
use crate::op::Reg;
use crate::target::SpaceId;

/// What an operation asked the machine for, and the answer: `None` where the machine does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Asked {
    /// Contents of a register.
    Register {
        /// The register.
        reg: Reg,
        /// The frame, 0 the innermost.
        frame: u32,
        /// Bytes from the least significant one to the first that is read.
        at: u32,
        /// How many bytes.
        len: usize,
        /// The bytes, the least significant first.
        bytes: Option<Vec<u8>>,
    },
    /// Contents of memory.
    Memory {
        /// The space.
        space: SpaceId,
        /// The lane, where each has its own.
        lane: Option<u32>,
        /// The address of the first byte.
        address: u64,
        /// How many bytes.
        len: usize,
        /// The bytes in order of addresses.
        bytes: Option<Vec<u8>>,
    },
    /// The lane in focus.
    Lane(Option<u64>),
    /// The iteration in focus.
    Iteration(Option<u64>),
    /// The program location of a frame.
    Pc(Option<u64>),
    /// The canonical frame address of a frame.
    Cfa(Option<Location>),
    /// Where a register of an outer frame is.
    Saved {
        /// The register.
        reg: Reg,
        /// The frame, 1 or more.
        frame: u32,
        /// Where it is.
        location: Option<Location>,
    },
    /// The current object.
    Object(Option<Location>),
    /// Where thread-local storage starts.
    Tls(Option<u64>),
    /// An address in `.debug_addr`.
    Address {
        /// Its index.
        index: u64,
        /// The address.
        address: Option<u64>,
    },
    /// A base type.
    Type {
        /// Its offset in its unit.
        offset: u64,
        /// The type.
        ty: Option<BaseType>,
    },
    /// What an entry says.
    Entry {
        /// Its offset in `.debug_info`.
        offset: u64,
        /// Whether there is one.
        is_known: bool,
    },
    /// What the caller says that it passed for a parameter.
    CallValue {
        /// The offset of the parameter's entry.
        parameter: u64,
        /// Whether it says so.
        is_known: bool,
    },
}

pub(super) struct Watched<'a> {
    machine: &'a dyn Machine,
    asked: RefCell<Vec<Asked>>,
}

impl<'a> Watched<'a> {
    pub(super) fn new(machine: &'a dyn Machine) -> Self {
        Self { machine, asked: RefCell::default() }
    }

    /// What was asked for since this was called last.
    pub(super) fn take(&self) -> Vec<Asked> {
        self.asked.take()
    }

    /// What is asked for several times on the way to one answer counts once.
    fn note(&self, asked: Asked) {
        let mut all = self.asked.borrow_mut();
        if !all.contains(&asked) {
            all.push(asked);
        }
    }
}

impl Machine for Watched<'_> {
    // The steps of the frame base say what it is.
    forward! { is_big_endian lanes iterations frame_base load_bias variable_type }

    fn register(&self, reg: Reg, frame: u32, at: u32, into: &mut [u8]) -> Result<(), Unavailable> {
        let answer = self.machine.register(reg, frame, at, into);
        let bytes = answer.is_ok().then(|| into.to_vec());
        self.note(Asked::Register { reg, frame, at, len: into.len(), bytes });
        answer
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

    fn entry(&self, offset: u64) -> Option<Entry<'_>> {
        let entry = self.machine.entry(offset);
        self.note(Asked::Entry { offset, is_known: entry.is_some() });
        entry
    }

    fn call_value(&self, parameter: u64, frame: u32) -> Option<Entry<'_>> {
        let value = self.machine.call_value(parameter, frame);
        self.note(Asked::CallValue { parameter, is_known: value.is_some() });
        value
    }
}
