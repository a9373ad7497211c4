use super::*;
use crate::testing::{assert_close, count, items, number, numbers, values, vector};

#[test]
fn the_reference_is_followed() {
    let reference = vector("adaboost_olmpp");
    let params = &reference["params"];
    let problem = Problem::new(count(&reference["K"]), count(&reference["d"]));
    let [copies, horizon, candidates] = ["N", "T", "candidates"].map(|name| &params[name]);
    let set = format!("weak=best-stump copies={copies} horizon={horizon} candidates={candidates}");
    let params = crate::registry::LEARNERS.read("adaboost-olm", &values(&set)).expect("known");
    let mut learner = AdaBoostOlm::new(params, problem, 0).expect("valid");
    let mut at = learner.prediction();
    for (t, round) in items(&reference["rounds"]).iter().enumerate() {
        let (x, y) = (numbers(&reference["x"][t]), count(&reference["y"][t]));
        learner.predict(Features::Dense(&x), &mut at);
        let chain = learner.chain(&at);
        assert_eq!(chain.named, items(&round["weak"]).iter().map(count).collect::<Vec<_>>(), "round {t}");
        let lists = [
            ("s", chain.logits.concat()),
            ("prefix_labels", chain.labels.iter().map(|l| *l as f64).collect()),
            ("prefix_weights", learner.prefix_weights()),
            ("p", at.probabilities.clone()),
        ];
        for (name, got) in lists {
            let want = numbers(&round[name]);
            assert_eq!(got.len(), want.len(), "{name}");
            for (got, want) in got.iter().zip(want) {
                assert_close(*got, want, 1e-9, &format!("{name}, round {t}"));
            }
        }
        // The reference draws a prefix; this learner draws a label.
        let prefix = crate::prediction::draw(&learner.prefix_weights(), number(&reference["u"][t]));
        assert_eq!(chain.labels[prefix.index()], count(&round["played"]), "round {t}");
        learner.update(Features::Dense(&x), Target::class(y), &at);
        let mistakes: Vec<u64> = items(&round["mistakes_after"]).iter().map(|m| count(m) as u64).collect();
        assert_eq!(learner.mistakes(), mistakes, "round {t}");
    }
}
