//! Handles: objects that a caller has by their address. Addresses of living handles are known, so that NULL, a freed
//! handle and a handle of another type are errors.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use crate::error::Failure;

/// Types of living handles, by the complements of their addresses. The table must not have the addresses: a tool that looks
/// for leaks would find them there, and take a handle that nobody has for a handle in use.
static LIVING: LazyLock<Mutex<HashMap<usize, TypeId>>> = LazyLock::new(Mutex::default);

fn living() -> MutexGuard<'static, HashMap<usize, TypeId>> {
    // No code between locking and unlocking panics with the table half-changed.
    LIVING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes a handle for an object, which the caller owns: an `Arc` as a pointer.
pub fn new<T: Send + Sync + 'static>(object: T) -> *mut T {
    let handle = Arc::into_raw(Arc::new(object)).cast_mut();
    living().insert(!handle.expose_provenance(), TypeId::of::<T>());
    handle
}

/// Returns a handle's object. `name` is the argument's name. A handle that is freed during a call lives until the call ends.
pub fn get<T: Send + Sync + 'static>(handle: *const T, name: &str) -> Result<Arc<T>, Failure> {
    if handle.is_null() {
        return Err(Failure::argument(format!("`{name}` is NULL")));
    }
    let living = living();
    match living.get(&!handle.addr()) {
        None => Err(Failure::argument(format!("`{name}` is not a living handle"))),
        Some(&known) if known != TypeId::of::<T>() => {
            Err(Failure::argument(format!("`{name}` is a handle of another type")))
        }
        // SAFETY: `new` made the pointer from an `Arc<T>`, which lives until `free` removes it from the table, which is locked.
        Some(_) => Ok(unsafe {
            let object = std::ptr::with_exposed_provenance::<T>(handle.addr());
            Arc::increment_strong_count(object);
            Arc::from_raw(object)
        }),
    }
}

/// Frees a handle. NULL, and an address that is no living handle of this type, are left alone.
pub fn free<T: Send + Sync + 'static>(handle: *mut T) {
    let mut living = living();
    if living.get(&!handle.addr()) == Some(&TypeId::of::<T>()) {
        living.remove(&!handle.addr());
        // The table is not locked while the object is dropped.
        drop(living);
        // SAFETY: `new` made the pointer from an `Arc<T>`, and the table has it no longer.
        drop(unsafe { Arc::from_raw(std::ptr::with_exposed_provenance::<T>(handle.addr())) });
    }
}
