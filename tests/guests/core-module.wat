;; A core module: valid wasm, but no component. The host must say so.
(module
  (memory (export "memory") 1)
  (func (export "call") (result i32) i32.const 0))
