import type { Section } from '../section.ts';

/** Scripts over tools: their language, what they find, what they cannot do. */
export const codeMode = [
  {
    source: 'choice: code mode (decision 022)',
    says: {
      'choice.code-mode.javascript': 'scripts are JavaScript in QuickJS',
      'choice.code-mode.inner-names': 'inner calls are decided and limited under the real name of the tool',
      'choice.code-mode.places':
        'a tool is a member of its backend, a function of its full name, and reached by callTool',
      'choice.code-mode.values': 'a script gets structured content, else the first text, parsed when it is JSON',
      'choice.code-mode.failures': 'a failure, an error and a refusal of a tool are thrown in the script',
      'choice.code-mode.failure-text': 'a script that fails is an isError result that names the line',
      'choice.code-mode.logs': 'console lines come back with a result and with a failure',
      'choice.code-mode.parallel-fails': 'the first error of parallel() is thrown when all siblings have ended',
      'choice.code-mode.only-permitted': 'a script sees and reaches only what the lists of its caller show',
      'choice.code-mode.unknown-names':
        'a name that means nothing is answered with the nearest that the caller may use',
      'choice.code-mode.arguments': 'arguments that are no script are refused by name',
      'choice.code-mode.cancelled': 'a script stops with its client, and its calls with it',
      'choice.code-mode.memory-limit': 'many small allocations end at memoryBytes, not at two gigabytes',
      'choice.code-mode.recursion': 'deep recursion is an error of the script, not of the host',
      'choice.code-mode.step-unit': 'stepLimit counts branches and calls, looked at every ten thousand',
      'choice.code-mode.native-steps': 'work inside one built-in counts as steps: one for each 10 microseconds',
      'choice.code-mode.processors':
        'scripts compute on the processors of the machine less one; one that waits for its tools takes none',
      'choice.code-mode.cpu-budget':
        'the scripts of one caller compute for cpuPerCaller in each cpuWindow, then they end and new ones are refused',
      'choice.code-mode.wall-clock': 'a script ends at scriptTimeout whatever it does',
      'choice.code-mode.instance-per-script': 'every script has an engine and a memory of its own',
      'choice.code-mode.queue': 'threads and waiting scripts are limited, and one caller cannot fill the queue',
      'choice.code-mode.event-loop': 'scripts that spin hold up no call of others',
      'choice.code-mode.arguments-undecoded':
        'the gateway decodes no arguments of a call whose tool is unknown to the script',
      'choice.code-mode.declarations':
        'the description declares the tools of its caller as TypeScript within descriptionChars',
      'choice.code-mode.reserved-name': 'a tool of a backend named execute_tool_script is dropped with a warning',
    },
  },
] as const satisfies readonly Section[];
