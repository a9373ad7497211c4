//! Bodies of any bytes, as the fuzz targets `serve_…` try them.

use noregret::rng::Rng;

#[expect(unreachable_pub, reason = "the fuzz targets use it from another crate")]
#[path = "../../../../fuzz/src/serve.rs"]
mod serve;

use serve::{MODELS, PERSONALIZER, ROUNDS, Route, check};

/// Bodies that are as they should be, with the byte that says what they are for.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = format!("{}/../../fuzz/seeds/{target}", env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<_> =
        std::fs::read_dir(&folder).expect("seeds").map(|file| file.expect("a file").path()).collect();
    files.sort();
    files.iter().map(|path| std::fs::read(path).expect("a seed")).collect()
}

/// Changes some pieces of a body.
fn changed(seeds: &[Vec<u8>], rng: &mut Rng) -> Vec<u8> {
    const ODD: &[&str] = &[
        "1e999",
        "-0.0",
        "null",
        "[]",
        "{}",
        "\"\"",
        "1e-400",
        "18446744073709551616",
        "true",
        "\\u0000",
        "nan",
        "\n",
        "\u{fe}",
        "[[[[[[[[[[[[[[[[[[",
        "\"a/b\"",
    ];
    let below = |rng: &mut Rng, most: usize| rng.below(most.max(1) as u64) as usize;
    let mut body = seeds[below(rng, seeds.len())].clone();
    for _ in 0..below(rng, 4) {
        let (from, length) = (1 + below(rng, body.len()), below(rng, 12));
        let (from, to) = (from.min(body.len()), (from + length).min(body.len()));
        let piece: Vec<u8> = match below(rng, 4) {
            0 => Vec::new(),
            1 => ODD[below(rng, ODD.len())].as_bytes().to_vec(),
            2 => vec![below(rng, 256) as u8],
            _ => {
                let other = &seeds[below(rng, seeds.len())];
                let begin = below(rng, other.len());
                other[begin..(begin + below(rng, 30)).min(other.len())].to_vec()
            }
        };
        body.splice(from..to, piece);
    }
    if below(rng, 20) == 0 {
        body[0] = below(rng, 256) as u8;
    }
    body
}

fn try_bodies(target: &str, routes: &[Route], count: u32) {
    let seeds = seeds(target);
    seeds.iter().for_each(|body| check(routes, body));
    let mut rng = Rng::new(7, 7);
    for _ in 0..count {
        check(routes, &changed(&seeds, &mut rng));
    }
}

/// Every body of the OpenAPI document is one that a fuzz target sends.
#[test]
fn every_body_has_a_target() {
    let folder = tempfile::tempdir().expect("a folder");
    let service = super::support::Service::start(folder.path());
    let document = service.get("/openapi.json").ok(200);
    let mut bodies = 0;
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("operations") {
            if operation.get("requestBody").is_none() {
                continue;
            }
            bodies += 1;
            let same = |route: &str| {
                // Personalizer's are sent with a version, or without.
                let (wanted, route) = (path.split('/'), route.split('/').filter(|part| *part != "v1.0"));
                wanted.clone().count() == route.clone().count()
                    && wanted.zip(route).all(|(wanted, part)| wanted.starts_with('{') || wanted == part)
            };
            let sent = ROUNDS.iter().chain(MODELS).chain(PERSONALIZER);
            let found =
                sent.into_iter().any(|(with, route)| with.eq_ignore_ascii_case(method) && same(route));
            assert!(found, "no fuzz target sends {method} {path}");
        }
    }
    assert!(bodies > 10, "{bodies}");
}

#[test]
fn good_bodies_and_some_bad_ones() {
    for (target, routes) in
        [("serve_rounds", ROUNDS), ("serve_models", MODELS), ("serve_personalizer", PERSONALIZER)]
    {
        try_bodies(target, routes, 20);
    }
}

#[test]
#[ignore = "slow: ten thousand bodies, each written to the disk"]
fn no_body_does_harm() {
    try_bodies("serve_rounds", ROUNDS, 6000);
    try_bodies("serve_models", MODELS, 1000);
    try_bodies("serve_personalizer", PERSONALIZER, 3000);
}
