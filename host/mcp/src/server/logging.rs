//! What a client hears beside results: progress and log lines, one after the other.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken,
};
use rmcp::service::Peer;
use serde_json::Value;
use tokio::sync::mpsc;
use toolbay_contract::{LogLevel, Progress};

/// Who says the lines of the log.
const LOGGER: &str = "toolbay";
/// Between two lines of a log: a tool that floods must not drown what else a client hears.
const PACE: Duration = Duration::from_millis(2);

pub(super) enum Note {
    Progress { percent: Option<u8>, text: String },
    Log { level: LoggingLevel, text: String },
}

pub(super) fn level(level: LogLevel) -> LoggingLevel {
    match level {
        LogLevel::Debug => LoggingLevel::Debug,
        LogLevel::Info => LoggingLevel::Info,
        LogLevel::Warn => LoggingLevel::Warning,
        LogLevel::Error => LoggingLevel::Error,
    }
}

/// Progress in words; what only the tool's own view understands is none.
pub(super) fn progress(progress: Progress) -> Option<Note> {
    let text = match progress {
        Progress::Text(text) => text,
        Progress::Output(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Progress::Percent(percent) => {
            return Some(Note::Progress {
                percent: Some(percent),
                text: format!("{percent} %"),
            });
        }
        Progress::Dropped => "(more was said than may be shown)".into(),
        Progress::Custom { .. } | Progress::Log { .. } => return None,
    };
    Some(Note::Progress {
        percent: None,
        text,
    })
}

/// Sends what comes until nobody has more to say.
pub(super) fn sending(
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    waiting: usize,
) -> mpsc::Sender<Note> {
    let (sender, mut notes) = mpsc::channel::<Note>(waiting);
    tokio::spawn(async move {
        let mut meter = Meter::default();
        while let Some(note) = notes.recv().await {
            let sent = match note {
                Note::Progress { percent, text } => {
                    let Some(token) = token.clone() else {
                        continue;
                    };
                    let (progress, total) = meter.next(percent);
                    let mut told = ProgressNotificationParam::new(token, progress);
                    told.total = total;
                    told.message = Some(text);
                    peer.notify_progress(told).await
                }
                Note::Log { level, text } => {
                    let mut told = LoggingMessageNotificationParam::new(level, Value::String(text));
                    told.logger = Some(LOGGER.into());
                    let sent = peer.notify_logging_message(told).await;
                    tokio::time::sleep(PACE).await;
                    sent
                }
            };
            if sent.is_err() {
                return;
            }
        }
    });
    sender
}

/// Progress must grow with each notification, whatever the tool says.
#[derive(Default)]
struct Meter {
    last: Option<f64>,
    counts: bool,
}

impl Meter {
    fn next(&mut self, percent: Option<u8>) -> (f64, Option<f64>) {
        let percent = percent.map(f64::from);
        if let Some(percent) = percent
            && !self.counts
            && self.last.is_none_or(|last| last < percent)
        {
            self.last = Some(percent);
            return (percent, Some(100.0));
        }
        // From the first word that is no percentage on, all there is to count is words.
        self.counts = true;
        let next = self.last.map_or(1.0, |last| last + 1.0);
        self.last = Some(next);
        (next, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_always_grows() {
        let mut meter = Meter::default();
        let said = [Some(0), Some(50), Some(20), None, Some(60), Some(100)];
        let told: Vec<f64> = said.iter().map(|percent| meter.next(*percent).0).collect();
        assert!(told.is_sorted_by(|a, b| a < b), "{told:?}");
        assert_eq!(told[..2], [0.0, 50.0]);
    }
}
