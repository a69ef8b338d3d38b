//! Comparison of the table of instructions and consumers in docs/spirv.md with `goldens/spirv/consumers.md`, line by
//! line.

use std::collections::BTreeMap;

use crate::spirv::common;

const START: &str = "<!-- goldens/spirv/consumers.md, a line for each instruction -->\n";
const END: &str = "<!-- end -->";

/// Results of a consumer for the forms of an instruction.
#[derive(Default)]
struct Cell(Vec<(String, String)>);

impl Cell {
    /// The most frequent result, and the forms with other results.
    fn text(&self) -> String {
        let Some((_, usual)) = self.0.iter().max_by_key(|(form, what)| {
            let same = self.0.iter().filter(|(_, other)| other == what).count();
            // The plain form takes precedence, then the majority.
            (form.is_empty(), same)
        }) else {
            return "–".into();
        };
        let mut others = Vec::<(&str, Vec<&str>)>::new();
        for (form, what) in self.0.iter().filter(|(_, what)| what != usual) {
            match others.iter_mut().find(|(other, _)| other == what) {
                Some((_, forms)) => forms.push(form),
                None => others.push((what, vec![form])),
            }
        }
        let others = others.iter().map(|(what, forms)| format!("; {what}: {}", forms.join("; ")));
        usual.clone() + &others.collect::<String>()
    }
}

/// Rows of a set in the golden: by number, the name and a cell per consumer.
fn section(golden: &str, set: &str) -> BTreeMap<u32, (String, Vec<Cell>)> {
    let section = golden.split("\n## ").find(|section| section.starts_with(set)).expect("the set");
    let mut rows = BTreeMap::<u32, (String, Vec<Cell>)>::new();
    for line in section.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let Ok(number) = cells[0].parse() else { continue };
        let (name, form) = cells[1].split_once(", ").unwrap_or((cells[1], ""));
        let (_, row) = rows.entry(number).or_insert_with(|| (name.into(), Vec::new()));
        row.resize_with(cells.len() - 2, Cell::default);
        for (cell, what) in row.iter_mut().zip(&cells[2..]) {
            cell.0.push((form.into(), (*what).into()));
        }
    }
    rows
}

#[test]
fn the_readme_has_the_table() {
    let golden = std::fs::read_to_string(common::golden("spirv/consumers.md")).expect("the golden file");
    let opencl = section(&golden, "OpenCL.DebugInfo.100");
    let mut shader = section(&golden, "NonSemantic.Shader.DebugInfo.100");
    let later = ["NonSemantic.Shader.DebugInfo.101", "NonSemantic.Shader.DebugInfo.200"];
    for (number, row) in later.into_iter().flat_map(|set| section(&golden, set)) {
        shader.entry(number).or_insert(row);
    }
    let mut table = String::from(
        "\n| | instruction | `spirv-val` | `spirv-opt -O` | `llvm-spirv-15 -r` | for shaders: `spirv-val` | `spirv-opt -O` |\n\
         |---|---|---|---|---|---|---|\n",
    );
    let numbers: std::collections::BTreeSet<u32> = opencl.keys().chain(shader.keys()).copied().collect();
    assert!((0..36).all(|number| opencl.contains_key(&number)));
    for number in numbers {
        let name = opencl.get(&number).or(shader.get(&number)).map(|(name, _)| name).expect("a name");
        table += &format!("| {number} | {name} |");
        for (rows, count) in [(&opencl, 3), (&shader, 2)] {
            for index in 0..count {
                let cell = rows.get(&number).and_then(|(_, row)| row.get(index));
                table += &format!(" {} |", cell.map_or_else(|| "–".into(), Cell::text));
            }
        }
        table.push('\n');
    }
    table.push('\n');
    let path = std::path::Path::new(crate::common::ROOT).join("docs/spirv.md");
    let page = std::fs::read_to_string(&path).expect("the page");
    let start = page.find(START).expect("the comment") + START.len();
    let end = start + page[start..].find(END).expect("the end of the table");
    if common::bless() {
        let new = [&page[..start], &table, &page[end..]].concat();
        return std::fs::write(path, new).expect("the page is written");
    }
    pretty_assertions::assert_eq!(&page[start..end], table, "EITRI_BLESS=1 rewrites docs/spirv.md");
}
