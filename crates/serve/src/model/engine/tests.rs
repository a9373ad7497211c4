use serde_json::{Value, json};

use super::*;
use crate::model::event::Decide;

fn made(spec: &Value) -> Engine {
    let spec: Spec = serde_json::from_value(spec.clone()).expect("a spec");
    Engine::new(spec, &Limits::default()).expect("a model")
}

fn learn(x: Value, y: Value) -> Event {
    Event::Learn { x, y, weight: None, row: None }
}

fn decide(id: &str, body: Value) -> Event {
    let mut body = body;
    body["id"] = id.into();
    Event::Decide(serde_json::from_value(body).expect("a decision"))
}

/// The refused events leave no trace: the state is equal to the last bit before and after, and so are all
/// later answers to those of a model that never met them.
fn leave_no_trace(spec: &Value, good: &[Event], refused: &[Event]) {
    let (mut engine, mut other) = (made(spec), made(spec));
    let (first, second) = good.split_at(good.len() / 2);
    for (at, event) in first.iter().enumerate() {
        engine.apply(at as i64, event).expect("a good event");
        other.apply(at as i64, event).expect("a good event");
    }
    for event in refused {
        let before = engine.snapshot().digest();
        assert!(engine.apply(1000, event).is_err(), "{spec} {event:?}");
        assert_eq!(engine.snapshot().digest(), before, "{spec} {event:?}");
    }
    for (at, event) in second.iter().enumerate() {
        let (_, mine) = engine.apply(at as i64, event).expect("a good event");
        let (_, theirs) = other.apply(at as i64, event).expect("a good event");
        assert_eq!(mine, theirs, "{spec} {event:?}");
    }
    assert_eq!(engine.snapshot().digest(), other.snapshot().digest(), "{spec}");
}

#[test]
fn refused_rows_leave_no_trace() {
    let good: Vec<Event> = (0..40)
        .map(|t| {
            learn(
                json!({"v": t % 7, "w": (t * t) % 5, "text": "x"}),
                json!(if t % 7 > 3 { "a" } else { "b" }),
            )
        })
        .collect();
    // A new label and so many new columns that the learner would have to grow.
    let mut many = serde_json::Map::new();
    for column in 0..30 {
        many.insert(format!("new{column}"), 1e100.into());
    }
    let refused = [
        learn(json!({"v": 1e100, "w": 1e100}), json!("a")),
        learn(json!({"v": 1e100, "new": 1e100}), json!("c")),
        learn(many.into(), json!("c")),
        learn(json!({"v": 1}), json!({})),
        Event::Ask { id: "row".to_owned(), x: json!({"v": 1e100, "w": 1e100}), row: None },
    ];
    for learner in ["ogd", "folklore", "auto"] {
        let params = json!({"scale": "none", "radius": 100});
        leave_no_trace(&json!({"learner": learner, "params": params}), &good, &refused);
    }
}

/// As in a file: null and the usual words are missing labels, unless they are declared or known; a text is no
/// number of the same writing.
#[test]
fn missing_labels_are_forecast_and_not_learnt() {
    let mut engine = made(&json!({"learner": "ogd"}));
    let mut at = 0;
    let mut learn_all = |engine: &mut Engine, labels: &[Value]| {
        for y in labels {
            at += 1;
            let x = json!({"v": at % 3});
            let before = engine.learner.rounds();
            let (answer, _) = engine.apply(at, &learn(x, y.clone())).expect("forecast");
            let Answer::Forecast(forecast) = answer else { panic!("{answer:?}") };
            assert_eq!(forecast.unlearnt, engine.learner.rounds() == before, "{y}");
        }
        engine.learner.rounds()
    };
    assert_eq!(learn_all(&mut engine, &[json!("a"), json!(2), json!(null), json!("NA"), json!("n/a")]), 2);
    assert_eq!(engine.encoder.labels().iter().collect::<Vec<_>>(), ["a", "2"]);
    let twin = engine.apply(9, &learn(json!({"v": 1}), json!("2"))).expect_err("a text");
    assert!(twin.detail.starts_with("the label \"2\" is a text, and the class"), "{}", twin.detail);
    let mut signs = made(&json!({"learner": "ogd"}));
    assert_eq!(learn_all(&mut signs, &[json!("+"), json!("-"), json!("-")]), 3);
    let mut declared = made(&json!({"learner": "ogd", "labels": ["EU", "NA"]}));
    assert_eq!(learn_all(&mut declared, &[json!("EU"), json!("NA"), json!("?")]), 2);
}

#[test]
fn refused_decisions_leave_no_trace() {
    let bandit =
        json!({"feedback": "bandit", "labels": ["a", "b", "c"], "params": {"scale": "none", "radius": 10}});
    let good: Vec<Event> = (0..40)
        .map(|t| match t % 2 {
            0 => decide(&format!("d{t}"), json!({"x": {"v": t % 7}})),
            _ => Event::Feedback { id: format!("d{}", t - 1), reward: f64::from(t / 2 % 2), cost: None },
        })
        .collect();
    // So many new columns that the learner has to grow before it is refused.
    let mut many = serde_json::Map::new();
    for column in 0..70 {
        many.insert(format!("new{column}"), 1e100.into());
    }
    let refused = [
        decide("bad", json!({"x": {"v": 1e100, "w": 1e100}})),
        decide("bad", json!({"x": many})),
        decide("bad", json!({"x": {"v": 1}, "labels": [{"label": "z"}]})),
        Event::Feedback { id: "none".to_owned(), reward: 1.0, cost: None },
    ];
    leave_no_trace(&bandit, &good, &refused);
}

/// The first slot has been decided when the second one is refused.
#[test]
fn a_second_slot_that_is_refused_takes_back_the_first() {
    let labels = json!([{"label": "a", "x": {"v": 1e60}}, {"label": "b", "x": {"v": 2.0}}]);
    let slots = |size: f64| json!([{"id": "one", "x": {"s": 1.0}}, {"id": "two", "x": {"s": size}}]);
    let good: Vec<Event> =
        (0..6).map(|t| decide(&format!("d{t}"), json!({"labels": labels, "slots": slots(1.0)}))).collect();
    let bad = decide("bad", json!({"labels": labels, "slots": slots(1e90)}));
    // Scaled numbers would be clipped, and nothing refused.
    leave_no_trace(&json!({"feedback": "bandit", "params": {"scale": "none"}}), &good, &[bad]);
}

/// A decision that waits takes little memory, in a model and in its shadow: the learner's scratch memory,
/// which copies leave out, is not kept.
#[test]
fn waiting_decisions_have_no_scratch_memory() {
    let spec = json!({"feedback": "bandit", "labels": ["a", "b"]});
    let mut live = made(&spec);
    let mut shadow = made(&spec);
    shadow.spec.shadow_of = Some("live".to_owned());
    let event = decide("d", json!({"x": {"v": 1}}));
    let (_, outcome) = live.apply(0, &event).expect("a decision");
    let told = Event::Followed { seq: 1, of: Box::new(event), outcome: Box::new(outcome) };
    shadow.apply(0, &told).expect("a decision beside it");
    for engine in [&live, &shadow] {
        let (_, waits) = engine.waiting.iter().next().expect("it waits");
        assert_eq!(format!("{:?}", waits.taken), format!("{:?}", waits.taken.clone()));
    }
}

/// The scratch memory of decisions is made once: with `auto` it is that of all its members.
#[test]
fn decisions_have_their_scratch_memory_in_common() {
    let mut engine = made(&json!({"feedback": "bandit", "labels": ["a", "b"]}));
    let mut at = Vec::new();
    for t in 0..3 {
        engine.apply(t, &decide(&format!("d{t}"), json!({"x": {"v": t}}))).expect("a decision");
        at.push(engine.decision.scores.as_ptr());
    }
    assert_eq!(at, [at[0]; 3]);
    // It was made for fewer columns, and for a row that is refused.
    let many: serde_json::Map<_, _> = (0..70).map(|column| (format!("new{column}"), 1.0.into())).collect();
    engine.apply(3, &decide("many", json!({"x": many}))).expect("it grows");
    assert!(engine.apply(4, &decide("many", json!({"x": {"v": 1}}))).is_err(), "the id was used");
    let mut other = Engine::from_snapshot(&engine.snapshot(), &Limits::default()).expect("a snapshot");
    let event = decide("next", json!({"x": {"v": 2, "new3": 1}}));
    let taken = [&mut engine, &mut other].map(|engine| engine.apply(5, &event).expect("a decision").1);
    assert_eq!(taken[0], taken[1]);
}

/// What was found ahead is what decisions one by one are, and leaves no trace.
#[test]
fn decisions_that_were_found_ahead_are_the_same() {
    fn asked(event: &Event) -> Option<&Decide> {
        if let Event::Decide(decide) = event { Some(decide) } else { None }
    }
    let spec = json!({"feedback": "bandit", "labels": ["a", "b", "c"]});
    let (mut ahead, mut alone) = (made(&spec), made(&spec));
    let several = std::thread::available_parallelism().is_ok_and(|count| count.get() > 1);
    assert_eq!(ahead.pays_to_look_ahead(), several, "the default is large");
    for block in 0..6 {
        let row = |t: i32| json!({"x": {"v": (t * block) % 7, "w": t}});
        let mut events: Vec<Event> = (0..5).map(|t| decide(&format!("{block}-{t}"), row(t))).collect();
        // A column that the model does not have yet, and a number that is missing.
        let mut new = json!({"v": 2});
        new[format!("new{block}")] = 1.into();
        events.push(decide(&format!("{block}-new"), json!({"x": new})));
        events.push(decide(&format!("{block}-hole"), json!({"x": {"v": null, "w": 1}})));
        let digest = ahead.snapshot().digest();
        ahead.look_ahead(&events.iter().filter_map(asked).collect::<Vec<_>>());
        assert_eq!((ahead.ahead.found.len(), ahead.snapshot().digest()), (events.len(), digest));
        let mut both = |event: &Event| {
            let taken =
                [&mut ahead, &mut alone].map(|engine| engine.apply(0, event).expect("a good event").1);
            assert_eq!(taken[0], taken[1], "{event:?}");
            ahead.ahead.found.len()
        };
        let left: Vec<usize> = events.iter().map(&mut both).collect();
        // The first block makes the columns; in the others, what was found is used for the known ones.
        assert!(block == 0 || left[4] == 2, "{left:?}");
        for t in 0..5 {
            let reward = f64::from(t % 2);
            both(&Event::Feedback { id: format!("{block}-{t}"), reward, cost: None });
        }
    }
    assert_eq!(ahead.snapshot().digest(), alone.snapshot().digest());
}

/// Where a learner has grown as far as it may, new names share the last columns; those before keep their own.
#[test]
fn columns_have_no_wall() {
    for (learner, most) in [("squarecb", 256), ("newtron", 64)] {
        let spec = json!({"feedback": "bandit", "labels": ["a", "b"], "learner": learner});
        let spec: Spec = serde_json::from_value(spec).expect("a spec");
        let limits = Limits { columns: 256, ..Limits::default() };
        let mut engine = Engine::new(spec, &limits).expect("a model");
        assert_eq!(engine.most, Some(most));
        let mut restored = None;
        for t in 0..500_u32 {
            let event = decide(&format!("d{t}"), json!({"x": {"city": format!("c{t}"), "hour": t % 24}}));
            let (_, outcome) = engine.apply(i64::from(t), &event).expect("no decision is refused");
            // Decisions of before the growth are learnt after it.
            let feedback = t.checked_sub(30).map(|t| Event::Feedback {
                id: format!("d{t}"),
                reward: f64::from(t % 2),
                cost: None,
            });
            if let Some(event) = &feedback {
                engine.apply(i64::from(t), event).expect("it is pending");
            }
            if t == 60 {
                let archive = engine.snapshot();
                restored = Some(Engine::from_snapshot(&archive, &limits).expect("a snapshot"));
            } else if let Some(other) = &mut restored {
                let (_, again) = other.apply(i64::from(t), &event).expect("no decision is refused");
                assert_eq!(again, outcome, "{learner} {t}");
                if let Some(event) = &feedback {
                    other.apply(i64::from(t), event).expect("it is pending");
                }
            }
        }
        let room = engine.about_room();
        let shared = room["shared"].as_u64().expect("a number") as usize;
        assert_eq!((&room["columns"], &room["most"]), (&json!(most), &json!(most)), "{room}");
        assert!(shared >= most / 4 && shared < most / 3, "{room}");
        assert_eq!(engine.schema.columns.count() as usize, most);
        assert!(engine.schema.columns.index_of("city=c3").is_some(), "the first ones have their own columns");
        assert!(engine.schema.columns.index_of("city=c499").is_none(), "the last ones share some");
        assert_eq!(engine.snapshot().digest(), restored.expect("made").snapshot().digest(), "{learner}");
    }
}

/// A model whose number of columns was asked for has that number.
#[test]
fn a_fixed_number_of_columns_stays() {
    let spec = json!({"feedback": "bandit", "labels": ["a", "b"], "params": {"features": 2}});
    let mut engine = made(&spec);
    assert_eq!(engine.most, None);
    engine.apply(0, &decide("d0", json!({"x": {"a": 1, "b": 1}}))).expect("two columns");
    let refusal = engine.apply(0, &decide("d1", json!({"x": {"c": 1}}))).expect_err("three are too many");
    assert!(refusal.detail.contains("params.features"), "{}", refusal.detail);
}

/// What a shadow never sees of its model is counted.
#[test]
fn a_gap_before_a_shadow_is_counted() {
    let mut shadow = made(&json!({"learner": "ogd", "labels": ["a", "b"]}));
    shadow.spec.shadow_of = Some("live".to_owned());
    let told = |seq| Event::Followed {
        seq,
        of: Box::new(learn(json!({"v": 1}), json!("a"))),
        outcome: Box::default(),
    };
    for (seq, missed) in [(1, 0), (2, 0), (10, 7), (11, 7)] {
        shadow.apply(0, &told(seq)).expect("it is followed");
        assert_eq!(shadow.standing.missed, missed, "{seq}");
    }
    assert_eq!((&shadow.about()["missed"], &shadow.about()["followed"]), (&json!(7), &json!(11)));
}

/// An answer that comes before anything else is learnt uses what was computed for its decision. All bits are
/// those of a model that computes it again.
#[test]
fn by_products_of_the_last_decision_change_no_bit() {
    let spec = json!({"feedback": "bandit", "labels": ["a", "b", "c"], "params": {"features": 6}});
    let (mut engine, mut other) = (made(&spec), made(&spec));
    for t in 0..24 {
        let mut events = vec![decide(&format!("d{t}"), json!({"x": {"v": t % 5, "w": t % 3}}))];
        if t % 3 == 0 {
            events.push(decide(&format!("e{t}"), json!({"x": {"v": 7}})));
        }
        events.push(Event::Feedback { id: format!("d{t}"), reward: 0.5, cost: None });
        for event in &events {
            engine.apply(t, event).expect("a good event");
            if let Event::Feedback { .. } = event {
                other.decision = Decision::default();
            }
            other.apply(t, event).expect("a good event");
        }
    }
    assert_eq!(engine.snapshot().digest(), other.snapshot().digest());
}
