package files

import (
	"fmt"
	"regexp"
	"strings"
)

const nearLines = 5 // of a near miss that are shown

var numbered = regexp.MustCompile(`^ *\d+\t`)

// nearMiss tells what stands in a text instead of a passage that does not, as the end
// of a sentence: what is easily got wrong when a passage is copied.
func nearMiss(text, passage string) string {
	lines, wanted := strings.Split(text, "\n"), strings.Split(strings.Trim(passage, "\n"), "\n")
	if numbered.MatchString(wanted[0]) {
		return ": leave out the line numbers and the tabs behind them, which only Read shows"
	}
	if at := findLines(lines, wanted, withoutSpace); at >= 0 {
		return fmt.Sprintf("; line %d differs from it in white space only, and reads %s", at+1, quoteLines(lines[at:at+len(wanted)]))
	}
	if at := findLines(lines, wanted, strings.ToLower); at >= 0 {
		return fmt.Sprintf("; line %d differs from it in upper and lower case, and reads %s", at+1, quoteLines(lines[at:at+len(wanted)]))
	}
	if len(wanted) == 1 || withoutSpace(wanted[0]) == "" {
		return ": read the file again"
	}
	if at := findLines(lines, wanted[:1], withoutSpace); at >= 0 {
		same := 1
		for same < len(wanted) && at+same < len(lines) && withoutSpace(lines[at+same]) == withoutSpace(wanted[same]) {
			same++
		}
		end := min(at+same+1, len(lines))
		return fmt.Sprintf("; its first %s at line %d, and what follows reads %s", stands(same), at+1, quoteLines(lines[min(at+same, end-1):end]))
	}
	return ": read the file again"
}

func stands(lines int) string {
	if lines == 1 {
		return "line stands"
	}
	return fmt.Sprintf("%d lines stand", lines)
}

// findLines finds the first place where the lines are the wanted ones but for what
// the form leaves out; the first and the last may be parts of lines.
func findLines(lines, wanted []string, form func(string) string) int {
	want := make([]string, len(wanted))
	for i, line := range wanted {
		want[i] = form(line)
	}
	if strings.Join(want, "") == "" {
		return -1
	}
	have := make([]string, len(lines))
	for i, line := range lines {
		have[i] = form(line)
	}
	last := len(want) - 1
	for at := 0; at+last < len(have); at++ {
		if last == 0 && strings.Contains(have[at], want[0]) {
			return at
		}
		if last == 0 || !strings.HasSuffix(have[at], want[0]) || !strings.HasPrefix(have[at+last], want[last]) {
			continue
		}
		same := 1
		for same < last && have[at+same] == want[same] {
			same++
		}
		if same == last {
			return at
		}
	}
	return -1
}

func withoutSpace(line string) string { return strings.Join(strings.Fields(line), "") }

// quoteLines shows lines so that their white space can be seen.
func quoteLines(lines []string) string {
	more := ""
	if len(lines) > nearLines {
		lines, more = lines[:nearLines], " and more"
	}
	text, cut := clip([]byte(strings.Join(lines, "\n")), sinkLine)
	if cut {
		more = " and more"
	}
	return fmt.Sprintf("%q%s", text, more)
}
