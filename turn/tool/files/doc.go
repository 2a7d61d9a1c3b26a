// Package files is what an agent may look at and change: the tools Read, Glob, Grep,
// Write and Edit over the directories of a workspace.
//
// Guarantees:
//
//  1. Nothing outside the workspace is read, listed or changed: not by .., not by an absolute
//     path, not by a symbolic link, also when links change under the tool's feet
//     (os.Root). An absolute link counts as leading out, wherever it points. A hard
//     link is the file itself and cannot be told from it.
//  2. Opening never blocks: pipes, sockets and devices are refused by name.
//  3. Memory is bounded whatever the size of a file, a line or a tree's contents;
//     what is cut or skipped is said in the result, and how to see the rest.
//  4. A tool stops within one buffer of a file, or one entry of a tree, after its
//     context has ended.
//  5. The same tree gives the same answer: Grep goes through each directory in order
//     of its names, Glob lists by time of change and then by path.
//  6. Each path that a tool shows is one that each tool accepts: relative in the first
//     directory of the workspace, absolute in the others.
//  7. A path that does not exist is answered with similar names beside it.
//  8. The files that Open is told to hide are reached by no tool: not by name, not by a
//     link of either kind, not while they do not exist, and they are never opened.
//  9. A file is replaced whole or not at all: its new content is on the disk before it
//     has the name. It keeps its mode; other hard links to it keep the old content. One
//     that somebody else changed meanwhile is left as it is. A process that dies on the
//     way may leave a .hitchpost-….tmp beside it.
//  10. Write makes a file of exactly the content given. Edit changes nothing but the
//     passage: line ends and a byte order mark stay as they are in the file.
//
// A relative path starts at the first directory of the workspace. It is cleaned by
// its text before it is followed: link/../x is x.
package files
