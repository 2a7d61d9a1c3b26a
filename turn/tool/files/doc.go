// Package files is what an agent may look at: the tools Read, Glob and Grep over
// the directories of a workspace.
//
// Guarantees:
//
//  1. Nothing outside the workspace is read or listed: not by .., not by an absolute
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
//
// A relative path starts at the first directory of the workspace. It is cleaned by
// its text before it is followed: link/../x is x.
package files
