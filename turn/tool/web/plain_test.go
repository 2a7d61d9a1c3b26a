package web

import (
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

var page = &url.URL{Scheme: "https", Host: "page.test", Path: "/dir/page"}

// Guarantee 5.
func TestAPageIsReadableText(t *testing.T) {
	for in, want := range map[string]string{
		"":                      "\n",
		"just  text\n here":     "just text here\n",
		"<p>one<p>two</p>three": "one\n\ntwo\n\nthree\n",
		"a<b>b</b>c <i> d</i>":  "abc d\n",
		"a &amp; b &lt;p&gt; &eacute;&#x1F600;&nbsp;c": "a & b <p> é😀 c\n",
		"<head><title> The\n page </title><style>p{}</style><script>if (a</p>b) {}</script></head><body><h1>Head</h1><h2>Sub <em>head</em></h2>text": "# The page\n\n# Head\n\n## Sub head\n\ntext\n",
		"<ul><li>one<li> <a href='/x'>two</a></ul>after":                                                                  "- one\n- two <https://page.test/x>\n\nafter\n",
		"<ol><li><p>one</p></li><li></li><li>two</li></ol>":                                                               "- one\n\n- two\n",
		"<a href=rel?a=1&amp;b=2#f>there</a>, <a href='#up'>up</a>, <a href='javascript:x()'>js</a>, <a href=''>none</a>": "there <https://page.test/dir/rel?a=1&b=2#f>, up, js, none\n",
		"<a href='https://page.test/x'>https://page.test/x</a>":                                                           "https://page.test/x\n",
		"<a href=/x><img alt=' A  cat '></a><img src=y>":                                                                  "[image: A cat] <https://page.test/x>\n",
		"<table><tr><th>a<th>b<tr><td>1</td><td></td><td>3</td></table>":                                                  "a | b\n1 | | 3\n",
		"<pre>  if a {\n\tb\n  }\n</pre>next":                                                                             "if a {\n\tb\n  }\n\nnext\n",
		"x<pre>\n  a\r\n  b</pre>":                                                                                        "x\n\n  a\n  b\n",
		"one<br>two<br/><br />three<hr>four":                                                                              "one\ntwo\nthree\n\n---\n\nfour\n",
		"<svg><title>no</title><svg>no</svg>no</svg>yes<svg/> and <template><p>no</template>yes":                          "yes and yes\n",
		"<script>no</script><noscript>no</noscript><!-- no -->yes<![CDATA[ no ]]>":                                        "yes\n",
		"<blockquote>said</blockquote>":                                                                                   "> said\n",
		"<div><div>a</div></div><div>b</div>":                                                                             "a\nb\n",
		"</p></pre></a></div>text</li>":                                                                                   "text\n",
		"<p>open <b>never <a href=/x>closed":                                                                              "open never closed\n",
		"<h1></h1>text":                                                                                                   "text\n",
	} {
		if got := plain(in, page, 1<<20); got != want {
			t.Errorf("%s\n got %q\nwant %q", in, got, want)
		}
	}
}

// Guarantee 4: a page of short links, from an address that makes each of them long.
func TestLinksDoNotMakeATextLarge(t *testing.T) {
	from := &url.URL{Scheme: "https", Host: "page.test", Path: "/" + strings.Repeat("x", 60<<10)}
	if got := plain(strings.Repeat("<a href=?>x</a>", 300_000), from, maxText); len(got) > maxText+len(from.Path)+100 {
		t.Errorf("%d bytes", len(got))
	}
}

func FuzzPlain(f *testing.F) {
	f.Add("<pre>\n<a href='x'>é</pre><table><td><svg/>&#0;")
	f.Fuzz(func(t *testing.T, in string) {
		if got := plain(in, page, 1<<10); utf8.ValidString(in) && !utf8.ValidString(got) {
			t.Errorf("%q became %q", in, got)
		}
	})
}

func BenchmarkPlain(b *testing.B) {
	in := strings.Repeat("<div><p>Some <b>text</b> with a <a href='/link'>link</a> &amp; more.</p><ul><li>one<li>two</ul></div>\n", 10_000)
	b.ReportAllocs()
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		plain(in, page, 1<<30)
	}
}
