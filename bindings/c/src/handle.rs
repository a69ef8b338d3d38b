//! Handles: objects that a caller has by their address. Addresses of living handles are known, so that NULL, a freed
//! handle and a handle of another type are errors.

use std::any::TypeId;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use crate::error::Failure;

/// An object behind a handle: shared, so that a handle freed during a call lives until the call ends.
type Object = Arc<dyn std::any::Any + Send + Sync>;

/// Living handles, by address.
static LIVING: LazyLock<Mutex<HashMap<usize, Object>>> = LazyLock::new(Mutex::default);

fn living() -> MutexGuard<'static, HashMap<usize, Object>> {
    // No code between locking and unlocking panics with the table half-changed.
    LIVING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes a handle for an object.
pub fn new<T: Send + Sync + 'static>(object: T) -> *mut T {
    let object = Arc::new(object);
    let address = Arc::as_ptr(&object).cast_mut();
    living().insert(address.addr(), object);
    address
}

/// Returns a handle's object. `name` is the argument's name.
pub fn get<T: Send + Sync + 'static>(handle: *const T, name: &str) -> Result<Arc<T>, Failure> {
    if handle.is_null() {
        return Err(Failure::argument(format!("`{name}` is NULL")));
    }
    let object = living().get(&handle.addr()).cloned();
    let object = object.ok_or_else(|| Failure::argument(format!("`{name}` is not a living handle")))?;
    let is_other = (*object).type_id() != TypeId::of::<T>();
    object.downcast().map_err(|_| {
        debug_assert!(is_other);
        Failure::argument(format!("`{name}` is a handle of another type"))
    })
}

/// Frees a handle. NULL, and an address that is no living handle of this type, are left alone.
pub fn free<T: Send + Sync + 'static>(handle: *mut T) {
    let mut living = living();
    if living.get(&handle.addr()).is_some_and(|object| (**object).type_id() == TypeId::of::<T>()) {
        let object = living.remove(&handle.addr());
        // The table is not locked while the object is dropped.
        drop(living);
        drop(object);
    }
}
