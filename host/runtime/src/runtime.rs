//! The runtime: one engine, one linker, one cache, one ticker for all plugins.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use lru::LruCache;
use tokio::sync::Semaphore;
use toolbay_contract::{Failure, KillReason, KillSwitch};
use toolbay_policy::Claims;
use wasmtime::Engine;
use wasmtime::component::{Component, Linker};

use crate::cache::{Cache, DEFAULT_MAX_BYTES};
use crate::engine::{self, SLOTS};
use crate::link;
use crate::state::State;
use crate::ticker::Ticker;

/// Answers that are remembered. An agent repeats itself within a few calls.
const REMEMBERED_CLAIMS: usize = 1024;

/// Inputs larger than this are not remembered: a whole file may be among them.
const REMEMBERED_INPUT: usize = 16 << 10;

/// Compiling a component, told to whoever shows progress.
#[derive(Debug, Clone)]
pub enum CompileNotice {
    Started { plugin: String, bytes: usize },
    Finished { plugin: String, took: Duration },
}

/// Is told of compilations, on the compiling thread.
pub type OnCompile = Arc<dyn Fn(CompileNotice) + Send + Sync>;

/// How a runtime is set up.
#[derive(Clone, Default)]
pub struct RuntimeOptions {
    /// The cache folder and the state folder that holds its key; without them
    /// every start compiles anew.
    pub cache: Option<(PathBuf, PathBuf)>,
    /// 0 = the default.
    pub cache_max_bytes: u64,
    /// Called when a component is compiled, on the compiling thread.
    pub on_compile: Option<OnCompile>,
}

/// Shared by all plugins. Cheap to clone.
#[derive(Clone)]
pub struct Runtime {
    pub(crate) inner: Arc<Inner>,
}

/// A component's digest and an input.
type Asked = (Arc<str>, Arc<str>);

pub(crate) struct Inner {
    pub(crate) engine: Engine,
    pub(crate) linker: Linker<State>,
    pub(crate) ticker: Ticker,
    pub(crate) slots: Semaphore,
    pub(crate) kill: KillSwitch,
    cache: Option<Cache>,
    on_compile: Option<OnCompile>,
    claims: Mutex<LruCache<Asked, Claims>>,
}

impl Runtime {
    /// Starts the engine. A cache that cannot be opened is an error: silently
    /// compiling at every start would look like slowness.
    pub fn new(options: RuntimeOptions) -> Result<Self, Failure> {
        let host = |error: &dyn std::fmt::Display| Failure::Host(error.to_string());
        let engine = engine::engine().map_err(|error| host(&format!("{error:#}")))?;
        let linker = link::linker(&engine).map_err(|error| host(&format!("{error:#}")))?;
        let ticker = Ticker::start(&engine).map_err(|error| host(&error))?;
        let max_bytes = match options.cache_max_bytes {
            0 => DEFAULT_MAX_BYTES,
            bytes => bytes,
        };
        let cache = options
            .cache
            .map(|(folder, state)| Cache::open(&folder, &state, &fingerprint(&engine), max_bytes))
            .transpose()
            .map_err(|error| host(&error))?;
        let remembered = NonZeroUsize::new(REMEMBERED_CLAIMS).unwrap_or(NonZeroUsize::MIN);
        Ok(Self {
            inner: Arc::new(Inner {
                engine,
                linker,
                ticker,
                slots: Semaphore::new(SLOTS as usize),
                kill: KillSwitch::new(),
                cache,
                on_compile: options.on_compile,
                claims: Mutex::new(LruCache::new(remembered)),
            }),
        })
    }

    /// Ends everything that runs, and lets nothing new begin.
    pub fn shut_down(&self) {
        self.inner.kill.throw(KillReason::Shutdown);
    }

    /// Slots that no instance holds. All of them, when nothing runs.
    pub fn free_slots(&self) -> usize {
        self.inner.slots.available_permits()
    }

    pub fn cache(&self) -> Option<&Cache> {
        self.inner.cache.as_ref()
    }

    /// The engine, for benchmarks that measure it bare.
    pub fn engine(&self) -> &Engine {
        &self.inner.engine
    }
}

impl Inner {
    pub(crate) fn remembered(&self, digest: &Arc<str>, input: &Arc<str>) -> Option<Claims> {
        let mut claims = self.claims.lock().unwrap_or_else(PoisonError::into_inner);
        claims.get(&(digest.clone(), input.clone())).copied()
    }

    pub(crate) fn remember(&self, digest: &Arc<str>, input: &Arc<str>, answer: Claims) {
        if input.len() <= REMEMBERED_INPUT {
            let mut claims = self.claims.lock().unwrap_or_else(PoisonError::into_inner);
            claims.put((digest.clone(), input.clone()), answer);
        }
    }

    /// The compiled component from the cache, with the info that it gave when it
    /// was compiled.
    pub(crate) fn cached(&self, digest: &str) -> Option<(Component, Vec<u8>)> {
        let entry = self.cache.as_ref()?.load(digest)?;
        let component = match entry.code.component(&self.engine) {
            Ok(component) => component,
            Err(error) => {
                tracing::warn!(%error, "compiled component does not fit the engine; it is remade");
                return None;
            }
        };
        Some((component, entry.info))
    }

    pub(crate) fn keep(&self, digest: &str, component: &Component, info: Vec<u8>) {
        let Some(cache) = &self.cache else { return };
        match component.serialize() {
            Ok(code) => cache.store(digest, &info, &code),
            Err(error) => tracing::warn!(%error, "compiled component cannot be kept"),
        }
    }

    /// Compiles. Takes long: not for threads on which others wait.
    pub(crate) fn compile(&self, plugin: &str, bytes: &[u8]) -> Result<Component, String> {
        let started = Instant::now();
        let tell = |notice| {
            if let Some(on_compile) = &self.on_compile {
                on_compile(notice);
            }
        };
        tell(CompileNotice::Started {
            plugin: plugin.to_owned(),
            bytes: bytes.len(),
        });
        let component = Component::new(&self.engine, bytes).map_err(|error| format!("{error:#}"));
        tell(CompileNotice::Finished {
            plugin: plugin.to_owned(),
            took: started.elapsed(),
        });
        component
    }
}

/// Changes with whatever makes compiled code unusable.
fn fingerprint(engine: &Engine) -> String {
    let mut hasher = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    env!("CARGO_PKG_VERSION").hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}
