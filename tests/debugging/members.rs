//! Members of an object in memory, as gdb prints them.

use eitri::eval::{Context, DebugInfo, Location, Snapshot, member_location, read_bits};
use eitri::read::{Dwarf, Entry, Object};
use eitri::target::{SpaceId, Target};

use super::{CLANGXX, CXX, compile, gdb};
use crate::common::tools::Folder;

const SOURCE: &str = r"
struct Base { unsigned first; unsigned char second; };
struct Other { unsigned short third; };
struct Fields : Base, Other {
    unsigned a : 3, b : 11, c : 18;
    unsigned long d : 40, e : 7;
    union { unsigned u; unsigned char v; };
    static unsigned shared;
    struct { unsigned short deep[2]; unsigned short last : 5; } inner;
    void method() {}
};
unsigned Fields::shared = 9;
Fields object;
int main() { object.method(); return 0; }
";

/// Prints the path and value of each unsigned member.
const SCRIPT: &str = r#"
import gdb
def show(path, value):
    for field in value.type.strip_typedefs().fields():
        if not hasattr(field, "bitpos"):
            continue
        part = value[field]
        kind = part.type.strip_typedefs()
        name = path + [field.name or "-"]
        if kind.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
            show(name, part)
        elif kind.code == gdb.TYPE_CODE_INT:
            print("/".join(name), int(part))
show([], gdb.parse_and_eval("*(Fields *)&object"))
"#;

struct Stopped<'a> {
    machine: Snapshot,
    context: Context<'a>,
    values: Vec<String>,
}

impl Stopped<'_> {
    fn show(&mut self, path: &str, object: &Location, ty: Entry<'_, '_>) {
        for member in ty.members() {
            let location = member_location(member, object, &self.machine, &self.context);
            let location = location.unwrap_or_else(|fault| panic!("{member:?}: {fault}"));
            let name = member.name().or_else(|| member.ty()?.name());
            let path = format!("{path}{}", name.as_deref().unwrap_or("-"));
            let ty = member.ty().and_then(Entry::unqualified).expect("a type");
            match ty.tag() {
                eitri::gimli::DW_TAG_base_type => {
                    let bits = member.size_bits().expect("a size");
                    let read = read_bits(&location, bits, &self.machine).expect("memory");
                    let number =
                        read.bytes.iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
                    self.values.push(format!("{path} {number}"));
                }
                eitri::gimli::DW_TAG_array_type => {}
                _ => self.show(&format!("{path}/"), &location, ty),
            }
        }
    }
}

#[test]
fn members_of_an_object_are_those_of_gdb() {
    for compiler in [CXX, CLANGXX] {
        for version in ["-gdwarf-5", "-gdwarf-4", "-gdwarf-3", "-gdwarf-2"] {
            let folder = Folder::new();
            // Without a constructor, the object is in initialized memory.
            let pattern: Vec<String> = (0..64).map(|byte| ((byte * 37 + 11) & 0xff).to_string()).collect();
            folder.file("data.s", format!(".data\n.globl object\n.type object,@object\n.size object,64\nobject: .byte {}\n.section .note.GNU-stack,\"\",@progbits\n", pattern.join(",")));
            folder.file("a.cc", SOURCE.replace("Fields object;", "extern Fields object;"));
            let sources = ["a.cc", "data.s"];
            let Some(program) = compile(compiler, &folder, &sources, &[version, "-no-pie"]) else { return };
            let bytes = std::fs::read(&program).expect("the program");
            let object = Object::read(&bytes).expect("an object");
            let dwarf = Dwarf::read(&object).expect("debug information");
            let Some(answer) = gdb(&program, SCRIPT) else { return };
            let expected: Vec<&str> = answer.lines().collect();
            assert!(expected.len() >= 11, "{answer}");
            let target = Target::x86_64();
            let address = object.symbol_address("object").expect("the object");
            let mut machine = Snapshot::default();
            for section in object.sections().iter().filter(|section| section.name == ".data") {
                machine.store(SpaceId::DEFAULT, None, section.address, &section.data);
            }
            let fields = dwarf.entries().find(|entry| entry.name().as_deref() == Some("Fields"));
            let fields = fields.expect("the type");
            let context = Context::in_unit(fields.unit(), &target);
            let place = Location::memory(SpaceId::DEFAULT, 64, address);
            let mut stopped = Stopped { machine, context, values: Vec::new() };
            stopped.show("", &place, fields);
            assert_eq!(stopped.values, expected, "{} {version}", compiler.name);
        }
    }
}

#[test]
fn static_member_is_not_in_the_object() {
    let folder = Folder::new();
    folder.file("a.cc", SOURCE);
    let Some(program) = compile(CXX, &folder, &["a.cc"], &[]) else { return };
    let bytes = std::fs::read(&program).expect("the program");
    let object = Object::read(&bytes).expect("an object");
    let dwarf = Dwarf::read(&object).expect("debug information");
    let target = Target::x86_64();
    let object = dwarf.variable_named("object", None).expect("a variable");
    let machine = Snapshot::default();
    let place =
        DebugInfo::new(&dwarf).variable_location(object.located, &machine, &target).expect("a location");
    let ty = object.ty().expect("a type");
    let shared = ty.children().find(|child| child.name().as_deref() == Some("shared")).expect("a member");
    let context = Context::in_unit(shared.unit(), &target);
    let fault = member_location(shared, &place, &machine, &context).expect_err("a static member");
    assert!(fault.rule.contains("static member"), "{fault}");
}
