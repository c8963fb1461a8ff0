//! Checksums that issuers publish for their tokens.

const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Whether the last six characters of `body` are the CRC32 of the others in base 62, as in tokens
/// of GitHub and npm.
pub(super) fn has_base62_crc(body: &str) -> bool {
    let Some((payload, checksum)) =
        body.len().checked_sub(6).and_then(|at| body.split_at_checked(at))
    else {
        return false;
    };
    base62(crc32(payload.as_bytes())) == checksum.as_bytes()
}

fn base62(number: u32) -> [u8; 6] {
    let mut digits = [b'0'; 6];
    let mut rest = number as usize;
    for digit in digits.iter_mut().rev() {
        *digit = BASE62[rest % 62];
        rest /= 62;
    }
    digits
}

/// CRC32 of IEEE 802.3.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32| if crc & 1 == 1 { (crc >> 1) ^ 0xEDB8_8320 } else { crc >> 1 };
    let fold = |crc: u32, byte: &u8| (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc));
    !bytes.iter().fold(!0, fold)
}

#[cfg(test)]
mod tests {
    use super::{base62, crc32, has_base62_crc};

    #[test]
    fn the_checksum_is_that_of_ieee_802_3() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }

    #[test]
    fn a_changed_character_breaks_the_checksum() {
        let payload = "zQ".repeat(15);
        let checksum = base62(crc32(payload.as_bytes()));
        let body = format!("{payload}{}", String::from_utf8_lossy(&checksum));
        assert!(has_base62_crc(&body));
        assert!(!has_base62_crc(&body.replacen('z', "y", 1)));
    }
}
