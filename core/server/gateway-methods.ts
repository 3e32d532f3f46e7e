/** Requests that the gateway answers, whatever the era they come in. */
export const HOUSE_METHODS: ReadonlySet<string> = new Set([
  'tools/call',
  'tools/list',
  'prompts/get',
  'prompts/list',
  'resources/read',
  'resources/list',
  'resources/templates/list',
  'completion/complete',
]);
