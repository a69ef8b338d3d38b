//! Elements of arrays whose sizes are known at run time, as gdb prints them.

use eitri::eval::{CallStack, Context, DebugInfo, Elements, Snapshot, WithDebugInfo, read_bits};
use eitri::op::Reg;
use eitri::read::{Dwarf, FrameSection, Object};
use eitri::target::{SpaceId, Target};

use super::stack::hex;
use super::{CC, CLANG, compile, gdb};
use crate::common::tools::{Folder, skip};

const SOURCE: &str = r"
typedef short pair[2];
volatile int sink;
__attribute__((noinline)) void stop(void *first, void *second, void *third, void *fourth) { sink = 1; }
__attribute__((noinline)) int f(int n) {
    int plain[n];
    long long_rows[3][n + 1];
    unsigned char square[n][n];
    pair aliased[2][3];
    for (int i = 0; i < n; i++) plain[i] = i * 1000 + 7;
    for (int i = 0; i < 3; i++) for (int j = 0; j < n + 1; j++) long_rows[i][j] = i * 100 + j;
    for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) square[i][j] = i * 16 + j;
    for (int i = 0; i < 12; i++) ((short *)aliased)[i] = i * 3;
    stop(plain, long_rows, square, aliased);
    return plain[0];
}
int main(int count, char **words) { return f(count + 3); }
";

/// All indices of an array, the last varying fastest.
fn indices(counts: &[u64]) -> Vec<Vec<u64>> {
    counts.iter().fold(vec![Vec::new()], |all, &count| {
        let longer = |prefix: Vec<u64>| (0..count).map(move |index| [&prefix[..], &[index]].concat());
        all.into_iter().flat_map(longer).collect()
    })
}

#[test]
fn elements_of_arrays_are_those_of_gdb() {
    for compiler in [CC, CLANG] {
        for version in ["-gdwarf-5", "-gdwarf-4"] {
            let folder = Folder::new();
            folder.file("a.c", SOURCE);
            let Some(program) = compile(compiler, &folder, &["a.c"], &[version, "-O0", "-no-pie"]) else {
                return;
            };
            let Some(answer) = gdb(&program, include_str!("elements.py")) else { return };
            if !answer.contains("REGISTERS") {
                skip("gdb may not trace programs here");
                return;
            }
            let bytes = std::fs::read(&program).expect("the program");
            let object = Object::read(&bytes).expect("an object");
            let dwarf = Dwarf::read(&object).expect("debug information");
            let (info, target) = (DebugInfo::new(&dwarf), Target::x86_64());
            let mut machine = Snapshot::default();
            let mut arrays = 0;
            for line in answer.lines() {
                match line.split(' ').collect::<Vec<_>>()[..] {
                    ["REGISTERS", ref values @ ..] => {
                        let values = values.iter().map(|value| hex(value));
                        machine.pc = values.clone().next_back();
                        let registers = (0..).map(Reg).zip(values.map(|value| value.to_le_bytes().to_vec()));
                        machine.registers.extend(registers);
                    }
                    ["MEMORY", address, bytes] => {
                        let bytes = (0..bytes.len() / 2).map(|at| hex(&bytes[2 * at..2 * at + 2]) as u8);
                        let bytes: Vec<u8> = bytes.collect();
                        machine.store(SpaceId::DEFAULT, None, hex(address), &bytes);
                    }
                    ["ARRAY", name, counts, values] => {
                        let what = format!("{} {version} {name}", compiler.name);
                        let sections = [dwarf.frames(FrameSection::Eh).expect("frames")];
                        let stack = CallStack::new(&machine, &sections, &target).with_debug_info(&info);
                        let frame = stack.innermost().expect("a frame");
                        let array = dwarf.variable_named(name, Some(frame.pc())).expect("a variable");
                        let location = frame.variable_location(array.located).expect("a location");
                        let context = Context::in_unit(array.located.unit(), &target);
                        let whole = WithDebugInfo::new(&info, &machine, context);
                        let ty = array.ty().expect("a type");
                        let elements = Elements::new(ty, &location, &whole, &context);
                        let elements = elements.unwrap_or_else(|fault| panic!("{what}: {fault}"));
                        let found: Vec<String> = elements.counts().iter().map(u64::to_string).collect();
                        // clang keeps the typedef, whose array has the last dimension.
                        assert!(counts.starts_with(&found.join(",")), "{what}: {found:?}");
                        let outer = indices(elements.counts());
                        let element = ty.unqualified().and_then(|ty| ty.ty()).expect("elements");
                        let mut numbers = Vec::new();
                        for index in outer {
                            let location = elements.location(&index).expect("an element");
                            let inner = Elements::new(element, &location, &whole, &context);
                            let locations = match inner {
                                Ok(inner) => {
                                    let bits = element.unqualified().and_then(|ty| ty.ty()?.size_bits());
                                    let inner_indices = indices(inner.counts());
                                    let locations = inner_indices.iter().map(|index| inner.location(index));
                                    locations.map(|location| (location.expect("an element"), bits)).collect()
                                }
                                Err(_) => vec![(location, element.size_bits())],
                            };
                            for (location, bits) in locations {
                                let read =
                                    read_bits(&location, bits.expect("a size"), &machine).expect("memory");
                                let number = read
                                    .bytes
                                    .iter()
                                    .rev()
                                    .fold(0u64, |all, byte| all << 8 | u64::from(*byte));
                                numbers.push(number.to_string());
                            }
                        }
                        assert_eq!(numbers.join(","), values, "{what}");
                        let outside: Vec<u64> = elements.counts().to_vec();
                        assert!(elements.location(&outside).is_err() && elements.location(&[]).is_err());
                        arrays += 1;
                    }
                    _ => {}
                }
            }
            assert_eq!(arrays, 4, "{answer}");
        }
    }
}
