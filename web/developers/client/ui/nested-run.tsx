import { useState } from 'preact/hooks'
import { useData } from '../../../ui/data.ts'
import { duration } from '../../../ui/format.ts'
import { rich, t } from '../../../ui/messages.ts'
import { Shown } from '../../../ui/screen.tsx'
import { State } from '../../../ui/text.tsx'
import type { SandboxSchemas } from '../sandbox.ts'
import { findAppOfRun, findRun } from './find-run.ts'
import { Timeline } from './timeline.tsx'

/** Levels of nesting that are opened in place. An agent can call agents three levels deep. */
const DEEPEST = 3

const Loaded = ({ app, id, depth }: { app: string; id: string; depth: number }) => {
  const known = useData(`nested ${id}`, async () => {
    const owner = await findAppOfRun(app, id)
    return owner ? { owner, ...(await findRun(owner, id)) } : { owner: undefined, log: undefined, run: undefined }
  })
  return (
    <Shown known={known} rows={1}>
      {({ owner, log, run }) =>
        owner === undefined ? (
          <p class="soft">{t('The run belongs to another developer’s agent, or hasn’t ended yet.')}</p>
        ) : (
          <>
            <p>
              <State name={run?.status ?? log?.status ?? ''} />{' '}
              <span class="soft">{duration(run?.duration_ms ?? log?.duration_ms ?? 0)}</span>{' '}
              <a href={`#/apps/${owner}/runs/${id}`}>{t('Open the run')}</a>
            </p>
            {run && <RunTimeline run={run} app={owner} depth={depth} />}
          </>
        )
      }
    </Shown>
  )
}

/** A run that a step started, with its own timeline on request. */
const NestedRun = ({ app, id, depth }: { app: string; id: string; depth: number }) => {
  const [isOpen, setOpen] = useState(false)
  if (depth >= DEEPEST) return <p class="nested soft">{t('Started another run.')}</p>
  return (
    <details class="nested" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{rich('Started another run {id}', { id: <code>{id}</code> })}</summary>
      {isOpen && <Loaded app={app} id={id} depth={depth + 1} />}
    </details>
  )
}

/** A run’s timeline. Runs that its steps started can be opened in place. */
export const RunTimeline = ({ run, app, depth = 0 }: { run: SandboxSchemas['Run']; app: string; depth?: number }) => (
  <Timeline
    run={run}
    label={depth === 0 ? t('Timeline') : t('Timeline of the run that was started')}
    nested={(id) => <NestedRun app={app} id={id} depth={depth} />}
  />
)
