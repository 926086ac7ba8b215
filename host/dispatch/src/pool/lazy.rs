//! A tool's schema, compiled when it is first needed and then kept.

use std::sync::{Arc, OnceLock};

use toolbay_contract::Tool;

use crate::schema::Schema;

/// A compiled schema, or why it cannot be used.
pub type Compiled = Arc<Result<Schema, String>>;

/// Most tools of a large pool are never called, and compiling takes milliseconds.
#[derive(Clone)]
pub struct LazySchema {
    tool: Arc<dyn Tool>,
    cell: Arc<OnceLock<Compiled>>,
}

impl LazySchema {
    pub(crate) fn of(tool: Arc<dyn Tool>) -> Self {
        Self {
            tool,
            cell: Arc::default(),
        }
    }

    /// The schema; the first caller compiles it.
    pub fn get(&self) -> Compiled {
        let compile = || Arc::new(Schema::compile(&self.tool.info().input_schema));
        self.cell.get_or_init(compile).clone()
    }

    /// The same for whoever must not hold up its thread.
    pub async fn ready(&self) -> Compiled {
        if let Some(known) = self.cell.get() {
            return known.clone();
        }
        let this = self.clone();
        match tokio::task::spawn_blocking(move || this.get()).await {
            Ok(compiled) => compiled,
            Err(error) => Arc::new(Err(format!("it could not be compiled: {error}"))),
        }
    }
}
