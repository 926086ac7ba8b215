//! Grants of capabilities to components, by digest or on the command line by name.

use anyhow::Context;
use toolbay_policy::{Capability, Reach, Source};

/// A grant of capabilities to a component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    pub to: Grantee,
    pub reach: Reach,
    pub source: Source,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grantee {
    /// The component of this digest.
    Digest(String),
    /// Whatever component has a tool of this name, in this run.
    Tool(String),
}

/// A grant on the command line: `Tool`, for all that it requests, or `Tool=files,shell`.
pub(super) fn grant_of(text: &str) -> anyhow::Result<Grant> {
    let (tool, words) = match text.split_once('=') {
        Some((tool, words)) => (tool, Some(words)),
        None => (text, None),
    };
    anyhow::ensure!(
        !tool.trim().is_empty(),
        "--grant {text:?} names no tool; write `Tool` or `Tool=files,shell`"
    );
    let capability = |word: &str| {
        Capability::parse(word.trim()).with_context(|| {
            let known = Capability::ALL.map(Capability::word).join(", ");
            format!("--grant {text:?}: `{word}` is no capability; there are: {known}")
        })
    };
    let reach = match words {
        Some(words) => words
            .split(',')
            .map(capability)
            .collect::<anyhow::Result<Reach>>()?,
        None => Reach::ALL,
    };
    Ok(Grant {
        to: Grantee::Tool(tool.trim().to_owned()),
        reach,
        source: Source::CommandLine,
    })
}
