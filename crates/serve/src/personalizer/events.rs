//! Ranks and rewards.

use std::sync::Arc;

use axum::body::Body;
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use noregret_stream::{GivenLabel, LabelType};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Ask;
use super::answers::{Answered, in_its_terms};
use crate::app::json as answered;
use crate::model::engine::{Answer, Chosen};
use crate::model::event::{Decide, Event, Offered, Outcome, Slot, slot_id};
use crate::model::flat::Flat;
use crate::model::handle::Handle;
use crate::refusal::{Refusal, shown};
use crate::safety::keys::Right;

/// Features: dictionaries, possibly nested.
type Features = Vec<Map<String, Value>>;

#[derive(Debug, Deserialize)]
struct RankableAction {
    id: String,
    #[serde(default)]
    features: Option<Features>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SlotRequest {
    id: String,
    #[serde(default)]
    features: Option<Features>,
    #[serde(default)]
    excluded_actions: Option<Vec<String>>,
    #[serde(default)]
    baseline_action: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct RankRequest {
    #[serde(default)]
    context_features: Option<Features>,
    actions: Vec<RankableAction>,
    #[serde(default)]
    excluded_actions: Option<Vec<String>>,
    #[serde(default)]
    slots: Option<Vec<SlotRequest>>,
    #[serde(default)]
    event_id: Option<String>,
    #[serde(default)]
    defer_activation: Option<bool>,
}

#[derive(Debug, Deserialize)]
struct RewardRequest {
    value: f64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SlotReward {
    slot_id: String,
    value: f64,
}

#[derive(Debug, Deserialize)]
struct SlotRewards {
    reward: Vec<SlotReward>,
}

/// Merges a list of dictionaries into one object; values with the same key are all kept.
fn joined(features: Option<Features>) -> Flat {
    let mut all = Map::new();
    for (name, value) in features.into_iter().flatten().flatten() {
        match all.get_mut(&name) {
            None => drop(all.insert(name, value)),
            Some(Value::Array(list)) => list.push(value),
            Some(before) => *before = json!([before.take(), value]),
        }
    }
    Value::Object(all).into()
}

/// The event's id, given or generated.
fn id(given: Option<String>) -> Result<String, Refusal> {
    match given.filter(|id| !id.is_empty()) {
        None => Ok(String::new()),
        // A slash separates event and slot.
        Some(id) if id.len() <= 256 && !id.contains('/') => Ok(id),
        Some(id) => {
            let what =
                format!("the event's id is {}; at most 256 characters without '/' were needed", shown(&id));
            Err(Refusal::invalid("eventId", what))
        }
    }
}

fn decide(request: RankRequest) -> Result<Decide, Refusal> {
    const MOST: usize = 50;
    if request.actions.len() > MOST {
        let what = format!("there are {} actions; at most {MOST} were needed", request.actions.len());
        return Err(Refusal::invalid("actions", what));
    }
    let labels = request.actions.into_iter().map(|action| Offered {
        label: GivenLabel { text: action.id, of: LabelType::Text },
        x: joined(action.features),
    });
    let slots = request.slots.unwrap_or_default();
    for (at, slot) in slots.iter().enumerate() {
        if slot.id.is_empty() || slot.id.len() > 256 || slot.id.contains('/') {
            let what =
                format!("the slot's id is {}; 1 to 256 characters without '/' were needed", shown(&slot.id));
            return Err(Refusal::invalid(&format!("slots[{at}].id"), what));
        }
    }
    let slots = slots.into_iter().map(|slot| Slot {
        id: slot.id,
        x: joined(slot.features),
        exclude: slot.excluded_actions.unwrap_or_default(),
        baseline: slot.baseline_action,
    });
    Ok(Decide {
        id: id(request.event_id)?,
        x: joined(request.context_features),
        labels: Some(labels.collect()),
        exclude: request.excluded_actions.unwrap_or_default(),
        slots: slots.collect(),
        deferred: request.defer_activation.unwrap_or(false),
        ..Decide::default()
    })
}

/// Decides, or returns the earlier decision for the same event.
async fn decided(handle: &Arc<Handle>, decide: Decide) -> Result<(String, Vec<Chosen>), Refusal> {
    let (given, wanted) = (decide.id.clone(), decide.clone());
    match handle.act(Event::Decide(decide)).await.map_err(in_its_terms) {
        Ok(Answer::Chosen(chosen)) => {
            let id = chosen.first().map(|chosen| chosen.id.clone()).unwrap_or_default();
            // The id of the first slot starts with the event's.
            let id = match wanted.slots.first() {
                Some(slot) => id.strip_suffix(&slot_id("", &slot.id)).map(str::to_owned).unwrap_or_default(),
                None => id,
            };
            Ok((id, chosen))
        }
        Ok(_) => Err(Refusal::failed("the model made no decision")),
        Err(refusal) if refusal.status == 409 && refusal.field.as_deref() == Some("eventId") => {
            match past(handle, &given).await? {
                Some((before, outcome)) if same(&before, &wanted) => {
                    let chosen = again(&before, &outcome);
                    Ok((given, chosen))
                }
                _ => Err(refusal),
            }
        }
        Err(refusal) => Err(refusal),
    }
}

/// Whether a request equals the earlier one.
fn same(before: &Decide, now: &Decide) -> bool {
    let labels = |decide: &Decide| -> Vec<String> {
        decide.labels.iter().flatten().map(|label| label.label.text.clone()).collect()
    };
    labels(before) == labels(now)
        && before.slots.iter().map(|slot| &slot.id).eq(now.slots.iter().map(|slot| &slot.id))
}

/// The logged decision `id`.
async fn past(handle: &Arc<Handle>, id: &str) -> Result<Option<(Decide, Outcome)>, Refusal> {
    let (handle, id) = (Arc::clone(handle), id.to_owned());
    crate::app::aside(move || match crate::store::decided(&handle.folder, &id).map_err(Refusal::failed)? {
        Some((Event::Decide(decide), outcome)) => Ok(Some((decide, outcome))),
        _ => Ok(None),
    })
    .await
}

/// The earlier answer.
fn again(decide: &Decide, outcome: &Outcome) -> Vec<Chosen> {
    let labels: Vec<&GivenLabel> = decide.labels.iter().flatten().map(|label| &label.label).collect();
    let slots = outcome.taken.iter().enumerate();
    slots
        .filter_map(|(slot, taken)| {
            Some(Chosen {
                id: decide.id_of(slot),
                label: GivenLabel::clone(labels.get(taken.label as usize)?),
                p: labels
                    .iter()
                    .zip(&taken.distribution)
                    .map(|(label, p)| (label.text.clone(), *p))
                    .collect(),
            })
        })
        .collect()
}

/// POST rank.
pub(super) async fn rank(ask: Ask, body: Body) -> Answered {
    let handle = ask.open(Right::Write).await?;
    let request: RankRequest = ask.app.json(body).await?;
    let actions: Vec<String> = request.actions.iter().map(|action| action.id.clone()).collect();
    let request = RankRequest { slots: None, ..request };
    let (event, mut chosen) = decided(&handle, decide(request)?).await?;
    let Some(chosen) = chosen.pop() else { return Err(Refusal::failed("the model made no decision").into()) };
    let probability = |id: &String| chosen.p.iter().find(|(label, _)| label == id).map_or(0.0, |(_, p)| *p);
    let mut ranking: Vec<(String, f64, bool)> =
        actions.iter().map(|id| (id.clone(), probability(id), *id == chosen.label.text)).collect();
    ranking.sort_by(|a, b| b.2.cmp(&a.2).then(b.1.total_cmp(&a.1)));
    let rewarded = ranking.iter().find(|(_, _, is)| *is).map(|(id, _, _)| id.clone());
    let ranking: Vec<Value> = ranking.iter().map(|(id, p, _)| json!({"id": id, "probability": p})).collect();
    let answer = json!({"ranking": ranking, "eventId": event, "rewardActionId": rewarded});
    Ok(answered(StatusCode::CREATED, &answer))
}

/// POST multislot/rank.
pub(super) async fn rank_slots(ask: Ask, body: Body) -> Answered {
    let handle = ask.open(Right::Write).await?;
    let request: RankRequest = ask.app.json(body).await?;
    let slots: Vec<String> = request.slots.iter().flatten().map(|slot| slot.id.clone()).collect();
    if slots.is_empty() {
        return Err(Refusal::invalid("slots", "there are no slots; one was needed").into());
    }
    let (event, chosen) = decided(&handle, decide(request)?).await?;
    let filled: Vec<Value> = slots
        .iter()
        .zip(chosen)
        .map(|(slot, chosen)| json!({"id": slot, "rewardActionId": chosen.label.text}))
        .collect();
    Ok(answered(StatusCode::CREATED, &json!({"slots": filled, "eventId": event})))
}

/// Checks the range of a reward.
fn check_value(field: &str, value: f64) -> Result<(), Refusal> {
    if !(-1.0..=1.0).contains(&value) {
        let what = format!("the reward is {value}; a number from -1 to 1 was needed");
        return Err(Refusal::invalid(field, what));
    }
    Ok(())
}

/// As in Personalizer, the first reward in time counts, and others are ignored. Returns whether it counts.
async fn rewarded(handle: &Handle, id: String, value: f64) -> Result<bool, Refusal> {
    match handle.act(Event::Feedback { id, reward: value, cost: None }).await {
        Err(refusal) if refusal.status == 409 || refusal.status == 410 => Ok(false),
        done => done.map(|_| true).map_err(in_its_terms),
    }
}

/// Refuses what is asked of an event as a whole, if it is one with slots.
async fn check_whole(handle: &Arc<Handle>, event: &str) -> Result<(), Refusal> {
    match past(handle, event).await? {
        Some((decide, _)) if !decide.slots.is_empty() => {
            let what = format!("the event {} has slots: see multislot/events", shown(event));
            Err(Refusal::invalid("eventId", what))
        }
        _ => Ok(()),
    }
}

/// POST events/{event}/reward.
pub(super) async fn reward(ask: Ask, body: Body) -> Answered {
    let handle = ask.open(Right::Write).await?;
    let RewardRequest { value } = ask.app.json(body).await?;
    check_value("value", value)?;
    if !rewarded(&handle, ask.path.event.clone(), value).await? {
        check_whole(&handle, &ask.path.event).await?;
    }
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// POST events/{event}/activate.
pub(super) async fn activate(ask: Ask) -> Answered {
    let handle = ask.open(Right::Write).await?;
    if !activated(&handle, ask.path.event.clone()).await? {
        check_whole(&handle, &ask.path.event).await?;
    }
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// Activates an event; false if its waiting time is over.
async fn activated(handle: &Handle, id: String) -> Result<bool, Refusal> {
    match handle.act(Event::Activate { id }).await {
        Err(refusal) if refusal.status == 410 => Ok(false),
        done => done.map(|_| true).map_err(in_its_terms),
    }
}

fn unknown(event: &str) -> Refusal {
    let what = format!("there is no event {}", shown(event));
    Refusal::unknown(what).about("eventId")
}

/// POST multislot/events/{event}/reward.
pub(super) async fn reward_slots(ask: Ask, body: Body) -> Answered {
    let handle = ask.open(Right::Write).await?;
    let SlotRewards { reward } = ask.app.json(body).await?;
    for (at, SlotReward { value, .. }) in reward.iter().enumerate() {
        check_value(&format!("reward[{at}].value"), *value)?;
    }
    // All slots are checked before a reward is learnt. A log that begins later does not have the event.
    let logged = past(&handle, &ask.path.event).await?;
    for (at, SlotReward { slot_id: slot, .. }) in reward.iter().enumerate() {
        let lacks = |(decide, _): &(Decide, Outcome)| decide.slots.iter().all(|one| one.id != *slot);
        if logged.as_ref().is_some_and(lacks) {
            let what = format!("the event {} has no slot {}", shown(&ask.path.event), shown(slot));
            let field = format!("reward[{at}].slotId");
            return Err(Refusal::unknown(what).about(&field).into());
        }
    }
    for SlotReward { slot_id: slot, value } in reward {
        rewarded(&handle, slot_id(&ask.path.event, &slot), value).await?;
    }
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// POST multislot/events/{event}/activate.
pub(super) async fn activate_slots(ask: Ask) -> Answered {
    let handle = ask.open(Right::Write).await?;
    let Some((decide, _)) = past(&handle, &ask.path.event).await? else {
        return Err(unknown(&ask.path.event).into());
    };
    if decide.slots.is_empty() {
        let what = format!("the event {} has no slots", shown(&ask.path.event));
        return Err(Refusal::invalid("eventId", what).into());
    }
    for slot in &decide.slots {
        activated(&handle, slot_id(&ask.path.event, &slot.id)).await?;
    }
    Ok(StatusCode::NO_CONTENT.into_response())
}
