// Package piece puts together what providers stream in pieces, and bears what they get
// wrong in single values.
//
// Guarantees:
//
//  1. What Text returns is whole runes, and in sum does not depend on how the text was
//     cut: in the middle of a character's bytes, or between the escapes of a surrogate
//     pair. What can become no character is U+FFFD.
//  2. Arguments.Object is always a JSON object, with its digits as they came.
//  3. String, Fragment and Number take any JSON value; one of another kind is as if it
//     were not there, and fails nothing around it.
package piece
