//! What a program needs to be a process, once for all of them: settings, logs, signals, descriptors, resolvers and chance.

pub mod chance;
pub mod descriptors;
pub mod duration;
pub mod logging;
pub mod resolver;
pub mod settings;
pub mod shutdown;
