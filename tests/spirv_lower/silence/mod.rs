//! The promise: nothing is lost in silence. Every described property is in the words of the module, or listed as
//! omitted.
//!
//! Each call of the builder is made for every kind of owner, with each of its values and without the call. Where two
//! descriptions differ, the words or the lists differ, in every mode.

/// A call without arguments.
macro_rules! flag {
    ($name:literal, $describe:ident, $method:ident) => {
        Call::new($name, 1, |case, id, way| {
            if way == 1 {
                case.m.$describe(id)?.$method();
            }
            Ok(())
        })
    };
}

mod bound;
mod builder;
mod functions;
mod members;
mod scopes;
mod templates;
mod types;
mod units;
mod variables;

use eitri::Result;
use eitri::spirv::{Mode, Set, read};

use crate::spirv_lower::case::{Case, Described, line, lines};
use crate::spirv_lower::idle::idle;

/// A call in several variants; variant 0 omits the call.
pub struct Call<T> {
    /// The method, with its type.
    pub name: &'static str,
    pub ways: usize,
    pub say: fn(&mut Case, T, usize) -> Result<()>,
    /// The omission that covers all variants.
    pub whole: Option<&'static str>,
}

impl<T> Call<T> {
    pub const fn new(name: &'static str, ways: usize, say: fn(&mut Case, T, usize) -> Result<()>) -> Self {
        Self { name, ways, say, whole: None }
    }

    /// The call of an entity that is omitted as a whole, with this omission.
    pub const fn of(self, whole: &'static str) -> Self {
        Self { whole: Some(whole), ..self }
    }
}

/// An owner of calls.
pub struct Owner<T> {
    pub name: &'static str,
    pub make: fn(&mut Case) -> T,
    /// The omission that covers all calls of the owner.
    pub whole: Option<&'static str>,
}

impl<T> Owner<T> {
    pub const fn new(name: &'static str, make: fn(&mut Case) -> T) -> Self {
        Self { name, make, whole: None }
    }

    pub const fn of(self, whole: &'static str) -> Self {
        Self { whole: Some(whole), ..self }
    }
}

/// The owner of calls without one.
pub const NOTHING: [Owner<()>; 1] = [Owner::new("", |_| ())];

/// All modes.
fn modes() -> [Mode; 6] {
    [
        Mode::exact(Set::OpenCl),
        Mode::exact(Set::Shader),
        Mode::exact(Set::Shader101),
        Mode::validating(Set::OpenCl),
        Mode::validating(Set::Shader),
        Mode::translator(),
    ]
}

/// Output for a description.
#[derive(PartialEq)]
struct Outcome {
    /// Instructions without ids; before the functions, in any order.
    globals: Vec<String>,
    body: Vec<String>,
    left: Vec<String>,
}

impl Outcome {
    fn new(described: &Described, mode: &Mode) -> Self {
        let attached = described.attached(mode).expect("is attached");
        let left = attached.omissions.iter().map(ToString::to_string).collect();
        let facts = read(&attached.words).expect("reads");
        let mut globals = lines(&facts);
        globals.sort_unstable();
        let end = facts.layout().globals_end();
        let mut emitted: Vec<_> =
            facts.iter().filter(|it| it.at >= end).map(|it| (it.at, line(&facts, &it))).collect();
        // The module's own instructions are unchanged, and lines have no ids.
        let own = facts.layout().words().instructions().filter(|it| it.at >= end && it.opcode() != 12);
        emitted.extend(own.map(|it| match it.opcode() {
            opcode @ (8 | 317) => (it.at, format!("{opcode} {:?}", &it.operands().get(1..))),
            opcode => (it.at, opcode.to_string()),
        }));
        emitted.sort_unstable();
        Self { globals, body: emitted.into_iter().map(|(_, line)| line).collect(), left }
    }

    fn lists(&self, whole: Option<&str>) -> bool {
        whole.is_some_and(|whole| self.left.iter().any(|it| it.contains(whole)))
    }
}

/// Checks that each call for each owner makes a difference.
#[track_caller]
pub fn nothing_is_lost<T>(owners: &[Owner<T>], calls: &[Call<T>]) {
    let mut lost = Vec::new();
    for call in calls {
        let mut is_made = false;
        for owner in owners {
            // Combinations that the builder refuses are skipped.
            let described: Vec<_> = (0..=call.ways).filter_map(|way| describe(owner, call, way)).collect();
            idle_omissions(&described, &mut lost);
            for (one, other) in pairs(described.len()) {
                if described[one].1 == described[other].1 {
                    continue;
                }
                is_made = true;
                let is_lost = |mode: &Mode| {
                    let all = [one, other].map(|index| Outcome::new(&described[index].1, mode));
                    let is_whole = all.iter().all(|it| it.lists(call.whole) || it.lists(owner.whole));
                    all[0] == all[1] && !is_whole
                };
                let modes: Vec<_> = modes().iter().filter(|mode| is_lost(mode)).map(called).collect();
                if !modes.is_empty() {
                    let ways = [described[one].0, described[other].0];
                    lost.push(format!(
                        "{}, of {}: {ways:?} are the same, {}",
                        call.name,
                        owner.name,
                        modes.join(", ")
                    ));
                }
            }
        }
        assert!(is_made, "{} makes no difference to what is described", call.name);
    }
    assert!(lost.is_empty(), "{} are lost: {lost:#?}", lost.len());
}

/// Adds the omissions of descriptions that no difference depends on. The first description is that of every call.
fn idle_omissions(described: &[(usize, Described)], all: &mut Vec<String>) {
    for (index, (_, described)) in described.iter().enumerate().skip(1) {
        for mode in modes() {
            let attached = described.attached(&mode).expect("is attached");
            // An import lists what no producer's instruction means, such as the accessibility of a variable of a unit.
            let idle = idle(&described.module, &described.binding, &mode, &attached).unwrap_or_default();
            all.extend(idle.iter().map(|it| format!("{it}, {}: is idle in {index}", called(&mode))));
        }
    }
}

/// All pairs of numbers below `count`.
fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (1..count).flat_map(|one| (0..one).map(move |other| (other, one)))
}

fn called(mode: &Mode) -> String {
    format!("{} {}", mode.name(), mode.set().name().replace("NonSemantic.", ""))
}

/// The description with a variant of a call; `None` if the builder refuses it.
fn describe<T>(owner: &Owner<T>, call: &Call<T>, way: usize) -> Option<(usize, Described)> {
    let mut case = Case::new();
    let of = (owner.make)(&mut case);
    (call.say)(&mut case, of, way).ok()?;
    let module = case.m.finish().ok()?;
    Some((way, Described { module, binding: case.binding }))
}
