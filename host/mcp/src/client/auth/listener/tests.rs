use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;

const STATE: &str = "the-secret-state";

async fn connect(listener: &Listener) -> TcpStream {
    TcpStream::connect(listener.socket.local_addr().unwrap())
        .await
        .unwrap()
}

/// Sends what it is given and returns what comes back, to the end.
async fn ask(listener: &Listener, request: &[u8]) -> String {
    let mut stream = connect(listener).await;
    // It may be refused before all is sent.
    let _ = stream.write_all(request).await;
    let _ = stream.shutdown().await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8(answer).unwrap()
}

fn get(listener: &Listener, target: &str) -> Vec<u8> {
    let port = listener.redirect().port().unwrap();
    format!("GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: */*\r\n\r\n").into_bytes()
}

async fn bound() -> Listener {
    Listener::bind(None).await.unwrap()
}

/// The right answer, sent after all that was tried before.
async fn right_answer_still_counts(listener: &Listener) {
    let target = format!("/callback?code=c&state={STATE}&iss=https%3A%2F%2Fas.example");
    let request = get(listener, &target);
    let browser = async { ask(listener, &request).await };
    let login = async {
        let arrival = listener.arrival(STATE).await;
        let address = arrival.address().clone();
        arrival.show(Page::Done).await;
        address
    };
    let (page, address) = tokio::join!(browser, login);
    assert!(page.starts_with("HTTP/1.1 200 "), "{page}");
    assert!(page.contains("You are logged in"), "{page}");
    assert!(!page.contains(STATE), "{page}");
    assert_eq!(address.query_pairs().next().unwrap().1, "c");
}

#[tokio::test]
async fn the_port_is_open_on_this_machine_only_and_chosen_by_the_kernel() {
    let (one, other) = (bound().await, bound().await);
    assert!(one.socket.local_addr().unwrap().ip().is_loopback());
    assert_ne!(one.redirect(), other.redirect());
    assert_eq!(one.redirect().path(), "/callback");
    right_answer_still_counts(&one).await;
}

#[tokio::test]
async fn requests_that_are_not_the_answer_change_nothing() {
    let listener = bound().await;
    let port = listener.redirect().port().unwrap();
    let good = format!("/callback?code=c&state={STATE}");
    let host = format!("Host: 127.0.0.1:{port}\r\n");
    let cases: Vec<(String, &str)> = vec![
        (
            format!("GET /callback?code=c&state=wrong HTTP/1.1\r\n{host}\r\n"),
            "400",
        ),
        (
            format!("GET /callback?code=c HTTP/1.1\r\n{host}\r\n"),
            "400",
        ),
        (
            format!("GET /callback?code=c&state= HTTP/1.1\r\n{host}\r\n"),
            "400",
        ),
        (
            format!("GET {good}&state=other HTTP/1.1\r\n{host}\r\n"),
            "400",
        ),
        (
            format!("GET /callback?error=access_denied HTTP/1.1\r\n{host}\r\n"),
            "400",
        ),
        (
            format!("GET /other?code=c&state={STATE} HTTP/1.1\r\n{host}\r\n"),
            "404",
        ),
        (
            format!("GET /callback/?code=c&state={STATE} HTTP/1.1\r\n{host}\r\n"),
            "404",
        ),
        (format!("GET / HTTP/1.1\r\n{host}\r\n"), "404"),
        (format!("POST {good} HTTP/1.1\r\n{host}\r\n"), "405"),
        (format!("HEAD {good} HTTP/1.1\r\n{host}\r\n"), "405"),
        (
            format!("GET {good} HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
            "404",
        ),
        (
            format!("GET {good} HTTP/1.1\r\nHost: evil.example:{port}\r\n\r\n"),
            "404",
        ),
        (format!("GET {good} HTTP/1.1\r\n{host}{host}\r\n"), "400"),
        (format!("GET {good} HTTP/1.1\r\n\r\n"), "400"),
        (
            format!("GET http://evil.example{good} HTTP/1.1\r\n{host}\r\n"),
            "400",
        ),
        (
            format!("GET //evil.example{good} HTTP/1.1\r\n{host}\r\n"),
            "400",
        ),
        (format!("GET {good} HTTP/2\r\n{host}\r\n"), "400"),
        (format!("GET {good}\r\n{host}\r\n"), "400"),
        (format!("GET  {good} HTTP/1.1\r\n{host}\r\n"), "400"),
        ("\r\n\r\n".to_owned(), "400"),
    ];
    let attack = async {
        for (request, status) in &cases {
            let answer = ask(&listener, request.as_bytes()).await;
            assert!(
                answer.starts_with(&format!("HTTP/1.1 {status} ")),
                "{request:?}: {answer}"
            );
            assert!(!answer.contains(STATE), "{answer}");
        }
        let answer = ask(&listener, b"GET \xff\xfe HTTP/1.1\r\n\r\n").await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    };
    tokio::select! {
        () = attack => {}
        _ = listener.arrival(STATE) => panic!("taken for the answer"),
    }
    right_answer_still_counts(&listener).await;
}

#[tokio::test]
async fn a_huge_request_is_cut_off() {
    let listener = bound().await;
    let mut huge = get(
        &listener,
        &format!("/callback?code={}", "x".repeat(1 << 20)),
    );
    huge.truncate(1 << 20);
    let attack = async {
        let answer = ask(&listener, &huge).await;
        // The kernel may take the answer back, since not all was read.
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 431 "),
            "{answer}"
        );
    };
    tokio::select! {
        () = attack => {}
        _ = listener.arrival(STATE) => panic!("taken for the answer"),
    }
    right_answer_still_counts(&listener).await;
}

#[tokio::test]
async fn many_silent_connections_do_not_keep_the_browser_out() {
    let listener = bound().await;
    let mut silent = Vec::new();
    let flood = async {
        for number in 0..300 {
            let mut stream = connect(&listener).await;
            if number % 2 == 0 {
                stream.write_all(b"GET /callback?").await.unwrap();
            }
            silent.push(stream);
        }
    };
    tokio::select! {
        () = flood => {}
        _ = listener.arrival(STATE) => panic!("taken for the answer"),
    }
    right_answer_still_counts(&listener).await;
}

#[tokio::test]
async fn an_address_of_the_callers_choice_must_lead_here() {
    let taken = bound().await;
    let port = taken.redirect().port().unwrap();
    assert!(
        Listener::bind(Some(&format!("http://127.0.0.1:{port}/x")))
            .await
            .is_err()
    );
    drop(taken);
    let named = format!("http://localhost:{port}/oauth/back");
    // Another test may have got the port meanwhile, for a moment.
    let mut tried = 0;
    let listener = loop {
        match Listener::bind(Some(&named)).await {
            Ok(listener) => break listener,
            Err(error) if tried == 50 => panic!("{error}"),
            Err(_) => tried += 1,
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    };
    assert_eq!(listener.redirect().as_str(), named);
    for bad in [
        "https://localhost/callback",
        "http://example.com/callback",
        "http://0.0.0.0:80/callback",
        "http://localhost@evil.example/",
        "http://localhost/callback?a=b",
        "http://localhost/callback#part",
        "myapp://callback",
        "callback",
    ] {
        assert!(Listener::bind(Some(bad)).await.is_err(), "{bad}");
    }
}
