//! Values and locations that differ between lanes, each as a single stack element.
//!
//! A value with up to 64 bits has a number for each lane. A location is a storage that has a location in each lane:
//! it behaves like any other storage, so that operations which only move locations, or construct parts from them, are
//! executed once for all lanes.

use std::sync::Arc;

use super::lane_numbers::{LaneNumbers, lanes_of};
use super::location::{Composite, LanePlaces, Location, SingleLocation, Storage};
use super::stack::Element;
use super::value::Value;

/// Maximum number of parts, on all levels, in composites that are compared lane by lane.
const HEAVY: u32 = 256;

impl LanePlaces {
    /// Returns a location that represents all lanes' locations; `None` if they have no size.
    pub fn into_location(self, lanes: u64) -> Option<Location> {
        let (bits, (weight, depth)) = match &self {
            Self::Along { storage, offsets, .. } => {
                let (_, last) = offsets.bounds(lanes)?;
                let bits = storage.size()?.checked_sub(last.into())?;
                (bits, Composite::weigh(storage))
            }
            Self::Anywhere(places) => {
                let places = || lanes_of(lanes).map(|lane| &places[lane as usize]);
                let bits = places().filter_map(SingleLocation::remaining).min()?;
                let weight = places().map(|place| Composite::weigh(&place.storage));
                (bits, weight.fold((0, 0), |largest, one| (largest.0.max(one.0), largest.1.max(one.1))))
            }
        };
        Some(Composite::of_places(Arc::new(self), bits, weight, depth).into())
    }

    /// Turns one lane's single location, `by` bits after the location here, into another lane's.
    #[inline]
    fn move_to(&self, place: &mut SingleLocation, by: u128, lane: u32) -> bool {
        let Self::Along { storage, is_of_lane, offsets } = self else { return false };
        match (storage, &mut place.storage) {
            // Such a storage differs between lanes in itself.
            (Storage::Composite(_), _) => return false,
            (_, Storage::Memory { lane: of, .. }) if *is_of_lane => *of = Some(lane),
            _ => {}
        }
        place.offset = u128::from(offsets.get(lane)) + by;
        true
    }

    fn in_lane(&self, lane: u32) -> SingleLocation {
        match self {
            Self::Along {
                storage: Storage::Memory { space, address_bits, .. },
                is_of_lane: true,
                offsets,
            } => SingleLocation {
                storage: Storage::Memory { space: *space, address_bits: *address_bits, lane: Some(lane) },
                offset: offsets.get(lane).into(),
            },
            Self::Along { storage, offsets, .. } => {
                let place = SingleLocation { storage: storage.clone(), offset: offsets.get(lane).into() };
                place.in_lane(lane)
            }
            Self::Anywhere(places) => places[lane as usize].clone(),
        }
    }
}

impl Element {
    /// Whether the element differs between lanes.
    pub(super) fn varies(&self) -> bool {
        match self {
            Self::Value(value) => value.lanes().is_some(),
            Self::Location(location) => location.places().any(SingleLocation::varies),
        }
    }

    /// Whether the element is so large that splitting it costs more than evaluating lane by lane.
    pub(super) fn is_heavy(&self) -> bool {
        matches!(self, Self::Location(location) if location.is_heavy())
    }

    /// Whether the element, if it varies, is without composites in all lanes, except one composite with the same
    /// shape in all: operations can then find the part that contains given bits.
    pub(super) fn is_flat(&self) -> bool {
        let Self::Location(location) = self else { return true };
        location.places().all(|place| match &place.storage {
            Storage::Composite(composite) => !composite.varies() || composite.is_flat(),
            _ => true,
        })
    }

    /// Returns the element in a lane.
    pub(super) fn in_lane(&self, lane: u32) -> Self {
        match self {
            Self::Value(value) => Self::Value(match value.lanes() {
                Some(numbers) => Value::new(value.ty(), numbers.get(lane)),
                None => value.clone(),
            }),
            Self::Location(location) => Self::Location(location.in_lane(lane)),
        }
    }
}

impl Element {
    /// Turns one lane's element, derived from `all`, into another lane's. Returns false, without effect on more than
    /// its parts, where only [`in_lane`](Self::in_lane) can do so.
    #[inline]
    pub(super) fn move_to(&mut self, all: &Self, lane: u32) -> bool {
        match (self, all) {
            (Self::Location(one), Self::Location(all)) => one.move_to(all, lane),
            _ => false,
        }
    }
}

impl Location {
    #[inline]
    pub(super) fn move_to(&mut self, all: &Self, lane: u32) -> bool {
        self.single_mut().zip(all.single()).is_some_and(|(place, all)| place.move_to(all, lane))
    }

    fn in_lane(&self, lane: u32) -> Self {
        self.map_places(|place| place.in_lane(lane))
    }

    fn is_heavy(&self) -> bool {
        self.places().any(|place| Composite::weigh(&place.storage).0 > HEAVY)
    }
}

impl SingleLocation {
    #[inline]
    fn move_to(&mut self, all: &Self, lane: u32) -> bool {
        let Storage::Composite(varying) = &all.storage else { return true };
        match varying.places() {
            Some(places) => places.move_to(self, all.offset, lane),
            None => self.move_parts(varying, lane),
        }
    }

    fn move_parts(&mut self, varying: &Composite, lane: u32) -> bool {
        if !varying.varies() {
            return true;
        }
        let Storage::Composite(composite) = &mut self.storage else { return false };
        Arc::get_mut(composite).is_some_and(|composite| composite.move_parts(varying, lane))
    }

    fn varies(&self) -> bool {
        matches!(&self.storage, Storage::Composite(composite) if composite.varies())
    }

    fn in_lane(&self, lane: u32) -> Self {
        let Storage::Composite(composite) = &self.storage else { return self.clone() };
        if let Some(places) = composite.places() {
            let mut place = places.in_lane(lane);
            // Undefined storage has no offset to move.
            if place.storage != Storage::Undefined {
                place.offset += self.offset;
            }
            return place;
        }
        if !composite.varies() {
            return self.clone();
        }
        let composite = composite.with_parts(|_, part| part.location.in_lane(lane));
        Self { storage: Storage::Composite(Arc::new(composite)), offset: self.offset }
    }
}

/// Combines individual lanes' elements into one element. `None` if no single element can represent them.
pub(super) fn together<'e>(each: impl Iterator<Item = (u32, &'e Element)> + Clone) -> Option<Element> {
    let (_, first) = each.clone().next()?;
    match first {
        Element::Value(first) => {
            let values = each.map(|(lane, element)| match element {
                Element::Value(value) => Some((lane, value)),
                Element::Location(_) => None,
            });
            let values: Vec<_> = values.collect::<Option<_>>()?;
            values_together(first, &values).map(Element::Value)
        }
        Element::Location(_) => {
            let locations = each.map(|(lane, element)| match element {
                Element::Location(location) => Some((lane, location)),
                Element::Value(_) => None,
            });
            locations_together(&locations.collect::<Option<Vec<_>>>()?).map(Element::Location)
        }
    }
}

fn values_together(first: &Value, values: &[(u32, &Value)]) -> Option<Value> {
    if values.iter().all(|(_, value)| *value == first) {
        return Some(first.clone());
    }
    let mut numbers = [0; 64];
    for (lane, value) in values {
        // One type for all lanes, because operations check it once.
        if value.ty() != first.ty() || value.ty().size() > 64 {
            return None;
        }
        numbers[*lane as usize] = value.as_u64()?;
    }
    Some(Value::of_lanes(first.ty(), LaneNumbers::of_table(numbers)))
}

fn locations_together(locations: &[(u32, &Location)]) -> Option<Location> {
    // Comparing these costs more than evaluating the lanes one by one.
    if locations.iter().any(|(_, location)| location.is_heavy()) {
        return None;
    }
    let (_, first) = locations.first()?;
    if locations.iter().all(|(_, location)| location == first) {
        return Some((*first).clone());
    }
    let places = locations.iter().map(|(lane, location)| Some((*lane, location.single()?)));
    let places: Vec<_> = places.collect::<Option<_>>()?;
    let lanes = places.iter().fold(0, |lanes, (lane, _)| lanes | 1u64 << lane);
    if let Some(along) = along(&places) {
        return along.into_location(lanes);
    }
    if let Some(composite) = composites_together(&places) {
        return Some(composite);
    }
    // An incomplete composite cannot be represented as a single location.
    if locations.iter().any(|(_, location)| location.is_incomplete()) {
        return None;
    }
    let nowhere = SingleLocation { storage: Storage::Undefined, offset: 0 };
    let mut anywhere = vec![nowhere; 64];
    for (lane, place) in places {
        anywhere[lane as usize] = place.clone();
    }
    LanePlaces::Anywhere(anywhere).into_location(lanes)
}

/// Returns locations in one storage, or each in its lane's memory.
fn along(places: &[(u32, &SingleLocation)]) -> Option<LanePlaces> {
    let (_, first) = places.first()?;
    let storage = &first.storage;
    let is_incomplete = matches!(storage, Storage::Composite(composite) if !composite.is_complete());
    let is_of_lane = |lane: u32, storage: &Storage| {
        matches!((storage, &first.storage),
            (Storage::Memory { space, address_bits, lane: Some(of) },
             Storage::Memory { space: other_space, address_bits: other_bits, .. })
            if space == other_space && address_bits == other_bits && *of == lane)
    };
    // One storage for all lanes, or each lane's own memory in one space: any other mixture has no common storage.
    let are_same = places.iter().all(|(_, place)| place.storage == *storage);
    if is_incomplete || !are_same && !places.iter().all(|(lane, place)| is_of_lane(*lane, &place.storage)) {
        return None;
    }
    let mut offsets = [0; 64];
    for (lane, place) in places {
        // Beyond 64 bits, the lanes continue one by one.
        offsets[*lane as usize] = place.offset.try_into().ok()?;
    }
    let offsets = LaneNumbers::of_table(offsets);
    Some(LanePlaces::Along { storage: storage.clone(), is_of_lane: !are_same, offsets })
}

/// Combines composites whose parts have equal sizes into a composite whose parts vary.
fn composites_together(places: &[(u32, &SingleLocation)]) -> Option<Location> {
    let composite_at = |place: &SingleLocation| match &place.storage {
        Storage::Composite(composite) => Some(composite.clone()),
        _ => None,
    };
    let (_, first) = places.first()?;
    let composites = places.iter().map(|(lane, place)| Some((*lane, composite_at(place)?)));
    let composites: Vec<_> = composites.collect::<Option<_>>()?;
    let shape = composite_at(first)?;
    let is_alike = |(_, other): &(u32, Arc<Composite>)| {
        let sizes =
            |composite: &Composite| composite.parts().iter().map(|part| part.bits).collect::<Vec<_>>();
        other.is_complete() == shape.is_complete() && sizes(other) == sizes(&shape)
    };
    if !composites.iter().all(is_alike) || places.iter().any(|(_, place)| place.offset != first.offset) {
        return None;
    }
    let parts = (0..shape.parts().len()).map(|index| {
        let parts = composites.iter().map(|(lane, composite)| (*lane, &composite.parts()[index].location));
        locations_together(&parts.collect::<Vec<_>>())
    });
    let parts: Vec<_> = parts.collect::<Option<_>>()?;
    let combined = shape.with_parts(|index, _| parts[index].clone());
    let storage = Storage::Composite(Arc::new(combined));
    Some(SingleLocation { storage, offset: first.offset }.into())
}
