//! Common parts of the descriptions of routes.

use std::collections::BTreeMap;

use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Required, Response, ResponseBuilder};
use utoipa::{IntoParams, IntoResponses};

/// The name of a model in the path.
pub(crate) enum OfModel {}

impl IntoParams for OfModel {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let name = ObjectBuilder::new()
            .schema_type(Type::String)
            .pattern(Some("^[A-Za-z0-9]([A-Za-z0-9._-]{0,62}[A-Za-z0-9_-])?$"))
            .build();
        let parameter = ParameterBuilder::new()
            .name("name")
            .parameter_in(ParameterIn::Path)
            .description(Some("The model"))
            .required(Required::True)
            .schema(Some(name));
        vec![parameter.build()]
    }
}

/// A refusal (RFC 9457).
pub(crate) enum Refused {}

impl IntoResponses for Refused {
    fn responses() -> BTreeMap<String, RefOr<Response>> {
        let problem = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
        let of = |status: &str, what: &str| {
            let response = ResponseBuilder::new().description(what);
            (status.to_owned(), response.content("application/problem+json", problem.clone()).build().into())
        };
        BTreeMap::from([of("4XX", "Refused"), of("5XX", "Not now: the sentence says why")])
    }
}
