use super::*;
use crate::results::plan::TextPlan;

fn text(text: &str) -> Content {
    Content::Text(text.into())
}

fn image(bytes: usize) -> Content {
    Content::Image(Blob {
        mime: "image/png".into(),
        data: vec![0; bytes],
    })
}

#[test]
fn words_stand_where_the_first_text_was() {
    let content = [
        image(1),
        text("a"),
        image(2),
        text("b"),
        image(3),
        text("own"),
        image(4),
    ];
    let plan = Plan {
        text: Some(TextPlan {
            preview: 0,
            cut: 0,
            keep: None,
        }),
        blobs: vec![2],
        surplus_from: Some(4),
        stays: vec![5],
    };
    let words = |text: &str| Piece::Text(text.into());
    assert_eq!(
        assemble(&content, &plan, Some("T".into()), |index, kind, blob| {
            format!("{index} {kind} {}", blob.data.len())
        }),
        [
            Piece::Same(0),
            words("T"),
            words("2 image 2"),
            Piece::Same(5),
            words("[2 blocks left out: a result may have 100 images and documents at most]"),
        ]
    );
}

#[test]
fn what_is_shown_is_recognised() {
    let content = vec![text("a"), image(1)];
    let decision = Decision::Replaced {
        blocks: vec![Piece::Text("x".into()), Piece::Same(1)],
        file: None,
        repeats: None,
    };
    let shown = decision.shown(&content);
    let applied = decision.apply(content);
    assert_eq!(applied, [text("x"), image(1)]);
    assert_eq!(shown, Digest::of_content(&applied));
}

#[test]
fn decisions_that_nobody_made_are_not_followed() {
    let content = [text("a"), image(1)];
    let replaced = |places: &[usize], file: Option<&str>| Decision::Replaced {
        blocks: places.iter().map(|at| Piece::Same(*at)).collect(),
        file: file.map(str::to_owned),
        repeats: None,
    };
    let cut = |count: usize| Decision::Cut {
        plan: Plan {
            blobs: vec![0; count],
            ..Plan::default()
        },
        reason: String::new(),
    };
    for (decision, suits) in [
        (replaced(&[], None), true),
        (replaced(&[0, 1], Some("a.txt")), true),
        // One block many times could fill the memory.
        (replaced(&[1, 1], None), false),
        (replaced(&[1, 0], None), false),
        (replaced(&[2], None), false),
        (replaced(&[0], Some("../a.txt")), false),
        (replaced(&[0], Some("/etc/passwd")), false),
        (cut(100), true),
        (cut(101), false),
    ] {
        assert_eq!(decision.suits(&content), suits, "{decision:?}");
    }
}
