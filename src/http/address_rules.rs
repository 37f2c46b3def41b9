//! Where secrets may be sent.

use std::net::{IpAddr, Ipv6Addr};

use super::{Address, UnusableAddress};

/// Whether secrets may be sent without encryption.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PlainText {
    /// To this machine and to private networks only.
    #[default]
    Nearby,
    /// Anywhere: somebody said so.
    Anywhere,
}

/// Names that only private networks resolve.
const PRIVATE_SUFFIXES: &[&str] = &[".local", ".internal", ".lan", ".localhost", ".home.arpa"];

impl Address {
    /// Checks that a secret may be sent there.
    ///
    /// # Errors
    /// It would cross the open network for everybody to read.
    pub fn admit_secrets(&self, plain_text: PlainText) -> Result<(), UnusableAddress> {
        if self.is_encrypted() || plain_text == PlainText::Anywhere || self.is_nearby() {
            return Ok(());
        }
        Err(UnusableAddress::PlainText {
            host: self.authority(),
        })
    }

    /// Whether the host is this machine or one of a private network, as far as its name tells.
    fn is_nearby(&self) -> bool {
        let Some(host) = self.url.host_str() else {
            return false;
        };
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        match bare.parse::<IpAddr>() {
            Ok(IpAddr::V4(address)) => {
                address.is_loopback() || address.is_private() || address.is_link_local()
            }
            Ok(IpAddr::V6(address)) => is_nearby_v6(address),
            Err(_) => {
                let name = bare.trim_end_matches('.').to_ascii_lowercase();
                !name.contains('.') || PRIVATE_SUFFIXES.iter().any(|end| name.ends_with(end))
            }
        }
    }
}

fn is_nearby_v6(address: Ipv6Addr) -> bool {
    if let Some(mapped) = address.to_ipv4_mapped() {
        return mapped.is_loopback() || mapped.is_private() || mapped.is_link_local();
    }
    address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_stay_on_private_networks_or_are_encrypted() {
        let allowed = [
            "https://api.example.com",
            "http://localhost:8000",
            "http://127.0.0.1:1",
            "http://127.9.9.9",
            "http://[::1]:4",
            "http://[fd00::2]",
            "http://[::ffff:10.0.0.1]",
            "http://10.1.2.3",
            "http://172.20.0.5:11434",
            "http://192.168.1.7",
            "http://gpu:8000",
            "http://gpu.lan",
            "http://HOST.docker.internal:11434",
        ];
        for text in allowed {
            let address = Address::parse(text).unwrap();
            assert_eq!(address.admit_secrets(PlainText::Nearby), Ok(()), "{text}");
        }
        let refused = [
            "http://api.example.com/v1",
            "http://8.8.8.8",
            "http://172.32.0.1",
            "http://[2001:db8::1]",
            "http://[::ffff:8.8.8.8]",
            "http://localhost.example.com",
            "http://0.0.0.0",
        ];
        for text in refused {
            let address = Address::parse(text).unwrap();
            assert!(address.admit_secrets(PlainText::Nearby).is_err(), "{text}");
            assert_eq!(address.admit_secrets(PlainText::Anywhere), Ok(()));
        }
    }
}
