//! Findings about values that the code contains and the locations lack: kernel parameters, and constants where a value
//! is said to be computed.

use std::ops::Range;

use super::codes::LintCode;
use super::details::Details;
use super::file::{Architecture, File, Function};
use super::function_code::{PcInstruction, Setters, described};
use super::meant::{Meant, MeantLocation};
use super::places::Diagnosed;
use super::shape::{LocationShape, Number, Shape};
use eitri_dwarf::error::Count;
use eitri_dwarf::op::Reg;
use eitri_dwarf::target::code::{RegisterKind, SourceOperand};

/// Returns the finding about a parameter without a location, by its number among the kernel's parameters, and its pcs.
pub(super) fn parameter<'r>(
    file: &File<'r, '_>,
    function: &Function<'r, '_>,
    number: usize,
) -> Option<(Diagnosed, Range<u64>)> {
    let kernel = file.kernel(function.start())?;
    let (base, &(offset, bytes)) = (kernel.kernarg?, kernel.arguments.get(number)?);
    let code = function.code(file);
    let start = function.start();
    let end = code.end();
    // Code that is not decoded can set the registers and continue anywhere.
    let argument_end = offset.checked_add(bytes)?;
    if bytes == 0 || end <= start || !code.is_whole() {
        return None;
    }
    // The kernarg pointer, as long as no instruction sets it.
    let kept = code.lasting(RegisterKind::Scalar, (base, 2), start, start);
    let pointer = format!("s[{base}:{}]", base + 1);
    let mut evidence = vec![format!(
        "the kernel argument at {offset:#x}, which has {}, is in memory at {pointer} until {kept:#x}",
        Count(bytes, "byte")
    )];
    // A location in a register begins at its first bit.
    let loads = offset.is_multiple_of(4).then(|| code.loads(base)).into_iter().flatten();
    let first_load =
        loads.take_while(|(load, ..)| load.0 <= kept && load.0 < end).find_map(|(load, from, after)| {
            let write = *load.1.writes()?.first()?;
            let is_whole = from <= offset && argument_end <= from + 4 * u64::from(write.count);
            let skipped = u16::try_from(offset.checked_sub(from)? / 4).ok()?;
            is_whole.then(|| (load, write.first + skipped, bytes.div_ceil(4) as u16, after))
        });
    let mut meant = format!("memory at {pointer}{offset:+}");
    let mut locations = Vec::new();
    let scalars = |first: u16, count: u16| {
        (first..first + count).map(|number| file.scalar(number)).collect::<Option<Vec<Reg>>>()
    };
    if start < kept
        && let Some([low, high]) = scalars(base, 2).as_deref()
    {
        locations.push(MeantLocation::memory((*low, *high), offset, start..kept));
    }
    let mut pcs = start..kept;
    if let Some((load, first, count, after)) = first_load {
        let until = code.lasting(RegisterKind::Scalar, (first, count), load.0, after);
        let name = match count {
            1 => format!("s{first}"),
            _ => format!("s[{first}:{}]", first + count - 1),
        };
        evidence.push(format!("{} loads it from {pointer}{offset:+}", described(&load)));
        evidence.push(format!("{name} has it until {until:#x}"));
        meant = format!("{name} from {after:#x} to {until:#x}");
        if let Some(registers) = scalars(first, count).filter(|_| after < until) {
            locations.push(MeantLocation::registers(&registers, bytes, after..until));
        }
        pcs.end = kept.max(until);
    }
    // The first instruction sets the pointer.
    if pcs.is_empty() {
        return None;
    }
    let mut meant = Meant::new(meant);
    meant.locations = locations;
    let details = Details { meant: Some(meant), ..Details::new("no location") }.evidence(evidence);
    Some((Diagnosed::new(LintCode::RecoverableUnlocated, details), pcs))
}

/// Returns the finding about a constant before an entry in a register that had its value at the same pcs.
pub(super) fn constant<'r>(
    file: &File<'r, '_>,
    function: Option<&Function<'r, '_>>,
    (before, first): (&Range<u64>, &Shape),
    (after, second): (&Range<u64>, &Shape),
) -> Option<Diagnosed> {
    let function =
        function.filter(|_| file.architecture == Architecture::Amd && before.end == after.start)?;
    let ([constant], [place]) = (&first.parts[..], &second.parts[..]) else { return None };
    let LocationShape::Value(Number::Known(value)) = constant.place else { return None };
    let reg = register(&place.place)?;
    let (kind, number) = file.operand(reg)?;
    let code = function.code(file);
    let setters = code.setters(kind, number, after.start);
    let Setters { known, outside: false, unknown: None } = &*setters else {
        return None;
    };
    let [setter] = &known[..] else { return None };
    // A setter within the range is where the value changes; a moved constant can be this one.
    let is_moved = matches!(setter.1.source, Some(SourceOperand::Constant(_))) && setter.1.second.is_none();
    let is_called = code.call(kind, number, setter.0..after.start).is_some();
    if setter.0 >= before.start || is_moved || is_called {
        return None;
    }
    let name = file.name(reg);
    let details =
        Details::new(format!("the value {}", value as i64)).meant(format!("the value in {name}")).evidence([
            format!("{} sets {name}", described(setter)),
            format!(
                "{name} is the variable's location from {:#x} on, and nothing sets it in between",
                after.start
            ),
        ]);
    let operations = constant.operations.clone();
    Some(Diagnosed { operations, ..Diagnosed::new(LintCode::ConstantForComputed, details) })
}

/// Returns the finding about a constant that Triton gives for a variable. Triton describes a value by an operation of its
/// lowering, and a constant there is often an operand, such as the distance between the elements of a tensor. It is the
/// value if an instruction moves it to a register.
pub(super) fn operand<'r>(
    file: &File<'r, '_>,
    function: &Function<'r, '_>,
    shape: &Shape,
) -> Option<Diagnosed> {
    let value = shape.constant()? as i64;
    let code = function.code(file);
    if !code.is_whole() {
        return None;
    }
    let is_move = |instruction: &PcInstruction| {
        let name = instruction.1.name.unwrap_or_default();
        (name.starts_with("s_mov") || name.starts_with("v_mov"))
            && instruction.1.source == Some(SourceOperand::Constant(value))
    };
    if code.instructions().any(|(_, instruction)| is_move(&instruction)) {
        return None;
    }
    let details = Details::new(format!("the value {value} in all lanes")).evidence([
        "the producer is Triton, which describes a tensor by an operand of its computation".into(),
        format!("no instruction moves {value} to a register"),
    ]);
    let operations = shape.parts.first()?.operations.clone();
    Some(Diagnosed { operations, ..Diagnosed::new(LintCode::ConstantForComputed, details) })
}

/// Returns the register that a location is in. LLVM also writes memory at the address in the register.
fn register(place: &LocationShape) -> Option<Reg> {
    match place {
        LocationShape::Register(reg, _) | LocationShape::Value(Number::Register(reg, 0)) => Some(*reg),
        LocationShape::Memory { address: Number::Loaded { from, .. }, .. } => match **from {
            Number::Register(reg, 0) => Some(reg),
            _ => None,
        },
        _ => None,
    }
}
