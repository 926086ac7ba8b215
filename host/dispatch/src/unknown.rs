//! What is said about a tool that does not exist.

use crate::pool::Pool;

/// A sentence with the nearest name, if one is near, and all there are.
pub fn unknown_tool(pool: &Pool, name: &str) -> String {
    let short: String = name.chars().take(80).collect();
    let nearest = match pool.nearest(name) {
        Some(nearest) => format!("; did you mean {nearest}?"),
        None => ".".to_owned(),
    };
    format!(
        "there is no tool called {short}{nearest} There are: {}",
        pool.names().join(", ")
    )
}
