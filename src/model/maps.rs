//! Arrays with entities' ids as indices: the maps of the crate `cranelift_entity`, which stays out of public types.

use core::marker::PhantomData;
use core::ops::{Index, IndexMut};

use cranelift_entity as arrays;

use super::ids::EntityId;
use super::owner::Owner;

/// An index, which is a key for the arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Key(usize);

impl arrays::EntityRef for Key {
    #[inline]
    fn new(index: usize) -> Self {
        Self(index)
    }

    #[inline]
    fn index(self) -> usize {
        self.0
    }
}

#[inline]
fn key<K: EntityId>(id: K) -> Key {
    Key(id.index())
}

/// All entities of one kind. An entity's id is its index. Another builder's ids are not valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PrimaryMap<K, V> {
    entities: arrays::PrimaryMap<Key, V>,
    owner: Owner,
    ids: PhantomData<K>,
}

impl<K: EntityId, V> PrimaryMap<K, V> {
    pub(crate) fn new(owner: Owner) -> Self {
        Self { entities: arrays::PrimaryMap::new(), owner, ids: PhantomData }
    }

    /// The builder to which the ids belong.
    #[inline]
    pub(crate) fn owner(&self) -> Owner {
        self.owner
    }

    /// Returns the id for an index.
    #[inline]
    fn id(&self, Key(index): Key) -> K {
        K::new(index, self.owner)
    }

    #[inline]
    pub(crate) fn is_valid(&self, id: K) -> bool {
        self.entities.is_valid(key(id)) && self.owner.admits(id.owner())
    }

    #[inline]
    pub(crate) fn get(&self, id: K) -> Option<&V> {
        self.entities.get(key(id)).filter(|_| self.owner.admits(id.owner()))
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.entities.is_empty()
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.entities.len()
    }

    /// Returns the id of the entity that is pushed next.
    #[inline]
    pub(crate) fn next_key(&self) -> K {
        self.id(self.entities.next_key())
    }

    #[inline]
    pub(crate) fn push(&mut self, entity: V) -> K {
        let key = self.entities.push(entity);
        self.id(key)
    }

    /// Removes the entities after the first `count`. Their ids are given again.
    pub(crate) fn truncate(&mut self, count: usize) {
        if count < self.len() {
            let entities = core::mem::take(&mut self.entities);
            self.entities.extend(entities.into_iter().take(count).map(|(_, entity)| entity));
        }
    }

    pub(crate) fn clear(&mut self) {
        self.entities.clear();
    }

    #[inline]
    pub(crate) fn keys(&self) -> impl DoubleEndedIterator<Item = K> + ExactSizeIterator + use<K, V> {
        let owner = self.owner;
        self.entities.keys().map(move |Key(index)| K::new(index, owner))
    }

    #[inline]
    pub(crate) fn values(&self) -> core::slice::Iter<'_, V> {
        self.entities.values()
    }

    #[inline]
    pub(crate) fn values_mut(&mut self) -> core::slice::IterMut<'_, V> {
        self.entities.values_mut()
    }

    #[inline]
    pub(crate) fn iter(&self) -> Entities<'_, K, V> {
        Entities { entities: self.entities.iter(), owner: self.owner, ids: PhantomData }
    }

    pub(crate) fn into_values(self) -> impl Iterator<Item = V> {
        self.entities.into_iter().map(|(_, entity)| entity)
    }

    pub(crate) fn shrink_to_fit(&mut self) {
        self.entities.shrink_to_fit();
    }
}

impl<K: EntityId, V> Default for PrimaryMap<K, V> {
    fn default() -> Self {
        Self::new(Owner::ANY)
    }
}

impl<K: EntityId, V> Index<K> for PrimaryMap<K, V> {
    type Output = V;

    #[inline]
    fn index(&self, id: K) -> &V {
        &self.entities[key(id)]
    }
}

impl<K: EntityId, V> IndexMut<K> for PrimaryMap<K, V> {
    #[inline]
    fn index_mut(&mut self, id: K) -> &mut V {
        &mut self.entities[key(id)]
    }
}

impl<'a, K: EntityId, V> IntoIterator for &'a PrimaryMap<K, V> {
    type Item = (K, &'a V);
    type IntoIter = Entities<'a, K, V>;

    #[inline]
    fn into_iter(self) -> Entities<'a, K, V> {
        self.iter()
    }
}

/// Iterator over entities with their ids.
pub(crate) struct Entities<'a, K, V> {
    entities: arrays::Iter<'a, Key, V>,
    owner: Owner,
    ids: PhantomData<K>,
}

impl<'a, K: EntityId, V> Entities<'a, K, V> {
    #[inline]
    fn entity(&self, (Key(index), entity): (Key, &'a V)) -> (K, &'a V) {
        (K::new(index, self.owner), entity)
    }
}

impl<'a, K: EntityId, V> Iterator for Entities<'a, K, V> {
    type Item = (K, &'a V);

    #[inline]
    fn next(&mut self) -> Option<(K, &'a V)> {
        let next = self.entities.next()?;
        Some(self.entity(next))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.entities.size_hint()
    }
}

impl<K: EntityId, V> DoubleEndedIterator for Entities<'_, K, V> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        let next = self.entities.next_back()?;
        Some(self.entity(next))
    }
}

impl<K: EntityId, V> ExactSizeIterator for Entities<'_, K, V> {}

/// Data for entities. An entity without data has the default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SecondaryMap<K, V: Clone> {
    data: arrays::SecondaryMap<Key, V>,
    ids: PhantomData<K>,
}

impl<K: EntityId, V: Clone + Default> SecondaryMap<K, V> {
    pub(crate) fn new() -> Self {
        Self { data: arrays::SecondaryMap::new(), ids: PhantomData }
    }

    /// Returns a map with memory for `count` entities, which avoids that each first access grows the map.
    pub(crate) fn with_capacity(count: usize) -> Self {
        Self { data: arrays::SecondaryMap::with_capacity(count), ids: PhantomData }
    }

    /// Sets the number of entities whose data takes memory.
    pub(crate) fn resize(&mut self, count: usize) {
        self.data.resize(count);
    }

    #[inline]
    pub(crate) fn get(&self, id: K) -> Option<&V> {
        self.data.get(key(id))
    }

    #[inline]
    pub(crate) fn iter(&self) -> Entities<'_, K, V> {
        Entities { entities: self.data.iter(), owner: Owner::ANY, ids: PhantomData }
    }

    #[inline]
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (K, &mut V)> {
        self.data.iter_mut().map(|(Key(index), data)| (K::new(index, Owner::ANY), data))
    }
}

impl<K: EntityId, V: Clone + Default> Default for SecondaryMap<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: EntityId, V: Clone + Default> Index<K> for SecondaryMap<K, V> {
    type Output = V;

    #[inline]
    fn index(&self, id: K) -> &V {
        &self.data[key(id)]
    }
}

impl<K: EntityId, V: Clone + Default> IndexMut<K> for SecondaryMap<K, V> {
    #[inline]
    fn index_mut(&mut self, id: K) -> &mut V {
        &mut self.data[key(id)]
    }
}

/// A set of entities.
#[derive(Debug, Clone)]
pub(crate) struct EntitySet<K> {
    entities: arrays::EntitySet<Key>,
    ids: PhantomData<K>,
}

impl<K: EntityId> EntitySet<K> {
    pub(crate) fn new() -> Self {
        Self { entities: arrays::EntitySet::new(), ids: PhantomData }
    }

    pub(crate) fn contains(&self, id: K) -> bool {
        self.entities.contains(key(id))
    }

    pub(crate) fn insert(&mut self, id: K) {
        self.entities.insert(key(id));
    }
}
