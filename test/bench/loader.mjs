// Load tool for machines without wrk: keep-alive connections with one request after another on each.
// Arguments: URL CONNECTIONS SECONDS; the request (headers and body) as JSON on stdin. Prints its counts as JSON.
import { Agent, request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';

const [url = '', connections = '32', seconds = '3'] = process.argv.slice(2);
const { headers, body } = JSON.parse(await text(process.stdin));
const parts = body.split(/(?<="id":)1(?=,)|#N#/);
const agent = new Agent({ keepAlive: true, maxSockets: Number(connections) });
const endAt = performance.now() + Number(seconds) * 1000;
let requests = 0;
let failures = 0;

function one() {
  const payload = Buffer.from(parts.join(requests + 1));
  return new Promise((resolve) => {
    const asked = httpRequest(url, {
      method: 'POST',
      agent,
      headers: { ...headers, 'content-length': payload.length },
    });
    asked.on('response', (response) => {
      if (response.statusCode !== 200) failures++;
      response.on('end', resolve);
      response.resume();
    });
    asked.on('error', () => {
      failures++;
      resolve();
    });
    asked.end(payload);
    requests++;
  });
}

await Promise.all(
  Array.from({ length: Number(connections) }, async () => {
    while (performance.now() < endAt) await one();
  }),
);
agent.destroy();
console.log(JSON.stringify({ requests, failures }));
