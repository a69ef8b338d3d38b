//! Derives variable locations from the code.
//!
//! A compiler states what its instructions do to storage, and which variable has which value at which pc. `track` derives
//! every location of each variable at each pc, and [`check`](Tracked::check) checks any description against the code.
//!
//! A *place* is machine storage: a register, one lane of a vector register, a stack slot. The invariant: a derived place
//! is *sound*. In every execution, whenever a lane stands at the pc, the place contains the value that the variable has for
//! this lane. Lanes that wait stand at the pc that [`ControlFlow`](crate::build::ControlFlow) derives for them; their
//! storage is the storage while the other lanes run.
//!
//! Limits: the analysis knows every path in the graph, but no conditions, so a place that is right only because data rules
//! out a path is not derived. Contents that are overwritten and later restored while a lane waits do not count in between.
//! The effects are the compiler's statements; a wrong statement gives a wrong location.
//!
//! ```
//! # use eitri::build::{Builder, ControlFlow, ExecWrite};
//! # use eitri::model::{BaseEncoding, Loc};
//! # use eitri::target::{Gfx, Target, Wave};
//! use eitri::track::{CodeEffects, Keep, Place};
//!
//! # let gpu = Target::amdgpu(Gfx::GFX1030, Wave::W32)?;
//! # let [s4, s6, vcc] = [gpu.sgpr(4)?, gpu.sgpr(6)?, gpu.register_named("vcc")?];
//! # let [v3, v40] = [gpu.vgpr(3)?, gpu.vgpr(40)?];
//! # let mut m = Builder::new(gpu.clone());
//! # let unit = m.unit("a.cl");
//! # let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
//! # let kernel = m.function(unit, "k")?.code("k", 0x30).kernel().id();
//! # let [var_n, var_x] = [m.variable(kernel, "n", int)?.id(), m.variable(kernel, "x", int)?.id()];
//! let mut flow = ControlFlow::new();
//! let mask = flow.mask(&[(0x14..0x2c, Loc::register(s6))]);
//! let start = flow.block(0x00..0x18);
//! let then = flow.block(0x18..0x28);
//! let end = flow.block(0x28..0x30);
//! flow.edge(start, then).wave_edge(start, end).edge(then, end); // s_cbranch_execz
//! flow.write(0x10..0x14, ExecWrite::Save(mask)); // s_and_saveexec is both
//! flow.write(0x10..0x14, ExecWrite::And(mask));
//! flow.write(0x28..0x2c, ExecWrite::Restore(mask));
//!
//! let mut code = CodeEffects::new(&gpu, flow);
//! let [n, one, y, c] = [(); 4].map(|()| code.value(32));
//! code.entry(n, &[Place::register(s4)])?;
//! code.assign(0x00, var_n, n)?;
//! code.instruction(0x00..0x04).define(one, &[Place::per_lane(v3)])?; //                v_mov_b32 v3, 1.0
//! code.assign(0x04, var_x, one)?;
//! code.instruction(0x04..0x0c).copy(&[Place::register(s4)], &[Place::lane(v40, 7)])?; // v_writelane_b32
//! code.instruction(0x0c..0x10).define(c, &[Place::register(vcc)])?; //                   v_cmp
//! code.instruction(0x10..0x14).clobber(&[Place::register(s6)])?; //                      the mask
//! code.instruction(0x18..0x1c).clobber(&[Place::register(s4)])?; //                      s_lshl_b32 s4, …
//! code.instruction(0x1c..0x20).define(y, &[Place::per_lane(v3)])?; //                    v_add_f32 v3, v3, v3
//! code.assign(0x20, var_x, y)?;
//! code.instruction(0x20..0x28).copy(&[Place::lane(v40, 7)], &[Place::register(s4)])?; // v_readlane_b32
//! let tracked = code.track()?;
//!
//! // Lanes of the mask wait at 0x10 while s4 is overwritten; after the `if`, both places
//! // contain the value again.
//! assert_eq!(tracked.places_at(var_n, 0x0c)?, [Loc::register(s4), Loc::lane(v40, 7)]);
//! assert_eq!(tracked.places_at(var_n, 0x10)?, [Loc::lane(v40, 7)]);
//! assert_eq!(tracked.places_at(var_n, 0x28)?, [Loc::register(s4), Loc::lane(v40, 7)]);
//! assert_eq!(tracked.places_at(var_x, 0x28)?, [Loc::per_lane(v3)]);
//! tracked.describe(&mut m, Keep::All)?;
//! # m.finish()?;
//! # Ok::<(), eitri::Error>(())
//! ```
//!
//! # Analysis
//!
//! Two graphs describe the code. The *wave's graph* is the code in branch order. The *lane's graph* has an edge from each
//! instruction to the next instruction that the lane runs. Where a lane waits, this edge is a *skip* over the *stretch* that
//! the wave runs meanwhile. A waiting lane runs nothing, so a stretch changes only what it writes to places of the wave, and
//! to per-lane places in all lanes. A place's contents at the end of a stretch are traced back through the stretch: to
//! another place at its start, to a constant, or to something new. With these effects on the skips, one analysis on the
//! lane's graph (`ssa`: static single assignment over all places at once) finds the classes of places, variables and
//! constants that are equal at each pc; a variable's locations are the places in its class.
//!
//! The steps, in order: `code` records the statements; `division` cuts storage, values and variables at all bits where a
//! statement cuts one of them; `nodes`, `regions` and `graph` build the graphs; `lower` converts statements to operations on parts;
//! `skips` and `origins` add the effects of skips; `ssa` names contents; `ranges` collects the pcs; `tracked` converts them
//! to locations. `check`, `described_regions`, `history` and `report` compare a description with the result.

mod check;
mod code;
mod described_regions;
mod division;
mod extent;
mod facts;
#[cfg(feature = "check")]
mod finding;
mod graph;
mod history;
mod lower;
mod nodes;
mod origins;
mod place;
mod program;
mod ranges;
#[cfg(feature = "regalloc2")]
pub mod regalloc2;
mod regions;
mod report;
mod skips;
mod ssa;
mod tracked;

pub use code::{CodeEffects, InstructionEffects};
pub use facts::ValueId;
pub use place::{Place, Places};
pub use report::{Missed, RegionDifference, Stale, TrackReport, Unchecked};
pub use tracked::{Keep, Tracked, UnprovenAssignment};
