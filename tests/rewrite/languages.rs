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
        // The frames are those of assembler code that nothing describes.
        assert!(lost.iter().all(|fact| fact.contains(".debug_frame")), "{version}: {lost:#?}");
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
