//! The runtime: one engine, one linker, one cache, one ticker for all plugins.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use lru::LruCache;
use tokio::sync::Semaphore;
use toolbay_contract::{Failure, KillReason, KillSwitch};
use toolbay_policy::{Claims, Trust};
use wasmtime::Engine;
use wasmtime::component::{Component, Linker};

use crate::cache::{Cache, Code, DEFAULT_MAX_BYTES};
use crate::compiler::{ComponentCompiler, compile_elsewhere};
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

/// Is told of compilations, on any thread.
pub type OnCompile = Arc<dyn Fn(CompileNotice) + Send + Sync>;

/// How a runtime is set up.
#[derive(Clone, Default)]
pub struct RuntimeOptions {
    /// The cache folder and the state folder that holds its key; without them
    /// every start compiles anew.
    pub cache: Option<(PathBuf, PathBuf)>,
    /// 0 = the default.
    pub cache_max_bytes: u64,
    /// Called when a component is compiled.
    pub on_compile: Option<OnCompile>,
    /// Compiles what the host does not vouch for. Without it everything is compiled in this
    /// process, without limits and interruptions: for tests and benchmarks.
    pub compiler: Option<Arc<dyn ComponentCompiler>>,
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
    compiler: Option<Arc<dyn ComponentCompiler>>,
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
                compiler: options.compiler,
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

    /// Whether the component was compiled before, as far as that can be seen without loading it.
    pub(crate) fn is_cached(&self, digest: &str) -> bool {
        self.cache.as_ref().is_some_and(|cache| cache.has(digest))
    }

    pub(crate) fn keep(&self, digest: &str, code: &Code, info: &[u8]) {
        if let Some(cache) = &self.cache {
            cache.store(digest, info, code);
        }
    }

    /// Compiles. What the host vouches for is compiled in this process, everything else in
    /// another one, which dropping the future ends.
    pub(crate) async fn compile(
        self: &Arc<Self>,
        plugin: &str,
        bytes: Arc<[u8]>,
        trust: Trust,
    ) -> Result<Code, String> {
        let _notice = Noticed::start(self.on_compile.clone(), plugin, bytes.len());
        match (&self.compiler, trust) {
            (Some(compiler), Trust::ThirdParty) => compile_elsewhere(&**compiler, &bytes).await,
            (Some(_), Trust::BuiltIn) | (None, _) => {
                let inner = self.clone();
                let compiling =
                    tokio::task::spawn_blocking(move || inner.engine.precompile_component(&bytes));
                let code = compiling
                    .await
                    .map_err(|error| format!("compiling broke: {error}"))?;
                code.map(Code::Held).map_err(|error| format!("{error:#}"))
            }
        }
    }
}

/// Says that a compilation has begun, and when it is over, however it ended.
struct Noticed {
    on_compile: Option<OnCompile>,
    plugin: String,
    started: Instant,
}

impl Noticed {
    fn start(on_compile: Option<OnCompile>, plugin: &str, bytes: usize) -> Self {
        if let Some(on_compile) = &on_compile {
            on_compile(CompileNotice::Started {
                plugin: plugin.to_owned(),
                bytes,
            });
        }
        Self {
            on_compile,
            plugin: plugin.to_owned(),
            started: Instant::now(),
        }
    }
}

impl Drop for Noticed {
    fn drop(&mut self) {
        if let Some(on_compile) = &self.on_compile {
            on_compile(CompileNotice::Finished {
                plugin: self.plugin.clone(),
                took: self.started.elapsed(),
            });
        }
    }
}

/// Changes with whatever makes compiled code unusable.
fn fingerprint(engine: &Engine) -> String {
    let mut hasher = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    env!("CARGO_PKG_VERSION").hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}
