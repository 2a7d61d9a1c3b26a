// Serves the built story page under the policy of the real one.

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join } from "node:path";

export const folder = new URL("../.story/", import.meta.url).pathname;

const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; " +
  "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types dompurify";
const types = { ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };

/** Listens on a free port of this machine. */
export async function serve() {
  const server = createServer(async (request, response) => {
    const path = new URL(request.url, "http://story").pathname;
    const name = extname(path) in types ? path : "/index.html";
    try {
      const body = await readFile(join(folder, name));
      response.writeHead(200, { "content-type": types[extname(name)] ?? "text/html", "content-security-policy": policy });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  const address = `http://127.0.0.1:${server.address().port}/`;
  return { address, close: () => server.close() };
}
