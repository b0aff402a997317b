//! Opens a store whose files may be damaged: on these, stores panic as often as they return an error.

use std::io;
use std::panic;
use std::sync::Once;
use std::thread;

const OPENER: &str = "log-opener";

/// What `open` returns, which runs in a thread of its own. A panic is returned as an error of kind `InvalidData`.
pub(super) fn open_warily<D: Send + 'static>(
    store: &str,
    open: impl FnOnce() -> io::Result<D> + Send + 'static,
) -> io::Result<D> {
    silence_panics_of_the_opener();
    let opener = thread::Builder::new().name(OPENER.into()).spawn(open)?;
    opener.join().unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given");
        Err(io::Error::new(io::ErrorKind::InvalidData, format!("{store} cannot read it: {text}")))
    })
}

/// The panic is reported as an error in one line: it must not be printed with a backtrace before.
fn silence_panics_of_the_opener() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if thread::current().name() != Some(OPENER) {
                previous(info);
            }
        }));
    });
}
