#!/usr/bin/env node
// Stands in for the program `op` of 1Password: the commands, the JSON and the errors that toolmgr uses. It is not the program itself.
// OP_STUB_ITEMS: JSON object of references and values.
const [command, ...rest] = process.argv.slice(2);
const items = JSON.parse(process.env.OP_STUB_ITEMS ?? '{}');
const fail = (text) => {
  process.stderr.write(`[ERROR] 2026/11/22 20:00:00 ${text}\n`);
  process.exit(1);
};
if (process.env.OP_STUB_HANGS) await new Promise((resolve) => setTimeout(resolve, 60_000));
if (process.env.OP_SERVICE_ACCOUNT_TOKEN !== 'ops_good')
  fail(`Signin credentials are not compatible with the provided token ${process.env.OP_SERVICE_ACCOUNT_TOKEN}`);
if (process.env.TOOLMGR_SECRETS_PASSWORD || process.env.OTHER) fail('got more of the environment than it needs');
const references = Object.keys(items);
if (command === 'read') {
  const reference = rest.at(-1);
  if (!Object.hasOwn(items, reference))
    fail(`could not read secret '${reference}': could not get item: "x" isn't an item`);
  process.stdout.write(items[reference] + (rest.includes('--no-newline') || rest.includes('-n') ? '' : '\n'));
} else if (command === 'vault' && rest[0] === 'list') {
  process.stdout.write('[{"id":"abc","name":"vault"}]\n');
} else if (command === 'item' && rest[0] === 'list') {
  const listed = references.map((_, index) => ({
    id: `item${index}`,
    title: `Title ${index}`,
    vault: { id: 'abc', name: 'vault' },
  }));
  process.stdout.write(`${JSON.stringify(listed)}\n`);
} else if (command === 'item' && rest[0] === 'get') {
  const index = Number(rest[1].slice(4));
  const reference = references[index];
  const fields = [
    { id: 'notesPlain', label: 'notesPlain' },
    { id: 'credential', label: 'credential', value: items[reference], reference },
  ];
  process.stdout.write(`${JSON.stringify({ id: rest[1], title: `Title ${index}`, fields })}\n`);
} else fail(`unknown command "${command}" for "op"`);
