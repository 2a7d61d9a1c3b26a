// The highlighter, with the languages that are worth their bytes. It runs in idle time.

import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

const languages = { bash, css, diff, go, ini, javascript, json, python, rust, sql, typescript, xml, yaml };

for (const [name, language] of Object.entries(languages)) {
  hljs.registerLanguage(name, language);
}

/** Longer code is not highlighted: characters. */
const maxHighlight = 50_000;

/** Markup of code, every character of it escaped; null where there is nothing to colour. */
export function highlight(text: string, lang: string): string | null {
  if (text.length > maxHighlight || !hljs.getLanguage(lang)) {
    return null;
  }
  return hljs.highlight(text, { language: lang, ignoreIllegals: true }).value;
}
