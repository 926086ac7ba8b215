//! A document that is a text.

use toolbay_conformance::{NONE, document, fixture, outcome};

fixture!("test_embedded_resource", NONE, |_input| Ok(outcome(vec![
    document("text/plain", b"This is an embedded resource content.",)
])));
