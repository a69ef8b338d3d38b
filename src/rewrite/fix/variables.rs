//! New locations of variables.

use core::ops::Range;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::change::FixChange;
use super::claims::{Claim, Facts, Proven};
use super::code::described;
use super::functions::{Functions, Source};
use super::meant;
use crate::build::{Builder, resumed};
use crate::error::Result;
use crate::lint::{Level, LintCode, LintFinding, MeantLocation};
use crate::model::{FunctionId, Loc, Module, VariableId};
use crate::op::text;

/// A variable's new locations.
pub(super) struct Located {
    variable: VariableId,
    /// Locations by pc, in bytes from the function's start.
    live: Vec<(Range<u64>, Vec<Loc>)>,
    /// The location at all pcs.
    always: Option<Loc>,
    changes: Vec<FixChange>,
}

/// Findings about a variable.
type Findings<'f> = Vec<&'f LintFinding>;

/// Location entry that a finding replaces.
struct Replaced<'f> {
    finding: &'f LintFinding,
    /// Addresses in the file; `None` for all pcs.
    pcs: Option<Range<u64>>,
    /// Locations instead, the best last; none if the right location is not known.
    meant: Vec<MeantLocation>,
}

/// Returns the new locations of the variables that findings are about.
pub(super) fn changes(
    module: &Module,
    source: Source<'_, '_>,
    functions: &Functions<'_, '_>,
    findings: &[LintFinding],
) -> Result<Vec<Located>> {
    let mut by_variable: BTreeMap<(Option<FunctionId>, VariableId), Findings<'_>> = BTreeMap::new();
    for finding in findings.iter().filter(|finding| finding.split.is_none() && is_location(finding.code)) {
        let Some(entry) = finding.entry else { continue };
        for variable in source.entries.variables(entry) {
            let function = module.function_of(module.variable(variable).scope);
            by_variable.entry((function, variable)).or_default().push(finding);
        }
    }
    let mut located = Vec::new();
    // One function's code is in memory at a time.
    let mut known: Option<(FunctionId, Option<Facts>)> = None;
    for ((function, variable), findings) in by_variable {
        if let Some(function) = function
            && known.as_ref().is_none_or(|known| known.0 != function)
        {
            known = Some((function, functions.facts(module, function)));
        }
        let facts = known.as_ref().filter(|_| function.is_some()).and_then(|known| known.1.as_ref());
        let pcs = function.and_then(|function| functions.pcs.get(&function)).cloned();
        let replaced = replaced(&findings);
        let one = Variable { module, variable, facts, pcs };
        located.extend(one.located(&replaced));
    }
    Ok(located)
}

/// Returns what findings replace, one for each location entry.
fn replaced<'f>(findings: &[&'f LintFinding]) -> Vec<Replaced<'f>> {
    let mut by_pcs: BTreeMap<Option<(u64, u64)>, Replaced<'f>> = BTreeMap::new();
    for finding in findings {
        let meant = finding.meant.as_ref().map_or(&[][..], |meant| &meant.locations).to_vec();
        match by_pcs.entry(finding.pcs.as_ref().map(|pcs| (pcs.start, pcs.end))) {
            Entry::Vacant(new) => {
                new.insert(Replaced { finding, pcs: finding.pcs.clone(), meant });
            }
            // Nothing is right about an entry if a finding about it has no meaning.
            Entry::Occupied(mut known) if finding.level == Level::Error && meant.is_empty() => {
                known.get_mut().meant.clear();
                known.get_mut().finding = finding;
            }
            Entry::Occupied(_) => {}
        }
    }
    by_pcs.into_values().collect()
}

/// A variable that findings are about.
struct Variable<'a> {
    module: &'a Module,
    variable: VariableId,
    facts: Option<&'a Facts>,
    /// Addresses of the function's code.
    pcs: Option<Range<u64>>,
}

impl Variable<'_> {
    fn located(&self, replaced: &[Replaced<'_>]) -> Option<Located> {
        let Self { module, variable, .. } = *self;
        let Some(function) = self.pcs.clone() else { return self.without_code(replaced) };
        let base = function.start;
        let mut claims: Vec<(usize, Claim, Loc)> = Vec::new();
        let mut changes = Vec::new();
        for (index, replaced) in replaced.iter().enumerate() {
            changes.push(self.change(replaced));
            for meant in &replaced.meant {
                let pcs = meant.pcs.clone().or_else(|| replaced.pcs.clone()).unwrap_or(function.clone());
                let pcs = pcs.start.max(function.start)..pcs.end.min(function.end);
                if pcs.is_empty() {
                    continue;
                }
                let mut claim = meant::claim(module.target(), meant, pcs);
                if let Some(claim) = claim.as_mut().filter(|claim| claim.base.is_some()) {
                    self.skip_prologue(claim, &mut changes[index]);
                }
                match (claim, meant::loc(meant, module, variable)) {
                    (Some(claim), Ok(loc)) => claims.push((index, claim, loc)),
                    (None, _) => changes[index].evidence.push("a register of it is not followed".into()),
                    (_, Err(error)) => changes[index].evidence.push(error.to_string()),
                }
            }
        }
        let mut live = self.kept(replaced, base);
        for (index, pcs, loc) in self.proven(&claims, &mut changes) {
            let text = text_of(module, &claims[index].1.expression);
            changes[claims[index].0].after.push((Some(pcs.clone()), text));
            live.push((pcs.start - base..pcs.end - base, vec![loc]));
        }
        live.sort_by_key(|(pcs, _)| (pcs.start, pcs.end));
        // A location at all pcs needs no list.
        let always = match &mut live[..] {
            [(pcs, locs)] if module.always(variable).is_some() && *pcs == (0..function.end - base) => {
                locs.pop()
            }
            _ => None,
        };
        if always.is_some() {
            live.clear();
        }
        Some(Located { variable, live, always, changes })
    }

    /// Begins a claim about a stack slot after the first store to it, or else where the prologue ends, which stores the
    /// parameters.
    fn skip_prologue(&self, claim: &mut Claim, change: &mut FixChange) {
        let Some(pcs) = &self.pcs else { return };
        let store = self.facts.and_then(|facts| facts.first_store(claim));
        let rows = || {
            let module = self.module;
            let function = module.function_of(module.variable(self.variable).scope)?;
            Some(pcs.start + module.rows(function).iter().find(|row| row.is_prologue_end)?.pc)
        };
        let (start, text) = match (store, rows()) {
            (Some(store), _) => (store.end(), format!("{} is the first store to the slot", described(store))),
            (None, Some(end)) => {
                (end, format!("the prologue, which stores the parameters, ends at {end:#x}"))
            }
            (None, None) => return,
        };
        if claim.pcs.start < start && start < claim.pcs.end {
            change.evidence.push(text);
            claim.pcs.start = start;
        }
    }

    /// Returns the pcs at which each claim holds, without overlaps: a later claim is better. Each has the claim's index.
    fn proven(
        &self,
        claims: &[(usize, Claim, Loc)],
        changes: &mut [FixChange],
    ) -> Vec<(usize, Range<u64>, Loc)> {
        let mut all: Vec<(usize, Range<u64>, Loc)> = Vec::new();
        let mut rest: Vec<usize> = (0..claims.len()).collect();
        rest.sort_by_key(|&index| claims[index].1.pcs.start);
        // Claims that overlap are proven one after the other.
        while !rest.is_empty() {
            let mut group: Vec<usize> = Vec::new();
            let mut end = 0;
            rest.retain(|&index| {
                let pcs = &claims[index].1.pcs;
                // The claims are sorted by start.
                let overlaps = pcs.start < end;
                if !overlaps {
                    group.push(index);
                    end = pcs.end;
                }
                overlaps
            });
            let own: Vec<Claim> = group.iter().map(|&index| claims[index].1.clone()).collect();
            let proven = match self.facts {
                Some(facts) => facts.proven(&own),
                // A constant needs no code.
                None => own.iter().map(constant).collect(),
            };
            for (&index, proven) in group.iter().zip(proven) {
                for pcs in proven.pcs {
                    all.push((index, pcs, claims[index].2.clone()));
                }
                let evidence = &mut changes[claims[index].0].evidence;
                evidence.extend(proven.ends.into_iter().take(MOST_ENDS));
            }
        }
        all.sort_by_key(|(_, pcs, _)| pcs.start);
        if all.is_sorted_by(|one, next| one.1.end <= next.1.start) {
            return all;
        }
        // Where two hold, the better one stays.
        let mut disjoint: Vec<(usize, Range<u64>, Loc)> = Vec::new();
        all.sort_by_key(|(index, pcs, _)| (core::cmp::Reverse(*index), pcs.start));
        for (index, pcs, loc) in all {
            let mut free = vec![pcs];
            for (_, taken, _) in &disjoint {
                crate::work::step();
                let parts = free.into_iter().flat_map(|part| {
                    if taken.end <= part.start || part.end <= taken.start {
                        return [part, 0..0];
                    }
                    [part.start..taken.start, taken.end..part.end]
                });
                free = parts.filter(|part| part.start < part.end).collect();
            }
            disjoint.extend(free.into_iter().map(|part| (index, part, loc.clone())));
        }
        disjoint.sort_by_key(|(_, pcs, _)| pcs.start);
        disjoint
    }

    /// Returns the locations that no finding is about.
    fn kept(&self, replaced: &[Replaced<'_>], base: u64) -> Vec<(Range<u64>, Vec<Loc>)> {
        let mut live: Vec<(Range<u64>, Vec<Loc>)> = Vec::new();
        if replaced.iter().any(|replaced| replaced.pcs.is_none()) {
            return live;
        }
        // Sorted by start; `latest` is the end of the longest range so far.
        let mut latest = 0;
        let cuts: Vec<(Range<u64>, u64)> = replaced
            .iter()
            .filter_map(|replaced| replaced.pcs.as_ref())
            .map(|pcs| {
                let own = pcs.start.saturating_sub(base)..pcs.end.saturating_sub(base);
                latest = own.end.max(latest);
                (own, latest)
            })
            .collect();
        for known in self.module.live(self.variable) {
            let loc = Loc::of_nodes(self.module.nodes(known.loc));
            let own = known.pcs();
            let mut parts = vec![own.start..own.end];
            let first = cuts.partition_point(|cut| cut.1 <= own.start);
            for (cut, _) in cuts[first..].iter().take_while(|cut| cut.0.start < own.end) {
                let rest = parts.into_iter().flat_map(|part| {
                    if cut.end <= part.start || part.end <= cut.start {
                        return [part, 0..0];
                    }
                    [part.start..cut.start.max(part.start), cut.end.min(part.end)..part.end]
                });
                parts = rest.filter(|part| part.start < part.end).collect();
            }
            for part in parts {
                match live.last_mut() {
                    Some((last, locs)) if *last == part => locs.push(loc.clone()),
                    _ => live.push((part, vec![loc.clone()])),
                }
            }
        }
        live
    }

    /// Returns the new location of a variable that is not in a function's code.
    fn without_code(&self, replaced: &[Replaced<'_>]) -> Option<Located> {
        let Self { module, variable, .. } = *self;
        let mut changes: Vec<FixChange> = replaced.iter().map(|replaced| self.change(replaced)).collect();
        let mut always = None;
        for (replaced, change) in replaced.iter().zip(&mut changes) {
            if let [meant] = &replaced.meant[..]
                && meant::claim(module.target(), meant, 0..1).is_some_and(|claim| claim.registers.is_empty())
                && let Ok(loc) = meant::loc(meant, module, variable)
            {
                change.after.push((None, text_of(module, &meant.expression)));
                always = Some(loc);
            }
        }
        Some(Located { variable, live: Vec::new(), always, changes })
    }

    fn change(&self, replaced: &Replaced<'_>) -> FixChange {
        let finding = replaced.finding;
        FixChange {
            code: finding.code,
            unit: finding.unit.as_deref().map(Into::into),
            function: finding.function.as_deref().map(Into::into),
            variable: finding.variable.clone(),
            pcs: replaced.pcs.clone(),
            before: finding.expression.as_ref().map(|expression| expression.text.clone()),
            after: Vec::new(),
            evidence: finding.evidence.clone(),
        }
    }
}

/// Limit on reasons for the ends of a location.
const MOST_ENDS: usize = 8;

fn constant(claim: &Claim) -> Proven {
    let is_constant = claim.registers.is_empty() && claim.base.is_none();
    let pcs = if is_constant { vec![claim.pcs.clone()] } else { Vec::new() };
    let ends =
        if is_constant { Vec::new() } else { vec!["the function's instructions are not known".into()] };
    Proven { pcs, ends }
}

fn text_of(module: &Module, expression: &[u8]) -> String {
    text::print(expression, meant::MEANT, Some(module.target()))
}

/// Sets the new locations.
pub(super) fn apply(m: &mut Builder, located: Vec<Located>, changes: &mut Vec<FixChange>) -> Result<()> {
    let variables: hashbrown::HashSet<VariableId> = located.iter().map(|located| located.variable).collect();
    resumed::unlocate(m, |variable| variables.contains(&variable));
    for located in located {
        let mut variable = m.describe_variable(located.variable)?;
        if let Some(loc) = located.always {
            variable.always(loc)?;
        }
        for (pcs, locs) in located.live {
            variable.live_in(pcs, &locs)?;
        }
        changes.extend(located.changes);
    }
    Ok(())
}

/// Whether a fix changes what a finding is about.
fn is_location(code: LintCode) -> bool {
    use LintCode as Code;
    matches!(
        code,
        Code::RegisterAsMemory
            | Code::ConstantDereferenced
            | Code::ConstantAsAddress
            | Code::ConstantForComputed
            | Code::SlotWaveScaled
            | Code::SlotSpaceLost
            | Code::XderefAsLocation
            | Code::NoFrameBase
            | Code::RemovedSymbol
            | Code::NoLane
            | Code::RegisterNotThere
            | Code::ZeroSizeType
            | Code::RecoverableUnlocated
            | Code::UnknownRegister
            | Code::UnknownSpace
            | Code::LaneBeyondWave
            | Code::IllFormed
            | Code::ContradictingOverlap
            | Code::WrongKind
            | Code::LanesNotWritten
    )
}
