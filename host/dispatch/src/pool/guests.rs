//! Tools of servers: they come when their server answers, change when it says so, and go with it.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use toolbay_contract::{BoxFuture, Tool};

use super::assemble::{is_usable, origin};
use super::{LazySchema, Pool, PoolSetting, Slot};

/// Whoever knows tools that are not here yet.
pub trait Newcomers: Send + Sync {
    /// Waits until the tool of this name is in the pool, if it can be expected at all. An error
    /// is the reason why it cannot come.
    fn arrival<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<(), String>>;
}

/// The tools of all servers, sorted by name.
#[derive(Default)]
pub(super) struct Guests {
    slots: Vec<Slot>,
    by_name: HashMap<String, usize>,
}

impl Guests {
    pub(super) fn slots(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter()
    }

    pub(super) fn find(&self, name: &str) -> Option<&Slot> {
        self.slots.get(*self.by_name.get(name)?)
    }
}

impl Pool {
    /// Puts these in the place of all tools of servers; says which were left out, and why. A tool
    /// that was there before, the very same one, keeps what was computed about it.
    pub fn receive(&self, mut tools: Vec<Arc<dyn Tool>>, setting: &PoolSetting<'_>) -> Vec<String> {
        let mut problems = Vec::new();
        let before = self.guests();
        let mut now = Guests::default();
        tools.sort_by(|one, other| one.info().name.cmp(&other.info().name));
        for tool in tools {
            let info = tool.info();
            let name = info.name.clone();
            let is_taken = self.taken.contains(&name)
                || self.by_alias.contains_key(&name)
                || now.by_name.contains_key(&name);
            if let Err(error) = info.check() {
                let origin = origin(&*tool);
                problems.push(format!("a tool of {origin} is left out: {error}"));
            } else if is_taken {
                let origin = origin(&*tool);
                problems.push(format!("{name} of {origin} is left out: the name is taken"));
            } else if is_usable(&*tool, setting) {
                let known = before.find(&name);
                let known = known
                    .filter(|known| Arc::ptr_eq(&known.tool, &tool))
                    .cloned();
                let slot = known.unwrap_or_else(|| Slot {
                    schema: LazySchema::of(tool.clone()),
                    tool,
                });
                now.by_name.insert(name, now.slots.len());
                now.slots.push(slot);
            }
        }
        *self.guests.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(now);
        problems
    }

    /// Says who knows tools that are yet to come. The first one stays.
    pub fn expect_from(&self, newcomers: Arc<dyn Newcomers>) {
        let _ = self.newcomers.set(newcomers);
    }

    /// Waits for a tool that is not here and may come.
    pub(crate) async fn await_newcomer(&self, name: &str) -> Result<(), String> {
        match self.newcomers.get() {
            Some(newcomers) if self.slot(name).is_none() => newcomers.arrival(name).await,
            _ => Ok(()),
        }
    }

    pub(super) fn guests(&self) -> Arc<Guests> {
        let guests = self.guests.read().unwrap_or_else(PoisonError::into_inner);
        guests.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::FakeTool;

    const EVERYTHING: PoolSetting<'_> = PoolSetting {
        only: None,
        denied: &|_| false,
        enabled: &|_| true,
    };

    fn pool() -> Pool {
        let own = [
            FakeTool::named("Write"),
            FakeTool::named("Read").alias("View"),
            FakeTool::named("Zip").brought_in("/z.wasm"),
            FakeTool::named("Notebook").deferred(),
        ];
        let own = own.into_iter().map(FakeTool::shared).collect();
        Pool::assemble(own, &EVERYTHING).0
    }

    fn guest(name: &str) -> Arc<dyn Tool> {
        FakeTool::named(name).brought_in("/server").shared()
    }

    fn text(pool: &Pool) -> String {
        serde_json::to_string(&pool.messages_definitions()).unwrap()
    }

    #[test]
    fn guests_come_and_go_behind_what_stays() {
        let pool = pool();
        let alone = text(&pool);
        let alone = alone.trim_end_matches(']');
        let problems = pool.receive(vec![guest("mcp__b__x"), guest("mcp__a__y")], &EVERYTHING);
        assert_eq!(problems, [""; 0]);
        let wanted = ["Notebook", "Read", "Write", "Zip", "mcp__a__y", "mcp__b__x"];
        assert_eq!(pool.names(), wanted);
        assert!(text(&pool).starts_with(alone));
        // A loaded tool stands behind them, and stays loaded whoever goes.
        pool.load(&["Notebook".into()]);
        pool.receive(vec![guest("mcp__b__x")], &EVERYTHING);
        assert!(pool.find("mcp__a__y").is_none() && pool.find("mcp__b__x").is_some());
        assert!(text(&pool).starts_with(alone));
        assert!(!pool.find("Notebook").unwrap().deferred_unloaded);
        assert_eq!(pool.receive(Vec::new(), &EVERYTHING), [""; 0]);
        assert!(text(&pool).starts_with(alone));
    }

    #[test]
    fn a_guest_takes_nobodys_place() {
        let pool = pool();
        let denied = PoolSetting {
            denied: &|name| name == "mcp__a__bad",
            ..EVERYTHING
        };
        let broken = FakeTool::named("a b").brought_in("/server").shared();
        let guests = vec![
            guest("Read"),
            guest("View"),
            guest("mcp__a__bad"),
            guest("mcp__a__x"),
            guest("mcp__a__x"),
            broken,
        ];
        let problems = pool.receive(guests, &denied);
        assert_eq!(problems.len(), 4, "{problems:?}");
        assert!(problems.iter().all(|text| text.contains("left out")));
        assert_eq!(pool.names().len(), 5);
        assert!(pool.find("mcp__a__bad").is_none());
        assert_eq!(pool.find("View").unwrap().tool.info().name, "Read");
    }

    #[test]
    fn what_is_known_about_a_guest_that_stays_is_kept() {
        let (pool, stays) = (pool(), guest("mcp__a__x"));
        pool.receive(vec![stays.clone()], &EVERYTHING);
        let first = pool.find("mcp__a__x").unwrap().schema.get();
        pool.receive(vec![guest("mcp__a__y"), stays], &EVERYTHING);
        let second = pool.find("mcp__a__x").unwrap().schema.get();
        assert!(Arc::ptr_eq(&first, &second));
        pool.receive(vec![guest("mcp__a__x")], &EVERYTHING);
        let third = pool.find("mcp__a__x").unwrap().schema.get();
        assert!(!Arc::ptr_eq(&first, &third));
    }
}
