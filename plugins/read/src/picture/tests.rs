//! Cases for pictures, made and looked at with the image library's own tools.

use image::{DynamicImage, ImageFormat, Rgb, RgbImage, Rgba, RgbaImage};

use super::*;

fn written(picture: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut data = Cursor::new(Vec::new());
    picture.write_to(&mut data, format).unwrap();
    data.into_inner()
}

/// Pixels that no encoder can make small.
fn noise(width: u32, height: u32) -> DynamicImage {
    let mut state = 1_u32;
    RgbaImage::from_fn(width, height, |_, _| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        Rgba([
            (state >> 24) as u8,
            (state >> 16) as u8,
            (state >> 8) as u8,
            200,
        ])
    })
    .into()
}

#[test]
fn a_small_picture_keeps_its_bytes() {
    let picture = DynamicImage::from(RgbImage::from_pixel(20, 10, Rgb([1, 2, 3])));
    for (format, write) in [
        (Format::Png, ImageFormat::Png),
        (Format::Jpeg, ImageFormat::Jpeg),
        (Format::Gif, ImageFormat::Gif),
        (Format::WebP, ImageFormat::WebP),
    ] {
        let data = written(&picture, write);
        let shown = prepare(data.clone(), format).unwrap();
        assert_eq!(
            (shown.data, shown.mime, shown.note),
            (data, format.mime(), None)
        );
        assert_eq!((shown.width, shown.height), (20, 10));
    }
}

#[test]
fn a_large_picture_is_scaled_to_the_long_edge() {
    for (width, height, wanted) in [(2000, 500, (1568, 392)), (400, 4000, (157, 1568))] {
        let picture = DynamicImage::from(RgbImage::from_pixel(width, height, Rgb([9, 90, 200])));
        for (write, format) in [
            (ImageFormat::Png, Format::Png),
            (ImageFormat::Jpeg, Format::Jpeg),
        ] {
            let shown = prepare(written(&picture, write), format).unwrap();
            assert_eq!((shown.width, shown.height), wanted);
            assert_eq!(shown.mime, format.mime());
            assert!(shown.note.unwrap().contains(&format!("{width}×{height}")));
            let again = image::load_from_memory(&shown.data).unwrap().to_rgb8();
            assert_eq!(again.dimensions(), wanted);
            for (channel, wanted) in again.get_pixel(50, 50).0.iter().zip([9_u8, 90, 200]) {
                assert!(
                    channel.abs_diff(wanted) <= 4,
                    "{channel} instead of {wanted}"
                );
            }
        }
    }
}

#[test]
fn a_picture_of_too_many_bytes_becomes_a_jpeg_that_fits() {
    let data = written(&noise(1500, 1500), ImageFormat::Png);
    assert!(data.len() > MOST_BYTES);
    let shown = prepare(data, Format::Png).unwrap();
    assert_eq!(shown.mime, "image/jpeg");
    assert!(shown.data.len() <= MOST_BYTES);
}

#[test]
fn a_damaged_or_enormous_picture_is_refused_in_words() {
    let mut data = written(&noise(30, 30), ImageFormat::Png);
    data.truncate(data.len() / 2);
    let error = prepare(data, Format::Png).err().unwrap().sentence();
    assert!(error.contains("damaged"), "{error}");

    // Headers that promise more than a component can hold: the second is 243 MB of colours, the
    // third 36 MB of grey, of which colours are made.
    for (edge, color) in [(60_000_u32, 2), (9_000, 2), (6_000, 0)] {
        let mut data = written(&noise(1, 1), ImageFormat::Png);
        data[16..20].copy_from_slice(&edge.to_be_bytes());
        data[20..24].copy_from_slice(&edge.to_be_bytes());
        data[25] = color;
        let sum = crc(&data[12..29]);
        data[29..33].copy_from_slice(&sum.to_be_bytes());
        let error = prepare(data, Format::Png).err().unwrap().sentence();
        assert!(error.contains("too many pixels"), "{edge} {color}: {error}");
    }
}

fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            (sum >> 1) ^ (0xedb8_8320 & (sum & 1).wrapping_neg())
        })
    })
}
