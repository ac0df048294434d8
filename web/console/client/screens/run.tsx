import { useEffect, useState } from 'preact/hooks'
import { patch, useData } from '../../../ui/data.ts'
import { duration, triggerWords, words } from '../../../ui/format.ts'
import { Empty, Screen, Shown } from '../../../ui/screen.tsx'
import { Json, Name, Prose, State, When } from '../../../ui/text.tsx'
import { api, type Schemas, take } from '../api.ts'
import { followRun } from '../follow-run.ts'
import { Approval } from '../ui/approval.tsx'

type Run = Schemas['Run']
type Step = Schemas['RunStep']

/** It answers the main chat, and is installed nowhere. */
const ORCHESTRATOR = 'platform.orchestrator'

const ACTIVE = ['queued', 'running', 'awaiting_approval']

/** A step again, with the same id, has changed. */
const withStep = (steps: Step[] = [], step: Step): Step[] => {
  const others = steps.filter(({ id }) => id !== step.id)
  return [...others, step].sort((a, b) => a.seq - b.seq)
}

const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || Object.keys(value as object).length === 0

const StepItem = ({ step }: { step: Step }) => {
  const { text, ...rest } = step.output as { text?: unknown }
  return (
    <li class={step.status}>
      <div class="top-line">
        <strong>{step.tool ? <code>{step.tool}</code> : words(step.type)}</strong>
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
  const run = useData<Run>(key, () => take(api.GET('/console/runs/{id}', { params: { path: { id } } })))
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
              {data.status === 'failed' && (
                <div class="note warn">
                  <strong>It failed.</strong> {data.error_code && <code>{data.error_code}</code>}
                  {data.error_message && <Prose text={data.error_message} />}
                </div>
              )}
              {active && !connected && (
                <p class="note warn" role="status">
                  The live connection is interrupted. Trying again…
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
                <dd>{triggerWords(data.trigger)}</dd>
                <dt>Begun</dt>
                <dd>
                  <When at={data.created_at} />
                </dd>
                {data.duration_ms !== null && (
                  <>
                    <dt>Took</dt>
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
                    <dt>Inside</dt>
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
                    title={active ? 'No step yet. They appear here as they happen.' : 'It ended without a step.'}
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
                  <summary>What it was given</summary>
                  <Json label="What it was given" value={data.input} />
                </details>
              )}
            </>
          )
        }}
      </Shown>
    </Screen>
  )
}
