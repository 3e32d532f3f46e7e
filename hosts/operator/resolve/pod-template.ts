import { isObject } from '@toolmgr/core';

/** Lists of a pod whose items have a name. */
const NAMED_LISTS = ['containers', 'initContainers', 'volumes', 'imagePullSecrets'];

/** Why a patch of the pod template cannot be applied, beginning with the path; `undefined` when nothing is wrong with its form. */
export function podTemplateProblem(template: unknown): string | undefined {
  if (!isObject(template)) return ': expected an object';
  const unknown = Object.keys(template).find((key) => key !== 'metadata' && key !== 'spec');
  if (unknown !== undefined) return `.${unknown}: unknown, expected metadata or spec`;
  for (const key of ['metadata', 'spec'] as const) {
    if (template[key] !== undefined && !isObject(template[key])) return `.${key}: expected an object`;
  }
  const { metadata, spec } = template;
  for (const key of ['labels', 'annotations']) {
    const texts = isObject(metadata) ? metadata[key] : undefined;
    if (texts === undefined) continue;
    if (!isObject(texts) || Object.values(texts).some((text) => typeof text !== 'string')) {
      return `.metadata.${key}: expected texts by name`;
    }
  }
  if (!isObject(spec)) return undefined;
  return NAMED_LISTS.map((key) => listProblem(key, spec[key])).find((problem) => problem !== undefined);
}

function listProblem(key: string, list: unknown): string | undefined {
  if (list === undefined) return undefined;
  if (!Array.isArray(list)) return `.spec.${key}: expected a list`;
  const index = list.findIndex((each: unknown) => !isObject(each) || typeof each.name !== 'string' || each.name === '');
  return index === -1 ? undefined : `.spec.${key}[${index}].name: missing, expected a text`;
}
