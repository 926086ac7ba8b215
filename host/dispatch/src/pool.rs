//! The tools that a model may use, in an order that never moves.
//!
//! Built-ins stand first, sorted, and the others after them, so that another plugin only
//! adds to the end of what the model was already sent. Tools of servers come and go while the
//! session runs: they stand behind all that stays. Deferred tools stay out of that list until
//! they are loaded, and then join it at its end.

mod assemble;
mod define;
mod guests;
mod lazy;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use toolbay_contract::{Tool, ToolEntry, ToolIndex};

use self::guests::Guests;
pub use self::guests::Newcomers;

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

/// The tools of a session. Nothing in it changes but which tools are loaded, and which ones
/// servers offer.
pub struct Pool {
    slots: Vec<Slot>,
    by_name: HashMap<String, usize>,
    by_alias: HashMap<String, usize>,
    /// Every name that somebody has, also of those that were kept out.
    taken: std::collections::HashSet<String>,
    /// Tools of servers.
    guests: RwLock<Arc<Guests>>,
    newcomers: OnceLock<Arc<dyn Newcomers>>,
    /// The names of the loaded ones, in the order of loading.
    loaded: RwLock<Vec<String>>,
}

#[derive(Clone)]
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
        let (slot, by_alias) = self.slot(name)?;
        let info = slot.tool.info();
        Some(Found {
            deferred_unloaded: info.deferred && !self.loaded_names().contains(&info.name),
            tool: slot.tool,
            by_alias,
            schema: slot.schema,
        })
    }

    /// All tools, in the pool's order.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let guests = self.guests();
        let slots = self.slots.iter().chain(guests.slots());
        slots.map(|slot| slot.tool.clone()).collect()
    }

    pub fn names(&self) -> Vec<String> {
        let name = |tool: &Arc<dyn Tool>| tool.info().name.clone();
        self.tools().iter().map(name).collect()
    }

    /// The name that was probably meant by one that leads nowhere.
    pub fn nearest(&self, name: &str) -> Option<String> {
        let tools = self.tools();
        let names = tools.iter().map(|tool| tool.info().name.as_str());
        nearest(name, names).map(str::to_owned)
    }

    /// Puts deferred tools on the model's list; says which were not on it before.
    /// Names that lead nowhere, or to a tool that is always on it, are passed over.
    pub fn load(&self, names: &[String]) -> Vec<String> {
        let mut new = Vec::new();
        let mut loaded = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
        for name in names {
            let Some((slot, _)) = self.slot(name) else {
                continue;
            };
            let info = slot.tool.info();
            if info.deferred && !loaded.contains(&info.name) {
                loaded.push(info.name.clone());
                new.push(info.name.clone());
            }
        }
        new
    }

    /// The names of the loaded tools in the order of loading, to be kept and given to
    /// `load` when the session goes on.
    pub fn loaded(&self) -> Vec<String> {
        self.loaded_names()
    }

    fn slot(&self, name: &str) -> Option<(Slot, bool)> {
        let own = |at: &usize| self.slots.get(*at).cloned();
        if let Some(slot) = self.by_name.get(name).and_then(own) {
            return Some((slot, false));
        }
        if let Some(slot) = self.by_alias.get(name).and_then(own) {
            return Some((slot, true));
        }
        self.guests().find(name).map(|slot| (slot.clone(), false))
    }

    fn loaded_names(&self) -> Vec<String> {
        self.loaded
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// Every tool, for a search among them.
impl ToolIndex for Pool {
    fn entries(&self) -> Vec<ToolEntry> {
        let loaded = self.loaded_names();
        let entry = |tool: &Arc<dyn Tool>| {
            let info = tool.info();
            ToolEntry {
                name: info.name.clone(),
                summary: info.summary.clone(),
                search_hint: info.search_hint.clone(),
                input_schema: info.input_schema.clone(),
                deferred: info.deferred,
                loaded: !info.deferred || loaded.contains(&info.name),
            }
        };
        self.tools().iter().map(entry).collect()
    }
}

#[cfg(test)]
mod tests;
