import type { JsonObject } from '@toolmgr/core';
import { isObject } from '@toolmgr/core';
import { printable } from '../../../shared/terminal.ts';

/** One step of the graph. */
interface GraphStep {
  readonly id: string;
  readonly shape: 'tool' | 'question' | 'list' | 'own';
  readonly label: string;
  readonly after: readonly string[];
  readonly condition: string | undefined;
  readonly level: number;
}

/** The steps as text, one line per step, grouped by level. */
export function stepTree(definition: JsonObject): string[] {
  const steps = stepsOf(definition);
  const width = Math.max(...steps.map(({ id }) => id.length));
  const levels = Math.max(...steps.map(({ level }) => level));
  const lines = [printable(String(definition.name))];
  for (let level = 1; level <= levels; level++) {
    lines.push(`${level === 1 ? '┌' : '├'}─ level ${level}`);
    for (const step of steps.filter((each) => each.level === level)) {
      const notes = [
        ...(step.after.length === 0 ? [] : [`after ${step.after.join(', ')}`]),
        ...(step.condition === undefined ? [] : [`if ${step.condition}`]),
      ];
      lines.push(
        printable(`│  ${step.id.padEnd(width)}  ${step.label}${notes.length === 0 ? '' : `  (${notes.join('; ')})`}`),
      );
    }
  }
  lines.push(`└─ answer: ${printable(answerOf(definition))}`);
  return lines;
}

/** The same as a Mermaid flowchart. */
export function mermaid(definition: JsonObject): string[] {
  const steps = stepsOf(definition);
  const node = new Map(steps.map(({ id }, index) => [id, `s${index}`]));
  return [
    'flowchart TD',
    ...steps.map(({ id, shape, label }) => {
      const [open, close] = SHAPES[shape];
      return `  ${node.get(id)}${open}"${escaped(id)}<br/>${escaped(label)}"${close}`;
    }),
    ...steps.flatMap(({ id, after, condition }) => {
      const label = condition === undefined ? '' : `|"${escaped(condition)}"|`;
      return after.map((other) => `  ${node.get(other)} -->${label} ${node.get(id)}`);
    }),
  ];
}

const SHAPES = { tool: ['[', ']'], question: ['{{', '}}'], list: ['[[', ']]'], own: ['([', '])'] } as const;

function stepsOf({ steps }: JsonObject): readonly GraphStep[] {
  const levels = new Map<string, number>();
  const given = (steps as readonly JsonObject[]).map((step) => ({
    step,
    id: String(step.id),
    after: (step.dependsOn ?? []) as readonly string[],
  }));
  // the checked definition has no cycles
  const levelOf = (id: string): number => {
    const known = levels.get(id);
    if (known !== undefined) return known;
    const after = given.find((each) => each.id === id)?.after ?? [];
    const level = 1 + Math.max(0, ...after.map(levelOf));
    levels.set(id, level);
    return level;
  };
  return given.map(({ step, id, after }) => ({
    id,
    after,
    condition: typeof step.condition === 'string' ? step.condition : undefined,
    level: levelOf(id),
    ...meaningOf(step),
  }));
}

function meaningOf(step: JsonObject): Pick<GraphStep, 'shape' | 'label'> {
  const type = step.type ?? 'tool';
  if (type === 'tool') return { shape: 'tool', label: String(step.tool) };
  if (type === 'elicitation') return { shape: 'question', label: `asks: ${firstLine(step.message)}` };
  if (type !== 'forEach') return { shape: 'own', label: String(type) };
  return { shape: 'list', label: `for each: ${isObject(step.step) ? String(step.step.tool) : ''}` };
}

function firstLine(text: unknown): string {
  const [line = ''] = String(text).split('\n');
  return line.length > MAX_TEXT ? `${line.slice(0, MAX_TEXT)}…` : line;
}

const MAX_TEXT = 60;

function answerOf({ output }: JsonObject): string {
  if (!isObject(output) || !isObject(output.properties)) return 'the output of the last step';
  return Object.keys(output.properties).join(', ');
}

/** Text inside a quoted Mermaid label. */
function escaped(text: string): string {
  return printable(text)
    .replaceAll('&', '&amp;')
    .replaceAll('"', '&quot;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('\n', ' ');
}
