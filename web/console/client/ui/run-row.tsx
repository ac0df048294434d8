import { duration, triggerLabel } from '../../../ui/format.ts'
import { rich } from '../../../ui/messages.ts'
import { Name, State, When } from '../../../ui/text.tsx'
import type { Schemas } from '../api.ts'

type Run = Schemas['WorkspaceRun']

/** A run in a list. @param name the agent's name, if it is known */
export const RunRow = ({ run, name }: { run: Run; name?: string | undefined }) => (
  <a class="row folds" href={`#/runs/${run.id}`}>
    <span class="grow">
      <strong>
        <Name>{name ?? run.agent.id}</Name>
      </strong>
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
    <State name={run.status} />
  </a>
)
