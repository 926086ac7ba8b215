//! What one client of `toolbay mcp serve --http` may use, as settings say.

use std::ops::RangeInclusive;

use anyhow::ensure;
use serde::Deserialize;
use toolbay_mcp::HttpQuotas;

/// `mcpServe` in a settings file. What it leaves out, a weaker file may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ServeQuotas {
    pub requests_per_second: Option<u32>,
    pub request_burst: Option<u32>,
    pub max_requests: Option<u32>,
    pub max_sessions: Option<u32>,
    pub max_connections: Option<u32>,
}

impl ServeQuotas {
    /// Refuses numbers with which nobody could be served.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        let check = |key: &str, value: Option<u32>, range: RangeInclusive<u32>| {
            ensure!(
                value.is_none_or(|value| range.contains(&value)),
                "`mcpServe.{key}` is a number from {} to {}",
                range.start(),
                range.end()
            );
            Ok(())
        };
        let (rates, counts) = (HttpQuotas::RATES, HttpQuotas::COUNTS);
        check("requestsPerSecond", self.requests_per_second, rates.clone())?;
        check("requestBurst", self.request_burst, rates)?;
        check("maxRequests", self.max_requests, counts.clone())?;
        check("maxSessions", self.max_sessions, counts.clone())?;
        check("maxConnections", self.max_connections, counts)
    }

    /// What these say, and where they are silent what the others say.
    pub fn or(self, weaker: Self) -> Self {
        Self {
            requests_per_second: self.requests_per_second.or(weaker.requests_per_second),
            request_burst: self.request_burst.or(weaker.request_burst),
            max_requests: self.max_requests.or(weaker.max_requests),
            max_sessions: self.max_sessions.or(weaker.max_sessions),
            max_connections: self.max_connections.or(weaker.max_connections),
        }
    }

    /// The quotas that hold, with the defaults where nothing was said.
    pub fn resolve(self) -> HttpQuotas {
        let usual = HttpQuotas::default();
        HttpQuotas {
            requests_per_second: self
                .requests_per_second
                .unwrap_or(usual.requests_per_second),
            request_burst: self.request_burst.unwrap_or(usual.request_burst),
            max_requests: self.max_requests.unwrap_or(usual.max_requests),
            max_sessions: self.max_sessions.unwrap_or(usual.max_sessions),
            max_connections: self.max_connections.unwrap_or(usual.max_connections),
        }
    }
}
