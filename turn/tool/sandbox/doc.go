// Package sandbox runs a command so that it reaches what it is given and nothing else,
// and so that its end is the end of all that it started.
//
// It starts our own program again, twice: once as the supervisor, which stays outside
// and watches, and below it once as what becomes the command, after it has given up all
// that the command is not to have. Main, called first thing in main, is where both
// begin. Nothing has to be installed and no root is needed.
//
// Guarantees, 1 to 5 where the mode is Landlock or Auto found it; Sandbox.Holds says
// whether 1 to 3 hold on this machine, and String what does not:
//
//  1. Files are opened, executed, listed, made, moved, linked and removed only in the
//     workspace and a private folder for temporary files; system paths can be read and
//     executed; a few devices such as /dev/null are there. Links, .., descriptors in
//     /proc and mounts lead nowhere else, since the kernel judges the file and not the
//     path. No other process can be looked into: /proc/PID cannot be read.
//  2. What is protected stays out of reach also inside the workspace: neither read nor
//     written, replaced, moved, removed nor, if it is not there, made. The same goes for
//     its neighbours whose name begins with its name (hitchpost.db-wal), and for other
//     names of it in the same folder. The price: Landlock cannot take back further down
//     what it grants further up, so a folder with something protected in it or below
//     (Split) is granted entry by entry. What is in it when the command starts can be
//     read, written and, inside its folders, changed at will; but directly in it
//     nothing can be made, replaced, moved or removed, and what others put there is out
//     of reach until the next start. Names in it can be listed.
//  3. Without Network no socket can be made, and no TCP port reached or taken. With it,
//     sockets are open except Unix ones, which would lead to the container engine or to
//     the login session, and with them out of the sandbox.
//  4. No new privileges: setuid programs give none, and of root's powers only those
//     over the owners and modes of files are left.
//  5. No process outside can be signalled (from Landlock 6 on), the supervisor neither.
//  6. In every mode TMPDIR is a private folder. Where files are held HOME is the same
//     folder, and PATH keeps only what can be reached.
//  7. In every mode, on Linux: when the command ends, when Kill is called, and when the
//     server dies, however it dies, every process that the command started is killed,
//     also those that daemonised or made a session of their own; Done comes after that.
//     With the server goes the folder of TMPDIR.
//     At most Processes run at once; more end the command. They leave no core dumps and
//     are the first to go when memory runs out.
//
// What is not held: a file that has another name inside the workspace (a hard link made
// before) is in the workspace. Modes, owners and times of files outside can be looked at
// and, by the same user, changed: Landlock does not see chmod. Work that is given to a
// process outside (a running container engine, cron, a login session) is not the
// command's any more; guarantee 3 shuts the usual ways to them, mode None none of
// them. In mode None, and below Landlock 6, a command can kill its supervisor, and with
// it get away from guarantee 7. RLIMIT_NPROC binds everybody but root; for root only the
// supervisor counts, ten times a second. CPU, memory and disk are not limited. On other
// systems than Linux only mode None exists, and only the command's process group is
// killed.
package sandbox
