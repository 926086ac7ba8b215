//! What is wrong with an input, in lines that a model can act on; and what is wrong
//! with a schema, for who wrote it.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;
use serde_json::Value;

use super::nearest::nearest;
use super::wanted::{article, listed, one_of, wanted_and_given, wanted_value};
use super::{keywords, words};

/// More problems than these nobody mends at once.
const MOST_LINES: usize = 10;
/// Length of what is quoted from a schema.
const QUOTED: usize = 120;

/// Where the problem is: a missing property is not its parent's problem.
pub(super) fn pointer_of(error: &ValidationError<'_>) -> String {
    let at = error.instance_path().as_str();
    match error.kind() {
        Kind::Required { property } => words::below(at, property.as_str().unwrap_or_default()),
        _ => at.to_owned(),
    }
}

/// One line for each problem: what is missing, what is unknown, what is wrong.
pub(super) fn explain<'a>(
    errors: impl Iterator<Item = ValidationError<'a>>,
    document: &Value,
) -> String {
    let mut report = Report {
        document,
        problems: Vec::new(),
        count: 0,
    };
    for error in errors {
        report.add(&error);
    }
    report.text()
}

/// Why a schema cannot be used.
pub(super) fn unusable(error: &ValidationError<'_>) -> String {
    match error.kind() {
        Kind::Format { format } if format == "regex" => format!(
            "the schema's pattern {} cannot be used: patterns are regular expressions without \
             look-around and back-references, and of bounded size",
            words::value(error.instance())
        ),
        _ => format!(
            "the schema is not a valid JSON Schema: {} (at {})",
            words::cut(&error.to_string().replace('\n', " "), QUOTED),
            match error.instance_path().as_str() {
                "" => "its top",
                pointer => pointer,
            }
        ),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Missing,
    Unknown,
    Wrong,
    /// Says least, and gives way to any other line about the same place.
    WrongType,
}

struct Problem {
    rank: Rank,
    at: String,
    text: String,
}

struct Report<'a> {
    document: &'a Value,
    problems: Vec<Problem>,
    count: usize,
}

impl Report<'_> {
    fn text(mut self) -> String {
        self.problems
            .sort_by_key(|problem| problem.rank.min(Rank::Wrong));
        let mut lines: Vec<String> = self
            .problems
            .iter()
            .take(MOST_LINES)
            .map(|problem| format!("{}: {}", words::place(&problem.at), problem.text))
            .collect();
        let unsaid = self.count.saturating_sub(lines.len());
        if unsaid > 0 {
            lines.push(format!("and {unsaid} more problems"));
        }
        lines.join("\n")
    }

    /// Of each rank as many are kept as could be shown. The others are counted, and
    /// their words, which may take some searching, never made.
    fn push(&mut self, rank: Rank, at: &str, text: impl FnOnce() -> String) {
        let mut same_place = self.problems.iter().filter(|problem| problem.at == at);
        if rank == Rank::WrongType && same_place.next().is_some() {
            return;
        }
        let less = |problem: &Problem| problem.at == at && problem.rank == Rank::WrongType;
        if let Some(less) = self.problems.iter().position(less) {
            self.problems.remove(less);
            self.count -= 1;
        }
        self.count += 1;
        let alike = self.problems.iter().filter(|problem| problem.rank == rank);
        if alike.count() == MOST_LINES {
            return;
        }
        let (at, text) = (at.to_owned(), text());
        let known = |problem: &Problem| problem.at == at && problem.text == text;
        if self.problems.iter().any(known) {
            self.count -= 1;
        } else {
            self.problems.push(Problem { rank, at, text });
        }
    }

    fn add(&mut self, error: &ValidationError<'_>) {
        let at = pointer_of(error);
        match error.kind() {
            Kind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                let document = self.document;
                self.push(Rank::Missing, &at, || {
                    format!("missing; wanted {}", wanted_property(document, error, name))
                });
            }
            Kind::AdditionalProperties { unexpected }
            | Kind::UnevaluatedProperties { unexpected } => {
                let document = self.document;
                for name in unexpected {
                    let text = || unknown(document, error, name);
                    self.push(Rank::Unknown, &words::below(&at, name), text);
                }
            }
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                self.add_choice(&at, error, context);
            }
            Kind::Type { .. } => self.push(Rank::WrongType, &at, || wanted_and_given(error)),
            _ => self.push(Rank::Wrong, &at, || wanted_and_given(error)),
        }
    }

    /// A choice of which nothing fits: what it asks for, if that is a matter of the value
    /// alone, else what the nearest branch minds.
    fn add_choice(
        &mut self,
        at: &str,
        error: &ValidationError<'_>,
        branches: &[Vec<ValidationError<'static>>],
    ) {
        let here = |branch: &[ValidationError<'static>]| {
            branch
                .iter()
                .filter(|error| error.instance_path().as_str() == at)
                .find_map(wanted_value)
        };
        let wanted: Option<Vec<String>> = branches.iter().map(|branch| here(branch)).collect();
        if let Some(mut wanted) = wanted {
            wanted.dedup();
            return self.push(Rank::Wrong, at, || {
                let given = words::value(error.instance());
                format!("wanted {}, given {given}", listed(&wanted, " or "))
            });
        }
        // A branch that wants another type or another constant is not the one meant.
        let foreign = |branch: &[ValidationError<'static>]| {
            let minds_constant = |error: &ValidationError<'_>| {
                matches!(error.kind(), Kind::Constant { .. } | Kind::Enum { .. })
            };
            here(branch).is_some() || branch.iter().any(minds_constant)
        };
        let meant = branches
            .iter()
            .filter(|branch| !branch.is_empty())
            .min_by_key(|branch| (foreign(branch), branch.len()));
        match meant {
            Some(branch) => branch.iter().for_each(|error| self.add(error)),
            None => self.push(Rank::Wrong, at, || "fits none of the allowed forms".into()),
        }
    }
}

fn wanted_property(document: &Value, error: &ValidationError<'_>, name: &str) -> String {
    let property = holder(document, error).and_then(|holder| holder.get("properties")?.get(name));
    let target = property
        .and_then(|property| property.get("$ref")?.as_str())
        .and_then(|reference| keywords::target(document, reference));
    let schema = target.or(property);
    let get = |keyword: &str| schema.and_then(|schema| schema.get(keyword));
    if let Some(options) = get("enum").and_then(Value::as_array) {
        return one_of(options);
    }
    let names: Vec<&str> = match get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if names.is_empty() {
        "a value".into()
    } else {
        names
            .into_iter()
            .map(article)
            .collect::<Vec<_>>()
            .join(" or ")
    }
}

fn unknown(document: &Value, error: &ValidationError<'_>, name: &str) -> String {
    let known: Vec<&str> = holder(document, error)
        .and_then(|holder| holder.get("properties")?.as_object())
        .into_iter()
        .flat_map(|properties| properties.keys().map(String::as_str))
        .collect();
    match nearest(name, known.iter().copied()) {
        Some(near) => format!("no such parameter; did you mean {}?", words::name(near)),
        None if known.is_empty() => "no such parameter; none is known here".into(),
        None => {
            let known: Vec<String> = known.into_iter().map(words::name).collect();
            format!("no such parameter; known are {}", listed(&known, ", "))
        }
    }
}

/// The schema that holds the keyword which failed.
fn holder<'a>(document: &'a Value, error: &ValidationError<'_>) -> Option<&'a Value> {
    let (above, _) = error.schema_path().as_str().rsplit_once('/')?;
    document.pointer(above)
}
