//! Guests that look around, call out, and speak in the host's name.

use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::process::Command as Process;

use serde_json::{Value, json};
use toolbay_tests::guests;

use super::{Disk, Report, act, assert_no_slot_lost, assert_still_serves, own_bay, rogue_bay};

#[tokio::test(flavor = "multi_thread")]
async fn nothing_of_the_machine_shows_through() {
    let bay = rogue_bay().await.file("sub/a.txt", "inside");
    let root = bay.root();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("private.txt"), "private").unwrap();
    symlink(outside.path(), root.join("way_out")).unwrap();
    symlink("/etc/passwd", root.join("passwd")).unwrap();
    symlink("../../../../../../etc", root.join("sub/etc")).unwrap();
    symlink("/proc/self/environ", root.join("environ")).unwrap();
    // Whoever opens these could wait for ever, or talk to somebody.
    let _socket = UnixListener::bind(root.join("socket")).unwrap();
    let made = Process::new("mkfifo").arg(root.join("fifo")).status();
    assert!(made.unwrap().success());
    let running = bay.ready().await;
    let before = Disk::of(&[&root, outside.path()]);

    let up = "../".repeat(root.components().count());
    let outside_paths: Vec<String> = vec![
        "/etc/passwd".into(),
        "/".into(),
        "/proc/self/environ".into(),
        "/proc/self/root/etc/passwd".into(),
        format!("{}/..", root.display()),
        format!("{}/{up}etc/passwd", root.display()),
        format!("{}/sub/../../", root.display()),
        format!("{}/way_out/private.txt", root.display()),
        format!("{}/passwd", root.display()),
        format!("{}/sub/etc/passwd", root.display()),
        format!("{}/environ", root.display()),
        format!("{}/fifo", root.display()),
        format!("{}/socket", root.display()),
        outside.path().join("private.txt").display().to_string(),
        // A name that only begins like the root's.
        format!("{}x/a.txt", root.display()),
    ];
    let inside = format!("{}/sub/a.txt", root.display());
    let mut paths = outside_paths.clone();
    paths.push(inside.clone());
    let result = act(&running, "peek", json!({"paths": paths})).await;

    let report = Report::of(&result);
    for empty in ["environment", "arguments"] {
        assert_eq!(report.tried(empty)["value"], json!([]), "{empty}");
    }
    assert_eq!(report.tried("stdin")["value"], "");
    assert_eq!(report.tried("roots")["value"], json!([root]));
    let preopens = &report.tried("preopens")["value"];
    assert_eq!(
        *preopens,
        json!([{"path": root, "flags": preopens[0]["flags"]}])
    );
    for path in &outside_paths {
        for way in ["read", "list"] {
            let tried = report.tried(&format!("{way} {path}"));
            assert_eq!(tried["ok"], false, "{way} {path}: {tried}");
        }
    }
    assert_eq!(report.tried(&format!("read {inside}"))["value"], "inside");
    before.assert_unchanged();
    assert_still_serves(&running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn leave_to_read_one_file_outside_shows_nothing_beside_it() {
    let outside = tempfile::tempdir().unwrap();
    let outside = outside.path().canonicalize().unwrap();
    std::fs::write(outside.join("shown.txt"), "shown").unwrap();
    std::fs::write(outside.join("hidden.txt"), "hidden").unwrap();
    let running = rogue_bay().await.says_yes().ready().await;
    let path = |name: &str| outside.join(name).display().to_string();

    let input = json!({
        "subject": path("shown.txt"),
        "paths": [path("shown.txt"), path("hidden.txt"), path("")],
    });
    let result = act(&running, "peek", input).await;

    let report = Report::of(&result);
    let shown = format!("read {}", path("shown.txt"));
    assert_eq!(report.tried(&shown)["value"], "shown");
    let text = result.text();
    assert!(!text.contains(r#""hidden""#), "content: {text}");
    let handle = format!("list the handle of {}", outside.display());
    let listed = report.tried(&handle);
    assert_eq!(listed["ok"], false, "names beside it: {listed}");
    let refusals = running.refusals();
    assert!(
        refusals
            .iter()
            .any(|(power, path)| power.starts_with("files: ")
                && path.as_ref().is_some_and(|path| path.starts_with(&outside))),
        "{refusals:?}"
    );
    assert_still_serves(&running).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn calling_out_is_refused_and_told() {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    tcp.set_nonblocking(true).unwrap();
    let udp = UdpSocket::bind(tcp.local_addr().unwrap()).unwrap();
    udp.set_nonblocking(true).unwrap();
    let port = tcp.local_addr().unwrap().port();
    let running = rogue_bay().await.allow("Rogue").says_yes().ready().await;

    for (host, read_only) in [
        ("127.0.0.1", true),
        ("localhost", true),
        ("127.0.0.1", false),
    ] {
        let input = json!({"host": host, "port": port, "claims_read_only": read_only});
        let report = Report::of(&act(&running, "dial", input).await);
        assert_eq!(report.succeeded(), Vec::<&str>::new(), "{host}");
        let powers: Vec<String> = running
            .refusals()
            .into_iter()
            .map(|(power, _)| power)
            .collect();
        let mut wanted = vec!["wasi:sockets/tcp", "wasi:sockets/udp"];
        if host == "localhost" {
            wanted.push("wasi:sockets/ip-name-lookup");
        }
        for interface in wanted {
            assert!(
                powers.iter().any(|power| power.starts_with(interface)),
                "{host}: {interface} is not in the log: {powers:?}"
            );
        }
        assert_still_serves(&running).await;
    }
    assert!(tcp.accept().is_err(), "somebody called");
    assert!(udp.recv(&mut [0; 16]).is_err(), "something came");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_that_imports_http_loads_and_reaches_nobody() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    server.set_nonblocking(true).unwrap();
    let bay = own_bay()
        .guest(guests::HTTP_IMPORTER)
        .await
        .allow("HttpImporter");
    let running = bay.ready().await;
    let authority = server.local_addr().unwrap().to_string();
    for _ in 0..2 {
        let result = running
            .call("HttpImporter", json!({"authority": authority}))
            .await;
        let Report(said) = Report::of(&result);
        assert_eq!(said["ok"], false, "{said}");
        println!("http: {said}");
        let refusals = running.refusals();
        assert!(
            refusals
                .iter()
                .any(|(power, _)| power.starts_with("wasi:http/outgoing-handler")),
            "{refusals:?}"
        );
        let error = said["error"].as_str().unwrap();
        assert!(error.contains("HttpRequestDenied"), "{error}");
    }
    assert!(server.accept().is_err(), "somebody called");
    assert_no_slot_lost(&running);
}

#[test]
fn what_a_guest_prints_stays_off_the_hosts_output() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("rogue.wasm"), guests::ROGUE).unwrap();
    let output = Process::new(toolbay_tests::program())
        .args(["call", "--json", "--plugin", "rogue.wasm", "Rogue"])
        .arg(json!({"act": "stdout-forger"}).to_string())
        .current_dir(folder.path())
        .env("TOOLBAY_LOG", "trace")
        .env("XDG_STATE_HOME", folder.path())
        .env("XDG_CACHE_HOME", folder.path())
        .output()
        .unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{stdout}");
    // There is only the result.
    assert!(!stdout.contains("forged"), "{stdout}");
    let results: Vec<Value> = stdout
        .lines()
        .filter_map(|line| {
            line.find('{')
                .and_then(|at| serde_json::from_str(&line[at..]).ok())
        })
        .collect();
    let [result] = &results[..] else {
        panic!("not one result: {stdout}");
    };
    assert_eq!(result["tool_use_id"], "call_1");
    assert_eq!(result["content"][0]["text"], "printed");
    // Whoever asks for the log sees the lines there, and no bare escape among them.
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("forged"), "{stderr}");
    assert!(!stderr.contains("\u{1b}[2J"), "{stderr}");
}
