//! The tools of a session, by name.

use std::collections::HashMap;
use std::sync::Arc;

use thiserror::Error;
use toolbay_contract::{Origin, Tool};

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RegistryError {
    #[error("two tools are called {name}: {first} and {second}; the first one stays")]
    Duplicate {
        name: String,
        first: String,
        second: String,
    },
}

/// A tool, and whether an old name led to it.
#[derive(Clone)]
pub struct Found {
    pub tool: Arc<dyn Tool>,
    pub by_alias: bool,
}

#[derive(Default)]
pub struct Registry {
    tools: Vec<Arc<dyn Tool>>,
    by_name: HashMap<String, usize>,
    by_alias: HashMap<String, usize>,
}

impl Registry {
    /// Adds a tool. The first of a name stays, so that no plugin can take the place
    /// of a built-in.
    pub fn add(&mut self, tool: Arc<dyn Tool>) -> Result<(), RegistryError> {
        let name = tool.info().name.clone();
        if let Some(at) = self.by_name.get(&name) {
            return Err(RegistryError::Duplicate {
                first: origin(&*self.tools[*at]),
                second: origin(&*tool),
                name,
            });
        }
        let at = self.tools.len();
        for alias in &tool.info().aliases {
            self.by_alias.entry(alias.clone()).or_insert(at);
        }
        self.by_name.insert(name, at);
        self.tools.push(tool);
        Ok(())
    }

    /// Finds a tool; a name beats an alias.
    pub fn find(&self, name: &str) -> Option<Found> {
        let found = |by_alias: bool| {
            move |at: &usize| Found {
                tool: self.tools[*at].clone(),
                by_alias,
            }
        };
        self.by_name
            .get(name)
            .map(found(false))
            .or_else(|| self.by_alias.get(name).map(found(true)))
    }

    /// All tools in the order in which they were added.
    pub fn tools(&self) -> &[Arc<dyn Tool>] {
        &self.tools
    }

    pub fn names(&self) -> Vec<String> {
        self.tools
            .iter()
            .map(|tool| tool.info().name.clone())
            .collect()
    }
}

fn origin(tool: &dyn Tool) -> String {
    match tool.origin() {
        Origin::BuiltIn => "the built-in one".into(),
        Origin::File(path) => path.display().to_string(),
    }
}
