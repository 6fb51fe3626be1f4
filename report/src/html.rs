//! HTML: text in it, tables, and the style of the page.

use std::fmt::Write;

/// Text with the characters that have a meaning in HTML escaped.
pub fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            // Control characters cannot be in a document.
            other if other.is_control() && other != '\n' => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

/// A table with a heading.
pub fn table(heading: &[&str], rows: &[Vec<String>]) -> String {
    let mut html = r#"<div class="wide"><table><thead><tr>"#.to_owned();
    for cell in heading {
        let _ = write!(html, "<th>{}</th>", escape(cell));
    }
    html += "</tr></thead><tbody>";
    for row in rows {
        let cells = row.iter().map(|cell| format!("<td>{}</td>", escape(cell)));
        let _ = write!(html, "<tr>{}</tr>", cells.collect::<String>());
    }
    html + "</tbody></table></div>"
}

/// A list of names and what they are.
pub fn list(pairs: &[(&str, String)]) -> String {
    let entry = |(name, value): &(&str, String)| {
        format!(
            "<div><dt>{}</dt><dd>{}</dd></div>",
            escape(name),
            escape(value)
        )
    };
    format!("<dl>{}</dl>", pairs.iter().map(entry).collect::<String>())
}

/// A page with this title and these contents.
pub fn page(title: &str, contents: &str) -> String {
    let title = escape(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\
         <meta name=\"color-scheme\" content=\"light dark\"/><title>{title}</title>\
         <style>{}{}</style></head><body><main>{contents}</main></body></html>\n",
        include_str!("style.css"),
        choices()
    )
}

/// The most choices of a set.
pub const MOST_CHOICES: usize = 12;

/// The style that shows what is chosen, without a script.
fn choices() -> String {
    let rule = |n: usize| {
        format!(
            ".choices>input:nth-of-type({n}):checked~.choice:nth-of-type({n}){{display:grid}}\n"
        )
    };
    (1..=MOST_CHOICES).map(rule).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_no_tags() {
        assert_eq!(
            escape("a<b> & \"c\"\u{1b}[0m"),
            "a&lt;b&gt; &amp; &quot;c&quot;\u{fffd}[0m"
        );
        assert!(table(&["<"], &[vec![">".to_owned()]]).contains("<th>&lt;</th>"));
    }
}
