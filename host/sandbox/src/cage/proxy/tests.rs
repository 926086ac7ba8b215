//! The proxy with servers on this machine in place of the internet.
#![allow(clippy::unwrap_used)]

use super::*;

/// Names lead to this machine, at the port that was asked for; nothing is private.
const PLAYGROUND: World = World {
    look_up: |_, port| Box::pin(async move { Ok(vec![([127, 0, 0, 1], port).into()]) }),
    may_use: |_| true,
};

/// A server that answers each connection with what it got.
async fn echo() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let mut got = vec![0; 4096];
            let count = client.read(&mut got).await.unwrap();
            client.write_all(&got[..count]).await.unwrap();
        }
    });
    port
}

async fn ask(world: World, allow: &str, request: &str) -> String {
    told(world, allow, request).await.0
}

/// What the client was told, and what was noted as refused.
async fn told(world: World, allow: &str, request: &str) -> (String, Vec<String>) {
    let hosts = Hosts::new([allow], ["denied.example"]).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let refused = Refused::default();
    let proxy = Proxy {
        task: tokio::spawn(serve(listener, Arc::new(hosts), world, refused.clone())),
        refused,
    };
    let mut client = TcpStream::connect(address).await.unwrap();
    client.write_all(request.as_bytes()).await.unwrap();
    client.shutdown().await.unwrap();
    let mut said = Vec::new();
    // What the proxy did not want to read resets the connection at the end.
    while client
        .read_buf(&mut said)
        .await
        .is_ok_and(|count| count > 0)
    {}
    (String::from_utf8(said).unwrap(), proxy.refused())
}

#[tokio::test]
async fn allowed_hosts_are_reached_in_both_ways() {
    let port = echo().await;
    let allow = format!("good.example:{port}");
    let tunnel = format!("CONNECT good.example:{port} HTTP/1.1\r\n\r\nhello");
    let said = ask(PLAYGROUND, &allow, &tunnel).await;
    assert!(said.starts_with("HTTP/1.1 200"), "{said}");
    assert!(said.ends_with("\r\n\r\nhello"), "{said}");
    let plain =
        format!("GET http://good.example:{port}/x HTTP/1.1\r\nHost: other\r\n\r\nGET /smuggled");
    let said = ask(PLAYGROUND, &allow, &plain).await;
    assert!(
        said.starts_with("GET /x HTTP/1.1\r\nHost: good.example:"),
        "{said}"
    );
    assert!(!said.contains("smuggled"), "{said}");
}

#[tokio::test]
async fn other_hosts_are_refused() {
    for request in [
        "CONNECT bad.example:443 HTTP/1.1\r\n\r\n",
        "CONNECT good.example:22 HTTP/1.1\r\n\r\n",
        "CONNECT denied.example:443 HTTP/1.1\r\n\r\n",
        "GET http://bad.example/ HTTP/1.1\r\n\r\n",
        "GET http://good.example.bad.example/ HTTP/1.1\r\n\r\n",
    ] {
        let (said, refused) = told(PLAYGROUND, "good.example", request).await;
        assert!(said.starts_with("HTTP/1.1 403"), "{request}: {said}");
        let [refused] = refused.as_slice() else {
            panic!("{request}: {refused:?}");
        };
        assert!(refused.ends_with("is not among the hosts that it may reach"));
    }
}

#[tokio::test]
async fn an_allowed_name_does_not_lead_to_a_private_address() {
    let world = World {
        look_up: PLAYGROUND.look_up,
        ..REAL
    };
    let port = echo().await;
    let tunnel = format!("CONNECT good.example:{port} HTTP/1.1\r\n\r\n");
    let allow = format!("good.example:{port}");
    let (said, refused) = told(world.clone(), &allow, &tunnel).await;
    assert!(said.starts_with("HTTP/1.1 403"), "{said}");
    assert!(refused[0].contains("127.0.0.1, which is not public"));
    assert!(refused[0].contains("`good.example@127.0.0.1`"));
    let said = ask(world.clone(), &format!("{allow}@127.0.0.1"), &tunnel).await;
    assert!(said.starts_with("HTTP/1.1 200"), "{said}");
    let said = ask(world, &format!("{allow}@10.0.0.0/8"), &tunnel).await;
    assert!(said.starts_with("HTTP/1.1 403"), "{said}");
    let literal = format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n");
    let said = ask(REAL, &format!("127.0.0.1:{port}"), &literal).await;
    assert!(said.starts_with("HTTP/1.1 403"), "{said}");
}
