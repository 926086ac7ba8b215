//! A document that is a sound.

use toolbay_conformance::{NONE, document, fixture, outcome};

fixture!("test_audio_content", NONE, |_input| {
    // A header and no sound.
    let mut sound = b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0".to_vec();
    sound.extend(b"\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\0\0\0\0");
    Ok(outcome(vec![document("audio/wav", &sound)]))
});
