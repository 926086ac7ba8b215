//! What goes along with a connection to a process: its last words, its end, and tasks that end
//! with the connection.

use std::future::pending;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio::time::timeout;
use toolbay_contract::BoxFuture;

use crate::client::bounds;
use crate::client::departures::Stay;
use crate::client::launch::Launched;
use crate::client::wire::{Trouble, excerpt};

type Reader = Box<dyn AsyncRead + Send + Unpin>;
type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// Tasks that end with whoever holds this.
#[derive(Default)]
pub(super) struct Tasks(Vec<AbortHandle>);

impl Tasks {
    pub(super) fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static) {
        self.0.push(tokio::spawn(task).abort_handle());
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        for task in &self.0 {
            task.abort();
        }
    }
}

/// What a process that has ended said is read for so long.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// Held by the connection. When it is dropped, the process is asked to end.
pub(super) struct Presence(#[allow(dead_code)] oneshot::Sender<()>);

/// Looks after a process: keeps its last words, says how it ended, and ends it.
pub(super) fn accompany(
    launched: Launched,
    trouble: Trouble,
    errors: Arc<Tail>,
    stay: Stay,
) -> (Output, Input, Presence) {
    let input = Arc::new(Mutex::new(Some(launched.input)));
    let (hand_over, unread) = oneshot::channel();
    let output = Output {
        inner: Some(launched.output),
        hand_over: Some(hand_over),
    };
    let (presence, alone) = oneshot::channel();
    let mut beside = Tasks::default();
    let (done, heard) = oneshot::channel();
    beside.spawn(async move {
        errors.read(launched.errors).await;
        let _ = done.send(());
    });
    let process = Process {
        life: launched.life,
        input: Input(input.clone()),
        unread,
        heard,
        _beside: beside,
    };
    tokio::spawn(process.until(alone, stay, trouble));
    (output, Input(input), Presence(presence))
}

struct Process {
    life: BoxFuture<'static, String>,
    input: Input,
    /// What it still says when nobody listens any more.
    unread: oneshot::Receiver<Reader>,
    /// All of its last words have been read.
    heard: oneshot::Receiver<()>,
    _beside: Tasks,
}

impl Process {
    /// Until it has ended, by itself or because the connection did.
    async fn until(mut self, mut alone: oneshot::Receiver<()>, stay: Stay, trouble: Trouble) {
        let ended = tokio::select! {
            how = &mut self.life => Some(how),
            _ = &mut alone => None,
            () = stay.over() => None,
        };
        let Some(how) = ended else {
            // To drop it at the end of this is to kill what is left.
            return self.farewell().await;
        };
        drop(stay);
        // Whoever is told how it ended wants to know what it said; what it started may go on for long.
        let _ = timeout(LAST_WORDS, self.heard).await;
        trouble.note(how);
        // Its last words are read as long as somebody may want them.
        let _ = alone.await;
    }

    /// Closes its input, which is how the protocol says that it shall end, and waits for it.
    /// Who is slow with it may still write: a process whose output breaks dies of that.
    async fn farewell(self) {
        let Self {
            life,
            input,
            unread,
            heard: _,
            _beside,
        } = self;
        input.close();
        let listening = async {
            if let Ok(mut output) = unread.await {
                let _ = tokio::io::copy(&mut output, &mut tokio::io::sink()).await;
            }
            pending::<()>().await;
        };
        let leaving = async {
            tokio::select! {
                _ = life => {}
                () = listening => {}
            }
        };
        // Its time is over then, and so is the process when `life` is dropped.
        let _ = timeout(bounds::FAREWELL, leaving).await;
    }
}

/// What a process reads. It can be closed from elsewhere, also while somebody waits to write:
/// one that does not read must not keep its input open by that.
pub(super) struct Input(Arc<Mutex<Option<Writer>>>);

impl Input {
    fn close(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn with<T>(
        &self,
        poll: impl FnOnce(Pin<&mut Writer>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match inner.as_mut() {
            Some(writer) => poll(Pin::new(writer)),
            None => Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
        }
    }
}

impl AsyncWrite for Input {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.with(|writer| writer.poll_write(context, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.with(|writer| writer.poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.with(|writer| writer.poll_shutdown(context))
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        self.close();
    }
}

/// What a process says. Whoever stops listening hands the rest over.
pub(super) struct Output {
    inner: Option<Reader>,
    hand_over: Option<oneshot::Sender<Reader>>,
}

impl AsyncRead for Output {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.inner.as_mut() {
            Some(inner) => Pin::new(inner).poll_read(context, buffer),
            None => Poll::Ready(Ok(())),
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let (Some(inner), Some(hand_over)) = (self.inner.take(), self.hand_over.take()) {
            // Nobody is there to take it if the process has ended.
            let _ = hand_over.send(inner);
        }
    }
}

/// The end of what a process says on its standard error.
#[derive(Default)]
pub(super) struct Tail(Mutex<Vec<u8>>);

impl Tail {
    pub(super) async fn read(self: Arc<Self>, mut errors: Reader) {
        let mut chunk = vec![0; 4096];
        while let Ok(read @ 1..) = errors.read(&mut chunk).await {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend_from_slice(&chunk[..read]);
            let over = kept.len().saturating_sub(bounds::ERRORS);
            kept.drain(..over);
        }
    }

    /// The text, followed by the process's last words.
    pub(super) fn after(&self, text: String) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let begin = kept.len().saturating_sub(600);
        match excerpt(&kept[begin..], 600) {
            said if said.is_empty() => text,
            said => format!("{text}; its last words: {said}"),
        }
    }
}
