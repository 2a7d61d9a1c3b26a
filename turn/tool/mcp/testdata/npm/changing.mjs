// An MCP server made with the official TypeScript SDK whose list of tools changes
// while it runs: "add" registers "added", "remove" takes it away again.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";

const server = new McpServer({ name: "changing", version: "1.0.0" });
const say = (text) => ({ content: [{ type: "text", text }] });
let added;

server.registerTool("add", { description: "Registers the tool added." }, async () => {
  added ??= server.registerTool("added", { description: "Is there." }, async () => say("here"));
  return say("ok");
});
server.registerTool("remove", { description: "Removes the tool added." }, async () => {
  added?.remove();
  added = undefined;
  return say("ok");
});

await server.connect(new StdioServerTransport());
