import { useEffect, useState } from 'preact/hooks'
import { safeUrl } from '../../../session/text.ts'
import { patch, useData } from '../../../ui/data.ts'
import { duration, humanize, triggerLabel } from '../../../ui/format.ts'
import { Empty, Screen, Shown } from '../../../ui/screen.tsx'
import { Json, Name, Prose, State, When } from '../../../ui/text.tsx'
import { api, type Schemas, unwrap } from '../api.ts'
import { followRun } from '../follow-run.ts'
import { Approval } from '../ui/approval.tsx'
import { Questions } from '../ui/questions.tsx'

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

const StepItem = ({ step }: { step: Step }) => {
  const { text, ...rest } = step.output as { text?: unknown }
  return (
    <li class={step.status}>
      <div class="top-line">
        <strong>{step.tool ? <code>{step.tool}</code> : humanize(step.type)}</strong>
        {step.status !== 'done' && <State name={step.status} />}
        <span class="soft">
          <When at={step.created_at} />
        </span>
      </div>
      {typeof text === 'string' && <Prose text={text} />}
      {!isEmpty(rest) && (
        <details>
          <summary>Details</summary>
          <Json label={`Details of step ${step.seq}`} value={rest} />
        </details>
      )}
    </li>
  )
}

export default function RunScreen({ id }: { id: string }) {
  const key = `runs one ${id}`
  const run = useData<Run>(key, () => unwrap(api.GET('/console/runs/{id}', { params: { path: { id } } })))
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
                      questions={step.output.input_requests as Record<string, unknown>}
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
              <section class="section" aria-labelledby="steps">
                <h2 id="steps">Steps</h2>
                {data.steps?.length ? (
                  <ol class="steps" aria-live="polite" aria-relevant="additions">
                    {data.steps.map((step) => (
                      <StepItem key={step.id} step={step} />
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
                  {typeof data.output?.text === 'string' ? (
                    <div class="card">
                      <Prose text={data.output.text} />
                    </div>
                  ) : (
                    <Json label="Result" value={data.output} />
                  )}
                </section>
              )}
              {!isEmpty(data.input) && (
                <details class="section">
                  <summary>Input</summary>
                  <Json label="Input" value={data.input} />
                </details>
              )}
            </>
          )
        }}
      </Shown>
    </Screen>
  )
}
