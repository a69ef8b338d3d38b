//! Cubins of nvcc that nvlink joins, and what NVIDIA's tools print about them.

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::common::tools::{Folder, Tool};

const NVCC: Tool = Tool::new("nvcc", "nvidia-cuda-nvcc of PyPI");
pub const NVLINK: Tool = Tool::new("nvlink", "nvidia-cuda-nvcc of PyPI");
const NVDISASM: Tool = Tool::new("nvdisasm", "nvidia-cuda-nvcc of PyPI");
const CUOBJDUMP: Tool = Tool::new("cuobjdump", "nvidia-cuda-nvcc of PyPI");

/// Two objects with a structure of one name, and a function that both inline.
const HEADER: &str = "struct S { int a; float b; struct S *next; };\n";
pub const X: &str = r#"
#include "s.h"
__device__ __forceinline__ float squared(float v) { float t = v * v; return t + 1.0f; }
extern "C" __global__ void kx(float *out, const float *in, S s, int n) {
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 32) { float v = in[i]; sum += squared(v) * s.b; }
  out[threadIdx.x] = sum + s.a;
}"#;
pub const Y: &str = r#"
#include "s.h"
__device__ int counter = 3;
__constant__ float table[4];
__device__ __forceinline__ float squared(float v) { float t = v * v; return t + 1.0f; }
extern "C" __global__ void ky(float *out, const float *in, S s, int n) {
  __shared__ float t[64];
  t[threadIdx.x] = squared(in[threadIdx.x]) + table[1];
  __syncthreads();
  float sum = counter;
  for (int i = 0; i < n; ++i) sum += t[i & 63] * s.b;
  out[threadIdx.x] = sum + s.a;
}"#;
/// Two copies of `twice<int>`, whose code differs.
pub const FIRST: &str = r#"
template<class T> __device__ __noinline__ T twice(T v) { return v * 2 + 1; }
extern "C" __global__ void first(int *p) { *p = twice<int>(*p); }"#;
pub const SECOND: &str = r#"
template<class T> __device__ __noinline__ T twice(T v) { T s = v; for (int i = 0; i < 3; i++) s += v; return s; }
extern "C" __device__ __noinline__ int unused(int a) { int z = a * 3; return z + 7; }
extern "C" __global__ void second(int *p) { *p = twice<int>(*p) + p[1]; }"#;

/// Outputs of a slow program by its input, kept for the tests that need the same output: NVIDIA's programs take most of the
/// time of these tests.
pub struct Outputs<K, V>(Mutex<BTreeMap<K, V>>);

impl<K: Ord, V: Clone> Outputs<K, V> {
    pub const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// Returns the output for an input. The program runs if there is none yet; `None` without the program.
    pub fn get(&self, input: K, run: impl FnOnce() -> Option<V>) -> Option<V> {
        let outputs = || self.0.lock().expect("no panic while it is locked");
        let known = outputs().get(&input).cloned();
        if known.is_some() {
            return known;
        }
        let output = run()?;
        // Another test can have run the program meanwhile: both go on with the first output.
        Some(outputs().entry(input).or_insert(output).clone())
    }
}

static CUBINS: Outputs<Vec<String>, Vec<u8>> = Outputs::new();
static DISASSEMBLIES: Outputs<Vec<u8>, String> = Outputs::new();

/// Compiles a relocatable object with options for debug information and code; `None` without nvcc.
pub fn compiled(folder: &Folder, processor: &str, name: &str, source: &str, debug: &str) -> Option<()> {
    folder.file(&format!("{name}.cu"), source);
    folder.file("s.h", HEADER);
    let arch = format!("-arch={processor}");
    let [from, to] = [format!("{name}.cu"), format!("{name}.o")];
    let mut words = vec!["-cubin", "-rdc=true", &arch, &from, "-o", &to];
    words.extend(debug.split(' '));
    let ran = NVCC.run_in(folder.path(), &words)?;
    assert!(ran.succeeded, "{ran}");
    Some(())
}

/// Links the objects of sources with their options for debug information.
pub fn linked(processor: &str, sources: &[(&str, &str)], options: &[&str]) -> Option<Vec<u8>> {
    let sources_and_options = sources.iter().flat_map(|&(source, debug)| [source, debug]);
    let key = [processor].into_iter().chain(sources_and_options).chain(options.iter().copied());
    CUBINS.get(key.map(str::to_owned).collect(), || {
        let folder = Folder::new();
        let mut words = vec![format!("-arch={processor}")];
        words.extend(options.iter().map(|&option| option.to_owned()));
        for (index, (source, debug)) in sources.iter().enumerate() {
            let name = format!("part{index}");
            compiled(&folder, processor, &name, source, debug)?;
            words.push(format!("{name}.o"));
        }
        words.extend(["-o".to_owned(), "linked.cubin".to_owned()]);
        NVLINK.run_in(folder.path(), &words)?.clean();
        Some(std::fs::read(folder.path().join("linked.cubin")).expect("a cubin"))
    })
}

/// What nvdisasm prints with source and PTX lines, without the numbers of its labels, which count labels in frames too.
pub fn disassembled(bytes: &[u8]) -> Option<String> {
    DISASSEMBLIES.get(bytes.to_owned(), || {
        let folder = Folder::new();
        let path = folder.file("a.cubin", bytes);
        let text = NVDISASM
            .run(&["-gi".as_ref(), "-g".as_ref(), "-gp".as_ref(), "-c".as_ref(), path.as_os_str()])?
            .clean();
        let code = text.lines().filter(|line| !line.starts_with(".L_x_") && !line.contains(".size"));
        Some(code.map(|line| line.split("`(.L_x_").next().unwrap_or(line).to_owned() + "\n").collect())
    })
}

/// What cuobjdump prints of the ELF file before and after a rewrite. With `-sass`, it must print the result without a
/// warning. It stops in some of nvlink's own files ("Checked Data was Invalid"): then the result is printed up to there, or
/// as a whole.
pub fn printed(before: &[u8], after: &[u8]) -> Option<[String; 2]> {
    let folder = Folder::new();
    let [before, after] =
        [("a.cubin", before), ("b.cubin", after)].map(|(name, bytes)| folder.file(name, bytes));
    CUOBJDUMP.run(&["-sass".as_ref(), after.as_os_str()])?.clean();
    let old = CUOBJDUMP.run(&["-elf".as_ref(), before.as_os_str()])?;
    let new = CUOBJDUMP.run(&["-elf".as_ref(), after.as_os_str()])?;
    let texts = if old.succeeded {
        [old.clean(), new.clean()]
    } else {
        assert!(new.succeeded || old.errors == new.errors, "{new}");
        [old.out, new.out]
    };
    assert!(texts.iter().all(|text| text.contains(".debug_")), "{texts:?}");
    Some(texts)
}
