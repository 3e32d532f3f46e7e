;; Scalar products of rows with one vector, eight numbers at once. Numbers are 16 bits, sums 32.
;;
;; JavaScript has no vector instructions: 10,000 tools against nine texts took it tens of milliseconds, during which the
;; process answered no other request.
;;
;; `npm run wasm` makes one module for each number of vectors from 1 to 9 from this text:
;; - the text between "for each vector" and "end" is repeated with $sum1, $sum2 and so on for $sum0;
;; - an offset grows with each repetition by the number beside it;
;; - a constant with "times the vectors" beside it is multiplied by their number.
;; Each row is read once for all vectors, because memory is slower than arithmetic. The vectors lie side by side: eight
;; numbers of each in turn.
(module
  (import "host" "memory" (memory 1))
  (func (export "dots")
    (param $row i32) (param $rowsEnd i32) (param $vectors i32) (param $vectorsEnd i32) (param $out i32)
    (local $vector i32)
    (local $row8 v128)
    ;; for each vector
    (local $sum0 v128)
    ;; end
    (loop $rows
      ;; for each vector
      (local.set $sum0 (v128.const i64x2 0 0))
      ;; end
      (local.set $vector (local.get $vectors))
      (loop $steps
        (local.set $row8 (v128.load (local.get $row)))
        ;; for each vector
        (local.set $sum0
          (i32x4.add
            (local.get $sum0)
            (i32x4.dot_i16x8_s ;; eight products, added in pairs to four sums
              (local.get $row8)
              (v128.load offset=0 (; + 16 ;) (local.get $vector)))))
        ;; end
        (local.set $row (i32.add (local.get $row) (i32.const 16)))
        (local.set $vector (i32.add (local.get $vector) (i32.const 16 (; times the vectors ;))))
        (br_if $steps (i32.lt_u (local.get $vector) (local.get $vectorsEnd))))
      ;; for each vector
      (i32.store offset=0 (; + 4 ;)
        (local.get $out)
        (i32.add
          (i32.add
            (i32.add
              (i32x4.extract_lane 0 (local.get $sum0))
              (i32x4.extract_lane 1 (local.get $sum0)))
            (i32x4.extract_lane 2 (local.get $sum0)))
          (i32x4.extract_lane 3 (local.get $sum0))))
      ;; end
      (local.set $out (i32.add (local.get $out) (i32.const 4 (; times the vectors ;))))
      (br_if $rows (i32.lt_u (local.get $row) (local.get $rowsEnd))))))
