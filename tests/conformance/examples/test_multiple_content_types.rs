//! A text, a picture and a document.

use toolbay_conformance::{Blob, Content, DOT, NONE, document, fixture, outcome};

fixture!("test_multiple_content_types", NONE, |_input| Ok(outcome(
    vec![
        Content::Text("Multiple content types test:".into()),
        Content::Image(Blob {
            mime: "image/png".into(),
            data: DOT.into(),
        }),
        document("application/json", br#"{"test":"data","value":123}"#),
    ]
)));
