//! Makes a picture fit for a model: small enough, and sure to be whole.
//!
//! A picture that fits keeps its bytes. It is decoded all the same, because a
//! damaged one would be refused later, where nobody can take it back out of the
//! conversation.

use std::io::Cursor;

use image::codecs::gif::GifDecoder;
use image::codecs::jpeg::{JpegDecoder, JpegEncoder};
use image::codecs::png::{CompressionType, FilterType, PngDecoder, PngEncoder};
use image::codecs::webp::WebPDecoder;
use image::metadata::Orientation;
use image::{ColorType, ExtendedColorType, ImageDecoder, ImageEncoder, ImageError, Limits};
use toolbay_sdk::ToolError;

use crate::kind::Format;

mod pixels;

use pixels::Pixels;

/// Beyond this models scale down themselves, after the bytes were paid for.
const LONG_EDGE: u32 = 1568;
/// Becomes 5 MB as base64, which is what model services accept.
const MOST_BYTES: usize = 3_750_000;
/// Memory for one decoded picture: 50 megapixels of colours, as telephones take. A
/// component has 256 MiB, of which the file and the scaled picture take their part.
const MOST_MEMORY: u64 = 160 * 1024 * 1024;
/// What profiles and texts in a PNG may grow to; they are packed like the pixels.
const MOST_BESIDE: u64 = 8 * 1024 * 1024;
/// Qualities tried until the bytes fit.
const JPEG_QUALITIES: [u8; 3] = [85, 70, 50];

pub struct Picture {
    pub mime: &'static str,
    pub data: Vec<u8>,
    /// Of the picture as shown.
    pub width: u32,
    pub height: u32,
    /// What was done to it.
    pub note: Option<String>,
}

/// Checks a picture and scales it down when it is too large.
pub fn prepare(data: Vec<u8>, format: Format) -> Result<Picture, ToolError> {
    let mut pixels = decode(&data, format).map_err(refusal)?;
    let (width, height) = (pixels.width, pixels.height);
    if width.max(height) <= LONG_EDGE && data.len() <= MOST_BYTES {
        return Ok(Picture {
            mime: format.mime(),
            data,
            width,
            height,
            note: None,
        });
    }
    let mut edge = LONG_EDGE;
    let (shown_format, data) = loop {
        pixels = pixels.scaled(edge);
        if let Some(encoded) = encode(&pixels, format).map_err(refusal)? {
            break encoded;
        }
        edge = (pixels.width.max(pixels.height) / 2).max(1);
    };
    Ok(Picture {
        mime: shown_format.mime(),
        data,
        width: pixels.width,
        height: pixels.height,
        note: Some(format!(
            "(The picture has {width}×{height} pixels and is shown at {}×{}.)",
            pixels.width, pixels.height
        )),
    })
}

fn decode(data: &[u8], format: Format) -> Result<Pixels, ImageError> {
    let data = Cursor::new(data);
    match format {
        Format::Png => {
            let mut beside = Limits::default();
            beside.max_alloc = Some(MOST_BESIDE);
            pixels(PngDecoder::with_limits(data, beside)?)
        }
        Format::Jpeg => pixels(JpegDecoder::new(data)?),
        Format::Gif => pixels(GifDecoder::new(data)?),
        Format::WebP => pixels(WebPDecoder::new(data)?),
    }
}

fn pixels(mut decoder: impl ImageDecoder) -> Result<Pixels, ImageError> {
    let mut limits = Limits::default();
    limits.max_alloc = Some(MOST_MEMORY);
    let (width, height) = decoder.dimensions();
    let color = decoder.color_type();
    // Encoding anew drops the note about the camera's orientation.
    let orientation = decoder.orientation()?;
    limits.reserve(held(&decoder, color, orientation))?;
    decoder.set_limits(limits)?;
    // The limit above keeps this far below what a 32-bit size can say.
    let mut bytes = vec![0; decoder.total_bytes() as usize];
    decoder.read_image(&mut bytes)?;
    Ok(Pixels::of(bytes, color, width, height).upright(orientation))
}

/// What the pixels take until they are scaled, with the copies on the way.
fn held(decoder: &impl ImageDecoder, color: ColorType, orientation: Orientation) -> u64 {
    let (width, height) = decoder.dimensions();
    let copy = 4 * u64::from(width) * u64::from(height);
    let converted = match color {
        ColorType::Rgb8 | ColorType::Rgba8 => 0,
        // The copy grows as it is made, and so takes up to twice its size.
        _ => 2 * copy,
    };
    let turned = match orientation {
        Orientation::NoTransforms => 0,
        _ => copy,
    };
    decoder.total_bytes().saturating_add(converted + turned)
}

/// The bytes in a format that suits the original, `None` when none is small enough.
fn encode(pixels: &Pixels, original: Format) -> Result<Option<(Format, Vec<u8>)>, ImageError> {
    // Drawings and screenshots keep their sharp edges; photographs come as JPEG.
    if original != Format::Jpeg {
        let mut data = Vec::new();
        PngEncoder::new_with_quality(&mut data, CompressionType::Fast, FilterType::Adaptive)
            .write_image(&pixels.bytes, pixels.width, pixels.height, pixels.color())?;
        if data.len() <= MOST_BYTES {
            return Ok(Some((Format::Png, data)));
        }
    }
    let flat = pixels.flat();
    for quality in JPEG_QUALITIES {
        let mut data = Vec::new();
        JpegEncoder::new_with_quality(&mut data, quality).write_image(
            &flat,
            pixels.width,
            pixels.height,
            ExtendedColorType::Rgb8,
        )?;
        if data.len() <= MOST_BYTES {
            return Ok(Some((Format::Jpeg, data)));
        }
    }
    Ok(None)
}

fn refusal(error: ImageError) -> ToolError {
    match error {
        ImageError::Limits(_) => ToolError::coded(
            "too-large",
            "The picture has too many pixels to be opened here; scale it down with a shell command first.",
        ),
        other => ToolError::coded(
            "damaged",
            format!("The picture seems to be damaged and cannot be shown: {other}."),
        ),
    }
}

#[cfg(test)]
mod tests;
