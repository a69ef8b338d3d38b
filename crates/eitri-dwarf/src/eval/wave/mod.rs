//! Evaluation in all lanes at once, for a whole wave.
//!
//! A wave's lanes are a machine with different lanes in focus: [`InLane`] is that machine in lane *k*. For each lane,
//! [`Evaluator::wave`] has the result that [`Evaluator::evaluate`] has in that lane: the same location or value, or
//! the same fault at the same operation.
//!
//! ```text
//!              regx v0   push_lane   lit4   mul         offset             piece 4
//!  the stack   v0        v0          v0     v0          v0 + 0│32│64│…     [v0 + 0│32│64│…]
//!                        0│1│2│…     0│1│…  0│4│8│…
//!                                    4
//! ```
//!
//! * An element that is equal in all lanes is stored once, and operations on such elements are executed once, unless
//!   they query the machine for its lane.
//! * Numbers that differ evenly from lane to lane, as `4 × lane` does, are calculated as two numbers, others in one
//!   loop. A storage can represent a location that differs between lanes: pieces, overlays and similar operations are
//!   then executed once for all lanes.
//! * Any other operation is executed lane by lane, and its results are combined into one element. Lanes with different
//!   branch targets continue separately; a lane whose results cannot be combined with the others' is evaluated alone.
//!
//! ```
//! use eitri_dwarf::eval::{Context, Element, Evaluator, Snapshot, read_bits};
//! use eitri_dwarf::op::{Dialect, Encoding, Reg, text};
//! use eitri_dwarf::target::Target;
//!
//! // Two vector registers with 32 bits per lane: a pair of numbers for each lane.
//! let target = Target::named("amdgpu-gfx1030-wave32")?;
//! let encoding = Encoding::new(8, Dialect::Llvm);
//! let pair = "regx v0; push_lane; lit4; mul; offset; piece 4; \
//!             regx v1; push_lane; lit4; mul; offset; piece 4";
//! let expr = text::parse(pair, encoding, Some(&target))?;
//! let mut machine = Snapshot::default();
//! machine.lanes = Some(32);
//! machine.registers.insert(Reg(1536), (0..128).collect());
//! machine.registers.insert(Reg(1537), (128..=255).collect());
//!
//! // Of these 32 lanes, all but lane 0 are active.
//! let active = 0xffff_fffe;
//! let context = Context::new(encoding, &target);
//! let wave = Evaluator::new().wave(expr.bytes(), active, &machine, &context);
//! assert!(wave.lane(0).is_none());
//! let Some(Ok(Element::Location(location))) = wave.lane(3) else { panic!("a location") };
//! assert_eq!(location.to_string(), "[reg:1536+96/32, reg:1537+96/32]");
//! assert_eq!(read_bits(&location, 64, &machine)?.bytes, [12, 13, 14, 15, 140, 141, 142, 143]);
//! // The bits of all lanes, by one access to each register.
//! let bits = wave.read_bits(64, &machine)?;
//! let Some(Ok(bits)) = bits.lane(4) else { panic!("the bits of lane 4") };
//! assert_eq!(bits.bytes, [16, 17, 18, 19, 144, 145, 146, 147]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod machine;
mod numbers;
mod outcome;
mod read;
mod run;

pub use machine::InLane;
pub use outcome::WaveOutcome;
pub use read::{LaneBits, WaveBits};

use run::{Answer, WaveRun};

use super::context::{Context, CurrentObject, ResultKind};
use super::evaluator::Evaluator;
use super::fault::error;
use super::lane_numbers::lanes_of;
use super::lists::{bounded, in_entry, only_entry};
use super::location::Location;
use super::machine::{Body, Machine};
use super::run::Run;
use super::scope::Scope;
use super::stack::Element;

impl Evaluator {
    /// Evaluates an expression in several of a wave's lanes at once: those set in `lanes`, bit *k* for lane *k*.
    ///
    /// The result for each lane is what [`evaluate`](Self::evaluate) returns with the machine [`InLane`]. The
    /// machine's own current lane is ignored.
    pub fn wave(
        &mut self,
        expr: &[u8],
        lanes: u64,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> WaveOutcome {
        self.wave_run(lanes, machine, context, |run, machine| {
            WaveRun::new(run, machine, expr, context).whole(lanes)
        })
    }

    /// Evaluates an entry's location or constant in several of a wave's lanes at once: an expression as
    /// [`wave`](Self::wave) does, anything else to a location.
    ///
    /// The result for each lane is what [`evaluate`](Self::evaluate) or [`list`](Self::list) returns with the machine
    /// [`InLane`], except that the step limit does not count list entries. An entry without a location and a constant
    /// is an evaluation error in each lane.
    pub fn wave_body(
        &mut self,
        body: Body<'_>,
        lanes: u64,
        machine: &dyn Machine,
        context: &Context<'_>,
    ) -> WaveOutcome {
        if let Body::Expression(expr) = body {
            return self.wave(expr, lanes, machine, context);
        }
        self.wave_run(lanes, machine, context, |mut run, machine| {
            // A wave's lanes have one pc, so that one list entry applies in all lanes.
            let only = machine.pc(context.frame).and_then(|pc| match body {
                Body::List(entries) => only_entry(bounded(entries.iter()), pc),
                Body::EncodedList(list) => {
                    let address = |index| machine.debug_addr(context.unit, index);
                    only_entry(list.bounded(context.encoding, address), pc)
                }
                _ => None,
            });
            if let Some((index, expr)) = only.filter(|_| run.limits.depth > 0) {
                run.scope = Scope { depth: 1, has_object: false, ..run.scope };
                let object = CurrentObject::Unspecified;
                let context = Context { kind: ResultKind::Location, initial: &[], object, ..*context };
                let in_list = |fault| in_entry(fault, index);
                let answers = WaveRun::new(run, machine, expr, &context).whole(lanes).into_iter();
                return answers.map(|(lanes, answer)| (lanes, answer.map_err(in_list))).collect();
            }
            let answer = |lane| {
                machine.focus(lane);
                // Each lane has the whole step limit, as if it were evaluated alone.
                run.steps = 0;
                let location = match body {
                    Body::List(entries) => run.list(bounded(entries.iter())),
                    Body::EncodedList(list) => run.encoded_list(list),
                    Body::Constant(bytes) => Ok(Location::implicit(bytes)),
                    Body::Nothing => Ok(Location::undefined()),
                    Body::Expression(_) | Body::Unreadable => Err(error("the location cannot be read")),
                };
                (1 << lane, location.map(Element::Location))
            };
            lanes_of(lanes).map(answer).collect()
        })
    }

    /// Starts a wave's evaluation, whose answers `evaluate` returns.
    fn wave_run(
        &mut self,
        lanes: u64,
        machine: &dyn Machine,
        context: &Context<'_>,
        evaluate: impl FnOnce(Run<'_, '_>, &InLane<'_>) -> Vec<Answer>,
    ) -> WaveOutcome {
        let machine = InLane::new(machine, 0);
        self.slots.clear();
        self.stack.clear();
        let run = Run::new(&mut self.stack, &mut self.slots, self.limits, &machine, context, None);
        let answers = evaluate(run, &machine);
        self.stack.clear();
        WaveOutcome { lanes, answers, kept: None }
    }
}
