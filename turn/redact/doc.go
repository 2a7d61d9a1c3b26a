// Package redact masks secrets in what goes to a log: values that are known, such as
// configured keys, and whatever matches a pattern. It knows JSON and no event.
//
// Guarantees:
//
//  1. Of every value of at least MinValue bytes no occurrence is left, also where it
//     overlaps another one, is escaped as JSON or as a URL does it, or stands in a
//     member's name.
//  2. What a pattern masks in a text is what regexp.FindAllString finds there. Of a
//     match of more than MaxMatch bytes about that much is masked, not all.
//  3. What a Stream puts out, one piece after the other, is Text of the whole,
//     however it was split.
//  4. A Stream holds back only what may still turn out to be part of a secret: at
//     most the longest value, or MaxMatch bytes where a pattern is at work. Text in
//     which nothing begins comes out at once, in whole characters.
//  5. At the end of a text half of a value counts as the value: a stream that breaks
//     off inside a key does not give it away. Cut anywhere else, a part is no secret.
//  6. Masking what was masked before leaves each Mark as it is.
//  7. JSON stays JSON, and its members keep their order, and its numbers their digits.
//  8. A nil *Redactor masks nothing and costs nothing.
//
// A value of digits only is found in JSON numbers too, which become the Mark as a
// string. Spaces and line ends around a value do not belong to it.
package redact
