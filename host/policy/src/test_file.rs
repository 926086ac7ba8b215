//! `policy test FILE`: tests for policies, so that they can be kept in CI like code.
//!
//! ```json
//! { "settings": { "permissions": { "deny": ["Shell(curl:*)"] } },
//!   "tests": [ { "name": "no downloads", "tool": "Shell",
//!                "input": { "command": "ls; curl x" }, "expect": "deny", "rule": "Shell(curl:*)" } ] }
//! ```

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::behavior::Behavior;
use crate::check_line::{CheckLine, Checker, RuleTexts};
use crate::mode::Mode;
use crate::rule::RuleError;

/// A file of tests.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestFile {
    /// Instead of the settings in force.
    #[serde(default)]
    pub settings: Option<TestSettings>,
    pub tests: Vec<TestCase>,
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestSettings {
    #[serde(default)]
    pub permissions: TestPermissions,
}

/// What settings say about permissions, as far as a decision needs it.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct TestPermissions {
    pub allow: Vec<String>,
    pub deny: Vec<String>,
    pub ask: Vec<String>,
    pub default_mode: Option<Mode>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestCase {
    pub name: String,
    pub tool: String,
    pub input: Value,
    pub expect: Behavior,
    /// The rule that must decide.
    #[serde(default)]
    pub rule: Option<String>,
    #[serde(default)]
    pub mode: Option<Mode>,
}

/// What became of a test.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TestOutcome {
    pub name: String,
    pub passed: bool,
    pub expected: Behavior,
    pub found: Behavior,
    pub reason: String,
    pub rule: Option<String>,
    /// What is wrong, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl TestFile {
    /// Runs all tests. A rule that does not parse fails them all at once.
    pub fn run(&self, checker: &Checker<'_>) -> Result<Vec<TestOutcome>, RuleError> {
        self.tests
            .iter()
            .map(|test| self.one(test, checker))
            .collect()
    }

    fn one(&self, test: &TestCase, checker: &Checker<'_>) -> Result<TestOutcome, RuleError> {
        let permissions = self.settings.as_ref().map(|settings| &settings.permissions);
        let answer = checker.answer(CheckLine {
            id: Value::Null,
            tool: test.tool.clone(),
            input: test.input.clone(),
            rules: permissions.map(|permissions| RuleTexts {
                allow: permissions.allow.clone(),
                deny: permissions.deny.clone(),
                ask: permissions.ask.clone(),
            }),
            mode: test
                .mode
                .or_else(|| permissions.and_then(|permissions| permissions.default_mode)),
        })?;
        let problem = if answer.behavior != test.expect {
            Some(format!(
                "expected {}, found {}: {}",
                test.expect, answer.behavior, answer.reason
            ))
        } else if test.rule.is_some() && test.rule != answer.rule {
            let name = |rule: &Option<String>| match rule {
                Some(rule) => format!("`{rule}`"),
                None => "no rule".into(),
            };
            Some(format!(
                "expected {} to decide, found {}",
                name(&test.rule),
                name(&answer.rule)
            ))
        } else {
            None
        };
        Ok(TestOutcome {
            name: test.name.clone(),
            passed: problem.is_none(),
            expected: test.expect,
            found: answer.behavior,
            reason: answer.reason,
            rule: answer.rule,
            problem,
        })
    }
}

#[cfg(test)]
mod tests;
