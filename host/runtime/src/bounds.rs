//! What a component may consist of, counted before anything compiles it.
//!
//! A compiler's work does not grow with the size of its input alone: one function with forty
//! thousand variables takes gigabytes. So each quantity that drives that work has a bound here, far
//! above what compilers of every known language produce, and a component beyond it is refused with
//! the number that was seen. This pass takes time and memory in proportion to the file, and never
//! recurses. It is no validation: what is left is judged by the compiler, whose process has limits of
//! its own.

mod code;
mod limit;
mod types;

use thiserror::Error;
use wasmparser::{
    BinaryReaderError, ElementItems, Encoding, Instance, Parser, Payload, SectionLimited,
};

pub(crate) use limit::Bound;

/// Why a component is not even compiled.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BoundsError {
    #[error("it is damaged: {0}")]
    Damaged(String),
    #[error(
        "it has {what}: {seen}; at most {most} are accepted. Its author can {advice}",
        what = .bound.what(), most = .bound.most(), advice = .bound.advice()
    )]
    Exceeded { bound: Bound, seen: u64 },
}

impl From<BinaryReaderError> for BoundsError {
    fn from(error: BinaryReaderError) -> Self {
        Self::Damaged(format!("{error}"))
    }
}

/// What a component shows of itself without being compiled.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Outline {
    pub(crate) imports: Vec<String>,
    pub(crate) exports: Vec<String>,
}

/// Counts what a component consists of.
pub(crate) fn outline(bytes: &[u8]) -> Result<Outline, BoundsError> {
    let mut outline = Outline::default();
    let mut tally = Tally::default();
    let mut open: u64 = 0;
    for payload in Parser::new(0).parse_all(bytes) {
        let payload = payload?;
        if !matches!(payload, Payload::CodeSectionEntry(_)) {
            tally.add(Bound::Sections, 1)?;
        }
        match payload {
            Payload::Version { encoding, .. } => {
                open += 1;
                tally.at_most(Bound::Nesting, open)?;
                match encoding {
                    Encoding::Module => tally.add(Bound::Modules, 1)?,
                    Encoding::Component => tally.add(Bound::Components, 1)?,
                }
            }
            Payload::End(_) => open = open.saturating_sub(1),
            Payload::ComponentImportSection(section) => {
                tally.add(Bound::Imports, section.count().into())?;
                for import in section {
                    let name = import?.name.name;
                    tally.at_most(Bound::NameLength, name.len() as u64)?;
                    if open == 1 {
                        outline.imports.push(name.to_owned());
                    }
                }
            }
            Payload::ComponentExportSection(section) => {
                tally.add(Bound::Exports, section.count().into())?;
                for export in section {
                    let name = export?.name.name;
                    tally.at_most(Bound::NameLength, name.len() as u64)?;
                    if open == 1 {
                        outline.exports.push(name.to_owned());
                    }
                }
            }
            other => count(other, bytes, &mut tally)?,
        }
    }
    Ok(outline)
}

/// Counts a section of any depth.
fn count(payload: Payload<'_>, bytes: &[u8], tally: &mut Tally) -> Result<(), BoundsError> {
    match payload {
        Payload::TypeSection(section) => {
            tally.at_most(Bound::CoreTypes, section.count().into())?;
            for group in section {
                tally.add(Bound::CoreTypes, group?.types().len() as u64)?;
            }
        }
        Payload::CoreTypeSection(section) => types::core(&section, tally)?,
        Payload::ComponentTypeSection(section) => types::component(&section, bytes, tally)?,
        Payload::ImportSection(section) => {
            for import in section.into_imports() {
                let import = import?;
                tally.add(Bound::Imports, 1)?;
                let longest = import.module.len().max(import.name.len());
                tally.at_most(Bound::NameLength, longest as u64)?;
            }
        }
        Payload::ExportSection(section) => {
            tally.add(Bound::Exports, section.count().into())?;
            for export in section {
                tally.at_most(Bound::NameLength, export?.name.len() as u64)?;
            }
        }
        Payload::FunctionSection(section) => {
            tally.add(Bound::Functions, section.count().into())?;
        }
        Payload::GlobalSection(section) => tally.add(Bound::Globals, section.count().into())?,
        Payload::TableSection(section) => {
            for table in bounded(section, Bound::Tables, tally)? {
                tally.add(Bound::TableElements, table?.ty.initial)?;
            }
        }
        Payload::MemorySection(section) => {
            for memory in bounded(section, Bound::Memories, tally)? {
                let memory = memory?;
                let page = 1_u64
                    .checked_shl(memory.page_size_log2.unwrap_or(16))
                    .unwrap_or(u64::MAX);
                tally.add(Bound::MemoryBytes, memory.initial.saturating_mul(page))?;
            }
        }
        Payload::ElementSection(section) => {
            for segment in bounded(section, Bound::ElementSegments, tally)? {
                let items = match segment?.items {
                    ElementItems::Functions(items) => items.count(),
                    ElementItems::Expressions(_, items) => items.count(),
                };
                tally.add(Bound::Elements, items.into())?;
            }
        }
        Payload::DataSection(section) => {
            tally.add(Bound::DataSegments, section.count().into())?;
        }
        Payload::CodeSectionStart { count, .. } => {
            tally.at_most(Bound::Functions, count.into())?;
        }
        Payload::CodeSectionEntry(body) => code::check(&body, tally)?,
        Payload::InstanceSection(section) => {
            for instance in bounded(section, Bound::Instances, tally)? {
                let parts = match instance? {
                    Instance::Instantiate { args, .. } => args.len(),
                    Instance::FromExports(exports) => exports.len(),
                };
                tally.add(Bound::Exports, parts as u64)?;
            }
        }
        Payload::ComponentInstanceSection(section) => {
            tally.add(Bound::Instances, section.count().into())?;
        }
        Payload::ComponentAliasSection(section) => {
            tally.add(Bound::Aliases, section.count().into())?;
        }
        Payload::ComponentCanonicalSection(section) => {
            tally.add(Bound::Functions, section.count().into())?;
        }
        // What is left has no parts, or is nothing that a compiler looks at.
        _ => {}
    }
    Ok(())
}

/// The items of a section, once it is known that they are not too many.
fn bounded<'a, T>(
    section: SectionLimited<'a, T>,
    bound: Bound,
    tally: &mut Tally,
) -> Result<SectionLimited<'a, T>, BoundsError> {
    tally.add(bound, section.count().into())?;
    Ok(section)
}

/// What was counted so far, in the whole file.
#[derive(Default)]
struct Tally {
    seen: [u64; Bound::COUNT],
}

impl Tally {
    fn add(&mut self, bound: Bound, more: u64) -> Result<(), BoundsError> {
        let slot = &mut self.seen[bound as usize];
        *slot = slot.saturating_add(more);
        let seen = *slot;
        self.at_most(bound, seen)
    }

    fn at_most(&self, bound: Bound, seen: u64) -> Result<(), BoundsError> {
        match seen <= bound.most() {
            true => Ok(()),
            false => Err(BoundsError::Exceeded { bound, seen }),
        }
    }
}

#[cfg(test)]
mod tests;
