//! A self-contained HTML page, with its style sheet and without scripts or external resources.

use std::fmt::Write;

use serde_json::Value;

const STYLE: &str = include_str!("style.css");

/// A page under construction.
#[derive(Clone, Debug, Default)]
pub struct Document {
    title: String,
    body: String,
}

impl Document {
    /// A page with a title, and a line below it.
    pub fn new(title: &str, below: &str) -> Self {
        let body = format!("<header><h1>{}</h1><p>{}</p></header><main>", escape(title), escape(below));
        Self { title: title.to_owned(), body }
    }

    /// The main figures, as (name, value, remark).
    pub fn tiles(&mut self, tiles: &[(String, String, String)]) {
        self.body += "<dl class=\"tiles\">";
        for (name, value, remark) in tiles {
            let (name, value, remark) = (escape(name), escape(value), escape(remark));
            let _ = write!(self.body, "<div><dt>{name}</dt><dd>{value}<small>{remark}</small></dd></div>");
        }
        self.body += "</dl>";
    }

    /// A section for charts and tables.
    pub fn heading(&mut self, title: &str) {
        let _ = write!(self.body, "<h2>{}</h2>", escape(title));
    }

    /// Starts a group of charts that are side by side on wide screens.
    pub fn begin_row(&mut self) {
        self.body += "<div class=\"row\">";
    }

    /// Ends the group.
    pub fn end_row(&mut self) {
        self.body += "</div>";
    }

    /// A chart, table or other HTML fragment with a title and a caption.
    pub fn figure(&mut self, title: &str, html: &str, caption: &str) {
        let (title, caption) = (escape(title), escape(caption));
        let _ = write!(
            self.body,
            "<figure><h3>{title}</h3><div class=\"scroll\">{html}</div><figcaption>{caption}</figcaption></figure>"
        );
    }

    /// A sentence.
    pub fn paragraph(&mut self, text: &str) {
        let _ = write!(self.body, "<p>{}</p>", escape(text));
    }

    /// A table of names and values.
    pub fn list(&mut self, items: &[(String, String)]) {
        self.body += "<table class=\"list\"><tbody>";
        for (name, value) in items {
            let _ = write!(
                self.body,
                "<tr><th scope=\"row\">{}</th><td>{}</td></tr>",
                escape(name),
                escape(value)
            );
        }
        self.body += "</tbody></table>";
    }

    /// A table with a header; all columns but the first are numbers.
    pub fn table(&mut self, header: &[String], rows: &[Vec<String>]) {
        self.body += "<div class=\"scroll\"><table class=\"numbers\"><thead><tr>";
        for name in header {
            let _ = write!(self.body, "<th scope=\"col\">{}</th>", escape(name));
        }
        self.body += "</tr></thead><tbody>";
        for row in rows {
            self.body += "<tr>";
            for cell in row {
                let _ = write!(self.body, "<td>{}</td>", escape(cell));
            }
            self.body += "</tr>";
        }
        self.body += "</tbody></table></div>";
    }

    /// The content of the page as a fragment, for example for a notebook, with styles restricted to the
    /// fragment. It has its own background, so that it can be read where the system is dark and the notebook
    /// is not.
    pub fn fragment(self) -> String {
        let style = STYLE.replace(":root", "&").replace("\nbody {", "\n& {");
        format!("<div class=\"noregret\"><style>.noregret {{ {style} }}</style>{}</main></div>", self.body)
    }

    /// The page; `data` is embedded as JSON, for other programs.
    pub fn finish(self, data: &Value) -> String {
        // Inside a script element, only "</" could end it.
        let data = data.to_string().replace("</", "<\\/");
        format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
             <meta name=\"color-scheme\" content=\"light dark\">\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\
             <title>{}</title>\n<style>\n{STYLE}</style></head>\n<body>{}</main>\
             <footer><p>Made by noregret {}. The numbers behind the curves are in this file, as JSON in the element \
             with the id <code>data</code>.</p></footer>\n\
             <script type=\"application/json\" id=\"data\">{data}</script></body></html>\n",
            escape(&self.title),
            self.body,
            env!("CARGO_PKG_VERSION")
        )
    }
}

/// Escapes text for HTML. No dependency of the project has this function.
pub(in crate::draw) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A count with separated thousands.
pub(super) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_breaks_out_of_its_element() {
        let mut page = Document::new("<script>", "a & b");
        page.list(&[("\"".to_owned(), "<img>".to_owned())]);
        let html = page.finish(&serde_json::json!({ "name": "</script><b>" }));
        assert_eq!(html.matches("<script").count(), 1, "{html}");
        assert_eq!(html.matches("</script>").count(), 1, "{html}");
        assert!(!html.contains("<img>") && html.contains("a &amp; b"));
        assert!(!html.contains("http://") && !html.contains("https://"), "nothing is fetched");
    }

    #[test]
    fn counts_are_grouped() {
        for (count, text) in
            [(0, "0"), (999, "999"), (1000, "1\u{202f}000"), (12_345_678, "12\u{202f}345\u{202f}678")]
        {
            assert_eq!(grouped(count), text);
        }
    }
}
