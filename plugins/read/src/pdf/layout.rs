//! Puts pieces of text at positions back into lines and words.
//!
//! A PDF page has no lines, only strings at places. Where a string stands
//! relative to the end of the one before tells whether a space or a line end was
//! meant. Distances are in units of the font's size.

/// Down or up by more: another line. Raised and lowered characters stay below.
const LINE: f32 = 0.5;
/// Another line as far away as this begins a paragraph.
const PARAGRAPH: f32 = 2.0;
/// To the right by more: another word. Kerning stays below, spaces are above.
const WORD: f32 = 0.15;
/// Back to the left by more: another line, whatever the height.
const BACK: f32 = 2.0;

/// Whether the place where the last string ended is known.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Pen {
    Known,
    /// The widths of the characters are not known.
    Guessed,
}

#[derive(Clone, Copy)]
pub struct Place {
    pub x: f32,
    pub y: f32,
    /// Size of the font, as it appears on the page.
    pub size: f32,
}

#[derive(Default)]
pub struct Layout {
    out: String,
    last: Option<Place>,
}

impl Layout {
    /// Writes a string that stands at `from` and ends at `end_x`.
    pub fn write(&mut self, text: &str, from: Place, end_x: f32, pen: Pen) {
        if let Some(last) = self.last {
            self.separate(last, from, pen);
        }
        for char in text.chars() {
            if char.is_whitespace() {
                self.space();
            } else if !char.is_control() {
                self.out.push(char);
            }
        }
        self.last = Some(Place { x: end_x, ..from });
    }

    /// Bytes written so far.
    pub fn len(&self) -> usize {
        self.out.len()
    }

    pub fn finish(self) -> String {
        let lines: Vec<&str> = self.out.lines().map(str::trim_end).collect();
        lines.join("\n").trim_matches('\n').to_owned()
    }

    fn separate(&mut self, last: Place, from: Place, pen: Pen) {
        let size = last.size.max(from.size).max(f32::MIN_POSITIVE);
        let down = (from.y - last.y).abs() / size;
        let right = (from.x - last.x) / size;
        if down > PARAGRAPH {
            self.out.push_str("\n\n");
        } else if down > LINE || right < -BACK {
            self.out.push('\n');
        } else if right > WORD || pen == Pen::Guessed {
            self.space();
        }
    }

    fn space(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with([' ', '\n']) {
            self.out.push(' ');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_become_spaces_and_line_ends() {
        for (x, y, pen, wanted) in [
            (30.0, 100.0, Pen::Known, "onetwo"),
            (30.5, 100.0, Pen::Known, "onetwo"),
            (33.0, 100.0, Pen::Known, "one two"),
            (30.0, 103.0, Pen::Known, "onetwo"),
            (0.0, 88.0, Pen::Known, "one\ntwo"),
            (0.0, 70.0, Pen::Known, "one\n\ntwo"),
            (0.0, 100.0, Pen::Known, "one\ntwo"),
            (30.0, 100.0, Pen::Guessed, "one two"),
        ] {
            let mut layout = Layout::default();
            let at = |x, y| Place { x, y, size: 10.0 };
            layout.write("one", at(0.0, 100.0), 30.0, Pen::Known);
            layout.write("two", at(x, y), 60.0, pen);
            assert_eq!(layout.finish(), wanted, "{x} {y}");
        }
    }
}
