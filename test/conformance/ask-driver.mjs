// The command that the suite starts as the client under test: hands its task to `drivers.ts`. Argument: the URL of the harness. Exit
// code 0 when all calls were answered.
import { request } from 'node:http';

const { TOOLMGR_DRIVERS: drivers, MCP_CONFORMANCE_CONTEXT: context = '{}' } = process.env;
const task = {
  harness: process.argv.at(-1),
  scenario: process.env.MCP_CONFORMANCE_SCENARIO ?? '',
  context: JSON.parse(context),
  isModern: process.env.MCP_CONFORMANCE_PROTOCOL_VERSION === '2026-07-28',
};
const sent = request(drivers, { method: 'POST' }, (answer) => {
  process.exitCode = answer.statusCode === 200 ? 0 : 1;
  answer.pipe(process.stderr);
});
sent.end(JSON.stringify(task));
