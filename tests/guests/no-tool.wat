;; A component that exports something, but no tool.
(component
  (core module $code (func (export "run")))
  (core instance $code (instantiate $code))
  (func $run (canon lift (core func $code "run")))
  (instance $other (export "run" (func $run)))
  (export "acme:other/thing@1.0.0" (instance $other)))
