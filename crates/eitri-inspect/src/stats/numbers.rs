//! Names and values from `llvm-dwarfdump --statistics`, version 9.

use super::coverage::Group;
use super::statistics::Statistics;

impl Statistics {
    /// Returns the numbers that `llvm-dwarfdump --statistics` prints, with the same names and in the same order.
    ///
    /// The numbers differ for location lists in DWARF 2 to 4 in a unit without `DW_AT_low_pc`, as in cubins: version 9
    /// counts such variables as without a location, and here the base address is 0.
    pub fn numbers(&self) -> Vec<(String, u64)> {
        let counts = &self.counts;
        let mut numbers: Vec<(String, u64)> = Vec::with_capacity(128);
        let mut add = |name: &str, value| numbers.push((name.into(), value));
        add("version", 9);
        add("#functions", counts.functions);
        add("#functions with location", counts.functions_with_source);
        add("#inlined functions", counts.inlined);
        add("#inlined functions with abstract origins", counts.inlined_with_origin);
        add("#unique source variables", counts.unique_variables);
        add("#source variables", counts.variables);
        add("#source variables with location", counts.variables_with_location);
        add("#call site entries", counts.call_site_entries);
        add("#call site DIEs", counts.call_sites);
        add("#call site parameter DIEs", counts.call_site_params);
        let groups = [("variables", &self.variables), ("params", &self.params), ("local_vars", &self.locals)];
        for (name, Group { coverage, .. }) in groups {
            add(&format!("sum_all_{name}(#bytes in parent scope)"), coverage.scope);
            if name == "variables" {
                let any = "sum_all_variables(#bytes in any scope covered by DW_AT_location)";
                add(any, counts.any_scope);
            }
            let covered = format!("sum_all_{name}(#bytes in parent scope covered by");
            add(&format!("{covered} DW_AT_location)"), coverage.located);
            add(&format!("{covered} DW_OP_entry_value)"), coverage.entry_values);
        }
        add("#bytes within functions", counts.function_bytes);
        add("#bytes within inlined functions", counts.inlined_bytes);
        for (name, group) in [("params", &self.params), ("local vars", &self.locals)] {
            add(&format!("#{name}"), group.count);
            add(&format!("#{name} with source location"), group.with_source);
            add(&format!("#{name} with type"), group.with_type);
            add(&format!("#{name} with binary location"), group.with_location);
        }
        for (name, bytes) in &self.sections {
            add(&format!("#bytes in {name}"), *bytes);
        }
        let groups = [("variables", &self.variables), ("params", &self.params), ("local vars", &self.locals)];
        for (name, group) in groups {
            add(&format!("#{name} processed by location statistics"), group.processed);
            for (suffix, histogram) in
                [("", &group.histogram), (" - entry values", &group.without_entry_values)]
            {
                for (class, number) in histogram.iter().enumerate() {
                    let part = match class {
                        0 => "0%".into(),
                        1 => "(0%,10%)".into(),
                        11 => "100%".into(),
                        _ => format!("[{}%,{}%)", 10 * (class - 1), 10 * class),
                    };
                    let name =
                        format!("#{name}{suffix} with {part} of parent scope covered by DW_AT_location");
                    add(&name, *number);
                }
            }
        }
        add("#bytes with line information", self.lines.bytes);
        add("#bytes with line-0 locations", self.lines.line_0);
        add("#line entries", self.lines.rows);
        add("#line entries (is_stmt)", self.lines.is_stmt);
        add("#line entries (unique)", self.lines.unique);
        add("#line entries (unique non-0)", self.lines.unique_non_0);
        numbers
    }
}
