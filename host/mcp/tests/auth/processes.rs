//! The lock of the tokens holds between programs: this one starts itself again, several times.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use toolbay_mcp::client::auth::{Keys, Server, TokenStore};

use crate::keys::{age, renewals};
use crate::realm::Realm;
use crate::web::Reply;

const FOLDER: &str = "TOOLBAY_TEST_TOKENS";
const ADDRESS: &str = "TOOLBAY_TEST_SERVER";
const SIGN: &str = "the token: ";

/// What the other programs do: they ask for the token once.
#[test]
#[ignore = "the tests below start it, with the place of the tokens"]
#[allow(clippy::disallowed_methods, clippy::print_stdout)]
fn one_of_them() {
    let (Ok(folder), Ok(address)) = (std::env::var(FOLDER), std::env::var(ADDRESS)) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let token = runtime.unwrap().block_on(async {
        let store = TokenStore::open(folder.as_ref()).unwrap();
        let server = Server::new("realm", &address).unwrap();
        Keys::of_login(server, store).current().await
    });
    println!("{SIGN}{}", token.unwrap().unwrap());
}

// A test of several programs has to start them.
#[allow(clippy::disallowed_methods)]
fn start(realm: &Realm) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args([
            "processes::one_of_them",
            "--exact",
            "--ignored",
            "--nocapture",
        ])
        .env(FOLDER, realm.folder.path().join("tokens"))
        .env(ADDRESS, realm.server.url().as_str())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// What it said, while the server of this test goes on.
async fn said(mut child: Child) -> String {
    let read = move || {
        let mut text = String::new();
        child
            .stdout
            .take()
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        child.wait().unwrap();
        text
    };
    let text = tokio::task::spawn_blocking(read).await.unwrap();
    let at = text.find(SIGN).unwrap_or_else(|| panic!("{text}"));
    let rest = &text[at + SIGN.len()..];
    rest.split_whitespace().next().unwrap().to_owned()
}

#[tokio::test]
async fn many_programs_that_find_the_token_ended_renew_it_once() {
    let realm = Realm::start().await;
    realm.login().await.unwrap();
    age(&realm);
    let children: Vec<Child> = (0..8).map(|_| start(&realm)).collect();
    let mut tokens = std::collections::HashSet::new();
    for child in children {
        tokens.insert(said(child).await);
    }
    assert_eq!(tokens.len(), 1, "{tokens:?}");
    assert_eq!(renewals(&realm), 1);
}

#[tokio::test]
async fn a_program_that_is_killed_while_it_renews_holds_nobody_up() {
    let realm = Realm::start().await;
    realm.login().await.unwrap();
    age(&realm);
    realm.knobs().renewal = Some(Reply::never());
    let mut first = start(&realm);
    while renewals(&realm) == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // It holds the lock now. Others wait for it, also those that come before it is gone.
    realm.knobs().renewal = None;
    let second = start(&realm);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(renewals(&realm), 1);
    first.kill().unwrap();
    first.wait().unwrap();
    let token = said(second).await;
    assert_eq!(renewals(&realm), 2);
    assert_eq!(realm.keys().current().await.unwrap(), Some(token));
}
