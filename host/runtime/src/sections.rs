//! Reads a component's own sections without compiling it.
//!
//! Only section headers are looked at, so that a file of many megabytes costs a
//! few small reads. A guest's compiler puts the sections into the core module
//! inside the component; tools that pack components put them at the top.

use std::fs::File;
use std::os::unix::fs::FileExt;

use thiserror::Error;

/// The tool's info as JSON.
pub const INFO: &str = "toolbay:info";

/// The plugin's manifest as TOML.
pub const MANIFEST: &str = "toolbay:manifest";

/// The largest section that is read.
const MAX_SECTION: u64 = 1 << 20;

/// More sections than any honest component has.
const MAX_SECTIONS: usize = 10_000;

/// Why a file is no component.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SectionError {
    #[error("the file is empty or shorter than a WebAssembly header")]
    TooShort,
    #[error("it is not WebAssembly: it starts with {0:02x?} instead of \\0asm")]
    NotWasm([u8; 4]),
    #[error(
        "it is a core module, not a component; build it for wasm32-wasip2 or wrap it with `wasm-tools component new`"
    )]
    CoreModule,
    #[error("it is damaged: {0}")]
    Damaged(&'static str),
    #[error("its section {0} is {1} bytes long; at most {MAX_SECTION} are accepted")]
    TooLarge(&'static str, u64),
    #[error("it cannot be read: {0}")]
    Read(String),
}

/// Read at a time: section headers lie close together but for the few large
/// sections, and a thousand plugins at every start make each read count.
const BLOCK: usize = 4096;

/// The sections that matter to a host.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Sections {
    pub info: Option<Vec<u8>>,
    pub manifest: Option<Vec<u8>>,
}

/// Something of known length that can be read at any place.
pub trait Bytes {
    fn length(&self) -> Result<u64, SectionError>;
    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), SectionError>;
}

impl Bytes for [u8] {
    fn length(&self) -> Result<u64, SectionError> {
        Ok(self.len() as u64)
    }

    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), SectionError> {
        let start = usize::try_from(at).map_err(|_| SectionError::Damaged("it ends early"))?;
        let part = start
            .checked_add(into.len())
            .and_then(|end| self.get(start..end))
            .ok_or(SectionError::Damaged("it ends early"))?;
        into.copy_from_slice(part);
        Ok(())
    }
}

impl Bytes for File {
    fn length(&self) -> Result<u64, SectionError> {
        self.metadata()
            .map(|metadata| metadata.len())
            .map_err(|error| SectionError::Read(error.to_string()))
    }

    fn read(&self, at: u64, into: &mut [u8]) -> Result<(), SectionError> {
        self.read_exact_at(into, at)
            .map_err(|error| SectionError::Read(error.to_string()))
    }
}

/// Reads the sections of a component.
pub fn read(bytes: &(impl Bytes + ?Sized)) -> Result<Sections, SectionError> {
    let length = bytes.length()?;
    let bytes = &mut Blocks {
        bytes,
        length,
        start: 0,
        block: Vec::new(),
    };
    match header(bytes, 0, length)? {
        Layer::Component => {}
        Layer::Core => return Err(SectionError::CoreModule),
    }
    let mut found = Sections::default();
    let mut budget = MAX_SECTIONS;
    walk(bytes, 8, length, Layer::Component, &mut found, &mut budget)?;
    Ok(found)
}

/// Reads a block where a few bytes are asked for, as the next ones are mostly in it.
struct Blocks<'a, B: ?Sized> {
    bytes: &'a B,
    length: u64,
    start: u64,
    block: Vec<u8>,
}

impl<B: Bytes + ?Sized> Blocks<'_, B> {
    fn read(&mut self, at: u64, into: &mut [u8]) -> Result<(), SectionError> {
        if let Some(part) = self.held(at, into.len()) {
            into.copy_from_slice(part);
            return Ok(());
        }
        let left = self.length.saturating_sub(at);
        if into.len() > BLOCK || into.len() as u64 > left {
            return self.bytes.read(at, into);
        }
        // Empty while it is read, so that a failure leaves nothing half read.
        let mut block = std::mem::take(&mut self.block);
        block.resize(left.min(BLOCK as u64) as usize, 0);
        self.bytes.read(at, &mut block)?;
        into.copy_from_slice(&block[..into.len()]);
        self.start = at;
        self.block = block;
        Ok(())
    }

    fn held(&self, at: u64, length: usize) -> Option<&[u8]> {
        let from = usize::try_from(at.checked_sub(self.start)?).ok()?;
        self.block.get(from..from.checked_add(length)?)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Layer {
    Core,
    Component,
}

fn header(
    bytes: &mut Blocks<'_, impl Bytes + ?Sized>,
    at: u64,
    end: u64,
) -> Result<Layer, SectionError> {
    if end.saturating_sub(at) < 8 {
        return Err(SectionError::TooShort);
    }
    let mut header = [0; 8];
    bytes.read(at, &mut header)?;
    let [a, b, c, d, _, _, layer, _] = header;
    if [a, b, c, d] != *b"\0asm" {
        return Err(SectionError::NotWasm([a, b, c, d]));
    }
    Ok(if layer == 0 {
        Layer::Core
    } else {
        Layer::Component
    })
}

fn walk(
    bytes: &mut Blocks<'_, impl Bytes + ?Sized>,
    start: u64,
    end: u64,
    layer: Layer,
    found: &mut Sections,
    budget: &mut usize,
) -> Result<(), SectionError> {
    const CUSTOM: u8 = 0;
    const CORE_MODULE: u8 = 1;

    let mut at = start;
    while at < end {
        *budget = budget
            .checked_sub(1)
            .ok_or(SectionError::Damaged("it has too many sections"))?;
        let mut id = [0];
        bytes.read(at, &mut id)?;
        let (size, content) = leb(bytes, at + 1, end)?;
        let next = content
            .checked_add(size)
            .filter(|next| *next <= end)
            .ok_or(SectionError::Damaged("a section is longer than the file"))?;
        match (layer, id[0]) {
            (_, CUSTOM) => custom(bytes, content, next, found)?,
            (Layer::Component, CORE_MODULE) => {
                header(bytes, content, next)?;
                walk(bytes, content + 8, next, Layer::Core, found, budget)?;
            }
            (Layer::Component | Layer::Core, _) => {}
        }
        at = next;
    }
    Ok(())
}

fn custom(
    bytes: &mut Blocks<'_, impl Bytes + ?Sized>,
    at: u64,
    end: u64,
    found: &mut Sections,
) -> Result<(), SectionError> {
    let (name_length, name_at) = leb(bytes, at, end)?;
    let content = name_at
        .checked_add(name_length)
        .filter(|content| *content <= end)
        .ok_or(SectionError::Damaged("a section's name is too long"))?;
    if name_length > 64 {
        return Ok(());
    }
    let mut name = vec![0; name_length as usize];
    bytes.read(name_at, &mut name)?;
    let (which, slot) = match name.as_slice() {
        name if name == INFO.as_bytes() => (INFO, &mut found.info),
        name if name == MANIFEST.as_bytes() => (MANIFEST, &mut found.manifest),
        _ => return Ok(()),
    };
    let size = end - content;
    if size > MAX_SECTION {
        return Err(SectionError::TooLarge(which, size));
    }
    // An empty section is what a tool without constant info leaves behind.
    if size > 0 && slot.is_none() {
        let mut data = vec![0; size as usize];
        bytes.read(content, &mut data)?;
        *slot = Some(data);
    }
    Ok(())
}

/// An unsigned LEB128 number and the place after it.
fn leb(
    bytes: &mut Blocks<'_, impl Bytes + ?Sized>,
    at: u64,
    end: u64,
) -> Result<(u64, u64), SectionError> {
    let room = end.saturating_sub(at).min(5) as usize;
    let mut buffer = [0; 5];
    bytes.read(at, &mut buffer[..room])?;
    let mut value = 0;
    for (i, byte) in buffer[..room].iter().enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * i);
        if byte & 0x80 == 0 {
            return Ok((value, at + i as u64 + 1));
        }
    }
    Err(SectionError::Damaged("a number does not end"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(id: u8, content: &[u8]) -> Vec<u8> {
        assert!(content.len() < 128);
        [&[id, content.len() as u8][..], content].concat()
    }

    fn named(name: &str, data: &[u8]) -> Vec<u8> {
        section(0, &[&[name.len() as u8], name.as_bytes(), data].concat())
    }

    const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";
    const MODULE: &[u8] = b"\0asm\x01\0\0\0";

    #[test]
    fn sections_are_found_at_the_top_and_inside_the_core_module() {
        let module = [MODULE, &named(INFO, b"{}")[..]].concat();
        let file = [
            COMPONENT,
            &section(1, &module)[..],
            &named(MANIFEST, b"x=1"),
            &named("other", b"y"),
        ]
        .concat();
        let found = read(file.as_slice()).unwrap();
        assert_eq!(found.info.as_deref(), Some(&b"{}"[..]));
        assert_eq!(found.manifest.as_deref(), Some(&b"x=1"[..]));
    }

    #[test]
    fn a_file_is_read_in_blocks_and_gives_the_same() {
        let large = |id: u8, size: usize| {
            let mut section = vec![id];
            // Five bytes hold any length.
            section.extend((0..5).map(|i| {
                let more = if i < 4 { 0x80 } else { 0 };
                (size >> (7 * i)) as u8 & 0x7f | more
            }));
            section.resize(section.len() + size, 0);
            section
        };
        for size in [0, 1, BLOCK - 30, BLOCK, 3 * BLOCK + 1] {
            let bytes = [
                COMPONENT,
                &large(9, size),
                &named(INFO, b"{}"),
                &large(9, size),
                &named(MANIFEST, b"x=1"),
            ]
            .concat();
            let path = std::env::temp_dir().join(format!(
                "toolbay-sections-{}-{size}.wasm",
                std::process::id()
            ));
            std::fs::write(&path, &bytes).unwrap();
            let found = read(&File::open(&path).unwrap());
            std::fs::remove_file(&path).unwrap();
            assert_eq!(found, read(bytes.as_slice()), "{size}");
            assert_eq!(found.unwrap().manifest.as_deref(), Some(&b"x=1"[..]));
        }
    }

    #[test]
    fn what_is_no_component_is_said_to_be_none() {
        for (bytes, part) in [
            (&b""[..], "empty"),
            (b"\0as", "empty"),
            (b"\x7fELF0000", "not WebAssembly"),
            (MODULE, "core module"),
            (b"\0asm\x0d\0\x01\0\x00\xff", "damaged"),
            (b"\0asm\x0d\0\x01\0\x00\x7f", "longer than the file"),
            (b"\0asm\x0d\0\x01\0\x00\xff\xff\xff\xff\xff", "damaged"),
        ] {
            let error = read(bytes).unwrap_err().to_string();
            assert!(error.contains(part), "{bytes:?}: {error}");
        }
    }
}
