// An MCP server that tells long texts when it fails: the argument says how.
import { createInterface } from 'node:readline';

const LONG = 'E'.repeat(500_000);
if (process.argv[2] === 'lines') {
  process.stderr.write(`${LONG}\n`, () => process.exit(3));
} else {
  createInterface({ input: process.stdin }).on('line', (line) => {
    const { id } = JSON.parse(line);
    if (id === undefined) return;
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32603, message: LONG } })}\n`);
  });
}
