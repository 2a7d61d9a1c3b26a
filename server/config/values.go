package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"strings"
	"time"

	"hitchpost/server/auth"
)

// value is a leaf of the configuration with a way of its own to be read.
type value interface {
	// set takes what TOML made of the value: string, int64, float64, bool, …
	set(v any) error
}

// Duration is written as "20s", "1m30s", or a bare number of seconds. (As a plain
// time.Duration, heartbeat = 20 would be 20 nanoseconds.)
type Duration time.Duration

const maxDuration = 365 * 24 * time.Hour

func seconds(n int) Duration { return Duration(time.Duration(n) * time.Second) }

// Std is the duration as the standard library has it.
func (d Duration) Std() time.Duration { return time.Duration(d) }

func (d Duration) String() string { return time.Duration(d).String() }

func (d *Duration) set(v any) error {
	var secs float64
	switch v := v.(type) {
	case int64:
		secs = float64(v)
	case float64:
		secs = v
	case string:
		parsed, err := time.ParseDuration(v)
		if err != nil {
			return fmt.Errorf(`%q is no duration; write one as "20s", "1m30s" or a number of seconds`, v)
		}
		secs = parsed.Seconds()
	default:
		return fmt.Errorf(`must be a duration such as "20s", or a number of seconds, not %s`, kindOf(v))
	}
	if secs < 0 || math.IsNaN(secs) {
		return errors.New("must not be negative")
	}
	if secs > maxDuration.Seconds() {
		return fmt.Errorf("is longer than a year (%s)", maxDuration)
	}
	*d = Duration(math.Round(secs * float64(time.Second)))
	return nil
}

// Secret is a value that must not be shown. Reveal is the only way to it.
type Secret struct{ value string }

// NewSecret keeps the value.
func NewSecret(value string) Secret { return Secret{value} }

// Reveal returns the value, for the one place that needs it.
func (s Secret) Reveal() string { return s.value }

// String shows whether there is one.
func (s Secret) String() string {
	if s.value == "" {
		return ""
	}
	return "(secret)"
}

func (s Secret) GoString() string             { return s.String() }
func (s Secret) LogValue() slog.Value         { return slog.StringValue(s.String()) }
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

func (s *Secret) set(v any) error {
	secret, err := readSecret(v)
	if err != nil {
		return err
	}
	if strings.HasPrefix(secret, hashPrefix) {
		return fmt.Errorf("cannot be a hash, since it must be sent; use env:NAME or file:PATH")
	}
	*s = Secret{secret}
	return nil
}

// TokenHash is what is kept of a token.
type TokenHash struct {
	Digest auth.Digest
	Set    bool
}

const hashPrefix = "sha256:"

func (h *TokenHash) set(v any) error {
	secret, err := readSecret(v)
	if err != nil {
		return err
	}
	digest, err := digestOf(secret)
	if err != nil {
		return err
	}
	*h = TokenHash{digest, true}
	return nil
}

func digestOf(secret string) (auth.Digest, error) {
	coded, ok := strings.CutPrefix(secret, hashPrefix)
	if !ok {
		if len(secret) < minToken {
			return auth.Digest{}, fmt.Errorf("is shorter than %d characters and can be guessed; `hitchpost token new` makes one", minToken)
		}
		return auth.DigestOf(secret), nil
	}
	raw, err := hex.DecodeString(coded)
	if err != nil || len(raw) != sha256.Size {
		return auth.Digest{}, fmt.Errorf("sha256: must be followed by the %d hex digits that `hitchpost token new` prints", 2*sha256.Size)
	}
	return auth.Digest(raw), nil
}

// minToken is the least length of a token, in bytes.
const minToken = 8

// filePrefix begins a secret that is kept in a file.
const filePrefix = "file:"

// maxSecretFile bounds what file:PATH may hold, in bytes.
const maxSecretFile = 64 << 10

// readSecret resolves the forms of a secret: the literal, env:NAME, file:PATH. No
// error quotes it.
func readSecret(v any) (string, error) {
	text, ok := v.(string)
	if !ok {
		return "", fmt.Errorf("must be a string, not %s", kindOf(v))
	}
	if name, ok := strings.CutPrefix(text, "env:"); ok {
		secret, ok := os.LookupEnv(name)
		if !ok || secret == "" {
			return "", fmt.Errorf("the environment variable %s is not set", name)
		}
		return secret, nil
	}
	if path, ok := strings.CutPrefix(text, filePrefix); ok {
		return readSecretFile(path)
	}
	if text == "" {
		return "", errors.New("is empty; leave the key out, or write a literal, env:NAME or file:PATH")
	}
	return text, nil
}

func readSecretFile(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("cannot read the secret: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxSecretFile {
		return "", fmt.Errorf("cannot read the secret: %s is no file of at most %d bytes", path, maxSecretFile)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("cannot read the secret: %w", err)
	}
	secret := strings.TrimSpace(string(raw))
	if secret == "" {
		return "", fmt.Errorf("the file %s holds no secret", path)
	}
	return secret, nil
}

// kindOf names what TOML found, as the person who wrote it would.
func kindOf(v any) string {
	switch v.(type) {
	case string:
		return "a string"
	case int64:
		return "an integer"
	case float64:
		return "a number with a fraction"
	case bool:
		return "a boolean"
	case time.Time:
		return "a date"
	case map[string]any:
		return "a table"
	case []map[string]any:
		return "a list of tables"
	}
	return "a list"
}
