import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { safeUrl } from '../../../session/text.ts'
import { useAction } from '../../../ui/act.ts'
import { announce } from '../../../ui/announce.tsx'
import { patch, useData } from '../../../ui/data.ts'
import { Confirm } from '../../../ui/dialog.tsx'
import { bytes, count, duration, triggerLabel } from '../../../ui/format.ts'
import { part } from '../../../ui/lazy.tsx'
import { rich, t } from '../../../ui/messages.ts'
import { Problem } from '../../../ui/problem.tsx'
import { Empty, Screen, Shown } from '../../../ui/screen.tsx'
import { Name, Prose, State, When } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { followRun } from '../follow-run.ts'
import { pollNow } from '../live.ts'
import { Rendered } from '../ui/rendered.tsx'
import { Timeline, tokens } from '../ui/timeline.tsx'

const Approval = part(async () => ({ default: (await import('../ui/approval.tsx')).Approval }))
const loadActions = () => import('../ui/run-actions.tsx')
const EditInput = part(async () => ({ default: (await loadActions()).EditInput }))
const Questions = part(async () => ({ default: (await import('../ui/questions.tsx')).Questions }))

type Run = Schemas['WorkspaceRun']
type Step = Schemas['RunStep']

/** Agent that answers the main conversation. It is never installed. */
const ORCHESTRATOR = 'platform.orchestrator'

const ACTIVE = ['queued', 'running', 'awaiting_approval']

/** Adds a step, or replaces the one with the same id. */
const withStep = (steps: Step[] = [], step: Step): Step[] => {
  const others = steps.filter(({ id }) => id !== step.id)
  return [...others, step].sort((a, b) => a.seq - b.seq)
}

const isOpenQuestion = ({ type, status, output }: Step): boolean =>
  type === 'input_request' && status === 'pending' && typeof output.input_requests === 'object'

const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || Object.keys(value as object).length === 0

const Fact = ({ term, children }: { term: string; children: ComponentChildren }) => (
  <>
    <dt>{term}</dt>
    <dd>{children}</dd>
  </>
)

const Again = ({ run }: { run: Run }) => {
  const [isEditing, setEditing] = useState(false)
  const { busy, failure, act } = useAction()
  if (run.task_id) return <a href={`#/tasks/${run.task_id}`}>{t('Open the task to run it again')}</a>
  if (run.conversation_id || run.agent.id === ORCHESTRATOR) return null
  return (
    <>
      <button type="button" aria-busy={busy} onClick={() => act(async () => (await loadActions()).startAgain(run))}>
        {t('Run again')}
      </button>
      <button type="button" onClick={() => setEditing(true)}>
        {t('Edit and run')}
      </button>
      {failure && <Problem failure={failure} />}
      {isEditing && <EditInput run={run} onClose={() => setEditing(false)} />}
    </>
  )
}

const Actions = ({
  run,
  isActive,
  onChange,
}: {
  run: Run
  isActive: boolean
  onChange: (run: Partial<Run>) => void
}) => (
  <div class="actions">
    <Again run={run} />
    {run.agent.id !== ORCHESTRATOR && (
      <a class="button" href={`#/runs/${run.id}/compare`}>
        {t('Compare')}
      </a>
    )}
    <button
      type="button"
      onClick={() =>
        navigator.clipboard.writeText(location.href).then(
          () => announce(t('Link copied.')),
          () => announce(t('The browser doesn’t allow copying. Copy the address instead.')),
        )
      }
    >
      {t('Copy link')}
    </button>
    <button type="button" onClick={() => void loadActions().then(({ download }) => download(run))}>
      {t('Download JSON')}
    </button>
    {isActive && (
      <Confirm
        label={t('Cancel run')}
        title={t('Cancel this run?')}
        verb={t('Cancel run')}
        act={async () => {
          onChange(await unwrap(api.POST('/console/runs/{id}/cancel', { params: { path: { id: run.id } } })))
          announce(t('Run cancelled.'))
          pollNow()
        }}
      >
        <p>{t('The agent stops. A call that waits for approval isn’t made. What it has done already stays.')}</p>
      </Confirm>
    )}
  </div>
)

export default function RunScreen({ id }: { id: string }) {
  const key = `runs one ${id}`
  const run = useData<Run>(key, () => unwrap(api.GET('/console/runs/{id}', { params: { path: { id } } })))
  // A request to an MCP client is listed as the form in which a person can answer it.
  const forms = useData('runs questions', () =>
    unwrap(api.GET('/console/input-requests', { params: { query: { limit: 100 } } })),
  )
  const trace = useData(`runs trace ${id}`, () =>
    unwrap(api.GET('/console/runs/{id}/trace', { params: { path: { id } } })),
  )
  // The stream reports steps and states. Their times, and runs that this one caused, are then read again.
  const moved = JSON.stringify([run.data?.status, run.data?.steps?.map((step) => step.status)])
  useEffect(() => {
    const timer = setTimeout(trace.reload, 400)
    return () => clearTimeout(timer)
  }, [moved, trace.reload])
  const own = trace.data?.runs[0]
  const nameOf = ({ agent }: Run): string => own?.agent.name ?? agent.id
  const [connected, setConnected] = useState(true)
  const active = ACTIVE.includes(run.data?.status ?? '')
  useEffect(() => {
    if (!active) return
    const stop = new AbortController()
    void followRun(
      id,
      {
        step: (step) => patch<Run>(key, (now) => ({ ...now, steps: withStep(now.steps, step) })),
        state: ({ run_id: _, ...state }: Partial<Run> & { run_id?: string }) =>
          patch<Run>(key, (now) => ({ ...now, ...state })),
        gap: run.reload,
        connected: setConnected,
      },
      stop.signal,
    )
    return () => stop.abort()
  }, [id, key, active, run.reload])
  return (
    <Screen
      title={run.data ? t('Run of {name}', { name: nameOf(run.data) }) : t('Run')}
      back={{ to: '/runs', label: t('Runs') }}
      actions={
        <span role="status">
          {run.data && (
            <State name={active && run.data.steps?.some(isOpenQuestion) ? 'awaiting_input' : run.data.status} />
          )}
        </span>
      }
    >
      <Shown known={run} rows={5}>
        {(data) => {
          const pending = data.steps?.find(({ type, status }) => type === 'approval' && status === 'pending')
          return (
            <>
              {pending && active && (
                <Approval
                  key={pending.id}
                  runId={id}
                  step={pending}
                  agent={nameOf(data)}
                  onDecided={(decided) => {
                    const steps =
                      decided.status === 'awaiting_approval'
                        ? data.steps
                        : withStep(data.steps, { ...pending, status: 'done' })
                    patch<Run>(key, (now) => ({ ...now, ...decided, steps }))
                  }}
                />
              )}
              {active &&
                data.steps
                  ?.filter(isOpenQuestion)
                  .map((step) => (
                    <Questions
                      key={step.id}
                      runId={id}
                      agent={nameOf(data)}
                      questions={
                        forms.data?.items.find(({ step_id }) => step_id === step.id)?.input_requests ??
                        (step.output.input_requests as Record<string, unknown>)
                      }
                      answered={Object.keys((step.output.responses as object | undefined) ?? {})}
                      onAnswered={run.reload}
                    />
                  ))}
              {data.status === 'failed' && (
                <div class="note warn">
                  <strong>{t('This run failed.')}</strong> {data.error_code && <code>{data.error_code}</code>}
                  {data.error_message && <Prose text={data.error_message} />}
                  {data.error && (
                    <p>
                      {data.error.fix} <a href={safeUrl(data.error.docs_url)}>{t('About this error')}</a>
                    </p>
                  )}
                </div>
              )}
              {active && !connected && (
                <p class="note warn" role="status">
                  {t('Live updates were interrupted. Reconnecting…')}
                </p>
              )}
              <dl class="facts">
                <Fact term={t('Agent')}>
                  {data.agent.id === ORCHESTRATOR ? (
                    t('The platform’s assistant')
                  ) : (
                    <a href={`#/agents/${data.installation_id}`}>
                      <Name>{nameOf(data)}</Name>
                    </a>
                  )}{' '}
                  <span class="soft">
                    <code>{data.agent.id}</code> {data.agent.version}
                  </span>
                </Fact>
                <Fact term={t('Started by')}>
                  {data.started_by
                    ? rich('{trigger} by {name}', {
                        trigger: triggerLabel(data.trigger),
                        name: <Name>{data.started_by.name}</Name>,
                      })
                    : triggerLabel(data.trigger)}
                </Fact>
                {data.repeats && (
                  <Fact term={t('Repeats')}>
                    <a href={`#/runs/${data.repeats}`}>{t('an earlier run')}</a>
                  </Fact>
                )}
                <Fact term={t('Started')}>
                  <When at={data.created_at} />
                </Fact>
                {data.duration_ms !== null && <Fact term={t('Duration')}>{duration(data.duration_ms)}</Fact>}
                {data.cost_units !== null && <Fact term={t('Cost units')}>{count(data.cost_units)}</Fact>}
                {own?.tokens && <Fact term={t('Tokens')}>{tokens(own.tokens)}</Fact>}
                {own && (
                  <Fact term={t('Size')}>
                    {t('{input_bytes} in, {output_bytes} out', {
                      input_bytes: bytes(own.input_bytes),
                      output_bytes: bytes(own.output_bytes),
                    })}
                  </Fact>
                )}
                {data.parent_run_id && (
                  <Fact term={t('Part of')}>
                    <a href={`#/runs/${data.parent_run_id}`}>{t('another agent’s run')}</a>
                  </Fact>
                )}
              </dl>
              <Actions
                run={data}
                isActive={active}
                onChange={(changed) => patch<Run>(key, (now) => ({ ...now, ...changed }))}
              />
              <section class="section" aria-labelledby="steps">
                <h2 id="steps">{t('Steps')}</h2>
                {data.steps?.length || (trace.data?.runs.length ?? 0) > 1 ? (
                  <Timeline run={data} trace={trace.data} />
                ) : (
                  <Empty
                    title={
                      active ? t('No steps yet. They’ll appear here as they happen.') : t('This run had no steps.')
                    }
                  />
                )}
              </section>
              {!isEmpty(data.output) && (
                <section class="section">
                  <h2>{t('Result')}</h2>
                  <div class="card">
                    <Rendered label={t('Result')} value={data.output ?? {}} />
                  </div>
                </section>
              )}
              {!isEmpty(data.input) && (
                <details class="section">
                  <summary>{t('Input')}</summary>
                  <Rendered label={t('Input')} value={data.input} />
                </details>
              )}
            </>
          )
        }}
      </Shown>
    </Screen>
  )
}
