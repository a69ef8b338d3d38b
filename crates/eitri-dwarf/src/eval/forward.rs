//! Forwards methods, for a [`Machine`](super::Machine) that wraps another machine.

/// Forwards the named methods of [`Machine`](super::Machine) to `self.machine`. A wrapper must name all methods that it
/// does not implement: a default would hide the wrapped machine's result.
macro_rules! forward {
    ($($method:ident)*) => { $($crate::eval::forward::forward!(@$method);)* };
    (@register) => {
        fn register(
            &self,
            reg: $crate::op::Reg,
            frame: u32,
            at: u32,
            into: &mut [u8],
        ) -> Result<(), $crate::eval::machine::Unavailable> {
            self.machine.register(reg, frame, at, into)
        }

        fn register_problem(&self, reg: $crate::op::Reg, frame: u32, at: u32) -> Option<String> {
            self.machine.register_problem(reg, frame, at)
        }
    };
    (@memory) => {
        fn memory(
            &self,
            space: $crate::target::SpaceId,
            lane: Option<u32>,
            address: u64,
            into: &mut [u8],
        ) -> Result<(), $crate::eval::machine::Unavailable> {
            self.machine.memory(space, lane, address, into)
        }

        fn memory_word(
            &self,
            space: $crate::target::SpaceId,
            lane: Option<u32>,
            address: u64,
            bytes: u8,
        ) -> Result<u64, $crate::eval::machine::Unavailable> {
            self.machine.memory_word(space, lane, address, bytes)
        }

        fn register_word(
            &self,
            reg: $crate::op::Reg,
            frame: u32,
            bytes: u8,
        ) -> Result<u64, $crate::eval::machine::Unavailable> {
            self.machine.register_word(reg, frame, bytes)
        }
    };
    (@is_big_endian) => { $crate::eval::forward::forward!(@plain is_big_endian() -> bool); };
    (@lane) => { $crate::eval::forward::forward!(@plain lane() -> Option<u64>); };
    (@lanes) => { $crate::eval::forward::forward!(@plain lanes() -> u64); };
    (@iteration) => { $crate::eval::forward::forward!(@plain iteration() -> Option<u64>); };
    (@iterations) => { $crate::eval::forward::forward!(@plain iterations() -> u64); };
    (@pc) => { $crate::eval::forward::forward!(@plain pc(frame: u32) -> Option<u64>); };
    (@cfa) => {
        $crate::eval::forward::forward!(@plain cfa(frame: u32) -> Option<$crate::eval::location::Location>);
        $crate::eval::forward::forward!(@plain cfa_problem(frame: u32) -> Option<String>);
    };
    (@frame_base) => {
        $crate::eval::forward::forward!(@plain frame_base_problem(frame: u32) -> Option<String>);
        $crate::eval::forward::forward!(@plain frame_base(frame: u32) -> Option<$crate::eval::machine::ReferencedEntry<'_>>);
    };
    (@saved) => {
        $crate::eval::forward::forward!(
            @plain saved(reg: $crate::op::Reg, frame: u32) -> Option<$crate::eval::location::Location>
        );
    };
    (@object) => { $crate::eval::forward::forward!(@plain object() -> Option<$crate::eval::location::Location>); };
    (@tls) => { $crate::eval::forward::forward!(@plain tls() -> Option<u64>); };
    (@load_bias) => { $crate::eval::forward::forward!(@plain load_bias() -> u64); };
    (@debug_addr) => { $crate::eval::forward::forward!(@plain debug_addr(unit: u64, index: u64) -> Option<u64>); };
    (@base_type) => {
        $crate::eval::forward::forward!(@plain base_type(unit: u64, offset: u64) -> Option<$crate::eval::value::BaseType>);
    };
    (@entry) => { $crate::eval::forward::forward!(@plain entry(offset: u64) -> Option<$crate::eval::machine::ReferencedEntry<'_>>); };
    (@call_value) => {
        $crate::eval::forward::forward!(
            @plain call_value(parameter: u64, frame: u32) -> Option<$crate::eval::machine::CallValue<'_>>
        );
    };
    (@entry_value) => {
        $crate::eval::forward::forward!(
            @plain entry_value(expr: &[u8], encoding: $crate::op::Encoding, frame: u32)
                -> Option<$crate::eval::machine::CallValue<'_>>
        );
    };
    (@variable_type) => {
        $crate::eval::forward::forward!(@plain variable_type(offset: u64) -> Option<$crate::eval::value::BaseType>);
    };
    (@plain $method:ident($($name:ident: $ty:ty),*) -> $answer:ty) => {
        fn $method(&self, $($name: $ty),*) -> $answer {
            self.machine.$method($($name),*)
        }
    };
}
pub(crate) use forward;
