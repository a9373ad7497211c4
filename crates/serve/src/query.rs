//! The query of a request. A parameter that a route does not have is refused, as a field of a body is: what
//! it was meant to change would be left undone without a word.

use axum::extract::{FromRequestParts, MatchedPath, Query, Request};
use axum::http::request::Parts;
use axum::http::{Method, Uri};
use axum::middleware::Next;
use axum::response::Response;

use crate::personalizer::answers::{has, refused_at};
use crate::refusal::{Refusal, shown};

/// A parameter, with the only value that it may have, if there is one.
type Parameter = (&'static str, Option<&'static str>);

/// The parameters of requests with `method` to `route`; `None` for pages, which read theirs themselves.
fn known(method: &Method, route: &str) -> Option<&'static [Parameter]> {
    const VERSION: &[Parameter] = &[("version", None)];
    // Its clients send the others, on which nothing here depends: lists have one page.
    const PERSONALIZER: &[Parameter] = &[
        ("api-version", Some("2022-09-01-preview")),
        ("endTime", None),
        ("filter", None),
        ("intervalInMinutes", None),
        ("signed", None),
        ("skip", None),
        ("startTime", None),
        ("top", None),
        ("window", None),
    ];
    match route {
        "/" | "/evaluation" => None,
        "/v1/models/{name}/model" if method.is_safe() => Some(VERSION),
        _ if has(route) => Some(PERSONALIZER),
        _ => Some(&[]),
    }
}

/// The names and values of the query of `uri`.
fn pairs(uri: &Uri) -> Vec<(String, String)> {
    Query::try_from_uri(uri).map(|Query(pairs)| pairs).unwrap_or_default()
}

/// Checks the query of a request to `route`.
fn check(method: &Method, route: &str, uri: &Uri) -> Result<(), Refusal> {
    let (Some(known), pairs) = (known(method, route), pairs(uri)) else { return Ok(()) };
    for (at, (name, value)) in pairs.iter().enumerate() {
        let Some((_, only)) = known.iter().find(|(one, _)| *one == name.as_str()) else {
            let possible = known.first().map_or("none", |(one, _)| *one);
            let what = format!("the query has the parameter {}; {possible} was possible", shown(name));
            return Err(Refusal::malformed(what));
        };
        if let Some(only) = only
            && *only != value.as_str()
        {
            let what = format!("{name} is {}; {only} was possible", shown(value));
            return Err(Refusal::malformed(what).about(name));
        }
        if pairs[..at].iter().any(|(before, _)| before == name) {
            return Err(Refusal::malformed(format!("the query has {name} twice")).about(name));
        }
    }
    Ok(())
}

/// Refuses what [`check`] does not allow.
pub(crate) async fn checked(request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>();
    let done = route.map_or(Ok(()), |route| check(request.method(), route.as_str(), request.uri()));
    match done {
        Ok(()) => next.run(request).await,
        Err(refusal) => refused_at(request.uri().path(), refusal),
    }
}

/// The version that is asked for in a query, if one is.
pub(crate) struct Version(pub(crate) Option<u64>);

impl<S: Send + Sync> FromRequestParts<S> for Version {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        let Some((name, value)) = pairs(&parts.uri).pop() else { return Ok(Self(None)) };
        value.parse().map(|version| Self(Some(version))).map_err(|_| {
            let what = format!(
                "{name} is {}; the number of one of the versions was needed, which GET /v1/models/NAME/versions lists",
                shown(&value)
            );
            Refusal::malformed(what).about(&name)
        })
    }
}
