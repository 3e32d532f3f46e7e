import { ENVIRONMENT } from './environment-variables.ts';
import { code, page, sentence, table } from './markdown.ts';

/** docs/reference/environment.md */
export function environmentPage(): string {
  return page('Environment variables', '`scripts/docs/environment-variables.ts`', [
    'Every environment variable that toolmgr reads. Flags and files win over variables, unless the text says something else. Which variables the programs of backends get is a list of its own: [networks](../guides/networks.md).',
    ...ENVIRONMENT.flatMap(({ title, text, variables }) => [
      `## ${title}`,
      text,
      table(
        ['variable', 'meaning'],
        Object.entries(variables).map(([name, means]) => [code(name), sentence(means)]),
      ),
    ]),
  ]);
}
