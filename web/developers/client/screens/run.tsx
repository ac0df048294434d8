import { useEffect } from 'preact/hooks'
import { useAction } from '../../../ui/act.ts'
import { useData } from '../../../ui/data.ts'
import { duration, fullTime, triggerLabel } from '../../../ui/format.ts'
import { rich, t } from '../../../ui/messages.ts'
import { Problem } from '../../../ui/problem.tsx'
import { Empty, Shown } from '../../../ui/screen.tsx'
import { Json, Name, State } from '../../../ui/text.tsx'
import { openSandbox } from '../open-sandbox.ts'
import { AppScreen } from '../ui/app-screen.tsx'
import { Exchanges } from '../ui/exchange.tsx'
import { type FoundRun, findRun } from '../ui/find-run.ts'
import { RunTimeline } from '../ui/nested-run.tsx'
import { may } from '../ui/roles.ts'
import { RunError } from '../ui/run-error.tsx'

/** Pause between looks at a run in progress, in milliseconds. */
const LOOK_MS = 1_500

/** A run that waits for a person continues when the stand-in customer decides. */
const Waiting = ({ id }: { id: string }) => {
  const { busy, failure, act } = useAction()
  return (
    <div class="note">
      <p>
        {rich('<strong>A customer has to decide.</strong> In the sandbox, that can be you.', {
          strong: (text) => <strong>{text}</strong>,
        })}
      </p>
      {failure && <Problem failure={failure} />}
      {may('POST /api/v1/dev/sandbox/session') && (
        <button type="button" aria-busy={busy} onClick={() => act(() => openSandbox('customer', `/runs/${id}`))}>
          {t('Decide as a customer')}
        </button>
      )}
    </div>
  )
}

const Facts = ({ log, run }: FoundRun) => {
  const version = run?.agent.version ?? log?.version ?? ''
  const took = run?.duration_ms ?? log?.duration_ms
  return (
    <dl class="facts">
      <dt>{t('Run')}</dt>
      <dd>
        <code>{run?.id ?? log?.run_id}</code>
      </dd>
      <dt>{t('Started by')}</dt>
      <dd>
        {triggerLabel(run?.trigger ?? log?.trigger ?? '')}
        {run?.parent_run_id && rich(', within {parent_run_id}', { parent_run_id: <code>{run.parent_run_id}</code> })}
      </dd>
      <dt>{t('Version')}</dt>
      <dd>
        <Name>{version}</Name>
      </dd>
      <dt>{t('Created')}</dt>
      <dd>{fullTime(run?.created_at ?? log?.created_at ?? '')}</dd>
      {took !== null && took !== undefined && (
        <>
          <dt>{t('Duration')}</dt>
          <dd>{duration(took)}</dd>
        </>
      )}
      {log?.request_id && (
        <>
          <dt>{t('Request')}</dt>
          <dd>
            <code>{log.request_id}</code>
          </dd>
        </>
      )}
      <dt>{t('Installation')}</dt>
      <dd>
        <code>{run?.installation_id ?? log?.installation_id}</code>
      </dd>
    </dl>
  )
}

export default function RunScreen({ id, run: runId }: { id: string; run: string }) {
  const known = useData(`app ${id} run ${runId}`, () => findRun(id, runId))
  const isActive = known.data?.run !== undefined && known.data.run.finished_at === null
  useEffect(() => {
    if (!isActive) return
    const timer = setInterval(known.reload, LOOK_MS)
    return () => clearInterval(timer)
  }, [isActive, known.reload])
  return (
    <AppScreen id={id} title={t('Run')}>
      {() => (
        <Shown known={known} rows={4}>
          {({ log, run }) =>
            log || run ? (
              <>
                <div class="head">
                  <h2>
                    {t('Run')} <State name={run?.status ?? log?.status ?? ''} />
                  </h2>
                  {run && may('POST /api/v1/dev/apps/{id}/test-run') && (
                    <a class="button" href={`#/apps/${id}/test?run=${runId}`}>
                      {t('Run again in the sandbox')}
                    </a>
                  )}
                </div>
                {run?.status === 'awaiting_approval' && <Waiting id={run.id} />}
                {run && <RunError run={run} />}
                {!run && log?.error_code && (
                  <div class="problem">
                    <p>
                      <strong>{t('This run failed.')}</strong> <code>{log.error_code}</code>
                    </p>
                  </div>
                )}
                <Facts log={log} run={run} />
                {run ? (
                  <>
                    <section class="section">
                      <h2>{t('Timeline')}</h2>
                      <RunTimeline run={run} app={id} />
                    </section>
                    <section class="section">
                      <h2>{t('Input')}</h2>
                      <Json label={t('Input')} value={run.input} />
                    </section>
                    {run.output && (
                      <section class="section">
                        <h2>{t('Result')}</h2>
                        <Json label={t('Result')} value={run.output} />
                      </section>
                    )}
                    <Exchanges app={id} run={run.id} />
                  </>
                ) : (
                  <p class="note">
                    {rich(
                      'Customers’ runs show metadata only. <link>Try the same in the sandbox</link> to see each step.',
                      { link: (text) => <a href={`#/apps/${id}/test`}>{text}</a> },
                    )}
                  </p>
                )}
              </>
            ) : (
              <Empty title={t('No such run')}>
                <p>{t('Runs stay in the log for 30 days.')}</p>
              </Empty>
            )
          }
        </Shown>
      )}
    </AppScreen>
  )
}
