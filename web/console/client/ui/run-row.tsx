import { useData } from '../../../ui/data.ts'
import { duration, triggerLabel } from '../../../ui/format.ts'
import { rich } from '../../../ui/messages.ts'
import { Logo, Name, State, When } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { plainText } from './plain-text.ts'

type Run = Schemas['WorkspaceRun']
type App = Schemas['InstallationDetails']['app']

/** Apps of the workspace's agents, by the id of their installation. */
export const useApps = (): Record<string, App> => {
  const agents = useData('installations all', () =>
    unwrap(api.GET('/console/installations', { params: { query: { limit: 100 } } })),
  )
  return Object.fromEntries((agents.data?.items ?? []).map(({ id, app }) => [id, app]))
}

/** Most characters of an input's text in a list. The row cuts it off where it ends. */
const GIST = 160

/** The first text that a run was given. */
export const gistOf = ({ input }: Run): string =>
  Object.values(input)
    .find((value): value is string => typeof value === 'string' && value.trim() !== '')
    ?.slice(0, GIST) ?? ''

/** A run in a list. @param app the agent's, if it is known */
export const RunRow = ({ run, app }: { run: Run; app?: App | undefined }) => (
  <a class="row folds" href={`#/runs/${run.id}`}>
    <Logo name={app?.name ?? run.agent.id} path={app?.logo_path} />
    <span class="grow">
      <span class="line">
        <strong>
          <Name>{app?.name ?? run.agent.id}</Name>
        </strong>{' '}
        <span class="gist">
          <Name>{plainText(gistOf(run))}</Name>
        </span>
      </span>
      <span class="soft">
        {run.started_by
          ? rich('{trigger} by {name}', {
              trigger: triggerLabel(run.trigger),
              name: <Name>{run.started_by.name}</Name>,
            })
          : triggerLabel(run.trigger)}{' '}
        · <When at={run.created_at} />
        {run.duration_ms !== null && ` · ${duration(run.duration_ms)}`}
        {run.error_code && (
          <>
            {' · '}
            <code>{run.error_code}</code>
          </>
        )}
      </span>
    </span>
    <State name={run.waits_for_answer ? 'awaiting_input' : run.status} />
  </a>
)
