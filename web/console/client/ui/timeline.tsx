import { visible } from '../../../session/text.ts'
import { bytes, count, duration, humanize } from '../../../ui/format.ts'
import { rich, t } from '../../../ui/messages.ts'
import { Name, Prose, State, When } from '../../../ui/text.tsx'
import type { Schemas } from '../api.ts'
import { Rendered } from './rendered.tsx'

type Run = Schemas['WorkspaceRun']
type Step = Schemas['RunStep']
type TracedRun = Schemas['RunTrace']['runs'][number]
type Traced = TracedRun['steps'][number]
type Decision = NonNullable<Traced['decision']>

const percent = (share: number): string => `${(Math.min(Math.max(share, 0), 1) * 100).toFixed(2)}%`

const isEmpty = (value: object): boolean => Object.keys(value).length === 0

/** Tokens in words: “1,200 tokens in, 80 out · 700 cached · $0.00234”. */
export const tokens = (used: NonNullable<TracedRun['tokens']>): string =>
  [
    t('{input} tokens in, {output} out', { input: count(used.input), output: count(used.output) }),
    used.cached_tokens && t('{input} cached', { input: count(used.cached_tokens) }),
    used.reasoning_tokens && t('{output} reasoning', { output: count(used.reasoning_tokens) }),
    used.estimated && t('estimated'),
    used.cost_usd && `$${used.cost_usd.toPrecision(3)}`,
  ]
    .filter(Boolean)
    .join(' · ')

/** A decision on a call: its person, time and reason. */
const Decided = ({ status, decision }: { status: string; decision: Decision }) => {
  const { by, on_behalf_of, at, comment, approved_before_by: first } = decision
  return (
    <p>
      {by
        ? rich(
            '{status, select, rejected {Rejected} other {Approved}} by {first}{name}{behalf, select, none {} other { for {other}}}',
            {
              status,
              first: first.map((one) => (
                <span key={one.by.id}>{rich('{name} and', { name: <Name>{one.by.name}</Name> })} </span>
              )),
              name: <Name>{by.name}</Name>,
              behalf: on_behalf_of ? 'some' : 'none',
              other: on_behalf_of && <Name>{on_behalf_of.name}</Name>,
            },
          )
        : t('{status, select, rejected {Rejected} other {Approved}} because nobody decided in time', { status })}
      , <When at={at} />
      {by && comment && (
        <>
          : <Prose text={comment} />
        </>
      )}
    </p>
  )
}

/** The time that the whole timeline spans. */
interface Span {
  from: number
  to: number
}

interface Part {
  kind: 'work' | 'wait'
  from: number
  to: number
}

const Bar = ({ span, parts }: { span: Span; parts: readonly Part[] }) => {
  const whole = Math.max(span.to - span.from, 1)
  return (
    <span class="bar" aria-hidden="true">
      {parts.map(({ kind, from, to }, i) => (
        <span
          key={i}
          class={kind}
          style={{
            left: `min(${percent((from - span.from) / whole)}, 100% - 3px)`,
            width: percent((to - from) / whole),
          }}
        />
      ))}
    </span>
  )
}

/** Times of a step: an approval waits first and is executed then. */
const partsOf = (traced: Traced | undefined, step: Step, now: number): Part[] => {
  const at = Date.parse(step.created_at)
  if (!traced) return [{ kind: 'work', from: at, to: at }]
  const from = Date.parse(traced.started_at)
  const to = traced.ended_at === null ? now : Date.parse(traced.ended_at)
  if (step.type === 'input_request') return [{ kind: 'wait', from, to }]
  if (step.type !== 'approval') return [{ kind: 'work', from, to }]
  const decided = traced.decision ? Date.parse(traced.decision.at) : to
  return [
    { kind: 'wait', from, to: decided },
    ...(traced.executing_at ? [{ kind: 'work' as const, from: Date.parse(traced.executing_at), to }] : []),
  ]
}

const took = (parts: readonly Part[]): number => (parts.at(-1)?.to ?? 0) - (parts[0]?.from ?? 0)

const StepRow = ({ step, traced, span, now }: { step: Step; traced: Traced | undefined; span: Span; now: number }) => {
  const { text, usage: _, ...rest } = step.output as { text?: unknown; usage?: unknown }
  const parts = partsOf(traced, step, now)
  const ms = took(parts)
  return (
    <li class={step.status} id={step.id}>
      <div class="trace-line">
        <span class="trace-name">
          <strong>{step.tool ? <code>{step.tool}</code> : visible(humanize(step.type))}</strong>{' '}
          {step.status !== 'done' && <State name={step.status} />}
        </span>
        <Bar span={span} parts={parts} />
        <span class="soft">
          <span class="unseen">{t('Took')} </span>
          {ms > 0 ? duration(ms) : '–'}
        </span>
      </div>
      <p class="hint">
        {rich('{time} · after {duration}', {
          time: <When at={step.created_at} />,
          duration: duration(Math.max(0, (parts[0]?.from ?? span.from) - span.from)),
        })}
        {traced && ` · ${bytes(traced.bytes)}`}
        {traced?.tokens && ` · ${tokens(traced.tokens)}`}
      </p>
      {traced?.decision && <Decided status={step.status} decision={traced.decision} />}
      {typeof text === 'string' && <Rendered label={t('Text of step {seq}', { seq: step.seq })} value={{ text }} />}
      {!isEmpty(rest) && (
        <details>
          <summary>{t('Details')}</summary>
          <Rendered label={t('Details of step {seq}', { seq: step.seq })} value={rest} />
        </details>
      )}
    </li>
  )
}

/** A run that this one caused, with its steps in short. */
const ChildRow = ({ run, all, span, now }: { run: TracedRun; all: readonly TracedRun[]; span: Span; now: number }) => {
  const from = Date.parse(run.created_at)
  const to = run.finished_at ? Date.parse(run.finished_at) : now
  const below = all.filter(({ parent_run_id }) => parent_run_id === run.id)
  return (
    <li class="child">
      <div class="trace-line">
        <span class="trace-name">
          <a href={`#/runs/${run.id}`}>
            <strong>
              <Name>{run.agent.name ?? run.agent.id}</Name>
            </strong>
          </a>{' '}
          <State name={run.status} />
        </span>
        <Bar span={span} parts={[{ kind: 'work', from, to }]} />
        <span class="soft">
          <span class="unseen">{t('Took')} </span>
          {duration(to - from)}
        </span>
      </div>
      <p class="hint">
        {run.tool ? rich('Asked to use {tool}', { tool: <code>{run.tool}</code> }) : t('Started by this run')}{' '}
        {t('· after {duration} · {input_bytes} in, {output_bytes} out', {
          duration: duration(Math.max(0, from - span.from)),
          input_bytes: bytes(run.input_bytes),
          output_bytes: bytes(run.output_bytes),
        })}
        {run.tokens && ` · ${tokens(run.tokens)}`}
        {run.cost_units !== null && t(' · {cost_units} cost units', { cost_units: count(run.cost_units) })}
      </p>
      {run.steps.length + below.length > 0 && (
        <details>
          <summary>{t('{n, plural, one {# step} other {# steps}}', { n: run.steps.length })}</summary>
          <ol class="trace">
            {run.steps.map((step) => {
              const parts = partsOf(step, { ...step, output: {} } as Step, now)
              return (
                <li key={step.id} class={step.status}>
                  <div class="trace-line">
                    <span class="trace-name">
                      {step.tool ? <code>{step.tool}</code> : visible(humanize(step.type))}{' '}
                      {step.status !== 'done' && <State name={step.status} />}
                    </span>
                    <Bar span={span} parts={parts} />
                    <span class="soft">
                      <span class="unseen">{t('Took')} </span>
                      {took(parts) > 0 ? duration(took(parts)) : '–'}
                    </span>
                  </div>
                  {step.decision && <Decided status={step.status} decision={step.decision} />}
                </li>
              )
            })}
            {below.map((one) => (
              <ChildRow key={one.id} run={one} all={all} span={span} now={now} />
            ))}
          </ol>
        </details>
      )}
    </li>
  )
}

/** A run's steps and the runs that it caused, in the order of time. */
export const Timeline = ({ run, trace }: { run: Run; trace: Schemas['RunTrace'] | undefined }) => {
  const now = Date.now()
  const all = trace?.runs ?? []
  const own = all.find(({ id }) => id === run.id)
  const steps = run.steps ?? []
  const children = all.filter(({ parent_run_id }) => parent_run_id === run.id)
  const ends = [run, ...all].map(({ finished_at }) => (finished_at ? Date.parse(finished_at) : now))
  const span = {
    from: Date.parse(run.created_at),
    to: Math.max(...ends, ...steps.map(({ created_at }) => Date.parse(created_at))),
  }
  const rows = [
    ...steps.map((step) => {
      const traced = own?.steps.find(({ id }) => id === step.id)
      return {
        at: Date.parse(traced?.started_at ?? step.created_at),
        row: <StepRow key={step.id} step={step} traced={traced} span={span} now={now} />,
      }
    }),
    ...children.map((child) => ({
      at: Date.parse(child.created_at),
      row: <ChildRow key={child.id} run={child} all={all} span={span} now={now} />,
    })),
  ].sort((a, b) => a.at - b.at)
  return (
    <>
      <ol class="trace" aria-live="polite" aria-relevant="additions">
        {rows.map(({ row }) => row)}
      </ol>
      {trace?.is_complete === false && <p class="hint">{t('This run caused more runs than are shown here.')}</p>}
    </>
  )
}
