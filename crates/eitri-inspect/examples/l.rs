//! x
use eitri_inspect::lint::*;
fn main() {
    let only = std::env::var("ONLY").unwrap_or_default();
    for path in std::env::args().skip(1) {
        let Ok(bytes) = std::fs::read(&path) else { continue };
        match lint(&bytes, &LintOptions::default()) {
            Err(error) => println!("{path}: {error}"),
            Ok(report) => {
                for f in report.findings {
                    if !only.is_empty() && !only.split(',').any(|o| f.code.name() == o) {
                        continue;
                    }
                    println!(
                        "{path}: {}: {:?} {:?} {:x?}: {}",
                        f.code.name(),
                        f.function.as_deref(),
                        f.variable,
                        f.pcs,
                        f.written
                    );
                    for e in &f.evidence {
                        println!("    {e}");
                    }
                }
            }
        }
    }
}
