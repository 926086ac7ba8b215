//! Cases for PDF files, made here instruction by instruction.

use lopdf::{Dictionary, Stream, dictionary};

use super::*;

/// A document with one page for each content.
fn pdf(contents: &[&[u8]]) -> Document {
    let mut document = Document::with_version("1.5");
    let tree = document.new_object_id();
    let font = document.add_object(dictionary! {
        "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Courier", "Encoding" => "WinAnsiEncoding",
        "FirstChar" => 32, "Widths" => vec![Object::Integer(600); 224],
    });
    let mut form = |content: &str| {
        let matrix: Vec<Object> = [1, 0, 0, 1, 0, -300].map(Object::Integer).to_vec();
        let dictionary = dictionary! {"Type" => "XObject", "Subtype" => "Form", "Matrix" => matrix};
        document.add_object(Stream::new(dictionary, content.into()))
    };
    let plain = form("BT /F 10 Tf (in a form) Tj ET");
    let endless = form("BT /F 10 Tf (again) Tj ET /E Do");
    let resources = document.add_object(dictionary! {
        "Font" => dictionary! {"F" => font}, "XObject" => dictionary! {"X" => plain, "E" => endless},
    });
    let kids: Vec<Object> = contents
        .iter()
        .map(|content| {
            let mut stream = Stream::new(Dictionary::new(), content.to_vec());
            stream.compress().unwrap();
            let content = document.add_object(stream);
            document
                .add_object(dictionary! {"Type" => "Page", "Parent" => tree, "Contents" => content})
                .into()
        })
        .collect();
    let count = kids.len() as i64;
    let node =
        dictionary! {"Type" => "Pages", "Kids" => kids, "Count" => count, "Resources" => resources};
    document.objects.insert(tree, node.into());
    let catalog = document.add_object(dictionary! {"Type" => "Catalog", "Pages" => tree});
    document.trailer.set("Root", catalog);
    document
}

fn saved(mut document: Document) -> Vec<u8> {
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).unwrap();
    bytes
}

fn shown(bytes: &[u8], pages: Option<(usize, Option<usize>)>) -> Result<(String, bool), String> {
    let pages = pages.map(|(first, last)| Pages { first, last });
    read(bytes, pages, &|| Ok(()))
        .map(|reading| (reading.whole, reading.into_outcome().plain_text()))
        .map(|(whole, text)| (text, whole))
        .map_err(|error| error.sentence())
}

#[test]
fn strings_become_words_and_lines() {
    for (content, wanted) in [
        ("BT /F 10 Tf (Hello) Tj ET", "Hello"),
        ("BT /F 10 Tf (Hel) Tj (lo) Tj ET", "Hello"),
        ("BT /F 10 Tf [(He) 20 (llo) -400 (you)] TJ ET", "Hello you"),
        ("BT /F 10 Tf (one) Tj 0 -12 Td (two) Tj ET", "one\ntwo"),
        (
            "BT /F 10 Tf 12 TL (one) Tj T* (two) Tj (three) ' 1 1 (four) \" ET",
            "one\ntwo\nthree\nfour",
        ),
        ("BT /F 10 Tf (one) Tj 18 0 Td (two) Tj ET", "onetwo"),
        ("BT /F 10 Tf (one) Tj 24 0 Td (two) Tj ET", "one two"),
        (
            "q 1 0 0 1 0 50 cm BT /F 10 Tf (up) Tj ET Q BT /F 10 Tf (down) Tj ET",
            "up\n\ndown",
        ),
        (
            "BT /F 10 Tf 1 0 0 1 0 700 Tm (page) Tj ET /X Do",
            "page\n\nin a form",
        ),
        ("BT /F 10 Tf (stra\\337e) Tj ET", "straße"),
        (
            "0 0 m 10 10 l S",
            "(no text on this page; it may be a picture or a scan)",
        ),
    ] {
        let (text, _) = shown(&saved(pdf(&[content.as_bytes()])), None).unwrap();
        assert_eq!(text, format!("[page 1 of 1]\n{wanted}"), "{content}");
    }
}

#[test]
fn page_ranges_are_kept_and_told() {
    let contents: Vec<Vec<u8>> = (1..=45)
        .map(|number| format!("BT /F 10 Tf (text {number}) Tj ET").into_bytes())
        .collect();
    let contents: Vec<&[u8]> = contents.iter().map(Vec::as_slice).collect();
    let many = saved(pdf(&contents));
    let few = saved(pdf(&contents[..3]));
    for (bytes, pages, whole, has, lacks) in [
        (&few, None, true, "[page 3 of 3]\ntext 3", "continue"),
        (
            &few,
            Some((2, Some(2))),
            false,
            "[page 2 of 3]\ntext 2",
            "text 1",
        ),
        (&few, Some((2, Some(9))), false, "text 3", "text 1"),
        (
            &few,
            Some((4, Some(4))),
            false,
            "(The PDF file has 3 pages, so page 4 is beyond its end.)",
            "text",
        ),
        (
            &many,
            None,
            false,
            "Pages 1-20 of 45 are shown; continue with pages \"21-40\"",
            "text 21",
        ),
        (&many, Some((30, None)), false, "text 45", "text 29"),
        (
            &many,
            Some((5, Some(44))),
            false,
            "Pages 5-24 of 45 are shown; continue with pages \"25-44\"",
            "text 25",
        ),
    ] {
        let (text, is_whole) = shown(bytes, pages).unwrap();
        assert!(
            text.contains(has) && !text.contains(lacks),
            "{pages:?}: {text}"
        );
        assert_eq!(is_whole, whole, "{pages:?}");
    }
}

#[test]
fn a_long_text_ends_at_a_page_and_says_where() {
    let page = format!(
        "BT /F 10 Tf {} ET",
        "(0123456789012345678901234567890123456789) ' ".repeat(1_000)
    );
    let bytes = saved(pdf(&[page.as_bytes(), page.as_bytes(), page.as_bytes()]));
    let (text, whole) = shown(&bytes, None).unwrap();
    assert!(text.contains("Pages 1-2 of 3 are shown; continue with pages \"3-3\""));
    assert!(!whole && text.chars().count() <= OUTPUT_CHARS);

    let page = page.repeat(4);
    let (text, whole) = shown(&saved(pdf(&[page.as_bytes()])), None).unwrap();
    assert!(text.contains("[page cut"));
    assert!(!whole && text.chars().count() <= OUTPUT_CHARS);
}

#[test]
fn broken_files_are_refused_in_words() {
    let good = saved(pdf(&[b"BT ET"]));
    for bytes in [
        &b"%PDF-1.4\n"[..],
        b"%PDF-1.4\ngarbage and more garbage",
        &good[..60],
    ] {
        let error = shown(bytes, None).unwrap_err();
        assert!(error.contains("seems to be damaged"), "{error}");
    }
}

#[test]
fn a_password_is_told_apart_from_damage() {
    use lopdf::{EncryptionState, EncryptionVersion, Permissions};
    for (user, part) in [("secret", "protected by a password"), ("", "open to all")] {
        let mut document = pdf(&[b"BT /F 10 Tf (open to all) Tj ET"]);
        let id = Object::string_literal(b"0123456789abcdef".to_vec());
        document.trailer.set("ID", vec![id.clone(), id]);
        let state = EncryptionState::try_from(EncryptionVersion::V2 {
            document: &document,
            owner_password: "owner",
            user_password: user,
            key_length: 128,
            permissions: Permissions::all(),
        })
        .unwrap();
        document.encrypt(&state).unwrap();
        let answer = shown(&saved(document), None).map(|(text, _)| text);
        let text = answer.unwrap_or_else(|error| error);
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn hostile_files_end_soon() {
    let bomb = vec![b' '; STREAM_BYTES + 1];
    let deep = [b"[".repeat(100_000), b"]".repeat(100_000)].concat();
    let numbers = b"1 ".repeat(200_000);
    let fan = b"/E Do ".repeat(20_000);
    for content in [bomb.as_slice(), &deep, &numbers, &fan] {
        let bytes = saved(pdf(&[content; 3]));
        let begin = std::time::Instant::now();
        let _ = shown(&bytes, None);
        assert!(begin.elapsed().as_secs() < 30, "{:?}", &content[..6]);
    }

    // Pages that contain themselves.
    let mut document = pdf(&[b"BT ET"]);
    let tree = document
        .catalog()
        .unwrap()
        .get(b"Pages")
        .unwrap()
        .as_reference()
        .unwrap();
    let kids = vec![Object::Reference(tree); 50];
    document.get_dictionary_mut(tree).unwrap().set("Kids", kids);
    assert!(shown(&saved(document), None).is_err());
}
