//! What Waymark decides, as pure functions: commands change the state, the state gives status, a view and a query give
//! an answer. Nothing here waits, reads a clock, draws a random number or knows a wire format.
//!
//! Layers, each of which uses only those to its left: `model → geo, health → state → routing → answer →
//! explain → simulate`.

pub mod answer;
pub mod explain;
#[cfg(test)]
mod fixture;
pub mod geo;
pub mod health;
pub mod model;
pub mod routing;
pub mod simulate;
pub mod state;
