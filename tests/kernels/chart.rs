//! Chart of a wave that runs through `k04_diverge.cl`.

use eitri::dump::{Standing, lane_chart, lanes};
use eitri::eval::{DebugInfo, Machine, Snapshot};
use eitri::read::{Dwarf, Object, ReadOptions};

use super::diverge::{OBJECTS, by_source, mixed, wave};
use super::gfx1030;
use super::golden::check_golden;

#[test]
fn the_chart_has_each_lane_where_its_path_through_the_source_has_it() {
    for (index, attached) in OBJECTS.iter().enumerate() {
        let object = Object::read(&attached.object).expect("an object");
        let dwarf = Dwarf::read_with(&object, &ReadOptions::new().dialect(attached.dialect)).expect("DWARF");
        let start = object.symbol_address("diverge").expect("the kernel");
        let stops = mixed();
        let waves: Vec<Snapshot> = stops.iter().map(|&stop| wave(start, stop)).collect();
        let machines: Vec<&dyn Machine> = waves.iter().map(|wave| wave as &dyn Machine).collect();
        let listing =
            lanes(&DebugInfo::new(&dwarf), Some("diverge"), &machines, &gfx1030()).expect("the lanes");
        assert_eq!((&*listing.function, listing.lanes, listing.stops.len()), ("diverge", 32, stops.len()));
        for (stop, listing) in stops.iter().zip(&listing.stops) {
            let standing = |lane| match by_source(lane, stop.pc) {
                Some(at) if at == stop.pc => Standing::Active,
                Some(at) => Standing::Waits(start + at),
                None => Standing::Nowhere,
            };
            assert_eq!(listing.pc, start + stop.pc);
            assert_eq!(listing.lanes, Ok((0..32).map(standing).collect()), "{stop:x?}");
        }
        // The other objects differ in addresses only.
        if index == 0 {
            check_golden("explain/diverge.txt", &listing.to_string());
            check_golden("explain/diverge.svg", &lane_chart(&listing));
        }
    }
}
