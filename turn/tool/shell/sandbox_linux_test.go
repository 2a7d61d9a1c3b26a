package shell

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"hitchpost/turn/tool/sandbox"
)

// tree is a workspace beside secrets, with every kind of way out of it.
func tree(t *testing.T) (base string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	for _, dir := range []string{"ws/sub", "secret"} {
		must(t, os.MkdirAll(filepath.Join(base, dir), 0o755))
	}
	for name, content := range map[string]string{"secret/key": "SECRET\n", "ws/in.txt": "inside\n", "ws/sub/in.txt": "inside\n"} {
		must(t, os.WriteFile(filepath.Join(base, name), []byte(content), 0o644))
	}
	for name, target := range map[string]string{
		"ws/up": "../secret/key", "ws/updir": "../secret", "ws/abs": filepath.Join(base, "secret/key"),
		"ws/environ": "/proc/self/environ", "ws/sub/chain": "../updir/key", "ws/root": "/",
	} {
		must(t, os.Symlink(target, filepath.Join(base, name)))
	}
	must(t, unix.Mkfifo(filepath.Join(base, "secret/pipe"), 0o644))
	must(t, unix.Mkfifo(filepath.Join(base, "ws/sub/pipe"), 0o644))
	return base
}

func needPython(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("/usr/bin/python3"); err != nil {
		t.Skip("no python3 to make system calls with")
	}
}

func lockedIn(t *testing.T, ws string, more ...func(*sandbox.Config, *Options)) *bench {
	needLandlock(t)
	return open(t, append([]func(*sandbox.Config, *Options){locked, func(c *sandbox.Config, _ *Options) { c.Workspace = []string{ws} }}, more...)...)
}

// Guarantee 1 of package sandbox. Each command is one that succeeds without it.
func TestNoCommandReachesAFileOutsideTheWorkspace(t *testing.T) {
	t.Setenv("HITCHPOST_SECRET", "SECRET")
	base := tree(t)
	b := lockedIn(t, filepath.Join(base, "ws"))
	free := open(t, func(c *sandbox.Config, _ *Options) { c.Workspace = []string{filepath.Join(base, "ws")} })
	secret := filepath.Join(base, "secret")
	for _, command := range []string{
		"cat ../secret/key", "cat sub/../../secret/key", "cat up", "cat abs", "cat updir/key", "cat sub/chain",
		"cat " + secret + "/key", "cat root" + secret + "/key", "cd .. && cat secret/key", "cat <../secret/key",
		"ls ../secret", "ls ..", "ls /", "cp ../secret/key got && cat got", "ln ../secret/key hard && cat hard", "exec 9<../secret/key && cat <&9",
		"tar cf - ../secret >/dev/null", "bash -c 'cat ../secret/key'", "python3 -c 'print(open(\"../secret/key\").read())' 2>&1",
		"head -c 10 /proc/" + fmt.Sprint(os.Getpid()) + "/environ", "head -c 10 environ", "head -c 10 /proc/$PPID/environ",
		"ls /proc/" + fmt.Sprint(os.Getpid()) + "/fd", "ls /proc/$PPID/root/", "head -c 10 /proc/" + fmt.Sprint(os.Getpid()) + "/cmdline",
		"cat /etc/shadow", "ls /root", "ls /tmp", "ls /var",
	} {
		if got := free.run("( " + command + " )"); !strings.HasSuffix(got, "[exit code 0]") {
			if strings.Contains(command, "python3") && strings.HasSuffix(got, "[exit code 127]") || os.Geteuid() != 0 {
				continue
			}
			t.Errorf("without the sandbox %s: %q", command, got)
		}
		os.Remove(filepath.Join(base, "ws/got"))
		os.Remove(filepath.Join(base, "ws/hard"))
		if got := b.run("( " + command + " )"); strings.HasSuffix(got, "[exit code 0]") || strings.Contains(got, "SECRET") {
			t.Errorf("%s: %q", command, got)
		}
	}
}

// Guarantee 1 of package sandbox.
func TestNoCommandChangesAFileOutsideTheWorkspace(t *testing.T) {
	base := tree(t)
	b := lockedIn(t, filepath.Join(base, "ws"))
	for _, command := range []string{
		"echo x >../secret/key", "echo x >>../secret/key", "echo x >up", ": >abs", "truncate -s 0 ../secret/key", "rm -f ../secret/key",
		"mv ../secret/key k", "mv ../secret ../other", "mkdir ../secret/d", "touch ../secret/new", "ln -s x ../secret/l", "mkfifo ../secret/f",
		"echo x >updir/new", "mv in.txt ../secret/", "ln in.txt ../secret/in", "echo x >/usr/hitchpost-test", "rm -f updir/key", "mknod null c 1 3",
		"timeout 2 sh -c 'echo x >../secret/pipe'",
	} {
		if got := b.run(command); strings.HasSuffix(got, "[exit code 0]") {
			t.Errorf("%s: %q", command, got)
		}
	}
	out, err := exec.Command("find", filepath.Join(base, "secret"), "-printf", "%P %s\n").Output()
	must(t, err)
	if got := strings.Split(strings.TrimSpace(string(out)), "\n"); len(got) != 3 || !strings.Contains(string(out), "key 7\n") {
		t.Errorf("outside is now %q", out)
	}
}

func TestTheWorkspaceTheTemporaryFolderAndTheSystemAreUsable(t *testing.T) {
	base := tree(t)
	b := lockedIn(t, filepath.Join(base, "ws"), func(_ *sandbox.Config, o *Options) { o.Env = []string{"PATH", "HOME"} })
	for _, command := range []string{
		"echo new >new && cat new && mv new sub/new && ln sub/new again && rm again sub/new", "mkdir -p a/b && rmdir a/b a",
		"sed -i s/inside/changed/ in.txt && grep changed in.txt", "ln -s in.txt link && cat link && rm link", "mkfifo p && rm p",
		"(echo through >sub/pipe &) ; cat sub/pipe", "echo x >$TMPDIR/x && cat $TMPDIR/x && rm $TMPDIR/x", "(cd && [ $PWD = $TMPDIR ] && touch x)",
		"ls /usr/bin >/dev/null && cat /etc/passwd >/dev/null", "head -c 1 /dev/urandom >/dev/null", "cat <(echo substituted)", "diff <(echo a) <(echo a)",
		"[ $(nproc) -gt 0 ]", "sort <<<'x' | cat", "chmod +x in.txt", "f=$(mktemp) && rm $f", "sleep 100 & kill $!; wait; true",
		"command -v git >/dev/null || exit_ok() { :; }; if command -v git >/dev/null; then git init -q repo && cd repo && touch f && git add f && git -c user.name=a -c user.email=a@b commit -qm x && cd .. && rm -rf repo; fi",
	} {
		if got := b.run(command); !strings.HasSuffix(got, "[exit code 0]") || strings.Contains(got, "enied") {
			t.Errorf("%s: %q", command, got)
		}
	}
}

// A hard link in the workspace is the file itself, whoever else has a name for it; a
// command cannot make one to a file outside (see above).
func TestAHardLinkInTheWorkspaceIsTheFile(t *testing.T) {
	base := tree(t)
	must(t, os.Link(filepath.Join(base, "secret/key"), filepath.Join(base, "ws/hard")))
	b := lockedIn(t, filepath.Join(base, "ws"))
	expect(t, "hard link", b.run("cat hard"), "SECRET\n[exit code 0]")
}

// home is a workspace that holds what the server itself keeps in it by default, with
// something of each kind beside it.
func home(t *testing.T) (dir string, protected []string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	must(t, os.MkdirAll(filepath.Join(dir, "src/deep"), 0o755))
	must(t, os.MkdirAll(filepath.Join(dir, "data/state"), 0o755))
	must(t, os.MkdirAll(filepath.Join(dir, "data/other"), 0o755))
	for name, content := range map[string]string{
		"hitchpost.db": "SECRET", "hitchpost.db-wal": "SECRET", "hitchpost.db-shm": "SECRET", "hitchpost.db.lock": "SECRET", "hitchpost.token": "SECRET",
		"data/state/config.toml": "SECRET", "readme": "read me\n", "src/main.go": "package main\n", "data/free": "free\n", "data/state/free": "free\n",
	} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	}
	must(t, os.Link(filepath.Join(dir, "hitchpost.token"), filepath.Join(dir, "linked")))
	must(t, os.Symlink("hitchpost.db", filepath.Join(dir, "alias")))
	must(t, os.Symlink("../hitchpost.db", filepath.Join(dir, "src/alias")))
	return dir, []string{filepath.Join(dir, "hitchpost.db"), filepath.Join(dir, "hitchpost.token"), filepath.Join(dir, "hitchpost.toml"), filepath.Join(dir, "data/state/config.toml")}
}

// Guarantee 2 of package sandbox.
func TestTheDatabaseConfigurationAndTokenInTheWorkspaceAreOutOfReach(t *testing.T) {
	dir, protected := home(t)
	b := lockedIn(t, dir, func(c *sandbox.Config, _ *Options) { c.Protected = protected })
	before, err := exec.Command("find", dir, "-type", "f", "-size", "6c", "-printf", "%P\n").Output()
	must(t, err)
	for _, name := range []string{"hitchpost.db", "hitchpost.db-wal", "hitchpost.db-shm", "hitchpost.db.lock", "hitchpost.token", "data/state/config.toml",
		"linked", "alias", dir + "/hitchpost.db", "src/../hitchpost.db"} {
		for _, command := range []string{"cat %s", "echo x >%s", "echo x >>%s", "truncate -s 0 %s", "rm -f %s; [ ! -e %[1]s ]", "mv %s src/got", "ln -f %s src/got && cat src/got", "ln -L -f %s $TMPDIR/got",
			"cp %s src/got", "mv -f readme %s", "echo y >src/y && mv -f src/y %s", "ln -sf /dev/null %s", "cp --remove-destination src/main.go %s"} {
			command = fmt.Sprintf(command, name)
			if got := b.run(command); strings.HasSuffix(got, "[exit code 0]") || strings.Contains(got, "SECRET") {
				t.Errorf("%s: %q", command, got)
			}
		}
	}
	for _, command := range []string{"cat src/alias", "echo x >src/alias", "truncate -s 0 src/alias", "cp src/alias src/got", "echo x >hitchpost.toml", "touch hitchpost.db-journal", "mkdir hitchpost.toml", "ln -s src/main.go hitchpost.toml", "mv src/main.go hitchpost.toml",
		"mv data data2", "mv data/state data/state2", "mv data/state src/", "rm -rf data/state", "mkdir data/new", "mkfifo hitchpost.db-journal", "cp -r data src/"} {
		if got := b.run(command); strings.HasSuffix(got, "[exit code 0]") || strings.Contains(got, "SECRET") {
			t.Errorf("%s: %q", command, got)
		}
	}
	after, err := exec.Command("find", dir, "-type", "f", "-size", "6c", "-printf", "%P\n").Output()
	must(t, err)
	expect(t, "what is protected", string(after), string(before))
	if _, err := os.Lstat(filepath.Join(dir, "hitchpost.toml")); err == nil {
		t.Error("a configuration was made")
	}
	grep := b.run("grep -ra SECRET . 2>/dev/null; find . -type f -exec cat {} + 2>/dev/null")
	if strings.Contains(grep, "SECRET") {
		t.Errorf("found: %q", grep)
	}
}

// Guarantee 2 of package sandbox: what stays possible beside protected files.
func TestTheRestOfAWorkspaceWithProtectedFilesIsUsable(t *testing.T) {
	dir, protected := home(t)
	b := lockedIn(t, dir, func(c *sandbox.Config, _ *Options) { c.Protected = protected })
	for _, command := range []string{
		"cat readme && echo more >>readme && grep more readme", "ls -la . data data/state", "echo x >src/new && mv src/new src/deep/ && rm src/deep/new",
		"mkdir -p src/a/b && rm -r src/a", "cat data/free data/state/free", "echo x >data/other/x", "cd src && cat main.go && cd ..",
	} {
		if got := b.run(command); !strings.HasSuffix(got, "[exit code 0]") {
			t.Errorf("%s: %q", command, got)
		}
	}
	if got := b.run("echo x >new"); !strings.HasSuffix(got, "[exit code 1]") {
		t.Errorf("a new file beside the database: %q", got)
	}
	if d := b.Tools()[0].Description; !strings.Contains(d, "Directly in "+dir+", "+filepath.Join(dir, "data")) {
		t.Errorf("the model is not told: %s", d)
	}
}

// Guarantee 3 of package sandbox.
func TestTheNetworkIsShutUnlessAllowed(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			c.Write([]byte("HTTP/1.0 200 OK\r\nContent-Length: 7\r\n\r\nREACHED"))
			c.Close()
		}
	}()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	commands := []string{"cat </dev/tcp/127.0.0.1/" + port, "exec 9<>/dev/tcp/127.0.0.1/" + port}
	if _, err := exec.LookPath("curl"); err == nil {
		commands = append(commands, "curl -sS --max-time 60 http://127.0.0.1:"+port+"/")
	}
	shut := lockedIn(t, t.TempDir())
	allowed := lockedIn(t, t.TempDir(), func(c *sandbox.Config, _ *Options) { c.Network = true })
	for _, command := range commands {
		if got := shut.run(command); strings.HasSuffix(got, "[exit code 0]") || strings.Contains(got, "REACHED") {
			t.Errorf("%s: %q", command, got)
		}
		if got := allowed.run(command); !strings.HasSuffix(got, "[exit code 0]") {
			t.Errorf("with the network %s: %q", command, got)
		}
	}
	needPython(t)
	const make = `/usr/bin/python3 -c "import socket; socket.socket(%s)"`
	for kind, open := range map[string]bool{ // with the network
		"socket.AF_INET, socket.SOCK_STREAM": true, "socket.AF_INET, socket.SOCK_DGRAM": true, "socket.AF_INET6, socket.SOCK_STREAM": true,
		"socket.AF_UNIX, socket.SOCK_STREAM": false, "socket.AF_UNIX, socket.SOCK_DGRAM": false,
	} {
		if got := shut.run(fmt.Sprintf(make, kind)); !strings.Contains(got, "Permission denied") {
			t.Errorf("%s: %q", kind, got)
		}
		if got := allowed.run(fmt.Sprintf(make, kind)); strings.Contains(got, "Permission denied") == open {
			t.Errorf("with the network %s: %q", kind, got)
		}
	}
	expect(t, "pairs", shut.run(`/usr/bin/python3 -c "import socket; socket.socketpair()"`), "[exit code 0]")
}

// Guarantee 5 of package sandbox.
func TestACommandCannotSignalTheServerOrItsSupervisor(t *testing.T) {
	if sandbox.Probe().ABI < 6 {
		t.Skip(sandbox.Probe())
	}
	b := lockedIn(t, t.TempDir())
	for _, pid := range []string{"$PPID", fmt.Sprint(os.Getpid())} {
		if got := b.run("kill -0 " + pid); !strings.HasSuffix(got, "[exit code 1]") {
			t.Errorf("kill %s: %q", pid, got)
		}
	}
}

// Guarantee 4 of package sandbox.
func TestACommandHasNoPowersToGain(t *testing.T) {
	needPython(t)
	b := lockedIn(t, t.TempDir())
	got := b.run(`/usr/bin/python3 - <<'E'
import ctypes
libc = ctypes.CDLL(None)
print(libc.prctl(39, 0, 0, 0, 0), [c for c in range(41) if libc.prctl(23, c, 0, 0, 0) == 1])
E`)
	if os.Geteuid() == 0 {
		expect(t, "no_new_privs and capabilities", got, "1 [0, 1, 3, 4]\n[exit code 0]")
	} else if !strings.HasPrefix(got, "1 ") {
		t.Errorf("no_new_privs: %q", got)
	}
}

// Guarantee 10: the file tools work beside the shell, and replace files.
func TestAShellReachesWhatOtherToolsPutBesideProtectedFiles(t *testing.T) {
	dir, protected := home(t)
	b := lockedIn(t, dir, func(c *sandbox.Config, _ *Options) { c.Protected = protected })
	b.run("cd src; export A='x  y'; b=2; f() { echo f $b; }; arr=(1 '2 3'); alias l=ls; set -u; umask 077; echo kept >$TMPDIR/file")
	must(t, os.WriteFile(filepath.Join(dir, "new"), []byte("new\n"), 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "other"), []byte("replaced\n"), 0o644))
	must(t, os.Rename(filepath.Join(dir, "other"), filepath.Join(dir, "readme")))
	expect(t, "everything", b.run(`cat ../new ../readme $TMPDIR/file; pwd; echo "$A" $b "${arr[1]}"; f; env | grep ^A=; alias l; umask; echo $-`),
		"new\nreplaced\nkept\n"+dir+"/src\nx  y 2 2 3\nf 2\nA=x  y\nalias l='ls'\n0077\nhuBc\n[exit code 0]")
	pid := b.run("echo $$")
	expect(t, "without a change the shell stays", b.run("echo $$"), pid)

	b.run("(until [ -e go ]; do sleep 0.01; done) &")
	must(t, os.WriteFile(filepath.Join(dir, "newer"), []byte("newer\n"), 0o644))
	got := b.run("echo still $$; cat ../newer 2>/dev/null; touch go; wait")
	expect(t, "with a job", got, "[what is new directly in "+dir+", "+dir+"/data, "+dir+"/data/state is out of reach while background jobs run]\nstill "+pid[:strings.IndexByte(pid, '\n')]+"\n[exit code 0]")
	expect(t, "after it", b.run("cat ../newer"), "newer\n[exit code 0]")

	b.run("(until [ -e go2 ]; do sleep 0.01; done; echo from a job; exec touch late-1012) &")
	must(t, os.WriteFile(filepath.Join(dir, "src/go2"), nil, 0o644))
	until(t, "the job's end", func() bool {
		_, err := os.Stat(filepath.Join(dir, "src/late-1012"))
		return err == nil && b.sessions["s"].shell.proc.Alone()
	})
	must(t, os.WriteFile(filepath.Join(dir, "newest"), []byte("newest\n"), 0o644))
	expect(t, "what a job printed before", b.run("cat ../newest"), "from a job\nnewest\n[exit code 0]")
}

// Guarantee 10: what a shell has in its variables is longer than what is kept of an
// output, and no part of it may be run as a command.
func TestAShellWithLargeVariablesIsReplacedWhole(t *testing.T) {
	dir, protected := home(t)
	b := lockedIn(t, dir, func(c *sandbox.Config, _ *Options) { c.Protected = protected })
	b.run("cd src; big=$(for i in {1..9000}; do echo \"echo '$i' >>leaked\"; done); small=here")
	must(t, os.WriteFile(filepath.Join(dir, "new"), []byte("new\n"), 0o644))
	expect(t, "everything", b.run(`cat ../new; echo ${#big} $small; pwd; ls leaked* ../leaked* 2>/dev/null`),
		"new\n187892 here\n"+dir+"/src\n[exit code 2]")
}

func TestACommandInheritsNoDescriptorOfOurs(t *testing.T) {
	leak, err := os.Open("/")
	must(t, err)
	defer leak.Close()
	fd, err := unix.FcntlInt(leak.Fd(), unix.F_DUPFD, 60) // without close-on-exec, as one that the server was started with
	must(t, err)
	defer unix.Close(fd)
	expect(t, "descriptors", open(t).run("ls -m /proc/self/fd"), "0, 1, 2, 3\n[exit code 0]") // 3 is the folder itself
}
