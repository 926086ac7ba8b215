use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use super::*;
use crate::client::auth::entry::Need;

fn server(name: &str) -> Server {
    Server::new(name, "https://example.com/mcp").unwrap()
}

fn entry(token: &str) -> Entry {
    let credentials = json!({
        "client_id": "client",
        "token_response": {
            "access_token": token, "token_type": "bearer", "expires_in": 60, "refresh_token": format!("refresh-{token}"),
        },
        "token_received_at": 1000,
        "granted_scopes": ["a"],
    });
    Entry {
        credentials: Some(serde_json::from_value(credentials).unwrap()),
        ..Entry::default()
    }
}

fn place() -> (tempfile::TempDir, TokenStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = TokenStore::open(&folder.path().join("deep/state")).unwrap();
    (folder, store)
}

async fn put(store: &TokenStore, name: &str, token: &str) -> Result<(), StoreError> {
    let entry = entry(token);
    store
        .update(&server(name), move |place| *place = Some(entry))
        .await
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

#[tokio::test]
async fn tokens_survive_and_only_their_user_can_read_them() {
    let (_folder, store) = place();
    put(&store, "one", "t1").await.unwrap();
    put(&store, "two", "t2").await.unwrap();
    assert_eq!(mode(&store.path()), 0o600);
    assert_eq!(mode(&store.folder), 0o700);

    let again = TokenStore::open(&store.folder).unwrap();
    let found = again.read(&server("two")).await.unwrap().unwrap();
    assert_eq!(found.access_token(), Some("t2"));
    assert_eq!(found.refresh_token(), Some("refresh-t2"));
    again
        .update(&server("two"), |place| *place = None)
        .await
        .unwrap();
    assert!(again.read(&server("two")).await.unwrap().is_none());
    assert!(again.read(&server("one")).await.unwrap().is_some());
    assert!(!store.folder.join("tokens.json.new").exists());
}

#[tokio::test]
async fn tokens_belong_to_a_name_and_an_address() {
    let (_folder, store) = place();
    put(&store, "one", "t1").await.unwrap();
    for (name, address) in [
        ("two", "https://example.com/mcp"),
        ("one", "https://example.com/other"),
        ("one", "https://example.org/mcp"),
        ("one", "https://example.com:8443/mcp"),
        ("one\nhttps://example.com/mcp", "https://example.com/mcp"),
    ] {
        let other = Server::new(name, address).unwrap();
        assert!(store.read(&other).await.unwrap().is_none(), "{other:?}");
    }
}

#[tokio::test]
async fn a_place_that_others_can_reach_is_refused_and_left_alone() {
    for (what, bits) in [
        ("tokens.json", 0o640),
        ("tokens.json", 0o604),
        ("", 0o750),
        ("", 0o701),
    ] {
        let (_folder, store) = place();
        put(&store, "one", "t1").await.unwrap();
        let path = store.folder.join(what);
        fs::set_permissions(&path, fs::Permissions::from_mode(bits)).unwrap();
        let read = store.read(&server("one")).await;
        assert!(
            matches!(read, Err(StoreError::Open(_))),
            "{what} {bits:o}: {read:?}"
        );
        let wrote = put(&store, "one", "t2").await;
        assert!(matches!(wrote, Err(StoreError::Open(_))), "{what} {bits:o}");
        assert_eq!(mode(&path), bits, "not repaired: it may have been read");
        if what.is_empty() {
            assert!(TokenStore::open(&store.folder).is_err());
        }
    }
}

#[tokio::test]
async fn links_and_strange_files_are_refused() {
    let (folder, store) = place();
    let elsewhere = folder.path().join("elsewhere.json");
    fs::write(&elsewhere, r#"{"version":1,"servers":{}}"#).unwrap();
    fs::set_permissions(&elsewhere, fs::Permissions::from_mode(0o600)).unwrap();
    symlink(&elsewhere, store.path()).unwrap();
    assert!(matches!(
        store.read(&server("one")).await,
        Err(StoreError::NotPlain(_))
    ));
    assert!(matches!(
        put(&store, "one", "t").await,
        Err(StoreError::NotPlain(_))
    ));
    assert!(!fs::read_to_string(&elsewhere).unwrap().contains("refresh"));

    fs::remove_file(store.path()).unwrap();
    fs::create_dir(store.path()).unwrap();
    assert!(put(&store, "one", "t").await.is_err());
    fs::remove_dir(store.path()).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        store.path(),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    assert!(matches!(
        store.read(&server("one")).await,
        Err(StoreError::NotPlain(_))
    ));

    let link = folder.path().join("link");
    symlink(&store.folder, &link).unwrap();
    assert!(matches!(
        TokenStore::open(&link),
        Err(StoreError::NotPlain(_))
    ));
}

#[tokio::test]
async fn a_link_beside_the_file_is_not_written_through() {
    let (folder, store) = place();
    let victim = folder.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    symlink(&victim, store.folder.join("tokens.json.new")).unwrap();
    put(&store, "one", "t1").await.unwrap();
    assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    symlink(&victim, store.folder.join("other.lock")).unwrap();
    let folder = Folder::open(&store.folder).unwrap();
    assert!(matches!(
        folder.lock_file("other.lock"),
        Err(StoreError::NotPlain(_))
    ));
}

#[tokio::test]
async fn a_damaged_file_is_refused_without_repeating_it() {
    let (_folder, store) = place();
    for text in [
        "",
        "{",
        "[\"sesame\"]",
        r#"{"version":1,"servers":{"a":"sesame"}}"#,
        r#"{"version":9,"servers":{}}"#,
    ] {
        fs::write(store.path(), text).unwrap();
        fs::set_permissions(store.path(), fs::Permissions::from_mode(0o600)).unwrap();
        let error = store.read(&server("one")).await.unwrap_err();
        assert!(matches!(error, StoreError::Damaged(..)), "{text}: {error}");
        assert!(!format!("{error} {error:?}").contains("sesame"));
        assert!(put(&store, "one", "t").await.is_err());
        assert_eq!(fs::read_to_string(store.path()).unwrap(), text);
    }
    fs::File::create(store.path())
        .unwrap()
        .set_len(9 << 20)
        .unwrap();
    assert!(matches!(
        store.read(&server("one")).await,
        Err(StoreError::TooLarge(_))
    ));
}

#[tokio::test]
async fn nothing_is_lost_when_many_write_at_once() {
    let (_folder, store) = place();
    let mut writers = Vec::new();
    for number in 0..40 {
        // Each opens the place anew, as another program would.
        let store = TokenStore::open(&store.folder).unwrap();
        writers.push(tokio::spawn(async move {
            put(&store, &format!("server {number}"), &format!("t{number}")).await
        }));
    }
    for writer in writers {
        writer.await.unwrap().unwrap();
    }
    for number in 0..40 {
        let found = store
            .read(&server(&format!("server {number}")))
            .await
            .unwrap();
        assert_eq!(
            found.unwrap().access_token(),
            Some(format!("t{number}").as_str())
        );
    }
}

#[tokio::test]
async fn one_renews_at_a_time_and_other_servers_do_not_wait() {
    let (_folder, store) = place();
    let inside = Arc::new(AtomicUsize::new(0));
    let held = store.renewing(&server("other")).await.unwrap();
    let mut tasks = Vec::new();
    for _ in 0..8 {
        let store = TokenStore::open(&store.folder).unwrap();
        let inside = inside.clone();
        tasks.push(tokio::spawn(async move {
            let _guard = store.renewing(&server("one")).await.unwrap();
            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            inside.fetch_sub(1, Ordering::SeqCst);
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    drop(held);
}

#[tokio::test]
async fn a_need_is_kept_beside_the_tokens_and_shows_none() {
    let (_folder, store) = place();
    put(&store, "one", "sesame").await.unwrap();
    store
        .update(&server("one"), |place| {
            if let Some(entry) = place {
                entry.client_secret = Some(crate::client::auth::Secret::new("sesame-secret"));
                entry.need = Some(Need::Scopes {
                    scopes: vec!["write".into()],
                    challenge: "Bearer scope=\"write\"".into(),
                });
            }
        })
        .await
        .unwrap();
    let found = store.read(&server("one")).await.unwrap().unwrap();
    assert_eq!(
        found.secrets(),
        ["sesame", "refresh-sesame", "sesame-secret"]
    );
    let shown = format!("{found:?} {:?} {store:?}", found.credentials);
    assert!(!shown.contains("sesame"), "{shown}");
    assert!(shown.contains("write"), "{shown}");
}
