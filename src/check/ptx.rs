//! A description, and the PTX that it describes: function sizes, registers, symbols' memory spaces.

use core::ops::Range;

use hashbrown::{HashMap, HashSet};

use super::report::{CheckFinding, FindingKind};
use crate::error::{At, Count, Result};
use crate::model::{
    Address, BaseEncoding, Call, CallId, FunctionId, LocId, Module, Node, TypeId, TypeKind, VariableId,
    Warned, Warning,
};
use crate::op::Reg;
use crate::ptx::{Declarations, Flow, Function, RegisterKind, Registers, Text};
use crate::target::SpaceId;

/// Differences between a description and a PTX text.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct PtxReport {
    /// Mistakes in the description.
    pub findings: Vec<CheckFinding>,
    /// Properties that can be mistakes: [`DoubtfulRegister`](crate::model::WarningKind::DoubtfulRegister).
    pub warnings: Vec<Warning>,
}

/// Compares a description with the PTX text that it describes.
///
/// ptxas accepts these mistakes, and a debugger shows wrong values or none:
///
/// * A function has another number of instructions.
/// * A location contains a register that the function does not declare in the pc range's blocks, a register with
///   fewer bits than the variable or the part, or a predicate for a variable that is not a Boolean.
/// * No value that an instruction gives to the register reaches the pc range along the PTX control flow; or, if an
///   address or a value is computed from the register, the range's start.
/// * A call site's operand is such a register: an argument's value and an indirect call's target at the call, an
///   argument's location in the called function.
/// * A location is at a symbol that the PTX declares in another state space. A generic address belongs to a symbol in
///   `.global`.
///
/// A register with more bits than the variable is a warning, as the upper bits may be unused. Registers up to 32 bits
/// are not: PTX has no 8-bit registers, and nvcc puts 8-bit and 16-bit variables into 16-bit and 32-bit registers. A
/// register whose values reach the pc range, but not its start, is a warning, too, because the variable may be
/// uninitialized.
///
/// # Errors
/// [`Syntax`](crate::error::ErrorKind::Syntax), with line and column.
pub fn check_ptx(module: &Module, text: &str) -> Result<PtxReport> {
    Ok(compare(module, &[Text::read(text)?]))
}

/// Compares a description with the PTX from one or more compilations.
pub(super) fn compare(module: &Module, texts: &[Text<'_>]) -> PtxReport {
    let mut by_name: HashMap<&str, (&Text<'_>, &Function<'_>)> = HashMap::new();
    let mut spaces: HashMap<&str, Vec<&str>> = HashMap::new();
    for text in texts {
        for function in &text.functions {
            by_name.entry(function.name).or_insert((text, function));
        }
        for symbol in &text.symbols {
            // Texts of several compilations can declare a name in different spaces.
            let known = spaces.entry(symbol.name).or_default();
            if !known.contains(&symbol.space) {
                known.push(symbol.space);
            }
        }
    }
    let mut compared = Compared { module, spaces, report: PtxReport::default() };
    let mut bodies: HashMap<&str, Body<'_, '_>> = HashMap::new();
    let mut starts: HashMap<FunctionId, (&str, u64)> = HashMap::new();
    for (id, data) in module.functions() {
        let Some(Address::Symbol(symbol, by)) = data.address else { continue };
        let Some(&(text, function)) = by_name.get(module.symbol_name(symbol)) else { continue };
        // Several described functions can be parts of one PTX function.
        let body = bodies.entry(function.name).or_insert_with(|| Body::new(text, function));
        body.pieces.push((id, by..by.saturating_add(data.bytes)));
        starts.insert(id, (function.name, by));
    }
    let mut in_order: Vec<_> =
        bodies.values().filter_map(|body| Some((body.pieces.first()?.0, body))).collect();
    // Module order, because the map's order is arbitrary.
    in_order.sort_unstable_by_key(|(id, _)| *id);
    for (_, body) in in_order {
        compared.size(body);
    }
    let code = |function: Option<FunctionId>| {
        let (name, start) = *starts.get(&function?)?;
        Some(Code { body: bodies.get(name)?, start, bytes: module.function(function?).bytes })
    };
    for (id, variable) in module.variables() {
        let code = code(module.function_of(variable.scope));
        let place = |pcs| Place { variable: Some(id), call: None, pcs, code };
        if let Some(loc) = module.always(id) {
            compared.location(&place(None), loc);
        }
        for live in module.live(id) {
            compared.location(&place(Some(live.pcs())), live.loc);
        }
    }
    for (id, call) in module.calls() {
        let caller = code(module.function_of(call.scope));
        let here = Place { variable: None, call: Some(id), pcs: pcs_of(call), code: caller };
        for target in [call.target, call.clobbered_target].into_iter().flatten() {
            compared.location(&here, target);
        }
        for argument in module.arguments(id) {
            for loc in [argument.value, argument.data_location, argument.data_value].into_iter().flatten() {
                compared.location(&here, loc);
            }
            let callee = code(call.callee);
            let there = Place { variable: argument.parameter, call: Some(id), pcs: None, code: callee };
            if let Some(location) = argument.location {
                compared.location(&there, location);
            }
        }
    }
    compared.report
}

/// A PTX function.
struct Body<'t, 'r> {
    function: &'r Function<'t>,
    declared: Declarations<'t, 'r>,
    flow: Flow<'t>,
    /// Described functions, each with its positions.
    pieces: Vec<(FunctionId, Range<u64>)>,
}

impl<'t, 'r> Body<'t, 'r> {
    fn new(text: &'r Text<'t>, function: &'r Function<'t>) -> Self {
        let declared = Declarations::new(text, function);
        Self { function, declared, flow: Flow::new(text, function), pieces: Vec::new() }
    }
}

/// A described function's code.
#[derive(Clone, Copy)]
struct Code<'b> {
    body: &'b Body<'b, 'b>,
    /// Instruction position at which the described function's pc is 0.
    start: u64,
    bytes: u64,
}

/// Where a variable's or call operand's location holds: in a pc range or, without a range, in the whole function.
struct Place<'b> {
    /// The variable or parameter; none for a call's other operands.
    variable: Option<VariableId>,
    call: Option<CallId>,
    pcs: Option<Range<u64>>,
    code: Option<Code<'b>>,
}

/// Bits that a node needs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    /// The variable's whole value, with this size if it is known.
    Variable(Option<u64>),
    /// A part's bits.
    Part(u64),
    /// A number's bits, from which an address or a value is computed.
    Number(Option<u64>),
    Unknown,
}

impl Need {
    /// The bits that are further on in the same storage.
    fn after(self, bits: i64) -> Self {
        let Ok(bits) = u64::try_from(bits) else { return Self::Unknown };
        match self {
            Self::Variable(Some(need)) | Self::Part(need) => Self::Part(need.saturating_add(bits)),
            Self::Number(need) => Self::Number(need.map(|need| need.saturating_add(bits))),
            _ => Self::Unknown,
        }
    }

    fn bits(self) -> Option<u64> {
        match self {
            Self::Variable(bits) | Self::Number(bits) => bits,
            Self::Part(bits) => Some(bits),
            Self::Unknown => None,
        }
    }
}

struct Compared<'m, 't> {
    module: &'m Module,
    /// State spaces in which the PTX declares each name.
    spaces: HashMap<&'t str, Vec<&'t str>>,
    report: PtxReport,
}

/// Register size in bits up to which nvcc puts smaller variables into the register.
const NARROWEST: u64 = 32;

impl Compared<'_, '_> {
    /// Compares a function's size. Several described functions can share one PTX function's code.
    fn size(&mut self, body: &Body<'_, '_>) {
        let count = body.function.instructions.len() as u64;
        let last = body.pieces.iter().max_by_key(|(_, positions)| positions.end);
        let Some((id, positions)) = last else { return };
        // A function described from the middle need not reach the end.
        let is_whole = body.pieces.iter().any(|(_, positions)| positions.start == 0);
        if positions.end > count || (is_whole && positions.end < count) {
            let site = self.module.at_scope(self.module.function(*id).scope);
            let expected = format!("{} of `{}`", Count(count, "instruction"), body.function.name);
            self.wrong(FindingKind::Code, site, expected, Count(positions.end, "instruction").to_string());
        }
    }

    /// Compares a location's nodes, the root first.
    fn location(&mut self, place: &Place<'_>, loc: LocId) {
        let module = self.module;
        let bits = place.variable.and_then(|id| module.ty(module.variable(id).ty).value_bits());
        // A work list: procedures can call each other, and `procedures` ends cycles.
        let mut locs = vec![(loc, Need::Variable(bits))];
        let mut registers = Vec::new();
        let mut procedures = HashSet::new();
        while let Some((loc, need)) = locs.pop() {
            let nodes: Vec<Node<'_>> = module.nodes(loc).collect();
            self.symbols(place, &nodes);
            let mut needs = vec![need];
            // Nodes are in postfix order: from the root back, each node's need is known before its operands' needs.
            for &node in nodes.iter().rev() {
                let need = needs.pop().unwrap_or(Need::Unknown);
                match node {
                    Node::PerLane(reg) | Node::Register(reg) | Node::Lane(reg, _) => {
                        let is_of_lane = matches!(node, Node::PerLane(_));
                        registers.push((reg, if is_of_lane { need } else { Need::Unknown }));
                    }
                    Node::ReadRegister(reg) => registers.push((reg, Need::Number(None))),
                    Node::Call(procedure) if procedures.insert(procedure) => {
                        locs.push((module.procedures[procedure].loc, need));
                    }
                    Node::Offset(bytes) => needs.push(need.after(bytes.saturating_mul(8))),
                    Node::BitOffset(bits) => needs.push(need.after(bits)),
                    Node::Part(bits) | Node::Extend { bits, .. } => needs.push(Need::Part(bits)),
                    Node::Read(bits) => needs.push(Need::Number(Some(bits.into()))),
                    Node::Parts(count) => needs.extend((0..count).map(|_| Need::Unknown)),
                    _ => needs.extend(node.sorts().1.iter().map(|_| Need::Unknown)),
                }
            }
        }
        // One finding for each location: the first register, in description order, that has a finding.
        let before = self.report.findings.len();
        for (reg, need) in registers.into_iter().rev() {
            if self.report.findings.len() == before {
                self.register(place, reg, need);
            }
        }
    }

    /// Compares the memory space at a symbol, or at a constant distance after the symbol.
    fn symbols(&mut self, place: &Place<'_>, nodes: &[Node<'_>]) {
        let module = self.module;
        let mut last = None;
        for &node in nodes {
            last = match node {
                Node::Address(symbol, _) => Some(symbol),
                Node::Plus(_) => last,
                Node::Memory(space) => {
                    if let Some(symbol) = last {
                        self.space(place, module.symbol_name(symbol), space);
                    }
                    None
                }
                _ => None,
            };
        }
    }

    fn space(&mut self, place: &Place<'_>, symbol: &str, space: SpaceId) {
        let Some(declared) = self.spaces.get(symbol) else { return };
        let Some(name) = self.module.target.space(space).map(|space| &*space.name) else { return };
        // In global memory, generic addresses are the space's own addresses.
        let expected = if space == SpaceId::DEFAULT { "global" } else { name };
        // `.tex` is the space that old PTX has for textures in global memory.
        let is_same = |directive: &&str| matches!(directive.strip_prefix('.'), Some(space) if space == expected || space == "tex");
        if !declared.iter().any(is_same) {
            let expected = format!("`{symbol}` in the state space {}", declared.join(" or "));
            self.wrong(
                FindingKind::Location,
                self.site(place),
                expected,
                format!("`{symbol}` in the space {name}"),
            );
        }
    }

    /// Compares a PTX register with its declarations and with the instructions that set it.
    fn register(&mut self, place: &Place<'_>, reg: Reg, need: Need) {
        let Some(code) = &place.code else { return };
        let Some(register) = self.module.target.register(reg) else { return };
        let name = register.name().to_string();
        // The processor's registers have other names.
        if !name.starts_with('%') {
            return;
        }
        let Code { body, start, bytes } = *code;
        let pcs = place.pcs.clone().unwrap_or(0..bytes);
        let [from, to] = [pcs.start, pcs.end].map(|pc| start.saturating_add(pc));
        if from >= to {
            return;
        }
        let declared = body.declared.named(&name, &(from..to));
        let function = body.function.name;
        if declared.is_empty() {
            let expected = format!("a register that `{function}` declares there");
            return self.wrong(
                FindingKind::Location,
                self.site(place),
                expected,
                format!("{name}, which is not declared"),
            );
        }
        if !declared.iter().any(|registers| registers.is_set)
            && !self.is_set(place, &name, need, (body, from..to))
        {
            return;
        }
        self.width(place, &name, need, &declared);
    }

    /// Compares a pc range with the instructions that can set a register. Returns whether any of these reaches the
    /// range.
    fn is_set(
        &mut self,
        place: &Place<'_>,
        name: &str,
        need: Need,
        (body, positions): (&Body<'_, '_>, Range<u64>),
    ) -> bool {
        let is_number = matches!(need, Need::Number(_));
        let first = match body.flow.first(name) {
            Some(position) => format!("which is first set at {position:#x}"),
            None => format!("which no instruction of `{}` sets", body.function.name),
        };
        let reaches_start =
            place.pcs.is_none() || body.flow.is_set(name, positions.start..positions.start + 1);
        if !body.flow.is_set(name, positions) || (is_number && !reaches_start) {
            let expected = format!("pcs that a value of {name} reaches");
            self.wrong(FindingKind::Location, self.site(place), expected, format!("{name}, {first}"));
            return false;
        }
        if !reaches_start {
            self.warn(place, format!("no value of {name}, {first}, reaches the start of the pc range"));
        }
        true
    }

    /// Compares how many bits a location needs with a register's size, by the declarations in scope.
    fn width(&mut self, place: &Place<'_>, name: &str, need: Need, declared: &[&Registers<'_>]) {
        let Some(need_bits) = need.bits() else { return };
        let mut widest = 0;
        for registers in declared {
            match registers.kind {
                // A register class that the reader does not know has no size to compare.
                RegisterKind::Unknown => return,
                RegisterKind::Bits(bits) => widest = widest.max(bits),
                RegisterKind::Predicate => {
                    let ty = place.variable.map(|id| self.module.variable(id).ty);
                    // A predicate is read as the number 0 or 1.
                    if matches!(need, Need::Number(_)) || ty.is_none_or(|ty| is_boolean(self.module, ty)) {
                        return;
                    }
                }
            }
        }
        let expected = format!("a register of {}", Count(need_bits, "bit"));
        if widest == 0 {
            let actual = format!("{name}, a predicate");
            return self.wrong(FindingKind::Location, self.site(place), expected, actual);
        }
        if widest < need_bits {
            let actual = format!("{name}, a register of {}", Count(widest, "bit"));
            return self.wrong(FindingKind::Location, self.site(place), expected, actual);
        }
        let is_whole = matches!(need, Need::Variable(_));
        if is_whole && widest > need_bits.max(NARROWEST) {
            let sizes = (Count(widest, "bit"), Count(need_bits, "bit"));
            self.warn(place, format!("{name} has {}, and the variable has {}", sizes.0, sizes.1));
        }
    }

    fn site(&self, place: &Place<'_>) -> At {
        let module = self.module;
        match (place.call, place.variable) {
            (Some(call), _) => {
                let call = module.call(call);
                module.at_scope(call.scope).with(|context| context.pcs = pcs_of(call))
            }
            (None, Some(variable)) => module.at_variable(variable, place.pcs.clone()),
            (None, None) => At::default(),
        }
    }

    fn wrong(&mut self, kind: FindingKind, at: At, expected: String, found: String) {
        self.report.findings.push(CheckFinding { kind, at, lane: None, expected, found, trace: Vec::new() });
    }

    fn warn(&mut self, place: &Place<'_>, what: String) {
        let Some(variable) = place.variable else { return };
        self.report.warnings.push(Warning { warned: Warned::Register(variable), at: self.site(place), what });
    }
}

/// Returns a call instruction's pc range, which is one PTX position.
fn pcs_of(call: &Call) -> Option<Range<u64>> {
    let pc = call.pc.or(call.return_pc.and_then(|pc| pc.checked_sub(1)))?;
    Some(pc..pc.saturating_add(1))
}

fn is_boolean(module: &Module, mut ty: TypeId) -> bool {
    loop {
        match module.ty(ty).kind() {
            TypeKind::Base { encoding, .. } => return *encoding == BaseEncoding::Boolean,
            TypeKind::Typedef { of: Some(of), .. }
            | TypeKind::Qualified { of: Some(of), .. }
            | TypeKind::Subrange { of: Some(of), .. } => ty = *of,
            _ => return false,
        }
    }
}
