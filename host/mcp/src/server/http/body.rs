//! Bodies of answers, and what has to last as long as they do.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Frame, SizeHint};

use super::connections::OnConnection;
use super::requests::UnderWay;
use super::sessions::InSession;
use super::shares::Share;

/// A body that gives back what its request holds when it ends.
pub(super) struct Held {
    body: BoxBody<Bytes, Infallible>,
    _keeps: Option<Keeps>,
}

/// What a request holds until its answer has ended.
pub(super) struct Keeps {
    pub(super) _connection: OnConnection,
    pub(super) _under_way: UnderWay,
    pub(super) _session: Option<InSession>,
    pub(super) _id: Option<Taken>,
    pub(super) _memory: Option<Share>,
}

impl Held {
    pub(super) fn new(body: BoxBody<Bytes, Infallible>, keeps: Keeps) -> Self {
        Self {
            body,
            _keeps: Some(keeps),
        }
    }

    pub(super) fn of(text: impl Into<Bytes>) -> Self {
        Self {
            body: Full::new(text.into()).boxed(),
            _keeps: None,
        }
    }
}

impl Body for Held {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The requests under way, by session and id.
#[derive(Clone, Default)]
pub(super) struct Ids {
    taken: Arc<Mutex<std::collections::HashSet<(String, String)>>>,
}

/// An id that a request has as long as it is under way.
pub(super) struct Taken {
    ids: Ids,
    id: (String, String),
}

impl Ids {
    /// Takes an id, unless it is taken.
    pub(super) fn take(&self, session: &str, id: &serde_json::Value) -> Option<Taken> {
        let id = (session.to_owned(), id.to_string());
        let mut all = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(id.clone()).then(|| Taken {
            ids: self.clone(),
            id,
        })
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let mut all = self
            .ids
            .taken
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        all.remove(&self.id);
    }
}
