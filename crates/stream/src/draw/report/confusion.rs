//! The confusion matrix.

use std::collections::BTreeMap;
use std::fmt::Write;

use noregret::example::Label;

use super::html::{escape, grouped};

/// Largest number of classes shown as a matrix.
const MOST_CLASSES: usize = 12;
/// Number of classes whose precision and recall are shown.
const MOST_ROWS: usize = 50;
/// Number of mistakes listed instead of a larger matrix.
const MOST_PAIRS: usize = 12;

/// Rounds by true and played class.
#[derive(Clone, Debug, Default)]
pub(super) struct Confusion {
    counts: BTreeMap<(u32, u32), u64>,
}

impl Confusion {
    pub(super) fn add(&mut self, truth: Label, played: Label) {
        *self.counts.entry((truth.0, played.0)).or_default() += 1;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Triples (true class, played class, rounds).
    pub(super) fn triples(&self) -> Vec<(u32, u32, u64)> {
        self.counts.iter().map(|((truth, played), count)| (*truth, *played, *count)).collect()
    }

    fn count(&self, truth: u32, played: u32) -> u64 {
        self.counts.get(&(truth, played)).copied().unwrap_or(0)
    }

    /// For each class that occurred or was played, the most frequent first: name, rounds, precision
    /// and recall.
    pub(super) fn by_class(&self, labels: &[String]) -> Vec<Vec<String>> {
        let mut classes = BTreeMap::<u32, (u64, u64, u64)>::new();
        for ((truth, played), count) in &self.counts {
            classes.entry(*truth).or_default().0 += count;
            classes.entry(*played).or_default().1 += count;
            if truth == played {
                classes.entry(*truth).or_default().2 += count;
            }
        }
        let mut classes: Vec<_> = classes.into_iter().collect();
        classes.sort_by_key(|(_, (rounds, ..))| std::cmp::Reverse(*rounds));
        let share = |part: u64, whole: u64| match whole {
            0 => "–".to_owned(),
            _ => format!("{:.1} %", 100.0 * part as f64 / whole as f64),
        };
        let name = |class: u32| labels.get(class as usize).map_or_else(|| class.to_string(), Clone::clone);
        let row = |(class, (rounds, played, right)): (u32, (u64, u64, u64))| {
            vec![name(class), grouped(rounds), share(right, played), share(right, rounds)]
        };
        classes.into_iter().take(MOST_ROWS).map(row).collect()
    }

    /// The matrix, or the list of the commonest mistakes.
    pub(super) fn html(&self, labels: &[String]) -> String {
        let name =
            |class: u32| labels.get(class as usize).map_or_else(|| class.to_string(), |label| escape(label));
        if labels.len() <= MOST_CLASSES { self.matrix(labels.len() as u32, &name) } else { self.pairs(&name) }
    }

    fn matrix(&self, classes: u32, name: &dyn Fn(u32) -> String) -> String {
        let mut out =
            "<table class=\"matrix\"><caption>Rows: the true class. Columns: the class played. Tint: share \
            of the row.</caption><thead><tr><td></td>"
                .to_owned();
        for played in 0..classes {
            let _ = write!(out, "<th scope=\"col\">{}</th>", name(played));
        }
        out += "<th scope=\"col\">right</th></tr></thead><tbody>";
        for truth in 0..classes {
            let total: u64 = (0..classes).map(|played| self.count(truth, played)).sum();
            let share = |count: u64| count as f64 / total.max(1) as f64;
            let _ = write!(out, "<tr><th scope=\"row\">{}</th>", name(truth));
            for played in 0..classes {
                let count = self.count(truth, played);
                let class = if truth == played { " class=\"same\"" } else { "" };
                let text = if count == 0 { "·".to_owned() } else { grouped(count) };
                let _ = write!(out, "<td{class} style=\"--v:{:.3}\">{text}</td>", share(count));
            }
            let right = if total == 0 {
                "–".to_owned()
            } else {
                format!("{:.1} %", 100.0 * share(self.count(truth, truth)))
            };
            let _ = write!(out, "<td>{right}</td></tr>");
        }
        out + "</tbody></table>"
    }

    fn pairs(&self, name: &dyn Fn(u32) -> String) -> String {
        let mut wrong = self.triples();
        wrong.retain(|(truth, played, _)| truth != played);
        wrong.sort_by_key(|(_, _, count)| std::cmp::Reverse(*count));
        let mut out = "<table><caption>The commonest mistakes.</caption><thead><tr><th scope=\"col\">true class</th>\
            <th scope=\"col\">played</th><th scope=\"col\">rounds</th><th scope=\"col\">share of the class</th></tr></thead><tbody>"
            .to_owned();
        for (truth, played, count) in wrong.iter().take(MOST_PAIRS) {
            let total: u64 =
                self.counts.range((*truth, 0)..=(*truth, u32::MAX)).map(|(_, count)| count).sum();
            let share = 100.0 * *count as f64 / total as f64;
            let (truth, played, count) = (name(*truth), name(*played), grouped(*count));
            let _ = write!(
                out,
                "<tr><td>{truth}</td><td>{played}</td><td>{count}</td><td>{share:.1} %</td></tr>"
            );
        }
        out + "</tbody></table>"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn confusion(triples: &[(u32, u32, u64)]) -> Confusion {
        let mut confusion = Confusion::default();
        for (truth, played, count) in triples {
            (0..*count).for_each(|_| confusion.add(Label(*truth), Label(*played)));
        }
        confusion
    }

    #[test]
    fn few_classes_make_a_matrix() {
        let labels = ["<a>".to_owned(), "b".to_owned()];
        let html = confusion(&[(0, 0, 3), (0, 1, 1), (1, 1, 1200)]).html(&labels);
        assert!(html.contains("&lt;a&gt;") && !html.contains("<a>"), "{html}");
        assert!(html.contains("<td style=\"--v:0.250\">1</td><td>75.0 %</td>"), "{html}");
        assert!(html.contains("<td class=\"same\" style=\"--v:1.000\">1\u{202f}200</td>"), "{html}");
    }

    /// Of 5 rounds played as b, 4 were b; of 5 rounds of b, 4 were played as b; c was never played.
    #[test]
    fn precision_and_recall() {
        let labels = ["a", "b", "c"].map(str::to_owned);
        let rows = confusion(&[(0, 0, 3), (0, 1, 1), (1, 1, 4), (1, 0, 1), (2, 0, 2)]).by_class(&labels);
        let expected =
            [["b", "5", "80.0 %", "80.0 %"], ["a", "4", "50.0 %", "75.0 %"], ["c", "2", "–", "0.0 %"]];
        assert_eq!(rows, expected.map(|row| row.map(str::to_owned).to_vec()));
    }

    #[test]
    fn many_classes_make_a_list_of_mistakes() {
        let labels: Vec<String> = (0..20).map(|class| format!("class {class}")).collect();
        let html = confusion(&[(3, 4, 2), (3, 3, 6), (7, 1, 5)]).html(&labels);
        let (first, second) = (html.find("class 7"), html.find("class 3"));
        assert!(first.is_some() && first < second, "{html}");
        assert!(html.contains("<td>2</td><td>25.0 %</td>"), "{html}");
    }
}
