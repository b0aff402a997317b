//! What goes out comes back, whatever it is; and old bytes are read for ever.

mod arbitrary;
mod brake;
mod enrolment;
mod golden;
mod golden_events;
mod golden_files;
mod golden_routing;
mod headers;
mod kinds;
mod masks;
mod overrides;
mod places;
mod records;
mod round_trip;
mod sight;
mod wishes;
