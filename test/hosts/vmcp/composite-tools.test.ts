import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { proves } from '../../support/proves.ts';
import { readText } from '../../support/vmcp-text.ts';

const HEAD = `name: dev
groupRef: dev
incomingAuth: { type: anonymous }
outgoingAuth: { source: inline }
aggregation: {}
`;

const read = (text: string) => readText(`${HEAD}${text}`);

describe('compositeTools of a vmcp file', () => {
  proves('choice.composite.validate', 'are checked completely, each problem with its line', async () => {
    const file = `compositeTools:
  - name: flow
    steps:
      - id: a
        tool: far.echo
        arguments:
          message: "{{ .steps.b.output.text }}"
      - id: b
        tool: far.echo
        argumets: {}
        dependsOn: [c]
      - id: d
        type: elicitation
        message: "{{ .params.x "
        schema: { type: object }
    output:
      properties:
        o: { type: text, value: x }
`;
    // problems of the schema come first, and other problems when there are none
    await expect(read(file)).rejects.toThrow(
      /^vmcp\.yaml:23: compositeTools\[0\]\.output\.properties\.o\.type: expected one of string/,
    );
    const sound = file.replace('type: text', 'type: string');
    await expect(read(sound)).rejects.toThrow(
      [
        'vmcp.yaml:15: compositeTools[0].steps[1].argumets: a step of type tool has no key "argumets", did you mean "arguments"?',
        'vmcp.yaml:16: compositeTools[0].steps[1].dependsOn[0]: no step has the id "c" (steps: a, b, d)',
        'vmcp.yaml:19: compositeTools[0].steps[2].message: invalid template: 1:',
      ].join('\n'),
    );
    const ordered = sound.replace('argumets', 'arguments').replace('[c]', '[]').replace('.params.x "', '.params.x }}"');
    await expect(read(ordered)).rejects.toThrow(
      /vmcp\.yaml:12: compositeTools\[0\]\.steps\[0\]\.arguments\.message: step "a" reads step "b"/,
    );
  });

  proves('vmcp.composite.step.type', 'use the step types of the contract and of the plugins of the file', async () => {
    const file = 'compositeTools: [{ name: flow, steps: [{ id: a, type: wait-for-noon, until: noon }] }]\n';
    await expect(read(file)).rejects.toThrow(
      'vmcp.yaml:6: compositeTools[0].steps[0].type: no step type is named "wait-for-noon" (known: tool, elicitation, forEach; others come with a plugin under plugins:)',
    );
    const own = await read(`${file}plugins: [{ use: ${join(import.meta.dirname, 'fixture/lenient.ts')} }]\n`);
    expect(own.plan.plugins.map(({ use }) => use)).toContain('composite/engine');
  });

  proves('choice.composite.any-replica', 'use the store of the sessions', async () => {
    const tools = 'compositeTools: [{ name: flow, steps: [{ id: a, tool: far.echo }] }]\n';
    const engineOf = async (more: string) => {
      const plan = (await read(`${tools}${more}`)).plan;
      return plan.plugins.find(({ use }) => use === 'composite/engine')?.with as { store?: string };
    };
    expect((await engineOf('')).store).toBeUndefined();
    expect((await engineOf('sessionStorage: { provider: memory }')).store).toBeUndefined();
    expect((await engineOf('sessionStorage: { provider: redis, address: "r:6379" }')).store).toBe('redis');
    const shared = await read(`${tools}sessionStorage: { provider: redis, address: "r:6379" }`);
    expect(shared.planWith({ stateKey: 'of all replicas' }).stateKey).toBe('of all replicas');
    expect(shared.plan.stateKey).toBeUndefined();
    const none = await read('compositeTools: []');
    expect(none.plan.plugins.map(({ use }) => use)).not.toContain('composite/engine');
  });
});
