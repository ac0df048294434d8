import { useEffect, useState } from 'preact/hooks'
import { safeUrl } from '../../../session/text.ts'
import { announce } from '../../../ui/announce.tsx'
import { patch, useData } from '../../../ui/data.ts'
import { Confirm } from '../../../ui/dialog.tsx'
import { duration, humanize, triggerLabel } from '../../../ui/format.ts'
import { Empty, Screen, Shown } from '../../../ui/screen.tsx'
import { Name, Prose, State, When } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { followRun } from '../follow-run.ts'
import { pollNow } from '../live.ts'
import { Approval } from '../ui/approval.tsx'
import { Questions } from '../ui/questions.tsx'
import { Value } from '../ui/tree.tsx'

type Run = Schemas['Run']
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

const percent = (share: number): string => `${(Math.min(Math.max(share, 0), 1) * 100).toFixed(2)}%`

/** Who decided on a call, when and why. */
const Decided = ({ runId, stepId }: { runId: string; stepId: string }) => {
  const { data } = useData(`runs decided ${stepId}`, () =>
    unwrap(
      api.GET('/console/runs/{id}/steps/{step}/approval', {
        params: { path: { id: runId, step: stepId }, query: { offset: 0 } },
      }),
    ),
  )
  if (!data?.decision) return null
  const { by, on_behalf_of, at, comment, approved_before_by: first } = data.decision
  return (
    <p>
      {data.status === 'rejected' ? 'Rejected' : 'Approved'}{' '}
      {by ? (
        <>
          by{' '}
          {first.map((one) => (
            <>
              <Name>{one.by.name}</Name> and{' '}
            </>
          ))}
          <Name>{by.name}</Name>
          {on_behalf_of && (
            <>
              {' for '}
              <Name>{on_behalf_of.name}</Name>
            </>
          )}
        </>
      ) : (
        'because nobody decided in time'
      )}
      , <When at={at} />
      {comment && (
        <>
          : <Prose text={comment} />
        </>
      )}
    </p>
  )
}

/** A step, with a bar that says when in the run it was and how long until the next one. */
const StepItem = ({
  runId,
  step,
  from,
  until,
  run,
}: {
  runId: string
  step: Step
  from: number
  until: number
  run: [number, number]
}) => {
  const { text, ...rest } = step.output as { text?: unknown }
  const [start, end] = run
  const whole = Math.max(end - start, 1)
  return (
    <li class={step.status}>
      <div class="top-line">
        <strong>{step.tool ? <code>{step.tool}</code> : humanize(step.type)}</strong>
        {step.status !== 'done' && <State name={step.status} />}
        <span class="soft">
          <When at={step.created_at} /> · after {duration(from - start)}
          {until > from && `, ${duration(until - from)} until the next`}
        </span>
      </div>
      <div class="bar" aria-hidden="true">
        <span
          style={{
            left: `min(${percent((from - start) / whole)}, 100% - 3px)`,
            width: percent((until - from) / whole),
          }}
        />
      </div>
      {step.type === 'approval' && step.status !== 'pending' && <Decided runId={runId} stepId={step.id} />}
      {typeof text === 'string' && <Prose text={text} />}
      {!isEmpty(rest) && (
        <details>
          <summary>Details</summary>
          <Value label={`Details of step ${step.seq}`} value={rest} />
        </details>
      )}
    </li>
  )
}

/** Steps with the times between which each one ran: until the next one, the run's end or now. */
const timed = (run: Run): { step: Step; from: number; until: number; run: [number, number] }[] => {
  const steps = run.steps ?? []
  const times = steps.map(({ created_at }) => Date.parse(created_at))
  const start = Date.parse(run.created_at)
  const end = Math.max(run.finished_at ? Date.parse(run.finished_at) : 0, start, ...times)
  return steps.map((step, i) => ({
    step,
    from: times[i] ?? start,
    until: Math.max(times[i + 1] ?? end, times[i] ?? start),
    run: [start, end],
  }))
}

/** Saves a run with its steps as a file. */
const download = (run: Run): void => {
  const url = URL.createObjectURL(new Blob([JSON.stringify(run, null, 2)], { type: 'application/json' }))
  const link = document.createElement('a')
  link.href = url
  link.download = `${run.id}.json`
  link.click()
  URL.revokeObjectURL(url)
}

const Actions = ({ run, isActive, onChange }: { run: Run; isActive: boolean; onChange: (run: Run) => void }) => (
  <div class="actions">
    <button
      type="button"
      onClick={() =>
        navigator.clipboard.writeText(location.href).then(
          () => announce('Link copied.'),
          () => announce('The browser doesn’t allow copying. Copy the address instead.'),
        )
      }
    >
      Copy link
    </button>
    <button type="button" onClick={() => download(run)}>
      Download JSON
    </button>
    {isActive && (
      <Confirm
        label="Cancel run"
        title="Cancel this run?"
        verb="Cancel run"
        act={async () => {
          onChange(await unwrap(api.POST('/console/runs/{id}/cancel', { params: { path: { id: run.id } } })))
          announce('Run cancelled.')
          pollNow()
        }}
      >
        <p>The agent stops. A call that waits for approval isn’t made. What it has done already stays.</p>
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
      title={run.data ? `Run of ${run.data.agent.id}` : 'Run'}
      back={{ to: '/runs', label: 'Runs' }}
      actions={run.data && <State name={run.data.status} />}
    >
      <Shown known={run} rows={5}>
        {(data) => {
          const pending = data.steps?.find(({ type, status }) => type === 'approval' && status === 'pending')
          return (
            <>
              {pending && data.status === 'awaiting_approval' && (
                <Approval
                  key={pending.id}
                  runId={id}
                  step={pending}
                  agent={data.agent.id}
                  onDecided={(decided) => patch<Run>(key, (now) => ({ ...now, ...decided }))}
                />
              )}
              {active &&
                data.steps
                  ?.filter(isOpenQuestion)
                  .map((step) => (
                    <Questions
                      key={step.id}
                      runId={id}
                      agent={data.agent.id}
                      questions={
                        forms.data?.items.find(({ step_id }) => step_id === step.id)?.input_requests ??
                        (step.output.input_requests as Record<string, unknown>)
                      }
                      answered={Object.keys((step.output.responses as object | undefined) ?? {})}
                      onAnswered={() => void run.reload()}
                    />
                  ))}
              {data.status === 'failed' && (
                <div class="note warn">
                  <strong>This run failed.</strong> {data.error_code && <code>{data.error_code}</code>}
                  {data.error_message && <Prose text={data.error_message} />}
                  {data.error && (
                    <p>
                      {data.error.fix} <a href={safeUrl(data.error.docs_url)}>About this error</a>
                    </p>
                  )}
                </div>
              )}
              {active && !connected && (
                <p class="note warn" role="status">
                  Live updates were interrupted. Reconnecting…
                </p>
              )}
              <dl class="facts">
                <dt>Agent</dt>
                <dd>
                  {data.agent.id === ORCHESTRATOR ? (
                    'The platform’s assistant'
                  ) : (
                    <a href={`#/agents/${data.installation_id}`}>
                      <Name>{data.agent.id}</Name>
                    </a>
                  )}{' '}
                  <span class="soft">{data.agent.version}</span>
                </dd>
                <dt>Started by</dt>
                <dd>{triggerLabel(data.trigger)}</dd>
                <dt>Started</dt>
                <dd>
                  <When at={data.created_at} />
                </dd>
                {data.duration_ms !== null && (
                  <>
                    <dt>Duration</dt>
                    <dd>{duration(data.duration_ms)}</dd>
                  </>
                )}
                {data.cost_units !== null && (
                  <>
                    <dt>Cost units</dt>
                    <dd>{data.cost_units}</dd>
                  </>
                )}
                {data.parent_run_id && (
                  <>
                    <dt>Part of</dt>
                    <dd>
                      <a href={`#/runs/${data.parent_run_id}`}>another agent’s run</a>
                    </dd>
                  </>
                )}
              </dl>
              <Actions
                run={data}
                isActive={active}
                onChange={(changed) => patch<Run>(key, (now) => ({ ...now, ...changed }))}
              />
              <section class="section" aria-labelledby="steps">
                <h2 id="steps">Steps</h2>
                {data.steps?.length ? (
                  <ol class="steps" aria-live="polite" aria-relevant="additions">
                    {timed(data).map((one) => (
                      <StepItem key={one.step.id} runId={id} {...one} />
                    ))}
                  </ol>
                ) : (
                  <Empty
                    title={active ? 'No steps yet. They’ll appear here as they happen.' : 'This run had no steps.'}
                  />
                )}
              </section>
              {!isEmpty(data.output) && (
                <section class="section">
                  <h2>Result</h2>
                  <div class="card">
                    <Value label="Result" value={data.output ?? {}} />
                  </div>
                </section>
              )}
              {!isEmpty(data.input) && (
                <details class="section">
                  <summary>Input</summary>
                  <Value label="Input" value={data.input} />
                </details>
              )}
            </>
          )
        }}
      </Shown>
    </Screen>
  )
}
