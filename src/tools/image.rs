//! Which image format some bytes are, by content, and how large the picture is.
//!
//! Only the formats that model APIs take. The name of a file says nothing here.

/// An image format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ImageFormat {
    Png,
    Jpeg,
    Gif,
    Webp,
}

/// Width and height in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dimensions {
    pub(super) width: u32,
    pub(super) height: u32,
}

impl ImageFormat {
    /// The format that the first bytes of a file tell (twelve are enough).
    pub(super) fn of(head: &[u8]) -> Option<Self> {
        if head.starts_with(b"\x89PNG\r\n\x1a\n") {
            Some(Self::Png)
        } else if head.starts_with(b"\xff\xd8\xff") {
            Some(Self::Jpeg)
        } else if head.starts_with(b"GIF87a") || head.starts_with(b"GIF89a") {
            Some(Self::Gif)
        } else if head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP") {
            Some(Self::Webp)
        } else {
            None
        }
    }

    pub(super) fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
        }
    }

    /// The size that the file's headers give; `None` if they are damaged or of a rare kind.
    pub(super) fn dimensions(self, bytes: &[u8]) -> Option<Dimensions> {
        let (width, height) = match self {
            Self::Png => (
                big_endian(bytes.get(16..20)?),
                big_endian(bytes.get(20..24)?),
            ),
            Self::Gif => (
                little_endian(bytes.get(6..8)?),
                little_endian(bytes.get(8..10)?),
            ),
            Self::Jpeg => jpeg_size(bytes)?,
            Self::Webp => webp_size(bytes)?,
        };
        (width > 0 && height > 0).then_some(Dimensions { width, height })
    }
}

/// Walks the segments up to the frame header.
fn jpeg_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut rest = bytes.get(2..)?;
    loop {
        match rest {
            [0xff, 0xff, ..] => rest = &rest[1..],
            // Frame headers, except the tables that share their range.
            [0xff, 0xc0..=0xcf, _, _, _, height @ ..] if !matches!(rest[1], 0xc4 | 0xc8 | 0xcc) => {
                let (height, width) = (height.get(..2)?, height.get(2..4)?);
                return Some((big_endian(width), big_endian(height)));
            }
            [0xff, _, length @ ..] => {
                let length = usize::try_from(big_endian(length.get(..2)?)).ok()?;
                rest = rest.get(2 + length.max(2)..)?;
            }
            _ => return None,
        }
    }
}

fn webp_size(bytes: &[u8]) -> Option<(u32, u32)> {
    const FOURTEEN_BITS: u32 = 0x3fff;
    match bytes.get(12..16)? {
        b"VP8X" => Some((
            little_endian(bytes.get(24..27)?) + 1,
            little_endian(bytes.get(27..30)?) + 1,
        )),
        b"VP8 " => Some((
            little_endian(bytes.get(26..28)?) & FOURTEEN_BITS,
            little_endian(bytes.get(28..30)?) & FOURTEEN_BITS,
        )),
        b"VP8L" => {
            let bits = little_endian(bytes.get(21..25)?);
            Some((
                (bits & FOURTEEN_BITS) + 1,
                ((bits >> 14) & FOURTEEN_BITS) + 1,
            ))
        }
        _ => None,
    }
}

fn big_endian(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .fold(0, |value, byte| value << 8 | u32::from(*byte))
}

fn little_endian(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .rev()
        .fold(0, |value, byte| value << 8 | u32::from(*byte))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seen(bytes: &[u8]) -> Option<(ImageFormat, Option<(u32, u32)>)> {
        let format = ImageFormat::of(bytes)?;
        let size = format
            .dimensions(bytes)
            .map(|size| (size.width, size.height));
        Some((format, size))
    }

    #[test]
    fn formats_are_told_by_content() {
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\x02\0\0\0\x03\x08\x06";
        let gif = b"GIF89a\x05\0\x07\x01";
        let jpeg = b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc4\0\x02\xff\xc2\0\x11\x08\0\x10\x01\0\x03";
        let extended = b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x0f\0\0\x1f\0\0";
        let lossy = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x40\x01\xf0\0";
        let lossless = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f\x63\xc0\x18\0";
        let table: [(&[u8], _, _); 6] = [
            (png, ImageFormat::Png, (258, 3)),
            (gif, ImageFormat::Gif, (5, 263)),
            (jpeg, ImageFormat::Jpeg, (256, 16)),
            (extended, ImageFormat::Webp, (16, 32)),
            (lossy, ImageFormat::Webp, (320, 240)),
            (lossless, ImageFormat::Webp, (100, 100)),
        ];
        for (bytes, format, size) in table {
            assert_eq!(seen(bytes), Some((format, Some(size))), "{bytes:?}");
        }
        assert_eq!(seen(b"RIFF\0\0\0\0WAVE"), None);
        assert_eq!(seen(b"<svg xmlns"), None);
        assert_eq!(seen(b""), None);
    }

    proptest! {
        #[test]
        fn damaged_headers_do_no_harm(
            format in prop::sample::select(vec![
                ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::Webp,
            ]),
            bytes in proptest::collection::vec(prop_oneof![Just(0xff_u8), any::<u8>()], 0..64),
        ) {
            let _ = format.dimensions(&bytes);
        }
    }
}
