//! A plausible but wrong description is refused, or causes a warning.

use crate::common::consumers;
mod lost;
mod mistakes;
mod pcs;
mod places;
mod slots;
mod vectors;
mod warnings;

use eitri::build::Builder;
use eitri::model::{BaseEncoding, FunctionId, TypeId, UnitId};
use eitri::target::{Gfx, Target, Wave};

/// Unit with a function of 0x40 bytes.
struct Start {
    m: Builder,
    unit: UnitId,
    int: TypeId,
    f: FunctionId,
}

fn start(target: Target) -> Start {
    let mut m = Builder::new(target);
    let unit = m.unit("a.cl");
    let int = m.base_type(unit, "int", BaseEncoding::Signed, 32).expect("a type");
    let f = m.function(unit, "f").expect("a function").code("f", 0x40).id();
    Start { m, unit, int, f }
}

fn gpu() -> Target {
    Target::amdgpu(Gfx::GFX1030, Wave::W32).expect("gfx1030 runs waves of 32")
}
