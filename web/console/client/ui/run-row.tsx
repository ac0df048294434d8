import { duration, triggerLabel } from '../../../ui/format.ts'
import { t } from '../../../ui/messages.ts'
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
        {triggerLabel(run.trigger)}
        {run.started_by && (
          <>
            {t(' by ')}
            <Name>{run.started_by.name}</Name>
          </>
        )}{' '}
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
