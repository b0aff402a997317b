//! The complete, commented settings file that `waymark-node config default` prints.

/// Every setting with its default; `name` stands for the machine's own.
pub const SAMPLE: &str = r#"# Settings of waymark-node. Each one is also a flag (--grpc-listen) and an environment variable
# (WAYMARK_NODE_GRPC_LISTEN); a flag beats the environment, which beats this file.

# The member's name, unique in the cluster. Default: the machine's name.
name = "m1"

# The region that it is in, by the name of a cloud's region or one that the cluster was told: the round trips of clients
# that ask over TCP are then learned as this region's latencies. Empty: nothing is measured.
region = ""

# Where log, snapshots and identity are kept. One directory for each member; it is made if it is missing.
data_dir = "waymark-data"

# Where gRPC is served: to the operators' CLI, to agents and to the other members.
grpc_listen = "127.0.0.1:7400"

# How other members and agents reach it, as "https://m1.example.com:7400". Empty: https:// and the address above.
grpc_advertise = ""

# Who this member is to others, and whom it believes, all in PEM: its certificate, the certificate's private key, and the
# certificates of the authorities that are trusted. `waymark pki` makes them; without them only `dev` starts. They are read
# again on HUP and when they change; while they do not fit together, those before serve.
tls_certificate = ""
tls_key = ""
tls_authority = ""

# The keys that secret headers, and an issuing authority's key, are encrypted with: one on each line, of which the first encrypts and all decrypt; the same file
# on all members, and nobody else's business. `waymark pki secret-key` makes one. Read at the start. Empty: no secrets are taken.
secret_key_file = ""

# Where DNS is served, over UDP and TCP. 0.0.0.0 and [::] stand for every address of the machine; a reply leaves from the
# one that its query came to.
dns_listen = ["127.0.0.1:5300"]

# What version.bind and version.server are told in class CH. Empty: they are refused.
dns_version_text = ""

# Replies over UDP of one kind to one network (/24 or /56) in a second; 0: without limit. Every so-and-so-many-th reply
# beyond it is cut (TC) instead of held back; 0: none. Loopback, the networks named here and askers with a good cookie
# are never limited.
dns_rate_limit = 200
dns_rate_limit_slip = 2
dns_rate_limit_exempt = []

# How resolvers reach it, as `waymark cluster status` shows it. Default: the first address above.
dns_advertise = "127.0.0.1:5300"

# Where DNS is served encrypted, as ["192.0.2.53:853"]: over TLS (DoT, usually port 853), over HTTPS (DoH, usually
# port 443, with the path /dns-query) and over QUIC (DoQ, usually UDP port 853). Empty: it is not.
dns_tls_listen = []
dns_https_listen = []
dns_quic_listen = []

# The certificate for that, followed by those that lead to its root, and its private key, both in PEM. They are read
# again on HUP and when they change; while they do not fit together, the certificate before serves.
dns_tls_cert = ""
dns_tls_key = ""

# Where health is served over HTTP: /healthz, /readyz, /readyz/write.
http_listen = "127.0.0.1:7401"

# How patient Raft's timers are: local (one room), regional (one continent) or global.
timers = "local"

# How long a start waits for a leader before DNS is answered from the member's own last state.
start_grace = "10s"

# The highest apply level that this member supports: lower than the program's own, it holds an upgrade of the cluster back, see
# `waymark cluster upgrade`. Empty: the program's own.
apply_level_max = ""

# Log entries after which a snapshot is made and the log is cut, but for a tenth of that, which members that are a little
# behind are sent from it; those further behind get the snapshot. 100 to 1000000.
snapshot_after = 10000

# How long a member that is cut off from the cluster goes on answering from its last state, before it answers SERVFAIL so that
# resolvers turn to others: 4s or more with the timers local, 10s with regional, 30s with global. 0s: without limit.
max_stale = "0s"

# The resolver that finds, while this member leads, the addresses of the names of flattened profiles, as in 127.0.0.1:53.
# Empty: the system's (/etc/resolv.conf).
resolver = ""

# A database in MaxMind's format (MMDB) that locates clients, such as GeoLite2 or DB-IP; read again on HUP, and put
# to use on all members by `waymark geo use newest`. Empty: the table of countries that this program carries along.
geo_database = ""

# What is logged, in RUST_LOG's language; RUST_LOG itself goes first.
log_level = "info"

# auto (text on a terminal, json elsewhere), text or json.
log_format = "auto"

# true: a cluster of one that founds itself, with the zone waymark.test, on loopback only; in plain text without tls_….
dev = false
"#;
