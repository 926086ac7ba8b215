//! A tool's questions as a form, and the form as answers.

use serde_json::{Map, Value, json};
use toolbay_contract::Question;

/// The longest name of a field.
const LONGEST: usize = 48;

pub(super) fn message(questions: &[Question]) -> String {
    let texts: Vec<&str> = questions.iter().map(|one| one.text.as_str()).collect();
    texts.join("\n")
}

/// The name under which a client answers all of them.
pub(super) fn key(questions: &[Question]) -> String {
    let header = questions.first().map(|one| one.header.as_str());
    let name = name(header.unwrap_or_default());
    match name.as_str() {
        // A tool must not be able to ask for a permission in its own words.
        "" | super::PERMISSION => "question".into(),
        _ => name,
    }
}

/// A field for each question. Where there are choices, a second field takes what is none of them.
pub(super) fn schema(questions: &[Question]) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (at, question) in questions.iter().enumerate() {
        let field = field(questions, at);
        let title = &question.text;
        let one = match (question.options.is_empty(), question.multiple) {
            (true, _) => json!({"type": "string", "title": title}),
            (false, false) => {
                json!({"type": "string", "title": title, "enum": question.options})
            }
            (false, true) => json!({
                "type": "array", "title": title,
                "items": {"type": "string", "enum": question.options},
            }),
        };
        properties.insert(field.clone(), one);
        if question.options.is_empty() {
            required.push(field);
        } else {
            let title = format!("Another answer: {title}");
            properties.insert(other(&field), json!({"type": "string", "title": title}));
        }
    }
    json!({"type": "object", "properties": properties, "required": required})
}

/// The answers, in the order of the questions; none where the form was left empty.
pub(super) fn answers(questions: &[Question], content: &Value) -> Vec<Vec<String>> {
    let mut answers: Vec<Vec<String>> = (0..questions.len())
        .map(|at| {
            let field = field(questions, at);
            let mut given = texts(&content[&field]);
            given.extend(texts(&content[other(&field)]));
            given
        })
        .collect();
    // Whoever answers a single question with a single word means that question.
    if let ([question], [given], Some(content)) = (questions, &mut answers[..], content.as_object())
        && given.is_empty()
        && question.options.is_empty()
        && content.len() == 1
    {
        given.extend(content.values().flat_map(texts));
    }
    answers
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => vec![text.clone()],
        Value::Array(all) => all.iter().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

/// The field of a question: its header, if no other has the same.
fn field(questions: &[Question], at: usize) -> String {
    let name_of = |question: &Question| name(&question.header);
    let own = questions.get(at).map(name_of).unwrap_or_default();
    let taken = questions.iter().filter(|one| name_of(one) == own).count() > 1;
    match own.is_empty() || taken || own.ends_with(OTHER) {
        true => format!("answer{}", at + 1),
        false => own,
    }
}

const OTHER: &str = "_other";

fn other(field: &str) -> String {
    format!("{field}{OTHER}")
}

/// What forms can be trusted to carry as a name.
fn name(header: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let name = header.trim().chars().take(LONGEST);
    name.map(|c| if fits(c) { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(header: &str, options: &[&str], multiple: bool) -> Question {
        Question {
            header: header.into(),
            text: format!("{header}?"),
            options: options.iter().map(|option| (*option).into()).collect(),
            multiple,
        }
    }

    #[test]
    fn answers_come_in_the_order_of_the_questions() {
        let asked = [
            question("Colour", &["red", "blue"], false),
            question("name", &[], false),
            question("Sizes", &["s", "m"], true),
        ];
        let content = json!({
            "Sizes": ["m"], "Sizes_other": "xxl", "name": "Ada", "Colour": "blue", "more": "no",
        });
        let given = answers(&asked, &content);
        assert_eq!(given, [vec!["blue"], vec!["Ada"], vec!["m", "xxl"]]);
        let schema = schema(&asked);
        assert_eq!(schema["required"], json!(["name"]));
        for odd in [json!(null), json!([]), json!({"name": 5}), json!("x")] {
            assert_eq!(answers(&asked, &odd), [[""; 0]; 3], "{odd}");
        }
    }

    #[test]
    fn no_tool_asks_for_permission_in_its_own_words() {
        assert_eq!(key(&[question("permission", &[], false)]), "question");
        assert_eq!(key(&[question(" permission ", &[], false)]), "question");
        assert_eq!(key(&[question("user name", &[], false)]), "user_name");
        assert_eq!(key(&[]), "question");
    }

    #[test]
    fn fields_have_names_of_their_own() {
        let asked = [question("a", &[], false), question("a", &[], false)];
        assert_eq!(field(&asked, 0), "answer1");
        assert_eq!(field(&asked, 1), "answer2");
        let asked = [
            question("a", &["x"], false),
            question("a_other", &[], false),
        ];
        assert_eq!(field(&asked, 1), "answer2");
    }
}
