//! The affine transformations of PDF, as far as text needs them.

use lopdf::Object;

/// `[a b c d e f]`: a point (x, y) goes to (ax + cy + e, bx + dy + f).
#[derive(Debug, Clone, Copy)]
pub struct Matrix(pub [f32; 6]);

impl Matrix {
    pub const IDENTITY: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    /// The matrix that six operands give.
    pub fn of(operands: &[Object]) -> Option<Self> {
        let mut values = [0.0; 6];
        if operands.len() < values.len() {
            return None;
        }
        for (value, operand) in values.iter_mut().zip(operands) {
            *value = operand.as_float().ok()?;
        }
        Some(Self(values))
    }

    /// First this one, then the other.
    pub fn then(self, other: Self) -> Self {
        let [a, b, c, d, e, f] = self.0;
        let [oa, ob, oc, od, oe, of] = other.0;
        Self([
            a * oa + b * oc,
            a * ob + b * od,
            c * oa + d * oc,
            c * ob + d * od,
            e * oa + f * oc + oe,
            e * ob + f * od + of,
        ])
    }

    /// The same, with its origin moved.
    pub fn moved(self, x: f32, y: f32) -> Self {
        Self([1.0, 0.0, 0.0, 1.0, x, y]).then(self)
    }

    pub fn origin(self) -> (f32, f32) {
        (self.0[4], self.0[5])
    }

    /// How much it stretches the line of writing.
    pub fn stretch(self) -> f32 {
        self.0[0].hypot(self.0[1])
    }
}
