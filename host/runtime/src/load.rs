//! From the bytes of a component to something that can be instantiated.

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use toolbay_policy::Reach;
use wasmtime::Engine;
use wasmtime::component::{Component, InstancePre, Linker};

use crate::bindings::exports::toolbay::tool::{guard, prompt, render, tool};
use crate::reach::reach_of;
use crate::refuse;
use crate::state::State;

/// The largest component that is accepted. The largest guest runtime known is
/// about 20 MB.
pub const MAX_COMPONENT: u64 = 64 << 20;

const TOOL_EXPORT: &str = "toolbay:tool/tool@";
const KNOWN_VERSION: &str = "0.1.";

/// Where a component's bytes are.
#[derive(Debug, Clone)]
pub enum Source {
    /// In the program itself, with their digest.
    Embedded {
        bytes: &'static [u8],
        digest: &'static str,
    },
    File(PathBuf),
    Bytes(Arc<[u8]>),
}

impl Source {
    pub(crate) fn bytes(&self) -> Result<std::borrow::Cow<'_, [u8]>, String> {
        match self {
            Self::Embedded { bytes, .. } => Ok((*bytes).into()),
            Self::Bytes(bytes) => Ok((&**bytes).into()),
            Self::File(path) => {
                let bytes = toolbay_contract::regular_file::read(path, MAX_COMPONENT);
                let bytes = bytes.map_err(|error| match error.kind() {
                    std::io::ErrorKind::FileTooLarge => format!(
                        "{} is too large; at most {} MiB are accepted",
                        path.display(),
                        MAX_COMPONENT >> 20
                    ),
                    _ => format!("{}: {error}", path.display()),
                })?;
                Ok(bytes.into())
            }
        }
    }

    /// The digest by which the component is known.
    pub(crate) fn digest(&self, bytes: &[u8]) -> String {
        match self {
            Self::Embedded { digest, .. } => (*digest).to_owned(),
            Self::File(_) | Self::Bytes(_) => digest(bytes),
        }
    }
}

/// `sha256:` and 64 hexadecimal digits.
pub fn digest(bytes: &[u8]) -> String {
    let mut text = String::from("sha256:");
    for byte in Sha256::digest(bytes) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// A component that is ready to be instantiated, with what it exports.
pub(crate) struct Linked {
    pub(crate) pre: InstancePre<State>,
    pub(crate) tool: tool::GuestIndices,
    pub(crate) guard: Option<guard::GuestIndices>,
    pub(crate) prompt: Option<prompt::GuestIndices>,
    pub(crate) render: Option<render::GuestIndices>,
    pub(crate) reach: Reach,
}

/// Links a compiled component, or says in words why that cannot be.
pub(crate) fn link(
    engine: &Engine,
    base: &Linker<State>,
    component: &Component,
) -> Result<Linked, String> {
    let ty = component.component_type();
    let imports: Vec<String> = ty
        .imports(engine)
        .map(|(name, _)| name.to_owned())
        .collect();
    let exports: Vec<String> = ty
        .exports(engine)
        .map(|(name, _)| name.to_owned())
        .collect();
    check_names(&imports, &exports)?;

    let mut linker = base.clone();
    refuse::stand_ins(&mut linker, engine, component).map_err(|error| format!("{error:#}"))?;
    let pre = linker
        .instantiate_pre(component)
        .map_err(|error| format!("it does not fit this host: {error:#}"))?;
    let tool = tool::GuestIndices::new(&pre).map_err(|error| {
        format!("its export toolbay:tool/tool is not the contract's: {error:#}")
    })?;
    Ok(Linked {
        tool,
        guard: optional(&exports, "toolbay:tool/guard@", || {
            guard::GuestIndices::new(&pre)
        })?,
        prompt: optional(&exports, "toolbay:tool/prompt@", || {
            prompt::GuestIndices::new(&pre)
        })?,
        render: optional(&exports, "toolbay:tool/render@", || {
            render::GuestIndices::new(&pre)
        })?,
        reach: reach_of(imports.iter().map(String::as_str)),
        pre,
    })
}

/// Whether it is a tool for this host, as far as names say so.
pub(crate) fn check_names(imports: &[String], exports: &[String]) -> Result<(), String> {
    check_version(exports)?;
    check_imports(imports)
}

/// Absent is the strict default; present but of another shape is an error, or a
/// tool's guard could silently be left out.
fn optional<T>(
    exports: &[String],
    prefix: &str,
    indices: impl FnOnce() -> wasmtime::Result<T>,
) -> Result<Option<T>, String> {
    if !exports.iter().any(|name| name.starts_with(prefix)) {
        return Ok(None);
    }
    let name = prefix.trim_end_matches('@');
    indices()
        .map(Some)
        .map_err(|error| format!("its export {name} is not the contract's: {error:#}"))
}

fn check_version(exports: &[String]) -> Result<(), String> {
    let versions: Vec<&str> = exports
        .iter()
        .filter_map(|name| name.strip_prefix(TOOL_EXPORT))
        .collect();
    match versions.as_slice() {
        [] => Err("it does not export toolbay:tool/tool, so it is no tool".into()),
        versions
            if versions
                .iter()
                .any(|version| version.starts_with(KNOWN_VERSION)) =>
        {
            Ok(())
        }
        [version, ..] => Err(format!(
            "it speaks version {version} of the contract; this host knows {KNOWN_VERSION}x: \
             use a newer toolbay or an older build of the plugin"
        )),
    }
}

fn check_imports(imports: &[String]) -> Result<(), String> {
    const KNOWN: [&str; 7] = [
        "wasi:io/",
        "wasi:clocks/",
        "wasi:random/",
        "wasi:cli/",
        "wasi:filesystem/",
        "toolbay:host/",
        "toolbay:tool/types@",
    ];
    let known = |name: &str| {
        KNOWN.iter().any(|prefix| name.starts_with(prefix)) || refuse::is_refused(name)
    };
    match imports.iter().find(|name| !known(name)) {
        None => Ok(()),
        Some(name) => Err(format!(
            "it imports {name}, which this host does not provide"
        )),
    }
}
