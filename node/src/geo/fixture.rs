//! Small databases in MaxMind's format, for tests: the member's own, and those from outside, which take this file in by its
//! path.

use std::collections::BTreeMap;

use waymark_core::model::Network;

/// A value of the format.
pub(super) enum Value {
    Text(&'static str),
    /// Of 2, 4 or 8 bytes.
    Number(usize, u64),
    List(Vec<Value>),
    Map(Vec<(&'static str, Value)>),
}

impl From<&[(&'static str, &'static str)]> for Value {
    fn from(pairs: &[(&'static str, &'static str)]) -> Self {
        Self::Map(pairs.iter().map(|(key, text)| (*key, Self::Text(text))).collect())
    }
}

/// A record of the flat schema.
pub(super) fn country(code: &'static str) -> Value {
    [("country_code", code)].as_slice().into()
}

/// A record of the nested schema.
pub(super) fn nested(country: &'static str, state: Option<&'static str>) -> Value {
    let coded = |code| Value::from([("iso_code", code)].as_slice());
    let mut pairs = vec![("country", coded(country))];
    pairs.extend(state.map(|state| ("subdivisions", Value::List(vec![coded(state)]))));
    Value::Map(pairs)
}

/// A child that leads nowhere, until all is written.
const NOTHING: usize = usize::MAX;
/// Added to a record's place in the data, to tell it from a node.
const DATA: usize = 1 << 32;

/// A database of IPv6, with IPv4 at ::/96.
pub(super) struct Mmdb {
    kind: &'static str,
    nodes: Vec<[usize; 2]>,
    data: Vec<u8>,
}

impl Mmdb {
    /// An empty one that says it is of the type `kind`.
    pub(super) fn of(kind: &'static str) -> Self {
        Self { kind, nodes: vec![[NOTHING; 2]], data: Vec::new() }
    }

    /// With `record` for a network, which may not lie in another.
    pub(super) fn with(mut self, network: &str, record: Value) -> Self {
        let network: Network = network.parse().expect(network);
        let (bits, length) = match network.address() {
            std::net::IpAddr::V4(address) => (u128::from(address.to_bits()), network.prefix() + 96),
            std::net::IpAddr::V6(address) => (address.to_bits(), network.prefix()),
        };
        let mut node = 0;
        for depth in 0..length {
            let side = (bits >> (127 - depth) & 1) as usize;
            if depth + 1 == length {
                self.nodes[node][side] = DATA + self.data.len();
            } else if self.nodes[node][side] == NOTHING {
                self.nodes.push([NOTHING; 2]);
                self.nodes[node][side] = self.nodes.len() - 1;
                node = self.nodes.len() - 1;
            } else {
                node = self.nodes[node][side];
            }
        }
        write(&mut self.data, &record);
        self
    }

    /// The database as bytes.
    pub(super) fn bytes(self) -> Vec<u8> {
        let count = self.nodes.len();
        let mut bytes = Vec::new();
        for child in self.nodes.iter().flatten() {
            let number = match *child {
                NOTHING => count,
                data if data >= DATA => count + 16 + (data - DATA),
                node => node,
            };
            bytes.extend_from_slice(&(number as u32).to_be_bytes()[1..]);
        }
        bytes.extend_from_slice(&[0; 16]);
        bytes.extend_from_slice(&self.data);
        bytes.extend_from_slice(b"\xab\xcd\xefMaxMind.com");
        let metadata = BTreeMap::from([
            ("binary_format_major_version", Value::Number(2, 2)),
            ("binary_format_minor_version", Value::Number(2, 0)),
            ("build_epoch", Value::Number(8, 1_700_000_000)),
            ("database_type", Value::Text(self.kind)),
            ("description", Value::Map(Vec::new())),
            ("ip_version", Value::Number(2, 6)),
            ("languages", Value::List(Vec::new())),
            ("node_count", Value::Number(4, count as u64)),
            ("record_size", Value::Number(2, 24)),
        ]);
        write(&mut bytes, &Value::Map(metadata.into_iter().collect()));
        bytes
    }

    /// The same, but that both children of each node in 8000::/1 lead to one other: 2^100 ways through few nodes.
    pub(super) fn knotted(mut self) -> Vec<u8> {
        let first = self.nodes.len();
        self.nodes[0][1] = first;
        self.nodes.extend((1..=100).map(|next| [first + next; 2]));
        self.nodes.push([NOTHING; 2]);
        self.bytes()
    }
}

fn write(bytes: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Text(text) => {
            head(bytes, 2, text.len());
            bytes.extend_from_slice(text.as_bytes());
        }
        Value::Number(size, number) => {
            let kind = match size {
                2 => 5,
                4 => 6,
                _ => 9,
            };
            head(bytes, kind, *size);
            bytes.extend_from_slice(&number.to_be_bytes()[8 - size..]);
        }
        Value::List(values) => {
            head(bytes, 11, values.len());
            values.iter().for_each(|value| write(bytes, value));
        }
        Value::Map(pairs) => {
            head(bytes, 7, pairs.len());
            for (key, value) in pairs {
                write(bytes, &Value::Text(key));
                write(bytes, value);
            }
        }
    }
}

/// The type and the size of a value: types from 8 on stand in a second byte, sizes from 29 on in a byte behind.
fn head(bytes: &mut Vec<u8>, kind: u8, size: usize) {
    let small = size.min(29) as u8;
    if kind < 8 {
        bytes.push(kind << 5 | small);
    } else {
        bytes.extend_from_slice(&[small, kind - 7]);
    }
    if small == 29 {
        bytes.push((size - 29) as u8);
    }
}
