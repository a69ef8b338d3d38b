//! The coarsest partition of a graph whose nodes have colors, in which equal nodes have equal successors: Hopcroft's
//! algorithm for automata, as in A. Valmari, "Fast brief practical DFA minimization" (2012). It takes m log n steps for
//! m edges, also for types that refer to each other in cycles.

/// An edge to the successor with a number: the successors of a node are ordered.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge {
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) number: u32,
}

/// Sets of elements, which are split by marks.
struct Sets {
    /// Elements, sorted by set.
    elements: Vec<u32>,
    /// Index of each element.
    places: Vec<u32>,
    /// Set of each element.
    sets: Vec<u32>,
    /// Start and end of each set's elements, and the number of marked elements, which are first.
    bounds: Vec<[u32; 3]>,
    /// Sets with marked elements.
    touched: Vec<u32>,
}

const START: usize = 0;
const END: usize = 1;
const MARKED: usize = 2;

impl Sets {
    /// Makes a set for each color.
    fn new(colors: &[u32]) -> Self {
        let mut elements: Vec<u32> = (0..colors.len() as u32).collect();
        elements.sort_by_key(|&element| colors[element as usize]);
        let mut this = Self {
            places: vec![0; elements.len()],
            sets: vec![0; elements.len()],
            elements,
            bounds: Vec::new(),
            touched: Vec::new(),
        };
        let mut last = None;
        for (place, &element) in (0..).zip(&this.elements) {
            let color = colors[element as usize];
            if last != Some(color) {
                this.bounds.push([place, place, 0]);
                last = Some(color);
            }
            let set = this.bounds.len() - 1;
            this.bounds[set][END] = place + 1;
            this.places[element as usize] = place;
            this.sets[element as usize] = set as u32;
        }
        this
    }

    fn mark(&mut self, element: u32) {
        let set = self.sets[element as usize];
        let [start, _, marked] = self.bounds[set as usize];
        let place = self.places[element as usize];
        let to = start + marked;
        // The element is marked already.
        if place < to {
            return;
        }
        if marked == 0 {
            self.touched.push(set);
        }
        self.bounds[set as usize][MARKED] += 1;
        let other = self.elements[to as usize];
        self.elements.swap(place as usize, to as usize);
        self.places[other as usize] = place;
        self.places[element as usize] = to;
    }

    /// Splits each set with marked elements. The smaller part becomes a new set.
    fn split(&mut self) {
        while let Some(set) = self.touched.pop() {
            let [start, end, marked] = core::mem::take(&mut self.bounds[set as usize]);
            let middle = start + marked;
            self.bounds[set as usize] = [start, end, 0];
            if middle == end {
                continue;
            }
            let (new, kept) = if marked <= end - middle {
                ([start, middle, 0], [middle, end, 0])
            } else {
                ([middle, end, 0], [start, middle, 0])
            };
            self.bounds[set as usize] = kept;
            let number = self.bounds.len() as u32;
            for &element in &self.elements[new[START] as usize..new[END] as usize] {
                self.sets[element as usize] = number;
            }
            self.bounds.push(new);
        }
    }
}

/// Returns the class of each node: nodes have one class if they have one color, and their successors with equal numbers
/// have one class each. Nodes with one color have equally many successors.
pub(super) fn classes(colors: &[u32], edges: &[Edge]) -> Vec<u32> {
    let mut nodes = Sets::new(colors);
    if edges.is_empty() || nodes.bounds.is_empty() {
        return nodes.sets;
    }
    let numbers: Vec<u32> = edges.iter().map(|edge| edge.number).collect();
    let mut cords = Sets::new(&numbers);
    let incoming = Incoming::new(colors.len(), edges);
    // The first set of nodes needs no processing, because what leads elsewhere is told apart by the others.
    let mut node = 1;
    let mut cord = 0;
    while cord < cords.bounds.len() {
        let [start, end, _] = cords.bounds[cord];
        for index in start..end {
            crate::work::step();
            nodes.mark(edges[cords.elements[index as usize] as usize].from);
        }
        nodes.split();
        cord += 1;
        while node < nodes.bounds.len() {
            let [start, end, _] = nodes.bounds[node];
            for index in start..end {
                for &edge in incoming.edges(nodes.elements[index as usize]) {
                    crate::work::step();
                    cords.mark(edge);
                }
            }
            cords.split();
            node += 1;
        }
    }
    nodes.sets
}

/// The edges to each node.
struct Incoming {
    starts: Vec<u32>,
    edges: Vec<u32>,
}

impl Incoming {
    fn new(count: usize, edges: &[Edge]) -> Self {
        let mut starts = vec![0; count + 1];
        for edge in edges {
            starts[edge.to as usize + 1] += 1;
        }
        for index in 0..count {
            starts[index + 1] += starts[index];
        }
        let mut next = starts.clone();
        let mut sorted = vec![0; edges.len()];
        for (number, edge) in (0..).zip(edges) {
            let place = &mut next[edge.to as usize];
            sorted[*place as usize] = number;
            *place += 1;
        }
        Self { starts, edges: sorted }
    }

    fn edges(&self, node: u32) -> &[u32] {
        &self.edges[self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn edges(lists: &[Vec<u32>]) -> Vec<Edge> {
        let each = lists.iter().enumerate();
        each.flat_map(|(from, to)| {
            to.iter().zip(0..).map(move |(&to, number)| Edge { from: from as u32, to, number })
        })
        .collect()
    }

    /// The same partition by repeated comparison with all successors' classes.
    fn slowly(colors: &[u32], lists: &[Vec<u32>]) -> Vec<u32> {
        let mut classes = colors.to_vec();
        loop {
            let mut known = std::collections::BTreeMap::new();
            let mut next = Vec::new();
            for (node, list) in lists.iter().enumerate() {
                let key = (classes[node], list.iter().map(|&to| classes[to as usize]).collect::<Vec<_>>());
                let count = known.len() as u32;
                next.push(*known.entry(key).or_insert(count));
            }
            let count = |classes: &[u32]| classes.iter().collect::<std::collections::BTreeSet<_>>().len();
            if count(&next) == count(&classes) {
                return next;
            }
            classes = next;
        }
    }

    fn is_same(one: &[u32], other: &[u32]) -> bool {
        let pairs = || one.iter().zip(other);
        let forth: std::collections::BTreeMap<_, _> = pairs().collect();
        let back: std::collections::BTreeMap<_, _> = pairs().map(|(one, other)| (other, one)).collect();
        pairs().all(|(one, other)| forth[one] == other && back[other] == one)
    }

    #[test]
    fn cycles_with_equal_nodes_are_equal() {
        // Two lists of structures that refer to each other, and one that ends differently.
        let lists = [vec![1], vec![0], vec![3], vec![2], vec![5], vec![5]];
        let found = classes(&[0, 1, 0, 1, 0, 2], &edges(&lists));
        assert_eq!((found[0], found[1]), (found[2], found[3]));
        assert!(found[4] != found[0] && found[5] != found[1]);
    }

    proptest! {
        #[test]
        fn classes_are_those_of_repeated_comparison(
            nodes in prop::collection::vec((0_u32..3, prop::collection::vec(any::<prop::sample::Index>(), 0..4)), 1..24)
        ) {
            // Nodes with one color have equally many successors.
            let colors: Vec<u32> = nodes.iter().map(|(color, list)| 4 * color + list.len() as u32).collect();
            let lists: Vec<Vec<u32>> = nodes
                .iter()
                .map(|(_, list)| list.iter().map(|to| to.index(nodes.len()) as u32).collect())
                .collect();
            prop_assert!(is_same(&classes(&colors, &edges(&lists)), &slowly(&colors, &lists)));
        }
    }
}
