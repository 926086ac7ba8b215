//! Times as the log writes them: RFC 3339, UTC, milliseconds, always as many characters,
//! so that texts compare like times.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

const DAY: i64 = 86_400;

/// Tells the time. A trait, so that tests can tell their own.
pub trait Clock: Send + Sync {
    fn now(&self) -> SystemTime;
}

pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}

/// The time as text. Times before 1970 are not in any log; they become its first moment.
pub fn stamp(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let seconds = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
    text(seconds, since.subsec_millis())
}

/// Understands what people write: a day, a day and a time (UTC unless it says otherwise),
/// or how long ago (`90s`, `15m`, `2h`, `3d`). Answers with a time as the log writes it.
pub fn parse(written: &str, now: SystemTime) -> Option<String> {
    let written = written.trim();
    if let Some(ago) = ago(written) {
        return Some(stamp(now.checked_sub(ago)?));
    }
    let (date, time) = match written.split_once(['T', 't', ' ']) {
        Some((date, time)) => (date, Some(time)),
        None => (written, None),
    };
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    if !(1970..=9999).contains(&year) || !(1..=12).contains(&month) || day < 1 {
        return None;
    }
    let start = days(year, month, day) * DAY;
    // A day that its month does not have comes back as another one.
    if civil(start / DAY) != (year, month, day) {
        return None;
    }
    let (seconds, millis) = match time {
        None => (0, 0),
        Some(time) => clock_time(time)?,
    };
    let seconds = start + seconds;
    (seconds >= 0).then(|| text(seconds, millis))
}

fn text(seconds: i64, millis: u32) -> String {
    let (year, month, day) = civil(seconds / DAY);
    let rest = seconds % DAY;
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{millis:03}Z",
        rest / 3600,
        rest / 60 % 60,
        rest % 60
    )
}

fn ago(written: &str) -> Option<Duration> {
    let unit = match written.chars().last()? {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        _ => return None,
    };
    let count: u64 = written[..written.len() - 1].parse().ok()?;
    Some(Duration::from_secs(count.checked_mul(unit)?))
}

/// `12:30`, `12:30:05`, `12:30:05.250`, each with `Z` or `+02:00` behind it or nothing.
fn clock_time(time: &str) -> Option<(i64, u32)> {
    let (time, offset) = match time.find(['Z', 'z', '+', '-']) {
        None => (time, 0),
        Some(at) => match time.split_at(at) {
            (time, "Z" | "z") => (time, 0),
            (time, offset) => {
                let [hours, minutes] = numbers(offset.get(1..)?, ':', [2, 2])?;
                let seconds = hours * 3600 + minutes * 60;
                (
                    time,
                    if offset.starts_with('-') {
                        -seconds
                    } else {
                        seconds
                    },
                )
            }
        },
    };
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let [hours, minutes, seconds] = match numbers(time, ':', [2, 2, 2]) {
        Some(all) => all,
        None => {
            let [hours, minutes] = numbers(time, ':', [2, 2])?;
            [hours, minutes, 0]
        }
    };
    let fits = hours < 24 && minutes < 60 && seconds < 61;
    if !fits || fraction.is_empty() || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let millis: String = fraction.chars().chain("00".chars()).take(3).collect();
    Some((
        hours * 3600 + minutes * 60 + seconds - offset,
        millis.parse().ok()?,
    ))
}

/// Numbers with exactly so many digits each.
fn numbers<const N: usize>(text: &str, between: char, digits: [usize; N]) -> Option<[i64; N]> {
    let mut parts = text.split(between);
    let mut found = [0; N];
    for (number, digits) in found.iter_mut().zip(digits) {
        let part = parts.next()?;
        if part.len() != digits || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        *number = part.parse().ok()?;
    }
    parts.next().is_none().then_some(found)
}

/// Days since 1970 of a date, by counting years from March: the leap day comes last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year / 4 - year / 100 + year / 400 + of_year - 719_468
}

/// The date of a day since 1970.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_rfc_3339() {
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400, "2000-02-29T00:00:00.000Z"),
            (1_709_251_199, "2024-02-29T23:59:59.000Z"),
            (4_107_542_400, "2100-03-01T00:00:00.000Z"),
        ] {
            let time = UNIX_EPOCH + Duration::from_secs(seconds);
            assert_eq!(stamp(time), expected);
            assert_eq!(parse(expected, UNIX_EPOCH).as_deref(), Some(expected));
        }
        assert_eq!(
            stamp(UNIX_EPOCH + Duration::from_micros(1_234_567)),
            "1970-01-01T00:00:01.234Z"
        );
    }

    #[test]
    fn every_day_of_two_centuries_comes_back() {
        for day in 0..73_000 {
            let (year, month, date) = civil(day);
            assert_eq!(days(year, month, date), day);
        }
    }

    #[test]
    fn people_write_times_in_several_ways() {
        let now = UNIX_EPOCH + Duration::from_secs(1_709_251_199);
        for (written, expected) in [
            ("2024-02-29", Some("2024-02-29T00:00:00.000Z")),
            ("2024-02-29 12:30", Some("2024-02-29T12:30:00.000Z")),
            (
                "2024-02-29T12:30:05.25+02:00",
                Some("2024-02-29T10:30:05.250Z"),
            ),
            (
                "2024-02-29T23:30:00-01:00",
                Some("2024-03-01T00:30:00.000Z"),
            ),
            ("2h", Some("2024-02-29T21:59:59.000Z")),
            ("1d", Some("2024-02-28T23:59:59.000Z")),
            ("2023-02-29", None),
            ("2024-13-01", None),
            ("2024-2-1", None),
            ("2024-02-29T25:00", None),
            ("2024-02-29T10:00:00.x", None),
            ("yesterday", None),
            ("é", None),
            ("", None),
        ] {
            assert_eq!(parse(written, now).as_deref(), expected, "{written}");
        }
    }
}
