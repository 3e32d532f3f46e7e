import type { Section } from '../section.ts';

/** Decisions about authorization with Cedar policies. */
export const authorization = [
  {
    source: 'choice: authorization',
    says: {
      'choice.authorization.default-deny': 'what no policy permits is denied, a caller without a subject too',
      'choice.authorization.forbid-wins': 'a forbid wins over any permit',
      'choice.authorization.failing-policy-denies':
        'a policy that fails denies whatever others permit, and the log names it',
      'choice.authorization.group-claims':
        'groups come from the first of groups, roles and cognito:groups that is there, by name or dotted path',
      'choice.authorization.attributes':
        'claims, arguments, names, origin and hints are attributes as the entity model has them',
      'choice.authorization.entities':
        'principals, actions, resources and their parents are as the entity model has them; a request wins over entitiesJson',
      'choice.authorization.look-alike-argument-denies':
        'an argument whose name differs only by case from one that a policy reads denies the call',
      'choice.authorization.dot-segments-denied':
        'a listed URI that has another spelling (dot or empty segments, control characters, needless encodings, an authority that URL parsers change) is denied where a policy matches URIs with a pattern',
      'choice.authorization.unreadable-denies':
        'a claim or argument that a policy reads and Cedar cannot hold denies; nothing is rounded or cut',
      'choice.authorization.containers-deny':
        'an array or object denies where a policy that may apply reads a single value of that name',
      'choice.authorization.other-type-denies':
        'a value of another type than the policy compares it with denies, because servers convert values',
      'choice.authorization.large-values-deny':
        'an argument over 64 KiB that a policy reads denies where this policy may apply, and is not evaluated',
      'choice.authorization.evaluation-budget':
        'the more policies read an argument, the smaller it may be, so that no evaluation takes long',
      'choice.authorization.lists-unknown-arguments':
        'lists show what some arguments could pass, so an unguarded argument hides nothing',
      'choice.authorization.unlisted-is-refused': 'what a caller does not see is refused with whatever arguments',
      'choice.authorization.refusal-words': 'a denial is 403 and names only the kind: call, prompt or read',
      'choice.authorization.decision-log':
        'every denial is a line with the ids of its policies, bounded per second; no claim or argument stands in it',
      'choice.authorization.found-at-start':
        'bad policies, bad entities and unknown actions are refused at the start with path and position',
      'choice.authorization.large-lists':
        'a list of 5,000 tools is filtered in turns, and kept: callers whom no policy tells apart share it',
      'choice.authorization.inner-calls':
        'inner calls are decided under the real name; an entry that only leads to others needs no permit',
      'choice.authorization.approval-each-call':
        'a call that only a permit with @approval permits is made after the person behind the client agreed, each time, in both revisions',
      'choice.authorization.approval-inner-calls':
        'steps of composite tools, call_tool and scripts need the approval too, whatever their arguments',
      'choice.authorization.approval-once':
        'an approval is used once: by parallel requests, after a reload, over replicas with one Redis',
      'choice.authorization.approval-as-shown':
        'an approval holds for the tool and the arguments that the person was shown, all of them and as they are',
      'choice.authorization.approval-denied':
        'a call is refused when the person declines or cannot be asked, and for prompts and resources',
      'choice.authorization.approval-misplaced': 'an annotation @approval that would have no effect is an error',
      'choice.authorization.destructive-once':
        'the plugin confirmation asks before the first call of a destructive tool, once per tool and session',
      'choice.authorization.ways-in-forbidden':
        'execute_tool_script, find_tool and call_tool are refused by a forbid that names them or looks at the caller alone',
    },
  },
] as const satisfies readonly Section[];
