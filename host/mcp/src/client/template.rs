//! Addresses with something to fill in: whether an address could have been made from one.

/// Whether a URI could come of a template (RFC 6570). What stands in braces may be anything, and
/// within a path only one step of it; the server has the last word.
pub(super) fn fits(template: &str, uri: &str) -> bool {
    tried(template, uri, &mut { MOST_TRIED })
}

/// A template with many braces could be tried in more ways than anybody has time for.
const MOST_TRIED: usize = 10_000;

fn tried(template: &str, uri: &str, left_to_try: &mut usize) -> bool {
    let Some(open) = template.find('{') else {
        return template == uri;
    };
    let (literal, rest) = template.split_at(open);
    let Some(close) = rest.find('}') else {
        return false;
    };
    let Some(left) = uri.strip_prefix(literal) else {
        return false;
    };
    let (expression, after) = (&rest[1..close], &rest[close + 1..]);
    let is_simple = expression.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let is_end = |c: char| is_simple && matches!(c, '/' | '?' | '#');
    let most = left.find(is_end).unwrap_or(left.len());
    let least = usize::from(is_simple);
    let ends = left.char_indices().map(|(at, _)| at).chain([left.len()]);
    let mut ends = ends.filter(|end| (least..=most).contains(end));
    ends.any(|end| {
        *left_to_try = left_to_try.saturating_sub(1);
        *left_to_try > 0 && tried(after, &left[end..], left_to_try)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_fits_what_it_could_be_made_from() {
        for (template, uri, wanted) in [
            ("x://a", "x://a", true),
            ("x://a", "x://ab", false),
            (
                "test://template/{id}/data",
                "test://template/123/data",
                true,
            ),
            ("test://template/{id}/data", "test://template//data", false),
            (
                "test://template/{id}/data",
                "test://template/1/2/data",
                false,
            ),
            ("x://{+path}", "x://a/b/c", true),
            ("x://{host}/{name}", "x://a/b", true),
            ("x://{host}/{name}", "x://a", false),
            ("x://f{?q}", "x://f?q=1", true),
            ("x://f{?q}", "x://f", true),
            ("x://{a", "x://a", false),
            ("x://{a}é", "x://üé", true),
        ] {
            assert_eq!(fits(template, uri), wanted, "{template} {uri}");
        }
    }

    #[test]
    fn a_template_of_many_braces_ends() {
        let uri = format!("x://{}", "a".repeat(2_000));
        assert!(!fits(&format!("x://{}!", "{+a}".repeat(500)), &uri));
    }
}
