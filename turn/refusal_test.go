package turn

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hitchpost/store"
)

// onDisk opens the world's file again, over a disk that the test can make fail.
func (w *world) onDisk() *disk {
	w.t.Helper()
	w.stop()
	d := newDisk(w.path, "", nil)
	w.t.Cleanup(d.forget)
	w.start()
	return d
}

// TestATextThatWasKeptIsNotRefusedForWhatFailsBehindIt: the text that resumes a turn
// is durable with the first append of the resume. A later one that fails stops the
// turn; a sender who was told that nothing was kept would send the text again.
// Guarantees 2 and 8.
func TestATextThatWasKeptIsNotRefusedForWhatFailsBehindIt(t *testing.T) {
	w := newWorld(t)
	w.play(`model call:o1:once:{"gate":"g"}
		wake go
		await g`)
	d := w.onDisk()
	d.fail(1, 1)
	if err := w.run("wake", "and this"); err != nil {
		t.Errorf("the text was refused: %v", err)
	}
	if d.refusals() != 1 {
		t.Fatalf("%d appends failed, want that behind the text's", d.refusals())
	}
	w.play(`status resumable
		model "done"
		wake still there?
		ended`)
	if log := render(w.log()); strings.Count(log, "and this") != 1 {
		t.Errorf("the text is not in the log once:\n%s", log)
	}
}

// TestWhoIsToldThatAnAppendFailedFindsInLiveThatNothingRuns: a verdict whose append fails
// leaves the turn open, and so says Live once the verdict is refused.
func TestWhoIsToldThatAnAppendFailedFindsInLiveThatNothingRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		d := w.onDisk()
		w.play(`model call:q1:askpar:{} call:p1:par:{"gate":"g"}
			start hi
			parked q1
			await g`)
		told, goOn := make(chan struct{}), make(chan struct{})
		stop := w.host.Watch(func(Change) { close(told); <-goOn })
		defer stop()
		d.fail(0, 1)
		refused := make(chan error, 1)
		go func() { refused <- w.run("approve", "q1") }()
		<-told
		synctest.Wait()
		if len(refused) > 0 {
			t.Error("it was answered before the watchers, and Live, told of it")
		}
		close(goOn)
		var failed *AppendError
		if err := <-refused; !errors.As(err, &failed) {
			t.Errorf("refused with %v, want an append that failed", err)
		}
		if live := w.host.Live("s1"); live != (Liveness{}) {
			t.Errorf("live %+v", live)
		}
	})
}

// TestASessionThatNobodyCouldCreateIsRefusedByName: of two connections that create
// it, the second finds the first one's in a transaction that then fails.
func TestASessionThatNobodyCouldCreateIsRefusedByName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		d := w.onDisk()
		d.hold()
		d.fail(1, 1)
		go func() { w.hold("busy").Release() }() // the disk is at work on it
		time.Sleep(time.Second)
		refused := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := w.host.Hold(context.Background(), "new", "me")
				refused <- err
			}()
		}
		synctest.Wait()
		d.release()
		for range 2 {
			var failed *AppendError
			if err := <-refused; !errors.As(err, &failed) {
				t.Errorf("refused with %v, want an append that failed", err)
			}
		}
		w.hold("new").Release()
	})
}

// TestATextThatWaitsBeginsItsTurnInTheAppendThatEndsTheLast also where a titler is
// asked: between the two, a disk that fails would leave a waking text to an idle agent.
// Guarantees 4 and 8.
func TestATextThatWaitsBeginsItsTurnInTheAppendThatEndsTheLast(t *testing.T) {
	w := newWorld(t)
	d := w.onDisk()
	w.play(`role titler demo/titler
		model-of titler "A title"
		model @g
		model "second"
		wake one
		await g
		wake two`)
	d.fail(1, 1)
	w.play(`open g
		idle
		status resumable`)
}

// TestAForkAndADeletionThatCannotBeWrittenSaySo as every other command does.
func TestAForkAndADeletionThatCannotBeWrittenSaySo(t *testing.T) {
	w := newWorld(t)
	d := w.onDisk()
	ctx := context.Background()
	d.fail(0, 1000)
	for name, command := range map[string]func() error{
		"fork":   func() error { _, err := w.host.Fork(ctx, "s1", ForkPoint{}, "copy"); return err },
		"delete": func() error { return w.host.Delete(ctx, "s1") },
	} {
		var failed *AppendError
		if err := command(); !errors.As(err, &failed) {
			t.Errorf("%s on a file that cannot be written = %v, want an *AppendError", name, err)
		}
	}
	d.fail(0, 0)
	if _, err := w.host.Fork(ctx, "s1", ForkPoint{}, "s1"); !errors.Is(err, store.ErrExists) || errors.As(err, new(*AppendError)) {
		t.Errorf("a fork to an id that is taken = %v, want ErrExists alone", err)
	}
	if err := w.host.Delete(ctx, "s1"); err != nil {
		t.Errorf("delete once the file takes it: %v", err)
	}
}
