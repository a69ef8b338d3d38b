//! What the compilers of other languages describe, and C's rarely do: gdb shows the same before and after.

use super::debugged::shows_the_same;
use super::keeps_facts;
use super::kept::{compiled, twice};
use crate::common::tools::{Folder, Tool};

const ADA: Tool = Tool::new("gnatmake", "gnat");
const PASCAL: Tool = Tool::new("fpc", "fp-compiler");
const GO: Tool = Tool::new("go", "golang-go");
const GCC: Tool = Tool::new("gcc", "gcc");
const GXX: Tool = Tool::new("g++", "g++");
const GDC: Tool = Tool::new("gdc", "gdc");
const DWARFDUMP: Tool = Tool::new("llvm-dwarfdump-19", "llvm-19");

/// Requires that LLVM finds no more errors in a rewritten program than in the original.
fn is_verified(folder: &Folder, name: &str) -> Option<()> {
    let errors = |file| {
        let ran = DWARFDUMP.run_in(folder.path(), &["--verify", file])?;
        Some(ran.out.lines().filter(|line| line.starts_with("error:")).count())
    };
    let (before, after) = (errors("before")?, errors("after")?);
    assert!(after <= before, "{name}: {after} errors after, {before} before");
    Some(())
}

/// Subranges, records whose size, members and variants depend on a discriminant, arrays of bits, and enumerations without a
/// type.
const RECORDS: &str = r#"with Ada.Text_IO;
procedure A is
   type Small is range -5 .. 9;
   subtype Digit is Integer range 0 .. 9;
   type Color is (Red, Green, Blue);
   for Color use (Red => 1, Green => 5, Blue => 200);
   type Angle is mod 360;
   type Kind is (Circle, Rectangle, Other);
   type Shape (K : Kind := Circle; N : Digit := 3) is record
      Name : String (1 .. N);
      case K is
         when Circle => Radius : Float;
         when Rectangle => Width, Height : Integer;
         when others => Weight : Long_Float;
      end case;
   end record;
   type Point (D : Digit) is record
      Values : String (1 .. D);
      Last : Integer;
   end record;
   type Flags is array (1 .. 13) of Boolean;
   pragma Pack (Flags);
   type Table is array (Small range -2 .. 2) of Digit;
   procedure Show (Count : Digit) is
      One : Small := -3;
      Two : Digit := 7;
      Hue : Color := Blue;
      Turn : Angle := 270;
      Ring : Shape := (Circle, 3, "abc", 2.5);
      Square : Shape (Rectangle, Count) := (Rectangle, Count, (others => 'q'), 4, 5);
      Heavy : Shape (Other, 2) := (Other, 2, "xy", 0.5);
      Spot : Point (Count) := (Count, (others => 'p'), 6);
      Bits : Flags := (1 => True, 5 => True, others => False);
      Nines : Table := (others => 9);
      Row : array (Small range 1 .. Small (Count)) of Digit := (others => 2);
   begin
      Ada.Text_IO.Put_Line (Digit'Image (Two) & Row (1)'Image);
   end Show;
begin
   Show (4);
end A;
"#;

#[test]
fn types_of_ada_keep_bounds_sizes_and_variants() {
    let commands = [
        "break a.adb:38",
        "run",
        "info locals",
        "info args",
        "ptype one",
        "ptype two",
        "ptype hue",
        "ptype turn",
        "ptype ring",
        "ptype square",
        "ptype spot",
        "ptype bits",
        "ptype nines",
        "ptype row",
        "print ring'size",
        "print ring.name",
        "print square.height",
        "print spot.last",
        "print bits(5)",
        "print nines(-2)",
    ];
    for version in ["-gdwarf-5", "-gdwarf-4"] {
        let folder = Folder::new();
        let file = ("a.adb", RECORDS);
        let Some(bytes) = compiled(&folder, ADA, file, &["-q", "-g", version, "-O0"]) else { return };
        let lost = twice(&folder, &bytes);
        assert!(lost.is_empty(), "{version}: {lost:#?}");
        if is_verified(&folder, version).is_none() {
            return;
        }
        let Some(shown) = shows_the_same(&folder, version, &commands) else { return };
        // What the source says.
        for text in [
            "one = -3",
            "hue = blue",
            "ring = (k => circle, n => 3, name => \"abc\", radius => 2.5)",
            "square = (k => rectangle, n => 4, name => \"qqqq\", width => 4, height => 5)",
            "heavy = (k => other, n => 2, name => \"xy\", weight => 0.5)",
            "spot = (d => 4, last => 6, values => \"pppp\")",
            "bits = (true, false, false, false, true, false,",
            "row = (2, 2, 2, 2)",
            "type = range -5 .. 9",
            "type = (red => 1, green => 5, blue => 200)",
            "type = array (1 .. 13) of boolean <packed: 1-bit elements>",
        ] {
            assert!(shown.contains(text), "{version}: no {text:?} in {shown}");
        }
    }
}

/// gnat writes a constant text in as many bytes as a register has, with zeros after it.
#[test]
fn constant_texts_of_ada_keep_their_values() {
    const SOURCE: &str = "with Ada.Text_IO;\n\
        procedure A is\n\
        \x20  Short : constant String := \"hello\"; Full : constant String := \"exactly8\";\n\
        \x20  Long : constant String := \"elevenchars\";\n\
        begin\n\
        \x20  for I in 1 .. 3 loop Ada.Text_IO.Put_Line (Short & Full & Long & I'Img); end loop;\n\
        end A;\n";
    for version in ["-gdwarf-5", "-gdwarf-4"] {
        let folder = Folder::new();
        let Some(bytes) = compiled(&folder, ADA, ("a.adb", SOURCE), &["-q", "-g", version, "-O2"]) else {
            return;
        };
        let lost = twice(&folder, &bytes);
        assert!(lost.iter().all(|fact| !fact.contains("DW_AT_const_value")), "{version}: {lost:#?}");
        let commands = ["break a.adb:6", "run", "print short", "print full", "print long"];
        let Some(shown) = shows_the_same(&folder, version, &commands) else { return };
        for text in ["hello", "exactly8", "elevenchars"] {
            assert!(shown.contains(&format!("= \"{text}\"")), "{version}: no {text:?} in {shown}");
        }
    }
}

const DIGITS: &str = "program a;
type
  digit = 0..9;
  small = -5..9;
  color = (red, green, blue);
  warm = red..green;
  row = array[digit] of small;
  pair = record one: digit; two: small; hue: warm; end;
var
  d: digit; s: small; w: warm; r: row; p: pair;
procedure show(count: digit);
var twice: digit;
begin
  twice := count * 2;
  r[count] := -count;
  p.one := twice; p.two := -3; p.hue := green;
  d := 7; s := -4; w := red;
  writeln(twice);
end;
begin
  show(4);
end.
";

#[test]
fn subranges_of_pascal_keep_bounds_and_types() {
    let commands = [
        "break a.pas:18",
        "run",
        "info locals",
        "info args",
        "ptype digit",
        "ptype small",
        "whatis twice",
        "ptype r",
        "ptype p",
        "print p",
        "print d",
        "print s",
        "print w",
    ];
    for version in ["-gw2", "-gw3"] {
        let folder = Folder::new();
        folder.file("a.pas", DIGITS);
        let Some(ran) = PASCAL.run_in(folder.path(), &["-O1", version, "-obefore", "a.pas"]) else { return };
        assert!(ran.succeeded, "{ran}");
        let bytes = std::fs::read(folder.path().join("before")).expect("a program");
        let lost = twice(&folder, &bytes);
        assert!(
            lost.iter().all(|fact| fact.contains("its code is not in the object")),
            "{version}: {lost:#?}"
        );
        if is_verified(&folder, version).is_none() {
            return;
        }
        let Some(shown) = shows_the_same(&folder, version, &commands) else { return };
        // The names are in capitals in DWARF 2.
        let shown = shown.to_lowercase();
        for text in
            ["type = 0..9", "type = -5..9", "array [0..9] of small", "{one = 8, two = -3, hue = green}"]
        {
            assert!(shown.contains(text), "{version}: no {text:?} in {shown}");
        }
    }
}

const SETS: &str = "program a;
type
  color = (red, green, blue, black);
  colors = set of color;
  digits = set of 3..9;
  letters = set of char;
var
  c: colors; d: digits; l: letters; n: set of (zero, one, two);
begin
  c := [red, blue]; d := [4, 5]; l := ['a'..'d']; n := [one];
  writeln(green in c);
end.
";

#[test]
fn sets_of_pascal_keep_elements_and_sizes() {
    let commands = [
        "break a.pas:11",
        "run",
        "ptype c",
        "ptype d",
        "ptype l",
        "ptype n",
        "print c",
        "print d",
        "print l",
        "print n",
        "whatis c",
        "print sizeof(l)",
    ];
    for version in ["-gw2", "-gw3"] {
        let folder = Folder::new();
        folder.file("a.pas", SETS);
        let Some(ran) = PASCAL.run_in(folder.path(), &["-O1", version, "-obefore", "a.pas"]) else { return };
        assert!(ran.succeeded, "{ran}");
        let bytes = std::fs::read(folder.path().join("before")).expect("a program");
        let lost = twice(&folder, &bytes);
        assert!(
            lost.iter().all(|fact| fact.contains("its code is not in the object")),
            "{version}: {lost:#?}"
        );
        if is_verified(&folder, version).is_none() {
            return;
        }
        let Some(shown) = shows_the_same(&folder, version, &commands) else { return };
        // The names are in capitals in DWARF 2.
        let shown = shown.to_lowercase();
        for text in
            ["set of red..black", "set of 0..9", "= [red, blue]", "= [4..5]", "= ['a'..'d']", "= [one]"]
        {
            assert!(shown.contains(text), "{version}: no {text:?} in {shown}");
        }
    }
}

const NESTED: &str = "with Ada.Text_IO;
procedure A is
   type Shape is (Dot, Line, Area);
   type Fill is (None, Solid, Hatch);
   type Figure (K : Shape := Dot; F : Fill := None) is record
      Id : Integer;
      case K is
         when Dot => null;
         when Line => Length : Integer;
         when Area =>
            Size : Float;
            case F is
               when None => null;
               when Solid => Color : Character;
               when Hatch => Angle, Gap : Integer;
            end case;
      end case;
   end record;
   type Pair (K : Shape) is record
      case K is
         when Dot | Line =>
            case K is
               when Dot => One : Integer;
               when others => Two : Float;
            end case;
         when others => Three : Character;
      end case;
   end record;
   procedure Show (X : Figure; Y : Pair) is
   begin
      Ada.Text_IO.Put_Line (Integer'Image (X.Id) & Shape'Image (Y.K));
   end Show;
   R : Figure := (Area, Hatch, 1, 2.5, 45, 3);
   S : Figure := (Area, Solid, 2, 3.5, 'x');
   T : Figure := (Line, None, 3, 9);
   O : Pair := (Line, 1.5);
   P : Pair (Dot) := (Dot, 7);
begin
   Show (R, O);
   Show (S, P);
   Show (T, O);
end A;
";

#[test]
fn variants_in_variants_of_ada_are_kept() {
    let commands = [
        "break a.adb:30",
        "run",
        "ptype x",
        "ptype y",
        "print x",
        "print y",
        "up",
        "info locals",
        "print r.gap",
        "continue",
        "print x",
        "print y",
        "continue",
        "print x",
    ];
    for version in ["-gdwarf-5", "-gdwarf-4"] {
        let folder = Folder::new();
        let file = ("a.adb", NESTED);
        let Some(bytes) = compiled(&folder, ADA, file, &["-q", "-g", version, "-O0"]) else { return };
        let lost = twice(&folder, &bytes);
        assert!(lost.iter().all(|fact| !fact.contains("variant")), "{version}: {lost:#?}");
        if is_verified(&folder, version).is_none() {
            return;
        }
        let Some(shown) = shows_the_same(&folder, version, &commands) else { return };
        for text in [
            "(k => area, f => hatch, id => 1, size => 2.5, angle => 45, gap => 3)",
            "(k => area, f => solid, id => 2, size => 3.5, color => 120 'x')",
            "(k => line, two => 1.5)",
            "when solid =>",
        ] {
            assert!(shown.contains(text), "{version}: no {text:?} in {shown}");
        }
    }
}

/// `using` in classes: of data members, static members, functions and types of a base class.
const USING: &str = "struct Base { int member; static int count; int f(int x) { return x + member; } struct In { int q; }; };
int Base::count = 3;
struct Derived : private Base { using Base::member; using Base::count; using Base::f; using Base::In; int own; };
template <class T> struct Of { T value; };
template <class T> struct More : Of<T> { using Of<T>::value; T get() { return value; } };
int main() {
  Derived d; More<int> m; Derived::In in = {4};
  d.member = 1; d.own = 2; m.value = 5;
  return d.f(2) + m.get() + in.q + d.count;
}
";

#[test]
fn using_declarations_of_data_members_are_kept() {
    const CLANGXX: Tool = Tool::new("clang++-19", "clang-19");
    let commands = [
        "break a.cc:9",
        "run",
        "ptype d",
        "ptype m",
        "print d",
        "print d.member",
        "print m.value",
        "info scope main",
    ];
    for (compiler, flags) in [
        (GXX, &["-g", "-gdwarf-5"][..]),
        (GXX, &["-g", "-gdwarf-4"]),
        (GXX, &["-g", "-gdwarf-3"]),
        (CLANGXX, &["-g"]),
    ] {
        let folder = Folder::new();
        let Some(bytes) = compiled(&folder, compiler, ("a.cc", USING), flags) else { return };
        let lost = twice(&folder, &bytes);
        assert!(lost.iter().all(|fact| !fact.contains("imported_declaration")), "{flags:?}: {lost:#?}");
        keeps_facts(flags[flags.len() - 1], &bytes);
        if is_verified(&folder, "using").is_none() {
            return;
        }
        let imported = |file| {
            let ran = DWARFDUMP.run_in(folder.path(), &["--debug-info", file])?;
            Some(ran.out.matches("DW_TAG_imported_declaration").count())
        };
        assert_eq!(imported("before"), imported("after"), "{flags:?}");
        let Some(shown) = shows_the_same(&folder, "using", &commands) else { return };
        assert!(shown.contains("= 5"), "{shown}");
    }
}

/// gcc removes the arguments `unused` and `key`, whose values are those of the calls.
const REMOVED: &str = "struct s { int a, b; };
volatile int sink;
__attribute__((noinline)) static int take(struct s *p, int unused, int x) {
  int y = p->a + x; sink = y; __asm__ volatile(\"nop\"); return y * 2;
}
__attribute__((noinline)) static int heavy(int x, int key) { sink = x; __asm__ volatile(\"nop\"); return x + 1; }
__attribute__((noinline)) int first(int n) { return heavy(n, 3) + 1; }
int main(int count, char **values) {
  struct s v = {count, 2};
  sink = take(&v, count * 77, count + 5);
  sink += heavy(count * 3, 3);
  return first(count) == 0;
}
";

#[test]
fn removed_arguments_of_gcc_keep_their_values() {
    let commands = [
        "break take",
        "break heavy",
        "run",
        "bt",
        "info args",
        "continue",
        "bt",
        "info args",
        "continue",
        "bt",
        "info args",
    ];
    for version in ["-gdwarf-5", "-gdwarf-4"] {
        let folder = Folder::new();
        let Some(bytes) = compiled(&folder, GCC, ("a.c", REMOVED), &["-g", version, "-O2"]) else { return };
        let lost = twice(&folder, &bytes);
        assert!(lost.iter().all(|fact| !fact.contains("call_site")), "{version}: {lost:#?}");
        let Some(shown) = shows_the_same(&folder, version, &commands) else { return };
        for text in ["unused = 77", "key = 3"] {
            assert!(shown.contains(text), "{version}: no {text:?} in {shown}");
        }
    }
}

/// g++ has the value of a constant at its declaration in a namespace.
#[test]
fn constants_of_declarations_keep_their_values() {
    let source = "namespace limits { constexpr int count = 16; constexpr long large = -1234567890123; }\n\
                  int main(int some, char **) { return some + limits::count == int(limits::large); }\n";
    for version in ["-gdwarf-4", "-gdwarf-5"] {
        let folder = Folder::new();
        let Some(bytes) = compiled(&folder, GXX, ("a.cc", source), &[version, "-O0"]) else { return };
        let lost = twice(&folder, &bytes);
        assert!(lost.is_empty(), "{version}: {lost:#?}");
        keeps_facts(version, &bytes);
        let commands = ["print limits::count", "print limits::large"];
        let Some(shown) = shows_the_same(&folder, version, &commands) else { return };
        assert!(shown.contains("= 16") && shown.contains("= -1234567890123"), "{version}: {shown}");
    }
}

/// DWARF 2 has only the size of an enumeration's values.
#[test]
fn enumerations_without_a_type_get_none() {
    let source = "enum small { A, B = 500 }; enum negative { MINUS = -1, PLUS = 3 };\n\
                  enum small e = B; enum negative n = MINUS; int main(void) { return e + n; }\n";
    let folder = Folder::new();
    let arguments = ["-gdwarf-2", "-gstrict-dwarf", "-O0"];
    let Some(bytes) = compiled(&folder, GCC, ("a.c", source), &arguments) else { return };
    let lost = twice(&folder, &bytes);
    assert!(lost.is_empty(), "{lost:#?}");
    keeps_facts("gcc", &bytes);
    let commands = ["info types .", "ptype e", "print e", "print n", "print (int) n", "print sizeof n"];
    let Some(shown) = shows_the_same(&folder, "gcc", &commands) else { return };
    assert!(shown.contains("= MINUS") && shown.contains("= -1") && !shown.contains("unsigned"), "{shown}");
}

/// Go declares variables and parameters at a line, and names no file.
#[test]
fn lines_without_a_file_are_kept() {
    let source = "package main\n\nimport \"os\"\n\n//go:noinline\nfunc sum(one, two int) int {\n\
                  \ttotal := one + two\n\treturn total\n}\n\nfunc main() { os.Exit(sum(1, len(os.Args)) - 2) }\n";
    for flags in ["-gcflags=-N -l", "-gcflags=-l"] {
        let folder = Folder::new();
        folder.file("a.go", source);
        folder.file("go.mod", "module a\n");
        let arguments = ["build", flags, "-ldflags=-compressdwarf=false", "-o", "before", "a.go"];
        let Some(ran) = GO.run_in(folder.path(), &arguments) else { return };
        assert!(ran.succeeded, "{ran}");
        let bytes = std::fs::read(folder.path().join("before")).expect("a program");
        let lost = twice(&folder, &bytes);
        assert!(lost.iter().all(|fact| !fact.contains("DW_AT_decl_line")), "{flags}: {lost:#?}");
        let lines = |file| {
            let ran =
                DWARFDUMP.run_in(folder.path(), &["--debug-info", "--name=one", "--name=total", file])?;
            let line = |line: &str| line.trim().strip_prefix("DW_AT_decl_line").map(str::to_owned);
            Some(ran.out.lines().filter_map(line).collect::<Vec<_>>())
        };
        let (Some(before), Some(after)) = (lines("before"), lines("after")) else { return };
        assert!(!before.is_empty(), "{flags}");
        assert_eq!(before, after, "{flags}");
        if is_verified(&folder, flags).is_none() {
            return;
        }
    }
}

const INTERFACES: &str = "module a;
import core.stdc.stdio;
interface Shape { int area(); }
interface Named : Shape { int key(); }
class Square : Named {
    int side;
    this(int side) { this.side = side; }
    int area() { return side * side; }
    int key() { return 7; }
}
int total(Shape one, Square two) {
    int sum = one.area() + two.side;
    printf(\"%d\\n\", sum);
    return sum;
}
int main() { auto square = new Square(3); return total(square, square) == 12 ? 0 : 1; }
";

/// Debuggers read an interface as a class; a module that is only declared is no module of the unit.
#[test]
fn interfaces_and_declared_modules_of_d_are_kept() {
    let commands = [
        "break a.d:13",
        "run",
        "info locals",
        "info args",
        "ptype one",
        "whatis one",
        "ptype two",
        "print *two",
        "info modules",
    ];
    for flags in [["-g", "-gdwarf-5"], ["-g", "-gdwarf-4"]] {
        let folder = Folder::new();
        let Some(bytes) = compiled(&folder, GDC, ("a.d", INTERFACES), &flags) else { return };
        let lost = twice(&folder, &bytes);
        let dropped = |fact: &&String| fact.contains("interface_type") && !fact.contains("as a class");
        assert_eq!(lost.iter().find(dropped), None, "{flags:?}");
        let count = |file, text: &str| {
            let ran = DWARFDUMP.run_in(folder.path(), &["--debug-info", file])?;
            let modules = ran.out.split("DW_TAG_module").skip(1);
            Some(
                modules
                    .filter(|entry| entry.split("DW_TAG").next().is_some_and(|own| own.contains(text)))
                    .count(),
            )
        };
        let declared = "DW_AT_declaration\t(true)";
        let (Some(before), Some(after)) = (count("before", declared), count("after", declared)) else {
            return;
        };
        assert!(before > 0 && before == after, "{flags:?}: {before} and {after}");
        let Some(shown) = shows_the_same(&folder, &format!("{flags:?}"), &commands) else { return };
        assert!(shown.contains("sum = 12") && shown.contains("side = 3"), "{flags:?}: {shown}");
    }
}
