//! Bindings between descriptions and SPIR-V modules: the key `spirv`.

#[cfg(feature = "spirv")]
mod binder;
pub(super) mod bound;
#[cfg(feature = "spirv")]
mod codes;
#[cfg(feature = "spirv")]
mod read;
mod values;
#[cfg(feature = "spirv")]
mod write;
