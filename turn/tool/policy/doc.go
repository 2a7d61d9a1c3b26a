// Package policy decides which names an allow list admits: tools, and the agents a
// token reaches. Patterns are globs with the meaning of Ruby's File.fnmatch without
// flags, which is what the protocol's allow lists were written for.
//
// The rules, each shown by rows of testdata:
//
//  1. The pattern must cover the whole name. Case counts, and a character is a code
//     point: é as one code point and e with an accent behind it differ.
//  2. * stands for any run of characters, also none, also / and line breaks. Several
//     in a row are one.
//  3. ? stands for exactly one character, whichever it is.
//  4. A name that begins with a dot needs a pattern that begins with that dot,
//     written as it is or behind a backslash: no *, ? or class stands for it. Dots
//     further on are like any character, also behind a /.
//  5. [abc] stands for one of its members; a ! or ^ first turns it round. a-c is a
//     range by code point; of a range written backwards only the two ends are
//     members. A - that begins or ends the class is a member.
//  6. The first ] that is neither escaped nor the far end of an escaped range closes
//     the class, even right behind the [: [] has no members and stands for nothing,
//     [!] stands for any one character. There are no named classes.
//  7. A class that is never closed matches nothing, wherever it stands.
//  8. A backslash takes the meaning from the next character, in a class too. At the
//     very end of the pattern it counts for nothing.
//  9. Everything else stands for itself: braces, parentheses, ~ and | have no meaning.
//  10. Ruby refuses a NUL in pattern or name with an error; here it matches nothing.
//  11. A byte that is not UTF-8 is one character: ?, * and a class that lists it stand
//     for it, outside a class a pattern holding one matches nothing.
//
// Guarantees:
//
//  1. Match never panics and needs no memory, whatever the two strings hold.
//  2. Its time is at most proportional to len(pattern) × len(name): a star is only ever
//     retried from the latest one.
//  3. An empty list admits nothing.
package policy
