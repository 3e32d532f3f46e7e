// What a container may do, over HTTP: write, start programs, use memory.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';

const writes = (path) => {
  try {
    writeFileSync(path, 'x');
    return true;
  } catch {
    return false;
  }
};
const started = (count) => {
  const children = Array.from({ length: count }, () => spawn('/bin/sleep', ['60'], { stdio: 'ignore' }));
  for (const child of children) child.on('error', () => undefined);
  return children.filter(({ pid }) => pid !== undefined).length;
};
const eaten = [];

createServer(({ url }, response) => {
  // bounded, because this machine pays when there is no limit
  if (url === '/eat') for (let mib = 0; mib < 320; mib += 8) eaten.push(Buffer.alloc(8 * 1024 * 1024, 1));
  const answer = url === '/start' ? started(100) : { root: writes('/app/x'), tmp: writes('/tmp/x') };
  response.end(JSON.stringify(answer));
}).listen(Number(process.env.MCP_PORT), '0.0.0.0');
