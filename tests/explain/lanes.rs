//! `eitri explain --lanes`: table and chart agree with the evaluator about the positions of lanes.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;

use eitri::dump::{self, LaneStop, Lanes, Standing};
use eitri::eval::{
    BaseType, Context, DebugInfo, Evaluator, Machine, Snapshot, TypeEncoding, WithDebugInfo, read_bits,
};
use eitri::op::Reg;
use eitri::read::{Dwarf, Object};
use eitri::target::Target;
use pretty_assertions::assert_eq;
use proptest::prelude::*;

use super::{attribute, common, documented, eitri, explained, number, path, scale, temporary};
use crate::common::with;

/// The object of an example, in a folder of the test.
fn weigh(test: &str) -> PathBuf {
    let out = temporary(test);
    std::fs::create_dir_all(&out).expect("a folder");
    let ran = Command::new(common::example("diverged")).arg(&out).output().expect("the example");
    assert!(ran.status.success());
    out.join("weigh.o")
}

/// A kernel with an early return, a loop with an `if` and `else`, and whole-wave code; LLVM's consumer lacks the
/// active lanes of the latter.
fn walk(test: &str, consumer: &str) -> PathBuf {
    let out = temporary(&format!("{test}-{consumer}.o"));
    let description = "goldens/explain/walk.json";
    let arguments =
        ["emit", description, "--for", consumer, "--partial", "--allow", "no-frame", "-o", path(&out)];
    let (code, _, errors) = eitri(&arguments);
    assert_eq!((code, errors.lines().count()), (0, usize::from(consumer == "llvm")), "{errors}");
    out
}

const WEIGH_STOPS: &str = "examples/weigh_stops.json";
const WALK_STOPS: &str = "goldens/explain/walk_stops.json";

#[test]
fn charts_are_as_reviewed() {
    let svg = explained("lanes", 0, &["--lanes", path(&weigh("reviewed")), "--machine", WEIGH_STOPS]);
    documented("lanes.svg", &svg);
    explained("walk", 0, &["--lanes", path(&walk("reviewed", "rocgdb")), "--machine", WALK_STOPS]);
}

/// Some consumers do not know active lanes that differ from EXEC.
#[test]
fn lanes_are_the_same_for_all_who_are_told() {
    let printed = |consumer, dialect| {
        let walk = walk("lanes", consumer);
        eitri(&["explain", "--lanes", path(&walk), "--dialect", dialect, "--machine", WALK_STOPS])
    };
    let first = printed("rocgdb", "llvm");
    assert_eq!((first.0, &*first.2), (0, ""));
    assert_eq!(printed("llvm", "llvm"), first);
    assert_eq!(printed("rocgdb-legacy", "legacy"), first);
}

/// Several files, each with one or more machines, are consecutive stops.
#[test]
fn stops_come_from_several_files() {
    let walk = walk("files", "rocgdb");
    let text = std::fs::read_to_string(crate::common::golden("explain/walk_stops.json")).expect("stops");
    let stops = temporary("one_stop.json");
    let mut all: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let first = temporary("first.json");
    let rest = stops;
    let machine = all["stops"].as_array_mut().expect("a list").remove(0);
    // The second file inherits the target of the first.
    let one = serde_json::json!({"target": all["target"], "machine": machine});
    std::fs::write(&first, one.to_string()).expect("is written");
    all.as_object_mut().expect("an object").remove("target");
    std::fs::write(&rest, all.to_string()).expect("is written");
    let ask = |files: &[&str]| {
        let files = files.iter().flat_map(|file| ["--machine", file]);
        let arguments: Vec<&str> = ["explain", "--lanes", path(&walk)].into_iter().chain(files).collect();
        eitri(&arguments)
    };
    assert_eq!(ask(&[path(&first), path(&rest)]), ask(&[WALK_STOPS]));
    // `machine` has the common state of all stops.
    all["target"] = one["target"].clone();
    all["machine"] = serde_json::json!({"registers": {"36": "f0 ff ff ff", "37": "ff ff ff 0f"}});
    for stop in all["stops"].as_array_mut().expect("a list") {
        let registers = stop["registers"].as_object_mut().expect("registers");
        for (register, bytes) in [("36", "f0 ff ff ff"), ("37", "ff ff ff 0f")] {
            assert!(registers.remove(register).is_none_or(|own| own == bytes));
        }
    }
    std::fs::write(&rest, all.to_string()).expect("is written");
    assert_eq!(ask(&[path(&first), path(&rest)]), ask(&[WALK_STOPS]));

    let (code, text, errors) = ask(&[WALK_STOPS, WEIGH_STOPS]);
    assert_eq!((code, &*text), (2, ""));
    assert!(errors.contains("weigh_stops.json: all files of --machine have the same target"), "{errors}");
}

#[test]
fn evaluation_errors_are_shown_in_their_cell() {
    // s4 has the mask from 0x8 on, and is unknown at the second stop.
    let weigh = weigh("unknown");
    let stops = temporary("unknown.json");
    let svg = temporary("unknown.svg");
    let json = r#"{"target": {"name": "amdgpu-gfx1030-wave32"}, "machine": {"registers": {"1": "0f 00 00 00"}},
        "stops": [{"pc": "0x10000"}, {"pc": "0x10008"}]}"#;
    std::fs::write(&stops, json).expect("is written");
    let asked = ["explain", "--lanes", path(&weigh), "--machine", path(&stops), "--svg", path(&svg)];
    let (code, text, errors) = eitri(&asked);
    assert_eq!((code, &*errors), (1, ""), "{text}");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[2], "0x10000  weigh.cl:2  ####.... ........ ........ ........");
    assert!(lines[3].starts_with("0x10008  weigh.cl:2  fault: lane 0: "), "{text}");
    let svg = std::fs::read_to_string(&svg).expect("the picture");
    assert!(svg.contains("fault at 0x10008: lane 0: "), "{svg}");

    // A contradictory object: the active lanes are in s4, their positions depend on s5.
    let mut bytes = std::fs::read(&weigh).expect("the object");
    let entry = [2, 0x90, 37];
    let at: Vec<usize> = (0..bytes.len() - 2).filter(|&at| bytes[at..].starts_with(&entry)).collect();
    let [at] = at[..] else { panic!("one entry of a list is `regx s5`") };
    bytes[at + 2] = 36;
    std::fs::write(&weigh, bytes).expect("is written");
    let json = r#"{"target": {"name": "amdgpu-gfx1030-wave32"}, "machine": {"pc": "0x10020",
        "registers": {"1": "ff ff ff ff", "36": "07 00 00 00", "37": "03 00 00 00"}}}"#;
    std::fs::write(&stops, json).expect("is written");
    let (code, text, _) = eitri(&asked);
    let fault =
        "0x10020  weigh.cl:4  fault: lane 2 is active at an undefined pc; expected the frame's pc, 0x10020\n";
    assert!(code == 1 && text.contains(fault), "{text}");
}

#[test]
fn unusable_waves_are_named() {
    let weigh = weigh("unusable");
    let scale = scale("no_lanes.o");
    let stop = |name: &str, machine: &str| {
        let file = temporary(name);
        let json = format!(r#"{{"target": {{"name": "amdgpu-gfx1030-wave32"}}, "machine": {machine}}}"#);
        std::fs::write(&file, json).expect("is written");
        file
    };
    let nowhere = stop("nowhere.json", "{}");
    let outside = stop("outside.json", r#"{"pc": "0x20000"}"#);
    let here = stop("here.json", r#"{"pc": "0x10000"}"#);
    let many = temporary("none.json");
    std::fs::write(&many, "{}").expect("is written");
    let cases: &[(&PathBuf, &[&str], &str)] = &[
        (&weigh, &[], "--machine <FILE>"),
        (&weigh, &["--machine", WEIGH_STOPS, "--var", "x"], "cannot be used with"),
        (&weigh, &["--machine", path(&nowhere)], "stop 1: "),
        (&weigh, &["--machine", path(&outside)], "stop 1: the wave is not in the function at 0x20000"),
        (&weigh, &["--machine", path(&here), "--machine", path(&outside)], "function `weigh`: stop 2: "),
        (&weigh, &["--machine", path(&here), "--function", "way"], "function `way`: stop 1: "),
        (&weigh, &["--machine", path(&many), "--target", "x86_64"], "missing field `machine` or `stops`"),
        (
            &scale,
            &["--machine", path(&here)],
            "function `scale`: stop 1: the function has no DW_AT_LLVM_lane_pc",
        ),
    ];
    for (object, arguments, expected) in cases {
        let (code, text, errors) = eitri(&[&["explain", "--lanes", path(object)], *arguments].concat());
        assert_eq!((code, &*text), (2, ""), "{arguments:?}: {errors}");
        assert!(errors.contains(expected), "{arguments:?}: {errors}");
    }
    for command in ["eval", "explain"] {
        let (code, text, errors) = eitri(&[command, "lit0", "--machine", WEIGH_STOPS]);
        assert_eq!((code, &*text), (2, ""));
        assert!(errors.contains("several stops are for `explain --lanes` only"), "{errors}");
    }
}

// Contents of the output.

/// The legend text of each lane at each stop.
type Legends = Vec<Vec<String>>;

const NOWHERE: &str = "nowhere: not active on entry to the function, or unknown";

/// Positions of lanes in the table.
fn written(text: &str) -> Option<Legends> {
    let mut lines = text.lines().skip(2);
    let is_row = |line: &&str| line.starts_with("0x");
    let rows: Vec<&str> = lines.by_ref().take_while(is_row).collect();
    let legend = text.lines().skip(2 + rows.len()).map(|line| Some((line.chars().next()?, line.get(3..)?)));
    let legend: BTreeMap<char, &str> = legend.collect::<Option<_>>()?;
    let lane = |char: char| legend.get(&char).map(|meaning| (*meaning).to_owned());
    let lanes = |row: &str| row.split("  ").last()?.chars().filter(|char| *char != ' ').map(lane).collect();
    rows.into_iter().map(lanes).collect()
}

/// Positions of lanes in the chart: blocks and letters, by coordinates.
fn drawn(svg: &str) -> Option<Legends> {
    let is = |line: &&str, class: &str| attribute(line, "class") == Some(class);
    let text = |line: &str| Some(line.split_once('>')?.1.split_once('<')?.0.to_owned());
    let extent = |line: &str, at: &str, size: &str| {
        let from = number(line, at)?;
        Some(from..from + number(line, size)?)
    };
    let rows: Vec<_> = svg.lines().filter(|line| is(line, "lane")).collect();
    // Appearance of a block, and its letter.
    let look =
        |line: &str| Some(["class", "fill", "stroke"].map(|name| attribute(line, name).map(str::to_owned)));
    let mut meanings = BTreeMap::new();
    for meaning in svg.split("<g class=\"meaning\"").skip(1) {
        let mut lines = meaning.lines().skip(1);
        let rect = lines.next()?;
        let texts = lines.take_while(|line| line.contains("<text")).map(text);
        let texts: Vec<String> = texts.collect::<Option<_>>()?;
        let letter = texts[..texts.len() - 1].concat();
        meanings.insert((look(rect)?, letter), texts.last()?.clone());
    }
    let mut all = Legends::new();
    for stop in svg.split("<g class=\"stop\"").skip(1) {
        let lines: Vec<&str> = stop.split("</g>").next()?.lines().skip(1).collect();
        let label = lines.iter().find(|line| line.contains("transform"))?;
        // The pc is above the column, and in the metadata.
        let pc = text(label)?.split(' ').next()?.to_owned();
        (attribute(stop, "data-pc") == Some(&*pc)).then_some(())?;
        let mut legend = vec![NOWHERE.to_owned(); rows.len()];
        for (index, rect) in lines.iter().enumerate().filter(|(_, line)| line.contains("<rect")) {
            let x = extent(rect, "x", "width")?;
            let y = extent(rect, "y", "height")?;
            x.contains(&number(label, "x")?).then_some(())?;
            let letter = lines.get(index + 1).filter(|line| line.contains("<text"));
            if let Some(letter) = letter {
                let is_in = x.contains(&number(letter, "x")?) && y.contains(&number(letter, "y")?);
                is_in.then_some(())?;
            }
            let letter = letter.map_or(Some(String::new()), |line| text(line))?;
            let meaning = meanings.get(&(look(rect)?, letter))?;
            for (lane, row) in rows.iter().enumerate() {
                let row = extent(row, "y", "height")?;
                let is_covered = y.start < row.end && row.start < y.end;
                if is_covered {
                    // Blocks cover whole lanes without overlap.
                    let is_whole = y.start <= row.start && row.end <= y.end;
                    (is_whole && legend[lane] == NOWHERE).then_some(())?;
                    legend[lane].clone_from(meaning);
                }
            }
        }
        all.push(legend);
    }
    Some(all)
}

/// Positions of lanes from evaluating the attributes.
fn evaluated(info: &DebugInfo<'_, '_>, machine: &Snapshot, target: &Target) -> Option<Vec<String>> {
    let pc = machine.pc?;
    let entry = info.lane_pc(pc)?;
    let context = Context::new(entry.encoding?, target).with_unit(entry.unit);
    let machine = WithDebugInfo::new(info, machine, context);
    let mut evaluator = Evaluator::new();
    let pcs = evaluator.lane_pcs(entry.body, &machine, &context).ok()?;
    let mask = match info.active_lane(pc) {
        Some(entry) => Some(evaluator.active_lanes(entry.body, &machine, &context).ok()?.as_u64()?),
        None => None,
    };
    let generic = BaseType::new(TypeEncoding::Unsigned, 64);
    let lane = |lane: u32| {
        let place = pcs.clone().moved(i128::from(lane) * 64).ok()?;
        if read_bits(&place, 64, &machine).ok()?.defined == [0; 8] {
            return Some(NOWHERE.to_owned());
        }
        let at = evaluator.read(&place, generic, &machine, &context).ok()?.as_u64()?;
        let is_active = mask.map_or(at == pc, |mask| mask >> lane & 1 == 1);
        // Lines as in the description.
        let lines = [(0x40, 9), (0x30, 8), (0x28, 3), (0x24, 6), (0x18, 5), (0x10, 4), (0xc, 3), (0, 2)];
        let (_, line) = lines.into_iter().find(|(from, _)| *from <= at)?;
        Some(if is_active { "active".into() } else { format!("waits at {at:#x}, walk.cl:{line}") })
    };
    (0..64).map(lane).collect()
}

/// Letters exist for 52 places; further places are listed without a letter.
#[test]
fn places_without_a_letter_are_listed() {
    let places: Vec<u64> = (0..55).map(|index| 0x100 + 4 * index).collect();
    let standing = places.iter().map(|&pc| Standing::Waits(pc)).collect();
    let stops = vec![LaneStop { pc: 0x80, lanes: Ok(standing) }];
    let lanes = Lanes { function: "f<g>".into(), lanes: 55, stops, places, lines: BTreeMap::new() };
    let text = lanes.to_string();
    assert!(text.contains("yzABCDEF"), "{text}");
    assert!(text.contains("-     abcdefgh ") && text.contains(" WXYZ???\n"), "{text}");
    assert!(
        text.contains("\nZ  waits at 0x1cc\n?  waits at 0x1d0\n?  waits at 0x1d4\n?  waits at 0x1d8\n"),
        "{text}"
    );
    let svg = dump::lane_chart(&lanes);
    assert!(
        svg.contains(">waits at 0x1d8</text>") && svg.contains("function `f&lt;g&gt;`, 55 lanes"),
        "{svg}"
    );
}

/// A stop of a wave in the kernel: index of the instruction, and masks.
type Stop = (u64, [u64; 5]);

static OBJECTS: LazyLock<[Vec<u8>; 2]> = LazyLock::new(|| {
    ["rocgdb", "llvm"].map(|consumer| std::fs::read(walk("drawn", consumer)).expect("the object"))
});

/// The first difference between the output for these stops and the evaluator.
fn difference(stops: &[Stop], edit: impl Fn(String) -> String) -> Option<String> {
    let target = Target::named("amdgpu-gfx90a-wave64").expect("a target");
    let wave = |&(instruction, masks): &Stop| {
        let pc = instruction * 4;
        let mut wave = with::<Snapshot>(|machine| {
            machine.pc = Some(pc);
            machine.lanes = Some(64);
        });
        wave.registers.insert(Reg(16), pc.to_le_bytes().into());
        wave.registers.insert(Reg(17), masks[0].to_le_bytes().into());
        // Registers s[4:5], s[6:7], and so on.
        for (pair, mask) in masks[1..].iter().enumerate() {
            for (half, bytes) in mask.to_le_bytes().chunks(4).enumerate() {
                wave.registers.insert(Reg(36 + 2 * pair as u64 + half as u64), bytes.into());
            }
        }
        wave
    };
    let waves: Vec<Snapshot> = stops.iter().map(wave).collect();
    let machines: Vec<&dyn Machine> = waves.iter().map(|wave| wave as &dyn Machine).collect();
    OBJECTS.iter().find_map(|object| {
        let object = Object::read(object).expect("an object");
        let dwarf = Dwarf::read(&object).expect("DWARF");
        let info = DebugInfo::new(&dwarf);
        let expected: Legends =
            waves.iter().map(|wave| evaluated(&info, wave, &target).expect("a wave")).collect();
        let lanes = dump::lanes(&info, None, &machines, &target).expect("the lanes");
        let expected = Some(expected);
        let found = [written(&edit(lanes.to_string())), drawn(&edit(dump::lane_chart(&lanes)))];
        found
            .into_iter()
            .find(|found| *found != expected)
            .map(|found| format!("{found:?} is no {expected:?}"))
    })
}

fn stop() -> impl Strategy<Value = Stop> {
    // Typical masks with many equal lanes, and arbitrary ones.
    let mask = prop_oneof![
        any::<u64>(),
        Just(0),
        Just(u64::MAX),
        (0u32..64, 1u32..64).prop_map(|(from, len)| u64::MAX >> (64 - len) << from),
    ];
    // One of the masks has the active lanes of the whole-wave code.
    (0u64..17, prop::array::uniform5(mask))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn charts_show_where_lanes_stand(stops in prop::collection::vec(stop(), 1..12)) {
        prop_assert_eq!(difference(&stops, |chart| chart), None);
    }
}

#[test]
fn a_wrong_chart_is_noticed() {
    let stops = [(6, [0x0f, 0xffff, 0xff, 0x3f, 0]), (8, [0x30, 0xffff, 0xff, 0x3f, 0])];
    assert_eq!(difference(&stops, |chart| chart), None);
    let is_svg = |chart: &str| chart.starts_with("<svg");
    // Faults: a wrong lane, a wrong letter, a wrong place.
    for (old, new) in [("####", "###a"), ("a  waits at 0x14", "a  waits at 0x18")] {
        let edit = |chart: String| if is_svg(&chart) { chart } else { chart.replacen(old, new, 1) };
        assert!(difference(&stops, edit).is_some(), "{old}");
    }
    let edits: [(&str, &str); 4] = [
        // A missing block, a misplaced block, a wrong letter, a wrong legend.
        ("class=\"active\"", "class=\"nothing\""),
        ("height=\"47\"", "height=\"59\""),
        (">a</text>", ">b</text>"),
        ("waits at 0x14", "waits at 0x18"),
    ];
    for (old, new) in edits {
        let edit = |chart: String| {
            assert!(!is_svg(&chart) || chart.contains(old), "{old}: {chart}");
            if is_svg(&chart) { chart.replacen(old, new, 1) } else { chart }
        };
        assert!(difference(&stops, edit).is_some(), "{old}");
    }
    // A letter in the next column.
    let edit = |chart: String| {
        let Some(letter) = chart.lines().find(|line| line.contains(">a</text>")) else { return chart };
        let x = number(letter, "x").expect("somewhere");
        let moved = letter.replacen(&format!("x=\"{x}\""), &format!("x=\"{}\"", x + 20), 1);
        chart.replacen(letter, &moved, 1)
    };
    assert!(difference(&stops, edit).is_some());
}
