//! Hooks as settings hold them.
//!
//! Strict where other agents are lenient: a guard with a misspelt key would not guard,
//! and nobody would notice.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use thiserror::Error;

use super::event::HookEvent;
use super::matcher::Matcher;
use super::pins::Pin;

/// Enough for a linter, and a person still waits for it.
const USUAL_TIME: Duration = Duration::from_secs(60);

/// A day: whoever wants more wants no limit, and that we do not offer.
const MOST_SECONDS: f64 = 86_400.0;

/// The only type that runs here.
const COMMAND: &str = "command";

/// `statusMessage` is what other agents show while the hook runs.
const KEYS: [&str; 6] = [
    "type",
    "command",
    "timeout",
    "onError",
    "sandboxed",
    "statusMessage",
];
const GROUP_KEYS: [&str; 2] = ["matcher", "hooks"];

/// One hook, read and ready.
#[derive(Debug, Clone)]
pub(super) struct Hook {
    pub(super) event: HookEvent,
    pub(super) matcher: Matcher,
    pub(super) command: Arc<str>,
    pub(super) time: Duration,
    pub(super) on_error: OnError,
    /// Where it is written.
    pub(super) settings: Arc<str>,
    pub(super) sandboxed: Sandboxed,
    /// What it ran when the session began; none if nobody looked.
    pub(super) pin: Option<Arc<Pin>>,
}

impl Hook {
    /// Whether it names too much to be checked, and so never runs.
    pub(super) fn is_refused(&self) -> bool {
        self.pin.as_ref().is_some_and(|pin| pin.is_refused())
    }
}

/// Whether a hook runs in a cage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sandboxed {
    /// As the source of the settings has it.
    Usual,
    Yes,
    No,
}

/// What follows for a call when a hook before it fails, from the most lenient on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum OnError {
    /// The call goes on, whatever happened to the hook.
    Open,
    /// As scripts for other agents expect: an exit code that means nothing lets the call go on. A
    /// hook that never came to an answer of its own denies: whoever wrote the call may have made it so.
    Usual,
    /// The call is denied.
    Closed,
}

/// Why the hooks of a settings file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}: {place}: {problem}")]
pub struct HookSettingsError {
    pub file: String,
    /// The way down to the entry, as in `hooks.PreToolUse[0].matcher`.
    pub place: String,
    pub problem: String,
}

pub(super) fn parse(value: &Value, file: &str) -> Result<Vec<Hook>, HookSettingsError> {
    let place = Place {
        file: &file.into(),
        way: "hooks".into(),
    };
    let mut hooks = Vec::new();
    for (name, groups) in place.object(value, "events with lists of hooks")? {
        let place = place.key(name);
        let Some(event) = HookEvent::of_name(name) else {
            if HookEvent::is_of_others(name) {
                continue;
            }
            let known = HookEvent::ALL.map(HookEvent::name).join(", ");
            return Err(place.wrong(format!("there is no such event; there are: {known}")));
        };
        for (place, group) in place.list(groups)? {
            parse_group(&place, event, group, &mut hooks)?;
        }
    }
    Ok(hooks)
}

fn parse_group(
    place: &Place<'_>,
    event: HookEvent,
    group: &Value,
    hooks: &mut Vec<Hook>,
) -> Result<(), HookSettingsError> {
    let group = place.object(group, "an object with `matcher` and `hooks`")?;
    place.only(group, &GROUP_KEYS)?;
    let matcher = match group.get("matcher") {
        None => Matcher::Every,
        Some(text) => {
            let place = place.key("matcher");
            Matcher::parse(place.text(text)?).map_err(|problem| place.wrong(problem))?
        }
    };
    let Some(entries) = group.get("hooks") else {
        return Err(place.wrong("`hooks` is missing: the list of what to run"));
    };
    for (place, entry) in place.key("hooks").list(entries)? {
        let entry = place.object(entry, "an object with `type` and `command`")?;
        hooks.push(parse_hook(&place, event, &matcher, entry)?);
    }
    Ok(())
}

fn parse_hook(
    place: &Place<'_>,
    event: HookEvent,
    matcher: &Matcher,
    entry: &Map<String, Value>,
) -> Result<Hook, HookSettingsError> {
    let needed = |key: &str| {
        let value = entry
            .get(key)
            .ok_or_else(|| place.wrong(format!("`{key}` is missing")))?;
        place.key(key).text(value)
    };
    // The type first: entries of another type have other keys.
    let kind = needed("type")?;
    if kind != COMMAND {
        let problem = format!("`{kind}` hooks do not run here, only `{COMMAND}` hooks");
        return Err(place.key("type").wrong(problem));
    }
    place.only(entry, &KEYS)?;
    let command = needed("command")?;
    if command.trim().is_empty() || command.contains('\0') {
        let problem = "must be a shell command: not empty, without NUL characters";
        return Err(place.key("command").wrong(problem));
    }
    Ok(Hook {
        event,
        matcher: matcher.clone(),
        command: command.into(),
        time: parse_time(&place.key("timeout"), entry.get("timeout"))?,
        on_error: parse_on_error(&place.key("onError"), entry.get("onError"))?,
        settings: place.file.clone(),
        sandboxed: parse_sandboxed(&place.key("sandboxed"), entry.get("sandboxed"))?,
        pin: None,
    })
}

fn parse_time(place: &Place<'_>, value: Option<&Value>) -> Result<Duration, HookSettingsError> {
    let Some(value) = value else {
        return Ok(USUAL_TIME);
    };
    value
        .as_f64()
        .filter(|seconds| *seconds > 0.0 && *seconds <= MOST_SECONDS)
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| {
            place.wrong(format!(
                "must be a number of seconds above 0, at most {MOST_SECONDS}"
            ))
        })
}

fn parse_on_error(place: &Place<'_>, value: Option<&Value>) -> Result<OnError, HookSettingsError> {
    match value.map(Value::as_str) {
        None => Ok(OnError::Usual),
        Some(Some("open")) => Ok(OnError::Open),
        Some(Some("closed")) => Ok(OnError::Closed),
        Some(_) => Err(place.wrong(
            "must be \"open\" (a hook that fails lets the call go on) or \"closed\" (it denies)",
        )),
    }
}

fn parse_sandboxed(
    place: &Place<'_>,
    value: Option<&Value>,
) -> Result<Sandboxed, HookSettingsError> {
    match value.map(Value::as_bool) {
        None => Ok(Sandboxed::Usual),
        Some(Some(true)) => Ok(Sandboxed::Yes),
        Some(Some(false)) => Ok(Sandboxed::No),
        Some(None) => Err(place.wrong("must be true (the hook runs in a cage) or false")),
    }
}

/// Where in the settings we are, to say so when something is wrong.
struct Place<'a> {
    file: &'a Arc<str>,
    way: String,
}

impl<'a> Place<'a> {
    fn key(&self, key: &str) -> Place<'a> {
        Place {
            file: self.file,
            way: format!("{}.{key}", self.way),
        }
    }

    fn wrong(&self, problem: impl Display) -> HookSettingsError {
        HookSettingsError {
            file: self.file.to_string(),
            place: self.way.clone(),
            problem: problem.to_string(),
        }
    }

    fn text<'v>(&self, value: &'v Value) -> Result<&'v str, HookSettingsError> {
        value
            .as_str()
            .ok_or_else(|| self.wrong("must be a text in quotes"))
    }

    fn object<'v>(
        &self,
        value: &'v Value,
        what: &str,
    ) -> Result<&'v Map<String, Value>, HookSettingsError> {
        value
            .as_object()
            .ok_or_else(|| self.wrong(format!("must be {what}, in braces")))
    }

    fn list<'v>(
        &self,
        value: &'v Value,
    ) -> Result<impl Iterator<Item = (Place<'a>, &'v Value)>, HookSettingsError> {
        let list = value
            .as_array()
            .ok_or_else(|| self.wrong("must be a list, in brackets"))?;
        let items = list.iter().enumerate().map(|(at, item)| {
            let place = Place {
                file: self.file,
                way: format!("{}[{at}]", self.way),
            };
            (place, item)
        });
        Ok(items)
    }

    fn only(&self, object: &Map<String, Value>, keys: &[&str]) -> Result<(), HookSettingsError> {
        match object.keys().find(|key| !keys.contains(&key.as_str())) {
            None => Ok(()),
            Some(key) => Err(self.wrong(format!(
                "`{key}` is not known; there are: {}",
                keys.join(", ")
            ))),
        }
    }
}

#[cfg(test)]
mod tests;
