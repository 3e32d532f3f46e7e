// Creates the namespaces of a node, starts a program in them, prints the number of the node and waits to be killed.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createNodeNamespace } from './kube-node-namespace.ts';

const namespace = await createNodeNamespace();
const [argument = ''] = process.argv.slice(2);
namespace.start(join(tmpdir(), `${argument}.log`), 'bash', ['-c', `read -r line < <(sleep 600); echo ${argument}`]);
process.stdout.write(`${namespace.number}\n`);
setInterval(() => undefined, 60_000);
