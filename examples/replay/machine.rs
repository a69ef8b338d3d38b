//! The state of a trace: registers and memory of waves with 32 lanes, by the AMDGPU user guide's register numbers.

use std::collections::BTreeMap;

use eitri::eval::{Machine, Unavailable};
use eitri::op::Reg;
use eitri::target::SpaceId;
use serde_json::{Value, json};

use super::{LANES, TARGET};

/// Upper half of generic addresses in private memory, and in LDS.
const PRIVATE_APERTURE: u64 = 0x0001_0000;
const SHARED_APERTURE: u64 = 0x0002_0000;

/// Index of `vcc_lo`, `exec_lo` and the status register among the scalars of a trace, and their number.
const VCC: usize = 106;
pub const EXEC: usize = 126;
const STATUS: usize = 128;
const SCALARS: usize = 129;

/// A wave's registers and scratch.
#[derive(Debug, Default, Clone)]
pub struct Wave {
    pub scalars: Vec<u32>,
    /// All lanes of each vector register that was written.
    pub vectors: BTreeMap<usize, Vec<u8>>,
    scratch: Vec<u8>,
}

/// A memory region: its name in the trace, its address and its bytes.
#[derive(Debug)]
struct Region {
    name: String,
    address: u64,
    bytes: Vec<u8>,
}

/// The machine at a step, as one lane sees it.
#[derive(Debug, Default)]
pub struct World {
    pub pc: u64,
    pub lane: u64,
    pub wave: Wave,
    /// Scratch bytes of a lane.
    stride: u64,
    bias: u64,
    lds: Vec<u8>,
    regions: Vec<Region>,
}

/// A trace up to a step.
#[derive(Debug)]
pub struct Trace {
    waves: Vec<Wave>,
    pub world: World,
}

fn unhex(value: &Value) -> Vec<u8> {
    let digit = |byte: u8| (byte as char).to_digit(16).unwrap_or(0) as u8;
    let text = value.as_str().unwrap_or_default().as_bytes();
    text.chunks_exact(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

/// Changes bytes as a step says: pairs of an offset and bytes.
fn patch(into: &mut Vec<u8>, parts: &Value) {
    for part in parts.as_array().into_iter().flatten() {
        let start = number(&part[0]) as usize;
        let bytes = unhex(&part[1]);
        let end = start + bytes.len();
        into.resize(into.len().max(end), 0);
        into[start..end].copy_from_slice(&bytes);
    }
}

impl World {
    /// Returns a register's contents, in all lanes.
    pub fn whole(&self, register: u64) -> Option<Vec<u8>> {
        let scalar = |index: usize| self.wave.scalars.get(index).map(|word| word.to_le_bytes().to_vec());
        let pair = |index: usize| Some([scalar(index)?, scalar(index + 1)?].concat());
        match register {
            1 => scalar(EXEC),
            16 => Some(self.pc.to_le_bytes().to_vec()),
            17 => pair(EXEC),
            32..96 => scalar(register as usize - 32),
            128 => scalar(STATUS),
            512 => scalar(VCC),
            768 => pair(VCC),
            1088..1130 => scalar(register as usize - 1088 + 64),
            1536..1792 => self.wave.vectors.get(&(register as usize - 1536)).cloned(),
            _ => None,
        }
    }

    fn byte(&self, space: u32, lane: Option<u32>, address: u64) -> Option<u8> {
        let private = |lane: u64, address: u64| {
            let byte = (address < self.stride).then_some(lane * self.stride + address)?;
            self.wave.scratch.get(byte as usize).copied()
        };
        let low = address & u64::from(u32::MAX);
        match (space, address >> 32) {
            (3, _) => self.lds.get(address as usize).copied(),
            (5, _) => private(lane?.into(), address),
            // The lanes are interleaved by dwords.
            (6, _) => private(address / 4 % LANES, address / (4 * LANES) * 4 + address % 4),
            (1, PRIVATE_APERTURE) => private(self.lane, low),
            (1, SHARED_APERTURE) => self.lds.get(low as usize).copied(),
            (0 | 1, _) => self
                .regions
                .iter()
                .find_map(|region| region.bytes.get(address.checked_sub(region.address)? as usize).copied()),
            _ => None,
        }
    }

    /// Returns the machine in the form that `eitri eval --machine` reads.
    pub fn stopped(&self, lane: u64) -> Value {
        let numbers = [1, 16, 512, 768].into_iter().chain(32..96).chain(1088..1130).chain(1536..1792);
        let known = numbers.filter_map(|register| Some((register, self.whole(register)?)));
        let registers: serde_json::Map<String, Value> =
            known.map(|(register, bytes)| (register.to_string(), json!(hex(&bytes)))).collect();
        let mut memory = Vec::new();
        for region in &self.regions {
            for space in [0, 1] {
                let address = format!("{:#x}", region.address);
                memory.push(json!({"space": space, "address": address, "bytes": hex(&region.bytes)}));
            }
        }
        if !self.lds.is_empty() {
            memory.push(json!({"space": 3, "address": "0x0", "bytes": hex(&self.lds)}));
        }
        if self.stride > 0 {
            let lanes = self.wave.scratch.chunks(self.stride as usize).zip(0..LANES);
            memory.extend(lanes.map(
                |(bytes, lane)| json!({"space": 5, "lane": lane, "address": "0x0", "bytes": hex(bytes)}),
            ));
            let wave: Vec<u8> =
                (0..self.stride * LANES).map(|address| self.byte(6, None, address).unwrap_or(0)).collect();
            memory.push(json!({"space": 6, "address": "0x0", "bytes": hex(&wave)}));
        }
        let pc = format!("{:#x}", self.pc);
        let machine =
            json!({"registers": registers, "memory": memory, "lane": lane, "lanes": LANES, "pc": pc});
        json!({"target": {"name": TARGET}, "machine": machine})
    }
}

impl Machine for World {
    fn register(&self, reg: Reg, frame: u32, offset: u32, into: &mut [u8]) -> Result<(), Unavailable> {
        if frame != 0 {
            return Err(Unavailable);
        }
        let whole = self.whole(reg.0).ok_or(Unavailable)?;
        let start = offset as usize;
        into.copy_from_slice(whole.get(start..start + into.len()).ok_or(Unavailable)?);
        Ok(())
    }

    fn memory(
        &self,
        space: SpaceId,
        lane: Option<u32>,
        address: u64,
        into: &mut [u8],
    ) -> Result<(), Unavailable> {
        for (offset, byte) in (0..).zip(into) {
            *byte = self.byte(space.0, lane, address.wrapping_add(offset)).ok_or(Unavailable)?;
        }
        Ok(())
    }

    fn lane(&self) -> Option<u64> {
        Some(self.lane)
    }

    fn lanes(&self) -> u64 {
        LANES
    }

    fn load_bias(&self) -> u64 {
        self.bias
    }

    fn pc(&self, frame: u32) -> Option<u64> {
        (frame == 0).then_some(self.pc)
    }
}

impl Trace {
    /// Returns the state that the header describes.
    pub fn new(header: &Value) -> Self {
        let regions = header["regions"].as_array().into_iter().flatten().map(|region| Region {
            name: region["name"].as_str().unwrap_or_default().to_owned(),
            address: number(&region["address"]),
            bytes: unhex(&region["bytes"]),
        });
        let world = World {
            bias: number(&header["slide"]),
            stride: number(&header["private_size"]),
            regions: regions.collect(),
            ..World::default()
        };
        Self { waves: Vec::new(), world }
    }

    /// Changes the state as a step says.
    pub fn step(&mut self, line: &Value) {
        let index = number(&line["wave"]) as usize;
        while self.waves.len() <= index {
            self.waves.push(Wave { scalars: vec![0; SCALARS], ..Wave::default() });
        }
        let wave = &mut self.waves[index];
        for (register, word) in line["s"].as_object().into_iter().flatten() {
            let known = register.parse().ok().and_then(|index: usize| wave.scalars.get_mut(index));
            if let Some(known) = known {
                *known = number(word) as u32;
            }
        }
        for (register, bytes) in line["v"].as_object().into_iter().flatten() {
            if let Ok(register) = register.parse() {
                wave.vectors.insert(register, unhex(bytes));
            }
        }
        patch(&mut wave.scratch, &line["scratch"]);
        patch(&mut self.world.lds, &line["lds"]);
        for region in &mut self.world.regions {
            patch(&mut region.bytes, &line[region.name.as_str()]);
        }
        self.world.wave = wave.clone();
        self.world.pc = number(&line["pc"]);
    }
}
