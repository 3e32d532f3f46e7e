// Answers with the files of /in and their content: on standard output, or over HTTP.
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join, relative } from 'node:path';

const files = () => {
  const entries = readdirSync('/in', { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name)).sort();
  return JSON.stringify(Object.fromEntries(paths.map((path) => [relative('/in', path), readFileSync(path, 'utf8')])));
};

if (process.env.MCP_TRANSPORT === 'stdio') {
  console.log(files());
  process.stdin.resume();
} else {
  createServer((_, response) => response.end(files())).listen(Number(process.env.MCP_PORT), '0.0.0.0');
}
