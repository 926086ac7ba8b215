;; A whole tool that also imports an interface nobody here has heard of. The host must
;; name the import when the component is loaded.
(component
  (import "acme:thing/stuff@1.0.0" (instance $stuff (export "do-it" (func))))
  (core func $do-it (canon lower (func $stuff "do-it")))

  (core module $tool
    (memory (export "memory") 1)
    ;; Inputs are never read, so every one of them may lie at the same place; none of
    ;; the tests sends more than fits.
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) i32.const 4096)
    (func (export "info") (result i32) i32.const 0)
    (func (export "question") (param i32 i32) (result i32) i32.const 1)
    ;; `result<outcome, tool-error>`: the error case `cancelled`.
    (func (export "call") (param i32 i32) (result i32) i32.const 128)
    ;; The record `tool-info` as the canonical ABI lays it out: pointers and lengths.
    (data (i32.const 0) "\00\01\00\00\0d\00\00\00") ;; name; no aliases follow
    (data (i32.const 16) "\10\01\00\00\19\00\00\00") ;; summary
    (data (i32.const 24) "\30\01\00\00\11\00\00\00") ;; input-schema; the rest is zero: none, empty, standard
    (data (i32.const 256) "UnknownImport")
    (data (i32.const 272) "Needs what nobody offers.")
    (data (i32.const 304) "{\"type\":\"object\"}")
    (data (i32.const 128) "\01\00\00\00\02"))
  (core instance $tool (instantiate $tool))
  (alias core export $tool "memory" (core memory $memory))
  (alias core export $tool "realloc" (core func $realloc))

  (type $kind (enum "command" "path" "url" "text"))
  (type $subject (record (field "kind" $kind) (field "pointer" string)))
  (type $limit (variant (case "standard") (case "chars" u32) (case "self-managed")))
  (type $interrupt (enum "finish" "cancel"))
  (type $on-error (enum "isolate" "cancel-siblings"))
  (type $info (record
    (field "name" string) (field "aliases" (list string)) (field "summary" string)
    (field "input-schema" string) (field "output-schema" (option string))
    (field "subjects" (list $subject)) (field "limit" $limit)
    (field "interrupt" $interrupt) (field "error" $on-error) (field "deferred" bool)
    (field "search-hint" (option string)) (field "annotations" (list (tuple string string)))))
  (type $blob (record (field "mime" string) (field "data" (list u8))))
  (type $link (record (field "uri" string) (field "name" string) (field "mime" (option string))))
  (type $content (variant
    (case "text" string) (case "image" $blob) (case "document" $blob) (case "link" $link)))
  (type $role (enum "user" "system"))
  (type $message (record
    (field "role" $role) (field "content" (list $content)) (field "hidden" bool)))
  (type $seen (record
    (field "path" string) (field "digest" string) (field "whole" bool)
    (field "shown" (option string))))
  (type $modifier (variant
    (case "file-seen" $seen) (case "working-directory" string) (case "permission-mode" string)
    (case "allow-rule" string) (case "load-tools" (list string))
    (case "custom" (tuple string string))))
  (type $outcome (record
    (field "content" (list $content)) (field "structured" (option string))
    (field "failed" bool) (field "modifiers" (list $modifier))
    (field "messages" (list $message))))
  (type $failure (record
    (field "message" string) (field "code" (option string)) (field "retryable" bool)))
  (type $error (variant
    (case "invalid-input" string) (case "denied" string) (case "cancelled")
    (case "timed-out") (case "failed" $failure)))

  (func $info (result $info)
    (canon lift (core func $tool "info") (memory $memory)))
  (func $question (param "input" string) (result bool)
    (canon lift (core func $tool "question") (memory $memory) (realloc $realloc)))
  (func $call (param "input" string) (result (result $outcome (error $error)))
    (canon lift (core func $tool "call") (memory $memory) (realloc $realloc)))

  (instance $exported
    (export "subject-kind" (type $kind)) (export "subject" (type $subject))
    (export "result-limit" (type $limit)) (export "on-interrupt" (type $interrupt))
    (export "on-error" (type $on-error)) (export "tool-info" (type $info))
    (export "blob" (type $blob)) (export "link" (type $link))
    (export "content" (type $content)) (export "role" (type $role))
    (export "message" (type $message)) (export "file-seen" (type $seen))
    (export "context-modifier" (type $modifier)) (export "outcome" (type $outcome))
    (export "failure" (type $failure)) (export "tool-error" (type $error))
    (export "info" (func $info))
    (export "is-read-only" (func $question))
    (export "is-concurrency-safe" (func $question))
    (export "call" (func $call)))
  (export "toolbay:tool/tool@0.1.0" (instance $exported)))
