//! What wasmtime makes of the contract's `standard` world.
//!
//! The world's own `instantiate` is never used: a component need not export all
//! of it. Each exported interface is looked up by its own indices instead.

#![allow(clippy::all, clippy::disallowed_methods, missing_docs)]

wasmtime::component::bindgen!({
    path: "../../wit/0.1",
    world: "toolbay:tool/standard",
    imports: {
        // What only looks at memory need not be able to wait.
        "toolbay:host/context": trappable,
        "toolbay:host/session": trappable,
        "toolbay:host/tools": trappable,
        "toolbay:host/shell.inspect": trappable,
        "toolbay:host/shell.edits": trappable,
        "toolbay:host/shell.edited": trappable,
        "toolbay:host/shell.ended-in": trappable,
        "toolbay:host/shell.exit-meaning": trappable,
        "toolbay:host/search.left-out": trappable,
        "toolbay:host/search.type-names": trappable,
        "toolbay:host/tasks.list": trappable,
        default: async | trappable,
    },
    exports: { default: async },
});
