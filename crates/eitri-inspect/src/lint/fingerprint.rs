//! Facts about a finding that survive recompilation: names, and the shape of an expression.

use std::fmt::Write;

/// Returns the operations in an expression's text without their operands.
pub(super) fn shape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // Each turn writes one operation, and skips its operands up to the next operation.
    while !rest.is_empty() {
        if rest.starts_with('<') {
            // Bytes that cannot be decoded, up to the end of the expression.
            out.push_str("<error>");
            break;
        }
        let end = rest.find([' ', ';', '(', ')']).unwrap_or(rest.len());
        let (name, operands) = rest.split_at(end);
        if name.ends_with(':') {
            // The label of a branch target precedes its operation.
            rest = operands.trim_start();
            continue;
        }
        // Writing to a string does not fail.
        let _ = out.write_str(without_number(name, operands));
        rest = operands;
        loop {
            let Some(end) = rest.find([';', '(', ')']) else { return out };
            let separator = rest.as_bytes()[end];
            rest = rest[end + 1..].trim_start();
            match separator {
                b'(' => out.push('('),
                b')' => {
                    out.push(')');
                    continue;
                }
                _ => out.push_str("; "),
            }
            break;
        }
    }
    out
}

/// Returns an operation's name without the register number or the constant in it: a compiler chooses another register
/// after any change, and a constant in the source can change. The number of a literal stays if it is an address space. `rest`
/// is the text after the name.
fn without_number<'n>(name: &'n str, rest: &str) -> &'n str {
    match name.trim_end_matches(|char: char| char.is_ascii_digit()) {
        // A register beyond 31 has the long form.
        "reg" | "regx" => "reg",
        "breg" | "bregx" => "breg",
        "lit" if !is_space(rest) => "const",
        _ if is_constant(name) => "const",
        _ => name,
    }
}

/// Whether the operations after a literal use it as an address space.
fn is_space(rest: &str) -> bool {
    let rest = rest.trim_start_matches([';', ' ']);
    ["swap; xderef", "form_aspace_address"].iter().any(|operations| rest.starts_with(operations))
}

/// Whether a name is that of a constant of any size: `const1u` to `const8s`, `constu`, `consts`.
fn is_constant(name: &str) -> bool {
    let Some(size) = name.strip_prefix("const") else { return false };
    matches!(size.trim_start_matches(['1', '2', '4', '8']), "u" | "s")
}

/// Returns a hash of texts, which is the same on each machine: FNV-1a, with a byte that no name has after each text.
pub(super) fn hash(parts: &[&str]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0xff]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::shape;

    /// Expressions as the text module prints them, and their operations by hand.
    #[test]
    fn shape_has_no_operands() {
        let rows = [
            ("bregx v1 0; lit1; swap; xderef", "breg; lit1; swap; xderef"),
            ("breg7 rsp -8; deref", "breg; deref"),
            ("reg5", "reg"),
            ("regx 40", "reg"),
            // The constants 7, 8 and 1000 of one variable, in the address space 1.
            ("lit7; lit1; swap; xderef; stack_value", "const; lit1; swap; xderef; stack_value"),
            ("lit8; lit1; swap; xderef; stack_value", "const; lit1; swap; xderef; stack_value"),
            ("const2u 1000; lit1; swap; xderef; stack_value", "const; lit1; swap; xderef; stack_value"),
            ("lit31; lit3; form_aspace_address", "const; lit3; form_aspace_address"),
            ("lit9; stack_value", "const; stack_value"),
            ("const2u 300; consts -1; constu 7; constx 4; plus", "const; const; const; constx; plus"),
            ("entry_value (reg5 rdi); stack_value", "entry_value(reg); stack_value"),
            ("entry_value (breg0 8; deref); piece 4", "entry_value(breg; deref); piece"),
            ("implicit_value {de ad}", "implicit_value"),
            ("lit0; bra L0; lit1; L0: stack_value", "const; bra; const; stack_value"),
            ("regx v3; <unknown opcode 0xe6; e6 (1)>", "reg; <error>"),
            ("", ""),
        ];
        for (text, expected) in rows {
            assert_eq!(shape(text), expected, "{text}");
        }
    }
}
