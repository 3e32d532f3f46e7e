import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { startCli } from '../../../support/cli.ts';
import { proves } from '../../../support/proves.ts';
import { temporaryFolderOfFile } from '../../../support/temporary-folder.ts';

const EVERYTHING = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');

const BACKENDS = `name: dev
groupRef: dev
incomingAuth: { type: anonymous }
outgoingAuth: { source: inline }
aggregation: {}
backends:
  - { name: every, transport: stdio, command: { file: "${process.execPath}", args: ["${EVERYTHING}"] } }
`;
const DEFINITION = `name: greet
parameters: { type: object, properties: { who: { type: string }, a: { type: number } }, required: [who] }
steps:
  - { id: hello, tool: every.echo, arguments: { message: "Hi {{ .params.who }}" } }
  - { id: sum, tool: every.get-sum, arguments: { a: "{{ .params.a }}", b: 2 }, condition: "{{ gt .params.a 1 }}", defaultResults: { text: none } }
  - { id: sure, type: elicitation, message: "Sure, \\"{{ .params.who }}\\"?", schema: { type: object }, dependsOn: [hello, sum] }
  - { id: last, tool: every.echo, dependsOn: [sum, sure], arguments: { message: "{{ .steps.sum.output.text }}" } }
`;

const folder = temporaryFolderOfFile('workflow');
beforeAll(async () => {
  await writeFile(join(folder, 'vmcp.yaml'), BACKENDS);
  await writeFile(join(folder, 'greet.yaml'), DEFINITION);
  await writeFile(join(folder, 'bad.yaml'), DEFINITION.replace('dependsOn: [sum, sure]', 'dependsOn: [sure, summ]'));
});

const workflow = (...args: string[]) => startCli(['vmcp', 'workflow', ...args], { cwd: folder }).finished;
const RUN = ['run', 'greet.yaml', '-c', 'vmcp.yaml', 'who=Ada', 'a=3'];

describe('toolmgr vmcp workflow run', () => {
  proves('choice.composite.run', 'runs a definition against live backends and prints each step', async () => {
    const answers = ['--answers', '{"sure":{"action":"accept","content":{}}}'];
    const { code, out, err } = await workflow(...RUN, ...answers);
    expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining('? Sure, "Ada"?') });
    expect(out).toMatch(
      /▶ greet started\n.*✔ hello every\.echo completed \d+ ms\n.*✔ last every\.echo completed \d+ ms\n✔ greet completed/s,
    );
    expect(JSON.parse(out.slice(out.indexOf('\n{')))).toEqual({ text: 'Echo: The sum of 3 and 2 is 5.' });
    const json = await workflow(...RUN, ...answers, '--format', 'json');
    expect(JSON.parse(json.out)).toMatchObject({ ok: true, output: { text: 'Echo: The sum of 3 and 2 is 5.' } });
  });

  it('exits with 5 when the workflow fails, and with 1 before anything is called', async () => {
    const unanswered = await workflow(...RUN);
    expect(unanswered.code).toBe(5);
    expect(unanswered.err).toMatch(/elicitation in step sure: .*use --answers/);
    for (const [args, says] of [
      [['run', 'greet.yaml', 'who=x'], /has no backends; give a vmcp file/],
      [['run', 'greet.yaml', '-c', 'vmcp.yaml', 'a=1'], /required property 'who'/],
      [
        ['run', 'bad.yaml', '-c', 'vmcp.yaml'],
        /bad\.yaml:7: steps\[3\]\.dependsOn\[1\]: no step has the id "summ", did you mean "sum"\?/,
      ],
      [['run', 'vmcp.yaml'], /holds no composite tool/],
    ] as const) {
      const { code, err } = await workflow(...args);
      expect(err).toMatch(says);
      expect(code).toBe(1);
    }
  });
});

describe('toolmgr vmcp workflow graph', () => {
  proves('choice.composite.graph', 'draws the steps by level, and as Mermaid', async () => {
    const drawn = await workflow('graph', 'greet.yaml');
    expect(drawn.out.split('\n')).toEqual([
      'greet',
      '┌─ level 1',
      '│  hello  every.echo',
      '│  sum    every.get-sum  (if {{ gt .params.a 1 }})',
      '├─ level 2',
      '│  sure   asks: Sure, "{{ .params.who }}"?  (after hello, sum)',
      '├─ level 3',
      '│  last   every.echo  (after sum, sure)',
      '└─ answer: the output of the last step',
      '',
    ]);
    const { out } = await workflow('graph', 'greet.yaml', '--format', 'mermaid');
    expect(out.split('\n')).toEqual([
      'flowchart TD',
      '  s0["hello<br/>every.echo"]',
      '  s1["sum<br/>every.get-sum"]',
      '  s2{{"sure<br/>asks: Sure, &quot;{{ .params.who }}&quot;?"}}',
      '  s3["last<br/>every.echo"]',
      '  s0 --> s2',
      '  s1 --> s2',
      '  s1 --> s3',
      '  s2 --> s3',
      '',
    ]);
  });
});
