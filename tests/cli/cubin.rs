//! Variables of cubins: `eval` finds their storage by the frames and the map of registers of the cubin.

use pretty_assertions::assert_eq;
use serde_json::json;

use super::tools::Tool;
use super::{Folder, run};

const NVCC: Tool = Tool::new("nvcc", "nvidia-cuda-nvcc of PyPI");

/// A kernel with an array in its frame, which has 32 bytes.
const SOURCE: &str = "extern \"C\" __global__ void k(int *out, int n) {
  int a[8];
  for (int i = 0; i < 8; i++) a[i] = i * n;
  int s = 0;
  for (int i = 0; i < 8; i++) s += a[(i * n) & 7];
  out[threadIdx.x] = s;
}
";

/// Stack pointer of a lane: each lane has another one.
fn stack_pointer(lane: u32) -> u32 {
    0xf00 + 0x40 * lane
}

#[test]
fn variables_in_the_frame_are_in_the_local_memory_of_their_lane() {
    let folder = Folder::new("cubin");
    let (source, cubin) = (folder.file("k.cu", SOURCE), folder.path("k.cubin"));
    let Some(ran) = NVCC.run(&["-arch=sm_80", "-G", "-cubin", "-o", &cubin, &source]) else { return };
    assert!(ran.succeeded, "{ran}");
    let r1: String = (0..32)
        .flat_map(|lane| stack_pointer(lane).to_le_bytes())
        .map(|byte| format!("{byte:02x}"))
        .collect();
    for lane in [0, 3, 31] {
        let memory = json!({"space": 5, "lane": lane, "address": format!("{:#x}", stack_pointer(lane)), "bytes": "01020304"});
        let machine = json!({"registers": {"R1": r1}, "lanes": 32, "lane": lane, "memory": [memory]});
        let machine = json!({"target": {"name": "nvptx-sm_80"}, "machine": machine});
        let machine = folder.file("machine.json", machine.to_string());
        // After the prologue, the canonical frame address is R1 + 32, and the array is at -32 from it.
        let ran =
            run(&["eval", &cubin, "--var", "a", "--pc", "k+0x220", "--machine", &machine, "--read", "32"]);
        let expected = format!("location mem:5:{:#x}@{lane}, bytes 01 02 03 04\n", stack_pointer(lane));
        assert_eq!((ran.code, &*ran.errors, ran.text()), (0, "", expected));
    }
}

/// Nearly all of 300 registers are undefined in each row: after the first one, the changes are printed.
#[test]
fn rows_of_a_cubin_have_what_changes() {
    let rows = |arguments: &[&str]| -> Vec<String> {
        let all: Vec<&str> =
            ["dump", "tests/objects/triton/add.sm_90.cubin"].iter().chain(arguments).copied().collect();
        let out = run(&all).text();
        out.lines().filter(|line| line.contains(" cfa=R1+0")).map(String::from).collect()
    };
    let (short, whole) = (rows(&[]), rows(&["-v"]));
    assert_eq!((short.len(), whole.len()), (3, 3));
    assert_eq!(short[0], whole[0]);
    assert_eq!(short[1].trim_start(), "0x10020      cfa=R1+0");
    assert!(whole[1].contains("R2-R254=undefined"), "{}", whole[1]);
}
