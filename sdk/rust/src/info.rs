//! Who a tool is, as a constant.
//!
//! `Info` is built by `const fn`s only, for one reason: the export macro also
//! writes it into a section of the component, so that a host can list a
//! thousand tools without compiling one.

use crate::bindings::imports::toolbay::tool::types;
pub use types::{OnError, OnInterrupt, ResultLimit, SubjectKind};

/// Who a tool is. Start with [`Info::new`].
#[derive(Clone, Copy)]
pub struct Info {
    pub(crate) name: &'static str,
    pub(crate) aliases: &'static [&'static str],
    pub(crate) summary: &'static str,
    pub(crate) input_schema: Schema,
    pub(crate) output_schema: Option<&'static str>,
    pub(crate) subjects: &'static [(SubjectKind, &'static str)],
    pub(crate) limit: ResultLimit,
    pub(crate) interrupt: OnInterrupt,
    pub(crate) error: OnError,
    pub(crate) deferred: bool,
    pub(crate) search_hint: Option<&'static str>,
    pub(crate) annotations: &'static [(&'static str, &'static str)],
    pub(crate) keep: Option<Keep>,
}

/// The part of a result that is worth most where not all of it can be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Lists whose best entries come first.
    Start,
    /// Logs and the output of builds, whose end says how it went.
    End,
    Both,
}

impl Keep {
    /// The annotation's key. Records of the contract are closed, so that this is no field.
    pub(crate) const KEY: &'static str = "keep";

    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::End => "end",
            Self::Both => "both",
        }
    }
}

/// Where the input schema comes from.
#[derive(Clone, Copy)]
pub(crate) enum Schema {
    Text(&'static str),
    #[cfg_attr(not(feature = "typed"), allow(dead_code))]
    Typed(fn() -> String),
}

impl Info {
    /// A tool with this name and summary that takes an empty object.
    pub const fn new(name: &'static str, summary: &'static str) -> Self {
        Self {
            name,
            aliases: &[],
            summary,
            input_schema: Schema::Text(r#"{"type":"object"}"#),
            output_schema: None,
            subjects: &[],
            limit: ResultLimit::Standard,
            interrupt: OnInterrupt::Finish,
            error: OnError::Isolate,
            deferred: false,
            search_hint: None,
            annotations: &[],
            keep: None,
        }
    }

    /// Takes the input schema as JSON text, as a rule `include_str!("../schema.json")`.
    pub const fn schema(mut self, json: &'static str) -> Self {
        self.input_schema = Schema::Text(json);
        self
    }

    /// Makes the input schema from the input type.
    ///
    /// Such a schema exists only once the tool runs, so the component carries no
    /// info section and a host must compile the tool before it can list it.
    #[cfg(feature = "typed")]
    pub const fn schema_of<T: schemars::JsonSchema>(mut self) -> Self {
        self.input_schema = Schema::Typed(typed_schema::<T>);
        self
    }

    /// JSON Schema of the structured result.
    pub const fn output_schema(mut self, json: &'static str) -> Self {
        self.output_schema = Some(json);
        self
    }

    /// Older names under which calls still arrive.
    pub const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    /// What permission rules speak about: kinds with JSON pointers into the input.
    pub const fn subjects(mut self, subjects: &'static [(SubjectKind, &'static str)]) -> Self {
        self.subjects = subjects;
        self
    }

    /// How long a result may be.
    pub const fn limit(mut self, limit: ResultLimit) -> Self {
        self.limit = limit;
        self
    }

    /// Which part of a result that is too long the model gets to see.
    pub const fn keep(mut self, keep: Keep) -> Self {
        self.keep = Some(keep);
        self
    }

    /// What an interrupt does to a running call.
    pub const fn on_interrupt(mut self, interrupt: OnInterrupt) -> Self {
        self.interrupt = interrupt;
        self
    }

    /// What a failed call does to its siblings.
    pub const fn on_error(mut self, error: OnError) -> Self {
        self.error = error;
        self
    }

    /// Hides the tool until a search for such words loads it.
    pub const fn deferred(mut self, search_hint: &'static str) -> Self {
        self.deferred = true;
        self.search_hint = Some(search_hint);
        self
    }

    /// Room for growth.
    pub const fn annotations(
        mut self,
        annotations: &'static [(&'static str, &'static str)],
    ) -> Self {
        self.annotations = annotations;
        self
    }

    /// The info as the contract has it.
    pub fn to_wire(&self) -> types::ToolInfo {
        types::ToolInfo {
            name: self.name.into(),
            aliases: self.aliases.iter().map(|alias| (*alias).into()).collect(),
            summary: self.summary.into(),
            input_schema: match self.input_schema {
                Schema::Text(text) => text.into(),
                Schema::Typed(make) => make(),
            },
            output_schema: self.output_schema.map(Into::into),
            subjects: self
                .subjects
                .iter()
                .map(|(kind, pointer)| types::Subject {
                    kind: *kind,
                    pointer: (*pointer).into(),
                })
                .collect(),
            limit: self.limit,
            interrupt: self.interrupt,
            error: self.error,
            deferred: self.deferred,
            search_hint: self.search_hint.map(Into::into),
            annotations: self
                .annotations
                .iter()
                .copied()
                .chain(self.keep.map(|keep| (Keep::KEY, keep.word())))
                .map(|(key, value)| (key.into(), value.into()))
                .collect(),
        }
    }
}

#[cfg(feature = "typed")]
fn typed_schema<T: schemars::JsonSchema>() -> String {
    schemars::schema_for!(T).as_value().to_string()
}
