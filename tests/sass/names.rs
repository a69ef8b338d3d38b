//! Names of functions after nvlink has linked what a description was attached to: objects with several functions, undefined
//! functions, and data in shared and constant memory.

use pretty_assertions::assert_eq;

use super::mercury::linked;
use super::*;
use crate::rewrite::nvlink::compiled as compiled_by_nvcc;

const FIRST: &str = r#"
#include <cstdio>
struct Sum { float sum; int count; };
template<class T> __device__ __noinline__ T twice(T v) { T r = v + v; if (r > (T)100) r -= (T)3; return r; }
inline __device__ __noinline__ int pick(int q) {
  volatile int all[8];
  for (int i = 0; i < 8; i++) all[i] = q * i;
  return all[q & 7];
}
__device__ int outer(int a, int *p);
__device__ float deep(float x, Sum *s);
__constant__ float scale[8];
extern __shared__ float buffer[];
__global__ void one(int *out, const int *in, int n, Sum *s) {
  int i = threadIdx.x, v = 0;
  for (int j = 0; j < in[i]; j++) { v += outer(j, out); v ^= twice<int>(v); }
  buffer[i] = deep(v, s + i);
  __syncthreads();
  out[i] = v + (int)buffer[(i + 1) & 31] + pick(v);
  if (v == 42) printf("%d %f\n", v, (double)buffer[0]);
}
extern "C" __global__ void two(float *o, float x) { o[threadIdx.x] = scale[0] * x + scale[1] + twice<float>(x); }"#;
const SECOND: &str = r#"
struct Sum { float sum; int count; };
template<class T> __device__ __noinline__ T twice(T v) { T r = v + v; if (r > (T)100) r -= (T)3; return r; }
inline __device__ __noinline__ int pick(int q) {
  volatile int all[8];
  for (int i = 0; i < 8; i++) all[i] = q * i;
  return all[q & 7];
}
static __device__ __noinline__ int inner(int z) { return z * z + 1; }
__device__ int unused(int x) { return x * 7 + 3; }
__device__ __noinline__ int outer(int a, int *p) { int t = p[a]; if (t > 5) t = twice<int>(t) + a; return t * 3 + pick(a); }
__device__ __noinline__ float deep(float x, Sum *s) { s->count += twice<int>((int)x); return x + twice<float>(x); }
__global__ void three(double *o, Sum *s) {
  double v = s->sum;
  for (int k = 0; k < s->count; k++) v = twice<double>(v) * 0.5 + k;
  *o = v;
}
extern "C" __global__ void four(int *p) { atomicAdd(p, inner(threadIdx.x)); }"#;

/// Attaches a variable in a uniform register to a function, beside the lines.
fn attached(object: &[u8], processor: &str, unit: &str, name: &str) -> Vec<u8> {
    let target = target(processor);
    let size = symbol_named(object, name).expect("the kernel").size;
    let describe = || -> eitri::Result<Module> {
        let mut m = Builder::new(target.clone());
        let unit = m.unit(unit);
        let int = m.base_type(unit, "int", BaseEncoding::Signed, 32)?;
        let kernel = m.function(unit, name)?.code(name, size).kernel().id();
        m.variable(kernel, "v", int)?.live(0..size, Loc::register(target.register_named("UR4")?))?;
        m.finish()
    };
    let module = describe().expect("a description");
    let written = lower(&module, &Consumer::cuda_gdb_sass(), Policy::Strict).expect("it is written");
    let options = with::<AttachOptions>(|options| options.existing = Existing::KeepLines);
    attach_with(object, &target, &written.sections, &options).expect("a cubin")
}

/// The symbols of functions with their sizes, in the order of the table, by another reader of ELF.
fn functions(bytes: &[u8]) -> Vec<(String, u64)> {
    use object::{Object as _, ObjectSymbol, SymbolKind};
    let file = object::File::parse(bytes).expect("an ELF file");
    let functions = file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text);
    functions.map(|symbol| (symbol.name().expect("a name").to_owned(), symbol.size())).collect()
}

#[test]
fn linked_functions_keep_their_names() {
    for processor in ["sm_80", "sm_90", "sm_100", "sm_120"] {
        let folder = Folder::new();
        let parts = [("first", FIRST, "two"), ("second", SECOND, "four")];
        let mut originals = Vec::new();
        let mut described = Vec::new();
        for (name, source, kernel) in parts {
            if compiled_by_nvcc(&folder, processor, name, source, "-O3 -lineinfo").is_none() {
                return;
            }
            let object = std::fs::read(folder.path().join(format!("{name}.o"))).expect("an object");
            described.push(attached(&object, processor, &format!("{name}.cu"), kernel));
            originals.push(object);
        }
        let ([a, b], [x, y]) = ([&originals[0], &originals[1]], [&described[0], &described[1]]);
        for (reference, orders) in [([a, b], [[x, b], [a, y], [x, y]]), ([b, a], [[b, x], [y, a], [y, x]])] {
            let link = |objects: [&Vec<u8>; 2]| linked(processor, objects.map(|object| &object[..]));
            let Some(expected) = link(reference) else { return };
            assert!(functions(&expected).len() > 10, "{processor}");
            for (number, order) in orders.into_iter().enumerate() {
                let Some(bytes) = link(order) else { return };
                assert_eq!(functions(&bytes), functions(&expected), "{processor} {number}");
                let path = folder.file("linked.cubin", bytes);
                let Some(ran) = CUOBJDUMP.run(&["-elf".as_ref(), path.as_os_str()]) else { return };
                assert!(ran.out.contains("DW_OP_regx: %e0"), "{processor} {number}: {ran}");
            }
        }
    }
}

/// ELF: local symbols come before the others. nvlink writes beyond its table of symbols where a local symbol of the copies comes
/// after them.
#[test]
fn local_symbols_of_copies_come_first() {
    use object::{Object as _, ObjectSection};
    let symbols = |bytes: &[u8]| {
        let file = object::File::parse(bytes).expect("an ELF file");
        let table = file.section_by_name(".nv.merc.symtab").expect("a table");
        let bindings: Vec<u8> =
            table.data().expect("symbols").chunks(24).map(|symbol| symbol[4] >> 4).collect();
        // `sh_info` in the section's header: the number of local symbols.
        let headers = u64::from_le_bytes(bytes[40..48].try_into().expect("8 bytes")) as usize;
        let header = &bytes[headers + 64 * table.index().0..][..64];
        (u32::from_le_bytes(header[44..48].try_into().expect("4 bytes")) as usize, bindings)
    };
    let bytes = attached(super::mercury::OBJECT, "sm_120", "k.cu", "k");
    let [(_, before), (first, after)] = [super::mercury::OBJECT, &bytes].map(symbols);
    assert!(after.len() > before.len());
    assert!(after.iter().enumerate().all(|(index, binding)| (*binding == 0) == (index < first)), "{after:?}");
}
