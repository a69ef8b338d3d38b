//! Addresses in objects that are not linked, and register names in input and output.

use eitri::conform::location;
use eitri::target::Target;
use pretty_assertions::assert_eq;

use super::{Folder, lane_wise, run};

fn scale(folder: &Folder) -> String {
    let code = "examples/data/scale_code.o";
    let out = folder.path("scale.o");
    assert_eq!(run(&["emit", "examples/scale.json", "--object", code, "-o", &out]).code, 0);
    out
}

#[test]
fn made_up_addresses_are_explained_where_they_are_printed() {
    let folder = Folder::new("made-up");
    let dumped = run(&["dump", &scale(&folder)]).text();
    let explained =
        "addresses: the object is not linked; its sections are assumed to be at\n  0x10000 .text\n\n";
    assert!(dumped.starts_with(explained), "the address 0x10000 is not explained: {dumped}");
    // Each loaded section has its own address, as in the dump.
    let two = r#"{"eitri": 1, "target": "x86_64", "describe": []}"#;
    let empty = folder.path("empty.o");
    assert_eq!(run(&["emit", &folder.file("a.json", two), "-o", &empty]).code, 0);
    assert!(!run(&["dump", &empty]).text().contains("addresses:"), "an object without code");
    let description = lane_wise(r#"{"per_lane": "v3"}"#).replace(r#""symbol": "k""#, r#""symbol": "uspill""#);
    let description = folder.file("several.json", description);
    let several = folder.path("several.o");
    let code = "examples/data/uspill.o";
    // The function of the description is smaller than the code of the object.
    let allowed = ["--allow", "no-frame", "--allow", "symbol-size"];
    let ran = run(&[&["emit", &*description, "--object", code, "-o", &*several][..], &allowed].concat());
    assert_eq!((ran.code, &*ran.errors), (0, ""));
    let bytes = std::fs::read(&several).expect("an object");
    let object = eitri::read::Object::read(&bytes).expect("an object");
    let dumped = run(&["dump", &several]).text();
    assert!(dumped.matches("\n  0x1").count() > 2, "{dumped}");
    for section in object.sections().iter().filter(|section| section.address >= 0x10000 && section.size != 0)
    {
        let place = format!("\n  {:#x} {}\n", section.address, section.name);
        assert!(dumped.contains(&place), "{place}: {dumped}");
    }
}

#[test]
fn a_pc_is_an_address_or_a_function_and_an_offset() {
    let folder = Folder::new("pc");
    let scale = scale(&folder);
    let wave = "goldens/explain/wave.json";
    let at = |command: &str, pc: &str| {
        run(&[command, "--var", "n", "--pc", pc, &scale, "--machine", wave, "--read", "0"])
    };
    for (by_name, address) in
        [("scale", "0x10000"), ("scale+0x10", "0x10010"), ("scale+16", "0x10010"), ("scale+0x24", "0x10024")]
    {
        for command in ["eval", "explain"] {
            let by_name = at(command, by_name);
            let address = at(command, address);
            assert!(by_name.code == 0, "{}", by_name.errors);
            assert_eq!(by_name.text(), address.text());
        }
    }
    let ran = at("eval", "scael+0x10");
    assert!(
        ran.code == 2 && ran.errors.contains("no function has the name `scael`; did you mean `scale`?"),
        "{}",
        ran.errors
    );
    let ran = at("eval", "scale+0x28");
    assert!(ran.code == 2 && ran.errors.contains("outside `scale`, which has 0x28 bytes"), "{}", ran.errors);
    for pc in ["", "0x", "+4", "scale+", "0x1g", "1scale"] {
        assert_eq!(at("eval", pc).code, 2, "{pc}");
    }
    // Without a file there are no functions.
    let ran = run(&["eval", "lit0", "--target", "x86_64", "--pc", "scale+4"]);
    assert!(
        ran.code == 2 && ran.errors.contains("--pc scale+0x4: the function has no object file"),
        "{}",
        ran.errors
    );
}

#[test]
fn registers_are_printed_by_name() {
    let folder = Folder::new("names");
    let scale = scale(&folder);
    let wave = "goldens/explain/wave.json";
    let gfx1030 = Target::named("amdgpu-gfx1030-wave32").expect("a target");
    for (pc, expected) in
        [("0x10000", "reg:s4"), ("0x10010", "reg:v40+224"), ("0x10024", "reg:s4 | reg:v40+224")]
    {
        let ran = run(&["eval", "--var", "n", "--pc", pc, &scale, "--machine", wave, "--read", "0"]);
        assert!(ran.text() == format!("location {expected}\n"), "{}", ran.text());
        // The format accepts the printed location.
        let location = location::parse(expected, &gfx1030).expect("a location");
        assert!(location.to_string().starts_with("reg:"), "{location}");
        let given = run(&["eval", "", "--initial", expected, "--target", "amdgpu-gfx1030-wave32"]);
        assert_eq!(given.text(), ran.text());
    }
    let ran = run(&["eval", "regx v8; piece 4; regx v9; bit_piece 8 3", "--machine", wave]);
    assert_eq!((ran.code, &*ran.text()), (0, "location [reg:v8/32, reg:v9+3/8]\n"));
    // An error uses the name, too.
    let ran = run(&["eval", "regx rbx", "--target", "x86_64", "--read", "8"]);
    assert_eq!(
        (ran.code, &*ran.text()),
        (1, "location reg:rbx, error unmapped (the register is not available: register rbx)\n")
    );
    let ran = run(&["explain", "regx rbx; deref_size 4", "--target", "x86_64"]);
    assert!(
        ran.code == 1 && ran.text().contains("the register is not available: register rbx"),
        "{}",
        ran.text()
    );
    assert!(!ran.text().contains("register 3"), "{}", ran.text());
    // A number without a name in the target stays a number.
    let machine = r#"{"target": {"name": "generic", "address_size": 4, "offset_size": 4, "endian": "little",
        "registers": [{"dwarf": 7, "name": "acc", "bits": 32}, {"dwarf": 9, "name": "9", "bits": 32}]}, "machine": {}}"#;
    let machine = folder.file("machine.json", machine);
    let ran = run(&["eval", "57", "--machine", &machine]);
    assert_eq!((ran.code, &*ran.text()), (0, "location reg:acc\n"));
}
