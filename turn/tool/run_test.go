package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hitchpost/turn/event"
)

func tool(run func(ctx context.Context, call Call) Result) *Tool {
	t := named("Probe")
	t.Schema = json.RawMessage(`{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}`)
	t.Run = run
	return &t
}

var good = Call{Session: "s", ID: "c1", Args: json.RawMessage(`{"n":9007199254740993}`)}

func content(t *testing.T, r Result) string {
	t.Helper()
	var s string
	if err := json.Unmarshal(r.Content, &s); err != nil {
		t.Fatalf("content %s, error %q", r.Content, r.Error)
	}
	return s
}

// Guarantee 2.
func TestArgumentsReachTheToolAsTheyWereWritten(t *testing.T) {
	var r Runner
	echo := tool(func(_ context.Context, call Call) Result { return Text(string(call.Args)) })
	if got := content(t, r.Run(t.Context(), echo, good, Limits{})); got != `{"n":9007199254740993}` {
		t.Errorf("the tool got %s", got)
	}
	echo.Schema = json.RawMessage(`{}`)
	for _, nothing := range []string{"", "null"} {
		if got := content(t, r.Run(t.Context(), echo, Call{Args: json.RawMessage(nothing)}, Limits{})); got != `{}` {
			t.Errorf("for %q the tool got %s", nothing, got)
		}
	}
}

// Guarantee 4.
func TestAToolDoesNotRunWithArgumentsThatDoNotFit(t *testing.T) {
	var r Runner
	ran := false
	probe := tool(func(context.Context, Call) Result { ran = true; return Text("") })
	for args, want := range map[string]string{
		`{}`:       "Probe did not run, its arguments do not fit: n: required",
		`[1]`:      "Probe did not run, its arguments do not fit: the arguments must be a JSON object, not an array",
		`{"n":`:    "Probe did not run, its arguments do not fit: the arguments are not valid JSON: unexpected EOF",
		`{"n":""}`: "Probe did not run, its arguments do not fit: n: must be an integer, not a string",
	} {
		if got := r.Run(t.Context(), probe, Call{Args: json.RawMessage(args)}, Limits{}); got.Error != want || ran {
			t.Errorf("%s: error %q, ran %v; want %q", args, got.Error, ran, want)
		}
	}
}

// Guarantee 5.
func TestACrashIsAnErrorOfTheCallAndItsStackGoesToTheLog(t *testing.T) {
	for what, run := range map[string]func(context.Context, Call) Result{
		"Probe crashed: boom": func(context.Context, Call) Result { panic("boom") },
		"Probe crashed: runtime error: index out of range [3] with length 0": func(context.Context, Call) Result {
			var none []Result
			i := 3
			return none[i]
		},
		"Probe crashed: it ended without a result": func(context.Context, Call) Result { runtime.Goexit(); return Result{} },
	} {
		var log bytes.Buffer
		r := Runner{Log: slog.New(slog.NewTextHandler(&log, nil))}
		got := r.Run(t.Context(), tool(run), good, Limits{Timeout: time.Minute})
		if got.Error != what || got.Cause != string(event.CodeToolPanic) {
			t.Errorf("error %q, cause %q; want %q", got.Error, got.Cause, what)
		}
		if err := r.Wait(t.Context()); err != nil {
			t.Error(err)
		}
		if !strings.Contains(log.String(), "tool=Probe session=s call=c1 stack=") || strings.Contains(log.String(), "boom") {
			t.Errorf("logged %s", &log)
		}
	}
}

// Guarantee 5.
func TestATimeoutSaysHowLongAndWhatTheToolSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r Runner
		obedient := tool(func(ctx context.Context, _ Call) Result { <-ctx.Done(); return Fail("stopped at line 3") })
		began := time.Now()
		got := r.Run(t.Context(), obedient, good, Limits{Timeout: 90 * time.Second})
		if took := time.Since(began); took != 90*time.Second {
			t.Errorf("came back after %s", took)
		}
		if want := "Probe timed out after 1m30s: stopped at line 3"; got.Error != want || got.Cause != string(event.CodeToolTimeout) {
			t.Errorf("error %q, cause %q; want %q", got.Error, got.Cause, want)
		}
	})
}

func TestASuccessAfterTheTimeIsUpIsStillASuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r Runner
		late := tool(func(ctx context.Context, _ Call) Result { <-ctx.Done(); time.Sleep(time.Second); return Text("sent") })
		if got := content(t, r.Run(t.Context(), late, good, Limits{Timeout: time.Second})); got != "sent" {
			t.Errorf("content %q", got)
		}
	})
}

// Guarantee 6.
func TestAToolThatIgnoresItsContextHoldsTheCallerForTheGraceAndNoLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r Runner
		let, heard := make(chan struct{}), 0
		deaf := tool(func(_ context.Context, call Call) Result {
			call.Progress("early")
			<-let
			call.Progress("late")
			return Text("nobody hears this")
		})
		call := good
		call.Progress = func(string) { heard++ }
		began := time.Now()
		got := r.Run(t.Context(), deaf, call, Limits{Timeout: time.Minute})
		if took := time.Since(began); took != time.Minute+Grace {
			t.Errorf("came back after %s", took)
		}
		want := "Probe timed out after 1m0s: it did not stop when told to, and may still be at work"
		if got.Error != want || got.Cause != string(event.CodeToolTimeout) {
			t.Errorf("error %q, cause %q; want %q", got.Error, got.Cause, want)
		}
		short, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if err := r.Wait(short); err == nil || err.Error() != "still at work: Probe: context deadline exceeded" {
			t.Errorf("Wait beside a stray: %v", err)
		}
		close(let)
		if err := r.Wait(t.Context()); err != nil {
			t.Errorf("Wait after the stray's end: %v", err)
		}
		if heard != 1 {
			t.Errorf("heard %d pieces of progress, want the early one alone", heard)
		}
	})
}

// Guarantee 5.
func TestACancelStopsTheToolAndTheResultIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r Runner
		for _, late := range []time.Duration{0, time.Second, time.Hour} {
			ctx, cancel := context.WithCancel(t.Context())
			probe := tool(func(ctx context.Context, _ Call) Result { <-ctx.Done(); time.Sleep(late); return Fail("killed") })
			time.AfterFunc(time.Minute, cancel)
			if got := r.Run(ctx, probe, good, Limits{Timeout: time.Hour}); got.Error != "cancelled" || got.Cause != "" {
				t.Errorf("%s late: error %q, cause %q", late, got.Error, got.Cause)
			}
			if got := r.Run(ctx, probe, good, Limits{}); got.Error != "cancelled" {
				t.Errorf("begun after the cancel: %+v", got)
			}
		}
		if err := r.Wait(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestProgressMayComeFromManyGoroutinesAndFromNobodyListening(t *testing.T) {
	var r Runner
	busy := tool(func(_ context.Context, call Call) Result {
		ended := make(chan struct{})
		for range 8 {
			go func() { call.Progress("x"); ended <- struct{}{} }()
		}
		for range 8 {
			<-ended
		}
		return Text("done")
	})
	heard := 0 // the runner calls one at a time
	call := good
	call.Progress = func(string) { heard++ }
	r.Run(t.Context(), busy, call, Limits{})
	if heard != 8 {
		t.Errorf("heard %d, want 8", heard)
	}
	if got := content(t, r.Run(t.Context(), busy, good, Limits{})); got != "done" {
		t.Errorf("content %q", got)
	}
}

// Guarantee 7.
func TestAResultOfTwentyMebibytesIsCutToTheLimit(t *testing.T) {
	var r Runner
	huge := tool(func(context.Context, Call) Result { return Text(strings.Repeat("é", 10<<20)) })
	got := content(t, r.Run(t.Context(), huge, good, Limits{Result: 262_145}))
	if want := strings.Repeat("é", 131_072) + "\n[cut: the first 262144 of 20971520 bytes are shown]"; got != want {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
}
