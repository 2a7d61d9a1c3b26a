package web

import (
	"net/url"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// silent are the elements whose content is not for readers.
var silent = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Noscript: true, atom.Template: true, atom.Svg: true, atom.Math: true,
	atom.Iframe: true, atom.Object: true, atom.Canvas: true, atom.Noembed: true, atom.Noframes: true,
}

// breaks is how many line ends stand before and behind an element, at least.
var breaks = map[atom.Atom]int{
	atom.P: 2, atom.H1: 2, atom.H2: 2, atom.H3: 2, atom.H4: 2, atom.H5: 2, atom.H6: 2, atom.Ul: 2, atom.Ol: 2, atom.Dl: 2, atom.Table: 2,
	atom.Pre: 2, atom.Blockquote: 2, atom.Section: 2, atom.Article: 2, atom.Figure: 2, atom.Hr: 2, atom.Title: 2,
	atom.Div: 1, atom.Li: 1, atom.Tr: 1, atom.Dt: 1, atom.Dd: 1, atom.Header: 1, atom.Footer: 1, atom.Main: 1, atom.Nav: 1, atom.Aside: 1, atom.Address: 1,
	atom.Form: 1, atom.Fieldset: 1, atom.Details: 1, atom.Summary: 1, atom.Figcaption: 1, atom.Caption: 1, atom.Option: 1, atom.Br: 1, atom.Body: 1,
}

// lead is what stands before the text of an element.
var lead = map[atom.Atom]string{
	atom.Title: "# ", atom.H1: "# ", atom.H2: "## ", atom.H3: "### ", atom.H4: "#### ", atom.H5: "##### ", atom.H6: "###### ", atom.Li: "- ", atom.Hr: "---", atom.Blockquote: "> ",
}

// plain is an HTML page as text: headings, lists, tables' cells and links marked, white
// space as a browser shows it. It ends soon behind limit bytes, because links are
// made longer than they are in the page.
func plain(page string, from *url.URL, limit int) string {
	p := &printer{from: from}
	z := html.NewTokenizer(strings.NewReader(page))
	for p.out.Len() <= limit && z.Next() != html.ErrorToken { // a reader of strings has no error but its end
		switch t := z.Token(); t.Type {
		case html.TextToken:
			if p.hush == 0 {
				p.text(t.Data)
			}
		case html.StartTagToken:
			p.start(t)
		case html.SelfClosingTagToken:
			p.start(t)
			p.selfClosed()
		case html.EndTagToken:
			p.end(t.DataAtom)
		}
	}
	return strings.TrimSpace(p.out.String()) + "\n"
}

// printer writes text; line ends and spaces wait until something follows them.
type printer struct {
	from *url.URL
	out  strings.Builder

	lines  int    // line ends that are due
	space  bool   // a space is due
	lead   string // what stands before the next text
	pre    int    // elements around that keep white space
	opened bool   // one was just opened: a line end that follows is not part of it
	hush   atom.Atom
	depth  int // of elements like hush in it
	cells  int // of the table's row so far
	link   string
	linkAt int // where its text begins
}

func (p *printer) start(t html.Token) {
	if p.hush != 0 {
		if t.DataAtom == p.hush {
			p.depth++
		}
		return
	}
	if silent[t.DataAtom] {
		p.hush, p.depth = t.DataAtom, 1
		return
	}
	p.lines = max(p.lines, breaks[t.DataAtom])
	switch t.DataAtom {
	case atom.Pre:
		p.pre++
		p.opened = true
	case atom.Tr:
		p.cells = 0
	case atom.Td, atom.Th:
		if p.cells++; p.cells > 1 {
			p.space = true
			p.write("|")
		}
		p.space = true
	case atom.A:
		p.link, p.linkAt = p.resolve(attribute(t, "href")), p.out.Len()
	case atom.Img:
		if alt := strings.TrimSpace(attribute(t, "alt")); alt != "" {
			p.text("[image: " + alt + "]")
		}
	}
	if mark := lead[t.DataAtom]; mark != "" {
		p.lead = mark
	}
	if t.DataAtom == atom.Hr {
		p.lead = ""
		p.write(lead[atom.Hr])
		p.lines = breaks[atom.Hr]
	}
}

// selfClosed undoes a hush that a tag like <svg/> began and ended.
func (p *printer) selfClosed() {
	if p.hush != 0 {
		if p.depth--; p.depth == 0 {
			p.hush = 0
		}
	}
}

func (p *printer) end(a atom.Atom) {
	if p.hush != 0 {
		if a == p.hush {
			p.selfClosed()
		}
		return
	}
	p.lines = max(p.lines, breaks[a])
	switch {
	case a == atom.Pre && p.pre > 0:
		p.pre--
	case a == atom.A && p.link != "":
		if shown := strings.TrimSpace(p.out.String()[p.linkAt:]); shown != "" && shown != p.link {
			p.out.WriteString(" <" + p.link + ">")
		}
		p.link = ""
	}
	if lead[a] != "" {
		p.lead = "" // an element without text
	}
}

func (p *printer) text(s string) {
	if p.pre > 0 {
		s = strings.ReplaceAll(s, "\r\n", "\n")
		if p.opened {
			s = strings.TrimPrefix(s, "\n")
		}
		p.opened = false
		p.write(s)
		return
	}
	words := strings.Fields(s)
	p.space = p.space || s != strings.TrimLeftFunc(s, unicode.IsSpace)
	for i, word := range words {
		p.space = p.space || i > 0
		p.write(word)
	}
	if len(words) > 0 {
		p.space = s != strings.TrimRightFunc(s, unicode.IsSpace)
	}
}

// write writes what is due and then s.
func (p *printer) write(s string) {
	if s == "" {
		return
	}
	switch so := p.out.String(); { // no copy
	case so == "":
	case p.lines > 0:
		for have := len(so) - len(strings.TrimRight(so, "\n")); have < p.lines; have++ {
			p.out.WriteByte('\n')
		}
	case p.space:
		p.out.WriteByte(' ')
	}
	p.out.WriteString(p.lead + s)
	p.lines, p.space, p.lead = 0, false, ""
}

// resolve makes a link absolute; "" for one that cannot be fetched.
func (p *printer) resolve(href string) string {
	to, err := p.from.Parse(strings.TrimSpace(href))
	if err != nil || href == "" || strings.HasPrefix(href, "#") || to.Scheme != "http" && to.Scheme != "https" {
		return ""
	}
	return to.String()
}

func attribute(t html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
