package files

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// types are the kinds of file that Grep knows by name.
var types = map[string]string{
	"c":        "*.{c,h}",
	"cpp":      "*.{cc,cpp,cxx,hh,hpp,hxx,h}",
	"cs":       "*.cs",
	"css":      "*.{css,scss}",
	"go":       "*.go",
	"html":     "*.{html,htm}",
	"java":     "*.java",
	"js":       "*.{js,jsx,mjs,cjs}",
	"json":     "*.json",
	"kotlin":   "*.{kt,kts}",
	"lua":      "*.lua",
	"markdown": "*.{md,markdown}",
	"md":       "*.{md,markdown}",
	"php":      "*.php",
	"py":       "*.{py,pyi}",
	"ruby":     "*.{rb,rake,gemspec}",
	"rust":     "*.rs",
	"sh":       "*.{sh,bash,zsh}",
	"sql":      "*.sql",
	"swift":    "*.swift",
	"toml":     "*.toml",
	"ts":       "*.{ts,tsx,mts,cts}",
	"txt":      "*.txt",
	"xml":      "*.xml",
	"yaml":     "*.{yaml,yml}",
	"zig":      "*.zig",
}

func typePattern(name string) (pattern, error) {
	glob, ok := types[name]
	if !ok {
		return pattern{}, fmt.Errorf("type %q is not known, use glob instead; the known ones are %s",
			name, strings.Join(slices.Sorted(maps.Keys(types)), ", "))
	}
	return parsePattern(glob)
}
