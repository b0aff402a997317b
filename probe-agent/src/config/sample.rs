//! The complete, commented settings file that `waymark-agent config default` prints.

/// Every setting with its default; `name` stands for the machine's own, `region` has none, and `resolver` is the
/// system's while its line is a comment.
pub const SAMPLE: &str = r#"# Settings of waymark-agent. Each one is also a flag (--allow-loopback) and an environment variable
# (WAYMARK_AGENT_ALLOW_LOOPBACK); a flag beats the environment, which beats this file. Lists are separated by commas there.

# The agent's name, unique in the cluster. Default: the machine's name.
name = "agent-1"

# The region that it probes from. Required; the cluster must know it (waymark region set).
region = "eu-central"

# Where to find members. One is enough to begin with, all are better: the agent begins with one that its name gives, so that
# many agents spread over the members, and moves on to the next one of the list, around, when its member fails.
# https:// needs the three files below; http:// is for members on this machine that run with --dev.
members = ["http://127.0.0.1:7400"]

# Who this agent is to members, and whom it believes, all in PEM: its certificate, the certificate's private key, and the
# certificates of the authorities that are trusted. `waymark pki issue DIR agent NAME --region REGION` makes them. They are read
# again on HUP and when they change; while they do not fit together, those before serve.
tls_certificate = ""
tls_key = ""
tls_authority = ""

# A file with the join token of this agent (`waymark agent token create`). While there is no file at tls_certificate, the agent makes a
# key, has a member issue the certificate for the token, and puts both into place. An agent with this setting also renews its
# certificate at half of its life; the token need not be kept. Empty: somebody else sees to certificates.
join_token_file = ""

# true: probe loopback addresses too, as for a trial on one machine.
allow_loopback = false

# The resolver that finds the addresses of targets that are names. Default: the system's (/etc/resolv.conf). Names in
# /etc/hosts are found first.
# resolver = "127.0.0.1:53"

# Targets that tell whether this agent sees at all, each HOST:PORT for a connection or an http(s) URL for an answer of any
# status: at most 8, that fail for reasons of their own, and through the network that probes go through. Each is probed every
# 10 s. While none of them is there, the agent is blind: it abstains, and its verdicts are withdrawn. None: it takes its sight
# for granted.
canary = []

# Queries in a minute that may be sent to the resolvers that ask the members most, to measure how far they are from this
# agent's region (UDP, port 53; the name that is asked for says what it is for; an address that the guard refuses is not
# asked). 0: none, 600 at most.
measure_per_minute = 0

# What is logged, in RUST_LOG's language; RUST_LOG itself goes first. HUP makes the agent read it again.
log_level = "info"

# auto (text on a terminal, json elsewhere), text or json.
log_format = "auto"

# Which addresses are probed. Link-local, multicast, reserved and cloud-metadata addresses are not; private ones are.
[guard]
# Networks to probe all the same, as in ["100.64.0.0/10"]. (--guard-allow)
allow = []
# Networks never to probe, whatever else is said. (--guard-deny)
deny = []
"#;
