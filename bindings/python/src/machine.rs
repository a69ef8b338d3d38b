//! Stopped programs whose registers and memory a Python object reads.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use eitri::conform::VectorTarget;
use eitri::error::Count;
use eitri::eval::BaseType;
use eitri::eval::{Architecture, CallValue, Location, Machine, ReferencedEntry, Snapshot, Unavailable};
use eitri::op::{Encoding, Reg};
use eitri::target::SpaceId;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// A machine with the state of a snapshot, and the registers and the memory that a Python object reads.
///
/// Each register is read once, so that it does not change during an evaluation.
pub struct PythonMachine<'a> {
    snapshot: &'a Snapshot,
    target: &'a VectorTarget,
    reader: Py<PyAny>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    registers: HashMap<(Reg, u32), Option<Vec<u8>>>,
    /// The first exception. What is read after it is not available.
    raised: Option<PyErr>,
}

impl<'a> PythonMachine<'a> {
    pub fn new(snapshot: &'a Snapshot, target: &'a VectorTarget, reader: Py<PyAny>) -> Self {
        Self { snapshot, target, reader, state: Mutex::default() }
    }

    /// Takes the exception that a method of the object raised.
    pub fn take_raised(&self) -> Option<PyErr> {
        self.state().raised.take()
    }

    /// The lock is never held while Python runs.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls the object. `None` stands for bytes that are not available, and for an exception.
    fn call(&self, read: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<Option<Vec<u8>>>) -> Option<Vec<u8>> {
        if self.state().raised.is_some() {
            return None;
        }
        let read = Python::attach(|py| read(self.reader.bind(py)));
        read.unwrap_or_else(|error| {
            self.state().raised.get_or_insert(error);
            None
        })
    }

    fn read_register(&self, reg: Reg, frame: u32) -> Option<Vec<u8>> {
        let name = self.target.register_name(reg).unwrap_or_else(|| reg.0.to_string());
        self.call(|reader| {
            let bytes = contents(reader.call_method1("read_register", (&name, frame))?)?;
            let bits = self.target.register_bits(reg);
            match (&bytes, bits) {
                (Some(bytes), Some(bits)) if bytes.len() as u64 > u64::from(bits.div_ceil(8)) => {
                    let (count, size) = (Count(bytes.len(), "byte"), Count(bits, "bit"));
                    let problem = format!("read_register returned {count} for {name}, which has {size}");
                    Err(PyValueError::new_err(problem))
                }
                _ => Ok(bytes),
            }
        })
    }

    fn read_memory(&self, space: SpaceId, lane: Option<u32>, address: u64, size: usize) -> Option<Vec<u8>> {
        let named = self.target.built_in().and_then(|target| target.space(space));
        let name = named.map_or_else(|| space.0.to_string(), |space| space.name.to_string());
        self.call(|reader| {
            let bytes = contents(reader.call_method1("read_memory", (&name, address, size, lane))?)?;
            match &bytes {
                Some(bytes) if bytes.len() != size => {
                    let count = Count(bytes.len(), "byte");
                    Err(PyValueError::new_err(format!(
                        "read_memory returned {count} at {address:#x} of {name}; expected {size}, or None"
                    )))
                }
                _ => Ok(bytes),
            }
        })
    }
}

/// Returns the bytes of what a method returns; `None` stays.
fn contents(returned: Bound<'_, PyAny>) -> PyResult<Option<Vec<u8>>> {
    if returned.is_none() {
        return Ok(None);
    }
    let wrong = |_| {
        let kind = returned.get_type();
        PyTypeError::new_err(format!("a machine returned {kind}; expected bytes, or None for unknown bytes"))
    };
    let view = pyo3::types::PyMemoryView::from(&returned).map_err(wrong)?;
    let bytes = view.call_method0("tobytes")?;
    Ok(Some(bytes.cast::<PyBytes>()?.as_bytes().to_vec()))
}

impl Machine for PythonMachine<'_> {
    fn register(&self, reg: Reg, frame: u32, at: u32, into: &mut [u8]) -> Result<(), Unavailable> {
        let known = self.state().registers.get(&(reg, frame)).cloned();
        let bytes = known.unwrap_or_else(|| {
            let read = self.read_register(reg, frame);
            self.state().registers.insert((reg, frame), read.clone());
            read
        });
        let bytes = bytes.ok_or(Unavailable)?;
        let wanted = bytes.get(at as usize..).and_then(|bytes| bytes.get(..into.len())).ok_or(Unavailable)?;
        into.copy_from_slice(wanted);
        Ok(())
    }

    fn memory(
        &self,
        space: SpaceId,
        lane: Option<u32>,
        address: u64,
        into: &mut [u8],
    ) -> Result<(), Unavailable> {
        let bytes = self.read_memory(space, lane, address, into.len()).ok_or(Unavailable)?;
        into.copy_from_slice(&bytes);
        Ok(())
    }

    fn is_big_endian(&self) -> bool {
        self.snapshot.is_big_endian()
    }

    fn lane(&self) -> Option<u64> {
        self.snapshot.lane()
    }

    fn lanes(&self) -> u64 {
        self.snapshot.lanes()
    }

    fn iteration(&self) -> Option<u64> {
        self.snapshot.iteration()
    }

    fn iterations(&self) -> u64 {
        self.snapshot.iterations()
    }

    fn pc(&self, frame: u32) -> Option<u64> {
        self.snapshot.pc(frame)
    }

    fn cfa(&self, frame: u32) -> Option<Location> {
        self.snapshot.cfa(frame)
    }

    fn frame_base(&self, frame: u32) -> Option<ReferencedEntry<'_>> {
        self.snapshot.frame_base(frame)
    }

    fn saved(&self, reg: Reg, frame: u32) -> Option<Location> {
        self.snapshot.saved(reg, frame)
    }

    fn object(&self) -> Option<Location> {
        self.snapshot.object()
    }

    fn tls(&self) -> Option<u64> {
        self.snapshot.tls()
    }

    fn load_bias(&self) -> u64 {
        self.snapshot.load_bias()
    }

    fn debug_addr(&self, unit: u64, index: u64) -> Option<u64> {
        self.snapshot.debug_addr(unit, index)
    }

    fn base_type(&self, unit: u64, offset: u64) -> Option<BaseType> {
        self.snapshot.base_type(unit, offset)
    }

    fn entry(&self, offset: u64) -> Option<ReferencedEntry<'_>> {
        self.snapshot.entry(offset)
    }

    fn entry_value(&self, expr: &[u8], encoding: Encoding, frame: u32) -> Option<CallValue<'_>> {
        self.snapshot.entry_value(expr, encoding, frame)
    }

    fn call_value(&self, parameter: u64, frame: u32) -> Option<CallValue<'_>> {
        self.snapshot.call_value(parameter, frame)
    }

    fn variable_type(&self, offset: u64) -> Option<BaseType> {
        self.snapshot.variable_type(offset)
    }
}
