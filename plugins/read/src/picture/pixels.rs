//! A decoded picture, brought down to two layouts: three or four bytes a pixel.
//!
//! The image library could do all of this, but for every kind of pixel it knows,
//! and the component would carry the code for each.

use image::metadata::Orientation;
use image::{ColorType, ExtendedColorType};

pub struct Pixels {
    pub bytes: Vec<u8>,
    pub width: u32,
    pub height: u32,
    /// Bytes a pixel: 3 for colours, 4 with transparency behind them.
    depth: usize,
}

impl Pixels {
    /// From what a decoder wrote.
    pub fn of(bytes: Vec<u8>, color: ColorType, width: u32, height: u32) -> Self {
        let channels = usize::from(color.channel_count());
        let size = usize::from(color.bytes_per_pixel()) / channels.max(1);
        let bytes = match size {
            1 => bytes,
            // Of a 16-bit channel the upper half is what the eye sees.
            2 => bytes
                .as_chunks::<2>()
                .0
                .iter()
                .map(|pair| (u16::from_ne_bytes(*pair) >> 8) as u8)
                .collect(),
            // No decoder in use writes floating point numbers.
            _ => bytes
                .as_chunks::<4>()
                .0
                .iter()
                .map(|four| (f32::from_ne_bytes(*four) * 255.0) as u8)
                .collect(),
        };
        let (bytes, depth) = match channels {
            1 => (bytes.iter().flat_map(|grey| [*grey; 3]).collect(), 3),
            2 => {
                let (pairs, _) = bytes.as_chunks::<2>();
                let spread = |[grey, alpha]: &[u8; 2]| [*grey, *grey, *grey, *alpha];
                (pairs.iter().flat_map(spread).collect(), 4)
            }
            channels => (bytes, channels),
        };
        Self {
            bytes,
            width,
            height,
            depth,
        }
    }

    pub fn color(&self) -> ExtendedColorType {
        if self.depth == 4 {
            ExtendedColorType::Rgba8
        } else {
            ExtendedColorType::Rgb8
        }
    }

    /// Three bytes a pixel. What shines through becomes white paper.
    pub fn flat(&self) -> Vec<u8> {
        if self.depth == 3 {
            return self.bytes.clone();
        }
        let (pixels, _) = self.bytes.as_chunks::<4>();
        let over = |[red, green, blue, alpha]: &[u8; 4]| {
            let alpha = u32::from(*alpha);
            [red, green, blue]
                .map(|channel| ((u32::from(*channel) * alpha + 255 * (255 - alpha)) / 255) as u8)
        };
        pixels.iter().flat_map(over).collect()
    }

    /// Turned and mirrored as the camera noted.
    pub fn upright(self, orientation: Orientation) -> Self {
        let (last_x, last_y) = (self.width.saturating_sub(1), self.height.saturating_sub(1));
        // Where the pixel at a place of the new picture comes from.
        match orientation {
            Orientation::NoTransforms => self,
            Orientation::FlipHorizontal => self.map(false, |x, y| (last_x - x, y)),
            Orientation::FlipVertical => self.map(false, |x, y| (x, last_y - y)),
            Orientation::Rotate180 => self.map(false, |x, y| (last_x - x, last_y - y)),
            Orientation::Rotate90 => self.map(true, |x, y| (y, last_y - x)),
            Orientation::Rotate270 => self.map(true, |x, y| (last_x - y, x)),
            Orientation::Rotate90FlipH => self.map(true, |x, y| (y, x)),
            Orientation::Rotate270FlipH => self.map(true, |x, y| (last_x - y, last_y - x)),
        }
    }

    fn map(self, turned: bool, from: impl Fn(u32, u32) -> (u32, u32)) -> Self {
        let (width, height) = if turned {
            (self.height, self.width)
        } else {
            (self.width, self.height)
        };
        let mut bytes = Vec::with_capacity(self.bytes.len());
        for y in 0..height {
            for x in 0..width {
                let (from_x, from_y) = from(x, y);
                let at = (from_y as usize * self.width as usize + from_x as usize) * self.depth;
                bytes.extend_from_slice(&self.bytes[at..at + self.depth]);
            }
        }
        Self {
            bytes,
            width,
            height,
            depth: self.depth,
        }
    }

    /// With no edge longer than `edge`. Every new pixel is the mean of the area
    /// it covers, first along the rows, then along the columns.
    pub fn scaled(self, edge: u32) -> Self {
        let long = self.width.max(self.height);
        if long <= edge {
            return self;
        }
        let shrink = |side: u32| {
            let exact = u64::from(side) * u64::from(edge);
            ((exact + u64::from(long) / 2) / u64::from(long)).max(1) as u32
        };
        let (width, height) = (shrink(self.width), shrink(self.height));
        let depth = self.depth;

        let row = self.width as usize * depth;
        let columns = Span::all(self.width, width);
        let mut narrow = Vec::with_capacity(self.height as usize * width as usize * depth);
        for line in self.bytes.chunks_exact(row) {
            for span in &columns {
                let mut sums = [0_u32; 4];
                for (pixel, weight) in line[span.first * depth..]
                    .chunks_exact(depth)
                    .zip(span.weights())
                {
                    for (sum, channel) in sums.iter_mut().zip(pixel) {
                        *sum += u32::from(*channel) * weight;
                    }
                }
                narrow.extend(sums[..depth].iter().map(|sum| (sum >> 16) as u8));
            }
        }

        let row = width as usize * depth;
        let mut bytes = Vec::with_capacity(height as usize * row);
        let mut sums = vec![0_u32; row];
        for span in Span::all(self.height, height) {
            sums.fill(1 << 15);
            for (line, weight) in narrow[span.first * row..]
                .chunks_exact(row)
                .zip(span.weights())
            {
                for (sum, channel) in sums.iter_mut().zip(line) {
                    *sum += u32::from(*channel) * weight;
                }
            }
            bytes.extend(sums.iter().map(|sum| (sum >> 16) as u8));
        }
        Self {
            bytes,
            width,
            height,
            depth,
        }
    }
}

/// The old pixels that one new pixel covers, and how much of each: the weights
/// add up to 65,536, or a little less.
struct Span {
    first: usize,
    weights: Vec<u32>,
}

impl Span {
    /// The spans that divide `old` pixels into `new` ones.
    fn all(old: u32, new: u32) -> Vec<Self> {
        let (old, new) = (u64::from(old), u64::from(new));
        (0..new)
            .map(|index| {
                // In units of 1/new of an old pixel, so that all is whole numbers.
                let (begin, end) = (index * old, (index + 1) * old);
                let (first, last) = (begin / new, (end - 1) / new);
                let weights = (first..=last)
                    .map(|pixel| {
                        let covered = end.min((pixel + 1) * new) - begin.max(pixel * new);
                        (covered * 65_536 / old) as u32
                    })
                    .collect();
                Self {
                    first: first as usize,
                    weights,
                }
            })
            .collect()
    }

    fn weights(&self) -> impl Iterator<Item = u32> + '_ {
        self.weights.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grey(values: &[u8], width: u32) -> Pixels {
        let height = values.len() as u32 / width;
        Pixels::of(values.to_vec(), ColorType::L8, width, height)
    }

    fn values(pixels: &Pixels) -> Vec<u8> {
        pixels.bytes.iter().copied().step_by(3).collect()
    }

    #[test]
    fn orientations_turn_and_mirror() {
        for (orientation, wanted, width) in [
            (Orientation::NoTransforms, [1, 2, 3, 4, 5, 6], 3),
            (Orientation::FlipHorizontal, [3, 2, 1, 6, 5, 4], 3),
            (Orientation::FlipVertical, [4, 5, 6, 1, 2, 3], 3),
            (Orientation::Rotate180, [6, 5, 4, 3, 2, 1], 3),
            (Orientation::Rotate90, [4, 1, 5, 2, 6, 3], 2),
            (Orientation::Rotate270, [3, 6, 2, 5, 1, 4], 2),
        ] {
            let turned = grey(&[1, 2, 3, 4, 5, 6], 3).upright(orientation);
            assert_eq!(
                (values(&turned), turned.width),
                (wanted.to_vec(), width),
                "{orientation:?}"
            );
        }
    }

    #[test]
    fn orientations_agree_with_the_image_library() {
        let source = [10, 20, 30, 40, 50, 60];
        for code in 1..=8 {
            let orientation = Orientation::from_exif(code).unwrap();
            let library = image::GrayImage::from_raw(3, 2, source.to_vec()).unwrap();
            let mut library = image::DynamicImage::from(library);
            library.apply_orientation(orientation);
            let turned = grey(&source, 3).upright(orientation);
            assert_eq!(values(&turned), library.as_bytes(), "{orientation:?}");
        }
    }

    #[test]
    fn new_pixels_are_means_of_old_ones() {
        for (old, width, edge, wanted, size) in [
            (&[0, 100, 200, 40][..], 4, 2, &[50, 120][..], (2, 1)),
            (&[0, 100, 200, 40], 1, 2, &[50, 120], (1, 2)),
            (&[90, 0, 30], 3, 2, &[60, 20], (2, 1)),
            (&[7; 60], 10, 5, &[7; 15], (5, 3)),
            (&[255; 9], 3, 2, &[255; 4], (2, 2)),
            (&[5; 4], 2, 2, &[5; 4], (2, 2)),
        ] {
            let scaled = grey(old, width).scaled(edge);
            assert_eq!((scaled.width, scaled.height), size, "{old:?}");
            for (value, wanted) in values(&scaled).iter().zip(wanted) {
                assert!(
                    value.abs_diff(*wanted) <= 1,
                    "{value} instead of {wanted} for {old:?}"
                );
            }
        }
    }

    #[test]
    fn every_layout_becomes_colours_with_or_without_transparency() {
        let sixteen = |values: &[u16]| {
            values
                .iter()
                .flat_map(|value| value.to_ne_bytes())
                .collect()
        };
        for (bytes, color, wanted) in [
            (vec![9], ColorType::L8, &[9, 9, 9][..]),
            (vec![9, 8], ColorType::La8, &[9, 9, 9, 8]),
            (vec![1, 2, 3], ColorType::Rgb8, &[1, 2, 3]),
            (vec![1, 2, 3, 4], ColorType::Rgba8, &[1, 2, 3, 4]),
            (sixteen(&[0x1234]), ColorType::L16, &[0x12; 3]),
            (
                sixteen(&[0x100, 0x200, 0x300]),
                ColorType::Rgb16,
                &[1, 2, 3],
            ),
        ] {
            assert_eq!(Pixels::of(bytes, color, 1, 1).bytes, wanted, "{color:?}");
        }
        let clear = Pixels::of(vec![0, 0, 0, 0, 10, 20, 30, 255], ColorType::Rgba8, 2, 1);
        assert_eq!(clear.flat(), [255, 255, 255, 10, 20, 30]);
    }
}
