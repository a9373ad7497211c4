//! The table of learners in `docs/which-learner.md` agrees with the registry.

use std::fmt::Write as _;

use noregret::registry::ALGORITHMS;

const BEGIN: &str =
    "<!-- learners: checked against the registry by crates/core/tests/table_of_learners.rs -->\n";
const END: &str = "<!-- /learners -->";

#[test]
fn the_table_of_learners_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/which-learner.md");
    let page = std::fs::read_to_string(path).expect("the page is there");
    let (_, rest) = page.split_once(BEGIN).expect("the table begins");
    let (table, _) = rest.split_once(END).expect("the table ends");
    let mut current = "| learner | what it is | paper |\n|---|---|---|\n".to_owned();
    for entry in ALGORITHMS {
        let about = entry.about;
        writeln!(current, "| `{}` | {} | {} |", about.name, about.summary, about.paper.key)
            .expect("a string");
    }
    assert!(table == current, "the table should be\n\n{current}");
}
