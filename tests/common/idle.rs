//! Omissions without an effect: removing one from the list is not a difference.

use eitri::model::Module;
use eitri::omission::Omission;
use eitri::spirv::{Attached, Binding, Checked, Mode};

/// The omissions that no difference depends on.
///
/// # Errors
/// The differences with all omissions.
pub fn idle<'a>(
    module: &Module,
    binding: &Binding,
    mode: &Mode,
    attached: &'a Attached,
) -> Result<Vec<&'a Omission>, Checked> {
    let checked = attached.check(module, binding, mode).expect("is a module");
    if !checked.is_clean() {
        return Err(checked);
    }
    let is_idle = |index: usize| {
        let mut others = attached.clone();
        others.omissions.remove(index);
        others.check(module, binding, mode).expect("is a module").is_clean()
    };
    let idle = (0..attached.omissions.len()).filter(|&index| is_idle(index));
    Ok(idle.map(|index| &attached.omissions[index]).collect())
}
