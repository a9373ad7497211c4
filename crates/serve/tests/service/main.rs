//! The service as its clients see it: over HTTP, through restarts, against hostile bodies.

mod bandit;
mod bodies;
mod clients;
mod columns;
mod deploy;
mod described;
mod disk;
mod full;
mod harm;
mod kept;
mod labels;
mod page;
mod personalizer;
mod ready;
mod refused;
mod restored;
mod scaling;
mod shadow;
mod support;
mod years;
