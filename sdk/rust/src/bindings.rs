//! What wit-bindgen makes of the contract, in parts.
//!
//! One world for the imports and one for each export: a component declares
//! exactly the exports that its author names in `export!`, which a single
//! `standard` world could not do. Imports that are never called leave no trace.

#![allow(
    unsafe_code,
    clippy::all,
    clippy::disallowed_methods,
    missing_docs,
    unused_qualifications
)]

pub mod imports {
    wit_bindgen::generate!({
        path: "../../wit/0.1",
        inline: "package toolbay:sdk;
            world imports {
                import toolbay:host/context@0.1.0;
                import toolbay:host/session@0.1.0;
                import toolbay:host/files@0.1.0;
                import toolbay:host/search@0.1.0;
                import toolbay:host/shell@0.1.0;
                import toolbay:host/ask-user@0.1.0;
                import toolbay:host/tasks@0.1.0;
                import toolbay:host/agents@0.1.0;
                import toolbay:host/tools@0.1.0;
                import toolbay:host/resources@0.1.0;
                import toolbay:host/skills@0.1.0;
                import toolbay:tool/types@0.1.0;
            }",
        world: "toolbay:sdk/imports",
        generate_all,
        additional_derives: [PartialEq, Clone],
    });
}

pub mod tool {
    wit_bindgen::generate!({
        path: "../../wit/0.1",
        inline: "package toolbay:sdk; world with-tool { export toolbay:tool/tool@0.1.0; }",
        world: "toolbay:sdk/with-tool",
        with: { "toolbay:tool/types@0.1.0": crate::bindings::imports::toolbay::tool::types },
        pub_export_macro: true,
        export_macro_name: "export_tool",
        default_bindings_module: "::toolbay_sdk::bindings::tool",
    });
}

pub mod guard {
    wit_bindgen::generate!({
        path: "../../wit/0.1",
        inline: "package toolbay:sdk; world with-guard { export toolbay:tool/guard@0.1.0; }",
        world: "toolbay:sdk/with-guard",
        with: { "toolbay:tool/types@0.1.0": crate::bindings::imports::toolbay::tool::types },
        pub_export_macro: true,
        export_macro_name: "export_guard",
        default_bindings_module: "::toolbay_sdk::bindings::guard",
    });
}

pub mod prompt {
    wit_bindgen::generate!({
        path: "../../wit/0.1",
        inline: "package toolbay:sdk; world with-prompt { export toolbay:tool/prompt@0.1.0; }",
        world: "toolbay:sdk/with-prompt",
        with: { "toolbay:tool/types@0.1.0": crate::bindings::imports::toolbay::tool::types },
        pub_export_macro: true,
        export_macro_name: "export_prompt",
        default_bindings_module: "::toolbay_sdk::bindings::prompt",
    });
}

pub mod render {
    wit_bindgen::generate!({
        path: "../../wit/0.1",
        inline: "package toolbay:sdk; world with-render { export toolbay:tool/render@0.1.0; }",
        world: "toolbay:sdk/with-render",
        with: { "toolbay:tool/types@0.1.0": crate::bindings::imports::toolbay::tool::types },
        pub_export_macro: true,
        export_macro_name: "export_render",
        default_bindings_module: "::toolbay_sdk::bindings::render",
    });
}
