//! Reads back what ripgrep prints with `--null`.

use toolbay_runtime::search::{Hit, Line};

fn hit(path: &[u8], count: u64) -> Hit {
    Hit {
        path: String::from_utf8(path.to_vec()).unwrap(),
        modified_ms: 0,
        count,
        lines: Vec::new(),
    }
}

pub fn paths(output: &[u8]) -> Vec<Hit> {
    output
        .split(|byte| *byte == 0)
        .filter(|path| !path.is_empty())
        .map(|path| hit(path, 1))
        .collect()
}

pub fn counts(output: &[u8]) -> Vec<Hit> {
    rows(output)
        .map(|(path, rest)| hit(path, std::str::from_utf8(rest).unwrap().parse().unwrap()))
        .collect()
}

pub fn lines(output: &[u8]) -> Vec<Hit> {
    let mut hits: Vec<Hit> = Vec::new();
    for (path, rest) in rows(output) {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (number, rest) = rest.split_at(digits);
        // The note on a NUL byte far into a file has no number.
        let Some((mark, text)) = rest.split_first().filter(|_| digits > 0) else {
            continue;
        };
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let is_match = *mark == b':';
        if hits.last().is_none_or(|hit| hit.path.as_bytes() != path) {
            hits.push(hit(path, 0));
        }
        let last = hits.last_mut().unwrap();
        last.count += u64::from(is_match);
        last.lines.push(Line {
            number: std::str::from_utf8(number).unwrap().parse().unwrap(),
            text: String::from_utf8_lossy(text).into_owned(),
            is_match,
        });
    }
    hits
}

/// Rows of a path, a NUL byte and the rest; `--` between groups is none.
fn rows(output: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    output.split(|byte| *byte == b'\n').filter_map(|row| {
        let end = row.iter().position(|byte| *byte == 0)?;
        Some((&row[..end], &row[end + 1..]))
    })
}
