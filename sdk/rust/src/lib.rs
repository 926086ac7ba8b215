//! Write Toolbay tools in Rust.
//!
//! A tool is a type that implements [`Tool`]; [`export!`] makes a component of
//! it. The defaults are strict: a tool that says nothing is not read-only and not
//! safe to run beside others, so it is asked about and runs alone.
//!
//! ```
//! use serde::Deserialize;
//! use toolbay_sdk::{Info, Outcome, Result, Tool};
//!
//! #[derive(Deserialize, toolbay_sdk::JsonSchema)]
//! #[schemars(crate = "toolbay_sdk::schemars")]
//! struct Input {
//!     /// Who to greet.
//!     name: String,
//! }
//!
//! struct Greet;
//!
//! impl Tool for Greet {
//!     type Input = Input;
//!     const INFO: Info = Info::new("Greet", "Greets somebody.").schema_of::<Input>();
//!
//!     fn is_read_only(_: &Input) -> bool {
//!         true
//!     }
//!     fn call(input: Input) -> Result {
//!         Ok(Outcome::text(format!("Hello, {}!", input.name)))
//!     }
//! }
//!
//! toolbay_sdk::export!(Greet);
//! # fn main() {}
//! ```
//!
//! Files are reached with `std::fs` at their real absolute paths. Everything else
//! that a host may grant has a module here: [`context`], [`session`], [`files`],
//! [`search`], [`shell`], [`ask_user`], [`tasks`], [`agents`], [`tools`],
//! [`resources`], [`skills`]. What tools
//! share beyond that: [`seen`], the rule that a file is read before it is changed, [`names`], and
//! with the feature `patch` the module `patch`, which compares texts.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

#[doc(hidden)]
pub mod adapter;
#[doc(hidden)]
pub mod bindings;
mod info;
mod outcome;
#[doc(hidden)]
pub mod section;
mod traits;

pub mod agents;
pub mod ask_user;
pub mod context;
pub mod files;
pub mod names;
#[cfg(feature = "patch")]
pub mod patch;
pub mod resources;
pub mod search;
pub mod seen;
pub mod session;
pub mod shell;
pub mod skills;
pub mod tasks;
pub mod tools;

pub use bindings::imports::toolbay::host::errors::HostError;
pub use bindings::imports::toolbay::tool::types::{
    Blob, Content, ContextModifier, Failure, FileSeen, Link, Message, Outcome, Role, ToolError,
};
pub use info::{Info, Keep, OnError, OnInterrupt, ResultLimit, SubjectKind};
pub use traits::{
    Behaviour, Guard, Prompt, Rejection, Render, Result, Setting, Tool, Verdict, View,
};

#[cfg(feature = "typed")]
pub use schemars::{self, JsonSchema};

/// Makes a component of a tool.
///
/// `export!(Greet)` exports the tool alone; `export!(Greet: guard, prompt, render)`
/// adds the optional interfaces whose traits it implements. A line
/// `manifest "plugin.toml"` (a path from the crate's root) embeds the manifest, in which the
/// component requests what it needs of the host, with a reason for each:
///
/// ```toml
/// name = "greet"
/// version = "0.1.0"
/// contract = "0.1"
///
/// [[requests]]
/// capability = "files"    # files, search, network, shell, ask-user, tasks, agents, session
/// reason = "reads the names of people from names.txt"
/// ```
///
/// What is not requested cannot be granted. A component without a manifest can be granted whatever
/// it imports, and nobody learns why it wants that.
///
/// ```
/// # use toolbay_sdk::{Guard, Info, Outcome, Render, Result, Tool};
/// # struct Greet;
/// # impl Tool for Greet {
/// #     type Input = serde_json::Value;
/// #     const INFO: Info = Info::new("Greet", "Greets.");
/// #     fn call(_: Self::Input) -> Result { Ok(Outcome::text("hi")) }
/// # }
/// # impl Guard for Greet {}
/// # impl Render for Greet {}
/// toolbay_sdk::export!(Greet: guard, render);
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! export {
    ($tool:ident $(: $($part:ident),+)? $(; manifest $manifest:literal)? $(;)?) => {
        #[doc(hidden)]
        #[allow(unsafe_code, non_snake_case)]
        mod __toolbay_export {
            use super::$tool;

            pub struct Adapter;
            $crate::__export_part!(tool, $tool, Adapter);
            $($($crate::__export_part!($part, $tool, Adapter);)+)?

            const LEN: usize =
                $crate::section::encoded_len(&<$tool as $crate::Tool>::INFO);
            #[cfg(target_arch = "wasm32")]
            #[unsafe(link_section = "toolbay:info")]
            #[used]
            static INFO: [u8; LEN] =
                $crate::section::encode::<LEN>(&<$tool as $crate::Tool>::INFO);
            #[cfg(not(target_arch = "wasm32"))]
            #[allow(dead_code)]
            static INFO: [u8; LEN] =
                $crate::section::encode::<LEN>(&<$tool as $crate::Tool>::INFO);

            $(
                const MANIFEST_TEXT: &[u8] =
                    include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/", $manifest));
                #[cfg(target_arch = "wasm32")]
                #[unsafe(link_section = "toolbay:manifest")]
                #[used]
                static MANIFEST: [u8; MANIFEST_TEXT.len()] = {
                    let mut bytes = [0; MANIFEST_TEXT.len()];
                    bytes.copy_from_slice(MANIFEST_TEXT);
                    bytes
                };
            )?
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __export_part {
    (tool, $tool:ident, $adapter:ident) => {
        impl $crate::bindings::tool::exports::toolbay::tool::tool::Guest for $adapter {
            fn info() -> $crate::adapter::ToolInfo {
                <$tool as $crate::Tool>::INFO.to_wire()
            }
            fn is_read_only(input: String) -> bool {
                $crate::adapter::is_read_only::<$tool>(&input)
            }
            fn is_concurrency_safe(input: String) -> bool {
                $crate::adapter::is_concurrency_safe::<$tool>(&input)
            }
            fn call(input: String) -> $crate::Result {
                $crate::adapter::call::<$tool>(&input)
            }
        }
        #[cfg(target_arch = "wasm32")]
        $crate::bindings::tool::export_tool!($adapter with_types_in $crate::bindings::tool);
    };
    (guard, $tool:ident, $adapter:ident) => {
        impl $crate::bindings::guard::exports::toolbay::tool::guard::Guest for $adapter {
            fn is_enabled() -> bool {
                <$tool as $crate::Guard>::is_enabled()
            }
            fn is_destructive(input: String) -> bool {
                $crate::adapter::is_destructive::<$tool>(&input)
            }
            fn validate_input(input: String) -> ::core::result::Result<(), $crate::Rejection> {
                $crate::adapter::validate_input::<$tool>(&input)
            }
            fn check_permissions(input: String) -> $crate::Verdict {
                $crate::adapter::check_permissions::<$tool>(&input)
            }
        }
        #[cfg(target_arch = "wasm32")]
        $crate::bindings::guard::export_guard!($adapter with_types_in $crate::bindings::guard);
    };
    (prompt, $tool:ident, $adapter:ident) => {
        impl $crate::bindings::prompt::exports::toolbay::tool::prompt::Guest for $adapter {
            fn describe(input: String) -> String {
                $crate::adapter::describe::<$tool>(&input)
            }
            fn prompt(setting: $crate::Setting) -> String {
                <$tool as $crate::Prompt>::prompt(&setting)
            }
        }
        #[cfg(target_arch = "wasm32")]
        $crate::bindings::prompt::export_prompt!($adapter with_types_in $crate::bindings::prompt);
    };
    (render, $tool:ident, $adapter:ident) => {
        impl $crate::bindings::render::exports::toolbay::tool::render::Guest for $adapter {
            fn render_use(input: String) -> $crate::View {
                $crate::adapter::render_use::<$tool>(&input)
            }
            fn render_result(input: String, outcome: $crate::Outcome) -> $crate::View {
                $crate::adapter::render_result::<$tool>(&input, &outcome)
            }
            fn render_rejected(input: String, reason: String) -> $crate::View {
                $crate::adapter::render_rejected::<$tool>(&input, &reason)
            }
            fn render_error(input: String, error: $crate::ToolError) -> $crate::View {
                $crate::adapter::render_error::<$tool>(&input, &error)
            }
            fn render_grouped(inputs: Vec<String>) -> Option<$crate::View> {
                $crate::adapter::render_grouped::<$tool>(&inputs)
            }
        }
        #[cfg(target_arch = "wasm32")]
        $crate::bindings::render::export_render!($adapter with_types_in $crate::bindings::render);
    };
}
