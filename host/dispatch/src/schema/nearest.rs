//! The known name that somebody probably meant.

/// Longer names are not compared: the work grows with the product of the lengths.
const LONGEST: usize = 64;
/// Among more names than this nobody is helped by a guess.
const MOST: usize = 2_000;

/// The known name nearest to the one given, if any is near at all.
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given = plain(given)?;
    let length = given.chars().count();
    let allowed = (length / 3).clamp(1, 3);
    known
        .into_iter()
        .take(MOST)
        .filter_map(|name| {
            let candidate = plain(name)?;
            let shorter = length.min(candidate.chars().count());
            let within = candidate.contains(&given) || given.contains(&candidate);
            let distance = strsim::osa_distance(&given, &candidate);
            // A name within the other is near, but what is misspelt is nearer.
            let near = if within && shorter >= 4 {
                distance.min(allowed)
            } else {
                distance
            };
            (near <= allowed && near < length).then_some(((near, distance), name))
        })
        .min_by_key(|(nearness, _)| *nearness)
        .map(|(_, name)| name)
}

/// The name without what people and models mix up: case and separators.
fn plain(name: &str) -> Option<String> {
    let fits = name.len() <= LONGEST;
    let letters = name
        .chars()
        .filter(|character| !matches!(character, '_' | '-' | ' ' | '.'))
        .flat_map(char::to_lowercase);
    let plain: String = if fits {
        letters.collect()
    } else {
        String::new()
    };
    (!plain.is_empty()).then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_near_is_suggested_and_nothing_else() {
        let known = [
            "file_path",
            "offset",
            "limit",
            "-A",
            "replace_all",
            "日本語",
        ];
        let long = "x".repeat(100_000);
        for (given, wanted) in [
            ("filePath", Some("file_path")),
            ("file-path", Some("file_path")),
            ("fiel_path", Some("file_path")),
            ("path", Some("file_path")),
            ("limits", Some("limit")),
            ("replaceAll", Some("replace_all")),
            ("日本", Some("日本語")),
            ("a", Some("-A")),
            ("b", None),
            ("pattern", None),
            ("", None),
            ("__", None),
            (&long, None),
        ] {
            assert_eq!(nearest(given, known), wanted, "{given}");
        }
    }
}
