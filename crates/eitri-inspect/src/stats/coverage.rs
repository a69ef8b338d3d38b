//! Scope bytes in which variables have a location.

use std::ops::AddAssign;

/// Coverage classes: none, tenths of the scope, and the whole scope.
pub const HISTOGRAM: usize = 12;

/// Returns bytes in percent of others; `None` without others.
pub fn percent(bytes: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| 100.0 * bytes as f64 / of as f64)
}

/// Bytes in the scopes of variables.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Coverage {
    /// Code bytes in the scopes.
    pub scope: u64,
    /// Bytes of code in the scopes at which a variable has a location entry. Bytes in two overlapping entries count twice.
    pub located: u64,
    /// Bytes in `located` at which the variable is unavailable: its expression is empty, or has empty pieces only
    /// (DWARF 5 section 2.6.1.1.4), or no PTX register in it has a home in the cubin's register map, if the sound part is
    /// measured. `llvm-dwarfdump` counts them as located.
    pub unavailable: u64,
    /// Bytes in `located` whose location needs a value at function entry (`DW_OP_entry_value`).
    pub entry_values: u64,
    /// Bytes in `located` without the entries in which `lint` finds an error, and without the unavailable bytes.
    pub sound: u64,
}

impl Coverage {
    /// Returns the sound part of the scopes in percent: 0 to 100, and more where locations overlap. `None` without scopes.
    pub fn percent(&self) -> Option<f64> {
        percent(self.sound, self.scope)
    }

    /// Returns the bytes at which the variable has a location that is not empty.
    pub fn available(&self) -> u64 {
        self.located.saturating_sub(self.unavailable)
    }

    /// Returns the histogram indices: with values at function entry, and without.
    pub(super) fn classes(self) -> [usize; 2] {
        let class = Self::class(self.located, self.scope);
        let rest = || Self::class(self.located.saturating_sub(self.entry_values), self.scope);
        [class, if self.entry_values == 0 { class } else { rest() }]
    }

    /// Returns the histogram index for located and scope bytes.
    fn class(located: u64, scope: u64) -> usize {
        match located {
            0 => 0,
            _ if located >= scope => HISTOGRAM - 1,
            _ => match located.checked_mul(10) {
                Some(tenths) => (tenths / scope) as usize + 1,
                None => (u128::from(located) * 10 / u128::from(scope)) as usize + 1,
            },
        }
    }
}

impl AddAssign for Coverage {
    fn add_assign(&mut self, other: Self) {
        self.scope = self.scope.saturating_add(other.scope);
        self.located = self.located.saturating_add(other.located);
        self.unavailable = self.unavailable.saturating_add(other.unavailable);
        self.entry_values = self.entry_values.saturating_add(other.entry_values);
        self.sound = self.sound.saturating_add(other.sound);
    }
}

/// Coverage of a kind of variables.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Group {
    /// Sum over the variables whose scope has code.
    pub coverage: Coverage,
    /// Variables by the located part of their scope: none, (0, 10 %), [10 %, 20 %) to [90 %, 100 %), all.
    pub histogram: [u64; HISTOGRAM],
    /// The same without locations that need a value at function entry.
    pub without_entry_values: [u64; HISTOGRAM],
    /// Variables in the histogram.
    pub processed: u64,
    /// Variables that the source declares.
    pub count: u64,
    /// Variables that are declared with file and line.
    pub with_source: u64,
    /// Declared variables with a type.
    pub with_type: u64,
    /// Declared variables with a location or a constant value.
    pub with_location: u64,
}

impl Group {
    /// Adds later units' variables.
    pub(super) fn append(&mut self, later: &Self) {
        self.coverage += later.coverage;
        let own = self.histogram.iter_mut().chain(&mut self.without_entry_values);
        let more = later.histogram.iter().chain(&later.without_entry_values);
        own.zip(more).for_each(|(own, more)| *own += more);
        self.processed += later.processed;
        self.count += later.count;
        self.with_source += later.with_source;
        self.with_type += later.with_type;
        self.with_location += later.with_location;
    }

    /// Counts a variable, by its [classes](Coverage::classes).
    pub(super) fn process(&mut self, [class, without_entry_values]: [usize; 2]) {
        self.processed += 1;
        self.histogram[class] += 1;
        self.without_entry_values[without_entry_values] += 1;
    }

    /// Counts a variable for which an inlined instance has no entry.
    pub(super) fn process_missing(&mut self, count: u64) {
        self.processed += count;
        self.histogram[0] += count;
    }
}

/// Coverage of a variable or parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct VariableCoverage {
    /// Name; empty for a variable without a name.
    pub name: String,
    /// Whether it is a parameter.
    pub is_parameter: bool,
    /// Bytes in its scope.
    pub coverage: Coverage,
    /// Bytes in its entry and its entry's children.
    pub entry_bytes: u64,
    /// Entries in its location list.
    pub locations: u64,
    /// Bytes for the pcs and expressions in its location list, without their encoding.
    pub list_bytes: u64,
}

/// Coverage of the variables in a unit's functions.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnitCoverage {
    /// Unit name.
    pub name: Option<String>,
    /// Sum over its functions.
    pub coverage: Coverage,
}

/// Coverage of a function's variables, including those in its inlined calls.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionCoverage {
    /// Unit name.
    pub unit: Option<String>,
    /// Name; empty for a function without a name.
    pub name: String,
    /// Linkage name, if it is not the name: methods in two classes differ in it.
    pub linkage_name: Option<String>,
    /// Sum over its variables.
    pub coverage: Coverage,
    /// Variables whose scope has code.
    pub variables: Vec<VariableCoverage>,
}

impl FunctionCoverage {
    /// Returns the linkage name, or else the name.
    pub fn symbol_name(&self) -> &str {
        self.linkage_name.as_deref().unwrap_or(&self.name)
    }
}
