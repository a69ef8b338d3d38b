//! Traits that only this crate implements.

use crate::model::{FunctionId, ScopeId, TypeId, UnitId};

/// Supertrait of the public traits that only this crate implements.
pub trait Sealed {}

impl Sealed for UnitId {}
impl Sealed for ScopeId {}
impl Sealed for FunctionId {}
impl Sealed for TypeId {}
