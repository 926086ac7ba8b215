//! A component as a tool.

mod instance;
mod questions;
mod tool;

use std::sync::Arc;

use tokio::sync::OnceCell;
use toolbay_contract::{
    AllGranted, CapabilityRequest, Failure, GrantTable, Grants, InfoError, KillReason, KillSwitch,
    Origin, Phase, ToolInfo,
};
use toolbay_policy::{Capability, Reach, Trust};
use wasmtime::component::Component;

use crate::bounds;
use crate::convert;
use crate::limits::Limits;
use crate::load::{self, Linked, Source};
use crate::manifest::Manifest;
use crate::reach::reach_of;
use crate::runtime::{Inner, Runtime};
use crate::sections;

/// A component that is a tool. Nothing is compiled before it is first used,
/// unless it hides who it is.
pub struct Plugin {
    runtime: Runtime,
    source: Source,
    origin: Origin,
    trust: Trust,
    limits: Limits,
    kill: KillSwitch,
    info: ToolInfo,
    name: Arc<str>,
    manifest: Option<Manifest>,
    grants: Arc<dyn Grants>,
    loaded: Arc<OnceCell<Loaded>>,
}

/// What the first use finds out.
struct Loaded {
    digest: Arc<str>,
    linked: Linked,
    /// Whether it makes sense here. Nothing that could change the answer is shown to
    /// it, so it is asked once.
    enabled: OnceCell<bool>,
}

/// What can be said about a component, for people.
#[derive(Debug, Clone)]
pub struct Facts {
    pub digest: String,
    pub size: usize,
    pub imports: Vec<String>,
    pub exports: Vec<String>,
    pub reach: Reach,
    pub limits: Limits,
    pub has_info_section: bool,
}

impl Plugin {
    /// Takes a component as a tool. It is compiled only if it has no info section
    /// and nothing about it is cached.
    pub async fn open(
        runtime: &Runtime,
        source: Source,
        origin: Origin,
        trust: Trust,
        limits: Limits,
    ) -> Result<Self, Failure> {
        let label = label(&origin, &source);
        let bad = |reason: String| Failure::BadComponent {
            plugin: label.clone(),
            reason,
        };
        let found = match &source {
            Source::Embedded { bytes, .. } => sections::read(*bytes),
            Source::Bytes(bytes) => sections::read(&**bytes),
            Source::File(path) => {
                let file = toolbay_contract::regular_file::open(path)
                    .map_err(|error| bad(format!("{}: {error}", path.display())))?;
                sections::read(&file)
            }
        }
        .map_err(|error| bad(error.to_string()))?;
        let manifest = found
            .manifest
            .map(|bytes| Manifest::parse(&bytes))
            .transpose()
            .map_err(|error| bad(error.to_string()))?;
        let limits = lowered(limits, manifest.as_ref());
        let embedded = found
            .info
            .map(|bytes| parse_info(&bytes))
            .transpose()
            .map_err(&bad)?;

        let loaded = OnceCell::new();
        let info = match embedded {
            Some(info) => info,
            None => {
                let (fresh, info) =
                    first_load(runtime, &source, (&label, trust), None, limits).await?;
                // The cell is empty and ours alone.
                let _ = loaded.set(fresh);
                info
            }
        };
        Ok(Self {
            runtime: runtime.clone(),
            name: info.name.as_str().into(),
            source,
            origin,
            trust,
            limits,
            kill: runtime.inner.kill.below(),
            info,
            manifest,
            grants: match trust {
                Trust::BuiltIn => Arc::new(AllGranted),
                Trust::ThirdParty => Arc::new(GrantTable::default()),
            },
            loaded: Arc::new(loaded),
        })
    }

    /// Whether `open` takes this component without compiling it: it says who it is, or was
    /// compiled before. What cannot be read compiles nothing either.
    pub async fn opens_at_once(runtime: &Runtime, source: &Source) -> bool {
        let reading = source.clone();
        let read = move || {
            reading
                .bytes()
                .and_then(|bytes| sections::read(&*bytes).map_err(|error| error.to_string()))
        };
        match aside(read).await {
            Ok(Ok(found)) => found.info.is_some() || Self::is_compiled(runtime, source).await,
            Ok(Err(_)) | Err(_) => true,
        }
    }

    /// Whether the cache has its code.
    async fn is_compiled(runtime: &Runtime, source: &Source) -> bool {
        let (inner, source) = (runtime.inner.clone(), source.clone());
        let known = aside(move || {
            let bytes = source.bytes();
            bytes.is_ok_and(|bytes| inner.is_cached(&source.digest(&bytes)))
        });
        known.await.unwrap_or(false)
    }

    /// Gives it other limits, for whoever chooses them by its name.
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = lowered(limits, self.manifest.as_ref());
        self
    }

    /// Who knows what it was granted. Without this a component that the host does not vouch for
    /// has nothing.
    pub fn with_grants(mut self, grants: Arc<dyn Grants>) -> Self {
        self.grants = grants;
        self
    }

    /// What it requests: what its manifest says, or, if it has none, whatever it imports.
    fn requested(&self) -> Reach {
        match &self.manifest {
            Some(manifest) => manifest.requested(),
            None => Reach::ALL,
        }
    }

    /// What it can use: what it imports, requests and was granted. Built-ins come granted.
    fn power(&self, loaded: &Loaded) -> Reach {
        let imported = &loaded.linked.reach;
        match self.trust {
            Trust::BuiltIn => *imported,
            Trust::ThirdParty => {
                // Without a wish there is nothing to look up, under a lock that all calls share.
                let wanted = imported.and(&self.requested());
                match wanted == Reach::default() {
                    true => wanted,
                    false => wanted.and(&self.grants.granted(&loaded.digest, &self.name)),
                }
            }
        }
    }

    /// What it requests, imports and does not have.
    fn missing(&self, loaded: &Loaded) -> Vec<CapabilityRequest> {
        let Some(manifest) = self
            .manifest
            .as_ref()
            .filter(|_| self.trust == Trust::ThirdParty)
        else {
            return Vec::new();
        };
        let granted = self.grants.granted(&loaded.digest, &self.name);
        let wanted = loaded.linked.reach.iter();
        manifest.requests_for(wanted.filter(|one| !granted.has(*one)).collect())
    }

    /// What a user can do about capabilities that a call wanted in vain.
    fn what_helps(&self, loaded: &Loaded, missed: &[Capability]) -> String {
        let requested = self.requested();
        let (ungranted, unrequested): (Vec<Capability>, Vec<Capability>) =
            missed.iter().partition(|one| requested.has(**one));
        let words = |all: &[Capability]| {
            let words: Vec<&str> = all.iter().map(|one| one.word()).collect();
            words.join(",")
        };
        let mut sentences = Vec::new();
        if !ungranted.is_empty() {
            let words = words(&ungranted);
            sentences.push(format!(
                "{name} was not granted `{words}`: `--grant {name}={words}` grants it for one run, \
                 `\"grants\": {{\"{}\": [\"{}\"]}}` in your settings from now on",
                loaded.digest,
                words.replace(',', "\", \""),
                name = self.name,
            ));
        }
        if !unrequested.is_empty() {
            sentences.push(format!(
                "{} does not request `{}` in its manifest, so that nothing can grant it; its \
                 author has to request it",
                self.name,
                words(&unrequested)
            ));
        }
        sentences.join(". ")
    }

    /// Ends all its running calls, and lets none begin.
    pub fn revoke(&self, what: &str) {
        self.kill.throw(KillReason::Revoked(what.to_owned()));
    }

    pub fn manifest(&self) -> Option<&Manifest> {
        self.manifest.as_ref()
    }

    /// What it is, without compiling it.
    pub async fn facts(&self) -> Result<Facts, Failure> {
        let (source, limits) = (self.source.clone(), self.limits);
        let read = move || {
            let bytes = source.bytes()?;
            let sections = sections::read(&*bytes).map_err(|error| error.to_string())?;
            let outline = look(&bytes)?;
            Ok(Facts {
                digest: source.digest(&bytes),
                size: bytes.len(),
                reach: reach_of(outline.imports.iter().map(String::as_str)),
                imports: outline.imports,
                exports: outline.exports,
                limits,
                has_info_section: sections.info.is_some(),
            })
        };
        aside(read).await?.map_err(|reason| self.bad(reason))
    }

    /// Whether its first use is behind it.
    pub fn is_loaded(&self) -> bool {
        self.loaded.initialized()
    }

    async fn loaded(&self) -> Result<&Loaded, Failure> {
        self.loaded
            .get_or_try_init(|| async {
                let (loaded, _) = first_load(
                    &self.runtime,
                    &self.source,
                    (&self.name, self.trust),
                    Some(&self.info),
                    self.limits,
                )
                .await?;
                Ok(loaded)
            })
            .await
    }

    fn bad(&self, reason: String) -> Failure {
        Failure::BadComponent {
            plugin: self.name.to_string(),
            reason,
        }
    }
}

/// A manifest may only ask for less.
fn lowered(limits: Limits, manifest: Option<&Manifest>) -> Limits {
    match manifest.and_then(|manifest| manifest.limits) {
        Some(wished) => limits.at_most(wished),
        None => limits,
    }
}

/// What is known of a component before it is compiled.
struct Prepared {
    digest: Arc<str>,
    bytes: Arc<[u8]>,
    /// What the cache has: the component, and the info that it gave.
    cached: Option<(Component, Vec<u8>)>,
}

/// Reads a component. What was not compiled before is counted first.
fn prepare(inner: &Inner, source: &Source) -> Result<Prepared, String> {
    let bytes = source.bytes()?;
    // Says more about what is no component than the compiler does.
    sections::read(&*bytes).map_err(|error| error.to_string())?;
    let digest = source.digest(&bytes);
    let cached = inner.cached(&digest);
    if cached.is_none() {
        look(&bytes)?;
    }
    Ok(Prepared {
        digest: digest.into(),
        bytes: bytes.into(),
        cached,
    })
}

/// What a component shows of itself without being compiled, if it is a tool for this host at all.
fn look(bytes: &[u8]) -> Result<bounds::Outline, String> {
    let outline = bounds::outline(bytes).map_err(|error| error.to_string())?;
    load::check_names(&outline.imports, &outline.exports)?;
    Ok(outline)
}

/// Compiles or fetches a component, links it, and makes sure that it is who it
/// says it is.
async fn first_load(
    runtime: &Runtime,
    source: &Source,
    (label, trust): (&str, Trust),
    pinned: Option<&ToolInfo>,
    limits: Limits,
) -> Result<(Loaded, ToolInfo), Failure> {
    let bad = |reason: String| Failure::BadComponent {
        plugin: label.to_owned(),
        reason,
    };
    let inner = &runtime.inner;
    let Prepared {
        digest,
        bytes,
        cached,
    } = {
        let (inner, source) = (inner.clone(), source.clone());
        aside(move || prepare(&inner, &source))
            .await?
            .map_err(bad)?
    };
    let (component, said, code) = match cached {
        Some((component, info)) => (component, Some(info), None),
        None => {
            let code = inner.compile(label, bytes, trust).await.map_err(bad)?;
            let inner = inner.clone();
            let (component, code) = aside(move || {
                let component = code.component(&inner.engine);
                component
                    .map(|component| (component, code))
                    .map_err(|error| format!("its code does not fit the engine: {error:#}"))
            })
            .await?
            .map_err(bad)?;
            (component, None, Some(code))
        }
    };
    let linked = {
        let inner = inner.clone();
        aside(move || load::link(&inner.engine, &inner.linker, &component))
            .await?
            .map_err(bad)?
    };
    let loaded = Loaded {
        digest,
        linked,
        enabled: OnceCell::new(),
    };

    let info = match said {
        Some(bytes) => parse_info(&bytes).map_err(bad)?,
        None => {
            let kill = inner.kill.below();
            let answer = instance::ask_info(inner, &loaded.linked, label, limits, &kill);
            let info = convert::info(answer.await?);
            info.check().map_err(|error| bad(error.to_string()))?;
            info
        }
    };
    if let Some(pinned) = pinned {
        same_info(pinned, &info).map_err(bad)?;
    }
    if let Some(code) = code {
        let kept = serde_json::to_vec(&info).map_err(|error| Failure::Host(error.to_string()))?;
        let (inner, digest) = (inner.clone(), loaded.digest.clone());
        aside(move || inner.keep(&digest, &code, &kept)).await?;
    }
    Ok((loaded, info))
}

/// Does what takes long on a thread on which no calls wait.
async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Failure> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| Failure::Host(format!("loading a component broke: {error}")))
}

fn parse_info(bytes: &[u8]) -> Result<ToolInfo, String> {
    let info: ToolInfo = serde_json::from_slice(bytes)
        .map_err(|error| format!("its info section does not parse: {error}"))?;
    info.check().map_err(|error: InfoError| error.to_string())?;
    Ok(info)
}

/// A component must be who its section says it is.
fn same_info(section: &ToolInfo, said: &ToolInfo) -> Result<(), String> {
    if section == said {
        return Ok(());
    }
    let field = [
        ("name", section.name == said.name),
        ("aliases", section.aliases == said.aliases),
        ("summary", section.summary == said.summary),
        ("input-schema", section.input_schema == said.input_schema),
        ("output-schema", section.output_schema == said.output_schema),
        ("subjects", section.subjects == said.subjects),
        ("limit", section.limit == said.limit),
        ("interrupt", section.interrupt == said.interrupt),
        ("error", section.error == said.error),
        ("deferred", section.deferred == said.deferred),
    ]
    .into_iter()
    .find(|(_, same)| !same)
    .map_or("annotations", |(field, _)| field);
    Err(format!(
        "its info section and its {} disagree about the {field}; a tool may not change who it is",
        Phase::Info
    ))
}

fn label(origin: &Origin, source: &Source) -> String {
    match (origin, source) {
        (Origin::File(path), _) | (Origin::BuiltIn, Source::File(path)) => path
            .file_name()
            .unwrap_or(path.as_os_str())
            .to_string_lossy()
            .into_owned(),
        (Origin::BuiltIn, Source::Embedded { .. } | Source::Bytes(_)) => "built-in".into(),
        (Origin::Server(name), _) => name.clone(),
    }
}
