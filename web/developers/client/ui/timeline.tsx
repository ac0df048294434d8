import type { ComponentChildren } from 'preact'
import { duration, humanize } from '../../../ui/format.ts'
import { t } from '../../../ui/messages.ts'
import { Json, Name, State } from '../../../ui/text.tsx'
import type { SandboxSchemas } from '../sandbox.ts'

type Run = SandboxSchemas['Run']
type Step = SandboxSchemas['RunStep']

const at = (time: string): number => Date.parse(time)

const isEmpty = (value: unknown): boolean => Object.keys((value as object | null) ?? {}).length === 0

interface Span {
  step: Step
  /** Milliseconds since the run was created. */
  from: number
  /** Milliseconds until the next step, or until the run’s end. */
  took: number
}

const spansOf = (run: Run, end: number): Span[] => {
  const start = at(run.created_at)
  const steps = [...(run.steps ?? [])].sort((a, b) => a.seq - b.seq)
  return steps.map((step, i) => {
    const until = steps[i + 1]?.created_at
    const from = at(step.created_at)
    return { step, from: from - start, took: Math.max(0, (until ? at(until) : end) - from) }
  })
}

/** Run that a step started, which is shown nested below it. */
const childOf = ({ output }: Step): string | undefined => {
  const id = output.run_id ?? output.child_run_id
  return typeof id === 'string' && id.startsWith('run_') ? id : undefined
}

const Bar = ({ from, took, whole }: { from: number; took: number; whole: number }) => {
  const x = Math.min(99, (from / whole) * 100)
  return (
    <svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
      <rect class="track" x="0" y="0" width="100" height="6" />
      <rect class="span" x={x} y="0" width={Math.max(0.7, Math.min(100 - x, (took / whole) * 100))} height="6" />
    </svg>
  )
}

/** A run's steps in order, with the time that each took. */
export const Timeline = ({
  run,
  label = t('Timeline'),
  nested,
}: {
  run: Run
  label?: string
  /** Shows a run that a step started. */
  nested: (id: string) => ComponentChildren
}) => {
  const end = run.finished_at ? at(run.finished_at) : Math.max(Date.now(), at(run.created_at))
  const whole = Math.max(1, end - at(run.created_at))
  const waited = run.started_at ? at(run.started_at) - at(run.created_at) : 0
  return (
    <ol class="timeline" aria-label={label}>
      <li>
        <div class="head-line">
          <strong>{t('Queued')}</strong>
          <span class="soft">{duration(waited)}</span>
        </div>
        <Bar from={0} took={waited} whole={whole} />
      </li>
      {spansOf(run, end).map(({ step, from, took }) => {
        const child = childOf(step)
        return (
          <li key={step.id}>
            <div class="head-line">
              <strong>{step.tool ? <code>{step.tool}</code> : humanize(step.type)}</strong>
              {step.status !== 'done' && <State name={step.status} />}
              <span class="soft">{t('after {from}, {took}', { from: duration(from), took: duration(took) })}</span>
            </div>
            <Bar from={from} took={took} whole={whole} />
            {child && nested(child)}
            {typeof step.output.text === 'string' ? (
              <p class="soft clamped">
                <Name>{step.output.text}</Name>
              </p>
            ) : (
              !isEmpty(step.output) && (
                <details>
                  <summary>{t('Details')}</summary>
                  <Json label={t('Details of step {seq}', { seq: step.seq })} value={step.output} />
                </details>
              )
            )}
          </li>
        )
      })}
      {run.finished_at && (
        <li>
          <div class="head-line">
            <State name={run.status} />
            <span class="soft">{t('after {whole}', { whole: duration(whole) })}</span>
          </div>
        </li>
      )}
    </ol>
  )
}
