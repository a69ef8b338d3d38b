//! `lint --summary`: findings by code and expression shape.

use std::collections::BTreeMap;

use super::run;
use pretty_assertions::assert_eq;
use serde_json::Value;

const OBJECTS: [&str; 3] = [
    "tests/objects/llvm19/k01_saxpy.gfx1030.O2.hsaco",
    "tests/objects/llvm19/k04_diverge.gfx1100.O2.hsaco",
    "tests/objects/triton/scan_limit.sm_90.cubin",
];

fn lint(arguments: &[&str]) -> String {
    let all: Vec<&str> = ["lint"].iter().chain(&OBJECTS).chain(arguments).copied().collect();
    let ran = run(&all);
    assert!(ran.code < 2, "{}", ran.errors);
    ran.text()
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// The groups are those of the findings, counted here from the output with all findings.
#[test]
fn groups_count_all_findings_with_a_code_and_shape() {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut expected: BTreeMap<(String, String, String), (u64, Vec<String>)> = BTreeMap::new();
    for finding in lines(&lint(&["--format", "json"])) {
        let key = (word(&finding["level"]), word(&finding["code"]), word(&finding["shape"]));
        let (count, files) = expected.entry(key).or_default();
        *count += 1;
        if files.last() != Some(&word(&finding["file"])) {
            files.push(word(&finding["file"]));
        }
        // The shape has the operations of the text in order.
        if let Some(text) =
            finding["expression"]["text"].as_str().filter(|text| !text.contains(['(', 'L', '<']))
        {
            let names: Vec<&str> = text.split("; ").map(|op| op.split(' ').next().unwrap_or(op)).collect();
            let shape = word(&finding["shape"]);
            let shape: Vec<&str> = shape.split("; ").collect();
            let is_same = |(name, shape): (&&str, &&str)| {
                name == shape || name.starts_with("const") || name.contains("reg")
            };
            assert!(names.len() == shape.len() && names.iter().zip(&shape).all(is_same), "{text}: {shape:?}");
        }
    }
    let groups = lines(&lint(&["--summary", "--format", "json"]));
    let counted: BTreeMap<_, _> = groups
        .iter()
        .map(|group| {
            let key = (word(&group["level"]), word(&group["code"]), word(&group["shape"]));
            let number = |name: &str| group[name].as_u64().expect("a number");
            let example = &group["example"];
            assert_eq!((&example["code"], &example["shape"]), (&group["code"], &group["shape"]));
            (key, (number("count"), number("objects") as usize))
        })
        .collect();
    let expected: BTreeMap<_, _> =
        expected.into_iter().map(|(key, (count, files))| (key, (count, files.len()))).collect();
    assert_eq!(counted, expected);
    // Errors first, then the most frequent code.
    let levels: Vec<_> = groups.iter().map(|group| word(&group["level"])).collect();
    let rank = |level: &String| ["error", "warning", "note"].iter().position(|name| name == level);
    assert!(levels.is_sorted_by_key(rank), "{levels:?}");
}

#[test]
fn text_of_many_findings_ends_with_the_summary() {
    let summary = lint(&["--summary"]);
    assert!(summary.starts_with("error[register-as-memory]: a register has the value"), "{summary}");
    assert!(summary.contains(" in 2 objects: breg; lit1; swap; xderef\n"), "{summary}");
    // Neither evidence nor sources.
    assert!(!summary.contains("evidence:"), "{summary}");
    let json: u64 = lines(&lint(&["--summary", "--format", "json"]))
        .iter()
        .filter_map(|group| group["count"].as_u64())
        .sum();
    let counts: u64 = summary
        .lines()
        .filter(|line| line.contains(" object") && line.starts_with("  "))
        .filter_map(|line| line.split_whitespace().next()?.parse::<u64>().ok())
        .sum();
    assert_eq!(counts, json);
    // Many findings end with the groups, few do not.
    let has_groups = |text: &str| text.lines().any(|line| line.starts_with("error[register-as-memory]: "));
    let many: Vec<String> =
        ["k02_reduce.gfx1100.O2", "k04_diverge.gfx1100.O2", "k14_spill.gfx1030.O2", "k14_spill.gfx900.O2"]
            .map(|name| format!("tests/objects/llvm19/{name}.hsaco"))
            .to_vec();
    let many: Vec<&str> = ["lint"].into_iter().chain(many.iter().map(String::as_str)).collect();
    let many = run(&many).text();
    let variables =
        many.lines().filter(|line| line.starts_with("    ") && !line.starts_with("     ")).count();
    assert!(variables > 50 && has_groups(&many), "{variables} findings: {many}");
    assert!(!has_groups(&run(&["lint", OBJECTS[0]]).text()));
    for format in ["sarif", "github"] {
        let ran = run(&["lint", OBJECTS[0], "--summary", "--format", format]);
        assert!(
            ran.code == 2 && ran.errors.contains("--summary has the formats text and json"),
            "{}",
            ran.errors
        );
    }
}
