//! Adds debug instructions to a module that has none.

use super::attached::Attached;
use super::binding::Binding;
use super::lower::lower;
use super::mode::Mode;
use super::read::{Facts, read};
use super::words::Instruction;
use crate::error::{Error, ErrorKind, Present, Result};
use crate::model::Module;

/// Adds the debug instructions that describe a module, together with the strings, types and constants that they refer
/// to and the module lacks. Nothing else changes, except the id bound in the header.
///
/// The instructions follow the [logical layout](https://registry.khronos.org/SPIR-V/): instructions outside functions
/// come after all types, constants and global variables; instructions that describe code are placed inside functions,
/// at the binding's positions. [`strip`](super::strip()) removes debug instructions that the module already has.
///
/// If the words are not a module, the error names the word. If the module already has debug instructions, from any set,
/// it is [`ErrorKind::AlreadyPresent`]. If the binding refers to a missing id, or to an id that cannot provide the
/// variable, the error names the variable or function and the id. Nothing is returned in these cases.
///
/// ```
/// # use eitri::build::Builder;
/// # use eitri::model::BaseEncoding;
/// # use eitri::spirv::{self, Binding, Id, Mode, Position, Provider, Set};
/// # use eitri::target::Target;
/// # let words = spirv::from_bytes(include_bytes!("../../examples/data/saxpy.spv"))?;
/// # let mut m = Builder::new(Target::named("amdgpu-gfx1030-wave32")?);
/// # let unit = m.unit("k01_saxpy.cl");
/// # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
/// # let saxpy = m.function(unit, "saxpy")?.code("saxpy", 0x88).kernel().id();
/// # let n = m.parameter(saxpy, "n", int)?.id();
/// # let module = m.finish()?;
/// // As `spirv-dis` prints it: %11 = OpFunction, %15 = OpFunctionParameter, %16 = OpLabel.
/// let mut binding = Binding::new();
/// binding.function(saxpy, Id(11));
/// binding.value(Position::start(Id(11), Id(16)), n, &[Provider::value(Id(15))]);
/// let attached = spirv::attach(&words, &module, &binding, &Mode::exact(Set::OpenCl))?;
/// // What the set cannot encode is listed. The words of the compiler stay.
/// attached.omissions.iter().for_each(|omission| println!("omitted: {omission}"));
/// assert_eq!(attached.detach()?, words);
/// # Ok::<(), eitri::Error>(())
/// ```
pub fn attach(words: &[u32], module: &Module, binding: &Binding, mode: &Mode) -> Result<Attached> {
    // Read everything first: nothing may be added to a module that cannot be read.
    let facts = read(words)?;
    can_be_added_to(&facts)?;
    lower(facts.layout(), module, binding, mode)
}

/// Checks that all ids are below the id bound, and that the module has no debug instructions.
fn can_be_added_to(facts: &Facts<'_>) -> Result<()> {
    let layout = facts.layout();
    let words = facts.layout().words();
    let bound = words.bound();
    let is_beyond = |it: &Instruction<'_>| it.result().is_some_and(|id| id.0 >= bound);
    // `highest` answers for a valid module; only an invalid module is searched for the offending word.
    if layout.highest().0 >= bound
        && let Some(first) = words.instructions().find(is_beyond)
    {
        let id = first.result().unwrap_or(layout.highest());
        let what = format!("{id} is not below the id bound in the header, {bound}");
        return Err(Error::malformed(what).at_word(first.at));
    }
    let name = |fact: &super::Fact<'_>| layout.set_name(fact.import).unwrap_or(fact.set.name());
    let known = facts.iter().map(|fact| (fact.at, name(&fact))).next();
    let unknown = facts.layout().unknown_sets().map(|(import, name, _)| {
        let word = layout.definition(import).map_or(0, |it| it.at);
        (word, name)
    });
    // The message names the first debug instruction, whether its set is known or not.
    match known.or_else(|| unknown.min()) {
        None => Ok(()),
        Some((at, name)) => {
            let what = Present::Instructions(name.to_owned());
            Err(Error::new(ErrorKind::AlreadyPresent(what)).at_word(at))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Builder;
    use crate::model::BaseEncoding;
    use crate::spirv::words::STEPS;
    use crate::spirv::{Id, Position, Provider, Set};
    use crate::target::{Gfx, Target, Wave};

    /// Counts the instructions visited to place `count` statements in a block with `count` instructions, in descending
    /// order.
    fn steps(count: u32) -> usize {
        let mut words = vec![super::super::MAGIC, 0x0001_0000, 0, 10 + count, 0];
        words.extend([2 << 16 | 19, 1, 4 << 16 | 21, 2, 32, 0, 3 << 16 | 33, 3, 1, 3 << 16 | 1, 2, 4]);
        words.extend([5 << 16 | 54, 1, 5, 0, 3, 2 << 16 | 248, 6]);
        words.extend((0..count).flat_map(|id| [5 << 16 | 128, 2, 10 + id, 4, 4]));
        words.extend([1 << 16 | 253, 1 << 16 | 56]);
        let mut m = Builder::new(Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("is known"));
        let unit = m.unit("a.cl");
        let uint = m.base_type(unit, "uint", BaseEncoding::Unsigned, 32).expect("a type");
        let f = m.function(unit, "f").expect("a function").code("f", 4).id();
        let v = m.variable(f, "v", uint).expect("a variable").id();
        let module = m.finish().expect("is whole");
        let mut binding = Binding::new();
        binding.function(f, Id(5));
        for index in (0..count).rev() {
            binding.value(Position::before(Id(5), Id(6), index), v, &[Provider::value(Id(4))]);
            binding.value(Position::after(Id(10 + index)), v, &[Provider::value(Id(10 + index))]);
        }
        STEPS.set(0);
        let attached = attach(&words, &module, &binding, &Mode::exact(Set::OpenCl)).expect("is attached");
        let steps = STEPS.get();
        assert_eq!(attached.detach().expect("is whole"), words);
        steps
    }

    #[test]
    fn the_words_are_gone_through_a_few_times() {
        let few = steps(1000);
        let many = steps(2000);
        assert!(many < 2 * few && few < 10 * 1000, "{few}, {many}");
    }
}
