const REPOSITORY = 'https://github.com/anthropics/skills';

const skillOf = (name: string, title: string, description: string) => ({
  namespace: 'io.github.anthropics',
  name,
  title,
  description,
  status: 'active',
  packages: [{ registryType: 'git', url: REPOSITORY, ref: 'main', subfolder: `skills/${name}` }],
  repository: { type: 'git', url: REPOSITORY },
});

/** Public skills. Form: "SkillRecord" of the contract. */
export const SKILLS = [
  skillOf('mcp-builder', 'MCP Builder', 'A guide to building good MCP servers in Python and TypeScript'),
  skillOf('skill-creator', 'Skill Creator', 'A guide to writing skills'),
  skillOf('webapp-testing', 'Web App Testing', 'Tests web applications on this machine with Playwright'),
];
