//! A small web server in the test's own program.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use reqwest::Url;
use serde_json::Value;
use tokio::net::TcpListener;

/// One request, as far as tests care.
#[derive(Debug, Clone)]
pub struct Seen {
    pub method: String,
    pub path: String,
    pub query: HashMap<String, String>,
    pub headers: HashMap<String, String>,
    pub body: String,
}

impl Seen {
    pub fn form(&self) -> HashMap<String, String> {
        pairs(&self.body)
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    pub fn bearer(&self) -> Option<&str> {
        self.headers.get("authorization")?.strip_prefix("Bearer ")
    }
}

pub fn pairs(query: &str) -> HashMap<String, String> {
    let url = Url::parse(&format!("http://x/?{query}")).unwrap();
    url.query_pairs().into_owned().collect()
}

#[derive(Debug, Clone)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
}

impl Reply {
    pub fn status(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: String::new(),
        }
    }

    /// An answer that does not come.
    pub fn never() -> Self {
        Self::status(0)
    }

    pub fn json(status: u16, body: &Value) -> Self {
        Self::status(status)
            .with("content-type", "application/json")
            .body(body.to_string())
    }

    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub fn body(mut self, body: impl Into<String>) -> Self {
        self.body = body.into();
        self
    }
}

#[derive(Clone)]
pub struct Web {
    pub base: String,
    log: Arc<Mutex<Vec<Seen>>>,
}

impl Web {
    /// Serves until the test's runtime ends.
    pub async fn start(answer: impl Fn(&str, &Seen) -> Reply + Send + Sync + 'static) -> Self {
        let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", socket.local_addr().unwrap());
        let web = Self {
            base,
            log: Arc::default(),
        };
        let (served, answer) = (web.clone(), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((stream, _)) = socket.accept().await {
                let (web, answer) = (served.clone(), answer.clone());
                tokio::spawn(async move {
                    let service = service_fn(move |request| {
                        let (web, answer) = (web.clone(), answer.clone());
                        async move { Ok::<_, Infallible>(web.serve(&*answer, request).await) }
                    });
                    let connection = hyper::server::conn::http1::Builder::new();
                    let _ = connection
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        web
    }

    async fn serve(
        &self,
        answer: &(impl Fn(&str, &Seen) -> Reply + ?Sized),
        request: hyper::Request<Incoming>,
    ) -> hyper::Response<Full<Bytes>> {
        let (head, body) = request.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let seen = Seen {
            method: head.method.to_string(),
            path: head.uri.path().to_owned(),
            query: pairs(head.uri.query().unwrap_or_default()),
            headers: head
                .headers
                .iter()
                .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
                .collect(),
            body: String::from_utf8(body.to_vec()).unwrap(),
        };
        self.log.lock().unwrap().push(seen.clone());
        let reply = answer(&self.base, &seen);
        if reply.status == 0 {
            std::future::pending::<()>().await;
        }
        let mut response = hyper::Response::builder().status(reply.status);
        for (name, value) in reply.headers {
            response = response.header(name, value);
        }
        response.body(Full::new(reply.body.into())).unwrap()
    }

    /// What was asked at a path, in order.
    pub fn seen(&self, path: &str) -> Vec<Seen> {
        let log = self.log.lock().unwrap();
        log.iter()
            .filter(|seen| seen.path == path)
            .cloned()
            .collect()
    }

    pub fn everything(&self) -> Vec<Seen> {
        self.log.lock().unwrap().clone()
    }
}
