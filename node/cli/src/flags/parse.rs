//! Reading what stands behind a flag. Only the shape is looked at here: what is allowed is the cluster's to say, with
//! all else at once.

use std::convert::Infallible;

use clap::Args;
use waymark_core::model::profile_limits::{REMOVAL_MAX, TTL_MAX};
use waymark_proto::admin::v1::{Header, NameServer, StatusRange};

use super::duration;

/// Reads `NAME=ADDRESS[,ADDRESS…]`, or a name alone if it lies outside the zone.
pub(crate) fn name_server(text: &str) -> Result<NameServer, String> {
    let (name, addresses) = match text.split_once('=') {
        Some((_, "")) => return Err("has no address behind '='; write NAME=ADDRESS[,ADDRESS]".to_owned()),
        Some((name, addresses)) => {
            (name, addresses.split(',').map(|address| address.trim().to_owned()).collect())
        }
        None => (text, Vec::new()),
    };
    Ok(NameServer { name: name.trim().to_owned(), addresses })
}

/// Reads `LATITUDE,LONGITUDE` in degrees.
pub(crate) fn coordinates(text: &str) -> Result<(f64, f64), String> {
    let wrong = || "is no place; write LATITUDE,LONGITUDE in degrees, as in 50.1,8.7".to_owned();
    let (latitude, longitude) = text.split_once(',').ok_or_else(wrong)?;
    let degrees =
        |text: &str| text.trim().parse::<f64>().ok().filter(|degrees| degrees.is_finite()).ok_or_else(wrong);
    Ok((degrees(latitude)?, degrees(longitude)?))
}

/// Reads `NAME: VALUE`.
pub(crate) fn header(text: &str) -> Result<Header, String> {
    let (name, value) =
        text.split_once(':').ok_or("has no ':'; write 'NAME: VALUE', as in 'Host: web.example.org'")?;
    Ok(Header { name: name.trim().to_owned(), value: value.trim().to_owned(), ..Header::default() })
}

/// The same, of a header whose value is a secret. It never fails, as a refusal would repeat the secret: what has no ':' has no name, and
/// that is for the cluster to refuse.
pub(crate) fn secret_header(text: &str) -> Result<Header, Infallible> {
    let (name, value) = text.split_once(':').unwrap_or(("", text));
    Ok(Header {
        name: name.trim().to_owned(),
        value: value.trim().to_owned(),
        secret: true,
        ..Header::default()
    })
}

/// Reads `NAME: FILE`, where the secret value is what is in the file, without the end of its line.
pub(crate) fn secret_header_file(text: &str) -> Result<Header, String> {
    let Header { name, value: path, .. } = header(text)?;
    let value = std::fs::read_to_string(&path).map_err(|error| format!("cannot be read: {error}"))?;
    Ok(Header {
        name,
        value: value.trim_end_matches(['\r', '\n']).to_owned(),
        secret: true,
        ..Header::default()
    })
}

/// Headers whose values are secrets, wherever they are given.
#[derive(Args, Debug)]
pub(crate) struct SecretHeaders {
    /// A header whose value is a secret: encrypted, and shown to nobody; may be repeated, and replaces all headers there were. Others
    /// on this machine can see it while this runs.
    #[arg(long = "secret-header", value_name = "NAME: VALUE", value_parser = secret_header)]
    given: Vec<Header>,
    /// The same, with the value in a file.
    #[arg(long = "secret-header-file", value_name = "NAME: FILE", value_parser = secret_header_file)]
    in_files: Vec<Header>,
}

impl SecretHeaders {
    /// `headers`, and these behind them.
    pub(crate) fn behind(self, headers: Vec<Header>) -> Vec<Header> {
        headers.into_iter().chain(self.given).chain(self.in_files).collect()
    }
}

/// Reads `MIN-MAX`, or one status code.
pub(crate) fn status_range(text: &str) -> Result<StatusRange, String> {
    let wrong = |_| "is no range of status codes; write it as in 200-299 or 204".to_owned();
    let (min, max) = text.split_once('-').unwrap_or((text, text));
    Ok(StatusRange { min: min.trim().parse().map_err(wrong)?, max: max.trim().parse().map_err(wrong)? })
}

/// Reads `on` or `off`.
pub(crate) fn switch(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("is neither 'on' nor 'off'".to_owned()),
    }
}

/// Reads a whole number. What fits is passed on, as the cluster judges it with all else; what does not is refused by the
/// same rule.
pub(crate) fn number(min: u32, max: u32) -> impl Fn(&str) -> Result<u32, String> + Clone {
    move |text| text.parse().map_err(|_| out_of_range(text, u64::from(min), u64::from(max)))
}

/// A share, in percent, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Share(pub(crate) Option<u32>);

/// Reads `20%`, `20`, or `off`.
pub(crate) fn share(text: &str) -> Result<Share, String> {
    if text == "off" {
        return Ok(Share(None));
    }
    let digits = text.strip_suffix('%').unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number {
        return Err(format!("is neither 'off' nor a whole percentage, 1%–{REMOVAL_MAX}%"));
    }
    let percent = digits.parse().map_err(|_| format!("is outside 1%–{REMOVAL_MAX}%"))?;
    Ok(Share(Some(percent)))
}

/// Reads a revision.
pub(crate) fn revision(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| out_of_range(text, 0, u64::MAX))
}

fn out_of_range(text: &str, min: u64, max: u64) -> String {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        format!("is outside {min}–{max}")
    } else {
        format!("is no whole number, {min}–{max}")
    }
}

/// Reads seconds, with or without a unit: a time to live is always written in seconds elsewhere in DNS.
pub(crate) fn ttl(text: &str) -> Result<u32, String> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return number(0, TTL_MAX)(text);
    }
    let millis = duration::millis(text)?.0;
    if !millis.is_multiple_of(1_000) {
        return Err("is not in whole seconds".to_owned());
    }
    u32::try_from(millis / 1_000).map_err(|_| format!("is outside 0–{TTL_MAX}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_servers_come_with_their_addresses() {
        let read = name_server("ns1.tm.example.com=192.0.2.53,2001:db8::53").unwrap();
        assert_eq!((read.name.as_str(), read.addresses.len()), ("ns1.tm.example.com", 2));
        assert!(name_server("ns.example.net").unwrap().addresses.is_empty());
        assert!(name_server("ns.example.net=").is_err());
    }

    #[test]
    fn places_are_read() {
        assert_eq!(coordinates("-33.9, 18.4"), Ok((-33.9, 18.4)));
        for text in ["", "50", "50;8", "a,b", "NaN,0", "inf,0"] {
            assert!(coordinates(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sec_4_secrets_are_not_repeated_and_can_come_from_files() {
        let read = secret_header("Authorization: Bearer a:b").unwrap();
        assert_eq!((&*read.name, &*read.value, read.secret), ("Authorization", "Bearer a:b", true));
        let nameless = secret_header("geheim").unwrap();
        assert_eq!((&*nameless.name, &*nameless.value), ("", "geheim"));
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("token");
        std::fs::write(&file, "geheim\r\n").unwrap();
        let read = secret_header_file(&format!("Key: {}", file.display())).unwrap();
        assert_eq!((&*read.name, &*read.value, read.secret), ("Key", "geheim", true));
        assert!(secret_header_file("Key: /nonexistent").unwrap_err().contains("cannot be read"));
    }

    #[test]
    fn fail_2_a_share_is_a_percentage_or_off() {
        assert_eq!((share("20%"), share("20")), (Ok(Share(Some(20))), Ok(Share(Some(20)))));
        assert_eq!(share("off"), Ok(Share(None)));
        assert_eq!(share("101%"), Ok(Share(Some(101))), "the cluster's to judge");
        for text in ["", "%", "-5%", "1.5%", "on", "half"] {
            assert_eq!(
                share(text),
                Err("is neither 'off' nor a whole percentage, 1%–100%".to_owned()),
                "{text}"
            );
        }
        assert_eq!(share("99999999999%"), Err("is outside 1%–100%".to_owned()));
    }

    #[test]
    fn headers_keep_what_stands_behind_the_first_colon() {
        let read = header("Host: web.example.org:8080").unwrap();
        assert_eq!((read.name.as_str(), read.value.as_str()), ("Host", "web.example.org:8080"));
        assert!(header("Host=web").is_err());
    }

    #[test]
    fn status_codes_are_read_alone_and_in_ranges() {
        assert_eq!(status_range("200-299"), Ok(StatusRange { min: 200, max: 299 }));
        assert_eq!(status_range("204"), Ok(StatusRange { min: 204, max: 204 }));
        assert!(status_range("2xx").is_err());
    }

    #[test]
    fn cli_2_a_number_that_does_not_fit_is_refused_by_its_rule() {
        assert_eq!(number(1, 1_000)("1001"), Ok(1_001), "the cluster's to judge");
        for text in ["-5", "99999999999"] {
            assert_eq!(number(1, 1_000)(text), Err("is outside 1–1000".to_owned()), "{text}");
            assert!(revision(&format!("{text}9999999999")).unwrap_err().contains("is outside 0–"));
        }
        for text in ["", "-", "ten", "1.5"] {
            assert_eq!(number(1, 1_000)(text), Err("is no whole number, 1–1000".to_owned()), "{text}");
        }
    }

    #[test]
    fn a_time_to_live_is_in_seconds() {
        assert_eq!((ttl("30"), ttl("30s"), ttl("1m")), (Ok(30), Ok(30), Ok(60)));
        assert!(ttl("1500ms").is_err());
        for text in ["-1", "4294967296", "4294967296s"] {
            assert_eq!(ttl(text), Err(format!("is outside 0–{TTL_MAX}")), "{text}");
        }
    }
}
