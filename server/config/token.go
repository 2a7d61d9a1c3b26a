package config

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"

	"hitchpost/server/auth"
)

// TokenFile is the name of the generated token's file, beside the database.
const TokenFile = "hitchpost.token"

// NewToken makes a token: 32 random bytes in base64url, 43 characters.
func NewToken() Secret {
	var raw [32]byte
	rand.Read(raw[:]) // never fails
	return Secret{base64.RawURLEncoding.EncodeToString(raw[:])}
}

// HashLine is the form in which [[tokens]] can hold a token without knowing it.
func HashLine(s Secret) string {
	digest := auth.DigestOf(s.value)
	return hashPrefix + hex.EncodeToString(digest[:])
}

func (c *Config) tokenPath() string {
	return filepath.Join(filepath.Dir(c.Database), TokenFile)
}

// GeneratedToken returns the token of a server whose configuration has none: the one
// kept beside the database, made when there is none yet. It opens all sessions of
// the owner "me" with every verb.
func (c *Config) GeneratedToken() (Secret, *auth.Token, error) {
	path := c.tokenPath()
	secret, err := keptToken(path)
	if errors.Is(err, fs.ErrNotExist) {
		secret, err = keepToken(path)
	}
	if err != nil {
		return Secret{}, nil, err
	}
	return secret, auth.NewToken("generated", "me", auth.DigestOf(secret.value), nil, auth.All), nil
}

func keptToken(path string) (Secret, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Secret{}, fmt.Errorf("cannot read the generated token: %w", err)
	}
	if open := info.Mode().Perm() & 0o077; open != 0 && ownsModes {
		return Secret{}, fmt.Errorf("%s can be read by others; take the rights away (chmod 600 %[1]s), "+
			"or remove it and a new token is made", path)
	}
	text, err := readSecretFile(path)
	if err != nil {
		return Secret{}, err
	}
	if len(text) < minToken {
		return Secret{}, fmt.Errorf("%s holds no token; remove it and a new one is made", path)
	}
	return Secret{text}, nil
}

// keepToken writes a fresh token in full before it has its name. When another
// process was faster, its token is the one.
func keepToken(path string) (Secret, error) {
	secret := NewToken()
	temp, err := os.CreateTemp(filepath.Dir(path), TokenFile+".*") // mode 0600
	if err != nil {
		return Secret{}, fmt.Errorf("cannot keep the generated token: %w", err)
	}
	defer os.Remove(temp.Name())
	_, err = temp.WriteString(secret.value + "\n")
	err = errors.Join(err, temp.Sync(), temp.Close())
	if err == nil {
		err = os.Link(temp.Name(), path) // unlike a rename it never replaces
	}
	if errors.Is(err, fs.ErrExist) {
		return keptToken(path)
	}
	if err != nil {
		return Secret{}, fmt.Errorf("cannot keep the generated token: %w", err)
	}
	return secret, nil
}

// FindToken returns a token that a command on this machine can present to the
// server: the first of [[tokens]] whose text the file gives away (not sha256:HEX),
// else, without [[tokens]], the generated one. The environment and files are read
// now; nothing is made.
func (c *Config) FindToken() (Secret, error) {
	if len(c.Tokens) == 0 {
		secret, err := keptToken(c.tokenPath())
		if errors.Is(err, fs.ErrNotExist) {
			return Secret{}, fmt.Errorf("there is no token yet; start `hitchpost serve` in this folder first, "+
				"or give --token or HITCHPOST_TOKEN (looked for %s)", c.tokenPath())
		}
		return secret, err
	}
	source, err := readFile(c.File)
	if err != nil {
		return Secret{}, err
	}
	var forms struct {
		Tokens []struct {
			Token string `toml:"token"`
		} `toml:"tokens"`
	}
	if _, err := toml.Decode(source, &forms); err != nil {
		return Secret{}, fmt.Errorf("%s changed while it was read; try again", c.File)
	}
	for _, form := range forms.Tokens {
		if secret, err := readSecret(form.Token); err == nil && !strings.HasPrefix(secret, hashPrefix) {
			return Secret{secret}, nil
		}
	}
	return Secret{}, fmt.Errorf("%s holds its tokens only as hashes; give --token or HITCHPOST_TOKEN", c.File)
}
