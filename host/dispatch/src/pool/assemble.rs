//! Which tools make the pool, and in which order.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock, RwLock};

use toolbay_contract::{Origin, Tool};

use super::{LazySchema, Pool, PoolSetting, Slot};

impl Pool {
    /// Makes a pool, and says what is wrong with the tools that were left out of it or
    /// cannot have all their names.
    pub fn assemble(tools: Vec<Arc<dyn Tool>>, setting: &PoolSetting<'_>) -> (Self, Vec<String>) {
        let mut problems = Vec::new();
        let (mut sound, mut all_names) = (Vec::new(), HashSet::new());
        for tool in tools {
            let info = tool.info();
            match info.check() {
                Ok(()) => {
                    all_names.insert(info.name.clone());
                    sound.push(tool);
                }
                Err(error) => {
                    problems.push(format!("a tool of {} is left out: {error}", origin(&*tool)))
                }
            }
        }
        // The sort is stable: of two with one name, the one given first stays first.
        sound.sort_by(|one, other| order(&**one).cmp(&order(&**other)));

        let mut pool = Self {
            slots: Vec::new(),
            by_name: HashMap::new(),
            by_alias: HashMap::new(),
            taken: HashSet::new(),
            guests: RwLock::default(),
            newcomers: OnceLock::new(),
            loaded: RwLock::default(),
        };
        for tool in sound {
            let name = tool.info().name.clone();
            if let Some(first) = pool.by_name.get(&name) {
                problems.push(format!(
                    "two tools are called {name}: {} and {}; the first one stays",
                    origin(&*pool.slots[*first].tool),
                    origin(&*tool)
                ));
            } else if is_usable(&*tool, setting) {
                pool.by_name.insert(name, pool.slots.len());
                let schema = LazySchema::of(tool.clone());
                pool.slots.push(Slot { tool, schema });
            }
        }
        pool.give_aliases(&all_names, &mut problems);
        pool.taken = all_names;
        (pool, problems)
    }

    /// An alias never takes a tool's name, not even of a tool that was kept out: who
    /// calls that one must not reach another.
    fn give_aliases(&mut self, all_names: &HashSet<String>, problems: &mut Vec<String>) {
        for (at, slot) in self.slots.iter().enumerate() {
            let info = slot.tool.info();
            for alias in info.aliases.iter().filter(|alias| **alias != info.name) {
                if all_names.contains(alias) {
                    problems.push(format!(
                        "{} cannot also be called {alias}: a tool has that name",
                        info.name
                    ));
                    continue;
                }
                let first = *self.by_alias.entry(alias.clone()).or_insert(at);
                if first != at {
                    problems.push(format!(
                        "{} cannot also be called {alias}: {} is called so already",
                        info.name,
                        self.slots[first].tool.info().name
                    ));
                }
            }
        }
    }
}

fn order(tool: &dyn Tool) -> (bool, &str) {
    let brought = match tool.origin() {
        Origin::BuiltIn => false,
        Origin::File(_) | Origin::Server(_) => true,
    };
    (brought, &tool.info().name)
}

pub(super) fn is_usable(tool: &dyn Tool, setting: &PoolSetting<'_>) -> bool {
    let info = tool.info();
    let chosen = setting.only.is_none_or(|only| only.contains(&info.name));
    // A rule that denies an old name means the tool that has it.
    let denied =
        (setting.denied)(&info.name) || info.aliases.iter().any(|alias| (setting.denied)(alias));
    chosen && !denied && (setting.enabled)(&info.name)
}

pub(super) fn origin(tool: &dyn Tool) -> String {
    match tool.origin() {
        Origin::BuiltIn => "the built-in one".into(),
        Origin::File(path) => path.display().to_string(),
        Origin::Server(name) => format!("the MCP server {name}"),
    }
}
