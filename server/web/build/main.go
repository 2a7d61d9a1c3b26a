// Command build bundles the page: src → dist, which is committed, so that building the
// server needs no Node. It is a module of its own, so that the server does not depend on
// the bundler. The same sources give the same bytes.
//
//	go -C server/web/build run . [-entry ../src/main.tsx] [-out ../dist]
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	entry := flag.String("entry", "../src/main.tsx", "where the page begins")
	out := flag.String("out", "../dist", "folder to write")
	flag.Parse()
	if err := build(*entry, *out); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

func build(entry, out string) error {
	root, err := filepath.Abs("..")
	if err != nil {
		return err
	}
	page, err := bundle(root, entry, "app")
	if err != nil {
		return err
	}
	start, err := bundle(root, "../src/start.ts", "start")
	if err != nil {
		return err
	}
	notices, err := notices(root, page.inputs)
	if err != nil {
		return err
	}
	files := map[string][]byte{"licenses.txt": notices}
	for _, name := range []string{"index.html", "favicon.svg"} {
		if files[name], err = os.ReadFile(filepath.Join(root, "src", name)); err != nil {
			return err
		}
	}
	for _, b := range []bundled{page, start} {
		for name, content := range b.files {
			files[name] = content
		}
	}
	return write(out, files)
}

// bundled is what one entry became.
type bundled struct {
	files  map[string][]byte // name.js, and name.css if it has styles
	inputs []string          // paths of its sources, relative to server/web
}

func bundle(root, entry, name string) (bundled, error) {
	path, err := filepath.Abs(entry)
	if err != nil {
		return bundled{}, err
	}
	result := api.Build(api.BuildOptions{
		AbsWorkingDir:       root,
		EntryPointsAdvanced: []api.EntryPoint{{InputPath: path, OutputPath: name}},
		Outdir:              filepath.Join(root, "dist"),
		Bundle:              true,
		Format:              api.FormatESModule,
		Target:              api.ES2022,
		JSX:                 api.JSXAutomatic,
		JSXImportSource:     "preact",
		MinifyWhitespace:    true,
		MinifyIdentifiers:   true,
		MinifySyntax:        true,
		LegalComments:       api.LegalCommentsNone, // licenses.txt has them whole
		Metafile:            true,
		LogLevel:            api.LogLevelSilent,
	})
	if len(result.Errors) > 0 {
		lines := api.FormatMessages(result.Errors, api.FormatMessagesOptions{Kind: api.ErrorMessage})
		return bundled{}, errors.New(strings.TrimSpace(strings.Join(lines, "")))
	}
	b := bundled{files: map[string][]byte{}}
	for _, f := range result.OutputFiles {
		b.files[filepath.Base(f.Path)] = f.Contents
	}
	var meta struct {
		Inputs map[string]struct{} `json:"inputs"`
	}
	if err := json.Unmarshal([]byte(result.Metafile), &meta); err != nil {
		return bundled{}, err
	}
	for path := range meta.Inputs {
		b.inputs = append(b.inputs, filepath.ToSlash(path))
	}
	slices.Sort(b.inputs)
	return b, nil
}

// notices are the licenses of every library that is in the bundle.
func notices(root string, inputs []string) ([]byte, error) {
	var text strings.Builder
	text.WriteString("The page holds code of these libraries.\n")
	for _, name := range libraries(inputs) {
		folder := filepath.Join(root, "node_modules", filepath.FromSlash(name))
		manifest, err := os.ReadFile(filepath.Join(folder, "package.json"))
		if err != nil {
			return nil, err
		}
		var about struct{ Version, License string }
		if err := json.Unmarshal(manifest, &about); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		license, err := license(folder)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&text, "\n---- %s %s (%s)\n\n%s\n", name, about.Version, about.License, strings.TrimSpace(license))
	}
	return []byte(text.String()), nil
}

// libraries names the packages that sources come from, sorted.
func libraries(inputs []string) []string {
	var names []string
	for _, path := range inputs {
		_, inside, found := strings.Cut(path, "node_modules/")
		if !found {
			continue
		}
		parts := strings.SplitN(inside, "/", 3)
		name := parts[0]
		if strings.HasPrefix(name, "@") {
			name = parts[0] + "/" + parts[1]
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func license(folder string) (string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		if strings.HasPrefix(strings.ToUpper(e.Name()), "LICENSE") && !e.IsDir() {
			text, err := os.ReadFile(filepath.Join(folder, e.Name()))
			return strings.ReplaceAll(string(text), "\r\n", "\n"), err
		}
	}
	return "", fmt.Errorf("%s has no license file", folder)
}

// write makes a folder hold these files and no others.
func write(out string, files map[string][]byte) error {
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(out, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
