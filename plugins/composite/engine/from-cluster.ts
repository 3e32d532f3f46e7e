import type { FromCluster, Rule } from '@toolmgr/plugins/kit/kubernetes';

/** Bounds the cost of rules of their steps. */
const MAX_TOOLS = 500;

/** A step needs the key when the type is given, or also without a type. */
function needs(key: string, type: string, isDefault = false): Rule {
  const isOther = isDefault
    ? `(has(self.type) && self.type != '${type}')`
    : `!has(self.type) || self.type != '${type}'`;
  return {
    rule: `${isOther} || has(self.${key})`,
    message: `${key} is required when type is ${type}${isDefault ? ', the default' : ''}`,
    fieldPath: `.${key}`,
    reason: 'FieldValueRequired',
  };
}

/** The keys that the built-in types of steps need; rules cannot read `schema`, which is any JSON. Source: vmcp spec §2 compositeTools. */
export const rules: FromCluster['rules'] = {
  within: {
    '': { maxItems: MAX_TOOLS, listMapKeys: ['name'] },
    '[].steps': { listMapKeys: ['id'] },
    '[].steps.[]': {
      rules: [
        needs('tool', 'tool', true),
        needs('message', 'elicitation'),
        needs('collection', 'forEach'),
        needs('step', 'forEach'),
      ],
    },
  },
};
