//! Buckets of features that are hashed.

/// Bucket of a feature name: FNV-1a with 64 bits over its UTF-8 bytes, finished as in MurmurHash3, lowest
/// `bits` bits.
///
/// The same on every machine and in every version: saved models depend on it.
pub fn hash_name(name: &str, bits: u32) -> u32 {
    hash_bytes(name.as_bytes(), bits)
}

/// Bucket of a numbered feature: as [`hash_name`], over the number's 8 bytes, lowest first.
pub fn hash_number(number: u64, bits: u32) -> u32 {
    hash_bytes(&number.to_le_bytes(), bits)
}

fn hash_bytes(bytes: &[u8], bits: u32) -> u32 {
    let fnv = bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    // FNV's low bits depend on the low bits of the text alone; the finaliser mixes all 64.
    let mut hash = (fnv ^ (fnv >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^= hash >> 33;
    (hash & ((1 << bits) - 1)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_stable() {
        // Saved models depend on these numbers.
        assert_eq!(hash_name("", 31), 983_116_070);
        assert_eq!(hash_name("colour=red", 18), 154_939);
        assert_eq!(hash_number(5_000_000_000, 18), 70_794);
    }
}
