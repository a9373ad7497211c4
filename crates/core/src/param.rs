//! Parameters: plain structs whose unset fields default to the theorem's choice, with descriptions
//! used by all front ends.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

pub mod exploration;
pub mod kernel;
pub mod mode;
pub(crate) mod prior;

/// A parameter's value from a front end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Integer(u64),
    /// Any other finite number.
    Float(f64),
    /// Everything else, including `inf` and `nan`, which JSON lacks.
    Text(String),
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        if value.is_finite() { Value::Float(value) } else { Value::Text(value.to_string()) }
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Value::Integer(value)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value::Bool(value)
    }
}

/// The text as it is: [`Value::parse`] reads it.
impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Text(text.to_owned())
    }
}

impl Value {
    /// Reads what a user typed: `true`, `false`, a number, or text.
    pub fn parse(text: &str) -> Self {
        match (text.parse::<bool>(), text.parse::<u64>(), text.parse::<f64>()) {
            (Ok(value), _, _) => Value::Bool(value),
            (_, Ok(value), _) => Value::Integer(value),
            (_, _, Ok(value)) if value.is_finite() => Value::Float(value),
            _ => Value::from(text),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(value) => value.fmt(f),
            Value::Integer(value) => value.fmt(f),
            Value::Float(value) => value.fmt(f),
            Value::Text(value) => value.fmt(f),
        }
    }
}

/// Parameter values by name.
pub type Values = BTreeMap<String, Value>;

/// The value of a parameter that has none, in errors.
pub(crate) const UNSET: &str = "unset";

/// An error of a parameter or a problem, in one sentence.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParamError {
    /// An invalid value.
    #[error("{name} = {value}: must be {need}")]
    Invalid {
        /// The parameter.
        name: String,
        /// The value given.
        value: String,
        /// What was needed.
        need: String,
    },
    /// An unknown parameter.
    #[error("{learner} has no parameter '{name}'{}; it takes {known}", suggestion(near.as_deref()))]
    UnknownName {
        /// The learner.
        learner: String,
        /// The name given.
        name: String,
        /// The nearest known name, if one is near.
        near: Option<String>,
        /// All known names, separated by commas.
        known: String,
    },
    /// An unknown learner.
    #[error("there is no learner '{name}'{}; there are {known}", suggestion(near.as_deref()))]
    UnknownLearner {
        /// The name given.
        name: String,
        /// The nearest known name, if one is near.
        near: Option<String>,
        /// All known names, separated by commas.
        known: String,
    },
}

impl ParamError {
    /// `name` = `value` is not `need`.
    pub fn invalid(name: &str, value: impl fmt::Display, need: impl Into<String>) -> Self {
        Self::Invalid { name: name.to_owned(), value: value.to_string(), need: need.into() }
    }

    /// The error with the formula of the default, if it is about the default of one of `params` that is not
    /// among those `given`: it follows from what was given. A radius or horizon may be that of the problem.
    pub(crate) fn explained(self, given: &Values, params: &[ParamInfo]) -> Self {
        let default_of = |name: &str| {
            let is_given = given.contains_key(name) || ["radius", "horizon"].contains(&name);
            params.iter().find(|param| param.name == name && !is_given).map(|param| param.default)
        };
        match self {
            Self::Invalid { name, value, mut need } => {
                // Not where it has no default.
                if let Some(default) = default_of(&name).filter(|_| value != UNSET) {
                    need += &format!("; it was not set, and its default is {default}");
                }
                Self::Invalid { name, value, need }
            }
            error => error,
        }
    }

    /// The error of a wrapped learner's parameter as that of its wrapper, with `prefix` before the name.
    pub(crate) fn within(self, prefix: &str) -> Self {
        match self {
            Self::Invalid { name, value, need } => {
                Self::Invalid { name: format!("{prefix}{name}"), value, need }
            }
            error => error,
        }
    }
}

/// The parameters of a wrapped learner as those of its wrapper, with `prefix` before their names.
pub(crate) fn prefixed(prefix: &str, inner: &Values) -> impl Iterator<Item = (String, Value)> {
    inner.iter().map(move |(name, value)| (format!("{prefix}{name}"), value.clone()))
}

/// What follows an unknown name in a sentence: ` (did you mean 'norm'?)`, or nothing.
pub fn suggestion(near: Option<&str>) -> String {
    near.map_or_else(String::new, |near| format!(" (did you mean '{near}'?)"))
}

/// `there is no stream 'see' (did you mean 'sea'?); there are sea, stagger`.
pub fn no_such(kind: &str, name: &str, names: &[&str]) -> String {
    let near = suggestion(nearest(name, names.iter().copied()));
    format!("there is no {kind} '{name}'{near}; there are {}", names.join(", "))
}

/// The candidate that `name` was probably meant to be. None without the feature `suggestions`.
#[cfg(not(feature = "suggestions"))]
pub fn nearest<'a>(_name: &str, _candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    None
}

/// The candidate that `name` was probably meant to be. None without the feature `suggestions`.
#[cfg(feature = "suggestions")]
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(name, candidate), candidate))
        .filter(|(similarity, _)| *similarity > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

/// Checks that `value` is > 0 and finite.
pub fn positive(name: &str, value: f64) -> Result<f64, ParamError> {
    if value > 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(ParamError::invalid(name, value, "a finite number > 0"))
    }
}

/// Checks that `value` $= \lambda > 0$ is not lost in $\lambda I + \sum_t x_t x_t^\top$, which is inverted in
/// double precision, for rows of norm at most `radius`.
pub(crate) fn invertible(name: &str, value: f64, radius: f64) -> Result<f64, ParamError> {
    const LEAST: f64 = 1e-15;
    let least = LEAST * radius * radius;
    if value >= least || !least.is_finite() {
        return positive(name, value);
    }
    positive(name, value)?;
    let need = format!(
        "at least {LEAST:e} radius^2 = {least:.1e}, since double precision loses a smaller one beside the rows"
    );
    Err(ParamError::invalid(name, format!("{value:e}"), need))
}

/// Checks that `value` is >= 0 and finite.
pub fn non_negative(name: &str, value: f64) -> Result<f64, ParamError> {
    if value >= 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(ParamError::invalid(name, value, "a finite number >= 0"))
    }
}

/// Checks the parameter `rank`.
pub(crate) fn checked_rank(rank: Option<u64>) -> Result<usize, ParamError> {
    const LARGEST: u64 = 1000;
    let rank = rank.unwrap_or(10);
    if !(1..=LARGEST).contains(&rank) {
        return Err(ParamError::invalid("rank", rank, format!("between 1 and {LARGEST}")));
    }
    Ok(rank as usize)
}

/// Checks that `value` is in [0, 1].
pub fn fraction(name: &str, value: f64) -> Result<f64, ParamError> {
    if (0.0..=1.0).contains(&value) { Ok(value) } else { Err(ParamError::invalid(name, value, "in [0, 1]")) }
}

/// The kind of a parameter's values, from which front ends derive types and law tests their cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// A whole number, or one of [`ParamInfo::words`] if there are any.
    Integer,
    /// A real number, or one of [`ParamInfo::words`] if there are any.
    Float,
    /// One of [`ParamInfo::words`].
    Words,
    /// Several values in a notation described by [`ParamInfo::need`].
    List,
    /// Text; [`ParamInfo::words`] are examples.
    Text,
}

impl Kind {
    /// Its name, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Bool => "bool",
            Kind::Integer => "integer",
            Kind::Float => "float",
            Kind::Words => "words",
            Kind::List => "list",
            Kind::Text => "text",
        }
    }
}

/// A type that a parameter can have.
pub trait ParamValue: Sized {
    /// The kind of its values.
    const KIND: Kind;

    /// Its words: all of them, or examples for [`Kind::List`] and [`Kind::Text`].
    const WORDS: &'static [&'static str] = &[];

    /// What a value must be, to complete the sentence "must be …".
    const NEED: &'static str;

    /// The value, or `None` if it is not of this type.
    fn from_value(value: &Value) -> Option<Self>;

    /// The value as front ends show and save it.
    fn to_value(&self) -> Value;
}

impl ParamValue for f64 {
    const KIND: Kind = Kind::Float;

    const NEED: &'static str = "a number";

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Integer(value) => Some(*value as f64),
            Value::Float(value) => Some(*value),
            Value::Text(text) => text.parse().ok(),
            Value::Bool(_) => None,
        }
    }

    fn to_value(&self) -> Value {
        Value::from(*self)
    }
}

impl ParamValue for u64 {
    const KIND: Kind = Kind::Integer;

    const NEED: &'static str = "a whole number";

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Integer(value) => Some(*value),
            // Accepts integers written as 1e6.
            Value::Float(value) if value.fract() == 0.0 && (0.0..1e15).contains(value) => Some(*value as u64),
            _ => None,
        }
    }

    fn to_value(&self) -> Value {
        Value::Integer(*self)
    }
}

impl ParamValue for bool {
    const KIND: Kind = Kind::Bool;

    const NEED: &'static str = "true or false";

    fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    fn to_value(&self) -> Value {
        Value::Bool(*self)
    }
}

impl ParamValue for String {
    const KIND: Kind = Kind::Text;

    const NEED: &'static str = "the name of a learner";

    fn from_value(value: &Value) -> Option<Self> {
        Some(value.to_string())
    }

    fn to_value(&self) -> Value {
        Value::Text(self.clone())
    }
}

/// The value of parameter `name`, of the type that its field has.
#[doc(hidden)]
pub fn read<T: ParamValue>(name: &str, value: &Value) -> Result<T, ParamError> {
    T::from_value(value).ok_or_else(|| ParamError::invalid(name, value, T::NEED))
}

/// One parameter, as help, documentation and bindings show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParamInfo {
    /// Its name: the Rust field, the `--set` key, the Python keyword.
    pub name: &'static str,
    /// What it means, as the lines of its doc comment.
    pub doc: &'static [&'static str],
    /// The default, as a formula.
    pub default: &'static str,
    /// What a value must be, to complete the sentence "must be …".
    pub need: &'static str,
    /// The kind of its values.
    pub kind: Kind,
    /// Its words: all of them, or examples for [`Kind::List`] and [`Kind::Text`].
    pub words: &'static [&'static str],
}

impl ParamInfo {
    /// The field `name` of type `T`.
    pub const fn of<T: ParamValue>(
        name: &'static str,
        doc: &'static [&'static str],
        default: &'static str,
    ) -> Self {
        Self { name, doc, default, need: T::NEED, kind: T::KIND, words: T::WORDS }
    }

    /// The meaning in one line.
    pub fn summary(&self) -> String {
        self.doc.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
    }
}

/// A parameter struct that front ends fill by name. Made by [`params!`](crate::params!).
pub trait Params: Default + Clone {
    /// The fields in order.
    const FIELDS: &'static [ParamInfo];

    /// Sets field `name`; the name is one of [`Params::FIELDS`].
    fn set(&mut self, name: &str, value: &Value) -> Result<(), ParamError>;

    /// The fields that are set.
    fn values(&self) -> Values;

    /// The prefix of the parameters of a wrapped learner, for learners that have one: for example `base.`.
    const PREFIX: Option<&'static str> = None;

    /// Sets parameter `name` of the wrapped learner, without [`Params::PREFIX`].
    fn set_inner(&mut self, name: &str, value: &Value) {
        unreachable!("'{name}' (= {value}): there is no wrapped learner");
    }

    /// Checks conditions beyond single fields: that the wrapped learner exists and accepts its parameters.
    fn check(&self) -> Result<(), ParamError> {
        Ok(())
    }

    /// A struct with these `values`; every name must be a field, or begin with the prefix. Errors name
    /// `learner`.
    fn from_values(learner: &str, values: &Values) -> Result<Self, ParamError> {
        Self::default().filled(learner, values)
    }

    /// This struct with these `values` set, as in [`Params::from_values`].
    fn filled(self, learner: &str, values: &Values) -> Result<Self, ParamError> {
        let mut params = self;
        for (name, value) in values {
            if let Some(inner) = Self::PREFIX.and_then(|prefix| name.strip_prefix(prefix)) {
                params.set_inner(inner, value);
                continue;
            }
            if !Self::FIELDS.iter().any(|field| field.name == name) {
                let known = Self::FIELDS.iter().map(|field| field.name);
                let words = ["classes", "features"].into_iter().chain(known.clone()).map(str::to_owned);
                let inner = Self::PREFIX.map(|prefix| format!("{prefix}*"));
                return Err(ParamError::UnknownName {
                    learner: learner.to_owned(),
                    name: name.clone(),
                    near: nearest(name, known).map(str::to_owned),
                    known: words.chain(inner).collect::<Vec<_>>().join(", "),
                });
            }
            params.set(name, value)?;
        }
        params.check()?;
        Ok(params)
    }
}

/// Declares a parameter struct: every field is an `Option` whose `None` means the default, which is described
/// by a formula and computed by the algorithm's `new`. Every field has a setter of its name.
///
/// Here `struct WrapperParams wraps PREFIX as inner_values` has the parameters of a wrapped learner,
/// whose names begin with the prefix, in the field `inner_values`; its method `check_wrapped` checks them.
///
/// ```
/// noregret::params! {
///     /// Parameters of an example.
///     pub struct ExampleParams {
///         /// Step size, > 0.
///         rate: f64 = "1 / radius",
///     }
/// }
/// let params = ExampleParams::new().rate(0.5);
/// assert_eq!(params, ExampleParams { rate: Some(0.5) });
/// ```
#[macro_export]
macro_rules! params {
    (
        $(#[doc = $doc:literal])*
        $vis:vis struct $name:ident $(wraps $prefix:ident as $inner:ident)? {
            $( $(#[doc = $field_doc:literal])* $field:ident: $kind:ty = $default:literal, )*
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        $vis struct $name {
            $(
                $(#[doc = $field_doc])*
                #[doc = ""]
                #[doc = concat!("`None`: `", $default, "`.")]
                pub $field: Option<$kind>,
            )*
            $(
                /// Parameters of the wrapped learner, without the prefix.
                pub $inner: $crate::param::Values,
                /// The learners that can be wrapped, beside the defaults.
                pub learners: $crate::registry::Learners,
            )?
        }

        #[allow(dead_code, reason = "parameters of learners that are not public have setters too")]
        impl $name {
            /// No field is set: all have the theorem's defaults.
            $vis fn new() -> Self {
                Self::default()
            }

            $(
                $(#[doc = $field_doc])*
                #[doc = ""]
                #[doc = concat!("Without it: `", $default, "`.")]
                #[must_use]
                $vis fn $field(mut self, $field: $kind) -> Self {
                    self.$field = Some($field);
                    self
                }
            )*
        }

        impl $crate::param::Params for $name {
            const FIELDS: &'static [$crate::param::ParamInfo] = &[
                $( $crate::param::ParamInfo::of::<$kind>(stringify!($field), &[$($field_doc),*], $default), )*
            ];

            fn set(
                &mut self,
                name: &str,
                value: &$crate::param::Value,
            ) -> Result<(), $crate::param::ParamError> {
                match name {
                    $( stringify!($field) => {
                        self.$field = Some($crate::param::read(name, value)?);
                        Ok(())
                    } )*
                    _ => unreachable!("'{name}' (= {value}) is checked against the fields first"),
                }
            }

            fn values(&self) -> $crate::param::Values {
                let fields: Vec<Option<(String, $crate::param::Value)>> = vec![ $(
                    self.$field.as_ref().map(|value| {
                        (stringify!($field).to_owned(), $crate::param::ParamValue::to_value(value))
                    }),
                )* ];
                let fields = fields.into_iter().flatten();
                $( let fields = fields.chain($crate::param::prefixed($prefix, &self.$inner)); )?
                fields.collect()
            }

            $(
                const PREFIX: Option<&'static str> = Some($prefix);

                fn set_inner(&mut self, name: &str, value: &$crate::param::Value) {
                    self.$inner.insert(name.to_owned(), value.clone());
                }

                fn check(&self) -> Result<(), $crate::param::ParamError> {
                    self.check_wrapped()
                }
            )?
        }

        impl $crate::registry::Wraps for $name {
            $(
                fn among(self, learners: $crate::registry::Learners) -> Self {
                    Self { $inner: self.$inner, learners, ..self }
                }
            )?
        }
    };
}

/// Declares an enum as a parameter type; its values are words.
#[macro_export]
macro_rules! param_words {
    ( $(#[$meta:meta])* pub enum $name:ident { $( $(#[$variant_meta:meta])* $variant:ident = $word:literal, )* } ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $( $(#[$variant_meta])* $variant, )* }

        impl $crate::param::ParamValue for $name {
            const KIND: $crate::param::Kind = $crate::param::Kind::Words;
            const WORDS: &'static [&'static str] = &[$($word),*];
            const NEED: &'static str = $crate::param_words!(@join $($word),*);

            fn from_value(value: &$crate::param::Value) -> Option<Self> {
                match value.to_string().as_str() {
                    $( $word => Some($name::$variant), )*
                    _ => None,
                }
            }

            fn to_value(&self) -> $crate::param::Value {
                $crate::param::Value::Text(match self { $( $name::$variant => $word, )* }.to_owned())
            }
        }
    };
    (@join $first:literal $(, $rest:literal)*) => { concat!("one of ", $first $(, ", ", $rest)*) };
}

#[cfg(test)]
mod tests;
