//! Foreign tools: the servers that speak MCP, as tools of this host.

pub mod auth;
