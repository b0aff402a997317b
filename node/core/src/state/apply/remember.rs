//! The memory of marked commands, so that a client's retry is carried out once (CLI-4).

use std::sync::Arc;

use crate::state::{CommandId, Rejection, Remembered, Reply, State};

/// What the author of the command with that mark was told, if it is still remembered.
pub(super) fn recall(state: &State, id: Option<CommandId>) -> Option<Result<Reply, Rejection>> {
    state.remembered.get(&id?).map(|remembered| remembered.reply.clone())
}

/// Keeps what the author of a marked command is told, and forgets the oldest beyond [`State::REMEMBERED_MAX`].
pub(super) fn keep(state: &mut State, id: Option<CommandId>, reply: &Result<Reply, Rejection>) {
    let Some(id) = id else { return };
    let order = state.remembered_order.get_max().map_or(0, |(last, _)| last + 1);
    state.remembered.insert(id, Arc::new(Remembered { order, reply: reply.clone() }));
    state.remembered_order.insert(order, id);
    while state.remembered_order.len() > State::REMEMBERED_MAX {
        let Some((oldest, forgotten)) = state.remembered_order.get_min().copied() else { break };
        state.remembered_order.remove(&oldest);
        state.remembered.remove(&forgotten);
    }
}
