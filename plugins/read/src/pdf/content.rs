//! Follows the drawing instructions of a page and collects the strings it shows.

use std::collections::HashMap;
use std::rc::Rc;

use lopdf::content::{Content, Operation};
use lopdf::{Dictionary, Document, Object, ObjectId, Stream};

use super::STREAM_BYTES;
use super::font::Font;
use super::layout::{Layout, Pen, Place};
use super::matrix::Matrix;

/// Forms may show forms; real pages go two or three deep.
const FORM_DEPTH: usize = 8;
/// Saved graphics states; the standard itself speaks of 28.
const STATES: usize = 256;
/// Resources are inherited along the tree of pages.
const TREE_DEPTH: usize = 64;
/// Instructions that a call follows, a few seconds in the sandbox; a dense page
/// of text has some thousand, a map half a million.
const WORK: usize = 3_000_000;
/// What a font costs in instructions, and how many unpacked bytes cost one.
const FONT_WORK: usize = 10_000;
const BYTES_PER_WORK: usize = 4;

/// What a page says.
pub struct Page {
    pub text: String,
    /// Whether the page holds more than was followed.
    pub cut: bool,
    /// Whether strings were left out because their font does not explain them.
    pub unreadable: bool,
}

/// Reads pages of one document and remembers their fonts.
pub struct Walker<'a> {
    document: &'a Document,
    /// By the address of the font's dictionary, which the document keeps in place.
    fonts: HashMap<*const Dictionary, Rc<Font<'a>>>,
    work: usize,
}

impl<'a> Walker<'a> {
    pub fn new(document: &'a Document) -> Self {
        Self {
            document,
            fonts: HashMap::new(),
            work: WORK,
        }
    }

    /// The text of a page, a little more than `room` characters at most.
    pub fn page(&mut self, id: ObjectId, room: usize) -> Page {
        let mut sheet = Sheet {
            layout: Layout::default(),
            most_bytes: room.saturating_mul(4),
            cut: false,
            unreadable: false,
        };
        let resources = self.page_resources(id);
        match self.document.get_page_content_with_limit(id, STREAM_BYTES) {
            Ok(content) => {
                if self.spend(content.len() / BYTES_PER_WORK) {
                    self.follow(&content, resources, Matrix::IDENTITY, 0, &mut sheet);
                } else {
                    sheet.cut = true;
                }
            }
            Err(_) => {
                self.spend(STREAM_BYTES / BYTES_PER_WORK);
                sheet.cut = true;
            }
        }
        Page {
            text: sheet.layout.finish(),
            cut: sheet.cut,
            unreadable: sheet.unreadable,
        }
    }

    /// Whether there was as much work left.
    fn spend(&mut self, work: usize) -> bool {
        let enough = self.work >= work;
        self.work = self.work.saturating_sub(work);
        enough
    }

    fn page_resources(&self, id: ObjectId) -> Option<&'a Dictionary> {
        let mut node = self.document.get_dictionary(id).ok()?;
        for _ in 0..TREE_DEPTH {
            if let Ok(resources) = node.get_deref(b"Resources", self.document) {
                return resources.as_dict().ok();
            }
            node = node
                .get_deref(b"Parent", self.document)
                .and_then(Object::as_dict)
                .ok()?;
        }
        None
    }

    fn resource(
        &self,
        resources: Option<&'a Dictionary>,
        kind: &[u8],
        name: &[u8],
    ) -> Option<&'a Object> {
        resources?
            .get_deref(kind, self.document)
            .and_then(Object::as_dict)
            .ok()?
            .get_deref(name, self.document)
            .ok()
    }

    fn font(&mut self, resources: Option<&'a Dictionary>, name: &[u8]) -> Option<Rc<Font<'a>>> {
        let dictionary = self.resource(resources, b"Font", name)?.as_dict().ok()?;
        let key: *const Dictionary = dictionary;
        if let Some(font) = self.fonts.get(&key) {
            return Some(Rc::clone(font));
        }
        if !self.spend(FONT_WORK) {
            return None;
        }
        let font = Rc::new(Font::of(dictionary, self.document));
        self.fonts.insert(key, Rc::clone(&font));
        Some(font)
    }

    fn follow(
        &mut self,
        content: &[u8],
        resources: Option<&'a Dictionary>,
        base: Matrix,
        depth: usize,
        sheet: &mut Sheet,
    ) {
        let mut state = State::new(base);
        let mut saved: Vec<State<'a>> = Vec::new();
        for operation in Content::decode_iter(content) {
            // What cannot be parsed ends the page; what came before it stands.
            let Ok(Operation { operator, operands }) = operation else {
                sheet.cut = true;
                return;
            };
            if !self.spend(1) || sheet.layout.len() > sheet.most_bytes {
                sheet.cut = true;
                return;
            }
            let number = |index: usize| operands.get(index).and_then(|value| value.as_float().ok());
            match operator.as_str() {
                "q" if saved.len() < STATES => saved.push(state.clone()),
                "Q" => state = saved.pop().unwrap_or(state),
                "cm" => {
                    if let Some(matrix) = Matrix::of(&operands) {
                        state.page = matrix.then(state.page);
                        state.jumped = true;
                    }
                }
                "Do" => {
                    if let Some(Ok(name)) = operands.first().map(Object::as_name)
                        && let Some(Object::Stream(form)) =
                            self.resource(resources, b"XObject", name)
                    {
                        self.form(form, resources, state.page, depth, sheet);
                    }
                }
                "BT" => state.start_line(Matrix::IDENTITY),
                "Tf" => {
                    if let Some(Ok(name)) = operands.first().map(Object::as_name) {
                        state.font = self.font(resources, name);
                    }
                    state.size = number(1).unwrap_or(state.size);
                }
                "Tc" => state.char_space = number(0).unwrap_or(0.0),
                "Tw" => state.word_space = number(0).unwrap_or(0.0),
                "Tz" => state.stretch = number(0).unwrap_or(100.0) / 100.0,
                "TL" => state.leading = number(0).unwrap_or(0.0),
                "Td" | "TD" => {
                    let (x, y) = (number(0).unwrap_or(0.0), number(1).unwrap_or(0.0));
                    if operator == "TD" {
                        state.leading = -y;
                    }
                    state.start_line(state.line.moved(x, y));
                }
                "Tm" => {
                    if let Some(matrix) = Matrix::of(&operands) {
                        state.start_line(matrix);
                    }
                }
                "T*" => state.next_line(),
                "Tj" => state.show_all(&operands, sheet),
                "TJ" => {
                    if let Some(Object::Array(parts)) = operands.first() {
                        state.show_all(parts, sheet);
                    }
                }
                "'" => {
                    state.next_line();
                    state.show_all(&operands, sheet);
                }
                "\"" => {
                    state.word_space = number(0).unwrap_or(0.0);
                    state.char_space = number(1).unwrap_or(0.0);
                    state.next_line();
                    state.show_all(operands.get(2..).unwrap_or_default(), sheet);
                }
                _ => {}
            }
        }
    }

    fn form(
        &mut self,
        form: &'a Stream,
        outer: Option<&'a Dictionary>,
        base: Matrix,
        depth: usize,
        sheet: &mut Sheet,
    ) {
        if form.dict.get(b"Subtype").and_then(Object::as_name).ok() != Some(b"Form") {
            return;
        }
        let content = match form.decompressed_content_with_limit(STREAM_BYTES) {
            Ok(content) => content,
            // A stream without a filter is its own content.
            Err(_) if !form.dict.has(b"Filter") => form.content.clone(),
            Err(_) => {
                self.spend(STREAM_BYTES / BYTES_PER_WORK);
                sheet.cut = true;
                return;
            }
        };
        if depth == FORM_DEPTH || !self.spend(content.len() / BYTES_PER_WORK) {
            sheet.cut = true;
            return;
        }
        let matrix = form
            .dict
            .get_deref(b"Matrix", self.document)
            .and_then(Object::as_array)
            .ok()
            .and_then(|values| Matrix::of(values))
            .unwrap_or(Matrix::IDENTITY);
        let resources = form
            .dict
            .get_deref(b"Resources", self.document)
            .and_then(Object::as_dict)
            .ok()
            .or(outer);
        self.follow(&content, resources, matrix.then(base), depth + 1, sheet);
    }
}

/// The page as it fills.
struct Sheet {
    layout: Layout,
    most_bytes: usize,
    cut: bool,
    unreadable: bool,
}

/// What the instructions before have set.
#[derive(Clone)]
struct State<'a> {
    page: Matrix,
    /// Where the line begins, and where the next string goes.
    line: Matrix,
    text: Matrix,
    font: Option<Rc<Font<'a>>>,
    size: f32,
    leading: f32,
    char_space: f32,
    word_space: f32,
    stretch: f32,
    /// Whether the place was set anew since the last string.
    jumped: bool,
}

impl State<'_> {
    fn new(page: Matrix) -> Self {
        Self {
            page,
            line: Matrix::IDENTITY,
            text: Matrix::IDENTITY,
            font: None,
            size: 1.0,
            leading: 0.0,
            char_space: 0.0,
            word_space: 0.0,
            stretch: 1.0,
            jumped: true,
        }
    }

    fn start_line(&mut self, matrix: Matrix) {
        self.line = matrix;
        self.text = matrix;
        self.jumped = true;
    }

    fn next_line(&mut self) {
        self.start_line(self.line.moved(0.0, -self.leading));
    }

    /// Shows strings; numbers between them move back by thousandths of the size.
    fn show_all(&mut self, parts: &[Object], sheet: &mut Sheet) {
        for part in parts {
            match part {
                Object::String(bytes, _) => self.show(bytes, sheet),
                other => {
                    if let Ok(back) = other.as_float() {
                        let x = -back / 1000.0 * self.size * self.stretch;
                        self.text = self.text.moved(x, 0.0);
                    }
                }
            }
        }
    }

    fn show(&mut self, bytes: &[u8], sheet: &mut Sheet) {
        let Some(font) = &self.font else {
            sheet.unreadable |= !bytes.is_empty();
            return;
        };
        let pen = if self.jumped && !font.knows_widths() {
            Pen::Guessed
        } else {
            Pen::Known
        };
        let (width, chars, spaces) = font.measure(bytes);
        let advance = (width / 1000.0 * self.size
            + self.char_space * chars as f32
            + self.word_space * spaces as f32)
            * self.stretch;
        let text = font.decode(bytes);

        let from = self.text.then(self.page);
        self.text = self.text.moved(advance, 0.0);
        let (x, y) = from.origin();
        let (end_x, _) = self.text.then(self.page).origin();
        let size = (self.size * from.stretch()).abs();
        match text {
            Some(text) => sheet.layout.write(&text, Place { x, y, size }, end_x, pen),
            None => sheet.unreadable |= !bytes.is_empty(),
        }
        self.jumped = false;
    }
}
