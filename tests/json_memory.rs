//! A large description is read in a few times its own size.

#[path = "../benches/emission/memory.rs"]
mod memory;

use std::fmt::Write;

use eitri::model::Module;

#[global_allocator]
static MEMORY: memory::Counting = memory::Counting;

/// A description of functions with variables, of at least `bytes` bytes.
fn text(bytes: usize, is_small: bool) -> String {
    let mut text = String::from(r#"{"eitri":1,"target":"amdgpu-gfx1030-wave32","describe":["#);
    text += r#"{"unit":{"name":"a"}},{"base_type":{"unit":"a","name":"t","encoding":"signed","bits":32}}"#;
    let mut index = 0;
    while text.len() < bytes {
        index += 1;
        let name = format!("f{index}");
        let code = format!(r#""code":{{"symbol":"{name}","bytes":4096}}"#);
        let _ = write!(text, r#",{{"function":{{"in":"a","name":"{name}",{code}}}}}"#);
        if is_small {
            continue;
        }
        for variable in 0..20 {
            let _ = write!(text, r#",{{"variable":{{"in":"{name}","name":"v{variable}","type":"t","live":["#);
            for range in 0..8 {
                let comma = if range == 0 { "" } else { "," };
                let start = range * 16;
                let end = range * 16 + 16;
                let _ = write!(text, r#"{comma}[{start},{end},{{"lane":["v{variable}",{range}]}}]"#);
            }
            text += "]}}";
        }
        let _ = write!(text, r#",{{"rows":{{"function":"{name}","rows":["#);
        for row in 0..100 {
            let comma = if row == 0 { "" } else { "," };
            let _ = write!(text, r#"{comma}[{},"a",{row}]"#, row * 4);
        }
        text += "]}}";
    }
    text + "]}"
}

/// The peak of a run, for each byte of the text; the text itself counts too.
fn peak(text: &str, run: impl FnOnce(&str)) -> f64 {
    let peak = memory::peak_of(|| {
        run(text);
        text.len()
    });
    1.0 + peak.ratio()
}

/// The limits of memory. One test, because the memory of all threads is counted.
#[test]
fn three_times_the_text_is_enough() {
    // The worst case: a function takes more memory than the shortest text that describes one.
    for (is_small, limit) in [(false, 3.0), (true, 7.3)] {
        let ratio = peak(&text(8 << 20, is_small), |text| {
            let module = Module::from_json(text).expect("a description");
            assert!(module.functions().count() > 100);
        });
        println!("{ratio:.2} bytes for each of text");
        assert!(ratio < limit, "{ratio:.2} bytes for each of text");
    }
    // A large description of functions alone is refused before it takes much more than that, by an estimate.
    let large = text(64 << 20, true);
    let ratio = peak(&large, |text| {
        let error = Module::from_json(text).expect_err("so many functions");
        assert!(error.to_string().contains("64 MiB or more"), "{error}");
    });
    println!("{ratio:.2} bytes for each of text");
    assert!(ratio < 3.05, "{ratio:.2} bytes for each of text");
    drop(large);
    // A large description of functions and variables is read.
    let ratio = peak(&text(64 << 20, false), |text| drop(Module::from_json(text).expect("a description")));
    println!("{ratio:.2} bytes for each of text");
    assert!(ratio < 3.0, "{ratio:.2} bytes for each of text");
    // An error at the end takes no more memory.
    let mut text = text(8 << 20, false);
    text.truncate(text.len() - 2);
    let ratio = peak(&text, |text| {
        let error = Module::from_json(text).expect_err("it does not end");
        assert!(error.to_string().contains("the bytes end inside the description"), "{error}");
    });
    assert!(ratio < 3.0, "{ratio:.2} bytes for each of text");
}
