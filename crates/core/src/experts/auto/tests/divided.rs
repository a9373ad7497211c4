use super::*;
use crate::capability::Divided;
use crate::testing::unit_rows;

type Known<'a> = (Features<'a>, Target<'a>);

fn divided(auto: &mut Auto) -> &mut dyn Divided {
    auto.divided().expect("it has members")
}

/// Plays rounds, and adds the bits of the forecasts.
fn play(auto: &mut Auto, rounds: &[Known<'_>], forecasts: &mut Vec<u64>) {
    let mut at = auto.prediction();
    let features: Vec<Features<'_>> = rounds.iter().map(|(x, _)| *x).collect();
    auto.prepare(&&features[..]);
    auto.predict_and_update(&rounds, &mut at, &mut |_, at| {
        forecasts.extend(at.probabilities.iter().chain(&at.scores).map(|number| number.to_bits()));
    });
}

fn state(auto: &mut Auto) -> Vec<u64> {
    state_of(auto).into_iter().map(f64::to_bits).collect()
}

/// Members are in other processes from round 20 on, and are needed here when members join and are dropped;
/// these processes begin with copies that were saved.
#[test]
fn divided_members_forecast_as_in_one_process() {
    let rows = unit_rows(9, 300, 8);
    let label = |x: &[f64]| (usize::from(x[0] > x[1]) + usize::from(x[2] > 0.0)) % 3;
    let rounds: Vec<Known<'_>> = rows.iter().map(|x| (Features::Dense(x), Target::class(label(x)))).collect();
    let parts = [0..20, 20..27, 27..32, 32..64, 64..100, 100..128, 128..200, 200..256, 256..300];
    let (mut whole, mut want) = (auto(3, 8, &[]), Vec::new());
    let begun = whole.roster.lineup().0.len();
    parts.iter().for_each(|part| play(&mut whole, &rounds[part.clone()], &mut want));
    assert!(whole.roster.lineup().0.len() > begun, "members have joined");

    let (mut auto, mut got) = (auto(3, 8, &[]), Vec::new());
    assert_eq!(divided(&mut auto).costs(), None, "the unit is not known yet");
    play(&mut auto, &rounds[parts[0].clone()], &mut got);
    for part in &parts[1..] {
        let costs = divided(&mut auto).costs().expect("the unit is known");
        let members: Vec<usize> = (0..costs.len()).filter(|at| costs[*at] > 0.0).collect();
        assert!(members.len() > 4 && !members.contains(&0), "all processes count labels");
        let shares: [Vec<usize>; 2] =
            [0, 1].map(|odd| members.iter().copied().filter(|at| at % 2 == odd).collect());
        divided(&mut auto).borrow(&members);
        let mut states = Vec::new();
        for share in &shares {
            let mut other = auto.clone();
            divided(&mut other).unite();
            divided(&mut other).lend(share);
            play(&mut other, &rounds[part.clone()], &mut Vec::new());
            for at in share {
                let mut forecasts = divided(&mut other).lent(*at);
                forecasts.push(0.0);
                assert!(!divided(&mut auto).foresee(*at, part.len(), forecasts.clone()), "one too many");
                forecasts.pop();
                assert!(divided(&mut auto).foresee(*at, part.len(), forecasts));
                states.push((*at, divided(&mut other).member(*at)));
            }
        }
        for (at, state) in &states {
            assert!(!divided(&mut auto).set_member(*at, &state[1..]));
            assert!(divided(&mut auto).set_member(*at, state));
        }
        play(&mut auto, &rounds[part.clone()], &mut got);
        divided(&mut auto).unite();
    }
    assert!(got == want, "forecasts");
    assert!(state(&mut auto) == state(&mut whole), "state");
}
