//! What an operator says about how DNS is answered, the same on all listeners of a member.

/// How a member answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The member's name, told to those who ask for it (DNS-12).
    pub member: String,
}
