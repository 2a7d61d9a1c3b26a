package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"sync/atomic"

	"golang.org/x/time/rate"
)

// outputLog writes what a server prints, and what is wrong with what it lists, to
// the log: masked, cut, and no more than a reader can bear.
type outputLog struct {
	to      *slog.Logger
	mask    masker
	limit   *rate.Limiter
	dropped atomic.Int64
}

func newOutputLog(to *slog.Logger, mask masker) *outputLog {
	return &outputLog{to: to, mask: mask, limit: rate.NewLimiter(logRate, logBurst)}
}

// log takes a text or an error behind each key.
func (o *outputLog) log(level slog.Level, what string, pairs ...any) {
	if !o.limit.Allow() {
		o.dropped.Add(1)
		return
	}
	for i := 1; i < len(pairs); i += 2 {
		text, ok := pairs[i].(string)
		if err, isErr := pairs[i].(error); isErr {
			text, ok = err.Error(), true
		}
		if ok {
			pairs[i] = clip(strings.ToValidUTF8(o.mask.text(text), "\uFFFD"), maxLogged)
		}
	}
	if n := o.dropped.Swap(0); n > 0 {
		pairs = append(pairs, "lines_left_out", n)
	}
	o.to.Log(context.Background(), level, what, pairs...)
}

// drain logs a child's standard error line by line until its end. It always reads
// on: a full pipe would stop the child.
func (o *outputLog) drain(r io.Reader) {
	b := bufio.NewReader(r)
	cut := false // the line's beginning has been logged
	for {
		piece, err := b.ReadSlice('\n')
		if line := bytes.TrimSpace(piece); len(line) > 0 && !cut {
			o.log(slog.LevelInfo, "mcp server says", "text", string(line))
		}
		cut = errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !cut {
			return
		}
	}
}

// masker keeps a server's secrets out of texts.
type masker struct{ r *strings.Replacer }

func newMasker(cfg ServerConfig) masker {
	var pairs []string
	hide := func(secret string) {
		if len(secret) >= minSecret {
			pairs = append(pairs, secret, "[secret]")
		}
	}
	hide(cfg.Bearer)
	for _, value := range cfg.Env {
		hide(value)
	}
	if u, err := url.Parse(cfg.URL); err == nil && cfg.URL != "" {
		if u.User != nil {
			password, _ := u.User.Password()
			hide(password)
		}
		if u.RawQuery != "" {
			pairs = append(pairs, u.RawQuery, "[secret]")
		}
	}
	return masker{strings.NewReplacer(pairs...)}
}

func (m masker) text(s string) string { return m.r.Replace(s) }

// error masks an error's text and keeps what it wraps, for errors.As.
func (m masker) error(err error) error {
	if err == nil {
		return nil
	}
	if masked := m.text(err.Error()); masked != err.Error() {
		return errors.New(masked)
	}
	return err
}
