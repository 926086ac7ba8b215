//! Commands that write more than a result may have: what is left out is said, and the rest is there.

use super::{MOST_MEMORY, Place};

/// What each command writes is more than the host keeps of it, or more than a component may hand over.
#[test]
fn much_output_is_cut_and_saved_with_a_sentence() {
    for (script, says) in [
        ("yes | head -c 300000000", "There was more output"),
        ("yes '' | head -c 300000000", "There was more output"),
        // Each byte becomes a mark of three.
        (
            r"head -c 300000000 /dev/zero | tr '\0' '\377'",
            "There was more output",
        ),
        ("yes | head -c 7000000; echo the end", "the end"),
        (
            r#"head -c 6000000 /dev/zero | tr '\0' '"'; echo the end"#,
            "the end",
        ),
        ("yes é | head -c 4000000; echo the end", "the end"),
    ] {
        let place = Place::new();
        let input = serde_json::json!({"command": script}).to_string();
        let ran = place.run(&["call", "--allow", "Bash", "Bash", &input], "");
        println!(
            "{:>6.2} s {:>4} MiB  {script}",
            ran.took.as_secs_f32(),
            ran.peak >> 20
        );
        let both = format!("{}{}", ran.out, ran.err);
        let start: String = both.chars().take(600).collect();
        assert!(!both.contains("broke in call"), "{script}: {start}");
        assert!(both.contains(says), "{script}: {start}");
        // The host shows a part, and says where the rest is or how much there was.
        let shown = both.chars().count();
        assert!(shown < 40_000, "{script}: {shown} characters: {start}");
        assert!(ran.peak < MOST_MEMORY, "{script}: {} bytes", ran.peak);
    }
}
