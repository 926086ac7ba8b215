;; A component whose only tool is of a generation that this host does not know.
;; The host must name both versions, not merely find no tool.
(component
  (core module $code (func (export "call")))
  (core instance $code (instantiate $code))
  (func $call (canon lift (core func $code "call")))
  (instance $tool (export "call" (func $call)))
  (export "toolbay:tool/tool@0.2.0" (instance $tool)))
