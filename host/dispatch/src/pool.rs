//! The tools that a model may use, in an order that never moves.
//!
//! Built-ins stand first, sorted, and the others after them, so that another plugin only
//! adds to the end of what the model was already sent. Deferred tools stay out of that
//! list until they are loaded, and then join it at its end.

mod assemble;
mod define;
mod lazy;

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use toolbay_contract::{Tool, ToolEntry, ToolIndex};

pub use self::lazy::{Compiled, LazySchema};
use crate::schema::nearest;

/// What the caller knows about tools before the model sees them.
pub struct PoolSetting<'a> {
    /// These names alone, if given.
    pub only: Option<&'a [String]>,
    /// Whether a deny rule without content covers this name.
    pub denied: &'a dyn Fn(&str) -> bool,
    /// Whether the tool of this name makes sense here.
    pub enabled: &'a dyn Fn(&str) -> bool,
}

/// The tools of a session. Nothing in it changes but which tools are loaded.
pub struct Pool {
    slots: Vec<Slot>,
    by_name: HashMap<String, usize>,
    by_alias: HashMap<String, usize>,
    /// Places of the loaded ones, in the order of loading.
    loaded: RwLock<Vec<usize>>,
}

struct Slot {
    tool: Arc<dyn Tool>,
    schema: LazySchema,
}

/// A tool, and how it was found.
#[derive(Clone)]
pub struct Found {
    pub tool: Arc<dyn Tool>,
    /// An old name led to it.
    pub by_alias: bool,
    pub schema: LazySchema,
    /// The model was never sent its definition.
    pub deferred_unloaded: bool,
}

impl Pool {
    /// Finds a tool; a name beats an alias.
    pub fn find(&self, name: &str) -> Option<Found> {
        let (at, by_alias) = self.place(name)?;
        let slot = self.slots.get(at)?;
        let info = slot.tool.info();
        Some(Found {
            tool: slot.tool.clone(),
            by_alias,
            schema: slot.schema.clone(),
            deferred_unloaded: info.deferred && !self.is_loaded(at),
        })
    }

    /// All tools, in the pool's order.
    pub fn tools(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.slots.iter().map(|slot| &slot.tool)
    }

    pub fn names(&self) -> Vec<String> {
        self.tools().map(|tool| tool.info().name.clone()).collect()
    }

    /// The name that was probably meant by one that leads nowhere.
    pub fn nearest(&self, name: &str) -> Option<String> {
        let names = self.tools().map(|tool| tool.info().name.as_str());
        nearest(name, names).map(str::to_owned)
    }

    /// Puts deferred tools on the model's list; says which were not on it before.
    /// Names that lead nowhere, or to a tool that is always on it, are passed over.
    pub fn load(&self, names: &[String]) -> Vec<String> {
        let mut loaded = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
        let mut new = Vec::new();
        for name in names {
            let Some((at, _)) = self.place(name) else {
                continue;
            };
            let info = self.slots[at].tool.info();
            if info.deferred && !loaded.contains(&at) {
                loaded.push(at);
                new.push(info.name.clone());
            }
        }
        new
    }

    /// The names of the loaded tools in the order of loading, to be kept and given to
    /// `load` when the session goes on.
    pub fn loaded(&self) -> Vec<String> {
        self.loaded_places()
            .into_iter()
            .map(|at| self.slots[at].tool.info().name.clone())
            .collect()
    }

    fn place(&self, name: &str) -> Option<(usize, bool)> {
        let named = self.by_name.get(name).map(|at| (*at, false));
        named.or_else(|| self.by_alias.get(name).map(|at| (*at, true)))
    }

    fn is_loaded(&self, at: usize) -> bool {
        self.loaded
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .contains(&at)
    }

    fn loaded_places(&self) -> Vec<usize> {
        self.loaded
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// Every tool, for a search among them.
impl ToolIndex for Pool {
    fn entries(&self) -> Vec<ToolEntry> {
        let loaded = self.loaded_places();
        let entry = |(at, tool): (usize, &Arc<dyn Tool>)| {
            let info = tool.info();
            ToolEntry {
                name: info.name.clone(),
                summary: info.summary.clone(),
                search_hint: info.search_hint.clone(),
                input_schema: info.input_schema.clone(),
                deferred: info.deferred,
                loaded: !info.deferred || loaded.contains(&at),
            }
        };
        self.tools().enumerate().map(entry).collect()
    }
}

#[cfg(test)]
mod tests;
