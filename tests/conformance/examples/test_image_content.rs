//! One picture.

use toolbay_conformance::{Blob, Content, DOT, NONE, fixture, outcome};

fixture!("test_image_content", NONE, |_input| Ok(outcome(vec![
    Content::Image(Blob {
        mime: "image/png".into(),
        data: DOT.into(),
    })
])));
