//! Shows a person at a terminal that something takes a while, and how long already.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinHandle;

/// What is over sooner needs no sign of life.
const PATIENCE: Duration = Duration::from_secs(1);
const FRAME: Duration = Duration::from_millis(100);
const FRAMES: [char; 8] = ['⣾', '⣽', '⣻', '⢿', '⡿', '⣟', '⣯', '⣷'];

/// Somebody is being asked something on the same lines.
static ASKING: AtomicBool = AtomicBool::new(false);

/// Its line is on the screen.
static SPINNING: AtomicBool = AtomicBool::new(false);

/// Keeps the spinner quiet while a question stands on the screen.
pub struct Quiet(());

impl Quiet {
    pub fn please() -> Self {
        // A line that is being drawn is finished first.
        let mut err = std::io::stderr().lock();
        if SPINNING.swap(false, Ordering::AcqRel) {
            let _ = write!(err, "\r\u{1b}[K");
        }
        ASKING.store(true, Ordering::Release);
        Self(())
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        ASKING.store(false, Ordering::Release);
    }
}

/// Spins until it is dropped. Needs a running tokio.
pub struct Spinner {
    shown: Arc<AtomicBool>,
    task: Option<JoinHandle<()>>,
}

impl Spinner {
    /// Does nothing where nobody would see it.
    pub fn start(label: String) -> Self {
        let shown = Arc::new(AtomicBool::new(false));
        let task = std::io::stderr().is_terminal().then(|| {
            let shown = shown.clone();
            tokio::spawn(async move { spin(&label, &shown).await })
        });
        Self { shown, task }
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
        }
        if self.shown.load(Ordering::Acquire) {
            SPINNING.store(false, Ordering::Release);
            eprint!("\r\u{1b}[K");
        }
    }
}

async fn spin(label: &str, shown: &AtomicBool) {
    let started = Instant::now();
    tokio::time::sleep(PATIENCE).await;
    for frame in 0.. {
        draw(frame, label, started.elapsed(), shown);
        tokio::time::sleep(FRAME).await;
    }
}

fn draw(frame: usize, label: &str, elapsed: Duration, shown: &AtomicBool) {
    let mut err = std::io::stderr().lock();
    if ASKING.load(Ordering::Acquire) {
        return;
    }
    shown.store(true, Ordering::Release);
    SPINNING.store(true, Ordering::Release);
    // A sign of life that cannot be shown is none; the work goes on.
    let _ = write!(err, "\r{}\u{1b}[K", line(frame, label, elapsed)).and_then(|()| err.flush());
}

fn line(frame: usize, label: &str, elapsed: Duration) -> String {
    format!(
        "{} {label} {}",
        FRAMES[frame % FRAMES.len()],
        elapsed_text(elapsed)
    )
}

/// A duration as people say it: tenths of seconds, then seconds, then minutes.
pub fn elapsed_text(elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    match seconds {
        0..=9 => format!("{:.1} s", elapsed.as_secs_f64()),
        10..=59 => format!("{seconds} s"),
        _ => format!("{} min {:02} s", seconds / 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_told_as_people_say_them() {
        for (millis, wanted) in [
            (40, "0.0 s"),
            (1_250, "1.2 s"),
            (9_900, "9.9 s"),
            (10_400, "10 s"),
            (59_999, "59 s"),
            (61_000, "1 min 01 s"),
            (3_600_000, "60 min 00 s"),
        ] {
            assert_eq!(elapsed_text(Duration::from_millis(millis)), wanted);
        }
        let text = line(9, "Read", Duration::from_secs(12));
        assert_eq!(text, "⣽ Read 12 s");
    }
}
