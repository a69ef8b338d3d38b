//! A model from debug instructions.

use eitri::spirv::{raise, read};
use eitri::target::Target;

use crate::assemble::assemble;
use crate::{OPENCL, SHADER};

#[test]
fn show() {
    for file in std::env::var("SHOW").unwrap_or_default().split(' ').filter(|it| !it.is_empty()) {
        let words = eitri::spirv::from_bytes(&std::fs::read(file).unwrap()).unwrap();
        one(&words);
    }
    for text in [OPENCL, SHADER] {
        one(&assemble(text).words);
    }
}

fn one(words: &[u32]) {
    let facts = read(words).unwrap();
    let raised = raise(&facts, &Target::named("amdgpu-gfx1030-wave32").unwrap()).unwrap();
    println!("{}", raised.module.to_json());
    println!("{:#?}", raised.binding);
    for left in &raised.left_out {
        println!("LEFT {left}");
    }
}
