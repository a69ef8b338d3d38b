//! The kernels with debug instructions, in each mode, read by other tools.

mod bind;
mod describe;
mod everything;
mod spirv_tools;
mod translated;

use eitri::spirv::{Attached, Mode, Set, TextOptions, attach, print, read};
use pretty_assertions::assert_eq;

use crate::spirv::common::check_golden;
use bind::Bound;
pub use bind::all;
pub use spirv_tools::complaints;

/// All modes.
pub fn modes() -> [Mode; 10] {
    let [exact, validating] = [Mode::exact, Mode::validating];
    [
        exact(Set::OpenCl),
        validating(Set::OpenCl),
        Mode::translator(),
        exact(Set::Shader),
        validating(Set::Shader),
        Mode::opencl(),
        Mode::vulkan(),
        exact(Set::Shader200),
        validating(Set::Shader200),
        Mode::translator200(),
    ]
}

/// Modes whose output `spirv-val` accepts.
pub fn validated() -> impl Iterator<Item = Mode> {
    Set::ALL.map(Mode::validating).into_iter().chain([Mode::opencl(), Mode::vulkan()])
}

impl Bound {
    pub fn called(&self, mode: &Mode) -> String {
        format!("{}, {} {}", self.name, mode.name(), mode.set().name())
    }

    /// The module with debug instructions.
    pub fn attached(&self, mode: &Mode) -> Attached {
        let attached = attach(&self.words, &self.described.module, &self.binding, mode);
        attached.unwrap_or_else(|error| panic!("{}: {error}", self.called(mode)))
    }
}

#[test]
fn kernels_are_valid_and_come_off_again() {
    for bound in all() {
        for mode in modes() {
            let at = bound.called(&mode);
            let attached = bound.attached(&mode);
            let report = attached.check(&bound.described.module, &bound.binding, &mode).expect("reads");
            assert!(report.is_clean(), "{at}: {report}");
            assert!(report.compared > 10, "{at}");
            assert_eq!(attached.detach().expect("is whole"), bound.words, "{at}");
        }
    }
}

/// The hand-written lists, as text.
#[test]
fn kernels_are_printed() {
    for bound in all().iter().filter(|bound| bound.list.is_some()) {
        let attached = bound.attached(&Mode::exact(Set::OpenCl));
        let mut text = print(&read(&attached.words).expect("reads"), TextOptions::default());
        for left in &attached.omissions {
            text += &format!("; omitted: {left}\n");
        }
        check_golden(&format!("spirv/kernels/{}.txt", bound.name), &text);
    }
}
