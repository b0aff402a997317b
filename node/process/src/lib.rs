//! What a program needs to be a process, once for all of them: settings, logs, signals and chance.

pub mod chance;
pub mod duration;
pub mod logging;
pub mod settings;
pub mod shutdown;
