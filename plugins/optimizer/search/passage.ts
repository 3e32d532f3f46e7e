import type { ToolEntry } from '@toolmgr/core';
import { textsOf } from './read-tool.ts';

/** Models read some hundred words and drop the rest; the beginning of a description says what the tool is for. */
const MAX_PASSAGE = 1_000;

/** What is embedded of a tool: its backend, its name in words, its description. */
export function passageOf(tool: ToolEntry): string {
  const { name, backend, description } = textsOf(tool);
  return `${spoken(backend)}: ${spoken(name)}. ${description}`.slice(0, MAX_PASSAGE);
}

function spoken(identifier: string): string {
  return identifier
    .replace(/(\p{Ll})(?=\p{Lu})/gu, '$1 ')
    .replace(/[_\-./]+/g, ' ')
    .trim();
}
