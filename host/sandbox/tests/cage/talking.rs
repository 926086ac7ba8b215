//! Commands that are given something to read, and commands that are talked to.

use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use toolbay_sandbox::cage::{CageError, How, Leash, Stream};
use toolbay_sandbox::process::LastWord;

use crate::api::{cages, command, enclosure};
use crate::world::ALONE;

#[tokio::test]
async fn a_command_reads_what_it_is_given_and_nothing_else() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    let root = tempfile::tempdir().unwrap();
    for (kind, enclosure) in cages(root.path()) {
        // More than a pipe holds, both ways at once.
        let long = b"0123456789abcdef".repeat(20_000);
        for (script, input, wanted) in [
            ("cat", &b"a\nb"[..], &b"a\nb"[..]),
            ("cat", b"", b""),
            ("cat", &long, &long),
            // One that does not read is not harmed.
            ("echo done", &long, b"done\n"),
            ("exec 0<&-; echo done", &long, b"done\n"),
            ("head -c 3", &long, b"012"),
            // Its input is a pipe, and there is no other file.
            (
                "ls /proc/$$/fd | tr '\\n' ' '; readlink /proc/$$/fd/0 | cut -d: -f1",
                b"x",
                b"0 1 2 255 pipe\n",
            ),
        ] {
            let mut output = Vec::new();
            let ended = enclosure
                .run_fed(&command(root.path(), script), input, &mut |_, bytes| {
                    output.extend_from_slice(bytes)
                })
                .await
                .unwrap();
            assert_eq!(ended.how, How::Exit(0), "{kind:?} {script}");
            let shown = String::from_utf8_lossy(&output[..output.len().min(80)]).into_owned();
            if script.starts_with("ls ") {
                // Where the shell keeps its own file differs; no other may be there.
                assert!(shown.ends_with("pipe\n"), "{kind:?} {shown}");
                assert!(shown.starts_with("0 1 2"), "{kind:?} {shown}");
                assert!(shown.split(' ').count() <= 5, "{kind:?} {shown}");
                continue;
            }
            assert!(output == wanted, "{kind:?} {script}: {shown}");
        }
    }
}

#[tokio::test]
async fn a_last_word_travels_beside_the_outputs() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    let root = tempfile::tempdir().unwrap();
    for (kind, enclosure) in cages(root.path()) {
        for (script, wanted) in [
            ("echo out; printf 'a\\0b\\n\\0' >&0", Some(&b"b\n"[..])),
            (
                "echo out; exec 9>&0; (printf 'late\\0' >&9) & wait",
                Some(b"late"),
            ),
            ("echo out; exec </dev/null", None),
            ("echo out; yes >&0", None),
        ] {
            let command = command(root.path(), script);
            let leash = Leash::new(&command.limits);
            let mut word = LastWord::default();
            let mut output = Vec::new();
            let ended = enclosure
                .run_with_word(&command, &leash, &mut word, &mut |stream, bytes| {
                    if stream == Stream::Output {
                        output.extend_from_slice(bytes);
                    }
                })
                .await
                .unwrap();
            assert!(
                matches!(ended.how, How::Exit(_)),
                "{kind:?} {script}: {ended:?}"
            );
            assert_eq!(output, b"out\n", "{kind:?} {script}");
            assert_eq!(word.get(), wanted, "{kind:?} {script}");
        }
    }
}

#[tokio::test]
async fn a_server_is_talked_to_until_it_is_dropped() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    let root = tempfile::tempdir().unwrap();
    for (kind, enclosure) in cages(root.path()) {
        let script = "echo up >&2; while read -r line; do echo \"<$line>\"; done; echo bye";
        let mut talk = enclosure.open(&command(root.path(), script)).await.unwrap();
        let mut lines = BufReader::new(talk.output).lines();
        for word in ["one", "two", "three"] {
            let sent = format!("{word}\n");
            talk.input.write_all(sent.as_bytes()).await.unwrap();
            let heard = lines.next_line().await.unwrap().unwrap();
            assert_eq!(heard, format!("<{word}>"), "{kind:?}");
        }
        drop(talk.input);
        assert_eq!(lines.next_line().await.unwrap().unwrap(), "bye");
        assert_eq!(talk.life.ended().await.unwrap().how, How::Exit(0));
        let mut errors = String::new();
        talk.errors.read_to_string(&mut errors).await.unwrap();
        assert_eq!(errors, "up\n", "{kind:?}");
    }
}

#[tokio::test]
async fn nothing_of_a_server_outlives_its_conversation() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    let root = tempfile::tempdir().unwrap();
    for (kind, enclosure) in cages(root.path()) {
        let script =
            "(setsid sh -c 'while :; do echo x >> beat; sleep 0.02; done' &) ; echo on; cat";
        let mut talk = enclosure.open(&command(root.path(), script)).await.unwrap();
        let mut word = [0; 3];
        talk.output.read_exact(&mut word).await.unwrap();
        assert_eq!(&word, b"on\n");
        drop(talk);
        // The end is told to the helper at once; how long the kernel takes is its own affair.
        let size = || root.path().join("beat").metadata().map_or(0, |it| it.len());
        let mut quiet = false;
        for _ in 0..100 {
            let before = size();
            tokio::time::sleep(Duration::from_millis(150)).await;
            quiet = size() == before;
            if quiet {
                break;
            }
        }
        assert!(quiet, "{kind:?}: it still writes");
        let _ = std::fs::remove_file(root.path().join("beat"));
    }
}

#[tokio::test]
async fn a_server_that_does_not_start_or_is_out_of_time_says_so() {
    let _turn = ALONE.read().unwrap_or_else(|broken| broken.into_inner());
    let root = tempfile::tempdir().unwrap();
    let enclosure = enclosure(root.path());
    let mut missing = command(root.path(), "");
    missing.arguments = vec!["/no/such/program".into()];
    let mut talk = enclosure.open(&missing).await.unwrap();
    let ended = talk.life.ended().await;
    assert!(matches!(ended, Err(CageError::NotStarted(_))), "{ended:?}");

    let mut slow = command(root.path(), "cat");
    slow.limits.time = Duration::from_millis(300);
    let mut talk = enclosure.open(&slow).await.unwrap();
    assert_eq!(talk.life.ended().await.unwrap().how, How::TimedOut);
    let mut said = String::new();
    talk.output.read_to_string(&mut said).await.unwrap();
    assert_eq!(said, "");
}
