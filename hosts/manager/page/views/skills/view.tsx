import type { JSX } from 'preact';
import { linkTo } from '../../app/router.ts';
import type { ViewProps } from '../../app/view-props.ts';
import { InstalledSkills } from './installed-skills.tsx';
import { ProjectSkills } from './project-skills.tsx';
import { SkillSearch } from './skill-search.tsx';

const TABS = [
  ['installed', 'Installed'],
  ['search', 'Search'],
  ['project', 'Project'],
] as const;

/** Skills: what is installed, what the registry has, and those of a project. */
export function view({ query, offer }: ViewProps): JSX.Element {
  const tab = query.get('tab') ?? 'installed';
  return (
    <>
      <div class="title">
        <h1>Skills</h1>
      </div>
      <nav class="tabs" aria-label="Parts of skills">
        {TABS.map(([id, title]) => (
          <a
            key={id}
            href={linkTo('skills', [], id === 'installed' ? {} : { tab: id })}
            aria-current={id === tab ? 'page' : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      {tab === 'installed' && <InstalledSkills offer={offer} />}
      {tab === 'search' && <SkillSearch offer={offer} />}
      {tab === 'project' && <ProjectSkills offer={offer} />}
    </>
  );
}
