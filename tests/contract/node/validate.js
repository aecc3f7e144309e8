// Prints what AsyncAPI's own parser has to say about a document: a JSON list.
// Severity: 0 error, 1 warning, 2 information, 3 hint.
import { readFileSync } from "node:fs";
import parser from "@asyncapi/parser";

const text = readFileSync(process.argv[2], "utf8");
const { document, diagnostics } = await new parser.Parser().parse(text);
const said = diagnostics.map(({ code, message, path, severity }) => ({
  code,
  message,
  path: path.join("."),
  severity,
}));
const messages = document ? document.messages().all().map((message) => message.id()) : [];
console.log(JSON.stringify({ diagnostics: said, messages }));
