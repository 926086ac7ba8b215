//! The bounds themselves: what is counted, how much of it is accepted, and what an author can do.

use crate::engine::{MAX_MEMORY, MAX_TABLE_ELEMENTS};

/// Something that is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum Bound {
    Sections,
    Nesting,
    Modules,
    Components,
    Instances,
    Aliases,
    Imports,
    Exports,
    NameLength,
    CoreTypes,
    ComponentTypes,
    TypeDepth,
    Functions,
    Locals,
    BodyBytes,
    BlockDepth,
    BranchTargets,
    Globals,
    Tables,
    TableElements,
    Memories,
    MemoryBytes,
    ElementSegments,
    Elements,
    DataSegments,
}

impl Bound {
    pub(super) const COUNT: usize = Self::DataSegments as usize + 1;

    pub(super) fn what(self) -> &'static str {
        self.row().0
    }

    pub(super) fn most(self) -> u64 {
        self.row().1
    }

    pub(super) fn advice(self) -> &'static str {
        self.row().2
    }

    /// The largest known components are language runtimes: Python has some thirty thousand
    /// functions in four modules that are linked by thousands of imports and exports.
    fn row(self) -> (&'static str, u64, &'static str) {
        const SMALLER: &str = "build a smaller component, or split the tool in two";
        const MERGE: &str = "link what belongs together into one module";
        const SPLIT: &str = "split that function, or build with optimisation";
        const LESS: &str = "declare less of it, and grow it while the tool runs";
        match self {
            Self::Sections => ("too many sections in all", 20_000, SMALLER),
            // Compositions of compositions reach four.
            Self::Nesting => ("components inside components, too deep", 16, MERGE),
            Self::Modules => ("too many core modules", 256, MERGE),
            // One for each exported interface of each part of a composition.
            Self::Components => ("too many nested components", 1_000, MERGE),
            Self::Instances => ("too many instances", 10_000, MERGE),
            Self::Aliases => ("too many aliases", 100_000, SMALLER),
            Self::Imports => ("too many imports in all", 50_000, SMALLER),
            Self::Exports => ("too many exports in all", 50_000, SMALLER),
            // Names of C++ functions reach two thousand.
            Self::NameLength => ("a name of too many bytes", 8_192, "choose shorter names"),
            Self::CoreTypes => ("too many core types in all", 100_000, SMALLER),
            Self::ComponentTypes => ("too many types in all", 100_000, SMALLER),
            // What a world declares is three deep.
            Self::TypeDepth => (
                "types inside types, too deep",
                32,
                "declare types beside each other",
            ),
            Self::Functions => ("too many functions in all", 200_000, SMALLER),
            // A compiler's time grows with the square of it. Interpreters' largest functions
            // have about two thousand without optimisation.
            Self::Locals => ("too many local variables in one function", 10_000, SPLIT),
            // An interpreter's main loop reaches half a megabyte.
            Self::BodyBytes => ("too many bytes in one function", 2 << 20, SPLIT),
            // A `switch` is one block a case.
            Self::BlockDepth => ("blocks inside blocks, too deep", 10_000, SPLIT),
            Self::BranchTargets => ("too many branch targets in one function", 100_000, SPLIT),
            Self::Globals => ("too many global variables in all", 100_000, SMALLER),
            Self::Tables => ("too many tables in all", 1_000, MERGE),
            // Counted for all tables, where the engine counts for each: it has 32 at most.
            Self::TableElements => (
                "too many table elements from the start",
                32 * MAX_TABLE_ELEMENTS as u64,
                LESS,
            ),
            Self::Memories => ("too many memories in all", 1_000, MERGE),
            Self::MemoryBytes => (
                "too many bytes of memory from the start",
                MAX_MEMORY as u64,
                LESS,
            ),
            Self::ElementSegments => ("too many element segments", 10_000, SMALLER),
            Self::Elements => ("too many elements in element segments", 1_000_000, SMALLER),
            Self::DataSegments => ("too many data segments", 20_000, SMALLER),
        }
    }
}
